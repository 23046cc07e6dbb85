//! Transactions: reads and writes that are committed together.

use crate::cursor::Cursor;
use crate::error::{check, Code, Error, Result};
use crate::handle::{bytes, data, make, run, text, Handle};
use crate::options::Durability;
use crate::read::private::{Reader, Source};
use crate::read::{get_for_update, get_pinned, noted, Read};
use crate::snapshot::Snapshot;
use crate::stream;
use crate::sys;
use crate::tree::Tree;
use crate::value::Value;
use crate::write::private::{Sink, Writer as Raw};
use crate::write::{Trees, Write};
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::ptr;

/// How transactions that want the same are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The first committer wins; others get `Conflict`.
    Optimistic,
    /// One at a time: no conflicts.
    Exclusive,
    /// A write locks its key.
    Pessimistic,
}

/// What a transaction sees of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// What was committed when it began.
    Snapshot,
    /// What is committed at each read.
    ReadCommitted,
    /// As Snapshot, and what it read has not changed when it commits.
    Serializable,
}

/// What a row is locked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// Others may lock it so, too.
    Shared,
    /// Others may share it; one alone may have this.
    Upgradable,
    /// Nobody else may lock it.
    Exclusive,
}

/// How a transaction is begun, and how often [`Db::transaction_with`](crate::Db::transaction_with)
/// tries it.
#[derive(Clone, Copy)]
pub struct TransactionOptions<'a> {
    mode: Mode,
    isolation: Isolation,
    read_only: bool,
    lock_timeout_ms: Option<u64>,
    snapshot: Option<&'a Snapshot<'a>>,
    pub(crate) durability: Durability,
    pub(crate) attempts: u32,
}

impl Default for TransactionOptions<'_> {
    fn default() -> Self {
        TransactionOptions {
            mode: Mode::Optimistic,
            isolation: Isolation::Snapshot,
            read_only: false,
            lock_timeout_ms: None,
            snapshot: None,
            durability: Durability::Default,
            attempts: 100,
        }
    }
}

impl<'a> TransactionOptions<'a> {
    /// Optimistic, of snapshot isolation.
    pub fn new() -> Self {
        TransactionOptions::default()
    }

    /// Default: `Optimistic`.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Default: `Snapshot`.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// It writes nothing. Default: no.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// How long a write or lock waits for a row; 0: not at all. Default: as the database's options.
    pub fn lock_timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.lock_timeout_ms = Some(timeout_ms);
        self
    }

    /// The moment that it reads. Default: the present one.
    pub fn snapshot(mut self, snapshot: &'a Snapshot<'a>) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Of the commit at the end of `transaction_with`. Default: as the database's options.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How often `transaction_with` tries, the first time included. Default: 100.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    pub(crate) fn raw(&self) -> sys::TxnOptions {
        sys::TxnOptions {
            struct_size: size_of::<sys::TxnOptions>(),
            mode: match self.mode {
                Mode::Optimistic => sys::TXN_OPTIMISTIC,
                Mode::Exclusive => sys::TXN_EXCLUSIVE,
                Mode::Pessimistic => sys::TXN_PESSIMISTIC,
            },
            isolation: match self.isolation {
                Isolation::Snapshot => sys::ISOLATION_SNAPSHOT,
                Isolation::ReadCommitted => sys::ISOLATION_READ_COMMITTED,
                Isolation::Serializable => sys::ISOLATION_SERIALIZABLE,
            },
            read_only: self.read_only.into(),
            has_lock_timeout: self.lock_timeout_ms.is_some().into(),
            lock_timeout_ms: self.lock_timeout_ms.unwrap_or(0),
            snapshot: self
                .snapshot
                .map_or(ptr::null(), |snapshot| snapshot.handle.get()),
        }
    }
}

/// A moment of a transaction to roll back to: [`Transaction::savepoint`].
#[derive(Clone, Copy, Debug)]
pub struct Savepoint(sys::Savepoint);

