// Transactions.

/// <reference types="node" />
import { Bounds, Bytes, ColumnsOptions, CommitOptions, CursorOptions, Encodings, RangeOptions, ReadOptions,
  TreeOptions, WriteOptions } from './options';
import { Columns, Cursor, KeyColumn, Range, Snapshot, SyncRange, Tree } from './tree';
import { Database } from './database';

export interface TransactionOptions {
  /** The first committer wins (default), one at a time, or a write locks its key. */
  mode?: 'optimistic' | 'exclusive' | 'pessimistic';
  isolation?: 'snapshot' | 'readCommitted' | 'serializable';
  readOnly?: boolean;
  lockTimeoutMs?: number;
  /** The moment that it reads. */
  snapshot?: Snapshot;
}
export type Savepoint = [bigint, bigint];

/** What both databases and transactions do with the names of trees. */
export interface TreeNames {
  /** Opens a tree, and makes it where it is missing, durably. */
  tree<K = any, V = any>(name: string, options?: TreeOptions): Promise<Tree<K, V>>;
  /** The same at once: it blocks the thread, and throws. */
  treeSync<K = any, V = any>(name: string, options?: TreeOptions): Tree<K, V>;
  /** Opens a tree that is there. Errors: NotFoundError. */
  findTree<K = any, V = any>(name: string, options?: Encodings & ReadOptions): Promise<Tree<K, V>>;
  /** The same at once: it blocks the thread, and throws. */
  findTreeSync<K = any, V = any>(name: string, options?: Encodings & ReadOptions): Tree<K, V>;
  /** The names of all trees. */
  listTrees(options?: ReadOptions): Promise<string[]>;
  /** The same at once: it blocks the thread, and throws. */
  listTreesSync(options?: ReadOptions): string[];
  /** Removes a tree and all below it; durable. */
  dropTree(name: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  dropTreeSync(name: string): void;
  /** Gives a tree another name; durable. */
  renameTree(from: string, to: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  renameTreeSync(from: string, to: string): void;
  /** A tree that begins with all that another one holds. */
  cloneTree(from: string, to: string, options?: TreeOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  cloneTreeSync(from: string, to: string, options?: TreeOptions): Tree<any, any>;
}

/**
 * Reads and writes that are committed together. Names of Tree do the same, with the tree first, and
 * see the transaction's own writes. Once it has ended its calls are ClosedErrors.
 */
export interface Transaction extends TreeNames {}
export class Transaction {
  readonly database: Database;
  /** The value; undefined where there is none. */
  get<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): Promise<V | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  getSync<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): V | undefined;
  /** Whether the key is there. */
  has<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  hasSync<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): boolean;
  /** The values of many keys at one moment, in their order; much faster than one by one. */
  multiGet<K, V>(tree: Tree<K, V>, keys: Iterable<K>,
    options?: ReadOptions): Promise<(V | undefined)[]>;
  /** The same at once: it blocks the thread, and throws. */
  multiGetSync<K, V>(tree: Tree<K, V>, keys: Iterable<K>, options?: ReadOptions): (V | undefined)[];
  /**
   * The same into columns, of keys in a column: how many answers fitted. `found` says which
   * keys were there. Errors: BufferTooSmallError where not one fits.
   */
  multiGetColumns<K, V>(tree: Tree<K, V>, keys: KeyColumn, columns: Columns,
    options?: ReadOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  multiGetColumnsSync<K, V>(tree: Tree<K, V>, keys: KeyColumn, columns: Columns,
    options?: ReadOptions): number;
  /** How many entries there are, exactly. */
  count<K, V>(tree: Tree<K, V>, range?: Bounds<K> & ReadOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  countSync<K, V>(tree: Tree<K, V>, range?: Bounds<K> & ReadOptions): number;
  /** Writes; seen by others when the transaction has committed. */
  put<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  putSync<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): void;
  /** Deletes a key, if it is there, with all its values. */
  del<K, V>(tree: Tree<K, V>, key: K): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  delSync<K, V>(tree: Tree<K, V>, key: K): void;
  /** Deletes one of several values. */
  delValue<K, V>(tree: Tree<K, V>, key: K, value: V): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  delValueSync<K, V>(tree: Tree<K, V>, key: K, value: V): void;
  /** Deletes a range. */
  deleteRange<K, V>(tree: Tree<K, V>, range: Bounds<K>): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  deleteRangeSync<K, V>(tree: Tree<K, V>, range: Bounds<K>): void;
  /** Changes the value by the merge operator of the tree. */
  merge<K, V>(tree: Tree<K, V>, key: K, operand: Bytes): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  mergeSync<K, V>(tree: Tree<K, V>, key: K, operand: Bytes): void;
  /** Writes where the key is absent; whether it was. */
  insert<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  insertSync<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): boolean;
  /** Writes where the key is there; whether it was. */
  update<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  updateSync<K, V>(tree: Tree<K, V>, key: K, value: V, options?: WriteOptions): boolean;
  /** Writes where the value is the expected one (undefined: absent); whether it was. */
  replace<K, V>(tree: Tree<K, V>, key: K, expected: V | undefined, value: V,
    options?: WriteOptions): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  replaceSync<K, V>(tree: Tree<K, V>, key: K, expected: V | undefined, value: V,
    options?: WriteOptions): boolean;
  /** Deletes where the value is the expected one; whether it was. */
  removeIf<K, V>(tree: Tree<K, V>, key: K, expected: V | undefined): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  removeIfSync<K, V>(tree: Tree<K, V>, key: K, expected: V | undefined): boolean;
  /** A part of a value, less at its end; undefined where the key is absent. */
  readPart<K, V>(tree: Tree<K, V>, key: K, offset: number, size: number,
    options?: ReadOptions): Promise<Buffer | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  readPartSync<K, V>(tree: Tree<K, V>, key: K, offset: number, size: number,
    options?: ReadOptions): Buffer | undefined;
  /** The bytes of a value; undefined where the key is absent. */
  sizeOf<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): Promise<number | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  sizeOfSync<K, V>(tree: Tree<K, V>, key: K, options?: ReadOptions): number | undefined;
  /** Overwrites a part, and lets the value grow. */
  writePart<K, V>(tree: Tree<K, V>, key: K, offset: number, data: Bytes,
    options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  writePartSync<K, V>(tree: Tree<K, V>, key: K, offset: number, data: Bytes,
    options?: WriteOptions): void;
  /** Writes at the end of a value; where that was. */
  append<K, V>(tree: Tree<K, V>, key: K, data: Bytes, options?: WriteOptions): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  appendSync<K, V>(tree: Tree<K, V>, key: K, data: Bytes, options?: WriteOptions): number;
  /** Cuts a value off, or lets it grow by zeros. */
  resize<K, V>(tree: Tree<K, V>, key: K, size: number, options?: WriteOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  resizeSync<K, V>(tree: Tree<K, V>, key: K, size: number, options?: WriteOptions): void;
  /** A cursor, which stands nowhere yet. */
  cursor<K, V>(tree: Tree<K, V>, options?: CursorOptions<K>): Promise<Cursor<K, V>>;
  /** The same at once: it blocks the thread, and throws. */
  cursorSync<K, V>(tree: Tree<K, V>, options?: CursorOptions<K>): Cursor<K, V>;
  /** Hangs a new tree at a key. */
  createSubtree<K, V>(tree: Tree<K, V>, key: K, options?: TreeOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  createSubtreeSync<K, V>(tree: Tree<K, V>, key: K, options?: TreeOptions): Tree<any, any>;
  /** The tree at a key. Errors: NotFoundError. */
  subtree<K, V>(tree: Tree<K, V>, key: K, options?: Encodings & ReadOptions): Promise<Tree<any,
    any>>;
  /** The same at once: it blocks the thread, and throws. */
  subtreeSync<K, V>(tree: Tree<K, V>, key: K, options?: Encodings & ReadOptions): Tree<any, any>;
  /** The keys at which trees hang. */
  listSubtrees<K, V>(tree: Tree<K, V>, options?: ReadOptions): Promise<K[]>;
  /** The same at once: it blocks the thread, and throws. */
  listSubtreesSync<K, V>(tree: Tree<K, V>, options?: ReadOptions): K[];
  /** Hangs a tree that has a name at a key. */
  attach<K, V>(tree: Tree<K, V>, key: K, name: Bytes, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  attachSync<K, V>(tree: Tree<K, V>, key: K, name: Bytes, options?: CommitOptions): void;
  /** Takes a tree off its key, and gives it a name. */
  detach<K, V>(tree: Tree<K, V>, key: K, name: Bytes, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  detachSync<K, V>(tree: Tree<K, V>, key: K, name: Bytes, options?: CommitOptions): void;
  /** Hangs a tree at another key. */
  moveSubtree<K, V>(tree: Tree<K, V>, key: K, toTree: Tree<any, any>, toKey: any,
    options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  moveSubtreeSync<K, V>(tree: Tree<K, V>, key: K, toTree: Tree<any, any>, toKey: any,
    options?: CommitOptions): void;
  /** A tree with a name that begins as a copy of a subtree. */
  cloneSubtree<K, V>(tree: Tree<K, V>, key: K, name: Bytes,
    options?: TreeOptions): Promise<Tree<any, any>>;
  /** The same at once: it blocks the thread, and throws. */
  cloneSubtreeSync<K, V>(tree: Tree<K, V>, key: K, name: Bytes, options?: TreeOptions): Tree<any,
    any>;
  /** Entries in order: for await (const [key, value] of ...). */
  range<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): Range<[K, V]>;
  /** The same for loops that block. */
  rangeSync<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): SyncRange<[K, V]>;
  /** Keys in order; values are not read. */
  keys<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): Range<K>;
  /** The same for loops that block. */
  keysSync<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): SyncRange<K>;
  /** Values in the order of keys. */
  values<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): Range<V>;
  /** The same for loops that block. */
  valuesSync<K, V>(tree: Tree<K, V>, options?: RangeOptions<K>): SyncRange<V>;
  /** Many entries a turn, without objects: what one gives, the second after it overwrites. */
  columns<K, V>(tree: Tree<K, V>, options?: ColumnsOptions<K>): AsyncGenerator<Columns, void>;
  /** A value in pieces, of one moment; nothing where the key is absent. */
  readStream<K, V>(tree: Tree<K, V>, key: K, options?: {
    offset?: number; pieceBytes?: number; snapshot?: Snapshot;
  }): AsyncGenerator<Buffer>;
  /** Reads what is to be written: nobody else writes it before this ends, or it conflicts. */
  getForUpdate<K, V>(tree: Tree<K, V>, key: K): Promise<V | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  getForUpdateSync<K, V>(tree: Tree<K, V>, key: K): V | undefined;
  /** Locks a row, there or not; in pessimistic ones. Errors: TimedOutError, DeadlockError. */
  lock<K, V>(tree: Tree<K, V>, key: K, options?: {
    lock?: 'shared' | 'upgradable' | 'exclusive'; timeoutMs?: number;
  }): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  lockSync<K, V>(tree: Tree<K, V>, key: K, options?: {
    lock?: 'shared' | 'upgradable' | 'exclusive'; timeoutMs?: number;
  }): void;
  /** Commits. Errors: ConflictError: nothing was written; UnknownOutcomeError. */
  commit(options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  commitSync(options?: CommitOptions): void;
  /** Ends it; nothing of it remains. One that has ended is left alone. */
  abort(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  abortSync(): void;
  /** Whether neither commit nor abort has ended it. */
  isOpen(): Promise<boolean>;
  /** The same at once: it blocks the thread, and throws. */
  isOpenSync(): boolean;
  /** A moment to roll back to. */
  savepoint(): Promise<Savepoint>;
  /** The same at once: it blocks the thread, and throws. */
  savepointSync(): Savepoint;
  /** Undoes all since the savepoint, which stays. */
  rollbackTo(savepoint: Savepoint): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  rollbackToSync(savepoint: Savepoint): void;
  /** Forgets a savepoint, and later ones; what was written stays. */
  release(savepoint: Savepoint): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  releaseSync(savepoint: Savepoint): void;
  /** A nested one, which comes to its end before this one goes on. */
  begin(): Promise<Transaction>;
  /** The same at once: it blocks the thread, and throws. */
  beginSync(): Transaction;
  /** The first of two phases: it stays, over restarts, until it is ended by this id. */
  prepare(id: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  prepareSync(id: string): void;
  /** A value of `size` bytes from pieces, up to 4 GB. */
  putStream<K, V>(tree: Tree<K, V>, key: K, size: number, pieces: Pieces): Promise<void>;
  writePartStream<K, V>(tree: Tree<K, V>, key: K, offset: number, size: number,
    pieces: Pieces): Promise<void>;
  /** Where the end was. */
  appendStream<K, V>(tree: Tree<K, V>, key: K, size: number, pieces: Pieces): Promise<number>;
  /** Aborts it where it is open and not prepared; never fails. */
  close(): void;
}
export type Pieces = AsyncIterable<Bytes> | Iterable<Bytes>;
