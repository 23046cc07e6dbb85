#pragma once
// The write-ahead log: a shared memory ring that is drained into recycled segments, group commit,
// replay.
//
//   append ──> ring ────────────────────drain──> segments ──fdatasync──> durable
//              (survives a killed process)       (direct I/O)
//
// Not here: what operations mean (format/operation.h), timestamps becoming visible
// (txn/sequencer.h).
// Used by txn and db. Threads: every function from any thread, but for those marked
// REQUIRES(mutex()).
//
// 1. Records are contiguous in lsn order within an epoch; the ring holds [drained, head).
// 2. A record is never larger than ring / 8, nor than 2 MB; ring space is reused only after its
//    drain was written (R9).
// 3. A drain writes whole 4 KB blocks straight from the ring and never writes a block twice. For a
//    sync it ends them with a pad record first; when the rest of the block is too small for a
//    record header, the pad reaches to the end of the next block. A drain for room leaves the last,
//    incomplete block in the ring.
// 4. Segment number n holds the lsns [n * segment_bytes, (n + 1) * segment_bytes) and nothing else:
//    no header in it. A record may lie across two segments.
// 5. The disk space of a segment is reserved before its first use; a recycled one is renamed and
// the
//    directory synced before any byte of its new number is written. Ring and segments are never
//    resized. Blocks that a sync waits for are written with zeros about 1 MB ahead; what is drained
//    without a sync goes into reserved, unwritten blocks, which the next fdatasync commits as well,
//    only a little slower (R9, attack 11).
// 6. After a failed write or sync the log is failed for good: every later wait returns that error,
//    and every append is refused with kReadOnly. A full disk fails wait_room, until there is space
//    or a trim: a log starts without a segment if need be. A write that finds no space (what was
//    reserved can be taken away, by a limit of sizes, a quota or a copy of the file) leaves all in
//    the ring: what waits for it fails with kNoSpace, nothing more is taken, and the next drain,
//    of whoever wants to append, too, writes it again.
// 7. All that a record and the pad behind it need (ring space, a segment's disk space, reserved
//    lsns) is there before try_append accepts it (R4).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/log_epoch.h"
#include "format/log_record.h"
#include "hawthorn/status.h"
#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn::wal {

using format::LogEpoch;
using format::Lsn;
using format::RecordType;

struct LogOptions {
  size_t ring_bytes = size_t{8} << 20;
  size_t segment_bytes = size_t{64} << 20;
  bool direct = true;          // O_DIRECT segments where the file system has it
  uint64_t async_sync_ms = 5;  // kAsync commits are synced within this time
  bool appended_to = false;    // of a Recovery: another process goes on, see there
};

struct LogStats {
  uint64_t bytes_appended = 0;
  uint64_t bytes_drained = 0;
  uint64_t syncs = 0;
  uint64_t sync_us = 0;       // that these took, each with what it wrote out before
  uint64_t commit_waits = 0;  // Log::wait_commit
  uint64_t commit_wait_us = 0;
  uint64_t segments_recycled = 0;
};

// The log of an open database, taking appends.
class Log {
 public:
  // Starts `epoch` (empty, in a new segment; epoch.start > 0 and a multiple of segment_bytes). What
  // older epochs hold must be durable in segments already (Recovery). `reserved`: lsns below it may
  // be issued (R2). `keep`: first lsn that may still be needed; older segments are recycled.
  // Errors: kInvalidArgument; kCorruption for a ring of another size; kNoSpace; those of the disk.
  static Result<std::unique_ptr<Log>> start(const os::Machine& machine,
                                            const std::string& directory, const LogOptions& options,
                                            const LogEpoch& epoch, Lsn reserved, Lsn keep);
  ~Log();  // drains (no sync), stops its thread

  // The lock that orders appends: the sequencer holds it to append a commit record and publish its
  // timestamp in one step.
  os::Mutex& mutex();

  // Appends one record; the payload is given in up to a few pieces and its checksum was computed by
  // payload_checksum over their concatenation. Returns the record's lsn, or 0 when the ring has no
  // room or lsns are not reserved: then unlock, wait_room, and try again. No allocation, no system
  // call but a futex wake.
  Lsn try_append(RecordType type, uint32_t operations, std::span<const std::string_view> payload,
                 uint64_t payload_checksum) REQUIRES(mutex());
  static uint64_t payload_checksum(std::span<const std::string_view> payload);
  // What try_append wants: of a log that is encrypted nothing, as it sums up what it has sealed.
  uint64_t checksum_for_append(std::span<const std::string_view> payload) const;
  // Waits until a record of `payload_bytes` may fit. Errors: kReadOnly when the log failed, or was
  // told to refuse; kInvalidArgument over the record limit (attack 13); kNoSpace when the next
  // segment finds none, or the ring cannot be written out; without background threads kBusy when
  // only the caller can make room (set_reserved, hold_drain).
  Status wait_room(size_t payload_bytes) EXCLUDES(mutex());
  // Before an append, without locks: while more than half of the ring waits for the disk, sleeps as
  // long as a record of `payload_bytes` takes at a rate that falls with the room that is left, all
  // who append in turn. So a disk that stops for a moment slows them evenly, where they would find
  // no room and wait for its return. Not without background threads.
  void pace(size_t payload_bytes) EXCLUDES(mutex());
  size_t payload_bytes_max() const;

