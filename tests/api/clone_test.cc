// Clones of trees: what both sides show while either changes, through flushes, restarts, snapshots,
// drops and transactions. Random histories are in tests/model, crashes in tests/crash.
#include "tests/api/sim_api_test_fixture.h"
#include "tests/support/every_read.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kClonedKeys = 6000;

class Clones : public SimApi {
 protected:
  Tree tree(std::string_view name, const Snapshot* at = nullptr) {
    Result<Tree> found = db_->find_tree(name, {.snapshot = at});
    EXPECT_OK(found.status());
    return found.ok() ? *found : Tree();
  }
  static std::string key(uint64_t i) { return big_endian(i); }
  void put_all(uint64_t number = 0) {
    for (uint64_t i = 0; i < kClonedKeys; ++i) put("t", i, value_of(i + number, 200));
  }
  void put(const std::string& name, uint64_t i, std::string_view value) {
    now_[name][key(i)] = value;
    ASSERT_OK(db_->put(tree(name), key(i), value));
  }
  void del(const std::string& name, uint64_t i) {
    now_[name].erase(key(i));
    ASSERT_OK(db_->del(tree(name), key(i)));
  }
  void clone(const std::string& from, const std::string& to) {
    ASSERT_OK(db_->clone_tree(from, to).status());
    now_[to] = now_[from];
  }
  void drop(const std::string& name) {
    ASSERT_OK(db_->drop_tree(name));
    now_.erase(name);
  }
  void change_both() {
    for (uint64_t i = 0; i < kClonedKeys; i += 5) put("t", i, "source");
    for (uint64_t i = 0; i < kClonedKeys; i += 3) put("c", i, "clone");
    for (uint64_t i = 1; i < kClonedKeys; i += 5) del("t", i);
    for (uint64_t i = 2; i < kClonedKeys; i += 7) del("c", i);
    for (uint64_t i = kClonedKeys; i < kClonedKeys + 100; ++i) put("c", i, "new in the clone");
    for (uint64_t i = kClonedKeys + 50; i < kClonedKeys + 200; ++i)
      put("t", i, "new in the source");
  }
  void expect(const std::string& name, const Contents& contents, const Snapshot* at = nullptr) {
    SCOPED_TRACE(name);
    std::vector<std::string> wanted;
    for (uint64_t i = 0; i < kClonedKeys + 250; i += 29) wanted.push_back(key(i));
    expect_by_every_read(*db_, tree(name, at), contents, wanted, at);
  }
  void expect_now() {
    for (const auto& [name, contents] : now_) {
      ASSERT_NO_FATAL_FAILURE(expect(name, contents));
    }
  }

  std::map<std::string, Contents> now_;
};

TEST_F(Clones, begin_alike_and_change_each_by_itself) {
  put_all();
  ASSERT_OK(db_->flush());
  for (uint64_t i = 0; i < kClonedKeys; i += 4) put("t", i, "not flushed");
  clone("t", "c");
  ASSERT_NO_FATAL_FAILURE(expect_now());
  change_both();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->flush());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  change_both();
  for (uint64_t i = 2; i < kClonedKeys; i += 14) put("c", i, "again");
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  EXPECT_TRUE(clean(*db_));
}

// Each way to open it again finds the clone's moment somewhere else.
TEST_F(Clones, last_over_restarts) {
  for (const int how : {0, 1, 2, 3}) {
    SCOPED_TRACE(how);
    put_all(static_cast<uint64_t>(how) * kClonedKeys);
    if (how > 0) ASSERT_OK(db_->flush());
    clone("t", "c");
    change_both();
    if (how == 2) ASSERT_OK(db_->flush());
    if (how == 3) ASSERT_OK(db_->close());
    for (int i = 0; i < 2; ++i) {
      open_small(i == 0);  // read-only first
      ASSERT_NO_FATAL_FAILURE(expect_now());
    }
    change_both();
    ASSERT_OK(db_->flush());
    ASSERT_NO_FATAL_FAILURE(expect_now());
    drop("c");
    now_["t"].clear();
    ASSERT_OK(db_->delete_range(tree("t"), ""));
    ASSERT_OK(db_->drain());
    EXPECT_TRUE(clean(*db_));
  }
}

TEST_F(Clones, of_clones_outlive_what_they_were_made_of) {
  put_all();
  clone("t", "c");
  change_both();
  clone("c", "d");
  for (uint64_t i = 0; i < kClonedKeys; i += 11) put("d", i, "in d");
  for (uint64_t i = 3; i < kClonedKeys; i += 11) del("d", i);
  change_both();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  drop("c");
  ASSERT_OK(db_->flush());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  drop("t");
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  open_small();  // makes a new "t"
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->close());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  const uint64_t before = db_->stats().disk_bytes_reachable;
  drop("d");
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(clean(*db_));
  // With the last clone go the trees that it showed.
  EXPECT_LT(db_->stats().disk_bytes_reachable, before / 10);
}

