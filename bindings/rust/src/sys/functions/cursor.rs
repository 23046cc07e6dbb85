//! Functions of hawthorn/c/cursor.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_cursor_count_values(
        cursor: *mut Cursor,
        out: *mut u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_expires_at(cursor: *const Cursor) -> u64;
    pub fn hawthorn_cursor_first(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_first_value(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_free(cursor: *mut Cursor);
    pub fn hawthorn_cursor_is_subtree(
        cursor: *const Cursor,
        out: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_key(cursor: *const Cursor, size: *mut usize) -> *const c_void;
    pub fn hawthorn_cursor_last(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_last_value(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_next(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_next_batch(
        cursor: *mut Cursor,
        entries: *mut Entry,
        capacity: usize,
        count: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_next_columns(
        cursor: *mut Cursor,
        columns: *mut Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_next_key(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_next_value(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_prev(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_prev_columns(
        cursor: *mut Cursor,
        columns: *mut Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_prev_key(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_prev_value(
        cursor: *mut Cursor,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_seek(
        cursor: *mut Cursor,
        key: *const c_void,
        key_size: usize,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_seek_for_prev(
        cursor: *mut Cursor,
        key: *const c_void,
        key_size: usize,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_seek_random(
        cursor: *mut Cursor,
        random: u64,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_seek_value(
        cursor: *mut Cursor,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_skip(
        cursor: *mut Cursor,
        count: i64,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_cursor_status(cursor: *const Cursor, error: *mut *mut Error) -> Code;
    pub fn hawthorn_cursor_valid(cursor: *const Cursor) -> c_int;
    pub fn hawthorn_cursor_value(cursor: *const Cursor, size: *mut usize) -> *const c_void;
    pub fn hawthorn_db_cursor(
        db: *mut Db,
        tree: *const Tree,
        options: *const CursorOptions,
        out: *mut *mut Cursor,
        error: *mut *mut Error,
    ) -> Code;
}
