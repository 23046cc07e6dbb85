//! Errors: a code, and what went wrong in words.

use crate::sys;
use std::fmt;
use std::os::raw::c_char;

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:expr,)*) => {
        /// What a call came to. New codes may come with later versions of the library.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// A code of a newer library, by its number.
            Other(i32),
        }

        impl Code {
            pub(crate) fn of(code: sys::Code) -> Code {
                match code {
                    $(x if x == $value => Code::$name,)*
                    other => Code::Other(other),
                }
            }

            /// The number that the C API has for it.
            pub fn number(self) -> i32 {
                match self {
                    $(Code::$name => $value,)*
                    Code::Other(other) => other,
                }
            }
        }
    };
}

codes! {
    /// No such key, tree or database. Reads of keys answer `None` in its place.
    NotFound = sys::NOT_FOUND,
    /// The caller's mistake: sizes, handles, order of calls.
    InvalidArgument = sys::INVALID_ARGUMENT,
    /// A known wish that this version does not fulfil.
    NotSupported = sys::NOT_SUPPORTED,
    /// Bytes on disk are not what was written; the message says where.
    Corruption = sys::CORRUPTION,
    /// The operating system refused a read or write, or a stream of the program did.
    IoError = sys::IO_ERROR,
    /// The disk is full; reads and deletes go on.
    NoSpace = sys::NO_SPACE,
    /// Somebody else holds it.
    Busy = sys::BUSY,
    /// Another transaction committed first: try again.
    Conflict = sys::CONFLICT,
    /// Opened read-only, made so by a failed sync, or on a read-only medium.
    ReadOnly = sys::READ_ONLY,
    /// The memory budget, or the process, does not allow it.
    OutOfMemory = sys::OUT_OF_MEMORY,
    /// The handle was opened by the parent process.
    Forked = sys::FORKED,
    /// The sync of this commit failed: it may or may not survive.
    UnknownOutcome = sys::UNKNOWN_OUTCOME,
    /// The handle was closed.
    Closed = sys::CLOSED,
    /// Others held a lock for too long; the message names them.
    TimedOut = sys::TIMED_OUT,
    /// Transactions wait for each other: try again.
    Deadlock = sys::DEADLOCK,
    /// What was asked for is not kept any more: begin anew.
    TooOld = sys::TOO_OLD,
    /// The disk would have to be read, which the caller did not want.
    NotInMemory = sys::NOT_IN_MEMORY,
    /// The permissions of a file or directory, or a sandbox, forbid it; the message names it.
    PermissionDenied = sys::PERMISSION_DENIED,
    /// A buffer of fixed size cannot take one entry.
    BufferTooSmall = sys::BUFFER_TOO_SMALL,
    /// An exception inside of the library.
    Internal = sys::INTERNAL,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: String,
}

impl Error {
    /// One of the program, for callbacks and closures that may refuse.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
        }
    }

    pub(crate) fn invalid(message: &str) -> Error {
        Error::new(Code::InvalidArgument, message)
    }

    pub(crate) fn out_of_memory() -> Error {
        Error::new(Code::OutOfMemory, "no memory for a handle")
    }

    /// What kind of error it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What and where, in words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// No such tree, database, snapshot, backup or other thing.
    pub fn is_not_found(&self) -> bool {
        self.code == Code::NotFound
    }

    /// Another transaction committed first.
    pub fn is_conflict(&self) -> bool {
        self.code == Code::Conflict
    }

    /// Somebody else holds it: of [`Db::close`](crate::Db::close), what is still held.
    pub fn is_busy(&self) -> bool {
        self.code == Code::Busy
    }

    /// Others held a lock for too long.
    pub fn is_timed_out(&self) -> bool {
        self.code == Code::TimedOut
    }

    /// Bytes on disk are not what was written.
    pub fn is_corruption(&self) -> bool {
        self.code == Code::Corruption
    }

    /// The same transaction may succeed when it is tried again from its beginning: a conflict, a
    /// deadlock, or a lock that was not to be had in time.
    pub fn is_retryable(&self) -> bool {
        matches!(self.code, Code::Conflict | Code::Deadlock | Code::TimedOut)
    }

    /// # Safety
    /// `error` must be NULL or an error object, which stays the owner's.
    pub(crate) unsafe fn copy_of(code: sys::Code, error: *const sys::Error) -> Error {
        let mut size = 0;
        let message = sys::hawthorn_error_message(error, &mut size);
        let message = crate::handle::bytes(message.cast(), size);
        Error::new(
            Code::of(code),
            String::from_utf8_lossy(message).into_owned(),
        )
    }

    /// As an object of the C API, for callbacks to return.
    pub(crate) fn to_raw(&self) -> *mut sys::Error {
        let message: *const c_char = self.message.as_ptr().cast();
        unsafe { sys::hawthorn_error_create(self.code.number(), message, self.message.len()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            write!(f, "{}", self.code)
        } else {
            write!(f, "{}: {}", self.code, self.message)
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = unsafe { std::ffi::CStr::from_ptr(sys::hawthorn_code_name(self.number())) };
        f.write_str(&name.to_string_lossy())
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        let kind = match error.code {
            Code::NotFound => std::io::ErrorKind::NotFound,
            Code::InvalidArgument => std::io::ErrorKind::InvalidInput,
            Code::Corruption => std::io::ErrorKind::InvalidData,
            Code::TimedOut => std::io::ErrorKind::TimedOut,
            Code::PermissionDenied => std::io::ErrorKind::PermissionDenied,
            _ => std::io::ErrorKind::Other,
        };
        std::io::Error::new(kind, error)
    }
}

impl From<std::io::Error> for Error {
    /// An error of this crate that went through `std::io` is itself again; others are `IoError`.
    fn from(error: std::io::Error) -> Error {
        let inner = error
            .get_ref()
            .and_then(|e| e.downcast_ref::<Error>())
            .cloned();
        inner.unwrap_or_else(|| Error::new(Code::IoError, error.to_string()))
    }
}

/// Takes what a call returned, and frees the error object.
pub(crate) fn check(code: sys::Code, error: *mut sys::Error) -> Result<()> {
    if code == sys::OK {
        return Ok(());
    }
    let result = unsafe { Error::copy_of(code, error) };
    unsafe { sys::hawthorn_error_free(error) };
    Err(result)
}

/// The same for reads of a key: `None` where it is not there, without a look at the message.
pub(crate) fn found(code: sys::Code, error: *mut sys::Error) -> Result<Option<()>> {
    if code == sys::NOT_FOUND {
        unsafe { sys::hawthorn_error_free(error) };
        return Ok(None);
    }
    check(code, error).map(Some)
}
