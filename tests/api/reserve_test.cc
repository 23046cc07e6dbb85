// Puts that are filled in place: when they are written, what drops them, and sizes of all kinds.

#include <cstring>

#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class Reserve : public Api {
 protected:
  static void fill(std::span<std::byte> room, std::string_view value) {
    ASSERT_EQ(room.size(), value.size());
    if (!value.empty()) std::memcpy(room.data(), value.data(), value.size());
  }
  std::span<std::byte> reserve(Transaction& t, std::string_view key, size_t size) {
    Result<std::span<std::byte>> room = t.put_reserve(tree_, key, size);
    EXPECT_OK(room.status());
    return room.ok() ? *room : std::span<std::byte>();
  }
};

TEST_F(Reserve, is_filled_until_the_next_call_writes_it) {
  Transaction t = begin();
  const std::span<std::byte> room = reserve(t, "a", 5);
  for (const std::byte b : room) EXPECT_EQ(b, std::byte{0});
  fill(room, "first");
  fill(room, "later");
  EXPECT_EQ(get("a"), "NotFound");
  EXPECT_EQ(get_in(t, "a"), "later");
  fill(reserve(t, "b", 3), "two");
  fill(reserve(t, "c", 0), "");
  fill(reserve(t, "a", 4), "over");
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "over");
  EXPECT_EQ(get("b"), "two");
  EXPECT_EQ(get("c"), "");
}

TEST_F(Reserve, of_every_size_outlives_a_restart) {
  const std::vector<size_t> sizes = {0,     1,     7,     100,    4095,    4096,    16384,
                                     65535, 65536, 65537, 200000, 5 << 20, 20 << 20};
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kExclusive, TxnMode::kPessimistic}) {
    {
      Transaction t = begin({.mode = mode});
      for (size_t i = 0; i < sizes.size(); ++i) {
        fill(reserve(t, "key" + std::to_string(i), sizes[i]),
             value_of(i + static_cast<size_t>(mode), sizes[i]));
      }
      ASSERT_OK(t.commit(Durability::kFull));
    }
    open();
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(get("key" + std::to_string(i)), value_of(i + static_cast<size_t>(mode), sizes[i]))
          << sizes[i];
    }
  }
  ASSERT_OK(db_->flush());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(get("key" + std::to_string(i)).size(), sizes[i]);
  }
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Reserve, among_more_than_a_transaction_buffers) {
  {
    Transaction t = begin();
    for (uint64_t i = 0; i < 2000; ++i) {
      fill(reserve(t, big_endian(i), 1000), value_of(i, 1000));  // logged in chunks
    }
    ASSERT_OK(t.commit());
  }
  open();
  for (uint64_t i = 0; i < 2000; i += 37) EXPECT_EQ(get(big_endian(i)), value_of(i, 1000));
  EXPECT_EQ(db_->count(tree_, "", std::nullopt).value(), 2000U);
}

TEST_F(Reserve, is_dropped_by_abort_and_by_what_is_rolled_back) {
  put("a", "old");
  {
    Transaction t = begin();
    fill(reserve(t, "a", 3), "new");
    t.abort();
  }
  {
    Transaction t = begin();
    fill(reserve(t, "a", 3), "new");
  }
  EXPECT_EQ(get("a"), "old");
  Transaction t = begin();
  fill(reserve(t, "kept", 3), "yes");
  const Savepoint here = t.savepoint().value();
  fill(reserve(t, "a", 3), "new");
  ASSERT_OK(t.rollback_to(here));
  fill(reserve(t, "b", 3), "two");
  ASSERT_OK(t.release(here));
  EXPECT_TRUE(t.rollback_to(here).is(StatusCode::kInvalidArgument));
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(get("b"), "two");
  EXPECT_EQ(get("kept"), "yes");
}

// A savepoint that does not hold drops nothing.
TEST_F(Reserve, is_not_lost_to_a_rollback_that_is_refused) {
  Transaction other = begin();
  const Savepoint foreign = other.savepoint().value();
  Transaction t = begin();
  fill(reserve(t, "a", 3), "new");
  EXPECT_TRUE(t.rollback_to(foreign).is(StatusCode::kInvalidArgument));
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "new");
}

