//! Writes, which databases, writers with options and transactions have in common.

use crate::error::Result;
use crate::handle::{ask, data, make, optional, run, text};
use crate::options::Durability;
use crate::range::KeyRange;
use crate::sys;
use crate::tree::{Tree, TreeOptions};
use std::mem::size_of;
use std::os::raw::c_int;
use std::ptr;

pub(crate) mod private {
    use crate::sys;

    /// What a write is asked of.
    #[derive(Clone, Copy)]
    pub enum Writer {
        Db(*mut sys::Db, sys::WriteOptions),
        Txn(*mut sys::Txn),
    }

    pub trait Sink {
        #[doc(hidden)]
        fn writer(&self) -> Writer;
        #[doc(hidden)]
        fn failed(&self, _error: &crate::Error) {}
    }
}
use private::{Sink, Writer as Raw};

/// When an entry that is put ends, in trees whose entries may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// As the tree was made.
    Default,
    /// Never.
    Never,
    /// At this moment, in milliseconds since 1970.
    At(u64),
    /// So many milliseconds from now on.
    After(u64),
}

/// How a write outside of transactions is done: its durability, and when what it puts ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    durability: Durability,
    expiry: Expiry,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            durability: Durability::Default,
            expiry: Expiry::Default,
        }
    }
}

impl WriteOptions {
    /// As the options of the database and of the tree say.
    pub fn new() -> WriteOptions {
        WriteOptions::default()
    }

    /// What the commit survives.
    pub fn durability(mut self, durability: Durability) -> WriteOptions {
        self.durability = durability;
        self
    }

    /// When entries that are put end.
    pub fn expiry(mut self, expiry: Expiry) -> WriteOptions {
        self.expiry = expiry;
        self
    }

    pub(crate) fn raw(&self) -> sys::WriteOptions {
        let (expiry, expiry_ms) = match self.expiry {
            Expiry::Default => (sys::EXPIRY_DEFAULT, 0),
            Expiry::Never => (sys::EXPIRY_NEVER, 0),
            Expiry::At(ms) => (sys::EXPIRY_AT, ms),
            Expiry::After(ms) => (sys::EXPIRY_AFTER, ms),
        };
        let durability = self.durability.raw();
        sys::WriteOptions {
            struct_size: size_of::<sys::WriteOptions>(),
            durability,
            expiry,
            expiry_ms,
        }
    }
}

/// Writes with options of their own: [`Db::with`](crate::Db::with).
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    db: &'a crate::Db,
    options: WriteOptions,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(db: &'a crate::Db, options: WriteOptions) -> Writer<'a> {
        Writer { db, options }
    }
}

impl Sink for Writer<'_> {
    fn writer(&self) -> Raw {
        Raw::Db(self.db.raw(), self.options.raw())
    }
}
impl Write for Writer<'_> {}
impl Trees for Writer<'_> {}

fn noted<S: Sink + ?Sized, T>(sink: &S, result: Result<T>) -> Result<T> {
    if let Err(error) = &result {
        sink.failed(error);
    }
    result
}

/// A write of a key: calls the function of the database or of the transaction.
macro_rules! write {
    ($self:ident, $tree:ident, $key:ident, $db:ident, $txn:ident, ($($given:expr),*)) => {{
        let key = $key.as_ref();
        let (tree, key, size) = ($tree.raw(), data(key), key.len());
        noted($self, run(|error| unsafe {
            match $self.writer() {
                Raw::Db(db, o) => sys::$db(db, tree, key, size, $($given,)* &o, error),
                Raw::Txn(txn) => sys::$txn(txn, tree, key, size, $($given,)* error),
            }
        }))
    }};
}

/// The same with an answer behind the options.
macro_rules! write_and_ask {
    ($self:ident, $tree:ident, $key:ident, $db:ident, $txn:ident, ($($given:expr),*)) => {{
        let key = $key.as_ref();
        let (tree, key, size) = ($tree.raw(), data(key), key.len());
        noted($self, ask(|out, error| unsafe {
            match $self.writer() {
                Raw::Db(db, o) => sys::$db(db, tree, key, size, $($given,)* &o, out, error),
                Raw::Txn(txn) => sys::$txn(txn, tree, key, size, $($given,)* out, error),
            }
        }))
    }};
}

