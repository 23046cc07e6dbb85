#pragma once
// Writes the figures of an open database into its file `counters`, for programs that watch it.
//
// Not here: the layout (format/counters_layout.h), reading (hawthorn/counters.h). Used by impl.h.
// Threads: every function from any thread; of two that write at once one does.
//
// 1. The database needs nothing of it: no error of the file is one of the database, and nothing is
//    read from it. What others write into it, or cut off, is gone with the next update.
// 2. It is written by ordinary writes, not through a mapping: storing into a mapping of a file that
//    somebody else has cut off, or on a disk that is full, would end the process. Readers may map
//    it: the page cache is one.
// 3. No commit writes it, and none waits for who does.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/counters.h"
#include "hawthorn/stats.h"
#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn::db {

class CountersFile {
 public:
  static constexpr std::string_view kName = "counters";

  CountersFile(const os::Machine& machine, const std::string& directory, uint64_t uuid_low,
               uint64_t uuid_high);
  // Makes the file, over an older one, and writes it for the first time. Errors: the file system's.
  Status start(const Stats& stats) EXCLUDES(mutex_);
  // When a second has passed since the last time; asks for the figures only then.
  void update_when_due(const std::function<void(Stats*)>& figures) EXCLUDES(mutex_);
  // The last figures, and that there will be no more.
  void close(const Stats& stats) EXCLUDES(mutex_);

 private:
  Status write(const Stats& stats, uint32_t state) REQUIRES(mutex_);

  const os::Machine& machine_;
  const std::string path_;
  const uint64_t uuid_low_;
  const uint64_t uuid_high_;
  os::Mutex mutex_;
  std::unique_ptr<os::File> file_ GUARDED_BY(mutex_);  // null: not started, or closed
  uint64_t sequence_ GUARDED_BY(mutex_) = 0;
  uint64_t opened_us_ GUARDED_BY(mutex_) = 0;
  uint64_t written_us_ GUARDED_BY(mutex_) = 0;  // by the monotonic clock
};

}  // namespace hawthorn::db
