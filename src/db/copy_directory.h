#pragma once
// A directory that is becoming a database: by a checkpoint or a restore.
//
// Not here: what is written (copy_source.h, backup_reader.h). Used by open, too, which refuses one.
// Threads: one object, one thread.
//
// 1. The file `copy.incomplete` is durable before anything else is written, and is removed,
// durably,
//    when all else is durable. So whatever is interrupted leaves it.
// 2. Nothing is removed from a directory without that file, and nothing but files of a database.
// 3. The file is locked as long as it is written: of two copies into one directory one is refused.

#include <memory>
#include <string>
#include <vector>

#include "db/copy_source.h"

namespace hawthorn::db {

inline constexpr char kIncompleteName[] = "copy.incomplete";

// Errors: kCorruption where a copy of this directory was interrupted.
Status refuse_incomplete(const os::Machine& machine, const std::string& directory);
// Makes a directory, its name durable.
Status make_durable_directory(os::FileSystem& files, const std::string& directory);

class CopyDirectory : public CopySink {
 public:
  CopyDirectory(const os::Machine& machine, std::string directory)
      : machine_(machine), directory_(std::move(directory)) {}

  // Errors: kInvalidArgument where the directory has other contents.
  Status prepare();
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  Status write(uint64_t offset, std::span<const char> data) override;
  Status end() override;
  // All that there is is a database now.
  Status finish();

 private:
  const os::Machine& machine_;
  const std::string directory_;
  std::unique_ptr<os::File> marker_;
  std::unique_ptr<os::File> file_;
  uint64_t bytes_ = 0;
};

}  // namespace hawthorn::db
