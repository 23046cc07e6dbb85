// Trees as values in transactions of every kind, alone and two at a time.

#include <functional>

#include "tests/api/subtree_test_fixture.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

TEST_F(Subtrees, of_transactions) {
  for (const TxnOptions& kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Transaction t = begin(kind);
    const Tree one = t.create_subtree(parent_, "one", holder()).value();
    ASSERT_OK(t.put(one, "in", "v"));
    const Tree two = t.create_subtree(one, "two").value();
    ASSERT_OK(t.put(two, "in", "w"));
    EXPECT_EQ(t.subtree(parent_, "one").value().id(), one.id());
    EXPECT_EQ(t.subtree(one, "two").value().id(), two.id());
    EXPECT_EQ(t.list_subtrees(parent_).value(), (Keys{"one"}));
    if (kind.mode != TxnMode::kExclusive) {
      EXPECT_TRUE(db_->subtree(parent_, "one").status().is_not_found());
      EXPECT_TRUE(db_->put(two, "k", "v").is(StatusCode::kInvalidArgument));
    }
    const Savepoint here = t.savepoint().value();
    ASSERT_OK(t.del(parent_, "one"));
    EXPECT_TRUE(t.subtree(parent_, "one").status().is_not_found());
    EXPECT_TRUE(t.put(two, "k", "v").is(StatusCode::kInvalidArgument));
    ASSERT_OK(t.rollback_to(here));
    ASSERT_OK(t.put(two, "k", "v"));
    EXPECT_TRUE(t.move_subtree(parent_, "one", one, "x").is(StatusCode::kInvalidArgument));
    ASSERT_OK(t.detach(one, "two", "named"));
    EXPECT_EQ(t.find_tree("named").value().id(), two.id());
    {
      Transaction nested = t.begin_nested().value();
      ASSERT_OK(nested.delete_range(parent_, ""));
      ASSERT_OK(nested.drop_tree("named"));
      nested.abort();
    }
    ASSERT_OK(t.attach(parent_, "three", "named"));
    {
      Cursor cursor = t.cursor(parent_);
      std::string told;
      for (bool more = cursor.first(); more; more = cursor.next()) {
        told += std::string(cursor.key()) + (cursor.is_subtree().value() ? "+" : "-");
      }
      EXPECT_EQ(told, "one+three+");
    }
    ASSERT_OK(t.commit());
    EXPECT_EQ(get_of(db_->subtree(parent_, "three").value(), "k"), "v");
    EXPECT_EQ(db_->list_trees().value(), (Keys{"p", "t"}));
    EXPECT_TRUE(nothing_lost(*db_));
    ASSERT_OK(db_->delete_range(parent_, ""));
    // What does not commit leaves nothing.
    Transaction undone = begin(kind);
    ASSERT_OK(undone.create_subtree(parent_, "gone").status());
    undone.abort();
    EXPECT_EQ(db_->count(parent_, "", std::nullopt).value(), 0u);
    EXPECT_TRUE(nothing_lost(*db_));
  }
  Transaction reader = begin({.read_only = true});
  EXPECT_TRUE(reader.create_subtree(parent_, "k").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(reader.put(parent_, "k", "v").is(StatusCode::kReadOnly));
  EXPECT_TRUE(reader.del(parent_, "k").is(StatusCode::kReadOnly));
  EXPECT_TRUE(reader.delete_range(parent_, "k").is(StatusCode::kReadOnly));
}

// Two that change what is at a key, one of them with a subtree: whichever commits first, the other
// one sees it or fails. Without the looks that writes of such trees take, a put would leave its
// subtree behind, for which no key stands any more.
TEST_F(Subtrees, two_at_one_key) {
  using Change = std::function<Status(Transaction&)>;
  int conflicts = 0;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"put", [&](Transaction& t) { return t.put(parent_, "k", "v"); }},
      {"insert", [&](Transaction& t) { return t.insert(parent_, "k", "v").status(); }},
      {"del", [&](Transaction& t) { return t.del(parent_, "k"); }},
      {"range", [&](Transaction& t) { return t.delete_range(parent_, "j", "l"); }},
      {"all", [&](Transaction& t) { return t.delete_range(parent_, ""); }},
      {"create", [&](Transaction& t) { return t.create_subtree(parent_, "k").status(); }},
      {"attach", [&](Transaction& t) { return t.attach(parent_, "k", "named"); }},
      {"detach", [&](Transaction& t) { return t.detach(parent_, "k", "other"); }},
      {"move", [&](Transaction& t) { return t.move_subtree(parent_, "k", parent_, "z"); }},
      {"drop", [&](Transaction& t) { return t.drop_tree("p"); }},
  };
  const auto at_once = [&](const auto& of_one, const TxnOptions& kind, const auto& of_two,
                           const TxnOptions& kind_two, bool there) {
    SCOPED_TRACE(of_one.first + " of " + name_of(kind) + ", " + of_two.first + " of " +
                 name_of(kind_two) + (there ? ", there" : ""));
    parent_ = db_->tree("p", holder()).value();
    if (there) ASSERT_OK(db_->create_subtree(parent_, "k").status());
    ASSERT_OK(db_->tree("named").status());
    Transaction one = begin(kind);
    Transaction two = begin(kind_two);
    // Both have begun to read.
    ASSERT_OK(one.list_subtrees(parent_).status());
    ASSERT_OK(two.list_subtrees(parent_).status());
    const Status first = of_one.second(one);
    const Status second = of_two.second(two);
    const Status ended = second.ok() ? two.commit() : second;
    conflicts += ended.is_conflict() ? 1 : 0;
    if (first.ok()) conflicts += one.commit().is_conflict() ? 1 : 0;
    one.abort();
    two.abort();
    ASSERT_TRUE(nothing_lost(*db_));
    for (const char* left : {"p", "named", "other"}) {
      const Status dropped = db_->drop_tree(left);
      ASSERT_TRUE(dropped.ok() || dropped.is_not_found()) << dropped.to_string();
    }
  };
  std::vector<TxnOptions> kinds = all_kinds();
  kinds.pop_back();  // an exclusive one has nobody beside it
  Prng prng(1);
  for (uint64_t round = scaled(2); round > 0; --round) {
    for (const auto& of_one : changes) {
      for (const auto& of_two : changes) {
        for (const bool there : {false, true}) {
          const TxnOptions& kind = kinds[prng.below(kinds.size())];
          const TxnOptions& kind_two = kinds[prng.below(kinds.size())];
          ASSERT_NO_FATAL_FAILURE(at_once(of_one, kind, of_two, kind_two, there));
        }
      }
    }
    open_small();  // dropped trees leave a little memory behind
  }
  EXPECT_GT(conflicts, 15);
  EXPECT_EQ(subtrees(), 0u);
}

