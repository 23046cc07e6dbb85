// Transactions as the public header promises them: savepoints, nesting, isolation levels, compare
// and set. Conflicts of plain optimistic ones are in api_test.cc, row locks in row_lock_test.cc.
#include <thread>

#include "os/test_point.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr TxnOptions kOneByOne{.isolation = Isolation::kSerializable};
constexpr TxnOptions kCommitted{.isolation = Isolation::kReadCommitted};

class Transactions : public Api {};

// ---- Savepoints

TEST_F(Transactions, roll_back_to_savepoints) {
  put("a", "0");
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  const Savepoint first = t.savepoint().value();
  ASSERT_OK(t.put(tree_, "a", "2"));
  ASSERT_OK(t.put(tree_, "b", "2"));
  const Savepoint second = t.savepoint().value();
  ASSERT_OK(t.del(tree_, "a"));
  ASSERT_OK(t.put(tree_, "c", "3"));
  EXPECT_EQ(get_in(t, "a"), "NotFound");
  ASSERT_OK(t.rollback_to(second));
  EXPECT_EQ(get_in(t, "a"), "2");
  EXPECT_EQ(get_in(t, "c"), "NotFound");
  // It stays, and serves again.
  ASSERT_OK(t.put(tree_, "c", "4"));
  ASSERT_OK(t.rollback_to(second));
  EXPECT_EQ(get_in(t, "c"), "NotFound");
  ASSERT_OK(t.rollback_to(first));
  EXPECT_EQ(get_in(t, "a"), "1");
  EXPECT_EQ(get_in(t, "b"), "NotFound");
  EXPECT_TRUE(t.rollback_to(second).is(StatusCode::kInvalidArgument)) << "it came later";
  ASSERT_OK(t.put(tree_, "d", "5"));
  ASSERT_OK(t.release(first));
  EXPECT_TRUE(t.release(first).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(t.rollback_to(first).is(StatusCode::kInvalidArgument));
  EXPECT_EQ(get_in(t, "d"), "5") << "a release keeps what was written";
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("d"), "5");
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"a", "d"}));
  EXPECT_TRUE(t.savepoint().status().is(StatusCode::kInvalidArgument));
  Transaction other = begin();
  EXPECT_TRUE(other.rollback_to(first).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(other.rollback_to(Savepoint()).is(StatusCode::kInvalidArgument));
}

// Rolled back writes have been logged in chunks, some of them more than once under the same number.
TEST_F(Transactions, roll_back_what_is_logged) {
  for (const bool reopens : {false, true}) {
    SCOPED_TRACE(reopens);
    std::map<std::string, std::string> expected;
    Prng prng(reopens ? 5 : 6);
    Transaction t = begin();
    struct Mark {
      Savepoint savepoint;
      std::map<std::string, std::string> contents;
    };
    std::vector<Mark> marks;
    for (int round = 0; round < 60; ++round) {
      if (round % 3 == 0) marks.push_back({t.savepoint().value(), expected});
      const uint64_t count = prng.one_in(3) ? 400 : 5;
      for (uint64_t i = 0; i < count; ++i) {
        const std::string key = key_of(prng.below(3000));
        const std::string value = value_of(prng.next(), prng.one_in(200) ? 100'000 : 1500);
        ASSERT_OK(t.put(tree_, key, value));
        expected[key] = value;
      }
      if (!marks.empty() && prng.one_in(2)) {
        const size_t to = prng.below(marks.size());
        ASSERT_OK(t.rollback_to(marks[to].savepoint));
        expected = marks[to].contents;
        marks.resize(to + 1);
      }
      if (round % 7 == 3) ASSERT_OK(db_->flush());
    }
    ASSERT_OK(t.commit());
    t = Transaction();  // it must not outlive its database
    if (reopens) open();
    for (int look = 0; look < 2; ++look) {
      std::map<std::string, std::string> found;
      ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) found.emplace(entry.key, entry.value);
        return true;
      }));
      EXPECT_TRUE(found == expected) << found.size() << " of " << expected.size();
      ASSERT_OK(db_->flush());
    }
    EXPECT_TRUE(clean(*db_));
    ASSERT_OK(db_->drop_tree("t"));
    tree_ = db_->tree("t").value();
  }
}

