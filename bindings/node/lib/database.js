'use strict';
// Databases, trees, snapshots, batches and transactions.

const { native, kHandle, both, disposable, then } = require('./native');
const { codecOf } = require('./codecs');
const access = require('./access');
const { databaseOptions, durabilityOf, isolationOf, known, listenerOf, lockOf, modeOf, treeOptions,
  writeOptions } = require('./options');
const { HawthornError, InvalidArgumentError } = require('./errors');

class Tree {
  constructor(handle, database, name, options = {}) {
    this[kHandle] = handle;
    this.database = database;
    this.name = name;
    this.keyCodec = codecOf(options.keyEncoding);
    this.valueCodec = codecOf(options.valueEncoding);
    this.knownOrder = options.order;
  }

  get id() {
    return native.treeId(this[kHandle]);
  }

  // The same tree with other encodings.
  withEncoding({ key, value }) {
    return new Tree(this[kHandle], this.database, this.name,
      { keyEncoding: key, valueEncoding: value, order: this.knownOrder });
  }

  another(handle, options = {}) {
    return new Tree(handle, this.database, undefined, options);
  }

  // The name of its order.
  order(sync) {
    if (this.knownOrder !== undefined) return this.knownOrder;
    return then(sync, native.treeOptions(sync, this.database[kHandle], this[kHandle]), (list) => {
      this.knownOrder = list[0].order;
      return this.knownOrder;
    });
  }
}
disposable(Tree);

class Snapshot {
  constructor(handle) {
    this[kHandle] = handle;
  }

  get timestamp() {
    return native.snapshotInfo(this[kHandle]).timestamp;
  }

  get nowMs() {
    return native.snapshotInfo(this[kHandle]).nowMs;
  }
}
disposable(Snapshot);

class Batch {
  constructor(database) {
    this[kHandle] = native.batchCreate(database[kHandle]);
  }

  put(tree, key, value, options) {
    return this.#add(0, tree, tree?.keyCodec?.encode(key), tree?.valueCodec?.encode(value),
      writeOptions(options));
  }

  del(tree, key) {
    return this.#add(1, tree, tree?.keyCodec?.encode(key), undefined);
  }

  delValue(tree, key, value) {
    return this.#add(2, tree, tree?.keyCodec?.encode(key), tree?.valueCodec?.encode(value));
  }

  deleteRange(tree, range) {
    access.treeHandle(tree);
    const [low, high] = access.bounds(tree, range);
    return this.#add(3, tree, low ?? '', high);
  }

  merge(tree, key, operand) {
    return this.#add(4, tree, tree?.keyCodec?.encode(key), operand);
  }

  putColumns(tree, { keyBytes, keyOffsets, valueBytes, valueOffsets }) {
    native.batchPutColumns(true, this[kHandle], access.treeHandle(tree), keyBytes, keyOffsets,
      valueBytes, valueOffsets);
    return this;
  }

  #add(which, tree, key, value, options = [0, 0, 0]) {
    native.batchAdd(true, this[kHandle], which, access.treeHandle(tree), key, value, ...options);
    return this;
  }

  get count() {
    return native.batchInfo(true, this[kHandle], false).count;
  }

  get bytes() {
    return native.batchInfo(true, this[kHandle], false).bytes;
  }

  clear() {
    native.batchInfo(true, this[kHandle], true);
    return this;
  }
}
disposable(Batch);

class Transaction {
  constructor(handle, database) {
    this[kHandle] = handle;
    this.database = database;
    this.ended = false;
    this.prepared = false;
  }

  // Ends it if it is open; never fails.
  close() {
    this.ended = true;
    native.dispose(this[kHandle]);
  }
}
if (Symbol.dispose) Transaction.prototype[Symbol.dispose] = Transaction.prototype.close;