TEST_F(Reserve, in_nested_transactions_ends_with_them) {
  Transaction t = begin();
  fill(reserve(t, "outer", 3), "yes");
  Transaction inner = t.begin_nested().value();
  fill(reserve(inner, "aborted", 2), "no");
  inner.abort();
  inner = t.begin_nested().value();
  fill(reserve(inner, "committed", 3), "yes");
  EXPECT_TRUE(t.put_reserve(tree_, "x", 1).status().is(StatusCode::kInvalidArgument));
  ASSERT_OK(inner.commit());
  inner = t.begin_nested().value();
  fill(reserve(inner, "ended with the outer", 3), "yes");
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("outer"), "yes");
  EXPECT_EQ(get("aborted"), "NotFound");
  EXPECT_EQ(get("committed"), "yes");
  EXPECT_EQ(get("ended with the outer"), "yes");
}

TEST_F(Reserve, is_written_before_cursors_counts_and_prepare) {
  Transaction t = begin();
  fill(reserve(t, "a", 1), "1");
  EXPECT_EQ(t.count(tree_, "", std::nullopt).value(), 1U);
  fill(reserve(t, "b", 1), "2");
  {
    Cursor cursor = t.cursor(tree_);
    ASSERT_TRUE(cursor.last());
    EXPECT_EQ(cursor.key(), "b");
    fill(reserve(t, "c", 1), "3");
    ASSERT_OK(t.finish_reserve());
    ASSERT_TRUE(cursor.last());
    EXPECT_EQ(cursor.key(), "c");
  }
  fill(reserve(t, "d", 1), "4");
  ASSERT_OK(t.prepare("p"));
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("d"), "4");
}

TEST_F(Reserve, that_conflicts_is_told_by_who_writes_it) {
  put("a", "old");
  Transaction t = begin();
  EXPECT_EQ(get_in(t, "a"), "old");
  put("a", "newer");
  const auto room = t.put_reserve(tree_, "a", 4);
  ASSERT_OK(room.status());
  fill(*room, "mine");
  Value value;
  EXPECT_TRUE(t.get(tree_, "b", value).is_conflict());
  // Nothing is pending any more: the transaction goes on without it.
  EXPECT_TRUE(t.get(tree_, "b", value).is_not_found());
  fill(reserve(t, "a", 4), "mine");
  EXPECT_TRUE(t.commit().is_conflict());
  EXPECT_FALSE(t.open());
  EXPECT_EQ(get("a"), "newer");
}

TEST_F(Reserve, locks_its_row_at_once) {
  Transaction t = begin({.mode = TxnMode::kPessimistic});
  fill(reserve(t, "a", 3), "new");
  Transaction other = begin({.mode = TxnMode::kPessimistic, .lock_timeout_ms = 0});
  EXPECT_TRUE(other.put(tree_, "a", "no").is(StatusCode::kTimedOut));
  EXPECT_TRUE(other.put_reserve(tree_, "a", 2).status().is(StatusCode::kTimedOut));
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("a"), "new");
}

