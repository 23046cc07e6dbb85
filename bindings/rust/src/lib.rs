//! Hawthorn: an embedded, ordered, transactional key-value engine.
//!
//! ```no_run
//! use hawthorn::prelude::*;
//!
//! fn main() -> hawthorn::Result<()> {
//!     let db = Db::open("people.db")?;
//!     let users = db.tree("users")?;
//!     db.put(&users, "ada", "1815")?; // durable when it returns
//!     db.transaction(|txn| -> hawthorn::Result<()> {
//!         txn.put(&users, "grace", "1906")?;
//!         txn.put(&users, "alan", "1912")
//!     })?;
//!     for entry in db.range(&users, "a".."b")? {
//!         let (name, born) = entry?;
//!         println!("{} {}", String::from_utf8_lossy(&name), String::from_utf8_lossy(&born));
//!     }
//!     drop(users);
//!     db.close()
//! }
//! ```
//!
//! Reads are the functions of the trait [`Read`], which a [`Db`], a [`Snapshot`] and a [`Transaction`]
//! have; writes those of [`Write`]; making trees those of [`Trees`]. The [`prelude`] has all of them.
//!
//! Errors: one type, [`Error`], with a [`Code`] and a message; a key that is not there is `None`.
//! Threads: [`Db`], [`Tree`], [`Snapshot`], [`Follower`], [`Repository`] and [`AsyncReader`] are `Sync`; all else belongs
//! to one thread at a time, as the types say. Calls block their thread alone.
//! Lifetimes: what reads a database borrows it, what reads a transaction borrows that: a read of what
//! has ended does not compile. Durable: a write is, as options say, when it returns.

#![warn(missing_docs)]
#![warn(rust_2018_idioms)]

mod batch;
mod batch_read;
mod callbacks;
mod columns;
mod copies;
mod cursor;
mod db;
mod error;
mod feed;
mod handle;
mod ingest;
mod iter;
mod options;
mod range;
mod read;
mod read_queue;
mod records;
mod snapshot;
mod stream;
mod sys;
mod transaction;
mod tree;
mod value;
mod write;

pub use batch::Batch;
pub use batch_read::MultiGet;
pub use callbacks::{CommitHook, Event, FilterDecision, KeyOrder, LogLevel, MergeOperator};
pub use columns::{ColumnParts, Columns, EntryColumns, KeyColumn};
pub use copies::{repair, restore_backup, verify_backup};
pub use copies::{BackupInfo, CheckOptions, CopyOptions, RepairOptions, Report, Repository};
pub use cursor::{Cursor, CursorOptions, Entries};
pub use db::{read_counters, Db, NamedSnapshot, PreparedTransaction};
pub use error::{Code, Error, Result};
pub use feed::{Change, ChangeKind, Commit, Feed, FeedInfo, Follower, Replica, View};
pub use ingest::{Ingest, IngestOptions, IngestStats};
pub use iter::{KeyValue, Range, RangeRev};
pub use options::{generate_key, Durability, Options};
pub use range::{KeyRange, Prefix, Through};
pub use read::{Committed, Read};
pub use read_queue::{AsyncReader, Completion, GetFuture, ReadQueue};
pub use records::{Field, Record, Unit};
pub use snapshot::Snapshot;
pub use stream::ValueReader;
pub use transaction::{
    Isolation, Mode, Reserved, RowLock, Savepoint, Transaction, TransactionOptions,
};
pub use tree::{Compression, Tree, TreeOptions};
pub use value::Value;
pub use write::{Expiry, Trees, Write, WriteOptions, Writer};

/// What a program usually names: `use hawthorn::prelude::*;`.
pub mod prelude {
    pub use crate::{Batch, Committed, Db, Durability, Options, Prefix, Read, Snapshot, Through};
    pub use crate::{
        Transaction, TransactionOptions, Tree, TreeOptions, Trees, Write, WriteOptions,
    };
}

/// The version of the library, such as `0.1.0`.
pub fn version() -> String {
    unsafe { std::ffi::CStr::from_ptr(sys::hawthorn_version()) }
        .to_string_lossy()
        .into_owned()
}

/// The newest version of databases that it opens: those of older ones open, too.
pub fn format_version() -> u32 {
    unsafe { sys::hawthorn_format_version() }
}

/// Limits of sizes, in bytes.
pub mod limits {
    use crate::sys;

    /// Of a key.
    pub fn key_bytes() -> u64 {
        unsafe { sys::hawthorn_limit_key_bytes() }
    }
    /// Of a value in one call.
    pub fn value_bytes() -> u64 {
        unsafe { sys::hawthorn_limit_value_bytes() }
    }
    /// Of a value by stream or parts.
    pub fn stream_value_bytes() -> u64 {
        unsafe { sys::hawthorn_limit_stream_value_bytes() }
    }
    /// Of the name of a tree.
    pub fn tree_name_bytes() -> u64 {
        unsafe { sys::hawthorn_limit_tree_name_bytes() }
    }
    /// The smallest memory budget.
    pub fn memory_budget_bytes_min() -> u64 {
        unsafe { sys::hawthorn_limit_memory_budget_bytes_min() }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
