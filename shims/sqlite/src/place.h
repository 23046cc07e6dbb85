#pragma once
// Where a database lies: a file with the name that the program gives, which says in which directory
// beside it the data are.
//
//   app.db               "Hawthorn database for SQLite\n", the directory's name, "\n"
//   app.db-3f9a01c24d77  the database
//
// So programs find, rename and delete a file, as with SQLite's own. The name of the directory stays
// when the file is renamed. Where the file is deleted the directory is removed when there is a new
// database of that name. A copy of the file is another name of the same database.
//
// Not here: what is in the database. Threads: functions without state; Database::open calls them
// under a lock.

#include <cstdint>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::sqlite {

// kUnknown: the system does not say, for want of a descriptor or of permission, say.
enum class Found : uint8_t { kNothing, kEmptyFile, kOurs, kOther, kUnknown };

// What is at a path; of kOurs the directory; of kUnknown why, in SQLite's log.
Found look_at(const std::string& path, std::string* directory);

// The name of a directory for a new database at this path, that nobody has.
std::string new_directory(const std::string& path);
// Removes directories of databases at this path whose file was deleted, but those that are open.
// Removes none while a file beside them cannot be read: it may name any of them.
void remove_deleted(const std::string& path);
// What was made, renamed or removed in a directory is durable when it returns.
Status sync_directory(const std::string& path);
// Makes the file, or fills the empty one, when the database stands. Durable when it returns.
// Errors: kBusy when another process has done so, or is about to; kNoSpace, kIoError: then the file
// is empty where it could be made so.
Status write_file(const std::string& path, const std::string& directory);

}  // namespace hawthorn::sqlite
