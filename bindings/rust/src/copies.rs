//! Copies of a database in use: checkpoints, backups in a repository, backups by stream.

use crate::db::Db;
use crate::error::Result;
use crate::handle::{c_path, make, run, Handle};
use crate::options::Options;
use crate::records::{take_records, Record};
use crate::stream::{Fallible, Source};
use crate::sys;
use std::io;
use std::mem::size_of;
use std::os::raw::c_void;
use std::path::Path;
use std::ptr;

/// How a copy is made. The closure is told after each MB or so, on the calling thread, with the bytes so
/// far; an error of it ends the copy.
///
/// Errors of all copies: `ReadOnly`; `InvalidArgument` for a directory with other contents; `Busy` where
/// somebody else writes into it; `Corruption`; `NoSpace`; `NotFound` for an id; those of closures.
/// Durable: when it returns, but what is given to a writer.
#[derive(Default)]
pub struct CopyOptions<'a> {
    bytes_per_second: u64,
    copy_blocks: bool,
    full: bool,
    encryption: Option<&'a Options>,
    progress: Option<Box<dyn FnMut(u64) -> Result<()> + 'a>>,
}

impl<'a> CopyOptions<'a> {
    /// The defaults: as fast as it goes, sharing what can be shared.
    pub fn new() -> CopyOptions<'a> {
        CopyOptions::default()
    }

    /// At most so many; 0, the default: no limit.
    pub fn bytes_per_second(mut self, limit: u64) -> Self {
        self.bytes_per_second = limit;
        self
    }

    /// Of checkpoints: blocks are copied also where the file system could share them.
    pub fn copy_blocks(mut self, copy: bool) -> Self {
        self.copy_blocks = copy;
        self
    }

    /// Of backups into a repository: all is stored again.
    pub fn full(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// Of restores and verifications: options whose encryption tells whether it is what was written.
    pub fn encryption(mut self, options: &'a Options) -> Self {
        self.encryption = Some(options);
        self
    }

    /// Is told how far the copy is.
    pub fn progress(mut self, tell: impl FnMut(u64) -> Result<()> + 'a) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// Makes a call with the structure of C; a panic of the closure goes on behind it.
    fn call<T>(self, call: impl FnOnce(&sys::CopyOptions) -> Result<T>) -> Result<T> {
        let wanted = self.progress.is_some();
        let mut progress = Fallible::new(self.progress);
        let raw = sys::CopyOptions {
            struct_size: size_of::<sys::CopyOptions>(),
            bytes_per_second: self.bytes_per_second,
            progress: if wanted { Some(told) } else { None },
            context: progress.context(),
            copy_blocks: self.copy_blocks.into(),
            full: self.full.into(),
            encryption: self
                .encryption
                .map_or(ptr::null(), |options| options.raw() as *const _),
        };
        let result = call(&raw);
        progress.panicked();
        result
    }
}

type Progress<'a> = Option<Box<dyn FnMut(u64) -> Result<()> + 'a>>;

unsafe extern "C" fn told(context: *mut c_void, bytes: u64) -> *mut sys::Error {
    Fallible::<Progress<'_>>::run(context, |tell| match tell {
        Some(tell) => tell(bytes),
        None => Ok(()),
    })
}

/// Takes what a backup gives, in pieces of about 1 MB.
unsafe extern "C" fn write_piece<W: io::Write>(
    context: *mut c_void,
    data: *const c_void,
    size: usize,
) -> *mut sys::Error {
    Fallible::<W>::run(context, |writer| {
        writer
            .write_all(crate::handle::bytes(data, size))
            .map_err(Into::into)
    })
}

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupInfo {
    /// Its number in the repository.
    pub id: u64,
    /// Microseconds since 1970.
    pub created_us: u64,
    /// The bytes of the database.
    pub bytes: u64,
    /// Those that were stored for it.
    pub bytes_stored: u64,
    /// Those that were read for it.
    pub bytes_read: u64,
    /// Whether it shares what others have stored.
    pub incremental: bool,
    /// Whether the database is encrypted.
    pub encrypted: bool,
}

