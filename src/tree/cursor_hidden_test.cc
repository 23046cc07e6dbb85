// What cursors do not show: deleted ranges and stretches of keys on which nothing is left; and what
// it costs them, counted in entries that they look at.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "testing/scaled.h"
#include "tree/cursor_test_support.h"
#include "tree/dead_stretches.h"

namespace hawthorn::tree::cursor_test {
namespace {

std::string queue_key(uint64_t i) {
  std::string key(8, '\0');
  store(key.data(), __builtin_bswap64(i));
  return key;
}

// ---- Queues

// Takes the first (or the last) entry of [low, high) again and again, by a cursor for each. Returns
// how many entries all of them have looked at.
class Queue : public ::testing::Test {
 protected:
  static constexpr uint64_t kEntries = 3000;
  // A walk over all that was taken before would look at half of kEntries for each.
  static constexpr uint64_t kLooksEach = 40;

  void fill() {
    TestTree::Changes changes;
    for (uint64_t i = 0; i < kEntries; ++i) changes.push_back({queue_key(i), "entry"});
    test_.commit(changes);
  }
  template <typename Take>
  void expect_taken(const ReadView& view, bool forward, uint64_t number, Take take) {
    TreeCursor cursor(test_.tree(), view, {});
    ASSERT_EQ(forward ? cursor.first() : cursor.last(), number < kEntries);
    looks_ += cursor.looks();
    if (number == kEntries) return;
    const std::string key = queue_key(forward ? number : kEntries - 1 - number);
    ASSERT_EQ(cursor.key(), key);
    take(key);
  }
  void expect_few_looks() const { EXPECT_LE(looks_, kEntries * kLooksEach); }

  TestTree test_{{.policy = {.target_bytes = size_t{8} << 20}}};
  uint64_t looks_ = 0;
};

TEST_F(Queue, InOneTransactionIsLinear) {
  fill();
  fixture::TestTxn txn(test_.store());
  for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) {
    expect_taken(txn.view(), true, i,
                 [&](const std::string& key) { test_.write(txn, {{key, std::nullopt}}); });
  }
  expect_few_looks();
  // Others have all of it, and so has who rolls back.
  TreeCursor other(test_.tree(), {test_.visible(), 0}, {});
  ASSERT_TRUE(other.first());
  EXPECT_EQ(other.key(), queue_key(0));
  txn.roll_back(1000);
  TreeCursor back(test_.tree(), txn.view(), {});
  ASSERT_TRUE(back.first());
  EXPECT_EQ(back.key(), queue_key(1000));
  EXPECT_EQ(*back.count(), kEntries - 1000);
}

TEST_F(Queue, OfRunEntriesIsLinear) {
  fill();
  test_.flush("");
  for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) {
    expect_taken({test_.visible(), 0}, true, i,
                 [&](const std::string& key) { test_.commit({{key, std::nullopt}}); });
  }
  expect_few_looks();
}

// A queue over many containers, none of which is in memory: what was taken is not read again, nor
// looked at.
TEST(Queues, LeaveContainersBehindThatAreNotReadAgain) {
  constexpr uint64_t kItems = 4000;
  constexpr size_t kBudget = size_t{64} << 20;
  for (const bool forward : {true, false}) {
    TestTree test({.budget = kBudget, .policy = {.target_bytes = size_t{64} << 10}});
    for (uint64_t i = 0; i < kItems; i += 200) {
      TestTree::Changes changes;
      for (uint64_t k = i; k < i + 200; ++k)
        changes.push_back({queue_key(k), std::string(600, 'v')});
      test.commit(changes);
      test.flush(test.lows().back());
    }
    ASSERT_GT(test.lows().size(), 15u);
    test.residency().set_reserve(kBudget - (size_t{1} << 19));
    test.evict_all();
    uint64_t looks = 0;
    const uint64_t before = test.residency().bytes_read();
    for (uint64_t i = 0; i < kItems; ++i) {
      TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
      ASSERT_TRUE(forward ? cursor.first() : cursor.last());
      const std::string key = queue_key(forward ? i : kItems - 1 - i);
      ASSERT_EQ(cursor.key(), key);
      looks += cursor.looks();
      test.commit({{key, std::nullopt}});
    }
    // One for each container that was emptied, and a few at what was taken since the last walk.
    EXPECT_LE(looks, kItems * (test.lows().size() + 12));
    EXPECT_LE(test.residency().bytes_read() - before, kItems * (size_t{4} << 10));
    TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
    EXPECT_FALSE(forward ? cursor.first() : cursor.last());
    EXPECT_LE(cursor.looks(), 2 * test.lows().size() + 16);
  }
}

