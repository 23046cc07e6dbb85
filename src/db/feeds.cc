#include "db/feeds.h"

#include <algorithm>
#include <utility>

#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr uint64_t kFeedRecordBytes = 512;  // of one in the manifest
constexpr size_t kSamplesMax = 256;

Status no_feed(std::string_view name) {
  return Status(StatusCode::kNotFound, "no feed is called \"" + std::string(name) + "\"");
}
Status lost(std::string_view name) {
  return Status(StatusCode::kTooOld,
                "feed \"" + std::string(name) +
                    "\" is lost: more was committed than is kept for it (FeedOptions)");
}
}  // namespace

void Feeds::open(const format::ManifestState& state) {
  os::MutexLock lock(mutex_);
  size_t live = 0;
  for (const auto& [name, record] : state.feeds) {
    kept_[name] = {record, false};
    if (!record.lost) ++live;
  }
  count_.store(live, std::memory_order_release);
  if (live == 0) return;
  for (const auto& [id, container] : state.containers) {
    for (const tree::ExtentAddress& address : container.large) in_container(address);
  }
}

Status Feeds::create(std::string_view name, const FeedOptions& options, os::Mutex& ingests) {
  if (name.empty() || name.size() > format::kSnapshotNameBytesMax) {
    return Status(
        StatusCode::kInvalidArgument,
        "a feed's name must have 1 to " + std::to_string(format::kSnapshotNameBytesMax) + " bytes");
  }
  os::MutexLock ingesting(ingests);
  os::MutexLock changing(changing_);
  {
    os::MutexLock lock(mutex_);
    if (kept_.contains(name)) {
      return Status(StatusCode::kInvalidArgument,
                    "there is a feed \"" + std::string(name) + "\" already");
    }
  }
  count_.fetch_add(1, std::memory_order_acq_rel);
  Status status = make(name, options);
  if (!status.ok()) count_.fetch_sub(1, std::memory_order_acq_rel);
  return status;
}

Status Feeds::make(std::string_view name, const FeedOptions& options) {
  // On a full disk the manifest's last room is for what flushes change.
  if (Status s = publisher_->keep_manifest_room(kFeedRecordBytes); !s.ok()) return s;
  const Sample now = sample();
  format::FeedRecord record;
  record.name = std::string(name);
  record.position = now.visible;
  record.scan_from = now.logged_from;
  record.created_us = store_->machine->clock->wall_us();
  record.log_bytes_max = options.log_bytes_max;
  {
    // From here on the log stays.
    os::MutexLock lock(mutex_);
    kept_[record.name] = {record, true};
  }
  Status status = store_->log->wait_durable(record.position);
  HAWTHORN_TEST_POINT("feeds.before_record");
  if (status.ok()) {
    format::ManifestBatch batch;
    batch.feeds_set.push_back(record);
    status = publisher_->publish_now(std::move(batch));
  }
  os::MutexLock lock(mutex_);
  if (status.ok()) {
    kept_[record.name].reading = false;
  } else {
    kept_.erase(record.name);
    release_passed();
  }
  return status;
}

Status Feeds::drop(std::string_view name) {
  os::MutexLock changing(changing_);
  {
    os::MutexLock lock(mutex_);
    const auto at = kept_.find(name);
    if (at == kept_.end()) return no_feed(name);
    if (at->second.reading) {
      return Status(StatusCode::kBusy, "feed \"" + std::string(name) + "\" is being read");
    }
  }
  format::ManifestBatch batch;
  batch.feeds_deleted.emplace_back(name);
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  {
    os::MutexLock lock(mutex_);
    const auto at = kept_.find(name);
    if (!at->second.record.lost) count_.fetch_sub(1, std::memory_order_acq_rel);
    kept_.erase(at);
    release_passed();
  }
  // What it alone has needed of the log goes now.
  return publisher_->publish_now({});
}

