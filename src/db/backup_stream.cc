#include "db/backup_stream.h"

#include <string>

#include "db/copy_directory.h"
#include "db/copy_source.h"
#include "db/impl.h"
#include "format/backup_layout.h"
#include "format/backup_stream_layout.h"

namespace hawthorn {
namespace db {
namespace {

using format::StreamRecordType;

// What is read of the source, with its offset for messages.
class StreamReader {
 public:
  explicit StreamReader(BackupSource& source) : source_(source) {}
  Status fill(std::span<char> bytes);
  uint64_t at() const { return at_; }

 private:
  BackupSource& source_;
  uint64_t at_ = 0;
};

Status damaged(uint64_t at, std::string_view what) {
  return Status(StatusCode::kCorruption,
                "the backup's stream at " + std::to_string(at) + ": " + std::string(what));
}

Status StreamReader::fill(std::span<char> bytes) {
  while (!bytes.empty()) {
    const Result<size_t> got = source_.read(bytes);
    if (!got.ok()) return got.status();
    if (*got == 0) return damaged(at_, "it was cut off, or the backup was interrupted");
    if (*got > bytes.size()) {
      return Status(StatusCode::kInvalidArgument,
                    "a BackupSource says that it has read more than it was asked for");
    }
    at_ += *got;
    bytes = bytes.subspan(*got);
  }
  return {};
}

// Of the records in order: files, each with ascending parts, and then the end.
class StreamParser {
 public:
  StreamParser(BackupSource& source, CopySink* sink, CopyPace& pace)
      : reader_(source), sink_(sink), pace_(pace), payload_(format::kBackupPartBytesMax, '\0') {}
  Result<BackupInfo> run();

 private:
  Status record(bool* done);
  Status file(const format::StreamRecord& record, std::string_view name);
  Status part(const format::StreamRecord& record, std::span<const char> data);
  Status end_file();

