//! Functions of hawthorn/c/copies.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_db_backup(
        db: *mut Db,
        repository: *mut Repository,
        options: *const CopyOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_backup_to(
        db: *mut Db,
        sink: Option<BackupSink>,
        context: *mut c_void,
        options: *const CopyOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_checkpoint(
        db: *mut Db,
        directory: *const c_char,
        options: *const CopyOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_ingest(
        db: *mut Db,
        tree: *const Tree,
        options: *const IngestOptions,
        out: *mut *mut Ingest,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_ingest_add(
        ingest: *mut Ingest,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_ingest_add_columns(
        ingest: *mut Ingest,
        columns: *const Columns,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_ingest_add_stream(
        ingest: *mut Ingest,
        key: *const c_void,
        key_size: usize,
        size: u64,
        source: Option<StreamSource>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_ingest_finish(ingest: *mut Ingest, error: *mut *mut Error) -> Code;
    pub fn hawthorn_ingest_finish_with(
        ingest: *mut Ingest,
        progress: Option<IngestProgress>,
        context: *mut c_void,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_ingest_free(ingest: *mut Ingest);
    pub fn hawthorn_ingest_is_open(ingest: *const Ingest) -> c_int;
    pub fn hawthorn_ingest_stats(
        ingest: *const Ingest,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repository_free(repository: *mut Repository);
    pub fn hawthorn_repository_list(
        repository: *mut Repository,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repository_open(
        directory: *const c_char,
        out: *mut *mut Repository,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repository_remove(
        repository: *mut Repository,
        id: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repository_restore(
        repository: *mut Repository,
        id: u64,
        target: *const c_char,
        options: *const CopyOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_repository_verify(
        repository: *mut Repository,
        id: u64,
        options: *const CopyOptions,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_restore_backup(
        source: Option<StreamSource>,
        context: *mut c_void,
        target: *const c_char,
        options: *const CopyOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_verify_backup(
        source: Option<StreamSource>,
        context: *mut c_void,
        options: *const CopyOptions,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
}
