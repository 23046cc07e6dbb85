// Where the records of a log begin and end. Whether an end is a torn tail or damage is told by the
// records behind it: one that says that all below some lsn was durable, when this lsn lies above
// the end, proves that bytes are gone which had been synced (attack 6).

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "wal/recovery_state.h"

namespace hawthorn::wal {

using format::kRecordAlign;
using format::RecordHeader;

// The log seems to end at `at`: is anything behind it proof that it went on, durably?
Status Recovery::State::check_end(const LogEpoch& epoch, Lsn at) {
  Lsn claim = 0;
  claims_in_ring(epoch, at, &claim);
  if (Status s = claims_in_segments(epoch, at, &claim); !s.ok()) return s;
  if (claim <= at) return Status();
  return damage(at, "no valid record, though a later one says that all below lsn " +
                        std::to_string(claim) + " was durable");
}

void Recovery::State::claims_in_ring(const LogEpoch& epoch, Lsn at, Lsn* claim) const {
  if (ring == nullptr) return;
  for (size_t position = 0; position < ring->size(); position += kRecordAlign) {
    RecordHeader header;
    const char* const from = ring->data() + position;
    const Lsn lsn = load<uint64_t>(from + offsetof(RecordHeader, lsn));
    if (lsn <= at || lsn > format::kLsnMax || lsn % ring->size() != position) continue;
    std::memcpy(&header, from, sizeof(header));
    if (format::valid(header, lsn, epoch.salt)) *claim = std::max(*claim, header.durable_lsn);
  }
}

Status Recovery::State::claims_in_segments(const LogEpoch& epoch, Lsn at, Lsn* claim) {
  for (Lsn lsn = at; lsn < reader.end();) {
    const uint64_t number = directory.segment_of(lsn);
    const Lsn segment_end = (number + 1) * directory.segment_bytes();
    if (!reader.present(number)) {
      // Not one by one: a name may be that of any number.
      const std::optional<uint64_t> next = reader.next_present(number);
      if (!next.has_value()) return Status();
      lsn = *next * directory.segment_bytes();
      continue;
    }
    // A header across the end of its segment is left out: the record behind it claims as much or
    // more.
    const size_t size = static_cast<size_t>(std::min<Lsn>(kScanBytes, segment_end - lsn));
    if (size < sizeof(RecordHeader)) {
      lsn = segment_end;
      continue;
    }
    const char* bytes;
    if (Status s = reader.view(lsn, size, &bytes); !s.ok()) return s;
    if (bytes == nullptr) {
      lsn = segment_end;
      continue;
    }
    size_t offset = 0;
    for (; offset + sizeof(RecordHeader) <= size; offset += kRecordAlign) {
      if (load<uint64_t>(bytes + offset + offsetof(RecordHeader, lsn)) != lsn + offset) continue;
      RecordHeader header;
      std::memcpy(&header, bytes + offset, sizeof(header));
      if (format::valid(header, lsn + offset, epoch.salt)) {
        *claim = std::max(*claim, header.durable_lsn);
      }
    }
    lsn += offset;
  }
  return Status();
}

Status Recovery::State::damage(Lsn at, const std::string& why) const {
  return Status(StatusCode::kCorruption, directory.place_of(at) + ": " + why);
}

}  // namespace hawthorn::wal
