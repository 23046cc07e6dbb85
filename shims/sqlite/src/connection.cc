#include "shims/sqlite/src/connection.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "shims/sqlite/src/collated_node.h"
#include "shims/sqlite/src/cursor.h"
#include "shims/sqlite/src/place.h"

using hawthorn::Durability;
using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::Value;
using hawthorn::sqlite::CollatedHeader;
using hawthorn::sqlite::kCollatedHeaderKey;
using hawthorn::sqlite::kNumbersKey;
using hawthorn::sqlite::Numbers;
using hawthorn::sqlite::to_code;
using hawthorn::sqlite::tree_name;

namespace {

constexpr size_t kKeptCursorsMax = 8;

Durability before_sync(Durability durability) {
  return durability == Durability::kFull ? Durability::kNone : durability;
}

}  // namespace

// The right to write, for one that may fail to begin.
class WriterGuard {
 public:
  explicit WriterGuard(hawthorn::sqlite::Database* database) : database_(database) {}
  ~WriterGuard() {
    if (database_ != nullptr) database_->unlock_writer();
  }
  WriterGuard(const WriterGuard&) = delete;
  WriterGuard& operator=(const WriterGuard&) = delete;
  void keep() { database_ = nullptr; }

 private:
  hawthorn::sqlite::Database* database_;
};

// ---- Transactions

// One that has an end to come may be seen, or not.
void HwConnection::look_at_commits(uint64_t commits, bool certain) {
  const uint64_t others = commits - own_commits_;
  if (others != others_commits_ || !certain) ++data_version_;
  others_commits_ = others;
}

unsigned HwConnection::data_version() {
  if (mode == Mode::kNone) look_at_commits(database->commits(), true);
  return data_version_;
}

int HwConnection::take_snapshot() {
  const uint64_t ended = database->commits_ended();
  const uint64_t commits = database->commits();
  const uint64_t changes = database->numbers_changes();
  snapshot = database->db().snapshot();
  look_at_commits(commits, database->commits_started() == ended);
  keep_numbers(changes);
  return snapshot.valid() ? SQLITE_OK : SQLITE_IOERR;
}

// Those that are known, where a moment that began after so many changes has no others.
void HwConnection::keep_numbers(uint64_t changes) {
  if (numbers_as_of_ != changes || database->numbers_changes() != changes) numbers_.reset();
  numbers_as_of_ = database->numbers_changes() == changes ? changes : 1;
}

// What was committed together with another database, and has not come here.
int HwConnection::settle() {
  constexpr int64_t kWaitMs = 1000;  // for who settles it, as nobody writes
  if (!database->lock_writer(kWaitMs)) return SQLITE_BUSY;
  const WriterGuard writer(database);
  return database->in_doubt() ? database->settle() : SQLITE_OK;
}

int HwConnection::fail_by_exception() noexcept {
  const int code = hawthorn::sqlite::exception_code();
  tails.clear();
  if (mode == Mode::kWrite && redo.has_value()) failed = code;
  return code;
}

int HwConnection::begin_read() {
  if (mode != Mode::kNone) return SQLITE_OK;
  if (database->in_doubt()) {
    if (const int code = settle(); code != SQLITE_OK) return code;
  }
  const int code = take_snapshot();
  if (code == SQLITE_OK) mode = Mode::kRead;
  return code;
}

int HwConnection::begin_concurrent(int64_t wait_ms) {
  if (mode == Mode::kWrite || concurrent) return SQLITE_OK;
  if (const int code = begin_read(); code != SQLITE_OK) return code;
  Result<Transaction> begun = database->db().begin(
      {.mode = hawthorn::TxnMode::kOptimistic,
       .isolation = hawthorn::Isolation::kSerializable,
       .snapshot = &snapshot,
       .lock_timeout_ms = static_cast<uint64_t>(std::max<int64_t>(wait_ms, 0))});
  if (!begun.ok()) return to_code(begun.status());
  leave_all();
  txn = std::move(*begun);
  concurrent = true;
  dirty = false;
  // Read by it, so that it fails where they change: then the schema has.
  numbers_.reset();
  const Numbers* now = nullptr;
  return numbers(&now);
}

