//! Functions of hawthorn/c/options.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_event_name(event: Event) -> *const c_char;
    pub fn hawthorn_generate_key(key: *mut u8, error: *mut *mut Error) -> Code;
    pub fn hawthorn_options_add_builtin_merge_operator(
        options: *mut Options,
        name: *const c_char,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_commit_hook(
        options: *mut Options,
        before: Option<BeforeCommit>,
        after: Option<AfterCommit>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_device(
        options: *mut Options,
        path: *const c_char,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_key_comparator(
        options: *mut Options,
        name: *const c_char,
        compare: Option<Compare>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_key_order(
        options: *mut Options,
        order: *const KeyOrder,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_listener(
        options: *mut Options,
        callback: Option<EventCallback>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_add_merge_operator(
        options: *mut Options,
        merge_operator: *const MergeOperator,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_create() -> *mut Options;
    pub fn hawthorn_options_free(options: *mut Options);
    pub fn hawthorn_options_get(
        options: *const Options,
        name: *const c_char,
        out: *mut *mut c_char,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_name(index: usize) -> *const c_char;
    pub fn hawthorn_options_set(
        options: *mut Options,
        name: *const c_char,
        value: *const c_char,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_background_io_bytes_per_second(
        options: *mut Options,
        bytes_per_second: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_compression(
        options: *mut Options,
        compression: Compression,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_create_if_missing(
        options: *mut Options,
        create: c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_durability(
        options: *mut Options,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_encryption(
        options: *mut Options,
        key_id: *const c_char,
        key_id_size: usize,
        key: Option<KeyCallback>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_error_if_exists(
        options: *mut Options,
        fail: c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_file_mode(
        options: *mut Options,
        mode: u32,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_flush_filter(
        options: *mut Options,
        tree: *const c_char,
        tree_size: usize,
        filter: *const FlushFilter,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_io_mode(
        options: *mut Options,
        mode: IoMode,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_lock_timeout_ms(
        options: *mut Options,
        timeout_ms: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_log(
        options: *mut Options,
        log: Option<LogCallback>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_memory_budget_bytes(
        options: *mut Options,
        bytes: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_on_expiry(
        options: *mut Options,
        on_expiry: Option<ExpiryCallback>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_open_progress(
        options: *mut Options,
        progress: Option<OpenProgress>,
        context: *mut c_void,
        destroy: Option<Destroy>,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_preallocate_memory(
        options: *mut Options,
        preallocate: c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_read_only(
        options: *mut Options,
        read_only: c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_scrub_bytes_per_second(
        options: *mut Options,
        bytes_per_second: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_options_set_space_target(
        options: *mut Options,
        space_target: f64,
        error: *mut *mut Error,
    ) -> Code;
}
