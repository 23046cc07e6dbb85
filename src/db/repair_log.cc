#include "db/repair_log.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/log_sizing.h"
#include "format/operation.h"
#include "wal/log_directory.h"

namespace hawthorn::db {

namespace {
using format::Lsn;
using format::RecordHeader;
constexpr size_t kHeaderBytes = sizeof(RecordHeader);
constexpr size_t kReadBytes = size_t{1} << 20;
const std::string kRing(wal::kRingName);

bool payload_holds(const RecordHeader& header, std::string_view payload) {
  return checksum64(payload.data(), payload.size(), 0) == header.payload_checksum;
}
}  // namespace

bool RepairLog::valid_at(const RecordHeader& header, Lsn lsn) const {
  if (header.lsn != lsn || header.length != format::record_bytes(header.payload_bytes) ||
      header.length > format::kRecordBytesMax || header.durable_lsn > lsn) {
    return false;
  }
  if (!epochs_.empty()) {
    for (const format::LogEpoch& epoch : epochs_) {
      if (lsn >= epoch.start && lsn < epoch.end) return format::valid(header, lsn, epoch.salt);
    }
    return false;
  }
  for (const uint8_t byte : header.reserved) {
    if (byte != 0) return false;
  }
  return header.type >= 1 && header.type <= 13;
}

bool RepairLog::read_at_lsn(Lsn lsn, char* to, size_t bytes) {
  while (bytes > 0) {
    const uint64_t number = lsn / log_segment_bytes;
    if (!segments_.contains(number)) return false;
    const uint64_t at = lsn % log_segment_bytes;
    const size_t piece = std::min<size_t>(bytes, log_segment_bytes - at);
    if (!source_.read(wal::segment_name(number), at, {to, piece})) return false;
    to += piece;
    lsn += piece;
    bytes -= piece;
  }
  return true;
}

bool RepairLog::read_in_ring(Lsn lsn, char* to, size_t bytes) {
  while (bytes > 0) {
    const uint64_t at = lsn % ring_bytes_;
    const size_t piece = std::min<size_t>(bytes, ring_bytes_ - at);
    if (!source_.read(kRing, at, {to, piece})) return false;
    to += piece;
    lsn += piece;
    bytes -= piece;
  }
  return true;
}

bool RepairLog::payload(const Record& record, std::string* bytes) {
  bytes->resize(record.header.payload_bytes);
  const Lsn lsn = record.lsn + kHeaderBytes;
  const bool read = record.in_ring ? read_in_ring(lsn, bytes->data(), bytes->size())
                                   : read_at_lsn(lsn, bytes->data(), bytes->size());
  return read && payload_holds(record.header, *bytes);
}

// A header may lie over the end of what is read at once: pieces overlap by one.
void RepairLog::scan_segment(uint64_t number) {
  const std::string name = wal::segment_name(number);
  const uint64_t size = std::min<uint64_t>(source_.size_of(name), log_segment_bytes);
  const Lsn base = number * log_segment_bytes;
  std::string bytes;
  std::string body;
  uint64_t at = 0;
  if (!found_.empty()) {
    const Record& last = found_.rbegin()->second;
    if (last.end() > base) at = last.end() - base;
  }
  while (at < size) {
    bytes.resize(std::min<uint64_t>(kReadBytes, size - at));
    const uint64_t from = at;
    if (!source_.read(name, from, {bytes.data(), bytes.size()})) {
      // A bad sector must not take the rest.
      at = align_up(from + 1, kRepairBlock);
      bytes.resize(std::min<uint64_t>(kRepairBlock, size - from));
      if (!source_.read(name, from, {bytes.data(), bytes.size()})) continue;
    }
    at = from;
    while (at < from + bytes.size()) {
      Record record;
      record.lsn = base + at;
      const size_t left = from + bytes.size() - at;
      if (left >= 16 && load<uint64_t>(bytes.data() + (at - from) + 8) != record.lsn) {
        at += format::kRecordAlign;
        continue;
      }
      record.place = at;
      if (left >= kHeaderBytes) {
        std::memcpy(&record.header, bytes.data() + (at - from), kHeaderBytes);
      } else if (!read_at_lsn(record.lsn, reinterpret_cast<char*>(&record.header), kHeaderBytes)) {
        at += format::kRecordAlign;
        continue;
      }
      if (!valid_at(record.header, record.lsn) || !payload(record, &body)) {
        at += format::kRecordAlign;
        continue;
      }
      found_.emplace(record.lsn, record);
      at += record.header.length;
    }
  }
}

void RepairLog::scan_ring() {
  ring_bytes_ = source_.size_of(kRing) / format::kRecordAlign * format::kRecordAlign;
  std::string bytes(ring_bytes_, '\0');
  if (ring_bytes_ < kHeaderBytes || !source_.read(kRing, 0, {bytes.data(), bytes.size()})) return;
  std::string body;
  for (uint64_t at = 0; at < ring_bytes_; at += format::kRecordAlign) {
    char head[kHeaderBytes];
    const size_t first = std::min<size_t>(kHeaderBytes, ring_bytes_ - at);
    std::memcpy(head, bytes.data() + at, first);
    std::memcpy(head + first, bytes.data(), kHeaderBytes - first);
    Record record;
    std::memcpy(&record.header, head, kHeaderBytes);
    record.lsn = record.header.lsn;
    if (record.lsn % ring_bytes_ != at || record.lsn % format::kRecordAlign != 0 ||
        record.lsn >= format::kLsnMax || found_.contains(record.lsn) ||
        record.header.length > ring_bytes_ || !valid_at(record.header, record.lsn)) {
      continue;
    }
    record.in_ring = true;
    record.place = at;
    if (payload(record, &body)) found_.emplace(record.lsn, record);
  }
}

bool RepairLog::missing(Lsn from, Lsn to) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [&](const Gap& gap) { return gap.from < to && from < gap.to; });
}

