//! The options of a database, by name and by function.

use crate::error::Result;
use crate::handle::{c_path, c_string, run, Handle};
use crate::sys;
use std::ffi::CStr;
use std::path::Path;
use std::ptr;

/// What a commit survives: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// What the options of the database say, which is `Full` unless they say else.
    Default,
    /// The death of the process.
    None,
    /// And a power loss, but for its last milliseconds.
    Async,
    /// All that the hardware survives.
    Full,
}

impl Durability {
    pub(crate) fn raw(self) -> sys::Durability {
        match self {
            Durability::Default => sys::DURABILITY_DEFAULT,
            Durability::None => sys::DURABILITY_NONE,
            Durability::Async => sys::DURABILITY_ASYNC,
            Durability::Full => sys::DURABILITY_FULL,
        }
    }

    pub(crate) fn of(raw: sys::Durability) -> Durability {
        match raw {
            sys::DURABILITY_NONE => Durability::None,
            sys::DURABILITY_ASYNC => Durability::Async,
            sys::DURABILITY_FULL => Durability::Full,
            _ => Durability::Default,
        }
    }
}

/// Options of a database: how it is opened, and what it calls. One object may open any number of
/// databases. Values are checked by [`Db::open_with`](crate::Db::open_with). Threads: one at a time.
///
/// Every option has a name ([`Options::names`]) and is set by [`Options::set`]; those that take closures
/// have functions of their own here. Closures are dropped when the options and all databases that were
/// opened with them have gone, so one that holds a [`Db`](crate::Db) keeps that open: hold a
/// `std::sync::Weak` instead. A panic of one does not leave it; each says what it counts as.
pub struct Options {
    pub(crate) handle: Handle<sys::Options>,
}

impl Options {
    /// The defaults. Errors: `OutOfMemory`.
    pub fn new() -> Result<Options> {
        Ok(Options {
            handle: Handle::new(unsafe { sys::hawthorn_options_create() })?,
        })
    }

    pub(crate) fn raw(&self) -> *mut sys::Options {
        self.handle.get()
    }

    /// Sets an option by its name. Numbers are decimal, sizes may end with K, M or G; `file_mode` is
    /// octal; flags are `true` or `false`; `durability` is `none`, `async` or `full`; `io_mode` is
    /// `auto`, `direct` or `buffered`; `compression` is `none`, `lz4` or `zstd`. Lists take one more with
    /// each call: `devices` (a path), `merge_operators` (`uint64_add`, `max`, `append`, or `append:` and
    /// a separator). Errors: `NotFound` for a name that there is not; `NotSupported` for one that takes
    /// functions; `InvalidArgument` for a value.
    pub fn set(&mut self, name: &str, value: impl ToString) -> Result<&mut Options> {
        let (name, value) = (c_string(name)?, c_string(value.to_string())?);
        run(|error| unsafe {
            sys::hawthorn_options_set(self.raw(), name.as_ptr(), value.as_ptr(), error)
        })?;
        Ok(self)
    }

    /// The value of an option that is no function, as [`Options::set`] takes it (of lists, the number of
    /// items; of a key, whether there is one). Errors: as there.
    pub fn get(&self, name: &str) -> Result<String> {
        let name = c_string(name)?;
        let mut out = ptr::null_mut();
        run(|error| unsafe {
            sys::hawthorn_options_get(self.raw(), name.as_ptr(), &mut out, error)
        })?;
        let value = unsafe { CStr::from_ptr(out) }
            .to_string_lossy()
            .into_owned();
        unsafe { sys::hawthorn_free(out.cast()) };
        Ok(value)
    }

    /// The names of all options.
    pub fn names() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|index| {
            let name = unsafe { sys::hawthorn_options_name(index) };
            (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap_or(""))
        })
    }

    /// One number for cache, unflushed writes and buffers. Default: 256 MB, or a quarter
    /// of what the control groups allow.
    pub fn memory_budget_bytes(&mut self, bytes: u64) -> Result<&mut Options> {
        self.set("memory_budget_bytes", bytes)
    }

    /// What commits survive that do not say it. Default: `Full`.
    pub fn durability(&mut self, durability: Durability) -> Result<&mut Options> {
        let value = durability.raw();
        run(|error| unsafe { sys::hawthorn_options_set_durability(self.raw(), value, error) })?;
        Ok(self)
    }

    /// Nothing is written. Default: no.
    pub fn read_only(&mut self, read_only: bool) -> Result<&mut Options> {
        self.set("read_only", read_only)
    }

    /// Default: yes.
    pub fn create_if_missing(&mut self, create: bool) -> Result<&mut Options> {
        self.set("create_if_missing", create)
    }

    /// Default: no.
    pub fn error_if_exists(&mut self, fail: bool) -> Result<&mut Options> {
        self.set("error_if_exists", fail)
    }

    /// How long a write waits for a row that a transaction holds. Default: 1000.
    pub fn lock_timeout_ms(&mut self, timeout_ms: u64) -> Result<&mut Options> {
        self.set("lock_timeout_ms", timeout_ms)
    }

    /// Adds a block device, or a file that serves as one.
    pub fn device(&mut self, path: impl AsRef<Path>) -> Result<&mut Options> {
        let path = c_path(path.as_ref())?;
        run(|error| unsafe { sys::hawthorn_options_add_device(self.raw(), path.as_ptr(), error) })?;
        Ok(self)
    }

    /// Adds one of the library's merge operators: `uint64_add`, `max`, `append`, or `append:` and a
    /// separator. Errors: `NotFound`.
    pub fn builtin_merge_operator(&mut self, name: &str) -> Result<&mut Options> {
        let name = c_string(name)?;
        run(|error| unsafe {
            sys::hawthorn_options_add_builtin_merge_operator(self.raw(), name.as_ptr(), error)
        })?;
        Ok(self)
    }
}

/// 32 bytes of the system's randomness, for [`Options::encryption`]. Errors: `IoError`.
pub fn generate_key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    run(|error| unsafe { sys::hawthorn_generate_key(key.as_mut_ptr(), error) })?;
    Ok(key)
}
