#pragma once
// A file system that shows each call to a watcher before and after another file system does it. The
// watcher may let it do half a write, or leave the call out and say that it was done.
//
// Not here: what is made of the calls: a recording (recording.h), a process that kills itself
// (tests/crash/kill_switch.h). Used by tests only.
// Threads: any; the watcher is called on the thread that makes the call, several at a time.
// Lifetime: the other file system and the watcher outlive this and all its files.
//
// 1. after() follows each before(), on the same thread, also where the call failed or was left out.
// 2. Reads through an I/O queue of the system (os/io_queue.h) are not shown: they go to the
//    descriptor. Stores into mapped files cannot be.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "os/file.h"
#include "testing/forwarded_files.h"

namespace hawthorn::testing {

enum class FileOp : uint8_t {
  kOpen,
  kClose,  // before the file goes
  kMap,
  kUnmap,  // before the mapping goes
  kRead,
  kWrite,
  kSync,
  kSyncMapped,
  kTruncate,
  kAllocate,
  kPunch,
  kRename,
  kRemove,
  kMakeDirectory,
  kRemoveDirectory,
  kSyncDirectory,
};

inline bool is_sync(FileOp op) {
  return op == FileOp::kSync || op == FileOp::kSyncMapped || op == FileOp::kSyncDirectory;
}

struct FileCall {
  FileOp op = FileOp::kOpen;
  std::string path;
  std::string to;       // kRename
  uint64_t file = 0;    // a number that no other open file or mapping of this file system has
  uint64_t offset = 0;  // kTruncate: the size
  uint64_t size = 0;
  std::span<const char> data = {};    // kWrite
  os::OpenFlags flags = {};           // kOpen
  os::MappedFile* mapping = nullptr;  // kMap: afterwards
  uint64_t mark = 0;                  // the watcher's own, from before() to after()
};

class FileWatcher {
 public:
  enum class Verdict : uint8_t { kDo, kHalf, kSkip };
  virtual ~FileWatcher() = default;
  // kHalf: the front of a write, in whole blocks. kSkip: the call returns OK and nothing is done;
  // not for calls that return a file.
  virtual Verdict before(FileCall& call) = 0;
  virtual void after(FileCall& call, const Status& status) = 0;
};

class WatchedFiles : public ForwardedFiles {
 public:
  WatchedFiles(os::FileSystem& files, FileWatcher& watcher)
      : ForwardedFiles(files), watcher_(watcher) {}

  Result<std::unique_ptr<os::File>> open_file(const std::string& path,
                                              os::OpenFlags flags) override;
  Result<std::unique_ptr<os::MappedFile>> map_shared(const std::string& path, size_t size,
                                                     bool read_only) override;
  Status make_directory(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;

 private:
  FileWatcher& watcher_;
  std::atomic<uint64_t> last_file_{0};
};

}  // namespace hawthorn::testing
