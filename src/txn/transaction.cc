#include "txn/transaction.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/test_point.h"
#include "tree/cursor.h"
#include "txn/spill_sizing.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kFirstKeysBytes = 4 << 10;
constexpr size_t kStampsAhead = 8;
constexpr size_t kHeapKept = 32 << 10;  // that a finished transaction keeps, and does not count
constexpr uint32_t kTurnsAway = 2;
constexpr size_t kFloorsMax = 64;
}  // namespace

Status Txn::read_only_error() {
  return Status(StatusCode::kReadOnly, "the transaction is read-only");
}

Txn::~Txn() {
  HAWTHORN_ASSERT(!prepared());
  if (open()) abort();
  HAWTHORN_ASSERT(counted_bytes_ == 0);
}

size_t Txn::heap_bytes() const {
  return operations_.capacity() + large_bytes_ + search_.bytes() + reads_.bytes() +
         more_kept_.capacity() * sizeof(tree::TreeRef) + marks_.capacity() * sizeof(Mark) +
         tree_changes_.bytes();
}

// What lies on the heap, and is more than a little, counts until the transaction ends.
void Txn::count_memory() {
  const size_t heap = heap_bytes();
  const size_t bytes = heap > kHeapKept ? heap : 0;
  if (bytes == counted_bytes_) return;
  services_.store->arena->charge(
      os::Quota::kOther, static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(counted_bytes_));
  counted_bytes_ = bytes;
}

Status Txn::begin(const Begin& how) {
  mode_ = how.mode;
  hooks_ = how.hooks;
  read_only_ = how.read_only;
  lock_timeout_us_ = how.lock_timeout_us;
  tree_changes_seen_ = services_.sequencer->tree_changes();
  id_ = services_.store->slots->acquire();
  if (id_ == 0) return Status(StatusCode::kBusy, "too many transactions are open");
  const bool shares_keys = mode_ == Mode::kOptimistic || mode_ == Mode::kPessimistic;
  one_moment_ = !shares_keys || how.level != Level::kReadCommitted;
  tracks_reads_ = shares_keys && how.level == Level::kSerializable && !read_only_;
  read_ts_ = 0;
  logged_from_ = format::kLsnMax;
  if (mode_ == Mode::kExclusive) {
    // Who has locked rows could not commit, nor could this one wait for them.
    Status s = services_.row_locks->close(lock_timeout_us_);
    if (s.ok()) {
      s = services_.sequencer->begin_exclusive(id_, lock_timeout_us_, &read_ts_);
      if (!s.ok()) services_.row_locks->reopen();
    }
    if (!s.ok()) {
      services_.store->slots->release(id_);
      id_ = 0;
      return s;
    }
  } else if (shares_keys && one_moment_) {
    if (how.at.has_value()) {
      registration_ = services_.store->snapshots->share(*how.at);
    } else {
      registration_ = services_.store->snapshots->add(services_.sequencer->visible());
    }
    registered_ = true;
    read_ts_ = registration_.ts;
  }
  context_.id = id_;
  context_.seq = 0;
  context_.read_ts = read_ts_;
  context_.check_conflicts = shares_keys && one_moment_;
  context_.log_from = format::kLsnMax;
  context_.undo = &undo_;
  intent_bytes_ = 0;
  spill_at_ = 0;
  spills_ = how.spills;
  aside_ = how.aside;
  relays_to_ = how.relays_to;
  relays_ = how.relays;
  chunk_seq_ = 0;
  operation_count_ = 0;
  broken_ = {};
  layered_dead_ = nullptr;
  return {};
}

// ---- Reading

void Txn::note_read(const tree::TreeState* tree, std::string_view key) {
  reads_.add(tree, key, read_ts_);
  count_memory();
}

Status Txn::begin_update(tree::TreeState* tree, std::string_view key) {
  if (read_only_) return read_only_error();
  if (mode_ == Mode::kExclusive) return {};
  if (mode_ == Mode::kPessimistic) return lock(tree, key, LockMode::kExclusive, lock_timeout_us_);
  if (one_moment_) {
    note_read(tree, key);
    return {};
  }
  reads_.add(tree, key, floor_now());
  count_memory();
  return {};
}