int HwConnection::begin_write(int64_t wait_ms) {
  if (mode == Mode::kWrite) return SQLITE_OK;
  if (concurrent) {
    Result<hawthorn::Savepoint> made = txn.savepoint();
    if (!made.ok()) return to_code(made.status());
    start_ = *made;
    mode = Mode::kWrite;
    return SQLITE_OK;
  }
  if (mode == Mode::kNone) {
    if (const int code = shrink(); code != SQLITE_OK) return code;
  }
  if (!database->lock_writer(mode == Mode::kNone ? wait_ms : 0)) return SQLITE_BUSY;
  WriterGuard writer(database);
  int code = database->in_doubt() ? database->settle() : SQLITE_OK;
  if (code == SQLITE_OK && mode == Mode::kRead && database->last_commit() > snapshot.timestamp()) {
    code = SQLITE_BUSY_SNAPSHOT;
  }
  if (code == SQLITE_OK) {
    Result<Transaction> begun = database->db().begin({.mode = hawthorn::TxnMode::kExclusive});
    if (begun.ok()) {
      txn = std::move(*begun);
    } else {
      code = to_code(begun.status());
    }
  }
  if (code != SQLITE_OK) return code;
  writer.keep();
  if (mode == Mode::kRead) leave_all();
  snapshot.reset();
  if (mode == Mode::kNone) {
    look_at_commits(database->commits(), true);
    keep_numbers(database->numbers_changes());
  }
  mode = Mode::kWrite;
  dirty = false;
  return SQLITE_OK;
}

void HwConnection::end_write(bool keep_reading, bool same_moment, int* code) {
  savepoints.clear();
  drop_kept_nodes();
  tails.clear();
  redo_sizes.clear();
  redo.reset();
  txn = Transaction();
  mode = Mode::kNone;
  concurrent = false;
  dirty = false;
  written_bytes = 0;
  failed = SQLITE_OK;
  int read = SQLITE_OK;
  if (!keep_reading) {
    snapshot.reset();
  } else if (!same_moment) {
    // Nobody has written since: what is read is what this one has left.
    read = take_snapshot();
  }
  if (keep_reading && read == SQLITE_OK) mode = Mode::kRead;
  if (*code == SQLITE_OK) *code = read;
}

Status HwConnection::end_txn(Durability durability) {
  if (!dirty) return {};
  Status status;
  if (!concurrent) status = database->erase_forgotten(txn);
  if (status.ok()) {
    database->begin_commit();
    if (numbers_changed_) database->begin_change_of_numbers();
    status = txn.commit(durability);
    if (numbers_changed_) database->end_change_of_numbers();
    const bool committed = status.ok() || status.is(StatusCode::kUnknownOutcome);
    database->end_commit(committed);
    if (committed) {
      ++own_commits_;
      database->add_log_bytes(written_bytes);
    }
  }
  if (status.ok()) {
    made_.clear();
    if (numbers_changed_) numbers_as_of_ = database->numbers_changes();
    numbers_changed_ = false;
  } else {
    forget_all();
  }
  return status;
}