// What is to go when a tree goes is what hangs below it then, at whatever depth: a tree that others
// hang there in the meantime would stay behind.
TEST_F(Subtrees, hung_where_another_drops) {
  const std::vector<std::function<Status(Transaction&)>> drops = {
      [&](Transaction& t) { return t.drop_tree("p"); },
      [&](Transaction& t) { return t.del(parent_, "k"); },
      [&](Transaction& t) { return t.delete_range(parent_, "j", "l"); },
  };
  for (const TxnOptions& kind : all_kinds()) {
    if (kind.mode == TxnMode::kExclusive) continue;
    for (size_t i = 0; i < drops.size(); ++i) {
      for (const bool drops_first : {false, true}) {
        SCOPED_TRACE(name_of(kind) + " drop " + std::to_string(i) + (drops_first ? " first" : ""));
        parent_ = db_->tree("p", holder()).value();
        make_two("k");
        const Tree one = db_->subtree(parent_, "k").value();
        Transaction dropper = begin(kind);
        Transaction other = begin(kind);
        ASSERT_OK(drops[i](dropper));
        ASSERT_OK(other.create_subtree(one, "new").status());
        ASSERT_OK((drops_first ? dropper : other).commit());
        EXPECT_TRUE((drops_first ? other : dropper).commit().is_conflict());
        EXPECT_EQ(subtrees(), drops_first ? 0u : 3u);
        ASSERT_TRUE(nothing_lost(*db_));
        if (!drops_first || i > 0) ASSERT_OK(db_->drop_tree("p"));
      }
    }
  }
}

