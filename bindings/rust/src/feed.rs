//! What others read of a database: change feeds, replicas, followers in other processes.

use crate::db::Db;
use crate::error::Result;
use crate::handle::{ask, bytes, c_path, make, run, text, Handle};
use crate::options::{Durability, Options};
use crate::records::{take_record, take_records, Record};
use crate::stream::Fallible;
use crate::sys;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::Deref;
use std::os::raw::{c_int, c_void};
use std::path::Path;
use std::ptr;

/// A feed with a name: [`Db::list_feeds`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedInfo {
    /// Its name.
    pub name: String,
    /// What was acknowledged.
    pub position: u64,
    /// How much log is kept for it.
    pub log_bytes: u64,
    /// How much may be; 0: no limit.
    pub log_bytes_max: u64,
    /// Whether more was needed, so that it has lost its place.
    pub lost: bool,
    /// Whether somebody reads it.
    pub open: bool,
}

impl Db {
    /// Makes a feed behind the present moment, durably. `log_bytes_max`: how much log may be kept for it;
    /// 0: no limit; `None`: 4 GB. Errors: `InvalidArgument` for a name that is taken, or not of 1 to 255
    /// bytes; `NoSpace`; `ReadOnly`; `NotSupported` beside trees that may hang in trees.
    pub fn create_feed(&self, name: &str, log_bytes_max: Option<u64>) -> Result<()> {
        let (name, size) = (text(name), name.len());
        let most = log_bytes_max.unwrap_or(sys::FEED_LOG_DEFAULT);
        run(|error| unsafe { sys::hawthorn_db_create_feed(self.raw(), name, size, most, error) })
    }

    /// Errors: `NotFound`; `Busy` for one that is open.
    pub fn drop_feed(&self, name: &str) -> Result<()> {
        let (name, size) = (text(name), name.len());
        run(|error| unsafe { sys::hawthorn_db_drop_feed(self.raw(), name, size, error) })
    }

    /// Feeds with names.
    pub fn list_feeds(&self) -> Result<Vec<FeedInfo>> {
        let rows = take_records(|out, error| unsafe {
            sys::hawthorn_db_list_feeds(self.raw(), out, error)
        })?;
        let row = |row: &Record| -> Result<FeedInfo> {
            Ok(FeedInfo {
                name: row.text("name").unwrap_or_default(),
                position: row.require("position")?,
                log_bytes: row.require("log_bytes")?,
                log_bytes_max: row.require("log_bytes_max")?,
                lost: row.flag("lost"),
                open: row.flag("open"),
            })
        };
        rows.iter().map(row).collect()
    }

    /// Reads a feed from its position on. Errors: `NotFound`; `Busy`; `TooOld` where it is lost.
    pub fn open_feed(&self, name: &str) -> Result<Feed<'_>> {
        let (name, size) = (text(name), name.len());
        let handle = make(|out, error| unsafe {
            sys::hawthorn_feed_open(self.raw(), name, size, out, error)
        })?;
        Ok(Feed {
            handle,
            db: PhantomData,
        })
    }

    /// Reads behind any timestamp, for which nothing is kept. Errors: `TooOld`.
    pub fn open_feed_at(&self, position: u64) -> Result<Feed<'_>> {
        let handle = make(|out, error| unsafe {
            sys::hawthorn_feed_open_at(self.raw(), position, out, error)
        })?;
        Ok(Feed {
            handle,
            db: PhantomData,
        })
    }
}

/// What was committed, as it comes. Threads: one at a time. Lifetime: of its database.
pub struct Feed<'db> {
    handle: Handle<sys::Feed>,
    db: PhantomData<&'db Db>,
}

