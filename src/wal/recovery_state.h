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

#include "wal/log_reader.h"

namespace hawthorn::wal {

// How much is looked through at a time for proof of damage.
inline constexpr size_t kScanBytes = size_t{256} << 10;

struct Recovery::State {
  State(const LogDirectory& log_directory, std::vector<LogEpoch> log_epochs, Lsn log_trimmed,
        bool log_read_only, std::vector<uint64_t> numbers)
      : directory(log_directory),
        epochs(std::move(log_epochs)),
        trimmed(log_trimmed),
        read_only(log_read_only),
        record_bytes_max(format::kRecordBytesMax),
        reader(directory, std::move(numbers), std::max(record_bytes_max, kScanBytes)),
        copy(record_bytes_max, '\0') {}

  struct Found {
    format::RecordHeader header{};
    const char* bytes = nullptr;  // nullptr: no record
    bool ring_only = false;
  };
  struct Range {
    Lsn from = 0;
    Lsn to = 0;
  };

  Status find(const LogEpoch& epoch, Lsn lsn, Found* found);
  Status find_header(const LogEpoch& epoch, Lsn lsn, format::RecordHeader* header, bool* there);
  bool plausible(const LogEpoch& epoch, const format::RecordHeader& header, Lsn lsn) const;
  bool ring_header(const LogEpoch& epoch, Lsn lsn, format::RecordHeader* header) const;
  Status first_boundary(const LogEpoch& epoch, Lsn* at);
  Status walk(size_t index, Lsn from, const std::function<Status(const RecordView&)>& fn);
  Status deliver(const Found& found, const std::function<Status(const RecordView&)>& fn) const;
  Status check_end(const LogEpoch& epoch, Lsn at);
  Status claims_in_segments(const LogEpoch& epoch, Lsn at, Lsn* claim);
  void claims_in_ring(const LogEpoch& epoch, Lsn at, Lsn* claim) const;
  Status damage(Lsn at, const std::string& why) const;
  Status write_tail();
  Status write_piece(os::File& file, Range piece, char* buffer);

  const LogDirectory directory;
  std::vector<LogEpoch> epochs;  // the last one's end is filled in when it is found
  const Lsn trimmed;
  const bool read_only;
  const size_t record_bytes_max;
  std::unique_ptr<os::MappedFile> ring;  // nullptr: there is none
  LogReader reader;
  std::string copy;  // a record of the ring: it is checked and handed out from here, as a live
                     // writer may go on
  std::vector<Range> ring_only;  // of the last epoch, in order
  Lsn durable_claim = 0;         // of the last epoch: all below was durable, as its records say
  bool walked = false;
  uint64_t bytes_walked = 0;
};

}  // namespace hawthorn::wal
