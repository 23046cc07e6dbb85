// The limit of background I/O: what it slows, and what it never may.

#include <thread>

#include "testing/sim_machine.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kSecond = 1'000'000;
constexpr uint64_t kRate = 4'000'000;
// Of one step, and what was saved up: budgets are of 16 MB, containers of 256 KB.
constexpr uint64_t kSlack = 2'000'000;

// On a simulated machine, whose clock moves by sleeping alone, nearly.
class BackgroundIo : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.space_target = 1.02;
    auto db = Db::open_on(sim_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  void fill(uint64_t keys, uint64_t round) {
    for (uint64_t i = 0; i < keys; ++i) {
      ASSERT_OK(db_->put(tree_, counter_key_of(i), value_of(i + round, 1000)));
    }
    ASSERT_OK(db_->flush());
  }
  uint64_t timed(const std::function<void()>& work) {
    const uint64_t before = sim_.clock().monotonic_us();
    work();
    return sim_.clock().monotonic_us() - before;
  }
  // Of the limit's: how much `work` moved, and that it took as long as it should.
  void expect_slowed(const std::function<void()>& work) {
    const uint64_t before = db_->stats().background_io_bytes;
    const uint64_t took = timed(work);
    const Stats stats = db_->stats();
    const uint64_t moved = stats.background_io_bytes - before;
    ASSERT_GT(moved, 2 * kSlack);
    EXPECT_GE(took, (moved - kSlack) * kSecond / kRate);
    EXPECT_LE(took, (moved + kSlack) * kSecond / kRate);
    EXPECT_GT(stats.background_io_wait_us, 0U);
    EXPECT_EQ(stats.background_io_bytes_per_second, kRate);
  }

  testing::SimDisk disk_{11};
  testing::SimMachine sim_{disk_, 11};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(BackgroundIo, compaction_takes_its_time) {
  fill(10000, 0);
  for (uint64_t i = 0; i < 10000; i += 20) ASSERT_OK(db_->put(tree_, counter_key_of(i), "new"));
  ASSERT_OK(db_->set_background_io_limit(kRate));
  expect_slowed([&] { ASSERT_OK(db_->compact()); });
  EXPECT_TRUE(clean(*db_));
}

TEST_F(BackgroundIo, checks_take_their_time) {
  fill(10000, 0);
  ASSERT_OK(db_->set_background_io_limit(kRate));
  expect_slowed([&] { EXPECT_TRUE(clean(*db_)); });
}

TEST_F(BackgroundIo, flushes_that_are_waited_for_do_not) {
  ASSERT_OK(db_->set_background_io_limit(1));
  const uint64_t took = timed([&] {
    fill(10000, 0);
    ASSERT_OK(db_->drain());
    ASSERT_OK(db_->close());
  });
  EXPECT_LT(took, 100 * kSecond);  // at one byte per second it would be months
}

TEST_F(BackgroundIo, without_a_limit_nothing_waits) {
  fill(10000, 0);
  EXPECT_LT(timed([&] { ASSERT_OK(db_->compact()); }), 10 * kSecond);
  ASSERT_OK(db_->set_background_io_limit(kRate));
  ASSERT_OK(db_->set_background_io_limit(0));
  fill(10000, 1);
  EXPECT_LT(timed([&] { EXPECT_TRUE(clean(*db_)); }), 10 * kSecond);
  EXPECT_EQ(db_->stats().background_io_wait_us, 0U);
  EXPECT_EQ(db_->stats().background_io_bytes_per_second, 0U);
}

class BackgroundIoForReal : public Api {};

// One byte per second, and many times the memory to write: as fast as without, since writers win.
TEST_F(BackgroundIoForReal, a_limit_never_stops_writers) {
  db_.reset();
  Options with = options();
  with.memory_budget_bytes = size_t{16} << 20;
  with.background_io_bytes_per_second = 1;
  auto db = Db::open(path_, with);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  constexpr uint64_t kKeys = 60000;
  std::vector<std::thread> writers;
  for (uint64_t w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (uint64_t i = w; i < kKeys; i += 2) {
        ASSERT_OK((*db)->put(tree, counter_key_of(i), value_of(i, 1000)));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const Stats stats = (*db)->stats();
  EXPECT_GT(stats.flushes, 0U);
  EXPECT_GT(stats.background_io_urgent_bytes, 0U);
  EXPECT_EQ((*db)->count(tree, "", std::nullopt).value(), kKeys);
  ASSERT_OK((*db)->close());
}

TEST_F(BackgroundIoForReal, a_limit_is_lifted_under_those_who_wait) {
  for (uint64_t i = 0; i < 5000; ++i) put(counter_key_of(i), value_of(i, 1000));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->set_background_io_limit(1));
  std::thread checks([&] { EXPECT_TRUE(clean(*db_)); });
  while (db_->stats().background_io_wait_us == 0) std::this_thread::yield();
  put("a", "writers go on");
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->set_background_io_limit(0));
  checks.join();
}

}  // namespace
}  // namespace hawthorn::tests
