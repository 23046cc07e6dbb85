// Snapshots with names, over restarts.

#include <gtest/gtest.h>

#include "tests/api/api_test_fixture.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

class NamedSnapshots : public Api {
 protected:
  std::string get_at(std::string_view snapshot, std::string_view key) {
    Result<Snapshot> opened = db_->open_snapshot(snapshot);
    if (!opened.ok()) return opened.status().to_string();
    return get(key, &*opened);
  }
  // All that a snapshot shows of a tree.
  std::map<std::string, std::string> contents(const Tree& tree, std::string_view snapshot) {
    std::map<std::string, std::string> result;
    Result<Snapshot> opened = db_->open_snapshot(snapshot);
    EXPECT_OK(opened.status());
    if (!opened.ok()) return result;
    EXPECT_OK(db_->scan(tree, "", std::nullopt,
                        [&](std::span<const Entry> entries) {
                          for (const Entry& entry : entries) result.emplace(entry.key, entry.value);
                          return true;
                        },
                        {.snapshot = &*opened}));
    EXPECT_EQ(db_->count(tree, "", std::nullopt, {.snapshot = &*opened}).value(), result.size());
    return result;
  }
  void reopen(bool closed) {
    if (closed) ASSERT_OK(db_->close());
    open();
  }
};

TEST_F(NamedSnapshots, are_made_listed_and_dropped) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  ASSERT_OK(db_->create_snapshot("one"));
  ASSERT_OK(db_->put(tree_, "k", "2"));
  ASSERT_OK(db_->create_snapshot("two"));
  ASSERT_OK(db_->del(tree_, "k"));
  EXPECT_EQ(get_at("one", "k"), "1");
  EXPECT_EQ(get_at("two", "k"), "2");
  EXPECT_EQ(get("k"), "NotFound");
  EXPECT_TRUE(db_->create_snapshot("one").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->create_snapshot("").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->create_snapshot(std::string(256, 'n')).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->open_snapshot("three").status().is_not_found());
  EXPECT_TRUE(db_->drop_snapshot("three").is_not_found());
  const std::vector<NamedSnapshot> list = db_->list_snapshots().value();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "one");
  EXPECT_LT(list[0].timestamp, list[1].timestamp);
  EXPECT_LE(list[0].created_us, list[1].created_us);
  EXPECT_GT(list[0].created_us, uint64_t{1'500'000'000} * 1'000'000);
  {
    // A transaction at one, which outlives its name.
    Result<Snapshot> opened = db_->open_snapshot("one");
    Transaction t = db_->begin({.read_only = true, .snapshot = &*opened}).value();
    ASSERT_OK(db_->drop_snapshot("one"));
    EXPECT_EQ(get("k", &*opened), "1");
    opened->reset();
    ASSERT_OK(db_->flush());
    Value value;
    ASSERT_OK(t.get(tree_, "k", value));
    EXPECT_EQ(value.view(), "1");
  }
  EXPECT_TRUE(db_->open_snapshot("one").status().is_not_found());
  ASSERT_OK(db_->create_snapshot("one"));
  EXPECT_EQ(get_at("one", "k"), "NotFound");
  // They do not stand in the way of close.
  ASSERT_OK(db_->close());
}

// Written over and over, flushed, split, compacted and reopened in both ways: each still shows its
// moment.
TEST_F(NamedSnapshots, outlive_restarts) {
  constexpr uint64_t kKeys = 4000;
  std::vector<std::map<std::string, std::string>> expected;
  std::map<std::string, std::string> now;
  Prng prng(7);
  for (uint64_t round = 0; round < 6; ++round) {
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string key = big_endian(prng.below(kKeys));
      if (prng.one_in(4)) {
        ASSERT_OK(db_->del(tree_, key));
        now.erase(key);
      } else {
        const size_t size = prng.one_in(500) ? 70'000 : prng.below(400);
        now[key] = value_of(prng.next(), size);
        ASSERT_OK(db_->put(tree_, key, now[key]));
      }
      if (i == kKeys / 2) {
        expected.push_back(now);
        ASSERT_OK(db_->create_snapshot(std::to_string(round)));
        if (round == 2) ASSERT_OK(db_->flush());
      }
    }
    if (round % 3 == 1) ASSERT_OK(db_->compact());
    ASSERT_NO_FATAL_FAILURE(reopen(round % 2 == 0));
    for (uint64_t n = 0; n <= round; ++n) {
      ASSERT_TRUE(contents(tree_, std::to_string(n)) == expected[n]) << n << " in round " << round;
    }
  }
  EXPECT_EQ(keys(tree_).size(), now.size());
  const Stats stats = db_->stats();
  ASSERT_EQ(stats.named_snapshots.size(), 6u);
  EXPECT_GT(stats.named_snapshots[0].bytes_kept, 0u);
  EXPECT_TRUE(db_->check().value().ok());
  // What they kept goes with them.
  ASSERT_OK(db_->compact());
  const uint64_t kept = db_->stats().disk_bytes_reachable;
  for (uint64_t n = 0; n < 6; ++n) ASSERT_OK(db_->drop_snapshot(std::to_string(n)));
  ASSERT_OK(db_->compact());
  EXPECT_LT(db_->stats().disk_bytes_reachable, kept / 2);
  ASSERT_NO_FATAL_FAILURE(reopen(true));
  EXPECT_TRUE(db_->list_snapshots().value().empty());
}

