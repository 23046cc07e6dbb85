#pragma once
// Reads the records of a log that somebody is appending to, another part of this process or
// another process, in order, and stops where it stands.
//
// Not here: the log that an earlier process left behind, whose end is to be found and judged
// (Recovery in log.h); what records mean. Used by feeds, in the writer's process, and by
// followers, in others. Threads: one at a time, and none of them is the appender's; it takes no
// lock of the log and writes nothing.
//
// 1. A record is handed out only as a whole: at its own lsn, with the salt of its epoch and both
//    checksums right, after it was copied to where nobody else writes.
// 2. Of a log that is appended to, each record is wholly in the ring or wholly in segments (log.h).
//    The ring is asked first: only who is further behind than the ring is long reads from disk.
// 3. Segments go from the lowest number up, and a number that has gone never comes back: a number
//    that is missing while a higher one is there is gone.
// 4. A record has at most an eighth of the ring, and its bytes are stored in any order, but for its
//    header: so who finds nothing in the ring, but then a record there that begins an eighth of it
//    earlier or more, knows that nothing was there.

#include <memory>
#include <string>
#include <vector>

#include "wal/log.h"

namespace hawthorn::wal {

class Tail {
 public:
  enum class Outcome : uint8_t {
    kRecord,
    kEnd,   // nothing there yet: ask again later
    kGone,  // the log does not reach back to here any more; no later call will find it
  };
  struct Next {
    Outcome outcome = Outcome::kEnd;
    RecordView record{};  // of kRecord. Lifetime: until the next call
    Lsn durable_lsn = 0;  // of kRecord: all below was durable when it was written (R7)
  };

  // `epochs`: those whose records are needed, in order; only the last one may be open-ended.
  // Begins as seek(from) does. Errors: kCorruption naming a ring or segment of unexpected size, or
  // epochs out of order; those of the disk.
  static Result<std::unique_ptr<Tail>> open(const os::Machine& machine,
                                            const std::string& directory, const LogOptions& options,
                                            std::vector<LogEpoch> epochs, Lsn from);
  ~Tail();

  // The next record from position() on, pads excluded, and moves behind it. It reaches to `below`
  // and no further; the caller knows that the log has valid records up to there (log.durable()).
  // kLsnMax: it does not know, and what is found may not be durable.
  // Errors: kCorruption for a record that must be there and is not valid, in a closed epoch or
  // below `below`; kNotSupported for a record type of a newer version; those of the disk. The
  // position stays then.
  Result<Next> next(Lsn below = format::kLsnMax);

  // The lsn that the next record is looked for at; between epochs, the end of the one before.
  Lsn position() const;
  // The next record is the first one that begins at or above `lsn`, which need not be a record's.
  // Where `lsn` lies in no epoch it is the first one of the next epoch. Errors: those of the disk.
  Status seek(Lsn lsn);
  // The next record is looked for at `record`, which must be one's lsn: what was read ahead stays.
  void go_to(Lsn record);
  // The log as its manifest has it now: an epoch that has ended since, and those behind it. The
  // position stays; where none of these epochs has it any more, next answers kGone. The ring is
  // mapped anew.
  Status set_epochs(std::vector<LogEpoch> epochs);

  struct State;

 private:
  explicit Tail(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hawthorn::wal
