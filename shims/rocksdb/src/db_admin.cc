// Care and figures: flushes, checks, properties.

#include <algorithm>
#include <charconv>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/resources.h"

namespace hawthorn::rocks {
namespace {

using S = rocksdb::Status;
using Names = rocksdb::DB::Properties;

uint64_t data_in_memory(const hawthorn::Stats& stats) {
  return stats.memory_index_bytes + stats.memory_value_bytes + stats.memory_frame_bytes;
}

const hawthorn::TreeStats* find(const hawthorn::Stats& stats, const Family& family) {
  const std::string name = family.dropped ? dropped_tree_name(family.id) : tree_name(family.name);
  const auto found = std::find_if(stats.trees.begin(), stats.trees.end(),
                                  [&name](const auto& tree) { return tree.name == name; });
  return found == stats.trees.end() ? nullptr : &*found;
}

}  // namespace

// ---- The engine's own work

rocksdb::Status DBImpl::Flush(const rocksdb::FlushOptions&, Handle*) { return told(db_->flush()); }

rocksdb::Status DBImpl::Flush(const rocksdb::FlushOptions&, const Handles& handles) {
  return handles.empty() ? S::OK() : told(db_->flush());
}

rocksdb::Status DBImpl::FlushWAL(bool sync) { return sync ? SyncWAL() : S::OK(); }
rocksdb::Status DBImpl::SyncWAL() { return told(db_->sync()); }

rocksdb::Status DBImpl::CompactRange(const rocksdb::CompactRangeOptions& options, Handle*,
                                     const rocksdb::Slice*, const rocksdb::Slice*) {
  if (options.full_history_ts_low != nullptr) return S::NotSupported("user timestamps");
  if (manual_compaction_off_ > 0 || (options.canceled != nullptr && *options.canceled)) {
    return S(S::kIncomplete, S::kManualCompactionPaused, S::kNoError, "");
  }
  return told(db_->compact());
}

rocksdb::Status DBImpl::WaitForCompact(const rocksdb::WaitForCompactOptions& options) {
  if (options.timeout.count() != 0) return S::NotSupported("WaitForCompactOptions::timeout");
  hawthorn::Status status;
  if (options.flush) status = db_->flush();
  if (status.ok()) status = db_->drain();
  if (!status.ok()) return told(status);
  return options.close_db ? Close() : S::OK();
}

rocksdb::Status DBImpl::VerifyChecksum(const rocksdb::ReadOptions&) {
  const hawthorn::Result<hawthorn::CheckReport> report = db_->check();
  if (!report.ok()) return told(report.status());
  return report->ok() ? S::OK() : S::Corruption(report->errors.front());
}

rocksdb::Status DBImpl::GetDbIdentity(std::string& identity) const {
  identity = db_->id();
  return S::OK();
}

rocksdb::Status DBImpl::GetDbSessionId(std::string& session_id) const {
  session_id = session_id_;
  return S::OK();
}

// ---- Memory and limits

size_t DBImpl::budget() const {
  const std::shared_lock lock(families_mutex_);
  return memory_budget(options_, family_options());
}

void DBImpl::memory_changed() {
  const std::lock_guard lock(budget_mutex_);
  // Where what is pinned does not fit, the budget stays as it is.
  static_cast<void>(db_->set_memory_budget(budget()));
}

void DBImpl::rate_changed() {
  const int64_t bytes = options_.rate_limiter->GetBytesPerSecond();
  static_cast<void>(
      db_->set_background_io_limit(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))));
}

size_t DBImpl::memory_used() { return data_in_memory(db_->stats()); }
size_t DBImpl::memory_pinned() { return db_->stats().memory_pinned_bytes; }

// ---- Properties

std::optional<uint64_t> DBImpl::int_property(const Family& family, std::string_view name) {
  // Files, levels, memtables and versions that there are none of.
  for (const std::string* zero :
       {&Names::kNumImmutableMemTable, &Names::kNumImmutableMemTableFlushed,
        &Names::kMemTableFlushPending, &Names::kNumRunningFlushes, &Names::kCompactionPending,
        &Names::kNumRunningCompactions, &Names::kNumEntriesImmMemTables,
        &Names::kEstimateTableReadersMem, &Names::kEstimatePendingCompactionBytes,
        &Names::kActualDelayedWriteRate, &Names::kIsWriteStopped, &Names::kBaseLevel,
        &Names::kCurrentSuperVersionNumber}) {
    if (name == *zero) return 0;
  }
  if (name == Names::kNumLiveVersions || name == Names::kIsFileDeletionsEnabled) return 1;
  if (name == Names::kNumSnapshots) return snapshots_.size();
  if (name == Names::kOldestSnapshotTime) return static_cast<uint64_t>(snapshots_.oldest_time());
  if (name == Names::kOldestSnapshotSequence) return snapshots_.oldest_sequence();
  if (name == Names::kEstimateNumKeys) {
    const auto estimate = db_->estimate(family.tree, {}, std::nullopt);
    if (!estimate.ok()) return std::nullopt;
    return estimate->entries;
  }
  const hawthorn::Stats stats = db_->stats();
  if (name == Names::kBlockCacheCapacity) return stats.memory_budget_bytes;
  if (name == Names::kBlockCacheUsage) return data_in_memory(stats);
  if (name == Names::kBlockCachePinnedUsage) return stats.memory_pinned_bytes;
  if (name == Names::kBackgroundErrors) return stats.quarantined_containers;
  if (name == Names::kCurSizeActiveMemTable || name == Names::kCurSizeAllMemTables ||
      name == Names::kSizeAllMemTables) {
    return stats.memory_delta_bytes;
  }
  const hawthorn::TreeStats* const tree = find(stats, family);
  if (tree == nullptr) return std::nullopt;
  if (name == Names::kNumEntriesActiveMemTable) return tree->delta_records;
  const uint64_t bytes = tree->bytes_index + tree->bytes_values;
  if (name == Names::kTotalSstFilesSize || name == Names::kLiveSstFilesSize) return bytes;
  if (name == Names::kEstimateLiveDataSize) {
    return bytes - std::min(bytes, tree->bytes_garbage);
  }
  return std::nullopt;
}

