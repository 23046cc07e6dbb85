// Trees whose order is a comparison (key_order.h), through what is special to them: places that are
// given out, keys that compare equal, and transactions that ask for places.

#include <algorithm>
#include <thread>

#include "base/prng.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class IgnoresCase : public KeyComparator {
 public:
  std::string_view name() const override { return "ignores_case"; }
  int compare(std::string_view a, std::string_view b) const override {
    const auto low = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (low(a[i]) != low(b[i])) return low(a[i]) - low(b[i]);
    }
    return a.size() < b.size() ? -1 : a.size() > b.size();
  }
};

// Numbers as people write them: 9 before 10.
class Natural : public KeyComparator {
 public:
  std::string_view name() const override { return "natural"; }
  int compare(std::string_view a, std::string_view b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
};

class SameNameEncoding : public KeyOrder {
 public:
  std::string_view name() const override { return "natural"; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    sort_key->append(key);
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    key->append(sort_key);
    return true;
  }
};

class Comparators : public Api {
 protected:
  static Options with_comparators() {
    Options with = options();
    with.key_comparators = {std::make_shared<IgnoresCase>(), std::make_shared<Natural>()};
    return with;
  }
  void SetUp() override {
    open_with(with_comparators());
    natural_ = make("natural", {.order = "natural"});
  }
  void reopen() {
    ASSERT_OK(db_->close());
    open_with(with_comparators());
    natural_ = db_->find_tree("natural").value();
  }
  Tree make(std::string_view name, const TreeOptions& options) {
    Result<Tree> tree = db_->tree(name, options);
    EXPECT_OK(tree.status());
    return tree.value();
  }
  // What the tree holds beside its entries are rows.
  uint64_t rows(const Tree& tree) {
    EXPECT_OK(db_->flush());
    const Stats stats = db_->stats();
    const auto at = std::find_if(stats.trees.begin(), stats.trees.end(),
                                 [&](const TreeStats& one) { return one.name == "natural"; });
    return at->entries_flushed - db_->count(tree, "", std::nullopt).value();
  }

