// Feeds over their limits, and the log and disk space that others get back.
#include "tests/feed/feed_test_support.h"

namespace hawthorn::tests {
namespace {

TEST_F(FeedTest, a_feed_over_its_limit_is_lost_and_the_database_goes_on) {
  ASSERT_OK(db_->create_feed("small", {.log_bytes_max = size_t{4} << 20}));
  ASSERT_OK(db_->create_feed("large"));
  Feed feed = db_->open_feed("small").value();
  put("first", "1");
  for (int i = 0; i < 100; ++i) {
    put("k" + std::to_string(i), std::string(60'000, 'v'));
    if (i % 10 == 9) ASSERT_OK(db_->flush());
  }
  EXPECT_TRUE(feed.next(1).status().is(StatusCode::kTooOld));
  EXPECT_TRUE(feed.acknowledge(0).is(StatusCode::kTooOld));
  feed = Feed();
  EXPECT_TRUE(db_->open_feed("small").status().is(StatusCode::kTooOld));
  EXPECT_TRUE(db_->list_feeds().value().at(1).lost);
  EXPECT_FALSE(db_->list_feeds().value().at(0).lost);
  EXPECT_EQ(take("large").size(), 101u);
  // It is told so also behind a restart, and does not keep the log there.
  ASSERT_OK(db_->close());
  EXPECT_FALSE(*disk_.exists("/db/wal.ring"));
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_TRUE(db_->open_feed("small").status().is(StatusCode::kTooOld));
  ASSERT_OK(db_->drop_feed("small"));
  ASSERT_OK(db_->create_feed("small"));
  put("again", "1");
  EXPECT_EQ(take("small"), Texts{"put t again=1"});
}

TEST_F(FeedTest, space_of_large_values_counts) {
  ASSERT_OK(db_->create_feed("f", {.log_bytes_max = size_t{3} << 20}));
  for (int i = 0; i < 40; ++i) {
    put("k", std::string(200'000, static_cast<char>('a' + i % 26)));
    ASSERT_OK(db_->flush());
  }
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(db_->list_feeds().value().at(0).lost);
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().feed_bytes_held, 0u);
  ASSERT_TRUE(clean(*db_));
}

TEST_F(FeedTest, acknowledging_gives_the_log_back) {
  ASSERT_OK(db_->create_feed("f"));
  uint64_t most = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 200; ++i) put("k" + std::to_string(i), std::string(60'000, 'v'));
    ASSERT_OK(db_->flush());
    EXPECT_EQ(take("f").size(), 200u);
    ASSERT_OK(db_->drain());
    most = std::max(most, db_->stats().log_bytes);
  }
  EXPECT_LT(most, uint64_t{150} << 20);  // about 12 MB a round, in segments of 64
  EXPECT_LT(db_->list_feeds().value().at(0).log_bytes, uint64_t{16} << 20);
}

// Writers find no room for as long as the feed keeps the log, and again when it is lost.
TEST_F(FeedTest, a_full_disk_is_not_blocked_for_ever) {
  ASSERT_OK(db_->create_feed("dead", {.log_bytes_max = size_t{40} << 20}));
  disk_.set_capacity(disk_.used_bytes() + (size_t{160} << 20));
  uint64_t refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const Status status = db_->put(tree_, "k" + std::to_string(i % 50), std::string(60'000, 'v'));
    if (status.is(StatusCode::kNoSpace)) {
      ++refused;
      continue;
    }
    ASSERT_OK(status);
  }
  EXPECT_LT(refused, 6000u / 2);
  EXPECT_TRUE(db_->list_feeds().value().at(0).lost);
  ASSERT_OK(db_->put(tree_, "last", "v"));
}

}  // namespace
}  // namespace hawthorn::tests
