//! Reads, which databases, snapshots and transactions have in common.

use crate::batch_read::MultiGet;
use crate::columns::{Columns, KeyColumn};
use crate::cursor::{Cursor, CursorOptions};
use crate::error::{check, found, Error, Result};
use crate::handle::{ask, data, make, optional, run, text};
use crate::iter::{Range, RangeRev};
use crate::range::KeyRange;
use crate::records::{take_records, Record};
use crate::stream::{self, ValueReader};
use crate::sys;
use crate::tree::Tree;
use crate::value::{Value, ValueSlot};
use std::os::raw::c_void;
use std::ptr;

pub(crate) mod private {
    use crate::sys;

    /// What a read is asked of.
    #[derive(Clone, Copy)]
    pub enum Reader {
        Db(*mut sys::Db, *const sys::Snapshot),
        Txn(*mut sys::Txn),
    }

    pub trait Source {
        #[doc(hidden)]
        fn reader(&self) -> Reader;
        /// Is shown the errors of calls: transactions remember those that a retry may mend.
        #[doc(hidden)]
        fn note(&self, _error: &crate::Error) {}
    }
}
use private::{Reader, Source};

pub(crate) fn noted<S: Source + ?Sized, T>(source: &S, result: Result<T>) -> Result<T> {
    if let Err(error) = &result {
        source.note(error);
    }
    result
}

/// Reads of a [`Db`](crate::Db) (the newest committed state), a [`Snapshot`](crate::Snapshot) (what
/// was committed then) or a [`Transaction`](crate::Transaction) (what it sees, its own writes among
/// that). They never wait for writers.
///
/// Errors of all: `Corruption`, `IoError`, `InvalidArgument` for a tree of another database or a
/// transaction that is prepared, `NotSupported` for what trees of that shape have not. A key that is
/// not there is no error, but `None`, where a function returns an `Option`, and `NotFound` elsewhere.
pub trait Read: Source {
    /// The value of a key, without a copy where it is in memory.
    fn get(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<Value<'_>>> {
        noted(self, get(self.reader(), tree, key.as_ref(), false))
    }

    /// The value of a key in memory of its own.
    fn get_vec(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        Ok(self.get(tree, key)?.map(Value::into_vec))
    }

