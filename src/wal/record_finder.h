#pragma once
// Finds single records of a log, in its segments or in its ring: whole, with the right checksums
// and at their own lsn.
//
// Not here: which records there are and in what order (Recovery, Tail), what they mean.
// Used by Recovery, of a log that an earlier process left, and by Tail, of one that another part of
// this process or another process appends to. Threads: one at a time.
//
// 1. What is taken from the ring is copied out before it is checked: a live writer may overwrite it
//    meanwhile, then the copy does not validate.
// 2. What is taken from a segment is what was read at some moment, which `reader.forget` ends.

#include <memory>
#include <string>
#include <vector>

#include "format/log_record.h"
#include "wal/log_reader.h"
#include "wal/record_seal.h"

namespace hawthorn::wal {

struct RecordFinder {
  struct Found {
    format::RecordHeader header{};
    const char* bytes = nullptr;  // nullptr: no record. Lifetime: until the next call
    bool ring_only = false;
  };

  RecordFinder(const LogDirectory& log_directory, std::vector<uint64_t> segments, size_t view_max)
      : directory(log_directory),
        record_bytes_max(format::kRecordBytesMax),
        reader(directory, std::move(segments), view_max) {}
  RecordFinder(const RecordFinder&) = delete;
  RecordFinder& operator=(const RecordFinder&) = delete;

  // kCorruption where an epoch does not follow the one before it.
  static Status check_epochs(const LogDirectory& directory, const std::vector<LogEpoch>& epochs);

  // The record at `lsn`, or no bytes where there is none that is valid. Errors: those of reading.
  Status in_segments(const LogEpoch& epoch, Lsn lsn, Found* found);
  void in_ring(const LogEpoch& epoch, Lsn lsn, Found* found);
  // Only the header, whose record may be torn.
  Status find_header(const LogEpoch& epoch, Lsn lsn, format::RecordHeader* header, bool* there);
  bool ring_header(const LogEpoch& epoch, Lsn lsn, format::RecordHeader* header) const;
  bool plausible(const LogEpoch& epoch, const format::RecordHeader& header, Lsn lsn) const;
  // The payload of a record that was found; of a sealed one it is opened into `opened`. Errors:
  // kCorruption where it is not what was written there.
  Status payload(const LogEpoch& epoch, const Found& found, std::string_view* bytes);
  // kNotSupported for a type that this version does not know.
  Status check_type(const format::RecordHeader& header) const;
  // Moves *at up to a record boundary: callers name lsns such as "behind the record at x", which
  // lie inside a record. Looks backwards for the record that covers *at; when that one began in a
  // segment which was recycled, forwards for its successor. Finds nothing where the log ends: then
  // *at stays.
  Status first_boundary(const LogEpoch& epoch, Lsn* at);

  const LogDirectory directory;
  const size_t record_bytes_max;
  std::unique_ptr<os::MappedFile> ring;  // nullptr: there is none
  LogReader reader;
  std::string copy;    // a record of the ring
  std::string opened;  // a payload. Lifetime: until the next one
  uint64_t sealer_epoch = 0;
  std::unique_ptr<RecordSeal> sealer;  // of that epoch; null: none yet, or it is not encrypted
};

}  // namespace hawthorn::wal