both(Transaction.prototype, {
  commit(sync, options) {
    const { durability } = known(options, ['durability'], 'commit options');
    // One that is prepared may stay when its commit fails; any other has ended in every case.
    const failed = (error) => {
      if (!this.prepared && error.code !== 'BUSY') this.close();
      throw error;
    };
    try {
      const result = native.commit(sync, this[kHandle], durabilityOf(durability));
      if (!sync) return result.then(() => this.close(), failed);
      return this.close();
    } catch (error) {
      return failed(error);
    }
  },
  abort(sync) {
    if (this.ended) return sync ? undefined : Promise.resolve();
    return then(sync, native.abort(sync, this[kHandle]), () => this.close());
  },
  isOpen(sync) {
    if (this.ended) return sync ? false : Promise.resolve(false);
    return native.isOpen(sync, this[kHandle]);
  },
  savepoint(sync) {
    return native.savepoint(sync, this[kHandle]);
  },
  rollbackTo(sync, savepoint) {
    return native.toSavepoint(sync, this[kHandle], ...savepoint, false);
  },
  release(sync, savepoint) {
    return native.toSavepoint(sync, this[kHandle], ...savepoint, true);
  },
  begin(sync) {
    return then(sync, native.beginNested(sync, this[kHandle]),
      (handle) => new Transaction(handle, this.database));
  },
  prepare(sync, id) {
    return then(sync, native.prepare(sync, this[kHandle], id), () => {
      this.prepared = true;
    });
  },
  getForUpdate(sync, tree, key) {
    const result = native.get(sync, this[kHandle], access.treeHandle(tree),
      tree.keyCodec.encode(key), undefined, false, true);
    return then(sync, result, (value) => (
      value === undefined ? undefined : tree.valueCodec.decode(value)));
  },
  lock(sync, tree, key, options) {
    const { lock = 'exclusive', timeoutMs } = known(options, ['lock', 'timeoutMs'], 'lock options');
    return native.lock(sync, this[kHandle], access.treeHandle(tree), tree.keyCodec.encode(key),
      lockOf(lock), timeoutMs !== undefined, timeoutMs ?? 0);
  },
});
access.addTo(Tree, Transaction);

class Database {
  constructor(handle) {
    this[kHandle] = handle;
    this.path = native.path(handle);
  }

  static attach(token) {
    return new Database(native.attach(token));
  }

  share() {
    return native.share(this[kHandle]);
  }

  snapshot() {
    return new Snapshot(native.snapshot(true, this[kHandle], undefined));
  }

  batch() {
    return new Batch(this);
  }

  async transaction(work, options = {}) {
    const { retries = 20, durability, ...rest } = options;
    for (let attempt = 0; ; attempt += 1) {
      const txn = await this.begin(rest);
      try {
        const result = await work(txn);
        if (!txn.ended && !txn.prepared) await txn.commit({ durability });
        return result;
      } catch (error) {
        if (!txn.prepared) await txn.abort().catch(() => {});
        if (!(error instanceof HawthornError && error.retryable) || attempt >= retries) throw error;
        // Who has lost goes on a little later, each time with more patience.
        const pause = Math.random() * Math.min(2 ** attempt, 64);
        await new Promise((wake) => { setTimeout(wake, pause); });
      } finally {
        if (!txn.prepared) txn.close();
      }
    }
  }

  transactionSync(work, options = {}) {
    const { retries = 20, durability, ...rest } = options;
    for (let attempt = 0; ; attempt += 1) {
      const txn = this.beginSync(rest);
      try {
        const result = work(txn);
        if (typeof result?.then === 'function') {
          throw new InvalidArgumentError('the function of transactionSync returns a promise');
        }
        if (!txn.ended && !txn.prepared) txn.commitSync({ durability });
        return result;
      } catch (error) {
        if (!(error instanceof HawthornError && error.retryable) || attempt >= retries) throw error;
      } finally {
        if (!txn.prepared) txn.close();
      }
    }
  }
}

const opening = {
  open(sync, path, options) {
    const { pairs, functions } = databaseOptions(options);
    const handle = native.open(sync, path, pairs, listenerOf(functions), 'log' in functions,
      'onEvent' in functions, 'onExpiry' in functions, 'onCommit' in functions);
    return then(sync, handle, (opened) => new this(opened));
  },
  destroy(sync, path, options) {
    return native.destroyDatabase(sync, path, databaseOptions(options).pairs);
  },
  readCounters(sync, directory) {
    return then(sync, native.readCounters(sync, directory), (list) => list[0]);
  },
};
both(Database, opening);

const firstRow = (name) => function read(sync) {
  return then(sync, native[name](sync, this[kHandle]), (list) => list[0]);
};
const allRows = (name) => function read(sync) {
  return native[name](sync, this[kHandle]);
};
const maintain = (which) => function run(sync) {
  return native.maintain(sync, this[kHandle], which);
};

