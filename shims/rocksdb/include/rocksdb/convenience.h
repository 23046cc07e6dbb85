#pragma once
// Options as text: "write_buffer_size=64M;block_based_table_factory={block_size=8192}".
//
// Names, and values of enumerations, are RocksDB's; sizes may end with k, m, g or t. A nested
// structure is in braces, or one of its members is named with a dot (compression_opts.level).
// Comparators, merge operators, prefixes, filter policies, memtables, tables and caches that come
// with the library have names; others of the program's own are shown by theirs, and cannot be made.
//
// Not here: objects that a program registers by name.
// Threads: any. Errors: InvalidArgument; then the result is what the options were based on.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/compression_type.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {

class ObjectRegistry;

// [mapped]
struct ConfigOptions {
  // [accepted]
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };
  // [accepted]
  enum Depth { kDepthDefault, kDepthShallow, kDepthDetailed };

  ConfigOptions() = default;
  explicit ConfigOptions(const DBOptions& options) : env(options.env) {}

  // Names that are not known; values that cannot be read are an error in any case.
  bool ignore_unknown_options = false;
  // Objects that cannot be made of their names: what was there stays.
  bool ignore_unsupported_options = true;
  bool input_strings_escaped = true;
  bool invoke_prepare_options = true;  // nothing is to be prepared [accepted]
  bool mutable_options_only = false;
  std::string delimiter = ";";
  // Detailed: with the options of a table's factory.
  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;
  size_t file_readahead_size = 512 * 1024;   // [accepted]
  Env* env = Env::Default();                 // [accepted]
  std::shared_ptr<ObjectRegistry> registry;  // [accepted]

  bool IsShallow() const { return depth == Depth::kDepthShallow; }
  bool IsDetailed() const { return depth == Depth::kDepthDetailed; }
  bool IsCheckDisabled() const { return sanity_level == SanityLevel::kSanityLevelNone; }
  bool IsCheckEnabled(SanityLevel level) const {
    return level > SanityLevel::kSanityLevelNone && level <= sanity_level;
  }
};

// [mapped]
Status GetDBOptionsFromMap(const ConfigOptions& config_options, const DBOptions& base_options,
                           const std::unordered_map<std::string, std::string>& opts_map,
                           DBOptions* new_options);
Status GetDBOptionsFromString(const ConfigOptions& config_options, const DBOptions& base_options,
                              const std::string& opts_str, DBOptions* new_options);
Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config_options,
                                     const ColumnFamilyOptions& base_options,
                                     const std::unordered_map<std::string, std::string>& opts_map,
                                     ColumnFamilyOptions* new_options);
Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options);
Status GetBlockBasedTableOptionsFromMap(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options);
Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                           const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options);
Status GetPlainTableOptionsFromMap(const ConfigOptions& config_options,
                                   const PlainTableOptions& table_options,
                                   const std::unordered_map<std::string, std::string>& opts_map,
                                   PlainTableOptions* new_table_options);
Status GetPlainTableOptionsFromString(const ConfigOptions& config_options,
                                      const PlainTableOptions& table_options,
                                      const std::string& opts_str,
                                      PlainTableOptions* new_table_options);
Status GetMemTableRepFactoryFromString(const std::string& opts_str,
                                       std::unique_ptr<MemTableRepFactory>* new_mem_factory);
// Of a database and its families. Strings are not escaped without a ConfigOptions.
Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                            Options* new_options);
Status GetOptionsFromString(const ConfigOptions& config_options, const Options& base_options,
                            const std::string& opts_str, Options* new_options);

// What the functions above read again, each option with the delimiter behind it. [mapped]
Status GetStringFromDBOptions(const ConfigOptions& config_options, const DBOptions& db_options,
                              std::string* opts_str);
Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                              const std::string& delimiter = ";  ");
Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& cf_options,
                                        std::string* opts_str);
Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                        const ColumnFamilyOptions& cf_options,
                                        const std::string& delimiter = ";  ");
Status GetStringFromCompressionType(std::string* compression_str, CompressionType compression_type);

// The values keep their braces but for the outermost. [mapped]
Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map);

// Those that a family may be opened with (compression_type.h). [mapped]
const std::vector<CompressionType>& GetSupportedCompressions();

// Closing ends it. [accepted]
void CancelAllBackgroundWork(DB* db, bool wait = false);

// [accepted]
struct RangePtr {
  const Slice* start = nullptr;
  const Slice* limit = nullptr;
  RangePtr() = default;
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}
};
// They remove files that hold keys of the range alone: here there are none. [accepted]
Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                          const Slice* end, bool include_end = true);
Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangePtr* ranges,
                           size_t n, bool include_end = true);

}  // namespace ROCKSDB_NAMESPACE
