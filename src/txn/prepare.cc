// Prepared transactions: how one comes to be, how it ends, and how one that was found when the
// database was opened is put back.
//
// 1. Who writes a row asks for its lock, or asks whether it is locked, under the latch of its
//    container; so with all its rows locked, and nobody else's intent on them, a transaction that
//    is valid when its prepare record is logged stays so. Nothing is validated when it commits.
// 2. Its outcome names it as its chunks do: by its id in the epoch of the first one that counts.
// 3. The rollback is durable before the log may let go of what it rolls back: a prepare record
//    without outcome has all of its chunks.

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "format/catalog_entry.h"
#include "os/test_point.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

namespace {
constexpr uint64_t kGivenBackUsMax = 1'000'000;
}

bool Txn::writes_into(const ReadFence& reads) const {
  for (size_t i = 0; i < undo_.size(); ++i) {
    if (reads.contains(undo_[i].tree->id(), undo_[i].key)) return true;
  }
  // Which keys a layer has only the disk may know.
  return std::any_of(layers_.begin(), layers_.end(),
                     [&](const OwnLayer& own) { return reads.has_tree(own.tree->id()); });
}

bool Txn::drops_tree_of(const PreparedWork& work) const {
  for (size_t i = 0; i < work.undo->size(); ++i) {
    if (tree_changes_.has_dropped((*work.undo)[i].tree->id())) return true;
  }
  const auto& ranges = work.reads.ranges();
  return std::any_of(ranges.begin(), ranges.end(), [this](const format::PreparedRead& read) {
    return tree_changes_.has_dropped(read.tree);
  });
}

// Where nothing of it is logged yet.
void Txn::begin_logging() {
  const Lsn head = services_.sequencer->log()->head();
  services_.store->slots->set_first_lsn(id_, head);
  logged_ = std::make_shared<LoggedTxn>(id_);
  {
    os::MutexLock lock(logged_->mutex);
    logged_->undo = &undo_;
    logged_->first_chunk = head;
  }
  services_.reappender->add(logged_);
}

// Those that do not follow from what it wrote.
void Txn::note_held_locks(std::string* held) const {
  if (locks_.empty()) return;
  std::vector<std::pair<uint32_t, std::string_view>> written;
  written.reserve(undo_.size());
  for (size_t i = 0; i < undo_.size(); ++i) {
    written.emplace_back(undo_[i].tree->id(), undo_[i].key);
  }
  std::sort(written.begin(), written.end());
  locks_.for_each([&](uint32_t tree, std::string_view key, LockMode mode) {
    if (std::binary_search(written.begin(), written.end(), std::pair(tree, key))) return;
    format::append_prepared_lock(*held, static_cast<uint8_t>(mode), tree, key);
  });
}

// All rows that it wrote, and nobody else has an intent there. On an error, none that it had not.
Status Txn::lock_written(uint64_t timeout_us) {
  const size_t held = locks_.size();
  for (size_t i = 0; i < undo_.size(); ++i) {
    const tree::Undo& undo = undo_[i];
    Status status = lock_row(undo.tree, undo.key, LockMode::kExclusive, timeout_us);
    if (status.ok()) continue;
    services_.row_locks->release_to(locks_, held);
    return status;
  }
  return {};
}

// The last record decides. Under the mutex of the moves, so that a move either ends before it or
// finds a prepared transaction.
Status Txn::log_prepare(const CommitRequest& request, PrepareRecords* records, Lsn* lsn) {
  Sequencer& sequencer = *services_.sequencer;
  return with_log_space([&] {
    os::MutexLock lock(logged_->mutex);
    const auto operations = static_cast<uint32_t>(undo_.size());
    Status status = records->for_each(
        id_, logged_->first_chunk, operations, sequencer.record_bytes_max(),
        [&](std::string_view payload, bool last) {
          if (!last) {
            return sequencer.append(format::RecordType::kPrepare, 0, {&payload, 1}, lsn);
          }
          CommitRequest decides = request;
          decides.payload = {&payload, 1};
          return sequencer.prepare(decides, lsn);
        });
    if (!status.ok()) return status;
    services_.reappender->count(*logged_, records->bytes());
    logged_->prepared = std::make_unique<const PrepareRecords>(std::move(*records));
    records_ = logged_->prepared.get();
    return status;
  });
}

