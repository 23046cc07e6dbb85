#pragma once
// The files of options that a database keeps beside the engine's (utilities/options_util.h).
//
// Not here: how options look (option_text.h). The engine leaves files alone that it does not know;
// its copies do not have them, so that checkpoints and backups write theirs.
// Used by DBImpl, DestroyDB, backups and options_util.h's functions.
// Threads: one writer of a directory at a time, readers at any time.
//
// 1. A file is there as a whole, or not at all; that of the highest number is the newest.
// 2. What is there with the highest number or the one before is not removed.

#include <string>
#include <utility>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace hawthorn::rocks {

using NamedFamilies = std::vector<std::pair<std::string, rocksdb::ColumnFamilyOptions>>;

rocksdb::Status options_file_text(const rocksdb::DBOptions& options, const NamedFamilies& families,
                                  std::string* text);
// As the newest file of the directory; durable when it returns.
rocksdb::Status write_options_file(const std::string& directory, const std::string& text);
// Their names, the newest first. PathNotFound.
rocksdb::Status list_options_files(const std::string& directory, std::vector<std::string>* names);
// What is left where a database was, and the directory where nothing else is in it. A database of
// RocksDB's own keeps its files.
rocksdb::Status remove_options_files(const std::string& directory);

}  // namespace hawthorn::rocks
