#pragma once
// What an engine on real files has done to them, in order: each write, store into a mapping, change
// of a size, change of a name and sync, with the moments at which it began and ended, and marks of
// whoever uses the engine between them.
//
// Not here: what a power cut leaves of it (recorded_cut.h). Used by tests only.
// Threads: a Recorder from any thread; a Recording is plain data.
//
// 1. Each begin and end of a call and each mark has a moment of its own, in one order. What is told
//    to a Recorder before another call begins has an earlier moment.
// 2. Stores into a mapping are found page by page, as writes that begin and end at one moment: when
//    any file is synced, when the mapping goes, and now and then. A sync of the mapping covers
//    those that were made before it began.
// 3. All calls from first to last, applied in order, give the files byte for byte (recorded_cut.h
//    compares them): what went past the file system would be missed there.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/sync.h"
#include "testing/watched_files.h"

namespace hawthorn::testing {

inline constexpr uint64_t kNoMoment = ~uint64_t{0};

struct RecordedCall {
  FileOp op = FileOp::kOpen;
  std::string path = {};  // below the root, with a slash before it; "/" is the root itself
  std::string to = {};    // kRename
  uint64_t file = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool creates = false;   // kOpen, kMap
  std::string data = {};  // kWrite
  uint64_t begin = 0;
  uint64_t end = kNoMoment;
};

struct RecordedMark {
  uint64_t moment = 0;
  uint32_t kind = 0;  // the user's own, as the rest
  uint32_t who = 0;
  uint64_t number = 0;
};

struct Recording {
  std::vector<RecordedCall> calls;  // in the order in which they began
  std::vector<RecordedMark> marks;  // in order
  uint64_t first_moment = 0;        // all before this one is what was there, and durable
  uint64_t moments = 0;             // all are below
  uint64_t seed = 0;                // the user's own

  // Errors: those of the file.
  Status save(const std::string& path) const;
  // Errors: kNotFound; kCorruption where it is no such file, or was cut off.
  static Result<Recording> load(const std::string& path);
};

class Recorder : public FileWatcher {
 public:
  // Of all files below the directory; a call to another one breaks the recording.
  explicit Recorder(std::string root) : root_(std::move(root)) {}

  // Begins with what is in the directory, which counts as durable. Before any other call.
  Status begin_with_files();
  void mark(uint32_t kind, uint32_t who, uint64_t number);
  // Nothing may be under way. Errors: those of a call that failed, which no recording can have.
  Result<Recording> finish(uint64_t seed);

  Verdict before(FileCall& call) override;
  void after(FileCall& call, const Status& status) override;

 private:
  struct Mapping {
    os::MappedFile* memory = nullptr;
    std::string path;
    std::string known;
  };

  Status take_in(const std::string& path) REQUIRES(mutex_);
  void add_done(RecordedCall call) REQUIRES(mutex_);
  void gather(uint64_t number, Mapping& mapping) REQUIRES(mutex_);
  void gather_all() REQUIRES(mutex_);
  std::string below_root(const std::string& path) REQUIRES(mutex_);

  const std::string root_;
  os::Mutex mutex_;
  Recording recording_ GUARDED_BY(mutex_);
  std::map<uint64_t, Mapping> mappings_ GUARDED_BY(mutex_);  // by the number of their file
  uint64_t under_way_ GUARDED_BY(mutex_) = 0;
  uint64_t gathered_at_ GUARDED_BY(mutex_) = 0;
  Status broken_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::testing
