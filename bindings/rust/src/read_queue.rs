//! Reads that do not wait for the disk: by tags for event loops, and by futures.

use crate::db::Db;
use crate::error::{found, Result};
use crate::handle::{ask, data, make, run, Handle};
use crate::snapshot::Snapshot;
use crate::sys;
use crate::tree::Tree;
use crate::value::{Value, ValueSlot};
use std::collections::HashMap;
use std::future::Future;
use std::marker::PhantomData;
use std::os::raw::{c_int, c_ulong};
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

/// A completion: the tag of the get, and what it came to.
pub type Completion<'db> = (u64, Result<Option<Value<'db>>>);

/// Many gets on their way at once, from one thread. For event loops: [`as_raw_fd`](AsRawFd::as_raw_fd) is
/// readable when [`poll`](ReadQueue::poll) would complete something, and now and then when it would not;
/// it is not to be read or closed. Threads: one at a time. Lifetime: of its database. Dropping it waits
/// for reads that are under way.
pub struct ReadQueue<'db> {
    handle: Handle<sys::ReadQueue>,
    db: PhantomData<&'db Db>,
}

impl Db {
    /// A queue. `depth`: reads of the disk under way at once, 1 to 4096; 0: 16. Errors:
    /// `InvalidArgument`.
    pub fn read_queue(&self, depth: u32) -> Result<ReadQueue<'_>> {
        let handle = make(|out, error| unsafe {
            sys::hawthorn_read_queue_open(self.raw(), depth, out, error)
        })?;
        Ok(ReadQueue {
            handle,
            db: PhantomData,
        })
    }

    /// Gets as futures, which any executor runs. `depth` as of [`Db::read_queue`]. It has a thread of its
    /// own, which waits for the disk. Errors: `InvalidArgument`; `IoError` where no thread can be begun.
    pub fn async_reader(self: &Arc<Self>, depth: u32) -> Result<AsyncReader> {
        AsyncReader::open(Arc::clone(self), depth)
    }
}

impl<'db> ReadQueue<'db> {
    fn raw(&self) -> *mut sys::ReadQueue {
        self.handle.get()
    }

    /// Begins a get of what is committed now, or in a snapshot. What it comes to is taken by
    /// [`take`](ReadQueue::take), with this tag. Errors: `InvalidArgument`, and then there is no
    /// completion.
    pub fn get(
        &mut self,
        tree: &Tree,
        key: impl AsRef<[u8]>,
        snapshot: Option<&Snapshot<'_>>,
        tag: u64,
    ) -> Result<()> {
        let key = key.as_ref();
        let snapshot = snapshot.map_or(ptr::null_mut(), |snapshot| snapshot.handle.get());
        unsafe { begin(self.raw(), tree, key, snapshot, tag) }
    }

    /// Completes what is done, and sends off what can be; how many were completed.
    pub fn poll(&mut self) -> Result<usize> {
        ask(|out, error| unsafe { sys::hawthorn_read_queue_poll(self.raw(), out, error) })
    }

    /// The same, and waits until there was one; 0 when nothing was pending.
    pub fn wait(&mut self) -> Result<usize> {
        ask(|out, error| unsafe { sys::hawthorn_read_queue_wait(self.raw(), out, error) })
    }

    /// Gets that are not completed.
    pub fn pending(&self) -> usize {
        unsafe { sys::hawthorn_read_queue_pending(self.raw()) }
    }

    /// The oldest completion; `None` where there is none.
    pub fn take(&mut self) -> Result<Option<Completion<'db>>> {
        unsafe { take(self.raw()) }
    }
}

impl AsRawFd for ReadQueue<'_> {
    fn as_raw_fd(&self) -> RawFd {
        unsafe { sys::hawthorn_read_queue_event_fd(self.raw()) }
    }
}

unsafe fn begin(
    queue: *mut sys::ReadQueue,
    tree: &Tree,
    key: &[u8],
    snapshot: *const sys::Snapshot,
    tag: u64,
) -> Result<()> {
    run(|error| {
        sys::hawthorn_read_queue_get(
            queue,
            tree.raw(),
            data(key),
            key.len(),
            snapshot,
            tag,
            None,
            ptr::null_mut(),
            error,
        )
    })
}

unsafe fn take<'db>(queue: *mut sys::ReadQueue) -> Result<Option<Completion<'db>>> {
    let slot = ValueSlot::new()?;
    let (mut there, mut tag, mut error) = (0, 0, ptr::null_mut());
    let code = sys::hawthorn_read_queue_take(queue, &mut there, &mut tag, slot.get(), &mut error);
    let result = found(code, error);
    if there == 0 {
        return result.map(|_| None);
    }
    Ok(Some((
        tag,
        result.map(|value| value.map(|()| slot.filled())),
    )))
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: c_int) -> c_int;
}

const READABLE: i16 = 1;
// A bound on how long a completion could stay unseen if an event was missed.
const LONGEST_MS: c_int = 100;

/// Gets as futures: [`Db::async_reader`]. Threads: any number at a time. Dropping it waits for reads that
/// are under way, and completes their futures; it holds the database, so [`Db::close`] comes behind it.
pub struct AsyncReader {
    shared: Arc<Shared>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<State>,
    event_fd: RawFd,
    /// Behind the queue, so that it goes last.
    _db: Arc<Db>,
}

