#pragma once
// The data files of a directory as os::Files: opened at first need, locked, created whole, synced.
//
// Not here: which blocks of them are free (space.h). Used by space.cc only.
// Threads: file, mark_written and sync from any thread; create, remove and the probe by one thread
// at a time.
//
// 1. A File handed out lives as long as this object. After its file was removed its calls answer
//    kCorruption, as they would where an extent was used again: a reader that still has the address
//    of a dropped extent looks its key up again (R24). The descriptor is closed, so the disk has
//    the space back. A new file of the same number comes to stand behind the same File.
// 2. For writing, a file is locked before it is handed out; the lock is kept to the end.
// 3. What create returned is durable: size, space and name.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "os/machine.h"
#include "os/sync.h"
#include "space/data_file.h"
#include "space/devices.h"
#include "space/space.h"

namespace hawthorn::space {

// False when the name is not that of a data file.
bool parse_data_file_name(std::string_view name, uint32_t* number);

class DataFiles {
 public:
  DataFiles(const os::Machine& machine, std::string directory, const SpaceOptions& options);
  ~DataFiles();

  Result<std::vector<uint32_t>> list() const;
  // Whether the file system does direct I/O; asked once, with a file of `present` or one that is
  // made for it.
  Status probe_direct(const std::vector<uint32_t>& present);
  bool direct() const { return direct_; }

  os::File* file(uint32_t number);
  // Opens it unless it is open. Errors: why it cannot be opened; the next call tries again.
  Status open_now(uint32_t number) EXCLUDES(open_mutex_);
  // Makes data.<number> with space for at least `bytes_min` and at most *bytes (halved as long as
  // the disk has no room).
  Status create(uint32_t number, uint64_t bytes_min, uint64_t* bytes);
  // Nobody may use an extent of it any more; waits for reads of those that do not know yet. Errors:
  // the file is still there, and usable.
  Status remove(uint32_t number) EXCLUDES(open_mutex_, sync_mutex_);

  // Closes them all, and so gives up their locks. Nobody uses one any more.
  void close() EXCLUDES(open_mutex_);

  void mark_written(uint32_t number);
  Status sync() EXCLUDES(sync_mutex_);
  Status sync_directory() { return machine_.files->sync_directory(directory_); }
  Result<uint64_t> free_bytes() const;

 private:
  std::string path_of(uint32_t number) const { return directory_ + "/" + data_file_name(number); }
  Result<std::unique_ptr<os::File>> open(uint32_t number, bool wait);
  Status make(os::File& file, uint64_t bytes_min, uint64_t* bytes);
  DataFile* keep(uint32_t number, std::unique_ptr<os::File> file) REQUIRES(open_mutex_);

  const os::Machine machine_;
  const std::string directory_;
  const SpaceOptions options_;
  bool direct_ = false;
  // Null: not open yet.
  std::unique_ptr<std::atomic<DataFile*>[]> open_files_;
  std::unique_ptr<std::atomic<bool>[]> written_;
  std::atomic<uint32_t> files_end_{0};  // above the highest number ever opened

  os::Mutex open_mutex_;
  std::map<uint32_t, std::unique_ptr<DataFile>> owned_ GUARDED_BY(open_mutex_);
  std::map<uint32_t, std::unique_ptr<os::File>> failed_files_ GUARDED_BY(open_mutex_);
  // Could neither be made whole nor removed: they are in the way of the next attempt.
  std::set<uint32_t> left_over_ GUARDED_BY(open_mutex_);

  os::Mutex sync_mutex_;
  Status sync_error_ GUARDED_BY(sync_mutex_);
};

}  // namespace hawthorn::space
