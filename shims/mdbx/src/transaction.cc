#include "shims/mdbx/src/transaction.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/debug.h"

namespace hawthorn::mdbx {
namespace {

// What a writing transaction has handed out goes with the next write, from so much on.
constexpr size_t kCopiesOfWriters = size_t{1} << 20;

}  // namespace

}  // namespace hawthorn::mdbx

namespace {

// Of a commit, where somebody asks: a look at the clock is a good part of a small one.
class CommitWatch {
 public:
  explicit CommitWatch(bool asked) {
    if (asked) began_ = std::chrono::steady_clock::now();
  }
  uint32_t seconds() const { return hawthorn::mdbx::seconds_since(began_); }

 private:
  std::chrono::steady_clock::time_point began_;
};

}  // namespace

using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::mdbx::TxnTable;
namespace mdbx_shim = hawthorn::mdbx;

int MDBX_txn::check(const MDBX_txn* txn, unsigned bad) {
  if (txn == nullptr) return MDBX_EINVAL;
  if (txn->signature != mdbx_shim::kTransactionSignature) return MDBX_EBADSIGN;
  if (bad != 0) {
    if (!txn->env->is_open()) return MDBX_EPERM;
    const unsigned met = txn->flags & bad;
    if (met != 0) {
      if (met & MDBX_TXN_RDONLY) return MDBX_EACCESS;
      if (met != MDBX_TXN_PARKED) return MDBX_BAD_TXN;
      if (!txn->auto_unpark) return MDBX_BAD_TXN;
      const int code = const_cast<MDBX_txn*>(txn)->unpark(false);
      if (code != MDBX_SUCCESS) return code;
    }
  }
  const bool ending_a_finished_reader =
      bad == 0 && txn->read_only() && (txn->flags & MDBX_TXN_FINISHED) != 0;
  if (!(txn->env->flags & MDBX_NOSTICKYTHREADS) && !txn->env->lmdb && !ending_a_finished_reader &&
      txn->owner != std::this_thread::get_id()) {
    return txn->owner == std::thread::id() ? MDBX_BAD_TXN : MDBX_THREAD_MISMATCH;
  }
  return MDBX_SUCCESS;
}

int MDBX_txn::check_write(const MDBX_txn* txn, unsigned bad) {
  return check(txn, (bad | MDBX_TXN_RDONLY) & ~unsigned{MDBX_TXN_PARKED});
}

// Forgets what it knows of tables, where some have changed their name or shape since it knew it.
void MDBX_txn::see_renames() {
  const uint64_t now = env->renames.load(std::memory_order_acquire);
  if (now != renames_before) tables.clear();
  renames_before = now;
}

int MDBX_txn::begin_look() try {
  see_renames();
  if (owner == std::thread::id()) owner = std::this_thread::get_id();  // of no reader
  begun_behind.store(env->last_txnid.load(std::memory_order_acquire), std::memory_order_relaxed);
  commits_before = env->commits.load(std::memory_order_acquire);
  if (const int code = env->view(&db, &followed); code != MDBX_SUCCESS) return code;
  moment = std::make_shared<hawthorn::Snapshot>(db->snapshot());
  if (moment->valid()) return MDBX_SUCCESS;
  // It does not say why there is none.
  hawthorn::Value unused;
  const Status asked = db->get(env->catalog, mdbx_shim::kMainKey, unused);
  return asked.is(StatusCode::kOutOfMemory) ? MDBX_ENOMEM : MDBX_PANIC;
} catch (...) {
  return mdbx_shim::exception_code();
}

int MDBX_txn::begin_read(bool beside_the_writer) {
  flags = (flags & ~unsigned{MDBX_TXN_BLOCKED}) | MDBX_TXN_RDONLY;
  if (!beside_the_writer && !(env->flags & MDBX_NOSTICKYTHREADS) && !env->lmdb &&
      env->writer.held_by_this_thread() && !(mdbx_shim::debug_flags() & MDBX_DBG_LEGACY_OVERLAP)) {
    return MDBX_TXN_OVERLAPPING;
  }
  owner = std::this_thread::get_id();
  owner_thread = pthread_self();
  if (const int code = env->add_reader(this); code != MDBX_SUCCESS) return code;
  const int code = begin_look();
  if (code != MDBX_SUCCESS) {
    end_engine();
    env->remove_reader(this);
  }
  return code;
}

