#include "tree/cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "os/test_point.h"
#include "testing/scaled.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::cursor_test {
namespace {

uint64_t seed_base() { return testing::environment_number("HAWTHORN_TEST_SEED", 1); }

std::vector<std::string> keys_forward(TreeCursor& cursor) {
  std::vector<std::string> keys;
  for (bool more = cursor.first(); more; more = cursor.next()) keys.emplace_back(cursor.key());
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  return keys;
}

std::vector<std::string> keys_backward(TreeCursor& cursor) {
  std::vector<std::string> keys;
  for (bool more = cursor.last(); more; more = cursor.prev()) keys.emplace_back(cursor.key());
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  return keys;
}

TEST(Cursor, EmptyTree) {
  TestTree test({});
  for (const bool flushed : {false, true}) {
    TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
    EXPECT_FALSE(cursor.first());
    EXPECT_FALSE(cursor.last());
    EXPECT_FALSE(cursor.seek(""));
    EXPECT_FALSE(cursor.seek("a"));
    EXPECT_FALSE(cursor.seek_for_prev(""));
    EXPECT_FALSE(cursor.seek_for_prev("a"));
    EXPECT_FALSE(cursor.next());
    EXPECT_FALSE(cursor.prev());
    Entry entry;
    EXPECT_EQ(cursor.next_batch({&entry, 1}), 0u);
    EXPECT_TRUE(cursor.status().ok());
    if (!flushed) test.flush("");
  }
}

TEST(Cursor, TheEmptyKeyIsAKey) {
  TestTree test({});
  test.commit({{"", "nothing"}, {std::string(1, '\0'), "zero"}});
  for (const bool flushed : {false, true}) {
    if (flushed) test.flush("");
    CheckedCursor cursor(&test, {test.visible(), 0}, test.contents(), {});
    cursor.first();
    cursor.next();
    cursor.next();
    cursor.last();
    cursor.prev();
    cursor.prev();
    cursor.seek("");
    cursor.seek_for_prev("");
    cursor.batches(1, 10);
    CheckedCursor above(&test, {test.visible(), 0}, test.contents(),
                        {.lower = "", .upper = std::string(1, '\0'), .key_only = true});
    above.first();
    above.next();
    above.last();
    above.prev();
  }
}

// Many keys, flushed into several containers, some emptied again.
TEST(Cursor, WalksThroughEmptyContainers) {
  TestTree test({});
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 3000; ++i) changes.emplace_back(Generator::number(i), "12345678");
  test.commit(changes);
  test.flush("");
  test.flush_all();
  ASSERT_GT(test.tree()->directory().size(), 3u);
  for (auto& [key, value] : changes) value.reset();
  test.commit({changes.begin() + 100, changes.begin() + 2900});
  const auto snapshot = test.snapshot();
  for (int round = 0; round < 2; ++round) {
    TreeCursor cursor(test.tree(), {snapshot.ts, 0}, {});
    EXPECT_EQ(keys_forward(cursor).size(), 200u);
    EXPECT_EQ(keys_backward(cursor).size(), 200u);
    EXPECT_TRUE(cursor.seek(Generator::number(150)));
    EXPECT_EQ(cursor.key(), Generator::number(2900));
    EXPECT_TRUE(cursor.prev());
    EXPECT_EQ(cursor.key(), Generator::number(99));
    EXPECT_TRUE(cursor.next());
    EXPECT_EQ(cursor.key(), Generator::number(2900));
    test.flush_all();
  }
  test.drop(snapshot);
}

TEST(Cursor, BoundsThatLeaveNothing) {
  TestTree test({});
  test.commit({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  for (const auto& [lower, upper] : std::vector<std::pair<std::string, std::string>>{
           {"b", "b"}, {"c", "a"}, {"d", "e"}, {"0", "1"}, {"a\x01", "b"}}) {
    TreeCursor cursor(test.tree(), {test.visible(), 0}, {.lower = lower, .upper = upper});
    EXPECT_FALSE(cursor.first());
    EXPECT_FALSE(cursor.last());
    EXPECT_FALSE(cursor.seek("a"));
    EXPECT_FALSE(cursor.seek_for_prev("c"));
    EXPECT_TRUE(cursor.status().ok());
  }
}

TEST(Cursor, OwnWritesAfterItWasOpened) {
  TestTree test({});
  test.commit({{"a", "1"}, {"c", "3"}, {"e", "5"}});
  test.flush("");
  fixture::TestTxn txn(test.store());
  TreeCursor cursor(test.tree(), txn.view(), {});
  ASSERT_TRUE(cursor.first());
  test.write(txn, {{"b", "own"}});
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "b");
  test.write(txn, {{"c", std::nullopt}, {"d", "own too"}});
  // A flush in between: the intents move to another delta.
  test.flush("");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "d");
  test.write(txn, {{"c", "again"}});
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), "c");
  EXPECT_EQ(cursor.value(), "again");
  test.write(txn, {{"c", std::nullopt}});
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "d");
  Entry entries[10];
  EXPECT_EQ(cursor.next_batch(entries), 1u);
  test.write(txn, {{"f", "last"}});
  EXPECT_EQ(cursor.next_batch(entries), 2u);
  EXPECT_EQ(entries[1].key, "f");
  EXPECT_EQ(cursor.next_batch(entries), 0u);
}

