#pragma once
// What is told of a table file: here, of what was flushed, rewritten or ingested.
//
// Not here: collectors of properties, which are refused.

#include <cstdint>
#include <map>
#include <string>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
using UserCollectedProperties = std::map<std::string, std::string>;

// Those that are not marked stay as they are. [accepted]
struct TableProperties {
  uint64_t orig_file_number = 0;
  uint64_t data_size = 0;  // [mapped] bytes written to data files, by a flush
  uint64_t index_size = 0;
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  uint64_t index_key_is_user_key = 0;
  uint64_t index_value_is_delta_encoded = 0;
  uint64_t filter_size = 0;
  uint64_t raw_key_size = 0;
  uint64_t raw_value_size = 0;
  uint64_t num_data_blocks = 0;
  uint64_t num_entries = 0;  // [mapped] of an ingested file
  uint64_t num_filter_entries = 0;
  uint64_t num_deletions = 0;
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;  // [mapped] of an ingested file
  uint64_t format_version = 0;
  uint64_t fixed_key_len = 0;
  uint64_t column_family_id = INT32_MAX;  // [mapped]
  uint64_t creation_time = 0;
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;
  uint64_t external_sst_file_global_seqno_offset = 0;
  uint64_t tail_start_offset = 0;
  uint64_t user_defined_timestamps_persisted = 1;
  uint64_t key_largest_seqno = UINT64_MAX;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  std::string column_family_name;  // [mapped]
  std::string filter_policy_name;
  std::string comparator_name;  // [mapped]
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  std::string seqno_to_time_mapping;
  UserCollectedProperties user_collected_properties;
  UserCollectedProperties readable_properties;
};

}  // namespace ROCKSDB_NAMESPACE
