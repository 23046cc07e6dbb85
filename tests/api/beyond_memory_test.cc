// Reads of a database that is larger than its memory: gets, batches, scans and asynchronous gets
// must return what is there, within the budget, with about one read of the disk for each cold get.

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "base/sanitizers.h"
#include "hawthorn/hawthorn.h"
#include "os/test_point.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kBudget = size_t{16} << 20;

// Keys of 24 bytes with small values (in the runs) or large ones (in extents), four times the
// budget.
struct Kind {
  size_t value_bytes;
  Compression compression;
};
void PrintTo(const Kind& kind, std::ostream* to) {
  constexpr const char* kNames[] = {"none", "lz4", "zstd"};
  *to << kind.value_bytes << "_" << kNames[static_cast<size_t>(kind.compression)];
}

// A tree of a database with that budget.
class LargeTree {
 protected:
  // key and value: of the entry with a number below `count`.
  template <typename Key, typename Value>
  void fill(Compression compression, uint64_t count, Key key, Value value) {
    Options options;
    options.memory_budget_bytes = kBudget;
    options.durability = Durability::kNone;
    options.compression = compression;
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = db_->tree("t").value();
    for (uint64_t i = 0; i < count;) {
      WriteBatch batch;
      for (int n = 0; n < 500 && i < count; ++n, ++i) batch.put(tree_, key(i), value(i));
      ASSERT_OK(db_->write(batch));
    }
    ASSERT_OK(db_->flush());
  }

  void reopen(const Options& options) {
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = db_->find_tree("t").value();
  }

  // Merges of a flush may have found no contiguous room in so small a budget: the background gives
  // back what they took beyond it.
  void expect_budget_kept() {
    constexpr size_t kMost = kBudget + kBudget / 20;
    EXPECT_TRUE(wait_until([&] { return db_->stats().memory_resident_bytes <= kMost; }));
  }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

class BeyondMemory : public ::testing::TestWithParam<Kind>, protected LargeTree {
 protected:
  void SetUp() override {
    count_ = 4 * kBudget / (24 + GetParam().value_bytes);
    fill(GetParam().compression, count_, key, [this](uint64_t i) { return value(i); });
  }
  static constexpr uint64_t kStep = uint64_t{1} << 40;
  static std::string key(uint64_t number) {
    // Written in order, which is quick; the tails make records of them.
    return big_endian(number * kStep) + big_endian(number) + "-tail-24";
  }
  std::string value(uint64_t number) const { return value_of(number, GetParam().value_bytes); }

  uint64_t count_ = 0;
};

TEST_P(BeyondMemory, GetsReadOneBlockEach) {
  Prng prng(1);
  Value found;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t number = prng.below(count_);
    ASSERT_OK(db_->get(tree_, key(number), found));
    ASSERT_EQ(found.view(), value(number));
  }
  const Stats before = db_->stats();
  constexpr int kGets = 4000;
  for (int i = 0; i < kGets; ++i) {
    const uint64_t number = prng.below(count_);
    ASSERT_OK(db_->get(tree_, key(number), found));
    ASSERT_EQ(found.view(), value(number));
    ASSERT_TRUE(db_->get(tree_, key(number) + "x", found).is_not_found());
  }
  const Stats after = db_->stats();
  // A record or value may reach into a second block, and a front may have left: 1.6 to 2.0 of them
  // were seen for a pair of gets. Of what is compressed whole chunks are read, which begin and end
  // in blocks of others. A front that is read for each get would be ten.
  const double blocks = GetParam().compression == Compression::kNone ? 2.5 : 5;
  EXPECT_LT(static_cast<double>(after.bytes_read - before.bytes_read), kGets * 4096 * blocks);
  EXPECT_GT(after.memory_frame_bytes, 0u);
  expect_budget_kept();
}