Status Txn::prepare(std::string_view id) {
  HAWTHORN_ASSERT(mode_ == Mode::kOptimistic || mode_ == Mode::kPessimistic);
  if (!broken_.ok()) return broken_;
  if (!tree_changes_.empty()) {
    return Status(StatusCode::kNotSupported,
                  "a transaction that makes or drops trees cannot be prepared");
  }
  if (Status s = may_bring_back(); !s.ok()) return s;
  if (Status s = ask_hooks(0, Durability::kFull); !s.ok()) return s;
  prepared_operations_ = info(0, Durability::kFull).operations;
  // Who asks for a lock of what was in layers finds it taken, and gives it back at once.
  const uint64_t timeout_us =
      layers_.empty() ? lock_timeout_us_ : std::max(lock_timeout_us_, kGivenBackUsMax);
  if (!layers_.empty()) {
    if (Status s = bring_back(timeout_us); !s.ok()) return s;
  }
  PrepareRecords records{.id = std::string(id), .held = {}};
  note_held_locks(&records.held);
  const size_t locks = locks_.size();
  if (Status s = lock_written(timeout_us); !s.ok()) return s;
  if (!operations_.empty()) {
    if (broken_ = log_in_chunks(operations_); !broken_.ok()) {
      give_up_log();
      services_.row_locks->release_to(locks_, locks);
      return broken_;
    }
    operations_.clear();
  }
  if (logged_ == nullptr) begin_logging();
  auto work = std::make_unique<PreparedWork>();
  work->undo = &undo_;
  reads_.fold_walks();
  // What only reads sees one moment, whatever comes.
  if (!undo_.empty()) reads_.fence(&work->reads);
  work->reads.seal();
  for (const format::PreparedRead& read : work->reads.ranges()) {
    format::append_prepared_read(records.held, read);
  }
  records.timestamp = services_.sequencer->visible().load(std::memory_order_acquire);
  records.wall_us = services_.store->machine->clock->wall_us();
  CommitRequest request;
  request.id = id_;
  request.type = format::RecordType::kPrepare;
  request.reads = !work->reads.empty();
  request.prepares = work.get();
  request.check = this;
  request.writes = context_.check_conflicts;
  request.tree_changes = tree_changes_seen_;
  HAWTHORN_TEST_POINT("txn.prepare.before_record");
  Lsn lsn = 0;
  if (Status s = log_prepare(request, &records, &lsn); !s.ok()) {
    services_.row_locks->release_to(locks_, locks);
    return s;
  }
  HAWTHORN_TEST_POINT("txn.prepare.after_record");
  prepared_ = std::move(work);
  // It has read what it will.
  if (registered_) services_.store->snapshots->remove(registration_.slot);
  registered_ = false;
  for (const auto& floor : floors_) services_.store->snapshots->remove(floor.slot);
  floors_.clear();
  reads_.clear();
  search_.clear();
  marks_.clear();
  count_prepared();
  count_memory();
  const Status durable = services_.sequencer->log()->wait_commit(lsn);
  if (durable.ok()) return {};
  return Status(StatusCode::kUnknownOutcome,
                "the transaction is prepared in the log, but its sync failed, so that a crash may "
                "lose it: " +
                    std::string(durable.message()));
}

void Txn::count_prepared() {
  size_t bytes = 0;
  if (prepared_ != nullptr) bytes += prepared_->reads.bytes();
  if (records_ != nullptr) bytes += records_->held.capacity();
  if (bytes == prepared_bytes_) return;
  services_.store->arena->charge(
      os::Quota::kOther, static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(prepared_bytes_));
  prepared_bytes_ = bytes;
}

// On an error it may be moved again, as before.
Status Txn::log_outcome(format::RecordType type, Lsn* lsn) {
  const Lsn first_lsn = stop_moves();
  TxnId logged_id = 0;
  {
    os::MutexLock lock(logged_->mutex);
    logged_id = logged_->logged_id;
  }
  char header[16];
  store(header, static_cast<uint64_t>(logged_id));
  store(header + 8, static_cast<uint64_t>(first_lsn));
  const std::string_view payload[] = {{header, sizeof(header)}};
  Status status = with_log_space([&] {
    if (type == format::RecordType::kPreparedAbort) {
      return services_.sequencer->append(type, 0, payload, lsn);
    }
    CommitRequest request;
    request.id = id_;
    request.type = type;
    request.payload = payload;
    request.ends = prepared_.get();
    return services_.sequencer->commit(request, lsn);
  });
  if (status.ok() && type == format::RecordType::kPreparedAbort) {
    const Status durable = services_.sequencer->log()->wait_durable(*lsn);
    if (!durable.ok()) {
      status = Status(StatusCode::kUnknownOutcome,
                      "the rollback is in the log, but its sync failed, so that a crash may find "
                      "the transaction prepared still: " +
                          std::string(durable.message()));
    }
  }
  if (status.ok()) return status;
  os::MutexLock lock(logged_->mutex);
  logged_->undo = &undo_;
  return status;
}

