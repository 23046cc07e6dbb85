//! Structures, handles and constants of the C API, written by hand; layout_test.rs compares them with
//! the C API's own table.

pub use super::functions::callbacks::*;
pub use std::os::raw::{c_char, c_int, c_void};

pub type Expiry = u32;
pub type Code = i32;
pub type Durability = u32;
pub type IoMode = u32;
pub type Compression = u32;
pub type FieldType = u32;
pub type Unit = u32;
pub type ChangeType = u32;
pub type LogLevel = u32;
pub type Event = u32;
pub type FilterDecision = u32;
pub type TxnMode = u32;
pub type Isolation = u32;
pub type RowLock = u32;

pub const EXPIRY_DEFAULT: Expiry = 0;
pub const EXPIRY_NEVER: Expiry = 1;
pub const EXPIRY_AT: Expiry = 2;
pub const EXPIRY_AFTER: Expiry = 3;
pub const OK: Code = 0;
pub const NOT_FOUND: Code = 1;
pub const INVALID_ARGUMENT: Code = 2;
pub const NOT_SUPPORTED: Code = 3;
pub const CORRUPTION: Code = 4;
pub const IO_ERROR: Code = 5;
pub const NO_SPACE: Code = 6;
pub const BUSY: Code = 7;
pub const CONFLICT: Code = 8;
pub const READ_ONLY: Code = 9;
pub const OUT_OF_MEMORY: Code = 10;
pub const FORKED: Code = 11;
pub const UNKNOWN_OUTCOME: Code = 12;
pub const CLOSED: Code = 13;
pub const TIMED_OUT: Code = 14;
pub const DEADLOCK: Code = 15;
pub const TOO_OLD: Code = 16;
pub const NOT_IN_MEMORY: Code = 17;
pub const PERMISSION_DENIED: Code = 18;
pub const BUFFER_TOO_SMALL: Code = 100;
pub const INTERNAL: Code = 101;
pub const DURABILITY_DEFAULT: Durability = 0;
pub const DURABILITY_NONE: Durability = 1;
pub const DURABILITY_ASYNC: Durability = 2;
pub const DURABILITY_FULL: Durability = 3;
pub const IO_AUTO: IoMode = 0;
pub const IO_DIRECT: IoMode = 1;
pub const IO_BUFFERED: IoMode = 2;
pub const COMPRESSION_NONE: Compression = 0;
pub const COMPRESSION_LZ4: Compression = 1;
pub const COMPRESSION_ZSTD: Compression = 2;
pub const FIELD_NONE: FieldType = 0;
pub const FIELD_NUMBER: FieldType = 1;
pub const FIELD_FLAG: FieldType = 2;
pub const FIELD_BYTES: FieldType = 3;
pub const FIELD_RECORDS: FieldType = 4;
pub const UNIT_NUMBER: Unit = 0;
pub const UNIT_BYTES: Unit = 1;
pub const UNIT_MICROSECONDS: Unit = 2;
pub const UNIT_MILLISECONDS: Unit = 3;
pub const UNIT_SECONDS: Unit = 4;
pub const CHANGE_PUT: ChangeType = 1;
pub const CHANGE_DELETE: ChangeType = 2;
pub const CHANGE_DELETE_VALUE: ChangeType = 3;
pub const CHANGE_MERGE: ChangeType = 4;
pub const CHANGE_DELETE_RANGE: ChangeType = 5;
pub const CHANGE_CREATE_TREE: ChangeType = 6;
pub const CHANGE_DROP_TREE: ChangeType = 7;
pub const CHANGE_RENAME_TREE: ChangeType = 8;
pub const CHANGE_CLONE_TREE: ChangeType = 9;
pub const LOG_INFO: LogLevel = 0;
pub const LOG_WARNING: LogLevel = 1;
pub const LOG_ERROR: LogLevel = 2;
pub const EVENT_FLUSH_BEGUN: Event = 0;
pub const EVENT_FLUSH_COMPLETED: Event = 1;
pub const EVENT_LOG_SEGMENT_BEGUN: Event = 2;
pub const EVENT_LOG_WAITED: Event = 3;
pub const EVENT_WRITE_STALL_BEGUN: Event = 4;
pub const EVENT_WRITE_STALL_ENDED: Event = 5;
pub const EVENT_BACKGROUND_ERROR: Event = 6;
pub const EVENT_DAMAGE_FOUND: Event = 7;
pub const EVENT_DATA_FILE_CREATED: Event = 8;
pub const EVENT_DATA_FILE_REMOVED: Event = 9;
pub const EVENT_TREE_CHANGED: Event = 10;
pub const EVENT_SNAPSHOT_CHANGED: Event = 11;
pub const EVENT_MANIFEST_REWRITTEN: Event = 12;
pub const EVENT_OPENED: Event = 13;
pub const EVENT_CLOSED: Event = 14;
pub const EVENT_EVENTS_DROPPED: Event = 15;
pub const FILTER_KEEP: FilterDecision = 0;
pub const FILTER_REMOVE: FilterDecision = 1;
pub const FILTER_CHANGE: FilterDecision = 2;
pub const TXN_OPTIMISTIC: TxnMode = 0;
pub const TXN_EXCLUSIVE: TxnMode = 1;
pub const TXN_PESSIMISTIC: TxnMode = 2;
pub const ISOLATION_SNAPSHOT: Isolation = 0;
pub const ISOLATION_READ_COMMITTED: Isolation = 1;
pub const ISOLATION_SERIALIZABLE: Isolation = 2;
pub const ROW_LOCK_SHARED: RowLock = 0;
pub const ROW_LOCK_UPGRADABLE: RowLock = 1;
pub const ROW_LOCK_EXCLUSIVE: RowLock = 2;
pub const TIMEOUT_DEFAULT: u64 = u64::MAX;
pub const FEED_LOG_DEFAULT: u64 = u64::MAX;

