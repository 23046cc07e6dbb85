#include "db/repair_log.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/log_sizing.h"
#include "format/operation.h"
#include "os/data_keys.h"
#include "wal/log_directory.h"

namespace hawthorn::db {

namespace {
using format::Lsn;
using format::RecordHeader;
constexpr size_t kRecordHeaderBytes = sizeof(RecordHeader);
constexpr size_t kRepairReadBytes = size_t{1} << 20;
const std::string kRing(wal::kRingName);
// As databases make theirs (db/open.cc).
constexpr uint64_t kRingBytesMin = uint64_t{64} << 10;
constexpr uint64_t kRingBytesMax = uint64_t{64} << 20;

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
    const uint64_t number = lsn / segment_bytes_;
    if (!segments_.contains(number)) return false;
    const uint64_t at = lsn % segment_bytes_;
    const size_t piece = std::min<size_t>(bytes, segment_bytes_ - at);
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

bool RepairLog::read_stored(const Record& record, std::string* bytes) {
  bytes->resize(record.header.payload_bytes);
  const Lsn lsn = record.lsn + kRecordHeaderBytes;
  const bool read = record.in_ring ? read_in_ring(lsn, bytes->data(), bytes->size())
                                   : read_at_lsn(lsn, bytes->data(), bytes->size());
  return read && payload_holds(record.header, *bytes);
}

// Null: its epoch is not known, or not the data key of that.
wal::RecordSeal* RepairLog::seal_of(const Record& record) {
  for (const format::LogEpoch& epoch : epochs_.empty() ? marked_ : epochs_) {
    const bool its = epochs_.empty() ? format::valid(record.header, record.lsn, epoch.salt)
                                     : record.lsn >= epoch.start && record.lsn < epoch.end;
    if (!its) continue;
    const auto [at, fresh] = seals_.try_emplace({epoch.number, epoch.salt});
    if (fresh) {
      auto made = wal::RecordSeal::make(source_.machine(), epoch);
      if (made.ok()) at->second = std::move(*made);
    }
    return at->second.get();
  }
  return nullptr;
}

bool RepairLog::read_payload(const Record& record, std::string* bytes) {
  if (source_.keys() == nullptr) return read_stored(record, bytes);
  std::string stored;
  wal::RecordSeal* const seal = seal_of(record);
  return seal != nullptr && read_stored(record, &stored) &&
         seal->open(record.header, stored, bytes);
}

Status RepairLog::payload(const Record& record, std::string* bytes) {
  if (read_payload(record, bytes)) return {};
  return Status(StatusCode::kIoError,
                source_.directory() + ": the log record at lsn " + std::to_string(record.lsn) +
                    " could be read, and cannot any more; make the repair again");
}

// What a pad says of its epoch, where the manifest does not: that is so where the salt is that of
// the header's checksum. The seal proves it (open_found).
void RepairLog::note_epoch(const Record& record, const std::string& payload) {
  if (source_.keys() == nullptr || !epochs_.empty()) return;
  const format::LogEpoch epoch = wal::RecordSeal::epoch_of_pad(record.header, payload);
  if (epoch.key == 0 || !format::valid(record.header, record.lsn, epoch.salt)) return;
  if (std::find(marked_.begin(), marked_.end(), epoch) == marked_.end()) marked_.push_back(epoch);
}

// One is kept where its payload holds, which the caller has not looked at.
void RepairLog::keep_found(Record record) {
  std::string body;
  if (read_stored(record, &body)) {
    note_epoch(record, body);
    found_.emplace(record.lsn, record);
  } else {
    broken_.emplace(record.lsn, record.header.length);
  }
}

// Of an encrypted log: what does not open is no record, whatever its checksums say.
void RepairLog::open_found() {
  if (source_.keys() == nullptr) return;
  std::string body;
  for (auto at = found_.begin(); at != found_.end();) {
    const Record& record = at->second;
    if (read_payload(record, &body)) {
      ++at;
      continue;
    }
    if (epochs_.empty() && seal_of(record) == nullptr) unopened_[record.lsn] = record.end();
    broken_.emplace(record.lsn, record.header.length);
    at = found_.erase(at);
  }
}

// Joined, each piece a gap, but for what lies under records that do open.
void RepairLog::tell_unopened() {
  for (auto at = unopened_.begin(); at != unopened_.end();) {
    Gap gap{at->first, at->second, false, true};
    for (++at; at != unopened_.end() && at->first <= gap.to; ++at) {
      gap.to = std::max(gap.to, at->second);
    }
    gaps_.push_back(gap);
  }
  unopened_.clear();
}

// Without an epoch that tells it, as most records at the front of segments say.
size_t RepairLog::find_segment_bytes() {
  if (!epochs_.empty()) return segment_bytes_of(epochs_.back().start);
  std::map<uint64_t, uint64_t> votes = {{log_segment_bytes, 0}};
  std::string bytes;
  for (const uint64_t number : segments_) {
    const std::string name = wal::segment_name(number);
    bytes.resize(std::min<uint64_t>(source_.size_of(name), kRepairReadBytes));
    if (!source_.read(name, 0, {bytes.data(), bytes.size()})) continue;
    for (uint64_t at = 0; at + kRecordHeaderBytes <= bytes.size(); at += format::kRecordAlign) {
      const auto lsn = load<uint64_t>(bytes.data() + at + offsetof(RecordHeader, lsn));
      if (number == 0 || lsn < at || (lsn - at) % number != 0) continue;
      const uint64_t size = (lsn - at) / number;
      if (!std::has_single_bit(size) || size > log_segment_bytes) continue;
      RecordHeader header;
      std::memcpy(&header, bytes.data() + at, kRecordHeaderBytes);
      if (valid_at(header, lsn)) ++votes[size];
    }
  }
  return std::max_element(votes.begin(), votes.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// A header may lie over the end of what is read at once: pieces overlap by one.
void RepairLog::scan_segment(uint64_t number) {
  const std::string name = wal::segment_name(number);
  const uint64_t size = std::min<uint64_t>(source_.size_of(name), segment_bytes_);
  const Lsn base = number * segment_bytes_;
  std::string bytes;
  uint64_t at = 0;
  if (!found_.empty()) {
    const Record& last = found_.rbegin()->second;
    if (last.end() > base) at = last.end() - base;
  }
  while (at < size) {
    bytes.resize(std::min<uint64_t>(kRepairReadBytes, size - at));
    const uint64_t from = at;
    if (!source_.read(name, from, {bytes.data(), bytes.size()})) {
      // A bad sector must not take the rest.
      at = align_up(from + 1, kRepairBlock);
      bytes.resize(std::min<uint64_t>(at - from, size - from));
      if (!source_.read(name, from, {bytes.data(), bytes.size()})) {
        unreadable_.push_back({name, from, bytes.size()});
        continue;
      }
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
      if (left >= kRecordHeaderBytes) {
        std::memcpy(&record.header, bytes.data() + (at - from), kRecordHeaderBytes);
      } else if (!read_at_lsn(record.lsn, reinterpret_cast<char*>(&record.header),
                              kRecordHeaderBytes)) {
        at += format::kRecordAlign;
        continue;
      }
      const bool valid = valid_at(record.header, record.lsn);
      if (valid) keep_found(record);
      at += valid && found_.contains(record.lsn) ? record.header.length : format::kRecordAlign;
    }
  }
}

// What of it cannot be read is zeros.
std::string RepairLog::read_ring() {
  const uint64_t size = std::min(source_.size_of(kRing), kRingBytesMax);
  std::string bytes(size / format::kRecordAlign * format::kRecordAlign, '\0');
  for (uint64_t from = 0; from < bytes.size(); from += kRepairReadBytes) {
    const uint64_t end = std::min<uint64_t>(from + kRepairReadBytes, bytes.size());
    if (source_.read(kRing, from, {bytes.data() + from, end - from})) continue;
    for (uint64_t at = from; at < end; at += kRepairBlock) {
      const size_t piece = std::min<uint64_t>(kRepairBlock, end - at);
      if (source_.read(kRing, at, {bytes.data() + at, piece})) continue;
      std::memset(bytes.data() + at, 0, piece);
      unreadable_.push_back({kRing, at, piece});
    }
  }
  return bytes;
}

bool RepairLog::ring_header(const std::string& bytes, uint64_t at, RecordHeader* header) const {
  char head[kRecordHeaderBytes];
  const size_t first = std::min<size_t>(kRecordHeaderBytes, bytes.size() - at);
  if (first < kRecordHeaderBytes && bytes.size() < ring_bytes_) return false;
  std::memcpy(head, bytes.data() + at, first);
  std::memcpy(head + first, bytes.data(), kRecordHeaderBytes - first);
  std::memcpy(header, head, kRecordHeaderBytes);
  return true;
}

// As large as the file, unless that was cut off: then as its records say of themselves.
uint64_t RepairLog::find_ring_bytes(const std::string& bytes) {
  std::map<uint64_t, uint64_t> votes = {{bytes.size(), 0}};
  for (uint64_t size = kRingBytesMin; size <= kRingBytesMax; size *= 2) {
    if (size > bytes.size()) votes[size] = 0;
  }
  for (uint64_t at = 0; at + kRecordHeaderBytes <= bytes.size(); at += format::kRecordAlign) {
    const auto lsn = load<uint64_t>(bytes.data() + at + offsetof(RecordHeader, lsn));
    if (lsn < at || lsn % format::kRecordAlign != 0) continue;
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, kRecordHeaderBytes);
    if (!valid_at(header, lsn)) continue;
    for (auto& [size, count] : votes) count += lsn % size == at ? 1 : 0;
  }
  return std::max_element(votes.begin(), votes.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void RepairLog::scan_ring() {
  const std::string bytes = read_ring();
  if (bytes.size() < kRecordHeaderBytes) return;
  ring_bytes_ = find_ring_bytes(bytes);
  for (uint64_t at = 0; at < bytes.size(); at += format::kRecordAlign) {
    Record record;
    if (!ring_header(bytes, at, &record.header)) continue;
    record.lsn = record.header.lsn;
    if (record.lsn % ring_bytes_ != at || record.lsn % format::kRecordAlign != 0 ||
        record.lsn >= format::kLsnMax || found_.contains(record.lsn) ||
        record.header.length > ring_bytes_ || !valid_at(record.header, record.lsn)) {
      continue;
    }
    record.in_ring = true;
    record.place = at;
    keep_found(record);
  }
}

bool RepairLog::missing(Lsn from, Lsn to) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [&](const Gap& gap) { return gap.from < to && from < gap.to; });
}

// Known ones, or what can be told without: an epoch begins with a segment, where the one before has
// ended anywhere.
void RepairLog::find_epochs() {
  for (const format::LogEpoch& epoch : epochs_) starts_.push_back(epoch.start);
  if (!starts_.empty()) return;
  for (size_t i = 0; i < records_.size(); ++i) {
    const Lsn lsn = records_[i].lsn;
    if (i == 0 || (lsn % segment_bytes_ == 0 && records_[i - 1].end() != lsn)) {
      starts_.push_back(lsn);
    }
  }
}

Lsn RepairLog::epoch_of(Lsn lsn) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), lsn);
  return behind == starts_.begin() ? 0 : *std::prev(behind);
}