TEST_F(NamedSnapshots, keep_dropped_trees_and_old_names) {
  const Tree other = db_->tree("other").value();
  for (uint64_t i = 0; i < 3000; ++i) ASSERT_OK(db_->put(other, big_endian(i), value_of(i, 300)));
  ASSERT_OK(db_->create_snapshot("before"));
  ASSERT_OK(db_->drop_tree("other"));
  ASSERT_OK(db_->rename_tree("t", "u"));
  ASSERT_OK(db_->put(db_->tree("other").value(), "new", "tree"));
  for (const bool closed : {true, false, true}) {
    ASSERT_NO_FATAL_FAILURE(reopen(closed));  // which makes another "t"
    ASSERT_OK(db_->drop_tree("t"));
    ASSERT_OK(db_->drain());
    Snapshot before = std::move(db_->open_snapshot("before")).value();
    EXPECT_EQ(db_->list_trees({.snapshot = &before}).value(),
              (std::vector<std::string>{"other", "t"}));
    const Tree old = db_->find_tree("other", {.snapshot = &before}).value();
    EXPECT_EQ(db_->count(old, "", std::nullopt, {.snapshot = &before}).value(), 3000u);
    Value value;
    ASSERT_OK(db_->get(old, big_endian(17), value, {.snapshot = &before}));
    EXPECT_EQ(value.view(), value_of(17, 300));
    EXPECT_TRUE(db_->put(old, "k", "v").is(StatusCode::kInvalidArgument));
    EXPECT_EQ(db_->list_trees().value(), (std::vector<std::string>{"other", "u"}));
    EXPECT_EQ(db_->count(db_->find_tree("other").value(), "", std::nullopt).value(), 1u);
  }
  ASSERT_OK(db_->drop_snapshot("before"));
  ASSERT_OK(db_->drain());
  EXPECT_LT(db_->stats().disk_bytes_reachable, 200'000u);
  EXPECT_TRUE(db_->check().value().ok());
}

// What a bulk ingest has put beside other keys, after a restart: not before its commit.
TEST_F(NamedSnapshots, and_bulk_ingests) {
  const auto ingest = [&](uint64_t from) {
    Ingest in = std::move(db_->ingest(tree_)).value();
    for (uint64_t i = from; i < from + 20'000; ++i) {
      ASSERT_OK(in.add(big_endian(i), value_of(i, 100)));
    }
    ASSERT_OK(in.finish());
    EXPECT_EQ(in.stats().containers > 0, db_->list_snapshots().value().empty());
  };
  ASSERT_NO_FATAL_FAILURE(ingest(0));
  ASSERT_OK(db_->create_snapshot("s"));
  ASSERT_NO_FATAL_FAILURE(ingest(100'000));
  for (const bool closed : {false, true}) {
    EXPECT_EQ(contents(tree_, "s").size(), 20'000u);
    EXPECT_EQ(keys(tree_).size(), 40'000u);
    ASSERT_NO_FATAL_FAILURE(reopen(closed));
  }
  ASSERT_OK(db_->drop_snapshot("s"));
  ASSERT_NO_FATAL_FAILURE(ingest(200'000));
}

TEST_F(NamedSnapshots, read_only) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  ASSERT_OK(db_->create_snapshot("s"));
  ASSERT_OK(db_->put(tree_, "k", "2"));
  db_.reset();
  Options reading = options();
  reading.read_only = true;
  db_ = std::move(Db::open(path_, reading)).value();
  tree_ = db_->find_tree("t").value();
  EXPECT_EQ(get_at("s", "k"), "1");
  EXPECT_EQ(get("k"), "2");
  EXPECT_TRUE(db_->create_snapshot("r").is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->drop_snapshot("s").is(StatusCode::kReadOnly));
}

}  // namespace
}  // namespace hawthorn::tests
