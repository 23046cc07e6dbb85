#pragma once
// The inside of Recovery: finding records (recovery.cc), the log's first boundary and its end
// (recovery_end.cc), making the tail durable (recovery_durable.cc).
//
// Threads: one at a time.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wal/record_finder.h"

namespace hawthorn::wal {

// How much is looked through at a time for proof of damage.
inline constexpr size_t kScanBytes = size_t{256} << 10;
// How much is read between two calls of Recovery::Progress.
inline constexpr uint64_t kProgressBytes = uint64_t{1} << 20;

struct Recovery::State : RecordFinder {
  State(const LogDirectory& log_directory, std::vector<LogEpoch> log_epochs, Lsn log_trimmed,
        bool log_read_only, bool appends, std::vector<uint64_t> numbers)
      : RecordFinder(log_directory, std::move(numbers),
                     std::max(format::kRecordBytesMax, kScanBytes)),
        epochs(std::move(log_epochs)),
        trimmed(log_trimmed),
        read_only(log_read_only),
        appended_to(appends) {}

  struct Range {
    Lsn from = 0;
    Lsn to = 0;
  };

  Status find(const LogEpoch& epoch, Lsn lsn, Found* found);
  Status find_anew(const LogEpoch& epoch, Lsn lsn, Found* found);
  // Where a replay from there begins in this epoch.
  Lsn begin_of(const LogEpoch& epoch, Lsn from) const {
    return std::max(epoch.start, walked ? std::max(trimmed, from) : trimmed);
  }
  uint64_t bytes_from(Lsn from) const;
  Status tell(uint64_t every);
  Status walk(size_t index, Lsn from, const std::function<Status(const RecordView&)>& fn);
  Status deliver(const LogEpoch& epoch, const Found& found,
                 const std::function<Status(const RecordView&)>& fn);
  Status check_end(const LogEpoch& epoch, Lsn at);
  Status claims_in_segments(const LogEpoch& epoch, Lsn at, Lsn* claim);
  void claims_in_ring(const LogEpoch& epoch, Lsn at, Lsn* claim) const;
  Status damage(Lsn at, const std::string& why) const;
  Status write_tail();
  Status verify_tail(Lsn from);
  Status write_piece(os::File& file, Range piece, char* buffer);

  std::vector<LogEpoch> epochs;  // the last one's end is filled in when it is found
  const Lsn trimmed;
  const bool read_only;
  const bool appended_to;
  std::vector<Range> ring_only;  // of the last epoch, in order
  Lsn durable_claim = 0;         // of the last epoch: all below was durable, as its records say
  bool walked = false;
  uint64_t bytes_walked = 0;

  Progress progress;
  Lsn segments_end = 0;
  uint64_t bytes_read = 0;  // by all replays
  uint64_t bytes_to_read = 0;
  uint64_t bytes_told = 0;
};

}  // namespace hawthorn::wal