std::vector<FeedInfo> Feeds::list() const {
  const Lsn head = store_->log == nullptr ? 0 : store_->log->head();
  std::vector<FeedInfo> result;
  os::MutexLock lock(mutex_);
  for (const auto& [name, kept] : kept_) {
    const Lsn from = kept.record.lost ? head : scan_from(kept.record);
    result.push_back({name, kept.record.position, kept.record.created_us, kept.record.log_bytes_max,
                      log_bytes(from, head), kept.record.lost, kept.reading});
  }
  return result;
}

bool Feeds::behind(Lsn visible) const {
  os::MutexLock lock(mutex_);
  return oldest_locked() < visible;
}

Lsn Feeds::oldest_position() const {
  os::MutexLock lock(mutex_);
  return oldest_locked();
}

Lsn Feeds::oldest_locked() const {
  Lsn oldest = format::kLsnMax;
  for (const auto& [name, kept] : kept_) {
    if (!kept.record.lost) oldest = std::min(oldest, kept.record.position);
  }
  return oldest;
}

uint64_t Feeds::held_bytes() const {
  os::MutexLock lock(mutex_);
  return held_bytes_;
}

// ---- Readers

Result<format::FeedRecord> Feeds::begin_reading(std::string_view name) {
  os::MutexLock lock(mutex_);
  const auto at = kept_.find(name);
  if (at == kept_.end()) return no_feed(name);
  if (at->second.record.lost) return lost(name);
  if (at->second.reading) {
    return Status(StatusCode::kBusy, "feed \"" + std::string(name) + "\" is being read already");
  }
  at->second.reading = true;
  format::FeedRecord record = at->second.record;
  record.scan_from = scan_from(record);
  return record;
}

void Feeds::end_reading(std::string_view name) {
  os::MutexLock lock(mutex_);
  const auto at = kept_.find(name);
  if (at != kept_.end()) at->second.reading = false;
}

Status Feeds::state_of(std::string_view name) const {
  os::MutexLock lock(mutex_);
  const auto at = kept_.find(name);
  if (at == kept_.end()) return no_feed(name);
  return at->second.record.lost ? lost(name) : Status();
}

Status Feeds::acknowledge(std::string_view name, Lsn position) {
  os::MutexLock changing(changing_);
  format::ManifestBatch batch;
  {
    os::MutexLock lock(mutex_);
    const auto at = kept_.find(name);
    if (at == kept_.end()) return no_feed(name);
    if (at->second.record.lost) return lost(name);
    if (position <= at->second.record.position) return {};
    format::FeedRecord record = at->second.record;
    record.position = position;
    record.scan_from = scan_from(record);
    batch.feeds_set.push_back(std::move(record));
  }
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  return state_of(name);  // the same batch may have said that it is lost
}

// ---- The log

// The order of these three is what makes invariant 2 true.
Feeds::Sample Feeds::sample() const {
  const Lsn head = store_->log->head();
  const Lsn logged_from = std::min(head, store_->slots->oldest_first_lsn());
  return {logged_from, store_->visible->load(std::memory_order_acquire)};
}

uint64_t Feeds::log_bytes(Lsn from, Lsn head) const {
  uint64_t bytes = 0;
  for (const format::LogEpoch& epoch : epochs_) {
    const Lsn begin = std::max(from, epoch.start);
    const Lsn end = std::min(head, epoch.end);
    if (begin < end) bytes += end - begin;
  }
  return bytes;
}

void Feeds::keep_sample(const Sample& sample) {
  if (!samples_.empty() && (samples_.back().visible >= sample.visible ||
                            samples_.back().logged_from >= sample.logged_from)) {
    return;
  }
  if (samples_.size() >= kSamplesMax) {
    // Those that all have passed, but for the last; else each second one.
    const Lsn oldest = oldest_locked();
    size_t passed = 0;
    while (passed + 1 < samples_.size() && samples_[passed + 1].visible <= oldest) ++passed;
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(passed));
    if (samples_.size() >= kSamplesMax) {
      size_t to = 0;
      for (size_t i = 0; i < samples_.size(); i += 2) samples_[to++] = samples_[i];
      samples_.resize(to);
    }
  }
  samples_.push_back(sample);
}