// The timestamp that an update reads: the present one, registered, since of a key that is there now
// and is deleted later, a flush keeps nothing that no registered timestamp sees (R14). Those that
// update very much read the last of many moments.
Lsn Txn::floor_now() {
  const std::atomic<Lsn>& visible = services_.sequencer->visible();
  const bool newer = floors_.empty() || visible.load(std::memory_order_acquire) > floors_.back().ts;
  if (newer && floors_.size() < kFloorsMax) {
    floors_.push_back(services_.store->snapshots->add(visible));
  }
  return floors_.back().ts;
}

// ---- Locking

Status Txn::lock(tree::TreeState* tree, std::string_view key, LockMode mode, uint64_t timeout_us) {
  if (read_only_) return read_only_error();
  if (Status s = lock_row(tree, key, mode, timeout_us); !s.ok()) return s;
  if (!one_moment_) {
    // Who had an intent there has none any more, and what it has committed is read next.
    services_.sequencer->await_visible();
    return {};
  }
  ConflictSearch search;
  const CheckedKey checked{tree, key, read_ts_};
  Result<bool> valid =
      search.read_ahead(1, [&](size_t) { return checked; }, id_, *services_.store->residency);
  if (!valid.ok()) return valid.status();
  if (*valid) return {};
  services_.sequencer->count_conflict();
  return Status(StatusCode::kConflict);
}

// A lock that fails leaves nothing behind. Who has the key in a layer is waited for without the
// lock: he has given his back, and takes it again where he writes the key again or is prepared.
Status Txn::lock_row(tree::TreeState* tree, std::string_view key, LockMode mode,
                     uint64_t timeout_us) {
  RowLocks& row_locks = *services_.row_locks;
  for (;;) {
    const size_t before = locks_.size();
    if (Status s = row_locks.acquire(locks_, id_, tree->id(), key, mode, timeout_us); !s.ok()) {
      return s;
    }
    // Held already: others were waited for then.
    if (locks_.size() == before) return {};
    Status status = await_intents(tree, key, timeout_us);
    Result<TxnId> holder(TxnId{0});
    if (status.ok() && tree->layers().any()) holder = tree->layer_holder(key, id_, true);
    if (!holder.ok()) status = holder.status();
    if (status.ok() && *holder == 0) return status;
    row_locks.release_to(locks_, before);
    if (status.ok()) status = await_layers(tree, key, timeout_us);
    if (!status.ok()) return status;
  }
}

// Until nobody else has the key in a layer. Whoever has it holds it as he would hold a lock.
Status Txn::await_layers(tree::TreeState* tree, std::string_view key, uint64_t timeout_us) {
  const auto holder = [&] {
    context_.layers = tree->layers().state();
    // Who holds a range of an exclusive one's commits behind it, and waits for that.
    return tree->layer_holder(key, id_, mode_ != Mode::kExclusive);
  };
  return await_end(tree, key, timeout_us, holder);
}

// Writers that take no locks may have been here before the lock. Mostly they are about to commit;
// an optimistic transaction may take its time.
Status Txn::await_intents(tree::TreeState* tree, std::string_view key, uint64_t timeout_us) {
  return await_end(tree, key, timeout_us,
                   [&]() -> Result<TxnId> { return tree->open_intent(key, id_); });
}

// Waits until `find` finds no other transaction any more.
template <typename Find>
Status Txn::await_end(const tree::TreeState* tree, std::string_view key, uint64_t timeout_us,
                      Find find) {
  Result<TxnId> other = find();
  if (!other.ok()) return other.status();
  if (*other == 0) return {};
  os::Clock& clock = *services_.store->machine->clock;
  const uint64_t began = clock.monotonic_us();
  Status status;
  for (os::SpinWait wait; status.ok() && *other != 0;) {
    // Who does not wait at all closes no cycle of those who do.
    if (timeout_us != 0) status = services_.row_locks->begin_wait(id_, *other);
    if (status.ok() && (clock.monotonic_us() - began >= timeout_us || os::interrupted())) {
      status = Status(StatusCode::kTimedOut, "transaction " + std::to_string(*other) +
                                                 " has written " + tree::quoted_key(key) +
                                                 " of tree " + std::to_string(tree->id()) +
                                                 " and neither committed nor aborted");
    }
    if (!status.ok()) break;
    wait.once();
    other = find();
    if (!other.ok()) status = other.status();
  }
  services_.row_locks->end_wait(id_);
  return status;
}