// A header that would hold with one bit turned.
bool RepairLog::is_damaged_header(const char* bytes, Lsn lsn, uint64_t* length) const {
  for (size_t bit = 0; bit < kRecordHeaderBytes * 8; ++bit) {
    char turned[kRecordHeaderBytes];
    std::memcpy(turned, bytes, kRecordHeaderBytes);
    turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ (1 << bit % 8));
    RecordHeader header;
    std::memcpy(&header, turned, kRecordHeaderBytes);
    if (header.lsn != lsn || !valid_at(header, lsn)) continue;
    *length = header.length;
    return true;
  }
  return false;
}

// The log ends where no record is; or its last record is damaged, and nothing behind it tells.
void RepairLog::look_behind_end() {
  if (records_.empty() || epochs_.empty() || end() < epochs_.back().start ||
      epochs_.back().end != format::kLsnMax) {
    return;
  }
  const Lsn at = end();
  uint64_t length = 0;
  if (const auto broken = broken_.find(at); broken != broken_.end()) {
    length = broken->second;
  } else {
    char bytes[kRecordHeaderBytes];
    const bool found =
        (read_at_lsn(at, bytes, kRecordHeaderBytes) && is_damaged_header(bytes, at, &length)) ||
        (ring_bytes_ != 0 && read_in_ring(at, bytes, kRecordHeaderBytes) &&
         is_damaged_header(bytes, at, &length));
    if (!found) return;
  }
  if (!missing(at, at + length)) gaps_.push_back({at, at + length, true});
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
      if (records_[i].lsn % segment_bytes_ != 0) gap(records_[i - 1].end(), records_[i].lsn);
    }
    return;
  }
  size_t at = 0;
  for (size_t i = 0; i < epochs_.size(); ++i) {
    const format::LogEpoch& epoch = epochs_[i];
    Lsn reached = std::max(epoch.start, trim);
    while (at < records_.size() && records_[at].end() <= reached) ++at;
    const bool cut_off = at < records_.size() && records_[at].lsn > reached &&
                         epoch.start < reached && reached / segment_bytes_ != 0 &&
                         records_[at].lsn / segment_bytes_ == reached / segment_bytes_ &&
                         records_[at].lsn % segment_bytes_ < format::kRecordBytesMax &&
                         !segments_.contains(reached / segment_bytes_ - 1) &&
                         reached % segment_bytes_ == 0;
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
  segment_bytes_ = find_segment_bytes();
  for (const uint64_t number : segments_) scan_segment(number);
  scan_ring();
  open_found();
  const size_t bytes_min = kRecordHeaderBytes + (source_.keys() == nullptr ? 0 : kTagBytes);
  // Where two overlap one of them is what a recycled place held before: the one that goes on from
  // what is there counts.
  for (const auto& [lsn, record] : found_) {
    if (record.end() <= trim || record.lsn < trim) continue;
    if (record.header.type > 13) {
      return Status(StatusCode::kNotSupported, "a log record of type " +
                                                   std::to_string(record.header.type) +
                                                   ", which this version does not know");
    }
    // Nor is there room for less than a header between two.
    const Lsn behind = records_.empty() ? record.lsn : records_.back().end();
    if (record.lsn == behind || record.lsn >= behind + bytes_min) records_.push_back(record);
  }
  found_.clear();
  find_epochs();
  find_gaps(trim, flushed);
  look_behind_end();
  tell_unopened();
  broken_.clear();
  return {};
}

