// The functions of cursors.

#include <cerrno>
#include <memory>

#include "shims/mdbx/src/lmdb/layer.h"
#include "shims/mdbx/src/writes.h"

namespace hawthorn::lmdb {
namespace {

constexpr unsigned kCursorPutFlags = MDB_NOOVERWRITE | MDB_NODUPDATA | MDB_CURRENT | MDB_RESERVE |
                                     MDB_APPEND | MDB_APPENDDUP | MDB_MULTIPLE;

static_assert(MDB_NOOVERWRITE == MDBX_NOOVERWRITE && MDB_NODUPDATA == MDBX_NODUPDATA);
static_assert(MDB_CURRENT == MDBX_CURRENT && MDB_RESERVE == MDBX_RESERVE);
static_assert(MDB_APPEND == MDBX_APPEND && MDB_APPENDDUP == MDBX_APPENDDUP);
static_assert(MDB_MULTIPLE == MDBX_MULTIPLE);
static_assert(int{MDB_FIRST} == int{MDBX_FIRST} && int{MDB_GET_BOTH} == int{MDBX_GET_BOTH});
static_assert(int{MDB_LAST} == int{MDBX_LAST} && int{MDB_NEXT} == int{MDBX_NEXT});
static_assert(int{MDB_PREV} == int{MDBX_PREV} && int{MDB_SET} == int{MDBX_SET});
static_assert(int{MDB_SET_RANGE} == int{MDBX_SET_RANGE});
static_assert(int{MDB_PREV_MULTIPLE} == int{MDBX_PREV_MULTIPLE});

// What LMDB asks for before an operation.
int check_operation(const MDBX_cursor& cursor, const MDB_val* key, const MDB_val* data,
                    MDB_cursor_op operation) {
  const bool fresh = cursor.place == mdbx::Place::kFresh || cursor.place == mdbx::Place::kNowhere;
  switch (operation) {
    case MDB_FIRST_DUP:
    case MDB_LAST_DUP:
      if (data == nullptr) return EINVAL;
      if (!cursor.multi()) return fresh ? EINVAL : MDB_INCOMPATIBLE;
      return fresh ? EINVAL : MDB_SUCCESS;
    case MDB_GET_BOTH:
    case MDB_GET_BOTH_RANGE:
      if (data == nullptr) return EINVAL;
      if (!cursor.multi()) return MDB_INCOMPATIBLE;
      [[fallthrough]];
    case MDB_SET:
    case MDB_SET_KEY:
    case MDB_SET_RANGE:
      if (key == nullptr) return EINVAL;
      if (key->mv_size == 0) return MDB_BAD_VALSIZE;
      return MDB_SUCCESS;
    case MDB_GET_MULTIPLE:
      return data == nullptr || fresh ? EINVAL : MDB_SUCCESS;
    default:
      return MDB_SUCCESS;
  }
}

// Behind a delete a cursor is on the next entry, if there is one.
int leave_gap(MDBX_cursor& cursor) {
  if (cursor.place == mdbx::Place::kAt && cursor.among != mdbx::Among::kOn) cursor.look();
  if (cursor.place == mdbx::Place::kEnd) return MDB_NOTFOUND;
  if (cursor.place != mdbx::Place::kGap) return MDB_SUCCESS;
  return answer(cursor.get(nullptr, nullptr, MDBX_GET_CURRENT));
}

}  // namespace
}  // namespace hawthorn::lmdb

using hawthorn::lmdb::answer;
using hawthorn::lmdb::core;
using hawthorn::lmdb::TxnTable;
using hawthorn::mdbx::Among;
using hawthorn::mdbx::Place;
namespace lmdb_shim = hawthorn::lmdb;

