#include "txn/reappender.h"

#include <algorithm>

#include "os/test_point.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kStepBytes = size_t{2} << 20;
constexpr uint32_t kChunkOperations = 4096;  // looked at for one chunk, at most
// So many times the bytes of all open transactions must have been logged since: else their moves
// alone would be reason enough for the next ones.
constexpr uint64_t kPatience = 4;
}  // namespace

Status PrepareRecords::for_each(
    TxnId txn, Lsn first_lsn, uint32_t operations, size_t record_bytes_max,
    const std::function<Status(std::string_view payload, bool last)>& append) const {
  const size_t room =
      std::min(record_bytes_max, kChunkBytes) - sizeof(format::PrepareHeader) - id.size();
  const size_t parts = std::max<size_t>(1, (held.size() + room - 1) / room);
  for (size_t part = 0; part < parts; ++part) {
    const std::string payload =
        format::encode_prepare({.transaction = txn,
                                .first_lsn = first_lsn,
                                .timestamp = timestamp,
                                .wall_us = wall_us,
                                .operations = operations,
                                .part = static_cast<uint32_t>(part),
                                .parts = static_cast<uint32_t>(parts),
                                .id_bytes = 0},
                               id, std::string_view(held).substr(part * room, room));
    if (Status s = append(payload, part + 1 == parts); !s.ok()) return s;
  }
  return {};
}

void Reappender::add(std::shared_ptr<LoggedTxn> txn) {
  os::MutexLock lock(mutex_);
  txns_.push_back(std::move(txn));
}

void Reappender::count(LoggedTxn& txn, uint64_t bytes) {
  txn.bytes += bytes;
  logged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void Reappender::remove(LoggedTxn& txn) {
  {
    os::MutexLock lock(txn.mutex);
    txn.undo = nullptr;
    logged_bytes_.fetch_sub(txn.bytes, std::memory_order_relaxed);
    txn.bytes = 0;
  }
  os::MutexLock lock(mutex_);
  std::erase_if(txns_,
                [&](const std::shared_ptr<LoggedTxn>& other) { return other.get() == &txn; });
}

std::shared_ptr<LoggedTxn> Reappender::oldest(Lsn* first_lsn) const {
  *first_lsn = format::kLsnMax;
  std::shared_ptr<LoggedTxn> found;
  os::MutexLock lock(mutex_);
  for (const std::shared_ptr<LoggedTxn>& txn : txns_) {
    if (txn->stays.load(std::memory_order_acquire)) continue;
    const Lsn first = slots_->first_lsn(txn->id);
    if (first >= *first_lsn) continue;
    *first_lsn = first;
    found = txn;
  }
  return found;
}

bool Reappender::due(uint64_t limit) const {
  const uint64_t logged = logged_bytes_.load(std::memory_order_relaxed);
  if (logged == 0) return false;
  const Lsn head = sequencer_->log()->head();
  if (head - sequencer_->log()->trimmed() <= limit) return false;
  Lsn first = 0;
  return oldest(&first) != nullptr && head > first + limit / 2 + kPatience * logged;
}

Status Reappender::step(bool* moved) {
  *moved = false;
  if (moving_.exchange(true, std::memory_order_acquire)) return {};
  Lsn first = 0;
  const std::shared_ptr<LoggedTxn> txn = oldest(&first);
  Status status;
  bool more = txn != nullptr;
  for (size_t bytes = 0; more && bytes < kStepBytes;) {
    if (!txn->mutex.try_lock()) break;
    more = txn->undo != nullptr && !txn->stays.load(std::memory_order_relaxed);
    if (more) {
      status = move_chunk(*txn, &bytes);
      *moved = *moved || status.ok();
      more = status.ok() && txn->move_start != 0;
    }
    txn->mutex.unlock();
    HAWTHORN_TEST_POINT("reappender.after_chunk");
  }
  moving_.store(false, std::memory_order_release);
  return status;
}

Status Reappender::move(LoggedTxn& txn) {
  for (os::SpinWait wait; moving_.exchange(true, std::memory_order_acquire);) wait.once();
  const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> until_here(
      &moving_, [](std::atomic<bool>* moving) { moving->store(false, std::memory_order_release); });
  os::MutexLock lock(txn.mutex);
  size_t bytes = 0;
  Status status;
  do {
    status = move_chunk(txn, &bytes);
  } while (status.ok() && txn.move_start != 0);
  return status;
}

Status Reappender::move_chunk(LoggedTxn& txn, size_t* bytes) {
  if (txn.move_start == 0) {
    txn.move_start = sequencer_->log()->head();
    txn.moved = 0;
    txn.move_end = txn.logged;
    txn.move_operations = 0;
  }
  const size_t room = sequencer_->chunk_bytes_max();
  operations_.clear();
  uint32_t first_seq = 0;
  uint32_t count = 0;
  uint32_t next = txn.moved;
  const uint32_t end = std::min(txn.move_end, next + kChunkOperations);
  for (; next < end && operations_.size() < kChunkBytes; ++next) {
    const tree::Undo& undo = (*txn.undo)[next];
    if (count == 0) first_seq = undo.seq;
    if (undo.seq != first_seq + count) break;  // a chunk has no gaps
    const size_t before = operations_.size();
    if (!tree::TreeState::append_open(undo, txn.id, &operations_)) {
      // Of a prepared transaction all operations must be found, also those that nobody needs.
      if (!undo.tree->drop_durable.load(std::memory_order_acquire)) {
        if (txn.prepared == nullptr) continue;
        return Status(StatusCode::kBusy, "a tree could not be dropped as a whole");
      }
      format::append_operation(operations_,
                               {format::OperationType::kDelete, undo.tree->id(), undo.key, {}});
    }
    if (count > 0 && operations_.size() > room) {
      operations_.resize(before);
      break;
    }
    ++count;
  }
  if (count > 0) {
    Lsn lsn = 0;
    if (Status s = sequencer_->append_chunk(txn.id, first_seq, count, operations_, &lsn); !s.ok()) {
      return s;
    }
  }
  *bytes += operations_.size();
  txn.moved = next;
  txn.move_operations += count;
  if (txn.moved < txn.move_end) return {};
  if (txn.prepared != nullptr) {
    if (Status s = move_prepared(txn, bytes); !s.ok()) return s;
  }
  // All of it stands above move_start. Whatever is cut from now on keeps the log from there (R8).
  txn.first_chunk = txn.move_start;
  txn.logged_id = txn.id;
  slots_->set_first_lsn(txn.id, txn.move_start);
  txn.move_start = 0;
  return {};
}

// Behind its operations: what the owner has logged since the move began is there, too.
Status Reappender::move_prepared(LoggedTxn& txn, size_t* bytes) {
  const uint32_t operations = txn.move_operations + (txn.logged - txn.move_end);
  Lsn last = 0;
  Status status = txn.prepared->for_each(
      txn.id, txn.move_start, operations, sequencer_->record_bytes_max(),
      [&](std::string_view payload, bool) {
        *bytes += payload.size();
        return sequencer_->append(format::RecordType::kPrepare, 0, {&payload, 1}, &last);
      });
  HAWTHORN_TEST_POINT("reappender.before_durable");
  return status.ok() ? sequencer_->log()->wait_durable(last) : status;
}

}  // namespace hawthorn::txn
