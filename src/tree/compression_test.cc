#include "tree/compression.h"

#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"

namespace hawthorn::tree::compression_test {
namespace {

// Few phrases in many values, of which a dictionary has most.
std::string samples() {
  Prng prng(1);
  std::string phrases[20];
  for (std::string& phrase : phrases) {
    for (int i = 0; i < 100; ++i) phrase.push_back(static_cast<char>('a' + prng.below(26)));
  }
  std::string all;
  while (all.size() < (size_t{256} << 10)) {
    all += phrases[prng.below(20)] + std::to_string(prng.next());
  }
  return all;
}

TEST(CompressionTest, ADictionaryGoesWithItsTreeAlone) {
  const auto arena = os::Arena::create(size_t{16} << 20).value();
  Compression compression(arena.get());
  const size_t before = arena->used(os::Quota::kOther);
  const std::string bytes = format::train_dictionary(samples(), Compression::kDictionaryBytes);
  ASSERT_FALSE(bytes.empty());
  for (const uint32_t tree : {7U, 8U}) {
    compression.set_codec(tree, format::Codec::kZstd);
    ASSERT_TRUE(compression.add_dictionary(tree, tree - 6, bytes));
  }
  const size_t of_each = (arena->used(os::Quota::kOther) - before) / 2;
  EXPECT_GT(of_each, Compression::kDictionaryBytes);

  compression.forget_tree(7);
  EXPECT_EQ(arena->used(os::Quota::kOther), before + of_each);
  EXPECT_EQ(compression.dictionary(1), nullptr);
  EXPECT_EQ(compression.plan(7).dictionary, nullptr);
  EXPECT_EQ(compression.plan(8).dictionary, compression.dictionary(2));
  compression.forget_tree(7);  // it is not known any more
  compression.forget_tree(8);
  EXPECT_EQ(arena->used(os::Quota::kOther), before);
}

TEST(CompressionTest, SamplesGoWithTheirTree) {
  const auto arena = os::Arena::create(size_t{16} << 20).value();
  Compression compression(arena.get());
  const size_t before = arena->used(os::Quota::kOther);
  compression.set_codec(7, format::Codec::kZstd);
  const std::string content = samples();
  compression.offer_sample(7, content.data(), content.size());
  EXPECT_GT(arena->used(os::Quota::kOther), before);
  compression.forget_tree(7);
  EXPECT_EQ(arena->used(os::Quota::kOther), before);
}

}  // namespace
}  // namespace hawthorn::tree::compression_test
