// Databases.

/// <reference types="node" />
import { CommitOptions, DatabaseOptions, Durability, EncryptionOptions, Row } from './options';
import { Batch, Snapshot, Tree } from './tree';
import { Transaction, TransactionOptions, TreeNames } from './transaction';
import { Feed, Ingest, Replica, Repository } from './copies';

export interface CopyOptions {
  /** At most; 0: no limit. */
  bytesPerSecond?: number;
  /** Told now and then with the bytes so far; what it throws ends the copy. */
  onProgress?(bytes: number): void | Promise<void>;
  /** Of checkpoints: copies what the file system could share. */
  copyBlocks?: boolean;
  /** Of backups into a repository: all is stored again. */
  full?: boolean;
  /** Of restores and verifications. */
  encryption?: EncryptionOptions;
}
/** id, createdUs, bytes, bytesStored, bytesRead, incremental, encrypted. */
export type BackupInfo = Row & { id: number; bytes: number };
export interface CheckOptions {
  skipValues?: boolean;
  skipFiles?: boolean;
  threads?: number;
  bytesPerSecond?: number;
  errorsMax?: number;
  /** Containers that are done, and of how many; not of `checkSync`. */
  onProgress?: (done: number, all: number) => void | Promise<void>;
}

/** A database: one process opens it for writing. */
export interface Database extends TreeNames {}
export class Database {
  private constructor();
  /**
   * Opens the database in a directory; creates or recovers it. Errors: BusyError where another
   * process has it open, NotFoundError, CorruptionError, PermissionDeniedError, InvalidArgumentError
   * for options.
   */
  static open(path: string, options?: DatabaseOptions): Promise<Database>;
  /** The same at once: it blocks the thread, and throws. */
  static openSync(path: string, options?: DatabaseOptions): Database;
  /** Removes the files of a database that nobody has open. */
  static destroy(path: string, options?: DatabaseOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  static destroySync(path: string, options?: DatabaseOptions): void;
  /** Figures of a database that any process has open, or had. */
  static readCounters(directory: string): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  static readCountersSync(directory: string): Row;
  /** The database of another thread of this process (worker_threads), by its token. */
  static attach(token: bigint): Database;
  /** A token for Database.attach; valid while any thread holds the database. */
  share(): bigint;
  readonly path: string;
  /**
   * Waits for calls that are under way, flushes and closes. Errors: BusyError where cursors,
   * snapshots, transactions or feeds are open; with `force` those of this thread are closed.
   */
  close(options?: { force?: boolean }): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  closeSync(options?: { force?: boolean }): void;
  /** The id that it has had since it was made. */
  id(): Promise<string>;
  /** The same at once: it blocks the thread, and throws. */
  idSync(): string;
  /** A view of the newest commit. */
  snapshot(): Snapshot;
  /** Makes a snapshot with a name, which outlives restarts; durable. */
  createSnapshot(name: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  createSnapshotSync(name: string): void;
  /** Opens one. */
  openSnapshot(name: string): Promise<Snapshot>;
  /** The same at once: it blocks the thread, and throws. */
  openSnapshotSync(name: string): Snapshot;
  /** Drops one. */
  dropSnapshot(name: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  dropSnapshotSync(name: string): void;
  /** All of them: name, timestamp, createdUs. */
  listSnapshots(): Promise<Row[]>;
  /** The same at once: it blocks the thread, and throws. */
  listSnapshotsSync(): Row[];
  /** An empty batch. */
  batch(): Batch;
  /** Commits a batch at one moment. */
  write(batch: Batch, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  writeSync(batch: Batch, options?: CommitOptions): void;
  /** Begins a transaction. */
  begin(options?: TransactionOptions): Promise<Transaction>;
  /** The same at once: it blocks the thread, and throws. */
  beginSync(options?: TransactionOptions): Transaction;
  /**
   * Runs the function in a transaction, and commits it. After a conflict, a deadlock or a timeout
   * of a lock it is run again, up to `retries` times (20). What it throws aborts the transaction.
   */
  transaction<T>(work: (txn: Transaction) => Promise<T> | T, options?: TransactionOptions &
    CommitOptions & { retries?: number }): Promise<T>;
  /** The same for a function that does not wait. */
  transactionSync<T>(work: (txn: Transaction) => T, options?: TransactionOptions &
    CommitOptions & { retries?: number }): T;
  /** Transactions that are prepared: id, operations, timestamp, preparedAtUs. */
  prepared(): Promise<Row[]>;
  /** The same at once: it blocks the thread, and throws. */
  preparedSync(): Row[];
  /** Commits one. */
  commitPrepared(id: string, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  commitPreparedSync(id: string, options?: CommitOptions): void;
  /** Rolls one back; durable. */
  rollbackPrepared(id: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  rollbackPreparedSync(id: string): void;
  /** Makes every commit so far durable. */
  sync(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  syncSync(): void;
  /** Writes all that is in memory alone to its files. */
  flush(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  flushSync(): void;
  /** Flushes, and rewrites what carries garbage. */
  compact(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  compactSync(): void;
  /** Waits until background work has nothing to do. */
  drain(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  drainSync(): void;
  /** Reads all indexes into memory. */
  warmUp(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  warmUpSync(): void;
  /** A new data key for what is written from now on. */
  rotateDataKey(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  rotateDataKeySync(): void;
  /** The key with this id opens the database from now on. */
  rotateKey(keyId: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  rotateKeySync(keyId: string): void;
  /** Changes the memory budget. */
  setMemoryBudget(bytes: number): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  setMemoryBudgetSync(bytes: number): void;
  /** 0: no limit. */
  setBackgroundIoLimit(bytesPerSecond: number): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  setBackgroundIoLimitSync(bytesPerSecond: number): void;
  /** encrypted, keyId, generation, dataKeys, dataKey. */
  encryption(): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  encryptionSync(): Row;
  /** All figures of this moment. */
  stats(): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  statsSync(): Row;
  /** One figure by its name. */
  stat(name: string): Promise<number>;
  /** The same at once: it blocks the thread, and throws. */
  statSync(name: string): number;
  /** Verifies all that is on disk. Damage is no error: `ok` is false, and `items` says what. */
  check(options?: CheckOptions): Promise<Row & { ok: boolean; items: Row[] }>;
  /** The same at once: it blocks the thread, and throws. */
  checkSync(options?: CheckOptions): Row & { ok: boolean; items: Row[] };
  /** Makes a database of its own in a directory that is missing or empty. */
  checkpoint(directory: string, options?: CopyOptions): Promise<void>;
  backup(repository: Repository, options?: CopyOptions): Promise<BackupInfo>;
  /** Gives a backup in pieces of about 1 MB, each when the one before was taken. */
  backupTo(write: (piece: Buffer) => void | Promise<void>,
    options?: CopyOptions): Promise<BackupInfo>;
  /** Loads many entries in one commit; sorted, unless it says otherwise. */
  ingest<K, V>(tree: Tree<K, V>, options?: {
    unsorted?: boolean; durability?: Durability; sortMemoryBytes?: number;
  }): Promise<Ingest<K, V>>;
  /** The same at once: it blocks the thread, and throws. */
  ingestSync<K, V>(tree: Tree<K, V>, options?: {
    unsorted?: boolean; durability?: Durability; sortMemoryBytes?: number;
  }): Ingest<K, V>;
  /** Makes a feed of commits behind the present moment; durable. logBytesMax 0: no limit; 4 GB. */
  createFeed(name: string, options?: { logBytesMax?: number }): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  createFeedSync(name: string, options?: { logBytesMax?: number }): void;
  /** Drops one that is not open. */
  dropFeed(name: string): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  dropFeedSync(name: string): void;
  /** All of them. */
  listFeeds(): Promise<Row[]>;
  /** The same at once: it blocks the thread, and throws. */
  listFeedsSync(): Row[];
  /** Reads a feed from its position on. */
  feed(name: string): Promise<Feed>;
  /** The same at once: it blocks the thread, and throws. */
  feedSync(name: string): Feed;
  /** Reads behind any timestamp, for which nothing is kept. Errors: TooOldError. */
  feedAt(position: bigint | number): Promise<Feed>;
  /** The same at once: it blocks the thread, and throws. */
  feedAtSync(position: bigint | number): Feed;
  /** Makes this database a replica, or goes on with one. */
  replica(): Promise<Replica>;
  /** The same at once: it blocks the thread, and throws. */
  replicaSync(): Replica;
}
