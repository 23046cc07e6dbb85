// Draining the ring into segments, and the thread that does so when nobody waits: it drains for
// room, serves request_durable, prepares segments and pre-writes their blocks.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "os/event_sink.h"
#include "wal/log_state.h"

namespace hawthorn::wal {

using os::kBlockBytes;
using os::MutexLock;

namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;  // of a write
constexpr uint32_t kPiecesAtOnce = 4;            // at the device: it divides its time by requests
// What a drain of much has written gives room at least this often.
constexpr size_t kStepBytesMin = size_t{4} << 20;
constexpr size_t kStepPart = 8;  // of the ring
// How far blocks are written with zeros before commits reach them, in pieces of zeros() (each holds
// up drains for about 0.2 ms). Only a log that is synced pre-writes: what is drained in large
// pieces gains nothing from it and would be written twice.
constexpr size_t kPrewriteBytes = size_t{1} << 20;
// After which the disk is asked again, where nobody waits for it.
constexpr uint64_t kShortageUs = 100'000;
constexpr int kFinishAttempts = 16;  // each ends a block, which a busy log may begin anew

// Stores into a page what is in it, so that it is mapped and dirty before an append needs it.
// Appends may be storing into the same page at the same time, so this must be one atomic
// instruction, and one that compilers do not turn into a load.
void touch(char* page) {
#if defined(__x86_64__)
  asm volatile("lock addb $0, %0" : "+m"(*page) : : "cc");
#else
  char seen = __atomic_load_n(page, __ATOMIC_RELAXED);
  __atomic_compare_exchange_n(page, &seen, seen, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

}  // namespace

// Writes what is complete: with `pad` everything, without it whole blocks only, so that a block is
// never written twice.
Status Log::State::drain(bool pad) {
  Lsn target;
  Lsn drained_to;
  const Lsn from = written.load(std::memory_order_relaxed);
  {
    MutexLock lock(append_mutex);
    const Lsn held = hold.load();
    // Behind a held record a pad would only waste space: the held block cannot be written anyway.
    const bool holding = held < head.load(std::memory_order_relaxed);
    if (pad && !holding) append_pad();
    target = block_of(head.load(std::memory_order_relaxed));
    drained_to = boundary;
    if (holding && block_of(held) < target) {
      target = block_of(held);
      drained_to = 0;
    }
  }
  if (seal_failed.load()) return fail_to_seal();
  if (target <= from) {
    set_short_of_disk(false);
    return Status();
  }
  const Lsn step = std::max<Lsn>(kStepBytesMin, options.ring_bytes / kStepPart);
  for (Lsn at = from; at < target;) {
    const Lsn next = target - at > step + step / 2 ? at + step : target;
    if (Status s = write_blocks(at, next); !s.ok()) {
      if (!s.is(StatusCode::kNoSpace)) return fail(std::move(s));
      // The ring has it still.
      set_short_of_disk(true);
      return s;
    }
    const Lsn whole = next == target && drained_to != 0
                          ? drained_to
                          : last_boundary(drained.load(std::memory_order_relaxed), next);
    {
      MutexLock lock(append_mutex);
      short_of_disk.store(false);
      written.store(next, std::memory_order_release);
      drained.store(whole, std::memory_order_release);
      update_limits();
    }
    room.signal();
    at = next;
  }
  return Status();
}

void Log::State::set_short_of_disk(bool is_short) {
  if (short_of_disk.load() == is_short) return;
  {
    MutexLock lock(append_mutex);
    short_of_disk.store(is_short);
    update_limits();
  }
  room.signal();
}

// Several pieces are written side by side: none counts before all of them are there.
Status Log::State::write_blocks(Lsn from, Lsn to) {
  std::vector<os::IoRequest> others;
  os::IoGroup pieces;
  for (Lsn at = from; at < to;) {
    const uint64_t number = directory.segment_of(at);
    const Lsn segment_start = number * options.segment_bytes;
    const Lsn end = std::min({to, segment_start + options.segment_bytes, at + kPieceBytes});
    const std::shared_ptr<Segment> segment = segments.find(number);
    HAWTHORN_ASSERT(segment !=
                    nullptr);  // invariant 2: limit did not let head beyond the ready segments
    segment->prewritten_bytes = std::max(segment->prewritten_bytes, end - segment_start);
    if (dirty.empty() || dirty.back() != segment) dirty.push_back(segment);
    if (os::EventSink* const events = directory.machine().events;
        events != nullptr && segment_told != number) {
      segment_told = number;
      events->post(LogSegmentBegun{number, segment_start});
    }
    char* const data = ring_data + at % options.ring_bytes;
    if (end == to && at == from)
      return segment->file->write_at(at - segment_start, {data, end - at});
    others.push_back({.op = os::IoRequest::Op::kWrite,
                      .file = segment->file.get(),
                      .offset = at - segment_start,
                      .data = data,
                      .size = end - at,
                      .group = &pieces});
    at = end;
  }
  if (pieces_io == nullptr) {
    pieces_io = background ? os::make_pool_io(kPiecesAtOnce) : os::make_inline_io();
  }
  pieces_io->submit(others);
  return pieces.wait();
}

// The start of the record that lies across `to`, or `to`. Walks the ring's records from the
// boundary `from`; only a held drain needs this, otherwise append has noted the boundary.
Lsn Log::State::last_boundary(Lsn from, Lsn to) const {
  while (from < to) {
    const char* const at = ring_data + from % options.ring_bytes;
    const uint32_t length = load<uint32_t>(at + offsetof(format::RecordHeader, length));
    if (from + length > to) break;
    from += length;
  }
  return from;
}

Status Log::State::drain_once(bool pad) {
  MutexLock lock(drain_mutex);
  if (failed.load()) return failure();
  return drain(pad);
}

// With everything drained there is ring room for the pads, unless the drain is held back.
Status Log::State::finish_segment() {
  MutexLock lock(drain_mutex);
  for (int attempt = 0; attempt < kFinishAttempts; ++attempt) {
    if (failed.load()) return failure();
    if (Status s = drain(true); !s.ok()) return s;
    MutexLock append(append_mutex);
    const Lsn from = head.load(std::memory_order_relaxed);
    const Lsn rest = at_its_end() ? segments_end() - from : 0;
    const Lsn left = std::min<Lsn>(rest, block_of(record_bytes_max));
    const bool fits_ring =
        from + left <= drained.load(std::memory_order_relaxed) + options.ring_bytes;
    if (left == 0 || !fits_ring) return Status();
    // Otherwise somebody has appended since the drain.
    if (from % kBlockBytes == 0) append_pad(left);
  }
  return Status();
}

Status Log::State::prepare_segments(Lsn end) {
  Status status = segments.prepare(directory.segment_of(end - 1));
  prepare_failed.store(!status.ok());
  if (status.is(StatusCode::kNoSpace)) return status;
  if (!status.ok()) return fail(std::move(status));
  {
    MutexLock lock(append_mutex);
    update_limits();
  }
  room.signal();
  return Status();
}

bool Log::State::wants_prewriting() const {
  const Lsn at = written.load(std::memory_order_relaxed);
  const std::shared_ptr<Segment> segment = segments.find(directory.segment_of(at));
  if (segment == nullptr) return false;  // exactly at the end of the last one
  const uint64_t wanted =
      std::min<uint64_t>(at % options.segment_bytes + kPrewriteBytes / 2, options.segment_bytes);
  return segment->prewritten_bytes < wanted;
}

// Writes zeros ahead of the drain, in pieces between which drains may go on.
Status Log::State::prewrite() {
  prewrite_due.store(false, std::memory_order_relaxed);
  for (size_t done = 0; done < kPrewriteBytes; done += zeros().size()) {
    MutexLock lock(drain_mutex);
    if (failed.load()) return failure();
    const Lsn at = written.load(std::memory_order_relaxed);
    const std::shared_ptr<Segment> segment = segments.find(directory.segment_of(at));
    if (segment == nullptr) return Status();
    const uint64_t from = std::max<uint64_t>(segment->prewritten_bytes, at % options.segment_bytes);
    const uint64_t to = std::min<uint64_t>(from + zeros().size(), options.segment_bytes);
    if (from >= to) return Status();
    Status status = segment->file->write_at(from, zeros().first(to - from));
    if (status.is(StatusCode::kNoSpace)) return Status();  // it only makes commits faster
    if (!status.ok()) return fail(std::move(status));
    segment->prewritten_bytes = to;
    if (dirty.empty() || dirty.back() != segment) dirty.push_back(segment);
  }
  return Status();
}

// Pages that the kernel has written back are clean and write-protected: the next store into one
// faults, and in a small memory cgroup may have to wait for the disk. The drainer takes these
// faults instead of a committer (R9).
void Log::State::touch_ahead() {
  const Lsn from = std::max(touched, align_up(head.load(), kBlockBytes));
  const Lsn to =
      std::min(head.load() + options.ring_bytes / 4, drained.load() + options.ring_bytes);
  for (Lsn at = from; at + kBlockBytes <= to; at += kBlockBytes) {
    touch(ring_data + at % options.ring_bytes);
    touched = at + kBlockBytes;
  }
}

// Does what is due; returns after how many microseconds more will be (0: when signalled). *worked:
// look again at once.
uint64_t Log::State::run_due_work(bool* worked) {
  const Lsn head_now = head.load();
  if (!prepare_failed.load() && head_now + options.segment_bytes / 2 >= segments_end()) {
    // An error is told to whoever finds no room; it ends the log unless it is a full disk.
    static_cast<void>(prepare_segments(head_now + options.segment_bytes / 2 + 1));
    *worked = true;
  }
  const Lsn written_before = written.load();
  if (room_waiters.load() != 0 || head_now - written_before >= drain_bytes()) {
    const Status drained_now = drain_once(false);
    if (drained_now.is(StatusCode::kNoSpace)) return kShortageUs;
    if (!drained_now.ok()) return 0;
    if (written.load() != written_before) *worked = true;
    touch_ahead();
  }
  if (prewrite_due.load(std::memory_order_relaxed) && !prewrite().ok()) return 0;
  return serve_async();
}

void Log::State::run_drainer() {
  while (true) {
    const uint32_t ticket = work.ticket();
    if (stopping.load() || failed.load()) return;
    bool worked = false;
    const uint64_t wait_us = run_due_work(&worked);
    if (!worked) work.wait(ticket, wait_us);
  }
}

void Log::State::stop_drainer() {
  stopping.store(true);
  work.signal();
  drainer.join();
}

Status Log::State::fail(Status status) {
  bool first = false;
  {
    MutexLock lock(failure_mutex);
    if (first_failure.ok()) {
      first = !status.is(StatusCode::kClosed);
      first_failure = Status(status.code(), "the log failed: " + std::string(status.message()));
    }
  }
  // Whoever hears of the failure must not get through with an append behind it.
  static_cast<void>(refuse(failure()));
  failed.store(true);
  work.signal();
  durable_moved.signal();
  if (os::EventSink* const events = directory.machine().events; first && events != nullptr) {
    events->post(BackgroundError{failure(), true});
  }
  return failure();
}

Status Log::State::refuse(const Status& why) {
  {
    MutexLock lock(failure_mutex);
    if (refusal.ok()) {
      try {
        refusal = why.is(StatusCode::kClosed)
                      ? why
                      : Status(StatusCode::kReadOnly,
                               "the database is read-only since an error: " + why.to_string());
      } catch (const std::bad_alloc&) {
        refusal = Status(StatusCode::kReadOnly);
      }
    }
  }
  refuses.store(true);
  {
    MutexLock lock(append_mutex);
    update_limits();
  }
  room.signal();
  return refused();
}

Status Log::State::refused() const {
  MutexLock lock(failure_mutex);
  return refusal;
}

Status Log::State::fail_to_seal() {
  Status why = take_ring_error();
  if (why.ok()) why = Status(StatusCode::kIoError, "libcrypto could not encrypt a record");
  return fail(std::move(why));
}

Status Log::State::failure() const {
  MutexLock lock(failure_mutex);
  return first_failure;
}

}  // namespace hawthorn::wal