TEST_F(Clones, are_seen_by_snapshots_of_their_time) {
  put_all();
  const Snapshot without = db_->snapshot();
  clone("t", "c");
  const std::map<std::string, Contents> then = now_;
  const Snapshot fresh = db_->snapshot();
  ASSERT_OK(db_->create_snapshot("named"));
  change_both();
  ASSERT_OK(db_->flush());
  EXPECT_TRUE(db_->find_tree("c", {.snapshot = &without}).status().is_not_found());
  for (const auto& [name, contents] : then) {
    ASSERT_NO_FATAL_FAILURE(expect(name, contents, &fresh));
  }
  ASSERT_NO_FATAL_FAILURE(expect("t", then.at("t"), &without));
}

TEST_F(Clones, of_a_named_snapshot_come_back_with_it) {
  put_all();
  clone("t", "c");
  change_both();
  const std::map<std::string, Contents> then = now_;
  ASSERT_OK(db_->create_snapshot("named"));
  change_both();
  drop("c");
  drop("t");
  open_small();
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  {
    const Snapshot named = db_->open_snapshot("named").value();
    for (const auto& [name, contents] : then) {
      ASSERT_NO_FATAL_FAILURE(expect(name, contents, &named));
    }
  }
  ASSERT_OK(db_->drop_snapshot("named"));
  ASSERT_OK(db_->drain());
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Clones, show_what_the_source_holds_at_the_commit) {
  put_all();
  for (const bool commits : {false, true}) {
    Transaction txn = begin();
    const Tree source = txn.find_tree("t").value();
    ASSERT_OK(txn.put(source, key(1), "before"));
    const Savepoint mark = txn.savepoint().value();
    ASSERT_OK(txn.clone_tree("t", "gone").status());
    ASSERT_OK(txn.rollback_to(mark));
    EXPECT_TRUE(txn.find_tree("gone").status().is_not_found());
    const Tree clone = txn.clone_tree("t", "c").value();
    EXPECT_TRUE(txn.clone_tree("t", "c").status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(txn.clone_tree("none", "e").status().is_not_found());
    EXPECT_EQ(get_in(txn, clone, key(1)), "before");
    EXPECT_EQ(get_in(txn, clone, key(2)), now_["t"][key(2)]);
    ASSERT_OK(txn.put(source, key(2), "behind"));
    EXPECT_EQ(get_in(txn, clone, key(2)), "behind");
    ASSERT_OK(txn.put(clone, key(2), "own"));
    ASSERT_OK(txn.del(clone, key(3)));
    EXPECT_EQ(get_in(txn, clone, key(3)), "NotFound");
    EXPECT_EQ(txn.count(clone, "", std::nullopt).value(), kClonedKeys - 1);
    EXPECT_TRUE(db_->find_tree("c").status().is_not_found());
    if (!commits) continue;
    ASSERT_OK(txn.commit());
    for (const uint64_t i : {1, 2}) now_["t"][key(i)] = i == 1 ? "before" : "behind";
    now_["c"] = now_["t"];
    now_["c"][key(2)] = "own";
    now_["c"].erase(key(3));
  }
  ASSERT_NO_FATAL_FAILURE(expect_now());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(Clones, meet_changes_of_others_as_the_isolation_level_says) {
  put_all();
  for (const Isolation level :
       {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
    Transaction txn = begin({.isolation = level});
    ASSERT_OK(txn.clone_tree("t", "c").status());
    put("t", 5, "by another");
    const Status status = txn.commit();
    if (level != Isolation::kReadCommitted) {
      EXPECT_TRUE(status.is_conflict()) << status.to_string();
      EXPECT_TRUE(db_->find_tree("c").status().is_not_found());
      continue;
    }
    ASSERT_OK(status);
    now_["c"] = now_["t"];
    ASSERT_NO_FATAL_FAILURE(expect_now());
    drop("c");
  }
  {
    // Each read of its own is as new as can be, also through the clone.
    Transaction txn = begin({.isolation = Isolation::kReadCommitted});
    const Tree clone = txn.clone_tree("t", "c").value();
    put("t", 6, "since");
    EXPECT_EQ(get_in(txn, clone, key(6)), "since");
    EXPECT_EQ(get_in(txn, clone, key(7)), now_["t"][key(7)]);
    ASSERT_OK(txn.put(clone, key(7), "own"));
    EXPECT_EQ(get_in(txn, clone, key(7)), "own");
    Value value;
    ASSERT_OK(txn.get_for_update(clone, key(8), value));
    EXPECT_EQ(value.view(), now_["t"][key(8)]);
    txn.abort();
  }
  Transaction exclusive = begin({.mode = TxnMode::kExclusive});
  ASSERT_OK(exclusive.clone_tree("t", "c").status());
  ASSERT_OK(exclusive.commit());
  now_["c"] = now_["t"];
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

// Also what lies before the places where the cursors of both trees stand.
TEST_F(Clones, show_cursors_of_a_transaction_what_it_writes_later) {
  for (uint64_t i = 0; i < 100; i += 10) put("t", i, "old");
  clone("t", "c");
  Transaction txn = begin();
  Cursor cursor = txn.cursor(tree("c"));
  ASSERT_TRUE(cursor.first());
  ASSERT_OK(txn.del(tree("c"), key(10)));
  ASSERT_OK(txn.put(tree("c"), key(15), "new"));
  ASSERT_OK(txn.put(tree("c"), key(20), "newer"));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), key(15));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.value(), "newer");
  ASSERT_OK(txn.put(tree("c"), key(5), "back"));
  ASSERT_OK(txn.del(tree("c"), key(15)));
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), key(5));
}

