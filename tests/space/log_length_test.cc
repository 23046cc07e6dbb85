// How long the log is, and how much is written for its sake, where few containers take all writes:
// they are flushed again before the last flush is durable.

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

class LogLength : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{1} << 20;
    db::log_bytes_min = kLimit;
    Options options;
    options.memory_budget_bytes = size_t{64} << 20;
    options.durability = Durability::kNone;
    auto db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    auto tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  ~LogLength() override {
    db_.reset();
    db::log_segment_bytes = segment_bytes_;
    db::log_bytes_min = bytes_min_;
  }

  template <typename Key>
  void write(Key key) {
#if defined(HAWTHORN_ASAN)
    GTEST_SKIP() << "AddressSanitizer takes minutes for as much as makes the log go round";
#endif
    for (uint64_t i = 0; i < scaled(kWrites); ++i) {
      ASSERT_OK(db_->put(tree_, key(i), value_of(i, 100)));
      if (i % 1000 != 0) continue;
      const Stats stats = db_->stats();
      longest_ = std::max(longest_, stats.log_bytes);
    }
    ASSERT_OK(db_->drain());
    const Stats stats = db_->stats();
    EXPECT_GT(stats.bytes_written_log, 6 * kLimit);
    // The writer goes on while flushes and syncs take their time.
    EXPECT_LT(longest_, 5 * kLimit);
    EXPECT_LT(stats.bytes_written_data, 2 * stats.bytes_written_log);
    EXPECT_LT(stats.log_bytes, kLimit);
  }

  static constexpr uint64_t kLimit = uint64_t{30} << 20;
  static constexpr uint64_t kWrites = 6'000'000;  // a quarter of them goes round a few times
  const size_t segment_bytes_ = db::log_segment_bytes;
  const size_t bytes_min_ = db::log_bytes_min;
  uint64_t longest_ = 0;
  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(LogLength, OfKeysInOrder) {
  write([](uint64_t i) { return big_endian(i); });
}

TEST_F(LogLength, OfFewKeys) {
  Prng prng(1);
  write([&](uint64_t) { return big_endian(prng.below(3000)); });
}

}  // namespace
}  // namespace hawthorn::tests
