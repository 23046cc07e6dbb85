// A replica: the first copy, commits in process and as bytes, what it refuses.
#include "tests/feed/feed_test_support.h"

namespace hawthorn::tests {
namespace {

class ReplicaTest : public FeedTest {
 protected:
  void SetUp() override {
    FeedTest::SetUp();
    target_ = open_at("/replica");
    replica_ = Replica::open(*target_).value();
  }
  void TearDown() override {
    replica_.reset();
    FeedTest::TearDown();
  }
  void begin() {
    ASSERT_OK(db_->create_feed("replica"));
    ASSERT_OK(replica_->copy(*db_));
  }
  void follow(bool as_bytes = false) {
    Feed feed = db_->open_feed("replica").value();
    while (FeedCommit* commit = feed.next(1).value()) {
      if (as_bytes) {
        std::string piece;
        const FeedPieceSource pieces = [&]() -> Result<std::string_view> {
          Result<bool> more = commit->encode(&piece);
          if (!more.ok()) return more.status();
          if (!*more) return Status(StatusCode::kInvalidArgument, "there is no more");
          largest_piece_ = std::max(largest_piece_, piece.size());
          return std::string_view(piece);
        };
        ASSERT_OK(replica_->apply(pieces));
      } else {
        ASSERT_OK(replica_->apply(*commit));
      }
      ASSERT_EQ(replica_->position(), commit->cts());
      ASSERT_OK(feed.acknowledge(commit->cts()));
    }
  }
  void open_replica() {
    replica_.reset();
    target_.reset();
    target_ = open_at("/replica");
    Result<std::unique_ptr<Replica>> replica = Replica::open(*target_);
    ASSERT_OK(replica.status());
    replica_ = std::move(*replica);
  }
  void some_of_everything() {
    const Tree reverse = db_->tree("reverse", {.order = "reverse", .multi_value = true}).value();
    const Tree ending = db_->tree("ending", {.expires = true, .ttl_ms = 900'000'000}).value();
    const Tree merging = db_->tree("merging").value();
    if (!given_) ASSERT_OK(db_->set_merge_operator(merging, "append:,"));
    given_ = true;
    for (int i = 0; i < 200; ++i) {
      const std::string key = "k" + std::to_string(i);
      ASSERT_OK(db_->put(tree_, key, value_of(static_cast<uint64_t>(i), 100)));
      ASSERT_OK(db_->put(reverse, key, "1"));
      ASSERT_OK(db_->put(reverse, key, "2"));
      ASSERT_OK(db_->put(ending, key, "e"));
      ASSERT_OK(db_->put(ending, key + "n", "", Expiry::never()));
      ASSERT_OK(db_->merge(merging, key, "m"));
      ASSERT_OK(db_->merge(merging, key, "n"));
    }
    const Tree compared = db_->tree("compared", {.order = "downwards"}).value();
    for (int i = 0; i < 100; ++i) ASSERT_OK(db_->put(compared, std::to_string(i), "c"));
    ASSERT_OK(db_->delete_range(compared, "75x", "31x"));
    ASSERT_OK(db_->del(compared, "8"));
    ASSERT_OK(db_->put(tree_, "large", value_of(1, 200'000)));
    ASSERT_OK(db_->write_part(tree_, "large", 100'000, "in place"));
    ASSERT_OK(db_->append(tree_, "large", value_of(2, 1000)).status());
    ASSERT_OK(db_->put(tree_, "empty", ""));
    ASSERT_OK(db_->delete_range(tree_, "k10", "k19"));
    ASSERT_OK(db_->delete_range(reverse, "k30", "k20"));
    ASSERT_OK(db_->del(reverse, "k5"));
    ASSERT_OK(db_->del_value(reverse, "k6", "1"));
    ASSERT_OK(db_->clone_tree("t", "clone").status());
    ASSERT_OK(db_->rename_tree("clone", "renamed"));
    ASSERT_OK(db_->drop_tree("renamed"));
    ASSERT_OK(db_->clone_tree("t", "clone" + std::to_string(++clones_)).status());
    Transaction txn = db_->begin(TxnMode::kOptimistic).value();
    for (int i = 0; i < 3000; ++i) {
      ASSERT_OK(txn.put(tree_, "big" + std::to_string(i), value_of(static_cast<uint64_t>(i), 200)));
    }
    uint64_t given = 0;
    ASSERT_OK(txn.put_stream(tree_, "streamed", 300'000, [&](std::span<char> to) -> Result<size_t> {
      const size_t size = std::min<size_t>(to.size(), 300'000 - given);
      std::fill_n(to.data(), size, 's');
      given += size;
      return size;
    }));
    ASSERT_OK(txn.commit());
  }

  std::unique_ptr<Replica> replica_;
  bool given_ = false;
  int clones_ = 0;
  size_t largest_piece_ = 0;
};

TEST_F(ReplicaTest, follows_from_an_empty_source) {
  begin();
  EXPECT_EQ(replica_->source_id(), db_->id());
  ASSERT_NO_FATAL_FAILURE(some_of_everything());
  follow();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

TEST_F(ReplicaTest, copies_what_is_there_and_follows) {
  ASSERT_NO_FATAL_FAILURE(some_of_everything());
  begin();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
  ASSERT_NO_FATAL_FAILURE(some_of_everything());
  follow();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
  ASSERT_TRUE(clean(*target_));
}

TEST_F(ReplicaTest, takes_commits_as_bytes) {
  begin();
  ASSERT_NO_FATAL_FAILURE(some_of_everything());
  follow(true);
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
  EXPECT_LT(largest_piece_, 200'000u);
}

TEST_F(ReplicaTest, passes_over_what_it_has_and_refuses_gaps) {
  begin();
  put("a", "1");
  put("b", "2");
  put("c", "3");
  Feed feed = db_->open_feed("replica").value();
  FeedCommit* commit = feed.next(1).value();
  const uint64_t first = commit->cts();
  ASSERT_OK(replica_->apply(*commit));
  ASSERT_NE(feed.next(1).value(), nullptr);  // b is left out
  commit = feed.next(1).value();
  const Status gap = replica_->apply(*commit);
  EXPECT_TRUE(gap.is(StatusCode::kInvalidArgument)) << gap.to_string();
  EXPECT_EQ(replica_->position(), first);
  feed = Feed();
  feed = db_->open_feed("replica").value();
  for (int i = 0; i < 3; ++i) ASSERT_OK(replica_->apply(*feed.next(1).value()));
  feed = Feed();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

TEST_F(ReplicaTest, refuses_what_is_left_of_a_commit) {
  begin();
  put("a", "1");
  put("b", "2");
  Feed feed = db_->open_feed("replica").value();
  FeedCommit* commit = feed.next(1).value();
  FeedChange change;
  while (commit->next(&change).value()) {
  }
  const uint64_t before = replica_->position();
  const Status left = replica_->apply(*commit);
  EXPECT_TRUE(left.is(StatusCode::kInvalidArgument)) << left.to_string();
  EXPECT_EQ(replica_->position(), before);
  // From a new delivery; one that it has is passed over, whatever was read of it.
  feed = Feed();
  feed = db_->open_feed("replica").value();
  commit = feed.next(1).value();
  ASSERT_OK(replica_->apply(*commit));
  ASSERT_OK(replica_->apply(*commit));
  ASSERT_OK(replica_->apply(*feed.next(1).value()));
  feed = Feed();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

TEST_F(ReplicaTest, refuses_other_sources_and_databases) {
  begin();
  std::unique_ptr<Db> stranger = open_at("/stranger");
  ASSERT_OK(stranger->create_feed("f"));
  ASSERT_OK(stranger->tree("t").status());
  {
    Feed feed = stranger->open_feed("f").value();
    FeedCommit* commit = feed.next(1).value();
    ASSERT_NE(commit, nullptr);
    EXPECT_TRUE(replica_->apply(*commit).is(StatusCode::kInvalidArgument));
  }
  EXPECT_TRUE(Replica::open(*stranger).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(replica_->copy(*db_).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(replica_->begin_at(db_->id(), 1).is(StatusCode::kInvalidArgument));
  std::unique_ptr<Db> second = open_at("/second");
  auto chained = Replica::open(*second).value();
  EXPECT_TRUE(chained->copy(*target_).is(StatusCode::kNotSupported));
  Feed feed = db_->open_feed("replica").value();
  put("a", "1");
  EXPECT_TRUE(chained->apply(*feed.next(1).value()).is(StatusCode::kInvalidArgument));
}

TEST_F(ReplicaTest, keeps_its_position_with_the_data) {
  begin();
  put("a", "1");
  put("b", "2");
  {
    Feed feed = db_->open_feed("replica").value();
    ASSERT_OK(replica_->apply(*feed.next(1).value()));  // and nothing is acknowledged
  }
  const uint64_t position = replica_->position();
  ASSERT_NO_FATAL_FAILURE(open_replica());
  EXPECT_EQ(replica_->position(), position);
  follow();
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

TEST_F(ReplicaTest, a_copy_that_was_cut_short_is_begun_anew) {
  for (int i = 0; i < 3000; ++i) put("k" + std::to_string(i), std::string(1000, 'v'));
  ASSERT_OK(db_->create_feed("replica"));
  // An error in its midst.
  ASSERT_OK(db_->flush());
  db_.reset();
  db_ = open_at("/db");
  disk_.fail_path("/db/data", testing::SimOp::kRead, 3, StatusCode::kIoError, true);
  const Status status = replica_->copy(*db_);
  disk_.clear_faults();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(replica_->position(), 0u);
  ASSERT_NO_FATAL_FAILURE(open_replica());
  EXPECT_EQ(replica_->position(), 0u);
  ASSERT_OK(replica_->copy(*db_));
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

TEST_F(ReplicaTest, damaged_and_misplaced_pieces_are_refused) {
  begin();
  tree_ = db_->tree("t").value();
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  for (int i = 0; i < 3000; ++i) ASSERT_OK(txn.put(tree_, "k" + std::to_string(i), "some value"));
  ASSERT_OK(txn.put(tree_, "large", value_of(3, 150'000)));
  ASSERT_OK(txn.commit());
  std::vector<std::string> pieces;
  {
    Feed feed = db_->open_feed("replica").value();
    FeedCommit* commit = feed.next(1).value();
    std::string piece;
    while (commit->encode(&piece).value()) pieces.push_back(piece);
  }
  ASSERT_GT(pieces.size(), 3u);
  const auto apply = [&](const std::vector<std::string>& given) {
    size_t next = 0;
    return replica_->apply([&]() -> Result<std::string_view> {
      if (next == given.size()) return Status(StatusCode::kIoError, "the connection is gone");
      return std::string_view(given[next++]);
    });
  };
  EXPECT_TRUE(apply({pieces[0]}).is(StatusCode::kIoError));
  EXPECT_TRUE(apply({pieces[0], pieces[2]}).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(apply({pieces[1]}).is(StatusCode::kInvalidArgument));
  Prng prng(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> damaged = pieces;
    std::string& piece = damaged[prng.below(damaged.size())];
    if (prng.one_in(4)) {
      piece.resize(prng.below(piece.size()));
    } else {
      piece[prng.below(piece.size())] ^= static_cast<char>(1 << prng.below(8));
    }
    const Status status = apply(damaged);
    ASSERT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
  }
  EXPECT_TRUE(target_->find_tree("t").status().is_not_found() ||
              target_->count(target_->find_tree("t").value(), "", std::nullopt).value() == 0);
  ASSERT_OK(apply(pieces));
  EXPECT_EQ(difference(*db_, nullptr, *target_), "");
}

}  // namespace
}  // namespace hawthorn::tests
