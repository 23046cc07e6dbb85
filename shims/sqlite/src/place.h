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
// Not here: what is in the database. Threads: functions without state, and objects of one thread;
// Database::open calls them under a lock.

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
// Removes none while a file beside them cannot be read: it may name any of them. The caller has the
// right to make a database at this path (Maker): what another process is making has no name yet.
void remove_deleted(const std::string& path);
// What was made, renamed or removed in a directory is durable when it returns.
Status sync_directory(const std::string& path);

// The right to make the database of a path, which one process has at a time, from before it looks
// for what deleted ones have left until the file names the directory. It is a lock on the file,
// which is made empty where there is none, and stays empty, as SQLite leaves it, where nothing
// comes of it. Lifetime: the right ends with the object.
class Maker {
 public:
  Maker() = default;
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
  ~Maker();

  // To be followed by a look at the file: another process may have made the database before.
  // Errors: kBusy when another process has the right, or has removed the file; kNoSpace, kIoError.
  Status begin(const std::string& path);
  // Names the directory, when the database in it stands. Durable when it returns. Errors: kNoSpace,
  // kIoError: then the file is empty where it could be made so.
  Status finish(const std::string& directory);

 private:
  int set_lock(short type) const;

  std::string path_;
  int file_ = -1;
};

}  // namespace hawthorn::sqlite
