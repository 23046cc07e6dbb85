//! Functions of hawthorn/c/read_queue.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_read_queue_event_fd(queue: *mut ReadQueue) -> c_int;
    pub fn hawthorn_read_queue_free(queue: *mut ReadQueue);
    pub fn hawthorn_read_queue_get(
        queue: *mut ReadQueue,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        tag: u64,
        callback: Option<ReadCallback>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_queue_open(
        db: *mut Db,
        depth: u32,
        out: *mut *mut ReadQueue,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_queue_pending(queue: *const ReadQueue) -> usize;
    pub fn hawthorn_read_queue_poll(
        queue: *mut ReadQueue,
        completed: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_queue_take(
        queue: *mut ReadQueue,
        found: *mut c_int,
        tag: *mut u64,
        value: *mut Value,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_queue_wait(
        queue: *mut ReadQueue,
        completed: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
}
