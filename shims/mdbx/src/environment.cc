#include "shims/mdbx/src/environment.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {
namespace {

constexpr int kNewMsMax = 10'000;

// Of a database that another process has made just now, and not put anything into.
bool is_empty(Db& database) {
  const Result<std::vector<std::string>> trees = database.list_trees();
  return trees.ok() && trees->empty();
}

constexpr uint64_t kMemoryMin = uint64_t{64} << 20;
constexpr uint64_t kMemoryMax = uint64_t{4} << 30;

// A sixteenth of the machine's memory, less where a control group allows less; what is not needed
// of it is not taken.
uint64_t default_memory() {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t wanted = std::clamp(machine / 16, kMemoryMin, kMemoryMax);
  return std::max(hawthorn::default_memory_budget_bytes(wanted),
                  Db::limits().memory_budget_bytes_min);
}

}  // namespace

bool WriterLock::lock(bool wait) {
  std::unique_lock<std::mutex> guard(mutex_);
  if (held_ && !wait) return false;
  freed_.wait(guard, [this] { return !held_; });
  held_ = true;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return true;
}

void WriterLock::unlock() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    held_ = false;
    owner_.store(std::thread::id(), std::memory_order_relaxed);
  }
  freed_.notify_one();
}

}  // namespace hawthorn::mdbx

using hawthorn::Db;
using hawthorn::Durability;
using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::mdbx::Handle;
using hawthorn::mdbx::TableRecord;

namespace mdbx_shim = hawthorn::mdbx;

MDBX_env::MDBX_env() = default;
MDBX_env::~MDBX_env() = default;

uint64_t MDBX_env::memory_budget() const {
  return memory_bytes != 0 ? memory_bytes : mdbx_shim::default_memory();
}

hawthorn::Options MDBX_env::database_options() const {
  hawthorn::Options options;
  options.memory_budget_bytes = memory_budget();
  options.preallocate_memory = page_options[MDBX_opt_prefault_write_enable] != 0;
  options.file_mode = file_mode_;
  options.key_orders = {mdbx_shim::integer_order()};
  options.key_comparators = comparators.all();
  options.log = mdbx_shim::tell_of_the_database;
  return options;
}

int MDBX_env::open(const char* name, unsigned wanted, mdbx_mode_t mode) {
  if (is_open()) return MDBX_EPERM;
  path = name;
  const unsigned before = flags;
  flags |= wanted;
  file_mode_ = 0600 | (static_cast<uint32_t>(mode) & 0066);
  pid = mdbx_shim::process_id();
  handles = std::make_unique<Handle[]>(max_dbi);
  handle_count = mdbx_shim::kCoreDbis;
  synced_at = std::chrono::steady_clock::now();
  Status status;
  try {
    status = open_as_wanted();
    if (status.ok()) {
      directory = hawthorn::HeldDirectory(path);
      copies.open(directory.path(), memory_budget() / 8);
      return MDBX_SUCCESS;
    }
  } catch (const std::bad_alloc&) {
    status = Status(StatusCode::kOutOfMemory);
  }
  mdbx_shim::tell(MDBX_LOG_ERROR, "open: ", status);
  db.reset();
  follower.reset();
  flags = before;
  if (status.is_not_found()) return MDBX_ENOFILE;
  if (status.is(StatusCode::kCorruption)) return MDBX_INVALID;
  if (status.is(StatusCode::kNotSupported)) return MDBX_VERSION_MISMATCH;
  return mdbx_shim::to_code(status);
}

