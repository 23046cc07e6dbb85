#include "wal/log_check.h"

#include <algorithm>

#include "base/bytes.h"
#include "wal/record_finder.h"

namespace hawthorn::wal {

namespace {
constexpr uint64_t kPaceBytes = size_t{256} << 10;

// One walk: where it stands, and what it has found wrong behind it.
class Walk {
 public:
  Walk(const Log& log, const LogDirectory& files, std::vector<uint64_t> segments,
       const std::function<void(const LogGap&)>& gap)
      : log_(log),
        files_(files),
        finder_(files, std::move(segments), format::kRecordBytesMax),
        gap_(gap) {}

  // The records of [from, to). Errors: those of the disk.
  Status run(const LogEpoch& epoch, Lsn from, Lsn to, const std::function<bool(uint64_t)>& pace);
  uint64_t records = 0;
  uint64_t bytes = 0;
  bool ended = false;

 private:
  Status look(const LogEpoch& epoch, RecordFinder::Found* found);
  Status step_over(const LogEpoch& epoch, Lsn to);
  Status follow_trim(const LogEpoch& epoch);
  void tell(Lsn to);

  const Log& log_;
  const LogDirectory& files_;
  RecordFinder finder_;
  const std::function<void(const LogGap&)>& gap_;
  Lsn at_ = 0;
  bool broken_ = false;
  Lsn broken_from_ = 0;
};

Status Walk::run(const LogEpoch& epoch, Lsn from, Lsn to,
                 const std::function<bool(uint64_t)>& pace) {
  at_ = from;
  broken_ = false;
  if (Status s = finder_.first_boundary(epoch, &at_); !s.ok() && !s.is_not_found()) return s;
  Lsn paced = at_;
  while (at_ < to) {
    if (at_ >= paced) {
      if (pace && !pace(kPaceBytes)) {
        ended = true;
        return Status();
      }
      paced = at_ + kPaceBytes;
    }
    RecordFinder::Found found;
    if (Status s = look(epoch, &found); !s.ok()) return s;
    if (found.bytes == nullptr) {
      if (Status s = step_over(epoch, to); !s.ok()) return s;
      continue;
    }
    tell(at_);
    ++records;
    bytes += found.header.length;
    at_ += found.header.length;
  }
  tell(std::min(at_, to));
  return Status();
}

// Where nothing is found it reads again, what there is by then.
Status Walk::look(const LogEpoch& epoch, RecordFinder::Found* found) {
  Status status = finder_.in_segments(epoch, at_, found);
  if (status.ok() && (found->bytes != nullptr || broken_)) return status;
  if (!status.ok() && !status.is_not_found()) return status;
  Result<std::vector<uint64_t>> segments = files_.segments();
  if (!segments.ok()) return segments.status();
  finder_.reader.set_segments(std::move(*segments));
  *found = {};
  status = finder_.in_segments(epoch, at_, found);
  return status.is_not_found() ? Status() : status;
}

Status Walk::step_over(const LogEpoch& epoch, Lsn to) {
  // It was there when it was read, unless it had been given up before.
  if (log_.trimmed() > (broken_ ? broken_from_ : at_)) return follow_trim(epoch);
  if (!broken_) {
    broken_ = true;
    broken_from_ = at_;
  }
  const uint64_t number = files_.segment_of(at_);
  at_ = finder_.reader.present(number) ? at_ + format::kRecordAlign
                                       : std::min<Lsn>(to, (number + 1) * files_.segment_bytes());
  return Status();
}

Status Walk::follow_trim(const LogEpoch& epoch) {
  broken_ = false;
  at_ = std::max(at_, log_.trimmed());
  if (at_ >= epoch.end) return Status();
  const Lsn least = align_up(at_, format::kRecordAlign);
  Status status = finder_.first_boundary(epoch, &at_);
  // A gap may begin below what was trimmed: what is looked for begins above.
  at_ = std::max(at_, least);
  return status.is_not_found() ? Status() : status;
}

void Walk::tell(Lsn to) {
  if (!std::exchange(broken_, false) || log_.trimmed() > broken_from_) return;
  gap_({.file = segment_name(files_.segment_of(broken_from_)),
        .offset = broken_from_ % files_.segment_bytes(),
        .bytes = to - broken_from_,
        .lsn = broken_from_});
}
}  // namespace

Status LogCheck::run(const Log& log, const std::vector<LogEpoch>& epochs,
                     const std::function<void(const LogGap&)>& gap) {
  const LogDirectory files(machine_, directory_, options_);
  const Lsn end = log.drained();
  Result<std::vector<uint64_t>> segments = files.segments();
  if (!segments.ok()) return segments.status();
  Walk walk(log, files, std::move(*segments), gap);
  Status status;
  for (const LogEpoch& epoch : epochs) {
    const Lsn from = std::max(epoch.start, log.trimmed());
    const Lsn to = std::min(epoch.end, end);
    if (from >= to) continue;
    status = walk.run(epoch, from, to, before_read);
    if (!status.ok() || walk.ended) break;
  }
  records_ = walk.records;
  bytes_ = walk.bytes;
  return status;
}

}  // namespace hawthorn::wal
