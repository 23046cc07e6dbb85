// What a feed delivers, in which order, and from where on.
#include <set>

#include "tests/feed/feed_test_support.h"

namespace hawthorn::tests {
namespace {

TEST_F(FeedTest, delivers_what_was_committed_behind_its_creation) {
  put("before", "1");
  ASSERT_OK(db_->create_feed("f"));
  put("a", "1");
  ASSERT_OK(db_->del(tree_, "before"));
  WriteBatch batch;
  batch.put(tree_, "b", "2");
  batch.del(tree_, "a");
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(take("f"), (Texts{"put t a=1", "del t before", "put t b=2; del t a"}));
  EXPECT_EQ(take("f"), Texts{});
  put("c", "3");
  EXPECT_EQ(take("f"), Texts{"put t c=3"});
}

TEST_F(FeedTest, names_and_errors) {
  EXPECT_TRUE(db_->create_feed("").is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->create_feed("f"));
  EXPECT_TRUE(db_->create_feed("f").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->drop_feed("g").is_not_found());
  EXPECT_TRUE(db_->open_feed("g").status().is_not_found());
  {
    Feed feed = db_->open_feed("f").value();
    EXPECT_TRUE(db_->open_feed("f").status().is(StatusCode::kBusy));
    EXPECT_TRUE(db_->drop_feed("f").is(StatusCode::kBusy));
    EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
    EXPECT_TRUE(feed.acknowledge(~uint64_t{0}).is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(db_->list_feeds().value().at(0).open);
  }
  const std::vector<FeedInfo> feeds = db_->list_feeds().value();
  ASSERT_EQ(feeds.size(), 1u);
  EXPECT_EQ(feeds[0].name, "f");
  EXPECT_FALSE(feeds[0].open);
  ASSERT_OK(db_->drop_feed("f"));
  EXPECT_TRUE(db_->list_feeds().value().empty());
  EXPECT_EQ(db_->id().size(), 32u);
}

TEST_F(FeedTest, what_is_not_acknowledged_comes_again) {
  ASSERT_OK(db_->create_feed("f"));
  put("a", "1");
  put("b", "2");
  {
    Feed feed = db_->open_feed("f").value();
    FeedCommit* commit = feed.next(1).value();
    ASSERT_NE(commit, nullptr);
    EXPECT_EQ(text_of(*commit), "put t a=1");
    ASSERT_OK(feed.acknowledge(commit->cts()));
    ASSERT_NE(feed.next(1).value(), nullptr);
  }
  EXPECT_EQ(take("f"), Texts{"put t b=2"});
}

TEST_F(FeedTest, a_restart_keeps_the_position_and_the_log) {
  for (const bool clean : {true, false, true}) {
    if (clean) ASSERT_OK(db_->close());
    open();
    if (db_->list_feeds().value().empty()) ASSERT_OK(db_->create_feed("f"));
    put("a", "1");
    put("b", "2");
    {
      Feed feed = db_->open_feed("f").value();
      FeedCommit* commit = feed.next(1).value();
      ASSERT_OK(feed.acknowledge(commit->cts()));
    }
    if (clean) ASSERT_OK(db_->close());
    open();
    EXPECT_EQ(take("f"), Texts{"put t b=2"}) << clean;
  }
  // With nothing left the log goes.
  ASSERT_OK(db_->close());
  EXPECT_FALSE(*disk_.exists("/db/wal.ring"));
  open();
  put("c", "3");
  EXPECT_EQ(take("f"), Texts{"put t c=3"});
}

TEST_F(FeedTest, flushes_and_other_feeds_take_nothing_away) {
  ASSERT_OK(db_->create_feed("slow"));
  ASSERT_OK(db_->create_feed("fast"));
  for (int i = 0; i < 5; ++i) {
    put("k" + std::to_string(i), "v");
    ASSERT_OK(db_->flush());
    EXPECT_EQ(take("fast").size(), 1u);
  }
  ASSERT_OK(db_->drain());
  EXPECT_EQ(take("slow").size(), 5u);
}

TEST_F(FeedTest, trees_are_named_as_they_were) {
  ASSERT_OK(db_->create_feed("f"));
  put("a", "1");
  ASSERT_OK(db_->rename_tree("t", "u"));
  ASSERT_OK(db_->put(tree_, "b", "2"));
  const Tree other = db_->tree("t", {.order = "uint32"}).value();
  const char key[4] = {1, 0, 0, 0};
  ASSERT_OK(db_->put(other, {key, 4}, "x"));
  ASSERT_OK(db_->clone_tree("u", "copy").status());
  ASSERT_OK(db_->drop_tree("u"));
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->close());
  open();  // makes t anew
  Texts texts = take("f");
  const std::string number(key, 4);
  EXPECT_EQ(texts,
            (Texts{"put t a=1", "rename t u", "put u b=2", "create t", "put t " + number + "=x",
                   "clone copy of u", "drop u", "drop t", "create t"}));
}

TEST_F(FeedTest, a_tree_made_renamed_and_dropped_in_one_commit) {
  ASSERT_OK(db_->create_feed("f"));
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  const Tree made = txn.tree("new").value();
  ASSERT_OK(txn.put(made, "k", "v"));
  ASSERT_OK(txn.rename_tree("new", "newer"));
  ASSERT_OK(txn.put(made, "k", "w"));
  const Savepoint savepoint = txn.savepoint().value();
  ASSERT_OK(txn.drop_tree("newer"));
  ASSERT_OK(txn.rollback_to(savepoint));
  ASSERT_OK(txn.rename_tree("newer", "newest"));
  ASSERT_OK(txn.commit());
  const Texts wanted = {
      "create new; put new k=v; rename new newer; put newer k=w; rename newer newest"};
  // Twice, as the names are also found backwards.
  Feed feed = db_->open_feed("f").value();
  EXPECT_EQ(take(feed, false), wanted);
  feed = Feed();
  EXPECT_EQ(take("f"), wanted);
}

TEST_F(FeedTest, keys_and_values_are_those_of_the_program) {
  const Tree several = db_->tree("several", {.order = "reverse", .multi_value = true}).value();
  const Tree ending = db_->tree("ending", {.expires = true}).value();
  ASSERT_OK(db_->create_feed("f"));
  ASSERT_OK(db_->put(several, std::string("a\0b", 3), "1"));
  ASSERT_OK(db_->put(several, std::string("a\0b", 3), "2"));
  ASSERT_OK(db_->del_value(several, std::string("a\0b", 3), "1"));
  ASSERT_OK(db_->del(several, std::string("a\0b", 3)));
  ASSERT_OK(db_->put(ending, "k", "v", Expiry::at_ms(4'000'000'000'000)));
  ASSERT_OK(db_->put(ending, "k", "w", Expiry::never()));
  ASSERT_OK(db_->del(ending, "k"));
  const std::string key("a\0b", 3);
  EXPECT_EQ(take("f"),
            (Texts{"put several " + key + "=1", "put several " + key + "=2",
                   "del several " + key + "=1", "del several " + key + "=2",
                   "put ending k=v until 4000000000000", "put ending k=w", "del ending k"}));
}

TEST_F(FeedTest, removals_of_what_has_ended_are_deletes) {
  const Tree ending = db_->tree("ending", {.expires = true}).value();
  ASSERT_OK(db_->create_feed("f"));
  ASSERT_OK(db_->put(ending, "k", "v", Expiry::after_ms(1000)));
  machine_.clock().advance_us(10'000'000);
  ASSERT_OK(db_->compact());
  const Texts texts = take("f");
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1], "del ending k");
}

