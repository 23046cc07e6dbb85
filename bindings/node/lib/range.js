'use strict';
// Iterators over a range of a tree: entries are fetched in batches, of which keys and values are
// parts.

const { native, kHandle } = require('./native');
const { bytesOf } = require('./codecs');
const { known } = require('./options');
const { Columns, filled } = require('./cursor');
const { BufferTooSmallError, InvalidArgumentError, NotSupportedError } = require('./errors');

const names = ['gte', 'gt', 'lt', 'lte', 'prefix', 'reverse', 'limit', 'snapshot'];
const rowsFirst = 32;
const rowsMax = 1024;
const bytesFirst = 16 * 1024;
const bytesMax = 256 * 1024;

// The first key behind all that begin with these bytes; none where there is no such key.
function behind(prefix) {
  const bytes = Buffer.from(bytesOf(prefix));
  let size = bytes.length;
  while (size > 0 && bytes[size - 1] === 0xff) size -= 1;
  if (size === 0) return undefined;
  const out = Buffer.from(bytes.subarray(0, size));
  out[size - 1] += 1;
  return out;
}

class Walk {
  constructor(at, tree, kind, options) {
    const given = known(options, names, 'range options');
    const { limit = Infinity, prefix } = given;
    if (!(limit >= 0)) throw new InvalidArgumentError('limit is not a number from 0 on');
    const encode = (key) => (key === undefined ? undefined : bytesOf(tree.keyCodec.encode(key)));
    if (tree?.[kHandle] === undefined) throw new InvalidArgumentError('not a Tree');
    const bounded = ['gte', 'gt', 'lt', 'lte'].some((one) => given[one] !== undefined);
    if (prefix !== undefined && bounded) {
      throw new InvalidArgumentError('a range has a prefix, or bounds');
    }
    this.at = at;
    this.tree = tree;
    this.kind = kind;
    this.reverse = Boolean(given.reverse);
    this.left = limit;
    this.snapshot = given.snapshot?.[kHandle];
    this.without = encode(given.gt);
    this.lower = encode(given.gte) ?? this.without;
    this.upper = encode(given.lt);
    const last = encode(given.lte);
    this.bytewise = last !== undefined || prefix !== undefined;
    if (last !== undefined) this.upper = Buffer.concat([last, Buffer.alloc(1)]);
    if (prefix !== undefined) {
      this.lower = bytesOf(prefix);
      this.upper = behind(prefix);
    }
    this.cursor = undefined;
    this.batch = undefined;
    this.row = 0;
    this.rows = rowsFirst;
    this.bytes = bytesFirst;
    this.ended = limit === 0;
  }

  openArguments() {
    return [this.at[kHandle], this.tree[kHandle], this.kind === 'keys', this.lower, this.upper,
      this.snapshot];
  }

  checkOrder(order) {
    if (order !== '' && order !== 'bytewise') {
      throw new NotSupportedError(`a tree of the order ${order} has no ranges by prefix or lte`);
    }
  }

  // Takes a batch in; false at the end.
  take(batch) {
    if (this.rows < rowsMax) {
      this.rows *= 2;
      this.bytes = Math.min(this.bytes * 2, bytesMax);
    }
    this.batch = batch;
    this.row = 0;
    if (batch === undefined) this.close();
    return batch !== undefined;
  }

  // The next entry of the batch that is there; undefined behind its last.
  entry() {
    const { batch } = this;
    while (batch !== undefined && this.row < batch[0]) {
      const { row } = this;
      this.row += 1;
      const key = batch[1].subarray(batch[2][row], batch[2][row + 1]);
      if (this.without !== undefined && this.without.equals(key)) continue;
      this.left -= 1;
      if (this.kind === 'keys') return [this.tree.keyCodec.decode(key)];
      const bytes = batch[3].subarray(batch[4][row], batch[4][row + 1]);
      const value = this.tree.valueCodec.decode(bytes);
      return this.kind === 'values' ? [value] : [this.tree.keyCodec.decode(key), value];
    }
    return undefined;
  }

  result(entry) {
    return { value: this.kind === 'entries' ? entry : entry[0], done: false };
  }

  close() {
    this.ended = true;
    this.batch = undefined;
    if (this.cursor !== undefined) native.dispose(this.cursor);
    this.cursor = undefined;
  }
}

const end = () => ({ value: undefined, done: true });

class Range {
  #walk;
  #pending;

