#pragma once
// The options that a database was opened with, from the files that it keeps of them.
//
// A database writes OPTIONS-000001, and one with the next number when it is opened, when families
// come and go and when options are set, and keeps the last two. They are text, in sections:
//
//   [Version]
//     rocksdb_version=10.4.2
//     options_file_version=1.1
//   [DBOptions]
//     max_open_files=-1
//   [CFOptions "default"]
//     write_buffer_size=67108864
//   [TableOptions/BlockBasedTable "default"]
//     block_size=4096
//
// Those that RocksDB has written are read, too, also of earlier versions.
// Objects that cannot be made of their names (convenience.h) are left at their defaults: the
// program sets its comparators, merge operators, filters, caches and so on before it opens.
//
// Threads: any, also while the database is open here or elsewhere. Errors: NotFound and
// IOError(PathNotFound) where there is none; InvalidArgument or Corruption, naming the line, for
// what cannot be read.

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// The cache, where one is given, becomes the block cache of all families. Names that are not known
// are ignored, where that is asked for, in files of later versions alone. [mapped]
Status LoadLatestOptions(const ConfigOptions& config_options, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache = {});
Status LoadOptionsFromFile(const ConfigOptions& config_options,
                           const std::string& options_file_name, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache = {});
// Without its directory.
Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                std::string* options_file_name);
// InvalidArgument, or Corruption of options of tables, naming the first option that differs from
// the latest file, as far as ConfigOptions::sanity_level asks. Families come in the order of their
// ids, as ListColumnFamilies has them.
Status CheckOptionsCompatibility(const ConfigOptions& config_options, const std::string& dbpath,
                                 const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs);

}  // namespace ROCKSDB_NAMESPACE
