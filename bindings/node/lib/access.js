'use strict';
// Reads and writes: what trees do outside of transactions, and transactions with a tree.

const { native, kHandle, both, then } = require('./native');
const { bytesOf } = require('./codecs');
const { compressionOf, durabilityOf, known, refuseFunction, treeOptions, writeOptions } =
  require('./options');
const { InvalidArgumentError } = require('./errors');
const { Range, SyncRange, columnsOf } = require('./range');
const { Cursor } = require('./cursor');

// The handle of the snapshot among the options of a read; nothing else may be there.
function snapshotOf(options) {
  if (options === undefined) return undefined;
  return known(options, ['snapshot'], 'read options').snapshot?.[kHandle];
}

function treeHandle(tree) {
  const handle = tree?.[kHandle];
  if (handle === undefined) throw new InvalidArgumentError('not a Tree');
  return handle;
}

// Keys of an array, one behind the other.
function pack(keys, encode) {
  const list = Array.isArray(keys) ? keys : [...keys];
  const offsets = new BigInt64Array(list.length + 1);
  const parts = new Array(list.length);
  let size = 0;
  for (let i = 0; i < list.length; i += 1) {
    const key = encode(list[i]);
    parts[i] = typeof key === 'string' ? key : bytesOf(key);
    size += typeof key === 'string' ? Buffer.byteLength(key) : parts[i].length;
    offsets[i + 1] = BigInt(size);
  }
  const bytes = Buffer.allocUnsafe(size);
  let end = 0;
  for (const part of parts) {
    end += typeof part === 'string' ? bytes.write(part, end) : bytes.set(part, end) ?? part.length;
  }
  return [bytes, offsets];
}

function unpack([bytes, ends, found], decode) {
  const values = new Array(found.length);
  for (let i = 0; i < found.length; i += 1) {
    values[i] = found[i] === 1 ? decode(bytes.subarray(ends[i], ends[i + 1])) : undefined;
  }
  return values;
}

function bounds(tree, range) {
  const given = known(range, ['gte', 'lt', 'snapshot'], 'bounds');
  const bound = (key) => (key === undefined ? undefined : tree.keyCodec.encode(key));
  return [bound(given.gte), bound(given.lt), given.snapshot?.[kHandle]];
}

function fitting(columns, result) {
  if (typeof result === 'number') {
    columns.rows = result;
    return result;
  }
  columns.rows = 0;
  return columns.tooSmall(result);
}

const writes = {
  put(sync, at, tree, key, value, options) {
    return native.put(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      tree.valueCodec.encode(value), ...writeOptions(options));
  },
  del(sync, at, tree, key, options) {
    return native.del(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), undefined,
      ...writeOptions(options));
  },
  delValue(sync, at, tree, key, value, options) {
    return native.delValue(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      tree.valueCodec.encode(value), ...writeOptions(options));
  },
  deleteRange(sync, at, tree, range, options) {
    const [low, high] = bounds(tree, range);
    return native.deleteRange(sync, at[kHandle], treeHandle(tree), low ?? '', high,
      ...writeOptions(options));
  },
  merge(sync, at, tree, key, operand, options) {
    return native.merge(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), operand,
      ...writeOptions(options));
  },
};

function set(which) {
  return (sync, at, tree, key, expected, value, options) => native.compareAndSet(sync, at[kHandle],
    treeHandle(tree), which, tree.keyCodec.encode(key),
    expected === undefined || expected === null ? undefined : tree.valueCodec.encode(expected),
    value === undefined ? undefined : tree.valueCodec.encode(value), ...writeOptions(options));
}
const [insert, update, replace, removeIf] = [0, 1, 2, 3].map(set);

