#pragma once
// Options of table files, of which the block cache is mapped. How the engine's files look is its
// own matter: everything else is taken, and means nothing.
//
// Not here: factories of the program's own.

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/customizable.h"
#include "rocksdb/filter_policy.h"

namespace ROCKSDB_NAMESPACE {

class FlushBlockPolicyFactory;
class PersistentCache;

// [accepted]
enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

// [accepted]
enum class PinningTier { kFallback, kNone, kFlushedAndSimilar, kAll };

// [accepted]
struct MetadataCacheOptions {
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  PinningTier partition_pinning = PinningTier::kFallback;
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

// [accepted]
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  enum IndexType : char {
    kBinarySearch = 0x00,
    kHashSearch = 0x01,
    kTwoLevelIndexSearch = 0x02,
    kBinarySearchWithFirstKey = 0x03,
  };
  enum DataBlockIndexType : char { kDataBlockBinarySearch = 0, kDataBlockBinaryAndHash = 1 };
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    kShortenSeparatorsAndSuccessor,
  };
  enum class PrepopulateBlockCache : char { kDisable, kFlushOnly };

  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;
  bool cache_index_and_filter_blocks = false;
  bool cache_index_and_filter_blocks_with_high_priority = true;
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  bool pin_top_level_index_and_filter = true;
  MetadataCacheOptions metadata_cache_options;
  IndexType index_type = kBinarySearch;
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  double data_block_hash_table_util_ratio = 0.75;
  ChecksumType checksum = kXXH3;
  bool no_block_cache = false;                   // [mapped] to a budget without a cache
  std::shared_ptr<Cache> block_cache = nullptr;  // [mapped] null: 32 MB
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;
  uint64_t block_size = 4 * 1024;
  int block_size_deviation = 10;
  int block_restart_interval = 16;
  int index_block_restart_interval = 1;
  uint64_t metadata_block_size = 4096;
  bool partition_filters = false;
  bool decouple_partitioned_filters = false;
  bool optimize_filters_for_memory = true;
  bool use_delta_encoding = true;
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;
  bool whole_key_filtering = true;
  bool detect_filter_construct_corruption = false;
  bool verify_compression = false;
  uint32_t read_amp_bytes_per_bit = 0;
  uint32_t format_version = 6;
  bool enable_index_compression = true;
  bool block_align = false;
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;
  size_t max_auto_readahead_size = 256 * 1024;
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;
  size_t initial_auto_readahead_size = 8 * 1024;
  uint64_t num_file_reads_for_auto_readahead = 2;
};

// [accepted]
enum EncodingType : char { kPlain, kPrefix };
// [accepted]
const uint32_t kPlainTableVariableLength = 0;

// [accepted]
struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; }
  uint32_t user_key_len = kPlainTableVariableLength;
  int bloom_bits_per_key = 10;
  double hash_table_ratio = 0.75;
  size_t index_sparseness = 16;
  size_t huge_page_tlb_size = 0;
  EncodingType encoding_type = kPlain;
  bool full_scan_mode = false;
  bool store_index_in_file = false;
};

// [accepted]
struct CuckooTableOptions {
  static const char* kName() { return "CuckooTableOptions"; }
  double hash_table_ratio = 0.9;
  uint32_t max_search_depth = 100;
  uint32_t cuckoo_block_size = 5;
  bool identity_as_first_hash = false;
  bool use_module_hash = true;
};

// Made by the functions below alone. [accepted]
class TableFactory : public Customizable {
 public:
  static const char* Type() { return "TableFactory"; }
  static const char* kBlockCacheOpts() { return "BlockCache"; }
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }

  // The options that it was made with, or null where they are of another kind. [mapped]
  template <typename T>
  T* GetOptions() {
    return static_cast<T*>(OptionsNamed(T::kName()));
  }
  template <typename T>
  const T* GetOptions() const {
    return static_cast<const T*>(const_cast<TableFactory*>(this)->OptionsNamed(T::kName()));
  }

 protected:
  TableFactory() = default;
  virtual void* OptionsNamed(const std::string& name) = 0;
};

// The caller owns it. [mapped]
TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());
// [accepted]
TableFactory* NewPlainTableFactory(const PlainTableOptions& options = PlainTableOptions());
// [accepted]
TableFactory* NewCuckooTableFactory(const CuckooTableOptions& table_options = CuckooTableOptions());

}  // namespace ROCKSDB_NAMESPACE
