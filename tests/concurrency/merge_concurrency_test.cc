// Blind merges from many threads, with readers, snapshots and flushes beside them: each operand
// counts exactly once, at every moment. Also the interleavings of a reader with a chain that is
// being made shorter, forced by test points.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "os/test_point.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

std::string number(uint64_t value) {
  std::string bytes;
  append(bytes, value);
  return bytes;
}

class MergeConcurrency : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
#if defined(HAWTHORN_TEST_POINTS)
  void TearDown() override { os::clear_test_points(); }
#endif
  void open() {
    db_.reset();
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.merge_operators = {uint64_add(), append_with("")};
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    sums_ = *db_->tree("sums");
    text_ = *db_->tree("text");
    ASSERT_OK(db_->set_merge_operator(sums_, "uint64_add"));
    ASSERT_OK(db_->set_merge_operator(text_, "append"));
  }
  uint64_t sum(std::string_view key, const Snapshot* snapshot = nullptr) {
    Value value;
    const Status status = db_->get(sums_, key, value, {.snapshot = snapshot});
    if (status.is_not_found()) return 0;
    EXPECT_OK(status);
    EXPECT_EQ(value.size(), 8u);
    return value.size() == 8 ? load<uint64_t>(value.view().data()) : 0;
  }
  std::string text(std::string_view key, const Snapshot* snapshot = nullptr) {
    Value value;
    const Status status = db_->get(text_, key, value, {.snapshot = snapshot});
    if (!status.is_not_found()) EXPECT_OK(status);
    return status.ok() ? value.to_string() : std::string();
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree sums_;
  Tree text_;
};

TEST_F(MergeConcurrency, sums_are_exact_and_snapshots_monotonic) {
  constexpr int kWriters = 8;
  constexpr uint64_t kKeys = 500;
  constexpr uint64_t kHot = 3;
  const uint64_t merges = environment_number("HAWTHORN_OPERATIONS", 6000);
  std::vector<std::atomic<uint64_t>> expected(kKeys);
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      Prng prng(static_cast<uint64_t>(w) + 77);
      for (uint64_t i = 0; i < merges && !HasFailure(); ++i) {
        const uint64_t key = prng.below(prng.one_in(4) ? kKeys : kHot);
        const uint64_t more = prng.below(1000);
        const uint64_t pick = prng.below(20);
        if (pick == 0) {  // in a transaction of several, half of them aborted
          Transaction t = *db_->begin({.isolation = Isolation::kReadCommitted});
          EXPECT_OK(t.merge(sums_, big_endian(key), number(more)));
          EXPECT_OK(t.merge(sums_, big_endian(key), number(1)));
          if (prng.one_in(2)) {
            t.abort();
            continue;
          }
          EXPECT_OK(t.commit());
          expected[key] += more + 1;
          continue;
        }
        EXPECT_OK(db_->merge(sums_, big_endian(key), number(more)));
        expected[key] += more;
      }
      --writing;
    });
  }
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Prng prng(static_cast<uint64_t>(r) + 5);
      std::vector<uint64_t> seen(kKeys);
      while (writing > 0 && !HasFailure()) {
        const uint64_t hot = prng.below(kHot);
        const uint64_t now = sum(big_endian(hot));
        EXPECT_GE(now, seen[hot]);
        seen[hot] = now;
        const Snapshot snapshot = db_->snapshot();
        uint64_t total = 0;
        uint64_t scanned = 0;
        for (uint64_t key = 0; key < kKeys; ++key) {
          const uint64_t value = sum(big_endian(key), &snapshot);
          EXPECT_GE(value, seen[key]) << key;
          seen[key] = value;
          total += value;
        }
        EXPECT_OK(db_->scan(sums_, "", std::nullopt,
                            [&](std::span<const Entry> entries) {
                              for (const Entry& entry : entries) {
                                scanned += load<uint64_t>(entry.value.data());
                              }
                              return true;
                            },
                            {.snapshot = &snapshot}));
        EXPECT_EQ(total, scanned);
      }
    });
  }
  threads.emplace_back([&] {
    while (writing > 0 && !HasFailure()) {
      EXPECT_OK(db_->flush());
      std::this_thread::sleep_for(std::chrono::milliseconds(7));
    }
  });
  for (std::thread& thread : threads) thread.join();
  const auto expect = [&] {
    for (uint64_t key = 0; key < kKeys; ++key) {
      ASSERT_EQ(sum(big_endian(key)), expected[key]) << key;
    }
  };
  expect();
  open();
  expect();
  ASSERT_OK(db_->flush());
  expect();
  EXPECT_TRUE(clean(*db_));
}