// Whoever looks first behind deletes, whatever was deleted, in whatever order, passes no more than
// what is dead of the container in which he ends; and of the one in which he begins, where that is
// not the tree's first or last one. So does a transaction that has not committed its deletes yet,
// and whoever comes behind its commit.
TEST(Queues, OfWhichMuchWasDeletedAreLookedAtOnce) {
  constexpr uint64_t kItems = 6000;
  constexpr uint64_t kEach = 200;  // in a container, about
  Prng prng(1);
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    TestTree test({.policy = {.target_bytes = size_t{64} << 10}});
    for (uint64_t i = 0; i < kItems; i += kEach) {
      TestTree::Changes changes;
      for (uint64_t k = i; k < i + kEach; ++k)
        changes.push_back({queue_key(k), std::string(300, 'v')});
      test.commit(changes);
      test.flush(test.lows().back());
    }
    const size_t containers = test.lows().size();
    ASSERT_GT(containers, 12u);
    uint64_t most = 0;  // entries of a container
    {
      const os::epoch::Guard guard;
      for (const Container* container : test.tree()->directory().all()) {
        most = std::max(most, container->descriptor.load()->run->record.entries);
      }
    }
    // All but some in the middle, or some at both ends.
    const uint64_t low = prng.between(1, kItems - 2);
    const uint64_t high = std::min(kItems - 1, low + prng.between(1, 500));
    const bool middle = prng.one_in(2);
    std::vector<uint64_t> gone;
    for (uint64_t i = 0; i < kItems; ++i) {
      const bool inside = i >= low && i < high;
      const bool ends = i == 0 || i == kItems - 1;
      if (middle ? !inside : !ends) gone.push_back(i);
    }
    if (prng.one_in(2)) {
      for (size_t i = gone.size(); i > 1; --i) std::swap(gone[i - 1], gone[prng.below(i)]);
    }
    // Of one transaction, or of many.
    std::optional<fixture::TestTxn> txn;
    if (prng.one_in(2)) txn.emplace(test.store());
    const size_t batch = prng.one_in(2) ? 1 : prng.between(2, 3000);
    for (size_t at = 0; at < gone.size(); at += batch) {
      TestTree::Changes changes;
      for (size_t i = at; i < std::min(gone.size(), at + batch); ++i) {
        changes.push_back({queue_key(gone[i]), std::nullopt});
      }
      if (txn) {
        test.write(*txn, changes);
      } else {
        test.commit(changes);
      }
    }
    const auto look_around = [&](const ReadView& view) {
      const auto look = [&](auto move, uint64_t key, uint64_t parts) {
        TreeCursor cursor(test.tree(), view, {});
        ASSERT_TRUE(move(cursor));
        EXPECT_EQ(cursor.key(), queue_key(key));
        EXPECT_LE(cursor.looks(), parts * most + 2 * containers + dead_stretch_min);
      };
      look([&](TreeCursor& c) { return c.first(); }, middle ? low : 0, 1);
      look([&](TreeCursor& c) { return c.last(); }, middle ? high - 1 : kItems - 1, 1);
      look([&](TreeCursor& c) { return c.seek(queue_key(1)); },
           middle ? std::max<uint64_t>(low, 1) : kItems - 1, 2);
      look([&](TreeCursor& c) { return c.seek_for_prev(queue_key(kItems - 2)); },
           middle ? std::min(high - 1, kItems - 2) : 0, 2);
    };
    if (!txn) {
      look_around({test.visible(), 0});
      continue;
    }
    look_around(txn->view());
    EXPECT_EQ(test.contents().size(), kItems);
    if (prng.one_in(3)) {
      txn->undo_all();
      TreeCursor cursor(test.tree(), {test.visible(), 0}, {});
      EXPECT_EQ(*cursor.count(), kItems);
    } else {
      txn->commit();
      look_around({test.visible(), 0});
    }
  }
}