// ---- Writing

// Makes room for a key of so many bytes. False: the arena has no memory.
bool Txn::reserve_key(size_t bytes) {
  if (static_cast<size_t>(key_end_ - key_at_) >= bytes) return true;
  if (key_at_ == nullptr && bytes <= kFirstKeysBytes) {
    if (first_keys_ == nullptr) {
      first_keys_ = std::make_unique_for_overwrite<char[]>(kFirstKeysBytes);
    }
    key_at_ = first_keys_.get();
    key_end_ = key_at_ + kFirstKeysBytes;
    return true;
  }
  char* block = services_.store->arena->allocate(os::Quota::kOther, kKeyBlockBytes);
  if (block == nullptr) return false;
  key_blocks_.push_back(block);
  key_at_ = block;
  key_end_ = block + kKeyBlockBytes;
  return true;
}

std::string_view Txn::keep_key(std::string_view key) {
  char* to = key_at_;
  copy_bytes(to, key);
  key_at_ += key.size();
  return {to, key.size()};
}

Status Txn::install(tree::TreeState* tree, format::OperationType type, std::string_view key,
                    std::string_view value) {
  if (Status s = services_.admission->admit(key.size() + value.size() + kVersionOverhead,
                                            type != format::OperationType::kDelete);
      !s.ok()) {
    return s;
  }
  if (undo_.full()) {
    if (Status s = take_memory([this] { return grow_undo(); }); !s.ok()) return s;
  }
  const size_t locks = locks_.size();
  uint32_t turned_away = 0;
  for (uint32_t futile = 0;;) {
    context_.layers = tree->layers().state();
    if (tree::Layers::any(context_.layers)) {
      if (Status s = await_layers(tree, key, lock_timeout_us_); !s.ok()) return s;
      if (layered_dead_ != nullptr) layered_dead_->revive(tree->id(), key);
    }
    HAWTHORN_TEST_POINT("txn.layers_asked");
    Status s = tree->write(context_, key, tree::version_kind(type), value);
    if (s.is(StatusCode::kBusy))
      s = await_unlocked(tree, key, ++turned_away);
    else if (s.is(StatusCode::kOutOfMemory))
      s = services_.admission->relieve(&futile);
    else {
      if (s.is_conflict()) services_.sequencer->count_conflict();
      // Who locks the row from now on finds the intent.
      if (locks_.size() > locks) services_.row_locks->release_to(locks_, locks);
      if (context_.may_be_empty) look_for_dead();
      return s;
    }
    if (!s.ok()) return s;
  }
}

void Txn::look_for_dead() {
  context_.may_be_empty = false;
  tree::TreeCursor::look_for_dead(undo_[undo_.size() - 1], view());
}

// Others may lock the row again each time before this one gets there; then it takes a lock itself,
// in its turn, until its intent is installed.
Status Txn::await_unlocked(const tree::TreeState* tree, std::string_view key,
                           uint32_t turned_away) {
  RowLocks& row_locks = *services_.row_locks;
  if (turned_away <= kTurnsAway) {
    return row_locks.wait_unlocked(id_, tree->id(), key, lock_timeout_us_);
  }
  return row_locks.acquire(locks_, id_, tree->id(), key, LockMode::kExclusive, lock_timeout_us_);
}

const std::shared_ptr<tree::LayeredDead>& Txn::layered_dead(const tree::TreeState& tree) {
  if (layered_dead_ == nullptr && tree.layers().any()) {
    layered_dead_ = std::make_shared<tree::LayeredDead>();
  }
  return layered_dead_;
}

Status Txn::write(tree::TreeState* tree, format::OperationType type, std::string_view key,
                  std::string_view value) {
  const bool large = type == format::OperationType::kPutLarge;
  Status ready = read_only_ ? read_only_error() : broken_;
  if (ready.ok() && locks_rows()) {
    ready = lock_row(tree, key, LockMode::kExclusive, lock_timeout_us_);
  }
  if (ready.ok()) ready = take_memory([&] { return reserve_key(key.size() + 1); });
  if (ready.ok()) ready = install(tree, type, keep_key(key), value);
  if (Status& s = ready; !s.ok()) {
    if (large) drop_extents_of(value);
    return s;
  }
  format::append_operation(operations_, {type, tree->id(), key, value});
  ++operation_count_;
  if (large) own_large(value);
  if (operations_.size() > kHeapKept || large) count_memory();
  intent_bytes_ += key.size() + value.size() + kIntentOverhead;
  if (operations_.size() < kChunkBytes) return spill_if_large();
  // Some chunks may be in the log, and this operation installed: it cannot be taken back alone.
  if (broken_ = log_in_chunks(operations_); !broken_.ok()) {
    give_up_log();
    return broken_;
  }
  operations_.clear();
  return spill_if_large();
}

