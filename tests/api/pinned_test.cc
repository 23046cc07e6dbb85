// Values that stay where they are until their transaction ends.

#include <cstring>
#include <set>

#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class Pinned : public Api {
 protected:
  std::string_view pinned(Transaction& t, std::string_view key) {
    const Result<std::string_view> value = t.get_pinned(tree_, key);
    EXPECT_OK(value.status());
    return value.ok() ? *value : std::string_view();
  }
};

TEST_F(Pinned, values_outlive_writes_flushes_and_other_reads) {
  put("a", "old");
  put("large", value_of(1, 300000));
  put("empty", "");
  Transaction t = begin();
  const std::string_view a = pinned(t, "a");
  const std::string_view large = pinned(t, "large");
  EXPECT_EQ(pinned(t, "empty"), "");
  EXPECT_TRUE(t.get_pinned(tree_, "none").status().is_not_found());
  put("a", "new");
  ASSERT_OK(db_->del(tree_, "large"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  ASSERT_OK(db_->set_memory_budget(size_t{16} << 20));
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(t.get_pinned(tree_, std::to_string(i)).status().is_not_found());
  EXPECT_EQ(a, "old");
  EXPECT_EQ(large, value_of(1, 300000));
  EXPECT_EQ(pinned(t, "a"), "old");  // it reads one moment
  EXPECT_GT(db_->stats().memory_pinned_bytes, 0U);
  ASSERT_OK(t.commit());
  EXPECT_EQ(db_->stats().memory_pinned_bytes, 0U);
}

TEST_F(Pinned, own_writes_are_seen_and_older_values_stay) {
  put("a", "committed");
  Transaction t = begin();
  const std::string_view committed = pinned(t, "a");
  ASSERT_OK(t.put(tree_, "a", "mine"));
  const std::string_view mine = pinned(t, "a");
  const Savepoint here = t.savepoint().value();
  const auto room = t.put_reserve(tree_, "a", 5);
  ASSERT_OK(room.status());
  std::memcpy(room->data(), "other", 5);
  const std::string_view other = pinned(t, "a");
  ASSERT_OK(t.rollback_to(here));
  EXPECT_EQ(pinned(t, "a"), "mine");
  {
    Transaction inner = t.begin_nested().value();
    ASSERT_OK(inner.put(tree_, "a", "inner"));
    EXPECT_EQ(pinned(inner, "a"), "inner");
    inner.abort();
  }
  EXPECT_EQ(pinned(t, "a"), "mine");
  ASSERT_OK(t.del(tree_, "a"));
  EXPECT_TRUE(t.get_pinned(tree_, "a").status().is_not_found());
  EXPECT_EQ(committed, "committed");
  EXPECT_EQ(mine, "mine");
  EXPECT_EQ(other, "other");
}

TEST_F(Pinned, reads_of_the_present_are_of_the_present) {
  put("a", "1");
  Transaction t = begin({.isolation = Isolation::kReadCommitted});
  const std::string_view first = pinned(t, "a");
  put("a", "2");
  EXPECT_EQ(pinned(t, "a"), "2");
  EXPECT_EQ(first, "1");
}

TEST_F(Pinned, count_as_read_by_a_serializable_transaction) {
  put("a", "1");
  Transaction t = begin({.isolation = Isolation::kSerializable});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pinned(t, "a"), "1");
  ASSERT_OK(t.put(tree_, "b", "2"));
  put("a", "changed");
  EXPECT_TRUE(t.commit().is_conflict());
}

TEST_F(Pinned, the_same_value_again_takes_nothing_more) {
  put("a", std::string(10000, 'v'));
  Transaction t = begin();
  const std::string_view first = pinned(t, "a");
  const uint64_t before = db_->stats().memory_pinned_bytes;
  for (int i = 0; i < 10000; ++i) EXPECT_EQ(pinned(t, "a").data(), first.data());
  EXPECT_EQ(db_->stats().memory_pinned_bytes, before);
}

TEST_F(Pinned, entries_of_cursors) {
  for (uint64_t i = 0; i < 1000; ++i) put(big_endian(i), value_of(i, 100));
  Transaction t = begin();
  std::vector<PinnedEntry> entries;
  {
    Cursor cursor = t.cursor(tree_);
    EXPECT_TRUE(t.pin(cursor).status().is(StatusCode::kInvalidArgument));
    for (bool more = cursor.first(); more; more = cursor.next()) {
      const Result<PinnedEntry> entry = t.pin(cursor);
      ASSERT_OK(entry.status());
      entries.push_back(*entry);
    }
    EXPECT_TRUE(t.pin(cursor).status().is(StatusCode::kInvalidArgument));
  }
  ASSERT_EQ(entries.size(), 1000U);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(entries[i].key, big_endian(i));
    EXPECT_EQ(entries[i].value, value_of(i, 100));
  }
}

