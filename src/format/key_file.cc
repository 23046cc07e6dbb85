#include "format/key_file.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::format {

namespace {

constexpr size_t kEntryBytes = 8 + SecretKey::kBytes;
static_assert(kDataKeysMax * kEntryBytes == sizeof(KeySlot::sealed));

// What the sealed part is bound to.
std::string bound_of(const KeySlot& slot) {
  std::string bound(reinterpret_cast<const char*>(&slot), offsetof(KeySlot, nonce));
  return bound.append(slot.key_id, sizeof(slot.key_id));
}

// Of this slot.
bool make_aead(const KeySlot& slot, const SecretKey& key, Aead* aead, Nonce* nonce) {
  Salt salt;
  std::copy_n(slot.nonce, salt.size(), salt.begin());
  std::copy_n(slot.nonce + salt.size(), nonce->size(), nonce->begin());
  return DerivingKey(key).derive(salt, aead);
}

// Overwritten when it goes.
struct PlainKeys {
  std::string bytes = std::string(sizeof(KeySlot::sealed), '\0');
  ~PlainKeys() {
    volatile char* const at = bytes.data();
    for (size_t i = 0; i < bytes.size(); ++i) at[i] = 0;
  }
};

Status check_slot(std::string_view bytes, KeySlot* slot) {
  const auto bad = [](std::string_view why) {
    return Status(StatusCode::kCorruption, std::string(kKeyFileName) + ": " + std::string(why));
  };
  if (bytes.size() < sizeof(*slot)) return bad("the file is cut off");
  std::memcpy(slot, bytes.data(), sizeof(*slot));
  if (std::memcmp(slot->magic, kKeyFileMagic, sizeof(slot->magic)) != 0) {
    return bad("no file of keys: wrong magic");
  }
  if (checksum64(slot, offsetof(KeySlot, checksum), 0) != slot->checksum) {
    return bad("checksum mismatch");
  }
  if (slot->version > kKeyFileVersion) {
    return {StatusCode::kNotSupported, std::string(kKeyFileName) + ": version " +
                                           std::to_string(slot->version) +
                                           ", which this version does not know"};
  }
  if (slot->version == 0 || slot->key_count == 0 || slot->key_count > kDataKeysMax ||
      slot->key_id_bytes == 0 || slot->key_id_bytes > kKeyIdBytesMax ||
      !all_zero(slot->reserved, sizeof slot->reserved) ||
      !all_zero(slot->sealed + slot->key_count * kEntryBytes,
                sizeof slot->sealed - slot->key_count * kEntryBytes)) {
    return bad("a field is out of range");
  }
  return {};
}

// The first slot that is good.
Result<KeySlot> find_slot(std::string_view bytes) {
  KeySlot slot;
  Status first = check_slot(bytes, &slot);
  if (first.ok()) return slot;
  if (bytes.size() > kKeySlotBytes && check_slot(bytes.substr(kKeySlotBytes), &slot).ok()) {
    return slot;
  }
  return first;
}

KeyFile describe(const KeySlot& slot) {
  KeyFile file;
  file.uuid_low = slot.uuid_low;
  file.uuid_high = slot.uuid_high;
  file.generation = slot.generation;
  file.current = slot.current;
  file.key_id.assign(slot.key_id, slot.key_id_bytes);
  return file;
}

}  // namespace

Result<std::string> encode_key_file(const KeyFile& file, const SecretKey& key) {
  if (file.key_id.empty() || file.key_id.size() > kKeyIdBytesMax) {
    return Status(StatusCode::kInvalidArgument, "the id of a key has " +
                                                    std::to_string(file.key_id.size()) +
                                                    " bytes; it has to have 1 to 255");
  }
  if (file.keys.empty() || file.keys.size() > kDataKeysMax) {
    return Status(StatusCode::kNotSupported,
                  "a database has at most " + std::to_string(kDataKeysMax) + " data keys");
  }
  KeySlot slot = {};
  std::memcpy(slot.magic, kKeyFileMagic, sizeof(slot.magic));
  slot.version = kKeyFileVersion;
  slot.key_count = static_cast<uint32_t>(file.keys.size());
  slot.uuid_low = file.uuid_low;
  slot.uuid_high = file.uuid_high;
  slot.generation = file.generation;
  slot.current = file.current;
  slot.key_id_bytes = static_cast<uint32_t>(file.key_id.size());
  std::memcpy(slot.key_id, file.key_id.data(), file.key_id.size());
  PlainKeys plain;
  for (size_t i = 0; i < file.keys.size(); ++i) {
    char* const at = plain.bytes.data() + i * kEntryBytes;
    store<uint32_t>(at, file.keys[i].first);
    std::memcpy(at + 8, file.keys[i].second.bytes().data(), SecretKey::kBytes);
  }
  Aead aead;
  Nonce nonce;
  const std::string_view keys =
      std::string_view(plain.bytes).substr(0, file.keys.size() * kEntryBytes);
  if (!fill_random(slot.nonce) || !make_aead(slot, key, &aead, &nonce) ||
      !aead.seal(nonce, bound_of(slot), keys, reinterpret_cast<char*>(slot.sealed),
                 reinterpret_cast<char*>(slot.tag))) {
    return Status(StatusCode::kIoError, "libcrypto could not seal the data keys");
  }
  slot.checksum = checksum64(&slot, offsetof(KeySlot, checksum), 0);
  std::string bytes(reinterpret_cast<const char*>(&slot), sizeof(slot));
  return bytes + bytes;
}

Result<KeyFile> read_key_slot(std::string_view bytes) {
  KeySlot slot;
  if (Status s = check_slot(bytes, &slot); !s.ok()) return s;
  return describe(slot);
}

Result<KeyFile> read_key_file(std::string_view bytes) {
  const Result<KeySlot> slot = find_slot(bytes);
  if (!slot.ok()) return slot.status();
  return describe(*slot);
}

Result<KeyFile> open_key_file(std::string_view bytes, const SecretKey& key) {
  const Result<KeySlot> slot = find_slot(bytes);
  if (!slot.ok()) return slot.status();
  KeyFile file = describe(*slot);
  Aead aead;
  Nonce nonce;
  PlainKeys plain;
  if (!make_aead(*slot, key, &aead, &nonce)) {
    return Status(StatusCode::kOutOfMemory, "libcrypto could not make a context for AES");
  }
  const std::string_view sealed(reinterpret_cast<const char*>(slot->sealed),
                                slot->key_count * kEntryBytes);
  if (!aead.open(nonce, bound_of(*slot), sealed, reinterpret_cast<const char*>(slot->tag),
                 plain.bytes.data())) {
    return Status(StatusCode::kInvalidArgument,
                  "wrong key: what was given as key \"" + file.key_id +
                      "\" does not open the data keys of this database");
  }
  bool good = true;
  bool has_current = false;
  uint32_t last = 0;
  for (size_t i = 0; i < slot->key_count; ++i) {
    const char* const at = plain.bytes.data() + i * kEntryBytes;
    const auto number = load<uint32_t>(at);
    good = good && number > last && load<uint32_t>(at + 4) == 0;
    has_current = has_current || number == file.current;
    last = number;
    file.keys.emplace_back(number, *SecretKey::from_bytes({at + 8, SecretKey::kBytes}));
  }
  if (good && has_current) return file;
  return Status(StatusCode::kCorruption,
                std::string(kKeyFileName) + ": the numbers of its data keys contradict themselves");
}

}  // namespace hawthorn::format
