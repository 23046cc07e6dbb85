#include "shims/sqlite/src/together.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "shims/sqlite/src/intent.h"
#include "shims/sqlite/src/redo.h"

namespace hawthorn::sqlite {
namespace {

constexpr char kCommitsTree[] = "commits";
constexpr size_t kPieceBytes = size_t{256} << 10;

std::string prefix_of(std::string_view id, uint32_t number) {
  char digits[16];
  snprintf(digits, sizeof(digits), "/%04u/", number);
  return std::string(id) + digits;
}

// Above all keys of a commit, as 0 is behind the slash.
std::string end_of(std::string_view id) { return std::string(id) + "0"; }

std::string piece_key(const std::string& prefix, uint32_t piece) {
  char digits[16];
  snprintf(digits, sizeof(digits), "%08x", piece);
  return prefix + digits;
}

}  // namespace

// ---- Committing

Together::Together(std::span<HwConnection* const> all, bool durable)
    : durability_(durable ? Durability::kFull : Durability::kNone), id_(new_commit_id()) {
  const auto without = std::find_if(all.begin(), all.end(),
                                    [](const HwConnection* one) { return !one->redo.has_value(); });
  coordinator_ = without != all.end() ? *without : all.front();
  for (HwConnection* const one : all) {
    if (one != coordinator_) participants_.push_back(one);
  }
}

Status Together::announce() {
  const std::string& coordinator = coordinator_->database->directory();
  for (HwConnection* const one : participants_) {
    const auto number = static_cast<uint32_t>(announced_ + 1);
    if (!one->redo.has_value()) {
      return Status(StatusCode::kNotSupported, "two databases whose operations were not kept");
    }
    Status status = write_intent(one->database->directory(),
                                 {.coordinator = coordinator, .id = id_, .number = number},
                                 durability_ == Durability::kFull);
    if (!status.ok()) return status;
    ++announced_;
  }
  return {};
}

Status Together::hand_over(Transaction& txn) {
  const Result<Tree> commits = txn.tree(kCommitsTree);
  if (!commits.ok()) return commits.status();
  std::string names;
  uint32_t number = 0;
  for (const HwConnection* const one : participants_) {
    names += name_beside(coordinator_->database->directory(), one->database->directory()) + "\n";
    const std::string prefix = prefix_of(id_, ++number);
    uint32_t piece = 0;
    Status status = one->redo->read(kPieceBytes, [&](std::string_view bytes) {
      return txn.put(*commits, piece_key(prefix, piece++), bytes);
    });
    if (!status.ok()) return status;
  }
  return txn.put(*commits, id_, names);
}

Status Together::decide() {
  Status status = hand_over(coordinator_->txn);
  if (!status.ok()) return status;
  coordinator_->leave_all();
  status = coordinator_->end_txn(durability_);
  is_unknown_ = status.is(StatusCode::kUnknownOutcome);
  return status;
}

void Together::follow() {
  for (HwConnection* const one : participants_) follow(one);
}

void Together::follow(HwConnection* participant) noexcept try {
  participant->leave_all();
  Database& database = *participant->database;
  Status status = participant->txn.put(database.numbers_tree(), kAppliedKey, id_);
  if (status.ok()) status = participant->end_txn(durability_);
  if (status.ok()) return;
  database.doubt();
  sqlite3_log(SQLITE_NOTICE, "hawthorn: %s is to follow a commit of %s: %s",
              database.directory().c_str(), coordinator_->database->directory().c_str(),
              status.to_string().c_str());
} catch (...) {
  participant->database->doubt();
}

// What is not forgotten now, the next open forgets.
void Together::forget() noexcept try {
  bool all = true;
  for (const HwConnection* const one : participants_) {
    if (one->database->in_doubt()) {
      all = false;
    } else {
      remove_intent(one->database->directory());
    }
  }
  if (all) coordinator_->database->forget_commit(id_);
} catch (...) {
  return;
}

void Together::undo() noexcept {
  for (size_t i = 0; i < announced_; ++i) {
    Database& database = *participants_[i]->database;
    if (is_unknown_) {
      database.doubt();
    } else {
      try {
        remove_intent(database.directory());
      } catch (...) {
        database.doubt();
      }
    }
  }
}

int Together::end(bool keep_reading) {
  int code = SQLITE_OK;
  const auto end_one = [&](HwConnection* one) {
    if (one->txn.open()) {
      const int ended = one->roll_back(keep_reading);  // it could not follow
      if (code == SQLITE_OK) code = ended;
      return;
    }
    one->end_write(keep_reading, false, &code);
    one->database->unlock_writer();
  };
  for (HwConnection* const one : participants_) end_one(one);
  end_one(coordinator_);
  return code;
}

// ---- What is left of it

void Database::forget_commit(std::string_view id) {
  const std::lock_guard<std::mutex> guard(mutex_);
  forgotten_.emplace_back(id);
  has_forgotten_ = true;
}

// Where the transaction is not committed they are found by the next open.
Status Database::erase_forgotten(Transaction& txn) {
  if (!has_forgotten_) return {};
  std::vector<std::string> ids;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    ids.swap(forgotten_);
    has_forgotten_ = false;
  }
  const Result<Tree> commits = txn.tree(kCommitsTree);
  if (!commits.ok()) return commits.status();
  for (const std::string& id : ids) {
    if (Status s = txn.delete_range(*commits, id, end_of(id)); !s.ok()) return s;
  }
  return {};
}