TEST_F(Transactions, a_cursor_stays_valid_through_a_rollback) {
  for (const char* key : {"a", "c", "e"}) put(key, key);
  Transaction t = begin();
  const Savepoint savepoint = t.savepoint().value();
  ASSERT_OK(t.put(tree_, "b", "own"));
  ASSERT_OK(t.del(tree_, "c"));
  ASSERT_OK(t.put(tree_, "d", "own"));
  Cursor cursor = t.cursor(tree_);
  ASSERT_TRUE(cursor.seek("b"));
  EXPECT_EQ(cursor.value(), "own");
  ASSERT_OK(t.rollback_to(savepoint));
  EXPECT_EQ(cursor.key(), "b") << "what is shown stays until the next move";
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "c");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "e");
  EXPECT_FALSE(cursor.next());
}

// A savepoint for each of many statements takes no memory that stays.
TEST_F(Transactions, statements_give_their_memory_back) {
  Transaction t = begin();
  const uint64_t before = db_->stats().memory_used_bytes;
  for (int statement = 0; statement < 2000; ++statement) {
    const Savepoint savepoint = t.savepoint().value();
    for (uint64_t i = 0; i < 100; ++i) ASSERT_OK(t.put(tree_, key_of(i), value_of(i, 300)));
    ASSERT_OK(t.rollback_to(savepoint));
    ASSERT_OK(t.release(savepoint));
  }
  EXPECT_LT(db_->stats().memory_used_bytes, before + (size_t{4} << 20));
  ASSERT_OK(t.commit());
  EXPECT_TRUE(keys(tree_).empty());
}

// What each part of one keeps for the next is little, and so is all of it together.
TEST_F(Transactions, ended_ones_take_none_of_the_budget) {
  const auto many_at_once = [&](bool with_savepoints) {
    std::vector<Transaction> open;
    for (int t = 0; t < 32; ++t) {
      open.push_back(begin());
      for (uint64_t i = 0; i < 200; ++i) {
        if (with_savepoints) EXPECT_OK(open.back().savepoint().status());
        EXPECT_OK(open.back().put(tree_, big_endian(i), value_of(i, 100)));
      }
    }
    for (Transaction& t : open) t.abort();
  };
  many_at_once(false);
  const uint64_t before = db_->stats().memory_used_bytes;
  many_at_once(true);
  EXPECT_LT(db_->stats().memory_used_bytes, before + (size_t{1} << 20));
}

// ---- Nested transactions

TEST_F(Transactions, nested_ones_commit_into_their_parent) {
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "outer"));
  {
    Transaction inner = t.begin_nested().value();
    EXPECT_EQ(get_in(inner, "a"), "outer");
    ASSERT_OK(inner.put(tree_, "a", "inner"));
    EXPECT_TRUE(t.put(tree_, "x", "").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.begin_nested().status().is(StatusCode::kInvalidArgument));
    Transaction innermost = inner.begin_nested().value();
    ASSERT_OK(innermost.put(tree_, "b", "innermost"));
    ASSERT_OK(innermost.commit());
    EXPECT_FALSE(innermost.open());
    EXPECT_TRUE(innermost.commit().is(StatusCode::kInvalidArgument));
    EXPECT_EQ(get("a"), "NotFound");
    ASSERT_OK(inner.commit());
  }
  EXPECT_EQ(get_in(t, "a"), "inner");
  {
    const Savepoint outer = t.savepoint().value();
    Transaction inner = t.begin_nested().value();
    ASSERT_OK(inner.put(tree_, "a", "dropped"));
    ASSERT_OK(inner.put(tree_, "c", "dropped"));
    EXPECT_TRUE(inner.rollback_to(outer).is(StatusCode::kInvalidArgument)) << "not its own";
    const Savepoint own = inner.savepoint().value();
    ASSERT_OK(inner.put(tree_, "d", "dropped"));
    ASSERT_OK(inner.rollback_to(own));
    // Destroyed while it is open.
  }
  EXPECT_EQ(get_in(t, "a"), "inner");
  EXPECT_EQ(get_in(t, "c"), "NotFound");
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "inner");
  EXPECT_EQ(get("b"), "innermost");
}

TEST_F(Transactions, the_end_of_a_parent_ends_what_is_nested) {
  for (const bool commits : {false, true}) {
    Transaction t = begin();
    Transaction inner = t.begin_nested().value();
    Transaction innermost = inner.begin_nested().value();
    ASSERT_OK(innermost.put(tree_, "k", "v"));
    if (commits) {
      ASSERT_OK(t.commit());
    } else {
      t.abort();
    }
    EXPECT_FALSE(inner.open());
    EXPECT_FALSE(innermost.open());
    EXPECT_TRUE(innermost.put(tree_, "k", "late").is(StatusCode::kInvalidArgument));
    EXPECT_EQ(get("k"), commits ? "v" : "NotFound");
  }
}