macro_rules! handles {
    ($($name:ident),*) => {
        $(
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
            }
        )*
    };
}
handles!(
    Batch, Buffer, Cursor, Db, Error, Feed, Follower, Ingest, Options, ReadBatch, ReadQueue,
    Records, Replica, Repository, Snapshot, Tree, Txn, Value
);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    pub data: *const c_void,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    pub key: *const c_void,
    pub key_size: usize,
    pub value: *const c_void,
    pub value_size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Field {
    pub name: *const c_char,
    pub kind: FieldType,
    pub unit: Unit,
    pub number: u64,
    pub data: *const c_void,
    pub size: usize,
    pub records: *const Records,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Columns {
    pub struct_size: usize,
    pub rows_capacity: usize,
    pub key_bytes: *mut c_void,
    pub key_bytes_capacity: usize,
    pub key_offsets: *mut i64,
    pub value_bytes: *mut c_void,
    pub value_bytes_capacity: usize,
    pub value_offsets: *mut i64,
    pub found: *mut u8,
    pub rows: usize,
    pub key_bytes_needed: usize,
    pub value_bytes_needed: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct MergeOperator {
    pub struct_size: usize,
    pub name: *const c_char,
    pub context: *mut c_void,
    pub destroy: Option<Destroy>,
    pub merge: Option<
        unsafe extern "C" fn(
            *mut c_void,
            *const c_void,
            usize,
            *const c_void,
            usize,
            *const Bytes,
            usize,
            *mut Buffer,
        ) -> c_int,
    >,
    pub combine: Option<
        unsafe extern "C" fn(
            *mut c_void,
            *const c_void,
            usize,
            *const c_void,
            usize,
            *const c_void,
            usize,
            *mut Buffer,
        ) -> c_int,
    >,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct KeyOrder {
    pub struct_size: usize,
    pub name: *const c_char,
    pub context: *mut c_void,
    pub destroy: Option<Destroy>,
    pub encode:
        Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut Buffer) -> c_int>,
    pub decode:
        Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut Buffer) -> c_int>,
    pub fixed_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct FlushFilter {
    pub struct_size: usize,
    pub name: *const c_char,
    pub context: *mut c_void,
    pub destroy: Option<Destroy>,
    pub keys_only: c_int,
    pub filter: Option<FilterCallback>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TreeOptions {
    pub struct_size: usize,
    pub order: *const c_char,
    pub value_order: *const c_char,
    pub multi_value: c_int,
    pub expires: c_int,
    pub subtrees: c_int,
    pub ttl_ms: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    pub struct_size: usize,
    pub durability: Durability,
    pub expiry: Expiry,
    pub expiry_ms: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TxnOptions {
    pub struct_size: usize,
    pub mode: TxnMode,
    pub isolation: Isolation,
    pub read_only: c_int,
    pub has_lock_timeout: c_int,
    pub lock_timeout_ms: u64,
    pub snapshot: *const Snapshot,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    pub words: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CursorOptions {
    pub struct_size: usize,
    pub keys_only: c_int,
    pub lower: *const c_void,
    pub lower_size: usize,
    pub upper: *const c_void,
    pub upper_size: usize,
    pub snapshot: *const Snapshot,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CopyOptions {
    pub struct_size: usize,
    pub bytes_per_second: u64,
    pub progress: Option<CopyProgress>,
    pub context: *mut c_void,
    pub copy_blocks: c_int,
    pub full: c_int,
    pub encryption: *const Options,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompactOptions {
    pub struct_size: usize,
    pub progress: Option<CompactProgress>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct IngestOptions {
    pub struct_size: usize,
    pub unsorted: c_int,
    pub durability: Durability,
    pub sort_memory_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Change {
    pub struct_size: usize,
    pub kind: ChangeType,
    pub tree_id: u32,
    pub streamed: c_int,
    pub tree_name: *const c_char,
    pub tree_name_size: usize,
    pub key: *const c_void,
    pub key_size: usize,
    pub value: *const c_void,
    pub value_size: usize,
    pub high: *const c_void,
    pub high_size: usize,
    pub other_name: *const c_char,
    pub other_name_size: usize,
    pub expires_at_ms: u64,
    pub value_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CheckOptions {
    pub struct_size: usize,
    pub skip_values: c_int,
    pub skip_files: c_int,
    pub threads: u32,
    pub bytes_per_second: u64,
    pub errors_max: u64,
    pub progress: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RepairOptions {
    pub struct_size: usize,
    pub database: *const Options,
    pub ignore_manifest: c_int,
    pub progress: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub context: *mut c_void,
}
