// The functions of tables and their entries.

#include <cstring>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"
#include "shims/mdbx/src/writes.h"

using hawthorn::mdbx::Compare;
using hawthorn::mdbx::TableRecord;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::val;
using hawthorn::mdbx::view;
using hawthorn::mdbx::Write;
namespace mdbx_shim = hawthorn::mdbx;

namespace {

constexpr unsigned kPutFlags = MDBX_NOOVERWRITE | MDBX_NODUPDATA | MDBX_ALLDUPS | MDBX_RESERVE |
                               MDBX_APPEND | MDBX_APPENDDUP | MDBX_CURRENT | MDBX_MULTIPLE;

// A transaction that is to be read, or written, and one of its tables.
int reading(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_txn** mine, TxnTable** table) {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  *mine = const_cast<MDBX_txn*>(txn);
  return (*mine)->table(dbi, table);
}

int writing(MDBX_txn* txn, MDBX_dbi dbi, TxnTable** table) {
  if (dbi == mdbx_shim::kGarbageDbi) return MDBX_BAD_DBI;
  if (const int code = MDBX_txn::check_write(txn); code != MDBX_SUCCESS) return code;
  return txn->table(dbi, table);
}

// A cursor for one call.
class OneCall {
 public:
  OneCall() : cursor_(nullptr) {}
  ~OneCall() { cursor_.unbind(); }
  OneCall(const OneCall&) = delete;
  OneCall& operator=(const OneCall&) = delete;
  MDBX_cursor* operator->() { return &cursor_; }
  MDBX_cursor* get() { return &cursor_; }

 private:
  MDBX_cursor cursor_;
};

int default_preserver(void*, MDBX_val* target, const void* source, size_t bytes) {
  if (target->iov_len < bytes) {
    target->iov_base = nullptr;
    target->iov_len = bytes;
    return MDBX_RESULT_TRUE;
  }
  memcpy(target->iov_base, source, bytes);
  target->iov_len = bytes;
  return MDBX_SUCCESS;
}

// Some pointers are names of their own.
MDBX_val bytes_of(const char* name) {
  const bool text = name != MDBX_CHK_MAIN && name != MDBX_CHK_GC && name != MDBX_CHK_META;
  MDBX_val bytes;
  bytes.iov_base = const_cast<char*>(name);
  bytes.iov_len = text ? strlen(name) : 0;
  return bytes;
}

int open_by_bytes(MDBX_txn* txn, const MDBX_val* name, unsigned flags, MDBX_dbi* dbi, Compare keys,
                  Compare values) {
  if (dbi == nullptr) return MDBX_EINVAL;
  *dbi = 0;
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  if (name != nullptr && name->iov_base == MDBX_CHK_GC) return MDBX_SUCCESS;  // the handle 0
  if (name != nullptr && name->iov_base == MDBX_CHK_META) return MDBX_EINVAL;
  return txn->open_table(name, flags, dbi, keys, values);
}

}  // namespace

