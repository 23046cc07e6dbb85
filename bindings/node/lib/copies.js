'use strict';
// Checkpoints, backups, bulk loading, checks, repairs, and values written by pieces.

const { native, kHandle, both, disposable, then } = require('./native');
const { bytesOf } = require('./codecs');
const { databaseOptions, durabilityOf, known } = require('./options');
const { InvalidArgumentError, NotSupportedError } = require('./errors');
const { treeHandle } = require('./access');

const copyNames = ['bytesPerSecond', 'copyBlocks', 'full', 'encryption', 'onProgress'];

// Answers what a job of the addon asks: pieces to write, pieces to read, progress.
function answering({ write, read, progress }) {
  return async (id, kind, data, number) => {
    try {
      let bytes;
      if (kind === 'write') await write(data);
      if (kind === 'read') bytes = await read(number);
      if (kind === 'progress') await progress(number);
      native.answer(id, false, bytes);
    } catch (error) {
      native.answer(id, true, String(error?.message ?? error));
    }
  };
}

// Told what a check or a repair has done: what it throws is what the promise rejects with, behind
// the end.
async function telling(onProgress, call) {
  if (onProgress === undefined) return call(undefined);
  if (typeof onProgress !== 'function') {
    throw new InvalidArgumentError('onProgress is not a function');
  }
  let thrown;
  const result = await call(async (id, kind, data) => {
    try {
      if (thrown === undefined) {
        await onProgress(Number(data.readBigUInt64LE(0)), Number(data.readBigUInt64LE(8)));
      }
    } catch (error) {
      thrown = { error };
    }
    native.answer(id, false, undefined);
  });
  if (thrown !== undefined) throw thrown.error;
  return result;
}

// Of a copy: what callbacks throw is what the promise rejects with.
async function copying(options, streams, call) {
  const given = known(options, copyNames, 'copy options');
  if (given.onProgress !== undefined && typeof given.onProgress !== 'function') {
    throw new InvalidArgumentError('onProgress is not a function');
  }
  let thrown;
  const noting = (callback) => callback && (async (...args) => {
    try {
      return await callback(...args);
    } catch (error) {
      thrown ??= error;
      throw error;
    }
  });
  const answers = answering({
    write: noting(streams.write),
    read: noting(streams.read),
    progress: noting(given.onProgress),
  });
  const { pairs } = databaseOptions(given.encryption && { encryption: given.encryption });
  try {
    return await call(given.bytesPerSecond ?? 0, Boolean(given.copyBlocks), Boolean(given.full),
      pairs, answers, given.onProgress !== undefined);
  } catch (error) {
    throw thrown ?? error;
  }
}

// The pieces of an iterable, one for each question; empty at the end.
function reading(iterable) {
  const iterator = iterable?.[Symbol.asyncIterator]?.() ?? iterable?.[Symbol.iterator]?.();
  if (iterator === undefined || typeof iterable === 'string') {
    throw new InvalidArgumentError('not an iterable of pieces');
  }
  const read = async () => {
    for (;;) {
      const { value, done } = await iterator.next();
      if (done) return undefined;
      const piece = bytesOf(value);
      if (piece.length > 0) return piece;
    }
  };
  return { read, end: async () => iterator.return?.() };
}

class Repository {
  constructor(handle) {
    this[kHandle] = handle;
  }

  verify(id, options) {
    return copying(options, {}, (...given) => native.repositoryRestore(false, this[kHandle], id,
      true, '', ...given)).then(() => undefined);
  }

  restore(id, target, options) {
    return copying(options, {}, (...given) => native.repositoryRestore(false, this[kHandle], id,
      false, target, ...given)).then(() => undefined);
  }
}
disposable(Repository);
both(Repository, {
  open(sync, directory) {
    return then(sync, native.repositoryOpen(sync, directory), (handle) => new Repository(handle));
  },
});
both(Repository.prototype, {
  list(sync) {
    return native.repositoryList(sync, this[kHandle]);
  },
  remove(sync, id) {
    return native.repositoryRemove(sync, this[kHandle], id);
  },
});

class Ingest {
  constructor(handle, tree) {
    this[kHandle] = handle;
    this.tree = tree;
  }