impl Feed<'_> {
    fn raw(&self) -> *mut sys::Feed {
        self.handle.get()
    }

    /// What was acknowledged.
    pub fn position(&self) -> u64 {
        unsafe { sys::hawthorn_feed_position(self.raw()) }
    }

    /// The id of the database: 32 digits.
    pub fn source_id(&self) -> String {
        let id = unsafe { CStr::from_ptr(sys::hawthorn_feed_source_id(self.raw())) };
        id.to_string_lossy().into_owned()
    }

    /// Goes to the next commit; `None` when none came within so many milliseconds. Errors: `TooOld`;
    /// `NotSupported` for a bulk load, behind [`Db::open_feed_at`] alone.
    pub fn next_commit(&mut self, timeout_ms: u64) -> Result<Option<Commit<'_>>> {
        let found: c_int = ask(|out, error| unsafe {
            sys::hawthorn_feed_next(self.raw(), timeout_ms, out, error)
        })?;
        Ok(if found == 0 {
            None
        } else {
            Some(Commit {
                feed: self.raw(),
                owner: PhantomData,
            })
        })
    }

    /// Commits up to this timestamp are not needed any more, durably. Errors: `InvalidArgument` for one
    /// that was not delivered, and of feeds without a name; `TooOld`.
    pub fn acknowledge(&mut self, timestamp: u64) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_feed_acknowledge(self.raw(), timestamp, error) })
    }
}

/// A commit of a feed.
pub struct Commit<'f> {
    feed: *mut sys::Feed,
    owner: PhantomData<&'f mut ()>,
}

impl Commit<'_> {
    /// Its timestamp.
    pub fn timestamp(&self) -> u64 {
        unsafe { sys::hawthorn_feed_commit_timestamp(self.feed) }
    }

    /// That of the one that was delivered before; 0 where there is none.
    pub fn previous(&self) -> u64 {
        unsafe { sys::hawthorn_feed_commit_previous(self.feed) }
    }

    /// The next change, in the order in which they were made; `None` when none is left. Errors:
    /// `TooOld`.
    pub fn next_change(&mut self) -> Result<Option<Change<'_>>> {
        let mut change: sys::Change = unsafe { std::mem::zeroed() };
        change.struct_size = size_of::<sys::Change>();
        let found: c_int = ask(|out, error| unsafe {
            sys::hawthorn_feed_next_change(self.feed, &mut change, out, error)
        })?;
        Ok(if found == 0 {
            None
        } else {
            Some(unsafe { Change::of(&change) })
        })
    }

    /// The tree of the last change as it was then: `id`, `name`, `order`, `value_order`, `multi_value`,
    /// `expires`, `ttl_ms`, `subtrees`, `compression`, `merge_operator`.
    pub fn change_tree(&mut self) -> Result<Record> {
        take_record(|out, error| unsafe { sys::hawthorn_feed_change_tree(self.feed, out, error) })
    }

    /// Reads a part of the value of the last change, where that is streamed; returns how much.
    pub fn read_value(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let (out, capacity) = (buffer.as_mut_ptr().cast(), buffer.len());
        ask(|size, error| unsafe {
            sys::hawthorn_feed_read_value(self.feed, offset, out, capacity, size, error)
        })
    }

    /// In place of the changes: the next piece of the commit as bytes, for
    /// [`Replica::apply_pieces`] elsewhere; `None` behind the last.
    pub fn encode(&mut self) -> Result<Option<&[u8]>> {
        let (mut data, mut size) = (ptr::null(), 0);
        let found: c_int = ask(|out, error| unsafe {
            sys::hawthorn_feed_encode(self.feed, &mut data, &mut size, out, error)
        })?;
        Ok(if found == 0 {
            None
        } else {
            Some(unsafe { bytes(data, size) })
        })
    }

    /// Applies it to a replica in the same process, or passes over it where it is there already. Durable
    /// as asked. Errors: `InvalidArgument` for one of another source, or behind a gap; those of writes.
    pub fn apply_to(&mut self, replica: &mut Replica<'_>, durability: Durability) -> Result<()> {
        let (replica, durability) = (replica.raw(), durability.raw());
        run(|error| unsafe { sys::hawthorn_replica_apply(replica, self.feed, durability, error) })
    }
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// `key`, `value`, `expires_at_ms`.
    Put,
    /// `key`.
    Delete,
    /// `key`, `value`.
    DeleteValue,
    /// `key`, `value`: an operand.
    Merge,
    /// `key`, and `high` (`None`: to the end of the tree).
    DeleteRange,
    /// The tree.
    CreateTree,
    /// The tree.
    DropTree,
    /// `other_name`: the new one.
    RenameTree,
    /// `other_name`: what it begins as a copy of.
    CloneTree,
    /// One of a newer library.
    Other(u32),
}