  // The next lsn to be issued (a lower bound of every later record's lsn) / all below is durable /
  // is in segments.
  Lsn head() const;
  Lsn durable() const;
  Lsn drained() const;

  // Returns when every record that starts at or below lsn is durable. One fdatasync serves all that
  // wait. Waits for a hold that stands in the way to be lifted (without background threads: kBusy).
  // Errors: kNoSpace, which passes; that which ended the log.
  Status wait_durable(Lsn lsn);
  // The same, and counts it and how long it takes: of who has committed and waits for his group.
  Status wait_commit(Lsn lsn);
  // Asks for the same within async_sync_ms, without waiting. Without background threads the sync
  // happens inside the first call that comes after that time.
  void request_durable(Lsn lsn);
  // Waits until more than `lsn` is durable, for so long, or for less: the caller looks again. Not
  // without background threads.
  void wait_beyond(Lsn lsn, uint64_t timeout_us);
  // Drains what is in the ring now, ending it with a pad (no sync).
  Status drain_now();

  // A record at or above `lsn` is not drained to segments until the hold is lifted (R22: the data
  // that it names must be synced first). There is one hold, the last one set; kLsnMax lifts it. Set
  // it to head() or below before the record is appended, or while mutex() is still held after it.
  void hold_drain(Lsn lsn);

  // Lsns below `lsn` may be issued from now on. Called when the reservation is durable in the
  // manifest (R2).
  void set_reserved(Lsn lsn) EXCLUDES(mutex());
  Lsn reserved() const;
  // Nothing below lsn is needed any more (durable in the manifest): whole segments below it are
  // recycled or removed. Renames files and syncs the directory: not for a committer's path. lsn
  // need not be a record's.
  void trim(Lsn lsn) EXCLUDES(mutex());
  Lsn trimmed() const;

  // Whether the largest record would need another segment than those that are ready.
  bool at_its_end() EXCLUDES(mutex());
  // Gives up the rest of the last ready segment when it is smaller than that, so that a trim to
  // head() frees it as well: on a full disk the log goes round in the segments that it has.
  Status finish_segment() EXCLUDES(mutex());

  // The error that ended the log, or OK.
  Status status() const;
  // From now on nothing is appended; what is in the log can still become durable. Returns with what
  // appends are refused: kReadOnly, with the first error that came to this.
  Status refuse(const Status& why) EXCLUDES(mutex());
  // OK, or that.
  Status writable() const;
  LogStats stats() const;

  // Clean close: everything has been flushed; stops and removes ring and segments. Nobody else may
  // be inside a call; every later one answers kClosed.
  Status close_and_remove();
  // As that, but leaves ring and segments, durable, for the next open, which need not wait for the
  // end of this object. Errors: those of the sync.
  Status close_and_keep();

  struct State;

 private:
  explicit Log(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct RecordView {
  RecordType type;
  Lsn lsn = 0;
  uint32_t operations = 0;
  std::string_view payload;  // valid during the callback
};

// Reads the log that an earlier process left behind (R7). Where options.appended_to says that its
// process is there, and keeps what is trimmed, its end is where the log stood at some moment of the
// first replay; what is not found is looked for once more, in the ring and then in segments read
// anew, since only what was drained meanwhile may be in neither.
class Recovery {
 public:
  // `epochs`: all whose lsns are still needed, in order; the last one is open-ended: its end is
  // found here. `trimmed`: first lsn that is needed; it need not be a record's, what lies across it
  // is skipped. read_only: writes nothing.
  // Errors: kCorruption naming a ring or segment of unexpected size.
  static Result<std::unique_ptr<Recovery>> open(const os::Machine& machine,
                                                const std::string& directory,
                                                const LogOptions& options,
                                                std::vector<LogEpoch> epochs, Lsn trimmed,
                                                bool read_only);
  ~Recovery();

  // Called by replay each megabyte: with the bytes of log that all replays have read, and how many
  // they have to. Until the first one has found the log's end, these are what its segments can hold
  // at most. What it returns, unless it is ok, ends the replay. Before the first.
  using Progress = std::function<Status(uint64_t done, uint64_t total)>;
  void on_progress(Progress progress);

  // Calls fn for every valid record with lsn >= from, in lsn order, pads excluded. May be called
  // several times. Takes each record from segment or ring, whichever validates; ends at the first
  // lsn with neither. The first call reads all of the log from `trimmed` on, later ones from
  // `from`. Errors: kCorruption when a record is missing below a durable_lsn that any later or
  // earlier record carries, or inside a closed epoch (names segment file and offset); kNotSupported
  // for a record type of a newer version; whatever fn returns.
  Status replay(Lsn from, const std::function<Status(const RecordView&)>& fn);

  // First lsn behind the last valid record, known after one replay.
  Lsn end() const;
  // Copies what only the ring holds into segments, writes again what no record proves to be
  // durable, and syncs log and directory (attack 5). After this a new epoch may start.
  Status make_durable();
  // Length of the needed log, known after one replay.
  uint64_t bytes() const;

  struct State;

 private:
  explicit Recovery(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The names of the log's files in a directory (ring and segments), for destroy and check.
bool is_log_file(std::string_view name);

}  // namespace hawthorn::wal