Lsn Feeds::scan_from(const format::FeedRecord& record) const {
  Lsn from = record.scan_from;
  for (const Sample& sample : samples_) {
    if (sample.visible > record.position) break;
    from = std::max(from, sample.logged_from);
  }
  return from;
}

Lsn Feeds::limit_trim(Lsn trim, std::vector<format::FeedRecord>* set) {
  os::MutexLock lock(mutex_);
  for (auto& [name, kept] : kept_) {
    if (std::exchange(kept.untold, false)) set->push_back(kept.record);
  }
  if (!any()) return trim;
  const Sample now = sample();
  keep_sample(now);
  const Lsn head = store_->log->head();
  for (const auto& [name, kept] : kept_) {
    if (kept.record.lost) continue;
    const auto same = std::find_if(set->begin(), set->end(),
                                   [&](const auto& record) { return record.name == name; });
    const format::FeedRecord& record = same != set->end() ? *same : kept.record;
    const Lsn from = scan_from(record);
    uint64_t bytes = log_bytes(from, head);
    for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
      if (held->until <= record.position) break;
      bytes += uint64_t{held->address.blocks} * 4096;
    }
    if (record.log_bytes_max == 0 || bytes <= record.log_bytes_max) {
      trim = std::min(trim, from);
      continue;
    }
    if (same != set->end()) {
      same->lost = true;
    } else {
      set->push_back(kept.record);
      set->back().lost = true;
    }
  }
  return trim;
}

void Feeds::published(const std::vector<format::FeedRecord>& set) {
  if (set.empty()) return;
  os::MutexLock lock(mutex_);
  for (const format::FeedRecord& record : set) {
    const auto at = kept_.find(record.name);
    if (at == kept_.end()) continue;
    if (record.lost && !at->second.record.lost) count_.fetch_sub(1, std::memory_order_acq_rel);
    at->second.record = record;
  }
  release_passed();
}

// ---- Extents

bool Feeds::hold(const tree::ExtentAddress& address) {
  if (!any()) return false;
  os::MutexLock lock(mutex_);
  const Lsn until = store_->visible->load(std::memory_order_acquire);
  if (oldest_locked() >= until) return false;
  held_.push_back({until, address});
  held_bytes_ += uint64_t{address.blocks} * 4096;
  return true;
}

void Feeds::hold_found(const tree::ExtentAddress& address, Lsn cts) {
  // Several versions of a value may share it.
  if (const auto found = found_.find(key(address)); found != found_.end()) {
    os::MutexLock lock(mutex_);
    held_[found->second].until = std::max(held_[found->second].until, cts);
    return;
  }
  if (!in_containers_.insert(key(address)).second) return;
  const bool whole = store_->space->mark_used(address).ok();
  os::MutexLock lock(mutex_);
  if (!whole) return lose_below(cts);
  found_[key(address)] = held_.size();
  held_.push_back({cts, address});
  held_bytes_ += uint64_t{address.blocks} * 4096;
}

void Feeds::lose_below(Lsn cts) {
  for (auto& [name, kept] : kept_) {
    if (kept.record.lost || kept.record.position >= cts) continue;
    kept.record.lost = kept.untold = true;
    count_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void Feeds::end_replay() {
  in_containers_ = {};
  found_ = {};
  os::MutexLock lock(mutex_);
  std::sort(held_.begin(), held_.end(),
            [](const Held& a, const Held& b) { return a.until < b.until; });
}

void Feeds::release_passed() {
  const Lsn oldest = oldest_locked();
  while (!held_.empty() && held_.front().until <= oldest) {
    held_bytes_ -= uint64_t{held_.front().address.blocks} * 4096;
    store_->space->release(held_.front().address);
    held_.pop_front();
  }
}

}  // namespace hawthorn::db