  constructor(...args) {
    this.#walk = new Walk(...args);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    // One fetches at a time; who asks meanwhile gets in line.
    if (this.#pending !== undefined) return this.#queue(() => this.#step());
    const walk = this.#walk;
    if (walk.left > 0) {
      const entry = walk.entry();
      if (entry !== undefined) return Promise.resolve(walk.result(entry));
    }
    return this.#queue(() => this.#step());
  }

  #queue(step) {
    const mine = this.#pending === undefined ? step() : this.#pending.then(step, step);
    const done = () => {
      if (this.#pending === settled) this.#pending = undefined;
    };
    const settled = mine.then(done, done);
    this.#pending = settled;
    return mine;
  }

  async #step() {
    const walk = this.#walk;
    for (;;) {
      if (walk.left <= 0) walk.close();
      if (walk.ended) return end();
      const entry = walk.entry();
      if (entry !== undefined) return walk.result(entry);
      try {
        if (walk.cursor === undefined) await this.#open();
        if (!walk.ended) {
          const { cursor, reverse, rows, bytes } = walk;
          walk.take(await native.nextBatch(false, cursor, reverse, rows, bytes));
        }
      } catch (error) {
        walk.close();
        throw error;
      }
    }
  }

  async #open() {
    const walk = this.#walk;
    if (walk.bytewise) walk.checkOrder(await walk.tree.order(false));
    walk.cursor = await native.cursor(false, ...walk.openArguments());
    await native.move(false, walk.cursor, walk.reverse ? 1 : 0, undefined, undefined, 0, false);
  }

  return(value) {
    const close = async () => {
      this.#walk.close();
      return { value, done: true };
    };
    return this.#queue(close);
  }

  async toArray() {
    const all = [];
    for await (const one of this) all.push(one);
    return all;
  }
}

class SyncRange {
  #walk;

  constructor(...args) {
    this.#walk = new Walk(...args);
  }

  [Symbol.iterator]() {
    return this;
  }

  next() {
    const walk = this.#walk;
    for (;;) {
      if (walk.left <= 0) walk.close();
      if (walk.ended) return end();
      const entry = walk.entry();
      if (entry !== undefined) return walk.result(entry);
      try {
        if (walk.cursor === undefined) {
          if (walk.bytewise) walk.checkOrder(walk.tree.order(true));
          walk.cursor = native.cursor(true, ...walk.openArguments());
          native.move(true, walk.cursor, walk.reverse ? 1 : 0, undefined, undefined, 0, false);
        }
        walk.take(native.nextBatch(true, walk.cursor, walk.reverse, walk.rows, walk.bytes));
      } catch (error) {
        walk.close();
        throw error;
      }
    }
  }

  return(value) {
    this.#walk.close();
    return { value, done: true };
  }

  toArray() {
    return [...this];
  }
}

// Two columns by turns: while the program looks at one, the other is filled.
async function* columnsOf(at, tree, { rows, keyBytes, valueBytes, ...range } = {}) {
  if (range.gt !== undefined || range.limit !== undefined) {
    throw new NotSupportedError('columns begin with gte, and have no limit');
  }
  const walk = new Walk(at, tree, 'entries', range);
  const sizes = { rows, keyBytes, valueBytes };
  let filling;
  try {
    if (walk.bytewise) walk.checkOrder(await tree.order(false));
    walk.cursor = await native.cursor(false, ...walk.openArguments());
    await native.move(false, walk.cursor, walk.reverse ? 1 : 0, undefined, undefined, 0, false);
    const both = [new Columns(sizes), new Columns(sizes)];
    const fill = async (turn) => {
      for (;;) {
        const into = both[turn];
        try {
          const count = await into.used(false, () => native.nextColumns(false, walk.cursor,
            walk.reverse, into[kHandle]));
          return filled(into, count);
        } catch (error) {
          if (!(error instanceof BufferTooSmallError)) throw error;
          const { keyBytesNeeded, valueBytesNeeded } = error;
          both[turn] = new Columns({
            rows,
            keyBytes: Math.max(keyBytesNeeded, into.keyBytes.length),
            valueBytes: Math.max(valueBytesNeeded, into.valueBytes.length),
          });
        }
      }
    };
    filling = fill(0);
    for (let turn = 0; await filling > 0; turn ^= 1) {
      filling = fill(turn ^ 1);
      filling.catch(() => {}); // told by the turn that waits for it
      yield both[turn];
    }
  } finally {
    // Who ends early does so while the other columns are being filled, by the cursor.
    await Promise.resolve(filling).catch(() => {});
    walk.close();
  }
}

module.exports = { Range, SyncRange, columnsOf };
