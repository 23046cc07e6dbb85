//! Cursors: walks over a tree in both directions, entry by entry or many at once into columns.

use crate::columns::Columns;
use crate::error::{check, Result};
use crate::handle::{ask, bytes, data, make, optional, Handle};
use crate::range::KeyRange;
use crate::read::private::Reader;
use crate::read::Read;
use crate::sys;
use crate::tree::Tree;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_int;
use std::ptr;

/// What a cursor shows: a range, or all of a tree; values, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CursorOptions {
    keys_only: bool,
    lower: Option<Vec<u8>>,
    upper: Option<Vec<u8>>,
}

impl CursorOptions {
    /// The whole tree, with values.
    pub fn new() -> CursorOptions {
        CursorOptions::default()
    }

    /// The keys of this range alone.
    pub fn range(mut self, range: impl KeyRange) -> CursorOptions {
        self.lower = range.low().map(<[u8]>::to_vec);
        self.upper = range.high().map(<[u8]>::to_vec);
        self
    }

    /// Values are not read, and come empty. Default: they are.
    pub fn keys_only(mut self, keys_only: bool) -> CursorOptions {
        self.keys_only = keys_only;
        self
    }
}

/// A cursor. Moves return whether it stands on an entry then; the ends of the range are no error.
/// One of a transaction sees that one's writes, also those made after it was opened. An open cursor
/// never blocks writers, but keeps old versions.
///
/// Lifetime: of what it reads; [`key`](Cursor::key) and [`value`](Cursor::value) borrow the cursor, so
/// a move ends them. Threads: one at a time; it may be sent to another one, but for those of
/// transactions, which stay with theirs.
/// Errors of moves: `Corruption`, which names the key range; `IoError`; `TooOld` (of followers).
///
/// ```compile_fail,E0502
/// # use hawthorn::prelude::*;
/// fn moved_under_a_key(db: &Db, tree: &Tree) -> hawthorn::Result<()> {
///     let mut cursor = db.cursor(tree)?;
///     cursor.first()?;
///     let key = cursor.key();
///     cursor.next()?;  // does not compile: `key` is still read below
///     println!("{:?}", key);
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0505
/// # use hawthorn::prelude::*;
/// fn outlives_its_transaction(db: &Db, tree: &Tree) -> hawthorn::Result<()> {
///     let txn = db.begin()?;
///     let mut cursor = txn.cursor(tree)?;
///     txn.commit()?;  // does not compile: the cursor is still moved below
///     cursor.first()?;
///     Ok(())
/// }
/// ```
pub struct Cursor<'a, R: Read> {
    handle: Handle<sys::Cursor>,
    source: PhantomData<&'a R>,
}

impl<'a, R: Read> Cursor<'a, R> {
    pub(crate) fn open(source: &'a R, tree: &Tree, options: &CursorOptions) -> Result<Self> {
        let (lower, lower_size) = optional(options.lower.as_deref());
        let (upper, upper_size) = optional(options.upper.as_deref());
        let mut raw = sys::CursorOptions {
            struct_size: size_of::<sys::CursorOptions>(),
            keys_only: options.keys_only.into(),
            lower,
            lower_size,
            upper,
            upper_size,
            snapshot: ptr::null(),
        };
        let handle = make(|out, error| unsafe {
            match source.reader() {
                Reader::Db(db, snapshot) => {
                    raw.snapshot = snapshot;
                    sys::hawthorn_db_cursor(db, tree.raw(), &raw, out, error)
                }
                Reader::Txn(txn) => sys::hawthorn_txn_cursor(txn, tree.raw(), &raw, out, error),
            }
        })?;
        Ok(Cursor {
            handle,
            source: PhantomData,
        })
    }

    pub(crate) fn raw(&self) -> *mut sys::Cursor {
        self.handle.get()
    }

