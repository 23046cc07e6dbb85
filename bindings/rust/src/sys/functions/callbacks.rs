//! Types of callbacks. Written by scripts/declare.py.

use crate::sys::types::*;

pub type AfterCommit = unsafe extern "C" fn(
    context: *mut c_void,
    operations: u64,
    durability: Durability,
    timestamp: u64,
    code: Code,
    outcome: *const Error,
);
pub type BackupSink =
    unsafe extern "C" fn(context: *mut c_void, data: *const c_void, size: usize) -> *mut Error;
pub type BeforeCommit = unsafe extern "C" fn(
    context: *mut c_void,
    operations: u64,
    durability: Durability,
) -> *mut Error;
pub type CompactProgress =
    unsafe extern "C" fn(context: *mut c_void, containers_done: u64, containers: u64) -> *mut Error;
pub type Compare = unsafe extern "C" fn(
    context: *mut c_void,
    a: *const c_void,
    a_size: usize,
    b: *const c_void,
    b_size: usize,
) -> c_int;
pub type CopyProgress = unsafe extern "C" fn(context: *mut c_void, bytes: u64) -> *mut Error;
pub type Destroy = unsafe extern "C" fn(context: *mut c_void);
pub type EventCallback =
    unsafe extern "C" fn(context: *mut c_void, event: Event, fields: *const Records);
pub type ExpiryCallback = unsafe extern "C" fn(
    context: *mut c_void,
    tree: *const c_char,
    tree_size: usize,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
);
pub type FilterCallback = unsafe extern "C" fn(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    changed: *mut Buffer,
) -> FilterDecision;
pub type IngestProgress =
    unsafe extern "C" fn(context: *mut c_void, entries_done: u64, entries: u64) -> *mut Error;
pub type Interrupt = unsafe extern "C" fn(context: *mut c_void) -> c_int;
pub type KeyCallback = unsafe extern "C" fn(
    context: *mut c_void,
    key_id: *const c_char,
    key_id_size: usize,
    key: *mut u8,
) -> *mut Error;
pub type LogCallback = unsafe extern "C" fn(
    context: *mut c_void,
    level: LogLevel,
    message: *const c_char,
    message_size: usize,
);
pub type OpenProgress =
    unsafe extern "C" fn(context: *mut c_void, bytes_done: u64, bytes: u64) -> *mut Error;
pub type PieceSource = unsafe extern "C" fn(
    context: *mut c_void,
    data: *mut *const c_void,
    size: *mut usize,
) -> *mut Error;
pub type ReadCallback = unsafe extern "C" fn(
    context: *mut c_void,
    tag: u64,
    code: Code,
    error: *const Error,
    value: *mut Value,
);
pub type ScanCallback =
    unsafe extern "C" fn(context: *mut c_void, entries: *const Entry, count: usize) -> c_int;
pub type StreamSink =
    unsafe extern "C" fn(context: *mut c_void, data: *const c_void, size: usize) -> c_int;
pub type StreamSource = unsafe extern "C" fn(
    context: *mut c_void,
    buffer: *mut c_void,
    capacity: usize,
    error: *mut *mut Error,
) -> i64;
