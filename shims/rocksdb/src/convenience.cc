// Options of text, and their text.

#include "rocksdb/convenience.h"

#include "shims/of_process.h"
#include "shims/rocksdb/src/option_text.h"

namespace rocksdb {
namespace {

using hawthorn::rocks::OptionMap;
using hawthorn::rocks::OptionTable;

template <typename T>
Status from_map(OptionTable table, const ConfigOptions& config, const T& base,
                const OptionMap& options, T* result) {
  T read = base;
  Status s = hawthorn::rocks::parse_options(table, config, options, &read);
  *result = s.ok() ? read : base;
  return s;
}

template <typename T>
Status from_string(OptionTable table, const ConfigOptions& config, const T& base,
                   const std::string& text, T* result) {
  OptionMap options;
  Status s = StringToMap(text, &options);
  if (s.ok()) return from_map(table, config, base, options, result);
  *result = base;
  return s;
}

ConfigOptions delimited_by(const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return config;
}

}  // namespace

Status GetDBOptionsFromMap(const ConfigOptions& config, const DBOptions& base,
                           const OptionMap& options, DBOptions* result) {
  return from_map(hawthorn::rocks::db_option_table(), config, base, options, result);
}

Status GetDBOptionsFromString(const ConfigOptions& config, const DBOptions& base,
                              const std::string& text, DBOptions* result) {
  return from_string(hawthorn::rocks::db_option_table(), config, base, text, result);
}

Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                     const OptionMap& options, ColumnFamilyOptions* result) {
  return from_map(hawthorn::rocks::family_option_table(), config, base, options, result);
}

Status GetColumnFamilyOptionsFromString(const ConfigOptions& config,
                                        const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* result) {
  return from_string(hawthorn::rocks::family_option_table(), config, base, text, result);
}

Status GetBlockBasedTableOptionsFromMap(const ConfigOptions& config,
                                        const BlockBasedTableOptions& base,
                                        const OptionMap& options, BlockBasedTableOptions* result) {
  return from_map(hawthorn::rocks::block_based_table(), config, base, options, result);
}

Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config,
                                           const BlockBasedTableOptions& base,
                                           const std::string& text,
                                           BlockBasedTableOptions* result) {
  return from_string(hawthorn::rocks::block_based_table(), config, base, text, result);
}

Status GetPlainTableOptionsFromMap(const ConfigOptions& config, const PlainTableOptions& base,
                                   const OptionMap& options, PlainTableOptions* result) {
  return from_map(hawthorn::rocks::plain_table(), config, base, options, result);
}

Status GetPlainTableOptionsFromString(const ConfigOptions& config, const PlainTableOptions& base,
                                      const std::string& text, PlainTableOptions* result) {
  return from_string(hawthorn::rocks::plain_table(), config, base, text, result);
}

Status GetOptionsFromString(const Options& base, const std::string& text, Options* result) {
  ConfigOptions config(base);
  config.input_strings_escaped = false;
  return GetOptionsFromString(config, base, text, result);
}

Status GetOptionsFromString(const ConfigOptions& config, const Options& base,
                            const std::string& text, Options* result) {
  OptionMap options, others;
  ColumnFamilyOptions family(base);
  DBOptions database(base);
  Status s = StringToMap(text, &options);
  // Families first: what one of their options is called now, one of databases was called once.
  if (s.ok()) {
    s = hawthorn::rocks::parse_options(hawthorn::rocks::family_option_table(), config, options,
                                       &family, &others);
  }
  if (s.ok()) {
    s = hawthorn::rocks::parse_options(hawthorn::rocks::db_option_table(), config, others,
                                       &database);
  }
  *result = s.ok() ? Options(database, family) : base;
  return s;
}

Status GetStringFromDBOptions(const ConfigOptions& config, const DBOptions& options,
                              std::string* text) {
  return hawthorn::rocks::show_options(hawthorn::rocks::db_option_table(), config, &options, text);
}

Status GetStringFromDBOptions(std::string* text, const DBOptions& options,
                              const std::string& delimiter) {
  return GetStringFromDBOptions(delimited_by(delimiter), options, text);
}

Status GetStringFromColumnFamilyOptions(const ConfigOptions& config,
                                        const ColumnFamilyOptions& options, std::string* text) {
  return hawthorn::rocks::show_options(hawthorn::rocks::family_option_table(), config, &options,
                                       text);
}

Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter) {
  return GetStringFromColumnFamilyOptions(delimited_by(delimiter), options, text);
}

const std::vector<CompressionType>& GetSupportedCompressions() {
  struct Supported {
    std::vector<CompressionType> types = {kNoCompression,
                                          kSnappyCompression,
                                          kZlibCompression,
                                          kBZip2Compression,
                                          kLZ4Compression,
                                          kLZ4HCCompression,
                                          kZSTD};
  };
  return hawthorn::MadeOnce<Supported>::get().types;
}

void CancelAllBackgroundWork(DB*, bool) {}

Status DeleteFilesInRange(DB*, ColumnFamilyHandle*, const Slice*, const Slice*, bool) {
  return Status::OK();
}

Status DeleteFilesInRanges(DB*, ColumnFamilyHandle*, const RangePtr*, size_t, bool) {
  return Status::OK();
}

}  // namespace rocksdb