int mdbx_dbi_open_ex2(MDBX_txn* txn, const MDBX_val* name, MDBX_db_flags_t flags, MDBX_dbi* dbi,
                      mdbx_shim::PointerTo<MDBX_cmp_func> keycmp,
                      mdbx_shim::PointerTo<MDBX_cmp_func> datacmp) try {
  return open_by_bytes(txn, name, flags, dbi, keycmp, datacmp);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_dbi_open_ex(MDBX_txn* txn, const char* name, MDBX_db_flags_t flags, MDBX_dbi* dbi,
                     mdbx_shim::PointerTo<MDBX_cmp_func> keycmp,
                     mdbx_shim::PointerTo<MDBX_cmp_func> datacmp) try {
  const MDBX_val bytes = bytes_of(name);
  return open_by_bytes(txn, &bytes, flags, dbi, keycmp, datacmp);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_dbi_open2(MDBX_txn* txn, const MDBX_val* name, MDBX_db_flags_t flags, MDBX_dbi* dbi) try {
  return open_by_bytes(txn, name, flags, dbi, nullptr, nullptr);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_dbi_open(MDBX_txn* txn, const char* name, MDBX_db_flags_t flags, MDBX_dbi* dbi) try {
  const MDBX_val bytes = bytes_of(name);
  return open_by_bytes(txn, &bytes, flags, dbi, nullptr, nullptr);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_dbi_rename2(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* name) try {
  if (const int code = MDBX_txn::check_write(txn); code != MDBX_SUCCESS) return code;
  if (name == nullptr || name->iov_base == MDBX_CHK_MAIN || name->iov_base == MDBX_CHK_GC ||
      name->iov_base == MDBX_CHK_META) {
    return MDBX_EINVAL;
  }
  return txn->rename_table(dbi, view(*name));
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_dbi_rename(MDBX_txn* txn, MDBX_dbi dbi, const char* name) {
  const MDBX_val bytes = bytes_of(name);
  return mdbx_dbi_rename2(txn, dbi, &bytes);
}

int mdbx_dbi_close(MDBX_env* env, MDBX_dbi dbi) try {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  if (!env->is_open()) return MDBX_EPERM;
  if (dbi == mdbx_shim::kMainDbi) return MDBX_SUCCESS;
  if (dbi == mdbx_shim::kGarbageDbi || dbi >= env->max_dbi) return MDBX_BAD_DBI;
  const std::lock_guard<std::mutex> guard(env->mutex);
  if (env->handles[dbi].table == nullptr) return MDBX_BAD_DBI;
  // What the transaction that writes has changed about it is not done yet.
  for (const MDBX_txn* txn = env->write_txn; txn != nullptr; txn = txn->parent) {
    if (dbi < txn->tables.size() && txn->tables[dbi] != nullptr &&
        (txn->tables[dbi]->written || txn->tables[dbi]->made)) {
      return MDBX_DANGLING_DBI;
    }
  }
  env->forget(dbi);
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_drop(MDBX_txn* txn, MDBX_dbi dbi, bool del) try {
  const int code = MDBX_txn::check_write(txn);
  return code == MDBX_SUCCESS ? txn->drop_table(dbi, del) : code;
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_enumerate_tables(const MDBX_txn* txn, mdbx_shim::PointerTo<MDBX_table_enum_func> func,
                          void* ctx) try {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  if (func == nullptr) return MDBX_EINVAL;
  MDBX_txn& mine = *const_cast<MDBX_txn*>(txn);
  return mine.names([&](std::string_view name, const TableRecord& record) {
    MDBX_dbi dbi = 0;
    for (MDBX_dbi i = mdbx_shim::kCoreDbis; i < mine.env->handle_count; ++i) {
      TxnTable* open = nullptr;
      if (mine.table(i, &open) == MDBX_SUCCESS && open->table->record.id == record.id) dbi = i;
    }
    TxnTable there;
    there.table = std::make_shared<mdbx_shim::Table>();
    there.table->record = record;
    hawthorn::Result<hawthorn::Tree> tree = mine.find_tree(mdbx_shim::tree_name(record.id));
    if (!tree.ok()) return mine.fail(tree.status());
    there.tree = *tree;
    MDBX_stat stat;
    if (const int code = mine.stat(&there, &stat, sizeof(stat)); code != MDBX_SUCCESS) return code;
    const MDBX_val bytes = val(name);
    return func(ctx, txn, &bytes, static_cast<MDBX_db_flags_t>(record.flags), &stat, dbi);
  });
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_dbi_stat(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_stat* stat, size_t bytes) try {
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  if (stat == nullptr || (bytes != sizeof(MDBX_stat) && bytes != offsetof(MDBX_stat, ms_mod_txnid)))
    return MDBX_EINVAL;
  return mine->stat(table, stat, bytes);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_dbi_dupsort_depthmask(const MDBX_txn* txn, MDBX_dbi dbi, uint32_t* mask) try {
  if (mask == nullptr) return MDBX_EINVAL;
  *mask = 0;
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  if (!table->table->multi()) return MDBX_RESULT_TRUE;
  // Keys with one value have depth 0; the values of others are in the same
  // tree: depth 1.
  hawthorn::Cursor& cursor = mine->scratch(table);
  for (bool more = cursor.first(); more && *mask != 3; more = cursor.next_key()) {
    const hawthorn::Result<uint64_t> count = cursor.count_values();
    if (!count.ok()) return mine->fail(count.status());
    *mask |= *count == 1 ? 1U : 2U;
  }
  return cursor.status().ok() ? MDBX_SUCCESS : mine->fail(cursor.status());
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_dbi_flags_ex(const MDBX_txn* txn, MDBX_dbi dbi, unsigned* flags, unsigned* state) try {
  const int checked =
      MDBX_txn::check(txn, MDBX_TXN_BLOCKED & ~unsigned{MDBX_TXN_ERROR | MDBX_TXN_PARKED});
  if (checked != MDBX_SUCCESS) return checked;
  TxnTable* table = nullptr;
  const int code = const_cast<MDBX_txn*>(txn)->table(dbi, &table);
  if (code != MDBX_SUCCESS) return code;
  if (flags == nullptr || state == nullptr) return MDBX_EINVAL;
  *flags = table->table->record.flags;
  *state = (table->written ? unsigned{MDBX_DBI_DIRTY} : 0U) |
           (table->made ? unsigned{MDBX_DBI_CREAT | MDBX_DBI_FRESH} : 0U);
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_dbi_sequence(MDBX_txn* txn, MDBX_dbi dbi, uint64_t* result, uint64_t increment) try {
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  TableRecord* record = nullptr;
  if (const int code = mine->record(table, &record); code != MDBX_SUCCESS) return code;
  if (result != nullptr) *result = record->sequence;
  if (increment == 0) return MDBX_SUCCESS;
  if (mine->read_only() || table->table->garbage) return MDBX_EACCESS;
  if (record->sequence + increment < increment) return MDBX_RESULT_TRUE;
  record->sequence += increment;
  table->written = true;
  return mine->write_record(table);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_cmp(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* a,
             const MDBX_val* b) HAWTHORN_MDBX_NOTHROW try {
  TxnTable* table = nullptr;
  const int code = const_cast<MDBX_txn*>(txn)->table(dbi, &table);
  return code == MDBX_SUCCESS ? table->table->compare_keys(a, b) : 0;
} catch (...) {
  return 0;
}

int mdbx_dcmp(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* a,
              const MDBX_val* b) HAWTHORN_MDBX_NOTHROW try {
  TxnTable* table = nullptr;
  const int code = const_cast<MDBX_txn*>(txn)->table(dbi, &table);
  return code == MDBX_SUCCESS ? table->table->compare_values(a, b) : 0;
} catch (...) {
  return 0;
}

mdbx_shim::PointerTo<MDBX_cmp_func> mdbx_get_keycmp(MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_shim::key_compare(flags);
}

mdbx_shim::PointerTo<MDBX_cmp_func> mdbx_get_datacmp(MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_shim::value_compare(flags);
}

int mdbx_get(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* data) try {
  if (key == nullptr || data == nullptr) return MDBX_EINVAL;
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  if (const int code = mdbx_shim::check_key(*mine, *table, *key); code != MDBX_SUCCESS) return code;
  return mine->get(table, view(*key), data);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_get_ex(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_val* key, MDBX_val* data,
                size_t* values_count) try {
  if (key == nullptr || data == nullptr) return MDBX_EINVAL;
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  OneCall cursor;
  if (const int code = cursor->bind(mine, dbi); code != MDBX_SUCCESS) return code;
  if (values_count != nullptr) *values_count = 0;
  if (const int code = cursor->get(key, data, MDBX_SET_KEY); code != MDBX_SUCCESS) return code;
  if (values_count == nullptr) return MDBX_SUCCESS;
  if (!table->table->multi()) {
    *values_count = 1;
    return MDBX_SUCCESS;
  }
  return cursor->count(values_count);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_get_equal_or_great(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_val* key, MDBX_val* data) try {
  if (key == nullptr || data == nullptr) return MDBX_EINVAL;
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  OneCall cursor;
  const int code = cursor->bind(mine, dbi);
  return code == MDBX_SUCCESS ? cursor->get(key, data, MDBX_SET_LOWERBOUND) : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_put(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* data,
             MDBX_put_flags_t flags) try {
  if (key == nullptr || data == nullptr) return MDBX_EINVAL;
  if (dbi == mdbx_shim::kGarbageDbi) return MDBX_BAD_DBI;
  if (unsigned{flags} & ~kPutFlags) return MDBX_EINVAL;
  TxnTable* table = nullptr;
  if (const int code = writing(txn, dbi, &table); code != MDBX_SUCCESS) return code;
  return Write(txn, table, nullptr).put(key, data, flags);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_del(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, const MDBX_val* data) try {
  if (key == nullptr) return MDBX_EINVAL;
  TxnTable* table = nullptr;
  if (const int code = writing(txn, dbi, &table); code != MDBX_SUCCESS) return code;
  const std::string_view value = data != nullptr ? view(*data) : std::string_view();
  return Write(txn, table, nullptr).del(view(*key), data != nullptr ? &value : nullptr);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_replace_ex(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* new_data,
                    MDBX_val* old_data, MDBX_put_flags_t wanted, MDBX_preserve_func preserver,
                    void* preserver_context) try {
  auto flags = static_cast<unsigned>(wanted);
  if (key == nullptr || old_data == nullptr || old_data == new_data) return MDBX_EINVAL;
  if (old_data->iov_base == nullptr && old_data->iov_len != 0) return MDBX_EINVAL;
  if (new_data == nullptr && (flags & (MDBX_CURRENT | MDBX_RESERVE)) != MDBX_CURRENT) {
    return MDBX_EINVAL;
  }
  if (flags & ~(kPutFlags & ~unsigned{MDBX_MULTIPLE})) return MDBX_EINVAL;
  TxnTable* table = nullptr;
  if (const int code = writing(txn, dbi, &table); code != MDBX_SUCCESS) return code;
  OneCall cursor;
  if (const int code = cursor->bind(txn, dbi); code != MDBX_SUCCESS) return code;
  MDBX_val present_key = *key;
  const bool this_value = (flags & MDBX_CURRENT) && (flags & MDBX_NOOVERWRITE);
  if (this_value) {
    // Of several values the one that `old_data` names.
    if (!table->table->multi()) return MDBX_EINVAL;
    flags &= ~unsigned{MDBX_NOOVERWRITE};
    const int code = cursor->get(&present_key, old_data, MDBX_GET_BOTH);
    if (code != MDBX_SUCCESS) return code;
  } else {
    if (new_data != nullptr && old_data->iov_base == new_data->iov_base &&
        old_data->iov_base != nullptr) {
      return MDBX_EINVAL;
    }
    MDBX_val present{};
    const int code = cursor->get(&present_key, &present, MDBX_SET_KEY);
    if (code != MDBX_SUCCESS) {
      old_data->iov_base = nullptr;
      old_data->iov_len = 0;
      if (code != MDBX_NOTFOUND || (flags & MDBX_CURRENT)) return code;
    } else if (flags & MDBX_NOOVERWRITE) {
      *old_data = present;
      return MDBX_KEYEXIST;
    } else {
      if (table->table->multi() && (flags & MDBX_CURRENT)) {
        size_t count = 0;
        if (const int failed = cursor->count(&count); failed != MDBX_SUCCESS) return failed;
        if (count > 1) return MDBX_EMULTIVAL;
      }
      if (new_data != nullptr && !(flags & MDBX_RESERVE) && view(present) == view(*new_data)) {
        *old_data = *new_data;
        return MDBX_SUCCESS;
      }
      // What was there may be overwritten in place: the caller has it kept.
      const int kept = preserver != nullptr ? preserver(preserver_context, old_data,
                                                        present.iov_base, present.iov_len)
                                            : MDBX_SUCCESS;
      if (kept != MDBX_SUCCESS) return kept;
      flags |= MDBX_CURRENT;
    }
  }
  if (new_data == nullptr) return cursor->del(flags & MDBX_ALLDUPS);
  return cursor->put(key, new_data, flags);
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_replace(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* new_data,
                 MDBX_val* old_data, MDBX_put_flags_t flags) {
  return mdbx_replace_ex(txn, dbi, key, new_data, old_data, flags, default_preserver, nullptr);
}

int mdbx_estimate_range(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* begin_key,
                        const MDBX_val* begin_data, const MDBX_val* end_key,
                        const MDBX_val* end_data, ptrdiff_t* distance_items) try {
  if (distance_items == nullptr) return MDBX_EINVAL;
  *distance_items = 0;
  if ((begin_data != nullptr && begin_key == nullptr) ||
      (end_data != nullptr && end_key == nullptr)) {
    return MDBX_EINVAL;
  }
  MDBX_txn* mine = nullptr;
  TxnTable* table = nullptr;
  if (const int code = reading(txn, dbi, &mine, &table); code != MDBX_SUCCESS) return code;
  for (const MDBX_val* key : {begin_key, end_key}) {
    if (key == nullptr || key == MDBX_EPSILON) continue;
    const int code = mdbx_shim::check_key(*mine, *table, *key);
    if (code != MDBX_SUCCESS) return code;
  }
  return mdbx_shim::count_between(mine, table, begin_key, begin_data, end_key, end_data,
                                  distance_items);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_is_dirty(const MDBX_txn* txn, const void*) HAWTHORN_MDBX_NOTHROW {
  const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED & ~MDBX_TXN_PARKED);
  if (code != MDBX_SUCCESS) return code;
  // What a transaction that writes has handed out may go with its next write.
  return txn->read_only() ? MDBX_RESULT_FALSE : MDBX_RESULT_TRUE;
}

#if HAWTHORN_MDBX_API >= 14
MDBX_cache_result_t mdbx_cache_get(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key,
                                   MDBX_val* data, volatile MDBX_cache_entry_t* entry) {
  MDBX_cache_result_t result;
  result.errcode = static_cast<MDBX_error_t>(entry == nullptr ? int{MDBX_EINVAL}
                                                              : mdbx_get(txn, dbi, key, data));
  const bool read = result.errcode == MDBX_SUCCESS || result.errcode == MDBX_NOTFOUND;
  result.status = read ? MDBX_CACHE_DIRTY : MDBX_CACHE_ERROR;
  return result;
}

MDBX_cache_result_t mdbx_cache_get_SingleThreaded(const MDBX_txn* txn, MDBX_dbi dbi,
                                                  const MDBX_val* key, MDBX_val* data,
                                                  MDBX_cache_entry_t* entry) {
  return mdbx_cache_get(txn, dbi, key, data, entry);
}
#endif
