#include "db/filter_job.h"

#include <algorithm>
#include <exception>

#include "db/change_alone.h"
#include "db/impl.h"
#include "db/large_values.h"
#include "db/stored_key.h"
#include "os/epoch.h"
#include "os/io_limit.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
constexpr size_t kChangesMax = 512;  // of one transaction
constexpr size_t kChangeBytesMax = size_t{256} << 10;
constexpr uint64_t kFilterFailedUs = 1'000'000;
constexpr uint64_t kFilterSliceUs = 10'000;

// The database whose filter this thread is calling, if any.
thread_local const FilterJob* filtering = nullptr;

}  // namespace

Status FilterJob::start() {
  {
    os::MutexLock lock(mutex_);
    stopping_ = false;
  }
  if (!db_->machine_.background_threads) return {};
  return thread_.start("hw-filter", [this] { run(); }, true);
}

void FilterJob::stop() {
  {
    os::MutexLock lock(mutex_);
    stopping_ = true;
  }
  HAWTHORN_TEST_POINT("filter.stopping");
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  HAWTHORN_TEST_POINT("filter.stopped");
}

void FilterJob::flushed(const tree::TreeState& tree, const std::string& low) {
  if (tree.id() == format::kCatalogTree) return;
  {
    os::MutexLock lock(mutex_);
    if (due_whole_.contains(tree.id())) return;
    if (due_.size() < kDueMax) {
      due_.emplace(tree.id(), low);
    } else {
      due_whole_.insert(tree.id());
    }
  }
  wake_.notify_one();
}

bool FilterJob::take(Due* due) {
  const os::epoch::Call call;
  os::MutexLock lock(mutex_);
  while (!due_whole_.empty() && due_.empty()) {
    const uint32_t id = *due_whole_.begin();
    due_whole_.erase(due_whole_.begin());
    const tree::TreeState* tree = db_->catalog_->find(id);
    if (tree == nullptr) continue;
    const os::epoch::Guard guard;
    for (const tree::Container* container : tree->directory().all()) {
      due_.emplace(id, container->low);
    }
  }
  if (due_.empty()) return false;
  *due = *due_.begin();
  due_.erase(due_.begin());
  return true;
}

Status FilterJob::may_end_filters() const {
  if (filtering != this) return {};
  return Status(StatusCode::kInvalidArgument,
                "a flush filter can neither close, compact nor drain the database that calls it");
}

bool FilterJob::may_go_on() {
  os::MutexLock lock(mutex_);
  return !stopping_;
}

void FilterJob::run() {
  for (;;) {
    uint64_t pause_us = 0;
    {
      os::MutexLock lock(mutex_);
      while (!stopping_ && due_.empty() && due_whole_.empty()) wake_.wait(mutex_);
      if (stopping_) return;
    }
    // Not with IoLimit::await, which nobody can end.
    if (const uint64_t wait_us = db_->background_io_.wait_us(); wait_us > 0) {
      pause_us = std::min(wait_us, kFilterSliceUs);
      db_->background_io_.count_wait(pause_us);
    } else if (!run_due().ok()) {
      pause_us = kFilterFailedUs;
    }
    os::MutexLock lock(mutex_);
    if (pause_us > 0 && !stopping_) static_cast<void>(wake_.wait_for(mutex_, pause_us));
  }
}

Status FilterJob::run_due() {
  for (;;) {
    os::MutexLock running(running_);
    Due due;
    if (!may_go_on() || !take(&due)) return {};
    const os::epoch::Call call;
    tree::TreeState* tree = db_->catalog_->find(due.first);
    if (tree == nullptr) continue;
    const os::IoLimit::Scope counts(&db_->background_io_);
    Status status = run_container(tree, due.second);
    if (!status.ok() || !may_go_on()) {
      os::MutexLock lock(mutex_);
      due_.insert(std::move(due));
      return status;
    }
    if (db_->background_io_.wait_us() > 0 && db_->machine_.background_threads) return {};
  }
}

Status FilterJob::drain() {
  for (;;) {
    if (Status s = run_due(); !s.ok()) return s;
    {
      // One that was taken is run under running_.
      os::MutexLock running(running_);
      os::MutexLock lock(mutex_);
      if (stopping_ || (due_.empty() && due_whole_.empty())) return {};
    }
    db_->background_io_.await();
  }
}

