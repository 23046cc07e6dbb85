// Making the tail of a recovered log durable before anything is built on it (attack 5).

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "wal/recovery_state.h"

namespace hawthorn::wal {

using os::kBlockBytes;

namespace {

constexpr size_t kDurablePieceBytes = size_t{1} << 20;

}  // namespace

Status Recovery::make_durable() {
  State& state = *state_;
  if (state.read_only) {
    return Status(StatusCode::kReadOnly, "the log was opened read-only");
  }
  if (!state.walked) {
    const auto skip = [](const RecordView&) { return Status(); };
    if (Status s = replay(format::kLsnMax, skip); !s.ok()) return s;
  }
  if (state.epochs.empty()) return Status();
  // The epochs before the last were made durable by earlier opens.
  if (Status s = state.write_tail(); !s.ok()) return s;
  const LogDirectory& directory = state.directory;
  const LogEpoch& epoch = state.epochs.back();
  const Lsn first = std::max(epoch.start, state.trimmed);
  Result<std::vector<uint64_t>> numbers = directory.segments();
  if (!numbers.ok()) return numbers.status();
  bool kept = false;
  for (const uint64_t number : *numbers) {
    if (number < directory.segment_of(first)) continue;
    if (number * directory.segment_bytes() >= std::max(epoch.end, first)) {
      // Made ready ahead and never reached. A second walk over the log must not look for it; the
      // space of one of them is for the new epoch, since a full disk may have no other.
      Status s = kept ? directory.remove(segment_name(number)) : directory.keep_as_new(number);
      if (!s.ok()) return s;
      kept = true;
      state.reader.forget_segment(number);
      continue;
    }
    Result<std::unique_ptr<os::File>> file = directory.open_segment(number, true);
    if (!file.ok()) return file.status();
    if (Status s = (*file)->sync_data(); !s.ok()) return s;
  }
  return directory.files().sync_directory(directory.path());
}

// Copies into the segments what only the ring holds, and writes again what they hold above the last
// claim: those bytes may never have been synced, or their sync may have failed, after which a
// second one promises nothing (os/file.h, invariant 2). Blocks below the claim were synced; they
// are written only where the ring knows better.
Status Recovery::State::write_tail() {
  const std::unique_ptr<char, void (*)(void*)> buffer(
      static_cast<char*>(std::aligned_alloc(kBlockBytes, kDurablePieceBytes)), std::free);
  if (buffer == nullptr)
    return Status(StatusCode::kOutOfMemory, "no memory to copy the log's tail");
  const Lsn end = epochs.back().end;
  const Lsn needed = std::max(epochs.back().start, trimmed);
  Lsn at = std::max(needed / kBlockBytes * kBlockBytes, align_up(durable_claim, kBlockBytes));
  if (!ring_only.empty()) at = std::min(at, ring_only.front().from / kBlockBytes * kBlockBytes);
  const Lsn first = at;
  while (at < end) {
    const uint64_t number = directory.segment_of(at);
    const Lsn segment_end = (number + 1) * directory.segment_bytes();
    if (!reader.present(number)) {
      return damage(at, "the segment is missing, though its records were accepted");
    }
    Result<std::unique_ptr<os::File>> file = directory.open_segment(number, true);
    if (!file.ok()) return file.status();
    while (at < std::min(end, segment_end)) {
      const Range piece{
          at, std::min({align_up(end, kBlockBytes), segment_end, at + kDurablePieceBytes})};
      if (Status s = write_piece(**file, piece, buffer.get()); !s.ok()) return s;
      at = piece.to;
    }
  }
  reader.forget();
  ring_only.clear();
  return verify_tail(std::max(first, needed));
}

// What was written again had been read again, and may have gone bad since the walk that accepted
// it; or the write went elsewhere. With a new epoch behind it that would be a hole in the log,
// which no open after the next crash could accept: so this one says it, before anything is built.
Status Recovery::State::verify_tail(Lsn from) {
  const LogEpoch& epoch = epochs.back();
  if (from >= epoch.end) return Status();
  Lsn at = from;
  if (Status s = first_boundary(epoch, &at); !s.ok()) return s;
  while (at < epoch.end) {
    Found found;
    if (Status s = in_segments(epoch, at, &found); !s.ok()) return s;
    if (found.bytes == nullptr) {
      return damage(at,
                    "a record of the log's tail was valid when it was first read, and is not "
                    "behind its copy");
    }
    at += found.header.length;
  }
  return Status();
}

// Writes the blocks of one piece of a segment that need it.
Status Recovery::State::write_piece(os::File& file, Range piece, char* buffer) {
  const uint64_t offset = piece.from % directory.segment_bytes();
  const size_t block_count = (piece.to - piece.from) / kBlockBytes;
  if (Status s = file.read_at(offset, {buffer, block_count * kBlockBytes}); !s.ok()) return s;
  std::vector<bool> changed(block_count);
  for (size_t i = 0; i < block_count; ++i)
    changed[i] = piece.from + i * kBlockBytes >= durable_claim;
  for (const Range& range : ring_only) {
    Lsn from = std::max(range.from, piece.from);
    const Lsn to = std::min(range.to, piece.to);
    while (from < to) {
      const size_t block = (from - piece.from) / kBlockBytes;
      const Lsn block_end = piece.from + (block + 1) * kBlockBytes;
      const size_t size = std::min(to, block_end) - from;
      char* const present = buffer + (from - piece.from);
      const char* const wanted = ring->data() + from % ring->size();
      if (std::memcmp(present, wanted, size) != 0) changed[block] = true;
      std::memcpy(present, wanted, size);
      from += size;
    }
  }
  for (size_t i = 0; i < block_count;) {
    size_t end = i;
    while (end < block_count && changed[end]) ++end;
    if (end > i) {
      const std::span<const char> run(buffer + i * kBlockBytes, (end - i) * kBlockBytes);
      if (Status s = file.write_at(offset + i * kBlockBytes, run); !s.ok()) return s;
    }
    i = end + 1;
  }
  return Status();
}

}  // namespace hawthorn::wal
