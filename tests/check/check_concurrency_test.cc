// Checks and the scrub beside writers that flush, rewrite, split, join and drop: no damage is told
// where there is none.

#include <algorithm>
#include <atomic>
#include <thread>

#include "db/log_sizing.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kKeys = 3000;

TEST(CheckConcurrency, beside_writers_finds_nothing) {
  db::log_segment_bytes = size_t{4} << 20;
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{24} << 20;
  options.durability = Durability::kNone;
  options.space_target = 1.05;  // much is rewritten
  options.scrub_bytes_per_second = size_t{200} << 20;
  std::atomic<int> told{0};
  options.log = [&told](LogLevel level, std::string_view message) {
    if (level != LogLevel::kError) return;
    ++told;
    ADD_FAILURE() << message;
  };
  auto opened = Db::open(directory / "db", options);
  ASSERT_OK(opened.status());
  Db& db = **opened;
  const Tree packed = db.tree("packed").value();
  ASSERT_OK(db.set_compression(packed, Compression::kLz4));
  const Tree plain = db.tree("plain").value();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < 2; ++number) {
    threads.emplace_back([&, number] {
      Prng prng(number + 1);
      for (uint64_t i = 0; !stop.load(); ++i) {
        const Tree& tree = prng.one_in(3) ? packed : plain;
        const std::string key = big_endian(prng.below(kKeys));
        const size_t size = prng.one_in(200) ? 70'000 + prng.below(200'000) : prng.below(600);
        Status status;
        if (prng.one_in(20)) {
          status = db.del(tree, key);
        } else if (prng.one_in(2000)) {
          const std::string low = big_endian(prng.below(kKeys));
          status = db.delete_range(tree, low, low + big_endian(prng.below(200)));
        } else {
          status = db.put(tree, key, value_of(i, size));
        }
        ASSERT_TRUE(status.ok() || status.is(StatusCode::kTimedOut)) << status.to_string();
        if (i % 4000 == 3999) ASSERT_OK(db.flush());
      }
    });
  }
  threads.emplace_back([&] {
    for (uint64_t i = 0; !stop.load(); ++i) {
      ASSERT_OK(db.compact());
      const std::string name = "short-lived " + std::to_string(i);
      const Tree tree = db.tree(name).value();
      for (uint64_t k = 0; k < 500; ++k) ASSERT_OK(db.put(tree, big_endian(k), value_of(k, 300)));
      ASSERT_OK(db.flush());
      ASSERT_OK(db.drop_tree(name));
    }
  });
  const uint64_t rounds = scaled(200);
  uint64_t blocks = 0;
  // Until there was something to check, too.
  for (uint64_t round = 0; round < rounds || blocks <= rounds * 10; ++round) {
    const Result<CheckReport> report = db.check({.threads = static_cast<uint32_t>(1 + round % 3)});
    ASSERT_OK(report.status());
    for (const std::string& error : report->errors) ADD_FAILURE() << error;
    blocks += report->blocks_verified;
    if (HasFailure()) break;
  }
  EXPECT_TRUE(wait_until([&] { return db.stats().scrub_containers > 0; }));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told.load(), 0);
  // When all is quiet, all space has its owner.
  ASSERT_OK(db.flush());
  ASSERT_OK(db.drain());
  EXPECT_TRUE(wait_until([&] {
    EXPECT_OK(db.drain());
    return db.check({.verify_values = false}).value().bytes_unaccounted == 0;
  }));
}

// Large values, replaced and changed in parts while they are flushed and not: their extents are
// used again under a check that is slower than that.
TEST(CheckConcurrency, beside_writers_of_large_values_finds_nothing) {
  db::log_segment_bytes = size_t{4} << 20;
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{24} << 20;
  options.durability = Durability::kNone;
  auto opened = Db::open(directory / "db", options);
  ASSERT_OK(opened.status());
  Db& db = **opened;
  const Tree tree = db.tree("large").value();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < 2; ++number) {
    threads.emplace_back([&, number] {
      Prng prng(number + 1);
      for (uint64_t i = 0; !stop.load(); ++i) {
        const std::string key = big_endian(prng.below(20));
        Status status;
        if (prng.one_in(3)) {
          status = db.write_part(tree, key, prng.below(60'000), value_of(i, 9000));
        } else if (prng.one_in(10)) {
          status = db.del(tree, key);
        } else {
          status = db.put(tree, key, value_of(i, 70'000 + prng.below(3) * 300'000));
        }
        ASSERT_TRUE(status.ok() || status.is_not_found() || status.is(StatusCode::kConflict) ||
                    status.is(StatusCode::kTimedOut))
            << status.to_string();
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) ASSERT_OK(db.flush());
  });
  constexpr uint64_t kRounds = 40;
  uint64_t values = 0;
  // Until there were values to check, too.
  for (uint64_t round = 0; round < kRounds || values <= kRounds; ++round) {
    if (::testing::Test::HasFailure()) break;
    const Result<CheckReport> report =
        db.check({.bytes_per_second = size_t{100} << 20, .threads = 2});
    ASSERT_OK(report.status());
    for (const std::string& error : report->errors) ADD_FAILURE() << error;
    values += report->large_values;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db.flush());
  ASSERT_OK(db.drain());
  const CheckReport quiet = db.check().value();
  EXPECT_TRUE(quiet.ok()) << quiet.errors.front();
}

// What the walk through a log needs is most of a small budget.
TEST(CheckConcurrency, one_at_a_time_reads_the_log) {
  TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{64} << 20;
  options.durability = Durability::kNone;
  auto db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (uint64_t i = 0; i < 8000; ++i) ASSERT_OK((*db)->put(tree, key_of(i), value_of(i, 1000)));
  ASSERT_OK((*db)->sync());
  // Without what is flushed meanwhile.
  const auto others = [&] {
    const Stats stats = (*db)->stats();
    const size_t known = stats.memory_delta_bytes + stats.memory_index_bytes +
                         stats.memory_value_bytes + stats.memory_frame_bytes;
    return stats.memory_used_bytes - std::min<size_t>(known, stats.memory_used_bytes);
  };
  const size_t before = others();
  size_t most = 0;
  // Again where this thread has not looked while one of them had its memory.
  EXPECT_TRUE(wait_until([&] {
    std::atomic<int> left{3};
    std::vector<std::thread> checks;
    for (int n = left; n > 0; --n) {
      checks.emplace_back([&] {
        const auto report = (*db)->check({.bytes_per_second = uint64_t{16} << 20});
        EXPECT_TRUE(report.ok() && report->ok());
        --left;
      });
    }
    while (left > 0) most = std::max(most, others());
    for (std::thread& check : checks) check.join();
    return most >= before + (size_t{8} << 20);
  }));
  EXPECT_LT(most, before + (size_t{22} << 20));
}

}  // namespace
}  // namespace hawthorn::tests