/// Writes of a [`Db`](crate::Db) or a [`Writer`] (each is a commit of its own) or of a
/// [`Transaction`](crate::Transaction) (they are committed with it).
///
/// Errors of all: `InvalidArgument` for sizes, or a tree of another database; `NoSpace` (nothing was
/// written; deletes go on); `ReadOnly`; `TimedOut` while a transaction holds the row; `Conflict`;
/// `NotSupported` for what trees of that shape have not; outside of transactions `UnknownOutcome`, with
/// full durability alone.
/// Durable: outside of transactions when it returns, as options say; inside when that has committed.
pub trait Write: Sink {
    /// Puts a value: in place of the one that the key has, or beside its others in trees that have
    /// several.
    fn put(&self, tree: &Tree, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let value = value.as_ref();
        let key = key.as_ref();
        let (tree, key, size) = (tree.raw(), data(key), key.len());
        let (value, value_size) = (data(value), value.len());
        let put = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => {
                    sys::hawthorn_db_put(db, tree, key, size, value, value_size, &o, error)
                }
                Raw::Txn(txn) => sys::hawthorn_txn_put(
                    txn,
                    tree,
                    key,
                    size,
                    value,
                    value_size,
                    ptr::null(),
                    error,
                ),
            }
        });
        noted(self, put)
    }

    /// Puts a value that ends as said.
    fn put_expiring(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Expiry,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let (tree, key, size) = (tree.raw(), data(key), key.len());
        let (value, value_size) = (data(value), value.len());
        let mut options = WriteOptions::new().expiry(expiry).raw();
        let put = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => {
                    options.durability = o.durability;
                    sys::hawthorn_db_put(db, tree, key, size, value, value_size, &options, error)
                }
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_put(txn, tree, key, size, value, value_size, &options, error)
                }
            }
        });
        noted(self, put)
    }

    /// Deletes a key, with all of its values. One that is not there is no error.
    fn del(&self, tree: &Tree, key: impl AsRef<[u8]>) -> Result<()> {
        write!(self, tree, key, hawthorn_db_del, hawthorn_txn_del, ())
    }

    /// Deletes one value of a key that may have several.
    fn del_value(&self, tree: &Tree, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let value = value.as_ref();
        write!(
            self,
            tree,
            key,
            hawthorn_db_del_value,
            hawthorn_txn_del_value,
            (data(value), value.len())
        )
    }

    /// Deletes all keys of a range, in a time that does not depend on how many there are.
    fn delete_range(&self, tree: &Tree, range: impl KeyRange) -> Result<()> {
        let ((low, low_size), (high, high_size)) = (optional(range.low()), optional(range.high()));
        let tree = tree.raw();
        let deleted = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_delete_range(
                    db, tree, low, low_size, high, high_size, &o, error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_delete_range(txn, tree, low, low_size, high, high_size, error)
                }
            }
        });
        noted(self, deleted)
    }

    /// Changes a value as the tree's merge operator says, without reading it.
    fn merge(&self, tree: &Tree, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
        let operand = operand.as_ref();
        write!(
            self,
            tree,
            key,
            hawthorn_db_merge,
            hawthorn_txn_merge,
            (data(operand), operand.len())
        )
    }

    /// Puts a value where the key is absent; whether it was.
    fn insert(&self, tree: &Tree, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let value = value.as_ref();
        let done: Result<c_int> = write_and_ask!(
            self,
            tree,
            key,
            hawthorn_db_insert,
            hawthorn_txn_insert,
            (data(value), value.len())
        );
        done.map(|done| done != 0)
    }

    /// Puts a value where the key is there; whether it was.
    fn update(&self, tree: &Tree, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let value = value.as_ref();
        let done: Result<c_int> = write_and_ask!(
            self,
            tree,
            key,
            hawthorn_db_update,
            hawthorn_txn_update,
            (data(value), value.len())
        );
        done.map(|done| done != 0)
    }

    /// Puts a value where the key has the expected one (`None`: is absent); whether it had.
    fn replace(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        expected: Option<&[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<bool> {
        let value = value.as_ref();
        let (expected, expected_size) = optional(expected);
        let done: Result<c_int> = write_and_ask!(
            self,
            tree,
            key,
            hawthorn_db_replace,
            hawthorn_txn_replace,
            (expected, expected_size, data(value), value.len())
        );
        done.map(|done| done != 0)
    }

    /// Deletes a key that has the expected value; whether it had.
    fn remove_if(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
    ) -> Result<bool> {
        let expected = expected.as_ref();
        let done: Result<c_int> = write_and_ask!(
            self,
            tree,
            key,
            hawthorn_db_remove_if,
            hawthorn_txn_remove_if,
            (data(expected), expected.len())
        );
        done.map(|done| done != 0)
    }

    /// Overwrites a part of a value from `offset` on, and lets it grow where it ends.
    fn write_part(
        &self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        offset: u64,
        part: impl AsRef<[u8]>,
    ) -> Result<()> {
        let part = part.as_ref();
        write!(
            self,
            tree,
            key,
            hawthorn_db_write_part,
            hawthorn_txn_write_part,
            (offset, data(part), part.len())
        )
    }

    /// Adds bytes at a value's end, and returns where that was.
    fn append(&self, tree: &Tree, key: impl AsRef<[u8]>, part: impl AsRef<[u8]>) -> Result<u64> {
        let part = part.as_ref();
        write_and_ask!(
            self,
            tree,
            key,
            hawthorn_db_append,
            hawthorn_txn_append,
            (data(part), part.len())
        )
    }

    /// Cuts a value off, or lets it grow by zeros.
    fn resize(&self, tree: &Tree, key: impl AsRef<[u8]>, size: u64) -> Result<()> {
        write!(
            self,
            tree,
            key,
            hawthorn_db_resize,
            hawthorn_txn_resize,
            (size)
        )
    }
}

/// Making, renaming and dropping trees, of a [`Db`](crate::Db) or [`Writer`] at once, or of a
/// [`Transaction`](crate::Transaction): then others see it when that has committed.
///
/// Durable: those of trees with names when they return; those of trees as values as options say.
/// Errors of those of trees as values: `NotFound` where nothing is at the key, or no tree has the
/// name; `InvalidArgument` where `parent` was not made for it, a key or name is taken, or a tree would
/// hang below itself.
pub trait Trees: Sink {
    /// Opens a tree, making an ordinary one when there is none. Names have 1 to 255 bytes. Errors:
    /// `ReadOnly`, `NoSpace`.
    fn tree(&self, name: &str) -> Result<Tree> {
        open_tree(self, name, ptr::null())
    }

    /// Opens a tree, making it with these options when there is none. Errors: also `InvalidArgument`
    /// where there is one with others, or for an order that nobody knows.
    fn tree_with(&self, name: &str, options: &TreeOptions) -> Result<Tree> {
        let options = options.raw()?;
        open_tree(self, name, &options.options)
    }

    /// Removes a tree, and all below it. Errors: `NotFound`; `Busy` while a prepared transaction uses
    /// it.
    fn drop_tree(&self, name: &str) -> Result<()> {
        let (name, size) = (text(name), name.len());
        let dropped = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, _) => sys::hawthorn_db_drop_tree(db, name, size, error),
                Raw::Txn(txn) => sys::hawthorn_txn_drop_tree(txn, name, size, error),
            }
        });
        noted(self, dropped)
    }

    /// Gives a tree another name. Errors: `NotFound`; `InvalidArgument` for one that is taken.
    fn rename_tree(&self, from: &str, to: &str) -> Result<()> {
        let ((from, from_size), (to, to_size)) = ((text(from), from.len()), (text(to), to.len()));
        let renamed = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, _) => {
                    sys::hawthorn_db_rename_tree(db, from, from_size, to, to_size, error)
                }
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_rename_tree(txn, from, from_size, to, to_size, error)
                }
            }
        });
        noted(self, renamed)
    }

    /// Makes a tree that begins with all that another one holds, without a look at it. Errors:
    /// `NotFound`; `InvalidArgument` for a name that is taken; `NotSupported` with merge operators.
    fn clone_tree(&self, from: &str, to: &str) -> Result<Tree> {
        let ((from, from_size), (to, to_size)) = ((text(from), from.len()), (text(to), to.len()));
        let made = make(|out, error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_clone_tree(
                    db,
                    from,
                    from_size,
                    to,
                    to_size,
                    o.durability,
                    out,
                    error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_clone_tree(txn, from, from_size, to, to_size, out, error)
                }
            }
        });
        noted(self, made).map(Tree)
    }

    /// Hangs an empty tree at a key of `parent` that has nothing yet.
    fn create_subtree(
        &self,
        parent: &Tree,
        key: impl AsRef<[u8]>,
        options: &TreeOptions,
    ) -> Result<Tree> {
        let options = options.raw()?;
        let key = key.as_ref();
        let (parent, key, size, with) = (parent.raw(), data(key), key.len(), &options.options);
        let made = make(|out, error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_create_subtree(
                    db,
                    parent,
                    key,
                    size,
                    with,
                    o.durability,
                    out,
                    error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_create_subtree(txn, parent, key, size, with, out, error)
                }
            }
        });
        noted(self, made).map(Tree)
    }

    /// Hangs a tree that has a name at a key.
    fn attach(&self, parent: &Tree, key: impl AsRef<[u8]>, name: &str) -> Result<()> {
        let key = key.as_ref();
        let (parent, key, size) = (parent.raw(), data(key), key.len());
        let (name, name_size) = (text(name), name.len());
        let attached = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_attach(
                    db,
                    parent,
                    key,
                    size,
                    name,
                    name_size,
                    o.durability,
                    error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_attach(txn, parent, key, size, name, name_size, error)
                }
            }
        });
        noted(self, attached)
    }

    /// Takes a tree off its key, and gives it a name.
    fn detach(&self, parent: &Tree, key: impl AsRef<[u8]>, name: &str) -> Result<()> {
        let key = key.as_ref();
        let (parent, key, size) = (parent.raw(), data(key), key.len());
        let (name, name_size) = (text(name), name.len());
        let detached = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_detach(
                    db,
                    parent,
                    key,
                    size,
                    name,
                    name_size,
                    o.durability,
                    error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_detach(txn, parent, key, size, name, name_size, error)
                }
            }
        });
        noted(self, detached)
    }

    /// Hangs a tree at another key, of the same tree or of another one.
    fn move_subtree(
        &self,
        parent: &Tree,
        key: impl AsRef<[u8]>,
        to_parent: &Tree,
        to_key: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (key, to_key) = (key.as_ref(), to_key.as_ref());
        let (parent, key, size) = (parent.raw(), data(key), key.len());
        let (to_parent, to_key, to_size) = (to_parent.raw(), data(to_key), to_key.len());
        let moved = run(|error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_move_subtree(
                    db,
                    parent,
                    key,
                    size,
                    to_parent,
                    to_key,
                    to_size,
                    o.durability,
                    error,
                ),
                Raw::Txn(txn) => sys::hawthorn_txn_move_subtree(
                    txn, parent, key, size, to_parent, to_key, to_size, error,
                ),
            }
        });
        noted(self, moved)
    }

    /// Makes a tree with a name that begins with all that the one at a key holds.
    fn clone_subtree(&self, parent: &Tree, key: impl AsRef<[u8]>, to: &str) -> Result<Tree> {
        let key = key.as_ref();
        let (parent, key, size) = (parent.raw(), data(key), key.len());
        let (to, to_size) = (text(to), to.len());
        let made = make(|out, error| unsafe {
            match self.writer() {
                Raw::Db(db, o) => sys::hawthorn_db_clone_subtree(
                    db,
                    parent,
                    key,
                    size,
                    to,
                    to_size,
                    o.durability,
                    out,
                    error,
                ),
                Raw::Txn(txn) => {
                    sys::hawthorn_txn_clone_subtree(txn, parent, key, size, to, to_size, out, error)
                }
            }
        });
        noted(self, made).map(Tree)
    }
}

fn open_tree<S: Sink + ?Sized>(
    sink: &S,
    name: &str,
    options: *const sys::TreeOptions,
) -> Result<Tree> {
    let (name, size) = (text(name), name.len());
    let opened = make(|out, error| unsafe {
        match sink.writer() {
            Raw::Db(db, _) => sys::hawthorn_db_tree(db, name, size, options, out, error),
            Raw::Txn(txn) => sys::hawthorn_txn_tree(txn, name, size, options, out, error),
        }
    });
    noted(sink, opened).map(Tree)
}
