#include "wal/record_seal.h"

#include <cstring>
#include <utility>

#include "os/data_keys.h"

namespace hawthorn::wal {

using format::RecordHeader;

namespace {

// What the seal binds a payload to, beside the lsn.
struct SealedFields {
  explicit SealedFields(const RecordHeader& header)
      : durable_lsn(header.durable_lsn),
        payload_bytes(header.payload_bytes),
        operations(header.operations),
        type(header.type) {}
  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  uint64_t durable_lsn;
  uint32_t payload_bytes;
  uint32_t operations;
  uint64_t type;
};
static_assert(sizeof(SealedFields) == 24);

}  // namespace

Result<std::unique_ptr<RecordSeal>> RecordSeal::make(const os::Machine& machine,
                                                     const format::LogEpoch& epoch) {
  if ((machine.keys != nullptr) != (epoch.key != 0)) {
    return Status(StatusCode::kCorruption,
                  "log epoch " + std::to_string(epoch.number) +
                      (epoch.key != 0 ? " is encrypted, and there are no keys"
                                      : " is not encrypted, as all of this database is"));
  }
  if (machine.keys == nullptr) return std::unique_ptr<RecordSeal>();
  Salt salt;
  const auto number = static_cast<uint32_t>(epoch.number);
  std::memcpy(salt.data(), &epoch.salt, sizeof(epoch.salt));
  std::memcpy(salt.data() + sizeof(epoch.salt), &number, sizeof(number));
  Result<std::unique_ptr<Aead>> aead = machine.keys->make(epoch.key, salt);
  if (!aead.ok()) return aead.status();
  return std::unique_ptr<RecordSeal>(new RecordSeal(epoch, std::move(*aead)));
}

bool RecordSeal::seal_to(const RecordHeader& header, std::span<const std::string_view> payload,
                         char* to, char* tag) {
  return aead_->seal(make_nonce(header.lsn, 0), SealedFields(header).bytes(), payload, to, tag);
}

bool RecordSeal::seal_pad(const RecordHeader& header, char* to) {
  if (header.payload_bytes >= kTagBytes + sizeof(mark_)) {
    std::memcpy(to + kTagBytes, &mark_, sizeof(mark_));
  }
  return seal_to(header, {}, nullptr, to);
}

format::LogEpoch RecordSeal::epoch_of_pad(const RecordHeader& header, std::string_view payload) {
  format::LogEpoch epoch;
  format::EpochMark mark;
  if (header.type != static_cast<uint8_t>(format::RecordType::kPad) ||
      payload.size() < kTagBytes + sizeof(mark)) {
    return epoch;
  }
  std::memcpy(&mark, payload.data() + kTagBytes, sizeof(mark));
  if (mark.key == 0 || mark.reserved != 0) return epoch;
  epoch.number = mark.number;
  epoch.salt = mark.salt;
  epoch.key = mark.key;
  return epoch;
}

bool RecordSeal::open(const RecordHeader& header, std::string_view payload, std::string* to) {
  if (payload.size() < kTagBytes) return false;
  const bool pad = header.type == static_cast<uint8_t>(format::RecordType::kPad);
  const size_t bytes = pad ? 0 : payload.size() - kTagBytes;
  to->resize(bytes);
  return aead_->open(make_nonce(header.lsn, 0), SealedFields(header).bytes(),
                     payload.substr(0, bytes), payload.data() + bytes, to->data());
}

}  // namespace hawthorn::wal
