// The functions that are inline in the header, for those who take them from the library.

#define LIBMDBX_INTERNALS 1
#include <mdbx.h>

#ifdef __clang__
#define HAWTHORN_MDBX_NOTHROW noexcept
#else
#define HAWTHORN_MDBX_NOTHROW
#endif

int mdbx_env_close(MDBX_env* env) { return __inline_mdbx_env_close(env); }
int mdbx_env_set_maxreaders(MDBX_env* env, unsigned readers) {
  return __inline_mdbx_env_set_maxreaders(env, readers);
}
int mdbx_env_get_maxreaders(const MDBX_env* env, unsigned* readers) {
  return __inline_mdbx_env_get_maxreaders(env, readers);
}
int mdbx_env_set_maxdbs(MDBX_env* env, MDBX_dbi dbs) {
  return __inline_mdbx_env_set_maxdbs(env, dbs);
}
int mdbx_env_get_maxdbs(const MDBX_env* env, MDBX_dbi* dbs) {
  return __inline_mdbx_env_get_maxdbs(env, dbs);
}
int mdbx_env_set_syncbytes(MDBX_env* env, size_t threshold) {
  return __inline_mdbx_env_set_syncbytes(env, threshold);
}
int mdbx_env_get_syncbytes(const MDBX_env* env, size_t* threshold) {
  return __inline_mdbx_env_get_syncbytes(env, threshold);
}
int mdbx_env_set_syncperiod(MDBX_env* env, unsigned seconds_16dot16) {
  return __inline_mdbx_env_set_syncperiod(env, seconds_16dot16);
}
int mdbx_env_get_syncperiod(const MDBX_env* env, unsigned* period_seconds_16dot16) {
  return __inline_mdbx_env_get_syncperiod(env, period_seconds_16dot16);
}
int mdbx_env_set_mapsize(MDBX_env* env, size_t size) {
  return __inline_mdbx_env_set_mapsize(env, size);
}
int mdbx_env_sync(MDBX_env* env) { return __inline_mdbx_env_sync(env); }
int mdbx_env_sync_poll(MDBX_env* env) { return __inline_mdbx_env_sync_poll(env); }
int mdbx_env_stat(const MDBX_env* env, MDBX_stat* stat, size_t bytes) {
  return __inline_mdbx_env_stat(env, stat, bytes);
}
int mdbx_env_info(const MDBX_env* env, MDBX_envinfo* info, size_t bytes) {
  return __inline_mdbx_env_info(env, info, bytes);
}
int mdbx_txn_begin(MDBX_env* env, MDBX_txn* parent, MDBX_txn_flags_t flags, MDBX_txn** txn) {
  return __inline_mdbx_txn_begin(env, parent, flags, txn);
}
int mdbx_txn_commit(MDBX_txn* txn) { return __inline_mdbx_txn_commit(txn); }
int mdbx_dbi_flags(const MDBX_txn* txn, MDBX_dbi dbi, unsigned* flags) {
  return __inline_mdbx_dbi_flags(txn, dbi, flags);
}
int mdbx_txn_release_all_cursors(const MDBX_txn* txn, bool unbind) {
  return __inline_mdbx_txn_release_all_cursors(txn, unbind);
}
uint64_t mdbx_key_from_int64(const int64_t i64) HAWTHORN_MDBX_NOTHROW {
  return __inline_mdbx_key_from_int64(i64);
}
uint32_t mdbx_key_from_int32(const int32_t i32) HAWTHORN_MDBX_NOTHROW {
  return __inline_mdbx_key_from_int32(i32);
}
intptr_t mdbx_limits_pgsize_min(void) HAWTHORN_MDBX_NOTHROW {
  return __inline_mdbx_limits_pgsize_min();
}
intptr_t mdbx_limits_pgsize_max(void) HAWTHORN_MDBX_NOTHROW {
  return __inline_mdbx_limits_pgsize_max();
}
#if HAWTHORN_MDBX_API >= 14
int mdbx_txn_abort(MDBX_txn* txn) { return __inline_mdbx_txn_abort(txn); }
void mdbx_cache_init(MDBX_cache_entry_t* entry) { __inline_mdbx_cache_init(entry); }
#endif