TEST_F(Queue, WhoseEntriesComeAtItsEndIsLinear) {
  fill();
  uint64_t last = kEntries;
  for (uint64_t i = 0; i < kEntries && !HasFatalFailure(); ++i) {
    expect_taken({test_.visible(), 0}, true, i, [&](const std::string& key) {
      test_.commit({{key, std::nullopt}, {queue_key(last++), "more"}});
    });
    if (i == 1000) test_.freeze_only("");
  }
  expect_few_looks();
  EXPECT_EQ(test_.contents().size(), kEntries);
}

TEST_F(Queue, FromTheOtherEndIsLinear) {
  fill();
  fixture::TestTxn txn(test_.store());
  for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) {
    expect_taken(txn.view(), false, i, [&](const std::string& key) {
      test_.write(txn, {{key, std::nullopt}});
      // One that is put back, and taken again.
      if (i % 7 != 0) return;
      test_.write(txn, {{key, "back"}});
      TreeCursor cursor(test_.tree(), txn.view(), {});
      ASSERT_TRUE(cursor.last());
      ASSERT_EQ(cursor.key(), key);
      test_.write(txn, {{key, std::nullopt}});
    });
  }
  expect_few_looks();
}

TEST_F(Queue, WithinBoundsIsLinear) {
  fill();
  const uint64_t low = 500;
  const uint64_t high = kEntries - 500;
  for (uint64_t i = low; i <= high && !HasFatalFailure(); ++i) {
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {.upper = queue_key(high)});
    ASSERT_EQ(cursor.seek(queue_key(low)), i < high);
    looks_ += cursor.looks();
    if (i < high) test_.commit({{queue_key(i), std::nullopt}});
  }
  expect_few_looks();
  TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
  ASSERT_TRUE(cursor.seek(queue_key(low)));
  EXPECT_EQ(cursor.key(), queue_key(high));
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), queue_key(low - 1));
}

// ---- What a stretch must not hide

class Stretch : public Queue {
 protected:
  // Empties [from, to), and has a cursor find that out.
  void empty(uint64_t from, uint64_t to) {
    TestTree::Changes changes;
    for (uint64_t i = from; i < to; ++i) changes.push_back({queue_key(i), std::nullopt});
    test_.commit(changes);
    walk();
    ASSERT_NE(delta()->dead(), nullptr);
    ASSERT_TRUE(delta()->dead()->any());
  }
  void walk() { ASSERT_TRUE(check({test_.visible(), 0})); }
  bool check(const ReadView& view) {
    CheckedCursor cursor(&test_, view, test_.contents(view.ts), {});
    cursor.first();
    for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) cursor.next();
    cursor.last();
    for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) cursor.prev();
    cursor.count();
    return !HasFatalFailure();
  }
  const Delta* delta() {
    return fixture::container_of(*test_.tree(), "")->descriptor.load()->active;
  }
};

TEST_F(Stretch, EntriesThatComeBack) {
  fill();
  empty(100, 2000);
  for (const uint64_t back : {100, 1999, 1000, 1001, 500}) {
    SCOPED_TRACE(back);
    test_.commit({{queue_key(back), "back"}});
    ASSERT_NO_FATAL_FAILURE(walk());
    test_.commit({{queue_key(back) + "x", "between"}});
    ASSERT_NO_FATAL_FAILURE(walk());
  }
}

TEST_F(Stretch, WhatOlderReadersSee) {
  fill();
  const Snapshots::Registration before = test_.snapshot();
  empty(100, 1000);
  const Snapshots::Registration between = test_.snapshot();
  test_.commit({{queue_key(500), "back"}});
  empty(1000, 2500);
  ASSERT_TRUE(check({between.ts, 0}));
  ASSERT_TRUE(check({before.ts, 0}));
  ASSERT_NO_FATAL_FAILURE(walk());
  test_.flush("");
  ASSERT_TRUE(check({before.ts, 0}));
  ASSERT_TRUE(check({between.ts, 0}));
  ASSERT_NO_FATAL_FAILURE(walk());
  test_.drop(before);
  test_.drop(between);
}