  // A value of `size` bytes from an iterable of pieces.
  addStream(key, size, pieces) {
    return streaming(pieces, (answers) => native.ingestAddStream(false, this[kHandle],
      this.tree.keyCodec.encode(key), size, answers));
  }
}
disposable(Ingest);
both(Ingest.prototype, {
  add(sync, key, value) {
    return native.ingestAdd(sync, this[kHandle], this.tree.keyCodec.encode(key),
      this.tree.valueCodec.encode(value));
  },
  addColumns(sync, { keyBytes, keyOffsets, valueBytes, valueOffsets }) {
    return native.ingestAddColumns(sync, this[kHandle], keyBytes, keyOffsets, valueBytes,
      valueOffsets);
  },
  finish(sync) {
    return then(sync, native.ingestFinish(sync, this[kHandle]), (list) => {
      this.close();
      return list[0];
    });
  },
});

async function streaming(pieces, call) {
  const { read, end } = reading(pieces);
  let thrown;
  const answers = answering({
    read: async () => {
      try {
        return await read();
      } catch (error) {
        thrown ??= error;
        throw error;
      }
    },
  });
  try {
    return await call(answers);
  } catch (error) {
    throw thrown ?? error;
  } finally {
    await end();
  }
}

const ofDatabases = {
  checkpoint(directory, options) {
    return copying(options, {}, (...given) => native.checkpoint(false, this[kHandle], directory,
      ...given)).then(() => undefined);
  },
  async backup(repository, options) {
    if (!(repository instanceof Repository)) throw new InvalidArgumentError('not a Repository');
    const list = await copying(options, {}, (...given) => native.backup(false, this[kHandle],
      repository[kHandle], ...given));
    return list[0];
  },
  // `write` is given pieces of about 1 MB, one after the other, and may return promises.
  async backupTo(write, options) {
    if (typeof write !== 'function') throw new InvalidArgumentError('write is not a function');
    const list = await copying(options, { write }, (...given) => native.backupTo(false,
      this[kHandle], ...given));
    return list[0];
  },
};

const ofDatabasesBoth = {
  ingest(sync, tree, options) {
    const { unsorted, durability, sortMemoryBytes } =
      known(options, ['unsorted', 'durability', 'sortMemoryBytes'], 'ingest options');
    const handle = native.ingestOpen(sync, this[kHandle], treeHandle(tree), Boolean(unsorted),
      durabilityOf(durability), sortMemoryBytes ?? 0);
    return then(sync, handle, (opened) => new Ingest(opened, tree));
  },
  check(sync, options) {
    const given = known(options, ['skipValues', 'skipFiles', 'threads', 'bytesPerSecond',
      'errorsMax', 'onProgress'], 'check options');
    const { onProgress } = given;
    if (sync && onProgress !== undefined) {
      throw new NotSupportedError('checkSync blocks the thread that onProgress would run on');
    }
    const call = (progress) => native.check(sync, this[kHandle], Boolean(given.skipValues),
      Boolean(given.skipFiles), given.threads ?? 0, given.bytesPerSecond ?? 0,
      given.errorsMax ?? 0, progress);
    const report = sync ? call(undefined) : telling(onProgress, call);
    return then(sync, report, (list) => list[0]);
  },
};

async function ofStream(verify, pieces, target, options) {
  const { read, end } = reading(pieces);
  try {
    const list = await copying(options, { read }, (...given) => native.restoreStream(false, verify,
      target, ...given));
    return list[0];
  } finally {
    await end();
  }
}
const restoreBackup = (pieces, target, options) => ofStream(false, pieces, target, options);
const verifyBackup = (pieces, options) => ofStream(true, pieces, '', options);

async function repair(source, target, options) {
  const { database, ignoreManifest, onProgress } = known(options,
    ['database', 'ignoreManifest', 'onProgress'], 'repair options');
  const list = await telling(onProgress, (progress) => native.repair(false, source, target,
    databaseOptions(database).pairs, Boolean(ignoreManifest), progress));
  return list[0];
}

const ofTransactions = {
  async putStream(tree, key, size, pieces) {
    await streaming(pieces, (answers) => native.writeStream(false, this[kHandle], treeHandle(tree),
      0, tree.keyCodec.encode(key), 0, size, answers));
  },
  async writePartStream(tree, key, offset, size, pieces) {
    await streaming(pieces, (answers) => native.writeStream(false, this[kHandle], treeHandle(tree),
      1, tree.keyCodec.encode(key), offset, size, answers));
  },
  appendStream(tree, key, size, pieces) {
    return streaming(pieces, (answers) => native.writeStream(false, this[kHandle],
      treeHandle(tree), 2, tree.keyCodec.encode(key), 0, size, answers));
  },
};

function addTo(databaseType, transactionType) {
  Object.assign(databaseType.prototype, ofDatabases);
  both(databaseType.prototype, ofDatabasesBoth);
  Object.assign(transactionType.prototype, ofTransactions);
}

module.exports = { Repository, Ingest, restoreBackup, verifyBackup, repair, addTo };