impl BackupInfo {
    fn of(row: &Record) -> Result<BackupInfo> {
        Ok(BackupInfo {
            id: row.require("id")?,
            created_us: row.require("created_us")?,
            bytes: row.require("bytes")?,
            bytes_stored: row.require("bytes_stored")?,
            bytes_read: row.require("bytes_read")?,
            incremental: row.flag("incremental"),
            encrypted: row.flag("encrypted"),
        })
    }

    fn first(rows: Vec<Record>) -> Result<BackupInfo> {
        BackupInfo::of(&rows.into_iter().next().unwrap_or_default())
    }
}

impl Db {
    /// Makes a database of its own of the present state, in a directory that is missing or empty.
    pub fn checkpoint(&self, directory: impl AsRef<Path>, options: CopyOptions<'_>) -> Result<()> {
        let path = c_path(directory.as_ref())?;
        options.call(|options| {
            run(|error| unsafe {
                sys::hawthorn_db_checkpoint(self.raw(), path.as_ptr(), options, error)
            })
        })
    }

    /// Adds a backup to a repository: what others there have not stored.
    pub fn backup(&self, repository: &Repository, options: CopyOptions<'_>) -> Result<BackupInfo> {
        options.call(|options| {
            BackupInfo::first(take_records(|out, error| unsafe {
                sys::hawthorn_db_backup(self.raw(), repository.0.get(), options, out, error)
            })?)
        })
    }

    /// Writes a backup as a stream. Durable as the writer is. A panic of the writer goes on in the
    /// caller.
    pub fn backup_to<W: io::Write>(
        &self,
        writer: W,
        options: CopyOptions<'_>,
    ) -> Result<BackupInfo> {
        let mut sink = Fallible::new(writer);
        let context = sink.context();
        let result = options.call(|options| {
            take_records(|out, error| unsafe {
                let call: sys::BackupSink = write_piece::<W>;
                sys::hawthorn_db_backup_to(self.raw(), Some(call), context, options, out, error)
            })
        });
        sink.panicked();
        BackupInfo::first(result?)
    }
}

/// Reads a stream that [`Db::backup_to`] has written, and verifies it.
pub fn verify_backup(reader: impl io::Read, options: CopyOptions<'_>) -> Result<BackupInfo> {
    let mut source = Source::new(reader);
    let (give, context) = source.parts();
    let result = options.call(|options| {
        take_records(|out, error| unsafe {
            sys::hawthorn_verify_backup(give, context, options, out, error)
        })
    });
    source.panicked();
    BackupInfo::first(result?)
}

/// Makes a database of such a stream, in a directory that is missing or empty.
pub fn restore_backup(
    reader: impl io::Read,
    target: impl AsRef<Path>,
    options: CopyOptions<'_>,
) -> Result<BackupInfo> {
    let path = c_path(target.as_ref())?;
    let mut source = Source::new(reader);
    let (give, context) = source.parts();
    let result = options.call(|options| {
        take_records(|out, error| unsafe {
            sys::hawthorn_restore_backup(give, context, path.as_ptr(), options, out, error)
        })
    });
    source.panicked();
    BackupInfo::first(result?)
}

/// A directory of backups, which share what they have in common. Threads: any number at a time.
pub struct Repository(Handle<sys::Repository>);

impl Repository {
    /// Opens the one in this directory, and makes it when missing.
    pub fn open(directory: impl AsRef<Path>) -> Result<Repository> {
        let path = c_path(directory.as_ref())?;
        make(|out, error| unsafe { sys::hawthorn_repository_open(path.as_ptr(), out, error) })
            .map(Repository)
    }

    /// All backups, the oldest first.
    pub fn list(&self) -> Result<Vec<BackupInfo>> {
        let rows = take_records(|out, error| unsafe {
            sys::hawthorn_repository_list(self.0.get(), out, error)
        })?;
        rows.iter().map(BackupInfo::of).collect()
    }

    /// Reads a backup, and verifies it.
    pub fn verify(&self, id: u64, options: CopyOptions<'_>) -> Result<()> {
        options.call(|options| {
            run(|error| unsafe {
                sys::hawthorn_repository_verify(self.0.get(), id, options, error)
            })
        })
    }

    /// Makes a database of a backup, in a directory that is missing or empty.
    pub fn restore(
        &self,
        id: u64,
        target: impl AsRef<Path>,
        options: CopyOptions<'_>,
    ) -> Result<()> {
        let path = c_path(target.as_ref())?;
        options.call(|options| {
            run(|error| unsafe {
                sys::hawthorn_repository_restore(self.0.get(), id, path.as_ptr(), options, error)
            })
        })
    }

