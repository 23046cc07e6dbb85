// The marks of a transaction, and how it is rolled back to one.

#include <algorithm>

#include "base/bytes.h"
#include "os/test_point.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

namespace {
Status no_savepoint() {
  return Status(StatusCode::kInvalidArgument, "the savepoint is gone, or of another transaction");
}
}  // namespace

uint64_t Txn::mark() {
  marks_.push_back({.number = next_mark_++,
                    .undo = undo_.size(),
                    .seq = context_.seq,
                    .chunk_seq = chunk_seq_,
                    .operation_bytes = operations_.size(),
                    .large = large_.size(),
                    .locks = locks_.size(),
                    .key_blocks = key_blocks_.size(),
                    .key_at = key_at_,
                    .key_end = key_end_});
  if (marks_.size() == marks_.capacity()) count_memory();
  return marks_.back().number;
}

std::vector<Txn::Mark>::iterator Txn::find_mark(uint64_t number) {
  const auto at =
      std::lower_bound(marks_.begin(), marks_.end(), number,
                       [](const Mark& mark, uint64_t wanted) { return mark.number < wanted; });
  return at != marks_.end() && at->number == number ? at : marks_.end();
}

Status Txn::release_mark(uint64_t number) {
  const auto at = find_mark(number);
  if (at == marks_.end()) return no_savepoint();
  marks_.erase(at, marks_.end());
  return {};
}

Status Txn::roll_back_to(uint64_t number) {
  const auto at = find_mark(number);
  if (at == marks_.end()) return no_savepoint();
  marks_.erase(at + 1, marks_.end());
  if (!broken_.ok()) return broken_;
  const Mark mark = *at;
  if (context_.seq == mark.seq) {
    services_.row_locks->release_to(locks_, mark.locks);
    return {};
  }
  const bool logged = chunk_seq_ > mark.seq;
  if (logged) {
    broken_ = with_log_space([&] { return log_rollback(mark); });
    if (!broken_.ok()) {
      give_up_log();
      return broken_;
    }
    chunk_seq_ = mark.seq;
  } else if (logged_ != nullptr) {
    os::MutexLock lock(logged_->mutex);
    take_back(mark);
  } else {
    take_back(mark);
  }
  drop_layers(number);
  services_.row_locks->release_to(locks_, mark.locks);
  if (tree_changes_.bytes() > 0) tree_changes_.roll_back_to(mark.undo, *services_.trees);
  // What stood in the buffer at the mark is there still, or was logged as a whole.
  operations_.resize(chunk_seq_ == mark.chunk_seq && !logged ? mark.operation_bytes : 0);
  context_.seq = mark.seq;
  operation_count_ = mark.seq - chunk_seq_;
  count_memory();
  return {};
}

// Under the mutex of the moves: none may bring back, behind this record, what it takes away.
Status Txn::log_rollback(const Mark& mark) {
  char header[12];
  store(header, static_cast<uint64_t>(id_));
  store(header + 8, mark.seq);
  const std::string_view payload[] = {{header, sizeof(header)}};
  os::MutexLock lock(logged_->mutex);
  Lsn lsn = 0;
  Status status = services_.sequencer->append(format::RecordType::kRollbackTo, 0, payload, &lsn);
  if (!status.ok()) return status;
  HAWTHORN_TEST_POINT("txn.rollback.before_unlink");
  take_back(mark);
  logged_->logged = std::min(logged_->logged, static_cast<uint32_t>(mark.undo));
  logged_->move_end = std::min(logged_->move_end, logged_->logged);
  logged_->moved = std::min(logged_->moved, logged_->logged);
  logged_->move_operations = std::min(logged_->move_operations, logged_->moved);
  return status;
}

void Txn::take_back(const Mark& mark) {
  for (size_t i = undo_.size(); i > mark.undo; --i) tree::TreeState::roll_back(undo_[i - 1], id_);
  undo_.resize(mark.undo);
  if (layered_dead_ != nullptr) layered_dead_->clear();
  for (; key_blocks_.size() > mark.key_blocks; key_blocks_.pop_back()) {
    services_.store->arena->release(os::Quota::kOther, key_blocks_.back(), kKeyBlockBytes);
  }
  key_at_ = mark.key_at;
  key_end_ = mark.key_end;
  for (; large_.size() > mark.large; large_.pop_back()) {
    large_bytes_ -=
        sizeof(large_.back()) + large_.back().capacity() * sizeof(format::ExtentAddress);
    if (drop_large) drop_large(large_.back());
  }
}

}  // namespace hawthorn::txn
