#pragma once
// Snapshots that programs hold, in the order in which they were taken.
//
// Used by DBImpl and iterators. Threads: any; a snapshot counts who reads it, so that an iterator
// may outlive ReleaseSnapshot.

#include <hawthorn/db.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "rocksdb/snapshot.h"

namespace hawthorn::rocks {

class SnapshotImpl final : public rocksdb::Snapshot {
 public:
  // of: what has to stay as long as the snapshot does.
  SnapshotImpl(hawthorn::Snapshot taken, int64_t unix_time, std::shared_ptr<void> of = nullptr)
      : of_(std::move(of)), view_(std::move(taken)), unix_time_(unix_time) {}

  rocksdb::SequenceNumber GetSequenceNumber() const override { return view_.timestamp(); }
  int64_t GetUnixTime() const override { return unix_time_; }
  uint64_t GetTimestamp() const override { return UINT64_MAX; }

  const hawthorn::Snapshot& view() const { return view_; }
  const std::shared_ptr<void>& of() const { return of_; }
  void hold() const { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() const {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~SnapshotImpl() override = default;

  const std::shared_ptr<void> of_;  // goes behind view_
  const hawthorn::Snapshot view_;
  const int64_t unix_time_;
  mutable std::atomic<uint32_t> holders_{1};
};

// Holds one, or none.
class HeldSnapshot {
 public:
  HeldSnapshot() = default;
  explicit HeldSnapshot(const rocksdb::Snapshot* snapshot)
      : held_(static_cast<const SnapshotImpl*>(snapshot)) {
    if (held_ != nullptr) held_->hold();
  }
  ~HeldSnapshot() { reset(); }
  HeldSnapshot(HeldSnapshot&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  HeldSnapshot& operator=(HeldSnapshot&& other) noexcept {
    if (this == &other) return *this;
    reset();
    held_ = std::exchange(other.held_, nullptr);
    return *this;
  }
  void reset() {
    if (held_ != nullptr) std::exchange(held_, nullptr)->let_go();
  }
  const hawthorn::Snapshot* view() const { return held_ == nullptr ? nullptr : &held_->view(); }
  const SnapshotImpl* get() const { return held_; }

 private:
  const SnapshotImpl* held_ = nullptr;
};

class SnapshotList {
 public:
  void add(const SnapshotImpl* snapshot) {
    const std::lock_guard lock(mutex_);
    list_.push_back(snapshot);
  }
  void remove(const SnapshotImpl* snapshot) {
    const std::lock_guard lock(mutex_);
    list_.remove(snapshot);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return list_.size();
  }
  // Of the oldest one; 0 without one.
  int64_t oldest_time() const {
    const std::lock_guard lock(mutex_);
    return list_.empty() ? 0 : list_.front()->GetUnixTime();
  }
  uint64_t oldest_sequence() const {
    const std::lock_guard lock(mutex_);
    return list_.empty() ? 0 : list_.front()->GetSequenceNumber();
  }
  // What it says to the names of properties that are about snapshots.
  std::optional<uint64_t> property(std::string_view name) const;
  // Where the database goes before those who hold them.
  void let_go_of_all() {
    const std::lock_guard lock(mutex_);
    for (const SnapshotImpl* snapshot : list_) snapshot->let_go();
    list_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::list<const SnapshotImpl*> list_;
};

}  // namespace hawthorn::rocks