// What is dead to one transaction stays dead to it alone, also where a walk goes on into it from
// what is dead to all.
TEST_F(Stretch, OfATransactionBehindOneOfAll) {
  fill();
  empty(100, 200);
  fixture::TestTxn txn(test_.store());
  const auto empty_unseen = [](uint64_t from, uint64_t to) {
    TestTree::Changes changes;
    for (uint64_t i = from; i < to; ++i) changes.push_back({queue_key(i), std::nullopt});
    return changes;
  };
  test_.write(txn, empty_unseen(200, 300));
  const auto next_of = [&](uint64_t key, TxnId own) {
    TreeCursor cursor(test_.tree(), {test_.visible(), own}, {});
    EXPECT_TRUE(cursor.seek(queue_key(key)));
    EXPECT_TRUE(cursor.next());
    return std::string(cursor.key());
  };
  EXPECT_EQ(next_of(200, txn.id()), queue_key(301));
  test_.commit(empty_unseen(40, 100));
  EXPECT_EQ(next_of(39, txn.id()), queue_key(300));
  EXPECT_EQ(next_of(39, 0), queue_key(200));
  EXPECT_EQ(next_of(150, 0), queue_key(201));
}

// An entry that was put by somebody who has not committed stands above or below a tombstone.
TEST_F(Stretch, WhatOthersHaveNotCommitted) {
  fill();
  fixture::TestTxn above(test_.store());
  fixture::TestTxn below(test_.store());
  test_.write(below, {{queue_key(300), "below"}});
  empty(100, 1000);
  test_.write(above, {{queue_key(400), "above"}});
  empty(1000, 1200);
  ASSERT_NO_FATAL_FAILURE(walk());
  const Lsn at = test_.visible();
  const auto is_there = [&](uint64_t i, bool there) {
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
    ASSERT_TRUE(cursor.seek(queue_key(i)));
    EXPECT_EQ(cursor.key() == queue_key(i), there);
  };
  is_there(300, false);
  is_there(400, false);
  below.commit();
  above.commit();
  is_there(300, true);
  is_there(400, true);
  ASSERT_TRUE(check({at, 0}));
}

// ---- Deleted ranges

// Of a transaction, open until `commit`.
class Ranges : public Queue {
 protected:
  static std::shared_ptr<Layer> range_of(const fixture::TestTxn& txn, uint64_t low, uint64_t high) {
    auto layer = std::make_shared<Layer>();
    layer->range = {queue_key(low), queue_key(high)};
    layer->owner = txn.id();
    return layer;
  }
  static TestTree::Changes deleted(uint64_t low, uint64_t high) {
    TestTree::Changes changes;
    for (uint64_t i = low; i < high; ++i) changes.push_back({queue_key(i), std::nullopt});
    return changes;
  }
  // Everything that a cursor can do, at random.
  void moves(CheckedCursor& cursor, uint64_t seed) {
    Prng prng(seed);
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      cursor.random_move(prng, queue_key(prng.below(kEntries + 10)));
    }
  }
};

TEST_F(Ranges, AreHiddenAndWhatWasWrittenSinceIsNot) {
  fill();
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    if (flushed) test_.flush("");
    fixture::TestTxn txn(test_.store());
    const auto layer = range_of(txn, 500, 2500);
    ASSERT_TRUE(test_.tree()->layers().add(layer));
    Contents seen = test_.contents();
    TestTree::apply(deleted(500, 2500), &seen);
    TestTree::Changes since;
    for (uint64_t i = 0; i < kEntries; i += 9) since.push_back({queue_key(i), "since"});
    test_.write(txn, since);
    TestTree::apply(since, &seen);
    for (const bool key_only : {false, true}) {
      CheckedCursor own(&test_, txn.view(), seen, {.key_only = key_only});
      ASSERT_NO_FATAL_FAILURE(moves(own, 1 + key_only));
      CheckedCursor part(&test_, txn.view(), seen,
                         {.lower = queue_key(600), .upper = queue_key(2600), .key_only = key_only});
      ASSERT_NO_FATAL_FAILURE(moves(part, 3 + key_only));
      CheckedCursor other(&test_, {test_.visible(), 0}, test_.contents(), {.key_only = key_only});
      ASSERT_NO_FATAL_FAILURE(moves(other, 5 + key_only));
    }
    test_.tree()->layers().remove(layer.get());
    txn.undo_all();
  }
}