// Without a transaction, while one is open that hangs something there.
TEST_F(Subtrees, plain_writes_beside_a_transaction) {
  for (const TxnOptions& kind : all_kinds()) {
    if (kind.mode != TxnMode::kOptimistic) continue;
    SCOPED_TRACE(name_of(kind));
    Transaction t = begin(kind);
    ASSERT_OK(t.create_subtree(parent_, "k").status());
    ASSERT_OK(db_->put(parent_, "k", "v"));
    EXPECT_TRUE(t.commit().is_conflict());
    EXPECT_EQ(get_of(parent_, "k"), "v");
    EXPECT_TRUE(nothing_lost(*db_));
    ASSERT_OK(db_->del(parent_, "k"));

    Transaction u = begin(kind);
    ASSERT_OK(u.create_subtree(parent_, "k").status());
    ASSERT_OK(db_->del(parent_, "k"));
    EXPECT_TRUE(u.commit().is_conflict());
    EXPECT_TRUE(nothing_lost(*db_));

    // A put and a subtree elsewhere are none of each other's business.
    Transaction v = begin(kind);
    ASSERT_OK(v.create_subtree(parent_, "one").status());
    ASSERT_OK(db_->put(parent_, "two", "v"));
    ASSERT_OK(v.commit());
    ASSERT_OK(db_->delete_range(parent_, ""));
    EXPECT_TRUE(nothing_lost(*db_));
  }
}

// Two that put the same key, at the level at which writes do not conflict, go on not to.
TEST_F(Subtrees, puts_conflict_only_with_what_hangs) {
  const TxnOptions committed{.isolation = Isolation::kReadCommitted};
  Transaction one = begin(committed);
  Transaction two = begin(committed);
  ASSERT_OK(one.put(parent_, "k", "1"));
  ASSERT_OK(two.put(parent_, "k", "2"));
  ASSERT_OK(two.commit());
  ASSERT_OK(one.commit());
  EXPECT_EQ(get_of(parent_, "k"), "1");
  // A put whose key was put, and had nothing at first, is still none of a put.
  Transaction three = begin(committed);
  ASSERT_OK(three.put(parent_, "k", "3"));
  ASSERT_OK(db_->create_subtree(parent_, "l").status());
  ASSERT_OK(three.commit());
}

// Each of two moves is fine by itself: together they would close a circle that no name leads to.
TEST_F(Subtrees, two_moves_that_would_close_a_circle) {
  for (const TxnOptions& kind : all_kinds()) {
    if (kind.mode == TxnMode::kExclusive) continue;
    SCOPED_TRACE(name_of(kind));
    const Tree a = db_->tree("a", holder()).value();
    const Tree b = db_->tree("b", holder()).value();
    const Tree in_b = make(b, "in", holder());
    Transaction one = begin(kind);
    Transaction two = begin(kind);
    ASSERT_OK(one.attach(in_b, "k", "a"));
    ASSERT_OK(two.attach(a, "k", "b"));
    ASSERT_OK(one.commit());
    EXPECT_TRUE(two.commit().is_conflict());
    EXPECT_EQ(db_->subtree(in_b, "k").value().id(), a.id());
    EXPECT_TRUE(nothing_lost(*db_));
    ASSERT_OK(db_->drop_tree("b"));
  }
  EXPECT_EQ(subtrees(), 0u);
}

TEST_F(Subtrees, of_prepared_transactions) {
  make_two("k");
  {
    Transaction t = begin();
    ASSERT_OK(t.create_subtree(parent_, "new").status());
    EXPECT_TRUE(t.prepare("made").is(StatusCode::kNotSupported));
  }
  {
    Transaction t = begin();
    ASSERT_OK(t.del(parent_, "k"));
    EXPECT_TRUE(t.prepare("dropped").is(StatusCode::kNotSupported));
  }
  const Tree named = db_->tree("n").value();
  ASSERT_OK(db_->put(named, "in", "n"));
  for (const bool commits : {false, true}) {
    Transaction t = begin();
    ASSERT_OK(t.attach(db_->subtree(parent_, "k").value(), "n", "n"));
    ASSERT_OK(t.move_subtree(parent_, "k", parent_, "l"));
    ASSERT_OK(t.put(parent_, "plain", "v"));
    ASSERT_OK(t.prepare("moved"));
    t = Transaction();
    reopen();
    // All that it rests on waits or fails.
    EXPECT_FALSE(db_->drop_tree("n").ok());
    EXPECT_FALSE(db_->drop_tree("p").ok());
    EXPECT_FALSE(db_->del(parent_, "k").ok());
    EXPECT_FALSE(db_->put(parent_, "l", "v").ok());
    EXPECT_FALSE(db_->delete_range(parent_, "").ok());
    EXPECT_FALSE(db_->create_subtree(parent_, "plain").ok());
    EXPECT_TRUE(clean(*db_));
    ASSERT_OK(commits ? db_->commit_prepared("moved") : db_->rollback_prepared("moved"));
    EXPECT_TRUE(nothing_lost(*db_));
  }
  EXPECT_EQ(list(parent_), (Keys{"l"}));
  const Tree l = db_->subtree(parent_, "l").value();
  EXPECT_EQ(get_of(db_->subtree(l, "n").value(), "in"), "n");
  reopen();
  EXPECT_EQ(list(parent_), (Keys{"l"}));
  EXPECT_TRUE(nothing_lost(*db_));
}