  using Names = std::vector<std::string>;
  Tree natural_;
};

// Its row is a label and nothing else.
TEST_F(Comparators, estimates_count_entries_and_not_their_rows) {
  const auto expect_twenty = [&] {
    EXPECT_EQ(db_->estimate(natural_, "", std::nullopt)->entries, 20u);
  };
  for (int i = 0; i < 20; ++i) ASSERT_OK(db_->put(natural_, std::to_string(i * 7), "v"));
  expect_twenty();
  reopen();
  expect_twenty();
  EXPECT_EQ(rows(natural_), 20u);
  expect_twenty();
}

TEST_F(Comparators, the_empty_key_is_found_from_above) {
  ASSERT_OK(db_->put(natural_, "", "v"));
  reopen();  // with no row in memory
  ASSERT_OK(db_->put(natural_, "1", "v"));
  EXPECT_EQ(keys(natural_), (Names{"", "1"}));
}

TEST_F(Comparators, order_entries_as_they_say) {
  for (const char* key : {"10", "9", "100", "1", "2", "11", ""}) {
    ASSERT_OK(db_->put(natural_, key, "v"));
  }
  const Names all = {"", "1", "2", "9", "10", "11", "100"};
  EXPECT_EQ(keys(natural_), all);
  EXPECT_EQ(db_->count(natural_, "9", "100").value(), 3u);
  EXPECT_EQ(db_->count(natural_, "3", "99").value(), 3u);  // none of which is a key
  reopen();
  EXPECT_EQ(keys(natural_), all);
  EXPECT_EQ(db_->tree_options(natural_)->order, "natural");
  Cursor cursor = db_->cursor(natural_);
  ASSERT_TRUE(cursor.seek("5"));
  EXPECT_EQ(cursor.key(), "9");
  ASSERT_TRUE(cursor.seek_for_prev("99"));
  EXPECT_EQ(cursor.key(), "11");
  ASSERT_TRUE(cursor.seek_for_prev("9"));
  EXPECT_EQ(cursor.key(), "9");
  EXPECT_FALSE(cursor.seek("1000"));
  cursor = db_->cursor(natural_, {.lower = "2", .upper = "11"});
  Names some;
  for (bool more = cursor.last(); more; more = cursor.prev()) some.emplace_back(cursor.key());
  EXPECT_EQ(some, (Names{"10", "9", "2"}));
  ASSERT_OK(db_->del(natural_, "10"));
  ASSERT_OK(db_->delete_range(natural_, "0", "9"));
  EXPECT_EQ(keys(natural_), (Names{"", "9", "11", "100"}));
}

TEST_F(Comparators, keys_that_compare_equal_are_one) {
  const Tree tree = make("words", {.order = "ignores_case"});
  ASSERT_OK(db_->put(tree, "Ada", "1"));
  ASSERT_OK(db_->put(tree, "ADA", "2"));
  ASSERT_OK(db_->put(tree, "bob", "3"));
  EXPECT_EQ(keys(tree), (Names{"Ada", "bob"}));
  Value value;
  ASSERT_OK(db_->get(tree, "aDa", value));
  EXPECT_EQ(value.view(), "2");
  EXPECT_TRUE(db_->get_in_memory(tree, "aDa", value).is(StatusCode::kNotSupported));
  EXPECT_FALSE(db_->insert(tree, "BOB", "4").value());
  ASSERT_OK(db_->del(tree, "ADA"));
  EXPECT_TRUE(db_->get(tree, "Ada", value).is_not_found());
  ReadBatch batch;
  const std::string_view wanted[] = {"BOB", "ada", "carol"};
  ASSERT_OK(db_->multi_get(tree, wanted, batch));
  EXPECT_EQ(batch[0].value, "3");
  EXPECT_FALSE(batch[1].found());
  EXPECT_FALSE(batch[2].found());
}

TEST_F(Comparators, several_values_in_an_order_of_their_own) {
  const Tree tree =
      make("set", {.order = "ignores_case", .multi_value = true, .value_order = "natural"});
  for (const char* value : {"10", "9", "100"}) ASSERT_OK(db_->put(tree, "Key", value));
  ASSERT_OK(db_->put(tree, "KEY", "9"));
  ASSERT_OK(db_->put(tree, "other", "1"));
  Cursor cursor = db_->cursor(tree);
  ASSERT_TRUE(cursor.first());
  EXPECT_EQ(cursor.value(), "9");
  EXPECT_EQ(cursor.count_values().value(), 3u);
  ASSERT_TRUE(cursor.seek_value("key", "50"));
  EXPECT_EQ(cursor.value(), "100");
  ASSERT_OK(db_->del_value(tree, "kEY", "10"));
  EXPECT_EQ(db_->count(tree, "", std::nullopt).value(), 3u);
}

TEST_F(Comparators, who_only_looks_leaves_nothing_behind) {
  for (int i = 0; i < 100; ++i) ASSERT_OK(db_->put(natural_, std::to_string(i * 7), "v"));
  ASSERT_EQ(rows(natural_), 100u);
  Value value;
  for (int i = 0; i < 700; ++i) {
    const std::string key = std::to_string(i);
    EXPECT_EQ(db_->get(natural_, key, value).ok(), i % 7 == 0);
    static_cast<void>(db_->count(natural_, key, key + "0").value());
    Transaction t = begin();
    EXPECT_EQ(t.get(natural_, key, value).ok(), i % 7 == 0);
    Cursor cursor = t.cursor(natural_);
    cursor.seek(key);
  }
  EXPECT_EQ(rows(natural_), 100u);
  // They stay when their entries go, and serve again.
  ASSERT_OK(db_->delete_range(natural_, "", std::nullopt));
  EXPECT_EQ(db_->count(natural_, "", std::nullopt).value(), 0u);
  ASSERT_OK(db_->put(natural_, "7", "v"));
  EXPECT_EQ(rows(natural_), 100u);
}

TEST_F(Comparators, a_database_does_not_open_without_them) {
  ASSERT_OK(db_->put(natural_, "1", "v"));
  ASSERT_OK(db_->close());
  db_.reset();
  const auto expect_refused = [&](const Options& with, std::string_view why) {
    const Status status = Db::open(path_, with).status();
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
    EXPECT_NE(status.to_string().find(why), std::string::npos) << status.to_string();
  };
  expect_refused(options(), "neither the library's nor among the options'");
  Options with = options();
  with.key_orders = {std::make_shared<SameNameEncoding>()};
  expect_refused(with, "which is a comparison");
  with.key_comparators = {std::make_shared<Natural>()};
  expect_refused(with, "more than one");
  with = with_comparators();
  with.key_comparators.push_back(nullptr);
  expect_refused(with, "null");
  open_with(with_comparators());
  EXPECT_TRUE(db_->tree("natural", {.order = "reverse"}).status().is(StatusCode::kInvalidArgument));
}

TEST_F(Comparators, reads_of_a_database_that_is_only_read) {
  ASSERT_OK(db_->put(natural_, "10", "v"));
  ASSERT_OK(db_->put(natural_, "9", "w"));
  ASSERT_OK(db_->close());
  Options with = with_comparators();
  with.read_only = true;
  db_.reset();
  db_ = std::move(*Db::open(path_, with));
  const Tree tree = db_->find_tree("natural").value();
  Value value;
  EXPECT_OK(db_->get(tree, "10", value));
  EXPECT_TRUE(db_->get(tree, "11", value).is_not_found());
  Transaction t = begin({.isolation = Isolation::kSerializable, .read_only = true});
  EXPECT_TRUE(t.get(tree, "5", value).is_not_found());
  EXPECT_EQ(t.count(tree, "5", "10").value(), 1u);
}

// Places are committed beside the exclusive transaction that asks for them.
TEST_F(Comparators, transactions_of_every_kind) {
  uint64_t committed = 0;
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic, TxnMode::kExclusive}) {
    const std::string key = "1" + std::to_string(static_cast<int>(mode));
    Transaction t = begin({.mode = mode});
    ASSERT_OK(t.put(natural_, key, "a"));
    const Savepoint before = t.savepoint().value();
    ASSERT_OK(t.put(natural_, key + "0", "b"));
    EXPECT_EQ(get_in(t, natural_, key + "0"), "b");
    ASSERT_OK(t.rollback_to(before));
    EXPECT_EQ(get_in(t, natural_, key + "0"), "NotFound");
    ASSERT_OK(t.commit());
    EXPECT_EQ(db_->count(natural_, key + "0", key + "1").value(), 0u);
    Transaction gone = begin({.mode = mode});
    ASSERT_OK(gone.put(natural_, key + "5", "c"));
    gone.abort();
    ++committed;
    EXPECT_EQ(db_->count(natural_, "", std::nullopt).value(), committed);
  }
}