// ---- Isolation levels

TEST_F(Transactions, read_committed_shows_the_newest_commit) {
  put("a", "1");
  Transaction t = begin(kCommitted);
  EXPECT_EQ(get_in(t, "a"), "1");
  put("a", "2");
  EXPECT_EQ(get_in(t, "a"), "2");
  Transaction other = begin();
  ASSERT_OK(other.put(tree_, "a", "dirty"));
  EXPECT_EQ(get_in(t, "a"), "2") << "a read of what is not committed";
  Cursor cursor = t.cursor(tree_);
  ASSERT_OK(other.commit());
  ASSERT_TRUE(cursor.first());
  EXPECT_EQ(cursor.value(), "2") << "a cursor shows the moment that it was opened at";
  ReadBatch batch;
  const std::string_view wanted[] = {"a", "b"};
  ASSERT_OK(t.put(tree_, "b", "own"));
  ASSERT_OK(t.multi_get(tree_, wanted, batch));
  EXPECT_EQ(batch[0].value, "dirty");
  EXPECT_EQ(batch[1].value, "own");
  put("b", "theirs");
  EXPECT_EQ(get_in(t, "b"), "own");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.value(), "own");
  cursor = Cursor();
  // Nothing that it wrote conflicts: the last committer wins.
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("b"), "own");
  Transaction later = begin(kCommitted);
  EXPECT_EQ(db_->stats().snapshots, 0u) << "nobody needs to keep old versions for it";
}

TEST_F(Transactions, write_skew) {
  for (const Isolation level : {Isolation::kSnapshot, Isolation::kSerializable}) {
    put("x", "1");
    put("y", "1");
    Transaction one = begin({.isolation = level});
    Transaction two = begin({.isolation = level});
    EXPECT_EQ(get_in(one, "x"), "1");
    EXPECT_EQ(get_in(one, "y"), "1");
    EXPECT_EQ(get_in(two, "x"), "1");
    EXPECT_EQ(get_in(two, "y"), "1");
    ASSERT_OK(one.put(tree_, "x", "0"));
    ASSERT_OK(two.put(tree_, "y", "0"));
    ASSERT_OK(one.commit());
    const Status status = two.commit();
    EXPECT_EQ(status.is_conflict(), level == Isolation::kSerializable) << status.to_string();
  }
}

#if defined(HAWTHORN_TEST_POINTS)
// Attack 30, forced: what was read is validated before the turn, and another commits in between.
TEST_F(Transactions, a_commit_between_validation_and_turn_conflicts) {
  for (const bool meets : {false, true}) {
    SCOPED_TRACE(meets);
    put("x", "1");
    put("y", "1");
    Transaction skewed = begin(kOneByOne);
    EXPECT_EQ(get_in(skewed, "x"), "1");
    ASSERT_OK(skewed.put(tree_, "y", "0"));
    int reached = 0;
    os::set_test_point("sequencer.commit.validated", [&] {
      if (++reached == 1) put(meets ? "x" : "z", "0");
    });
    const Status status = skewed.commit();
    os::clear_test_points();
    EXPECT_GE(reached, 1);
    EXPECT_EQ(status.is_conflict(), meets) << status.to_string();
    EXPECT_EQ(get("y"), meets ? "1" : "0");
  }
}
#endif

// A third transaction that only reads must not see an order that there is not.
TEST_F(Transactions, readers_see_the_order_of_commits) {
  put("x", "0");
  put("y", "0");
  Transaction withdraws = begin(kOneByOne);
  EXPECT_EQ(get_in(withdraws, "x"), "0");
  EXPECT_EQ(get_in(withdraws, "y"), "0");
  Transaction deposits = begin(kOneByOne);
  EXPECT_EQ(get_in(deposits, "y"), "0");
  ASSERT_OK(deposits.put(tree_, "y", "20"));
  ASSERT_OK(deposits.commit());
  Transaction reads = begin(kOneByOne);
  EXPECT_EQ(get_in(reads, "x"), "0");
  EXPECT_EQ(get_in(reads, "y"), "20");
  ASSERT_OK(reads.commit());
  ASSERT_OK(withdraws.put(tree_, "x", "-11"));
  EXPECT_TRUE(withdraws.commit().is_conflict());
}