    /// Removes a backup, and what it alone has stored.
    pub fn remove(&self, id: u64) -> Result<()> {
        run(|error| unsafe { sys::hawthorn_repository_remove(self.0.get(), id, error) })
    }
}

/// How a database is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Indexes alone.
    pub skip_values: bool,
    /// Containers alone, without superblock, manifest and log.
    pub skip_files: bool,
    /// 1 to 64; 0: one.
    pub threads: u32,
    /// 0: no limit.
    pub bytes_per_second: u64,
    /// So much damage is told; the rest is counted. 0: 1000.
    pub errors_max: u64,
}

/// What a check, or a repair, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether nothing is damaged, or was lost.
    pub ok: bool,
    /// All of it, by the names of the C API: of a check `items` is the list of what was found; of a
    /// repair `trees` and `losses` are lists.
    pub record: Record,
}

fn report(rows: Vec<Record>) -> Report {
    let record = rows.into_iter().next().unwrap_or_default();
    Report {
        ok: record.flag("ok"),
        record,
    }
}

/// Tells a closure how far a check or repair is.
unsafe extern "C" fn counted<F: FnMut(u64, u64)>(context: *mut c_void, done: u64, all: u64) {
    Fallible::<F>::run(context, |tell| {
        tell(done, all);
        Ok(())
    });
}

fn counter<F: FnMut(u64, u64)>(_: &F) -> unsafe extern "C" fn(*mut c_void, u64, u64) {
    counted::<F>
}

impl Db {
    /// Reads all that is on disk and verifies it, while the database is in use. Damage is no error of
    /// the call, but in the report. Errors: `TooOld`.
    pub fn check(&self, options: &CheckOptions) -> Result<Report> {
        self.check_with(options, |_, _| ())
    }

    /// The same, and tells how many containers of all are done, on threads of the check, one at a time. A
    /// panic of the closure goes on in the caller, behind the check.
    pub fn check_with(
        &self,
        options: &CheckOptions,
        progress: impl FnMut(u64, u64) + Send,
    ) -> Result<Report> {
        let call = counter(&progress);
        let mut progress = Fallible::new(progress);
        let raw = sys::CheckOptions {
            struct_size: size_of::<sys::CheckOptions>(),
            skip_values: options.skip_values.into(),
            skip_files: options.skip_files.into(),
            threads: options.threads,
            bytes_per_second: options.bytes_per_second,
            errors_max: options.errors_max,
            progress: Some(call),
            context: progress.context(),
        };
        let rows = take_records(|out, error| unsafe {
            sys::hawthorn_db_check(self.raw(), &raw, out, error)
        });
        progress.panicked();
        rows.map(report)
    }
}

/// How a database is repaired.
#[derive(Default)]
pub struct RepairOptions<'a> {
    /// With which the target is opened; `None`: the defaults.
    pub database: Option<&'a Options>,
    /// Looks for containers in the data files.
    pub ignore_manifest: bool,
}

/// Makes a new database at `target`, which must not exist, of what is readable of the one at `source`,
/// which must not be open, and tells how much of all is done. Errors: `InvalidArgument` where the target
/// exists, or for a wrong key; `NotFound`; `Busy`; `IoError`; `Corruption` where its file of keys is lost;
/// `NoSpace`. A panic of the closure goes on in the caller, behind the repair.
pub fn repair(
    source: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &RepairOptions<'_>,
    progress: impl FnMut(u64, u64) + Send,
) -> Result<Report> {
    let (source, target) = (c_path(source.as_ref())?, c_path(target.as_ref())?);
    let call = counter(&progress);
    let mut progress = Fallible::new(progress);
    let raw = sys::RepairOptions {
        struct_size: size_of::<sys::RepairOptions>(),
        database: options
            .database
            .map_or(ptr::null(), |options| options.raw() as *const _),
        ignore_manifest: options.ignore_manifest.into(),
        progress: Some(call),
        context: progress.context(),
    };
    let rows = take_records(|out, error| unsafe {
        sys::hawthorn_repair(source.as_ptr(), target.as_ptr(), &raw, out, error)
    });
    progress.panicked();
    rows.map(report)
}
