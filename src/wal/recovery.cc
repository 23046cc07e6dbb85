// Reading the log that an earlier process left behind (R7).
//
// Each record is taken from the segments or from the ring, whichever validates: after a kill the
// ring holds what was not drained, after a power loss any of its pages may be old. The log ends at
// the first lsn with neither.

#include <algorithm>
#include <utility>

#include "wal/recovery_state.h"

namespace hawthorn::wal {

using format::RecordHeader;

Result<std::unique_ptr<Recovery>> Recovery::open(const os::Machine& machine,
                                                 const std::string& directory,
                                                 const LogOptions& options,
                                                 std::vector<LogEpoch> epochs, Lsn trimmed,
                                                 bool read_only) {
  const LogDirectory files(machine, directory, options);
  if (Status s = files.check_options(); !s.ok()) return s;
  if (Status s = RecordFinder::check_epochs(files, epochs); !s.ok()) return s;
  Result<std::vector<uint64_t>> numbers = files.segments();
  if (!numbers.ok()) return numbers.status();
  std::erase_if(*numbers, [&](uint64_t number) { return number < files.segment_of(trimmed); });
  for (const uint64_t number : *numbers) {
    Result<std::unique_ptr<os::File>> file = files.open_segment(number, false);
    if (!file.ok()) return file.status();
  }
  const Lsn segments_end =
      numbers->empty() ? trimmed : (numbers->back() + 1) * options.segment_bytes;
  auto state = std::make_unique<State>(files, std::move(epochs), trimmed, read_only,
                                       options.appended_to, std::move(*numbers));
  state->segments_end = segments_end;
  Result<std::unique_ptr<os::MappedFile>> ring = files.map_ring(true, false);
  if (!ring.ok()) return ring.status();
  state->ring = std::move(*ring);
  return std::unique_ptr<Recovery>(new Recovery(std::move(state)));
}

Recovery::Recovery(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recovery::~Recovery() = default;

void Recovery::on_progress(Progress progress) { state_->progress = std::move(progress); }

Status Recovery::replay(Lsn from, const std::function<Status(const RecordView&)>& fn) {
  State& state = *state_;
  if (!state.walked) {
    state.bytes_walked = 0;
    state.durable_claim = 0;
    state.ring_only.clear();
  }
  state.bytes_to_read = state.bytes_read + state.bytes_from(from);
  for (size_t i = 0; i < state.epochs.size(); ++i) {
    if (Status s = state.walk(i, from, fn); !s.ok()) return s;
  }
  state.walked = true;
  state.bytes_to_read = state.bytes_read;
  return state.tell(0);
}

Lsn Recovery::end() const {
  return state_->epochs.empty() ? state_->trimmed : state_->epochs.back().end;
}

uint64_t Recovery::bytes() const { return state_->bytes_walked; }

// What a replay from there reads, at most.
uint64_t Recovery::State::bytes_from(Lsn from) const {
  uint64_t bytes = 0;
  for (const LogEpoch& epoch : epochs) {
    const Lsn begin = begin_of(epoch, from);
    const Lsn end = epoch.end == format::kLsnMax ? segments_end : epoch.end;
    if (end > begin) bytes += end - begin;
  }
  return bytes;
}

Status Recovery::State::tell(uint64_t every) {
  if (progress == nullptr || bytes_read < bytes_told + every) return {};
  bytes_told = bytes_read;
  // What the ring alone holds may lie behind the segments.
  return progress(bytes_read, std::max(bytes_to_read, bytes_read));
}

// Visits the records of one epoch. The first time all of it is read, so that its end, its damage
// and what only the ring holds are known; later from `from` on.
Status Recovery::State::walk(size_t index, Lsn from,
                             const std::function<Status(const RecordView&)>& fn) {
  LogEpoch& epoch = epochs[index];
  Lsn at = begin_of(epoch, from);
  if (epoch.end <= at) return Status();
  if (Status s = first_boundary(epoch, &at); !s.ok()) return s;
  const Lsn begin = at;
  while (at < epoch.end) {
    Found found;
    if (Status s = find(epoch, at, &found); !s.ok()) return s;
    if (found.bytes == nullptr && appended_to) {
      if (Status s = find_anew(epoch, at, &found); !s.ok()) return s;
    }
    if (found.bytes == nullptr) {
      if (epoch.end != format::kLsnMax) {
        return damage(at, "no valid record; the log's epoch " + std::to_string(epoch.number) +
                              " reaches to lsn " + std::to_string(epoch.end));
      }
      if (!appended_to) {
        if (Status s = check_end(epoch, at); !s.ok()) return s;
      }
      epoch.end = at;
      break;
    }
    const bool last = index + 1 == epochs.size();
    if (!walked && last) durable_claim = std::max(durable_claim, found.header.durable_lsn);
    if (!walked && last && found.ring_only) {
      if (ring_only.empty() || ring_only.back().to != at) ring_only.push_back({at, at});
      ring_only.back().to = at + found.header.length;
    }
    if (at >= from) {
      if (Status s = deliver(epoch, found, fn); !s.ok()) return s;
    }
    at += found.header.length;
    bytes_read += found.header.length;
    if (Status s = tell(kProgressBytes); !s.ok()) return s;
  }
  if (!walked) bytes_walked += at - begin;
  return Status();
}

Status Recovery::State::deliver(const LogEpoch& epoch, const Found& found,
                                const std::function<Status(const RecordView&)>& fn) {
  const auto type = static_cast<RecordType>(found.header.type);
  if (Status s = check_type(found.header); !s.ok()) return s;
  std::string_view bytes;
  if (Status s = payload(epoch, found, &bytes); !s.ok()) return s;
  if (type == RecordType::kPad) return Status();
  return fn({.type = type,
             .lsn = found.header.lsn,
             .operations = found.header.operations,
             .payload = bytes});
}

// The same of a log that somebody appends to. What the ring does not have (any more) is in
// segments, or was not there when the ring was looked at: then the log ended here at that moment.
// Where the ring says that more was durable, it has moved on since, or something is damaged.
Status Recovery::State::find_anew(const LogEpoch& epoch, Lsn lsn, Found* found) {
  constexpr int kAttemptsMax = 3;
  Lsn claim = 0;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    in_ring(epoch, lsn, found);
    if (found->bytes != nullptr) return Status();
    Result<std::vector<uint64_t>> numbers = directory.segments();
    if (!numbers.ok()) return numbers.status();
    reader.set_segments(std::move(*numbers));
    if (Status s = in_segments(epoch, lsn, found); !s.ok()) return s;
    if (found->bytes != nullptr || epoch.end != format::kLsnMax) return Status();
    claim = 0;
    claims_in_ring(epoch, lsn, &claim);
    if (claim <= lsn) return Status();
  }
  return damage(lsn, "no valid record, though a later one says that all below lsn " +
                         std::to_string(claim) + " was durable");
}

// The record at `lsn`, whole and with the right checksum, from the segments or else from the ring.
Status Recovery::State::find(const LogEpoch& epoch, Lsn lsn, Found* found) {
  if (Status s = in_segments(epoch, lsn, found); !s.ok()) return s;
  if (found->bytes == nullptr) in_ring(epoch, lsn, found);
  return Status();
}

}  // namespace hawthorn::wal
