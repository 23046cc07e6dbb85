// Asynchronous gets of values that have extents of their own: read by the queue, a few at once,
// while others write, and with errors where they belong.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kLargeKeys = 40;

std::string large_key(uint64_t number) { return "key-" + std::to_string(number); }
// Around the limit, around the size of a piece, and several pieces.
size_t size_of(uint64_t number) {
  constexpr size_t kSizes[] = {100,           65536,           65537,     100'000,
                               256 << 10,     (256 << 10) + 1, 512 << 10, 1'000'003,
                               (3 << 20) + 5, 2 << 20};
  return kSizes[number % std::size(kSizes)];
}
std::string value(uint64_t number, uint64_t version = 0) {
  return value_of(number * 1000 + version, size_of(number));
}

class LargeAsync : public ::testing::Test {
 protected:
  void open(size_t budget) {
    Options options;
    options.memory_budget_bytes = budget;
    options.durability = Durability::kNone;
    auto opened = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = db_->tree("t").value();
  }
  void fill() {
    for (uint64_t i = 0; i < kLargeKeys; ++i) ASSERT_OK(db_->put(tree_, large_key(i), value(i)));
    ASSERT_OK(db_->flush());
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(LargeAsync, AllSizesAreRead) {
  ASSERT_NO_FATAL_FAILURE(open(size_t{32} << 20));
  ASSERT_NO_FATAL_FAILURE(fill());
  const Snapshot snapshot = db_->snapshot();
  for (const uint32_t depth : {1, 5, 64}) {
    for (const bool old : {false, true}) {
      auto queue = db_->read_queue({.depth = depth}).value();
      uint64_t answered = 0;
      for (uint64_t i = 0; i < kLargeKeys + 3; ++i) {
        ReadOptions options;
        if (old) options.snapshot = &snapshot;
        queue->get_async(
            tree_, large_key(i),
            [&, i](const Status& status, Value& found) {
              ++answered;
              if (i >= kLargeKeys) {
                EXPECT_TRUE(status.is_not_found());
                return;
              }
              EXPECT_OK(status);
              EXPECT_TRUE(found.view() == value(i)) << i;
            },
            options);
      }
      while (queue->pending() > 0) queue->wait();
      EXPECT_EQ(answered, kLargeKeys + 3);
    }
    EXPECT_EQ(db_->stats().snapshots, 1u) << "what a read registered is gone with it";
  }
}

TEST_F(LargeAsync, AQueueThatGoesEarly) {
  ASSERT_NO_FATAL_FAILURE(open(size_t{32} << 20));
  ASSERT_NO_FATAL_FAILURE(fill());
  for (int turns = 0; turns < 6; ++turns) {
    auto queue = db_->read_queue({.depth = 16}).value();
    for (uint64_t i = 0; i < kLargeKeys; ++i) {
      queue->get_async(tree_, large_key(i),
                       [](const Status& status, Value&) { EXPECT_OK(status); });
    }
    for (int turn = 0; turn < turns; ++turn) queue->poll();
    queue.reset();
    EXPECT_EQ(db_->stats().snapshots, 0u);
  }
}

TEST_F(LargeAsync, ReadErrors) {
  ASSERT_NO_FATAL_FAILURE(open(size_t{32} << 20));
  ASSERT_NO_FATAL_FAILURE(fill());
  auto queue = db_->read_queue({.depth = 4}).value();
  for (uint64_t nth = 1; nth < 14; ++nth) {
    disk_.fail(testing::SimOp::kRead, nth, StatusCode::kIoError, true);
    size_t failed = 0;
    size_t answered = 0;
    for (uint64_t i = 0; i < kLargeKeys; ++i) {
      queue->get_async(tree_, large_key(i), [&, i](const Status& status, Value& found) {
        ++answered;
        if (status.ok()) {
          EXPECT_TRUE(found.view() == value(i));
          return;
        }
        EXPECT_TRUE(status.is(StatusCode::kIoError)) << status.to_string();
        ++failed;
      });
    }
    while (queue->pending() > 0) queue->wait();
    disk_.clear_faults();
    EXPECT_EQ(answered, kLargeKeys);
    EXPECT_GT(failed, 0u);
  }
  queue->get_async(tree_, large_key(8), [](const Status& status, Value& found) {
    EXPECT_OK(status);
    EXPECT_TRUE(found.view() == value(8));
  });
  while (queue->pending() > 0) queue->wait();
}

TEST_F(LargeAsync, Damage) {
  ASSERT_NO_FATAL_FAILURE(open(size_t{32} << 20));
  ASSERT_NO_FATAL_FAILURE(fill());
  // The last of several pieces.
  const std::string bytes = value(8);
  const std::string end = bytes.substr(bytes.size() - 4000, 3000);
  bool found = false;
  const std::vector<std::string> names = disk_.list("/db").value();
  for (const std::string& name : names) {
    if (!name.starts_with("data.")) continue;
    const std::string path = "/db/" + name;
    auto file = std::move(disk_.open_file(path, {})).value();
    std::string content(file->size().value(), '\0');
    ASSERT_OK(file->read_at(0, {content.data(), content.size()}));
    const size_t at = content.find(end);
    if (at == std::string::npos) continue;
    ASSERT_TRUE(disk_.flip_bit(path, at + 7, 2));
    found = true;
  }
  ASSERT_TRUE(found);
  auto queue = db_->read_queue({.depth = 4}).value();
  for (uint64_t i = 0; i < kLargeKeys; ++i) {
    queue->get_async(tree_, large_key(i), [&, i](const Status& status, Value& got) {
      if (i == 8) {
        EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
      } else {
        EXPECT_OK(status);
        EXPECT_TRUE(got.view() == value(i));
      }
    });
  }
  while (queue->pending() > 0) queue->wait();
  Value got;
  EXPECT_TRUE(db_->get(tree_, large_key(8), got).is(StatusCode::kCorruption));
}

// Values are replaced, and their extents used again, while they are read.
TEST(LargeAsyncFiles, BesideWriters) {
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  auto db = std::move(Db::open(directory / "db", options)).value();
  const Tree tree = db->tree("t").value();
  for (uint64_t i = 0; i < kLargeKeys; ++i) ASSERT_OK(db->put(tree, large_key(i), value(i)));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Prng prng(2);
    for (uint64_t version = 1; !stop.load(); version = version % 9 + 1) {
      const uint64_t number = prng.below(kLargeKeys);
      EXPECT_OK(db->put(tree, large_key(number), value(number, version)));
      if (version == 9) EXPECT_OK(db->flush());
    }
  });
  {
    auto queue = db->read_queue({.depth = 16}).value();
    Prng prng(3);
    for (int round = 0; round < 30; ++round) {
      for (int i = 0; i < 20; ++i) {
        const uint64_t number = prng.below(kLargeKeys);
        queue->get_async(tree, large_key(number), [&, number](const Status& status, Value& found) {
          EXPECT_OK(status);
          bool known = false;
          for (uint64_t version = 0; version < 10 && !known; ++version) {
            known = found.view() == value(number, version);
          }
          EXPECT_TRUE(known) << number;
        });
      }
      while (queue->pending() > 0) queue->wait();
    }
  }
  stop.store(true);
  writer.join();
}

}  // namespace
}  // namespace hawthorn::tests
