// Constructors of options, and those of their functions that choose values.

#include "rocksdb/options.h"

#include "rocksdb/table.h"

namespace rocksdb {
namespace {

constexpr size_t kMega = size_t{1} << 20;

// A small database: 2 MB of write buffers, and a cache that the caller may share.
std::shared_ptr<Cache> small_cache(std::shared_ptr<Cache>* given) {
  std::shared_ptr<Cache> cache = given == nullptr ? nullptr : *given;
  if (cache == nullptr) cache = NewLRUCache(16 * kMega);
  if (given != nullptr) *given = cache;
  return cache;
}

void set_memtables(ColumnFamilyOptions& options, uint64_t budget) {
  options.write_buffer_size = static_cast<size_t>(budget / 4);
  options.min_write_buffer_number_to_merge = 2;
  options.max_write_buffer_number = 6;
}

}  // namespace

ColumnFamilyOptions::ColumnFamilyOptions() : table_factory(NewBlockBasedTableFactory()) {}

ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

DBOptions::DBOptions(const Options& options) : DBOptions(static_cast<const DBOptions&>(options)) {}

ColumnFamilyOptions* ColumnFamilyOptions::OldDefaults(int, int) { return this; }
DBOptions* DBOptions::OldDefaults(int, int) { return this; }
Options* Options::OldDefaults(int, int) { return this; }

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  max_background_jobs = total_threads;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 * kMega;
  BlockBasedTableOptions table;
  table.block_cache = small_cache(cache);
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  // The cache is that of the families; without one here, theirs counts alone.
  if (cache != nullptr) small_cache(cache);
  max_open_files = 5000;
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache;
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size_mb) * kMega);
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(
    uint64_t memtable_memory_budget) {
  set_memtables(*this, memtable_memory_budget);
  compaction_style = kCompactionStyleLevel;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(
    uint64_t memtable_memory_budget) {
  set_memtables(*this, memtable_memory_budget);
  compaction_style = kCompactionStyleUniversal;
  return this;
}

Options* Options::PrepareForBulkLoad() {
  disable_auto_compactions = true;
  return this;
}

}  // namespace rocksdb
