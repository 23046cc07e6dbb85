// mdbx_env_chk: the engine's check of the files, then a walk over the entries of each table.

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <string>
#include <vector>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/transaction.h"

using hawthorn::mdbx::TableRecord;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::val;
namespace mdbx_shim = hawthorn::mdbx;

namespace {

class Check {
 public:
  Check(MDBX_env* env, const MDBX_chk_callbacks_t& callbacks, MDBX_chk_context_t* context,
        unsigned flags, unsigned timeout_16dot16)
      : env_(env), callbacks_(callbacks), context_(context), flags_(flags) {
    memset(&scope_, 0, sizeof(scope_));
    if (timeout_16dot16 != 0) {
      end_ = std::chrono::steady_clock::now() + mdbx_shim::from_16dot16(timeout_16dot16);
    }
  }

  int run() {
    context_->internal = nullptr;
    context_->env = env_;
    context_->scope = &scope_;
    context_->scope_nesting = 0;
    memset(&context_->result, 0, sizeof(context_->result));
    MDBX_txn* txn = nullptr;
    int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &txn);
    if (code != MDBX_SUCCESS) return code;
    context_->txn = txn;
    try {
      code = look_at_all(txn);
    } catch (...) {
      code = mdbx_shim::exception_code();
    }
    context_->txn = nullptr;
    txn->abort();
    context_->scope = nullptr;
    if (code != MDBX_SUCCESS) return code;
    return context_->result.total_problems > 0 ? MDBX_CORRUPTED : MDBX_SUCCESS;
  }

 private:
  int look_at_all(MDBX_txn* txn) {
    context_->result.recent_txnid = context_->result.steady_txnid = txn->id();
    int code = stage(MDBX_chk_tree, [&] { return files(txn); });
    if (code == MDBX_SUCCESS) code = stage(MDBX_chk_maindb, [&] { return table(txn, nullptr); });
    if (code == MDBX_SUCCESS) code = stage(MDBX_chk_tables, [&] { return named(txn); });
    return code;
  }

  template <typename Work>
  int stage(MDBX_chk_stage_t which, const Work& work) {
    scope_.stage = which;
    int code = callbacks_.stage_begin != nullptr ? callbacks_.stage_begin(context_, which) : 0;
    if (code == MDBX_RESULT_TRUE) return MDBX_SUCCESS;  // is to be left out
    if (code == MDBX_SUCCESS) code = work();
    if (callbacks_.stage_end != nullptr) code = callbacks_.stage_end(context_, which, code);
    return code;
  }

  bool is_to_end() {
    if (callbacks_.check_break != nullptr && callbacks_.check_break(context_)) return true;
    return end_ && std::chrono::steady_clock::now() > *end_;
  }

  void issue(const char* object, uint64_t number, const char* what, const char* format, ...) {
    ++context_->result.total_problems;
    ++scope_.subtotal_issues;
    if (callbacks_.issue == nullptr) return;
    va_list arguments;
    va_start(arguments, format);
    callbacks_.issue(context_, object, number, what, format, arguments);
    va_end(arguments);
  }

  int files(MDBX_txn* txn) {
    if (flags_ & MDBX_CHK_SKIP_BTREE_TRAVERSAL) return MDBX_SUCCESS;
    const hawthorn::Result<hawthorn::CheckReport> report = txn->db->check();
    if (!report.ok()) return mdbx_shim::to_code(report.status());
    context_->result.processed_pages =
        static_cast<size_t>(report->bytes_verified / env_->page_bytes);
    for (const std::string& error : report->errors) {
      ++context_->result.tree_problems;
      issue("file", 0, "damage", "%s", error.c_str());
    }
    return MDBX_SUCCESS;
  }

  static void count_length(MDBX_chk_histogram* histogram, size_t length) {
    ++histogram->count;
    histogram->amount += length;
    constexpr size_t kRanges = std::size(decltype(histogram->ranges){});
    for (size_t i = 0; i < kRanges; ++i) {
      auto& range = histogram->ranges[i];
      const size_t end = i + 1 == kRanges ? SIZE_MAX : size_t{16} << (2 * i);
      range.begin = i == 0 ? 0 : size_t{16} << (2 * (i - 1));
      range.end = end;
      if (length < end) {
        ++range.count;
        range.amount += length;
        return;
      }
    }
  }

