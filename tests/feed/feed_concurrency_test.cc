// Writers, flushes and a feed beside each other: every commit once, in the order of timestamps.
#include <atomic>
#include <map>
#include <thread>

#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr int kWriters = 4;
constexpr int kCommits = 400;

TEST(FeedConcurrency, a_feed_beside_writers_has_every_commit_once) {
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{32} << 20;
  options.durability = Durability::kNone;
  auto db = std::move(Db::open(directory / "db", options)).value();
  const Tree tree = db->tree("t").value();
  ASSERT_OK(db->create_feed("f"));
  ASSERT_OK(db->create_feed("idle"));
  constexpr uint64_t kAll = uint64_t{kWriters} * kCommits;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      const std::string mine = std::to_string(w);
      for (int i = 0; i < kCommits; ++i) {
        const std::string key = mine + "/" + std::to_string(i);
        if (i % 50 == 49) {
          Transaction txn = db->begin(TxnMode::kOptimistic).value();
          for (int j = 0; j < 300; ++j) {
            EXPECT_OK(txn.put(tree, key + "/" + std::to_string(j), std::string(2000, 'v')));
          }
          EXPECT_OK(txn.commit(Durability::kFull));
        } else if (i % 40 == 7) {
          EXPECT_OK(db->put(tree, key, std::string(100'000, 'l')));
        } else {
          EXPECT_OK(db->put(tree, key, "v", i % 9 == 0 ? Durability::kFull : Durability::kNone));
        }
        if (i % 100 == 60) EXPECT_OK(db->flush());
      }
    });
  }
  std::map<std::string, int> next;
  uint64_t last = 0;
  uint64_t commits = 0;
  Feed feed = db->open_feed("f").value();
  while (commits < kAll) {
    // It is told when it is durable, which takes as long as the disk needs.
    Result<FeedCommit*> commit = feed.next(testing::kHangLimitMs);
    ASSERT_OK(commit.status());
    ASSERT_NE(*commit, nullptr) << "after " << commits << " commits";
    ASSERT_GT((*commit)->cts(), last);
    ASSERT_EQ((*commit)->previous(), last == 0 ? feed.position() : last);
    last = (*commit)->cts();
    ++commits;
    FeedChange change;
    int operations = 0;
    std::string key;
    while ((*commit)->next(&change).value()) {
      if (operations++ == 0) key = std::string(change.key);
      if (change.streamed) {
        char byte[1];
        ASSERT_EQ((*commit)->read_value(99'999, byte).value(), 1u);
        ASSERT_EQ(byte[0], 'l');
      }
    }
    // Of each writer in the order in which it committed.
    const size_t slash = key.find('/');
    const int number = std::stoi(key.substr(slash + 1));
    ASSERT_EQ(next[key.substr(0, slash)]++, number);
    ASSERT_EQ(operations, number % 50 == 49 ? 300 : 1);
    if (commits % 64 == 0) ASSERT_OK(feed.acknowledge(last));
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db->sync());
  EXPECT_EQ(feed.next(0).value(), nullptr) << "more than was committed";
  feed = Feed();
  ASSERT_OK(db->drop_feed("idle"));
  ASSERT_TRUE(clean(*db));
  ASSERT_OK(db->close());
}

TEST(FeedConcurrency, feeds_come_and_go_beside_writers) {
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{32} << 20;
  options.durability = Durability::kNone;
  auto db = std::move(Db::open(directory / "db", options)).value();
  const Tree tree = db->tree("t").value();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; !stop.load(); ++i) {
        EXPECT_OK(db->put(tree, std::to_string(w) + std::to_string(i % 100),
                          std::string(i % 10 == 0 ? 80'000 : 100, 'v')));
        if (i % 200 == 0) EXPECT_OK(db->flush());
      }
    });
  }
  for (int f = 0; f < 2; ++f) {
    threads.emplace_back([&, f] {
      const std::string name = "f" + std::to_string(f);
      for (int i = 0; i < 15; ++i) {
        EXPECT_OK(db->create_feed(name));
        {
          Result<Feed> feed = db->open_feed(name);
          EXPECT_OK(feed.status());
          for (int j = 0; feed.ok() && j < 20; ++j) {
            Result<FeedCommit*> commit = feed->next(50);
            EXPECT_OK(commit.status());
            if (!commit.ok() || *commit == nullptr) continue;
            FeedChange change;
            while ((*commit)->next(&change).value()) {
            }
            if (j % 5 == 0) EXPECT_OK(feed->acknowledge((*commit)->cts()));
          }
        }
        EXPECT_OK(db->drop_feed(name));
      }
    });
  }
  threads[2].join();
  threads[3].join();
  stop.store(true);
  threads[0].join();
  threads[1].join();
  EXPECT_EQ(db->stats().feed_bytes_held, 0u);
  ASSERT_TRUE(clean(*db));
  ASSERT_OK(db->close());
}

}  // namespace
}  // namespace hawthorn::tests
