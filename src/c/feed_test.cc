// Change feeds, replicas and followers.

#include "c/c_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::c {

namespace {

class FeedCTest : public CTest {
 protected:
  FeedHandle open_feed(const char* name) {
    hawthorn_feed* opened = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_feed_open(db_.get(), name, HAWTHORN_STRING, &opened, &e)), "OK");
    return FeedHandle(opened);
  }
  // All that is committed, change by change; acknowledges it.
  std::string changes(hawthorn_feed* feed) {
    EXPECT_EQ(C_TEXT(hawthorn_db_sync(db_.get(), &e)), "OK");  // feeds tell what is durable
    std::string text;
    int found = 0;
    while (hawthorn_feed_next(feed, 500, &found, nullptr) == HAWTHORN_OK && found != 0) {
      hawthorn_change change = HAWTHORN_CHANGE_INIT;
      while (hawthorn_feed_next_change(feed, &change, &found, nullptr) == HAWTHORN_OK &&
             found != 0) {
        text += std::to_string(change.type) + ":" +
                std::string(bytes_of(change.tree_name, change.tree_name_size)) + ":" +
                std::string(bytes_of(change.key, change.key_size)) + "=" +
                std::string(bytes_of(change.value, change.value_size)) + " ";
        EXPECT_EQ(change.struct_size, sizeof(change));
      }
      const uint64_t timestamp = hawthorn_feed_commit_timestamp(feed);
      EXPECT_GT(timestamp, hawthorn_feed_commit_previous(feed));
      EXPECT_EQ(hawthorn_feed_acknowledge(feed, timestamp, nullptr), HAWTHORN_OK);
      EXPECT_EQ(hawthorn_feed_position(feed), timestamp);
    }
    return text;
  }
};

TEST_F(FeedCTest, FeedsDeliverCommits) {
  open_with_tree();
  put("before", "x");
  C_OK(hawthorn_db_create_feed(db_.get(), "index", 5, HAWTHORN_FEED_LOG_DEFAULT, &e));
  C_FAILS("InvalidArgument", hawthorn_db_create_feed(db_.get(), "index", 5, 0, &e));
  put("a", "1");
  C_OK(hawthorn_db_del(db_.get(), tree_.get(), "a", 1, nullptr, &e));
  const TreeHandle other = tree("other");
  FeedHandle feed = open_feed("index");
  char id[33];
  C_OK(hawthorn_db_id(db_.get(), id, &e));
  EXPECT_STREQ(hawthorn_feed_source_id(feed.get()), id);
  EXPECT_EQ(changes(feed.get()), "1:tree:a=1 2:tree:a= 6:other:= ");
  hawthorn_feed* again = nullptr;
  C_FAILS("Busy", hawthorn_feed_open(db_.get(), "index", 5, &again, &e));
  hawthorn_records* listed = nullptr;
  C_OK(hawthorn_db_list_feeds(db_.get(), &listed, &e));
  {
    const RecordsHandle records(listed);
    ASSERT_EQ(hawthorn_records_count(listed), 1U);
    EXPECT_STREQ(hawthorn_records_bytes(listed, 0, "name", nullptr), "index");
    EXPECT_EQ(hawthorn_records_number(listed, 0, "log_bytes_max", 0), uint64_t{4} << 30);
    EXPECT_EQ(hawthorn_records_number(listed, 0, "open", 9), 1U);
  }
  feed.reset();
  C_OK(hawthorn_db_drop_feed(db_.get(), "index", 5, &e));
  C_FAILS("NotFound", hawthorn_db_drop_feed(db_.get(), "index", 5, &e));
  C_FAILS("NotFound", hawthorn_feed_open(db_.get(), "index", 5, &again, &e));
}