std::optional<std::string> DBImpl::text_property(const Family& family, std::string_view name) {
  const hawthorn::Stats stats = db_->stats();
  const hawthorn::TreeStats* const tree = find(stats, family);
  if (tree == nullptr) return std::nullopt;
  if (name.starts_with(Names::kNumFilesAtLevelPrefix)) {
    name.remove_prefix(Names::kNumFilesAtLevelPrefix.size());
    int level = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), level);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    if (level < 0 || level >= family.options.num_levels) return std::nullopt;
    return std::to_string(level == 0 ? tree->containers : 0);
  }
  const bool of_database = name == Names::kStats || name == Names::kDBStats;
  const bool of_family = name == Names::kStats || name == Names::kCFStats;
  std::string text;
  const auto add = [&text](const char* what, uint64_t figure) {
    text += std::string(what) + ": " + std::to_string(figure) + "\n";
  };
  if (of_database) {
    text += "** DB Stats **\n";
    add("commits", stats.commits);
    add("operations", stats.operations);
    add("bytes written to the log", stats.bytes_written_log);
    add("bytes written to data files", stats.bytes_written_data);
    add("bytes read", stats.bytes_read);
    add("commits that were paced", stats.write_waits);
    add("microseconds of pacing", stats.write_wait_us);
  }
  if (of_family) {
    text += "** Compaction Stats [" + family.name + "] **\n";
    add("entries on disk", tree->entries_flushed);
    add("entries in memory alone", tree->delta_records);
    add("containers", tree->containers);
    add("bytes of indexes", tree->bytes_index);
    add("bytes of values", tree->bytes_values);
    add("bytes of garbage", tree->bytes_garbage);
  }
  if (name == Names::kLevelStats) {
    text = "level containers bytes\n0 " + std::to_string(tree->containers) + " " +
           std::to_string(tree->bytes_index + tree->bytes_values) + "\n";
  }
  if (text.empty()) return std::nullopt;
  return text;
}

bool DBImpl::GetIntProperty(Handle* handle, const rocksdb::Slice& property, uint64_t* value) {
  const std::optional<uint64_t> found = int_property(*family_of(handle), view(property));
  *value = found.value_or(0);
  return found.has_value();
}

bool DBImpl::GetProperty(Handle* handle, const rocksdb::Slice& property, std::string* value) {
  value->clear();
  const Family& family = *family_of(handle);
  if (const std::optional<uint64_t> number = int_property(family, view(property))) {
    *value = std::to_string(*number);
    return true;
  }
  std::optional<std::string> text = text_property(family, view(property));
  if (!text.has_value()) return false;
  *value = std::move(*text);
  return true;
}

bool DBImpl::GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) {
  *value = 0;
  std::vector<std::shared_ptr<Family>> all;
  {
    const std::shared_lock lock(families_mutex_);
    all = families_;
  }
  for (const std::shared_ptr<Family>& family : all) {
    const std::optional<uint64_t> found = int_property(*family, view(property));
    if (!found.has_value()) return false;
    *value += *found;
  }
  return true;
}

rocksdb::Status DBImpl::GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                            Handle* handle, const rocksdb::Range* ranges, int n,
                                            uint64_t* sizes) {
  if (!options.include_memtables && !options.include_files) {
    return S::InvalidArgument("Invalid options");
  }
  for (int i = 0; i < n; ++i) {
    sizes[i] = 0;
    if (!options.include_files) continue;
    const auto estimate =
        db_->estimate(family_of(handle)->tree, view(ranges[i].start), view(ranges[i].limit));
    if (!estimate.ok()) return told(estimate.status());
    sizes[i] = estimate->bytes;
  }
  return S::OK();
}

}  // namespace hawthorn::rocks