Status Txn::write_all(std::string_view operations, uint32_t count,
                      const std::function<tree::TreeState*(uint32_t)>& find_tree) {
  const char* at = operations.data();
  const char* end = at + operations.size();
  const char* logged = at;
  const bool may_spill =
      spills_ && operations.size() > memory_share(services_.store->arena->budget()) / 2;
  operation_count_ = count;
  tree::TreeState* tree = nullptr;
  while (at < end) {
    if (may_spill && static_cast<size_t>(at - logged) >= kChunkBytes) {
      const std::string_view chunk(logged, static_cast<size_t>(at - logged));
      if (broken_ = log_in_chunks(chunk); !broken_.ok()) {
        give_up_log();
        return broken_;
      }
      logged = at;
      if (Status s = spill_if_large(); !s.ok()) return s;
    }
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr)
      return Status(StatusCode::kInvalidArgument, "a write batch holds no valid operations");
    if (tree == nullptr || tree->id() != operation.tree) tree = find_tree(operation.tree);
    if (tree == nullptr) {
      return Status(StatusCode::kInvalidArgument, "a write batch names tree " +
                                                      std::to_string(operation.tree) +
                                                      ", which does not exist (any more)");
    }
    if (operation.type == format::OperationType::kDeleteRange) {
      Status hidden = hide_range(tree, operation.key, format::range_end(operation.value));
      if (!hidden.ok()) return hidden;
      continue;
    }
    if (operation.type == format::OperationType::kMerge) {
      if (Status s = tree->can_merge(); !s.ok()) return s;
    }
    if (Status s = install(tree, operation.type, operation.key, operation.value); !s.ok()) return s;
    intent_bytes_ += operation.key.size() + operation.value.size() + kIntentOverhead;
  }
  borrowed_ = {logged, static_cast<size_t>(end - logged)};
  return {};
}

// Logs whole operations, in records that fit the ring. What is logged counts only with the commit
// record.
Status Txn::log_in_chunks(std::string_view operations) {
  const size_t room = services_.sequencer->chunk_bytes_max();
  const char* at = operations.data();
  const char* end = at + operations.size();
  while (at < end) {
    const char* from = at;
    uint32_t count = 0;
    while (at < end) {
      format::Operation operation;
      const char* next = format::decode_operation(at, end, &operation);
      if (count > 0 && static_cast<size_t>(next - from) > room) break;
      at = next;
      ++count;
      if (static_cast<size_t>(at - from) >= kChunkBytes) break;
    }
    if (Status s = log_chunk({from, static_cast<size_t>(at - from)}, count, chunk_seq_); !s.ok())
      return s;
    chunk_seq_ += count;
    operation_count_ -= count;
  }
  return {};
}

Status Txn::log_chunk(std::string_view operations, uint32_t count, uint32_t first_seq) {
  Sequencer& sequencer = *services_.sequencer;
  Reappender& reappender = *services_.reappender;
  Lsn lsn = 0;
  if (logged_ != nullptr) {
    return with_log_space([&] {
      os::MutexLock lock(logged_->mutex);
      Status s = sequencer.append_chunk(id_, first_seq, count, operations, &lsn);
      if (!s.ok()) return s;
      logged_->logged += count;
      reappender.count(*logged_, operations.size());
      return s;
    });
  }
  if (Status s = with_log_space([&] {
        // Before the record: whoever cuts a container meanwhile keeps the log for it (R8). Anew
        // each time, so that a log without space need not keep what comes before the first chunk.
        services_.store->slots->set_first_lsn(id_, sequencer.log()->head());
        return sequencer.append_chunk(id_, first_seq, count, operations, &lsn);
      });
      !s.ok()) {
    return s;
  }
  logged_ = std::make_shared<LoggedTxn>(id_);
  logged_->stays.store(!layers_.empty(), std::memory_order_relaxed);
  {
    os::MutexLock lock(logged_->mutex);
    logged_->undo = attaching_ ? nullptr : &undo_;
    logged_->logged = count;
    logged_->first_chunk = lsn;
    reappender.count(*logged_, operations.size());
  }
  reappender.add(logged_);
  return {};
}