  // Walks one table; the main one without a name.
  int table(MDBX_txn* txn, const MDBX_val* name) {
    ++context_->result.table_total;
    MDBX_dbi dbi = mdbx_shim::kMainDbi;
    int code = name == nullptr ? MDBX_SUCCESS : mdbx_dbi_open2(txn, name, MDBX_DB_ACCEDE, &dbi);
    if (code != MDBX_SUCCESS) return code;
    TxnTable* open = nullptr;
    code = txn->table(dbi, &open);
    if (code != MDBX_SUCCESS) return code;
    MDBX_chk_table_t told;
    memset(&told, 0, sizeof(told));
    told.id = static_cast<int>(dbi);
    told.name = name != nullptr ? *name : MDBX_val{};
    told.flags = static_cast<MDBX_db_flags_t>(open->table->record.flags);
    if (callbacks_.table_filter != nullptr) {
      told.cookie = callbacks_.table_filter(context_, &told.name, told.flags);
      if (told.cookie == nullptr) return MDBX_SUCCESS;
    }
    MDBX_cursor cursor(nullptr);
    code = cursor.bind(txn, dbi);
    if (code == MDBX_SUCCESS && !(flags_ & MDBX_CHK_SKIP_KV_TRAVERSAL)) code = walk(&cursor, &told);
    ++context_->result.table_processed;
    context_->result.total_payload_bytes += told.payload_bytes;
    if (callbacks_.table_conclude != nullptr) {
      code = callbacks_.table_conclude(context_, &told, &cursor, code);
    }
    if (callbacks_.table_dispose != nullptr) callbacks_.table_dispose(context_, &told);
    cursor.unbind();
    return code;
  }

  int walk(MDBX_cursor* cursor, MDBX_chk_table_t* told) {
    hawthorn::Cursor& entries = cursor->moved();
    std::string last_key;
    std::string last_value;
    size_t number = 0;
    for (bool more = entries.first(); more; more = entries.next()) {
      if (number % 1024 == 0 && is_to_end()) return MDBX_EINTR;
      const MDBX_val key = val(entries.key());
      const MDBX_val value = val(entries.value());
      told->payload_bytes += key.iov_len + value.iov_len;
      count_length(&told->histogram.key_len, key.iov_len);
      count_length(&told->histogram.val_len, value.iov_len);
      if (number > 0 && !(flags_ & MDBX_CHK_IGNORE_ORDER)) {
        int order = cursor->compare_keys(last_key, entries.key());
        if (order == 0 && cursor->multi()) {
          order = cursor->compare_values(last_value, entries.value());
        }
        if (order >= 0) {
          ++context_->result.kv_tree_problems;
          ++context_->result.problems_kv;
          issue("entry", number, "is not behind the one before it", "%s", "");
        }
      }
      if (callbacks_.table_handle_kv != nullptr) {
        const int code = callbacks_.table_handle_kv(context_, told, number, &key, &value);
        if (code != MDBX_SUCCESS) return code;
      }
      last_key = entries.key();
      last_value = entries.value();
      ++number;
    }
    if (entries.status().ok()) return MDBX_SUCCESS;
    ++context_->result.kv_tree_problems;
    issue("entry", number, "cannot be read", "%s", entries.status().to_string().c_str());
    return MDBX_SUCCESS;
  }

  int named(MDBX_txn* txn) {
    std::vector<std::string> all;
    int code = txn->names([&](std::string_view name, const TableRecord&) {
      all.emplace_back(name);
      return MDBX_SUCCESS;
    });
    for (const std::string& name : all) {
      const MDBX_val bytes = val(name);
      if (code == MDBX_SUCCESS) code = table(txn, &bytes);
    }
    return code;
  }

  MDBX_env* env_;
  const MDBX_chk_callbacks_t& callbacks_;
  MDBX_chk_context_t* context_;
  unsigned flags_;
  MDBX_chk_scope_t scope_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace

int mdbx_env_chk(MDBX_env* env, const MDBX_chk_callbacks_t* cb, MDBX_chk_context_t* ctx,
                 const MDBX_chk_flags_t flags, MDBX_chk_severity_t,
                 unsigned timeout_seconds_16dot16) try {
  if (env == nullptr || cb == nullptr || ctx == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  if (!env->is_open()) return MDBX_EPERM;
  return Check(env, *cb, ctx, flags, timeout_seconds_16dot16).run();
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_chk_encount_problem(MDBX_chk_context_t* ctx) {
  if (ctx == nullptr || ctx->scope == nullptr) return MDBX_EINVAL;
  ++ctx->result.total_problems;
  ++ctx->scope->subtotal_issues;
  return MDBX_SUCCESS;
}

#if HAWTHORN_MDBX_API >= 14
int mdbx_gc_info(MDBX_txn* txn, MDBX_gc_info_t* info, size_t, MDBX_gc_iter_func, void*) {
  const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED);
  if (code != MDBX_SUCCESS) return code;
  return info == nullptr ? int{MDBX_EINVAL} : int{MDBX_ENOSYS};
}
#endif