    /// Copies the value of a key into a buffer, and returns its size. Errors: also `BufferTooSmall`,
    /// where the buffer has the value's beginning.
    fn get_into(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        buffer: &mut [u8],
    ) -> Result<Option<usize>> {
        let (key, out) = (key.as_ref(), buffer.as_mut_ptr().cast());
        let (mut size, mut error) = (0, ptr::null_mut());
        let code = unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_get_into(
                    db,
                    tree.raw(),
                    data(key),
                    key.len(),
                    snapshot,
                    out,
                    buffer.len(),
                    &mut size,
                    &mut error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_get_into(
                    txn,
                    tree.raw(),
                    data(key),
                    key.len(),
                    out,
                    buffer.len(),
                    &mut size,
                    &mut error,
                ),
            }
        };
        noted(self, found(code, error)).map(|there| there.map(|()| size))
    }

    /// Whether a key is there. Its value is not copied.
    fn contains(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.get(tree, key)?.is_some())
    }

    /// The values of many keys of one moment, in the order of the keys. Much faster than one by one.
    fn multi_get<K: AsRef<[u8]>>(&self, tree: &Tree, keys: &[K]) -> Result<MultiGet<'_>> {
        noted(self, MultiGet::read(self.reader(), tree, keys))
    }

    /// The same of keys in a column, into columns: all rows, `found` and values; columns grow where
    /// they must. No object is made for a row.
    fn multi_get_columns(
        &self,
        tree: &Tree,
        keys: KeyColumn<'_>,
        columns: &mut Columns,
    ) -> Result<()> {
        noted(self, columns.multi_get(self.reader(), tree, keys))
    }

    /// A cursor over the whole tree, which stands nowhere yet.
    fn cursor(&self, tree: &Tree) -> Result<Cursor<'_, Self>>
    where
        Self: Sized,
    {
        self.cursor_with(tree, &CursorOptions::new())
    }

    /// A cursor over a range of a tree. Errors: `InvalidArgument` for bounds that are no keys in the
    /// tree's order.
    fn cursor_with(&self, tree: &Tree, options: &CursorOptions) -> Result<Cursor<'_, Self>>
    where
        Self: Sized,
    {
        noted(self, Cursor::open(self, tree, options))
    }

    /// An iterator over the entries of a range, in ascending order: keys and values of their own.
    fn range(&self, tree: &Tree, range: impl KeyRange) -> Result<Range<'_, Self>>
    where
        Self: Sized,
    {
        Ok(Range::new(
            self.cursor_with(tree, &CursorOptions::new().range(range))?,
        ))
    }

    /// The same in descending order.
    fn range_rev(&self, tree: &Tree, range: impl KeyRange) -> Result<RangeRev<'_, Self>>
    where
        Self: Sized,
    {
        Ok(RangeRev::new(
            self.cursor_with(tree, &CursorOptions::new().range(range))?,
        ))
    }

    /// How many entries a range has, exactly.
    fn count(&self, tree: &Tree, range: impl KeyRange) -> Result<u64> {
        let ((low, low_size), (high, high_size)) = (optional(range.low()), optional(range.high()));
        let count = ask(|out, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_count(
                    db,
                    tree.raw(),
                    low,
                    low_size,
                    high,
                    high_size,
                    snapshot,
                    out,
                    error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_count(
                    txn,
                    tree.raw(),
                    low,
                    low_size,
                    high,
                    high_size,
                    out,
                    error,
                ),
            }
        });
        noted(self, count)
    }

    /// Reads a part of a value from `offset` on, and returns how much: less than the buffer takes at
    /// the value's end. Errors: also `NotFound`.
    fn read_part(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        offset: u64,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let (key, out, capacity) = (key.as_ref(), buffer.as_mut_ptr().cast(), buffer.len());
        let (tree, key, key_size) = (tree.raw(), data(key), key.len());
        let size = ask(|size, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_read_part(
                    db, tree, key, key_size, offset, out, capacity, snapshot, size, error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_read_part(
                    txn, tree, key, key_size, offset, out, capacity, size, error,
                ),
            }
        });
        noted(self, size)
    }

    /// The size of a value, which is not read.
    fn size_of(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<u64>> {
        let key = key.as_ref();
        let (mut size, mut error) = (0, ptr::null_mut());
        let code = unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_size_of(
                    db,
                    tree.raw(),
                    data(key),
                    key.len(),
                    snapshot,
                    &mut size,
                    &mut error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_size_of(
                    txn,
                    tree.raw(),
                    data(key),
                    key.len(),
                    &mut size,
                    &mut error,
                ),
            }
        };
        noted(self, found(code, error)).map(|there| there.map(|()| size))
    }

    /// Shows the bytes of a value from `offset` on, in pieces of up to 256 KB, until `sink` returns
    /// false. Errors: also `NotFound`. A panic of `sink` goes on in the caller.
    fn read_stream(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        offset: u64,
        sink: impl FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let key = key.as_ref();
        let (tree, key, key_size) = (tree.raw(), data(key), key.len());
        let mut context = stream::Sink::new(sink);
        let (call, argument) = context.parts();
        let result = run(|error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_read_stream(
                    db, tree, key, key_size, offset, snapshot, call, argument, error,
                ),
                Reader::Txn(txn) => sys::hawthorn_txn_read_stream(
                    txn, tree, key, key_size, offset, call, argument, error,
                ),
            }
        });
        context.panicked();
        noted(self, result)
    }

    /// A value as `std::io::Read` and `Seek`. Errors: also `NotFound`.
    fn value_reader(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<ValueReader<'_, Self>>
    where
        Self: Sized,
    {
        ValueReader::new(self, tree.try_clone()?, key.as_ref().to_vec())
    }

    /// Opens a tree that is there. Errors: `NotFound`.
    fn find_tree(&self, name: &str) -> Result<Tree> {
        let (name, size) = (text(name), name.len());
        let tree = make(|out, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => {
                    sys::hawthorn_db_find_tree(db, name, size, snapshot, out, error)
                }
                Reader::Txn(txn) => sys::hawthorn_txn_find_tree(txn, name, size, out, error),
            }
        });
        noted(self, tree).map(Tree)
    }

    /// The names of all trees.
    fn list_trees(&self) -> Result<Vec<String>> {
        let records = take_records(|out, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_list_trees(db, snapshot, out, error),
                Reader::Txn(txn) => sys::hawthorn_txn_list_trees(txn, out, error),
            }
        });
        let names = |row: &Record| row.text("name").unwrap_or_default();
        noted(self, records).map(|rows| rows.iter().map(names).collect())
    }

    /// The tree that hangs at a key of `parent`. Errors: `NotFound`.
    fn subtree(&self, parent: &Tree, key: impl AsRef<[u8]>) -> Result<Tree> {
        let key = key.as_ref();
        let tree = make(|out, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => sys::hawthorn_db_subtree(
                    db,
                    parent.raw(),
                    data(key),
                    key.len(),
                    snapshot,
                    out,
                    error,
                ),
                Reader::Txn(txn) => {
                    sys::hawthorn_txn_subtree(txn, parent.raw(), data(key), key.len(), out, error)
                }
            }
        });
        noted(self, tree).map(Tree)
    }

    /// The keys of `parent` at which trees hang.
    fn list_subtrees(&self, parent: &Tree) -> Result<Vec<Vec<u8>>> {
        let parent = parent.raw();
        let records = take_records(|out, error| unsafe {
            match self.reader() {
                Reader::Db(db, snapshot) => {
                    sys::hawthorn_db_list_subtrees(db, parent, snapshot, out, error)
                }
                Reader::Txn(txn) => sys::hawthorn_txn_list_subtrees(txn, parent, out, error),
            }
        });
        let keys = |row: &Record| row.bytes("key").unwrap_or_default().to_vec();
        noted(self, records).map(|rows| rows.iter().map(keys).collect())
    }
}

