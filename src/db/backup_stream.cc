#include "db/backup_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "db/copy_directory.h"
#include "db/copy_source.h"
#include "db/impl.h"
#include "db/sealed_copy.h"
#include "format/backup_layout.h"

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

bool is_file(const format::StreamRecord& record) {
  return record.type == static_cast<uint32_t>(StreamRecordType::kFile) ||
         record.type == static_cast<uint32_t>(StreamRecordType::kReservedFile);
}

// What of a record counts in the chain of a sealed stream.
std::string chained(std::string_view head, bool file, std::string_view payload) {
  return std::string(head).append(file ? payload : std::string_view());
}

// Of the records in order: files, each with ascending parts, and then the end.
class StreamParser {
 public:
  StreamParser(BackupSource& source, CopySink* sink, CopyPace& pace, const Encryption& encryption)
      : reader_(source),
        sealed_copy_(encryption, sink),
        opens_(encryption.key != nullptr),
        sink_(opens_ ? &sealed_copy_ : sink),
        pace_(pace),
        payload_(format::kBackupPartBytesMax, '\0') {}
  Result<BackupInfo> run();

 private:
  Status record(bool* done);
  Status seal(const format::StreamRecord& record, std::string_view payload);
  Status end(const format::StreamRecord& record, std::string_view payload);
  Status prove(std::string piece);
  Status file(const format::StreamRecord& record, std::string_view name);
  Status part(const format::StreamRecord& record, std::span<const char> data);
  Status end_file();

  StreamReader reader_;
  SealedCopy sealed_copy_;
  const bool opens_;  // with a key
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
  std::optional<format::BackupSeal> seal_;  // of an encrypted database
  std::vector<std::string> unproven_;       // pieces of the chain, until the data keys are open
  std::optional<format::BackupChain> chain_;
};

// The next piece of the chain.
Status StreamParser::prove(std::string piece) {
  if (!opens_) return {};
  if (chain_.has_value()) {
    chain_->add(piece);
    return {};
  }
  unproven_.push_back(std::move(piece));
  if (!seal_.has_value() || sealed_copy_.keys() == nullptr) return {};
  Result<std::unique_ptr<Aead>> aead = sealed_copy_.keys()->make(seal_->key, seal_->salt);
  if (!aead.ok()) return damaged(0, aead.status().message());
  chain_.emplace(std::move(*aead));
  for (const std::string& each : std::exchange(unproven_, {})) chain_->add(each);
  return {};
}

Status StreamParser::seal(const format::StreamRecord& record, std::string_view payload) {
  if (!info_.encrypted || seal_.has_value() || record.number == 0 || record.number > UINT32_MAX ||
      payload.size() != sizeof(Salt)) {
    return damaged(at_, "a seal that cannot be");
  }
  seal_ = format::BackupSeal{static_cast<uint32_t>(record.number), {}, {}};
  std::memcpy(seal_->salt.data(), payload.data(), payload.size());
  return {};
}

Status StreamParser::end(const format::StreamRecord& record, std::string_view payload) {
  if (payload.size() != (info_.encrypted ? kTagBytes : 0) || record.number != info_.bytes) {
    return damaged(at_, "its end counts other bytes than it has");
  }
  if (Status s = end_file(); !s.ok() || !opens_) return s;
  if (Status s = sealed_copy_.finish(); !s.ok()) return s;
  std::array<char, kTagBytes> tag;
  if (!chain_.has_value() || !chain_->tag(&tag) ||
      !std::equal(tag.begin(), tag.end(), payload.begin())) {
    return damaged(at_, "the stream is not what was written: its seal is broken");
  }
  return {};
}

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
  return pace_.count(data.size());
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
  const auto type = static_cast<StreamRecordType>(record->type);
  const std::string_view text(payload.data(), payload.size());
  if (info_.encrypted && !seal_.has_value() && type != StreamRecordType::kSeal) {
    return damaged(at_, "a sealed stream without a seal");
  }
  *done = type == StreamRecordType::kEnd;
  if (*done) return end(*record, text);
  if (opens_) {
    if (Status s = prove(chained({head, sizeof(head)}, is_file(*record), text)); !s.ok()) return s;
  }
  if (type == StreamRecordType::kSeal) return seal(*record, text);
  return type == StreamRecordType::kPart ? part(*record, payload) : file(*record, text);
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
  info_.encrypted = header->version == format::kSealedStreamVersion;
  if (opens_ && !info_.encrypted) return copy_is_not_encrypted();
  if (Status s = prove({head, sizeof(head)}); !s.ok()) return s;
  for (bool done = false; !done;) {
    if (Status s = record(&done); !s.ok()) return s;
  }
  info_.bytes_stored = reader_.at();
  return info_;
}

}  // namespace