const operations = {
  ...writes,
  get(sync, at, tree, key, options) {
    const result = native.get(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options), false, false);
    const { decode, plain } = tree.valueCodec;
    if (plain) return result;
    return then(sync, result, (value) => (value === undefined ? undefined : decode(value)));
  },
  has(sync, at, tree, key, options) {
    const result = native.sizeOf(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options));
    return then(sync, result, (size) => size !== undefined);
  },
  multiGet(sync, at, tree, keys, options) {
    const [bytes, offsets] = pack(keys, tree.keyCodec.encode);
    const result = native.multiGet(sync, at[kHandle], treeHandle(tree), bytes, offsets,
      snapshotOf(options));
    return then(sync, result, (answers) => unpack(answers, tree.valueCodec.decode));
  },
  multiGetColumns(sync, at, tree, keys, columns, options) {
    const { bytes, offsets } = keys;
    const result = columns.used(sync, () => native.multiGetColumns(sync, at[kHandle],
      treeHandle(tree), bytes, offsets, snapshotOf(options), columns[kHandle]));
    return then(sync, result, (rows) => fitting(columns, rows));
  },
  count(sync, at, tree, range) {
    return native.count(sync, at[kHandle], treeHandle(tree), ...bounds(tree, range));
  },
  insert(sync, at, tree, key, value, options) {
    return insert(sync, at, tree, key, undefined, value, options);
  },
  update(sync, at, tree, key, value, options) {
    return update(sync, at, tree, key, undefined, value, options);
  },
  replace(sync, at, tree, key, expected, value, options) {
    return replace(sync, at, tree, key, expected, value, options);
  },
  removeIf(sync, at, tree, key, expected, options) {
    return removeIf(sync, at, tree, key, expected, undefined, options);
  },
  readPart(sync, at, tree, key, offset, size, options) {
    return native.readPart(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), offset,
      size, snapshotOf(options));
  },
  sizeOf(sync, at, tree, key, options) {
    return native.sizeOf(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options));
  },
  writePart(sync, at, tree, key, offset, data, options) {
    const result = native.writePart(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      false, offset, data, ...writeOptions(options));
    return then(sync, result, () => undefined);
  },
  append(sync, at, tree, key, data, options) {
    return native.writePart(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), true, 0,
      data, ...writeOptions(options));
  },
  resize(sync, at, tree, key, size, options) {
    return native.resize(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), size,
      ...writeOptions(options));
  },
  cursor(sync, at, tree, options) {
    const given = known(options, ['gte', 'lt', 'keysOnly', 'snapshot'], 'cursor options');
    const { keysOnly, ...range } = given;
    const [low, high, snapshot] = bounds(tree, range);
    const handle = native.cursor(sync, at[kHandle], treeHandle(tree), Boolean(keysOnly), low, high,
      snapshot);
    return then(sync, handle, (opened) => new Cursor(opened, tree, Boolean(keysOnly)));
  },
  createSubtree(sync, at, tree, key, options) {
    const handle = native.createSubtree(sync, at[kHandle], treeHandle(tree),
      tree.keyCodec.encode(key), durabilityOf(options?.durability), ...treeOptions(options));
    return then(sync, handle, (made) => tree.another(made, options));
  },
  subtree(sync, at, tree, key, options = {}) {
    const { snapshot, ...rest } = options;
    treeOptions(rest);
    const handle = native.subtree(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshot?.[kHandle]);
    return then(sync, handle, (found) => tree.another(found, rest));
  },
  listSubtrees(sync, at, tree, options) {
    const list = native.listSubtrees(sync, at[kHandle], treeHandle(tree), snapshotOf(options));
    return then(sync, list, (all) => all.map((row) => tree.keyCodec.decode(row.key)));
  },
  attach(sync, at, tree, key, name, options) {
    return native.attachTree(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), name,
      durabilityOf(options?.durability), false);
  },
  detach(sync, at, tree, key, name, options) {
    return native.attachTree(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key), name,
      durabilityOf(options?.durability), true);
  },
  moveSubtree(sync, at, tree, key, toTree, toKey, options) {
    return native.moveSubtree(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      treeHandle(toTree), toTree.keyCodec.encode(toKey), durabilityOf(options?.durability));
  },
  cloneSubtree(sync, at, tree, key, name, options) {
    const handle = native.cloneSubtree(sync, at[kHandle], treeHandle(tree),
      tree.keyCodec.encode(key), name, durabilityOf(options?.durability));
    return then(sync, handle, (made) => tree.another(made, options));
  },
};

// Of trees alone.
const ofTrees = {
  getInMemory(sync, at, tree, key, options) {
    const result = native.get(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options), true, false);
    return then(sync, result, (value) => (
      value === undefined ? undefined : tree.valueCodec.decode(value)));
  },
  changedSince(sync, at, tree, key, snapshot) {
    return native.changedSince(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshot?.[kHandle]);
  },
  expiresAt(sync, at, tree, key, options) {
    return native.expiresAt(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options));
  },
  estimate(sync, at, tree, range) {
    const [low, high] = bounds(tree, range);
    return native.estimate(sync, at[kHandle], treeHandle(tree), low, high);
  },
  explain(sync, at, tree, key, options) {
    const result = native.explain(sync, at[kHandle], treeHandle(tree), tree.keyCodec.encode(key),
      snapshotOf(options));
    return then(sync, result, (list) => list[0]);
  },
  options(sync, at, tree) {
    return then(sync, native.treeOptions(sync, at[kHandle], treeHandle(tree)), (list) => list[0]);
  },
  setCompression(sync, at, tree, compression) {
    return native.setCompression(sync, at[kHandle], treeHandle(tree), compressionOf(compression));
  },
  setMergeOperator(sync, at, tree, name) {
    refuseFunction(name, 'merge operators');
    return native.setMergeOperator(sync, at[kHandle], treeHandle(tree), name);
  },
};

// Walks begin when the first entry is asked for, so they have no promise of their own.
const walks = {
  range: (at, tree, options) => new Range(at, tree, 'entries', options),
  keys: (at, tree, options) => new Range(at, tree, 'keys', options),
  values: (at, tree, options) => new Range(at, tree, 'values', options),
  rangeSync: (at, tree, options) => new SyncRange(at, tree, 'entries', options),
  keysSync: (at, tree, options) => new SyncRange(at, tree, 'keys', options),
  valuesSync: (at, tree, options) => new SyncRange(at, tree, 'values', options),
  columns: columnsOf,
};

// A value by parts, in pieces, of one moment.
async function* readStream(at, tree, key, options = {}) {
  const { offset = 0, pieceBytes = 256 * 1024, snapshot } =
    known(options, ['offset', 'pieceBytes', 'snapshot'], 'stream options');
  const encoded = tree.keyCodec.encode(key);
  const own = snapshot === undefined && at === tree.database ? at.snapshot() : undefined;
  try {
    const of = (own ?? snapshot)?.[kHandle];
    for (let position = offset; ;) {
      const piece = await native.readPart(false, at[kHandle], treeHandle(tree), encoded, position,
        pieceBytes, of);
      if (piece === undefined || piece.length === 0) return;
      yield piece;
      position += piece.length;
    }
  } finally {
    own?.close();
  }
}

function addTo(treeType, transactionType) {
  const ofTree = (tree) => [tree.database, tree];
  both(treeType.prototype, { ...operations, ...ofTrees }, ofTree);
  both(transactionType.prototype, operations, (txn) => [txn]);
  for (const [name, walk] of Object.entries({ ...walks, readStream })) {
    treeType.prototype[name] = function ofDatabase(...args) {
      return walk(this.database, this, ...args);
    };
    transactionType.prototype[name] = function within(...args) {
      return walk(this, ...args);
    };
  }
}

module.exports = { addTo, pack, treeHandle, snapshotOf, bounds };