TEST_F(FeedTest, ranges_of_trees_of_all_kinds) {
  const Tree several = db_->tree("several", {.multi_value = true}).value();
  const Tree ending = db_->tree("ending", {.order = "reverse", .expires = true}).value();
  const std::vector<Tree> trees = {tree_, several, ending};
  for (const Tree& tree : trees) {
    for (int i = 100; i < 300; ++i) ASSERT_OK(db_->put(tree, "k" + std::to_string(i), "v"));
  }
  ASSERT_OK(db_->create_feed("f"));
  ASSERT_OK(db_->delete_range(tree_, "k110", "k290"));
  ASSERT_OK(db_->delete_range(several, "k110", "k290"));
  ASSERT_OK(db_->delete_range(ending, "k290", "k110"));
  ASSERT_OK(db_->delete_range(tree_, "", std::nullopt));
  ASSERT_OK(db_->delete_range(several, "", std::nullopt));
  ASSERT_OK(db_->delete_range(ending, "", std::nullopt));
  EXPECT_EQ(take("f"),
            (Texts{"range t k110..k290", "range several k110..k290", "range ending k290..k110",
                   "range t ..end", "range several ..end", "range ending ..end"}));
}

TEST_F(FeedTest, merges_carry_their_operator) {
  ASSERT_OK(db_->create_feed("f"));
  ASSERT_OK(db_->set_merge_operator(tree_, "append:,"));
  ASSERT_OK(db_->merge(tree_, "k", "1"));
  EXPECT_EQ(take("f"), Texts{"merge t k+1 by append:,"});
  ASSERT_OK(db_->merge(tree_, "k", "2"));
  const Tree other = db_->tree("other").value();
  ASSERT_OK(db_->set_merge_operator(other, "append:,"));
  ASSERT_OK(db_->merge(other, "k", "3"));
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_OK(db_->drop_tree("other"));
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->close());
  open();
  EXPECT_EQ(take("f"), (Texts{"merge t k+2 by append:,", "create other",
                              "merge other k+3 by append:,", "drop t", "drop other", "create t"}));
}

