#include "db/scrub.h"

#include <algorithm>
#include <vector>

#include "db/check_extents.h"
#include "db/check_files.h"
#include "db/impl.h"
#include "os/epoch.h"

namespace hawthorn::db {

namespace {
constexpr uint64_t kScrubPauseUs = uint64_t{3600} * 1'000'000;  // between two rounds
constexpr size_t kErrorsMax = 100;                              // that are told of one container
}  // namespace

Scrub::Scrub(Db::Impl* db, uint64_t bytes_per_second)
    : db_(db), pace_(*db, bytes_per_second, [this] { return stopping(); }) {}

Status Scrub::start() {
  stopping_.store(false, std::memory_order_release);
  if (!db_->machine_.background_threads || thread_.joinable()) return {};
  return thread_.start("hw-scrub", [this] { run(); }, true);
}

void Scrub::stop() {
  {
    os::MutexLock lock(mutex_);
    stopping_.store(true, std::memory_order_release);
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  // Its memory is the arena's, and what it references the trees'.
  check_.reset();
  walk_.reset();
}

void Scrub::run() {
  while (!stopping()) {
    begin_round();
    while (step()) os::epoch::collect();
    if (!stopping()) end_round();
    os::MutexLock lock(mutex_);
    while (!stopping()) {
      const uint64_t now = db_->machine_.clock->monotonic_us();
      if (now >= resume_us_) break;
      static_cast<void>(wake_.wait_for(mutex_, resume_us_ - now));
    }
  }
}

void Scrub::run_if_due() {
  if (!running_.try_lock()) return;
  const auto begun = [this] {
    if (!walk_.has_value() && db_->machine_.clock->monotonic_us() >= resume_us_) begin_round();
    return walk_.has_value();
  };
  if (!stopping() && pace_.wait_us() == 0 && begun() && !step() && !stopping()) end_round();
  running_.unlock();
}

void Scrub::begin_round() {
  std::vector<tree::TreeRef> trees = db_->catalog_->all();
  uint64_t containers = 0;
  for (const tree::TreeRef& tree : trees) containers += tree->directory().size();
  uint64_t first = containers == 0 ? 0 : db_->machine_.random->next() % containers;
  size_t begin = 0;
  while (begin < trees.size() && first >= trees[begin]->directory().size()) {
    first -= trees[begin++]->directory().size();
  }
  std::string low;
  if (begin < trees.size()) {
    const os::epoch::Guard guard;
    const std::vector<tree::Container*> all = trees[begin]->directory().all();
    low = all[std::min<size_t>(first, all.size() - 1)]->low;
    std::rotate(trees.begin(), trees.begin() + static_cast<ptrdiff_t>(begin), trees.end());
  }
  sink_.emplace(*db_, kErrorsMax);
  walk_.emplace(*db_, std::move(trees), std::move(low));
  check_.emplace(*db_, *sink_, pace_, true);
}

bool Scrub::step() {
  CheckTarget target;
  if (stopping() || !walk_->next(&target)) return false;
  const PutBack holds(&target);
  // What has just been written is looked at in the next round.
  bool goes_on = true;
  if (!ContainerWalk::writing(target)) {
    goes_on = check_->run(target);
    containers_.fetch_add(1, std::memory_order_relaxed);
    take_found(target.file);
  }
  return goes_on;
}

void Scrub::end_round() {
  check_.reset();
  walk_.reset();
  check_extents(*db_, *sink_);
  check_files(*db_, *sink_, pace_);
  take_found(nullptr);
  sink_.reset();
  if (!stopping()) rounds_.fetch_add(1, std::memory_order_relaxed);
  resume_us_ = db_->machine_.clock->monotonic_us() + kScrubPauseUs;
}

// What was found in a file of a container, or, null, elsewhere.
void Scrub::take_found(tree::RunFile* file) {
  const CheckReport found = sink_->take();
  bytes_.fetch_add(sink_->bytes.exchange(0), std::memory_order_relaxed);
  errors_.fetch_add(found.items.size() + found.errors_left_out, std::memory_order_relaxed);
  if (found.ok()) return;
  if (file != nullptr && file->damage_told.exchange(true, std::memory_order_relaxed)) return;
  for (const std::string& error : found.errors) {
    db_->log(LogLevel::kError, "the scrub has found damage: " + error);
  }
  if (db_->machine_.events == nullptr) return;
  for (const CheckItem& item : found.items) {
    if (item.kind == CheckItem::Kind::kUnchecked) continue;
    Status status(StatusCode::kCorruption, item.to_string());
    if (file == nullptr) {
      db_->machine_.events->post(BackgroundError{std::move(status), false});
      continue;
    }
    db_->machine_.events->post(
        DamageFound{item.tree, {}, item.low_key, item.high_key, std::move(status)});
    return;  // the first one of a container
  }
}

void Scrub::add_to(Stats* stats) const {
  stats->scrub_bytes = bytes_.load(std::memory_order_relaxed);
  stats->scrub_containers = containers_.load(std::memory_order_relaxed);
  stats->scrub_rounds = rounds_.load(std::memory_order_relaxed);
  stats->scrub_errors = errors_.load(std::memory_order_relaxed);
}

}  // namespace hawthorn::db