// Commits wait for the disk together: none keeps others from writing meanwhile. What was committed
// so is seen by others, as in the engine, before it is durable.
int HwConnection::sync(bool wrote, Durability durability) {
  if (!wrote || durability != Durability::kFull) return SQLITE_OK;
  // Whatever the reason: the transaction is there, which other codes would deny.
  return to_code(database->db().sync()) == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

// Beside others, but where it goes on to read what it leaves, and where it changes the numbers.
int HwConnection::commit_concurrent(Durability durability, bool keep_reading, int64_t wait_ms) {
  int code = SQLITE_OK;
  if (!dirty) {
    leave_all();
    end_write(keep_reading, true, &code);
    return code;
  }
  // What was committed together with another database comes first.
  if (database->in_doubt() && (code = settle()) != SQLITE_OK) return code;
  const bool alone = keep_reading || numbers_changed_;
  if (!(alone ? database->lock_writer(wait_ms) : database->lock_committer(wait_ms))) {
    return SQLITE_BUSY;
  }
  leave_all();
  if (database->in_doubt()) code = SQLITE_BUSY;  // again
  try {
    if (code == SQLITE_OK) code = written(end_txn(before_sync(durability)));
  } catch (...) {
    code = fail_by_exception();
  }
  const bool committed = code == SQLITE_OK;
  if (committed) {
    end_write(keep_reading, false, &code);
  } else if (!txn.open()) {
    each_cursor([code](HwCursor& cursor) { cursor.trip(code); });
  }
  if (alone) {
    database->unlock_writer();
  } else {
    database->unlock_committer();
  }
  return code == SQLITE_OK ? sync(committed, durability) : code;
}

int HwConnection::commit(Durability durability, bool keep_reading, int64_t wait_ms) {
  if (mode != Mode::kWrite) return SQLITE_OK;
  if (failed != SQLITE_OK) return failed;
  if (const int code = write_kept_nodes(); code != SQLITE_OK) {
    forget_all();
    return code;
  }
  if (concurrent) return commit_concurrent(durability, keep_reading, wait_ms);
  leave_all();
  const bool wrote = dirty;
  int code = written(end_txn(before_sync(durability)));
  if (code != SQLITE_OK) return code;  // the caller rolls back
  end_write(keep_reading, false, &code);
  database->unlock_writer();
  return code == SQLITE_OK ? sync(wrote, durability) : code;
}

int HwConnection::roll_back(bool keep_reading) {
  if (mode != Mode::kWrite) return SQLITE_OK;
  leave_all();
  forget_all();
  if (txn.open()) txn.abort();
  int code = SQLITE_OK;
  const bool was_concurrent = concurrent;
  end_write(keep_reading, was_concurrent, &code);
  if (!was_concurrent) database->unlock_writer();
  return code;
}

void HwConnection::end_concurrent() {
  if (!concurrent || mode != Mode::kRead) return;
  leave_all();
  txn = Transaction();
  concurrent = false;
}

void HwConnection::end_read() {
  if (mode != Mode::kRead) return;
  end_concurrent();
  leave_all();
  snapshot.reset();
  mode = Mode::kNone;
}

void HwConnection::leave_all() {
  each_cursor([](HwCursor& cursor) { cursor.leave(); });
  kept_cursors_.clear();
}

int HwConnection::open_savepoints(size_t count) {
  if (savepoints.size() < count) {
    if (const int code = write_kept_nodes(); code != SQLITE_OK) return code;
  }
  savepoints.reserve(count);
  redo_sizes.reserve(count);
  while (savepoints.size() < count) {
    Result<hawthorn::Savepoint> made = txn.savepoint();
    if (!made.ok()) return to_code(made.status());
    savepoints.push_back(*made);
    redo_sizes.push_back(redo.has_value() ? redo->size() : 0);
  }
  return SQLITE_OK;
}

int HwConnection::release_savepoint(int number) {
  if (number < 0 || static_cast<size_t>(number) >= savepoints.size()) return SQLITE_OK;
  if (failed != SQLITE_OK && !txn.open()) return failed;
  const Status status = txn.release(savepoints[static_cast<size_t>(number)]);
  savepoints.resize(static_cast<size_t>(number));
  redo_sizes.resize(static_cast<size_t>(number));
  return to_code(status);
}

int HwConnection::roll_back_to(int number) {
  if (number >= 0 && static_cast<size_t>(number) >= savepoints.size()) return SQLITE_OK;
  if (failed != SQLITE_OK && !txn.open()) return failed;
  leave_all();
  forget_made();
  numbers_.reset();
  drop_kept_nodes();
  tails.clear();
  if (number >= 0) {
    savepoints.resize(static_cast<size_t>(number) + 1);
    redo_sizes.resize(static_cast<size_t>(number) + 1);
    if (redo.has_value()) redo->truncate(redo_sizes.back());
    return to_code(txn.rollback_to(savepoints.back()));
  }
  forget_all();
  savepoints.clear();
  redo_sizes.clear();
  if (redo.has_value()) redo->truncate(0);
  if (concurrent) return to_code(txn.rollback_to(start_));
  txn.abort();
  dirty = false;
  Result<Transaction> begun = database->db().begin({.mode = hawthorn::TxnMode::kExclusive});
  if (!begun.ok()) return to_code(begun.status());
  txn = std::move(*begun);
  return SQLITE_OK;
}

// ---- Numbers

int HwConnection::numbers(const Numbers** out) {
  if (!numbers_.has_value()) {
    hawthorn::Value value;
    if (Status s = get(database->numbers_tree(), kNumbersKey, value); !s.ok()) return to_code(s);
    numbers_ = Numbers::decode(value.view());
    if (!numbers_.has_value()) return SQLITE_CORRUPT;
  }
  *out = &*numbers_;
  return SQLITE_OK;
}

// ---- Trees

int HwConnection::tree(uint32_t root, Tree* out) {
  if (const auto known = trees_.find(root); known != trees_.end()) {
    *out = known->second;
    return SQLITE_OK;
  }
  Result<Tree> found = uses_txn()
                           ? txn.find_tree(tree_name(root))
                           : database->db().find_tree(tree_name(root), {.snapshot = &snapshot});
  if (!found.ok()) {
    return found.status().is_not_found() ? SQLITE_CORRUPT : to_code(found.status());
  }
  *out = trees_[root] = *found;
  return SQLITE_OK;
}

// What a rollback takes back may come again with the same number.
void HwConnection::forget_made() {
  for (const uint32_t root : made_) trees_.erase(root);
  kept_cursors_.clear();
}

// What the transaction has made and changed.
void HwConnection::forget_all() {
  forget_made();
  if (numbers_changed_) numbers_.reset();
  numbers_changed_ = false;
}

int HwConnection::about_to_change(uint32_t root, std::optional<int64_t> row, const HwCursor* by) {
  bool pinned = false;
  each_cursor([&](HwCursor& cursor) {
    pinned = pinned || (&cursor != by && cursor.root == root && cursor.holds());
  });
  if (pinned) return SQLITE_CONSTRAINT_PINNED;
  each_cursor([&](HwCursor& cursor) {
    if (cursor.root == root) cursor.table_changes(row, &cursor == by);
  });
  return SQLITE_OK;
}

int HwConnection::save_all(uint32_t root, const HwCursor* but) {
  bool pinned = false;
  each_cursor([&](HwCursor& cursor) {
    if (&cursor == but || (root != 0 && cursor.root != root)) return;
    if (cursor.holds()) {
      pinned = true;
    } else {
      cursor.save();
    }
  });
  return pinned ? SQLITE_CONSTRAINT_PINNED : SQLITE_OK;
}

// ---- Reads

Status HwConnection::get(const Tree& tree, std::string_view key, hawthorn::Value& value) {
  return uses_txn() ? txn.get(tree, key, value)
                    : database->db().get(tree, key, value, {.snapshot = &snapshot});
}

Status HwConnection::get_large(const Tree& tree, std::string_view key, std::string* value) {
  value->clear();
  const auto take = [value](std::string_view part) {
    value->append(part);
    return true;
  };
  return uses_txn() ? txn.read_stream(tree, key, take)
                    : database->db().read_stream(tree, key, take, 0, {.snapshot = &snapshot});
}

hawthorn::Cursor HwConnection::open_cursor(const Tree& tree, bool key_only) {
  hawthorn::CursorOptions options;
  options.key_only = key_only;
  options.large_as_empty = true;
  if (uses_txn()) return txn.cursor(tree, options);
  options.snapshot = &snapshot;
  return database->db().cursor(tree, options);
}

hawthorn::Cursor HwConnection::take_cursor(uint32_t root, const Tree& tree) {
  const auto kept = std::find_if(kept_cursors_.rbegin(), kept_cursors_.rend(),
                                 [root](const KeptCursor& one) { return one.root == root; });
  if (kept == kept_cursors_.rend()) return open_cursor(tree);
  hawthorn::Cursor cursor = std::move(kept->cursor);
  kept_cursors_.erase(std::next(kept).base());
  return cursor;
}

void HwConnection::keep_cursor(uint32_t root, hawthorn::Cursor cursor) {
  if (mode == Mode::kNone) return;
  if (kept_cursors_.size() == kKeptCursorsMax) kept_cursors_.erase(kept_cursors_.begin());
  if (kept_cursors_.capacity() < kKeptCursorsMax) {
    try {
      kept_cursors_.reserve(kKeptCursorsMax);
    } catch (const std::bad_alloc&) {
      return;  // none is kept
    }
  }
  kept_cursors_.push_back({root, std::move(cursor)});
}

Result<uint64_t> HwConnection::count(const Tree& tree) {
  return uses_txn() ? txn.count(tree, {}, std::nullopt)
                    : database->db().count(tree, {}, std::nullopt, {.snapshot = &snapshot});
}

int HwConnection::count_entries(const Tree& tree, int64_t* entries) {
  const Numbers* now = nullptr;
  if (const int code = numbers(&now); code != SQLITE_OK) return code;
  if (now->collated != 0) {
    Value header;
    const Status status = get(tree, kCollatedHeaderKey, header);
    if (status.ok()) {
      const auto decoded = CollatedHeader::decode(header.view());
      if (!decoded.has_value()) return SQLITE_CORRUPT;
      *entries = static_cast<int64_t>(decoded->entries);
      return SQLITE_OK;
    }
    if (!status.is_not_found()) return to_code(status);
  }
  const Result<uint64_t> counted = count(tree);
  if (!counted.ok()) return to_code(counted.status());
  *entries = static_cast<int64_t>(*counted);
  return SQLITE_OK;
}