// Of what was durable: behind the last record nothing may ever have been.
void RepairLog::find_gaps(Lsn trim, Lsn flushed) {
  Lsn claim = flushed == 0 ? 0 : flushed + 1;
  for (const Record& record : records_) claim = std::max(claim, record.header.durable_lsn);
  const auto gap = [&](Lsn from, Lsn to) {
    if (from < to) gaps_.push_back({from, to});
  };
  if (epochs_.empty()) {
    for (size_t i = 1; i < records_.size(); ++i) {
      // An epoch begins with a segment, where the one before has ended anywhere.
      if (records_[i].lsn % log_segment_bytes != 0) gap(records_[i - 1].end(), records_[i].lsn);
    }
    return;
  }
  size_t at = 0;
  for (size_t i = 0; i < epochs_.size(); ++i) {
    const format::LogEpoch& epoch = epochs_[i];
    Lsn reached = std::max(epoch.start, trim);
    while (at < records_.size() && records_[at].end() <= reached) ++at;
    const bool cut_off = at < records_.size() && records_[at].lsn > reached &&
                         epoch.start < reached && reached / log_segment_bytes != 0 &&
                         records_[at].lsn / log_segment_bytes == reached / log_segment_bytes &&
                         records_[at].lsn % log_segment_bytes < format::kRecordBytesMax &&
                         !segments_.contains(reached / log_segment_bytes - 1) &&
                         reached % log_segment_bytes == 0;
    if (cut_off) reached = records_[at].lsn;
    for (; at < records_.size() && records_[at].lsn < epoch.end; ++at) {
      gap(reached, records_[at].lsn);
      reached = std::max(reached, records_[at].end());
    }
    if (epoch.end != format::kLsnMax) {
      gap(reached, epoch.end);
    } else if (claim > epoch.start) {
      gap(reached, claim);
    }
  }
}

Status RepairLog::find(const std::vector<format::LogEpoch>& epochs, Lsn trim, Lsn flushed) {
  epochs_ = epochs;
  for (const std::string& name : source_.names()) {
    if (const auto number = wal::segment_number(name); number.has_value()) {
      segments_.insert(*number);
    }
  }
  for (const uint64_t number : segments_) scan_segment(number);
  scan_ring();
  // Where two overlap one of them is what a recycled place held before: the one that goes on from
  // what is there counts.
  for (const auto& [lsn, record] : found_) {
    if (record.end() <= trim || record.lsn < trim) continue;
    if (record.header.type > 13) {
      return Status(StatusCode::kNotSupported, "a log record of type " +
                                                   std::to_string(record.header.type) +
                                                   ", which this version does not know");
    }
    if (records_.empty() || record.lsn >= records_.back().end()) records_.push_back(record);
  }
  found_.clear();
  find_gaps(trim, flushed);
  return {};
}

// ---- The target's log