// It will not commit, so it needs no log, for however long it stays.
void Txn::give_up_log() {
  if (logged_ != nullptr) services_.reappender->remove(*logged_);
  services_.store->slots->set_first_lsn(id_, format::kLsnMax);
}

bool Txn::grow_undo() {
  if (logged_ == nullptr) return undo_.grow();
  os::MutexLock lock(logged_->mutex);
  return undo_.grow();
}

// From here on its chunks stay where they are: as the result says, which its commit record repeats.
// So this does not wait for others while it holds a lock that they may need.
Lsn Txn::stop_moves() {
  os::MutexLock lock(logged_->mutex);
  logged_->undo = nullptr;
  return logged_->first_chunk;
}

// First committer wins (R18).
CheckedKey Txn::written(size_t number) const {
  return {undo_[number].tree, undo_[number].key, read_ts_};
}

CommitCheck::Verdict Txn::validate_writes() {
  if (!context_.check_conflicts) return Verdict::kValid;
  if (spilled_beside_range()) return Verdict::kConflict;
  return search_.validate(undo_.size(), [this](size_t i) { return written(i); }, id_);
}

CommitCheck::Verdict Txn::validate_reads() { return reads_.validate(id_); }

Result<bool> Txn::read_ahead() {
  if (context_.check_conflicts && services_.store->slots->contended(id_)) {
    Result<bool> valid = search_.read_ahead(
        undo_.size(), [this](size_t i) { return written(i); }, id_, *services_.store->residency);
    if (!valid.ok() || !*valid) return valid;
  }
  Result<bool> valid = reads_.read_ahead(id_);
  count_memory();
  return valid;
}

Status Txn::commit_now(Durability durability, Lsn* committed) {
  if (!broken_.ok()) {
    abort();
    return broken_;
  }
  if (!wrote()) {
    finish();
    return {};
  }
  std::string_view operations = borrowed_.empty() ? std::string_view(operations_) : borrowed_;
  // One record where it fits; a larger batch goes in chunks like a larger transaction, and so does
  // what is left of one where the ring is small.
  char header[20];
  const size_t record_max = services_.sequencer->record_bytes_max() -
                            (logged_ == nullptr && relays_ == nullptr ? 0 : sizeof(header));
  if (operations.size() > std::min(kChunkBytes, record_max)) {
    if (Status s = log_in_chunks(operations); !s.ok()) {
      roll_back();
      finish();
      return s;
    }
    operations = {};
  }
  CommitRequest request;
  request.id = id_;
  request.operations = operation_count_;
  reads_.fold_walks();
  request.check = this;
  request.writes = context_.check_conflicts;
  request.reads = !reads_.empty();
  request.changes_trees = !tree_changes_.empty();
  request.aside = aside_;
  request.tree_changes = tree_changes_seen_;
  request.layers = !layers_.empty() || relays_ != nullptr;
  std::string_view payload[2];
  std::string layered;
  if (logged_ == nullptr && relays_ == nullptr) {
    payload[0] = operations;
    request.payload = {payload, 1};
  } else {
    store(header, static_cast<uint64_t>(id_));
    logged_from_ = logged_ == nullptr ? 0 : stop_moves();
    for (const OwnLayer& own : layers_) {
      own.layer->log_from.store(logged_from_, std::memory_order_release);
    }
    store(header + 8, static_cast<uint64_t>(logged_from_));
    store(header + 16, chunk_seq_);
    payload[0] = {header, sizeof(header)};
    payload[1] = operations;
    request.payload = {payload, 2};
    request.type = relays_ == nullptr ? format::RecordType::kChunkedCommit
                                      : format::RecordType::kRelayedCommit;
    if (has_spilled()) {
      layered = {header, sizeof(header)};
      append_layered_trees(&layered);
      payload[0] = layered;
      request.type = format::RecordType::kLayeredCommit;
    }
  }
  Lsn cts = 0;
  if (Status s = with_log_space([&] {
        if (logged_ == nullptr && !layers_.empty()) hold_log();
        return services_.sequencer->commit(request, &cts);
      });
      !s.ok()) {
    roll_back();
    finish();
    return s;
  }
  *committed = cts;
  stamp_all(cts);
  tell_tree_changes();
  finish();
  return services_.sequencer->make_durable(cts, durability);
}