TEST_F(FeedCTest, WhereTheyStandIsAskedFirst) {
  open_with_tree();
  C_OK(hawthorn_db_create_feed(db_.get(), "f", 1, 0, &e));
  const FeedHandle feed = open_feed("f");
  hawthorn_change change = HAWTHORN_CHANGE_INIT;
  int found = 0;
  size_t size = 0;
  const void* data = nullptr;
  char buffer[4];
  hawthorn_records* told = nullptr;
  C_FAILS("InvalidArgument: the feed stands on no commit",
          hawthorn_feed_next_change(feed.get(), &change, &found, &e));
  C_FAILS("InvalidArgument: the feed stands on no commit",
          hawthorn_feed_encode(feed.get(), &data, &size, &found, &e));
  C_FAILS("InvalidArgument: the feed stands on no commit",
          hawthorn_feed_read_value(feed.get(), 0, buffer, 4, &size, &e));
  C_FAILS("InvalidArgument: the feed stands on no change",
          hawthorn_feed_change_tree(feed.get(), &told, &e));
  EXPECT_EQ(hawthorn_feed_commit_timestamp(feed.get()), 0U);
  EXPECT_EQ(hawthorn_feed_commit_previous(feed.get()), 0U);
  C_FAILS("InvalidArgument", hawthorn_feed_acknowledge(feed.get(), 1U << 30, &e));
  change.struct_size = 0;
  C_FAILS("InvalidArgument: hawthorn_change.struct_size is 0",
          hawthorn_feed_next_change(feed.get(), &change, &found, &e));
  C_FAILS("InvalidArgument: the feed is NULL", hawthorn_feed_next(nullptr, 0, &found, &e));
  C_OK(hawthorn_feed_next(feed.get(), 0, &found, &e));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(hawthorn_feed_position(nullptr), 0U);
}