TEST_P(BeyondMemory, HotKeysStayInMemory) {
  Prng prng(2);
  Value found;
  const uint64_t hot = count_ / 100;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t number = prng.one_in(10) ? prng.below(count_) : prng.below(hot);
    ASSERT_OK(db_->get(tree_, key(number), found));
    ASSERT_EQ(found.view(), value(number));
  }
  const Stats before = db_->stats();
  for (int i = 0; i < 5000; ++i) ASSERT_OK(db_->get(tree_, key(prng.below(hot)), found));
  const Stats after = db_->stats();
  EXPECT_LT(after.bytes_read - before.bytes_read, uint64_t{5000} * 4096 / 10);
}

TEST_P(BeyondMemory, FromMemoryAlone) {
  Prng prng(5);
  Value found;
  // What was just read, and again, is there; of what is never read most is not.
  const std::string hot = key(count_ / 2);
  for (int i = 0; i < 100; ++i) ASSERT_OK(db_->get(tree_, hot, found));
  ASSERT_OK(db_->get_in_memory(tree_, hot, found));
  EXPECT_EQ(found.view(), value(count_ / 2));
  ASSERT_OK(db_->drain());
  const Snapshot before_changes = db_->snapshot();
  ASSERT_OK(db_->put(tree_, "new", "in memory"));
  const std::string deleted = key(7);
  ASSERT_OK(db_->del(tree_, deleted));
  ASSERT_OK(db_->put(tree_, "large", std::string(100'000, 'l')));

  const uint64_t read_before = db_->stats().bytes_read;
  size_t missing = 0;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t number = 8 + prng.below(count_ - 8);
    const Status status = db_->get_in_memory(tree_, key(number), found);
    if (status.ok()) {
      ASSERT_EQ(found.view(), value(number));
      continue;
    }
    ASSERT_TRUE(status.is(StatusCode::kNotInMemory)) << status.to_string();
    EXPECT_TRUE(found.empty());
    ++missing;
    const Status absent = db_->get_in_memory(tree_, key(number) + "x", found);
    EXPECT_TRUE(absent.is_not_found() || absent.is(StatusCode::kNotInMemory));
  }
  EXPECT_GT(missing, 500u);
  ASSERT_OK(db_->get_in_memory(tree_, "new", found));
  EXPECT_EQ(found.view(), "in memory");
  EXPECT_TRUE(db_->get_in_memory(tree_, deleted, found).is_not_found());
  EXPECT_TRUE(db_->get_in_memory(tree_, "large", found).is(StatusCode::kNotInMemory));
  const ReadOptions earlier{.snapshot = &before_changes};
  EXPECT_FALSE(db_->get_in_memory(tree_, "new", found, earlier).ok());
  const Status kept = db_->get_in_memory(tree_, deleted, found, earlier);
  EXPECT_TRUE(kept.ok() ? found.view() == value(7) : kept.is(StatusCode::kNotInMemory));
  EXPECT_EQ(db_->stats().bytes_read, read_before);
}

TEST_P(BeyondMemory, BatchesAndScansAgree) {
  Prng prng(3);
  ReadBatch batch;
  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  for (int round = 0; round < 20; ++round) {
    keys.clear();
    views.clear();
    std::vector<uint64_t> numbers;
    for (int i = 0; i < 300; ++i) {
      numbers.push_back(prng.below(count_ * 5 / 4));  // some are not there
      if (prng.one_in(8)) numbers.back() = numbers.front();
      keys.push_back(key(numbers.back()));
    }
    for (const std::string& one : keys) views.push_back(one);
    ASSERT_OK(db_->multi_get(tree_, views, batch));
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(batch[i].found(), numbers[i] < count_);
      if (batch[i].found()) {
        ASSERT_EQ(batch[i].value, value(numbers[i]));
      }
    }
  }
  uint64_t seen = 0;
  std::string last;
  ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      EXPECT_LT(last, entry.key);
      last = entry.key;
      uint64_t number = 0;
      for (size_t i = 8; i < 16; ++i) {
        number = number << 8 | static_cast<unsigned char>(entry.key[i]);
      }
      EXPECT_EQ(entry.value, value(number));
      ++seen;
    }
    return !HasFailure();
  }));
  EXPECT_EQ(seen, count_);
  expect_budget_kept();
}