// Trees by their names: of a database, and of a transaction.
function databaseOf(at) {
  return at instanceof Transaction ? at.database : at;
}
const treeCalls = {
  tree(sync, name, options) {
    const handle = native.tree(sync, this[kHandle], name, ...treeOptions(options));
    const database = databaseOf(this);
    const { compression, mergeOperator } = options ?? {};
    if ((compression ?? mergeOperator) !== undefined && database !== this) {
      throw new InvalidArgumentError('compression and merge operators are no part of transactions');
    }
    return then(sync, handle, (opened) => {
      const tree = new Tree(opened, database, name, options);
      if ((compression ?? mergeOperator) === undefined) return tree;
      if (sync) {
        if (compression !== undefined) tree.setCompressionSync(compression);
        if (mergeOperator !== undefined) tree.setMergeOperatorSync(mergeOperator);
        return tree;
      }
      return (async () => {
        if (compression !== undefined) await tree.setCompression(compression);
        if (mergeOperator !== undefined) await tree.setMergeOperator(mergeOperator);
        return tree;
      })();
    });
  },
  findTree(sync, name, options = {}) {
    const { snapshot, ...rest } = options;
    treeOptions(rest);
    const handle = native.findTree(sync, this[kHandle], name, snapshot?.[kHandle]);
    return then(sync, handle, (found) => new Tree(found, databaseOf(this), name, rest));
  },
  listTrees(sync, options) {
    return then(sync, native.listTrees(sync, this[kHandle], access.snapshotOf(options)),
      (list) => list.map((row) => row.name));
  },
  dropTree(sync, name) {
    return native.dropTree(sync, this[kHandle], name);
  },
  renameTree(sync, from, to) {
    return native.renameTree(sync, this[kHandle], from, to);
  },
  cloneTree(sync, from, to, options) {
    treeOptions(options);
    const handle = native.cloneTree(sync, this[kHandle], from, to,
      durabilityOf(options?.durability));
    return then(sync, handle, (made) => new Tree(made, databaseOf(this), to, options));
  },
};
both(Transaction.prototype, treeCalls);
both(Database.prototype, {
  ...treeCalls,
  close(sync, options) {
    const { force = false } = known(options, ['force'], 'close options');
    if (this.isView) {  // of a follower: it is freed when all that came from it has gone
      native.dispose(this[kHandle]);
      return sync ? undefined : Promise.resolve();
    }
    return native.close(sync, this[kHandle], Boolean(force));
  },
  id(sync) {
    return native.id(sync, this[kHandle]);
  },
  begin(sync, options) {
    const given = known(options, ['mode', 'isolation', 'readOnly', 'lockTimeoutMs', 'snapshot'],
      'transaction options');
    const handle = native.begin(sync, this[kHandle], modeOf(given.mode),
      isolationOf(given.isolation), Boolean(given.readOnly), given.lockTimeoutMs !== undefined,
      given.lockTimeoutMs ?? 0, given.snapshot?.[kHandle]);
    return then(sync, handle, (begun) => new Transaction(begun, this));
  },
  write(sync, batch, options) {
    if (!(batch instanceof Batch)) throw new InvalidArgumentError('not a Batch');
    const { durability } = known(options, ['durability'], 'write options');
    return native.write(sync, this[kHandle], batch[kHandle], durabilityOf(durability));
  },
  createSnapshot(sync, name) {
    return native.nameSnapshot(sync, this[kHandle], false, name);
  },
  dropSnapshot(sync, name) {
    return native.nameSnapshot(sync, this[kHandle], true, name);
  },
  openSnapshot(sync, name) {
    return then(sync, native.snapshot(sync, this[kHandle], name), (found) => new Snapshot(found));
  },
  listSnapshots: allRows('listSnapshots'),
  prepared: allRows('prepared'),
  commitPrepared(sync, id, options) {
    const { durability } = known(options, ['durability'], 'commit options');
    return native.endPrepared(sync, this[kHandle], id, true, durabilityOf(durability));
  },
  rollbackPrepared(sync, id) {
    return native.endPrepared(sync, this[kHandle], id, false, 0);
  },
  sync: maintain(0),
  flush: maintain(1),
  compact: maintain(2),
  drain: maintain(3),
  warmUp: maintain(4),
  rotateDataKey: maintain(5),
  rotateKey(sync, keyId) {
    return native.rotateKey(sync, this[kHandle], keyId);
  },
  setMemoryBudget(sync, bytes) {
    return native.limit(sync, this[kHandle], true, bytes);
  },
  setBackgroundIoLimit(sync, bytesPerSecond) {
    return native.limit(sync, this[kHandle], false, bytesPerSecond);
  },
  encryption: firstRow('encryption'),
  stats: firstRow('stats'),
  stat(sync, name) {
    return native.stat(sync, this[kHandle],
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  },
});
if (Symbol.asyncDispose) {
  Database.prototype[Symbol.asyncDispose] = function dispose() {
    return this.close({ force: true });
  };
}

module.exports = { Database, Tree, Snapshot, Batch, Transaction };