TEST_F(FeedCTest, StreamedValuesAndTreesAreShown) {
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.order = "reverse";
  open_with_tree(&options);
  C_OK(hawthorn_db_create_feed(db_.get(), "f", 1, 0, &e));
  const std::string large(100'000, 'x');
  put("k", large);
  const FeedHandle feed = open_feed("f");
  int found = 0;
  C_OK(hawthorn_feed_next(feed.get(), testing::kHangLimitMs, &found, &e));
  ASSERT_EQ(found, 1);
  hawthorn_change change = HAWTHORN_CHANGE_INIT;
  C_OK(hawthorn_feed_next_change(feed.get(), &change, &found, &e));
  EXPECT_EQ(change.streamed, 1);
  EXPECT_EQ(change.value_bytes, large.size());
  EXPECT_EQ(change.tree_id, hawthorn_tree_id(tree_.get()));
  char buffer[8];
  size_t size = 0;
  C_OK(hawthorn_feed_read_value(feed.get(), large.size() - 3, buffer, 8, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "xxx");
  hawthorn_records* told = nullptr;
  C_OK(hawthorn_feed_change_tree(feed.get(), &told, &e));
  const RecordsHandle records(told);
  EXPECT_STREQ(hawthorn_records_bytes(told, 0, "order", nullptr), "reverse");
  EXPECT_STREQ(hawthorn_records_bytes(told, 0, "compression", nullptr), "none");
  C_OK(hawthorn_feed_next_change(feed.get(), &change, &found, &e));
  EXPECT_EQ(found, 0);
  C_FAILS("InvalidArgument: the feed stands on no change",
          hawthorn_feed_change_tree(feed.get(), &told, &e));
}

TEST_F(FeedCTest, TreesAreShownAsTheirOptionsAre) {
  open_with_tree();
  C_OK(hawthorn_db_create_feed(db_.get(), "f", 1, 0, &e));
  hawthorn_tree_options options = HAWTHORN_TREE_OPTIONS_INIT;
  options.multi_value = 1;
  const TreeHandle several = tree("several", &options);
  put("k", "v");
  C_OK(hawthorn_db_put(db_.get(), several.get(), "k", 1, "v", 1, nullptr, &e));
  const FeedHandle feed = open_feed("f");
  int seen = 0;
  while (seen < 2) {
    int found = 0;
    C_OK(hawthorn_feed_next(feed.get(), testing::kHangLimitMs, &found, &e));
    ASSERT_EQ(found, 1);
    hawthorn_change change = HAWTHORN_CHANGE_INIT;
    C_OK(hawthorn_feed_next_change(feed.get(), &change, &found, &e));
    ASSERT_EQ(found, 1);
    if (change.type != HAWTHORN_CHANGE_PUT) continue;
    ++seen;
    const bool is_several = change.tree_id == hawthorn_tree_id(several.get());
    hawthorn_records* told = nullptr;
    C_OK(hawthorn_feed_change_tree(feed.get(), &told, &e));
    const RecordsHandle fed(told);
    C_OK(hawthorn_db_tree_options(db_.get(), is_several ? several.get() : tree_.get(), &told, &e));
    const RecordsHandle known(told);
    for (const char* field : {"order", "value_order"}) {
      EXPECT_STREQ(hawthorn_records_bytes(fed.get(), 0, field, nullptr),
                   hawthorn_records_bytes(known.get(), 0, field, nullptr))
          << field;
    }
    EXPECT_STREQ(hawthorn_records_bytes(fed.get(), 0, "order", nullptr), "bytewise");
    EXPECT_STREQ(hawthorn_records_bytes(fed.get(), 0, "value_order", nullptr),
                 is_several ? "bytewise" : "");
  }
}

TEST_F(FeedCTest, RangesSayWhereTheyEnd) {
  open_with_tree();
  const SnapshotHandle before = snapshot();
  for (int i = 0; i < 100; ++i) put("k" + std::to_string(i), "v");
  hawthorn_feed* opened = nullptr;
  C_OK(hawthorn_db_delete_range(db_.get(), tree_.get(), "k", 1, "l", 1, nullptr, &e));
  C_OK(hawthorn_db_delete_range(db_.get(), tree_.get(), "a", 1, nullptr, 0, nullptr, &e));
  C_OK(hawthorn_feed_open_at(db_.get(), hawthorn_snapshot_timestamp(before.get()), &opened, &e));
  const FeedHandle feed(opened);
  C_OK(hawthorn_db_sync(db_.get(), &e));
  int found = 0;
  std::string text;
  while (hawthorn_feed_next(opened, 500, &found, nullptr) == HAWTHORN_OK && found != 0) {
    hawthorn_change change = HAWTHORN_CHANGE_INIT;
    while (hawthorn_feed_next_change(opened, &change, &found, nullptr) == HAWTHORN_OK &&
           found != 0) {
      if (change.type != HAWTHORN_CHANGE_DELETE_RANGE) continue;
      text +=
          std::string(bytes_of(change.key, change.key_size)) + "-" +
          (change.high != nullptr ? std::string(bytes_of(change.high, change.high_size)) : "end") +
          " ";
    }
  }
  EXPECT_EQ(text, "k-l a-end ");
  C_FAILS("InvalidArgument", hawthorn_feed_acknowledge(opened, 5, &e));
}

TEST_F(FeedCTest, ReplicasAreEqual) {
  open_with_tree();
  put("before", "1");
  C_OK(hawthorn_db_create_feed(db_.get(), "replica", 7, 0, &e));
  hawthorn_db* opened = nullptr;
  C_OK(hawthorn_db_open(path("target").c_str(), options_.get(), &opened, &e));
  const DbHandle target(opened);
  hawthorn_replica* made = nullptr;
  C_OK(hawthorn_replica_open(opened, &made, &e));
  const ReplicaHandle replica(made);
  EXPECT_EQ(hawthorn_replica_position(made), 0U);
  EXPECT_STREQ(hawthorn_replica_source_id(made), "");
  C_FAILS("InvalidArgument: a database cannot be a replica of itself",
          hawthorn_replica_copy(made, opened, &e));
  C_OK(hawthorn_replica_copy(made, db_.get(), &e));
  const uint64_t copied = hawthorn_replica_position(made);
  EXPECT_GT(copied, 0U);
  C_FAILS("InvalidArgument", hawthorn_replica_begin_at(made, "x", 1, 1, &e));
  const FeedHandle feed = open_feed("replica");
  C_FAILS("InvalidArgument: the feed stands on no commit",
          hawthorn_replica_apply(made, feed.get(), 0, &e));
  put("after", "2");
  int found = 0;
  C_OK(hawthorn_feed_next(feed.get(), testing::kHangLimitMs, &found, &e));
  ASSERT_EQ(found, 1);
  C_OK(hawthorn_replica_apply(made, feed.get(), HAWTHORN_DURABILITY_NONE, &e));
  EXPECT_EQ(hawthorn_replica_position(made), hawthorn_feed_commit_timestamp(feed.get()));

  // By bytes, as over a network.
  put("pieces", "3");
  C_OK(hawthorn_feed_next(feed.get(), testing::kHangLimitMs, &found, &e));
  ASSERT_EQ(found, 1);
  const auto next_piece = [](void* context, const void** data, size_t* size) -> hawthorn_error* {
    hawthorn_error* error = nullptr;
    int more = 0;
    if (hawthorn_feed_encode(static_cast<hawthorn_feed*>(context), data, size, &more, &error) !=
        HAWTHORN_OK) {
      return error;
    }
    return more != 0 ? nullptr : hawthorn_error_create(HAWTHORN_IO_ERROR, "no more", 7);
  };
  C_OK(hawthorn_replica_apply_pieces(made, next_piece, feed.get(), 0, &e));
  const auto nonsense = [](void*, const void** data, size_t* size) -> hawthorn_error* {
    *data = "nonsense";
    *size = 8;
    return nullptr;
  };
  C_FAILS("Corruption", hawthorn_replica_apply_pieces(made, nonsense, nullptr, 0, &e));
  const auto silent = [](void*, const void**, size_t*) -> hawthorn_error* {
    return hawthorn_error_create(HAWTHORN_TIMED_OUT, "nobody sends", HAWTHORN_STRING);
  };
  C_FAILS("TimedOut: nobody sends", hawthorn_replica_apply_pieces(made, silent, nullptr, 0, &e));
  hawthorn_tree* copy = nullptr;
  C_OK(hawthorn_db_find_tree(opened, "tree", 4, nullptr, &copy, &e));
  const TreeHandle copied_tree(copy);
  hawthorn_cursor* walking = nullptr;
  C_OK(hawthorn_db_cursor(opened, copy, nullptr, &walking, &e));
  EXPECT_EQ(walk(CursorHandle(walking).get()), "after=2,before=1,pieces=3");
  EXPECT_EQ(hawthorn_replica_position(nullptr), 0U);
  EXPECT_EQ(hawthorn_replica_source_id(nullptr), nullptr);
}

TEST_F(FeedCTest, FollowersSeeWhatIsCommitted) {
  open_with_tree();
  put("k", "1");
  hawthorn_follower* opened = nullptr;
  C_OK(hawthorn_follower_open(path().c_str(), options_.get(), &opened, &e));
  FollowerHandle follower(opened);
  hawthorn_db* made = nullptr;
  C_OK(hawthorn_follower_view(opened, &made, &e));
  DbHandle view(made);
  put("k", "2");
  C_OK(hawthorn_follower_refresh(opened, &e));
  C_OK(hawthorn_follower_latest(opened, &made, &e));
  const DbHandle latest(made);
  hawthorn_tree* found = nullptr;
  C_OK(hawthorn_db_find_tree(made, "tree", 4, nullptr, &found, &e));
  const TreeHandle in_view(found);
  char buffer[2];
  size_t size = 0;
  C_OK(hawthorn_db_get_into(made, found, "k", 1, nullptr, buffer, 2, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "2");
  C_FAILS("ReadOnly", hawthorn_db_put(made, found, "k", 1, "3", 1, nullptr, &e));
  C_FAILS("InvalidArgument: a follower's view is freed, not closed", hawthorn_db_close(made, &e));
  C_OK(hawthorn_follower_rebuild(opened, &e));
  follower.reset();
  // What was handed out stays.
  C_OK(hawthorn_db_get_into(made, found, "k", 1, nullptr, buffer, 2, &size, &e));
  EXPECT_EQ(bytes_of(buffer, size), "2");
  C_FAILS("NotFound", hawthorn_follower_open(path("nowhere").c_str(), nullptr, &opened, &e));
  C_FAILS("InvalidArgument: the follower is NULL", hawthorn_follower_refresh(nullptr, &e));
}

}  // namespace

}  // namespace hawthorn::c