/// A transaction. [`commit`](Transaction::commit) makes what it wrote visible and durable;
/// [`abort`](Transaction::abort), or dropping it, undoes it, unless it is prepared.
///
/// Errors of all: `InvalidArgument` when it is prepared. Of writes also `Conflict`, `TimedOut`,
/// `Deadlock`, `NoSpace`, `ReadOnly`: after one it can go on with other keys, or abort.
/// Lifetime: of its database; what was read from it, cursors and nested ones end before it. Threads:
/// it may be sent to another one, with nothing open in it, but not be shared.
///
/// ```compile_fail,E0277
/// # use hawthorn::prelude::*;
/// fn shared(txn: &Transaction<'_>) {
///     std::thread::scope(|scope| {
///         scope.spawn(move || txn.savepoint());  // does not compile: used by two threads
///     });
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use hawthorn::prelude::*;
/// fn used_after_its_end(txn: Transaction<'_>, tree: &Tree) -> hawthorn::Result<()> {
///     txn.commit()?;
///     txn.put(tree, "ada", "1815")  // does not compile
/// }
/// ```
pub struct Transaction<'a> {
    handle: Handle<sys::Txn>,
    retry: Cell<bool>,
    outer: PhantomData<&'a mut ()>,
}

impl Source for Transaction<'_> {
    fn reader(&self) -> Reader {
        Reader::Txn(self.raw())
    }
    fn note(&self, error: &Error) {
        if error.is_retryable() {
            self.retry.set(true);
        }
    }
}
impl Sink for Transaction<'_> {
    fn writer(&self) -> Raw {
        Raw::Txn(self.raw())
    }
    fn failed(&self, error: &Error) {
        self.note(error);
    }
}
impl Read for Transaction<'_> {}
impl Write for Transaction<'_> {}
impl Trees for Transaction<'_> {}

impl<'a> Transaction<'a> {
    pub(crate) fn begin(db: *mut sys::Db, options: &TransactionOptions<'_>) -> Result<Self> {
        let options = options.raw();
        let handle =
            make(|out, error| unsafe { sys::hawthorn_txn_begin(db, &options, out, error) })?;
        Ok(Transaction {
            handle,
            retry: Cell::new(false),
            outer: PhantomData,
        })
    }

    fn raw(&self) -> *mut sys::Txn {
        self.handle.get()
    }

    /// Whether a call of it failed with what a retry may mend.
    pub(crate) fn wants_retry(&self) -> bool {
        self.retry.get()
    }