// Many times the budget: memory stays within its part of it, and every value is there at the end.
TEST_F(Pinned, more_than_memory_go_to_a_file_without_a_name) {
  constexpr uint64_t kValues = 600;
  constexpr size_t kBytes = 100000;
  for (uint64_t i = 0; i < kValues; ++i) put(big_endian(i), value_of(i, kBytes));
  ASSERT_OK(db_->flush());
  const auto files = [this] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      // Those of the engine come and go.
      const std::string name = entry.path().filename().string();
      const bool known = name.starts_with("data.") || name.starts_with("wal.") ||
                         name.starts_with("manifest.") || name == "superblock" || name == "lock" ||
                         name == "counters" || name == "followers" || name == "revocations";
      if (!known) names.insert(name);
    }
    return names;
  };
  const uint64_t budget = db_->stats().memory_budget_bytes;
  {
    Transaction t = begin();
    std::vector<std::string_view> values;
    for (uint64_t i = 0; i < kValues; ++i) {
      values.push_back(pinned(t, big_endian(i)));
      if (i % 50 == 49) {
        ASSERT_LE(db_->stats().memory_pinned_bytes, budget / 8 + (1 << 20));
      }
    }
    EXPECT_TRUE(files().empty());
    for (uint64_t i = 0; i < kValues; ++i) ASSERT_EQ(values[i], value_of(i, kBytes)) << i;
    // What the transaction lets go of it may pin again.
    t.release_pinned();
    EXPECT_EQ(db_->stats().memory_pinned_bytes, 0U);
    EXPECT_EQ(pinned(t, big_endian(0)), value_of(0, kBytes));
  }
  EXPECT_EQ(db_->stats().memory_pinned_bytes, 0U);
}

// What a merge operator makes of operands is pinned, not the operands.
TEST_F(Pinned, operands_are_folded) {
  Options with = options();
  with.merge_operators = {append_with(",")};
  open_with(with);
  ASSERT_OK(db_->set_merge_operator(tree_, "append:,"));
  put("a", "1");
  ASSERT_OK(db_->merge(tree_, "a", "2"));
  ASSERT_OK(db_->merge(tree_, "only", "x"));
  put("b", "b");
  Transaction t = begin();
  const std::string_view a = pinned(t, "a");
  EXPECT_EQ(a, "1,2");
  EXPECT_EQ(pinned(t, "only"), "x");
  ASSERT_OK(db_->merge(tree_, "a", "3"));
  ASSERT_OK(db_->merge(tree_, "only", "y"));
  ASSERT_OK(db_->flush());
  EXPECT_EQ(pinned(t, "a").data(), a.data());
  EXPECT_EQ(pinned(t, "only"), "x");
  // Its own operands are seen by what it pins behind them.
  const std::string_view b = pinned(t, "b");
  const Savepoint here = t.savepoint().value();
  ASSERT_OK(t.merge(tree_, "b", "c"));
  EXPECT_EQ(pinned(t, "b"), "b,c");
  {
    Cursor cursor = t.cursor(tree_);
    ASSERT_TRUE(cursor.seek("b"));
    const Result<PinnedEntry> entry = t.pin(cursor);
    ASSERT_OK(entry.status());
    EXPECT_EQ(entry->value, "b,c");
  }
  ASSERT_OK(t.rollback_to(here));
  EXPECT_EQ(pinned(t, "b"), "b");
  ASSERT_OK(t.merge(tree_, "b", "d"));
  EXPECT_EQ(pinned(t, "b"), "b,d");
  EXPECT_EQ(b, "b");
  ASSERT_OK(t.commit());
  Transaction later = begin();
  EXPECT_EQ(pinned(later, "a"), "1,2,3");
  EXPECT_EQ(pinned(later, "only"), "x,y");
  EXPECT_EQ(pinned(later, "b"), "b,d");
}