TEST_F(Transactions, phantoms_conflict) {
  struct Case {
    const char* what;
    std::function<void(Cursor&)> walk;
    const char* inside;   // a commit of this key conflicts
    const char* outside;  // a commit of this one does not
  };
  const Case cases[] = {
      {"a gap that was stepped over",
       [](Cursor& c) {
         EXPECT_TRUE(c.seek("b"));
         EXPECT_TRUE(c.next());
       },
       "c", "e"},
      {"the gap before what a seek found", [](Cursor& c) { EXPECT_TRUE(c.seek("c")); }, "cc", "b"},
      {"behind the last one",
       [](Cursor& c) {
         EXPECT_TRUE(c.seek("f"));
         EXPECT_FALSE(c.next());
       },
       "zz", "e"},
      {"before the first one",
       [](Cursor& c) {
         EXPECT_TRUE(c.first());
         EXPECT_FALSE(c.prev());
       },
       "0", "bb"},
      {"backwards",
       [](Cursor& c) {
         EXPECT_TRUE(c.last());
         EXPECT_TRUE(c.prev());
       },
       "e", "c"},
      {"to and fro",
       [](Cursor& c) {
         EXPECT_TRUE(c.seek("d"));
         EXPECT_TRUE(c.next());
         EXPECT_TRUE(c.prev());
         EXPECT_TRUE(c.prev());
       },
       "ee", "g"},
      {"a seek backwards", [](Cursor& c) { EXPECT_TRUE(c.seek_for_prev("e")); }, "dd", "ee"},
      {"an entry that was shown", [](Cursor& c) { EXPECT_TRUE(c.seek("d")); }, "d", "f"},
  };
  for (const bool flushed : {false, true}) {
    for (const Case& tried : cases) {
      for (const bool hits : {false, true}) {
        for (const char* other : {"delete", "put"}) {
          SCOPED_TRACE(std::string(tried.what) + (hits ? " hit by " : " missed by ") + other +
                       (flushed ? ", flushed" : ""));
          ASSERT_OK(db_->drop_tree("t"));
          tree_ = db_->tree("t").value();
          for (const char* key : {"b", "d", "f"}) put(key, key);
          if (flushed) ASSERT_OK(db_->flush());
          const std::string_view hit = hits ? tried.inside : tried.outside;
          const bool deletes = std::string_view(other) == "delete";
          // What is deleted must be there before.
          if (deletes && get(hit) == "NotFound") continue;
          Transaction t = begin(kOneByOne);
          Cursor cursor = t.cursor(tree_);
          tried.walk(cursor);
          if (deletes) {
            ASSERT_OK(db_->del(tree_, hit));
          } else {
            put(hit, "new");
          }
          if (flushed) ASSERT_OK(db_->flush());
          ASSERT_OK(t.put(tree_, "own", "x"));
          // The cursor is open still in one case, and gone in the other.
          if (deletes) cursor = Cursor();
          EXPECT_EQ(t.commit().is_conflict(), hits);
        }
      }
    }
  }
}