    /// Begins one inside of it, which cannot be used meanwhile. The commit of that leaves its writes
    /// to this one, its abort undoes them.
    pub fn nested(&mut self) -> Result<Transaction<'_>> {
        let nested =
            make(|out, error| unsafe { sys::hawthorn_txn_begin_nested(self.raw(), out, error) });
        let handle = noted(self, nested)?;
        Ok(Transaction {
            handle,
            retry: Cell::new(false),
            outer: PhantomData,
        })
    }

    /// Commits, with the durability of the database's options. It has ended in every case, but for a
    /// prepared one, which stays so with `NoSpace`, `ReadOnly`, `IoError`. Errors: `Conflict`: nothing
    /// was written; `UnknownOutcome` when the sync failed.
    pub fn commit(self) -> Result<()> {
        self.commit_with(Durability::Default)
    }

    /// The same with a durability of its own.
    pub fn commit_with(self, durability: Durability) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_commit(self.raw(), durability.raw(), error) })
    }

    /// Ends it; nothing of it remains.
    pub fn abort(self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_abort(self.raw(), error) })
    }

    /// Makes what was written durable under this id (1 to 200 bytes); it stays prepared, over
    /// restarts, until it is committed or aborted, here or by
    /// [`Db::commit_prepared`](crate::Db::commit_prepared). Dropping it leaves it prepared. Errors:
    /// `Conflict`, `TimedOut`, `Deadlock`, `NotSupported`: it is open as before; `NoSpace`, `ReadOnly`,
    /// `IoError`: only abort is left; `UnknownOutcome`.
    pub fn prepare(&mut self, id: &str) -> Result<()> {
        let prepared = run(|error| unsafe {
            sys::hawthorn_txn_prepare(self.raw(), text(id), id.len(), error)
        });
        noted(self, prepared)
    }

    /// A moment to roll back to.
    pub fn savepoint(&self) -> Result<Savepoint> {
        let mut out = sys::Savepoint { words: [0; 2] };
        run(|error| unsafe { sys::hawthorn_txn_savepoint(self.raw(), &mut out, error) })?;
        Ok(Savepoint(out))
    }

    /// Undoes all writes and locks since; it stays, later ones are gone. Errors: `InvalidArgument` for
    /// one that is gone, or of another transaction.
    pub fn rollback_to(&self, savepoint: &Savepoint) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_rollback_to(self.raw(), &savepoint.0, error) })
    }

    /// Forgets it, and later ones; what was written stays. Errors: as `rollback_to`.
    pub fn release(&self, savepoint: &Savepoint) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_release(self.raw(), &savepoint.0, error) })
    }

    /// Reads a key that is to be written: nobody else writes it before this one ends, or its commit
    /// conflicts.
    pub fn get_for_update(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<Value<'_>>> {
        noted(self, get_for_update(self.raw(), tree, key.as_ref()))
    }

    /// A value that stays where it is for as long as this borrow. All pinned ones together take no
    /// more than an eighth of the memory budget. Errors: also `NoSpace`, `OutOfMemory`.
    pub fn get_pinned(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<Option<&[u8]>> {
        noted(self, get_pinned(self.raw(), tree, key.as_ref()))
    }

    /// The same of the entry on which a cursor of this transaction stands. Errors: `InvalidArgument`
    /// where it stands on none, or is of another one.
    pub fn pin<'t>(&'t self, cursor: &Cursor<'_, Transaction<'a>>) -> Result<(&'t [u8], &'t [u8])> {
        let mut entry = sys::Entry {
            key: ptr::null(),
            key_size: 0,
            value: ptr::null(),
            value_size: 0,
        };
        let pinned = run(|error| unsafe {
            sys::hawthorn_txn_pin(self.raw(), cursor.raw(), &mut entry, error)
        });
        noted(self, pinned)?;
        Ok(unsafe {
            (
                bytes(entry.key, entry.key_size),
                bytes(entry.value, entry.value_size),
            )
        })
    }

    /// Lets go of all that was pinned.
    pub fn release_pinned(&mut self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_release_pinned(self.raw(), error) })
    }

    /// Locks a row, there or not, until the transaction ends; of pessimistic ones alone. Errors: also
    /// `TimedOut`, `Deadlock`, `Conflict`.
    pub fn lock(&self, tree: &Tree, key: impl AsRef<[u8]>, lock: RowLock) -> Result<()> {
        self.lock_for(tree, key.as_ref(), lock, sys::TIMEOUT_DEFAULT)
    }

    /// The same, waiting no longer than so many milliseconds.
    pub fn lock_timeout(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        lock: RowLock,
        timeout_ms: u64,
    ) -> Result<()> {
        self.lock_for(tree, key.as_ref(), lock, timeout_ms)
    }

    fn lock_for(&self, tree: &Tree, key: &[u8], lock: RowLock, timeout_ms: u64) -> Result<()> {
        let lock = match lock {
            RowLock::Shared => sys::ROW_LOCK_SHARED,
            RowLock::Upgradable => sys::ROW_LOCK_UPGRADABLE,
            RowLock::Exclusive => sys::ROW_LOCK_EXCLUSIVE,
        };
        let locked = run(|error| unsafe {
            sys::hawthorn_txn_lock(
                self.raw(),
                tree.raw(),
                data(key),
                key.len(),
                lock,
                timeout_ms,
                error,
            )
        });
        noted(self, locked)
    }

    /// A put whose bytes, zeros at first, the caller fills in place.
    pub fn put_reserve(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        size: usize,
    ) -> Result<Reserved<'_>> {
        let key = key.as_ref();
        let (mut out, mut error) = (ptr::null_mut(), ptr::null_mut());
        let code = unsafe {
            sys::hawthorn_txn_put_reserve(
                self.raw(),
                tree.raw(),
                data(key),
                key.len(),
                size,
                &mut out,
                &mut error,
            )
        };
        noted(self, check(code, error))?;
        Ok(Reserved {
            txn: self.raw(),
            data: out.cast(),
            size,
            transaction: PhantomData,
        })
    }

    /// Puts a value of `size` bytes, up to 4 GB, from a reader. Errors: also the reader's, as
    /// `IoError`. A panic of the reader goes on in the caller.
    pub fn put_stream(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        size: u64,
        reader: impl std::io::Read,
    ) -> Result<()> {
        let key = key.as_ref();
        let mut source = stream::Source::new(reader);
        let (give, context) = source.parts();
        let (txn, tree, key, key_size) = (self.raw(), tree.raw(), data(key), key.len());
        let put = run(|error| unsafe {
            sys::hawthorn_txn_put_stream(txn, tree, key, key_size, size, give, context, error)
        });
        source.panicked();
        noted(self, put)
    }

    /// Overwrites a part of `size` bytes of a value from a reader.
    pub fn write_part_stream(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        offset: u64,
        size: u64,
        reader: impl std::io::Read,
    ) -> Result<()> {
        let key = key.as_ref();
        let mut source = stream::Source::new(reader);
        let (give, context) = source.parts();
        let (txn, tree, key, key_size) = (self.raw(), tree.raw(), data(key), key.len());
        let written = run(|error| unsafe {
            sys::hawthorn_txn_write_part_stream(
                txn, tree, key, key_size, offset, size, give, context, error,
            )
        });
        source.panicked();
        noted(self, written)
    }

    /// Adds `size` bytes at a value's end from a reader, and returns where that was.
    pub fn append_stream(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        size: u64,
        reader: impl std::io::Read,
    ) -> Result<u64> {
        let key = key.as_ref();
        let mut source = stream::Source::new(reader);
        let (give, context) = source.parts();
        let (txn, tree, key, key_size) = (self.raw(), tree.raw(), data(key), key.len());
        let appended = crate::handle::ask(|offset, error| unsafe {
            sys::hawthorn_txn_append_stream(
                txn, tree, key, key_size, size, give, context, offset, error,
            )
        });
        source.panicked();
        noted(self, appended)
    }
}

