//! A database: opening it, its snapshots and transactions, and what is done to it as a whole.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::handle::{ask, c_path, data, make, optional, run, text, Handle};
use crate::options::{Durability, Options};
use crate::range::KeyRange;
use crate::read::private::{Reader, Source};
use crate::read::{Committed, Read};
use crate::records::{take_record, take_records, Record};
use crate::snapshot::Snapshot;
use crate::sys;
use crate::transaction::{retried, Transaction, TransactionOptions};
use crate::tree::{Compression, Tree};
use crate::write::private::{Sink, Writer as Raw};
use crate::write::{Trees, Write, WriteOptions, Writer};
use std::os::raw::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

/// A database that this process has open. It has the functions of [`Read`], [`Write`], [`Trees`] and
/// [`Committed`], too.
///
/// Threads: any number at a time; share it by reference or in an `Arc`. Lifetime: what reads it
/// (snapshots, cursors, transactions, values) borrows it, so it cannot be closed under them. Dropping
/// it closes it without a flush, when its [`Tree`]s have gone, too: nothing committed is lost, the next
/// open replays the log. Errors, where none are named: `Corruption`, `IoError`, `Forked` in a child
/// process.
///
/// ```compile_fail,E0505
/// # use hawthorn::prelude::*;
/// fn closed_under_a_snapshot(db: Db, tree: &Tree) -> hawthorn::Result<()> {
///     let before = db.snapshot()?;
///     db.close()?;  // does not compile: the snapshot is still read below
///     before.get(tree, "ada")?;
///     Ok(())
/// }
/// ```
pub struct Db {
    handle: Handle<sys::Db>,
}

/// A snapshot with a name: [`Db::list_snapshots`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSnapshot {
    /// Its name.
    pub name: String,
    /// Of the commit that it shows.
    pub timestamp: u64,
    /// Microseconds since 1970.
    pub created_us: u64,
}

/// A transaction that is prepared: [`Db::prepared`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedTransaction {
    /// Its id.
    pub id: String,
    /// How many writes it has.
    pub operations: u64,
    /// Microseconds since 1970.
    pub prepared_at_us: u64,
}

impl Source for Db {
    fn reader(&self) -> Reader {
        Reader::Db(self.raw(), ptr::null())
    }
}
impl Sink for Db {
    fn writer(&self) -> Raw {
        Raw::Db(self.raw(), WriteOptions::new().raw())
    }
}
impl Read for Db {}
impl Committed for Db {}
impl Write for Db {}
impl Trees for Db {}

impl Db {
    /// Opens the database in the directory with the default options, and creates or recovers it as
    /// needed. Errors: as `open_with`.
    pub fn open(path: impl AsRef<Path>) -> Result<Db> {
        let path = c_path(path.as_ref())?;
        let none = ptr::null();
        let open = |out, error| unsafe { sys::hawthorn_db_open(path.as_ptr(), none, out, error) };
        make(open).map(Db::of)
    }

    /// The same with options. Errors: `NotFound`; `Busy` when another process, or another `Db`, has it
    /// open; `NotSupported` for a newer format; `Corruption`; `PermissionDenied`; `ReadOnly` for a
    /// read-only medium; `InvalidArgument` for options out of range.
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Db> {
        let path = c_path(path.as_ref())?;
        make(|out, error| unsafe {
            sys::hawthorn_db_open(path.as_ptr(), options.raw(), out, error)
        })
        .map(Db::of)
    }

    pub(crate) fn of(handle: Handle<sys::Db>) -> Db {
        Db { handle }
    }

    pub(crate) fn raw(&self) -> *mut sys::Db {
        self.handle.get()
    }

