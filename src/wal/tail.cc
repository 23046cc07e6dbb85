#include "wal/tail.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "wal/record_finder.h"

namespace hawthorn::wal {

using format::RecordHeader;

struct Tail::State : RecordFinder {
  State(const LogDirectory& log_directory, std::vector<uint64_t> numbers)
      : RecordFinder(log_directory, std::move(numbers), format::kRecordBytesMax) {}

  enum class Place : uint8_t { kIn, kEnd, kGone };
  Place place(const LogEpoch** epoch);
  // *not_yet: it is not there, and that is certain.
  Status find(const LogEpoch& epoch, bool promised, Found* found, bool* not_yet);
  Status find_in_segments(const LogEpoch& epoch, Found* found);
  bool ring_has_anchor(const LogEpoch& epoch) const;
  void go_to(Lsn lsn);
  void pass(uint32_t length);
  Status probe(const LogEpoch& epoch, bool* there);
  Result<Outcome> judge(const LogEpoch& epoch, bool promised, Found* found);
  Status refresh();

  std::vector<LogEpoch> epochs;
  Lsn at = 0;
  // A record of the same epoch so far before `at` that whatever is being stored over the place of
  // `at` comes behind what was stored over it (invariant 4); 0: none was passed yet. And the one
  // that follows as such.
  Lsn anchor = 0;
  Lsn anchor_after = 0;
  // The last look found nothing at `at`: the next one reads a block, not a window.
  bool idle = false;
};

Result<std::unique_ptr<Tail>> Tail::open(const os::Machine& machine, const std::string& directory,
                                         const LogOptions& options, std::vector<LogEpoch> epochs,
                                         Lsn from) {
  const LogDirectory files(machine, directory, options);
  if (Status s = files.check_options(); !s.ok()) return s;
  auto tail =
      std::unique_ptr<Tail>(new Tail(std::make_unique<State>(files, std::vector<uint64_t>())));
  if (Status s = tail->set_epochs(std::move(epochs)); !s.ok()) return s;
  if (Status s = tail->seek(from); !s.ok()) return s;
  return tail;
}

Tail::Tail(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tail::~Tail() = default;

Lsn Tail::position() const { return state_->at; }

Status Tail::set_epochs(std::vector<LogEpoch> epochs) {
  State& state = *state_;
  if (Status s = RecordFinder::check_epochs(state.directory, epochs); !s.ok()) return s;
  Result<std::unique_ptr<os::MappedFile>> ring = state.directory.map_ring(true, false);
  if (!ring.ok()) return ring.status();
  state.ring = std::move(*ring);
  state.epochs = std::move(epochs);
  state.go_to(state.at);
  return state.refresh();
}

Status Tail::seek(Lsn lsn) {
  State& state = *state_;
  state.go_to(lsn);
  for (const LogEpoch& epoch : state.epochs) {
    if (lsn >= epoch.end) continue;
    if (lsn <= epoch.start) {
      state.at = epoch.start;
      return Status();
    }
    if (Status s = state.refresh(); !s.ok()) return s;
    Status status = state.first_boundary(epoch, &state.at);
    // A segment that went meanwhile: the next look judges.
    return status.is_not_found() ? Status() : status;
  }
  return Status();
}

void Tail::go_to(Lsn record) { state_->go_to(record); }

void Tail::State::go_to(Lsn lsn) {
  at = lsn;
  anchor = 0;
  anchor_after = 0;
  idle = false;
}

void Tail::State::pass(uint32_t length) {
  const Lsn passed = at;
  at += length;
  idle = false;
  if (ring == nullptr) return;
  const Lsn reach = ring->size() / 8 + sizeof(RecordHeader);
  if (anchor_after != 0 && at - anchor_after >= reach) anchor = std::exchange(anchor_after, 0);
  if (anchor_after == 0) anchor_after = passed;
}

Result<Tail::Next> Tail::next(Lsn below) {
  State& state = *state_;
  while (true) {
    const LogEpoch* epoch = nullptr;
    switch (state.place(&epoch)) {
      case State::Place::kIn:
        break;
      case State::Place::kEnd:
        return Next{};
      case State::Place::kGone:
        return Next{.outcome = Outcome::kGone};
    }
    if (state.at >= below) return Next{};
    const bool promised = below != format::kLsnMax || epoch->end != format::kLsnMax;
    RecordFinder::Found found;
    bool not_yet = false;
    Status status = state.find(*epoch, promised, &found, &not_yet);
    if (status.is_not_found()) status = state.refresh();  // a segment that went meanwhile
    if (!status.ok()) return status;
    if (not_yet) return Next{};
    if (found.bytes == nullptr) {
      Result<Outcome> outcome = state.judge(*epoch, promised, &found);
      if (!outcome.ok()) return outcome.status();
      if (found.bytes == nullptr) return Next{.outcome = *outcome};
    }
    if (Status s = state.check_type(found.header); !s.ok()) return s;
    std::string_view payload;
    if (Status s = state.payload(*epoch, found, &payload); !s.ok()) return s;
    state.pass(found.header.length);
    const auto type = static_cast<RecordType>(found.header.type);
    if (type == RecordType::kPad) continue;
    return Next{.outcome = Outcome::kRecord,
                .record = {.type = type,
                           .lsn = found.header.lsn,
                           .operations = found.header.operations,
                           .payload = payload},
                .durable_lsn = found.header.durable_lsn};
  }
}

// Which epoch has `at`; moves from the end of one to the start of the next.
Tail::State::Place Tail::State::place(const LogEpoch** epoch) {
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (at < epochs[i].start) return Place::kGone;
    if (at < epochs[i].end) {
      *epoch = &epochs[i];
      return Place::kIn;
    }
    if (at > epochs[i].end) continue;
    if (i + 1 == epochs.size()) return Place::kEnd;
    go_to(epochs[i + 1].start);
  }
  return epochs.empty() ? Place::kEnd : Place::kGone;
}

Status Tail::State::find(const LogEpoch& epoch, bool promised, Found* found, bool* not_yet) {
  in_ring(epoch, at, found);
  if (found->bytes != nullptr) return Status();
  if (!promised) {
    *not_yet = ring_has_anchor(epoch);
    if (*not_yet) return Status();
    if (idle) {
      bool there = false;
      if (Status s = probe(epoch, &there); !s.ok() || !there) return s;
    }
  }
  return find_in_segments(epoch, found);
}

// What was read ahead may be older than the record.
Status Tail::State::find_in_segments(const LogEpoch& epoch, Found* found) {
  Status status = in_segments(epoch, at, found);
  if (status.ok() && found->bytes != nullptr) return status;
  if (!status.ok() && !status.is_not_found()) return status;
  if (Status s = refresh(); !s.ok()) return s;
  *found = {};
  return in_segments(epoch, at, found);
}

// The ring still has a record far before `at`, so its head has not come round to there, nor has
// what is being stored at the head reached `at`: what the ring did not have there a moment ago was
// not there. A record right before `at` would not tell: the bytes of one that is not complete yet,
// or of which a killed process has left a part, may lie over `at` and not over that.
bool Tail::State::ring_has_anchor(const LogEpoch& epoch) const {
  RecordHeader header;
  return anchor != 0 && ring_header(epoch, anchor, &header);
}

// Whether the segment has a valid header at `at`, by a read of its block.
Status Tail::State::probe(const LogEpoch& epoch, bool* there) {
  const Lsn block = at / os::kBlockBytes * os::kBlockBytes;
  if (at + sizeof(RecordHeader) > block + os::kBlockBytes) {  // rare: let the reader see
    *there = true;
    return Status();
  }
  Result<std::unique_ptr<os::File>> file = directory.open_segment(directory.segment_of(at), false);
  if (!file.ok()) return file.status().is_not_found() ? Status() : file.status();
  alignas(os::kBlockBytes) char bytes[os::kBlockBytes];
  if (Status s = (*file)->read_at(block % directory.segment_bytes(), bytes); !s.ok()) return s;
  RecordHeader header;
  std::memcpy(&header, bytes + (at - block), sizeof(header));
  *there = plausible(epoch, header, at);
  return Status();
}

// Nothing valid was found at `at`: not yet there, gone (invariant 3), or damaged. May find it after
// all, in the ring.
Result<Tail::Outcome> Tail::State::judge(const LogEpoch& epoch, bool promised, Found* found) {
  if (Status s = refresh(); !s.ok()) return s;
  const uint64_t number = directory.segment_of(at);
  const bool higher = reader.end() > (number + 1) * directory.segment_bytes();
  if (!reader.present(number) && (higher || promised)) return Outcome::kGone;
  if (promised) {
    in_ring(epoch, at, found);
    if (found->bytes != nullptr) return Outcome::kRecord;
    return Status(StatusCode::kCorruption,
                  directory.place_of(at) + ": no valid record, though the log goes on behind it");
  }
  idle = true;
  return Outcome::kEnd;
}

Status Tail::State::refresh() {
  Result<std::vector<uint64_t>> numbers = directory.segments();
  if (!numbers.ok()) return numbers.status();
  reader.set_segments(std::move(*numbers));
  return Status();
}

}  // namespace hawthorn::wal