// A clone's name may be met in the log before its making is, which is in chunks.
TEST_F(Clones, of_what_the_log_has_in_chunks_last_over_restarts) {
  {
    Transaction txn = begin();
    const Tree big = txn.tree("big").value();
    for (uint64_t i = 0; i < 2000; ++i) {
      now_["big"][key(i)] = value_of(i, 300);
      ASSERT_OK(txn.put(big, key(i), now_["big"][key(i)]));
    }
    ASSERT_OK(txn.clone_tree("big", "a").status());
    ASSERT_OK(txn.commit());
  }
  now_["a"] = now_["big"];
  for (const char* from : {"a", "big"}) {
    put(from, 7, "before");
    clone(from, "x");
    put(from, 7, "behind");
    const std::string to = std::string("renamed ") + from;
    ASSERT_OK(db_->rename_tree("x", to));
    now_[to] = now_["x"];
    now_.erase("x");
    ASSERT_OK(db_->rename_tree("a", "b"));
    now_["b"] = now_["a"];
    now_.erase("a");
    ASSERT_OK(db_->rename_tree("b", "a"));
    now_["a"] = now_["b"];
    now_.erase("b");
  }
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->close());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(Clones, are_not_there_before_they_were_made) {
  put_all();
  const Snapshot before = db_->snapshot();
  clone("t", "c");
  const Tree handle = tree("c");
  EXPECT_EQ(db_->count(handle, "", std::nullopt, {.snapshot = &before}).value(), 0U);
  EXPECT_TRUE(read_all(*db_, handle, &before).empty());
  Value value;
  EXPECT_TRUE(db_->get(handle, key(1), value, {.snapshot = &before}).is_not_found());
}

TEST_F(Clones, cannot_be_made_of_a_database_that_is_read) {
  put("t", 1, "one");
  open_small(true);
  EXPECT_TRUE(db_->clone_tree("t", "c").status().is(StatusCode::kReadOnly));
}