TEST_F(FeedTest, a_large_transaction_comes_operation_by_operation) {
  ASSERT_OK(db_->create_feed("f"));
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  constexpr int kKeys = 20'000;
  const std::string value(300, 'v');  // more than a quarter of the budget: it goes to layers
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_OK(txn.put(tree_, "k" + std::to_string(i), value));
    if (i % 1000 != 999) continue;
    const Savepoint savepoint = txn.savepoint().value();
    for (int j = 0; j < 1500; ++j) ASSERT_OK(txn.put(tree_, "gone" + std::to_string(j), value));
    ASSERT_OK(txn.rollback_to(savepoint));
    put("between" + std::to_string(i), "x");
  }
  ASSERT_OK(txn.commit());
  txn = Transaction();
  ASSERT_OK(db_->drain());  // brings the layers into the tree
  put("behind", "y");
  for (int pass = 0; pass < 2; ++pass) {
    Feed feed = db_->open_feed("f").value();
    for (int i = 999; i < kKeys; i += 1000) {
      ASSERT_EQ(text_of(**feed.next(1)), "put t between" + std::to_string(i) + "=x");
    }
    FeedCommit* commit = feed.next(1).value();
    ASSERT_NE(commit, nullptr);
    FeedChange change;
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(commit->next(&change).value());
      ASSERT_EQ(change.key, "k" + std::to_string(i));
      ASSERT_EQ(change.value, value);
    }
    EXPECT_FALSE(commit->next(&change).value());
    commit = feed.next(1).value();
    ASSERT_NE(commit, nullptr);
    EXPECT_EQ(text_of(*commit), "put t behind=y");
    EXPECT_EQ(feed.next(1).value(), nullptr);  // what brought the layers in is nothing new
    feed = Feed();
    if (pass == 0) {
      ASSERT_NO_FATAL_FAILURE(open());  // as after a kill
    }
  }
}

TEST_F(FeedTest, prepared_transactions_come_when_they_commit) {
  ASSERT_OK(db_->create_feed("f"));
  for (const char* id : {"one", "two"}) {
    Transaction txn = db_->begin(TxnMode::kPessimistic).value();
    for (int i = 0; i < 100; ++i) {
      ASSERT_OK(txn.put(tree_, id + std::to_string(i), std::string(5000, 'v')));
    }
    ASSERT_OK(txn.prepare(id));
  }
  put("between", "x");
  EXPECT_EQ(take("f"), Texts{"put t between=x"});
  ASSERT_OK(db_->commit_prepared("one"));
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_OK(db_->flush());
  put("later", "x");
  ASSERT_OK(db_->close());
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_OK(db_->commit_prepared("two"));
  for (int pass = 0; pass < 2; ++pass) {
    Feed feed = db_->open_feed("f").value();
    const Texts texts = take(feed, false);
    ASSERT_EQ(texts.size(), 3u);
    EXPECT_EQ(texts[0].substr(0, 12), "put t one0=v");
    EXPECT_EQ(std::count(texts[0].begin(), texts[0].end(), ';'), 99);
    EXPECT_EQ(texts[1], "put t later=x");
    EXPECT_EQ(texts[2].substr(0, 12), "put t two0=v");
    EXPECT_EQ(std::count(texts[2].begin(), texts[2].end(), ';'), 99);
    feed = Feed();
    ASSERT_NO_FATAL_FAILURE(open());
  }
}