TEST_F(Comparators, a_tree_that_its_transaction_makes) {
  {
    Transaction t = begin();
    const Tree tree = t.tree("made", {.order = "natural"}).value();
    for (const char* key : {"10", "9", "8"}) ASSERT_OK(t.put(tree, key, "v"));
    t.abort();
  }
  EXPECT_TRUE(db_->find_tree("made").status().is_not_found());
  {
    Transaction t = begin();
    const Tree tree = t.tree("made", {.order = "natural"}).value();
    for (const char* key : {"10", "9"}) ASSERT_OK(t.put(tree, key, "v"));
    ASSERT_OK(t.commit());
  }
  db_.reset();  // replays the log
  open_with(with_comparators());
  const Tree tree = db_->find_tree("made").value();
  EXPECT_EQ(keys(tree), (Names{"9", "10"}));
  // Each goes on by itself.
  const Tree clone = db_->clone_tree("made", "clone").value();
  ASSERT_OK(db_->put(clone, "8", "v"));
  ASSERT_OK(db_->put(tree, "11", "v"));
  ASSERT_OK(db_->put(clone, "12", "v"));
  EXPECT_EQ(keys(clone), (Names{"8", "9", "10", "12"}));
  EXPECT_EQ(keys(tree), (Names{"9", "10", "11"}));
}