    fn go(
        &mut self,
        call: unsafe extern "C" fn(*mut sys::Cursor, *mut c_int, *mut *mut sys::Error) -> sys::Code,
    ) -> Result<bool> {
        let (mut found, mut error) = (0, ptr::null_mut());
        let code = unsafe { call(self.raw(), &mut found, &mut error) };
        check(code, error).map(|()| found != 0)
    }

    /// To the first entry.
    pub fn first(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_first)
    }

    /// To the last entry.
    pub fn last(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_last)
    }

    /// To the first entry that is not before the key.
    pub fn seek(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let (key, cursor) = (key.as_ref(), self.raw());
        let found: Result<c_int> = ask(|out, error| unsafe {
            sys::hawthorn_cursor_seek(cursor, data(key), key.len(), out, error)
        });
        found.map(|found| found != 0)
    }

    /// To the last entry that is not behind the key.
    pub fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let (key, cursor) = (key.as_ref(), self.raw());
        let found: Result<c_int> = ask(|out, error| unsafe {
            sys::hawthorn_cursor_seek_for_prev(cursor, data(key), key.len(), out, error)
        });
        found.map(|found| found != 0)
    }

    /// To the next entry. A cursor that stands nowhere stays there.
    // It borrows what it shows, so it cannot be an iterator; `Read::range` is one.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_next)
    }

    /// To the entry before. A cursor that stands nowhere stays there.
    pub fn prev(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_prev)
    }

    /// As so many calls of `next`, or of `prev` for a negative number, in much less time.
    pub fn skip(&mut self, count: i64) -> Result<bool> {
        let cursor = self.raw();
        let found: Result<c_int> =
            ask(|out, error| unsafe { sys::hawthorn_cursor_skip(cursor, count, out, error) });
        found.map(|found| found != 0)
    }

    /// To an entry of the range, each about as likely as the others where `random` is.
    pub fn seek_random(&mut self, random: u64) -> Result<bool> {
        let cursor = self.raw();
        let found: Result<c_int> = ask(|out, error| unsafe {
            sys::hawthorn_cursor_seek_random(cursor, random, out, error)
        });
        found.map(|found| found != 0)
    }

    /// To the first value of the next key.
    pub fn next_key(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_next_key)
    }

    /// To the last value of the key before.
    pub fn prev_key(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_prev_key)
    }

    /// To the next value of this key; false, and it stays, where there is none.
    pub fn next_value(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_next_value)
    }

    /// To the value before of this key; false, and it stays, where there is none.
    pub fn prev_value(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_prev_value)
    }

    /// To the first value of this key.
    pub fn first_value(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_first_value)
    }

    /// To the last value of this key.
    pub fn last_value(&mut self) -> Result<bool> {
        self.go(sys::hawthorn_cursor_last_value)
    }

    /// To the first value of the key that is not before `value`. Errors: `NotSupported` in trees of
    /// one value to a key.
    pub fn seek_value(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value, cursor) = (key.as_ref(), value.as_ref(), self.raw());
        let found: Result<c_int> = ask(|out, error| unsafe {
            sys::hawthorn_cursor_seek_value(
                cursor,
                data(key),
                key.len(),
                data(value),
                value.len(),
                out,
                error,
            )
        });
        found.map(|found| found != 0)
    }

    /// How many values the key has. Errors: `InvalidArgument` where it stands on no entry.
    pub fn count_values(&mut self) -> Result<u64> {
        let cursor = self.raw();
        ask(|out, error| unsafe { sys::hawthorn_cursor_count_values(cursor, out, error) })
    }

    /// Whether the entry is a subtree. Errors: `InvalidArgument` where it stands on no entry.
    pub fn is_subtree(&self) -> Result<bool> {
        let subtree: Result<c_int> =
            ask(|out, error| unsafe { sys::hawthorn_cursor_is_subtree(self.raw(), out, error) });
        subtree.map(|subtree| subtree != 0)
    }

    /// When the entry ends, in milliseconds since 1970; 0: never.
    pub fn expires_at(&self) -> u64 {
        unsafe { sys::hawthorn_cursor_expires_at(self.raw()) }
    }

    /// Whether it stands on an entry.
    pub fn is_valid(&self) -> bool {
        unsafe { sys::hawthorn_cursor_valid(self.raw()) != 0 }
    }

    /// The key on which it stands.
    pub fn key(&self) -> Option<&[u8]> {
        let mut size = 0;
        let key = unsafe { sys::hawthorn_cursor_key(self.raw(), &mut size) };
        (!key.is_null()).then(|| unsafe { bytes(key, size) })
    }

    /// The value on which it stands.
    pub fn value(&self) -> Option<&[u8]> {
        let mut size = 0;
        let value = unsafe { sys::hawthorn_cursor_value(self.raw(), &mut size) };
        (!value.is_null()).then(|| unsafe { bytes(value, size) })
    }

    /// The entry on which it stands.
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        Some((self.key()?, self.value()?))
    }

    /// What the last move came to, again.
    pub fn status(&self) -> Result<()> {
        crate::handle::run(|error| unsafe { sys::hawthorn_cursor_status(self.raw(), error) })
    }

    /// Shows entries in ascending order, from the one on which it stands, or from behind the last
    /// batch: up to `capacity`, without copies; none at the end, and where it was not moved to an entry
    /// before. Afterwards it stands nowhere: what follows is another batch, or a seek. Errors: also
    /// `NotSupported` for a value over 64 MB, which the next batch leaves out.
    pub fn next_batch(&mut self, capacity: usize) -> Result<Entries<'_>> {
        let mut entries: Vec<sys::Entry> = Vec::with_capacity(capacity);
        self.fill(&mut entries)?;
        Ok(Entries {
            entries,
            cursor: PhantomData,
        })
    }

    /// Fills the vector up to its capacity. What the entries point to is valid until the next call.
    pub(crate) fn fill(&mut self, entries: &mut Vec<sys::Entry>) -> Result<()> {
        entries.clear();
        let (out, capacity, cursor) = (entries.as_mut_ptr(), entries.capacity(), self.raw());
        let count: usize = ask(|count, error| unsafe {
            sys::hawthorn_cursor_next_batch(cursor, out, capacity, count, error)
        })?;
        unsafe { entries.set_len(count) };
        Ok(())
    }

    /// Fills the columns with entries in ascending order, from the one on which it stands, or from
    /// behind the last that were filled, as many as fit; returns how many, 0 at the end. Where not one
    /// fits, the columns grow. The fastest copy of many entries.
    pub fn next_columns(&mut self, columns: &mut Columns) -> Result<usize> {
        let cursor = self.raw();
        columns.fill(|raw, error| unsafe { sys::hawthorn_cursor_next_columns(cursor, raw, error) })
    }

    /// The same in descending order.
    pub fn prev_columns(&mut self, columns: &mut Columns) -> Result<usize> {
        let cursor = self.raw();
        columns.fill(|raw, error| unsafe { sys::hawthorn_cursor_prev_columns(cursor, raw, error) })
    }
}

/// Entries in place: [`Cursor::next_batch`]. Lifetime: until the next call for the cursor.
pub struct Entries<'a> {
    entries: Vec<sys::Entry>,
    cursor: PhantomData<&'a mut ()>,
}

impl Entries<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none: the cursor is at its end.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> + '_ {
        self.entries
            .iter()
            .map(|entry| unsafe { entry_bytes(entry) })
    }
}

/// # Safety
/// What the entry points to must be valid for the lifetime that the caller chooses.
pub(crate) unsafe fn entry_bytes<'a>(entry: &sys::Entry) -> (&'a [u8], &'a [u8]) {
    (
        bytes(entry.key, entry.key_size),
        bytes(entry.value, entry.value_size),
    )
}