struct State {
    queue: Handle<sys::ReadQueue>,
    waiting: HashMap<u64, Arc<Mutex<Slot>>>,
    next_tag: u64,
    stopped: bool,
}

enum Slot {
    Pending(Option<Waker>),
    Done(Result<Option<Value<'static>>>),
    Taken,
}

/// Locks, also where another thread has panicked meanwhile: nothing here is left half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Shared {
    /// Completes what is done.
    fn advance(&self, wait: bool) {
        let mut done = Vec::new();
        {
            let mut state = locked(&self.queue);
            let queue = state.queue.get();
            let call = if wait {
                sys::hawthorn_read_queue_wait
            } else {
                sys::hawthorn_read_queue_poll
            };
            unsafe { call(queue, ptr::null_mut(), ptr::null_mut()) };
            // A value keeps the database open by itself, so it may outlive the reader.
            while let Ok(Some((tag, result))) = unsafe { take::<'static>(queue) } {
                done.extend(state.waiting.remove(&tag).map(|slot| (slot, result)));
            }
        }
        for (slot, result) in done {
            let before = std::mem::replace(&mut *locked(&slot), Slot::Done(result));
            if let Slot::Pending(Some(waker)) = before {
                waker.wake();
            }
        }
    }

    fn pending(&self) -> usize {
        unsafe { sys::hawthorn_read_queue_pending(locked(&self.queue).queue.get()) }
    }
}

impl AsyncReader {
    fn open(db: Arc<Db>, depth: u32) -> Result<AsyncReader> {
        let queue: Handle<sys::ReadQueue> = make(|out, error| unsafe {
            sys::hawthorn_read_queue_open(db.raw(), depth, out, error)
        })?;
        let event_fd = unsafe { sys::hawthorn_read_queue_event_fd(queue.get()) };
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let state = State {
            queue,
            waiting: HashMap::new(),
            next_tag: 0,
            stopped: false,
        };
        let shared = Arc::new(Shared {
            queue: Mutex::new(state),
            event_fd,
            _db: db,
        });
        let driver = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hawthorn-reads".into())
            .spawn(move || drive(&driver, &woken))?;
        Ok(AsyncReader {
            shared,
            wake,
            thread: Some(thread),
        })
    }

    /// Begins a get of what is committed now; the future is what it comes to. What is in memory is there
    /// when the future is first polled. Dropping the future leaves the read to itself.
    pub fn get(&self, tree: &Tree, key: impl AsRef<[u8]>) -> GetFuture {
        self.begin(tree, key.as_ref(), ptr::null())
    }

    /// The same in a snapshot, which is kept until the completion.
    pub fn get_at(&self, tree: &Tree, key: impl AsRef<[u8]>, snapshot: &Snapshot<'_>) -> GetFuture {
        self.begin(tree, key.as_ref(), snapshot.handle.get())
    }

    fn begin(&self, tree: &Tree, key: &[u8], snapshot: *const sys::Snapshot) -> GetFuture {
        let slot = Arc::new(Mutex::new(Slot::Pending(None)));
        let begun = {
            let mut state = locked(&self.shared.queue);
            let tag = state.next_tag;
            state.next_tag += 1;
            state.waiting.insert(tag, Arc::clone(&slot));
            let begun = unsafe { begin(state.queue.get(), tree, key, snapshot, tag) };
            if begun.is_err() {
                state.waiting.remove(&tag);
            }
            begun
        };
        match begun {
            Ok(()) => self.shared.advance(false),
            Err(error) => *locked(&slot) = Slot::Done(Err(error)),
        }
        GetFuture { slot }
    }
}

/// Waits for the disk until it is told to stop.
fn drive(shared: &Shared, woken: &UnixStream) {
    loop {
        let mut fds = [
            PollFd {
                fd: shared.event_fd,
                events: READABLE,
                revents: 0,
            },
            PollFd {
                fd: woken.as_raw_fd(),
                events: READABLE,
                revents: 0,
            },
        ];
        let timeout = if shared.pending() > 0 {
            LONGEST_MS
        } else {
            10 * LONGEST_MS
        };
        unsafe { poll(fds.as_mut_ptr(), fds.len() as c_ulong, timeout) };
        if locked(&shared.queue).stopped {
            return;
        }
        shared.advance(false);
    }
}

impl Drop for AsyncReader {
    fn drop(&mut self) {
        locked(&self.shared.queue).stopped = true;
        let _ = std::io::Write::write_all(&mut &self.wake, &[1]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        while self.shared.pending() > 0 {
            self.shared.advance(true);
        }
    }
}

/// A get under way: [`AsyncReader::get`]. It is `Send`, and belongs to no executor. Polled again behind
/// its end, it panics.
pub struct GetFuture {
    slot: Arc<Mutex<Slot>>,
}

impl Future for GetFuture {
    type Output = Result<Option<Value<'static>>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = locked(&self.slot);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Done(result) => Poll::Ready(result),
            Slot::Pending(_) => {
                *slot = Slot::Pending(Some(context.waker().clone()));
                Poll::Pending
            }
            Slot::Taken => panic!("a get was polled behind its end"),
        }
    }
}