TEST_P(BeyondMemory, CursorsWalkBothWays) {
  std::map<std::string, uint64_t> order;
  for (uint64_t i = 0; i < count_; ++i) order[key(i)] = i;
  Prng prng(4);
  Cursor cursor = db_->cursor(tree_);
  for (int walk = 0; walk < 60; ++walk) {
    auto at = order.lower_bound(big_endian(prng.below(count_) * kStep + 1));
    if (at == order.end()) continue;
    ASSERT_TRUE(cursor.seek(at->first));
    for (uint64_t step = prng.below(400); step > 0; --step) {
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), value(at->second));
      const bool back = prng.one_in(3);
      if (back && at == order.begin()) break;
      at = back ? std::prev(at) : std::next(at);
      if (at == order.end()) break;
      ASSERT_TRUE(back ? cursor.prev() : cursor.next());
    }
  }
  // Backwards over many containers.
  auto at = order.rbegin();
  ASSERT_TRUE(cursor.last());
  for (int step = 0; step < 20000 && at != order.rend(); ++step, ++at) {
    ASSERT_EQ(cursor.key(), at->first);
    ASSERT_EQ(cursor.value(), value(at->second));
    if (!cursor.prev()) break;
  }
}

// A walk reads ahead, and may go from thread to thread with those reads under way.
TEST_P(BeyondMemory, AWalkOfManyThreads) {
  Cursor cursor = db_->cursor(tree_);
  ASSERT_TRUE(cursor.first());
  const uint64_t before = db_->stats().bytes_read;
  uint64_t seen = 0;
  uint64_t wrong = 0;
  for (bool more = true; more;) {
    std::thread walker([&] {
      for (int i = 0; i < 5000 && more; ++i) {
        if (cursor.key() != key(seen) || cursor.value() != value(seen)) ++wrong;
        ++seen;
        more = cursor.next();
      }
    });
    walker.join();
  }
  ASSERT_OK(cursor.status());
  EXPECT_EQ(seen, count_);
  EXPECT_EQ(wrong, 0u);
  // Nothing is read twice, but for what lies at the ends of windows.
  EXPECT_LT(db_->stats().bytes_read - before, count_ * (24 + GetParam().value_bytes) * 3 / 2);
  expect_budget_kept();
}

TEST_P(BeyondMemory, AsynchronousGets) {
  auto queue = db_->read_queue({.depth = 16}).value();
  Prng prng(5);
  size_t answered = 0;
  size_t begun = 0;
  // Each completion begins the next one.
  std::function<void()> begin = [&] {
    const uint64_t number = prng.below(count_ * 9 / 8);
    ++begun;
    queue->get_async(tree_, key(number), [&, number](const Status& status, Value& found) {
      ++answered;
      if (number < count_) {
        EXPECT_OK(status);
        EXPECT_EQ(found.view(), value(number));
      } else {
        EXPECT_TRUE(status.is_not_found());
      }
      if (begun < 3000) begin();
    });
  };
  for (int i = 0; i < 40; ++i) begin();
  EXPECT_EQ(answered, 0u) << "completions run in poll and wait only";
  EXPECT_EQ(queue->pending(), 40u);
  while (queue->pending() > 0) queue->wait();
  EXPECT_EQ(answered, 3000u);
  EXPECT_EQ(queue->poll(), 0u);
  EXPECT_EQ(queue->wait(), 0u);
}

TEST_P(BeyondMemory, AnEventLoop) {
  auto queue = db_->read_queue().value();
  pollfd polled{.fd = queue->event_fd(), .events = POLLIN, .revents = 0};
  ASSERT_GE(polled.fd, 0);
  Prng prng(6);
  size_t answered = 0;
  for (int round = 0; round < 50; ++round) {
    // The last key was read before: memory alone answers, and the loop has to hear of it, too.
    std::vector<uint64_t> numbers{prng.below(count_), prng.below(count_)};
    if (round % 2 == 1) numbers = {0};
    for (const uint64_t number : numbers) {
      queue->get_async(tree_, key(number), [&, number](const Status& status, Value& found) {
        EXPECT_OK(status);
        EXPECT_EQ(found.view(), value(number));
        ++answered;
      });
    }
    while (queue->pending() > 0) {
      polled.revents = 0;
      const int ready = ::poll(&polled, 1, static_cast<int>(testing::kHangLimitMs));
      if (ready < 0 && errno == EINTR) continue;
      ASSERT_EQ(ready, 1) << "nobody woke the loop";
      queue->poll();
    }
  }
  EXPECT_EQ(answered, 75u);
}