Status MDBX_env::open_as_wanted() {
  if (flags & MDBX_RDONLY) {
    const Status status = open_follower(path);
    // Nobody has ever written here, a copy say, or permissions or the medium forbid it.
    const bool cannot = status.is_not_found() || status.is(StatusCode::kPermissionDenied) ||
                        status.is(StatusCode::kReadOnly);
    return cannot ? open_reader() : status;
  }
  for (int ms = 0;; ++ms) {
    Status status = open_writer(path, true);
    // Another process writes: as long as it does, this one reads.
    const bool follows = status.is(StatusCode::kBusy) && !(flags & MDBX_EXCLUSIVE);
    if (!follows) return status;
    follower.reset();
    status = open_follower(path);
    if (status.ok() || ms == mdbx_shim::kNewMsMax) return status;
    // That process is about to make it, or has just gone. It tells nobody, so look again.
    const bool is_new =
        status.is_not_found() || (follower != nullptr && mdbx_shim::is_empty(*follower->view()));
    if (!is_new) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Status MDBX_env::open_writer(const std::string& name, bool create) {
  hawthorn::Options options = database_options();
  options.create_if_missing = create;
  Result<std::unique_ptr<Db>> opened = Db::open(name, options);
  if (!opened.ok()) return opened.status();
  db = std::move(*opened);
  follower.reset();
  if (Status s = prepare_catalog(); !s.ok()) {
    db.reset();
    return s;
  }
  return {};
}

Status MDBX_env::open_reader() {
  hawthorn::Options wanted = database_options();
  wanted.read_only = true;
  wanted.create_if_missing = false;
  Result<std::unique_ptr<Db>> opened = Db::open(path, wanted);
  if (!opened.ok()) return opened.status();
  db = std::move(*opened);
  Status s = read_catalog(*db);
  if (!s.ok()) db.reset();
  return s;
}

Status MDBX_env::open_follower(const std::string& name) {
  if (access(name.c_str(), F_OK) != 0) return Status::not_found();
  hawthorn::FollowerOptions options;
  const hawthorn::Options same = database_options();
  options.memory_budget_bytes = same.memory_budget_bytes;
  options.key_orders = same.key_orders;
  options.key_comparators = same.key_comparators;
  options.log = same.log;
  Result<std::unique_ptr<hawthorn::Follower>> opened = hawthorn::Follower::open(name, options);
  if (!opened.ok()) return opened.status();
  follower = std::move(*opened);
  const std::shared_ptr<Db> newest = follower->view();
  return read_catalog(*newest);
}

// What a new database needs: the catalog and the main table.
Status MDBX_env::prepare_catalog() {
  if (!db->find_tree(mdbx_shim::kCatalog).ok()) {
    Result<hawthorn::Transaction> begun = db->begin(hawthorn::TxnOptions{});
    if (!begun.ok()) return begun.status();
    hawthorn::Transaction& t = *begun;
    TableRecord main;
    main.id = 1;
    Result<hawthorn::Tree> made = t.tree(mdbx_shim::kCatalog);
    if (!made.ok()) return made.status();
    if (Result<hawthorn::Tree> tree = t.tree(mdbx_shim::tree_name(main.id)); !tree.ok()) {
      return tree.status();
    }
    const uint64_t next = main.id + 1;
    Status s = t.put(*made, mdbx_shim::kMainKey, main.encode());
    if (s.ok()) s = t.put(*made, mdbx_shim::kNextKey, mdbx_shim::stored(next));
    if (s.ok()) s = t.commit(Durability::kFull);
    if (!s.ok()) return s;
    mdbx_shim::tell(MDBX_LOG_NOTICE, "new: " + path);
  }
  return read_catalog(*db);
}

Status MDBX_env::read_catalog(Db& database) {
  Result<hawthorn::Tree> found = database.find_tree(mdbx_shim::kCatalog);
  if (!found.ok()) {
    return Status(StatusCode::kCorruption, path + " is a database of another kind: no catalog");
  }
  hawthorn::Value bytes;
  if (Status s = database.get(*found, mdbx_shim::kMainKey, bytes); !s.ok()) return s;
  const auto main = TableRecord::decode(bytes.view());
  if (!main) return Status(StatusCode::kCorruption, path + ": the record of the main table");
  auto table = std::make_shared<Table>();
  table->main = true;
  table->record = *main;
  table->compare_keys = mdbx_shim::key_compare(main->flags);
  table->compare_values = mdbx_shim::value_compare(main->flags);
  table->since = 0;
  catalog = {};
  if (db != nullptr) {
    Result<hawthorn::Tree> tree = db->find_tree(mdbx_shim::tree_name(main->id));
    if (!tree.ok()) return tree.status();
    table->tree = *tree;
    catalog = *found;
  }
  auto garbage = std::make_shared<Table>();
  garbage->garbage = true;
  garbage->record.flags = MDBX_INTEGERKEY;
  garbage->compare_keys = mdbx_shim::key_compare(MDBX_INTEGERKEY);
  garbage->compare_values = mdbx_shim::value_compare(0);
  garbage->since = 0;

  const auto number = [&](std::string_view key, uint64_t missing) {
    hawthorn::Value value;
    uint64_t result = missing;
    if (database.get(*found, key, value).ok() && value.size() == sizeof(result)) {
      memcpy(&result, value.view().data(), sizeof(result));
    }
    return result;
  };
  next_table = number(mdbx_shim::kNextKey, main->id + 1);
  last_txnid = number(mdbx_shim::kTxnIdKey, 0);
  const Result<uint64_t> named = database.count(*found, mdbx_shim::kTablePrefix, "table0");
  if (!named.ok()) return named.status();
  named_tables = *named;
  hawthorn::Value kept;
  const bool is_kept = database.get(*found, mdbx_shim::kGeometryKey, kept).ok();
  const std::string_view bytes_of_geometry = mdbx_shim::stored(geometry);
  if (!geometry_set && is_kept && kept.size() == sizeof(geometry)) {
    memcpy(static_cast<void*>(&geometry), kept.view().data(), sizeof(geometry));
  } else if (geometry_set && writes() && !(is_kept && kept.view() == bytes_of_geometry)) {
    if (Status s = db->put(*found, mdbx_shim::kGeometryKey, bytes_of_geometry); !s.ok()) return s;
  }
  const std::lock_guard<std::mutex> guard(mutex);
  handles[mdbx_shim::kMainDbi].table = std::move(table);
  handles[mdbx_shim::kGarbageDbi].table = std::move(garbage);
  return {};
}

int MDBX_env::take_over() {
  if (writes()) return MDBX_SUCCESS;
  if (flags & MDBX_RDONLY) return MDBX_EACCESS;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    // Views of the follower are of transactions that are open: they end first.
    if (!readers.empty()) return MDBX_BUSY;
    for (MDBX_dbi dbi = mdbx_shim::kCoreDbis; dbi < handle_count; ++dbi) forget(dbi);
  }
  std::unique_ptr<hawthorn::Follower> before = std::move(follower);
  Status status;
  try {
    status = open_writer(directory.path(), false);
    if (status.ok()) return MDBX_SUCCESS;
    follower = nullptr;
    if (const Status again = open_follower(directory.path()); !again.ok()) {
      return mdbx_shim::to_code(again);
    }
  } catch (...) {
    // It follows as before.
    db = nullptr;
    follower = std::move(before);
    throw;
  }
  return status.is(StatusCode::kBusy) ? MDBX_BUSY : mdbx_shim::to_code(status);
}

int MDBX_env::view(Db** database, std::shared_ptr<Db>* keep) {
  if (db != nullptr) {
    *database = db.get();
    return MDBX_SUCCESS;
  }
  Result<std::shared_ptr<Db>> newest = follower->latest();
  // What the writer has not flushed has no room here at times, until it flushes.
  for (int i = 0; !newest.ok() && newest.status().is(StatusCode::kOutOfMemory) && i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    newest = follower->latest();
  }
  if (!newest.ok()) return mdbx_shim::to_code(newest.status());
  *keep = std::move(*newest);
  *database = keep->get();
  return MDBX_SUCCESS;
}

uint64_t MDBX_env::used_bytes() {
  if (db == nullptr) return follower->view()->stats().disk_bytes_reachable;
  const hawthorn::Stats stats = db->stats();
  const uint64_t used = stats.disk_bytes_reachable + stats.memory_delta_bytes;
  room = geometry.upper == 0 ? UINT64_MAX / 2 : geometry.upper - std::min(geometry.upper, used);
  room_unseen = room / 4;
  return used;
}

Durability MDBX_env::durability(unsigned txn_flags) const {
  const unsigned all = flags | txn_flags;
  // NOMETASYNC may lose no more than the last transaction: here it is no different from the full.
  return all & (MDBX_SAFE_NOSYNC | (MDBX_UTTERLY_NOSYNC & ~MDBX_SAFE_NOSYNC)) ? Durability::kNone
                                                                              : Durability::kFull;
}

int MDBX_env::sync_by_threshold(uint64_t bytes) {
  unsynced_bytes += bytes;
  const int code = sync(false, false);
  return code == MDBX_RESULT_TRUE ? MDBX_SUCCESS : code;
}

int MDBX_env::sync(bool force, bool nonblock) {
  if (flags & MDBX_RDONLY) return MDBX_EACCESS;
  if (db == nullptr) return MDBX_RESULT_TRUE;
  if (unsynced_bytes.load() == 0) return MDBX_RESULT_TRUE;
  if (!force) {
    const bool many = sync_bytes != 0 && unsynced_bytes.load() >= sync_bytes;
    const bool late = sync_period != 0 && std::chrono::steady_clock::now() - synced_at.load() >=
                                              mdbx_shim::from_16dot16(sync_period);
    if (!many && !late) return MDBX_RESULT_TRUE;
  }
  static_cast<void>(nonblock);  // nobody waits for a sync of the log but who asks for it
  // Two at once would both take off what either has synced.
  const std::lock_guard<std::mutex> guard(sync_mutex);
  const uint64_t before = unsynced_bytes.load();
  if (const Status s = db->sync(); !s.ok()) return mdbx_shim::to_code(s);
  unsynced_bytes -= before;
  synced_at = std::chrono::steady_clock::now();
  return MDBX_SUCCESS;
}

int MDBX_env::change_geometry(const Geometry& wanted) {
  if (db == nullptr) return MDBX_EACCESS;
  const bool own = writer.held_by_this_thread();
  if (!own) writer.lock(true);
  const std::string_view bytes = mdbx_shim::stored(wanted);
  Status s;
  if (own && write_txn != nullptr) {
    // A part of the transaction in which it happens.
    const int code = write_txn->open_catalog();
    if (code != MDBX_SUCCESS) return code;
    s = write_txn->engine.put(write_txn->catalog, mdbx_shim::kGeometryKey, bytes);
    if (s.ok()) write_txn->flags |= MDBX_TXN_DIRTY;
  } else {
    s = db->put(catalog, mdbx_shim::kGeometryKey, bytes);
  }
  if (s.ok()) geometry = wanted;
  room = room_unseen = 0;
  if (!own) writer.unlock();
  return mdbx_shim::to_code(s);
}

void MDBX_env::forget(MDBX_dbi dbi) {
  handles[dbi].table = nullptr;
  handles[dbi].generation.fetch_add(1, std::memory_order_release);
  while (handle_count > mdbx_shim::kCoreDbis && handles[handle_count - 1].table == nullptr) {
    --handle_count;
  }
}

void MDBX_env::give_comparators(const Table& table) {
  if (table.record.comparators & 1) comparators.keys[table.record.slot]->set(table.compare_keys);
  if (table.record.comparators & 2) {
    comparators.values[table.record.slot]->set(table.compare_values);
  }
}

int MDBX_env::close(bool dont_sync) {
  if (inherited()) died = true;
  if (is_open() && !died && write_txn != nullptr && !writer.held_by_this_thread() &&
      !(flags & MDBX_NOSTICKYTHREADS)) {
    return MDBX_BUSY;
  }
  int code = MDBX_SUCCESS;
  if (died) {
    // The parent's database: its threads are not in this process, so nothing is to be ended.
    static_cast<void>(db.release());
    static_cast<void>(follower.release());
    return MDBX_SUCCESS;
  }
  while (write_txn != nullptr) write_txn->finish_for_close();
  for (std::list<MDBX_txn*>* list : {&readers, &dormant}) {
    while (!list->empty()) list->front()->finish_for_close();
  }
  spare.reset();
  if (db != nullptr && !dont_sync) {
    const Status s = db->close();
    code = mdbx_shim::to_code(s);
  }
  handles.reset();  // null where it was never opened
  db.reset();
  follower.reset();
  return code;
}