// Of an earlier process: those whose participants do not ask for them any more.
Status Database::find_forgotten() {
  const Result<Tree> commits = db_->find_tree(kCommitsTree);
  if (commits.status().is_not_found()) return {};
  if (!commits.ok()) return commits.status();
  Cursor cursor = db_->cursor(*commits);
  for (bool there = cursor.first(); there;
       there = cursor.seek(end_of(cursor.key().substr(0, 32)))) {
    const std::string id(cursor.key());
    std::string_view names = cursor.value();
    bool needed = false;
    while (!needed && !names.empty()) {
      const size_t end = std::min(names.find('\n'), names.size() - 1);
      const std::string participant = path_beside(directory_, std::string(names.substr(0, end)));
      names.remove_prefix(end + 1);
      Intent intent;
      const Result<FoundIntent> found = read_intent(participant, &intent);
      // One that is not where it was may ask yet.
      std::error_code error;
      needed = !found.ok() || !std::filesystem::exists(participant, error) ||
               (*found == FoundIntent::kWhole && intent.id == id);
    }
    if (!needed) forget_commit(id);
  }
  return cursor.status();
}

// ---- Settling

// Reads the coordinator, and writes this one, where it has the commit.
Status Database::redo_from(Db& coordinator, std::string_view id, uint32_t number, bool* committed) {
  const Result<Tree> commits = coordinator.find_tree(kCommitsTree);
  if (commits.status().is_not_found()) return {};
  if (!commits.ok()) return commits.status();
  Value names;
  Status status = coordinator.get(*commits, id, names);
  if (status.is_not_found()) return {};
  // What it has must not go behind what follows.
  if (status.ok()) status = coordinator.sync();
  if (!status.ok() && !status.is(StatusCode::kReadOnly)) return status;
  *committed = true;
  Result<Transaction> begun = db_->begin({.mode = TxnMode::kExclusive});
  if (!begun.ok()) return begun.status();
  const std::string prefix = prefix_of(id, number);
  Cursor cursor = coordinator.cursor(*commits);
  bool is_first = true;
  status = do_again(*begun, numbers_, [&]() -> Result<std::string_view> {
    const bool there = std::exchange(is_first, false) ? cursor.seek(prefix) : cursor.next();
    if (!there && !cursor.status().ok()) return cursor.status();
    if (!there || !cursor.key().starts_with(prefix)) return std::string_view();
    return cursor.value();
  });
  // That something is not here is no answer of the coordinator's.
  if (status.is_not_found()) status = Status(StatusCode::kCorruption, status.to_string());
  if (status.ok()) status = begun->put(numbers_, kAppliedKey, id);
  if (!status.ok()) return status;
  begin_commit();
  begin_change_of_numbers();
  status = begun->commit(Durability::kFull);
  end_change_of_numbers();
  end_commit(status.ok());
  return status;
}