// The least that a coroutine needs.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

TEST_P(BeyondMemory, Coroutines) {
  auto queue = db_->read_queue().value();
  int done = 0;
  const auto follow = [&](uint64_t from) -> Task {
    uint64_t number = from;
    for (int step = 0; step < 20; ++step) {
      const std::string at = key(number);
      const GetResult result = co_await queue->get(tree_, at);
      EXPECT_OK(result.status);
      EXPECT_EQ(result.value.view(), value(number));
      number = mix64(number) % count_;
    }
    ++done;
  };
  for (uint64_t i = 0; i < 10; ++i) follow(i);
  while (queue->pending() > 0) queue->wait();
  EXPECT_EQ(done, 10);
}

TEST_P(BeyondMemory, AQueueIsUsedWrongly) {
  EXPECT_TRUE(db_->read_queue({.depth = 0}).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->read_queue({.depth = 5000}).status().is(StatusCode::kInvalidArgument));
  auto queue = db_->read_queue({.depth = 2}).value();
  EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  int failed = 0;
  queue->get_async(Tree(), "a", [&](const Status& status, Value&) {
    failed += status.is(StatusCode::kInvalidArgument) ? 1 : 0;
  });
  queue->wait();
  EXPECT_EQ(failed, 1);
  // Destroyed with reads on their way: their completions never run.
  Snapshot snapshot = db_->snapshot();
  for (uint64_t i = 0; i < 20; ++i) {
    queue->get_async(tree_, key(i), [](const Status&, Value&) { ADD_FAILURE(); },
                     {.snapshot = &snapshot});
  }
  queue.reset();
  snapshot.reset();
  EXPECT_OK(db_->close());
}

class BeyondMemoryAlone : public ::testing::Test, protected LargeTree {
 protected:
#if defined(HAWTHORN_TEST_POINTS)
  void TearDown() override { os::clear_test_points(); }
#endif
};

// Empty values take no byte of a heap, which is on disk: reads need nothing of it for them.
TEST_F(BeyondMemoryAlone, EmptyValuesBesideOthers) {
  // Plain entries without a value and with one in an extent; records.
  const auto key = [](uint64_t i) { return big_endian(i << 40) + (i % 3 == 2 ? "-a-tail" : ""); };
  const auto value = [](uint64_t i) {
    return i % 3 == 0 ? std::string() : value_of(i, i % 3 == 1 ? 364 : 150);
  };
  constexpr uint64_t kKeys = 300000;
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, kKeys, key, value));
  Prng prng(5);
  Value found;
  ReadBatch batch;
  for (int round = 0; round < 4000; ++round) {
    const uint64_t i = prng.below(kKeys / 3) * 3;
    ASSERT_OK(db_->get(tree_, key(i), found));
    ASSERT_EQ(found.view(), "");
    const std::string keys[] = {key(i), key(i + 1), key(i + 2)};
    const std::string_view views[] = {keys[0], keys[1], keys[2]};
    ASSERT_OK(db_->multi_get(tree_, views, batch));
    for (size_t n = 0; n < 3; ++n) {
      ASSERT_TRUE(batch[n].found());
      ASSERT_EQ(batch[n].value, value(i + n));
    }
  }
  Cursor cursor = db_->cursor(tree_);
  for (int round = 0; round < 500; ++round) {
    uint64_t i = prng.below(kKeys);
    cursor.seek(key(i));
    for (int step = 0; step < 10 && i < kKeys; ++step, ++i, cursor.next()) {
      ASSERT_EQ(cursor.key(), key(i));
      ASSERT_EQ(cursor.value(), value(i));
    }
  }
}

