#pragma once
// The inside of an open log: the ring and its positions (log.cc), draining (drainer.cc), syncing
// (group_commit.cc).
//
//            drained   written            head                    limit
//   ring  ──────┬────────┬─────────────────┬───────────────────────┬──
//               │ record │ blocks to write │ room for appends      │
//
// Threads: as annotated. Lock order: drain_mutex before append_mutex; neither is held while an
// event is waited for.
//
// 1. drained <= written <= head <= limit. drained is a record boundary, written a block boundary,
//    and at most one record lies across written: ring space is given back up to drained only, so
//    that every record is wholly in segments or wholly in the ring (R7: recovery takes it from
//    where it validates, never from both).
// 2. limit leaves room for the pad that may follow: ring space, ready segments and reserved lsns
//    for it are there before a record is accepted (R4), so a drain never waits and never runs out
//    of disk.
// 3. durable is a record boundary whose predecessors were written and synced.
// 4. Only the thread that set `syncing` syncs; drains go on meanwhile.

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "os/io.h"
#include "os/sync.h"
#include "wal/event.h"
#include "wal/log.h"
#include "wal/record_seal.h"
#include "wal/segments.h"

namespace hawthorn::wal {

// Where the block begins that has the byte of `lsn`.
constexpr Lsn block_of(Lsn lsn) { return lsn / os::kBlockBytes * os::kBlockBytes; }

struct Log::State {
  State(const LogDirectory& log_directory, const LogOptions& log_options,
        const LogEpoch& log_epoch);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // log.cc: appending, under append_mutex.
  Lsn append(RecordType type, uint32_t operations, std::span<const std::string_view> payload,
             size_t payload_bytes, uint64_t payload_checksum) REQUIRES(append_mutex);
  void append_pad() REQUIRES(append_mutex);
  void append_pad(size_t bytes) REQUIRES(append_mutex);
  bool at_its_end() const REQUIRES(append_mutex);
  void write_record(format::RecordHeader& header, char* at) REQUIRES(append_mutex);
  bool write_ring(Lsn end) REQUIRES(append_mutex);
  void advance(const format::RecordHeader& header) REQUIRES(append_mutex);
  Status take_ring_error() EXCLUDES(append_mutex);
  bool fits(uint64_t length) const REQUIRES(append_mutex);
  void update_limits() REQUIRES(append_mutex);
  // So much in the ring is written without anybody asking.
  // Below `pad_bytes_min` a pad would not fit into the rest of a block: it then extends through the
  // next one.
  size_t seal_bytes() const { return sealer == nullptr ? 0 : kTagBytes; }
  size_t pad_bytes_min() const { return sizeof(format::RecordHeader) + seal_bytes(); }
  uint64_t record_bytes(size_t payload_bytes) const {
    return format::record_bytes(payload_bytes + seal_bytes());
  }
  // Where the log stands after a record that ends at `end` and the pad that a drain may put behind
  // it.
  Lsn end_with_pad(Lsn end) const { return align_up(end + pad_bytes_min(), os::kBlockBytes); }
  size_t drain_bytes() const { return std::min(options.ring_bytes / 4, size_t{4} << 20); }
  Lsn segments_end() const { return segments.end_number() * options.segment_bytes; }

  enum class Shortage : uint8_t { kNone, kRing, kSegments, kReserved };
  Shortage shortage(uint64_t length) EXCLUDES(append_mutex);
  Status wait_room(size_t payload_bytes) EXCLUDES(append_mutex);
  Status find_room(size_t payload_bytes) EXCLUDES(append_mutex);
  void pace(size_t payload_bytes);

  // drainer.cc: writing the ring out; the background thread.
  Status drain(bool pad) REQUIRES(drain_mutex);
  Status write_blocks(Lsn from, Lsn to) REQUIRES(drain_mutex);
  void set_short_of_disk(bool is_short) REQUIRES(drain_mutex) EXCLUDES(append_mutex);
  Lsn last_boundary(Lsn from, Lsn to) const;
  Status drain_once(bool pad) EXCLUDES(drain_mutex);
  Status finish_segment() EXCLUDES(drain_mutex);
  Status prepare_segments(Lsn end);  // makes the segments ready that hold lsns below `end`
  bool wants_prewriting() const REQUIRES(drain_mutex);
  Status prewrite() EXCLUDES(drain_mutex);
  void touch_ahead();
  void run_drainer();
  uint64_t run_due_work(bool* worked);
  void stop_drainer();
  void close() EXCLUDES(drain_mutex);
  Status fail(Status status);  // returns the error that ended the log, which may be an earlier one
  Status fail_to_seal();
  Status failure() const;
  Status refuse(const Status& why);
  Status refused() const;

