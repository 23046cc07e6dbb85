#include "wal/log.h"

#include <algorithm>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "os/event_sink.h"
#include "wal/log_state.h"

namespace hawthorn::wal {

using format::RecordHeader;
using os::MutexLock;

namespace {

// The rate of paced appends is so much times the part of the ring that is left.
constexpr uint64_t kPacedBytesPerUs = 400;
constexpr uint64_t kPaceUsMin = 50;  // less is no sleep
constexpr uint64_t kPaceUsMax = 10'000;

size_t bytes_of(std::span<const std::string_view> payload) {
  size_t bytes = 0;
  for (const std::string_view piece : payload) bytes += piece.size();
  return bytes;
}

}  // namespace

Log::State::State(const LogDirectory& log_directory, const LogOptions& log_options,
                  const LogEpoch& log_epoch)
    : directory(log_directory),
      options(log_options),
      epoch(log_epoch),
      record_bytes_max(std::min(log_options.ring_bytes / 8, format::kRecordBytesMax)),
      background(log_directory.machine().background_threads),
      segments(log_directory),
      head(log_epoch.start),
      position(log_epoch.start % log_options.ring_bytes),
      boundary(log_epoch.start),
      in_ring_file(log_epoch.start),
      durable(log_epoch.start),
      drained(log_epoch.start),
      written(log_epoch.start) {}

Result<std::unique_ptr<Log>> Log::start(const os::Machine& machine, const std::string& directory,
                                        const LogOptions& options, const LogEpoch& epoch,
                                        Lsn reserved, Lsn keep) {
  const LogDirectory files(machine, directory, options);
  if (Status s = files.check_options(); !s.ok()) return s;
  if (epoch.start == 0 || epoch.start % options.segment_bytes != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "a log epoch cannot start at lsn " + std::to_string(epoch.start) +
                      ": it must be a positive multiple of the segment size");
  }
  auto state = std::make_unique<State>(files, options, epoch);
  Result<std::unique_ptr<RecordSeal>> sealer = RecordSeal::make(machine, epoch);
  if (!sealer.ok()) return sealer.status();
  state->sealer = std::move(*sealer);
  Result<std::unique_ptr<os::MappedFile>> ring = files.map_ring(false, true);
  if (!ring.ok()) return ring.status();
  state->ring = std::move(*ring);
  state->ring_data = state->ring->data();
  state->ring_is_copy = state->ring->is_copy();
  if (Status s = state->segments.start(files.segment_of(epoch.start), files.segment_of(keep));
      !s.ok()) {
    return s;
  }
  state->reserved.store(reserved, std::memory_order_relaxed);
  state->trimmed.store(keep, std::memory_order_relaxed);
  {
    MutexLock lock(state->append_mutex);
    state->update_limits();
    // Says of which epoch all that follows is; else only its first drain would.
    if (state->sealer != nullptr && epoch.start + os::kBlockBytes <= state->limit) {
      state->append_pad(os::kBlockBytes);
    }
  }
  State* const shared = state.get();
  if (shared->background) {
    Status started = shared->drainer.start("hw-drain", [shared] { shared->run_drainer(); });
    if (!started.ok()) return started;
  }
  return std::unique_ptr<Log>(new Log(std::move(state)));
}

Log::Log(std::unique_ptr<State> state) : state_(std::move(state)) {}

Log::~Log() {
  state_->stop_drainer();
  // Nobody is left to tell of an error; recovery takes from the ring what a drain could not write.
  if (!state_->failed.load()) static_cast<void>(state_->drain_once(true));
}

os::Mutex& Log::mutex() { return state_->append_mutex; }

Lsn Log::try_append(RecordType type, uint32_t operations, std::span<const std::string_view> payload,
                    uint64_t payload_checksum) NO_THREAD_SAFETY_ANALYSIS {
  return state_->append(type, operations, payload, bytes_of(payload), payload_checksum);
}