/// A change of a commit. Lifetime: until the next call for the commit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Change<'c> {
    /// What it does.
    pub kind: ChangeKind,
    /// The id of its tree.
    pub tree_id: u32,
    /// The name of its tree.
    pub tree_name: &'c [u8],
    /// The key, or the lower end of a range.
    pub key: &'c [u8],
    /// The value; empty where it is streamed.
    pub value: &'c [u8],
    /// The upper end of a range.
    pub high: Option<&'c [u8]>,
    /// Another name, of a tree.
    pub other_name: &'c [u8],
    /// When the entry ends, in milliseconds since 1970; 0: never.
    pub expires_at_ms: u64,
    /// The size of the value, also of one that is streamed.
    pub value_bytes: u64,
    /// The value is to be read by [`Commit::read_value`].
    pub streamed: bool,
}

impl<'c> Change<'c> {
    unsafe fn of(raw: &sys::Change) -> Change<'c> {
        Change {
            kind: match raw.kind {
                sys::CHANGE_PUT => ChangeKind::Put,
                sys::CHANGE_DELETE => ChangeKind::Delete,
                sys::CHANGE_DELETE_VALUE => ChangeKind::DeleteValue,
                sys::CHANGE_MERGE => ChangeKind::Merge,
                sys::CHANGE_DELETE_RANGE => ChangeKind::DeleteRange,
                sys::CHANGE_CREATE_TREE => ChangeKind::CreateTree,
                sys::CHANGE_DROP_TREE => ChangeKind::DropTree,
                sys::CHANGE_RENAME_TREE => ChangeKind::RenameTree,
                sys::CHANGE_CLONE_TREE => ChangeKind::CloneTree,
                other => ChangeKind::Other(other),
            },
            tree_id: raw.tree_id,
            tree_name: bytes(raw.tree_name.cast(), raw.tree_name_size),
            key: bytes(raw.key, raw.key_size),
            value: bytes(raw.value, raw.value_size),
            high: (!raw.high.is_null()).then(|| bytes(raw.high, raw.high_size)),
            other_name: bytes(raw.other_name.cast(), raw.other_name_size),
            expires_at_ms: raw.expires_at_ms,
            value_bytes: raw.value_bytes,
            streamed: raw.streamed != 0,
        }
    }
}

/// A database that is kept equal to another one. Threads: one at a time. Lifetime: of the target.
pub struct Replica<'db> {
    handle: Handle<sys::Replica>,
    db: PhantomData<&'db Db>,
}

