#include "shims/rocksdb/src/engine_events.h"

#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"

namespace hawthorn::rocks {

using rocksdb::CompactionJobInfo;
using rocksdb::FlushJobInfo;

void EngineEvents::begin_to_close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
}

void EngineEvents::turn(DBImpl* db) {
  const std::lock_guard lock(mutex_);
  db_ = db;
  open_or_gone_ = true;
  turned_.notify_all();
}

template <typename Call>
void EngineEvents::when_open(const Call& call) {
  std::unique_lock lock(mutex_);
  turned_.wait(lock, [this] { return open_or_gone_; });
  if (db_ != nullptr) call();
}

FlushJobInfo EngineEvents::flush_info(const Job& job) const {
  FlushJobInfo info;
  info.cf_id = job.family_id;
  info.cf_name = job.family;
  info.job_id = job.id;
  info.triggered_writes_slowdown = stalls_;
  info.table_properties.column_family_id = job.family_id;
  info.table_properties.column_family_name = job.family;
  info.table_properties.comparator_name = job.comparator;
  return info;
}

CompactionJobInfo EngineEvents::compaction_info(const Job& job) {
  CompactionJobInfo info;
  info.cf_id = job.family_id;
  info.cf_name = job.family;
  info.job_id = job.id;
  info.compression = job.compression;
  return info;
}

EngineEvents::Job EngineEvents::job_of(const FlushBegun& event) {
  Job job;
  job.id = ++jobs_;
  job.rewrite = event.rewrite;
  for (const std::shared_ptr<Family>& family : db_->families()) {
    if (family->tree.id() != event.tree) continue;
    job.of_family = true;
    job.family_id = family->id;
    job.family = family->name;
    job.comparator = family->options.comparator->Name();
    job.compression = family->options.compression;
  }
  return job;
}

void EngineEvents::on_flush_begun(const FlushBegun& event) {
  when_open([&] {
    const Job job = job_of(event);
    under_way_.emplace(Place(event.tree, event.low_key), job);
    if (!job.of_family || closing_) return;
    tell_listeners(options_, [&](rocksdb::EventListener& listener) {
      if (event.rewrite) {
        listener.OnCompactionBegin(db_, compaction_info(job));
      } else {
        listener.OnFlushBegin(db_, flush_info(job));
      }
    });
  });
}

void EngineEvents::on_flush_completed(const FlushCompleted& event) {
  when_open([&] {
    // Of several at one place the last one ends first.
    const Place place(event.tree, event.low_key);
    auto found = under_way_.upper_bound(place);
    if (found == under_way_.begin() || (--found)->first != place) return;
    const Job job = std::move(found->second);
    under_way_.erase(found);
    count(job, event);
    if (!job.of_family || closing_) return;
    job.rewrite ? rewrite_ended(job, event) : flush_ended(job, event);
  });
}

void EngineEvents::count(const Job& job, const FlushCompleted& event) {
  rocksdb::Statistics* const to = options_.statistics.get();
  if (to == nullptr || !event.status.ok()) return;
  to->recordTick(job.rewrite ? rocksdb::COMPACT_WRITE_BYTES : rocksdb::FLUSH_WRITE_BYTES,
                 event.bytes_written);
  to->reportTimeToHistogram(job.rewrite ? rocksdb::COMPACTION_TIME : rocksdb::FLUSH_TIME,
                            event.duration_us);
  if (!job.rewrite) return;
  to->recordInHistogram(rocksdb::NUM_FILES_IN_SINGLE_COMPACTION, event.containers_in);
}

void EngineEvents::flush_ended(const Job& job, const FlushCompleted& event) {
  if (!event.status.ok()) return;
  FlushJobInfo info = flush_info(job);
  info.table_properties.data_size = event.bytes_written;
  tell_listeners(options_,
                 [&](rocksdb::EventListener& listener) { listener.OnFlushCompleted(db_, info); });
}