uint64_t Log::payload_checksum(std::span<const std::string_view> payload) {
  if (payload.size() == 1) return XXH3_64bits(payload[0].data(), payload[0].size());
  char joined[512];
  const size_t bytes = bytes_of(payload);
  if (bytes <= sizeof(joined)) {
    char* to = joined;
    for (const std::string_view piece : payload) to = std::copy(piece.begin(), piece.end(), to);
    return XXH3_64bits(joined, bytes);
  }
  XXH3_state_t hash;
  XXH3_64bits_reset(&hash);
  for (const std::string_view piece : payload) {
    XXH3_64bits_update(&hash, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&hash);
}

uint64_t Log::checksum_for_append(std::span<const std::string_view> payload) const {
  return state_->sealer == nullptr ? payload_checksum(payload) : 0;
}

// A record becomes valid with the store of its header, which comes last: a process killed at any
// instruction before leaves bytes whose lsn or checksum is not the right one, and a kill does not
// undo stores that were made (invariant 1 of log.h; attack 3 cannot happen because records are
// copied in lsn order under the mutex). Of a ring that is a copy the file has parts in any order,
// which the checksums tell apart.
void Log::State::write_record(RecordHeader& header, char* at) {
  format::seal(header, epoch.salt);
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(at, &header, sizeof(header));
}

// What is not drained and not in the ring's file yet, up to `end`: more than one record where the
// file had no space for a pad, which segments have soon.
bool Log::State::write_ring(Lsn end) {
  const Lsn from = std::max(in_ring_file, drained.load(std::memory_order_relaxed));
  Status status = ring->write_back(from % options.ring_bytes, end - from);
  if (!status.ok()) {
    ring_error = std::move(status);
    return false;
  }
  in_ring_file = end;
  return true;
}

void Log::State::advance(const RecordHeader& header) {
  const Lsn start = header.lsn;
  const Lsn end = start + header.length;
  const Lsn block = end / os::kBlockBytes * os::kBlockBytes;
  if (block == end) {
    boundary = end;
  } else if (block > start) {
    boundary = start;
  }
  position += header.length;
  if (position >= options.ring_bytes) position -= options.ring_bytes;
  head.store(end, std::memory_order_release);
}

Lsn Log::State::append(RecordType type, uint32_t operations,
                       std::span<const std::string_view> payload, size_t payload_bytes,
                       uint64_t payload_checksum) {
  const uint64_t length = record_bytes(payload_bytes);
  if (!fits(length)) return 0;
  payload_bytes += seal_bytes();
  const Lsn lsn = head.load(std::memory_order_relaxed);
  char* const at = ring_data + position;
  // The padding is the end of the last 8 bytes; the payload is copied over their beginning.
  if (payload_bytes != 0) store<uint64_t>(at + length - sizeof(uint64_t), 0);
  char* to = at + sizeof(RecordHeader);
  if (sealer == nullptr) {
    for (const std::string_view piece : payload) {
      copy_bytes(to, piece);
      to += piece.size();
    }
  }
  RecordHeader header{};
  header.length = static_cast<uint32_t>(length);
  header.lsn = lsn;
  header.durable_lsn = durable.load(std::memory_order_relaxed);
  header.payload_bytes = static_cast<uint32_t>(payload_bytes);
  header.operations = operations;
  header.type = static_cast<uint8_t>(type);
  if (sealer != nullptr) {
    // What has failed to be sealed has no valid header, and its lsn is not used again.
    if (!sealer->seal(header, payload, to)) {
      seal_failed.store(true);
      return 0;
    }
    payload_checksum = XXH3_64bits(to, payload_bytes);
  }
  header.payload_checksum = payload_checksum;
  write_record(header, at);
  if (ring_is_copy && !write_ring(lsn + length)) [[unlikely]] {
    // Its lsn is the nonce of what part of the file may have.
    if (sealer != nullptr) seal_failed.store(true);
    return 0;
  }
  advance(header);
  if (lsn + length >= wake_at) [[unlikely]] {
    wake_at = format::kLsnMax;
    work.signal();
  }
  return lsn;
}

// Fills the head's block, so that it can be written and never has to be again. When the rest of the
// block is too small for a record header the pad reaches to the end of the next one; limit has room
// for that (invariant 2).
void Log::State::append_pad() {
  const Lsn lsn = head.load(std::memory_order_relaxed);
  size_t gap = align_up(lsn, os::kBlockBytes) - lsn;
  if (gap == 0) return;
  if (gap < pad_bytes_min()) gap += os::kBlockBytes;
  append_pad(gap);
}

void Log::State::append_pad(size_t bytes) {
  char* const at = ring_data + position;
  const size_t zeros = bytes - sizeof(RecordHeader);
  std::memset(at + sizeof(RecordHeader), 0, zeros);
  RecordHeader header{};
  header.length = static_cast<uint32_t>(bytes);
  header.lsn = head.load(std::memory_order_relaxed);
  header.durable_lsn = durable.load(std::memory_order_relaxed);
  header.payload_bytes = static_cast<uint32_t>(zeros);
  header.type = static_cast<uint8_t>(RecordType::kPad);
  if (sealer != nullptr && !sealer->seal_pad(header, at + sizeof(RecordHeader))) {
    seal_failed.store(true);
    return;
  }
  header.payload_checksum = XXH3_64bits(at + sizeof(RecordHeader), zeros);
  write_record(header, at);
  // If not now, then with the next record.
  if (ring_is_copy) static_cast<void>(write_ring(header.lsn + bytes));
  advance(header);
}

bool Log::State::fits(uint64_t length) const {
  if (seal_failed.load(std::memory_order_relaxed)) return false;
  const Lsn end = head.load(std::memory_order_relaxed) + length;
  return end_with_pad(end) <= limit && length <= record_bytes_max;
}

void Log::State::update_limits() {
  if (refuses.load(std::memory_order_relaxed) || short_of_disk.load(std::memory_order_relaxed)) {
    limit = 0;
    return;
  }
  const Lsn space = segments_end();
  limit = std::min({drained.load(std::memory_order_relaxed) + options.ring_bytes, space,
                    reserved.load(std::memory_order_relaxed)});
  if (!background) return;
  wake_at = written.load(std::memory_order_relaxed) + drain_bytes();
  // The next segment is made ready when half of the last one is used.
  if (!prepare_failed.load(std::memory_order_relaxed)) {
    wake_at = std::min(wake_at, space - options.segment_bytes / 2);
  }
}

bool Log::State::at_its_end() const {
  return end_with_pad(head.load(std::memory_order_relaxed) + record_bytes_max) > segments_end();
}

Log::State::Shortage Log::State::shortage(uint64_t length) {
  MutexLock lock(append_mutex);
  if (fits(length)) return Shortage::kNone;
  const Lsn end = end_with_pad(head.load(std::memory_order_relaxed) + length);
  if (end > reserved.load(std::memory_order_relaxed)) return Shortage::kReserved;
  if (end > segments_end()) return Shortage::kSegments;
  return Shortage::kRing;
}

// Of the last append that found no space in the ring's file; once.
Status Log::State::take_ring_error() {
  if (!ring_is_copy) return {};
  MutexLock lock(append_mutex);
  return std::exchange(ring_error, Status());
}

Status Log::State::wait_room(size_t payload_bytes) {
  os::EventSink* const events = directory.machine().events;
  if (events == nullptr || shortage(record_bytes(payload_bytes)) == Shortage::kNone) {
    return find_room(payload_bytes);
  }
  const uint64_t began_us = directory.machine().clock->monotonic_us();
  Status status = find_room(payload_bytes);
  events->post(LogWaited{directory.machine().clock->monotonic_us() - began_us, status});
  return status;
}

Status Log::State::find_room(size_t payload_bytes) {
  const uint64_t length = record_bytes(payload_bytes);
  if (length > record_bytes_max) {
    return Status(StatusCode::kInvalidArgument,
                  "a log record of " + std::to_string(payload_bytes) + " bytes; the limit is " +
                      std::to_string(record_bytes_max - sizeof(RecordHeader) - seal_bytes()));
  }
  while (true) {
    const uint32_t ticket = room.ticket();
    if (seal_failed.load()) static_cast<void>(fail_to_seal());
    if (refuses.load()) return refused();
    const Lsn written_before = written.load();
    const Shortage short_of = shortage(length);
    if (short_of == Shortage::kNone) return take_ring_error();
    if (short_of == Shortage::kSegments) {
      // Normally the drainer has prepared the segment; here it was not fast enough, or the disk was
      // full. Another error ends the log.
      const Status s = prepare_segments(end_with_pad(head.load() + length));
      if (s.is(StatusCode::kNoSpace) && !refuses.load()) return s;
    } else if (background && (short_of == Shortage::kReserved || !short_of_disk.load())) {
      room_waiters.fetch_add(1);
      work.signal();
      room.wait(ticket);
      room_waiters.fetch_sub(1);
    } else if (short_of == Shortage::kReserved) {
      return Status(StatusCode::kBusy, "no lsns are reserved beyond " + std::to_string(reserved));
    } else {
      const Status s = drain_once(false);
      if (s.is(StatusCode::kNoSpace) && !refuses.load()) return s;
      if (s.ok() && !background && written.load() == written_before) {
        return Status(StatusCode::kBusy, "the log's ring is full and its drain is held back");
      }
    }
  }
}

void Log::State::pace(size_t payload_bytes) {
  const Lsn from = drained.load(std::memory_order_relaxed);
  const Lsn backlog = head.load(std::memory_order_relaxed) - from;
  if (backlog <= options.ring_bytes / 2 || !background) return;
  const uint64_t left =
      options.ring_bytes - std::min<uint64_t>(backlog, options.ring_bytes / 64 * 63);
  // Nanoseconds, or small records would cost nothing.
  const uint64_t own =
      record_bytes(payload_bytes) * 1000 / kPacedBytesPerUs * options.ring_bytes / left;
  const uint64_t now = directory.machine().clock->monotonic_us() * 1000;
  uint64_t seen = paced_until.load(std::memory_order_relaxed);
  uint64_t until = 0;
  do {
    until = std::min(std::max(seen, now) + own, now + kPaceUsMax * 1000);
  } while (!paced_until.compare_exchange_weak(seen, until, std::memory_order_relaxed));
  if (until > now + kPaceUsMin * 1000) {
    directory.machine().clock->sleep_us((until - now) / 1000);
  }
}

void Log::pace(size_t payload_bytes) { state_->pace(payload_bytes); }

Status Log::wait_room(size_t payload_bytes) { return state_->wait_room(payload_bytes); }

size_t Log::payload_bytes_max() const {
  return state_->record_bytes_max - sizeof(RecordHeader) - state_->seal_bytes();
}

Lsn Log::head() const { return state_->head.load(std::memory_order_acquire); }
Lsn Log::durable() const { return state_->durable.load(std::memory_order_acquire); }
Lsn Log::drained() const { return state_->drained.load(std::memory_order_acquire); }
Lsn Log::reserved() const { return state_->reserved.load(std::memory_order_acquire); }
Lsn Log::trimmed() const { return state_->trimmed.load(std::memory_order_acquire); }

bool Log::at_its_end() {
  MutexLock lock(state_->append_mutex);
  return state_->at_its_end();
}

Status Log::finish_segment() { return state_->finish_segment(); }

Status Log::drain_now() { return state_->drain_once(true); }

void Log::wait_beyond(Lsn lsn, uint64_t timeout_us) {
  const uint32_t ticket = state_->durable_moved.ticket();
  if (!state_->background || durable() > lsn || state_->failed.load()) return;
  state_->durable_moved.wait(ticket, timeout_us);
}

void Log::hold_drain(Lsn lsn) {
  const Lsn before = state_->hold.exchange(lsn);
  if (lsn <= before) return;
  state_->work.signal();
  state_->durable_moved.signal();
}

void Log::set_reserved(Lsn lsn) {
  {
    MutexLock lock(state_->append_mutex);
    if (lsn <= state_->reserved.load(std::memory_order_relaxed)) return;
    state_->reserved.store(lsn, std::memory_order_release);
    state_->update_limits();
  }
  state_->room.signal();
}

void Log::trim(Lsn lsn) {
  Lsn before = state_->trimmed.load();
  while (before < lsn && !state_->trimmed.compare_exchange_weak(before, lsn)) {
  }
  // The rest of the segment that is being written is needed for what comes, whatever the caller
  // needs of it.
  const uint64_t writing = state_->directory.segment_of(state_->written.load());
  const Lsn drained = state_->drained.load();
  const uint64_t below = std::min(state_->directory.segment_of(std::min(lsn, drained)), writing);
  Status trimmed = state_->segments.trim(below, writing);
  if (!trimmed.ok() && !trimmed.is(StatusCode::kNoSpace)) {
    static_cast<void>(state_->fail(std::move(trimmed)));
    return;
  }
  state_->prepare_failed.store(false);
  {
    MutexLock lock(state_->append_mutex);
    state_->update_limits();
  }
  state_->room.signal();
}

Status Log::status() const { return state_->failed.load() ? state_->failure() : Status(); }

Status Log::refuse(const Status& why) { return state_->refuse(why); }

Status Log::writable() const { return state_->refuses.load() ? state_->refused() : Status(); }

LogStats Log::stats() const {
  return {
      .bytes_appended = head() - state_->epoch.start,
      .bytes_drained = state_->written.load() - state_->epoch.start,
      .syncs = state_->syncs.load(),
      .sync_us = state_->sync_us.load(),
      .commit_waits = state_->commit_waits.load(),
      .commit_wait_us = state_->commit_wait_us.load(),
      .segments_recycled = state_->segments.recycled_count(),
  };
}

// The segments' locks go with them: the log may be opened again while this object is still there.
void Log::State::close() {
  stop_drainer();
  static_cast<void>(fail(Status(StatusCode::kClosed, "the log was closed")));
  MutexLock lock(drain_mutex);
  dirty.clear();
  segments.close();
}

Status Log::close_and_keep() {
  if (Status s = wait_durable(head()); !s.ok()) return s;
  state_->close();
  return {};
}

Status Log::close_and_remove() {
  state_->close();
  // The ring first: who finds it, and no newer superblock, has found all of the log before.
  if (Status s = state_->directory.remove(kRingName); !s.ok()) return s;
  if (Status s = state_->segments.remove_all(); !s.ok()) return s;
  return state_->directory.files().sync_directory(state_->directory.path());
}

}  // namespace hawthorn::wal
