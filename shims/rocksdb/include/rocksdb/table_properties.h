#pragma once
// What is known of a file of entries (SstFileReader::GetTableProperties), and what listeners are
// told of what was flushed, rewritten or ingested: sizes, and of ingested files the counts.
//
// Members without a meaning here stay as they are below. Not here: collectors of properties.
// Threads: any that read it.

#include <cstdint>
#include <map>
#include <string>

#include "rocksdb/status.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
using UserCollectedProperties = std::map<std::string, std::string>;

// [mapped]
struct TableProperties {
  uint64_t data_size = 0;       // of the blocks of entries
  uint64_t index_size = 0;      // of what stands behind them
  uint64_t raw_key_size = 0;    // of all keys
  uint64_t raw_value_size = 0;  // of all values, operands and ends of ranges
  uint64_t num_data_blocks = 0;
  uint64_t num_entries = 0;    // ranges included
  uint64_t num_deletions = 0;  // ranges included
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  uint64_t format_version = 0;
  // Of the family that alone takes the file in, else 2147483647.
  uint64_t column_family_id = 0x7fffffff;
  uint64_t tail_start_offset = 0;
  std::string comparator_name;

  // [accepted]
  uint64_t orig_file_number = 0;
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  uint64_t index_key_is_user_key = 0;
  uint64_t index_value_is_delta_encoded = 0;
  uint64_t filter_size = 0;
  uint64_t num_filter_entries = 0;
  uint64_t fixed_key_len = 0;
  uint64_t creation_time = 0;
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;
  uint64_t external_sst_file_global_seqno_offset = 0;
  uint64_t user_defined_timestamps_persisted = 1;
  uint64_t key_largest_seqno = UINT64_MAX;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  std::string column_family_name;
  std::string filter_policy_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  std::string seqno_to_time_mapping;
  UserCollectedProperties user_collected_properties;
  UserCollectedProperties readable_properties;

  // The mapped ones, each as its name, kv_delim, its value and prop_delim. [mapped]
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;
  // Adds the other's numbers. [mapped]
  void Add(const TableProperties& tp);
  // Those that Add adds, by name. [mapped]
  std::map<std::string, uint64_t> GetAggregatablePropertiesAsMap() const;
};

}  // namespace ROCKSDB_NAMESPACE