// The index blocks alone are more than the memory: a get reads one of them and one of what it says,
// not all of a container's.
TEST_F(BeyondMemoryAlone, IndexesLargerThanMemory) {
  // Heads are equal in fives and tell three keys of five from others only by their tails.
  const auto key = [](uint64_t i) { return big_endian((i / 5) << 30) + big_endian(i) + "tail"; };
  constexpr uint64_t kKeys = 2000000;
  const auto value = [](uint64_t i) { return big_endian(i * 7); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, kKeys, key, value));
  Prng prng(6);
  Value found;
  const auto read_some = [&](int count) {
    for (int n = 0; n < count; ++n) {
      const uint64_t i = prng.below(kKeys);
      ASSERT_OK(db_->get(tree_, key(i), found));
      ASSERT_EQ(found.view(), value(i));
      ASSERT_TRUE(db_->get(tree_, key(i) + "x", found).is_not_found());
    }
  };
  ASSERT_NO_FATAL_FAILURE(read_some(2000));
  const uint64_t before = db_->stats().bytes_read;
  constexpr int kGets = 5000;
  ASSERT_NO_FATAL_FAILURE(read_some(kGets));
  EXPECT_LT((db_->stats().bytes_read - before) / kGets, uint64_t{5} * 4096);
  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  std::vector<uint64_t> numbers;
  for (int n = 0; n < 1000; ++n) numbers.push_back(prng.below(kKeys + kKeys / 10));
  for (const uint64_t i : numbers) keys.push_back(key(i));
  for (const std::string& one : keys) views.push_back(one);
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree_, views, batch));
  for (size_t n = 0; n < numbers.size(); ++n) {
    ASSERT_EQ(batch[n].found(), numbers[n] < kKeys);
    if (batch[n].found()) {
      ASSERT_EQ(batch[n].value, value(numbers[n]));
    }
  }
  // Others are written meanwhile, and read again.
  for (int n = 0; n < 20000; ++n) {
    const uint64_t i = prng.below(kKeys);
    ASSERT_OK(db_->put(tree_, key(i), value(i)));
  }
  ASSERT_NO_FATAL_FAILURE(read_some(2000));
  EXPECT_TRUE(db_->check().ok());
}

#if defined(HAWTHORN_TEST_POINTS)
// What writers owe they pay by flushing containers that are in memory; those of which something
// must be read they leave to others (attack 53).
TEST_F(BeyondMemoryAlone, WritersReadNothing) {
  constexpr uint64_t kKeys = 400'000;
  const auto key = [](uint64_t i) { return big_endian(i) + "-tail"; };
  // In runs and in extents of their own.
  const auto value = [](uint64_t i) { return value_of(i, i % 2 == 0 ? 20 + i % 9 : 250); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, kKeys, key, value));
  struct Seen {
    std::atomic<int> steps{0};
    std::atomic<bool> done{false};
    bool in_step = false;  // of the writer, as what follows
    int reads = 0;
  };
  const auto seen = std::make_shared<Seen>();
  const std::thread::id writer = std::this_thread::get_id();
  const auto when_writing = [&](const char* point, std::function<void(Seen&)> hook) {
    os::set_test_point(point, [seen, writer, hook = std::move(hook)] {
      if (std::this_thread::get_id() == writer) hook(*seen);
    });
  };
  when_writing("scheduler.before_writer_step", [](Seen& now) {
    now.in_step = true;
    ++now.steps;
  });
  when_writing("scheduler.after_writer_step", [](Seen& now) { now.in_step = false; });
  const auto read = [](Seen& now) { now.reads += now.in_step ? 1 : 0; };
  when_writing("residency.before_run_is_read", read);
  when_writing("residency.before_blocks_are_read", read);
  // However fast the others are, for each flush of theirs the writer has tried one.
  os::set_test_point("scheduler.before_merge", [seen, writer] {
    if (std::this_thread::get_id() == writer) return;
    for (const int before = seen->steps; seen->steps == before && !seen->done;) {
      std::this_thread::yield();
    }
  });
  Prng prng(9);
  Status status;
  for (int n = 0; n < 60'000 && status.ok(); ++n) {
    const uint64_t i = prng.below(kKeys);
    status = db_->put(tree_, key(i), value(i + 2));
  }
  seen->done = true;
  os::clear_test_points();
  ASSERT_OK(status);
  EXPECT_GT(seen->steps, 0);
  EXPECT_EQ(seen->reads, 0);
  EXPECT_TRUE(clean(*db_));
}
#endif

