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
      if (i % 1000 == 0) look();
    }
    // The background makes it short by itself.
    EXPECT_TRUE(wait_until([this] { return db_->stats().log_bytes <= kLimit; }));
    ASSERT_OK(db_->drain());
    const Stats stats = db_->stats();
    EXPECT_GT(stats.bytes_written_log, 6 * kLimit);
    // One or two; some that were under way then may give nothing back, and the next one trims.
    EXPECT_LE(most_batches_, 5u);
    EXPECT_LT(stats.bytes_written_data, 2 * stats.bytes_written_log);
    EXPECT_LT(stats.log_bytes, kLimit);
  }

  // Counts the batches of the manifest from when the log is too long until it is short enough for
  // what was in it then: the writer goes on meanwhile, however long flushes and syncs take.
  void look() {
    const Stats stats = db_->stats();
    const uint64_t head = stats.visible_timestamp;
    const uint64_t trimmed = head - std::min(head, stats.log_bytes);
    if (long_at_ == 0 && stats.log_bytes > kLimit) {
      long_at_ = head;
      batch_ = stats.manifest_batch;
    }
    if (long_at_ == 0) return;
    most_batches_ = std::max(most_batches_, stats.manifest_batch - batch_);
    if (trimmed + kLimit >= long_at_) long_at_ = 0;
  }

  static constexpr uint64_t kLimit = uint64_t{30} << 20;
  static constexpr uint64_t kWrites = 6'000'000;  // a quarter of them goes round a few times
  const size_t segment_bytes_ = db::log_segment_bytes;
  const size_t bytes_min_ = db::log_bytes_min;
  uint64_t long_at_ = 0;  // where its head was; 0: it is short enough
  uint64_t batch_ = 0;    // the manifest's then
  uint64_t most_batches_ = 0;
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