// Who waits for an exclusive transaction leaves it its turn.
TEST_F(Comparators, places_for_others_wait_for_an_exclusive_transaction) {
  Transaction t = begin({.mode = TxnMode::kExclusive});
  ASSERT_OK(t.put(natural_, "5", "mine"));
  std::thread other([&] { EXPECT_OK(db_->put(natural_, "6", "other")); });
  for (int i = 100; i < 200; ++i) ASSERT_OK(t.put(natural_, std::to_string(i), "mine"));
  ASSERT_OK(t.commit());
  other.join();
  EXPECT_EQ(db_->count(natural_, "", std::nullopt).value(), 102u);
}

TEST_F(Comparators, what_was_absent_is_validated) {
  Value value;
  Transaction reader = begin({.isolation = Isolation::kSerializable});
  EXPECT_TRUE(reader.get(natural_, "50", value).is_not_found());
  ASSERT_OK(reader.put(natural_, "1", "v"));
  ASSERT_OK(db_->put(natural_, "50", "v"));
  EXPECT_TRUE(reader.commit().is_conflict());
  Transaction walker = begin({.isolation = Isolation::kSerializable});
  EXPECT_EQ(walker.count(natural_, "60", "70").value(), 0u);
  ASSERT_OK(walker.put(natural_, "1", "v"));
  ASSERT_OK(db_->put(natural_, "65", "v"));
  EXPECT_TRUE(walker.commit().is_conflict());
  Transaction beside = begin({.isolation = Isolation::kSerializable});
  EXPECT_EQ(beside.count(natural_, "70", "80").value(), 0u);
  ASSERT_OK(beside.put(natural_, "1", "v"));
  ASSERT_OK(db_->put(natural_, "80", "v"));
  ASSERT_OK(db_->put(natural_, "69", "v"));
  EXPECT_OK(beside.commit());
}

TEST_F(Comparators, a_deleted_range_ends_where_it_says) {
  for (int i = 0; i < 500; ++i) ASSERT_OK(db_->put(natural_, std::to_string(2 * i), "v"));
  Transaction t = begin({.isolation = Isolation::kReadCommitted});
  ASSERT_OK(t.delete_range(natural_, "101", "901"));
  ASSERT_OK(t.commit());
  ASSERT_OK(db_->put(natural_, "100", "v"));
  ASSERT_OK(db_->put(natural_, "102", "v"));
  EXPECT_EQ(db_->count(natural_, "", std::nullopt).value(), 51u + 1 + 49);
}

TEST_F(Comparators, more_keys_than_stay_in_memory) {
  std::vector<std::string> expected;
  Prng prng(5);
  for (int i = 0; i < 12'000; ++i) expected.push_back(std::to_string(prng.below(1'000'000'000)));
  for (const std::string& key : expected) ASSERT_OK(db_->put(natural_, key, key));
  const Natural natural;
  const auto less = [&](const std::string& a, const std::string& b) {
    return natural.compare(a, b) < 0;
  };
  std::sort(expected.begin(), expected.end(), less);
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  EXPECT_EQ(keys(natural_), expected);
  reopen();
  EXPECT_EQ(keys(natural_), expected);
  Value value;
  for (size_t i = 0; i < expected.size(); i += 7) {
    ASSERT_OK(db_->get(natural_, expected[i], value));
    ASSERT_EQ(value.view(), expected[i]);
  }
  const auto report = db_->check();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok());
}

TEST_F(Comparators, batches_ingests_and_limits) {
  WriteBatch batch;
  for (const char* key : {"10", "9"}) batch.put(natural_, key, "v");
  batch.del(natural_, "10");
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(keys(natural_), (Names{"9"}));
  Ingest ingest = db_->ingest(natural_, {.sorted = true}).value();
  for (const char* key : {"10", "11", "100"}) ASSERT_OK(ingest.add(key, "v"));
  ASSERT_OK(ingest.finish());
  EXPECT_EQ(keys(natural_), (Names{"9", "10", "11", "100"}));
  const Status status = db_->put(natural_, std::string(65'535, '1'), "v");
  EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
}

}  // namespace
}  // namespace hawthorn::tests