/// Reads of what is committed, which transactions have not: of a [`Db`](crate::Db) and a
/// [`Snapshot`](crate::Snapshot).
pub trait Committed: Read {
    /// The value of a key from memory alone. Errors: also `NotInMemory`.
    fn get_in_memory(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<Value<'_>>> {
        get(self.reader(), tree, key.as_ref(), true)
    }

    /// When an entry ends, in milliseconds since 1970; 0: never. Errors: also `NotFound`.
    fn expires_at(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<u64> {
        let (key, (db, snapshot)) = (key.as_ref(), committed(self.reader()));
        ask(|out, error| unsafe {
            sys::hawthorn_db_expires_at(db, tree.raw(), data(key), key.len(), snapshot, out, error)
        })
    }

    /// Where a key is, and what a get of it reads from disk: fields as the C API names them.
    fn explain(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Record> {
        let (key, (db, snapshot)) = (key.as_ref(), committed(self.reader()));
        crate::records::take_record(|out, error| unsafe {
            sys::hawthorn_db_explain(db, tree.raw(), data(key), key.len(), snapshot, out, error)
        })
    }

    /// Shows the entries of a range in ascending order, without copies, until `visit` returns false.
    /// The fastest walk. With `keys_only` values come empty, and are not read. A panic of `visit` goes
    /// on in the caller.
    fn scan(
        &self,
        tree: &Tree,
        range: impl KeyRange,
        keys_only: bool,
        visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        let ((low, low_size), (high, high_size)) = (optional(range.low()), optional(range.high()));
        let (db, snapshot) = committed(self.reader());
        let mut context = stream::Visit::new(visit);
        let (call, argument): (_, *mut c_void) = context.parts();
        let result = run(|error| unsafe {
            sys::hawthorn_db_scan(
                db,
                tree.raw(),
                low,
                low_size,
                high,
                high_size,
                snapshot,
                keys_only.into(),
                call,
                argument,
                error,
            )
        });
        context.panicked();
        result
    }
}

fn committed(reader: Reader) -> (*mut sys::Db, *const sys::Snapshot) {
    match reader {
        Reader::Db(db, snapshot) => (db, snapshot),
        Reader::Txn(_) => unreachable!("transactions do not have this trait"),
    }
}

fn get<'a>(reader: Reader, tree: &Tree, key: &[u8], in_memory: bool) -> Result<Option<Value<'a>>> {
    let slot = ValueSlot::new()?;
    let (tree, key, size, value) = (tree.raw(), data(key), key.len(), slot.get());
    let mut error = ptr::null_mut();
    let code = unsafe {
        match reader {
            Reader::Db(db, snapshot) if in_memory => {
                sys::hawthorn_db_get_in_memory(db, tree, key, size, snapshot, value, &mut error)
            }
            Reader::Db(db, snapshot) => {
                sys::hawthorn_db_get(db, tree, key, size, snapshot, value, &mut error)
            }
            Reader::Txn(txn) => sys::hawthorn_txn_get(txn, tree, key, size, value, &mut error),
        }
    };
    Ok(found(code, error)?.map(|()| slot.filled()))
}

/// Reads a key that is to be written (of transactions).
pub(crate) fn get_for_update<'a>(
    txn: *mut sys::Txn,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<Value<'a>>> {
    let slot = ValueSlot::new()?;
    let mut error = ptr::null_mut();
    let code = unsafe {
        sys::hawthorn_txn_get_for_update(
            txn,
            tree.raw(),
            data(key),
            key.len(),
            slot.get(),
            &mut error,
        )
    };
    Ok(found(code, error)?.map(|()| slot.filled()))
}

/// Turns `NotFound` of a call into `None`.
pub(crate) fn missing_is_none<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if Error::is_not_found(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Pins a value for a transaction.
pub(crate) fn get_pinned<'a>(
    txn: *mut sys::Txn,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<&'a [u8]>> {
    let (mut out, mut size, mut error) = (ptr::null(), 0, ptr::null_mut());
    let code = unsafe {
        sys::hawthorn_txn_get_pinned(
            txn,
            tree.raw(),
            data(key),
            key.len(),
            &mut out,
            &mut size,
            &mut error,
        )
    };
    let pinned = missing_is_none(check(code, error))?;
    Ok(pinned.map(|()| unsafe { crate::handle::bytes(out, size) }))
}