TEST_F(Clones, may_lose_their_source_in_the_same_transaction_or_meanwhile) {
  put_all();
  Transaction txn = begin();
  ASSERT_OK(txn.clone_tree("t", "c").status());
  ASSERT_OK(txn.drop_tree("t"));
  ASSERT_OK(txn.commit());
  now_["c"] = now_["t"];
  now_.erase("t");
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  Transaction other = begin({.isolation = Isolation::kReadCommitted});
  ASSERT_OK(other.clone_tree("c", "d").status());
  now_["d"] = now_["c"];
  drop("c");
  ASSERT_OK(db_->drain());
  ASSERT_OK(other.commit());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  txn = Transaction();
  other = Transaction();
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(Clones, of_what_large_transactions_and_deleted_ranges_left) {
  put_all();
  txn::memory_share_max = size_t{64} << 10;
  {
    Transaction txn = begin();
    for (uint64_t i = 0; i < 2000; ++i) {
      now_["t"][key(i)] = value_of(i, 150);
      ASSERT_OK(txn.put(tree("t"), key(i), now_["t"][key(i)]));
    }
    // Its own layers are a part of what it clones.
    ASSERT_OK(txn.clone_tree("t", "own").status());
    now_["own"] = now_["t"];
    ASSERT_OK(txn.commit());
  }
  txn::memory_share_max = ~size_t{0};
  Transaction txn = begin();
  ASSERT_OK(txn.clone_tree("t", "c").status());
  ASSERT_OK(txn.commit());
  now_["c"] = now_["t"];
  ASSERT_OK(db_->delete_range(tree("t"), key(100), key(4000)));
  now_["t"].erase(now_["t"].lower_bound(key(100)), now_["t"].lower_bound(key(4000)));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  clone("t", "d");
  EXPECT_TRUE(db_->delete_range(tree("c"), key(0), key(9)).is(StatusCode::kNotSupported));
  Transaction deletes = begin();
  ASSERT_OK(deletes.delete_range(tree("c"), key(1000), key(3000)));
  ASSERT_OK(deletes.commit());
  now_["c"].erase(now_["c"].lower_bound(key(1000)), now_["c"].lower_bound(key(3000)));
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->flush());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  txn = Transaction();
  deletes = Transaction();
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->close());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(Clones, take_bulk_ingests_on_both_sides) {
  put_all();
  ASSERT_OK(db_->flush());
  clone("t", "c");
  for (const char* name : {"t", "c"}) {
    Contents more = numbered(kClonedKeys / 2, kClonedKeys, 300);
    for (auto& [k, v] : more) v += name;
    ASSERT_OK(ingest_all(*db_, tree(name), more));
    for (const auto& [k, v] : more) now_[name][k] = v;
  }
  ASSERT_NO_FATAL_FAILURE(expect_now());
  open_small();
  ASSERT_NO_FATAL_FAILURE(expect_now());
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Clones, show_large_values) {
  for (uint64_t i = 0; i < 40; ++i) put("t", i, value_of(i, i % 2 == 0 ? 100'000 : 300));
  ASSERT_OK(db_->flush());
  clone("t", "c");
  for (uint64_t i = 0; i < 40; i += 3) put("t", i, value_of(100 + i, 90'000));
  for (uint64_t i = 0; i < 40; i += 4) put("c", i, value_of(200 + i, 80'000));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  ASSERT_NO_FATAL_FAILURE(expect_now());
  char part[100];
  ASSERT_EQ(db_->read_part(tree("c"), key(2), 50'000, part).value(), sizeof(part));
  EXPECT_EQ(std::string_view(part, sizeof(part)),
            std::string_view(now_["c"][key(2)]).substr(50'000, sizeof(part)));
  drop("t");
  ASSERT_OK(db_->drain());
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

TEST_F(Clones, compare_and_set_by_what_they_show) {
  put("t", 1, "one");
  put("t", 2, "two");
  clone("t", "c");
  const Tree clone = tree("c");
  EXPECT_FALSE(db_->insert(clone, key(1), "x").value());
  EXPECT_TRUE(db_->update(clone, key(1), "uno").value());
  EXPECT_TRUE(db_->remove_if(clone, key(2), "two").value());
  EXPECT_TRUE(db_->insert(clone, key(2), "due").value());
  EXPECT_FALSE(db_->replace(clone, key(1), "one", "x").value());
  EXPECT_EQ(read_all(*db_, clone), (Contents{{key(1), "uno"}, {key(2), "due"}}));
  EXPECT_EQ(read_all(*db_, tree("t")), (Contents{{key(1), "one"}, {key(2), "two"}}));
}

TEST_F(Clones, have_no_merge_operators) {
  put("t", 1, "one");
  clone("t", "c");
  const std::string name(append_with("")->name());
  EXPECT_TRUE(db_->set_merge_operator(tree("t"), name).is(StatusCode::kNotSupported));
  EXPECT_TRUE(db_->set_merge_operator(tree("c"), name).is(StatusCode::kNotSupported));
  ASSERT_OK(db_->tree("m").status());
  ASSERT_OK(db_->set_merge_operator(tree("m"), name));
  EXPECT_TRUE(db_->clone_tree("m", "n").status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(db_->clone_tree("t", "c").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->clone_tree("none", "n").status().is_not_found());
  drop("c");
  ASSERT_OK(db_->drain());
  EXPECT_OK(db_->set_merge_operator(tree("t"), name));
}

// What they hold back is what they show, and only as long as they are there.
TEST_F(Clones, keep_versions_of_their_source_alone) {
  ASSERT_OK(db_->tree("other").status());
  clone("t", "early");
  for (uint64_t round = 0; round < 12; ++round) {
    put_all(round);
    for (uint64_t i = 0; i < kClonedKeys; ++i) put("other", i, value_of(i + round, 200));
    ASSERT_OK(db_->flush());
    if (round == 0) clone("t", "c");
  }
  const uint64_t size = kClonedKeys * 208;
  const auto used = [this] {
    EXPECT_OK(db_->compact());
    EXPECT_OK(db_->drain());
    return db_->stats().disk_bytes_reachable;
  };
  const uint64_t with = used();
  EXPECT_GT(with, 3 * size);
  EXPECT_LT(with, 4 * size);
  ASSERT_NO_FATAL_FAILURE(expect_now());
  drop("c");
  put_all(99);
  ASSERT_OK(db_->flush());
  const uint64_t without = used();
  EXPECT_LT(without, 5 * size / 2);
  EXPECT_GT(without, 3 * size / 2);
  ASSERT_NO_FATAL_FAILURE(expect_now());
}

}  // namespace
}  // namespace hawthorn::tests