// A range of many keys, flushed or not, of several containers: a change anywhere in it is found.
TEST_F(Transactions, long_walks_conflict) {
  constexpr uint64_t kKeys = 20'000;
  WriteBatch batch;
  for (uint64_t i = 0; i < kKeys; ++i) batch.put(tree_, big_endian(i), value_of(i, 200));
  ASSERT_OK(db_->write(batch));
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_->flush());
    for (const uint64_t changed : {0, 700, 9'999, 19'000, 19'001}) {
      Transaction t = begin(kOneByOne);
      Cursor cursor = t.cursor(tree_);
      uint64_t count = 0;
      for (bool more = cursor.first(); more && count < 19'000; more = cursor.next()) ++count;
      put(big_endian(changed), "new");
      ASSERT_OK(t.put(tree_, "\xff own", "x"));
      EXPECT_EQ(t.commit().is_conflict(), changed <= 19'000) << changed;
    }
  }
}

TEST_F(Transactions, absent_keys_are_read_too) {
  for (const bool batch : {false, true}) {
    Transaction t = begin(kOneByOne);
    if (batch) {
      ReadBatch out;
      const std::string_view wanted[] = {"w", "none"};
      ASSERT_OK(t.multi_get(tree_, wanted, out));
    } else {
      EXPECT_EQ(get_in(t, "none"), "NotFound");
    }
    put("none", "here now");
    ASSERT_OK(t.put(tree_, "own", "x"));
    EXPECT_TRUE(t.commit().is_conflict());
    ASSERT_OK(db_->del(tree_, "none"));
  }
}

// More reads than are kept one by one: coarser, and still no miss.
TEST_F(Transactions, many_reads_become_ranges) {
  constexpr uint64_t kKeys = 60'000;
  WriteBatch batch;
  for (uint64_t i = 0; i < kKeys; i += 2) batch.put(tree_, big_endian(i), "v");
  ASSERT_OK(db_->write(batch));
  for (const bool hits : {false, true}) {
    Transaction t = begin(kOneByOne);
    for (uint64_t i = 0; i < kKeys; ++i) {
      EXPECT_EQ(get_in(t, big_endian(mix64(i) % kKeys)),
                mix64(i) % kKeys % 2 == 0 ? "v" : "NotFound");
    }
    for (uint64_t i = 0; i < 2000; ++i) {
      Cursor cursor = t.cursor(tree_);
      ASSERT_TRUE(cursor.seek(big_endian(i * 17)));
    }
    EXPECT_LT(db_->stats().memory_used_bytes, db_->stats().memory_budget_bytes);
    // Some key that was read.
    put(hits ? big_endian(mix64(777) % kKeys) : "\xff", "new");
    ASSERT_OK(t.put(tree_, "\xff own", "x"));
    EXPECT_EQ(t.commit().is_conflict(), hits);
  }
}

TEST_F(Transactions, of_an_older_moment) {
  put("a", "1");
  Snapshot snapshot = db_->snapshot();
  put("a", "2");
  Transaction reads = begin({.read_only = true, .snapshot = &snapshot});
  Transaction writes = begin({.snapshot = &snapshot});
  snapshot.reset();
  // It keeps what it reads by itself.
  for (uint64_t i = 0; i < 100; ++i) put("a", std::to_string(i));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get_in(reads, "a"), "1");
  EXPECT_TRUE(reads.put(tree_, "a", "").is(StatusCode::kReadOnly));
  EXPECT_TRUE(reads.insert(tree_, "b", "").status().is(StatusCode::kReadOnly));
  ASSERT_OK(reads.commit());
  EXPECT_TRUE(writes.put(tree_, "a", "lost update").is_conflict());
  ASSERT_OK(writes.put(tree_, "b", "1"));
  ASSERT_OK(writes.commit());
  EXPECT_EQ(db_->stats().snapshots, 0u);
}

TEST_F(Transactions, options_that_contradict_each_other) {
  const Snapshot empty;
  const Snapshot snapshot = db_->snapshot();
  const TxnOptions wrong[] = {
      {.mode = static_cast<TxnMode>(9)},
      {.isolation = static_cast<Isolation>(9)},
      {.snapshot = &empty},
      {.mode = TxnMode::kExclusive, .snapshot = &snapshot},
      {.mode = TxnMode::kExclusive, .read_only = true},
      {.mode = TxnMode::kPessimistic, .read_only = true},
      {.isolation = Isolation::kReadCommitted, .snapshot = &snapshot},
  };
  for (const TxnOptions& options : wrong) {
    const Status status = db_->begin(options).status();
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  }
}

TEST_F(Transactions, read_only_ones_of_a_read_only_database) {
  put("a", "1");
  ASSERT_OK(db_->close());
  db_.reset();
  Options reading = options();
  reading.read_only = true;
  db_ = Db::open(path_, reading).value();
  tree_ = db_->find_tree("t").value();
  EXPECT_TRUE(db_->begin(TxnMode::kOptimistic).status().is(StatusCode::kReadOnly));
  Transaction t = begin({.isolation = Isolation::kSerializable, .read_only = true});
  EXPECT_EQ(get_in(t, "a"), "1");
  ASSERT_OK(t.commit());
}

// ---- Compare and set