namespace {
// Segments that are written front to back.
class SegmentWriter {
 public:
  SegmentWriter(os::FileSystem& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  Status write(Lsn lsn, std::string_view bytes) {
    while (!bytes.empty()) {
      if (Status s = need(lsn / log_segment_bytes); !s.ok()) return s;
      const uint64_t at = lsn % log_segment_bytes;
      const size_t piece = std::min<size_t>(bytes.size(), log_segment_bytes - at);
      if (Status s = file_->write_at(at, bytes.substr(0, piece)); !s.ok()) return s;
      bytes.remove_prefix(piece);
      lsn += piece;
    }
    return {};
  }
  // Nothing, in records of their own, up to `to`.
  Status pad(Lsn from, Lsn to, uint64_t salt) {
    while (from < to) {
      size_t bytes = std::min<uint64_t>(to - from, format::kRecordBytesMax);
      if (bytes < to - from && to - from - bytes < kHeaderBytes) bytes -= kHeaderBytes;
      RecordHeader header = {};
      header.type = static_cast<uint8_t>(format::RecordType::kPad);
      const std::string zeros(bytes - kHeaderBytes, '\0');
      if (Status s = record(from, header, zeros, salt); !s.ok()) return s;
      from += bytes;
    }
    return {};
  }
  Status record(Lsn lsn, RecordHeader header, std::string_view payload, uint64_t salt) {
    header.lsn = lsn;
    header.durable_lsn = 0;
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.length = static_cast<uint32_t>(format::record_bytes(payload.size()));
    header.payload_checksum = checksum64(payload.data(), payload.size(), 0);
    format::seal(header, salt);
    std::string bytes(reinterpret_cast<const char*>(&header), kHeaderBytes);
    bytes += payload;
    bytes.resize(header.length, '\0');
    return write(lsn, bytes);
  }
  Status finish() {
    if (file_ == nullptr) return {};
    Status status = file_->sync_data();
    file_.reset();
    return status;
  }

 private:
  Status need(uint64_t number) {
    if (file_ != nullptr && number == number_) return {};
    if (Status s = finish(); !s.ok()) return s;
    number_ = number;
    auto file = files_.open_file(directory_ + "/" + wal::segment_name(number), {.create = true});
    if (!file.ok()) return file.status();
    file_ = std::move(file).value();
    return file_->allocate(0, log_segment_bytes);
  }

  os::FileSystem& files_;
  const std::string directory_;
  std::unique_ptr<os::File> file_;
  uint64_t number_ = 0;
};
}  // namespace

Result<std::vector<format::LogEpoch>> RepairLog::write(const os::Machine& machine,
                                                       const std::string& directory, Lsn behind,
                                                       const std::string& operations,
                                                       uint32_t count) {
  SegmentWriter writer(*machine.files, directory);
  std::vector<format::LogEpoch> epochs;
  Lsn end = 0;
  std::string bytes;
  const auto begin = [&](Lsn start) {
    if (!epochs.empty()) epochs.back().end = end;
    epochs.push_back({epochs.size() + 1, start, format::kLsnMax, machine.random->next()});
    end = start;
  };
  for (const Record& record : records_) {
    if (epochs.empty() || record.lsn != end) {
      Lsn start = record.lsn / log_segment_bytes * log_segment_bytes;
      // There is no pad that is shorter than a header.
      const Lsn room = record.lsn - start;
      if (epochs.empty() && room > 0 && room < kHeaderBytes) start -= log_segment_bytes;
      const bool fits = room == 0 || room >= kHeaderBytes;
      if (epochs.empty() || (start >= end && fits)) begin(start);
      if (Status s = writer.pad(end, record.lsn, epochs.back().salt); !s.ok()) return s;
    }
    Status status;
    if (record.dropped || !payload(record, &bytes)) {
      status = writer.pad(record.lsn, record.end(), epochs.back().salt);
    } else {
      status = writer.record(record.lsn, record.header, bytes, epochs.back().salt);
    }
    if (!status.ok()) return status;
    end = record.end();
  }
  // What was flushed lies below the end of the log.
  begin(align_up(std::max(end, behind + 1), log_segment_bytes));
  RecordHeader header = {};
  header.type = static_cast<uint8_t>(format::RecordType::kCommit);
  header.operations = count;
  Status status = count == 0 ? writer.pad(end, end + kHeaderBytes, epochs.back().salt)
                             : writer.record(end, header, operations, epochs.back().salt);
  if (status.ok()) status = writer.finish();
  if (!status.ok()) return status;
  end += count == 0 ? kHeaderBytes : format::record_bytes(operations.size());
  epochs.back().end = end;
  return epochs;
}

}  // namespace hawthorn::db
