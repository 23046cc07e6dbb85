// Orders of keys, and several values to a key (key_order.h), through every function that has keys.

#include <algorithm>
#include <cstring>

#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

// Without regard to case; keys that differ in that alone, by their bytes.
class NoCase : public KeyOrder {
 public:
  std::string_view name() const override { return "no_case"; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    if (key.find('\0') != std::string_view::npos) return false;
    for (const char c : key) sort_key->push_back(static_cast<char>(std::tolower(c)));
    sort_key->push_back('\0');
    sort_key->append(key);
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    const size_t end = sort_key.find('\0');
    if (end == std::string_view::npos || sort_key.size() != 2 * end + 1) return false;
    key->append(sort_key.substr(end + 1));
    return true;
  }
};

template <typename Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

class KeyOrders : public Api {
 protected:
  static Options with_no_case() {
    Options with = options();
    with.key_orders = {std::make_shared<NoCase>()};
    return with;
  }
  void SetUp() override { open_with(with_no_case()); }
  Tree make(std::string_view name, const TreeOptions& options) {
    Result<Tree> tree = db_->tree(name, options);
    EXPECT_OK(tree.status());
    return tree.value();
  }
  // "key=value" of each entry, or keys alone.
  std::vector<std::string> entries(const Tree& tree, const CursorOptions& options = {}) {
    std::vector<std::string> found;
    Cursor cursor = db_->cursor(tree, options);
    for (bool more = cursor.first(); more; more = cursor.next()) found.push_back(shown(cursor));
    EXPECT_OK(cursor.status());
    return found;
  }
  static std::string shown(const Cursor& cursor) {
    if (!cursor.valid()) return "none";
    return std::string(cursor.key()) + "=" + std::string(cursor.value());
  }
  void reopen() {
    ASSERT_OK(db_->close());
    open_with(with_no_case());
  }
  using Names = std::vector<std::string>;
};

TEST_F(KeyOrders, reverse) {
  Tree tree = make("r", {.order = "reverse"});
  WriteBatch batch;
  for (const std::string key : {"", "a", "ab", "abc", "b", "ba"}) batch.put(tree, key, "v");
  ASSERT_OK(db_->write(batch));
  const Names all = {"ba", "b", "abc", "ab", "a", ""};
  EXPECT_EQ(keys(tree), all);
  reopen();
  tree = db_->find_tree("r").value();
  EXPECT_EQ(keys(tree), all);
  EXPECT_EQ(db_->tree_options(tree)->order, "reverse");

  Cursor cursor = db_->cursor(tree);
  ASSERT_TRUE(cursor.seek("ac"));
  EXPECT_EQ(cursor.key(), "abc");
  ASSERT_TRUE(cursor.seek_for_prev("ac"));
  EXPECT_EQ(cursor.key(), "b");
  ASSERT_TRUE(cursor.last());
  EXPECT_EQ(cursor.key(), "");
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), "a");
  EXPECT_FALSE(cursor.seek_for_prev("c"));

  EXPECT_EQ(db_->count(tree, "b", "a").value(), 3u);
  EXPECT_EQ(db_->count(tree, "a", "b").value(), 0u);
  EXPECT_EQ(db_->count(tree, "", std::nullopt).value(), 6u);
  EXPECT_EQ(entries(tree, {.lower = "b", .upper = "ab"}), (Names{"b=v", "abc=v"}));
  ASSERT_OK(db_->delete_range(tree, "b", "ab"));
  EXPECT_EQ(keys(tree), (Names{"ba", "ab", "a", ""}));
}

TEST_F(KeyOrders, from_the_end) {
  const Tree tree = make("hosts", {.order = "from_end"});
  for (const std::string host : {"www.b.org", "a.org", "org", "mail.a.org", "a.com"}) {
    ASSERT_OK(db_->put(tree, host, ""));
  }
  EXPECT_EQ(keys(tree), (Names{"org", "a.org", "mail.a.org", "www.b.org", "a.com"}));
}

