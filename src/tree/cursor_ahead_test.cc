// Reading ahead of cursors, on queues whose reads happen when they are waited for: so a buffer that
// goes too early, or a read that is not awaited, shows.

#include "tree/cursor_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "os/test_point.h"
#include "testing/scaled.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree {
namespace {

using cursor_test::CheckedCursor;
using cursor_test::Contents;
using cursor_test::Generator;
using cursor_test::TestTree;

struct Traffic {
  size_t in_flight = 0;
  size_t in_flight_max = 0;
  size_t queues = 0;      // that live
  uint64_t reads = 0;     // carried out
  uint64_t fail_at = 0;   // this one of them, and...
  uint64_t fail_end = 0;  // ...all before this one
};

class LateQueue : public os::IoQueue {
 public:
  explicit LateQueue(Traffic* traffic) : traffic_(traffic) { ++traffic_->queues; }
  ~LateQueue() override {
    EXPECT_TRUE(waiting_.empty()) << "a queue goes with reads under way";
    --traffic_->queues;
  }
  void submit(std::span<const os::IoRead> reads) override {
    waiting_.insert(waiting_.end(), reads.begin(), reads.end());
    traffic_->in_flight += reads.size();
    traffic_->in_flight_max = std::max(traffic_->in_flight_max, traffic_->in_flight);
  }
  size_t reap(std::span<os::IoCompletion> out, size_t wait_for) override {
    const size_t count = std::min({out.size(), wait_for, waiting_.size()});
    for (size_t i = 0; i < count; ++i) {
      // The last one first, since none may rely on an order.
      const os::IoRead read = waiting_.back();
      waiting_.pop_back();
      ++traffic_->reads;
      const bool fails =
          traffic_->reads >= traffic_->fail_at && traffic_->reads < traffic_->fail_end;
      out[i] = {read.context, fails ? Status(StatusCode::kIoError, "injected")
                                    : read.file->read_at(read.offset, {read.data, read.size})};
    }
    traffic_->in_flight -= count;
    return count;
  }
  size_t in_flight() const override { return waiting_.size(); }
  uint32_t depth() const override { return os::kLeasedDepth; }
  int event_fd() override { return -1; }
  void wake() override {}
  os::IoBackend backend() const override { return os::IoBackend::kInline; }

 private:
  Traffic* const traffic_;
  std::deque<os::IoRead> waiting_;
};

class LateQueues : public os::IoQueues {
 public:
  Result<std::unique_ptr<os::IoQueue>> create(uint32_t /*depth*/, os::IoBackend) override {
    return std::unique_ptr<os::IoQueue>(std::make_unique<LateQueue>(&traffic));
  }
  os::IoBackend backend() override { return os::IoBackend::kInline; }
  Status uring_status() override { return Status(StatusCode::kNotSupported); }

  Traffic traffic;
};

// What the values of a tree look like, so that they lie in different places.
enum class Kind : uint8_t { kPlain, kRecords, kInline, kWide };

class Ahead : public ::testing::TestWithParam<Kind> {
 protected:
  static constexpr size_t kBudget = size_t{64} << 20;

  Ahead()
      : test_({.budget = kBudget,
               .reserve = 0,
               .seed = 1,
               .policy = {.target_bytes = size_t{300} << 10}}) {
    machine_ = *test_.store().store.machine;
    machine_.queues = &queues_;
    test_.store().store.machine = &machine_;
    for (uint64_t i = 0; i < entries();) {
      TestTree::Changes changes;
      for (int n = 0; n < 1000 && i < entries(); ++n, ++i) changes.emplace_back(key(i), value(i));
      test_.commit(changes);
      if (i % 4000 == 0) test_.flush_all();
    }
    test_.flush_all();
    // Less than the database takes.
    squeeze(size_t{4} << 20);
  }
  // What is small is in memory as less.
  static bool wide() { return GetParam() == Kind::kWide; }
  void squeeze(size_t bytes) {
    test_.store().squeeze(wide() ? size_t{3} << 20 : bytes);
    // Whole images come, and leave outlines.
    TreeCursor cursor(test_.tree(), view(), {});
    for (bool more = wide() && cursor.first(); more; more = cursor.next()) continue;
  }
  ~Ahead() override {
#if defined(HAWTHORN_TEST_POINTS)
    os::clear_test_points();
#endif
    EXPECT_EQ(queues_.traffic.in_flight, 0u);
    EXPECT_EQ(test_.residency().ahead_bytes(), 0u);
  }

