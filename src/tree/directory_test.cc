#include "tree/directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/prng.h"
#include "os/epoch.h"
#include "tree/delta_test_keys.h"
#include "tree/directory_test_model.h"

namespace hawthorn::tree::directory_test {
namespace {

using delta_keys::KeyShape;
using delta_keys::make_keys;
using delta_keys::random_bytes;
using directory_model::Model;

class DirectoryTest : public ::testing::Test {
 protected:
  ~DirectoryTest() override { os::epoch::drain(); }
};

TEST_F(DirectoryTest, OneContainerCoversEverything) {
  const Model model({});
  model.expect_whole({"a", "\xff\xff", std::string(1, '\0')});
}

TEST_F(DirectoryTest, MatchesAnOrderedMapForKeysOfAllShapes) {
  const uint64_t seed = 31337;
  for (int shape = 0; shape < static_cast<int>(KeyShape::kCount); ++shape) {
    for (const size_t count : {1, 2, 127, 128, 129, 700, 3000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", shape " << shape << ", " << count);
      Prng prng(mix64(seed + static_cast<uint64_t>(shape) * 100 + count));
      const std::string prefix = random_bytes(prng, prng.below(12));
      const auto lows = make_keys(prng, static_cast<KeyShape>(shape), count, prefix);
      const Model model(lows);
      auto probes = make_keys(prng, static_cast<KeyShape>(shape), 200, prefix);
      for (const std::string& probe : make_keys(prng, KeyShape::kRandom, 50, "")) {
        probes.push_back(probe);
      }
      ASSERT_NO_FATAL_FAILURE(model.expect_whole(probes));
    }
  }
}

TEST_F(DirectoryTest, ReplacesRangesByOthers) {
  const uint64_t seed = 5;
  for (int shape = 0; shape < static_cast<int>(KeyShape::kCount); ++shape) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", shape " << shape);
    Prng prng(mix64(seed + static_cast<uint64_t>(shape)));
    const auto kind = static_cast<KeyShape>(shape);
    Model model(make_keys(prng, kind, prng.below(600), ""));
    for (int round = 0; round < 300; ++round) {
      const std::string key = make_keys(prng, kind, 1, "").front();
      const size_t count = prng.one_in(3) ? prng.between(1, 300) : 1;
      model.replace(key, count, make_keys(prng, kind, prng.below(prng.one_in(10) ? 600 : 8), ""));
      ASSERT_NO_FATAL_FAILURE(model.expect_at(key));
      if (round % 50 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(model.expect_whole({key}));
    }
    ASSERT_NO_FATAL_FAILURE(model.expect_whole(make_keys(prng, kind, 300, "")));
  }
}

// A tree that is filled: one container at the right edge splits again and again.
TEST_F(DirectoryTest, GrowsToTenThousandContainersBySplits) {
  for (const bool ascending : {true, false}) {
    Prng prng(ascending);
    Model model({});
    uint64_t number = 0;
    while (model.size() < 10000) {
      ++number;
      const std::string low = ascending ? delta_keys::big_endian(number) : random_bytes(prng, 8);
      model.replace(low, 1, {low});
      ASSERT_NO_FATAL_FAILURE(model.expect_at(low));
    }
    ASSERT_NO_FATAL_FAILURE(model.expect_whole(make_keys(prng, KeyShape::kFixed8, 300, "")));
  }
}

// Low keys that share all but their last bytes, next to some that share nothing.
TEST_F(DirectoryTest, SkewedLowKeys) {
  Prng prng(8);
  std::vector<std::string> lows;
  const std::string common(300, 'c');
  for (int i = 0; i < 2000; ++i) lows.push_back(common + delta_keys::big_endian(prng.below(4000)));
  for (const char* other : {"a", "cccc", "d", "zz"}) lows.emplace_back(other);
  const Model model(lows);
  std::vector<std::string> probes;
  for (int i = 0; i < 300; ++i) probes.push_back(common + random_bytes(prng, prng.below(10)));
  for (size_t size = 0; size < 300; size += 13) probes.push_back(common.substr(0, size));
  ASSERT_NO_FATAL_FAILURE(model.expect_whole(probes));
}

}  // namespace
}  // namespace hawthorn::tree::directory_test
