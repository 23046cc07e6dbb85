// Superblock, labels of devices, the files `counters` and `followers`. The input is laid over a
// block of zeros, or over a valid one, and given the checksum that it asks for.
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/counters_layout.h"
#include "format/device_label.h"
#include "format/followers_layout.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t what = in.byte();
  const bool sealed = what < 200;
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
