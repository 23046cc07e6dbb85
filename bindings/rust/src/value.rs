//! Values that reads return: views of bytes in place.

use crate::error::Result;
use crate::handle::{bytes, Handle};
use crate::sys;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// The bytes of a value, without a copy where they are in memory. It derefs to `[u8]`.
///
/// Lifetime: what was read from (a database, snapshot or transaction); the bytes stay as they are
/// until it is dropped, whatever is written meanwhile. While one is held, that part of memory is.
/// Threads: it may be sent to, and read by, any.
///
/// ```compile_fail,E0505
/// # use hawthorn::prelude::*;
/// fn closed_under_a_value(db: Db, tree: &Tree) -> hawthorn::Result<()> {
///     let value = db.get(tree, "ada")?;
///     db.close()?;  // does not compile: the value is still read below
///     println!("{:?}", value);
///     Ok(())
/// }
/// ```
pub struct Value<'a> {
    handle: ManuallyDrop<Handle<sys::Value>>,
    data: *const u8,
    size: usize,
    source: PhantomData<&'a ()>,
}

// c/base.h: the bytes may be read from any thread; the object is used by its owner alone.
unsafe impl Send for Value<'_> {}
unsafe impl Sync for Value<'_> {}

const POOLED: usize = 16;
// An object keeps the memory of a copy: those of large values are freed.
const POOLED_BYTES_MAX: usize = 64 << 10;

thread_local! {
    /// Objects without bytes: one that is used again keeps its memory.
    static POOL: RefCell<Vec<Handle<sys::Value>>> = const { RefCell::new(Vec::new()) };
}

/// An object for one read.
pub(crate) struct ValueSlot(ManuallyDrop<Handle<sys::Value>>);

impl ValueSlot {
    pub(crate) fn new() -> Result<ValueSlot> {
        let pooled = POOL.try_with(|pool| pool.borrow_mut().pop()).ok().flatten();
        let handle = match pooled {
            Some(handle) => handle,
            None => Handle::new(unsafe { sys::hawthorn_value_create() })?,
        };
        Ok(ValueSlot(ManuallyDrop::new(handle)))
    }

    pub(crate) fn get(&self) -> *mut sys::Value {
        self.0.get()
    }

    /// What was read into it. The caller chooses the lifetime: that of what was read from.
    pub(crate) fn filled<'a>(mut self) -> Value<'a> {
        let handle = unsafe { ManuallyDrop::take(&mut self.0) };
        std::mem::forget(self);
        let mut size = 0;
        let data = unsafe { sys::hawthorn_value_data(handle.get(), &mut size) };
        let handle = ManuallyDrop::new(handle);
        Value {
            handle,
            data: data.cast(),
            size,
            source: PhantomData,
        }
    }
}

impl Drop for ValueSlot {
    fn drop(&mut self) {
        recycle(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        let handle = unsafe { ManuallyDrop::take(&mut self.handle) };
        if self.size <= POOLED_BYTES_MAX {
            recycle(handle);
        }
    }
}

fn recycle(handle: Handle<sys::Value>) {
    unsafe { sys::hawthorn_value_release(handle.get()) };
    let mut handle = Some(handle);
    // Where the thread ends, the pool may have gone: then the object is freed here.
    let _ = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        if pool.len() < POOLED {
            pool.extend(handle.take());
        }
    });
}

impl Value<'_> {
    /// The bytes as a vector of its own, which nothing keeps in memory.
    pub fn into_vec(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Deref for Value<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        unsafe { bytes(self.data.cast(), self.size) }
    }
}

impl AsRef<[u8]> for Value<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Value<'_> {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}
