//! Functions of hawthorn/c/transaction.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_db_commit_prepared(
        db: *mut Db,
        id: *const c_char,
        id_size: usize,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_prepared(
        db: *mut Db,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_rollback_prepared(
        db: *mut Db,
        id: *const c_char,
        id_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_set_interrupt(interrupted: Option<Interrupt>, context: *mut c_void);
    pub fn hawthorn_txn_abort(txn: *mut Txn, error: *mut *mut Error) -> Code;
    pub fn hawthorn_txn_append(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        data: *const c_void,
        size: usize,
        offset: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_append_stream(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        size: u64,
        source: Option<StreamSource>,
        context: *mut c_void,
        offset: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_attach(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_begin(
        db: *mut Db,
        options: *const TxnOptions,
        out: *mut *mut Txn,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_begin_nested(
        txn: *mut Txn,
        out: *mut *mut Txn,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_clone_subtree(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        to: *const c_char,
        to_size: usize,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_clone_tree(
        txn: *mut Txn,
        from: *const c_char,
        from_size: usize,
        to: *const c_char,
        to_size: usize,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_commit(
        txn: *mut Txn,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_count(
        txn: *mut Txn,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_create_subtree(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        options: *const TreeOptions,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_cursor(
        txn: *mut Txn,
        tree: *const Tree,
        options: *const CursorOptions,
        out: *mut *mut Cursor,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_del(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_del_value(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_delete_range(
        txn: *mut Txn,
        tree: *const Tree,
        low: *const c_void,
        low_size: usize,
        high: *const c_void,
        high_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_detach(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_drop_tree(
        txn: *mut Txn,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_find_tree(
        txn: *mut Txn,
        name: *const c_char,
        name_size: usize,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_finish_reserve(txn: *mut Txn, error: *mut *mut Error) -> Code;
    pub fn hawthorn_txn_free(txn: *mut Txn);
    pub fn hawthorn_txn_get(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *mut Value,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_get_for_update(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *mut Value,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_get_into(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        buffer: *mut c_void,
        capacity: usize,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_get_pinned(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        data: *mut *const c_void,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_insert(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_is_open(txn: *const Txn) -> c_int;
    pub fn hawthorn_txn_list_subtrees(
        txn: *mut Txn,
        parent: *const Tree,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_list_trees(
        txn: *mut Txn,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_lock(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        lock: RowLock,
        timeout_ms: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_merge(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        operand: *const c_void,
        operand_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_move_subtree(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        to_parent: *const Tree,
        to_key: *const c_void,
        to_key_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_multi_get(
        txn: *mut Txn,
        tree: *const Tree,
        keys: *const Bytes,
        key_count: usize,
        batch: *mut ReadBatch,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_multi_get_columns(
        txn: *mut Txn,
        tree: *const Tree,
        key_bytes: *const c_void,
        key_offsets: *const i64,
        key_count: usize,
        batch: *mut ReadBatch,
        columns: *mut Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_pin(
        txn: *mut Txn,
        cursor: *const Cursor,
        out: *mut Entry,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_prepare(
        txn: *mut Txn,
        id: *const c_char,
        id_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_put(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        options: *const WriteOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_put_reserve(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        size: usize,
        data: *mut *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_put_stream(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        size: u64,
        source: Option<StreamSource>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_read_part(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        buffer: *mut c_void,
        capacity: usize,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_read_stream(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        sink: Option<StreamSink>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_release(
        txn: *mut Txn,
        savepoint: *const Savepoint,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_release_pinned(txn: *mut Txn, error: *mut *mut Error) -> Code;
    pub fn hawthorn_txn_remove_if(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        expected: *const c_void,
        expected_size: usize,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_rename_tree(
        txn: *mut Txn,
        from: *const c_char,
        from_size: usize,
        to: *const c_char,
        to_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_replace(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        expected: *const c_void,
        expected_size: usize,
        value: *const c_void,
        value_size: usize,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_resize(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        size: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_rollback_to(
        txn: *mut Txn,
        savepoint: *const Savepoint,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_savepoint(
        txn: *mut Txn,
        out: *mut Savepoint,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_size_of(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_subtree(
        txn: *mut Txn,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_tree(
        txn: *mut Txn,
        name: *const c_char,
        name_size: usize,
        options: *const TreeOptions,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_update(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        done: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_write_part(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        data: *const c_void,
        size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_txn_write_part_stream(
        txn: *mut Txn,
        tree: *const Tree,
        key: *const c_void,
        key_size: usize,
        offset: u64,
        size: u64,
        source: Option<StreamSource>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
}
