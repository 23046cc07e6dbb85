#include "db/named_snapshots.h"

#include "os/event_sink.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr uint64_t kSnapshotRecordBytes = 512;  // of one in the manifest

Status no_snapshot(std::string_view name) {
  return Status(StatusCode::kNotFound, "no snapshot is called \"" + std::string(name) + "\"");
}
}  // namespace

void NamedSnapshots::open(const format::ManifestState& state) {
  os::MutexLock lock(mutex_);
  for (const auto& [name, record] : state.snapshots) {
    kept_[name] = {record, store_->snapshots->share(record.timestamp)};
  }
  count_.store(kept_.size(), std::memory_order_release);
}

Status NamedSnapshots::create(std::string_view name, os::Mutex& ingests) {
  if (name.empty() || name.size() > format::kSnapshotNameBytesMax) {
    return Status(StatusCode::kInvalidArgument, "a snapshot's name must have 1 to " +
                                                    std::to_string(format::kSnapshotNameBytesMax) +
                                                    " bytes");
  }
  os::MutexLock ingesting(ingests);
  os::MutexLock changing(changing_);
  {
    os::MutexLock lock(mutex_);
    if (kept_.contains(name)) {
      return Status(StatusCode::kInvalidArgument,
                    "there is a snapshot \"" + std::string(name) + "\" already");
    }
  }
  count_.fetch_add(1, std::memory_order_acq_rel);
  Status status = make(name);
  if (!status.ok()) count_.fetch_sub(1, std::memory_order_acq_rel);
  return status;
}

Status NamedSnapshots::make(std::string_view name) {
  // On a full disk the manifest's last room is for what flushes change.
  if (Status s = publisher_->keep_manifest_room(kSnapshotRecordBytes); !s.ok()) return s;
  const auto registration = store_->snapshots->add(*store_->visible);
  const format::SnapshotRecord record{std::string(name), registration.ts,
                                      store_->machine->clock->wall_us()};
  Status status = store_->log->wait_durable(record.timestamp);
  HAWTHORN_TEST_POINT("named_snapshots.before_record");
  if (status.ok()) {
    format::ManifestBatch batch;
    batch.snapshots_set.push_back(record);
    status = publisher_->publish_now(std::move(batch));
  }
  if (!status.ok()) {
    store_->snapshots->remove(registration.slot);
    return status;
  }
  {
    os::MutexLock lock(mutex_);
    kept_[record.name] = {record, registration};
  }
  if (os::EventSink* const events = store_->machine->events; events != nullptr) {
    events->post(SnapshotChanged{true, record.name, record.timestamp});
  }
  return {};
}

Status NamedSnapshots::drop(std::string_view name) {
  os::MutexLock changing(changing_);
  {
    os::MutexLock lock(mutex_);
    if (!kept_.contains(name)) return no_snapshot(name);
  }
  format::ManifestBatch batch;
  batch.snapshots_deleted.emplace_back(name);
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  os::MutexLock lock(mutex_);
  const auto at = kept_.find(name);
  store_->snapshots->remove(at->second.registration.slot);
  if (os::EventSink* const events = store_->machine->events; events != nullptr) {
    events->post(SnapshotChanged{false, std::string(name), at->second.record.timestamp});
  }
  kept_.erase(at);
  count_.fetch_sub(1, std::memory_order_acq_rel);
  return {};
}

Result<NamedSnapshots::Shared> NamedSnapshots::share(std::string_view name) {
  os::MutexLock lock(mutex_);
  const auto at = kept_.find(name);
  if (at == kept_.end()) return no_snapshot(name);
  return Shared{store_->snapshots->share(at->second.record.timestamp),
                at->second.record.created_us};
}

std::vector<NamedSnapshot> NamedSnapshots::list() const {
  std::vector<NamedSnapshot> result;
  os::MutexLock lock(mutex_);
  for (const auto& [name, kept] : kept_) {
    result.push_back({name, kept.record.timestamp, kept.record.created_us});
  }
  return result;
}

std::vector<format::Lsn> NamedSnapshots::timestamps() const {
  std::vector<format::Lsn> result;
  os::MutexLock lock(mutex_);
  for (const auto& [name, kept] : kept_) result.push_back(kept.record.timestamp);
  return result;
}

}  // namespace hawthorn::db