// ---- The target's log

namespace {
// Segments that are written front to back.
class SegmentWriter {
 public:
  SegmentWriter(const os::Machine& machine, std::string directory, size_t segment_bytes)
      : machine_(machine), directory_(std::move(directory)), segment_bytes_(segment_bytes) {}

  // What follows is of this epoch.
  Status begin(const format::LogEpoch& epoch) {
    salt_ = epoch.salt;
    auto seal = wal::RecordSeal::make(machine_, epoch);
    if (!seal.ok()) return seal.status();
    seal_ = std::move(*seal);
    return {};
  }
  // No record has less.
  size_t bytes_min() const { return kRecordHeaderBytes + tag_bytes(); }

  Status write(Lsn lsn, std::string_view bytes) {
    while (!bytes.empty()) {
      if (Status s = need(lsn / segment_bytes_); !s.ok()) return s;
      const uint64_t at = lsn % segment_bytes_;
      const size_t piece = std::min<size_t>(bytes.size(), segment_bytes_ - at);
      if (Status s = file_->write_at(at, bytes.substr(0, piece)); !s.ok()) return s;
      bytes.remove_prefix(piece);
      lsn += piece;
    }
    return {};
  }
  // Nothing, in records of their own, up to `to`.
  Status pad(Lsn from, Lsn to) {
    while (from < to) {
      size_t bytes = std::min<uint64_t>(to - from, format::kRecordBytesMax);
      if (bytes < to - from && to - from - bytes < bytes_min()) bytes -= bytes_min();
      RecordHeader header = {};
      header.type = static_cast<uint8_t>(format::RecordType::kPad);
      header.payload_bytes = static_cast<uint32_t>(bytes - kRecordHeaderBytes);
      std::string zeros(bytes - kRecordHeaderBytes, '\0');
      header.lsn = from;
      header.length = static_cast<uint32_t>(bytes);
      if (seal_ != nullptr && !seal_->seal_pad(header, zeros.data())) return seal_failed();
      if (Status s = put(header, zeros); !s.ok()) return s;
      from += bytes;
    }
    return {};
  }
  // `header`: of which type and number of operations count.
  Status record(Lsn lsn, RecordHeader header, std::string_view payload) {
    header.lsn = lsn;
    header.durable_lsn = 0;
    header.payload_bytes = static_cast<uint32_t>(payload.size() + tag_bytes());
    header.length = static_cast<uint32_t>(format::record_bytes(header.payload_bytes));
    if (seal_ == nullptr) return put(header, payload);
    std::string sealed(header.payload_bytes, '\0');
    if (!seal_->seal(header, {&payload, 1}, sealed.data())) return seal_failed();
    return put(header, sealed);
  }
  Status finish() {
    if (file_ == nullptr) return {};
    Status status = file_->sync_data();
    file_.reset();
    return status;
  }

