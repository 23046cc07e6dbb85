#pragma once
// The segments of a log that takes appends: those being written, those ready ahead of it, those
// that wait for a trim.
//
//   create ──> ready ──> written ──> full ──trim──> renamed to the next ready number
//                                             └───> removed, when enough are ready
//
// Not here: when to drain or sync (drainer.cc), reading (log_reader.h).
// Threads: every function from any thread; file names are changed by one at a time.
//
// 1. Ready segments have consecutive numbers up to end_number(), and their names are durable (R9).
// 2. A segment stays in place while an lsn in it may be needed or is not written yet.
// 3. A trim leaves at most kSparesMax ready segments behind the one being written.

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "os/sync.h"
#include "wal/log_directory.h"

namespace hawthorn::wal {

inline constexpr uint64_t kSparesMax = 2;

struct Segment {
  explicit Segment(std::unique_ptr<os::File> opened) : file(std::move(opened)) {}
  // Messages of a recycled segment's file still tell its older name; the number here is the one
  // that counts.
  const std::unique_ptr<os::File> file;
  // Bytes from its start that were written since its space was reserved: beyond them a sync also
  // has to commit to the file system that the blocks are no longer unwritten ones, which is slower.
  // Belongs to whoever drains.
  uint64_t prewritten_bytes = 0;
};

class Segments {
 public:
  explicit Segments(LogDirectory directory) : directory_(std::move(directory)) {}

  // Makes `first` ready, from a segment below `keep` where there is one, and removes what an older
  // log left at or above it. On a full disk none is ready when it returns OK: prepare or a trim
  // will give one.
  Status start(uint64_t first, uint64_t keep);

  // The segment of that number, or nullptr when it is not ready. Lifetime: shared, it may be
  // recycled meanwhile.
  std::shared_ptr<Segment> find(uint64_t number) const;
  // Ready segments end before this number.
  uint64_t end_number() const { return end_number_.load(std::memory_order_acquire); }
  uint64_t recycled_count() const { return recycled_count_.load(std::memory_order_relaxed); }

  // Makes segments ready until end_number() > number. kNoSpace, or another shortage told as that:
  // try again when there may be some.
  Status prepare(uint64_t number);
  // Nothing in segments below `below` is needed any more; `writing` is the segment now written
  // (below <= writing). kNoSpace: some are still there, which the next trim takes.
  Status trim(uint64_t below, uint64_t writing);
  // Nothing may use them any more.
  void close();
  // Behind that: removes all segments of the directory.
  Status remove_all();

 private:
  using Unneeded = std::map<uint64_t, std::shared_ptr<Segment>>;

  // Opens the old segment `from`, which nobody needs, under the number `to`; nullptr when it is
  // unusable and was removed.
  Result<std::shared_ptr<Segment>> recycle(uint64_t from, uint64_t to) REQUIRES(names_mutex_);
  // `segment` is null afterwards when it was removed.
  Status rename_or_remove(uint64_t from, uint64_t to, std::shared_ptr<Segment>& segment)
      REQUIRES(names_mutex_);
  // Renames or removes what is not needed any more, from its front on; what was not reached stays
  // in it.
  Status take_out(Unneeded& unneeded, uint64_t writing,
                  std::vector<std::shared_ptr<Segment>>* ready) REQUIRES(names_mutex_);
  void publish(std::shared_ptr<Segment> segment) REQUIRES(names_mutex_);

  const LogDirectory directory_;
  os::Mutex names_mutex_;  // held across the I/O that changes names
  mutable os::Mutex map_mutex_;
  // Ready and written segments; those of older epochs have no Segment until they are recycled.
  std::map<uint64_t, std::shared_ptr<Segment>> segments_ GUARDED_BY(map_mutex_);
  std::atomic<uint64_t> end_number_{0};
  std::atomic<uint64_t> recycled_count_{0};
};

}  // namespace hawthorn::wal
