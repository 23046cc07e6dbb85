#pragma once
// Whether a directory in which a database is to be made has one of another engine. Then none is
// made: a program that was relinked expects its old data there, and would find an empty database.
//
// Not here: what this engine itself may have left (open.cc); commands that bring such databases
// over (tools). Threads: any.

#include <string>
#include <vector>

#include "os/file.h"

namespace hawthorn::db {

// kNotSupported, which names the file and the command that makes a database of it, where one of
// these names is a file of RocksDB's, LevelDB's, LMDB's, libmdbx's or SQLite's. The last are known
// by how they begin, and asked where their name ends as SQLite's do.
Status refuse_foreign_files(os::FileSystem& files, const std::string& directory,
                            const std::vector<std::string>& names);

}  // namespace hawthorn::db
