#include "txn/sequencer.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/test_point.h"
#include "tree/tree.h"

namespace hawthorn::txn {

namespace {
constexpr int kValidationsAhead = 3;

// A number that is this thread's own.
uint64_t this_thread_number() {
  static std::atomic<uint64_t> next{1};
  thread_local const uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

Status waits_for_itself() {
  return Status(StatusCode::kInvalidArgument,
                "this thread has an exclusive transaction open, and would wait for it for ever");
}

Status waits_for_exclusive() {
  return Status(StatusCode::kTimedOut,
                "another transaction is exclusive, whose end is to be waited for");
}
}  // namespace

void Sequencer::start(wal::Log* log, Lsn visible) {
  log_ = log;
  visible_.store(visible, std::memory_order_release);
}

// Large read sets are validated before the turn, and what was committed meanwhile again, as long as
// that is likely to help: at its turn all others wait.
CommitCheck::Verdict Sequencer::validate_beforehand(CommitCheck& check, Lsn* seen) {
  CommitCheck::Verdict verdict = CommitCheck::Verdict::kValid;
  for (int attempt = 0; attempt < kValidationsAhead; ++attempt) {
    const Lsn now = visible_.load(std::memory_order_acquire);
    if (now == *seen) break;
    verdict = check.validate_reads();
    if (verdict != CommitCheck::Verdict::kValid) return verdict;
    check.reads_passed(now);
    *seen = now;
  }
  return verdict;
}

// Everything that is committed is visible (R3), so `visible_` tells whether something came since.
CommitCheck::Verdict Sequencer::validate_now(const CommitRequest& request, Lsn seen) {
  CommitCheck::Verdict verdict = CommitCheck::Verdict::kValid;
  if (request.check == nullptr) return verdict;
  if (tree_changes_.load(std::memory_order_relaxed) != request.tree_changes &&
      !request.check->trees_stand()) {
    return CommitCheck::Verdict::kConflict;
  }
  if (request.writes && slots_->contended(request.id)) verdict = request.check->validate_writes();
  if (verdict != CommitCheck::Verdict::kValid || !request.reads) return verdict;
  const Lsn now = visible_.load(std::memory_order_relaxed);
  if (now != seen) verdict = request.check->validate_reads();
  return verdict;
}

bool Sequencer::drops_prepared(const CommitRequest& request) const {
  return std::any_of(prepared_.begin(), prepared_.end(), [&](const PreparedWork* other) {
    return request.check->drops_tree_of(*other);
  });
}

// Under the log's mutex. A prepared transaction will commit after this record, whatever comes: so
// nothing that it has read may change with this one; nor may this one prepare on what it changes,
// as then it could not commit behind it any more.
bool Sequencer::meets_prepared(const CommitRequest& request) const {
  if (request.check == nullptr) return false;
  const bool has_read = request.prepares != nullptr && !request.prepares->reads.empty();
  for (const PreparedWork* other : prepared_) {
    if (!other->reads.empty() && request.check->writes_into(other->reads)) return true;
    for (size_t i = 0; has_read && i < other->undo->size(); ++i) {
      const tree::Undo& undo = (*other->undo)[i];
      if (request.prepares->reads.contains(undo.tree->id(), undo.key)) return true;
    }
  }
  return false;
}

void Sequencer::add_prepared(const PreparedWork* work) {
  prepared_.push_back(work);
  if (!work->reads.empty()) fences_.fetch_add(1, std::memory_order_relaxed);
}

void Sequencer::remove_prepared(const PreparedWork* work) {
  if (std::erase(prepared_, work) == 0 || work->reads.empty()) return;
  fences_.fetch_sub(1, std::memory_order_relaxed);
}

void Sequencer::adopt(const PreparedWork* work) {
  os::MutexLock lock(log_->mutex());
  add_prepared(work);
}

void Sequencer::forget(const PreparedWork* work) {
  os::MutexLock lock(log_->mutex());
  remove_prepared(work);
}

Status Sequencer::commit(const CommitRequest& request, Lsn* cts) {
  using Verdict = CommitCheck::Verdict;
  const uint64_t checksum = log_->checksum_for_append(request.payload);
  size_t payload_bytes = 0;
  for (const std::string_view piece : request.payload) payload_bytes += piece.size();
  log_->pace(payload_bytes);
  Lsn seen = 0;
  for (;;) {
    HAWTHORN_TEST_POINT("sequencer.commit.before_lock");
    Verdict verdict = Verdict::kValid;
    if (request.reads) verdict = validate_beforehand(*request.check, &seen);
    if (verdict == Verdict::kValid) {
      HAWTHORN_TEST_POINT("sequencer.commit.validated");
      os::MutexLock lock(log_->mutex());
      if (Status s = await_turn(request, log_->mutex()); !s.ok()) return s;
      verdict = validate_now(request, seen);
      if (verdict == Verdict::kValid && request.changes_trees && drops_prepared(request)) {
        return Status(StatusCode::kBusy, "a prepared transaction uses a tree that is to go");
      }
      if (verdict == Verdict::kValid && (fenced() || request.prepares != nullptr) &&
          meets_prepared(request)) {
        verdict = Verdict::kConflict;
      }
      const Lsn lsn =
          verdict != Verdict::kValid
              ? 0
              : log_->try_append(request.type, request.operations, request.payload, checksum);
      if (lsn != 0 && request.prepares != nullptr) {
        add_prepared(request.prepares);
        *cts = lsn;
        return {};
      }
      if (lsn != 0) {
        HAWTHORN_TEST_POINT("sequencer.commit.after_append");
        if (request.ends != nullptr) remove_prepared(request.ends);
        // Before anybody can find its versions committed.
        ending_.store(lsn, std::memory_order_release);
        if (request.layers) request.check->show_layers(lsn);
        slots_->commit(request.id, lsn);
        if (request.changes_trees) {
          request.check->change_trees(lsn);
          tree_changes_.fetch_add(1, std::memory_order_release);
        }
        HAWTHORN_TEST_POINT("sequencer.commit.before_visible");
        visible_.store(lsn, std::memory_order_release);
        commits_.store(commits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        *cts = lsn;
        return {};
      }
    }
    if (verdict == Verdict::kConflict) return conflict();
    if (verdict == Verdict::kMustRead) {
      Result<bool> valid = request.check->read_ahead();
      if (!valid.ok()) return valid.status();
      if (!*valid) return conflict();
    } else if (Status s = log_->wait_room(payload_bytes); !s.ok()) {
      return s;
    }
  }
}

Status Sequencer::await_exclusive(TxnId id, os::Mutex& log_mutex) {
  while (exclusive_ != 0 && exclusive_ != id) {
    if (exclusive_thread_ == this_thread_number()) return waits_for_itself();
    ++exclusive_waiters_;
    const bool in_time = exclusive_ended_.wait_for(log_mutex, os::interrupt_turn_us());
    --exclusive_waiters_;
    if (in_time) continue;
    log_mutex.unlock();
    const bool interrupted = os::interrupted();
    log_mutex.lock();
    if (interrupted) return waits_for_exclusive();
  }
  return {};
}

Status Sequencer::await_turn(const CommitRequest& request, os::Mutex& log_mutex) {
  if (!request.aside) {
    return await_exclusive(request.id, log_mutex);
  }
  if (exclusive_ == 0 || exclusive_thread_ == this_thread_number()) return {};
  return Status(StatusCode::kBusy, "another thread's transaction is exclusive");
}

Status Sequencer::pass_moment(TxnId id, Lsn* lsn) {
  const std::span<const std::string_view> nothing;
  const uint64_t checksum = log_->checksum_for_append(nothing);
  for (;;) {
    {
      os::MutexLock lock(log_->mutex());
      if (Status s = await_exclusive(id, log_->mutex()); !s.ok()) return s;
      *lsn = log_->try_append(format::RecordType::kCommit, 0, nothing, checksum);
      if (*lsn != 0) {
        visible_.store(*lsn, std::memory_order_release);
        return {};
      }
    }
    if (Status s = log_->wait_room(0); !s.ok()) return s;
  }
}

Status Sequencer::append_commit(const CommitRequest& request, Lsn* cts) {
  return append(request.type, request.operations, request.payload, cts);
}

void Sequencer::show(TxnId id, Lsn cts) {
  os::MutexLock lock(log_->mutex());
  HAWTHORN_ASSERT(exclusive_ == id && cts > visible_.load(std::memory_order_relaxed));
  ending_.store(cts, std::memory_order_release);
  slots_->commit(id, cts);
  visible_.store(cts, std::memory_order_release);
  commits_.store(commits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Status Sequencer::conflict() {
  count_conflict();
  return Status(StatusCode::kConflict);
}

Status Sequencer::append(format::RecordType type, uint32_t operations,
                         std::span<const std::string_view> payload, Lsn* lsn) {
  const uint64_t checksum = log_->checksum_for_append(payload);
  size_t payload_bytes = 0;
  for (const std::string_view piece : payload) payload_bytes += piece.size();
  log_->pace(payload_bytes);
  for (;;) {
    {
      os::MutexLock lock(log_->mutex());
      *lsn = log_->try_append(type, operations, payload, checksum);
      if (*lsn != 0) return {};
    }
    if (Status s = log_->wait_room(payload_bytes); !s.ok()) return s;
  }
}

Status Sequencer::append_chunk(TxnId id, uint32_t first_seq, uint32_t count,
                               std::string_view operations, Lsn* lsn) {
  char header[format::kChunkHeaderBytes];
  store(header, static_cast<uint64_t>(id));
  store(header + 8, first_seq);
  const std::string_view payload[] = {{header, sizeof(header)}, operations};
  return append(format::RecordType::kChunk, count, payload, lsn);
}

size_t Sequencer::record_bytes_max() const { return log_->payload_bytes_max(); }

size_t Sequencer::chunk_bytes_max() const {
  return log_->payload_bytes_max() - format::kChunkHeaderBytes;
}

Status Sequencer::make_durable(Lsn cts, Durability durability) {
  switch (durability) {
    case Durability::kDefault:
    case Durability::kNone:
      return {};
    case Durability::kAsync:
      log_->request_durable(cts);
      return {};
    case Durability::kFull:
      break;
  }
  Status s = log_->wait_commit(cts);
  if (s.ok()) return s;
  return Status(StatusCode::kUnknownOutcome,
                "the commit is in the log, but its sync failed, so that a crash may lose it: " +
                    s.to_string());
}

Status Sequencer::begin_exclusive(TxnId id, uint64_t timeout_us, Lsn* read_ts) {
  const auto take = [&]() REQUIRES(log_->mutex()) {
    exclusive_ = id;
    exclusive_thread_ = this_thread_number();
    *read_ts = visible_.load(std::memory_order_relaxed);
  };
  ExclusiveWaiter waiter;
  {
    os::MutexLock lock(log_->mutex());
    if (exclusive_ == 0 && exclusive_queue_ == nullptr) {
      take();
      return {};
    }
    if (exclusive_ != 0 && exclusive_thread_ == this_thread_number()) return waits_for_itself();
    ExclusiveWaiter** last = &exclusive_queue_;
    while (*last != nullptr) last = &(*last)->next;
    *last = &waiter;
  }
  HAWTHORN_TEST_POINT("sequencer.begin_exclusive.waits");
  const bool in_time = waiter.turn.wait_for(timeout_us);
  {
    os::MutexLock lock(log_->mutex());
    ExclusiveWaiter** at = &exclusive_queue_;
    while (*at != &waiter) at = &(*at)->next;
    *at = waiter.next;
    if (waiter.is_its_turn) take();
  }
  if (!waiter.is_its_turn) return waits_for_exclusive();
  // Who has said that it is this one's turn is about to set it.
  if (!in_time) waiter.turn.wait();
  return {};
}

Status Sequencer::may_wait_for_exclusive() {
  os::MutexLock lock(log_->mutex());
  const bool own = exclusive_ != 0 && exclusive_thread_ == this_thread_number();
  return own ? waits_for_itself() : Status();
}

void Sequencer::end_exclusive(TxnId id) {
  bool waited_for = false;
  ExclusiveWaiter* next = nullptr;
  {
    os::MutexLock lock(log_->mutex());
    if (exclusive_ != id) return;
    exclusive_ = 0;
    exclusive_thread_ = 0;
    waited_for = exclusive_waiters_ > 0;
    next = exclusive_queue_;
    if (next != nullptr) next->is_its_turn = true;
  }
  if (next != nullptr) next->turn.set();
  // A wake is a system call: only where somebody waits.
  if (waited_for) exclusive_ended_.notify_all();
}

}  // namespace hawthorn::txn
