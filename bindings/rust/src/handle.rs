//! Handles of the C API that free themselves, and small conversions between C and Rust.

use crate::error::{check, Result};
use crate::sys;
use std::ffi::CString;
use std::os::raw::{c_char, c_void};
use std::ptr::{self, NonNull};

/// A type of the C API that is freed by a function of its own.
pub(crate) trait Free {
    /// # Safety
    /// The pointer must be a handle that nobody uses any more.
    unsafe fn free(handle: *mut Self);
}

/// Types that any number of threads may use at a time, as c/base.h says.
pub(crate) trait Shared: Free {}

/// Owns a handle. It may go to another thread; only `Shared` ones may be used by several at a time.
pub(crate) struct Handle<T: Free>(NonNull<T>);

unsafe impl<T: Free> Send for Handle<T> {}
unsafe impl<T: Shared> Sync for Handle<T> {}

impl<T: Free> Handle<T> {
    /// Takes what a create function has returned; NULL is the lack of memory.
    pub(crate) fn new(handle: *mut T) -> Result<Handle<T>> {
        NonNull::new(handle)
            .map(Handle)
            .ok_or_else(crate::Error::out_of_memory)
    }

    pub(crate) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Free> Drop for Handle<T> {
    fn drop(&mut self) {
        unsafe { T::free(self.0.as_ptr()) }
    }
}

macro_rules! free_by {
    ($($name:ident: $function:ident;)*) => {
        $(
            impl Free for sys::$name {
                unsafe fn free(handle: *mut sys::$name) {
                    sys::$function(handle)
                }
            }
        )*
    };
}

free_by! {
    Batch: hawthorn_batch_free;
    Cursor: hawthorn_cursor_free;
    Db: hawthorn_db_free;
    Feed: hawthorn_feed_free;
    Follower: hawthorn_follower_free;
    Ingest: hawthorn_ingest_free;
    Options: hawthorn_options_free;
    ReadBatch: hawthorn_read_batch_free;
    ReadQueue: hawthorn_read_queue_free;
    Records: hawthorn_records_free;
    Replica: hawthorn_replica_free;
    Repository: hawthorn_repository_free;
    Snapshot: hawthorn_snapshot_free;
    Tree: hawthorn_tree_free;
    Txn: hawthorn_txn_free;
    Value: hawthorn_value_free;
}

impl Shared for sys::Db {}
impl Shared for sys::Follower {}
impl Shared for sys::Repository {}
impl Shared for sys::Snapshot {}
impl Shared for sys::Tree {}

/// Calls a function that gives a handle through `out`.
pub(crate) fn make<T: Free>(
    call: impl FnOnce(*mut *mut T, *mut *mut sys::Error) -> sys::Code,
) -> Result<Handle<T>> {
    let mut out = ptr::null_mut();
    let mut error = ptr::null_mut();
    let code = call(&mut out, &mut error);
    check(code, error)?;
    Handle::new(out)
}

/// Calls a function that only succeeds or fails.
pub(crate) fn run(call: impl FnOnce(*mut *mut sys::Error) -> sys::Code) -> Result<()> {
    let mut error = ptr::null_mut();
    let code = call(&mut error);
    check(code, error)
}

/// Calls a function that sets a flag, or a number.
pub(crate) fn ask<T: Default>(
    call: impl FnOnce(*mut T, *mut *mut sys::Error) -> sys::Code,
) -> Result<T> {
    let mut out = T::default();
    run(|error| call(&mut out, error))?;
    Ok(out)
}

/// The bytes at an address that C gave. The address may be NULL where the size is 0.
///
/// # Safety
/// They must stay as they are for the lifetime that the caller chooses.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> &'a [u8] {
    if data.is_null() || size == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data.cast(), size)
    }
}

/// The address of bytes that may be missing: NULL then.
pub(crate) fn optional(bytes: Option<&[u8]>) -> (*const c_void, usize) {
    match bytes {
        Some(bytes) => (bytes.as_ptr().cast(), bytes.len()),
        None => (ptr::null(), 0),
    }
}

pub(crate) fn data(bytes: &[u8]) -> *const c_void {
    bytes.as_ptr().cast()
}

pub(crate) fn text(name: &str) -> *const c_char {
    name.as_ptr().cast()
}

/// A path or the name of an option, as C takes it.
pub(crate) fn c_string(bytes: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(bytes).map_err(|_| crate::Error::invalid("a zero byte in a path or name"))
}

/// A path as C takes it.
pub(crate) fn c_path(path: &std::path::Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    c_string(path.as_os_str().as_bytes())
}