  // group_commit.cc
  Status wait_durable(Lsn goal);
  Status wait_in_group(Lsn goal);
  Status lead_sync();
  void gather_group();
  Status sync_once() EXCLUDES(drain_mutex);
  uint64_t serve_async();

  // Who waits for a sync, and how well waiting for more of them has paid (gather_group).
  struct Group {
    std::atomic<uint32_t> waiting{0};
    std::atomic<uint32_t> arrived{0};  // since the last sync ended
    std::atomic<uint32_t> wanted{~uint32_t{0}};
    Event complete;  // as many arrived as the leader wants
    // Of the thread that set `syncing`:
    uint64_t sync_us = 0;     // of the last sync
    uint32_t served = 0;      // waited for the last sync
    uint32_t skip_next = 0;   // syncs before which nobody is waited for
    uint32_t skip_count = 0;  // the same, when last decided
  };

  const LogDirectory directory;
  const LogOptions options;
  const LogEpoch epoch;
  const uint64_t record_bytes_max;
  const bool background;
  Segments segments;
  std::unique_ptr<RecordSeal> sealer;  // null: the log is not encrypted. Used under append_mutex
  std::unique_ptr<os::MappedFile> ring;
  char* ring_data = nullptr;
  bool ring_is_copy = false;         // each append is written to the ring's file
  std::atomic<bool> refuses{false};  // appends; every write of the database looks

  alignas(64) os::Mutex append_mutex;
  std::atomic<Lsn> head;                     // written under append_mutex
  size_t position GUARDED_BY(append_mutex);  // head % ring_bytes
  Lsn limit GUARDED_BY(append_mutex) = 0;
  Lsn wake_at GUARDED_BY(append_mutex) = format::kLsnMax;
  // Start of the record that lies across the last block boundary, or that boundary.
  Lsn boundary GUARDED_BY(append_mutex);
  // Of a copy: what lies below is in the ring's file, or in segments; why the last append is not.
  Lsn in_ring_file GUARDED_BY(append_mutex);
  Status ring_error GUARDED_BY(append_mutex);
  std::atomic<Lsn> durable;
  std::atomic<Lsn> reserved{0};

  alignas(64) std::atomic<Lsn> drained;  // written under append_mutex
  std::atomic<Lsn> written;              // written under drain_mutex and append_mutex
  std::atomic<Lsn> hold{format::kLsnMax};
  std::atomic<Lsn> trimmed{0};
  std::atomic<uint32_t> room_waiters{0};
  std::atomic<uint64_t> paced_until{0};  // of the last who paces; nanoseconds
  std::atomic<uint64_t> syncs{0};
  std::atomic<uint64_t> sync_us{0};  // of all syncs
  std::atomic<uint64_t> commit_waits{0};
  std::atomic<uint64_t> commit_wait_us{0};
  std::atomic<bool> syncing{false};
  std::atomic<bool> prewrite_due{false};
  std::atomic<bool> prepare_failed{false};
  // The last drain found no space. Nothing is appended before one that finds some: whoever wants
  // to makes it, and is refused where it finds none either.
  std::atomic<bool> short_of_disk{false};
  std::atomic<bool> failed{false};
  std::atomic<bool> seal_failed{false};  // then the next who asks for room lets the log fail
  std::atomic<bool> stopping{false};
  // What request_durable asked for: the lsn, and whether the drainer knows that there is something
  // to do.
  std::atomic<Lsn> async_goal{0};
  std::atomic<bool> async_armed{false};
  std::atomic<uint64_t> async_due_us{0};
  Lsn touched = 0;  // of the drainer

  Group group;
  Event work;           // the drainer has something to do
  Event room;           // limit grew
  Event durable_moved;  // durable grew, a sync ended, or a hold was lifted

  os::Mutex drain_mutex;
  // Segments written since their last sync.
  std::vector<std::shared_ptr<Segment>> dirty GUARDED_BY(drain_mutex);
  uint64_t segment_told GUARDED_BY(drain_mutex) = ~uint64_t{0};  // to listeners
  std::unique_ptr<os::Io> pieces_io GUARDED_BY(drain_mutex);  // made when much is drained at once
  mutable os::Mutex failure_mutex;
  Status first_failure GUARDED_BY(failure_mutex);
  Status refusal GUARDED_BY(failure_mutex);
  os::Thread drainer;
};

}  // namespace hawthorn::wal