int MDBX_txn::begin_clone(const MDBX_txn& origin) {
  flags = MDBX_TXN_RDONLY | (origin.read_only() ? origin.flags & unsigned{MDBX_TXN_PARKED} : 0U);
  auto_unpark = origin.auto_unpark;
  owner = std::this_thread::get_id();
  owner_thread = pthread_self();
  if (const int code = env->add_reader(this); code != MDBX_SUCCESS) return code;
  int code = MDBX_SUCCESS;
  if (origin.read_only()) {
    db = origin.db;
    followed = origin.followed;
    commits_before = origin.commits_before;
    begun_behind.store(origin.begun_behind.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
    moment = origin.moment;
  } else {
    code = begin_look();
  }
  if (code != MDBX_SUCCESS) {
    end_engine();
    env->remove_reader(this);
  }
  return code;
}

int MDBX_txn::renew() {
  std::list<MDBX_txn*> place = env->take_dormant(this);
  const int code = begin_read(false);
  if (code == MDBX_SUCCESS) return code;
  flags |= MDBX_TXN_FINISHED;
  owner = {};
  env->give_dormant(&place);
  return code;
}

uint64_t MDBX_txn::id() {
  if (txnid == 0) static_cast<void>(read_number(mdbx_shim::kTxnIdKey, &txnid));
  return txnid;
}

int MDBX_txn::begin_write() try {
  see_renames();
  dropped.clear();
  owner = std::this_thread::get_id();
  if (const int code = env->take_over(); code != MDBX_SUCCESS) return code;
  // Nobody but this environment writes, so nothing is to be waited for but background work.
  env->make_room(this);
  commits_before = env->commits.load(std::memory_order_acquire);
  db = env->db.get();
  Result<hawthorn::Transaction> begun =
      db->begin({.mode = hawthorn::TxnMode::kExclusive, .lock_timeout_ms = 60'000});
  if (!begun.ok()) return mdbx_shim::to_code(begun.status());
  engine = std::move(*begun);
  txnid = env->last_txnid.load(std::memory_order_relaxed) + 1;
  env->write_txn = this;
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

void MDBX_txn::end_cursors() {
  for (auto& table : tables) {
    if (table == nullptr) continue;
    table->scratch.reset();
    while (table->cursors != nullptr) {
      MDBX_cursor* const cursor = table->cursors;
      cursor->unbind();
      // Of LMDB, a cursor of a transaction that writes ends with it.
      if (env->lmdb && !read_only()) delete cursor;
    }
  }
}

void MDBX_txn::end_engine() {
  value.reset();
  copies.clear();
  if (!read_only()) engine = hawthorn::Transaction();
  moment.reset();
  db = nullptr;
  followed.reset();
}

// What became of tables that this transaction has made, dropped or renamed, for the others.
void MDBX_txn::settle(bool committed) {
  const std::lock_guard<std::mutex> guard(env->mutex);
  const uint64_t commits = env->commits.load(std::memory_order_relaxed);
  for (size_t dbi = 0; dbi < tables.size(); ++dbi) {
    TxnTable* const mine = tables[dbi].get();
    if (mine == nullptr || mine->table == nullptr) continue;
    auto& handle = env->handles[dbi];
    if (handle.generation.load(std::memory_order_relaxed) != mine->generation) continue;
    if (!committed) {
      if (!mine->made) continue;
      env->renames.fetch_add(1, std::memory_order_acq_rel);
      if (mine->before == nullptr) {
        env->forget(static_cast<MDBX_dbi>(dbi));
      } else {
        handle.table = mine->before;
      }
      continue;
    }
    if (mine->gone) continue;
    if (handle.table != mine->table || mine->made) {
      env->renames.fetch_add(1, std::memory_order_acq_rel);
    }
    handle.table = mine->table;  // renamed, or with other flags
    if (mine->made) mine->table->since.store(commits, std::memory_order_release);
    if (!mine->written) continue;
    mine->table->txnid.store(txnid, std::memory_order_relaxed);
    mine->table->unwritten_above = txnid;
    mine->table->entries = mine->entries;
  }
  if (!committed || dropped.empty()) return;
  for (MDBX_dbi dbi = mdbx_shim::kCoreDbis; dbi < env->handle_count; ++dbi) {
    const Table* const table = env->handles[dbi].table.get();
    if (table != nullptr &&
        std::find(dropped.begin(), dropped.end(), table->record.id) != dropped.end()) {
      env->forget(dbi);
    }
  }
}

// Who begins behind the commit looks whether the tables are there, before their handles are closed.
void MDBX_txn::announce_drops() {
  const std::lock_guard<std::mutex> guard(env->mutex);
  for (MDBX_dbi dbi = mdbx_shim::kCoreDbis; dbi < env->handle_count; ++dbi) {
    auto& handle = env->handles[dbi];
    if (handle.table == nullptr ||
        std::find(dropped.begin(), dropped.end(), handle.table->record.id) == dropped.end()) {
      continue;
    }
    handle.table->since.store(UINT64_MAX, std::memory_order_release);
    const uint32_t now = handle.generation.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (dbi < tables.size() && tables[dbi] != nullptr) tables[dbi]->generation = now;
  }
}

void MDBX_txn::announce_writes() {
  const std::lock_guard<std::mutex> guard(env->mutex);
  for (const auto& mine : tables) {
    if (mine == nullptr || mine->table == nullptr || !mine->written) continue;
    mine->table->unwritten_above = txnid;
    mine->table->entries.reset();
  }
}

// The part of a commit that writes. The engine's transaction has ended when it returns.
int MDBX_txn::write_out(MDBX_commit_latency* latency) {
  end_cursors();
  value.reset();
  int code = MDBX_SUCCESS;
  if (flags & MDBX_TXN_DIRTY) {
    const CommitWatch preparing(latency != nullptr);
    Status s;
    try {
      code = open_catalog();
      if (code == MDBX_SUCCESS) s = engine.finish_reserve();
      if (code == MDBX_SUCCESS && s.ok()) {
        s = engine.put(catalog, mdbx_shim::kTxnIdKey, mdbx_shim::stored(txnid));
      }
    } catch (...) {
      code = mdbx_shim::exception_code();
    }
    if (latency != nullptr) latency->preparation = preparing.seconds();
    const CommitWatch writing(latency != nullptr);
    const hawthorn::Durability durability = env->durability(flags);
    if (code == MDBX_SUCCESS && s.ok() && !dropped.empty()) announce_drops();
    if (code == MDBX_SUCCESS && s.ok()) announce_writes();
    if (code == MDBX_SUCCESS && s.ok()) s = engine.commit(durability);
    if (latency != nullptr) {
      (durability == hawthorn::Durability::kFull ? latency->sync : latency->write) =
          writing.seconds();
    }
    if (!s.ok()) {
      mdbx_shim::tell(MDBX_LOG_ERROR, "commit: ", s);
      code = mdbx_shim::to_code(s);
    }
    if (code == MDBX_SUCCESS) {
      env->last_txnid.store(txnid, std::memory_order_release);
      env->commits.fetch_add(1, std::memory_order_acq_rel);
      env->written_by_last = written_bytes;
      settle(true);
      if (durability != hawthorn::Durability::kFull) {
        code = env->sync_by_threshold(written_bytes + 1);
      }
    } else {
      settle(false);
      env->next_table = 0;
    }
  } else {
    settle(true);
  }
  end_engine();
  return code;
}

void MDBX_txn::release_writer() {
  recycle();
  signature = 0;
  env->write_txn = nullptr;
  env->spare.reset(this);
  env->writer.unlock();
}

// What it knows of tables is good for the next transaction, too, where that sees what it has seen
// and what was committed since: but of what was made, renamed or dropped.
void MDBX_txn::recycle() {
  for (auto& table : tables) {
    if (table == nullptr) continue;
    table->scratch.reset();
    if (table->made || table->gone) {
      table.reset();
      continue;
    }
    table->record.reset();
    table->entries.reset();
    table->written = false;
  }
  canary_known = false;
  written_bytes = 0;
}

int MDBX_txn::commit(MDBX_commit_latency* latency) {
  const CommitWatch whole(latency != nullptr);
  if (latency != nullptr) memset(latency, 0, sizeof(*latency));
  const auto ended = [&](int code) {
    if (latency != nullptr) latency->whole = latency->ending = whole.seconds();
    return code;
  };
  if (read_only()) {
    const bool bad = (flags & (MDBX_TXN_ERROR | MDBX_TXN_FINISHED)) != 0;
    abort();
    return ended(bad ? MDBX_RESULT_TRUE : MDBX_SUCCESS);
  }
  if (flags & MDBX_TXN_ERROR) {
    abort();
    return ended(MDBX_RESULT_TRUE);
  }
  if (child != nullptr) {
    if (const int code = child->commit(nullptr); code != MDBX_SUCCESS) {
      abort();
      return ended(code);
    }
  }
  if (parent != nullptr) {
    give_cursors_back(true);
    end_cursors();
    value.reset();
    int code = MDBX_SUCCESS;
    try {
      make_room_in_parent();
      code = mdbx_shim::to_code(engine.commit());
    } catch (...) {
      code = mdbx_shim::exception_code();
    }
    if (code != MDBX_SUCCESS) {
      abort();
      return ended(code);
    }
    merge_into_parent();
    parent->child = nullptr;
    parent->flags &= ~unsigned{MDBX_TXN_HAS_CHILD};
    env->write_txn = parent;
    signature = 0;
    delete this;
    return ended(MDBX_SUCCESS);
  }
  const int code = write_out(latency);
  release_writer();
  if (latency != nullptr) latency->whole = whole.seconds();
  return code;
}

int MDBX_txn::begin_again() {
  tables.clear();
  catalog = {};
  canary_known = false;
  written_bytes = 0;
  flags &= MDBX_TXN_NOMETASYNC | MDBX_TXN_NOSYNC;
  const int code = begin_write();
  if (code != MDBX_SUCCESS) release_writer();
  return code;
}

int MDBX_txn::checkpoint(unsigned weaker, MDBX_commit_latency* latency) {
  if (!(flags & MDBX_TXN_DIRTY)) return MDBX_RESULT_TRUE;
  const auto began = std::chrono::steady_clock::now();
  const unsigned own = flags & (MDBX_TXN_NOMETASYNC | MDBX_TXN_NOSYNC);
  flags |= weaker;
  const int code = write_out(latency);
  if (latency != nullptr) latency->whole = mdbx_shim::seconds_since(began);
  if (code != MDBX_SUCCESS) {
    release_writer();
    return code;
  }
  flags = own;
  return begin_again();
}

int MDBX_txn::rollback() {
  end_cursors();
  settle(false);
  env->next_table = 0;
  end_engine();
  return begin_again();
}

int MDBX_txn::commit_and_read(MDBX_txn** out, MDBX_commit_latency* latency) {
  if (!(flags & MDBX_TXN_DIRTY)) return MDBX_RESULT_TRUE;
  auto next = std::make_unique<MDBX_txn>(env, unsigned{MDBX_TXN_RDONLY}, userctx);
  int code = write_out(latency);
  if (code == MDBX_SUCCESS) {
    code = next->begin_read(true);
    if (code == MDBX_SUCCESS) *out = next.release();
  }
  if (code != MDBX_SUCCESS) *out = nullptr;
  release_writer();
  return code;
}

int MDBX_txn::abort() {
  if (child != nullptr) child->abort();
  give_cursors_back(false);
  end_cursors();
  if (read_only()) {
    if (!(flags & MDBX_TXN_FINISHED)) {
      env->remove_reader(this);
    } else {
      const std::lock_guard<std::mutex> guard(env->mutex);
      env->dormant.remove(this);
    }
    end_engine();
  } else {
    settle(false);
    end_engine();
    env->write_txn = parent;
    if (parent == nullptr) {
      env->next_table = 0;
      release_writer();
      return MDBX_SUCCESS;
    }
    parent->child = nullptr;
    parent->flags &= ~unsigned{MDBX_TXN_HAS_CHILD};
  }
  signature = 0;
  delete this;
  return MDBX_SUCCESS;
}

void MDBX_txn::finish_for_close() {
  if (parent == nullptr || child == nullptr) abort();
}

void MDBX_txn::reset() {
  if (flags & MDBX_TXN_FINISHED) return;
  // Cursors stay, unbound, and can be renewed with it.
  end_cursors();
  env->move_to_dormant(this);
  if (followed != nullptr) tables.clear();
  recycle();
  end_engine();
  catalog = {};
  txnid = 0;
  canary_known = false;
  owner = {};
  flags = (flags & ~unsigned{MDBX_TXN_BLOCKED}) | MDBX_TXN_FINISHED;
}

int MDBX_txn::park(bool unpark_by_use) {
  auto_unpark = unpark_by_use;
  flags |= MDBX_TXN_PARKED;
  parked.store(Parked::kParked, std::memory_order_release);
  return MDBX_SUCCESS;
}

int MDBX_txn::unpark(bool restart) {
  if (!(flags & MDBX_TXN_PARKED)) return MDBX_SUCCESS;
  flags &= ~unsigned{MDBX_TXN_PARKED};
  Parked expected = Parked::kParked;
  if (parked.compare_exchange_strong(expected, Parked::kNot)) return MDBX_SUCCESS;
  while (parked.load(std::memory_order_acquire) != Parked::kOusted) std::this_thread::yield();
  parked.store(Parked::kNot, std::memory_order_relaxed);
  reset();
  flags |= MDBX_TXN_OUSTED;
  if (!restart) return MDBX_OUSTED;
  const int code = renew();
  return code == MDBX_SUCCESS ? MDBX_RESULT_TRUE : code;
}

bool MDBX_txn::oust() {
  Parked expected = Parked::kParked;
  if (!parked.compare_exchange_strong(expected, Parked::kBeingOusted)) return false;
  for (auto& table : tables) {
    if (table == nullptr) continue;
    table->scratch.reset();
    each_cursor(table.get(), [](MDBX_cursor& cursor) { cursor.let_go(); });
  }
  end_engine();
  parked.store(Parked::kOusted, std::memory_order_release);
  return true;
}

void MDBX_txn::wrote(TxnTable* found, uint64_t bytes, std::optional<int64_t> more) {
  found->written = true;
  if (!more) {
    found->entries.reset();
  } else if (found->entries) {
    *found->entries += static_cast<uint64_t>(*more);
  }
  flags |= MDBX_TXN_DIRTY;
  written_bytes += bytes;
  each_cursor(found, [](MDBX_cursor& cursor) { cursor.table_written(); });
}

void MDBX_txn::let_copies_go() {
  if (copies.bytes() > mdbx_shim::kCopiesOfWriters) copies.clear();
}

int MDBX_txn::fail(const Status& status) {
  if (status.is_not_found()) return MDBX_NOTFOUND;
  if (!status.is(StatusCode::kInvalidArgument) && !status.is(StatusCode::kNotSupported)) {
    flags |= MDBX_TXN_ERROR;
  }
  mdbx_shim::tell(MDBX_LOG_WARN, "", status);
  return mdbx_shim::to_code(status);
}

int MDBX_txn::has_room(uint64_t bytes) {
  if (env->has_much_room(bytes)) return MDBX_SUCCESS;
  const uint64_t upper = env->geometry.upper;
  if (upper == 0 || env->used_bytes() + bytes <= upper) return MDBX_SUCCESS;
  flags |= MDBX_TXN_ERROR;
  return MDBX_MAP_FULL;
}

int MDBX_txn::finish_reserve() {
  if (read_only()) return MDBX_SUCCESS;
  const Status s = engine.finish_reserve();
  return s.ok() ? MDBX_SUCCESS : fail(s);
}

int MDBX_txn::open_catalog() {
  if (catalog.valid()) return MDBX_SUCCESS;
  if (followed == nullptr && env->catalog.valid()) {
    catalog = env->catalog;
    return MDBX_SUCCESS;
  }
  Result<hawthorn::Tree> tree = find_tree(mdbx_shim::kCatalog);
  if (!tree.ok()) return fail(tree.status());
  catalog = *tree;
  return MDBX_SUCCESS;
}

int MDBX_txn::read_number(std::string_view key, uint64_t* number) {
  *number = 0;
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  hawthorn::Value bytes;
  const Status s = read(catalog, key, bytes);
  if (s.is_not_found()) return MDBX_SUCCESS;
  if (!s.ok()) return fail(s);
  memcpy(number, bytes.view().data(), std::min(bytes.size(), sizeof(*number)));
  return MDBX_SUCCESS;
}

int MDBX_txn::canary(MDBX_canary* out) {
  if (!canary_known) {
    if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
    hawthorn::Value bytes;
    const Status s = read(catalog, mdbx_shim::kCanaryKey, bytes);
    if (!s.ok() && !s.is_not_found()) return fail(s);
    own_canary = {};
    if (bytes.size() == sizeof(own_canary)) {
      memcpy(&own_canary, bytes.view().data(), sizeof(own_canary));
    }
    canary_known = true;
  }
  *out = own_canary;
  return MDBX_SUCCESS;
}

int MDBX_txn::set_canary(const MDBX_canary* wanted) {
  MDBX_canary now;
  if (const int code = canary(&now); code != MDBX_SUCCESS) return code;
  if (wanted != nullptr) {
    if (wanted->x == now.x && wanted->y == now.y && wanted->z == now.z) return MDBX_SUCCESS;
    now.x = wanted->x;
    now.y = wanted->y;
    now.z = wanted->z;
  }
  now.v = txnid;
  const Status s = engine.put(catalog, mdbx_shim::kCanaryKey, mdbx_shim::stored(now));
  if (!s.ok()) return fail(s);
  own_canary = now;
  flags |= MDBX_TXN_DIRTY;
  return MDBX_SUCCESS;
}

void MDBX_txn::attach(MDBX_cursor* cursor) {
  cursor->previous = nullptr;
  cursor->next = cursor->table->cursors;
  if (cursor->next != nullptr) cursor->next->previous = cursor;
  cursor->table->cursors = cursor;
}

void MDBX_txn::detach(MDBX_cursor* cursor) {
  (cursor->previous != nullptr ? cursor->previous->next : cursor->table->cursors) = cursor->next;
  if (cursor->next != nullptr) cursor->next->previous = cursor->previous;
  cursor->next = cursor->previous = nullptr;
}
