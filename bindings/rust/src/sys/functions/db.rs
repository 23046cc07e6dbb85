//! Functions of hawthorn/c/db.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_db_attach(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        name: *const c_char,
        name_size: usize,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_clone_subtree(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        to: *const c_char,
        to_size: usize,
        durability: Durability,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_clone_tree(
        db: *mut Db,
        from: *const c_char,
        from_size: usize,
        to: *const c_char,
        to_size: usize,
        durability: Durability,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_close(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_compact(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_compact_with(
        db: *mut Db,
        options: *const CompactOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_create_snapshot(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_create_subtree(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        options: *const TreeOptions,
        durability: Durability,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_detach(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        name: *const c_char,
        name_size: usize,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_drain(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_drop_snapshot(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_drop_tree(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_encryption(
        db: *mut Db,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_find_tree(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        snapshot: *const Snapshot,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_flush(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_free(db: *mut Db);
    pub fn hawthorn_db_id(db: *mut Db, id: *mut c_char, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_list_snapshots(
        db: *mut Db,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_list_subtrees(
        db: *mut Db,
        parent: *const Tree,
        snapshot: *const Snapshot,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_list_trees(
        db: *mut Db,
        snapshot: *const Snapshot,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_move_subtree(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        to_parent: *const Tree,
        to_key: *const c_void,
        to_key_size: usize,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_open(
        path: *const c_char,
        options: *const Options,
        out: *mut *mut Db,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_open_snapshot(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        out: *mut *mut Snapshot,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_path(db: *const Db) -> *const c_char;
    pub fn hawthorn_db_rename_tree(
        db: *mut Db,
        from: *const c_char,
        from_size: usize,
        to: *const c_char,
        to_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_rotate_data_key(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_rotate_key(
        db: *mut Db,
        key_id: *const c_char,
        key_id_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_set_background_io_limit(
        db: *mut Db,
        bytes_per_second: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_set_compression(
        db: *mut Db,
        tree: *const Tree,
        compression: Compression,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_set_memory_budget(db: *mut Db, bytes: u64, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_set_merge_operator(
        db: *mut Db,
        tree: *const Tree,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_snapshot(
        db: *mut Db,
        out: *mut *mut Snapshot,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_stat(
        db: *mut Db,
        name: *const c_char,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_stats(db: *mut Db, out: *mut *mut Records, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_subtree(
        db: *mut Db,
        parent: *const Tree,
        key: *const c_void,
        key_size: usize,
        snapshot: *const Snapshot,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_sync(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_db_tree(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        options: *const TreeOptions,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_tree_options(
        db: *mut Db,
        tree: *const Tree,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_warm_up(db: *mut Db, error: *mut *mut Error) -> Code;
    pub fn hawthorn_destroy_database(
        path: *const c_char,
        options: *const Options,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_read_counters(
        directory: *const c_char,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_snapshot_free(snapshot: *mut Snapshot);
    pub fn hawthorn_snapshot_now_ms(snapshot: *const Snapshot) -> u64;
    pub fn hawthorn_snapshot_timestamp(snapshot: *const Snapshot) -> u64;
    pub fn hawthorn_tree_copy(
        tree: *const Tree,
        out: *mut *mut Tree,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_tree_free(tree: *mut Tree);
    pub fn hawthorn_tree_id(tree: *const Tree) -> u32;
}