// By a look at each entry, and none at those of a container that is hidden as a whole.
TEST_F(Ranges, AreCountedAndWalkedByOneLookEach) {
  fill();
  test_.flush("");
  fixture::TestTxn txn(test_.store());
  auto layer = range_of(txn, 0, 0);
  layer->range.high.reset();
  layer->range.low.clear();
  ASSERT_TRUE(test_.tree()->layers().add(layer));
  {
    TreeCursor cursor(test_.tree(), txn.view(), {});
    EXPECT_EQ(*cursor.count(), 0u);
    EXPECT_FALSE(cursor.first());
    EXPECT_FALSE(cursor.last());
    EXPECT_LE(cursor.looks(), 10u);
  }
  TestTree::Changes since;
  for (uint64_t i = 0; i < kEntries; ++i) since.push_back({queue_key(i), "since"});
  test_.write(txn, since);
  TreeCursor cursor(test_.tree(), txn.view(), {});
  EXPECT_EQ(*cursor.count(), kEntries);
  EXPECT_LE(cursor.looks(), kEntries + 10);
  uint64_t walked = 0;
  for (bool there = cursor.first(); there; there = cursor.next()) ++walked;
  EXPECT_EQ(walked, kEntries);
  EXPECT_LE(cursor.looks(), 2 * kEntries + 20);
  test_.tree()->layers().remove(layer.get());
}

// A queue in a table that its transaction has emptied and filled again; what the stretches rest
// upon goes with the range.
TEST_F(Ranges, WithAQueueBehindThemAreLinear) {
  fill();
  test_.flush("");
  fixture::TestTxn txn(test_.store());
  const auto layer = range_of(txn, 0, kEntries);
  ASSERT_TRUE(test_.tree()->layers().add(layer));
  TestTree::Changes since;
  for (uint64_t i = 0; i < kEntries; ++i) since.push_back({queue_key(i), "since"});
  test_.write(txn, since);
  for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) {
    expect_taken(txn.view(), true, i,
                 [&](const std::string& key) { test_.write(txn, {{key, std::nullopt}}); });
  }
  expect_few_looks();
  txn.roll_back(0);
  test_.tree()->layers().remove(layer.get());
  CheckedCursor back(&test_, txn.view(), test_.contents(), {});
  back.first();
  back.count();
}

// A key that was put again, behind the moment of a reader: what is below it is hidden, and its
// place is not dead.
TEST_F(Ranges, WhatAnOlderReaderDoesNotSeeIsNotDead) {
  fill();
  test_.flush("");
  fixture::TestTxn txn(test_.store());
  const auto layer = range_of(txn, 500, 2500);
  ASSERT_TRUE(test_.tree()->layers().add(layer));
  layer->cts.store(txn.commit());
  Contents seen = test_.contents();
  TestTree::apply(deleted(500, 2500), &seen);
  const Snapshots::Registration before = test_.snapshot();
  const TestTree::Changes back = {{queue_key(1000), "back"}, {queue_key(1001), "back"}};
  test_.commit(back);
  Contents now = seen;
  TestTree::apply(back, &now);
  const auto walk = [&](Lsn ts, const Contents& contents, bool forward) {
    CheckedCursor cursor(&test_, {ts, 0}, contents, {});
    forward ? cursor.first() : cursor.last();
    for (uint64_t i = 0; i <= kEntries && !HasFatalFailure(); ++i) {
      forward ? cursor.next() : cursor.prev();
    }
    moves(cursor, 1);
  };
  for (const bool forward : {true, false}) {
    ASSERT_NO_FATAL_FAILURE(walk(before.ts, seen, forward));
    ASSERT_NO_FATAL_FAILURE(walk(test_.visible(), now, !forward));
    ASSERT_NO_FATAL_FAILURE(walk(test_.visible(), now, forward));
  }
  test_.drop(before);
  test_.tree()->layers().remove(layer.get());
}

// Batches go on where layers come in between.
TEST_F(Ranges, MayComeBetweenTwoBatches) {
  fill();
  fixture::TestTxn txn(test_.store());
  TreeCursor cursor(test_.tree(), txn.view(), {});
  std::vector<Entry> out(10);
  std::vector<std::string> keys;
  std::vector<std::shared_ptr<Layer>> layers;
  ASSERT_TRUE(cursor.first());
  for (size_t count = 1; count > 0;) {
    count = cursor.next_batch(out);
    ASSERT_TRUE(cursor.status().ok());
    for (size_t i = 0; i < count; ++i) keys.emplace_back(out[i].key);
    if (layers.size() == 3 || keys.size() < 100 * (layers.size() + 1)) continue;
    layers.push_back(range_of(txn, 1000 + 100 * layers.size(), 1050 + 100 * layers.size()));
    ASSERT_TRUE(test_.tree()->layers().add(layers.back()));
  }
  std::vector<std::string> expected;
  for (uint64_t i = 0; i < kEntries; ++i) {
    const bool hidden = i >= 1000 && i < 1300 && i % 100 < 50;
    if (!hidden) expected.push_back(queue_key(i));
  }
  EXPECT_EQ(keys, expected);
  for (const auto& layer : layers) test_.tree()->layers().remove(layer.get());
}

