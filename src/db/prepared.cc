#include "db/prepared.h"

#include <utility>

namespace hawthorn::db {

namespace {
PreparedTransaction shown(const txn::PrepareRecords& records, uint64_t operations) {
  return {.id = records.id,
          .operations = operations,
          .timestamp = records.timestamp,
          .prepared_at_us = records.wall_us};
}
}  // namespace

Status OutcomeReserve::keep(size_t segment_bytes) {
  os::MutexLock lock(mutex_);
  if (kept_) return {};
  os::OpenFlags flags;
  flags.create = true;
  flags.in_place = true;
  Result<std::unique_ptr<os::File>> file = machine_.files->open_file(path_, flags);
  Status status = file.status();
  if (status.ok()) status = (*file)->allocate(0, segment_bytes);
  if (status.ok()) status = (*file)->sync_data();
  if (status.ok()) {
    status = machine_.files->sync_directory(path_.substr(0, path_.rfind('/')));
  }
  kept_ = status.ok();
  if (!kept_) static_cast<void>(machine_.files->remove(path_).ok());
  return status;
}

bool OutcomeReserve::give_up() {
  os::MutexLock lock(mutex_);
  if (!kept_) return false;
  kept_ = false;
  return machine_.files->remove(path_).ok();
}

void OutcomeReserve::remove() {
  os::MutexLock lock(mutex_);
  kept_ = false;
  static_cast<void>(machine_.files->remove(path_).ok());
}

Status PreparedTransactions::reserve(std::string_view id) {
  os::MutexLock lock(mutex_);
  if (entries_.try_emplace(std::string(id)).second) return {};
  return Status(StatusCode::kInvalidArgument,
                "a transaction is prepared as \"" + std::string(id) + "\" already");
}

void PreparedTransactions::cancel(std::string_view id) {
  os::MutexLock lock(mutex_);
  if (const auto at = entries_.find(id); at != entries_.end()) entries_.erase(at);
}

uint64_t PreparedTransactions::add(std::unique_ptr<txn::Txn> txn) {
  os::MutexLock lock(mutex_);
  Entry& entry = entries_[txn->records().id];
  entry.number = next_number_++;
  entry.shown = shown(txn->records(), txn->operations());
  entry.is_prepared = true;
  entry.txn = std::move(txn);
  return entry.number;
}

void PreparedTransactions::add_found(const txn::FoundPrepared& found) {
  os::MutexLock lock(mutex_);
  Entry& entry = entries_[found.records.id];
  entry.shown = shown(found.records, found.operations);
  entry.is_prepared = true;
}

std::vector<PreparedTransaction> PreparedTransactions::list() {
  std::vector<PreparedTransaction> result;
  os::MutexLock lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    if (entry.is_prepared) result.push_back(entry.shown);
  }
  return result;
}

bool PreparedTransactions::empty() {
  os::MutexLock lock(mutex_);
  return entries_.empty();
}

std::unique_ptr<txn::Txn> PreparedTransactions::begin_end(std::string_view id, uint64_t number) {
  os::MutexLock lock(mutex_);
  for (;;) {
    const auto at = entries_.find(id);
    if (at == entries_.end() || !at->second.is_prepared) return nullptr;
    Entry& entry = at->second;
    if (number != kAny && entry.number != number) return nullptr;
    if (entry.txn != nullptr) return std::move(entry.txn);
    ended_.wait(mutex_);
  }
}

void PreparedTransactions::finish_end(std::string_view id, std::unique_ptr<txn::Txn> txn) {
  {
    os::MutexLock lock(mutex_);
    const auto at = entries_.find(id);
    if (txn != nullptr) {
      at->second.txn = std::move(txn);
    } else {
      entries_.erase(at);
    }
  }
  ended_.notify_all();
}

void PreparedTransactions::abandon_all() {
  os::MutexLock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (entry.txn != nullptr) entry.txn->abandon();
  }
  entries_.clear();
}

}  // namespace hawthorn::db
