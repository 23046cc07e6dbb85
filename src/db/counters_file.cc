#include "db/counters_file.h"

#include <algorithm>
#include <cstddef>

#include "base/out_of_memory.h"
#include "format/counters_layout.h"
#include "os/process.h"

namespace hawthorn::db {

namespace {
constexpr uint64_t kUpdateUs = 1'000'000;
constexpr int kReadAttempts = 100;
constexpr uint64_t kReadAgainUs = 1000;

// Those of Stats that need no walk through all containers.
std::vector<Counter> counters_of(const Stats& s) {
  using enum Counter::Kind;
  using enum Counter::Unit;
  return {{"memory_budget_bytes", kAmount, kBytes, s.memory_budget_bytes},
          {"memory_used_bytes", kAmount, kBytes, s.memory_used_bytes},
          {"memory_delta_bytes", kAmount, kBytes, s.memory_delta_bytes},
          {"memory_index_bytes", kAmount, kBytes, s.memory_index_bytes},
          {"memory_value_bytes", kAmount, kBytes, s.memory_value_bytes},
          {"memory_settled_bytes", kAmount, kBytes, s.memory_settled_bytes},
          {"memory_frame_bytes", kAmount, kBytes, s.memory_frame_bytes},
          {"memory_pinned_bytes", kAmount, kBytes, s.memory_pinned_bytes},
          {"memory_resident_bytes", kAmount, kBytes, s.memory_resident_bytes},
          {"disk_bytes_allocated", kAmount, kBytes, s.disk_bytes_allocated},
          {"log_bytes", kAmount, kBytes, s.log_bytes},
          {"commits", kCount, kNumber, s.commits},
          {"operations", kCount, kNumber, s.operations},
          {"conflicts", kCount, kNumber, s.conflicts},
          {"flushes", kCount, kNumber, s.flushes},
          {"flush_us", kCount, kMicroseconds, s.flush_us},
          {"reclusters", kCount, kNumber, s.reclusters},
          {"splits", kCount, kNumber, s.splits},
          {"joins", kCount, kNumber, s.joins},
          {"manifest_batches", kCount, kNumber, s.manifest_batches},
          {"manifest_batch_us", kCount, kMicroseconds, s.manifest_batch_us},
          {"log_syncs", kCount, kNumber, s.log_syncs},
          {"log_sync_us", kCount, kMicroseconds, s.log_sync_us},
          {"commit_waits", kCount, kNumber, s.commit_waits},
          {"commit_wait_us", kCount, kMicroseconds, s.commit_wait_us},
          {"bytes_written_log", kCount, kBytes, s.bytes_written_log},
          {"bytes_written_data", kCount, kBytes, s.bytes_written_data},
          {"bytes_read", kCount, kBytes, s.bytes_read},
          {"disk_reads", kCount, kNumber, s.disk_reads},
          {"disk_read_us", kCount, kMicroseconds, s.disk_read_us},
          {"disk_read_batches", kCount, kNumber, s.disk_read_batches},
          {"disk_read_batch_us", kCount, kMicroseconds, s.disk_read_batch_us},
          {"frame_hits", kCount, kNumber, s.frame_hits},
          {"frame_misses", kCount, kNumber, s.frame_misses},
          {"frame_ghost_hits", kCount, kNumber, s.frame_ghost_hits},
          {"write_waits", kCount, kNumber, s.write_waits},
          {"write_wait_us", kCount, kMicroseconds, s.write_wait_us},
          {"background_io_bytes_per_second", kAmount, kBytes, s.background_io_bytes_per_second},
          {"background_io_bytes", kCount, kBytes, s.background_io_bytes},
          {"background_io_urgent_bytes", kCount, kBytes, s.background_io_urgent_bytes},
          {"background_io_wait_us", kCount, kMicroseconds, s.background_io_wait_us},
          {"filter_seen", kCount, kNumber, s.filter_seen},
          {"filter_removed", kCount, kNumber, s.filter_removed},
          {"filter_changed", kCount, kNumber, s.filter_changed},
          {"visible_timestamp", kCount, kNumber, s.visible_timestamp},
          {"oldest_snapshot_timestamp", kAmount, kNumber, s.oldest_snapshot_timestamp},
          {"snapshots", kAmount, kNumber, s.snapshots},
          {"oldest_snapshot_seconds", kAmount, kNumber, s.oldest_snapshot_seconds},
          {"data_files_removed", kCount, kNumber, s.data_files_removed},
          {"manifest_batch", kAmount, kNumber, s.manifest_batch},
          {"followers", kAmount, kNumber, s.followers.size()},
          {"follower_bytes_held", kAmount, kBytes, s.follower_bytes_held}};
}
}  // namespace

CountersFile::CountersFile(const os::Machine& machine, const std::string& directory,
                           uint64_t uuid_low, uint64_t uuid_high)
    : machine_(machine),
      path_(directory + "/" + std::string(kName)),
      uuid_low_(uuid_low),
      uuid_high_(uuid_high) {}

Status CountersFile::start(const Stats& stats) {
  os::MutexLock lock(mutex_);
  Result<std::unique_ptr<os::File>> file = machine_.files->open_file(path_, {.create = true});
  if (!file.ok()) return file.status();
  // Whoever has mapped the one of an earlier process keeps his pages.
  const Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size > format::kCountersFileBytes) {
    if (Status s = (*file)->truncate(format::kCountersFileBytes); !s.ok()) return s;
  }
  file_ = std::move(*file);
  opened_us_ = machine_.clock->wall_us();
  Status status = write(stats, format::kCountersOpen);
  if (!status.ok()) file_.reset();
  return status;
}