Result<BackupInfo> read_stream(BackupSource& source, CopySink* sink, CopyPace& pace,
                               const Encryption& encryption) {
  return StreamParser(source, sink, pace, encryption).run();
}

StreamWriter::StreamWriter(const os::Machine& machine, BackupSink& sink)
    : sink_(sink), salt_(machine.random->next()) {
  info_.created_us = machine.clock->wall_us();
  info_.encrypted = machine.keys != nullptr;
}

Status StreamWriter::send(std::string_view bytes) {
  sent_ += bytes.size();
  return sink_.write(bytes);
}

Status StreamWriter::start() {
  return send(format::encode_stream_header(info_.created_us, salt_, info_.encrypted));
}

Status StreamWriter::seal_with(std::shared_ptr<os::DataKeys> keys) {
  const Result<Salt> salt = os::DataKeys::new_salt();
  if (!salt.ok()) return salt.status();
  const uint32_t key = keys->current();
  Result<std::unique_ptr<Aead>> aead = keys->make(key, *salt);
  if (!aead.ok()) return aead.status();
  chain_.emplace(std::move(*aead));
  chain_->add(format::encode_stream_header(info_.created_us, salt_, true));
  return send_record(StreamRecordType::kSeal, key,
                     {reinterpret_cast<const char*>(salt->data()), salt->size()});
}

Status StreamWriter::send_record(StreamRecordType type, uint64_t number, std::string_view payload) {
  const std::string head = format::encode_stream_record(type, sequence_++, number, payload, salt_);
  const bool file = type == StreamRecordType::kFile || type == StreamRecordType::kReservedFile;
  if (chain_.has_value()) chain_->add(chained(head, file, payload));
  if (Status s = send(head); !s.ok() || payload.empty()) return s;
  return send(payload);
}

Status StreamWriter::begin(std::string_view name, uint64_t bytes, bool reserve) {
  return send_record(reserve ? StreamRecordType::kReservedFile : StreamRecordType::kFile, bytes,
                     name);
}

Status StreamWriter::write(const CopyPart& part, std::span<const char> data) {
  info_.bytes += data.size();
  return send_record(StreamRecordType::kPart, part.offset, {data.data(), data.size()});
}

Result<BackupInfo> StreamWriter::finish() {
  std::array<char, kTagBytes> tag;
  std::string_view payload;
  if (chain_.has_value()) {
    if (!chain_->tag(&tag)) {
      return Status(StatusCode::kIoError, "libcrypto could not seal the stream of the backup");
    }
    payload = {tag.data(), tag.size()};
  }
  if (Status s = send_record(StreamRecordType::kEnd, info_.bytes, payload); !s.ok()) return s;
  info_.bytes_stored = sent_;
  info_.bytes_read = info_.bytes;
  return info_;
}

}  // namespace db

BackupSink::~BackupSink() = default;
BackupSource::~BackupSource() = default;

Result<BackupInfo> Db::backup_to(BackupSink& sink, const BackupOptions& options) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  db::StreamWriter writer(impl_->machine_, sink);
  if (Status s = writer.start(); !s.ok()) return s;
  db::CopyPace pace(impl_->machine_, options.bytes_per_second, options.progress);
  if (Status s = db::copy_database(*impl_, writer, pace); !s.ok()) return s;
  return writer.finish();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<BackupInfo> verify_backup(BackupSource& source, const VerifyOptions& options) try {
  db::CopyPace pace(os::real_machine(), 0, options.progress);
  return db::read_stream(source, nullptr, pace, options.encryption);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<BackupInfo> restore_backup(BackupSource& source, const std::string& target,
                                  const RestoreOptions& options) try {
  return restore_backup_on(os::real_machine(), source, target, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<BackupInfo> restore_backup_on(const os::Machine& machine, BackupSource& source,
                                     const std::string& target, const RestoreOptions& options) {
  db::CopyDirectory directory(machine, target);
  if (Status s = directory.prepare(); !s.ok()) return s;
  db::CopyPace pace(machine, options.bytes_per_second, options.progress);
  Result<BackupInfo> read = db::read_stream(source, &directory, pace, options.encryption);
  if (!read.ok()) return read.status();
  if (Status s = directory.finish(); !s.ok()) return s;
  return read;
}

}  // namespace hawthorn