// Small plain values have no heap and no extent: a range reads the blocks of its groups, not the
// whole of its container.
TEST_F(BeyondMemoryAlone, ShortRangesOfCountersReadTheirBlocks) {
  constexpr uint64_t kKeys = 1'200'000;
  const auto key = [](uint64_t i) { return big_endian(i * 1001); };
  const auto value = [](uint64_t i) { return value_of(i, 8); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, kKeys, key, value));
  Prng prng(7);
  Cursor cursor = db_->cursor(tree_);
  const auto walk_some = [&](int count) {
    for (int n = 0; n < count; ++n) {
      uint64_t i = 100 + prng.below(kKeys - 200);
      const bool forward = prng.one_in(2);
      ASSERT_TRUE(forward ? cursor.seek(key(i)) : cursor.seek_for_prev(key(i) + "x"));
      for (int step = 0; step < 100; ++step) {
        ASSERT_EQ(cursor.key(), key(i));
        ASSERT_EQ(cursor.value(), value(i));
        ASSERT_TRUE(forward ? cursor.next() : cursor.prev());
        i += forward ? 1 : ~uint64_t{0};
      }
    }
  };
  ASSERT_NO_FATAL_FAILURE(walk_some(500));
  const uint64_t before = db_->stats().bytes_read;
  constexpr int kWalks = 1000;
  ASSERT_NO_FATAL_FAILURE(walk_some(kWalks));
  // The first window of a walk is 16 KB.
  EXPECT_LT((db_->stats().bytes_read - before) / kWalks, uint64_t{32} << 10);
  // Beside new values, which are merged with them.
  for (int n = 0; n < 20000; ++n) {
    const uint64_t i = prng.below(kKeys);
    ASSERT_OK(db_->put(tree_, key(i), value(i)));
  }
  ASSERT_NO_FATAL_FAILURE(walk_some(500));
  expect_budget_kept();
}

// Behind an open, too, a get reads its value's block alone.
TEST_F(BeyondMemoryAlone, WarmedUpAtOpen) {
  const uint64_t keys = 4 * kBudget / 308;
  const auto key = [](uint64_t i) { return big_endian(i * 1001); };
  const auto value = [](uint64_t i) { return value_of(i, 300); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, keys, key, value));
  Options options;
  options.memory_budget_bytes = kBudget;
  options.read_only = true;
  ASSERT_OK(db_->close());
  for (const bool warm : {false, true}) {
    SCOPED_TRACE(warm);
    ASSERT_NO_FATAL_FAILURE(reopen(options));
    if (warm) {
      ASSERT_OK(db_->warm_up());
      EXPECT_GT(db_->stats().memory_index_bytes, keys * 12);
    }
    const uint64_t read = db_->stats().bytes_read;
    Value found;
    uint64_t gets = 0;
    for (uint64_t i = 1; i < keys; i += 997, ++gets) {
      ASSERT_OK(db_->get(tree_, key(i), found));
      ASSERT_EQ(found.view(), value(i));
    }
    const uint64_t each = (db_->stats().bytes_read - read) / gets;
    if (warm) {
      EXPECT_LE(each, 2 * 4096u);  // a value may reach into a second block
    } else {
      EXPECT_GT(each, 2 * 4096u) << "the fronts must have been missing";
    }
    ASSERT_OK(db_->warm_up());  // with nothing to do, or with all
    ASSERT_OK(db_->close());
  }
  EXPECT_TRUE(db_->warm_up().is(StatusCode::kClosed));
}

