// Trees as values: what their functions do, and what they refuse. Transactions are in
// subtree_txn_test.cc, random histories in tests/model, crashes in tests/crash, races in
// tests/concurrency.

#include <mutex>

#include "hawthorn/flush_filter.h"
#include "tests/api/subtree_test_fixture.h"

namespace hawthorn::tests {
namespace {

TEST_F(Subtrees, hang_at_keys) {
  ASSERT_OK(db_->put(parent_, "a", "plain"));
  ASSERT_OK(db_->put(parent_, "c", ""));
  const Tree made = make(parent_, "b");
  ASSERT_OK(db_->put(made, "k", "v"));
  EXPECT_EQ(db_->subtree(parent_, "b").value().id(), made.id());
  EXPECT_EQ(get_of(db_->subtree(parent_, "b").value(), "k"), "v");
  EXPECT_TRUE(db_->subtree(parent_, "nothing").status().is_not_found());
  EXPECT_TRUE(db_->subtree(parent_, "a").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->subtree(parent_, "c").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->subtree(tree_, "a").status().is(StatusCode::kInvalidArgument));
  // As entries like any other, with an empty value.
  EXPECT_EQ(get_of(parent_, "b"), "");
  EXPECT_EQ(keys(parent_), (Keys{"a", "b", "c"}));
  EXPECT_EQ(db_->count(parent_, "", std::nullopt).value(), 3u);
  for (const bool key_only : {false, true}) {
    Cursor cursor = db_->cursor(parent_, {.key_only = key_only});
    EXPECT_TRUE(cursor.is_subtree().status().is(StatusCode::kInvalidArgument));
    std::string told;
    for (bool more = cursor.first(); more; more = cursor.next()) {
      told += std::string(cursor.key()) + (cursor.is_subtree().value() ? "+" : "-");
      EXPECT_TRUE(cursor.key() == "a" || cursor.value().empty());
    }
    EXPECT_EQ(told, "a-b+c-");
  }
  {
    Cursor cursor = db_->cursor(made);
    ASSERT_TRUE(cursor.first());
    EXPECT_FALSE(cursor.is_subtree().value());
  }
  EXPECT_EQ(list(parent_), (Keys{"b"}));
  EXPECT_EQ(db_->list_trees().value(), (Keys{"p", "t"}));
  EXPECT_TRUE(db_->list_subtrees(tree_).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->tree_options(parent_).value().subtrees);
  EXPECT_FALSE(db_->tree_options(made).value().subtrees);
  EXPECT_TRUE(db_->tree("p").ok());
  EXPECT_TRUE(db_->tree("p", {.order = "reverse"}).status().is(StatusCode::kInvalidArgument));
  reopen();
  EXPECT_EQ(get_of(db_->subtree(parent_, "b").value(), "k"), "v");
  ASSERT_OK(db_->close());
  reopen();
  EXPECT_EQ(get_of(db_->subtree(parent_, "b").value(), "k"), "v");
  const Stats stats = db_->stats();
  EXPECT_EQ(stats.subtrees, 1u);
  EXPECT_EQ(stats.trees.size(), 2u);
  EXPECT_GT(stats.bytes_subtrees, 0u);
  EXPECT_EQ(stats.trees[1].name == "p" ? stats.trees[1].subtrees : stats.trees[0].subtrees, 1u);
  EXPECT_EQ(db_->check().value().subtrees, 1u);
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, take_no_values) {
  make_two("k");
  const uint64_t trees = subtrees();
  EXPECT_TRUE(db_->put(parent_, "k", "v").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(parent_, "k", std::string(100'000, 'v')).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(parent_, "k", "").is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(db_->insert(parent_, "k", "v").value());
  EXPECT_TRUE(db_->update(parent_, "k", "v").status().is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(db_->replace(parent_, "k", "", "v").value());
  EXPECT_FALSE(db_->replace(parent_, "k", std::nullopt, "v").value());
  EXPECT_FALSE(db_->remove_if(parent_, "k", "").value());
  EXPECT_TRUE(db_->merge(parent_, "k", "v").is(StatusCode::kInvalidArgument));
  WriteBatch batch;
  batch.put(tree_, "beside", "v");
  batch.put(parent_, "k", "v");
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  EXPECT_EQ(get("beside"), "NotFound");
  for (const TxnOptions& kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Transaction t = begin(kind);
    EXPECT_TRUE(t.put(parent_, "k", "v").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.put_reserve(parent_, "k", 10).status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.write_part(parent_, "k", 0, "part").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.append(parent_, "k", "part").status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.resize(parent_, "k", 100'000).is(StatusCode::kInvalidArgument));
    for (const uint64_t size : {uint64_t{10}, uint64_t{100'000}}) {
      const auto source = [](std::span<char> to) -> Result<size_t> { return to.size(); };
      EXPECT_TRUE(t.put_stream(parent_, "k", size, source).is(StatusCode::kInvalidArgument));
    }
    EXPECT_TRUE(t.put(parent_, "k", "v", Expiry::after_ms(1)).is(StatusCode::kInvalidArgument));
    EXPECT_FALSE(t.insert(parent_, "k", "v").value());
    EXPECT_FALSE(t.replace(parent_, "k", "", "v").value());
    EXPECT_FALSE(t.remove_if(parent_, "k", "").value());
    EXPECT_TRUE(t.update(parent_, "k", "v").status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.create_subtree(parent_, "k").status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(t.attach(parent_, "k", "t").is(StatusCode::kInvalidArgument));
    EXPECT_OK(t.put(parent_, "other", "v"));
    const Result<std::span<std::byte>> room = t.put_reserve(parent_, "reserved", 2);
    ASSERT_OK(room.status());
    std::memcpy(room->data(), "ok", 2);
    ASSERT_OK(t.commit());
    EXPECT_EQ(get_of(parent_, "reserved"), "ok");
    ASSERT_OK(db_->del(parent_, "reserved"));
  }
  EXPECT_EQ(subtrees(), trees);
  // Nor does a key that has one take a subtree.
  ASSERT_OK(db_->put(parent_, "v", "plain"));
  EXPECT_TRUE(db_->create_subtree(parent_, "v").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->attach(parent_, "v", "t").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->move_subtree(parent_, "k", parent_, "v").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->replace(parent_, "v", "plain", "other").value());
  EXPECT_TRUE(db_->remove_if(parent_, "v", "other").value());
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, move_with_all_that_they_hold) {
  const Tree named = db_->tree("n", holder()).value();
  for (uint64_t i = 0; i < 2000; ++i) ASSERT_OK(db_->put(named, big_endian(i), value_of(i, 50)));
  const Tree below = make(named, "below");
  ASSERT_OK(db_->put(below, "k", "v"));
  ASSERT_OK(db_->flush());
  const Tree other = db_->tree("o", holder()).value();

  ASSERT_OK(db_->attach(parent_, "here", "n"));
  EXPECT_TRUE(db_->find_tree("n").status().is_not_found());
  EXPECT_EQ(db_->subtree(parent_, "here").value().id(), named.id());
  EXPECT_EQ(get_of(named, big_endian(77)), value_of(77, 50));
  ASSERT_OK(db_->move_subtree(parent_, "here", other, "there"));
  EXPECT_TRUE(db_->subtree(parent_, "here").status().is_not_found());
  EXPECT_EQ(get_of(parent_, "here"), "NotFound");
  ASSERT_OK(db_->move_subtree(other, "there", other, "there"));
  ASSERT_OK(db_->move_subtree(other, "there", other, "elsewhere"));
  EXPECT_EQ(list(other), (Keys{"elsewhere"}));
  reopen();
  const Tree again = db_->find_tree("o").value();
  const Tree found = db_->subtree(again, "elsewhere").value();
  EXPECT_EQ(get_of(db_->subtree(found, "below").value(), "k"), "v");
  EXPECT_TRUE(db_->detach(again, "elsewhere", "p").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->detach(again, "elsewhere", "").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->detach(again, "nothing", "n").is_not_found());
  ASSERT_OK(db_->put(again, "plain", "v"));
  EXPECT_TRUE(db_->detach(again, "plain", "n").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->move_subtree(again, "plain", again, "n").is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->detach(again, "elsewhere", "n"));
  EXPECT_EQ(db_->find_tree("n").value().id(), found.id());
  EXPECT_EQ(db_->count(found, "", std::nullopt).value(), 2001u);
  EXPECT_TRUE(db_->attach(parent_, "x", "nothing").is_not_found());
  EXPECT_TRUE(db_->attach(tree_, "x", "n").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, never_hang_below_themselves) {
  EXPECT_TRUE(db_->attach(parent_, "k", "p").is(StatusCode::kInvalidArgument));
  Tree deepest = parent_;
  for (int i = 0; i < 20; ++i) deepest = make(deepest, "down", holder());
  EXPECT_TRUE(db_->attach(deepest, "k", "p").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->move_subtree(parent_, "down", deepest, "k").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->detach(parent_, "down", "top").ok());
  EXPECT_TRUE(db_->attach(deepest, "k", "top").is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->attach(deepest, "k", "p"));
  EXPECT_EQ(subtrees(), 20u);
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, go_with_their_key) {
  const auto drop_each = [&](const auto& drop) {
    make_two("k");
    ASSERT_OK(db_->put(parent_, "beside", "v"));
    const Tree one = db_->subtree(parent_, "k").value();
    const Tree two = db_->subtree(one, "deep").value();
    Snapshot before = db_->snapshot();
    ASSERT_OK(drop());
    EXPECT_EQ(subtrees(), 0u);
    EXPECT_EQ(get_of(parent_, "k"), "NotFound");
    EXPECT_TRUE(db_->put(one, "x", "y").is(StatusCode::kInvalidArgument));
    EXPECT_EQ(get_of(two, "in"), "InvalidArgument");
    ASSERT_OK(db_->drain());
    EXPECT_EQ(db_->stats().trees_unreachable, 2u);
    EXPECT_EQ(get_of(two, "in", &before), "two");
    EXPECT_EQ(list(parent_, &before), (Keys{"k"}));
    EXPECT_EQ(db_->subtree(parent_, "k", {.snapshot = &before}).value().id(), one.id());
    Cursor cursor = db_->cursor(parent_, {.snapshot = &before});
    ASSERT_TRUE(cursor.seek("k"));
    EXPECT_TRUE(cursor.is_subtree().value());
    cursor = Cursor();
    before.reset();
    EXPECT_TRUE(nothing_lost(*db_));
  };
  drop_each([&] { return db_->del(parent_, "k"); });
  drop_each([&] { return db_->delete_range(parent_, "b", "kk"); });
  drop_each([&] { return db_->delete_range(parent_, ""); });
  drop_each([&] {
    WriteBatch batch;
    batch.put(parent_, "new", "v");
    batch.delete_range(parent_, "k", "l");
    batch.put(parent_, "k", "a value now");
    batch.del(parent_, "k");
    return db_->write(batch);
  });
  for (const TxnOptions& kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    drop_each([&] {
      Transaction t = begin(kind);
      EXPECT_OK(t.del(parent_, "k"));
      EXPECT_OK(t.put(parent_, "k", "a value"));
      EXPECT_OK(t.del(parent_, "k"));
      return t.commit();
    });
    drop_each([&] {
      Transaction t = begin(kind);
      EXPECT_OK(t.delete_range(parent_, "a", "z"));
      EXPECT_EQ(t.count(parent_, "", std::nullopt).value(), 0u);
      return t.commit();
    });
  }
}

TEST_F(Subtrees, go_with_the_tree_in_which_they_hang) {
  make_two("k");
  make_two("l");
  const Tree two = db_->subtree(db_->subtree(parent_, "l").value(), "deep").value();
  EXPECT_EQ(subtrees(), 4u);
  {
    Transaction t = begin();
    ASSERT_OK(t.drop_tree("p"));
    EXPECT_TRUE(t.put(two, "k", "v").is(StatusCode::kInvalidArgument));
    t.abort();
  }
  ASSERT_OK(db_->put(two, "k", "v"));
  ASSERT_OK(db_->create_snapshot("kept"));
  ASSERT_OK(db_->drop_tree("p"));
  EXPECT_EQ(subtrees(), 0u);
  EXPECT_TRUE(db_->put(two, "k", "v").is(StatusCode::kInvalidArgument));
  // A named snapshot has them, after a crash, too.
  open_small();
  {
    const Snapshot kept = db_->open_snapshot("kept").value();
    const Tree p = db_->find_tree("p", {.snapshot = &kept}).value();
    EXPECT_EQ(list(p, &kept), (Keys{"k", "l"}));
    const Tree l = db_->subtree(p, "l", {.snapshot = &kept}).value();
    EXPECT_EQ(get_of(db_->subtree(l, "deep", {.snapshot = &kept}).value(), "k", &kept), "v");
    EXPECT_GE(db_->stats().trees_unreachable, 5u);
  }
  ASSERT_OK(db_->drop_snapshot("kept"));
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, have_options_and_orders) {
  const Tree newest = db_->tree("r", {.order = "uint64", .subtrees = true}).value();
  const auto number = [](uint64_t n) {
    return std::string(reinterpret_cast<const char*>(&n), sizeof(n));
  };
  for (const uint64_t n : {uint64_t{300}, uint64_t{2}, uint64_t{70'000}}) {
    const Tree made = make(newest, number(n), {.order = "reverse", .multi_value = true});
    ASSERT_OK(db_->put(made, "k", "a"));
    ASSERT_OK(db_->put(made, "k", "b"));
  }
  EXPECT_TRUE(db_->create_subtree(newest, "short").status().is(StatusCode::kInvalidArgument));
  EXPECT_EQ(list(newest), (Keys{number(2), number(300), number(70'000)}));
  ASSERT_OK(db_->delete_range(newest, number(3), number(70'000)));
  EXPECT_EQ(list(newest), (Keys{number(2), number(70'000)}));
  reopen();
  const Tree again = db_->find_tree("r").value();
  const Tree set = db_->subtree(again, number(2)).value();
  EXPECT_EQ(db_->tree_options(set).value().order, "reverse");
  EXPECT_EQ(db_->count(set, "", std::nullopt).value(), 2u);
  const Tree ending = make(again, number(9), {.expires = true, .ttl_ms = 1000});
  ASSERT_OK(db_->put(ending, "k", "v"));
  EXPECT_TRUE(db_->create_subtree(again, number(10), {.order = "nobody's"})
                  .status()
                  .is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, what_is_not_for_such_trees) {
  EXPECT_TRUE(db_->tree("x", {.multi_value = true, .subtrees = true})
                  .status()
                  .is(StatusCode::kNotSupported));
  EXPECT_TRUE(
      db_->tree("x", {.expires = true, .subtrees = true}).status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(db_->clone_tree("p", "x").status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(db_->ingest(parent_).status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(db_->set_merge_operator(parent_, "append").is(StatusCode::kNotSupported) ||
              db_->set_merge_operator(parent_, "append").is(StatusCode::kInvalidArgument));
  // Its catalog entry has a few bytes beside the key.
  const size_t most = Db::limits().key_bytes_max;
  EXPECT_TRUE(db_->put(parent_, std::string(most - 4, 'k'), "v").is(StatusCode::kInvalidArgument));
  const std::string longest(most - 5, 'k');
  ASSERT_OK(db_->put(parent_, longest, "v"));
  ASSERT_OK(db_->del(parent_, longest));
  const Tree made = make(parent_, longest);
  make(parent_, "", holder());
  EXPECT_TRUE(db_->clone_subtree(parent_, "", "x").status().is(StatusCode::kNotSupported));
  ASSERT_OK(db_->put(made, "k", "v"));
  EXPECT_EQ(list(parent_), (Keys{"", longest}));
  reopen();
  EXPECT_EQ(get_of(db_->subtree(parent_, longest).value(), "k"), "v");
  ASSERT_OK(db_->delete_range(parent_, longest, "l"));
  EXPECT_EQ(list(parent_), (Keys{""}));
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, are_cloned) {
  const Tree made = make(parent_, "k");
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_OK(db_->put(made, big_endian(i), value_of(i, 100)));
  const Tree clone = db_->clone_subtree(parent_, "k", "c").value();
  EXPECT_TRUE(db_->clone_subtree(parent_, "k", "c").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->clone_subtree(parent_, "no", "d").status().is_not_found());
  ASSERT_OK(db_->put(made, big_endian(1), "source"));
  ASSERT_OK(db_->put(clone, big_endian(2), "clone"));
  // A clone hangs like any tree, and outlives what it was made of.
  ASSERT_OK(db_->attach(parent_, "clone", "c"));
  ASSERT_OK(db_->del(parent_, "k"));
  ASSERT_OK(db_->flush());
  for (int i = 0; i < 2; ++i) {
    const Tree found = db_->subtree(parent_, "clone").value();
    EXPECT_EQ(get_of(found, big_endian(1)), value_of(1, 100));
    EXPECT_EQ(get_of(found, big_endian(2)), "clone");
    EXPECT_EQ(db_->count(found, "", std::nullopt).value(), 1000u);
    reopen();
  }
  ASSERT_OK(db_->del(parent_, "clone"));
  EXPECT_TRUE(nothing_lost(*db_));
}

// Whatever the tree holds, and whatever hangs beside it.
TEST_F(Subtrees, move_in_a_time_that_does_not_depend_on_what_they_hold) {
  // A timestamp is where its commit begins in the log.
  const auto bytes_of = [&](const std::string& name) {
    EXPECT_OK(db_->put(tree_, "before", "v"));
    EXPECT_OK(db_->attach(parent_, "moved", name));
    const uint64_t from = db_->stats().visible_timestamp;
    EXPECT_OK(db_->detach(parent_, "moved", name));
    EXPECT_OK(db_->put(tree_, "behind", "v"));
    return db_->stats().visible_timestamp - from;
  };
  ASSERT_OK(db_->tree("small").status());
  const uint64_t small = bytes_of("small");
  const Tree large = db_->tree("large", holder()).value();
  for (uint64_t i = 0; i < 3000; ++i) ASSERT_OK(db_->put(large, big_endian(i), value_of(i, 500)));
  {
    Transaction t = begin();
    for (uint64_t i = 0; i < 500; ++i) {
      ASSERT_OK(t.create_subtree(large, "s" + big_endian(i)).status());
      ASSERT_OK(t.create_subtree(parent_, "s" + big_endian(i)).status());
    }
    ASSERT_OK(t.commit());
  }
  EXPECT_LT(bytes_of("large"), small + 100);
  EXPECT_LT(small, 1000u);
}

TEST_F(Subtrees, ten_thousand_of_them) {
  constexpr uint64_t kTrees = 10'000;
  ASSERT_OK(db_->set_memory_budget(size_t{64} << 20));
  for (uint64_t i = 0; i < kTrees;) {
    Transaction t = begin();
    for (const uint64_t end = i + 500; i < end; ++i) {
      const Result<Tree> tree = t.create_subtree(parent_, big_endian(i));
      ASSERT_OK(tree.status());
      ASSERT_OK(t.put(*tree, "k", std::to_string(i)));
    }
    ASSERT_OK(t.commit());
  }
  ASSERT_OK(db_->flush());
  const Stats stats = db_->stats();
  EXPECT_EQ(stats.subtrees, kTrees);
  EXPECT_LT(stats.disk_bytes_reachable, kTrees * 8200 + (3 << 20));
  EXPECT_LT(stats.memory_used_bytes, kTrees * 4000 + (16 << 20));
  ASSERT_OK(db_->close());
  reopen();
  EXPECT_EQ(list(parent_).size(), kTrees);
  EXPECT_EQ(get_of(db_->subtree(parent_, big_endian(4711)).value(), "k"), "4711");
  ASSERT_OK(db_->delete_range(parent_, big_endian(1000), big_endian(9000)));
  EXPECT_EQ(subtrees(), 2000u);
  ASSERT_OK(db_->drop_tree("p"));
  EXPECT_TRUE(nothing_lost(*db_));
  EXPECT_LT(db_->stats().disk_bytes_reachable, 1u << 20);
}

// Its filter removes all that it is shown.
class RemoveAll : public FlushFilter {
 public:
  explicit RemoveAll(bool values) : values_(values) {}
  std::string_view name() const override { return "all"; }
  Decision filter(std::string_view, std::string_view, std::string*) override {
    return Decision::kRemove;
  }
  bool needs_values() const override { return values_; }

 private:
  const bool values_;
};

TEST_F(Subtrees, stay_where_a_filter_removes_entries) {
  for (const bool values : {false, true}) {
    make_two("k");
    ASSERT_OK(db_->put(parent_, "a", "v"));
    ASSERT_OK(db_->put(parent_, "z", ""));
    db_.reset();
    Options with = options();
    with.flush_filters["p"] = std::make_shared<RemoveAll>(values);
    db_ = std::move(Db::open_on(machine_.machine(), "/db", with)).value();
    parent_ = db_->find_tree("p").value();
    ASSERT_OK(db_->compact());
    EXPECT_EQ(keys(parent_), (Keys{"k"}));
    EXPECT_EQ(get_of(db_->subtree(parent_, "k").value(), "in"), "one");
    EXPECT_TRUE(nothing_lost(*db_));
    ASSERT_OK(db_->del(parent_, "k"));
  }
}

// What listeners are told of trees: where they hang, or did.
TEST_F(Subtrees, events) {
  struct Listener : EventListener {
    void on_tree_changed(const TreeChanged& change) override {
      const std::lock_guard lock(mutex);
      told.push_back(std::to_string(static_cast<int>(change.change)) + " " + change.name + "<" +
                     change.former_name + " " + (change.parent == 0 ? "" : "at " + change.key));
    }
    std::mutex mutex;
    Keys told;
  };
  const auto listener = std::make_shared<Listener>();
  Options with = options();
  with.listeners = {listener};
  db_.reset();
  db_ = std::move(Db::open(path_, with)).value();
  parent_ = db_->tree("p", holder()).value();
  make_two("k");
  ASSERT_OK(db_->detach(parent_, "k", "n"));
  ASSERT_OK(db_->attach(parent_, "l", "n"));
  ASSERT_OK(db_->move_subtree(parent_, "l", parent_, "m"));
  {
    Transaction t = begin();
    const Savepoint before = t.savepoint().value();
    ASSERT_OK(t.del(parent_, "m"));
    ASSERT_OK(t.rollback_to(before));
    ASSERT_OK(t.commit());
  }
  ASSERT_OK(db_->delete_range(parent_, ""));
  db_.reset();
  EXPECT_EQ(listener->told, (Keys{"0 p< ", "0 < at k", "0 < at deep", "5 n< ", "4 <n at l",
                                  "4 < at m", "2 < at m", "2 < at deep"}));
}

TEST_F(Subtrees, read_only) {
  make_two("k");
  open_small(true);
  const Tree parent = db_->find_tree("p").value();
  const Tree one = db_->subtree(parent, "k").value();
  EXPECT_EQ(get_of(db_->subtree(one, "deep").value(), "in"), "two");
  EXPECT_TRUE(db_->create_subtree(parent, "x").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->put(parent, "x", "v").is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->del(parent, "k").is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->attach(parent, "x", "t").is(StatusCode::kReadOnly));
  EXPECT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
