//! Snapshots: fixed views of all trees.

use crate::handle::Handle;
use crate::read::private::{Reader, Source};
use crate::read::{Committed, Read};
use crate::sys;
use crate::Db;

/// A fixed view of all trees at one commit, with all reads that a [`Db`] has. It blocks nobody, but
/// keeps old versions while it is there. Threads: any number at a time. Lifetime: of its database.
///
/// ```compile_fail,E0515
/// # use hawthorn::prelude::*;
/// fn outlives_its_database() -> hawthorn::Result<Snapshot<'static>> {
///     let db = Db::open("somewhere")?;
///     db.snapshot()  // does not compile: the database is dropped here
/// }
/// ```
pub struct Snapshot<'db> {
    pub(crate) db: &'db Db,
    pub(crate) handle: Handle<sys::Snapshot>,
}

impl<'db> Snapshot<'db> {
    /// The timestamp of the commit that it shows.
    pub fn timestamp(&self) -> u64 {
        unsafe { sys::hawthorn_snapshot_timestamp(self.handle.get()) }
    }

    /// Entries that end up to here, in milliseconds since 1970, have ended for it.
    pub fn now_ms(&self) -> u64 {
        unsafe { sys::hawthorn_snapshot_now_ms(self.handle.get()) }
    }

    /// Its database.
    pub fn db(&self) -> &'db Db {
        self.db
    }
}

impl Source for Snapshot<'_> {
    fn reader(&self) -> Reader {
        Reader::Db(self.db.raw(), self.handle.get())
    }
}
impl Read for Snapshot<'_> {}
impl Committed for Snapshot<'_> {}
