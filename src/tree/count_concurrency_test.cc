// Counts under registered timestamps beside writers, flushes and splits: the count of a snapshot is
// what a scan of it finds, and never changes.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "testing/scaled.h"
#include "tree/count.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::cursor_test {
namespace {

// The number of keys in [lower, end) that every commit leaves as it was, or makes more by one: the
// value of kTotal says how many there are. So each snapshot says itself what its count must be.
constexpr char kTotal[] = "!total";

class Counters {
 public:
  static constexpr uint64_t kKeys = 14'000;
  explicit Counters(uint64_t seed)
      : seed_(seed),
        test_({.budget = size_t{256} << 20,
               .seed = seed,
               .policy = {.extents_max = 3, .garbage_max = 0.3, .target_bytes = 3 << 10}}),
        present_(kKeys) {
    // Containers for more than one leaf, before anybody counts.
    fixture::TestTxn txn(test_.store());
    TestTree::Changes changes;
    for (uint64_t i = 0; i < kKeys; i += 2) changes.push_back(insert(i));
    changes.emplace_back(kTotal, std::to_string(total_));
    test_.write(txn, changes);
    txn.commit();
    for (int i = 0; i < 3; ++i) test_.flush_all();
    EXPECT_GT(test_.lows().size(), 256u);
  }

  void run() {
    std::thread writer([this] { write(); });
    std::thread flusher([this] { flush(); });
    std::thread undecided([this] { write_for_nothing(); });
    std::vector<std::thread> counters;
    for (uint64_t i = 0; i < 2; ++i) counters.emplace_back([this, i] { count(i); });
    for (std::thread& counter : counters) counter.join();
    done_.store(true);
    writer.join();
    flusher.join();
    undecided.join();
    EXPECT_EQ(NodeWalk::check_sums(test_.tree()->directory()), "");
  }

 private:
  static std::string key(uint64_t number) { return "k" + Generator::number(number); }
  std::pair<std::string, std::optional<std::string>> insert(uint64_t number) {
    present_[number] = true;
    ++total_;
    return {key(number), std::string(90, 'v')};
  }
  bool going_on() const { return !done_.load() && !failed_.load(); }

  void write() {
    Prng prng(seed_ * 10);
    while (going_on()) {
      fixture::TestTxn txn(test_.store());
      TestTree::Changes changes;
      const uint64_t near = prng.below(kKeys);
      for (uint64_t i = prng.between(1, 30); i > 0; --i) {
        const uint64_t number = prng.one_in(2) ? prng.below(kKeys) : (near + i) % kKeys;
        if (!present_[number]) {
          changes.push_back(insert(number));
        } else if (prng.one_in(3)) {
          changes.emplace_back(key(number), std::string(90, 'w'));
        } else {
          present_[number] = false;
          --total_;
          changes.emplace_back(key(number), std::nullopt);
        }
      }
      changes.emplace_back(kTotal, std::to_string(total_));
      test_.write(txn, changes);
      txn.commit();
      commits_.fetch_add(1);
    }
  }
  void write_for_nothing() {
    Prng prng(seed_ * 10 + 1);
    while (going_on()) {
      fixture::TestTxn txn(test_.store());
      for (uint64_t i = prng.below(20); i > 0; --i) {
        test_.write(txn, {{key(prng.below(kKeys * 2)), "no"}});
      }
      std::this_thread::yield();
      txn.undo_all();
    }
  }
  void flush() {
    Prng prng(seed_ * 10 + 2);
    fixture::Flusher joiner(test_.store());
    while (going_on()) {
      const std::string at = key(prng.below(kKeys));
      if (prng.one_in(12)) {
        joiner.join(*test_.tree(), at, prng.between(2, 4), [] {});
      } else {
        test_.flush(at, prng.one_in(8), !prng.one_in(4));
      }
      if (prng.one_in(40)) test_.residency().make_room(size_t{1} << 20);
      test_.store().snapshots.refresh(test_.visible());
    }
  }

  uint64_t counted(Lsn ts, std::string lower, std::optional<std::string> upper) {
    TreeCursor cursor(test_.tree(), {ts, 0},
                      {.lower = std::move(lower), .upper = std::move(upper), .key_only = true});
    const Result<uint64_t> result = cursor.count();
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? *result : ~uint64_t{0};
  }
  uint64_t scanned(Lsn ts, std::string lower, std::optional<std::string> upper) {
    TreeCursor cursor(test_.tree(), {ts, 0},
                      {.lower = std::move(lower), .upper = std::move(upper), .key_only = true});
    uint64_t count = 0;
    for (bool more = cursor.first(); more; more = cursor.next()) ++count;
    return count;
  }

  void count(uint64_t reader) {
    Prng prng(seed_ * 10 + 3 + reader);
    for (uint64_t i = 0; (i < counts_ || commits_.load() < commits_min_) && !failed_.load(); ++i) {
      const auto snapshot = test_.snapshot();
      const uint64_t total = std::stoull(fixture::get(*test_.tree(), kTotal, {snapshot.ts, 0}));
      const std::string middle = key(prng.below(kKeys));
      for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(counted(snapshot.ts, "k", std::nullopt), total) << "at " << snapshot.ts;
        EXPECT_EQ(counted(snapshot.ts, "k", middle) + counted(snapshot.ts, middle, std::nullopt),
                  total);
      }
      if (i % 10 == 0) {
        EXPECT_EQ(scanned(snapshot.ts, "k", middle), counted(snapshot.ts, "k", middle));
      }
      test_.drop(snapshot);
      if (::testing::Test::HasFailure()) failed_.store(true);
    }
  }

  const uint64_t seed_;
  const uint64_t commits_min_ = testing::scaled(600);
  const uint64_t counts_ = testing::scaled(48);  // at least, by each
  TestTree test_;
  std::vector<bool> present_;
  uint64_t total_ = 0;
  std::atomic<bool> done_{false};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> commits_{0};
};

TEST(CountConcurrency, SnapshotsKeepTheirCount) {
  for (uint64_t seed = 1; seed <= 2 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Counters(seed).run();
  }
}

}  // namespace
}  // namespace hawthorn::tree::cursor_test