TEST_F(Subtrees, of_serializable_transactions) {
  const TxnOptions serializable{.isolation = Isolation::kSerializable};
  const auto conflicts = [&](const std::function<void(Transaction&)>& read,
                             const std::function<Status()>& change) {
    Transaction t = begin(serializable);
    read(t);
    EXPECT_OK(t.put(tree_, "k", "v"));
    EXPECT_OK(change());
    return t.commit().is_conflict();
  };
  int next = 0;
  const auto make_one = [&] {
    return db_->create_subtree(parent_, "k" + std::to_string(next++)).status();
  };
  const auto put_one = [&] { return db_->put(parent_, "v" + std::to_string(next++), "v"); };
  const auto list_all = [&](Transaction& t) { EXPECT_OK(t.list_subtrees(parent_).status()); };
  EXPECT_TRUE(conflicts(list_all, make_one));
  EXPECT_FALSE(conflicts(list_all, put_one));
  const auto walk = [&](Transaction& t) {
    Cursor cursor = t.cursor(parent_);
    for (bool more = cursor.first(); more; more = cursor.next()) {
      EXPECT_OK(cursor.is_subtree().status());
    }
  };
  EXPECT_TRUE(conflicts(walk, make_one));
  const auto find_first = [&](Transaction& t) { EXPECT_OK(t.subtree(parent_, "k0").status()); };
  EXPECT_FALSE(conflicts(find_first, make_one));
  EXPECT_TRUE(conflicts(find_first, [&] { return db_->del(parent_, "k0"); }));
  EXPECT_TRUE(conflicts(
      [&](Transaction& t) { EXPECT_TRUE(t.subtree(parent_, "x").status().is_not_found()); },
      [&] { return db_->create_subtree(parent_, "x").status(); }));
}

// A transaction larger than memory goes to trees of its own, but for what it says of trees.
TEST_F(Subtrees, of_large_transactions) {
  make_two("k");
  txn::memory_share_max = size_t{256} << 10;
  for (const Isolation isolation : {Isolation::kReadCommitted, Isolation::kSnapshot}) {
    Transaction t = begin({.isolation = isolation});
    for (uint64_t i = 0; i < 8'000; ++i) {
      ASSERT_OK(t.put(parent_, "l" + big_endian(i), value_of(i, 200)));
    }
    ASSERT_GT(db_->stats().layers, 0u);
    ASSERT_OK(t.create_subtree(parent_, "new").status());
    ASSERT_OK(t.del(parent_, "k"));
    ASSERT_OK(t.delete_range(parent_, "l" + big_endian(100), "l" + big_endian(6'000)));
    ASSERT_OK(t.commit());
    EXPECT_EQ(list(parent_), (Keys{"new"}));
    EXPECT_EQ(db_->count(parent_, "", std::nullopt).value(), 2'101u);
    t = Transaction();
    reopen();
    EXPECT_EQ(db_->count(parent_, "", std::nullopt).value(), 2'101u);
    EXPECT_TRUE(nothing_lost(*db_));
    ASSERT_OK(db_->delete_range(parent_, ""));
    make_two("k");
  }
  txn::memory_share_max = ~size_t{0};
}

}  // namespace
}  // namespace hawthorn::tests