impl<'db> Replica<'db> {
    /// Of a database that is one already, or holds no tree. Errors: `InvalidArgument`; `ReadOnly`.
    pub fn open(target: &'db Db) -> Result<Replica<'db>> {
        let handle =
            make(|out, error| unsafe { sys::hawthorn_replica_open(target.raw(), out, error) })?;
        Ok(Replica {
            handle,
            db: PhantomData,
        })
    }

    fn raw(&self) -> *mut sys::Replica {
        self.handle.get()
    }

    /// The first copy, after the feed was made.
    pub fn copy(&mut self, source: &Db) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_replica_copy(self.raw(), source.raw(), error) })
    }

    /// In its place, where the program has brought a copy here by other means.
    pub fn begin_at(&mut self, source_id: &str, timestamp: u64) -> Result<()> {
        let (id, size) = (text(source_id), source_id.len());
        run(|error| unsafe {
            sys::hawthorn_replica_begin_at(self.raw(), id, size, timestamp, error)
        })
    }

    /// It holds all commits of the source up to here; 0: no copy yet.
    pub fn position(&self) -> u64 {
        unsafe { sys::hawthorn_replica_position(self.raw()) }
    }

    /// The id of its source; empty: no copy yet.
    pub fn source_id(&self) -> String {
        let id = unsafe { CStr::from_ptr(sys::hawthorn_replica_source_id(self.raw())) };
        id.to_string_lossy().into_owned()
    }

    /// Applies a commit from the pieces of [`Commit::encode`]. Errors: `Corruption`, those of `pieces`,
    /// and those of writes. A panic of `pieces` goes on in the caller.
    pub fn apply_pieces(
        &mut self,
        pieces: impl FnMut() -> Result<Vec<u8>>,
        durability: Durability,
    ) -> Result<()> {
        unsafe extern "C" fn give<F: FnMut() -> Result<Vec<u8>>>(
            context: *mut c_void,
            data: *mut *const c_void,
            size: *mut usize,
        ) -> *mut sys::Error {
            Fallible::<(F, Vec<u8>)>::run(context, |(pieces, last)| {
                *last = pieces()?;
                *data = last.as_ptr().cast();
                *size = last.len();
                Ok(())
            })
        }
        fn call<F: FnMut() -> Result<Vec<u8>>>(_: &F) -> sys::PieceSource {
            give::<F>
        }
        let call = call(&pieces);
        let mut source = Fallible::new((pieces, Vec::<u8>::new()));
        let (context, durability) = (source.context(), durability.raw());
        let applied = run(|error| unsafe {
            let replica = self.raw();
            sys::hawthorn_replica_apply_pieces(replica, Some(call), context, durability, error)
        });
        source.panicked();
        applied
    }
}

/// Reads a database beside the process that writes it. Threads: any number at a time.
pub struct Follower(Handle<sys::Follower>);

impl Follower {
    /// Of the options these count: memory budget, `io_mode`, merge operators, orders, encryption, log.
    /// Errors: `NotFound`; `PermissionDenied`; `ReadOnly`; `Busy` when 128 views are there;
    /// `NotSupported`; `OutOfMemory`; those of [`Db::open_with`].
    pub fn open(path: impl AsRef<Path>, options: Option<&Options>) -> Result<Follower> {
        let path = c_path(path.as_ref())?;
        let options = options.map_or(ptr::null_mut(), Options::raw);
        make(|out, error| unsafe {
            sys::hawthorn_follower_open(path.as_ptr(), options, out, error)
        })
        .map(Follower)
    }

    /// When it returns, views show at least all that was committed before the call.
    pub fn refresh(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_follower_refresh(self.0.get(), error) })
    }

    /// The same by a new view in any case.
    pub fn rebuild(&self) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_follower_rebuild(self.0.get(), error) })
    }

    /// The newest view. It stays as it is while it is held.
    pub fn view(&self) -> Result<View> {
        make(|out, error| unsafe { sys::hawthorn_follower_view(self.0.get(), out, error) })
            .map(|handle| View(Db::of(handle)))
    }

    /// A refresh, and the view then.
    pub fn latest(&self) -> Result<View> {
        make(|out, error| unsafe { sys::hawthorn_follower_latest(self.0.get(), out, error) })
            .map(|handle| View(Db::of(handle)))
    }
}

/// A view of a follower: a [`Db`] that is read-only (writes answer `ReadOnly`), and is not closed but
/// dropped.
pub struct View(Db);

impl Deref for View {
    type Target = Db;
    fn deref(&self) -> &Db {
        &self.0
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("View").field(&self.0.path()).finish()
    }
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}
