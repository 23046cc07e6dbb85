//! Functions of hawthorn/c/base.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_abi_version() -> u32;
    pub fn hawthorn_buffer_append(buffer: *mut Buffer, data: *const c_void, size: usize) -> c_int;
    pub fn hawthorn_buffer_data(buffer: *const Buffer, size: *mut usize) -> *const c_void;
    pub fn hawthorn_code_name(code: Code) -> *const c_char;
    pub fn hawthorn_error_code(error: *const Error) -> Code;
    pub fn hawthorn_error_create(
        code: Code,
        message: *const c_char,
        message_size: usize,
    ) -> *mut Error;
    pub fn hawthorn_error_free(error: *mut Error);
    pub fn hawthorn_error_message(error: *const Error, size: *mut usize) -> *const c_char;
    pub fn hawthorn_format_version() -> u32;
    pub fn hawthorn_free(memory: *mut c_void);
    pub fn hawthorn_limit_key_bytes() -> u64;
    pub fn hawthorn_limit_memory_budget_bytes_min() -> u64;
    pub fn hawthorn_limit_stream_value_bytes() -> u64;
    pub fn hawthorn_limit_tree_name_bytes() -> u64;
    pub fn hawthorn_limit_value_bytes() -> u64;
    pub fn hawthorn_records_bytes(
        records: *const Records,
        row: usize,
        name: *const c_char,
        size: *mut usize,
    ) -> *const c_char;
    pub fn hawthorn_records_count(records: *const Records) -> usize;
    pub fn hawthorn_records_field(
        records: *const Records,
        row: usize,
        index: usize,
        out: *mut Field,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_records_field_count(records: *const Records, row: usize) -> usize;
    pub fn hawthorn_records_find(
        records: *const Records,
        row: usize,
        name: *const c_char,
        out: *mut Field,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_records_free(records: *mut Records);
    pub fn hawthorn_records_number(
        records: *const Records,
        row: usize,
        name: *const c_char,
        otherwise: u64,
    ) -> u64;
    pub fn hawthorn_value_create() -> *mut Value;
    pub fn hawthorn_value_data(value: *const Value, size: *mut usize) -> *const c_void;
    pub fn hawthorn_value_free(value: *mut Value);
    pub fn hawthorn_value_move(from: *mut Value, to: *mut Value, error: *mut *mut Error) -> Code;
    pub fn hawthorn_value_release(value: *mut Value);
    pub fn hawthorn_version() -> *const c_char;
}
