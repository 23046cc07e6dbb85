//! Bulk loading: many entries straight into the data files, in one commit.

use crate::columns::EntryColumns;
use crate::db::Db;
use crate::error::Result;
use crate::handle::{data, make, run, Handle};
use crate::options::Durability;
use crate::records::take_record;
use crate::stream::Source;
use crate::sys;
use crate::tree::Tree;
use std::marker::PhantomData;
use std::mem::size_of;

/// How entries are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestOptions {
    /// Keys come in any order, and are sorted. Default: they come in ascending order.
    pub unsorted: bool,
    /// What the commit survives.
    pub durability: Durability,
    /// Out of the memory budget, for sorting; 0: an eighth of it.
    pub sort_memory_bytes: u64,
}

impl Default for IngestOptions {
    fn default() -> IngestOptions {
        IngestOptions {
            unsorted: false,
            durability: Durability::Default,
            sort_memory_bytes: 0,
        }
    }
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestStats {
    /// All entries.
    pub entries: u64,
    /// Those that were written as containers of their own.
    pub entries_attached: u64,
    /// Those that went through the log, between others that were there.
    pub entries_logged: u64,
    /// Containers that were written.
    pub containers: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
}

/// A load under way: [`Db::ingest`]. Dropping it gives it up. The first error is final: all later calls
/// repeat it. Errors: `InvalidArgument` for a key out of order, for sizes; `NoSpace`; `OutOfMemory`.
/// Threads: one at a time.
pub struct Ingest<'db> {
    handle: Handle<sys::Ingest>,
    db: PhantomData<&'db Db>,
}

impl Db {
    /// Begins a load into a tree.
    pub fn ingest(&self, tree: &Tree, options: &IngestOptions) -> Result<Ingest<'_>> {
        let raw = sys::IngestOptions {
            struct_size: size_of::<sys::IngestOptions>(),
            unsorted: options.unsorted.into(),
            durability: options.durability.raw(),
            sort_memory_bytes: options.sort_memory_bytes,
        };
        let handle = make(|out, error| unsafe {
            sys::hawthorn_db_ingest(self.raw(), tree.raw(), &raw, out, error)
        })?;
        Ok(Ingest {
            handle,
            db: PhantomData,
        })
    }
}

impl Ingest<'_> {
    fn raw(&self) -> *mut sys::Ingest {
        self.handle.get()
    }

    /// Adds an entry.
    pub fn add(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        run(|error| unsafe {
            sys::hawthorn_ingest_add(
                self.raw(),
                data(key),
                key.len(),
                data(value),
                value.len(),
                error,
            )
        })
    }

    /// Adds all entries of columns.
    pub fn add_columns(&mut self, entries: EntryColumns<'_>) -> Result<()> {
        let columns = entries.raw();
        run(|error| unsafe { sys::hawthorn_ingest_add_columns(self.raw(), &columns, error) })
    }

    /// Adds a value of `size` bytes from a reader. A panic of the reader goes on in the caller.
    pub fn add_stream(
        &mut self,
        key: impl AsRef<[u8]>,
        size: u64,
        reader: impl std::io::Read,
    ) -> Result<()> {
        let key = key.as_ref();
        let mut source = Source::new(reader);
        let (give, context) = source.parts();
        let (ingest, at, key_size) = (self.raw(), data(key), key.len());
        let added = run(|error| unsafe {
            sys::hawthorn_ingest_add_stream(ingest, at, key_size, size, give, context, error)
        });
        source.panicked();
        added
    }

    /// Commits. Durable as the options say. Errors: as `add`; `TimedOut`; `UnknownOutcome`.
    pub fn finish(self) -> Result<IngestStats> {
        run(|error| unsafe { sys::hawthorn_ingest_finish(self.raw(), error) })?;
        let row = take_record(|out, error| unsafe {
            sys::hawthorn_ingest_stats(self.raw(), out, error)
        })?;
        Ok(IngestStats {
            entries: row.require("entries")?,
            entries_attached: row.require("entries_attached")?,
            entries_logged: row.require("entries_logged")?,
            containers: row.require("containers")?,
            bytes_written: row.require("bytes_written")?,
        })
    }
}