 private:
  size_t tag_bytes() const { return seal_ == nullptr ? 0 : kTagBytes; }
  static Status seal_failed() {
    return {StatusCode::kIoError, "a log record: libcrypto could not seal it"};
  }
  // `payload`: as it is to stand there.
  Status put(RecordHeader header, std::string_view payload) {
    header.payload_checksum = checksum64(payload.data(), payload.size(), 0);
    format::seal(header, salt_);
    std::string bytes(reinterpret_cast<const char*>(&header), kRecordHeaderBytes);
    bytes += payload;
    bytes.resize(header.length, '\0');
    return write(header.lsn, bytes);
  }
  Status need(uint64_t number) {
    if (file_ != nullptr && number == number_) return {};
    if (Status s = finish(); !s.ok()) return s;
    number_ = number;
    auto file =
        machine_.files->open_file(directory_ + "/" + wal::segment_name(number), {.create = true});
    if (!file.ok()) return file.status();
    file_ = std::move(file).value();
    return file_->allocate(0, segment_bytes_);
  }

  const os::Machine machine_;
  const std::string directory_;
  const size_t segment_bytes_;
  uint64_t salt_ = 0;
  std::unique_ptr<wal::RecordSeal> seal_;  // null: it is not encrypted
  std::unique_ptr<os::File> file_;
  uint64_t number_ = 0;
};
}  // namespace