Status Txn::commit_prepared(Durability durability) {
  Lsn cts = 0;
  if (Status s = log_outcome(format::RecordType::kPreparedCommit, &cts); !s.ok()) return s;
  HAWTHORN_TEST_POINT("txn.commit_prepared.after_record");
  stamp_all(cts);
  tell_tree_changes();
  // Of one that open has found nothing else says so.
  for (size_t i = 0; i < undo_.size(); ++i) {
    if (undo_[i].tree->id() != format::kCatalogTree) continue;
    services_.trees->moved();
    break;
  }
  const CommitInfo told{prepared_operations_, durability};
  finish();
  const Status status = services_.sequencer->make_durable(cts, durability);
  tell_hooks(told, cts, status);
  return status;
}

Status Txn::abort_prepared() {
  Lsn lsn = 0;
  if (Status s = log_outcome(format::RecordType::kPreparedAbort, &lsn); !s.ok()) return s;
  services_.sequencer->forget(prepared_.get());
  services_.store->slots->abort(id_);
  for (size_t i = undo_.size(); i > 0; --i) tree::TreeState::roll_back(undo_[i - 1], id_);
  drop_all_large();
  finish();
  return {};
}

void Txn::abandon() {
  if (open()) finish();
}

// ---- Found when the database was opened

Status Txn::begin_found(const FoundPrepared& found) {
  if (Status s = begin({.mode = Mode::kBlind}); !s.ok()) return s;
  // Before its intents: whoever cuts a container keeps the log for them (R8).
  services_.store->slots->set_first_lsn(id_, found.first_lsn);
  context_.log_from = found.first_lsn;
  found_bytes_ = 0;
  return {};
}

Status Txn::install_found(tree::TreeState* tree, const format::Operation& operation, uint32_t seq) {
  keep(tree);
  const size_t key_bytes = operation.key.size() + 1;
  if (Status s = take_memory([&] { return reserve_key(key_bytes); }); !s.ok()) return s;
  if (undo_.full()) {
    if (Status s = take_memory([this] { return undo_.grow(); }); !s.ok()) return s;
  }
  const std::string_view key = keep_key(operation.key);
  context_.seq = seq;
  for (uint32_t futile = 0;;) {
    context_.layers = tree->layers().state();  // nobody has his key there: it was locked
    Status s = tree->write(context_, key, tree::version_kind(operation.type), operation.value);
    if (!s.is(StatusCode::kOutOfMemory)) {
      if (!s.ok()) return s;
      found_bytes_ += operation.key.size() + operation.value.size();
      if (operation.type == format::OperationType::kPutLarge) {
        own_large(operation.value);
      }
      return s;
    }
    if (s = services_.admission->relieve(&futile); !s.ok()) return s;
  }
}

Status Txn::end_found(const FoundPrepared& found) {
  Result<format::PreparedHeld> held = format::decode_prepared_held(found.records.held);
  if (!held.ok()) return held.status();
  RowLocks& row_locks = *services_.row_locks;
  for (size_t i = 0; i < undo_.size(); ++i) {
    const uint32_t tree = undo_[i].tree->id();
    Status s = row_locks.acquire(locks_, id_, tree, undo_[i].key, LockMode::kExclusive, 0);
    if (!s.ok()) return s;
  }
  for (const format::PreparedLock& lock : held->locks) {
    const auto mode = static_cast<LockMode>(lock.mode);
    if (Status s = row_locks.acquire(locks_, id_, lock.tree, lock.key, mode, 0); !s.ok()) return s;
  }
  prepared_ = std::make_unique<PreparedWork>();
  prepared_->undo = &undo_;
  for (format::PreparedRead& read : held->reads) prepared_->reads.add(std::move(read));
  prepared_->reads.seal();
  services_.sequencer->adopt(prepared_.get());
  logged_ = std::make_shared<LoggedTxn>(id_);
  const uint64_t bytes = found.records.bytes() + found_bytes_;
  {
    os::MutexLock lock(logged_->mutex);
    logged_->undo = &undo_;
    logged_->logged = static_cast<uint32_t>(undo_.size());
    logged_->first_chunk = found.first_lsn;
    logged_->logged_id = found.logged_id;
    logged_->prepared = std::make_unique<const PrepareRecords>(found.records);
    records_ = logged_->prepared.get();
    services_.reappender->count(*logged_, bytes);
  }
  services_.reappender->add(logged_);
  chunk_seq_ = found.operations;  // all of them are logged
  prepared_operations_ = found.operations;
  count_prepared();
  count_memory();
  return {};
}

}  // namespace hawthorn::txn
