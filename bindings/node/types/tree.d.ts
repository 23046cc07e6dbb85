// Trees, batches, columns and cursors.

/// <reference types="node" />
import { Bounds, Bytes, CommitOptions, Compression, CursorOptions, Encoding, Encodings,
  ColumnsOptions, RangeOptions, ReadOptions, Row, TreeOptions, WriteOptions } from './options';
import { Database } from './database';

/** Entries in order, read ahead in batches of one moment. */
export class Range<T> implements AsyncIterableIterator<T> {
  [Symbol.asyncIterator](): this;
  next(): Promise<IteratorResult<T, any>>;
  return(value?: any): Promise<IteratorResult<T, any>>;
  toArray(): Promise<T[]>;
}
/** The same, each batch by a call that blocks. */
export class SyncRange<T> implements IterableIterator<T> {
  [Symbol.iterator](): this;
  next(): IteratorResult<T, any>;
  return(value?: any): IteratorResult<T, any>;
  toArray(): T[];
}

/** A sorted tree of entries. Handles stay valid when the tree is renamed. */
export class Tree<K = Bytes, V = any> {
  readonly database: Database;
  /** As it was opened; undefined for subtrees. */
  readonly name?: string;
  /** Never used again for another tree. */
  readonly id: number;
  /** The same tree with other encodings. */
  withEncoding<K2 = any, V2 = any>(encodings: { key?: Encoding; value?: Encoding }): Tree<K2, V2>;
  /** The value; undefined where there is none. */
  get(key: K, options?: ReadOptions): Promise<V | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  getSync(key: K, options?: ReadOptions): V | undefined;
  /** Whether the key is there. */
  has(key: K, options?: ReadOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  hasSync(key: K, options?: ReadOptions): boolean;
  /** The values of many keys at one moment, in their order; much faster than one by one. */
  multiGet(keys: Iterable<K>, options?: ReadOptions): Promise<(V | undefined)[]>;
  /** The same at once: it blocks the thread, and throws. */
  multiGetSync(keys: Iterable<K>, options?: ReadOptions): (V | undefined)[];
  /**
   * The same into columns, of keys in a column: how many answers fitted. `found` says which
   * keys were there. Errors: BufferTooSmallError where not one fits.
   */
  multiGetColumns(keys: KeyColumn, columns: Columns, options?: ReadOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  multiGetColumnsSync(keys: KeyColumn, columns: Columns, options?: ReadOptions): number;
  /** How many entries there are, exactly. */
  count(range?: Bounds<K> & ReadOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  countSync(range?: Bounds<K> & ReadOptions): number;
  /** Writes. Durable as the options, or else those of the database, say. */
  put(key: K, value: V, options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  putSync(key: K, value: V, options?: WriteOptions): void;
  /** Deletes a key, if it is there, with all its values. */
  del(key: K, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  delSync(key: K, options?: CommitOptions): void;
  /** Deletes one of several values. */
  delValue(key: K, value: V, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  delValueSync(key: K, value: V, options?: CommitOptions): void;
  /** Deletes a range. */
  deleteRange(range: Bounds<K>, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  deleteRangeSync(range: Bounds<K>, options?: CommitOptions): void;
  /** Changes the value by the merge operator of the tree. */
  merge(key: K, operand: Bytes, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  mergeSync(key: K, operand: Bytes, options?: CommitOptions): void;
  /** Writes where the key is absent; whether it was. */
  insert(key: K, value: V, options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  insertSync(key: K, value: V, options?: WriteOptions): boolean;
  /** Writes where the key is there; whether it was. */
  update(key: K, value: V, options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  updateSync(key: K, value: V, options?: WriteOptions): boolean;
  /** Writes where the value is the expected one (undefined: absent); whether it was. */
  replace(key: K, expected: V | undefined, value: V, options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  replaceSync(key: K, expected: V | undefined, value: V, options?: WriteOptions): boolean;
  /** Deletes where the value is the expected one; whether it was. */
  removeIf(key: K, expected: V | undefined, options?: CommitOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  removeIfSync(key: K, expected: V | undefined, options?: CommitOptions): boolean;
  /** A part of a value, less at its end; undefined where the key is absent. */
  readPart(key: K, offset: number, size: number,
    options?: ReadOptions): Promise<Buffer | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  readPartSync(key: K, offset: number, size: number, options?: ReadOptions): Buffer | undefined;
  /** The bytes of a value; undefined where the key is absent. */
  sizeOf(key: K, options?: ReadOptions): Promise<number | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  sizeOfSync(key: K, options?: ReadOptions): number | undefined;
  /** Overwrites a part, and lets the value grow. */
  writePart(key: K, offset: number, data: Bytes, options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  writePartSync(key: K, offset: number, data: Bytes, options?: WriteOptions): void;
  /** Writes at the end of a value; where that was. */
  append(key: K, data: Bytes, options?: WriteOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  appendSync(key: K, data: Bytes, options?: WriteOptions): number;
  /** Cuts a value off, or lets it grow by zeros. */
  resize(key: K, size: number, options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  resizeSync(key: K, size: number, options?: WriteOptions): void;
  /** A cursor, which stands nowhere yet. */
  cursor(options?: CursorOptions<K>): Promise<Cursor<K, V>>;
  /** The same at once: it blocks the thread, and throws. */
  cursorSync(options?: CursorOptions<K>): Cursor<K, V>;
  /** Hangs a new tree at a key. */
  createSubtree(key: K, options?: TreeOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  createSubtreeSync(key: K, options?: TreeOptions): Tree<any, any>;
  /** The tree at a key. Errors: NotFoundError. */
  subtree(key: K, options?: Encodings & ReadOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  subtreeSync(key: K, options?: Encodings & ReadOptions): Tree<any, any>;
  /** The keys at which trees hang. */
  listSubtrees(options?: ReadOptions): Promise<K[]>;
  /** The same at once: it blocks the thread, and throws. */
  listSubtreesSync(options?: ReadOptions): K[];
  /** Hangs a tree that has a name at a key. */
  attach(key: K, name: Bytes, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  attachSync(key: K, name: Bytes, options?: CommitOptions): void;
  /** Takes a tree off its key, and gives it a name. */
  detach(key: K, name: Bytes, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  detachSync(key: K, name: Bytes, options?: CommitOptions): void;
  /** Hangs a tree at another key. */
  moveSubtree(key: K, toTree: Tree<any, any>, toKey: any, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  moveSubtreeSync(key: K, toTree: Tree<any, any>, toKey: any, options?: CommitOptions): void;
  /** A tree with a name that begins as a copy of a subtree. */
  cloneSubtree(key: K, name: Bytes, options?: TreeOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  cloneSubtreeSync(key: K, name: Bytes, options?: TreeOptions): Tree<any, any>;
  /** Entries in order: for await (const [key, value] of ...). */
  range(options?: RangeOptions<K>): Range<[K, V]>;
  /** The same for loops that block. */
  rangeSync(options?: RangeOptions<K>): SyncRange<[K, V]>;
  /** Keys in order; values are not read. */
  keys(options?: RangeOptions<K>): Range<K>;
  /** The same for loops that block. */
  keysSync(options?: RangeOptions<K>): SyncRange<K>;
  /** Values in the order of keys. */
  values(options?: RangeOptions<K>): Range<V>;
  /** The same for loops that block. */
  valuesSync(options?: RangeOptions<K>): SyncRange<V>;
  /** Many entries a turn, without objects: what one gives, the second after it overwrites. */
  columns(options?: ColumnsOptions<K>): AsyncGenerator<Columns, void>;
  /** A value in pieces, of one moment; nothing where the key is absent. */
  readStream(key: K, options?: {
    offset?: number; pieceBytes?: number; snapshot?: Snapshot;
  }): AsyncGenerator<Buffer>;
  /** From memory alone. Errors: NotInMemoryError. */
  getInMemory(key: K, options?: ReadOptions): Promise<V | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  getInMemorySync(key: K, options?: ReadOptions): V | undefined;
  /** Whether anybody has committed to the key since the snapshot. */
  changedSince(key: K, snapshot: Snapshot): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  changedSinceSync(key: K, snapshot: Snapshot): boolean;
  /** When an entry ends, in milliseconds since 1970; 0: never; undefined: it is absent. */
  expiresAt(key: K, options?: ReadOptions): Promise<number | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  expiresAtSync(key: K, options?: ReadOptions): number | undefined;
  /** About how many entries there are, and their bytes on disk, without a look at the disk. */
  estimate(range?: Bounds<K>): Promise<{ entries: number; bytes: number }>;
  /** The same at once: it blocks the thread, and throws. */
  estimateSync(range?: Bounds<K>): { entries: number; bytes: number };
  /** Where a key is, and what a read of it costs. */
  explain(key: K, options?: ReadOptions): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  explainSync(key: K, options?: ReadOptions): Row;
  /** What the tree was made with. */
  options(): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  optionsSync(): Row;
  /** Of what is written from now on; durable. */
  setCompression(compression: Compression): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  setCompressionSync(compression: Compression): void;
  /** For good; durable. The operator is one of the options of the database. */
  setMergeOperator(name: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  setMergeOperatorSync(name: string): void;
  close(): void;
}

/** A fixed view of all trees. It keeps old versions until it is closed. */
export class Snapshot {
  readonly timestamp: bigint;
  /** Entries that end up to here have ended for it. */
  readonly nowMs: number;
  close(): void;
}

/** Writes that are committed as one by Database.write. Calls for it are made at once. */
export class Batch {
  put<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): this;
  del<K, V>(tree: Tree<K, V>, key: K): this;
  delValue<K, V>(tree: Tree<K, V>, key: K, value: V): this;
  deleteRange<K, V>(tree: Tree<K, V>, range: Bounds<K>): this;
  merge<K, V>(tree: Tree<K, V>, key: K, operand: Bytes): this;
  putColumns(tree: Tree<any, any>, columns: EntryColumns): this;
  /** Operations, and the bytes that they take in the log. */
  readonly count: number;
  readonly bytes: number;
  clear(): this;
  close(): void;
}

/** Entry i is the bytes from offsets[i] on, below offsets[i + 1], as Arrow's LargeBinary. */
export interface EntryColumns {
  keyBytes: Bytes;
  keyOffsets: BigInt64Array;
  valueBytes: Bytes;
  valueOffsets: BigInt64Array;
}
export interface KeyColumn {
  bytes: Bytes;
  offsets: BigInt64Array;
}

/**
 * Native memory that calls fill with entries, used again and again. The arrays show what the last
 * call filled, and what a call that is under way has filled so far.
 */
export class Columns implements EntryColumns {
  constructor(capacity?: { rows?: number; keyBytes?: number; valueBytes?: number });
  readonly rows: number;
  readonly keyBytes: Buffer;
  readonly keyOffsets: BigInt64Array;
  readonly valueBytes: Buffer;
  readonly valueOffsets: BigInt64Array;
  /** Of answers to keys: 1 or 0. */
  readonly found: Uint8Array;
  /** Views, valid until the next call fills the columns. */
  key(row: number): Buffer;
  value(row: number): Buffer;
}

/** Walks by hand. Each move returns the entry on which it stands then, or undefined. */
export class Cursor<K = Bytes, V = any> {
  /** To the first entry. */
  first(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  firstSync(): [K, V] | undefined;
  /** To the last entry. */
  last(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  lastSync(): [K, V] | undefined;
  /** To the next entry. */
  next(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  nextSync(): [K, V] | undefined;
  /** To the entry before. */
  prev(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  prevSync(): [K, V] | undefined;
  /** To the first value of the next key. */
  nextKey(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  nextKeySync(): [K, V] | undefined;
  /** To the last value of the key before. */
  prevKey(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  prevKeySync(): [K, V] | undefined;
  /** Within the key. */
  nextValue(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  nextValueSync(): [K, V] | undefined;
  /** Within the key. */
  prevValue(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  prevValueSync(): [K, V] | undefined;
  /** Within the key. */
  firstValue(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  firstValueSync(): [K, V] | undefined;
  /** Within the key. */
  lastValue(): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  lastValueSync(): [K, V] | undefined;
  /** To the first entry that is not before the key. */
  seek(key: K): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  seekSync(key: K): [K, V] | undefined;
  /** To the last entry that is not behind the key. */
  seekForPrev(key: K): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  seekForPrevSync(key: K): [K, V] | undefined;
  /** To the first value of this key that is not before the value. */
  seekValue(key: K, value: V): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  seekValueSync(key: K, value: V): [K, V] | undefined;
  /** So many entries on, or back. */
  skip(count: number): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  skipSync(count: number): [K, V] | undefined;
  /** To an entry, each about as likely as the others. */
  seekRandom(random: number | bigint): Promise<[K, V] | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  seekRandomSync(random: number | bigint): [K, V] | undefined;
  /** Of the entry on which it stands; expiresAt 0: never. */
  entryInfo(options?: { countValues?: boolean }): Promise<{
    isSubtree: boolean; expiresAt: number; values?: number;
  }>;
  /** The same at once: it blocks the thread, and throws. */
  entryInfoSync(options?: { countValues?: boolean }): {
    isSubtree: boolean; expiresAt: number; values?: number;
  };
  /**
   * Fills the columns from the entry on which it stands; 0 at the end. Then it goes on behind them.
   * Errors: BufferTooSmallError, with keyBytesNeeded and valueBytesNeeded, where not one fits.
   */
  nextColumns(columns: Columns): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  nextColumnsSync(columns: Columns): number;
  /** The same in descending order. */
  prevColumns(columns: Columns): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  prevColumnsSync(columns: Columns): number;
  close(): void;
}
