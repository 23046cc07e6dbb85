#include "format/superblock.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "format/manifest_test_batches.h"
#include "hawthorn/version.h"

namespace hawthorn::format::superblock_test {
namespace {

Superblock example(uint64_t generation) {
  Superblock superblock;
  superblock.format_version = 1;
  superblock.uuid_low = 0x0706050403020100;
  superblock.uuid_high = 0x0f0e0d0c0b0a0908;
  superblock.generation = generation;
  superblock.manifest_number = generation * 10;
  return superblock;
}

std::string file_of(const Superblock& even, const Superblock& odd) {
  return encode_superblock(even) + encode_superblock(odd);
}

// Computes the checksum anew, as an attacker or a newer version would.
void reseal(std::string& slot) {
  const Checksum128 checksum = checksum128(slot.data(), 4080);
  store(slot.data() + 4080, checksum.low);
  store(slot.data() + 4088, checksum.high);
}

TEST(SuperblockTest, RoundTrip) {
  Superblock superblock = example(7);
  superblock.features = {1, 2, 0};
  const std::string slot = encode_superblock(superblock);
  ASSERT_EQ(slot.size(), kSuperblockSlotBytes);
  Result<Superblock> decoded = decode_superblock(slot, 1);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, superblock);
  EXPECT_TRUE(must_not_write(decoded->features));
  EXPECT_FALSE(must_not_write(Features{.compatible = 5}));
}

// This image is part of the file format: it may never change, and must be read for ever.
TEST(SuperblockTest, GoldenImage) {
  constexpr std::string_view kGolden =
      "48415754484f524e0100000000000000000102030405060708090a0b0c0d0e0f\n"
      "020000000000000014\n"
      "4039z\n"
      "b1f7fcc393aa23a407783660c6bbd965\n";
  const std::string slot = encode_superblock(example(2));
  EXPECT_EQ(hex_dump(slot), kGolden);
  EXPECT_TRUE(undump(kGolden) == slot);
}

TEST(SuperblockTest, HighestValidGenerationWins) {
  std::string warning;
  Result<Superblock> chosen = choose_superblock(file_of(example(4), example(3)), &warning);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->generation, 4u);
  chosen = choose_superblock(file_of(example(4), example(5)), &warning);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->generation, 5u);
  EXPECT_EQ(warning, "");
}

TEST(SuperblockTest, EveryFlippedByteMakesASlotBadAndTheOtherIsUsed) {
  std::string file = file_of(example(4), example(5));
  for (size_t i = 0; i < file.size(); ++i) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      file[i] = static_cast<char>(file[i] ^ mask);
      std::string warning;
      Result<Superblock> chosen = choose_superblock(file, &warning);
      ASSERT_TRUE(chosen.ok()) << i;
      EXPECT_EQ(chosen->generation, i < kSuperblockSlotBytes ? 5u : 4u);
      EXPECT_NE(warning.find(i < kSuperblockSlotBytes ? "superblock at 0:" : "superblock at 4096:"),
                std::string::npos);
      file[i] = static_cast<char>(file[i] ^ mask);
    }
  }
}

TEST(SuperblockTest, BothSlotsBadIsCorruptionNamingBoth) {
  std::string file = file_of(example(4), example(5));
  file[30] ^= 1;
  file[5000] ^= 1;
  Result<Superblock> chosen = choose_superblock(file, nullptr);
  ASSERT_TRUE(chosen.status().is(StatusCode::kCorruption));
  EXPECT_NE(chosen.status().message().find("superblock at 0: checksum mismatch"),
            std::string::npos);
  EXPECT_NE(chosen.status().message().find("superblock at 4096: checksum"), std::string::npos);
}

TEST(SuperblockTest, TruncatedAtEveryLength) {
  const std::string file = file_of(example(6), example(5));
  for (size_t size = 0; size <= file.size(); ++size) {
    Result<Superblock> chosen = choose_superblock(std::string_view(file).substr(0, size), nullptr);
    ASSERT_EQ(chosen.ok(), size >= kSuperblockSlotBytes) << size;
    if (chosen.ok()) {
      EXPECT_EQ(chosen->generation, 6u);
    }
  }
}

TEST(SuperblockTest, SlotInTheWrongPlaceIsBad) {
  EXPECT_TRUE(
      decode_superblock(encode_superblock(example(4)), 1).status().is(StatusCode::kCorruption));
  EXPECT_FALSE(choose_superblock(file_of(example(5), example(4)), nullptr).ok());
}

TEST(SuperblockTest, ReservedBytesAreChecked) {
  for (const size_t offset : {size_t{12}, size_t{15}, size_t{72}, size_t{2000}, size_t{4079}}) {
    std::string slot = encode_superblock(example(4));
    slot[offset] = 1;
    reseal(slot);
    EXPECT_TRUE(decode_superblock(slot, 0).status().is(StatusCode::kCorruption)) << offset;
  }
}

TEST(SuperblockTest, NewerVersionsAndUnknownFeaturesAreRefused) {
  Superblock newer = example(8);
  newer.format_version = kFormatVersion + 1;
  // What a newer version keeps in reserved bytes does not matter.
  std::string slot = encode_superblock(newer);
  slot[100] = 1;
  reseal(slot);
  Result<Superblock> chosen = choose_superblock(slot + encode_superblock(example(7)), nullptr);
  EXPECT_TRUE(chosen.status().is(StatusCode::kNotSupported)) << chosen.status().to_string();

  Superblock unknown = example(8);
  unknown.features.incompatible = uint64_t{1} << 63;
  chosen = choose_superblock(file_of(unknown, example(7)), nullptr);
  EXPECT_TRUE(chosen.status().is(StatusCode::kNotSupported)) << chosen.status().to_string();

  Superblock zero = example(8);
  zero.format_version = 0;
  EXPECT_TRUE(decode_superblock(encode_superblock(zero), 0).status().is(StatusCode::kCorruption));
}

TEST(SuperblockTest, GarbageNeverDecodes) {
  constexpr uint64_t kSeed = 20240601;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 500; ++round) {
    std::string file(prng.below(3 * kSuperblockSlotBytes), '\0');
    for (char& c : file) c = static_cast<char>(prng.next());
    if (file.size() > 8 && prng.one_in(2)) file.replace(0, 8, kSuperblockMagic, 8);
    EXPECT_TRUE(choose_superblock(file, nullptr).status().is(StatusCode::kCorruption));
  }
}

}  // namespace
}  // namespace hawthorn::format::superblock_test
