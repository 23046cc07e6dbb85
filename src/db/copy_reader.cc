#include "db/copy_reader.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/backup_layout.h"
#include "os/file.h"

namespace hawthorn::db {
namespace {

constexpr size_t kCopyPieceBytes = size_t{1} << 20;
constexpr size_t kPiecesInFlight = 4;
// What is read for nothing rather than that a read ends there.
constexpr uint64_t kGapBytesMax = uint64_t{64} << 10;
static_assert(kCopyPieceBytes >= format::kBackupPartBytesMax);

}  // namespace

Status CopyReader::prepare() {
  pieces_.resize(kPiecesInFlight);
  for (Piece& piece : pieces_) {
    // A block more, for a part that begins inside one.
    piece.buffer.reset(
        static_cast<char*>(std::aligned_alloc(os::kBlockBytes, kCopyPieceBytes + os::kBlockBytes)));
    if (piece.buffer == nullptr) {
      return Status(StatusCode::kOutOfMemory, "no memory for a copy's buffers");
    }
  }
  return {};
}

size_t CopyReader::gather(const os::File& file, std::span<const CopyPart> parts, uint64_t* offset,
                          size_t* bytes) {
  const uint64_t from = parts.front().offset / os::kBlockBytes * os::kBlockBytes;
  uint64_t to = parts.front().offset + parts.front().bytes;
  size_t count = 1;
  for (; count < parts.size(); ++count) {
    const CopyPart& next = parts[count];
    const uint64_t end = next.offset + next.bytes;
    if (next.offset - to > kGapBytesMax || align_up(end, os::kBlockBytes) - from > kCopyPieceBytes)
      break;
    to = end;
  }
  *offset = from;
  *bytes = static_cast<size_t>((file.direct() ? align_up(to, os::kBlockBytes) : to) - from);
  return count;
}

Status CopyReader::read(os::File& file, std::span<const CopyPart> parts, const Deliver& deliver) {
  // Goes before the buffers, with a wait for the reads in flight.
  os::IoQueueLease queue = machine_.queues->lease();
  size_t begun = 0;
  size_t handed = 0;
  for (;;) {
    while (!parts.empty() && begun - handed < pieces_.size()) {
      Piece& piece = pieces_[begun++ % pieces_.size()];
      size_t bytes = 0;
      const size_t count = gather(file, parts, &piece.offset, &bytes);
      piece.parts = parts.first(count);
      piece.done = false;
      parts = parts.subspan(count);
      const os::IoRead read = {&file, piece.offset, piece.buffer.get(), bytes, &piece};
      queue->submit({&read, 1});
    }
    if (handed == begun) return {};
    Piece& piece = pieces_[handed++ % pieces_.size()];
    while (!piece.done) {
      os::IoCompletion completions[kPiecesInFlight];
      const size_t count = queue->reap(completions, 1);
      for (size_t i = 0; i < count; ++i) {
        auto* const finished = static_cast<Piece*>(completions[i].context);
        finished->status = std::move(completions[i].status);
        finished->done = true;
      }
    }
    if (!piece.status.ok()) return piece.status;
    for (const CopyPart& part : piece.parts) {
      const char* const data = piece.buffer.get() + (part.offset - piece.offset);
      if (Status s = deliver(part, {data, part.bytes}); !s.ok()) return s;
    }
  }
}

}  // namespace hawthorn::db