// Runs that hold small values are as large as all of the tree: behind an open a first get reads
// the header and one block of its container's, and after warm_up the block alone.
TEST_F(BeyondMemoryAlone, CountersBehindAnOpen) {
  constexpr uint64_t kKeys = 3'000'000;
  const auto key = [](uint64_t i) { return big_endian(i * 1001); };
  const auto value = [](uint64_t i) { return value_of(i, 8); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, kKeys, key, value));
  ASSERT_OK(db_->close());
  Options options;
  options.memory_budget_bytes = kBudget;
  for (const bool warm : {false, true}) {
    SCOPED_TRACE(warm);
    ASSERT_NO_FATAL_FAILURE(reopen(options));
    if (warm) ASSERT_OK(db_->warm_up());
    const uint64_t before = db_->stats().bytes_read;
    Value found;
    uint64_t gets = 0;
    for (uint64_t i = 77; i < kKeys; i += 2999, ++gets) {
      ASSERT_OK(db_->get(tree_, key(i), found));
      ASSERT_EQ(found.view(), value(i));
    }
    const uint64_t each = (db_->stats().bytes_read - before) / gets;
    EXPECT_LT(each, warm ? 4096 + 200u : 2 * 4096u);
    if (!warm) {
      EXPECT_GT(each, 4096 + 200u) << "the headers must have been missing";
    }
    // Cursors go by outlines, too.
    Cursor cursor = db_->cursor(tree_);
    for (uint64_t i = 5; i < kKeys; i += 99'999) {
      ASSERT_TRUE(cursor.seek(key(i)));
      ASSERT_EQ(cursor.value(), value(i));
      ASSERT_TRUE(cursor.prev());
      ASSERT_EQ(cursor.key(), key(i - 1));
    }
    cursor = Cursor();
    ASSERT_OK(db_->close());
  }
}

// What is damaged is told, and keeps nothing else from memory.
TEST_F(BeyondMemoryAlone, WarmedUpWhereSomeIndexesAreDamaged) {
  const uint64_t keys = 4 * kBudget / 308;
  const auto key = [](uint64_t i) { return big_endian(i * 1001); };
  const auto value = [](uint64_t i) { return value_of(i, 300); };
  ASSERT_NO_FATAL_FAILURE(fill(Compression::kNone, keys, key, value));
  ASSERT_OK(db_->close());
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "db")) {
    if (!entry.path().filename().string().starts_with("data.")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t at = 4096; at < entry.file_size(); at += 256 << 10) {
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 1));
    }
  }
  Options options;
  options.memory_budget_bytes = kBudget;
  ASSERT_NO_FATAL_FAILURE(reopen(options));
  const Status warm = db_->warm_up();
  EXPECT_TRUE(warm.is(StatusCode::kCorruption)) << warm.to_string();
  EXPECT_NE(warm.to_string().find("data."), std::string::npos) << warm.to_string();
  EXPECT_GT(db_->stats().memory_index_bytes, keys * 6) << "the others were read";
  uint64_t good = 0;
  Value found;
  for (uint64_t i = 0; i < keys; i += 31) {
    const Status status = db_->get(tree_, key(i), found);
    ASSERT_TRUE(status.ok() || status.is(StatusCode::kCorruption)) << status.to_string();
    if (!status.ok()) continue;
    ASSERT_EQ(found.view(), value(i));
    ++good;
  }
  EXPECT_GT(good, keys / 31 / 2);
}

// Two of the four under a sanitizer, where each takes three times as long.
constexpr Kind kKinds[] = {
    {300, Compression::kNone},
    {100, Compression::kZstd},
#if !defined(HAWTHORN_ASAN)
    {100, Compression::kNone},
    {300, Compression::kLz4},
#endif
};
INSTANTIATE_TEST_SUITE_P(Values, BeyondMemory, ::testing::ValuesIn(kKinds),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace hawthorn::tests