TEST_F(Reserve, is_refused_where_a_put_is) {
  Transaction t = begin();
  const Limits limits = Db::limits();
  const auto code = [&](std::string_view key, size_t size) {
    return t.put_reserve(tree_, key, size).status().code();
  };
  EXPECT_EQ(code(std::string(limits.key_bytes_max + 1, 'k'), 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("a", limits.batch_value_bytes_max + 1), StatusCode::kInvalidArgument);
  EXPECT_TRUE(t.put_reserve(Tree(), "a", 1).status().is(StatusCode::kInvalidArgument));
  Transaction to_read = begin({.read_only = true});
  EXPECT_TRUE(to_read.put_reserve(tree_, "a", 1).status().is(StatusCode::kReadOnly));
  ASSERT_OK(t.commit());
  EXPECT_EQ(code("a", 1), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Transaction().put_reserve(tree_, "a", 1).status().is(StatusCode::kInvalidArgument));
}

// A put replaces what operands have made so far, and those that come later change it.
TEST_F(Reserve, among_operands_replaces_them) {
  Options with = options();
  with.merge_operators = {append_with(",")};
  open_with(with);
  ASSERT_OK(db_->set_merge_operator(tree_, "append:,"));
  put("a", "1");
  for (const char* key : {"a", "b", "large"}) ASSERT_OK(db_->merge(tree_, key, "2"));
  const std::string large = value_of(1, 100000);
  {
    Transaction t = begin();
    fill(reserve(t, "a", 3), "new");
    ASSERT_OK(t.merge(tree_, "a", "3"));
    EXPECT_EQ(get_in(t, "a"), "new,3");
    ASSERT_OK(t.merge(tree_, "b", "gone"));
    fill(reserve(t, "b", 1), "b");
    fill(reserve(t, "large", large.size()), large);
    ASSERT_OK(t.merge(tree_, "large", "end"));
    fill(reserve(t, "empty", 0), "");
    ASSERT_OK(t.merge(tree_, "empty", "x"));
    ASSERT_OK(t.commit());
  }
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    EXPECT_EQ(get("a"), "new,3");
    EXPECT_EQ(get("b"), "b");
    EXPECT_EQ(get("large"), large + ",end");
    EXPECT_EQ(get("empty"), ",x");
    if (flushed) break;
    open_with(with);
    ASSERT_OK(db_->flush());
  }
  ASSERT_OK(db_->merge(tree_, "b", "c"));
  EXPECT_EQ(get("b"), "b,c");
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Reserve, into_a_tree_that_another_drops_meanwhile_fails) {
  Transaction t = begin();
  fill(reserve(t, "a", 3), "new");
  ASSERT_OK(db_->drop_tree("t"));
  EXPECT_TRUE(t.commit().is_conflict());
  EXPECT_FALSE(t.open());
  ASSERT_OK(db_->flush());
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Reserve, into_a_tree_that_the_same_transaction_makes_and_drops) {
  Transaction t = begin();
  const Savepoint before = t.savepoint().value();
  const Tree own = t.tree("own").value();
  ASSERT_OK(t.put_reserve(own, "a", 3).status());
  ASSERT_OK(t.rollback_to(before));
  EXPECT_FALSE(t.put_reserve(own, "a", 3).ok());
  const Tree dropped = t.tree("dropped").value();
  ASSERT_OK(t.put_reserve(dropped, "a", 3).status());
  ASSERT_OK(t.drop_tree("dropped"));
  const Tree kept = t.tree("kept").value();
  const auto room = t.put_reserve(kept, "a", 3);
  ASSERT_OK(room.status());
  fill(*room, "new");
  ASSERT_OK(t.commit());
  Value value;
  ASSERT_OK(db_->get(db_->find_tree("kept").value(), "a", value));
  EXPECT_EQ(value.view(), "new");
  EXPECT_TRUE(db_->find_tree("own").status().is_not_found());
  EXPECT_TRUE(db_->find_tree("dropped").status().is_not_found());
}

// They are filled for as long as their callers like: the engine must not run out of memory
// meanwhile.
TEST_F(Reserve, of_many_transactions_leave_memory_to_the_others) {
  std::vector<Transaction> transactions;
  std::vector<std::span<std::byte>> rooms;
  constexpr size_t kBytes = size_t{3} << 20;
  for (uint64_t i = 0; i < 16; ++i) {  // once and a half the budget
    transactions.push_back(begin());
    rooms.push_back(reserve(transactions.back(), big_endian(i), kBytes));
    fill(rooms.back(), value_of(i, kBytes));
  }
  EXPECT_LE(db_->stats().memory_pinned_bytes, db_->stats().memory_budget_bytes / 8);
  EXPECT_GT(db_->stats().memory_pinned_bytes, 0U);
  for (uint64_t i = 0; i < 20000; ++i) put("key" + std::to_string(i), value_of(i, 1000));
  ASSERT_OK(db_->flush());
  for (Transaction& t : transactions) ASSERT_OK(t.commit());
  transactions.clear();
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(get(big_endian(i)), value_of(i, kBytes));
  EXPECT_EQ(db_->stats().memory_pinned_bytes, 0U);
}

TEST_F(Reserve, gives_its_memory_back) {
  const uint64_t before = db_->stats().memory_used_bytes;
  for (int i = 0; i < 50; ++i) {
    Transaction t = begin();
    reserve(t, "a", 3 << 20);
    if (i % 2 == 0) t.abort();
  }
  EXPECT_LE(db_->stats().memory_used_bytes, before + (2 << 20));
}

}  // namespace
}  // namespace hawthorn::tests