Status FilterJob::run_all() {
  for (tree::TreeState* tree : db_->catalog_->all()) {
    std::vector<std::string> lows;
    {
      const os::epoch::Guard guard;
      for (const tree::Container* container : tree->directory().all()) {
        lows.push_back(container->low);
      }
    }
    if (tree->id() == format::kCatalogTree || filter_of(*tree) == nullptr) continue;
    for (const std::string& low : lows) {
      db_->background_io_.await();
      os::MutexLock running(running_);
      const os::IoLimit::Scope counts(&db_->background_io_);
      if (Status s = run_container(tree, low); !s.ok()) return s;
    }
  }
  return {};
}

// Filters go with names, and these may have changed since the tree was flushed.
FlushFilter* FilterJob::filter_of(const tree::TreeState& tree) const {
  const os::epoch::Call call;
  for (const auto& [name, filter] : db_->options_.flush_filters) {
    const Result<tree::TreeState*> named = db_->catalog_->find(name, {0, 0}, false);
    if (named.ok() && *named == &tree) return filter.get();
  }
  return nullptr;
}

Status FilterJob::run_container(tree::TreeState* tree, const std::string& low) {
  FlushFilter* const filter = filter_of(*tree);
  if (filter == nullptr || !tree->stands()) return {};
  std::string lower;
  std::optional<std::string> upper;
  {
    const os::epoch::Guard guard;
    const tree::Container* container = tree->directory().find(low);
    lower = container->low;
    if (container->has_high) upper = container->high;
  }
  Status status = walk(tree, *filter, std::move(lower), std::move(upper));
  // A damaged container is told elsewhere, and would fail for ever.
  const bool passes = status.is(StatusCode::kCorruption) || status.is(StatusCode::kIoError) ||
                      status.is(StatusCode::kInvalidArgument);
  if (!passes) return status;
  db_->log(LogLevel::kWarning, "the filter \"" + std::string(filter->name()) +
                                   "\" has left a container out: " + status.to_string());
  return {};
}

Status FilterJob::walk(tree::TreeState* tree, FlushFilter& filter, std::string lower,
                       std::optional<std::string> upper) {
  const os::epoch::Call call;
  const auto seen_at = db_->snapshots_->add(db_->sequencer_->visible());
  Status status;
  {
    tree::TreeCursor cursor(
        tree, {seen_at.ts, 0},
        {std::move(lower), std::move(upper), !filter.needs_values() && !expires(*tree)});
    std::vector<Change> changes;
    std::string loaded;
    const uint64_t now_ms = expiry_now_if_used(db_->store_);
    size_t bytes = 0;
    const auto flush = [&] {
      HAWTHORN_TEST_POINT("filter.before_apply");
      status = apply(tree, changes, seen_at.ts);
      changes.clear();
      bytes = 0;
      return status.ok() && may_go_on();
    };
    // One that stands behind the registration keeps its data as long as that lasts.
    bool goes_on = tree->stands() && may_go_on();
    for (bool more = goes_on && cursor.first(); more && goes_on; more = cursor.next()) {
      if (!cursor.status().ok()) continue;  // too large: it stands there without its value
      goes_on = may_go_on();
      if (!goes_on) break;
      if (holds_subtrees(*tree) && cursor.value().empty()) {
        const auto hangs = db_->catalog_->find_subtree(*tree, cursor.key(), {seen_at.ts, 0}, true);
        if (hangs.ok()) continue;
        if (status = hangs.status(); !status.is_not_found()) break;
        status = Status();
      }
      seen_.fetch_add(1, std::memory_order_relaxed);
      Change change;
      if (tree->shape() != nullptr && !tree->shape()->is_entry(cursor.key())) continue;
      Entry entry{cursor.key(), cursor.value()};
      std::span<Entry> some(&entry, 1);
      if (tree->shape() != nullptr) {
        if (status = load_entries(*tree, now_ms, &some, &loaded); !status.ok()) break;
        if (some.empty()) continue;
      }
      Result<FlushFilter::Decision> decision =
          decide(filter, entry.key,
                 filter.needs_values() || several_values(*tree) ? entry.value : std::string_view(),
                 &change.value);
      if (decision.ok() && *decision == FlushFilter::Decision::kChange && several_values(*tree)) {
        decision = Status(StatusCode::kInvalidArgument,
                          "it changed a value of a key that may have several");
      }
      if (!decision.ok()) {
        status = decision.status();
        break;
      }
      if (*decision == FlushFilter::Decision::kKeep) continue;
      change.key = cursor.key();
      if (expires(*tree) && *decision == FlushFilter::Decision::kChange) {
        // It ends when it did.
        change.value.insert(0, cursor.value().substr(0, format::TreeShape::kMomentBytes));
      }
      change.removed = *decision == FlushFilter::Decision::kRemove;
      bytes += change.key.size() + change.value.size();
      changes.push_back(std::move(change));
      if (changes.size() >= kChangesMax || bytes >= kChangeBytesMax) goes_on = flush();
    }
    if (status.ok() && goes_on) {
      const Status walked = cursor.status();
      flush();
      if (status.ok() && !walked.is(StatusCode::kNotSupported)) status = walked;
    }
  }
  db_->snapshots_->remove(seen_at.slot);
  return status;
}

