#include "wal/record_finder.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::wal {

using format::kRecordAlign;
using format::RecordHeader;

namespace {

bool payload_holds(const RecordHeader& header, const char* record) {
  return checksum64(record + sizeof(RecordHeader), header.payload_bytes, 0) ==
         header.payload_checksum;
}

// Copies what others may be storing into: word by word, each loaded once.
void copy_shared(char* to, const char* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    const uint64_t word =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(from + i), __ATOMIC_RELAXED);
    std::memcpy(to + i, &word, sizeof(word));
  }
}

}  // namespace

Status RecordFinder::check_epochs(const LogDirectory& directory,
                                  const std::vector<LogEpoch>& epochs) {
  for (size_t i = 0; i < epochs.size(); ++i) {
    const bool ordered =
        i == 0 || (epochs[i - 1].end <= epochs[i].start && epochs[i - 1].number < epochs[i].number);
    if (!ordered || epochs[i].start > epochs[i].end ||
        epochs[i].start % directory.segment_bytes() != 0) {
      return Status(StatusCode::kCorruption, directory.path() + ": log epoch " +
                                                 std::to_string(epochs[i].number) +
                                                 " does not follow the one before it");
    }
  }
  return Status();
}

Status RecordFinder::check_type(const RecordHeader& header) const {
  switch (static_cast<RecordType>(header.type)) {
    case RecordType::kPad:
    case RecordType::kCommit:
    case RecordType::kChunk:
    case RecordType::kChunkedCommit:
    case RecordType::kAbort:
    case RecordType::kRollbackTo:
    case RecordType::kAttachingCommit:
    case RecordType::kPrepare:
    case RecordType::kPreparedCommit:
    case RecordType::kPreparedAbort:
    case RecordType::kLayeredCommit:
    case RecordType::kLayersMerged:
    case RecordType::kRelayedCommit:
      return Status();
  }
  return Status(StatusCode::kNotSupported,
                directory.place_of(header.lsn) + ": a log record of type " +
                    std::to_string(header.type) + ", which this version does not know");
}

bool RecordFinder::plausible(const LogEpoch& epoch, const RecordHeader& header, Lsn lsn) const {
  return format::valid(header, lsn, epoch.salt) && header.length <= record_bytes_max &&
         lsn + header.length <= epoch.end;
}

bool RecordFinder::ring_header(const LogEpoch& epoch, Lsn lsn, RecordHeader* header) const {
  if (ring == nullptr || lsn % kRecordAlign != 0) return false;
  copy_shared(reinterpret_cast<char*>(header), ring->data() + lsn % ring->size(),
              sizeof(RecordHeader));
  return plausible(epoch, *header, lsn) && header->length <= ring->size() / 8;
}

void RecordFinder::in_ring(const LogEpoch& epoch, Lsn lsn, Found* found) {
  if (!ring_header(epoch, lsn, &found->header)) return;
  if (copy.size() < found->header.length) copy.resize(found->header.length);
  copy_shared(copy.data(), ring->data() + lsn % ring->size(), found->header.length);
  if (!payload_holds(found->header, copy.data())) return;
  found->bytes = copy.data();
  found->ring_only = true;
}

Status RecordFinder::in_segments(const LogEpoch& epoch, Lsn lsn, Found* found) {
  const char* bytes;
  if (Status s = reader.view(lsn, sizeof(RecordHeader), &bytes); !s.ok()) return s;
  if (bytes == nullptr) return Status();
  std::memcpy(&found->header, bytes, sizeof(RecordHeader));
  if (!plausible(epoch, found->header, lsn)) return Status();
  if (Status s = reader.view(lsn, found->header.length, &bytes); !s.ok()) return s;
  if (bytes != nullptr && payload_holds(found->header, bytes)) found->bytes = bytes;
  return Status();
}

Status RecordFinder::payload(const LogEpoch& epoch, const Found& found, std::string_view* bytes) {
  const std::string_view stored(found.bytes + sizeof(RecordHeader), found.header.payload_bytes);
  *bytes = stored;
  if (sealer == nullptr || sealer_epoch != epoch.number) {
    Result<std::unique_ptr<RecordSeal>> made = RecordSeal::make(directory.machine(), epoch);
    if (!made.ok()) {
      return {made.status().code(),
              directory.place_of(found.header.lsn) + ": " + std::string(made.status().message())};
    }
    sealer = std::move(*made);
    sealer_epoch = epoch.number;
  }
  if (sealer == nullptr) return {};
  if (!sealer->open(found.header, stored, &opened)) {
    return {StatusCode::kCorruption, directory.place_of(found.header.lsn) +
                                         ": a record is not what was written there: its seal is "
                                         "broken"};
  }
  *bytes = opened;
  return {};
}

Status RecordFinder::find_header(const LogEpoch& epoch, Lsn lsn, RecordHeader* header,
                                 bool* there) {
  const char* bytes;
  if (Status s = reader.view(lsn, sizeof(RecordHeader), &bytes); !s.ok()) return s;
  if (bytes != nullptr) {
    std::memcpy(header, bytes, sizeof(RecordHeader));
    if (plausible(epoch, *header, lsn)) {
      *there = true;
      return Status();
    }
  }
  *there = ring_header(epoch, lsn, header);
  return Status();
}

Status RecordFinder::first_boundary(const LogEpoch& epoch, Lsn* at) {
  const Lsn from = align_up(*at, kRecordAlign);
  *at = from;
  if (from == epoch.start) return Status();
  RecordHeader header;
  bool there = false;
  if (Status s = find_header(epoch, from, &header, &there); !s.ok() || there) return s;
  const Lsn segment_start = directory.segment_of(from) * directory.segment_bytes();
  Lsn low = from - std::min<Lsn>(from - epoch.start, record_bytes_max);
  // Bytes of recycled segments are gone, though some may still be found in the ring.
  const bool cut_off = low < segment_start && !reader.present(directory.segment_of(low));
  if (cut_off && ring == nullptr) low = segment_start;
  // Loads the window once for all the steps down.
  const char* bytes;
  if (Status s = reader.view(cut_off ? segment_start : low, sizeof(RecordHeader), &bytes);
      !s.ok()) {
    return s;
  }
  for (Lsn lsn = from; lsn > low;) {
    lsn -= kRecordAlign;
    if (Status s = find_header(epoch, lsn, &header, &there); !s.ok()) return s;
    if (!there) continue;
    // A record that ends before *at leaves a gap where one was: the walk will find and judge it.
    *at = lsn + header.length;
    return Status();
  }
  if (!cut_off) return Status();
  const Lsn high = std::min<Lsn>(segment_start + record_bytes_max, epoch.end);
  for (Lsn lsn = from; lsn < high; lsn += kRecordAlign) {
    if (Status s = find_header(epoch, lsn, &header, &there); !s.ok()) return s;
    if (!there) continue;
    *at = lsn;
    return Status();
  }
  return Status();
}

}  // namespace hawthorn::wal
