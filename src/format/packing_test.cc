#include "format/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/prng.h"

namespace hawthorn::format::packing_test {
namespace {

constexpr size_t kBlock = 4096;

// Words of a small vocabulary; every `random`th kilobyte is noise.
std::string text(Prng& prng, uint32_t blocks, uint64_t random) {
  std::string made;
  while (made.size() < blocks * kBlock) {
    if (random != 0 && prng.below(random) == 0) {
      for (int i = 0; i < 1024; ++i) made.push_back(static_cast<char>(prng.next()));
    }
    made += "{\"user\":" + std::to_string(prng.below(1000)) + ",\"city\":\"town-" +
            std::to_string(prng.below(50)) + "\"}";
  }
  made.resize(blocks * kBlock);
  return made;
}

std::string noise(Prng& prng, uint32_t blocks) {
  std::string made(blocks * kBlock, '\0');
  for (char& byte : made) byte = static_cast<char>(prng.next());
  return made;
}

struct Packed {
  Packing packing;
  std::vector<uint32_t> ends;
  std::string stored;
  bool pays = false;
};

Packed pack(const std::string& content, Codec codec, const Dictionary* dictionary = nullptr) {
  static Packer packer;
  const auto blocks = static_cast<uint32_t>(content.size() / kBlock);
  Packed made;
  made.stored.assign(content.size(), '?');
  made.pays = packer.pack(content.data(), blocks, codec, dictionary, made.stored.data());
  if (!made.pays) return made;
  made.packing = packer.packing();
  made.ends.assign(made.packing.ends.begin(), made.packing.ends.end());
  made.packing.ends = made.ends;
  made.stored.resize(packer.stored_blocks() * kBlock);
  return made;
}

bool unpack(const Packed& packed, const Dictionary* dictionary, uint32_t chunk, char* to) {
  // Exactly the chunk's bytes, so that a sanitizer sees who reads on.
  const uint32_t begin = packed.packing.begin_of(chunk);
  const std::vector<char> stored(packed.stored.begin() + begin,
                                 packed.stored.begin() + packed.ends[chunk]);
  return unpack_chunk(packed.packing, dictionary, chunk, stored.data(), to);
}

class Codecs : public ::testing::TestWithParam<Codec> {};

TEST_P(Codecs, GiveBackWhatTheyWereGiven) {
  Prng prng(1);
  for (const uint32_t blocks : {2U, 3U, 4U, 5U, 31U, 32U, 33U, 200U}) {
    for (const uint64_t random : {0, 40, 8}) {
      const std::string content = text(prng, blocks, random);
      const Packed packed = pack(content, GetParam());
      if (!packed.pays) continue;
      const auto stored_blocks = static_cast<uint32_t>(packed.stored.size() / kBlock);
      ASSERT_TRUE(valid_packing(packed.packing, stored_blocks));
      EXPECT_LE(stored_blocks, blocks - std::max(1U, blocks / 8));
      ASSERT_EQ(packed.ends.size(), chunk_count(blocks));
      // In any order.
      for (uint32_t i = 0; i < packed.ends.size(); ++i) {
        const auto chunk = static_cast<uint32_t>(prng.below(packed.ends.size()));
        std::vector<char> back(packed.packing.content_bytes(chunk));
        ASSERT_TRUE(unpack(packed, nullptr, chunk, back.data()));
        ASSERT_EQ(
            std::memcmp(back.data(), content.data() + size_t{chunk} * kChunkBytes, back.size()), 0);
      }
      const size_t used = packed.ends.back();
      EXPECT_EQ(packed.stored.find_first_not_of('\0', used), std::string::npos);
    }
  }
}

TEST_P(Codecs, SaveWhatIsToBeSaved) {
  Prng prng(2);
  const Packed packed = pack(text(prng, 64, 0), GetParam());
  ASSERT_TRUE(packed.pays);
  EXPECT_LT(packed.stored.size(), 64 * kBlock / 2);
}

TEST_P(Codecs, LeaveNoiseAlone) {
  Prng prng(3);
  for (const uint32_t blocks : {2U, 16U, 100U}) {
    EXPECT_FALSE(pack(noise(prng, blocks), GetParam()).pays);
  }
  // Saves less than an eighth.
  EXPECT_FALSE(pack(text(prng, 8, 0) + noise(prng, 92), GetParam()).pays);
}

TEST_P(Codecs, StoreSingleChunksAsTheyAre) {
  Prng prng(4);
  const std::string content = text(prng, 16, 0) + noise(prng, 4) + text(prng, 16, 0);
  const Packed packed = pack(content, GetParam());
  ASSERT_TRUE(packed.pays);
  EXPECT_EQ(packed.ends[4] - packed.ends[3], kChunkBytes);
  std::vector<char> back(kChunkBytes);
  ASSERT_TRUE(unpack(packed, nullptr, 4, back.data()));
  EXPECT_EQ(std::memcmp(back.data(), content.data() + 4 * kChunkBytes, kChunkBytes), 0);
}

// Whatever is done to the bytes, it is refused or gives as many bytes as the chunk has.
TEST_P(Codecs, SurviveDamage) {
  Prng prng(5);
  const std::string content = text(prng, 12, 20);
  const Packed good = pack(content, GetParam());
  ASSERT_TRUE(good.pays);
  uint32_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Packed bad = good;
    bad.packing.ends = bad.ends;
    const auto chunk = static_cast<uint32_t>(prng.below(bad.ends.size()));
    const uint32_t begin = bad.packing.begin_of(chunk);
    const uint32_t size = bad.ends[chunk] - begin;
    for (uint64_t i = prng.below(4) + 1; i > 0; --i) {
      bad.stored[begin + prng.below(size)] = static_cast<char>(prng.next());
    }
    std::vector<char> back(bad.packing.content_bytes(chunk));
    if (!unpack(bad, nullptr, chunk, back.data())) ++refused;
  }
  EXPECT_GT(refused, 100U);
}

INSTANTIATE_TEST_SUITE_P(All, Codecs, ::testing::Values(Codec::kLz4, Codec::kZstd));

TEST(Packing, OfWhichTheEndsAreWrongIsRefused) {
  Prng prng(6);
  const Packed good = pack(text(prng, 18, 0), Codec::kLz4);
  ASSERT_TRUE(good.pays);
  const auto stored_blocks = static_cast<uint32_t>(good.stored.size() / kBlock);
  ASSERT_TRUE(valid_packing(good.packing, stored_blocks));
  const auto refused = [&](auto change) {
    Packed bad = good;
    bad.packing.ends = bad.ends;
    change(bad);
    return !valid_packing(bad.packing, stored_blocks);
  };
  EXPECT_TRUE(refused([](Packed& p) { p.ends[0] = 0; }));
  EXPECT_TRUE(refused([](Packed& p) { p.ends[1] = p.ends[0]; }));
  EXPECT_TRUE(refused([](Packed& p) { p.ends[1] = p.ends[0] - 1; }));
  EXPECT_TRUE(refused([](Packed& p) { p.ends[0] = kChunkBytes + 1; }));
  EXPECT_TRUE(refused([](Packed& p) { p.ends.back() = ~0U; }));
  EXPECT_TRUE(refused([](Packed& p) { p.ends.back() += kBlock; }));
  EXPECT_TRUE(refused([](Packed& p) { p.packing.blocks = 0; }));
  EXPECT_TRUE(refused([](Packed& p) { p.packing.blocks = 100; }));
  EXPECT_TRUE(refused([](Packed& p) { p.packing.codec = Codec::kNone; }));
  EXPECT_TRUE(refused([](Packed& p) { p.packing.codec = static_cast<Codec>(3); }));
  EXPECT_TRUE(refused([](Packed& p) { p.packing.dictionary = 1; }));
  EXPECT_FALSE(valid_packing(good.packing, stored_blocks + 1));
  EXPECT_FALSE(valid_packing(good.packing, stored_blocks - 1));
}

TEST(Dictionary, MakesChunksSmaller) {
  Prng prng(7);
  // Long strings that come again, but seldom within one chunk.
  std::vector<std::string> phrases;
  for (int i = 0; i < 100; ++i) {
    std::string& phrase = phrases.emplace_back(noise(prng, 1));
    phrase.resize(128);
  }
  const auto content = [&](uint32_t blocks) {
    std::string made;
    while (made.size() < blocks * kBlock) {
      made += phrases[prng.below(phrases.size())] + std::to_string(prng.next());
    }
    made.resize(blocks * kBlock);
    return made;
  };
  const std::string bytes = train_dictionary(content(256), size_t{16} << 10);
  ASSERT_FALSE(bytes.empty());
  ASSERT_LE(bytes.size(), size_t{16} << 10);
  const std::unique_ptr<Dictionary> dictionary = Dictionary::make(7, bytes);
  ASSERT_NE(dictionary, nullptr);
  const std::string fresh = content(64);
  const Packed plain = pack(fresh, Codec::kZstd);
  const Packed trained = pack(fresh, Codec::kZstd, dictionary.get());
  ASSERT_TRUE(trained.pays);
  EXPECT_EQ(trained.packing.dictionary, 7U);
  EXPECT_LT(trained.ends.back(), plain.pays ? plain.ends.back() * 9 / 10 : fresh.size());
  std::vector<char> back(kChunkBytes);
  ASSERT_TRUE(unpack(trained, dictionary.get(), 3, back.data()));
  EXPECT_EQ(std::memcmp(back.data(), fresh.data() + 3 * kChunkBytes, kChunkBytes), 0);
  EXPECT_FALSE(unpack(trained, nullptr, 3, back.data())) << "without the dictionary";
  // LZ4 has none.
  const Packed other = pack(text(prng, 8, 0), Codec::kLz4, dictionary.get());
  ASSERT_TRUE(other.pays);
  EXPECT_EQ(other.packing.dictionary, 0U);
}

TEST(Dictionary, IsNotMadeOfWhatHasNone) {
  Prng prng(8);
  EXPECT_TRUE(train_dictionary(noise(prng, 64), size_t{16} << 10).empty());
  EXPECT_TRUE(train_dictionary({}, size_t{16} << 10).empty());
  EXPECT_EQ(Dictionary::make(1, "these bytes are no dictionary"), nullptr);
  EXPECT_EQ(Dictionary::make(1, {}), nullptr);
}

}  // namespace
}  // namespace hawthorn::format::packing_test