void EngineEvents::rewrite_ended(const Job& job, const FlushCompleted& event) {
  CompactionJobInfo info = compaction_info(job);
  info.status = to_status(event.status);
  info.stats.elapsed_micros = event.duration_us;
  info.stats.num_input_files = event.containers_in;
  info.stats.num_input_files_at_output_level = event.containers_in;
  info.stats.num_output_files = event.containers;
  info.stats.total_output_bytes = event.bytes_written;
  tell_listeners(options_, [&](rocksdb::EventListener& listener) {
    listener.OnCompactionCompleted(db_, info);
  });
}

void EngineEvents::stall_turned(bool stalls) {
  using rocksdb::WriteStallCondition;
  stalls_ = stalls;
  rocksdb::WriteStallInfo info;
  info.condition.cur = stalls ? WriteStallCondition::kDelayed : WriteStallCondition::kNormal;
  info.condition.prev = stalls ? WriteStallCondition::kNormal : WriteStallCondition::kDelayed;
  for (const std::shared_ptr<Family>& family : db_->families()) {
    info.cf_name = family->name;
    tell_listeners(options_, [&info](rocksdb::EventListener& listener) {
      listener.OnStallConditionsChanged(info);
    });
  }
}

void EngineEvents::on_write_stall_begun(const WriteStallBegun&) {
  when_open([&] { stall_turned(true); });
}

void EngineEvents::on_write_stall_ended(const WriteStallEnded& event) {
  when_open([&] {
    if (const auto& to = options_.statistics) {
      to->reportTimeToHistogram(rocksdb::WRITE_STALL, event.duration_us);
    }
    stall_turned(false);
  });
}

void EngineEvents::on_background_error(const BackgroundError& event) {
  when_open([&] {
    ++errors_;
    const auto severity =
        event.read_only ? rocksdb::Status::kFatalError : rocksdb::Status::kSoftError;
    const rocksdb::Status status(to_status(event.status), severity);
    if (const auto& to = options_.statistics) {
      to->recordTick(rocksdb::ERROR_HANDLER_BG_ERROR_COUNT);
      if (status.IsIOError()) to->recordTick(rocksdb::ERROR_HANDLER_BG_IO_ERROR_COUNT);
    }
    tell_listeners(options_, [&status](rocksdb::EventListener& listener) {
      rocksdb::Status own = status;
      listener.OnBackgroundError(rocksdb::BackgroundErrorReason::kFlush, &own);
    });
  });
}

// What has ended meanwhile would look as if it went on.
void EngineEvents::on_events_dropped(uint64_t) {
  when_open([&] { under_way_.clear(); });
}

}  // namespace hawthorn::rocks

namespace rocksdb {

const char* GetCompactionReasonString(CompactionReason compaction_reason) {
  static constexpr const char* kNames[] = {"Unknown",
                                           "LevelL0FilesNum",
                                           "LevelMaxLevelSize",
                                           "UniversalSizeAmplification",
                                           "UniversalSizeRatio",
                                           "UniversalSortedRunNum",
                                           "FIFOMaxSize",
                                           "FIFOReduceNumFiles",
                                           "FIFOTtl",
                                           "ManualCompaction",
                                           "FilesMarkedForCompaction",
                                           "BottommostFiles",
                                           "Ttl",
                                           "Flush",
                                           "ExternalSstIngestion",
                                           "PeriodicCompaction",
                                           "ChangeTemperature",
                                           "ForcedBlobGC",
                                           "RoundRobinTtl",
                                           "RefitLevel"};
  const auto at = static_cast<size_t>(compaction_reason);
  return at < std::size(kNames) ? kNames[at] : "Invalid";
}

const char* GetFlushReasonString(FlushReason flush_reason) {
  static constexpr const char* kNames[] = {"Other Reasons",
                                           "Get Live Files",
                                           "Shut down",
                                           "External File Ingestion",
                                           "Manual Compaction",
                                           "Write Buffer Manager",
                                           "Write Buffer Full",
                                           "Test",
                                           "Delete Files",
                                           "Auto Compaction",
                                           "Manual Flush",
                                           "Error Recovery",
                                           "Error Recovery Retry Flush",
                                           "WAL Full",
                                           "Catch Up After Error Recovery"};
  const auto at = static_cast<size_t>(flush_reason);
  return at < std::size(kNames) ? kNames[at] : "Invalid";
}

}  // namespace rocksdb