Result<std::vector<format::LogEpoch>> RepairLog::write(const os::Machine& machine,
                                                       const std::string& directory, Lsn behind,
                                                       const std::string& operations,
                                                       uint32_t count) {
  SegmentWriter writer(machine, directory, segment_bytes_);
  std::vector<format::LogEpoch> epochs;
  Lsn end = 0;
  std::string bytes;
  const auto begin = [&](Lsn start) {
    if (!epochs.empty()) epochs.back().end = end;
    epochs.push_back({epochs.size() + 1, start, format::kLsnMax, machine.random->next()});
    if (machine.keys != nullptr) epochs.back().key = machine.keys->current();
    end = start;
    return writer.begin(epochs.back());
  };
  const size_t bytes_min = kRecordHeaderBytes + (machine.keys == nullptr ? 0 : kTagBytes);
  Lsn epoch = 0;  // of the source: names of transactions are those of one epoch
  for (const Record& record : records_) {
    const bool other = epoch_of(record.lsn) != epoch;
    epoch = epoch_of(record.lsn);
    if (epochs.empty() || record.lsn != end || other) {
      Lsn start = record.lsn / segment_bytes_ * segment_bytes_;
      // There is no pad that is shorter than a record without a payload.
      const auto fits = [&] { return record.lsn == start || record.lsn - start >= bytes_min; };
      if (!fits() && start >= end + segment_bytes_) start -= segment_bytes_;
      if (epochs.empty() || (start >= end && fits())) {
        if (Status s = begin(start); !s.ok()) return s;
      }
      if (Status s = writer.pad(end, record.lsn); !s.ok()) return s;
    }
    Status status;
    if (record.dropped) {
      status = writer.pad(record.lsn, record.end());
    } else {
      status = payload(record, &bytes);
      const bool is_pad = record.header.type == static_cast<uint8_t>(format::RecordType::kPad);
      if (status.ok()) {
        status = is_pad ? writer.pad(record.lsn, record.end())
                        : writer.record(record.lsn, record.header, bytes);
      }
    }
    if (!status.ok()) return status;
    end = record.end();
  }
  // What was flushed lies below the end of the log.
  if (Status s = begin(epoch_start_from(std::max(end, behind + 1), segment_bytes_)); !s.ok())
    return s;
  RecordHeader header = {};
  header.type = static_cast<uint8_t>(format::RecordType::kCommit);
  header.operations = count;
  Status status =
      count == 0 ? writer.pad(end, end + bytes_min) : writer.record(end, header, operations);
  if (status.ok()) status = writer.finish();
  if (!status.ok()) return status;
  end += count == 0 ? bytes_min
                    : format::record_bytes(operations.size() + bytes_min - kRecordHeaderBytes);
  epochs.back().end = end;
  return epochs;
}

}  // namespace hawthorn::db
