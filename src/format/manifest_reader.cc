#include "format/manifest_reader.h"

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::format {
namespace {

constexpr size_t kHeaderBytes = sizeof(ManifestRecordHeader);
constexpr size_t kBeginBytes = kHeaderBytes + sizeof(BatchBeginPayload);

bool checksum_matches(std::string_view record, uint64_t salt) {
  constexpr size_t kSkip = sizeof(ManifestRecordHeader::checksum);
  return load<uint32_t>(record.data()) ==
         checksum32(record.data() + kSkip, record.size() - kSkip, salt);
}

}  // namespace

Status ManifestReader::corrupt(uint64_t offset, std::string_view why) const {
  return Status(StatusCode::kCorruption,
                name_ + " at " + std::to_string(offset) + ": " + std::string(why));
}

void ManifestReader::consume(std::string_view& bytes, size_t size) {
  bytes.remove_prefix(size);
  offset_ += size;
}

Result<ManifestReader::Step> ManifestReader::next(std::string_view& bytes, bool last) {
  if (phase_ == Phase::kHeader) {
    if (bytes.size() < kManifestBlockBytes) {
      wanted_bytes_ = kManifestBlockBytes;
      if (!last) return Step::kNeedMore;
      return corrupt(0, "the file ends inside its header");
    }
    if (Status status = begin_file(bytes); !status.ok()) return status;
    consume(bytes, kManifestBlockBytes);
    end_offset_ = offset_;
    phase_ = Phase::kBetween;
  }
  while (phase_ == Phase::kBetween || phase_ == Phase::kInBatch) {
    if (bytes.empty() && last && phase_ == Phase::kBetween && any_batch_) {
      phase_ = Phase::kEnd;
      break;
    }
    Record record;
    const Parse parsed = parse(bytes, last, &record);
    if (parsed == Parse::kNeedMore) return Step::kNeedMore;
    if (parsed == Parse::kBroken) {
      if (Status status = broken(bytes); !status.ok()) return status;
      break;
    }
    bool batch_done = false;
    if (Status status = take_record(record, &batch_done); !status.ok()) return status;
    consume(bytes, record.bytes.size());
    if (batch_done) {
      end_offset_ = offset_;
      if (offset_ % kManifestBlockBytes != 0) {
        return corrupt(offset_, "a batch does not end with a block");
      }
      return Step::kBatch;
    }
  }
  if (phase_ == Phase::kLooking) return look(bytes, last);
  return Step::kEnd;
}

Status ManifestReader::begin_file(std::string_view block) {
  Result<ManifestIdentity> identity = decode_manifest_header(block);
  if (!identity.ok()) {
    return Status(identity.status().code(),
                  name_ + " at 0: " + std::string(identity.status().message()));
  }
  identity_ = *identity;
  if (identity_.key == 0) {
    return open_ ? corrupt(0, "it is not encrypted, as all of this database is") : Status();
  }
  if (!open_) {
    return Status(StatusCode::kInvalidArgument, name_ + " is encrypted, and there is no key");
  }
  Result<std::unique_ptr<Aead>> aead = open_(identity_.key, identity_.key_salt);
  if (!aead.ok()) {
    return Status(aead.status().code(), name_ + ": " + std::string(aead.status().message()));
  }
  sealer_ = std::make_unique<ManifestSealer>(identity_, std::move(*aead));
  return {};
}

Status ManifestReader::open_payload(Record& record) {
  const auto header = load<ManifestRecordHeader>(record.bytes.data());
  if (!sealer_->open(header, record.payload, &opened_)) {
    return corrupt(offset_, "a record is not what was written there: its seal is broken");
  }
  record.payload = opened_;
  return {};
}

ManifestReader::Parse ManifestReader::parse(std::string_view bytes, bool last, Record* record) {
  const auto short_of = [&](size_t size) {
    if (last) {
      broken_why_ = "the file ends inside a record";
      return Parse::kBroken;
    }
    wanted_bytes_ = size;
    return Parse::kNeedMore;
  };
  if (bytes.size() < kHeaderBytes) return short_of(kHeaderBytes);
  const auto header = load<ManifestRecordHeader>(bytes.data());
  if (header.payload_bytes > kManifestPayloadBytesMax + tag_bytes()) {
    broken_why_ = "a record's length is out of range";
    return Parse::kBroken;
  }
  const size_t size = kHeaderBytes + align_up(header.payload_bytes, kManifestRecordAlign);
  if (bytes.size() < size) return short_of(size);
  record->bytes = bytes.substr(0, size);
  if (!checksum_matches(record->bytes, identity_.salt)) {
    broken_why_ = "checksum mismatch in a record";
    return Parse::kBroken;
  }
  record->sequence = header.sequence;
  record->type = header.type;
  record->payload = bytes.substr(kHeaderBytes, header.payload_bytes);
  return Parse::kWhole;
}

Status ManifestReader::take_record(Record& record, bool* batch_done) {
  const auto header = load<ManifestRecordHeader>(record.bytes.data());
  if (!all_zero({reinterpret_cast<const char*>(header.reserved), sizeof(header.reserved)}) ||
      !all_zero(record.bytes.substr(kHeaderBytes + header.payload_bytes))) {
    return corrupt(offset_, "reserved bytes of a record are not zero");
  }
  if (record.sequence != next_sequence_) {
    return corrupt(offset_, "record " + std::to_string(record.sequence) + " where record " +
                                std::to_string(next_sequence_) + " belongs");
  }
  if (sealer_ != nullptr) {
    if (Status status = open_payload(record); !status.ok()) return status;
  }
  const auto type = static_cast<ManifestRecordType>(record.type);
  if ((phase_ == Phase::kBetween) != (type == ManifestRecordType::kBatchBegin)) {
    return corrupt(offset_, "unexpected record type " + std::to_string(record.type));
  }
  if (type == ManifestRecordType::kBatchCommit) {
    *batch_done = true;
    if (Status status = end_batch(record); !status.ok()) return status;
  } else {
    if (type == ManifestRecordType::kBatchBegin) {
      if (Status status = begin_batch(record); !status.ok()) return status;
    } else if (Status status = decode_change(type, record.payload, batch_); !status.ok()) {
      return corrupt(offset_, status.message());
    }
    batch_checksum_ = checksum64(record.bytes.data(), record.bytes.size(), batch_checksum_);
    ++batch_records_;
  }
  ++next_sequence_;
  return {};
}

Status ManifestReader::begin_batch(const Record& record) {
  if (record.payload.size() != sizeof(BatchBeginPayload)) {
    return corrupt(offset_, "malformed begin of a batch");
  }
  const auto payload = load<BatchBeginPayload>(record.payload.data());
  if (payload.reserved != 0) return corrupt(offset_, "malformed begin of a batch");
  const auto expected = any_batch_ ? ManifestBatchKind::kChanges : ManifestBatchKind::kSnapshot;
  if (payload.kind != static_cast<uint32_t>(expected)) {
    return corrupt(offset_, any_batch_ ? "a second snapshot" : "the first batch is no snapshot");
  }
  if (any_batch_ && payload.number != last_batch_ + 1) {
    return corrupt(offset_, "batch " + std::to_string(payload.number) + " follows batch " +
                                std::to_string(last_batch_));
  }
  batch_ = DecodedBatch();
  batch_.number = payload.number;
  batch_.snapshot = !any_batch_;
  batch_offset_ = offset_;
  batch_records_ = 0;
  batch_checksum_ = identity_.salt;
  phase_ = Phase::kInBatch;
  return {};
}

Status ManifestReader::end_batch(const Record& record) {
  if (record.payload.size() < sizeof(BatchCommitPayload)) {
    return corrupt(offset_, "malformed commit of a batch");
  }
  const auto payload = load<BatchCommitPayload>(record.payload.data());
  if (payload.number != batch_.number || payload.record_count != batch_records_ ||
      payload.checksum != batch_checksum_ ||
      !all_zero(record.payload.substr(sizeof(BatchCommitPayload)))) {
    return corrupt(offset_, "the commit record does not fit its batch");
  }
  any_batch_ = true;
  last_batch_ = batch_.number;
  phase_ = Phase::kBetween;
  return {};
}

Status ManifestReader::broken(std::string_view bytes) {
  if (!any_batch_) return corrupt(offset_, broken_why_);
  // The unused rest of a preallocated file reads as zeros: no batch was begun there.
  const bool in_batch = phase_ == Phase::kInBatch;
  if (in_batch || !all_zero(bytes.substr(0, kHeaderBytes))) torn_offset_ = end_offset_;
  phase_ = Phase::kLooking;
  return {};
}

Result<ManifestReader::Step> ManifestReader::look(std::string_view& bytes, bool last) {
  for (;;) {
    // To the next block; the first one looked at has just been seen not to validate, or is the
    // inside of a batch.
    const size_t rest = kManifestBlockBytes - static_cast<size_t>(offset_ % kManifestBlockBytes);
    const size_t begin_bytes = kBeginBytes + tag_bytes();
    if (bytes.size() < rest + begin_bytes) {
      if (last) {
        if (!all_zero(bytes) && torn_offset_ == 0) torn_offset_ = end_offset_;
        consume(bytes, bytes.size());
        phase_ = Phase::kEnd;
        return Step::kEnd;
      }
      wanted_bytes_ = rest + begin_bytes;
      return Step::kNeedMore;
    }
    if (torn_offset_ == 0 && !all_zero(bytes.substr(0, rest))) torn_offset_ = end_offset_;
    consume(bytes, rest);
    const auto header = load<ManifestRecordHeader>(bytes.data());
    if (header.type == static_cast<uint8_t>(ManifestRecordType::kBatchBegin) &&
        header.payload_bytes == sizeof(BatchBeginPayload) + tag_bytes() &&
        header.sequence > next_sequence_ &&
        checksum_matches(bytes.substr(0, begin_bytes), identity_.salt)) {
      return corrupt(end_offset_, std::string("a batch is damaged (") + broken_why_ +
                                      "), yet a later one begins at " + std::to_string(offset_));
    }
  }
}

}  // namespace hawthorn::format
