// Options of calls.

/// <reference types="node" />
import { Snapshot } from './tree';

export type Bytes = string | Uint8Array | DataView | ArrayBuffer;

/** How keys or values are written: 'uint64' are BigInts of 8 bytes, little-endian. */
export interface Codec<T> {
  encode(value: T): Bytes;
  decode(bytes: Buffer): T;
}
export type Encoding = 'buffer' | 'utf8' | 'json' | 'uint64' | Codec<any>;

/** What a commit survives: the death of the process, a power loss but for milliseconds, all. */
export type Durability = 'default' | 'none' | 'async' | 'full';
export type Compression = 'none' | 'lz4' | 'zstd';

/** Rows of named figures. Numbers above 2^53 are BigInts. */
export type Row = { [field: string]: any };

export interface DatabaseOptions {
  /** Bytes, or a number with K, M or G. Default: 256M, at least 16M. */
  memoryBudgetBytes?: number | string;
  preallocateMemory?: boolean;
  /** Of commits that say nothing else. Default: full. */
  durability?: 'none' | 'async' | 'full';
  ioMode?: 'auto' | 'direct' | 'buffered';
  /** 1.02 to 4. Default: 1.1. */
  spaceTarget?: number;
  /** Of trees that are created. */
  compression?: Compression;
  /** 'uint64_add', 'max', 'append', or 'append:' and a separator. */
  mergeOperators?: string[];
  /** Paths of block devices, or of files that serve as such. */
  devices?: string[];
  encryption?: EncryptionOptions;
  readOnly?: boolean;
  createIfMissing?: boolean;
  errorIfExists?: boolean;
  /** Permissions of files. Default: 0o600. */
  fileMode?: number;
  lockTimeoutMs?: number;
  backgroundIoBytesPerSecond?: number | string;
  scrubBytesPerSecond?: number | string;
  /** Messages for an operator. Functions are told later, in order, and keep no process up. */
  log?(line: { level: 'info' | 'warning' | 'error'; message: string }): void;
  /** What the database tells of its work: `event` is its name. */
  onEvent?(event: Row & { event: string }): void;
  /** An entry that had ended was removed. */
  onExpiry?(entry: { tree: string; key: Buffer; value: Buffer }): void;
  /** Behind each commit; timestamp 0 where it failed. */
  onCommit?(commit: {
    operations: number; durability: Durability; timestamp: bigint; outcome: string;
  }): void;
  /** Any option by its name in the library, such as memory_budget_bytes. */
  [name: string]: any;
}
export interface EncryptionOptions {
  keyId?: string;
  /** 32 bytes, or 64 hexadecimal digits. */
  key?: Uint8Array | string;
}

export interface Encodings {
  keyEncoding?: Encoding;
  valueEncoding?: Encoding;
}
/** What a tree is made with; where it is there already these must be the same. */
export interface TreeOptions extends Encodings {
  /** 'bytewise' (default), 'reverse', 'from_end', 'uint32', 'uint64', 'int32', 'int64'. */
  order?: string;
  /** Of a key's values. */
  valueOrder?: string;
  /** A key may have several values. */
  multiValue?: boolean;
  /** Entries may end. */
  expires?: boolean;
  /** Values may be trees. */
  subtrees?: boolean;
  /** When entries end, unless their put says otherwise; 0: never. */
  ttlMs?: number;
  /** Set when the tree is opened; not within transactions. */
  compression?: Compression;
  /** Set when the tree is opened; not within transactions. */
  mergeOperator?: string;
  /** Of subtrees and clones. */
  durability?: Durability;
}
export interface ReadOptions {
  /** Not within transactions, which read a moment of their own. */
  snapshot?: Snapshot;
}
export interface CommitOptions {
  durability?: Durability;
}
export interface WriteOptions extends CommitOptions {
  /** When the entry ends: a moment, in milliseconds since 1970, */
  expiresAt?: number | Date;
  /** or in milliseconds from now on, */
  expiresIn?: number;
  /** or never. */
  neverExpires?: boolean;
}
export interface Bounds<K> {
  /** The first key; none: from the beginning. */
  gte?: K;
  /** The first key behind; none: to the end. */
  lt?: K;
}
export interface RangeOptions<K> extends Bounds<K>, ReadOptions {
  gt?: K;
  /** In trees of the bytewise order alone. */
  lte?: K;
  /** Instead of bounds: keys that begin with these bytes; bytewise order alone. */
  prefix?: Bytes;
  reverse?: boolean;
  limit?: number;
}
/** Of walks in columns: without `gt` and `limit`. Columns grow where one entry does not fit. */
export interface ColumnsOptions<K> extends Omit<RangeOptions<K>, 'gt' | 'limit'> {
  /** Entries a turn at most. Default: 8192. */
  rows?: number;
  /** Default: 1 MB each. */
  keyBytes?: number;
  valueBytes?: number;
}
export interface CursorOptions<K> extends Bounds<K>, ReadOptions {
  /** Values are not read, and are undefined. */
  keysOnly?: boolean;
}