TEST(Cursor, LargeValues) {
  TestTree test({});
  test.commit({{"a", "small"}, {"b", "large:1:100000"}, {"c", "large:2:3000000"}, {"d", ""}});
  for (const bool flushed : {false, true}) {
    if (flushed) test.flush("");
    for (const bool key_only : {false, true}) {
      CheckedCursor cursor(&test, {test.visible(), 0}, test.contents(), {.key_only = key_only});
      const uint64_t read = test.residency().bytes_read();
      cursor.first();
      for (int i = 0; i < 4; ++i) cursor.next();
      cursor.last();
      for (int i = 0; i < 4; ++i) cursor.prev();
      cursor.first();
      cursor.batches(3, 100);
      EXPECT_EQ(test.residency().bytes_read() == read, key_only);
    }
  }
}

TEST(Cursor, ValuesTooLargeToBeReadAsAWhole) {
  TestTree test({});
  format::LargeValue value;
  value.size = (uint64_t{64} << 20) + 1;
  value.extents.push_back({0, 1 << 20, 1 << 15});
  std::string encoded;
  format::append_large_value(encoded, value);
  fixture::TestTxn txn(test.store());
  fixture::must(txn.put(*test.tree(), "a", "1"));
  fixture::must(txn.write(*test.tree(), "b", VersionKind::kLarge, encoded));
  fixture::must(txn.put(*test.tree(), "c", "3"));
  txn.commit();
  TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
  ASSERT_TRUE(cursor.first());
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "b");
  EXPECT_EQ(cursor.value(), "");
  EXPECT_TRUE(cursor.status().is(StatusCode::kNotSupported));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "c");
  EXPECT_TRUE(cursor.status().ok());
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), "b");
  ASSERT_TRUE(cursor.prev());

  Entry entries[10];
  EXPECT_EQ(cursor.next_batch(entries), 1u);
  EXPECT_EQ(cursor.next_batch(entries), 0u);
  EXPECT_TRUE(cursor.status().is(StatusCode::kNotSupported));
  EXPECT_EQ(cursor.next_batch(entries), 1u);
  EXPECT_EQ(entries[0].key, "c");
  EXPECT_TRUE(cursor.status().ok());
  EXPECT_EQ(cursor.next_batch(entries), 0u);
  EXPECT_TRUE(cursor.status().ok());

  TreeCursor keys(test.tree(), {test.visible(), 0}, {.key_only = true});
  EXPECT_EQ(keys_forward(keys), (std::vector<std::string>{"a", "b", "c"}));
}

// A damaged run: its range is named, the others can be read.
TEST(Cursor, DamageNamesItsRange) {
  TestTree test({});
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 3000; ++i)
    changes.emplace_back(Generator::number(i), std::string(16, 'v'));
  test.commit(changes);
  test.flush("");
  const std::vector<std::string> lows = test.lows();
  ASSERT_GT(lows.size(), 3u);
  test.evict_all();
  std::string range;
  {
    os::epoch::Guard guard;
    const Container* container = test.tree()->directory().find(lows[1]);
    const ExtentAddress at = container->descriptor.load()->run->record.run;
    range = container->range_text();
    ASSERT_TRUE(test.disk().flip_bit("/db/data." + std::to_string(at.file),
                                     uint64_t{at.block} * 4096 + 4096 + 100, 3));
  }
  TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
  size_t seen = 0;
  for (bool more = cursor.first(); more; more = cursor.next()) ++seen;
  EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption));
  EXPECT_NE(cursor.status().message().find(range), std::string_view::npos)
      << cursor.status().to_string();
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.next());
  EXPECT_GT(seen, 0u);
  EXPECT_FALSE(cursor.seek(lows[1]));
  EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption));
  ASSERT_TRUE(cursor.seek(lows[2]));
  EXPECT_TRUE(cursor.status().ok());
  EXPECT_EQ(cursor.key(), lows[2]);
  EXPECT_FALSE(cursor.prev());
  EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption));

  std::vector<Entry> entries(100);
  ASSERT_TRUE(cursor.first());
  size_t in_batches = 0;
  while (const size_t count = cursor.next_batch(entries)) in_batches += count;
  EXPECT_EQ(in_batches, seen);
  EXPECT_TRUE(cursor.status().is(StatusCode::kCorruption));
}

