// Superblock, labels of devices, the files `counters`, `followers` and `keys`. The input is laid
// over a block of zeros, or over a valid one, and given the checksum that it asks for. Of data keys
// the input also says the numbers, sealed as the user's key does.
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/counters_layout.h"
#include "format/device_label.h"
#include "format/followers_layout.h"
#include "format/key_file.h"
#include "format/superblock.h"
#include "fuzz/fuzz.h"
#include "hawthorn/version.h"

namespace format = hawthorn::format;
using hawthorn::StatusCode;
using hawthorn::fuzz::Bytes;

namespace {

// Pieces of the input at offsets that it names.
void lay_over(std::string& block, Bytes& in) {
  while (!in.empty()) {
    const size_t offset = in.number<uint16_t>() % block.size();
    const std::string_view bytes = in.take(in.byte() % 17);
    block.replace(offset, std::min(bytes.size(), block.size() - offset),
                  bytes.substr(0, block.size() - offset));
  }
}

// As superblock slots and device labels have it.
void seal_block(char* block) {
  const hawthorn::Checksum128 checksum = hawthorn::checksum128(block, 4080);
  hawthorn::store(block + 4080, checksum.low);
  hawthorn::store(block + 4088, checksum.high);
}

void superblock(Bytes& in, bool sealed) {
  std::string file;
  for (const uint64_t generation : {2, 3}) {
    file += format::encode_superblock({.format_version = hawthorn::kFormatVersion,
                                       .uuid_low = 1,
                                       .uuid_high = 2,
                                       .generation = generation,
                                       .manifest_number = 7,
                                       .features = {}});
  }
  lay_over(file, in);
  for (size_t slot = 0; slot < 2; ++slot) {
    char* const at = file.data() + slot * format::kSuperblockSlotBytes;
    if (sealed) seal_block(at);
    const auto decoded = format::decode_superblock({at, format::kSuperblockSlotBytes}, slot);
    if (!decoded.ok()) continue;
    if (decoded->format_version > hawthorn::kFormatVersion) continue;
    const bool known = (decoded->features.incompatible & ~format::kFeaturesKnown.incompatible) == 0;
    if (known) {
      FUZZ_CHECK(format::encode_superblock(*decoded) ==
                 std::string_view(at, format::kSuperblockSlotBytes));
    }
  }
  std::string warning;
  const auto chosen = format::choose_superblock(file, &warning);
  if (!chosen.ok()) {
    FUZZ_CHECK(chosen.status().is(StatusCode::kCorruption) ||
               chosen.status().is(StatusCode::kNotSupported));
    return;
  }
  FUZZ_CHECK(chosen->format_version <= hawthorn::kFormatVersion);
  FUZZ_CHECK((chosen->features.incompatible & ~format::kFeaturesKnown.incompatible) == 0);
  (void)format::choose_superblock(file.substr(0, in.number<uint16_t>()), &warning);
}

void device(Bytes& in, bool sealed) {
  std::string blocks;
  for (const uint64_t generation : {4, 5}) {
    blocks += format::encode_device_label(
        {.index = 3, .uuid_low = 1, .uuid_high = 2, .generation = generation, .blocks = 9999});
  }
  lay_over(blocks, in);
  if (sealed) {
    seal_block(blocks.data());
    seal_block(blocks.data() + format::kDeviceSlotBytes);
  }
  const auto label = format::choose_device_label(blocks);
  if (!label.ok()) return;
  const std::string block = format::encode_device_label(*label);
  const size_t slot = label->generation % format::kDeviceSlots;
  const auto version = hawthorn::load<uint32_t>(blocks.data() + slot * 4096 + 8);
  if (version != hawthorn::kFormatVersion) return;
  FUZZ_CHECK(blocks.compare(slot * format::kDeviceSlotBytes, block.size(), block) == 0);
}

void counters(Bytes& in) {
  std::string file = format::encode_counters(
      {}, {{"one", hawthorn::Counter::Kind::kCount, hawthorn::Counter::Unit::kBytes, 1}});
  file.resize(in.byte() % 2 == 0 ? file.size() : in.number<uint16_t>() % (file.size() + 1));
  if (!file.empty()) lay_over(file, in);
  const auto decoded = format::decode_counters(file);
  if (!decoded.ok()) return;
  FUZZ_CHECK(decoded->entries.size() * sizeof(format::CountersEntry) <= file.size());
  if (decoded->entries.size() > format::kCountersEntriesMax) return;
  for (const hawthorn::Counter& entry : decoded->entries) {
    if (entry.name.size() >= sizeof(format::CountersEntry::name)) return;
  }
  const auto same = format::decode_counters(format::encode_counters({}, decoded->entries));
  FUZZ_OK(same.status());
  FUZZ_CHECK(same->entries == decoded->entries);
}

template <typename Record>
void followers(Bytes& in, bool sealed) {
  std::string bytes(sizeof(Record), '\0');
  lay_over(bytes, in);
  Record record;
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(record));
  if (sealed) format::seal(record);
  if (!format::valid(record)) return;
  Record same = record;
  format::seal(same);
  FUZZ_CHECK(std::memcmp(&same, &record, sizeof(record)) == 0);
}