// A cursor shows the key of such a value, and no value: nobody must take that for an empty one.
TEST_F(Pinned, a_value_that_is_too_large_to_read_is_none) {
  constexpr uint64_t kTooLarge = (size_t{64} << 20) + 1;
  {
    Transaction t = begin();
    ASSERT_OK(t.put_stream(tree_, "large", kTooLarge, [](std::span<char> to) -> Result<size_t> {
      std::memset(to.data(), 'v', to.size());
      return to.size();
    }));
    ASSERT_OK(t.commit());
  }
  put("small", "s");
  put("smaller", "t");
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    if (flushed) ASSERT_OK(db_->flush());
    Transaction t = begin({.read_only = true});
    EXPECT_TRUE(t.get_pinned(tree_, "large").status().is(StatusCode::kNotSupported));
    for (const bool own : {false, true}) {
      const CursorOptions shows_all{.large_as_empty = true};
      Cursor cursor = own ? t.cursor(tree_, shows_all) : db_->cursor(tree_, shows_all);
      ASSERT_TRUE(cursor.first());
      EXPECT_TRUE(t.pin(cursor).status().is(StatusCode::kNotSupported));
      for (const char* value : {"s", "t"}) {
        ASSERT_TRUE(cursor.next());
        EXPECT_OK(cursor.status());
        const Result<PinnedEntry> entry = t.pin(cursor);
        ASSERT_OK(entry.status());
        EXPECT_EQ(entry->value, value);
      }
    }
  }
}

TEST_F(Pinned, nested_transactions_pin_for_the_outermost) {
  put("a", "1");
  put("b", "2");
  Transaction nested;
  {
    Transaction t = begin();
    nested = t.begin_nested().value();
    const std::string_view a = pinned(nested, "a");
    nested.abort();
    EXPECT_EQ(a, "1");
    EXPECT_EQ(pinned(t, "b"), "2");
    nested.release_pinned();  // it has ended: what the outer one holds is not its to let go
    EXPECT_GT(db_->stats().memory_pinned_bytes, 0U);
    nested = t.begin_nested().value();
    pinned(nested, "a");
  }
  // The outermost one is gone, and what it held.
  nested.release_pinned();
  EXPECT_TRUE(nested.get_pinned(tree_, "a").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(nested.put_reserve(tree_, "a", 1).status().is(StatusCode::kInvalidArgument));
  EXPECT_EQ(db_->stats().memory_pinned_bytes, 0U);
}

TEST_F(Pinned, transactions_share_one_quota) {
  put("a", std::string(1 << 20, 'v'));
  std::vector<Transaction> transactions;
  std::vector<std::string_view> values;
  for (int i = 0; i < 16; ++i) {
    transactions.push_back(begin());
    values.push_back(pinned(transactions.back(), "a"));
  }
  EXPECT_LE(db_->stats().memory_pinned_bytes, db_->stats().memory_budget_bytes / 8);
  EXPECT_GT(db_->stats().memory_pinned_bytes, 0U);
  for (const std::string_view value : values) EXPECT_EQ(value, std::string(1 << 20, 'v'));
}

TEST_F(Pinned, in_a_read_only_database_too) {
  put("a", std::string(6 << 20, 'v'));
  ASSERT_OK(db_->close());
  Options to_read = options();
  to_read.read_only = true;
  db_.reset();
  auto db = Db::open(path_, to_read);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->find_tree("t").value();
  Transaction t = (*db)->begin({.read_only = true}).value();
  const Result<std::string_view> value = t.get_pinned(tree, "a");
  ASSERT_OK(value.status());
  EXPECT_EQ(*value, std::string(6 << 20, 'v'));
}

TEST_F(Pinned, no_transaction_pins_nothing) {
  EXPECT_TRUE(Transaction().get_pinned(tree_, "a").status().is(StatusCode::kInvalidArgument));
  Transaction t = begin();
  ASSERT_OK(t.commit());
  EXPECT_TRUE(t.get_pinned(tree_, "a").status().is(StatusCode::kInvalidArgument));
  t.release_pinned();
}

}  // namespace
}  // namespace hawthorn::tests
