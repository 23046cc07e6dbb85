#pragma once
// A directory that is becoming a database: by a checkpoint or a restore.
//
// Not here: what is written (copy_source.h, backup_repository.h, backup_stream.h). Used by open and
// destroy, too, which refuse one.
// Threads: one object, one thread.
//
// 1. The file `lock`, by which processes keep each other out of a database, is locked before
//    anything is looked at that counts, and until all is done.
// 2. The file `copy.incomplete` is durable before anything else is written, and is removed,
//    durably, when all else is durable. So whatever is interrupted leaves it.
// 3. Nothing is removed from a directory without that file, and nothing but files of a database.
// 4. Nothing is written but files of a database: names come from backups, which may be damaged.

#include <memory>
#include <string>
#include <vector>

#include "db/copy_sink.h"
#include "db/incomplete.h"
#include "os/place.h"

namespace hawthorn::db {

class CopyDirectory : public CopySink {
 public:
  // share: takes blocks over from other files, which are opened by this machine, where the file
  // system can do that.
  CopyDirectory(const os::Machine& machine, std::string directory, bool share = false)
      : machine_(machine), directory_(std::move(directory)), share_(share) {}

  // Errors: kInvalidArgument where the directory has other contents; kBusy where somebody has it.
  Status prepare();
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  Status clone(os::File& from, uint64_t offset, uint64_t bytes) override;
  Status write(const CopyPart& part, std::span<const char> data) override;
  Status end() override;
  // All that there is is a database now.
  Status finish();

 private:
  Status look(std::vector<std::string>* names);
  Status take_lock();

  os::FileSystem& files() { return place_->files(); }

  const os::Machine& machine_;
  std::string directory_;  // from the root, once it is prepared
  const bool share_;
  std::unique_ptr<os::Place> place_;  // null until then
  std::unique_ptr<os::File> lock_;
  std::unique_ptr<os::File> file_;
  std::unique_ptr<os::File> shared_;  // whose blocks it takes over
};

}  // namespace hawthorn::db
