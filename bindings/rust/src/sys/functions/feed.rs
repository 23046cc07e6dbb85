//! Functions of hawthorn/c/feed.h. Written by scripts/declare.py.

use crate::sys::types::*;

extern "C" {
    pub fn hawthorn_db_create_feed(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        log_bytes_max: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_drop_feed(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_db_list_feeds(
        db: *mut Db,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_acknowledge(
        feed: *mut Feed,
        timestamp: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_change_tree(
        feed: *mut Feed,
        out: *mut *mut Records,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_commit_previous(feed: *const Feed) -> u64;
    pub fn hawthorn_feed_commit_timestamp(feed: *const Feed) -> u64;
    pub fn hawthorn_feed_encode(
        feed: *mut Feed,
        data: *mut *const c_void,
        size: *mut usize,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_free(feed: *mut Feed);
    pub fn hawthorn_feed_next(
        feed: *mut Feed,
        timeout_ms: u64,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_next_change(
        feed: *mut Feed,
        change: *mut Change,
        found: *mut c_int,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_open(
        db: *mut Db,
        name: *const c_char,
        name_size: usize,
        out: *mut *mut Feed,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_open_at(
        db: *mut Db,
        position: u64,
        out: *mut *mut Feed,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_position(feed: *const Feed) -> u64;
    pub fn hawthorn_feed_read_value(
        feed: *mut Feed,
        offset: u64,
        buffer: *mut c_void,
        capacity: usize,
        size: *mut usize,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_feed_source_id(feed: *const Feed) -> *const c_char;
    pub fn hawthorn_follower_free(follower: *mut Follower);
    pub fn hawthorn_follower_latest(
        follower: *mut Follower,
        out: *mut *mut Db,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_follower_open(
        path: *const c_char,
        options: *const Options,
        out: *mut *mut Follower,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_follower_rebuild(follower: *mut Follower, error: *mut *mut Error) -> Code;
    pub fn hawthorn_follower_refresh(follower: *mut Follower, error: *mut *mut Error) -> Code;
    pub fn hawthorn_follower_view(
        follower: *mut Follower,
        out: *mut *mut Db,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_apply(
        replica: *mut Replica,
        feed: *mut Feed,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_apply_pieces(
        replica: *mut Replica,
        pieces: Option<PieceSource>,
        context: *mut c_void,
        durability: Durability,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_begin_at(
        replica: *mut Replica,
        source_id: *const c_char,
        source_id_size: usize,
        timestamp: u64,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_copy(
        replica: *mut Replica,
        source: *mut Db,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_free(replica: *mut Replica);
    pub fn hawthorn_replica_open(
        target: *mut Db,
        out: *mut *mut Replica,
        error: *mut *mut Error,
    ) -> Code;
    pub fn hawthorn_replica_position(replica: *const Replica) -> u64;
    pub fn hawthorn_replica_source_id(replica: *const Replica) -> *const c_char;
}