// ---- Everything at once

// Few keys, most of which are deleted most of the time; every stretch is kept, however short.
void random_deletes(uint64_t seed) {
  SCOPED_TRACE("HAWTHORN_TEST_SEED=" + std::to_string(seed));
  constexpr uint64_t kKeys = 200;
  Prng prng(seed);
  TestTree test({.seed = seed, .policy = {.target_bytes = size_t{4} << 10}});
  const auto any_key = [&] { return queue_key(prng.below(kKeys)); };
  const auto some = [&](uint64_t most) {
    TestTree::Changes changes;
    const bool puts = prng.one_in(4);
    if (prng.one_in(2)) {
      const uint64_t low = prng.below(kKeys);
      for (uint64_t i = low; i < low + prng.below(60); ++i) {
        changes.push_back(
            {queue_key(i), puts ? std::optional<std::string>("value") : std::nullopt});
      }
    }
    for (uint64_t i = prng.below(most); i > 0; --i) {
      changes.push_back(
          {any_key(), prng.one_in(3) ? std::optional<std::string>("some") : std::nullopt});
    }
    return changes;
  };
  struct Reader {
    std::unique_ptr<fixture::TestTxn> txn;
    bool own = false;
    Contents contents;
    std::vector<std::pair<size_t, Contents>> marks;  // how much was written, and what was there
  };
  std::vector<Reader> readers;
  for (int step = 0; step < 300 && !::testing::Test::HasFatalFailure(); ++step) {
    switch (prng.below(8)) {
      case 0:
      case 1:
        test.commit(some(12));
        break;
      case 2:
        if (prng.one_in(3)) test.flush(any_key());
        if (prng.one_in(6)) test.freeze_only(any_key());
        break;
      case 3: {
        if (readers.size() == 5) readers.erase(readers.begin() + static_cast<int>(prng.below(5)));
        Reader reader;
        reader.txn = std::make_unique<fixture::TestTxn>(test.store());
        reader.own = prng.one_in(2);
        reader.contents = test.contents();
        readers.push_back(std::move(reader));
        break;
      }
      default:
        if (readers.empty()) break;
        Reader& reader = readers[prng.below(readers.size())];
        if (reader.own && prng.one_in(2)) {
          const TestTree::Changes changes = some(8);
          reader.marks.push_back({reader.txn->undo().size(), reader.contents});
          test.write(*reader.txn, changes);
          TestTree::apply(changes, &reader.contents);
        }
        if (reader.own && !reader.marks.empty() && prng.one_in(6)) {
          const size_t mark = prng.below(reader.marks.size());
          reader.txn->roll_back(reader.marks[mark].first);
          reader.contents = reader.marks[mark].second;
          reader.marks.resize(mark);
        }
        const ReadView view{reader.txn->view().ts, reader.own ? reader.txn->id() : 0};
        TreeCursor::Options options;
        if (prng.one_in(4)) options.lower = any_key();
        if (prng.one_in(4)) options.upper = any_key();
        CheckedCursor cursor(&test, view, reader.contents, options);
        for (int i = 0; i < 5; ++i) cursor.random_move(prng, any_key());
        CheckedCursor present(&test, {test.visible(), 0}, test.contents(), {});
        for (int i = 0; i < 3; ++i) present.random_move(prng, any_key());
        break;
    }
  }
}

TEST(DeadStretches, RandomDeletes) {
  const uint32_t before = std::exchange(dead_stretch_min, 1);
  const uint32_t looks_before = std::exchange(dead_looks_again, 3);
  const uint64_t seed = testing::environment_number("HAWTHORN_TEST_SEED", 1);
  const uint64_t count = testing::scaled(40);
  for (uint64_t i = 0; i < count && !HasFatalFailure(); ++i) random_deletes(seed + i);
  dead_stretch_min = before;
  dead_looks_again = looks_before;
}

}  // namespace
}  // namespace hawthorn::tree::cursor_test
