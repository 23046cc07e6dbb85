// Readers of views beside who refreshes them, and beside who writes.

#include <atomic>
#include <thread>

#include "tests/follower/follower_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kAccounts = 64;
constexpr uint64_t kTotal = kAccounts * 1000;

std::string account(uint64_t number) { return big_endian(number * 37); }
std::string amount_of(uint64_t amount) { return big_endian(amount); }
uint64_t amount_in(std::string_view bytes) {
  uint64_t amount = 0;
  for (const char byte : bytes.substr(0, 8)) amount = amount << 8 | static_cast<uint8_t>(byte);
  return amount;
}

class FollowerConcurrency : public FollowerTest {
 protected:
  void SetUp() override {
    FollowerTest::SetUp();
    WriteBatch batch;
    for (uint64_t i = 0; i < kAccounts; ++i) batch.put(tree_, account(i), amount_of(1000));
    batch.put(tree_, "count", amount_of(0));
    ASSERT_OK(db_->write(batch));
  }
  // Moves amounts between accounts, and counts the commits.
  void write(uint64_t seed, uint64_t commits) {
    Prng prng(seed);
    std::vector<uint64_t> amounts(kAccounts, 1000);
    for (uint64_t n = 1; n <= commits; ++n) {
      const uint64_t from = prng.below(kAccounts);
      const uint64_t to = prng.below(kAccounts);
      const uint64_t moved = prng.below(amounts[from] + 1);
      amounts[from] -= moved;
      amounts[to] += moved;
      WriteBatch batch;
      batch.put(tree_, account(from), amount_of(amounts[from]));
      batch.put(tree_, account(to), amount_of(amounts[to]));
      batch.put(tree_, "count", amount_of(n));
      ASSERT_OK(db_->write(batch));
      committed_.store(n);
      if (prng.one_in(300)) ASSERT_OK(db_->flush());
      if (prng.one_in(300)) {
        // What a view cannot go on with.
        Result<Transaction> large = db_->begin(TxnMode::kOptimistic);
        ASSERT_OK(large.status());
        const Result<Tree> other = large->tree("other");
        ASSERT_OK(other.status());
        for (int i = 0; i < 300; ++i) {
          ASSERT_OK(large->put(*other, big_endian(i), value_of(n, 1000)));
        }
        ASSERT_OK(large->commit());
      }
    }
    done_.store(true);
  }
  // The sum and the count at one moment, by several kinds of reads.
  static uint64_t look(Db& db, Prng& prng) {
    const Result<Tree> tree = db.find_tree("t");
    EXPECT_OK(tree.status());
    if (!tree.ok()) return 0;
    const Snapshot now = db.snapshot();
    uint64_t sum = 0;
    if (prng.one_in(2)) {
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < kAccounts; ++i) keys.push_back(account(i));
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      ReadBatch batch;
      EXPECT_OK(db.multi_get(*tree, views, batch, {.snapshot = &now}));
      for (size_t i = 0; i < batch.size(); ++i) sum += amount_in(batch[i].value);
    } else {
      Cursor cursor = db.cursor(*tree, {.upper = "count", .snapshot = &now});
      for (bool more = cursor.first(); more; more = cursor.next()) {
        sum += amount_in(cursor.value());
      }
      EXPECT_OK(cursor.status());
    }
    EXPECT_EQ(sum, kTotal) << "at " << now.timestamp();
    EXPECT_EQ(db.count(*tree, "", std::nullopt, {.snapshot = &now}).value(), kAccounts + 1);
    Value count;
    EXPECT_OK(db.get(*tree, "count", count, {.snapshot = &now}));
    const uint64_t then = amount_in(count.view());
    // The newest, which may be newer by now.
    EXPECT_OK(db.get(*tree, "count", count));
    EXPECT_GE(amount_in(count.view()), then);
    return then;
  }
  std::atomic<uint64_t> committed_{0};
  std::atomic<bool> done_{false};
};

TEST_F(FollowerConcurrency, readers_see_whole_commits_in_their_order) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 7);
  const auto follower = follow();
  ASSERT_NE(follower, nullptr);
  std::thread writer([&] { write(seed, scaled(3000)); });
  std::vector<std::thread> threads;
  std::atomic<uint64_t> refreshed{0};
  threads.emplace_back([&] {
    Prng prng(seed + 1);
    while (!done_.load()) {
      const uint64_t before = committed_.load();
      ASSERT_OK(prng.one_in(50) ? follower->rebuild() : follower->refresh());
      refreshed.store(before);
      const auto view = follower->view();
      ASSERT_GE(look(*view, prng), before);
    }
  });
  for (uint64_t reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&, reader] {
      Prng prng(seed + 2 + reader);
      uint64_t last = 0;
      while (!done_.load()) {
        const uint64_t at_least = std::max(last, refreshed.load());
        auto view = follower->view();
        for (uint64_t looks = 1 + prng.below(5); looks > 0; --looks) {
          const uint64_t count = look(*view, prng);
          ASSERT_GE(count, at_least);
          last = std::max(last, count);
        }
        // It may go while others read it; who refreshes holds the newest.
        view.reset();
      }
    });
  }
  writer.join();
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(follower->refresh());
  Prng prng(seed);
  EXPECT_EQ(look(*follower->view(), prng), committed_.load());
}

}  // namespace
}  // namespace hawthorn::tests