int mdb_cursor_open(MDB_txn* txn, MDB_dbi dbi, MDB_cursor** cursor) try {
  if (txn == nullptr || cursor == nullptr) return EINVAL;
  TxnTable* table = nullptr;
  MDBX_txn* const mine = core(txn);
  if (const int code = MDBX_txn::check(mine, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) {
    return answer(code);
  }
  if (dbi == hawthorn::mdbx::kGarbageDbi && !mine->read_only()) return EINVAL;
  const int code = lmdb_shim::find(mine, dbi, !mine->read_only(), &table);
  if (code != MDB_SUCCESS) return code;
  auto made = std::make_unique<MDBX_cursor>(nullptr);
  const int bound = made->bind(mine, dbi);
  if (bound == MDBX_SUCCESS) *cursor = reinterpret_cast<MDB_cursor*>(made.release());
  return answer(bound);
} catch (...) {
  return lmdb_shim::exception_code();
}

void mdb_cursor_close(MDB_cursor* cursor) {
  if (cursor != nullptr) mdbx_cursor_close(core(cursor));
}

int mdb_cursor_renew(MDB_txn* txn, MDB_cursor* cursor) try {
  if (txn == nullptr || cursor == nullptr) return EINVAL;
  MDBX_cursor& mine = *core(cursor);
  MDBX_txn* const reader = core(txn);
  if (!reader->read_only() || (mine.txn != nullptr && !mine.txn->read_only())) return EINVAL;
  if (const int code = MDBX_txn::check(reader, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) {
    return answer(code);
  }
  TxnTable* table = nullptr;
  const int code = lmdb_shim::find(reader, mine.dbi, false, &table);
  if (code != MDB_SUCCESS) return code;
  // As one that was just made.
  mine.unbind();
  return answer(mine.bind(reader, mine.dbi));
} catch (...) {
  return lmdb_shim::exception_code();
}

MDB_txn* mdb_cursor_txn(MDB_cursor* cursor) {
  return cursor != nullptr ? reinterpret_cast<MDB_txn*>(core(cursor)->txn) : nullptr;
}

MDB_dbi mdb_cursor_dbi(MDB_cursor* cursor) { return core(cursor)->dbi; }

int mdb_cursor_get(MDB_cursor* cursor, MDB_val* key, MDB_val* data, MDB_cursor_op op) try {
  if (const int code = lmdb_shim::check(core(cursor), false); code != MDB_SUCCESS) return code;
  MDBX_cursor& mine = *core(cursor);
  if (unsigned{op} > unsigned{MDB_PREV_MULTIPLE}) return EINVAL;
  const int checked = lmdb_shim::check_operation(mine, key, data, op);
  if (checked != MDB_SUCCESS) return checked;
  if (op == MDB_FIRST_DUP || op == MDB_LAST_DUP) {
    const int code = lmdb_shim::leave_gap(mine);
    if (code != MDB_SUCCESS) return code;
  }
  MDBX_val same_key = key != nullptr ? core(*key) : MDBX_val{};
  MDBX_val value = data != nullptr ? core(*data) : MDBX_val{};
  if (op == MDB_PREV_MULTIPLE && mine.place == Place::kFresh) {
    if (const int code = mine.get(nullptr, nullptr, MDBX_LAST); code != MDBX_SUCCESS) {
      return answer(code);
    }
  }
  const int code =
      mine.get(&same_key, data != nullptr ? &value : nullptr, static_cast<MDBX_cursor_op>(op));
  if (code != MDBX_SUCCESS) return answer(code);
  if (op != MDB_SET) lmdb_shim::give(same_key, key);
  lmdb_shim::give(value, data);
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_cursor_put(MDB_cursor* cursor, MDB_val* key, MDB_val* data, unsigned int flags) try {
  if (key == nullptr || data == nullptr || (flags & ~lmdb_shim::kCursorPutFlags)) return EINVAL;
  if (const int code = lmdb_shim::check(core(cursor), true); code != MDB_SUCCESS) return code;
  MDBX_cursor& mine = *core(cursor);
  const bool several = (flags & MDB_MULTIPLE) != 0;
  if (mine.multi() && (flags & MDB_RESERVE)) return MDB_INCOMPATIBLE;
  if (key->mv_size == 0 || key->mv_size > lmdb_shim::kKeyMax ||
      (mine.multi() && data->mv_size > lmdb_shim::kKeyMax)) {
    if (several) data[1].mv_size = 0;
    return MDB_BAD_VALSIZE;
  }
  // To append a value is not to replace one.
  if (flags & MDB_APPENDDUP) flags &= ~unsigned{MDB_CURRENT};
  if ((flags & MDB_CURRENT) && (mine.place == Place::kFresh || mine.place == Place::kNowhere)) {
    return EINVAL;
  }
  const MDBX_val same_key = core(*key);
  const int settled = lmdb_shim::settle_orders(mine.txn, mine.dbi, same_key, core(*data));
  if (settled != MDB_SUCCESS) return settled;
  MDBX_val values[2] = {core(data[0]), several ? core(data[1]) : MDBX_val{}};
  const int code = mine.put(&same_key, values, flags);
  if (several) data[1].mv_size = code == MDBX_INCOMPATIBLE ? 0 : values[1].iov_len;
  if (code == MDBX_EKEYMISMATCH && (flags & MDB_CURRENT)) return EINVAL;
  if (!several && (code == MDBX_KEYEXIST || (code == MDBX_SUCCESS && (flags & MDB_RESERVE)))) {
    lmdb_shim::give(values[0], data);
  }
  return answer(code);
} catch (...) {
  return lmdb_shim::fail_by_exception(core(cursor)->txn);
}

int mdb_cursor_del(MDB_cursor* cursor, unsigned int flags) try {
  if (const int code = lmdb_shim::check(core(cursor), true); code != MDB_SUCCESS) return code;
  MDBX_cursor& mine = *core(cursor);
  if (const int code = lmdb_shim::leave_gap(mine); code != MDB_SUCCESS) return code;
  if (mine.place == Place::kAt && mine.among != Among::kOn && (flags & MDB_NODUPDATA)) {
    // The value is gone, and the key has others.
    const std::string key(mine.current_key());
    return answer(hawthorn::mdbx::Write(mine.txn, mine.table, &mine).del(key, nullptr));
  }
  if (mine.place == Place::kAt && mine.among == Among::kLast) return MDB_NOTFOUND;
  return answer(mine.del(flags & MDB_NODUPDATA));
} catch (...) {
  return lmdb_shim::fail_by_exception(core(cursor)->txn);
}

int mdb_cursor_count(MDB_cursor* cursor, size_t* countp) try {
  if (countp == nullptr) return EINVAL;
  if (const int code = lmdb_shim::check(core(cursor), false); code != MDB_SUCCESS) return code;
  MDBX_cursor& mine = *core(cursor);
  if (!mine.multi()) return MDB_INCOMPATIBLE;
  if (mine.place == Place::kFresh || mine.place == Place::kNowhere) return EINVAL;
  if (const int code = lmdb_shim::leave_gap(mine); code != MDB_SUCCESS) return code;
  return answer(mine.count(countp));
} catch (...) {
  return lmdb_shim::exception_code();
}
