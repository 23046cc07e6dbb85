'use strict';
// A cursor that is moved by hand, and columns that it fills.

const { native, kHandle, both, disposable, then } = require('./native');
const { BufferTooSmallError, BusyError, InvalidArgumentError } = require('./errors');

// Memory for many entries. It is native memory: no call copies it.
class Columns {
  #busy = false;

  constructor({ rows = 8192, keyBytes = 1 << 20, valueBytes = 1 << 20 } = {}) {
    const made = native.columnsCreate(rows, keyBytes, valueBytes);
    this[kHandle] = made.handle;
    this.keyBytes = Buffer.from(made.keyBytes.buffer);
    this.keyOffsets = made.keyOffsets;
    this.valueBytes = Buffer.from(made.valueBytes.buffer);
    this.valueOffsets = made.valueOffsets;
    this.found = made.found;
    this.rows = 0;
  }

  key(row) {
    this.#check(row);
    return this.keyBytes.subarray(Number(this.keyOffsets[row]), Number(this.keyOffsets[row + 1]));
  }

  value(row) {
    this.#check(row);
    return this.valueBytes.subarray(Number(this.valueOffsets[row]),
      Number(this.valueOffsets[row + 1]));
  }

  #check(row) {
    if (this.#busy) throw new BusyError('the columns are being filled');
    if (!(row >= 0 && row < this.rows)) throw new InvalidArgumentError('there is no such row');
  }

  // Only one call fills them at a time.
  used(sync, call) {
    if (this.#busy) throw new BusyError('the columns are being filled');
    if (sync) return call();
    this.#busy = true;
    return call().finally(() => {
      this.#busy = false;
    });
  }

  tooSmall(needed) {
    const error = new BufferTooSmallError(
      `one row takes ${needed.keyBytesNeeded} bytes of keys and ${needed.valueBytesNeeded} of `
      + 'values');
    throw Object.assign(error, needed);
  }
}

const moves = ['first', 'last', 'next', 'prev', 'nextKey', 'prevKey', 'nextValue', 'prevValue',
  'firstValue', 'lastValue'];

class Cursor {
  constructor(handle, tree, keysOnly) {
    this[kHandle] = handle;
    this.tree = tree;
    this.keysOnly = keysOnly;
  }
}
disposable(Cursor);

function moved(cursor, sync, which, key, value, number = 0, negative = false) {
  const { keyCodec, valueCodec } = cursor.tree;
  const result = native.move(sync, cursor[kHandle], which, key, value, number, negative);
  return then(sync, result, (entry) => {
    if (entry === undefined) return undefined;
    const value = cursor.keysOnly ? undefined : valueCodec.decode(entry[1]);
    return [keyCodec.decode(entry[0]), value];
  });
}

function filled(columns, rows) {
  columns.rows = typeof rows === 'number' ? rows : 0;
  return typeof rows === 'number' ? rows : columns.tooSmall(rows);
}

const operations = {
  seek(sync, key) {
    return moved(this, sync, 10, this.tree.keyCodec.encode(key));
  },
  seekForPrev(sync, key) {
    return moved(this, sync, 11, this.tree.keyCodec.encode(key));
  },
  seekValue(sync, key, value) {
    return moved(this, sync, 12, this.tree.keyCodec.encode(key),
      this.tree.valueCodec.encode(value));
  },
  skip(sync, count) {
    return moved(this, sync, 13, undefined, undefined, Math.abs(count), count < 0);
  },
  seekRandom(sync, random) {
    return moved(this, sync, 14, undefined, undefined, random);
  },
  entryInfo(sync, { countValues = false } = {}) {
    return native.entryInfo(sync, this[kHandle], countValues);
  },
  nextColumns(sync, columns) {
    const rows = columns.used(sync, () => native.nextColumns(sync, this[kHandle], false,
      columns[kHandle]));
    return then(sync, rows, (count) => filled(columns, count));
  },
  prevColumns(sync, columns) {
    const rows = columns.used(sync, () => native.nextColumns(sync, this[kHandle], true,
      columns[kHandle]));
    return then(sync, rows, (count) => filled(columns, count));
  },
};
moves.forEach((name, which) => {
  operations[name] = function move(sync) {
    return moved(this, sync, which);
  };
});
both(Cursor.prototype, operations);

module.exports = { Cursor, Columns, filled };