void Txn::stamp_all(Lsn cts) {
  HAWTHORN_TEST_POINT("txn.commit.before_stamp");
  for (size_t i = 0; i < undo_.size(); ++i) {
    // Of a large transaction they have left the cache meanwhile.
    if (i + kStampsAhead < undo_.size()) {
      __builtin_prefetch(undo_[i + kStampsAhead].version, 1);
      __builtin_prefetch(undo_[i + kStampsAhead].container, 1);
    }
    if (tree::TreeState::stamp(undo_[i], id_, cts)) {
      tree::TreeCursor::look_for_dead(undo_[i], {});
    }
  }
}

void Txn::abort() {
  roll_back();
  finish();
}

void Txn::roll_back() {
  if (wrote()) unlink_all();
  drop_all_large();
}

void Txn::unlink_all() {
  if (logged_ != nullptr) {
    stop_moves();
    // Chunks without an outcome count as aborted at recovery; the record only spares it the wait
    // until the log's end.
    char header[8];
    store(header, static_cast<uint64_t>(id_));
    const std::string_view payload[] = {{header, sizeof(header)}};
    Lsn lsn = 0;
    static_cast<void>(
        services_.sequencer->append(format::RecordType::kAbort, 0, payload, &lsn).ok());
  }
  services_.store->slots->abort(id_);
  HAWTHORN_TEST_POINT("txn.abort.before_unlink");
  for (size_t i = undo_.size(); i > 0; --i) tree::TreeState::roll_back(undo_[i - 1], id_);
}

void Txn::keep_another(tree::TreeState* tree) {
  for (tree::TreeRef& kept : kept_) {
    if (kept.get() == tree) return;
    if (kept.get() != nullptr) continue;
    kept = tree::TreeRef(tree);
    return;
  }
  const auto at = std::lower_bound(more_kept_.begin(), more_kept_.end(), tree,
                                   [](const tree::TreeRef& one, const tree::TreeState* other) {
                                     return std::less<>()(
                                         static_cast<const tree::TreeState*>(one.get()), other);
                                   });
  if (at != more_kept_.end() && at->get() == tree) return;
  more_kept_.insert(at, tree::TreeRef(tree));
}

void Txn::finish() {
  if (mode_ == Mode::kExclusive) {
    services_.sequencer->end_exclusive(id_);
    services_.row_locks->reopen();
  }
  if (registered_) services_.store->snapshots->remove(registration_.slot);
  registered_ = false;
  for (const auto& floor : floors_) services_.store->snapshots->remove(floor.slot);
  floors_.clear();
  services_.row_locks->release_all(locks_);
  reads_.clear();
  marks_.clear();
  if (tree_changes_.bytes() > 0) tree_changes_.finish(*services_.trees);
  if (logged_ != nullptr) services_.reappender->remove(*logged_);
  logged_.reset();
  if (!layers_.empty()) finish_layers();
  services_.store->slots->release(id_);
  id_ = 0;
  prepared_.reset();
  records_ = nullptr;
  count_prepared();
  for (tree::TreeRef& kept : kept_) {
    if (kept.get() == nullptr) break;
    kept = {};
  }
  if (!more_kept_.empty()) more_kept_ = std::vector<tree::TreeRef>();  // before what is kept counts
  drop_memory();
}

// Gives back what a transaction needs, but for what the next small one will need again.
void Txn::drop_memory() {
  undo_.clear();
  borrowed_ = {};
  operations_.clear();
  large_.clear();
  large_bytes_ = 0;
  search_.clear();
  if (heap_bytes() > kHeapKept) {
    // An assignment of an empty one would keep the capacity.
    std::string().swap(operations_);
    std::vector<Mark>().swap(marks_);
  }
  for (char* block : key_blocks_) {
    services_.store->arena->release(os::Quota::kOther, block, kKeyBlockBytes);
  }
  if (!key_blocks_.empty()) key_blocks_ = std::vector<char*>();
  key_at_ = nullptr;
  key_end_ = nullptr;
  count_memory();
}

}  // namespace hawthorn::txn
