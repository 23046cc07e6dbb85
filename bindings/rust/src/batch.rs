//! Batches: writes that are committed as one.

use crate::columns::EntryColumns;
use crate::error::Result;
use crate::handle::{data, optional, run, Handle};
use crate::range::KeyRange;
use crate::sys;
use crate::tree::Tree;
use crate::write::{Expiry, WriteOptions};
use std::ptr;

/// A list of writes, which [`Db::write`](crate::Db::write) commits at one moment. All trees must be of
/// one database, which it keeps open. Threads: one at a time.
///
/// Errors of all: `InvalidArgument` for a tree of another database than those before; what else cannot
/// be added, the commit tells, and writes nothing.
pub struct Batch(Handle<sys::Batch>);

impl Batch {
    /// An empty one. Errors: `OutOfMemory`.
    pub fn new() -> Result<Batch> {
        Handle::new(unsafe { sys::hawthorn_batch_create() }).map(Batch)
    }

    pub(crate) fn raw(&self) -> *mut sys::Batch {
        self.0.get()
    }

    /// Forgets all operations; keeps the memory.
    pub fn clear(&mut self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_batch_clear(self.raw(), error) })
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        unsafe { sys::hawthorn_batch_count(self.raw()) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that they take in the log.
    pub fn bytes(&self) -> usize {
        unsafe { sys::hawthorn_batch_bytes(self.raw()) }
    }

    fn put_as(
        &mut self,
        tree: &Tree,
        key: &[u8],
        value: &[u8],
        options: *const sys::WriteOptions,
    ) -> Result<()> {
        run(|error| unsafe {
            sys::hawthorn_batch_put(
                self.raw(),
                tree.raw(),
                data(key),
                key.len(),
                data(value),
                value.len(),
                options,
                error,
            )
        })
    }

    /// Puts a value.
    pub fn put(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        self.put_as(tree, key.as_ref(), value.as_ref(), ptr::null())
    }

    /// Puts a value that ends as said.
    pub fn put_expiring(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Expiry,
    ) -> Result<()> {
        let options = WriteOptions::new().expiry(expiry).raw();
        self.put_as(tree, key.as_ref(), value.as_ref(), &options)
    }

    /// Puts all entries of columns.
    pub fn put_columns(&mut self, tree: &Tree, entries: EntryColumns<'_>) -> Result<()> {
        let columns = entries.raw();
        run(|error| unsafe {
            sys::hawthorn_batch_put_columns(self.raw(), tree.raw(), &columns, error)
        })
    }

    /// Deletes a key, with all of its values.
    pub fn del(&mut self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<()> {
        let key = key.as_ref();
        run(|error| unsafe {
            sys::hawthorn_batch_del(self.raw(), tree.raw(), data(key), key.len(), error)
        })
    }

    /// Deletes one value of a key that may have several.
    pub fn del_value(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        run(|error| unsafe {
            sys::hawthorn_batch_del_value(
                self.raw(),
                tree.raw(),
                data(key),
                key.len(),
                data(value),
                value.len(),
                error,
            )
        })
    }

    /// Deletes all keys of a range.
    pub fn delete_range(&mut self, tree: &Tree, range: impl KeyRange) -> Result<()> {
        let ((low, low_size), (high, high_size)) = (optional(range.low()), optional(range.high()));
        run(|error| unsafe {
            sys::hawthorn_batch_delete_range(
                self.raw(),
                tree.raw(),
                low,
                low_size,
                high,
                high_size,
                error,
            )
        })
    }

    /// Changes a value as the tree's merge operator says.
    pub fn merge(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (key, operand) = (key.as_ref(), operand.as_ref());
        run(|error| unsafe {
            sys::hawthorn_batch_merge(
                self.raw(),
                tree.raw(),
                data(key),
                key.len(),
                data(operand),
                operand.len(),
                error,
            )
        })
    }
}
