// What an open tells of the log that it replays, and that one that is ended loses nothing.

#include <atomic>
#include <string>
#include <vector>

#include "hawthorn/follower.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class OpenProgress : public Api {
 protected:
  static constexpr int kKeys = 5000;
  // As a process leaves it that dies.
  void leave() {
    for (int i = 0; i < kKeys; ++i) put("key" + std::to_string(i), std::string(1000, 'v'));
    db_.reset();
  }
  struct Told {
    uint64_t done;
    uint64_t total;
  };
  // Ends the open when that much was told; 0: never.
  Options telling(uint64_t ends_at = 0) {
    Options with = options();
    told_.clear();
    with.open_progress = [this, ends_at](uint64_t done, uint64_t total) {
      told_.push_back({done, total});
      return ends_at > 0 && done >= ends_at ? Status(StatusCode::kBusy, "that is enough")
                                            : Status();
    };
    return with;
  }
  std::vector<Told> told_;
};

TEST_F(OpenProgress, is_told_while_the_log_is_read) {
  leave();
  open_with(telling());
  ASSERT_GE(told_.size(), 5U);
  for (size_t i = 0; i < told_.size(); ++i) {
    EXPECT_LE(told_[i].done, told_[i].total);
    EXPECT_TRUE(i == 0 || told_[i].done > told_[i - 1].done) << i;
  }
  EXPECT_GE(told_.back().done, uint64_t{kKeys} * 1000);
  EXPECT_EQ(told_.back().done, told_.back().total);
  EXPECT_EQ(keys(tree_).size(), size_t{kKeys});
}

TEST_F(OpenProgress, ends_an_open_which_loses_nothing) {
  leave();
  open_with(telling());
  const uint64_t all = told_.back().total;
  db_.reset();
  for (uint64_t at = 1; at < all; at += all / 5) {
    const Result<std::unique_ptr<Db>> refused = Db::open(path_, telling(at));
    EXPECT_TRUE(refused.status().is(StatusCode::kBusy)) << at;
    EXPECT_EQ(refused.status().message(), "that is enough");
  }
  open();
  EXPECT_EQ(keys(tree_).size(), size_t{kKeys});
  EXPECT_TRUE(clean(*db_));
}

// Larger than memory: what was read is flushed on the way, and read again.
TEST_F(OpenProgress, ends_an_open_that_has_begun_to_flush) {
  Options small = options();
  small.memory_budget_bytes = size_t{64} << 20;
  open_with(small);
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 1000; ++j) put("key" + std::to_string(j), std::string(1000, 'a' + i));
  }
  db_.reset();
  open_with(telling());
  const uint64_t all = told_.back().total;
  db_.reset();
  for (uint64_t at = all - all / 8; at > all / 8; at -= all / 8) {
    const Result<std::unique_ptr<Db>> refused = Db::open(path_, telling(at));
    if (!refused.ok()) {
      EXPECT_TRUE(refused.status().is(StatusCode::kBusy)) << refused.status().to_string();
    }
  }
  open();
  EXPECT_EQ(keys(tree_).size(), 1000U);
  EXPECT_EQ(get("key999"), std::string(1000, 'a' + 29));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(OpenProgress, is_of_followers_too) {
  for (int i = 0; i < kKeys; ++i) put("key" + std::to_string(i), std::string(1000, 'v'));
  FollowerOptions with = FollowerOptions::of(telling());
  const Result<std::unique_ptr<Follower>> follower = Follower::open(path_, with);
  ASSERT_OK(follower.status());
  ASSERT_GE(told_.size(), 5U);
  EXPECT_EQ(told_.back().done, told_.back().total);
}

}  // namespace
}  // namespace hawthorn::tests