/// The bytes of a put, to be filled: [`Transaction::put_reserve`]. They are written as they stand there
/// by [`finish`](Reserved::finish) or, where it is dropped, by the next call for the transaction, its
/// commit among them, which has the errors then.
pub struct Reserved<'t> {
    txn: *mut sys::Txn,
    data: *mut u8,
    size: usize,
    transaction: PhantomData<&'t mut ()>,
}

impl Reserved<'_> {
    /// Writes the value as it stands there.
    pub fn finish(self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_txn_finish_reserve(self.txn, error) })
    }
}

impl Deref for Reserved<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        unsafe { bytes(self.data.cast(), self.size) }
    }
}

impl DerefMut for Reserved<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        if self.size == 0 {
            return &mut [];
        }
        unsafe { std::slice::from_raw_parts_mut(self.data, self.size) }
    }
}

/// Runs a closure in transactions until one commits: see [`Db::transaction`](crate::Db::transaction).
pub(crate) fn retried<T, E: From<Error>>(
    db: *mut sys::Db,
    options: &TransactionOptions<'_>,
    mut body: impl FnMut(&mut Transaction<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let mut attempt = 1;
    loop {
        let last = attempt >= options.attempts;
        match Transaction::begin(db, options) {
            Ok(mut txn) => match body(&mut txn) {
                Ok(result) => match txn.commit_with(options.durability) {
                    Ok(()) => return Ok(result),
                    Err(error) if !last && error.is_retryable() => {}
                    Err(error) => return Err(error.into()),
                },
                Err(_) if !last && txn.wants_retry() => {}
                Err(error) => return Err(error),
            },
            // Of exclusive ones: the others take turns for too long.
            Err(error) if !last && error.code() == Code::TimedOut => {}
            Err(error) => return Err(error.into()),
        }
        pause(attempt);
        attempt += 1;
    }
}

/// Waits before the next attempt: a random time, up to about 10 ms, that grows with the attempts.
fn pause(attempt: u32) {
    use std::collections::hash_map::RandomState;
    use std::hash::{BuildHasher, Hasher};
    if attempt == 1 {
        return std::thread::yield_now();
    }
    let most_us = 20u64 << attempt.min(9);
    let random = RandomState::new().build_hasher().finish();
    std::thread::sleep(std::time::Duration::from_micros(random % most_us));
}
