// Properties: figures of a database and its families, by name.

#include <algorithm>
#include <charconv>
#include <ctime>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"

namespace hawthorn::rocks {
namespace {

using Names = rocksdb::DB::Properties;
using Map = std::map<std::string, std::string>;

const hawthorn::TreeStats* find(const hawthorn::Stats& stats, const Family& family) {
  const std::string name =
      family.dropped ? dropped_tree_name(family.id) : tree_name(family.name, family.row);
  const auto found = std::find_if(stats.trees.begin(), stats.trees.end(),
                                  [&name](const auto& tree) { return tree.name == name; });
  return found == stats.trees.end() ? nullptr : &*found;
}

// The number behind a prefix, which a name has.
std::optional<int> number_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

uint64_t bytes_of(const hawthorn::TreeStats& tree) { return tree.bytes_index + tree.bytes_values; }

// Files, levels, memtables, blobs and versions that there are none of.
bool is_zero(std::string_view name) {
  const std::string* const zeros[] = {&Names::kNumImmutableMemTable,
                                      &Names::kNumImmutableMemTableFlushed,
                                      &Names::kMemTableFlushPending,
                                      &Names::kNumRunningFlushes,
                                      &Names::kCompactionPending,
                                      &Names::kNumRunningCompactions,
                                      &Names::kNumRunningCompactionSortedRuns,
                                      &Names::kNumEntriesImmMemTables,
                                      &Names::kNumDeletesImmMemTables,
                                      &Names::kEstimateTableReadersMem,
                                      &Names::kEstimatePendingCompactionBytes,
                                      &Names::kActualDelayedWriteRate,
                                      &Names::kIsWriteStopped,
                                      &Names::kBaseLevel,
                                      &Names::kCurrentSuperVersionNumber,
                                      &Names::kNumBlobFiles,
                                      &Names::kTotalBlobFileSize,
                                      &Names::kLiveBlobFileSize,
                                      &Names::kLiveBlobFileGarbageSize};
  return std::any_of(std::begin(zeros), std::end(zeros),
                     [name](const std::string* zero) { return name == *zero; });
}

std::optional<uint64_t> of_blob_cache(const Family& family, std::string_view name) {
  const std::shared_ptr<rocksdb::Cache>& cache = family.options.blob_cache;
  if (cache == nullptr) return std::nullopt;
  if (name == Names::kBlobCacheCapacity) return cache->GetCapacity();
  if (name == Names::kBlobCacheUsage) return cache->GetUsage();
  if (name == Names::kBlobCachePinnedUsage) return cache->GetPinnedUsage();
  return std::nullopt;
}

std::string lines_of(const Map& figures) {
  std::string text;
  for (const auto& [name, figure] : figures) text += name + ": " + figure + "\n";
  return text;
}

}  // namespace

uint64_t data_in_memory(const hawthorn::Stats& stats) {
  return stats.memory_index_bytes + stats.memory_value_bytes + stats.memory_frame_bytes;
}

std::optional<uint64_t> SnapshotList::property(std::string_view name) const {
  if (name == Names::kNumSnapshots) return size();
  if (name == Names::kOldestSnapshotTime) return static_cast<uint64_t>(oldest_time());
  if (name == Names::kOldestSnapshotSequence) return oldest_sequence();
  return std::nullopt;
}

std::optional<uint64_t> DBImpl::int_property(const Family& family, std::string_view name) {
  if (is_zero(name)) return 0;
  if (name == Names::kNumLiveVersions || name == Names::kIsFileDeletionsEnabled) return 1;
  if (name == Names::kMinObsoleteSstNumberToKeep) return UINT64_MAX;
  if (const std::optional<uint64_t> figure = snapshots_.property(name)) return figure;
  if (const auto figure = of_blob_cache(family, name)) return figure;
  if (name == Names::kEstimateNumKeys) {
    const auto estimate = db_->estimate(family.tree, {}, std::nullopt);
    if (!estimate.ok()) return std::nullopt;
    return estimate->entries;
  }
  const hawthorn::Stats stats = db_->stats();
  if (name == Names::kBlockCacheCapacity) return stats.memory_budget_bytes;
  if (name == Names::kBlockCacheUsage) return data_in_memory(stats);
  if (name == Names::kBlockCachePinnedUsage) return stats.memory_pinned_bytes;
  if (name == Names::kObsoleteSstFilesSize) return stats.follower_bytes_held;
  if (name == Names::kBackgroundErrors) {
    return stats.quarantined_containers + (events_ == nullptr ? 0 : events_->errors());
  }
  if (name == Names::kCurSizeActiveMemTable || name == Names::kCurSizeAllMemTables ||
      name == Names::kSizeAllMemTables) {
    return stats.memory_delta_bytes;
  }
  const hawthorn::TreeStats* const tree = find(stats, family);
  if (tree == nullptr) return std::nullopt;
  if (name == Names::kNumEntriesActiveMemTable) return tree->delta_records;
  const uint64_t bytes = bytes_of(*tree);
  if (name == Names::kTotalSstFilesSize || name == Names::kLiveSstFilesSize) return bytes;
  if (name == Names::kEstimateLiveDataSize) return bytes - std::min(bytes, tree->bytes_garbage);
  return std::nullopt;
}

std::optional<std::string> DBImpl::level_property(const Family& family,
                                                  const hawthorn::TreeStats& tree,
                                                  std::string_view name) {
  if (const auto heat = number_behind(name, Names::kLiveSstFilesSizeAtTemperature)) {
    return std::to_string(*heat == 0 ? bytes_of(tree) : 0);
  }
  const auto level_of = [&](const std::string& prefix) -> std::optional<int> {
    const std::optional<int> level = number_behind(name, prefix);
    return level.has_value() && *level < family.options.num_levels ? level : std::nullopt;
  };
  if (const auto level = level_of(Names::kNumFilesAtLevelPrefix)) {
    return std::to_string(*level == 0 ? tree.containers : 0);
  }
  if (const auto level = level_of(Names::kCompressionRatioAtLevelPrefix)) {
    if (*level > 0 || bytes_of(tree) == 0) return std::to_string(-1.0);
    return std::to_string(static_cast<double>(tree.bytes_uncompressed) /
                          static_cast<double>(bytes_of(tree)));
  }
  return std::nullopt;
}

std::optional<Map> DBImpl::map_property(const Family& family, std::string_view name) {
  const hawthorn::Stats stats = db_->stats();
  const hawthorn::TreeStats* const tree = find(stats, family);
  if (tree == nullptr) return std::nullopt;
  Map figures;
  const auto add = [&figures](const char* what, uint64_t figure) {
    figures[what] = std::to_string(figure);
  };
  if (name == Names::kCFStats || name == Names::kCFStatsNoFileHistogram) {
    for (const char* const level : {"compaction.L0.", "compaction.Sum."}) {
      figures[std::string(level) + "NumFiles"] = std::to_string(tree->containers);
      figures[std::string(level) + "SizeBytes"] = std::to_string(bytes_of(*tree));
    }
  } else if (name == Names::kDBStats) {
    const std::lock_guard lock(reset_mutex_);
    add("db.wal_bytes_written", stats.bytes_written_log - reset_.bytes_written_log);
    add("db.wal_syncs", stats.log_syncs - reset_.log_syncs);
    add("db.user_keys_written", stats.operations - reset_.operations);
    add("db.user_writes_by_self", stats.commits - reset_.commits);
    add("db.user_writes_with_wal", stats.commits - reset_.commits);
    add("db.user_write_stall_micros", stats.write_wait_us - reset_.write_wait_us);
    add("db.uptime", static_cast<uint64_t>(std::time(nullptr) - opened_));
  } else if (name == Names::kCFWriteStallStats) {
    const std::lock_guard lock(reset_mutex_);
    add("total-delays", stats.write_waits - reset_.write_waits);
    add("total-stops", 0);
  } else if (name == Names::kDBWriteStallStats) {
    add("write-buffer-manager-limit-stops", 0);
  } else if (name == Names::kAggregatedTableProperties) {
    add("data_size", tree->bytes_values);
    add("index_size", tree->bytes_index);
    add("num_entries", tree->entries_flushed);
  } else {
    return std::nullopt;
  }
  return figures;
}

std::string DBImpl::database_text(const hawthorn::Stats& stats) {
  std::string text = "** DB Stats **\n";
  const std::lock_guard lock(reset_mutex_);
  const auto add = [&](const char* what, uint64_t hawthorn::Stats::* figure) {
    text += std::string(what) + ": " + std::to_string(stats.*figure - reset_.*figure) + "\n";
  };
  add("commits", &Stats::commits);
  add("operations", &Stats::operations);
  add("bytes written to the log", &Stats::bytes_written_log);
  add("bytes written to data files", &Stats::bytes_written_data);
  add("bytes read", &Stats::bytes_read);
  add("commits that were paced", &Stats::write_waits);
  add("microseconds of pacing", &Stats::write_wait_us);
  return text;
}

std::optional<std::string> DBImpl::text_property(const Family& family, std::string_view name) {
  if (name == Names::kOptionsStatistics) {
    if (options_.statistics == nullptr) return std::nullopt;
    return options_.statistics->ToString();
  }
  const hawthorn::Stats stats = db_->stats();
  const hawthorn::TreeStats* const tree = find(stats, family);
  if (tree == nullptr) return std::nullopt;
  if (auto text = level_property(family, *tree, name)) return text;
  if (name == Names::kLevelStats) {
    return "level containers bytes\n0 " + std::to_string(tree->containers) + " " +
           std::to_string(bytes_of(*tree)) + "\n";
  }
  if (name == Names::kBlobStats) {
    return "Number of blob files: 0\nTotal size of blob files: 0\n"
           "Total size of garbage in blob files: 0\nBlob file space "
           "amplification: 0\n";
  }
  if (name == Names::kDBStats) return database_text(stats);
  const std::string of_family =
      "** Compaction Stats [" + family.name + "] **\n" +
      lines_of({{"entries on disk", std::to_string(tree->entries_flushed)},
                {"entries in memory alone", std::to_string(tree->delta_records)},
                {"containers", std::to_string(tree->containers)},
                {"bytes of indexes", std::to_string(tree->bytes_index)},
                {"bytes of values", std::to_string(tree->bytes_values)},
                {"bytes of garbage", std::to_string(tree->bytes_garbage)}});
  if (name == Names::kStats) return of_family + database_text(stats);
  if (name == Names::kCFStats || name == Names::kCFStatsNoFileHistogram) return of_family;
  if (const auto figures = map_property(family, name)) return lines_of(*figures);
  return std::nullopt;
}

bool DBImpl::GetIntProperty(Handle* handle, const rocksdb::Slice& property, uint64_t* value) {
  const std::optional<uint64_t> found = int_property(*family_of(handle), view(property));
  *value = found.value_or(0);
  return found.has_value();
}

bool DBImpl::GetMapProperty(Handle* handle, const rocksdb::Slice& property, Map* value) {
  std::optional<Map> found = map_property(*family_of(handle), view(property));
  value->clear();
  if (!found.has_value()) return false;
  *value = std::move(*found);
  return true;
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
  for (const std::shared_ptr<Family>& family : families()) {
    const std::optional<uint64_t> found = int_property(*family, view(property));
    if (!found.has_value()) return false;
    *value += *found;
  }
  return true;
}

rocksdb::Status DBImpl::ResetStats() {
  hawthorn::Stats now = db_->stats();
  const std::lock_guard lock(reset_mutex_);
  reset_ = std::move(now);
  return rocksdb::Status::OK();
}

}  // namespace hawthorn::rocks