// Whether there is nothing to be done any more: it has followed, or has nothing to follow.
Status Database::follow_intent(const std::string& coordinator, std::string_view id,
                               uint32_t number) {
  Value applied;
  Status status = db_->get(numbers_, kAppliedKey, applied);
  if (status.ok() && applied.view() == id) return db_->sync();
  if (!status.ok() && !status.is_not_found()) return status;
  // No directory of that name, and one that cannot be asked for, are not the same.
  std::error_code error;
  const bool is_there = std::filesystem::exists(coordinator, error);
  if (error) return Status(StatusCode::kIoError, coordinator + ": " + error.message());
  status = Status(StatusCode::kNotFound);
  bool committed = false;
  if (is_there) {
    status =
        visit(coordinator, [&](Db& other) { return redo_from(other, id, number, &committed); });
  }
  if (status.is_not_found()) {
    sqlite3_log(SQLITE_WARNING,
                "hawthorn: a commit of %s together with %s, which is not there any more, counts as "
                "not made",
                directory_.c_str(), coordinator.c_str());
    return {};
  }
  if (status.ok() && committed) {
    sqlite3_log(SQLITE_NOTICE, "hawthorn: %s has followed a commit of %s", directory_.c_str(),
                coordinator.c_str());
  }
  return status;
}

int Database::settle_now() {
  Intent intent;
  const Result<FoundIntent> found = read_intent(directory_, &intent);
  if (!found.ok()) return to_code(found.status());
  if (*found == FoundIntent::kWhole) {
    const Status status = follow_intent(intent.coordinator, intent.id, intent.number);
    if (!status.ok()) {
      const int code = to_code(status);
      sqlite3_log(code, "hawthorn: %s waits for a commit together with %s", directory_.c_str(),
                  intent.coordinator.c_str());
      return read_only_ && code == SQLITE_READONLY ? SQLITE_READONLY_ROLLBACK : code;
    }
  }
  if (*found != FoundIntent::kNone && !read_only_) remove_intent(directory_);
  in_doubt_ = false;
  return SQLITE_OK;
}

}  // namespace hawthorn::sqlite

// ---- For the dispatcher

int hw_is_dirty(const HwConnection* connection) {
  return connection->mode == HwConnection::Mode::kWrite && connection->dirty &&
         !connection->concurrent;
}

void hw_may_be_together(HwConnection* connection) try {
  if (connection->concurrent) return;
  connection->redo.emplace(connection->database->place());
} catch (...) {
  connection->failed = hawthorn::sqlite::exception_code();
}

int hw_commit_together(HwConnection** all, int count, const int* synchronous,
                       int keep_reading) try {
  const std::span<HwConnection* const> some(all, static_cast<size_t>(count));
  bool durable = false;
  for (int i = 0; i < count; ++i) {
    if (all[i]->failed != SQLITE_OK) return all[i]->failed;
    if (const int code = all[i]->write_kept_nodes(); code != SQLITE_OK) return code;
    durable = durable || synchronous[i] != 1;
  }
  hawthorn::sqlite::Together together(some, durable);
  hawthorn::Status status;
  try {
    status = together.announce();
    if (status.ok()) status = together.decide();
  } catch (const std::bad_alloc&) {
    status = hawthorn::Status(hawthorn::StatusCode::kOutOfMemory);
  }
  if (!status.ok()) {
    together.undo();
    return all[0]->written(status);
  }
  together.follow();
  together.forget();
  return together.end(keep_reading != 0);
} catch (...) {
  return all[0]->fail_by_exception();
}