// What is shown is of one moment: the sequence is odd before anything changes, and even behind it
// (1 of the layout). Each write is a system call, so none passes another.
Status CountersFile::write(const Stats& stats, uint32_t state) {
  format::CountersHeader header{};
  header.uuid_low = uuid_low_;
  header.uuid_high = uuid_high_;
  header.pid = os::process_id();
  header.process_start = os::process_start(header.pid);
  header.opened_us = opened_us_;
  header.updated_us = machine_.clock->wall_us();
  header.state = state;
  header.sequence = sequence_ + 1;
  sequence_ += 2;
  written_us_ = machine_.clock->monotonic_us();
  const std::string file = format::encode_counters(header, counters_of(stats));
  constexpr size_t kAt = offsetof(format::CountersHeader, sequence);
  constexpr size_t kBytes = sizeof(header.sequence);
  const std::string_view odd(file.data() + kAt, kBytes);
  const auto* even = reinterpret_cast<const char*>(&sequence_);
  if (Status s = file_->write_at(kAt, odd); !s.ok()) return s;
  if (Status s = file_->write_at(0, file); !s.ok()) return s;
  return file_->write_at(kAt, {even, kBytes});
}

void CountersFile::update_when_due(const std::function<void(Stats*)>& figures) {
  if (!mutex_.try_lock()) return;
  if (file_ != nullptr && machine_.clock->monotonic_us() - written_us_ >= kUpdateUs) {
    Stats stats;
    figures(&stats);
    static_cast<void>(write(stats, format::kCountersOpen).ok());
  }
  mutex_.unlock();
}

void CountersFile::close(const Stats& stats) {
  os::MutexLock lock(mutex_);
  if (file_ == nullptr) return;
  static_cast<void>(write(stats, format::kCountersClosed).ok());
  file_.reset();
}

}  // namespace hawthorn::db

namespace hawthorn {

namespace {
Result<std::string> read_file(os::File& file) {
  const Result<uint64_t> size = file.size();
  if (!size.ok()) return size.status();
  std::string bytes(std::min<uint64_t>(*size, format::kCountersFileBytes), '\0');
  Status status = file.read_at(0, bytes);
  return status.ok() ? Result<std::string>(std::move(bytes)) : Result<std::string>(status);
}

// Whether the sequence number is the same behind it.
bool is_of_one_moment(os::File& file, std::string_view bytes) {
  constexpr size_t kAt = offsetof(format::CountersHeader, sequence);
  uint64_t again = 0;
  auto* to = reinterpret_cast<char*>(&again);
  return file.read_at(kAt, {to, sizeof(again)}).ok() &&
         bytes.substr(kAt, sizeof(again)) == std::string_view(to, sizeof(again));
}
}  // namespace

Result<Counters> read_counters(const std::string& directory) try {
  const os::Machine& machine = os::real_machine();
  const std::string path = directory + "/" + std::string(db::CountersFile::kName);
  Result<std::unique_ptr<os::File>> file = machine.files->open_file(path, {.read_only = true});
  if (!file.ok()) return file.status();
  for (int attempt = 0;; ++attempt) {
    const Result<std::string> bytes = read_file(**file);
    if (!bytes.ok()) return bytes.status();
    Result<Counters> counters = format::decode_counters(*bytes);
    const bool torn =
        counters.ok() ? !is_of_one_moment(**file, *bytes) : counters.status().is(StatusCode::kBusy);
    if (!torn) {
      if (counters.ok()) {
        counters->alive =
            !counters->closed && os::process_start(counters->pid) == counters->process_start;
      }
      return counters;
    }
    if (attempt == db::kReadAttempts) {
      return Status(StatusCode::kCorruption, path + ": who wrote it died while it did");
    }
    machine.clock->sleep_us(db::kReadAgainUs);
  }
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