  StreamReader reader_;
  CopySink* const sink_;
  CopyPace& pace_;
  std::string payload_;
  uint64_t salt_ = 0;
  uint64_t sequence_ = 0;
  uint64_t at_ = 0;  // of the record
  bool in_file_ = false;
  uint64_t file_bytes_ = 0;
  uint64_t file_end_ = 0;  // of its last part
  BackupInfo info_;
};

Status StreamParser::end_file() {
  if (!std::exchange(in_file_, false) || sink_ == nullptr) return {};
  return sink_->end();
}

Status StreamParser::file(const format::StreamRecord& record, std::string_view name) {
  if (Status s = end_file(); !s.ok()) return s;
  if (name.empty() || !format::is_backup_file_name(name)) {
    return damaged(at_, "a file's name that cannot be");
  }
  in_file_ = true;
  file_bytes_ = record.number;
  file_end_ = 0;
  if (sink_ == nullptr) return {};
  const bool reserve = record.type == static_cast<uint32_t>(StreamRecordType::kReservedFile);
  return sink_->begin(name, record.number, reserve);
}

Status StreamParser::part(const format::StreamRecord& record, std::span<const char> data) {
  if (!in_file_ || data.empty() || record.number < file_end_ || record.number > file_bytes_ ||
      file_bytes_ - record.number < data.size()) {
    return damaged(at_, "a part that cannot be");
  }
  file_end_ = record.number + data.size();
  info_.bytes += data.size();
  if (sink_ != nullptr) {
    const CopyPart copied = {record.number, static_cast<uint32_t>(data.size()), {}};
    if (Status s = sink_->write(copied, data); !s.ok()) return s;
  }
  pace_.count(data.size());
  return {};
}

Status StreamParser::record(bool* done) {
  at_ = reader_.at();
  char head[sizeof(format::StreamRecord)];
  if (Status s = reader_.fill(head); !s.ok()) return s;
  const auto record = format::decode_stream_record({head, sizeof(head)}, sequence_++, salt_);
  if (!record.ok()) return damaged(at_, record.status().message());
  const std::span<char> payload(payload_.data(), record->payload_bytes);
  if (Status s = reader_.fill(payload); !s.ok()) return s;
  if (checksum128(payload.data(), payload.size()) !=
      Checksum128{record->sum_low, record->sum_high}) {
    return damaged(at_, "the checksum of a record's contents differs");
  }
  switch (static_cast<StreamRecordType>(record->type)) {
    case StreamRecordType::kFile:
    case StreamRecordType::kReservedFile:
      return file(*record, {payload.data(), payload.size()});
    case StreamRecordType::kPart:
      return part(*record, payload);
    case StreamRecordType::kEnd:
      break;
  }
  if (!payload.empty() || record->number != info_.bytes) {
    return damaged(at_, "its end counts other bytes than it has");
  }
  *done = true;
  return end_file();
}

Result<BackupInfo> StreamParser::run() {
  char head[sizeof(format::StreamHeader)];
  if (Status s = reader_.fill(head); !s.ok()) return s;
  const auto header = format::decode_stream_header({head, sizeof(head)});
  if (header.status().is(StatusCode::kCorruption)) {
    return damaged(0, header.status().message());
  }
  if (!header.ok()) return header.status();
  salt_ = header->salt;
  info_.created_us = header->created_us;
  for (bool done = false; !done;) {
    if (Status s = record(&done); !s.ok()) return s;
  }
  info_.bytes_stored = reader_.at();
  return info_;
}

}  // namespace

Result<BackupInfo> read_stream(BackupSource& source, CopySink* sink, CopyPace& pace) {
  return StreamParser(source, sink, pace).run();
}

StreamWriter::StreamWriter(const os::Machine& machine, BackupSink& sink)
    : sink_(sink), salt_(machine.random->next()) {
  info_.created_us = machine.clock->wall_us();
}

Status StreamWriter::send(std::string_view bytes) {
  sent_ += bytes.size();
  return sink_.write(bytes);
}

Status StreamWriter::start() { return send(format::encode_stream_header(info_.created_us, salt_)); }

Status StreamWriter::begin(std::string_view name, uint64_t bytes, bool reserve) {
  const StreamRecordType type = reserve ? StreamRecordType::kReservedFile : StreamRecordType::kFile;
  std::string record = format::encode_stream_record(type, sequence_++, bytes, name, salt_);
  return send(record.append(name));
}

Status StreamWriter::write(const CopyPart& part, std::span<const char> data) {
  const std::string_view bytes(data.data(), data.size());
  info_.bytes += data.size();
  if (Status s = send(format::encode_stream_record(StreamRecordType::kPart, sequence_++,
                                                   part.offset, bytes, salt_));
      !s.ok()) {
    return s;
  }
  return send(bytes);
}

Result<BackupInfo> StreamWriter::finish() {
  Status s = send(
      format::encode_stream_record(StreamRecordType::kEnd, sequence_++, info_.bytes, {}, salt_));
  if (!s.ok()) return s;
  info_.bytes_stored = sent_;
  info_.bytes_read = info_.bytes;
  return info_;
}

}  // namespace db

BackupSink::~BackupSink() = default;
BackupSource::~BackupSource() = default;

Result<BackupInfo> Db::backup_to(BackupSink& sink, const BackupOptions& options) {
  if (Status s = impl_->writable(); !s.ok()) return s;
  db::StreamWriter writer(impl_->machine_, sink);
  if (Status s = writer.start(); !s.ok()) return s;
  db::CopyPace pace(impl_->machine_, options.bytes_per_second);
  if (Status s = db::copy_database(*impl_, writer, pace); !s.ok()) return s;
  return writer.finish();
}

Result<BackupInfo> verify_backup(BackupSource& source) {
  db::CopyPace pace(os::real_machine(), 0);
  return db::read_stream(source, nullptr, pace);
}

Result<BackupInfo> restore_backup(BackupSource& source, const std::string& target,
                                  const RestoreOptions& options) {
  return restore_backup_on(os::real_machine(), source, target, options);
}

Result<BackupInfo> restore_backup_on(const os::Machine& machine, BackupSource& source,
                                     const std::string& target, const RestoreOptions& options) {
  db::CopyDirectory directory(machine, target);
  if (Status s = directory.prepare(); !s.ok()) return s;
  db::CopyPace pace(machine, options.bytes_per_second);
  Result<BackupInfo> read = db::read_stream(source, &directory, pace);
  if (!read.ok()) return read.status();
  if (Status s = directory.finish(); !s.ok()) return s;
  return read;
}

}  // namespace hawthorn