TEST_F(KeyOrders, numbers) {
  const Tree tree = make("n", {.order = "int32"});
  for (const int32_t number : {5, -1, 0, INT32_MIN, INT32_MAX, 256, -300}) {
    ASSERT_OK(db_->put(tree, bytes_of(number), std::to_string(number)));
  }
  EXPECT_EQ(keys(tree), (Names{bytes_of(INT32_MIN), bytes_of(-300), bytes_of(-1), bytes_of(0),
                               bytes_of(5), bytes_of(256), bytes_of(INT32_MAX)}));
  EXPECT_EQ(db_->count(tree, bytes_of(-300), bytes_of(6)).value(), 4u);

  Value value;
  for (const std::string wrong : {"", "abc", "12345678"}) {
    EXPECT_EQ(db_->put(tree, wrong, "v").code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(db_->get(tree, wrong, value).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(db_->del(tree, wrong).code(), StatusCode::kInvalidArgument);
    Cursor cursor = db_->cursor(tree);
    EXPECT_FALSE(cursor.seek(wrong));
    EXPECT_EQ(cursor.status().code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(cursor.first());
    EXPECT_OK(cursor.status());
  }
  EXPECT_EQ(db_->count(tree, "abc", std::nullopt).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->cursor(tree, {.upper = "abc"}).status().code(), StatusCode::kInvalidArgument);
  WriteBatch batch;
  batch.put(tree, "abc", "v");
  batch.put(tree, bytes_of(7), "v");
  EXPECT_EQ(db_->write(batch).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(db_->get(tree, bytes_of(7), value).is_not_found());
  batch.clear();
  batch.put(tree, bytes_of(7), "v");
  EXPECT_OK(db_->write(batch));
}

TEST_F(KeyOrders, of_the_programs_own) {
  Tree tree = make("names", {.order = "no_case"});
  for (const std::string name : {"bob", "Alice", "alice", "BOB", "Carol"}) {
    ASSERT_OK(db_->put(tree, name, "v" + name));
  }
  const Names sorted = {"Alice", "alice", "BOB", "bob", "Carol"};
  EXPECT_EQ(keys(tree), sorted);
  ASSERT_OK(db_->close());
  db_.reset();
  // Without it nothing is opened: it would be read in another order.
  const auto without = Db::open(path_, options());
  EXPECT_EQ(without.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(without.status().message().find("no_case"), std::string_view::npos);
  open_with(with_no_case());
  tree = db_->find_tree("names").value();
  EXPECT_EQ(keys(tree), sorted);
  EXPECT_EQ(db_->put(tree, std::string("a\0b", 3), "").code(), StatusCode::kInvalidArgument);
}

TEST_F(KeyOrders, a_tree_is_opened_with_what_it_was_made_with) {
  const Tree tree = make("r", {.order = "reverse"});
  EXPECT_EQ(db_->tree("r")->id(), tree.id());
  EXPECT_EQ(make("r", {.order = "reverse"}).id(), tree.id());
  const TreeOptions others[] = {{}, {.order = "uint64"}, {.order = "reverse", .multi_value = true}};
  for (const TreeOptions& other : others) {
    const Result<Tree> wrong = db_->tree("r", other);
    EXPECT_EQ(wrong.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(wrong.status().message().find("reverse"), std::string_view::npos);
    Transaction txn = begin();
    EXPECT_EQ(txn.tree("r", other).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(db_->tree("t", {.order = "reverse"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->tree("t", {})->id(), tree_.id());
  EXPECT_EQ(db_->tree("x", {.order = "none"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->tree("x", {.value_order = "int32"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(db_->find_tree("x").status().is_not_found());
  EXPECT_EQ(*db_->tree_options(tree_), (TreeOptions{.order = "bytewise"}));
  EXPECT_EQ(*db_->tree_options(make("m", {.multi_value = true, .value_order = "int32"})),
            (TreeOptions{"bytewise", true, "int32"}));
}

TEST_F(KeyOrders, what_a_database_may_not_be_given) {
  class Named : public NoCase {
   public:
    explicit Named(std::string name) : name_(std::move(name)) {}
    std::string_view name() const override { return name_; }

   private:
    const std::string name_;
  };
  ASSERT_OK(db_->close());
  db_.reset();
  const auto refused = [&](std::vector<std::shared_ptr<const KeyOrder>> orders) {
    Options with = options();
    with.key_orders = std::move(orders);
    return Db::open(path_, with).status().is(StatusCode::kInvalidArgument);
  };
  EXPECT_TRUE(refused({nullptr}));
  EXPECT_TRUE(refused({std::make_shared<Named>("")}));
  EXPECT_TRUE(refused({std::make_shared<Named>(std::string(256, 'x'))}));
  EXPECT_TRUE(refused({std::make_shared<Named>("reverse")}));
  EXPECT_TRUE(refused({std::make_shared<Named>("bytewise")}));
  EXPECT_TRUE(refused({std::make_shared<NoCase>(), std::make_shared<NoCase>()}));
  EXPECT_FALSE(refused({std::make_shared<Named>("a"), std::make_shared<NoCase>()}));
}

TEST_F(KeyOrders, through_everything_that_has_keys) {
  Tree tree = make("r", {.order = "reverse"});
  const auto one = [&](const std::string& key) {
    Value value;
    const Status status = db_->get(tree, key, value);
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  };
  // Large values, streams, parts.
  const std::string large(200'000, 'L');
  ASSERT_OK(db_->put(tree, "large", large));
  std::string part(4, ' ');
  EXPECT_EQ(db_->read_part(tree, "large", 199'998, part).value(), 2u);
  {
    Transaction txn = begin({.isolation = Isolation::kSerializable});
    ASSERT_OK(txn.put(tree, "a", "1"));
    ASSERT_OK(txn.put_stream(tree, "s", 3, [](std::span<char> to) -> Result<size_t> {
      to[0] = 'x';
      return size_t{1};
    }));
    Result<std::span<std::byte>> room = txn.put_reserve(tree, "room", 2);
    ASSERT_OK(room.status());
    std::memset(room->data(), 'y', 2);
    ASSERT_OK(txn.finish_reserve());
    EXPECT_EQ(txn.insert(tree, "a", "2").value(), false);
    EXPECT_EQ(txn.insert(tree, "b", "2").value(), true);
    EXPECT_EQ(txn.update(tree, "b", "3").value(), true);
    EXPECT_EQ(txn.replace(tree, "b", "3", "4").value(), true);
    EXPECT_EQ(txn.remove_if(tree, "a", "1").value(), true);
    EXPECT_EQ(get_in(txn, tree, "b"), "4");
    EXPECT_EQ(txn.get_pinned(tree, "s").value(), "xxx");
    Value value;
    EXPECT_OK(txn.get_for_update(tree, "room", value));
    EXPECT_EQ(value.view(), "yy");
    EXPECT_EQ(txn.count(tree, "s", std::nullopt).value(), 4u);
    Cursor cursor = txn.cursor(tree, {.lower = "s"});
    ASSERT_TRUE(cursor.first());
    EXPECT_EQ(shown(cursor), "s=xxx");
    EXPECT_EQ(txn.pin(cursor)->key, "s");
    const std::string_view wanted[] = {"s", "none", "b"};
    ReadBatch batch;
    ASSERT_OK(txn.multi_get(tree, wanted, batch));
    EXPECT_EQ(batch[0].value, "xxx");
    EXPECT_FALSE(batch[1].found());
    EXPECT_EQ(batch[2].value, "4");
    cursor = Cursor();
    ASSERT_OK(txn.commit());
  }
  EXPECT_EQ(one("large"), large);
  const std::string_view wanted[] = {"s", "none", "b"};
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree, wanted, batch));
  EXPECT_EQ(batch[0].value, "xxx");
  EXPECT_FALSE(batch[1].found());
  auto queue = db_->read_queue().value();
  std::string got;
  queue->get_async(tree, "s", [&](const Status&, Value& value) { got = value.view(); });
  while (queue->pending() > 0) queue->wait();
  EXPECT_EQ(got, "xxx");
  queue.reset();

  Transaction locks = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(locks.lock(tree, "b", RowLock::kExclusive));
  Transaction other = begin({.mode = TxnMode::kPessimistic, .lock_timeout_ms = 0});
  EXPECT_EQ(other.put(tree, "b", "x").code(), StatusCode::kTimedOut);
  EXPECT_OK(other.put(tree, "bb", "x"));
  locks.abort();
  ASSERT_OK(other.commit());

  EXPECT_EQ(db_->insert(tree, "b", "no").value(), false);
  EXPECT_EQ(db_->replace(tree, "b", "4", "5").value(), true);
  EXPECT_EQ(db_->remove_if(tree, "bb", "x").value(), true);
  ASSERT_OK(db_->flush());
  EXPECT_EQ(db_->estimate(tree, "", std::nullopt)->entries, 4u);
  EXPECT_EQ(keys(tree), (Names{"s", "room", "large", "b"}));
  ASSERT_TRUE(clean(*db_));
}

TEST_F(KeyOrders, merge_operators_are_shown_keys) {
  class Shows : public MergeOperator {
   public:
    std::string_view name() const override { return "shows"; }
    bool merge(std::string_view key, std::optional<std::string_view> existing,
               std::span<const std::string_view> operands, std::string* result) const override {
      *result = std::string(existing.value_or("")) + std::string(key) +
                std::to_string(operands.size()) + ";";
      return true;
    }
  };
  ASSERT_OK(db_->close());
  Options with = with_no_case();
  with.merge_operators = {std::make_shared<Shows>()};
  open_with(with);
  Tree tree = make("r", {.order = "reverse"});
  ASSERT_OK(db_->set_merge_operator(tree, "shows"));
  ASSERT_OK(db_->set_merge_operator(tree, "shows"));
  ASSERT_OK(db_->merge(tree, "k", "x"));
  WriteBatch batch;
  batch.merge(tree, "k", "y");
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(entries(tree), Names{"k=k2;"});
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->merge(tree, "k", "z"));
  ASSERT_OK(db_->close());
  open_with(with);
  tree = db_->find_tree("r").value();
  EXPECT_EQ(entries(tree), Names{"k=k2;k1;"});
  const Tree set = make("set", {.multi_value = true});
  EXPECT_EQ(db_->set_merge_operator(set, "shows").code(), StatusCode::kNotSupported);
  Value value;
  EXPECT_EQ(db_->get_in_memory(set, "k", value).code(), StatusCode::kNotSupported);
}

TEST_F(KeyOrders, filters_are_shown_keys) {
  struct Odd : FlushFilter {
    std::string_view name() const override { return "odd"; }
    Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
      if (value == "change") {
        *changed = "changed";
        return Decision::kChange;
      }
      return key == "b" || value == "v2" ? Decision::kRemove : Decision::kKeep;
    }
  };
  ASSERT_OK(db_->close());
  Options with = with_no_case();
  with.flush_filters["r"] = with.flush_filters["set"] = std::make_shared<Odd>();
  open_with(with);
  const Tree tree = make("r", {.order = "reverse"});
  const Tree set = make("set", {.multi_value = true});
  ASSERT_OK(db_->put(tree, "a", "change"));
  ASSERT_OK(db_->put(tree, "b", "v"));
  for (const std::string value : {"v1", "v2", "v3"}) ASSERT_OK(db_->put(set, "k", value));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(entries(tree), Names{"a=changed"});
  EXPECT_EQ(entries(set), (Names{"k=v1", "k=v3"}));
}

TEST_F(KeyOrders, ingests_in_the_trees_order) {
  const Tree tree = make("r", {.order = "reverse"});
  Ingest ingest = db_->ingest(tree).value();
  ASSERT_OK(ingest.add("c", "1"));
  ASSERT_OK(ingest.add("b", std::string(100'000, 'x')));
  ASSERT_OK(ingest.add_stream("a", 2, [](std::span<char> to) -> Result<size_t> {
    std::memset(to.data(), 'z', to.size());
    return to.size();
  }));
  ASSERT_OK(ingest.finish());
  EXPECT_EQ(keys(tree), (Names{"c", "b", "a"}));
  Ingest wrong = db_->ingest(tree).value();
  ASSERT_OK(wrong.add("d", "1"));
  EXPECT_EQ(wrong.add("e", "1").code(), StatusCode::kInvalidArgument);
  wrong.abandon();

  const Tree set = make("set", {.order = "uint32", .multi_value = true});
  Ingest pairs = db_->ingest(set, {.sorted = false}).value();
  for (const uint32_t key : {300u, 2u}) {
    for (const std::string value : {"b", "", "a", "b"}) {
      ASSERT_OK(pairs.add(bytes_of(key), value));
    }
  }
  EXPECT_EQ(pairs.add_stream(bytes_of(1u), 1, nullptr).code(), StatusCode::kNotSupported);
  pairs.abandon();
  Ingest again = db_->ingest(set, {.sorted = false}).value();
  for (const uint32_t key : {300u, 2u}) {
    for (const std::string value : {"b", "", "a", "b"}) {
      ASSERT_OK(again.add(bytes_of(key), value));
    }
  }
  ASSERT_OK(again.finish());
  EXPECT_EQ(entries(set),
            (Names{bytes_of(2u) + "=", bytes_of(2u) + "=a", bytes_of(2u) + "=b",
                   bytes_of(300u) + "=", bytes_of(300u) + "=a", bytes_of(300u) + "=b"}));
}

TEST_F(KeyOrders, clones_have_the_order_of_what_they_show) {
  Tree tree = make("r", {.order = "reverse", .multi_value = true});
  ASSERT_OK(db_->put(tree, "a", "1"));
  ASSERT_OK(db_->put(tree, "b", "1"));
  Tree clone = db_->clone_tree("r", "c").value();
  ASSERT_OK(db_->put(clone, "aa", "2"));
  ASSERT_OK(db_->del(clone, "b"));
  reopen();
  clone = db_->find_tree("c").value();
  EXPECT_EQ(entries(clone), (Names{"aa=2", "a=1"}));
  EXPECT_EQ(entries(db_->find_tree("r").value()), (Names{"b=1", "a=1"}));
  EXPECT_TRUE(db_->tree_options(clone)->multi_value);
}

// ---- Several values

class SeveralValues : public KeyOrders {
 protected:
  void SetUp() override {
    KeyOrders::SetUp();
    set_ = make("set", {.multi_value = true, .value_order = "reverse"});
    WriteBatch batch;
    for (const std::string key : {"b", "d"}) {
      for (const std::string value : {"", "x", "xy", "z"}) batch.put(set_, key, value);
    }
    batch.put(set_, "c", "only");
    ASSERT_OK(db_->write(batch));
  }
  const Names all_ = {"b=z", "b=xy", "b=x", "b=", "c=only", "d=z", "d=xy", "d=x", "d="};
  Tree set_;
};

TEST_F(SeveralValues, are_a_sorted_set) {
  EXPECT_EQ(entries(set_), all_);
  ASSERT_OK(db_->put(set_, "b", "x"));  // again
  EXPECT_EQ(entries(set_), all_);
  EXPECT_EQ(db_->count(set_, "", std::nullopt).value(), 9u);
  EXPECT_EQ(db_->count(set_, "b", "c").value(), 4u);
  Value value;
  ASSERT_OK(db_->get(set_, "b", value));
  EXPECT_EQ(value.view(), "z");
  EXPECT_TRUE(db_->get(set_, "a", value).is_not_found());
  EXPECT_TRUE(db_->get(set_, "bb", value).is_not_found());
  EXPECT_EQ(db_->insert(set_, "b", "x").value(), false);
  EXPECT_EQ(db_->insert(set_, "b", "zz").value(), true);
  ASSERT_OK(db_->get(set_, "b", value));
  EXPECT_EQ(value.view(), "zz");
  EXPECT_EQ(db_->remove_if(set_, "b", "zz").value(), true);
  EXPECT_EQ(db_->remove_if(set_, "b", "zz").value(), false);
  const Snapshot before = db_->snapshot();
  ASSERT_OK(db_->del_value(set_, "b", "xy"));
  ASSERT_OK(db_->del_value(set_, "b", "none"));
  ASSERT_OK(db_->del(set_, "d"));
  ASSERT_OK(db_->del(set_, "nothing"));
  const Names left = {"b=z", "b=x", "b=", "c=only"};
  EXPECT_EQ(entries(set_), left);
  EXPECT_EQ(entries(set_, {.snapshot = &before}), all_);
  Value then;
  ASSERT_OK(db_->get(set_, "d", then, {.snapshot = &before}));
  EXPECT_EQ(then.view(), "z");
  ASSERT_OK(db_->delete_range(set_, "c"));
  EXPECT_EQ(entries(set_), (Names{"b=z", "b=x", "b="}));
}

TEST_F(SeveralValues, moves_of_a_cursor) {
  Cursor cursor = db_->cursor(set_);
  ASSERT_TRUE(cursor.seek("b"));
  EXPECT_EQ(shown(cursor), "b=z");
  EXPECT_EQ(cursor.count_values().value(), 4u);
  ASSERT_TRUE(cursor.next_value());
  EXPECT_EQ(shown(cursor), "b=xy");
  ASSERT_TRUE(cursor.last_value());
  EXPECT_EQ(shown(cursor), "b=");
  EXPECT_FALSE(cursor.next_value());
  EXPECT_EQ(shown(cursor), "b=");
  ASSERT_TRUE(cursor.prev_value());
  EXPECT_EQ(shown(cursor), "b=x");
  ASSERT_TRUE(cursor.first_value());
  EXPECT_FALSE(cursor.prev_value());
  EXPECT_EQ(shown(cursor), "b=z");
  ASSERT_TRUE(cursor.next_key());
  EXPECT_EQ(shown(cursor), "c=only");
  EXPECT_EQ(cursor.count_values().value(), 1u);
  ASSERT_TRUE(cursor.next_key());
  EXPECT_EQ(shown(cursor), "d=z");
  ASSERT_TRUE(cursor.next());
  ASSERT_TRUE(cursor.prev_key());
  EXPECT_EQ(shown(cursor), "c=only");
  ASSERT_TRUE(cursor.prev_key());
  EXPECT_EQ(shown(cursor), "b=");
  EXPECT_FALSE(cursor.prev_key());
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.next_value());
  EXPECT_EQ(cursor.count_values().status().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(cursor.seek_for_prev("cc"));
  EXPECT_EQ(shown(cursor), "c=only");
  ASSERT_TRUE(cursor.seek_for_prev("d"));
  EXPECT_EQ(shown(cursor), "d=");
  EXPECT_FALSE(cursor.next_value());
  EXPECT_EQ(shown(cursor), "d=");
  EXPECT_FALSE(cursor.next_key());
  ASSERT_TRUE(cursor.seek_value("b", "y"));
  EXPECT_EQ(shown(cursor), "b=xy");
  ASSERT_TRUE(cursor.seek_value("b", "x"));
  EXPECT_EQ(shown(cursor), "b=x");
  EXPECT_FALSE(cursor.seek_value("bb", ""));
  EXPECT_FALSE(cursor.valid());
  EXPECT_TRUE(cursor.seek_value("c", "zzz"));
  EXPECT_FALSE(cursor.seek_value("c", ""));
  EXPECT_OK(cursor.status());
  ASSERT_TRUE(cursor.first());
  ASSERT_TRUE(cursor.skip(6));
  EXPECT_EQ(shown(cursor), all_[6]);

  Cursor single = db_->cursor(tree_);
  put("k", "v");
  single = db_->cursor(tree_);
  ASSERT_TRUE(single.first());
  EXPECT_EQ(single.count_values().value(), 1u);
  EXPECT_FALSE(single.next_value());
  EXPECT_TRUE(single.valid());
  EXPECT_TRUE(single.first_value());
  EXPECT_FALSE(single.seek_value("k", "v"));
  EXPECT_EQ(single.status().code(), StatusCode::kNotSupported);
  EXPECT_TRUE(single.seek("k"));
  EXPECT_OK(single.status());
}

// Where the head is a number, the end of its values may itself be an entry.
TEST_F(SeveralValues, next_to_an_empty_value) {
  const Tree tree = make("numbers", {.order = "uint32", .multi_value = true});
  for (const uint32_t number : {1u, 2u, ~0u}) {
    ASSERT_OK(db_->put(tree, bytes_of(number), ""));
    ASSERT_OK(db_->put(tree, bytes_of(number), "v"));
  }
  Cursor cursor = db_->cursor(tree);
  ASSERT_TRUE(cursor.seek_for_prev(bytes_of(1u)));
  EXPECT_EQ(shown(cursor), bytes_of(1u) + "=v");
  ASSERT_TRUE(cursor.next_key());
  EXPECT_EQ(shown(cursor), bytes_of(2u) + "=");
  ASSERT_TRUE(cursor.prev_key());
  EXPECT_EQ(shown(cursor), bytes_of(1u) + "=v");
  ASSERT_TRUE(cursor.first_value());
  ASSERT_TRUE(cursor.last_value());
  EXPECT_EQ(shown(cursor), bytes_of(1u) + "=v");
  EXPECT_EQ(cursor.count_values().value(), 2u);
  ASSERT_TRUE(cursor.seek(bytes_of(~0u)));
  EXPECT_EQ(cursor.count_values().value(), 2u);
  ASSERT_TRUE(cursor.last_value());
  EXPECT_EQ(shown(cursor), bytes_of(~0u) + "=v");
  EXPECT_FALSE(cursor.next_key());
  EXPECT_OK(cursor.status());
  ASSERT_TRUE(cursor.seek_for_prev(bytes_of(~0u)));
  EXPECT_EQ(shown(cursor), bytes_of(~0u) + "=v");
  ASSERT_OK(db_->del(tree, bytes_of(~0u)));
  EXPECT_EQ(db_->count(tree, "", std::nullopt).value(), 4u);
}

TEST_F(SeveralValues, in_transactions) {
  Transaction txn = begin({.isolation = Isolation::kSerializable});
  ASSERT_OK(txn.put(set_, "b", "zz"));
  EXPECT_EQ(get_in(txn, set_, "b"), "zz");
  ASSERT_OK(txn.del_value(set_, "b", "zz"));
  const Savepoint mark = txn.savepoint().value();
  ASSERT_OK(txn.del(set_, "b"));
  EXPECT_EQ(get_in(txn, set_, "b"), "NotFound");
  EXPECT_EQ(txn.count(set_, "b", "c").value(), 0u);
  ASSERT_OK(txn.rollback_to(mark));
  EXPECT_EQ(txn.count(set_, "b", "c").value(), 4u);
  EXPECT_EQ(txn.insert(set_, "b", "x").value(), false);
  EXPECT_EQ(txn.remove_if(set_, "b", "x").value(), true);
  EXPECT_EQ(txn.del_value(tree_, "b", "x").code(), StatusCode::kInvalidArgument);
  ASSERT_OK(txn.commit());
  EXPECT_EQ(db_->count(set_, "b", "c").value(), 3u);

  // What get has read is all up to the first value.
  const auto conflicts = [&](const std::function<Status(Transaction&)>& reads,
                             const std::string& added) {
    Transaction reader = begin({.isolation = Isolation::kSerializable});
    EXPECT_OK(reads(reader));
    EXPECT_OK(reader.put(tree_, "t", "v"));
    EXPECT_OK(db_->put(set_, "b", added));
    const Status status = reader.commit();
    EXPECT_OK(db_->del_value(set_, "b", added));
    return status.is_conflict();
  };
  const auto get = [&](Transaction& t) {
    Value value;
    return t.get(set_, "b", value);
  };
  EXPECT_TRUE(conflicts(get, "zz"));
  EXPECT_FALSE(conflicts(get, "a"));
  const auto del = [&](Transaction& t) { return t.del(set_, "b"); };
  EXPECT_TRUE(conflicts(del, "new"));
  const auto count = [&](Transaction& t) {
    Cursor cursor = t.cursor(set_);
    EXPECT_TRUE(cursor.seek("b"));
    return cursor.count_values().status();
  };
  EXPECT_TRUE(conflicts(count, "a"));
}

TEST_F(SeveralValues, what_is_not_for_them) {
  const auto no = StatusCode::kNotSupported;
  Value value;
  ReadBatch batch;
  const std::string_view key[] = {"b"};
  EXPECT_EQ(db_->multi_get(set_, key, batch).code(), no);
  std::string part(1, ' ');
  EXPECT_EQ(db_->read_part(set_, "b", 0, part).status().code(), no);
  EXPECT_EQ(db_->update(set_, "b", "v").status().code(), no);
  EXPECT_EQ(db_->replace(set_, "b", "x", "v").status().code(), no);
  Transaction txn = begin({.mode = TxnMode::kPessimistic});
  EXPECT_EQ(txn.multi_get(set_, key, batch).code(), no);
  EXPECT_EQ(txn.get_for_update(set_, "b", value).code(), no);
  EXPECT_EQ(txn.get_pinned(set_, "b").status().code(), no);
  EXPECT_EQ(txn.lock(set_, "b", RowLock::kShared).code(), no);
  EXPECT_EQ(txn.put_reserve(set_, "b", 1).status().code(), no);
  EXPECT_EQ(txn.put_stream(set_, "b", 1, nullptr).code(), no);
  txn.abort();
  WriteBatch writes;
  writes.del(set_, "b");
  EXPECT_EQ(db_->write(writes).code(), no);
  writes.clear();
  writes.del_value(set_, "b", "z");
  writes.del_value(set_, "b", "xy");
  ASSERT_OK(db_->write(writes));
  writes.clear();
  writes.del_value(tree_, "b", "z");
  EXPECT_EQ(db_->write(writes).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->put(set_, "k", std::string(70'000, 'v')).code(), StatusCode::kInvalidArgument);
  auto queue = db_->read_queue().value();
  Status status;
  queue->get_async(set_, "b", [&](const Status& answer, Value&) { status = answer; });
  while (queue->pending() > 0) queue->wait();
  EXPECT_EQ(status.code(), no);
  queue.reset();
  EXPECT_EQ(entries(set_, {.upper = "c"}), (Names{"b=x", "b="}));
}

}  // namespace
}  // namespace hawthorn::tests
