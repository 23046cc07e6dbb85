#pragma once
// The records of a damaged database's log that are readable, what is missing between them, and a
// log for the target that has them at the same lsns.
//
// Not here: what the operations mean for containers (the target's own recovery does that). Used by
// db/repair.cc. Threads: one at a time.
//
// 1. A record counts at its own lsn, with the checksum of its payload, and where the manifest says
//    its epoch's salt with that, too.
//    Of an encrypted database it has to open, too: which takes the epoch, from the manifest or from
//    what pads say of it (format::EpochMark). What no epoch is known of is told as a gap.
// 2. Records of the target's log that are not those of the source are pads: they fill gaps, and
//    stand in place of what is dropped.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/repair_source.h"
#include "format/log_epoch.h"
#include "format/log_record.h"
#include "hawthorn/repair.h"
#include "os/machine.h"
#include "wal/record_seal.h"

namespace hawthorn::db {

class RepairLog {
 public:
  struct Record {
    format::Lsn lsn = 0;
    uint64_t place = 0;  // in the segment or the ring
    format::RecordHeader header = {};
    bool in_ring = false;
    bool dropped = false;
    format::Lsn end() const { return lsn + header.length; }
  };
  struct Gap {
    format::Lsn from = 0;
    format::Lsn to = 0;
    bool at_end = false;  // a record that was damaged, or that was never finished
    bool sealed = false;  // records are there that nothing opens, as their epoch is not known
  };
  // What of a file cannot be read, whatever it held.
  struct Unreadable {
    std::string file;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  explicit RepairLog(RepairSource& source) : source_(source) {}

  // `epochs`: of the manifest; empty: none is known, and any salt counts. `flushed`: the newest
  // commit that a container has, up to which the log was durable. Errors: kNotSupported.
  Status find(const std::vector<format::LogEpoch>& epochs, format::Lsn trim, format::Lsn flushed);
  std::vector<Record>& records() { return records_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  size_t segment_bytes() const { return segment_bytes_; }
  // Where the epoch begins that the lsn lies in: of who wrote what, as far as it can be told.
  format::Lsn epoch_of(format::Lsn lsn) const;
  // Whether a part of [from, to) is missing.
  bool missing(format::Lsn from, format::Lsn to) const;
  // Errors: kIoError when it cannot be read any more. What follows from what was read the first
  // time would be wrong then: the repair has to be made again.
  Status payload(const Record& record, std::string* bytes);
  format::Lsn end() const { return records_.empty() ? 0 : records_.back().end(); }

  // Writes the segments of the target, durable, with a commit of these operations behind all
  // others. `behind`: no lsn up to there is given to it. Returns the epochs.
  Result<std::vector<format::LogEpoch>> write(const os::Machine& machine,
                                              const std::string& directory, format::Lsn behind,
                                              const std::string& operations, uint32_t count);

 private:
  bool valid_at(const format::RecordHeader& header, format::Lsn lsn) const;
  // As it stands there.
  bool read_stored(const Record& record, std::string* bytes);
  // Opened.
  bool read_payload(const Record& record, std::string* bytes);
  wal::RecordSeal* seal_of(const Record& record);
  void note_epoch(const Record& record, const std::string& payload);
  void open_found();
  void tell_unopened();
  bool read_at_lsn(format::Lsn lsn, char* to, size_t bytes);
  bool read_in_ring(format::Lsn lsn, char* to, size_t bytes);
  void scan_segment(uint64_t number);
  void scan_ring();
  size_t find_segment_bytes();
  std::string read_ring();
  uint64_t find_ring_bytes(const std::string& bytes);
  bool ring_header(const std::string& bytes, uint64_t at, format::RecordHeader* header) const;
  void keep_found(Record record);
  void find_epochs();
  void find_gaps(format::Lsn trim, format::Lsn flushed);
  void look_behind_end();
  bool is_damaged_header(const char* bytes, format::Lsn lsn, uint64_t* length) const;

  RepairSource& source_;
  std::vector<format::LogEpoch> epochs_;  // of the manifest
  std::vector<format::LogEpoch> marked_;  // without that: those that pads speak of
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<wal::RecordSeal>> seals_;  // number, salt
  std::map<format::Lsn, format::Lsn> unopened_;                                      // begin, end
  std::set<uint64_t> segments_;
  size_t segment_bytes_ = 0;
  uint64_t ring_bytes_ = 0;
  std::map<format::Lsn, Record> found_;
  std::map<format::Lsn, uint64_t> broken_;  // headers that hold, of payloads that do not: lengths
  std::vector<format::Lsn> starts_;         // of epochs
  std::vector<Unreadable> unreadable_;
  std::vector<Record> records_;
  std::vector<Gap> gaps_;
};

}  // namespace hawthorn::db