TEST_F(FeedTest, large_values_stay_until_they_are_acknowledged) {
  ASSERT_OK(db_->create_feed("f"));
  const uint64_t before = db_->stats().feed_bytes_held;
  EXPECT_EQ(before, 0u);
  for (int i = 0; i < 6; ++i) {
    put("k", std::string(200'000 + static_cast<size_t>(i), static_cast<char>('a' + i)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
  }
  const Tree other = db_->tree("other").value();
  ASSERT_OK(db_->put(other, "k", std::string(100'000, 'o')));
  ASSERT_OK(db_->drop_tree("other"));
  ASSERT_OK(db_->drain());
  EXPECT_GT(db_->stats().feed_bytes_held, 5u * 200'000u);
  for (int round = 0; round < 3; ++round) {
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_GT(db_->stats().feed_bytes_held, 5u * 200'000u);
    // What is written now must not take their place.
    for (int i = 0; i < 4; ++i) put("other" + std::to_string(i), std::string(150'000, 'z'));
    ASSERT_OK(db_->flush());
    Feed feed = db_->open_feed("f").value();
    for (int i = 0; i < 6; ++i) {
      FeedCommit* commit = feed.next(1).value();
      ASSERT_NE(commit, nullptr);
      FeedChange change;
      ASSERT_TRUE(commit->next(&change).value());
      Result<std::string> value = whole_value(*commit, change);
      ASSERT_OK(value.status());
      ASSERT_EQ(*value, std::string(200'000 + static_cast<size_t>(i), static_cast<char>('a' + i)));
    }
    feed = Feed();
    if (round == 1) ASSERT_OK(db_->close());
  }
  EXPECT_FALSE(take("f").empty());
  EXPECT_EQ(db_->stats().feed_bytes_held, 0u);
  ASSERT_TRUE(clean(*db_));
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_EQ(db_->stats().feed_bytes_held, 0u);
}

TEST_F(FeedTest, ingests_are_puts) {
  ASSERT_OK(db_->create_feed("f"));
  Ingest ingest = db_->ingest(tree_).value();
  for (int i = 10'000; i < 30'000; ++i) ASSERT_OK(ingest.add(std::to_string(i), "value"));
  ASSERT_OK(ingest.finish());
  Feed feed = db_->open_feed("f").value();
  std::set<std::string> keys;
  while (FeedCommit* commit = feed.next(1).value()) {
    FeedChange change;
    while (commit->next(&change).value()) {
      ASSERT_EQ(change.type, ChangeType::kPut);
      ASSERT_TRUE(keys.insert(std::string(change.key)).second);
    }
  }
  EXPECT_EQ(keys.size(), 20'000u);
  EXPECT_EQ(*keys.begin(), "10000");
}

TEST_F(FeedTest, reads_without_a_name_as_far_as_the_log_reaches) {
  const uint64_t start = db_->stats().visible_timestamp;
  put("a", "1");
  put("b", "2");
  {
    Feed feed = db_->open_feed_at(start).value();
    EXPECT_TRUE(feed.acknowledge(0).is(StatusCode::kInvalidArgument));
    EXPECT_EQ(take(feed, false), (Texts{"put t a=1", "put t b=2"}));
  }
  EXPECT_TRUE(db_->open_feed_at(~uint64_t{0} >> 3).status().is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->close());
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_TRUE(db_->open_feed_at(start).status().is(StatusCode::kTooOld));
}

TEST_F(FeedTest, only_what_is_durable_is_delivered) {
  ASSERT_OK(db_->create_feed("f"));
  Feed feed = db_->open_feed("f").value();
  put("a", "1");  // kNone
  EXPECT_EQ(feed.next(0).value(), nullptr);
  ASSERT_OK(db_->sync());
  EXPECT_NE(feed.next(0).value(), nullptr);
  feed = Feed();
}

TEST_F(FeedTest, a_half_read_commit_does_not_harm_the_next) {
  ASSERT_OK(db_->create_feed("f"));
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  ASSERT_OK(txn.put(tree_, "a", "1"));
  ASSERT_OK(txn.rename_tree("t", "u"));
  ASSERT_OK(txn.commit());
  ASSERT_OK(db_->put(tree_, "b", "2"));
  Feed feed = db_->open_feed("f").value();
  ASSERT_NE(feed.next(1).value(), nullptr);
  FeedCommit* commit = feed.next(1).value();
  ASSERT_NE(commit, nullptr);
  EXPECT_EQ(text_of(*commit), "put u b=2");
}

// What versions of a value share is kept until the last of them was read, also behind restarts.
TEST_F(FeedTest, versions_of_a_value_that_share_space) {
  ASSERT_OK(db_->create_feed("f"));
  std::string expected = value_of(1, 300'000);
  std::vector<std::string> versions = {expected};
  ASSERT_OK(db_->put(tree_, "large", expected));
  for (int i = 0; i < 6; ++i) {
    const std::string part = value_of(static_cast<uint64_t>(i) + 10, 20'000);
    ASSERT_OK(db_->write_part(tree_, "large", static_cast<uint64_t>(i) * 40'000, part));
    expected.replace(static_cast<size_t>(i) * 40'000, part.size(), part);
    versions.push_back(expected);
    if (i % 2 == 0) ASSERT_OK(db_->flush());
  }
  ASSERT_OK(db_->del(tree_, "large"));
  ASSERT_OK(db_->compact());
  for (size_t i = 0; i < versions.size(); ++i) {
    if (i == 2) ASSERT_OK(db_->close());
    if (i == 2 || i == 4) open();
    // What is free is used.
    for (uint64_t bytes = 66'000; bytes < 320'000; bytes += 20'000) {
      const std::string key = "other" + std::to_string(i) + " " + std::to_string(bytes);
      ASSERT_OK(db_->put(tree_, key, value_of(bytes, bytes)));
    }
    ASSERT_OK(db_->flush());
    Feed feed = db_->open_feed("f").value();
    FeedCommit* const commit = feed.next(1).value();
    ASSERT_NE(commit, nullptr);
    FeedChange change;
    ASSERT_TRUE(commit->next(&change).value());
    ASSERT_TRUE(change.streamed);
    const Result<std::string> value = whole_value(*commit, change);
    ASSERT_OK(value.status());
    ASSERT_TRUE(*value == versions[i]) << i;
    ASSERT_OK(feed.acknowledge(commit->cts()));
  }
}

TEST_F(FeedTest, labels_of_compared_keys_are_not_delivered) {
  ASSERT_OK(db_->create_feed("f"));
  const Tree tree = db_->tree("c", {.order = "downwards", .multi_value = true}).value();
  ASSERT_OK(db_->put(tree, "a", "1"));
  ASSERT_OK(db_->put(tree, "b", "2"));
  ASSERT_OK(db_->del_value(tree, "a", "1"));
  ASSERT_OK(db_->delete_range(tree, "c", "a"));
  EXPECT_EQ(take("f"), (Texts{"create c", "put c a=1", "put c b=2", "del c a=1", "range c c..a"}));
}

TEST_F(FeedTest, trees_that_hang_in_trees_are_refused) {
  ASSERT_OK(db_->create_feed("f"));
  EXPECT_TRUE(db_->tree("h", {.subtrees = true}).status().is(StatusCode::kNotSupported));
  ASSERT_OK(db_->drop_feed("f"));
  ASSERT_OK(db_->tree("h", {.subtrees = true}).status());
  EXPECT_TRUE(db_->create_feed("f").is(StatusCode::kNotSupported));
}

}  // namespace
}  // namespace hawthorn::tests
