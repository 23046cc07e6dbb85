// Copies, bulk loading, feeds, replicas, followers.

/// <reference types="node" />
import { CommitOptions, DatabaseOptions, Row } from './options';
import { EntryColumns } from './tree';
import { Pieces } from './transaction';
import { BackupInfo, CopyOptions, Database } from './database';

/** Backups in a directory; each stores what the one before has not. */
export class Repository {
  private constructor();
  /** Opens it, and makes it where it is missing. */
  static open(directory: string): Promise<Repository>;
  /** The same at once: it blocks the thread, and throws. */
  static openSync(directory: string): Repository;
  /** All backups, the oldest first. */
  list(): Promise<BackupInfo[]>;
  /** The same at once: it blocks the thread, and throws. */
  listSync(): BackupInfo[];
  /** Removes one. */
  remove(id: number): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  removeSync(id: number): void;
  verify(id: number, options?: CopyOptions): Promise<void>;
  /** Makes a database of it in a directory that is missing or empty. */
  restore(id: number, target: string, options?: CopyOptions): Promise<void>;
  close(): void;
}

/** A bulk load. Its first error is final. Closing it before `finish` gives it up. */
export class Ingest<K = any, V = any> {
  /** Adds an entry, in the order of keys unless `unsorted`. */
  add(key: K, value: V): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  addSync(key: K, value: V): void;
  /** Adds many. */
  addColumns(columns: EntryColumns): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  addColumnsSync(columns: EntryColumns): void;
  /** Commits, and closes: entries, entriesAttached, entriesLogged, containers, bytesWritten. */
  finish(): Promise<Row>;
  /** The same at once: it blocks the thread, and throws. */
  finishSync(): Row;
  addStream(key: K, size: number, pieces: Pieces): Promise<void>;
  close(): void;
}

export interface Change {
  type: 'put' | 'delete' | 'deleteValue' | 'merge' | 'deleteRange' | 'createTree' | 'dropTree'
    | 'renameTree' | 'cloneTree';
  tree: string;
  treeId: number;
  key?: Buffer;
  value?: Buffer;
  /** 0: never. */
  expiresAt?: number;
  /** The end of a range; undefined: that of the tree. */
  high?: Buffer;
  otherName?: string;
}
export interface Commit {
  timestamp: bigint;
  previous: bigint;
  changes: Change[];
}
/** A commit as bytes, for a replica elsewhere. */
export interface EncodedCommit {
  timestamp: bigint;
  previous: bigint;
  pieces: Buffer[];
}

/** What was committed, as it comes. A commit is held in memory whole. */
export class Feed {
  /** What was acknowledged. */
  readonly position: bigint;
  readonly sourceId: string;
  /** The next commit; undefined where none came within the time (0). Errors: TooOldError. */
  next(options?: { timeoutMs?: number }): Promise<Commit | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  nextSync(options?: { timeoutMs?: number }): Commit | undefined;
  /** The same as bytes. */
  nextPieces(options?: { timeoutMs?: number }): Promise<EncodedCommit | undefined>;
  /** The same at once: it blocks the thread, and throws. */
  nextPiecesSync(options?: { timeoutMs?: number }): EncodedCommit | undefined;
  /** Commits up to here are not needed any more; durable. */
  acknowledge(timestamp: bigint | number): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  acknowledgeSync(timestamp: bigint | number): void;
  /** Commit after commit; ends where none came within the time (default: it goes on). */
  commits(options?: { timeoutMs?: number }): AsyncGenerator<Commit>;
  close(): void;
}

/** A database that is kept equal to another one. */
export class Replica {
  /** It holds all commits of the source up to here; 0: no copy yet. */
  readonly position: bigint;
  readonly sourceId: string;
  /** The first copy, after the feed was made. */
  copy(source: Database): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  copySync(source: Database): void;
  /** In its place, where a copy has come here by other means. */
  beginAt(sourceId: string, timestamp: bigint): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  beginAtSync(sourceId: string, timestamp: bigint): void;
  /** Applies a commit, or passes over one that is there. */
  apply(commit: EncodedCommit, options?: CommitOptions): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  applySync(commit: EncodedCommit, options?: CommitOptions): void;
  close(): void;
}

/** Reads a database beside the process that writes it. */
export class Follower {
  private constructor();
  /** Opens it. Errors: as Database.open, BusyError where 128 views are there. */
  static open(path: string, options?: DatabaseOptions): Promise<Follower>;
  /** The same at once: it blocks the thread, and throws. */
  static openSync(path: string, options?: DatabaseOptions): Follower;
  /** Views show at least what was committed before the call. */
  refresh(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  refreshSync(): void;
  /** The same by a new view. */
  rebuild(): Promise<void>;
  /** The same at once: it blocks the thread, and throws. */
  rebuildSync(): void;
  /** The newest view: a database that is read-only. */
  view(): Promise<Database>;
  /** The same at once: it blocks the thread, and throws. */
  viewSync(): Database;
  /** A refresh, and the view then. */
  latest(): Promise<Database>;
  /** The same at once: it blocks the thread, and throws. */
  latestSync(): Database;
  close(): void;
}

/** Verifies a backup that is given in pieces. Errors: CorruptionError. */
export function verifyBackup(pieces: Pieces, options?: CopyOptions): Promise<BackupInfo>;
/** Makes a database of one in a directory that is missing or empty. */
export function restoreBackup(pieces: Pieces, target: string,
  options?: CopyOptions): Promise<BackupInfo>;
/** A new database of what is readable of a damaged one; `losses` says what is not. */
export function repair(source: string, target: string, options?: {
  database?: DatabaseOptions; ignoreManifest?: boolean;
  /** What is done, and of how much. */
  onProgress?: (done: number, all: number) => void | Promise<void>;
}): Promise<Row & { ok: boolean }>;
/** 32 bytes of the system's randomness. */
export function generateKey(): Buffer;
/** Numbers of 8 bytes, little-endian: of the orders and merge operators with that name. */
export function encodeUint64(number: bigint | number): Buffer;
export function decodeUint64(bytes: Uint8Array): bigint;
