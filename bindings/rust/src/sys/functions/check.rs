//! Functions of hawthorn/c/check.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_db_check(
        db: *mut Db,
        options: *const CheckOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repair(
        source: *const c_char,
        target: *const c_char,
        options: *const RepairOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
}