Result<FlushFilter::Decision> FilterJob::decide(FlushFilter& filter, std::string_view key,
                                                std::string_view value,
                                                std::string* changed) const {
  std::string what;
  struct Calling {
    explicit Calling(const FilterJob* job) : before(std::exchange(filtering, job)) {}
    ~Calling() { filtering = before; }
    const FilterJob* const before;
  };
  try {
    const Calling calling(this);
    const FlushFilter::Decision decision = filter.filter(key, value, changed);
    if (decision > FlushFilter::Decision::kChange) {
      return Status(StatusCode::kInvalidArgument, "it decided on nothing that there is");
    }
    if (decision != FlushFilter::Decision::kChange) changed->clear();
    const Status fits = db_->check_sizes(key, changed->size());
    if (!fits.ok()) return fits;
    return decision;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  return Status(StatusCode::kInvalidArgument, "it threw " + what);
}

// One that loses its commit to another transaction does not take the others with it.
Status FilterJob::apply(tree::TreeState* tree, std::span<const Change> changes,
                        format::Lsn seen_at) {
  if (changes.empty()) return {};
  Status status = apply_together(tree, changes, seen_at);
  if (!lost_to_another(status)) return status;
  if (changes.size() == 1) return {};
  for (size_t i = 0; i < changes.size(); ++i) {
    status = apply_together(tree, changes.subspan(i, 1), seen_at);
    if (!status.ok() && !lost_to_another(status)) return status;
  }
  return {};
}

Status FilterJob::apply_together(tree::TreeState* tree, std::span<const Change> changes,
                                 format::Lsn seen_at) {
  const std::unique_ptr<txn::Txn> txn = db_->new_txn();
  if (Status s = txn->begin({.mode = txn::Mode::kOptimistic, .at = seen_at}); !s.ok()) return s;
  uint64_t removed = 0;
  uint64_t changed = 0;
  for (const Change& change : changes) {
    Status status;
    if (change.removed) {
      status = txn->write(tree, format::OperationType::kDelete, change.key, {});
    } else if (change.value.size() <= kLargeValueBytes) {
      status = txn->write(tree, format::OperationType::kPut, change.key, change.value);
    } else {
      Result<std::string> encoded =
          write_large_value(&db_->store_, db_->scheduler_.get(), change.value);
      status = encoded.ok()
                   ? txn->write(tree, format::OperationType::kPutLarge, change.key, *encoded)
                   : encoded.status();
    }
    if (lost_to_another(status)) continue;
    if (!status.ok()) {
      txn->abort();
      return status;
    }
    ++(change.removed ? removed : changed);
  }
  Status status = txn->commit(Durability::kNone);
  if (!status.ok()) return status;
  removed_.fetch_add(removed, std::memory_order_relaxed);
  changed_.fetch_add(changed, std::memory_order_relaxed);
  return {};
}

}  // namespace hawthorn::db