#if defined(HAWTHORN_TEST_POINTS)
// While a reader stands among operands, the chain that it walks is folded, several times.
TEST_F(MergeConcurrency, a_reader_among_operands_counts_each_once) {
  for (const bool with_value : {false, true}) {
    const std::string key = with_value ? "with a value" : "without";
    std::string expected;
    if (with_value) {
      ASSERT_OK(db_->put(text_, key, "value"));
      expected = "value";
    }
    for (int i = 0; i < 10; ++i) {
      ASSERT_OK(db_->merge(text_, key, "(" + std::to_string(i) + ")"));
      expected += "(" + std::to_string(i) + ")";
    }
    const Snapshot snapshot = db_->snapshot();
    for (int stop = 1; stop <= 12; ++stop) {
      std::atomic<int> met{0};
      std::atomic<int> folded{0};
      const std::thread::id reader = std::this_thread::get_id();
      os::set_test_point("fold_chain.replaced", [&] { ++folded; });
      os::set_test_point("operands.seen", [&] {
        if (std::this_thread::get_id() != reader || ++met != stop) return;
        std::thread writer([&] {
          for (int i = 0; i < 100; ++i) EXPECT_OK(db_->merge(text_, key, "+"));
        });
        writer.join();
      });
      EXPECT_EQ(text(key, &snapshot), expected) << stop;
      os::clear_test_points();
      if (met >= stop) {
        EXPECT_GT(folded, 0) << stop;
      }
      EXPECT_EQ(text(key, &snapshot), expected) << stop;
    }
    EXPECT_GT(text(key).size(), expected.size());
  }
}

// Between the copy of a chain and its replacement anything may come: writes, deletes, snapshots,
// flushes. The background's flushes take chains away: more rounds come until enough were folded.
TEST_F(MergeConcurrency, what_comes_between_a_look_and_a_fold_is_not_lost) {
  Prng prng(9);
  int folds = 0;
  for (int round = 0; (round < 60 || folds <= 20) && !HasFailure(); ++round) {
    const std::string key = "k" + std::to_string(round % 5);
    std::vector<Snapshot> snapshots;
    std::vector<std::string> seen;
    std::string expected = text(key);
    bool inside = false;
    os::set_test_point("fold_chain.before_replace", [&] {
      if (inside) return;
      inside = true;
      ++folds;
      // On another thread: this one is in the middle of a write, which is committed later.
      std::thread other([&] {
        switch (prng.below(5)) {
          case 0:
            EXPECT_OK(db_->merge(text_, key, "m"));
            expected += "m";
            break;
          case 1:
            EXPECT_OK(db_->put(text_, key, "p"));
            expected = "p";
            break;
          case 2:
            EXPECT_OK(db_->del(text_, key));
            expected.clear();
            break;
          case 3:
            snapshots.push_back(db_->snapshot());
            seen.push_back(expected);
            break;
          default:
            EXPECT_OK(db_->flush());
            break;
        }
      });
      other.join();
      inside = false;
    });
    for (int i = 0; i < 200; ++i) {
      const std::string operand(1, static_cast<char>('a' + i % 26));
      ASSERT_OK(db_->merge(text_, key, operand));
      expected += operand;
      ASSERT_EQ(text(key), expected) << round << " " << i;
    }
    os::clear_test_points();
    for (size_t s = 0; s < snapshots.size(); ++s) EXPECT_EQ(text(key, &snapshots[s]), seen[s]);
    if (expected.size() > 2000) {
      ASSERT_OK(db_->del(text_, key));
    }
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tests