TEST(Cursor, ReadErrorsAreErrors) {
  TestTree test({});
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 500; ++i)
    changes.emplace_back(Generator::number(i), std::string(300, 'v'));
  test.commit(changes);
  test.flush("");
  for (uint64_t nth = 1; nth <= 2; ++nth) {
    test.evict_all();
    test.disk().fail(testing::SimOp::kRead, nth, StatusCode::kIoError, true);
    TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
    EXPECT_FALSE(cursor.first());
    EXPECT_TRUE(cursor.status().is(StatusCode::kIoError)) << cursor.status().to_string();
    test.disk().clear_faults();
    EXPECT_TRUE(cursor.first());
    EXPECT_EQ(cursor.value(), std::string(300, 'v'));
  }
}

// What is not in memory is read: value by value, or by whole extents.
TEST(Cursor, NotResident) {
  for (const size_t budget_mb : {10, 64}) {
    TestTree test({.budget = budget_mb << 20,
                   .reserve = size_t{8} << 20,
                   .policy = {.target_bytes = size_t{300} << 10}});
    Generator generator(5);
    generator.set_shapes(0, 1);
    for (int round = 0; round < 12; ++round) {
      TestTree::Changes changes;
      for (int i = 0; i < 300; ++i) changes.emplace_back(generator.key(), generator.value());
      test.commit(changes);
      test.flush_all();
    }
    for (const bool key_only : {false, true}) {
      CheckedCursor cursor(&test, {test.visible(), 0}, test.contents(), {.key_only = key_only});
      for (int i = 0; i < 60; ++i) {
        test.evict_all();
        cursor.random_move(generator.prng(), generator.key());
        if (HasFatalFailure()) return;
      }
      test.evict_all();
      cursor.first();
      test.evict_all();
      cursor.batches(100, 10000);
    }
  }
}

#if defined(HAWTHORN_TEST_POINTS)