hawthorn::SecretKey user_key() {
  return *hawthorn::SecretKey::from_bytes("32 bytes that only a user knows.");
}

// A file with these data keys; what it names is only checked by who opens it.
format::KeyFile key_file(Bytes& in) {
  format::KeyFile file{.uuid_low = 1,
                       .uuid_high = 2,
                       .generation = in.number<uint64_t>(),
                       .current = in.byte(),
                       .key_id = std::string(in.take(in.byte() % 8u)),
                       .keys = {}};
  for (int left = in.byte() % 70; left > 0; --left) {
    file.keys.emplace_back(in.byte(), user_key());
  }
  return file;
}

void keys_with_numbers(Bytes& in) {
  const format::KeyFile made = key_file(in);
  const auto bytes = format::encode_key_file(made, user_key());
  if (!bytes.ok()) {
    FUZZ_CHECK(made.key_id.empty() || made.keys.empty() || made.keys.size() > format::kDataKeysMax);
    return;
  }
  bool good = false;
  uint32_t last = 0;
  for (const auto& [number, key] : made.keys) good |= number == made.current;
  for (const auto& [number, key] : made.keys) {
    good = good && number > last;
    last = number;
  }
  const auto opened = format::open_key_file(*bytes, user_key());
  FUZZ_CHECK(opened.ok() == good);
  if (!opened.ok()) {
    FUZZ_CHECK(opened.status().is(StatusCode::kCorruption));
    return;
  }
  FUZZ_CHECK(opened->generation == made.generation && opened->current == made.current &&
             opened->key_id == made.key_id && opened->keys.size() == made.keys.size());
}

// What is not bound to the user's key may be changed by who computes checksums anew; nothing else.
void changed_keys(Bytes& in, bool sealed) {
  const format::KeyFile made{.uuid_low = 1,
                             .uuid_high = 2,
                             .generation = 3,
                             .current = 1,
                             .key_id = "id",
                             .keys = {{1, user_key()}, {2, user_key()}}};
  static const std::string kFile = format::encode_key_file(made, user_key()).value();
  std::string file = kFile;
  lay_over(file, in);
  for (size_t slot = 0; slot < 2 && sealed; ++slot) {
    char* const at = file.data() + slot * format::kKeySlotBytes;
    const size_t end = offsetof(format::KeySlot, checksum);
    hawthorn::store(at + end, hawthorn::checksum64(at, end, 0));
  }
  const auto read = format::read_key_file(file);
  const auto opened = format::open_key_file(file, user_key());
  FUZZ_CHECK(read.ok() || !opened.ok());
  if (!read.ok()) {
    FUZZ_CHECK(read.status().is(StatusCode::kCorruption) ||
               read.status().is(StatusCode::kNotSupported));
    return;
  }
  FUZZ_CHECK(!read->key_id.empty() && read->key_id.size() <= format::kKeyIdBytesMax);
  if (!opened.ok()) {
    FUZZ_CHECK(opened.status().is(StatusCode::kInvalidArgument));
    return;
  }
  FUZZ_CHECK(opened->uuid_low == 1 && opened->uuid_high == 2 && opened->generation == 3 &&
             opened->current == 1 && opened->key_id == "id" && opened->keys.size() == 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t what = in.byte();
  const bool sealed = what < 200;
  if (what >= 240) {
    if (what % 4 == 0) {
      keys_with_numbers(in);
    } else {
      changed_keys(in, what % 4 < 3);
    }
    return 0;
  }
  switch (what % 5) {
    case 0:
      superblock(in, sealed);
      break;
    case 1:
      device(in, sealed);
      break;
    case 2:
      counters(in);
      break;
    case 3:
      followers<format::FollowersHeader>(in, sealed);
      break;
    default:
      followers<format::FollowerSlot>(in, sealed);
      break;
  }
  return 0;
}
