// Db::compact: what it tells while it runs, and that it ends when it is told to.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class CompactTest : public Api {
 protected:
  static constexpr int kKeys = 12'000;
  static std::string key_of(int i) { return "key" + std::to_string(100'000 + i); }

  void write(int from, int step) {
    Prng prng(static_cast<uint64_t>(from + step));
    std::string value(2000, '\0');
    for (int i = from; i < kKeys; i += step) {
      for (char& c : value) c = static_cast<char>('a' + prng.below(26));
      put(key_of(i), value);
    }
    ASSERT_OK(db_->flush());
  }
  // Garbage in many containers, of each too little for a flush to rewrite it.
  void make_garbage() {
    write(0, 1);
    write(0, 25);
    ASSERT_GT(garbage(), 0U);
  }
  uint64_t garbage() {
    uint64_t bytes = 0;
    for (const TreeStats& tree : db_->stats().trees) bytes += tree.bytes_garbage;
    return bytes;
  }

  struct Told {
    uint64_t done;
    uint64_t all;
  };
  std::vector<Told> told_;
};

TEST_F(CompactTest, TellsWhatItHasRewritten) {
  make_garbage();
  ASSERT_OK(db_->compact({.progress = [this](uint64_t done, uint64_t all) {
    told_.push_back({done, all});
    return Status();
  }}));
  EXPECT_EQ(garbage(), 0U);
  ASSERT_GE(told_.size(), 4U);
  EXPECT_EQ(told_.front().done, 0U);
  EXPECT_GE(told_.front().all, 3U);
  for (size_t i = 1; i < told_.size(); ++i) {
    EXPECT_EQ(told_[i].done, told_[i - 1].done + 1);
    EXPECT_GE(told_[i].all, told_[i].done);
  }
  EXPECT_EQ(told_.back().done, told_.back().all);
  EXPECT_EQ(keys(tree_).size(), size_t{kKeys});
  // Nothing is left to do, and that is said, too.
  told_.clear();
  ASSERT_OK(db_->compact({.progress = [this](uint64_t done, uint64_t all) {
    told_.push_back({done, all});
    return Status();
  }}));
  ASSERT_FALSE(told_.empty());
  EXPECT_EQ(told_.front().all, 0U);
}

TEST_F(CompactTest, EndsWhenItIsToldTo) {
  make_garbage();
  // kCorruption, too, which is not taken for damage of a container.
  for (const StatusCode code : {StatusCode::kBusy, StatusCode::kCorruption}) {
    told_.clear();
    const Status ended = db_->compact({.progress = [&](uint64_t done, uint64_t all) {
      told_.push_back({done, all});
      return done < 1 ? Status() : Status(code, "that is enough");
    }});
    EXPECT_TRUE(ended.is(code)) << ended.to_string();
    EXPECT_EQ(ended.message(), "that is enough");
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_GT(garbage(), 0U);
  }
  EXPECT_EQ(keys(tree_).size(), size_t{kKeys});
  ASSERT_OK(db_->compact());
  EXPECT_EQ(garbage(), 0U);
}

}  // namespace
}  // namespace hawthorn::tests