TEST_F(Transactions, compare_and_set) {
  const auto yes = [](const Result<bool>& result) {
    EXPECT_OK(result.status());
    return result.ok() && *result;
  };
  EXPECT_FALSE(yes(db_->update(tree_, "k", "0")));
  EXPECT_TRUE(yes(db_->insert(tree_, "k", "1")));
  EXPECT_FALSE(yes(db_->insert(tree_, "k", "2")));
  EXPECT_EQ(get("k"), "1");
  EXPECT_TRUE(yes(db_->update(tree_, "k", "3")));
  EXPECT_FALSE(yes(db_->replace(tree_, "k", "1", "4")));
  EXPECT_TRUE(yes(db_->replace(tree_, "k", "3", "4")));
  EXPECT_FALSE(yes(db_->replace(tree_, "k", std::nullopt, "5")));
  EXPECT_FALSE(yes(db_->remove_if(tree_, "k", "3")));
  EXPECT_EQ(get("k"), "4");
  EXPECT_TRUE(yes(db_->remove_if(tree_, "k", "4")));
  EXPECT_FALSE(yes(db_->remove_if(tree_, "k", "4")));
  EXPECT_TRUE(yes(db_->replace(tree_, "k", std::nullopt, "6")));
  EXPECT_EQ(get("k"), "6");
  // A large value, compared as a whole.
  const std::string large = value_of(1, 300'000);
  EXPECT_TRUE(yes(db_->update(tree_, "k", large)));
  EXPECT_FALSE(yes(db_->replace(tree_, "k", value_of(2, 300'000), "7")));
  EXPECT_FALSE(yes(db_->replace(tree_, "k", "small", "7")));
  EXPECT_TRUE(yes(db_->replace(tree_, "k", large, "7")));
  EXPECT_TRUE(
      db_->insert(tree_, std::string(70'000, 'k'), "").status().is(StatusCode::kInvalidArgument));
  // In a transaction, on its own writes.
  Transaction t = begin();
  EXPECT_TRUE(yes(t.replace(tree_, "k", "7", "8")));
  EXPECT_TRUE(yes(t.replace(tree_, "k", "8", "9")));
  EXPECT_TRUE(yes(t.insert(tree_, "l", "1")));
  EXPECT_FALSE(yes(t.insert(tree_, "l", "1")));
  EXPECT_TRUE(yes(t.remove_if(tree_, "l", "1")));
  EXPECT_EQ(get("k"), "7");
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("k"), "9");
  EXPECT_EQ(get("l"), "NotFound");
}

// What they read counts, whatever the level, even where they write nothing.
TEST_F(Transactions, what_compare_and_set_read_must_hold_at_commit) {
  for (const Isolation level : {Isolation::kReadCommitted, Isolation::kSnapshot}) {
    for (const bool flushes : {false, true}) {
      put("k", "1");
      Transaction t = begin({.isolation = level});
      Result<bool> absent = t.insert(tree_, "k", "x");
      ASSERT_OK(absent.status());
      EXPECT_FALSE(*absent);
      ASSERT_OK(db_->del(tree_, "k"));
      if (flushes) ASSERT_OK(db_->flush());
      ASSERT_OK(t.put(tree_, "saw k", "x"));
      EXPECT_TRUE(t.commit().is_conflict());
    }
  }
  put("k", "1");
  Transaction t = begin(kCommitted);
  Value value;
  ASSERT_OK(t.get_for_update(tree_, "k", value));
  ASSERT_OK(t.put(tree_, "k", "2"));
  put("k", "theirs");
  EXPECT_TRUE(t.commit().is_conflict());
  EXPECT_EQ(get("k"), "theirs");
}

// Keys that came, and were seen, after the transaction's first such read, and went again: a flush
// must leave a trace of them.
TEST_F(Transactions, what_later_compare_and_set_read_must_hold_too) {
  for (const uint64_t updates : {2, 200}) {
    ASSERT_OK(db_->drop_tree("t"));
    tree_ = db_->tree("t").value();
    Transaction t = begin(kCommitted);
    for (uint64_t i = 0; i < updates; ++i) {
      put(key_of(i), "theirs");
      const Result<bool> absent = t.insert(tree_, key_of(i), "x");
      ASSERT_OK(absent.status());
      EXPECT_EQ(*absent, i >= 64) << "it reads the last of so many moments";
    }
    ASSERT_OK(db_->del(tree_, key_of(1)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(t.put(tree_, "saw it", "x"));
    EXPECT_TRUE(t.commit().is_conflict());
  }
  EXPECT_EQ(db_->stats().snapshots, 0u);
}

TEST_F(Transactions, counters_by_compare_and_set_lose_nothing) {
  put("n", "0");
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int done = 0; done < kEach;) {
        const std::string seen = get("n");
        const Result<bool> set =
            db_->replace(tree_, "n", seen, std::to_string(std::stoi(seen) + 1));
        ASSERT_OK(set.status());
        done += *set ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(get("n"), std::to_string(kThreads * kEach));
}

}  // namespace
}  // namespace hawthorn::tests