    /// Flushes everything and closes. Errors: `Busy` where snapshots, transactions or values were
    /// leaked, or asynchronous reads hold it: then it closes when the last of these goes.
    pub fn close(self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_close(self.raw(), error) })
    }

    /// Removes the files of a database. Errors: `NotFound`; `Busy`; `Corruption` while a copy is being
    /// made there.
    pub fn destroy(path: impl AsRef<Path>, options: Option<&Options>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        let options = options.map_or(ptr::null_mut(), Options::raw);
        run(|error| unsafe { sys::hawthorn_destroy_database(path.as_ptr(), options, error) })
    }

    /// The directory, as it was given.
    pub fn path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        let path = unsafe { std::ffi::CStr::from_ptr(sys::hawthorn_db_path(self.raw())) };
        PathBuf::from(std::ffi::OsStr::from_bytes(path.to_bytes()))
    }

    /// The id that it has had since it was made: 32 hexadecimal digits.
    pub fn id(&self) -> Result<String> {
        let mut id = [0u8; 33];
        let out = id.as_mut_ptr().cast::<c_char>();
        run(|error| unsafe { sys::hawthorn_db_id(self.raw(), out, error) })?;
        Ok(String::from_utf8_lossy(&id[..32]).into_owned())
    }

    /// Writes with options of their own: `db.with(options).put(...)`.
    pub fn with(&self, options: WriteOptions) -> Writer<'_> {
        Writer::new(self, options)
    }

    /// Commits all operations of a batch at one moment; the batch stays as it is. Durable as the
    /// database's options say. Errors: those of writes; nothing was written then.
    pub fn write(&self, batch: &Batch) -> Result<()> {
        self.write_with(batch, Durability::Default)
    }

    /// The same with a durability of its own.
    pub fn write_with(&self, batch: &Batch, durability: Durability) -> Result<()> {
        let options = WriteOptions::new().durability(durability).raw();
        run(|error| unsafe { sys::hawthorn_db_write(self.raw(), batch.raw(), &options, error) })
    }

    /// Begins an optimistic transaction of snapshot isolation.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.begin_with(&TransactionOptions::new())
    }

    /// Begins a transaction. Errors: `ReadOnly`; `Busy` when four million are open; `TimedOut` of
    /// exclusive ones.
    pub fn begin_with(&self, options: &TransactionOptions<'_>) -> Result<Transaction<'_>> {
        Transaction::begin(self.raw(), options)
    }

    /// Runs the closure in a transaction, and commits where it returns `Ok`; where it returns an error,
    /// or panics, nothing is written. On a conflict, a deadlock or a lock that was not to be had in time
    /// all of it is tried again, after a short random pause: the closure may run several times, and
    /// should do nothing but use the transaction. Errors: the closure's, and those of begin and commit.
    ///
    /// ```no_run
    /// # use hawthorn::prelude::*;
    /// # fn example(db: &Db, accounts: &Tree) -> hawthorn::Result<()> {
    /// db.transaction(|txn| -> hawthorn::Result<()> {
    ///     let visits = txn.get(accounts, "visits")?.map_or(0, |value| value[0]);
    ///     txn.put(accounts, "visits", [visits + 1])
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn transaction<T, E: From<Error>>(
        &self,
        body: impl FnMut(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.transaction_with(&TransactionOptions::new(), body)
    }

    /// The same with options: mode, isolation, durability, how often it is tried.
    pub fn transaction_with<T, E: From<Error>>(
        &self,
        options: &TransactionOptions<'_>,
        body: impl FnMut(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        retried(self.raw(), options, body)
    }

    /// Transactions that are prepared, also those of earlier processes.
    pub fn prepared(&self) -> Result<Vec<PreparedTransaction>> {
        let rows = take_records(|out, error| unsafe {
            sys::hawthorn_db_prepared(self.raw(), out, error)
        })?;
        let row = |row: &Record| -> Result<PreparedTransaction> {
            Ok(PreparedTransaction {
                id: row.text("id").unwrap_or_default(),
                operations: row.require("operations")?,
                prepared_at_us: row.require("prepared_at_us")?,
            })
        };
        rows.iter().map(row).collect()
    }

    /// Commits one that is prepared. Errors: `NotFound`; `NoSpace`, `ReadOnly`, `IoError`: it stays.
    pub fn commit_prepared(&self, id: &str, durability: Durability) -> Result<()> {
        let (id, size, durability) = (text(id), id.len(), durability.raw());
        run(|error| unsafe {
            sys::hawthorn_db_commit_prepared(self.raw(), id, size, durability, error)
        })
    }

    /// Undoes one that is prepared. Durable when it returns. Errors: as `commit_prepared`.
    pub fn rollback_prepared(&self, id: &str) -> Result<()> {
        let (id, size) = (text(id), id.len());
        run(|error| unsafe { sys::hawthorn_db_rollback_prepared(self.raw(), id, size, error) })
    }

    /// A fixed view of all trees at the newest commit.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        let handle =
            make(|out, error| unsafe { sys::hawthorn_db_snapshot(self.raw(), out, error) })?;
        Ok(Snapshot { db: self, handle })
    }

    /// Makes a snapshot that stays over restarts until it is dropped. Durable when it returns. Errors:
    /// `InvalidArgument` for a name that is taken, or not of 1 to 255 bytes; `NoSpace`; `ReadOnly`.
    pub fn create_snapshot(&self, name: &str) -> Result<()> {
        let (name, size) = (text(name), name.len());
        run(|error| unsafe { sys::hawthorn_db_create_snapshot(self.raw(), name, size, error) })
    }

    /// Opens a snapshot with a name. Errors: `NotFound`.
    pub fn open_snapshot(&self, name: &str) -> Result<Snapshot<'_>> {
        let (name, size) = (text(name), name.len());
        let handle = make(|out, error| unsafe {
            sys::hawthorn_db_open_snapshot(self.raw(), name, size, out, error)
        })?;
        Ok(Snapshot { db: self, handle })
    }

    /// Drops a snapshot with a name. Durable when it returns. Errors: `NotFound`.
    pub fn drop_snapshot(&self, name: &str) -> Result<()> {
        let (name, size) = (text(name), name.len());
        run(|error| unsafe { sys::hawthorn_db_drop_snapshot(self.raw(), name, size, error) })
    }

    /// Snapshots with names.
    pub fn list_snapshots(&self) -> Result<Vec<NamedSnapshot>> {
        let rows = take_records(|out, error| unsafe {
            sys::hawthorn_db_list_snapshots(self.raw(), out, error)
        })?;
        let row = |row: &Record| -> Result<NamedSnapshot> {
            Ok(NamedSnapshot {
                name: row.text("name").unwrap_or_default(),
                timestamp: row.require("timestamp")?,
                created_us: row.require("created_us")?,
            })
        };
        rows.iter().map(row).collect()
    }

    /// Whether anybody has committed to the key since the snapshot.
    pub fn changed_since(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        since: &Snapshot<'_>,
    ) -> Result<bool> {
        let (key, since) = (key.as_ref(), since.handle.get());
        let (tree, key, size) = (tree.raw(), data(key), key.len());
        let changed: Result<c_int> = ask(|out, error| unsafe {
            sys::hawthorn_db_changed_since(self.raw(), tree, key, size, since, out, error)
        });
        changed.map(|changed| changed != 0)
    }

    /// About how many entries a range has, and the bytes of it on disk, without a look at the disk.
    pub fn estimate(&self, tree: &Tree, range: impl KeyRange) -> Result<(u64, u64)> {
        let ((low, low_size), (high, high_size)) = (optional(range.low()), optional(range.high()));
        let mut bytes = 0;
        let entries = ask(|out, error| unsafe {
            sys::hawthorn_db_estimate(
                self.raw(),
                tree.raw(),
                low,
                low_size,
                high,
                high_size,
                out,
                &mut bytes,
                error,
            )
        })?;
        Ok((entries, bytes))
    }

    /// What a tree was made with: `order`, `value_order`, `multi_value`, `expires`, `ttl_ms`,
    /// `subtrees`.
    pub fn tree_options(&self, tree: &Tree) -> Result<Record> {
        take_record(|out, error| unsafe {
            sys::hawthorn_db_tree_options(self.raw(), tree.raw(), out, error)
        })
    }

    /// The compression of what a tree writes from now on. Durable when it returns.
    pub fn set_compression(&self, tree: &Tree, compression: Compression) -> Result<()> {
        run(|error| unsafe {
            sys::hawthorn_db_set_compression(self.raw(), tree.raw(), compression.raw(), error)
        })
    }

    /// Gives a tree the merge operator of the options with this name, for good. Durable when it
    /// returns. Errors: `InvalidArgument` for the name, or where it has another one; `Busy`;
    /// `NotSupported` of clones.
    pub fn set_merge_operator(&self, tree: &Tree, name: &str) -> Result<()> {
        let (name, size) = (text(name), name.len());
        run(|error| unsafe {
            sys::hawthorn_db_set_merge_operator(self.raw(), tree.raw(), name, size, error)
        })
    }

    /// Makes every commit so far durable as `Durability::Full` would. Errors: `ReadOnly`.
    pub fn sync(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_sync(self.raw(), error) })
    }

    /// Writes all unflushed data to its containers. Durable. Errors: `ReadOnly`.
    pub fn flush(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_flush(self.raw(), error) })
    }

    /// Flushes, shows all entries to the flush filters, and rewrites what carries garbage.
    pub fn compact(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_compact(self.raw(), error) })
    }

    /// Waits until background work has nothing left to do.
    pub fn drain(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_drain(self.raw(), error) })
    }

    /// Reads the indexes of all trees into memory.
    pub fn warm_up(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_warm_up(self.raw(), error) })
    }

    /// Errors: `InvalidArgument` below the minimum; `OutOfMemory`.
    pub fn set_memory_budget(&self, bytes: u64) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_set_memory_budget(self.raw(), bytes, error) })
    }

    /// 0: no limit.
    pub fn set_background_io_limit(&self, bytes_per_second: u64) -> Result<()> {
        run(|error| unsafe {
            sys::hawthorn_db_set_background_io_limit(self.raw(), bytes_per_second, error)
        })
    }

    /// How it is encrypted: `encrypted`, `key_id`, `generation`, `data_keys`, `data_key`.
    pub fn encryption(&self) -> Result<Record> {
        take_record(|out, error| unsafe { sys::hawthorn_db_encryption(self.raw(), out, error) })
    }

    /// The key with this id opens it from now on. Durable when it returns. Errors: `InvalidArgument`
    /// where it is not encrypted, for the id, and for a wrong key; `ReadOnly`.
    pub fn rotate_key(&self, key_id: &str) -> Result<()> {
        let (id, size) = (text(key_id), key_id.len());
        run(|error| unsafe { sys::hawthorn_db_rotate_key(self.raw(), id, size, error) })
    }

    /// A new data key for what is written from now on. Errors: also `NotSupported` beyond 64.
    pub fn rotate_data_key(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_db_rotate_data_key(self.raw(), error) })
    }

    /// All figures of this moment; `trees`, `feeds`, `named_snapshots` and `followers` are lists.
    pub fn stats(&self) -> Result<Record> {
        take_record(|out, error| unsafe { sys::hawthorn_db_stats(self.raw(), out, error) })
    }

    /// One figure of them by its name, such as `commits`. Errors: `NotFound`.
    pub fn stat(&self, name: &str) -> Result<u64> {
        let name = crate::handle::c_string(name)?;
        ask(|out, error| unsafe { sys::hawthorn_db_stat(self.raw(), name.as_ptr(), out, error) })
    }
}

/// Figures of a database that any process has open, or had: `pid`, `alive`, and `entries`, a list of
/// `name`, `value`, `grows`. Errors: `NotFound`; `Corruption`; `NotSupported`.
pub fn read_counters(directory: impl AsRef<Path>) -> Result<Record> {
    let path = c_path(directory.as_ref())?;
    take_record(|out, error| unsafe { sys::hawthorn_read_counters(path.as_ptr(), out, error) })
}