  static uint64_t entries() {
    return wide() ? 300'000 : GetParam() == Kind::kInline ? 60'000 : 20'000;
  }
  static std::string key(uint64_t number) {
    std::string key = Generator::number(number * 10);
    if (GetParam() == Kind::kRecords || GetParam() == Kind::kInline) key += "-with-a-tail";
    return key;
  }
  static std::string value(uint64_t number) {
    std::string value(wide() ? 8 : GetParam() == Kind::kInline ? 90 : 300, 'a');
    store(value.data(), number);
    return value;
  }
  // Of what is read of it.
  uint64_t stored_bytes() const {
    return entries() * (value(0).size() + (wide() ? sizeof(uint64_t) : 0));
  }
  ReadView view() const { return {test_.visible(), 0}; }

  TestTree test_;
  LateQueues queues_;
  os::Machine machine_;
};

TEST_P(Ahead, WalksHaveReadsUnderWay) {
  for (const bool forward : {true, false}) {
    const uint64_t before = test_.residency().bytes_read();
    TreeCursor cursor(test_.tree(), view(), {});
    size_t seen = 0;
    size_t under_way = 0;
    for (bool more = forward ? cursor.first() : cursor.last(); more;
         more = forward ? cursor.next() : cursor.prev()) {
      const uint64_t number = forward ? seen : entries() - 1 - seen;
      ASSERT_EQ(cursor.key(), key(number));
      ASSERT_EQ(cursor.value(), value(number));
      if (queues_.traffic.in_flight > 0) ++under_way;
      ++seen;
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    EXPECT_EQ(seen, entries());
    EXPECT_GT(under_way, entries() / 2) << "the disk rests while entries are used";
    EXPECT_LT(test_.residency().bytes_read() - before, stored_bytes() * 3 / 2);
    EXPECT_EQ(queues_.traffic.in_flight, 0u);
  }
}

#if defined(HAWTHORN_TEST_POINTS)
// Of small plain values the groups are read by windows, where outlines are left.
TEST_P(Ahead, OutlinesTellWhichGroupsToRead) {
  size_t by_outline = 0;
  os::set_test_point("tree.cursor.by_outline", [&] { ++by_outline; });
  for (int walk = 0; walk < 2; ++walk) {
    CheckedCursor cursor(&test_, view(), test_.contents(), {});
    cursor.first();
    cursor.batches(1000, entries());
  }
  EXPECT_EQ(by_outline > 0, wide());
}
#endif

TEST_P(Ahead, BatchesToo) {
  CheckedCursor cursor(&test_, view(), test_.contents(), {});
  cursor.first();
  cursor.batches(250, entries());
  EXPECT_GT(queues_.traffic.in_flight_max, 0u);
}

TEST_P(Ahead, ShortWalksReadNothingAhead) {
  TreeCursor cursor(test_.tree(), view(), {});
  Prng prng(3);
  for (int i = 0; i < 200; ++i) {
    const uint64_t number = prng.below(entries() - 200);
    const bool forward = prng.one_in(2);
    ASSERT_TRUE(cursor.seek(key(number + 100)));
    const uint64_t before = test_.residency().bytes_read();
    for (int step = 0; step < 90; ++step) {
      ASSERT_TRUE(forward ? cursor.next() : cursor.prev());
      ASSERT_EQ(queues_.traffic.in_flight, 0u);
    }
    EXPECT_LE(test_.residency().bytes_read() - before, size_t{160} << 10);
  }
}

TEST_P(Ahead, BoundsEndIt) {
  const uint64_t low = entries() / 3;
  const uint64_t high = entries() / 2;
  for (const bool forward : {true, false}) {
    test_.evict_all();
    const uint64_t before = test_.residency().bytes_read();
    TreeCursor cursor(test_.tree(), view(), {.lower = key(low), .upper = key(high)});
    size_t seen = 0;
    for (bool more = forward ? cursor.first() : cursor.last(); more;
         more = forward ? cursor.next() : cursor.prev()) {
      ++seen;
    }
    EXPECT_EQ(seen, high - low);
    // What lies behind a bound is read only by the first windows.
    EXPECT_LT(test_.residency().bytes_read() - before,
              stored_bytes() * (high - low) / entries() * 3 / 2 + (size_t{300} << 10));
  }
}

TEST_P(Ahead, CursorsGoWithReadsUnderWay) {
  Prng prng(4);
  const Contents contents = test_.contents();
  const uint64_t longer = wide() ? 10 : 1;
  for (int round = 0; round < (wide() ? 15 : 60); ++round) {
    CheckedCursor cursor(&test_, view(), contents, {});
    for (int move = 0; move < 3; ++move) {
      // Long enough for reads ahead; then it turns, goes elsewhere, or goes for good.
      cursor.seek(key(prng.below(entries())));
      const bool forward = prng.one_in(2);
      for (uint64_t i = prng.below(2500 * longer); i > 0; --i)
        forward ? cursor.next() : cursor.prev();
      if (prng.one_in(3)) cursor.batches(100, prng.below(1500 * longer));
      if (prng.one_in(3)) forward ? cursor.prev() : cursor.next();
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(queues_.traffic.in_flight_max, 0u);
}

// An error of a read ahead is nobody's as long as the read succeeds when the bytes are needed.
TEST_P(Ahead, ErrorsThatPassAreNotSeen) {
  for (uint64_t nth = 1; nth <= 12; ++nth) {
    queues_.traffic.fail_at = queues_.traffic.reads + nth;
    queues_.traffic.fail_end = queues_.traffic.fail_at + 1;
    TreeCursor cursor(test_.tree(), view(), {});
    size_t seen = 0;
    for (bool more = cursor.first(); more; more = cursor.next()) {
      ASSERT_EQ(cursor.key(), key(seen));
      ASSERT_EQ(cursor.value(), value(seen));
      ++seen;
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    EXPECT_EQ(seen, entries());
    EXPECT_GE(queues_.traffic.reads, queues_.traffic.fail_end);
  }
}

// One that stays is met where the walk comes to it, and not before.
TEST_P(Ahead, DamageIsMetWhereItLies) {
  const std::vector<std::string> lows = test_.lows();
  ASSERT_GT(lows.size(), 8u);
  const std::string& low = lows[lows.size() - 3];
  test_.evict_all();
  {
    os::epoch::Guard guard;
    const Container* container = test_.tree()->directory().find(low);
    const RunFile* file = container->descriptor.load()->run;
    const bool image = wide() || GetParam() == Kind::kInline;
    const ExtentAddress at = image ? file->image->address : file->values[0]->address;
    const uint64_t block = image ? file->image->front_blocks / (wide() ? 2 : 1) : 0;
    ASSERT_TRUE(test_.disk().flip_bit("/db/data." + std::to_string(at.file),
                                      (uint64_t{at.block} + block) * 4096 + 900, 3));
  }
  size_t before = 0;
  while (key(before) < low) ++before;
  for (int round = 0; round < 2; ++round) {
    TreeCursor cursor(test_.tree(), view(), {});
    size_t seen = 0;
    for (bool more = cursor.first(); more; more = cursor.next()) {
      ASSERT_EQ(cursor.value(), value(seen));
      ++seen;
    }
    EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption)) << cursor.status().to_string();
    EXPECT_GE(seen, before);
    EXPECT_EQ(queues_.traffic.in_flight, 0u);
    ASSERT_TRUE(cursor.seek(key(before / 2)));
    EXPECT_EQ(cursor.value(), value(before / 2));
  }
}

TEST_P(Ahead, ADiskThatFails) {
  TreeCursor cursor(test_.tree(), view(), {});
  ASSERT_TRUE(cursor.first());
  size_t seen = 1;
  while (queues_.traffic.in_flight == 0 && cursor.next()) ++seen;
  ASSERT_GT(queues_.traffic.in_flight, 0u);
  test_.disk().fail(testing::SimOp::kRead, 1, StatusCode::kIoError, true);
  while (cursor.next()) {
    ASSERT_EQ(cursor.value(), value(seen));
    ++seen;
  }
  EXPECT_TRUE(cursor.status().is(StatusCode::kIoError)) << cursor.status().to_string();
  EXPECT_EQ(queues_.traffic.in_flight, 0u);
  test_.disk().clear_faults();
  ASSERT_TRUE(cursor.seek(key(seen)));
  EXPECT_EQ(cursor.value(), value(seen));
}

// What all cursors have under way is bounded, and those that get nothing go on by themselves.
TEST_P(Ahead, ManyCursors) {
  squeeze(size_t{6} << 20);
  std::vector<std::unique_ptr<TreeCursor>> cursors;
  size_t most = 0;
  for (int i = 0; i < 6; ++i) {
    cursors.push_back(std::make_unique<TreeCursor>(test_.tree(), view(), TreeCursor::Options{}));
    ASSERT_TRUE(cursors.back()->first());
  }
  for (uint64_t number = 1; number < entries() * 3 / 10; ++number) {
    for (auto& cursor : cursors) {
      ASSERT_TRUE(cursor->next()) << cursor->status().to_string();
      ASSERT_EQ(cursor->value(), value(number));
    }
    most = std::max(most, test_.residency().ahead_bytes());
  }
  EXPECT_LE(most, kBudget / 16);
  EXPECT_GT(most, 0u);
  EXPECT_GT(queues_.traffic.queues, 1u);
}

#if defined(HAWTHORN_TEST_POINTS)
// Containers are flushed, split and thrown out of memory while windows of them are under way.
TEST_P(Ahead, ContainersReplacedMeanwhile) {
  Generator generator(9);
  const Snapshots::Registration snapshot = test_.snapshot();
  const Contents contents = test_.contents(snapshot.ts);
  const uint64_t rounds = std::max<uint64_t>(3, testing::scaled(12));
  for (uint64_t round = 0; round < rounds; ++round) {
    int countdown = static_cast<int>(generator.below(4));
    bool inside = false;
    size_t replaced = 0;
    os::set_test_point("tree.cursor_ahead.entered", [&] {
      if (inside || --countdown > 0) return;
      inside = true;
      countdown = static_cast<int>(generator.below(4));
      TestTree::Changes changes;
      for (int i = 0; i < 30; ++i) {
        changes.emplace_back(key(generator.below(entries())), std::string(50, 'z'));
      }
      test_.commit(changes);
      for (const std::string& low : test_.lows()) {
        if (generator.chance(3)) test_.flush(low, generator.chance(3), false);
      }
      test_.evict_all();
      ++replaced;
      inside = false;
    });
    CheckedCursor cursor(&test_, {snapshot.ts, 0}, contents, {});
    if (round % 3 == 0) {
      cursor.first();
      cursor.batches(300, entries());
    } else if (round % 3 == 1) {
      cursor.first();
      for (uint64_t i = 0; i < entries() && !HasFatalFailure(); ++i) cursor.next();
    } else {
      cursor.last();
      for (uint64_t i = 0; i < entries() && !HasFatalFailure(); ++i) cursor.prev();
    }
    os::clear_test_points();
    if (HasFatalFailure()) break;
    EXPECT_GT(replaced, 0u);
  }
  test_.drop(snapshot);
}
#endif

std::string kind_name(const ::testing::TestParamInfo<Kind>& kind) {
  static constexpr const char* kNames[] = {"plain", "records", "inline", "wide"};
  return kNames[static_cast<size_t>(kind.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, Ahead,
                         ::testing::Values(Kind::kPlain, Kind::kRecords, Kind::kInline,
                                           Kind::kWide),
                         kind_name);

}  // namespace
}  // namespace hawthorn::tree