// Between any two steps of a walk the container is cut, flushed or split.
// What was flushed below a cursor that nobody moves does not stay in memory for it.
class LetGo : public ::testing::Test {
 protected:
  LetGo() : test_({.policy = {.target_bytes = size_t{256} << 10}}) {
    TestTree::Changes changes;
    for (int i = 0; i < 1000; ++i) changes.emplace_back(key(i), std::string(300, 'a'));
    test_.commit(changes);
  }
  static std::string key(int i) { return "key " + std::to_string(10'000 + i); }
  size_t delta_bytes() {
    os::epoch::drain();
    return test_.store().arena->used(os::Quota::kDelta);
  }
  size_t let_go() { return test_.store().store.cursors.let_go(); }
  // Other values for all keys, which a cursor from before does not see.
  void overwrite_and_flush() {
    TestTree::Changes changes;
    for (int i = 0; i < 1000; ++i) changes.emplace_back(key(i), std::string(200, 'b'));
    test_.commit(changes);
    test_.flush_all();
  }

  TestTree test_;
};

TEST_F(LetGo, AndGoesOnBothWays) {
  const auto snapshot = test_.snapshot();
  {
    TreeCursor cursor(test_.tree(), {snapshot.ts, 0}, {});
    ASSERT_TRUE(cursor.seek(key(500)));
    const std::string_view shown_key = cursor.key();
    const std::string_view shown_value = cursor.value();
    EXPECT_EQ(let_go(), 0u);  // the delta is its container's
    overwrite_and_flush();
    EXPECT_GT(delta_bytes(), 300'000u);
    EXPECT_EQ(let_go(), 1u);
    EXPECT_LT(delta_bytes(), 100'000u);
    EXPECT_EQ(let_go(), 0u);
    EXPECT_EQ(shown_key, key(500));
    EXPECT_EQ(shown_value, std::string(300, 'a'));
    for (int i = 501; i < 1000; ++i) {
      ASSERT_TRUE(cursor.next());
      ASSERT_EQ(cursor.key(), key(i));
      ASSERT_EQ(cursor.value(), std::string(300, 'a'));
    }
    EXPECT_FALSE(cursor.next());
  }
  for (const bool forwards : {false, true}) {
    overwrite_and_flush();
    test_.commit({{key(500), "c"}});
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
    ASSERT_TRUE(cursor.seek(key(500)));
    test_.flush_all();
    EXPECT_EQ(let_go(), 1u);
    EXPECT_EQ(cursor.value(), "c");
    ASSERT_TRUE(forwards ? cursor.next() : cursor.prev());
    EXPECT_EQ(cursor.key(), key(forwards ? 501 : 499));
    ASSERT_TRUE(forwards ? cursor.prev() : cursor.next());
    EXPECT_EQ(cursor.value(), "c");
  }
  test_.drop(snapshot);
}

TEST_F(LetGo, BeforeBatchesButNotBetweenThem) {
  const auto snapshot = test_.snapshot();
  {
    TreeCursor cursor(test_.tree(), {snapshot.ts, 0}, {});
    ASSERT_TRUE(cursor.first());
    overwrite_and_flush();
    EXPECT_EQ(let_go(), 1u);
    std::vector<Entry> out(64);
    int next = 0;
    while (const size_t count = cursor.next_batch(out)) {
      overwrite_and_flush();
      EXPECT_EQ(let_go(), 0u);
      for (size_t i = 0; i < count; ++i, ++next) {
        ASSERT_EQ(out[i].key, key(next));
        ASSERT_EQ(out[i].value, std::string(300, 'a'));
      }
    }
    ASSERT_TRUE(cursor.status().ok());
    EXPECT_EQ(next, 1000);
  }
  test_.drop(snapshot);
}

TEST_F(LetGo, InATransactionThatSeesItsOwnWrites) {
  fixture::TestTxn txn(test_.store());
  test_.write(txn, {{key(501), "mine"}, {key(400), std::nullopt}});
  TreeCursor cursor(test_.tree(), txn.view(), {});
  ASSERT_TRUE(cursor.seek(key(500)));
  test_.flush_all();
  EXPECT_EQ(let_go(), 1u);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), key(501));
  EXPECT_EQ(cursor.value(), "mine");
  ASSERT_TRUE(cursor.seek(key(400)));
  EXPECT_EQ(cursor.key(), key(401));
}

TEST(Cursor, ContainersReplacedDuringAMove) {
  for (const char* point : {"tree.cursor.entered", "tree.cursor.before_chain"}) {
    for (const bool own : {false, true}) {
      for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(std::string(point) + (own ? " own " : " ") + std::to_string(seed));
        TestTree test({.seed = seed + 1});
        Generator generator(seed);
        generator.set_shapes(0, 2);
        const auto changes_of = [&](int count) {
          TestTree::Changes changes;
          for (int i = 0; i < count; ++i) {
            changes.emplace_back(generator.key(), generator.chance(4)
                                                      ? std::nullopt
                                                      : std::optional(generator.value()));
          }
          return changes;
        };
        test.commit(changes_of(600));
        test.flush_all();
        test.commit(changes_of(300));
        // Intents, own or foreign, are what moves at a cut.
        fixture::TestTxn txn(test.store());
        const ReadView view = txn.view();
        Contents contents = test.contents(view.ts);
        const TestTree::Changes intents = changes_of(100);
        test.write(txn, intents);
        if (own) TestTree::apply(intents, &contents);
        CheckedCursor cursor(&test, {view.ts, own ? view.own : 0}, contents, {});
        int countdown = 3;
        bool inside = false;
        os::set_test_point(point, [&] {
          if (inside || --countdown > 0) return;
          inside = true;
          countdown = static_cast<int>(generator.below(40));
          test.commit(changes_of(10));
          test.flush(generator.key(), generator.chance(3));
          inside = false;
        });
        for (int i = 0; i < 40 && !HasFatalFailure(); ++i) {
          cursor.random_move(generator.prng(), generator.key());
        }
        os::clear_test_points();
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Damage that is found in a file that has been replaced meanwhile is not reported (R24).
TEST(Cursor, DamageOfAReplacedFileIsNone) {
  TestTree test({.policy = {.target_bytes = size_t{1} << 20}});
  TestTree::Changes changes;
  for (uint64_t i = 0; i < 500; ++i) {
    changes.emplace_back(Generator::number(i), std::string(300, 'v'));
  }
  test.commit(changes);
  test.flush("");
  test.evict_all();
  int calls = 0;
  os::set_test_point("tree.cursor.before_load", [&] {
    if (++calls != 1) return;
    os::epoch::Guard guard;
    Container* container = test.tree()->directory().find("");
    os::MutexLock lock(container->latch);
    const Descriptor* old = container->descriptor.load();
    auto* file = new RunFile;
    file->record = old->run->record;
    file->image = old->run->image;
    file->values = old->run->values;
    test.residency().adopt(file, nullptr);
    old->run->quarantine(Status(StatusCode::kCorruption, "by the test"));
    old->active->ref();
    container->install(new Descriptor{old->active, nullptr, file});
  });
  TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
  EXPECT_EQ(keys_forward(cursor).size(), 500u);
  EXPECT_GE(calls, 2);
  os::clear_test_points();
}

#endif  // HAWTHORN_TEST_POINTS

// Everything at once, for one seed.
void random_walks(uint64_t seed, int steps) {
  SCOPED_TRACE("HAWTHORN_TEST_SEED=" + std::to_string(seed));
  Generator generator(seed);
  generator.set_shapes(generator.below(5), generator.below(3));
  Prng& prng = generator.prng();
  TestTree test({.seed = seed + 1,
                 .policy = {.extents_max = static_cast<uint32_t>(1 + generator.below(5)),
                            .garbage_max = 0.3,
                            .target_bytes = (size_t{4} + generator.below(60)) << 10}});
  struct Open {
    std::unique_ptr<fixture::TestTxn> txn;  // holds the snapshot; its writes are seen if `own`
    bool own;
    std::unique_ptr<CheckedCursor> cursor;
  };
  std::vector<Open> open;
  const auto close = [&](size_t index) {
    open[index].cursor.reset();
    open.erase(open.begin() + static_cast<ptrdiff_t>(index));
  };
  const auto change = [&] {
    return std::pair(generator.key(),
                     generator.chance(4) ? std::nullopt : std::optional(generator.value()));
  };
  test.after_cut = [&] {
    TestTree::Changes changes;
    for (uint64_t i = generator.below(30); i > 0; --i) changes.push_back(change());
    if (generator.chance(2)) test.commit(changes);
  };
  for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
    switch (generator.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        TestTree::Changes changes;
        for (uint64_t i = 1 + generator.below(generator.chance(8) ? 300 : 20); i > 0; --i) {
          changes.push_back(change());
        }
        test.commit(changes);
        break;
      }
      case 4:
      case 5:
        test.flush(generator.key(), generator.chance(6), !generator.chance(4));
        break;
      case 6:
        if (generator.chance(3)) test.flush_all(generator.chance(3));
        if (generator.chance(4)) test.freeze_only(generator.key());
        if (generator.chance(3)) test.evict_all();
        if (generator.chance(2)) test.store().store.cursors.let_go();
        if (generator.chance(4)) test.store().squeeze(generator.below(400) << 10);
        if (generator.chance(6)) test.store().relax();
        break;
      case 7: {
        if (open.size() >= 6) close(generator.below(open.size()));
        Open fresh;
        fresh.txn = std::make_unique<fixture::TestTxn>(test.store());
        fresh.own = generator.chance(3);
        const ReadView view{fresh.txn->view().ts, fresh.own ? fresh.txn->id() : 0};
        TreeCursor::Options options;
        if (generator.chance(3)) options.lower = generator.key();
        if (generator.chance(3)) options.upper = generator.key();
        options.key_only = generator.chance(4);
        fresh.cursor = std::make_unique<CheckedCursor>(&test, view, test.contents(view.ts),
                                                       std::move(options));
        open.push_back(std::move(fresh));
        break;
      }
      case 8:
        if (!open.empty() && generator.chance(3)) close(generator.below(open.size()));
        break;
      case 9:
      case 10:
        for (Open& one : open) {
          if (!one.own) continue;
          TestTree::Changes changes;
          for (uint64_t i = generator.below(8); i > 0; --i) changes.push_back(change());
          test.write(*one.txn, changes);
          one.cursor->expect(changes);
        }
        break;
      default:
        for (Open& one : open) one.cursor->random_move(prng, generator.key());
        break;
    }
  }
  while (!open.empty()) close(0);
  // At the end everything is read once more, forwards, backwards and in batches.
  CheckedCursor cursor(&test, {test.visible(), 0}, test.contents(), {});
  test.evict_all();
  cursor.first();
  cursor.batches(50, 100000);
  cursor.last();
  for (int i = 0; i < 5000; ++i) cursor.prev();
}

TEST(Cursor, RandomWalks) {
  const uint64_t walks = testing::scaled(40);
  for (uint64_t i = 0; i < walks && !HasFatalFailure(); ++i) random_walks(seed_base() + i, 400);
}

}  // namespace
}  // namespace hawthorn::tree::cursor_test
