//! Values by parts: what C calls back with pieces of them, and `std::io` over them.

use crate::cursor::entry_bytes;
use crate::error::{Error, Result};
use crate::handle::bytes;
use crate::read::Read;
use crate::sys;
use crate::tree::Tree;
use std::any::Any;
use std::io::{self, SeekFrom};
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

type Panic = Option<Box<dyn Any + Send>>;

/// Runs a closure of the program inside of a call of C: its panic is kept, to go on behind the call.
fn guarded<T>(panic: &mut Panic, otherwise: T, call: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(payload) => {
            *panic = Some(payload);
            otherwise
        }
    }
}

/// Lets a panic that was kept go on.
fn resume(panic: Panic) {
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}

/// Is shown pieces of bytes.
pub(crate) struct Sink<F> {
    call: F,
    panic: Panic,
}

impl<F: FnMut(&[u8]) -> bool> Sink<F> {
    pub(crate) fn new(call: F) -> Sink<F> {
        Sink { call, panic: None }
    }

    pub(crate) fn parts(&mut self) -> (Option<sys::StreamSink>, *mut c_void) {
        unsafe extern "C" fn show<F: FnMut(&[u8]) -> bool>(
            context: *mut c_void,
            data: *const c_void,
            size: usize,
        ) -> c_int {
            let Sink { call, panic } = &mut *context.cast::<Sink<F>>();
            guarded(panic, false, || call(bytes(data, size))).into()
        }
        (Some(show::<F>), (self as *mut Sink<F>).cast())
    }

    pub(crate) fn panicked(self) {
        resume(self.panic);
    }
}

/// Is shown entries.
pub(crate) struct Visit<F> {
    call: F,
    panic: Panic,
}

impl<F: FnMut(&[u8], &[u8]) -> bool> Visit<F> {
    pub(crate) fn new(call: F) -> Visit<F> {
        Visit { call, panic: None }
    }

    pub(crate) fn parts(&mut self) -> (Option<sys::ScanCallback>, *mut c_void) {
        unsafe extern "C" fn show<F: FnMut(&[u8], &[u8]) -> bool>(
            context: *mut c_void,
            entries: *const sys::Entry,
            count: usize,
        ) -> c_int {
            let Visit { call, panic } = &mut *context.cast::<Visit<F>>();
            let entries = std::slice::from_raw_parts(entries, count);
            guarded(panic, false, || {
                entries.iter().all(|entry| {
                    let (key, value) = entry_bytes(entry);
                    call(key, value)
                })
            })
            .into()
        }
        (Some(show::<F>), (self as *mut Visit<F>).cast())
    }

    pub(crate) fn panicked(self) {
        resume(self.panic);
    }
}

/// Gives pieces of bytes from a reader.
pub(crate) struct Source<R> {
    reader: R,
    panic: Panic,
}

impl<R: io::Read> Source<R> {
    pub(crate) fn new(reader: R) -> Source<R> {
        Source {
            reader,
            panic: None,
        }
    }

    pub(crate) fn parts(&mut self) -> (Option<sys::StreamSource>, *mut c_void) {
        unsafe extern "C" fn give<R: io::Read>(
            context: *mut c_void,
            buffer: *mut c_void,
            capacity: usize,
            error: *mut *mut sys::Error,
        ) -> i64 {
            let Source { reader, panic } = &mut *context.cast::<Source<R>>();
            // A reader may look at the buffer before it fills it.
            std::ptr::write_bytes(buffer.cast::<u8>(), 0, capacity);
            let buffer = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), capacity);
            let failed = || Err(io::Error::new(io::ErrorKind::Other, "the reader panicked"));
            let read = guarded(panic, failed(), || loop {
                match reader.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => return other,
                }
            });
            match read {
                Ok(size) if size <= capacity => size as i64,
                Ok(_) => {
                    *error = Error::invalid("the reader gave more than was asked for").to_raw();
                    -1
                }
                Err(failure) => {
                    *error = Error::from(failure).to_raw();
                    -1
                }
            }
        }
        (Some(give::<R>), (self as *mut Source<R>).cast())
    }

    pub(crate) fn panicked(self) {
        resume(self.panic);
    }
}

/// A closure that C calls with something of type `A`, and that may refuse.
pub(crate) struct Fallible<F> {
    call: F,
    panic: Panic,
}

impl<F> Fallible<F> {
    pub(crate) fn new(call: F) -> Fallible<F> {
        Fallible { call, panic: None }
    }

    pub(crate) fn context(&mut self) -> *mut c_void {
        (self as *mut Fallible<F>).cast()
    }

    /// # Safety
    /// `context` must be that of an object of this type, which nobody else uses.
    pub(crate) unsafe fn run(
        context: *mut c_void,
        call: impl FnOnce(&mut F) -> Result<()>,
    ) -> *mut sys::Error {
        let this = &mut *context.cast::<Fallible<F>>();
        let function = &mut this.call;
        let failed = Err(Error::new(crate::Code::Internal, "a closure panicked"));
        match guarded(&mut this.panic, failed, || call(function)) {
            Ok(()) => std::ptr::null_mut(),
            Err(error) => error.to_raw(),
        }
    }

    pub(crate) fn panicked(self) {
        resume(self.panic);
    }
}

/// A value as `std::io::Read` and `Seek`: [`Read::value_reader`]. It reads by parts, so a value of any
/// size takes no memory here; wrap it into `std::io::BufReader` for small reads. Of a
/// [`Db`](crate::Db) each part is read as it is then; of a snapshot or transaction all are of one
/// moment.
pub struct ValueReader<'a, R: Read> {
    source: &'a R,
    tree: Tree,
    key: Vec<u8>,
    position: u64,
}

impl<'a, R: Read> ValueReader<'a, R> {
    pub(crate) fn new(source: &'a R, tree: Tree, key: Vec<u8>) -> Result<Self> {
        let reader = ValueReader {
            source,
            tree,
            key,
            position: 0,
        };
        reader.size()?;
        Ok(reader)
    }

    /// The size of the value. Errors: `NotFound`.
    pub fn size(&self) -> Result<u64> {
        let size = self.source.size_of(&self.tree, &self.key)?;
        size.ok_or_else(|| Error::new(crate::Code::NotFound, "no such key"))
    }
}

impl<R: Read> io::Read for ValueReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let size = self
            .source
            .read_part(&self.tree, &self.key, self.position, buffer)?;
        self.position += size as u64;
        Ok(size)
    }
}

impl<R: Read> io::Seek for ValueReader<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(position) => {
                self.position = position;
                return Ok(position);
            }
            SeekFrom::End(offset) => (self.size()?, offset),
            SeekFrom::Current(offset) => (self.position, offset),
        };
        let position = if offset < 0 {
            base.checked_sub(offset.unsigned_abs())
        } else {
            base.checked_add(offset as u64)
        };
        self.position =
            position.ok_or_else(|| Error::invalid("a seek to before the value's beginning"))?;
        Ok(self.position)
    }
}
