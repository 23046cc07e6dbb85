//! Functions of hawthorn/c/access.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_batch_bytes(batch: *const Batch) -> usize;
    pub fn hawthorn_batch_clear(batch: *mut Batch, error: *mut *mut Error) -> Code;
    pub fn hawthorn_batch_count(batch: *const Batch) -> usize;
    pub fn hawthorn_batch_create() -> *mut Batch;
    pub fn hawthorn_batch_del(
        batch: *mut Batch,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_batch_del_value(
        batch: *mut Batch,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_batch_delete_range(
        batch: *mut Batch,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_batch_free(batch: *mut Batch);
    pub fn hawthorn_batch_merge(
        batch: *mut Batch,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        operand: *const c_void,
        operand_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_batch_put(
        batch: *mut Batch,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_batch_put_columns(
        batch: *mut Batch,
        tree: *const Tree,
        columns: *const Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_append(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        data: *const c_void,
        size: usize,
        options: *const WriteOptions,
        offset: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_changed_since(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        since: *const Snapshot,
        out: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_count(
        db: *mut Db,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        snapshot: *const Snapshot,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_del(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_del_value(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_delete_range(
        db: *mut Db,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_estimate(
        db: *mut Db,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        entries: *mut u64,
        bytes: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_expires_at(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_explain(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_explain_stored(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_get(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        value: *mut Value,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_get_copy(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut *mut c_void,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_get_in_memory(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        value: *mut Value,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_get_into(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        buffer: *mut c_void,
        capacity: usize,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_insert(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_merge(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        operand: *const c_void,
        operand_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_multi_get(
        db: *mut Db,
        tree: *const Tree,
        keys: *const Bytes,
        key_count: usize,
        snapshot: *const Snapshot,
        batch: *mut ReadBatch,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_multi_get_columns(
        db: *mut Db,
        tree: *const Tree,
        key_bytes: *const c_void,
        key_offsets: *const i64,
        key_count: usize,
        snapshot: *const Snapshot,
        batch: *mut ReadBatch,
        columns: *mut Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_put(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_read_part(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        buffer: *mut c_void,
        capacity: usize,
        snapshot: *const Snapshot,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_read_stream(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        snapshot: *const Snapshot,
        sink: Option<StreamSink>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_remove_if(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        expected: *const c_void,
        expected_size: usize,
        options: *const WriteOptions,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_replace(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        expected: *const c_void,
        expected_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_resize(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        size: u64,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_scan(
        db: *mut Db,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        snapshot: *const Snapshot,
        keys_only: c_int,
        callback: Option<ScanCallback>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_size_of(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_update(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_write(
        db: *mut Db,
        batch: *const Batch,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_write_part(
        db: *mut Db,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        data: *const c_void,
        size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_batch_columns(
        batch: *const ReadBatch,
        first: usize,
        columns: *mut Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_batch_count(batch: *const ReadBatch) -> usize;
    pub fn hawthorn_read_batch_create() -> *mut ReadBatch;
    pub fn hawthorn_read_batch_free(batch: *mut ReadBatch);
    pub fn hawthorn_read_batch_release(batch: *mut ReadBatch);
    pub fn hawthorn_read_batch_value(
        batch: *const ReadBatch,
        index: usize,
        size: *mut usize,
    ) -> *const c_void;
    pub fn hawthorn_read_batch_value_bytes(batch: *const ReadBatch) -> u64;
}
