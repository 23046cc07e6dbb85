// Entries that end (TreeOptions::expires), on a machine whose clock the test moves.

#include <map>

#include "tests/api/sim_api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class Expires : public SimApi {
 protected:
  void SetUp() override { open(); }
  void open() {
    db_.reset();
    Options small = options();
    small.lock_timeout_ms = 0;
    small.on_expiry = [this](std::string_view tree, std::string_view key, std::string_view value) {
      told_.push_back(std::string(tree) + ":" + std::string(key) + "=" + std::string(value));
    };
    auto db = Db::open_on(machine_->machine(), "/db", small);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree("e", {.expires = true});
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  // As if the machine had been started with its clock where it first was.
  void reboot() {
    ASSERT_OK(db_->sync());
    db_.reset();
    machine_ = std::make_unique<testing::SimMachine>(disk_, 2);
    open();
  }
  void pass_ms(uint64_t ms) { machine_->machine().clock->sleep_us(ms * 1000); }
  void put(std::string_view key, std::string_view value, uint64_t after_ms) {
    ASSERT_OK(db_->put(tree_, key, value, Expiry::after_ms(after_ms)));
  }
  std::vector<std::string> entries(const Snapshot* snapshot = nullptr) {
    std::vector<std::string> found;
    Cursor cursor = db_->cursor(tree_, {.snapshot = snapshot});
    for (bool more = cursor.first(); more; more = cursor.next()) {
      found.push_back(std::string(cursor.key()) + "=" + std::string(cursor.value()));
    }
    EXPECT_OK(cursor.status());
    return found;
  }
  uint64_t count(std::string_view lo = "", std::optional<std::string_view> hi = std::nullopt) {
    return db_->count(tree_, lo, hi).value();
  }
  using Names = std::vector<std::string>;

  std::unique_ptr<testing::SimMachine> machine_ = std::make_unique<testing::SimMachine>(disk_, 1);
  std::vector<std::string> told_;
};

TEST_F(Expires, at_once_for_every_read) {
  put("a", "1", 1000);
  put("b", "2", 5000);
  ASSERT_OK(db_->put(tree_, "c", "3"));
  put("d", std::string(100'000, 'd'), 1000);
  put("e", "5", 1000);
  EXPECT_EQ(count(), 5u);
  EXPECT_EQ(get("d"), std::string(100'000, 'd'));
  const uint64_t now = db_->snapshot().now_ms();
  EXPECT_NEAR(static_cast<double>(db_->expires_at(tree_, "b").value()),
              static_cast<double>(now + 5000), 100);
  EXPECT_EQ(db_->expires_at(tree_, "c").value(), 0u);
  const Snapshot before = db_->snapshot();
  pass_ms(1100);

  EXPECT_EQ(get("a"), "NotFound");
  EXPECT_EQ(get("b"), "2");
  EXPECT_EQ(get("d"), "NotFound");
  EXPECT_TRUE(db_->expires_at(tree_, "a").status().is_not_found());
  EXPECT_EQ(entries(), (Names{"b=2", "c=3"}));
  EXPECT_EQ(keys(tree_), (Names{"b", "c"}));
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(count("b", "c"), 1u);
  EXPECT_EQ(count("a", "b"), 0u);
  const std::string_view wanted[] = {"a", "b", "d", "x"};
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree_, wanted, batch));
  EXPECT_FALSE(batch[0].found() || batch[2].found() || batch[3].found());
  EXPECT_EQ(batch[1].value, "2");
  std::string part(2, ' ');
  EXPECT_TRUE(db_->read_part(tree_, "d", 0, part).status().is_not_found());
  EXPECT_TRUE(db_->read_part(tree_, "a", 0, part).status().is_not_found());
  EXPECT_EQ(db_->read_part(tree_, "b", 0, part).value(), 1u);
  EXPECT_EQ(part[0], '2');
  auto queue = db_->read_queue().value();
  std::map<std::string, std::string> answers;
  for (const std::string key : {"a", "b", "d"}) {
    queue->get_async(tree_, key, [&answers, key](const Status& status, Value& value) {
      answers[key] = status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
    });
  }
  while (queue->pending() > 0) queue->wait();
  queue.reset();
  EXPECT_EQ(answers,
            (std::map<std::string, std::string>{{"a", "NotFound"}, {"b", "2"}, {"d", "NotFound"}}));
  Cursor cursor = db_->cursor(tree_, {.key_only = true});
  ASSERT_TRUE(cursor.last());
  EXPECT_EQ(cursor.key(), "c");
  EXPECT_EQ(cursor.value(), "");
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.key(), "b");
  EXPECT_GT(cursor.expires_at(), now);
  EXPECT_FALSE(cursor.prev());
  ASSERT_TRUE(cursor.seek("a"));
  EXPECT_EQ(cursor.key(), "b");
  ASSERT_TRUE(cursor.skip(1));
  EXPECT_EQ(cursor.key(), "c");
  EXPECT_FALSE(cursor.skip(1));
  EXPECT_FALSE(cursor.seek_for_prev("a"));
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(cursor.seek_random(i << 60));
    EXPECT_TRUE(cursor.key() == "b" || cursor.key() == "c");
  }
  cursor = Cursor();

  // For who read before nothing has changed.
  EXPECT_EQ(entries(&before).size(), 5u);
  EXPECT_EQ(get("a", &before), "1");
  EXPECT_EQ(db_->count(tree_, "", std::nullopt, {.snapshot = &before}).value(), 5u);
}

TEST_F(Expires, for_good_in_the_background) {
  for (int i = 0; i < 1000; ++i) put("k" + std::to_string(i), "v", 1000 + i);
  put("stays", "v", 1'000'000);
  ASSERT_OK(db_->put(tree_, "for ever", "v"));
  ASSERT_OK(db_->compact());
  EXPECT_TRUE(told_.empty());
  pass_ms(5000);
  EXPECT_EQ(count(), 2u);
  {
    const Snapshot old = db_->snapshot();
    ASSERT_OK(db_->compact());
    EXPECT_EQ(told_.size(), 1000u);
    EXPECT_EQ(db_->stats().expired, 1000u);
    EXPECT_EQ(db_->count(tree_, "", std::nullopt, {.snapshot = &old}).value(), 2u);
  }
  EXPECT_TRUE(std::find(told_.begin(), told_.end(), "e:k7=v") != told_.end());
  EXPECT_EQ(entries(), (Names{"for ever=v", "stays=v"}));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  // The two, and the note of one of them.
  for (const TreeStats& tree : db_->stats().trees) {
    if (tree.name == "e") {
      EXPECT_EQ(tree.entries_flushed, 3u);
    }
  }
  EXPECT_EQ(told_.size(), 1000u);
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Expires, what_is_put_again_ends_later) {
  put("a", "1", 1000);
  put("a", "2", 10'000);
  put("b", "1", 10'000);
  put("b", "2", 1000);
  put("c", "1", 1000);
  ASSERT_OK(db_->put(tree_, "c", "2"));  // never
  put("d", "1", 1000);
  ASSERT_OK(db_->del(tree_, "d"));
  put("x", "1", 1000);
  put("x", "2", 1001);
  pass_ms(2500);
  EXPECT_EQ(entries(), (Names{"a=2", "c=2"}));
  EXPECT_EQ(count(), 2u);
  ASSERT_OK(db_->compact());
  EXPECT_EQ(told_, (Names{"e:b=2", "e:x=2"}));
  EXPECT_EQ(entries(), (Names{"a=2", "c=2"}));
  pass_ms(20'000);
  EXPECT_EQ(count(), 1u);
  ASSERT_OK(db_->compact());
  EXPECT_EQ(entries(), (Names{"c=2"}));
  EXPECT_EQ(told_.size(), 3u);
}

TEST_F(Expires, by_the_trees_default) {
  tree_ = db_->tree("default", {.expires = true, .ttl_ms = 2000}).value();
  ASSERT_OK(db_->put(tree_, "a", "1"));
  put("b", "1", 10'000);
  ASSERT_OK(db_->put(tree_, "c", "1", Expiry::never()));
  ASSERT_OK(db_->put(tree_, "d", "1", Expiry::at_ms(1)));  // long ago
  EXPECT_EQ(db_->insert(tree_, "e", "1").value(), true);
  EXPECT_EQ(entries(), (Names{"a=1", "b=1", "c=1", "e=1"}));
  WriteBatch batch;
  batch.put(tree_, "f", "1");
  batch.put(tree_, "g", "1", Expiry::after_ms(10'000));
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(db_->tree_options(tree_)->ttl_ms, 2000u);
  EXPECT_EQ(db_->tree("default", {.expires = true}).status().code(), StatusCode::kInvalidArgument);
  pass_ms(2100);
  EXPECT_EQ(entries(), (Names{"b=1", "c=1", "g=1"}));
  // What has ended is absent.
  EXPECT_EQ(db_->update(tree_, "a", "2").value(), false);
  EXPECT_EQ(db_->replace(tree_, "a", "1", "2").value(), false);
  EXPECT_EQ(db_->remove_if(tree_, "a", "1").value(), false);
  EXPECT_EQ(db_->insert(tree_, "a", "2").value(), true);
  EXPECT_EQ(db_->replace(tree_, "a", "2", "3").value(), true);
  EXPECT_EQ(get("a"), "3");
  EXPECT_EQ(db_->remove_if(tree_, "a", "3").value(), true);
  EXPECT_EQ(get("a"), "NotFound");
}

TEST_F(Expires, for_a_transaction_as_of_its_begin) {
  put("a", "1", 1000);
  Transaction snapshot = begin();
  Transaction committed = begin({.isolation = Isolation::kReadCommitted});
  pass_ms(1100);
  EXPECT_EQ(get_in(snapshot, "a"), "1");
  EXPECT_EQ(snapshot.count(tree_, "", std::nullopt).value(), 1u);
  EXPECT_EQ(snapshot.get_pinned(tree_, "a").value(), "1");
  EXPECT_EQ(get_in(committed, "a"), "NotFound");
  EXPECT_EQ(committed.count(tree_, "", std::nullopt).value(), 0u);
  Cursor cursor = snapshot.cursor(tree_);
  EXPECT_TRUE(cursor.first());
  cursor = committed.cursor(tree_);
  EXPECT_FALSE(cursor.first());
  cursor = Cursor();
  // Removed meanwhile, it is still there for the first.
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get_in(snapshot, "a"), "1");
  ASSERT_OK(snapshot.put(tree_, "b", "own", Expiry::after_ms(1000)));
  Result<std::span<std::byte>> room = snapshot.put_reserve(tree_, "c", 3);
  ASSERT_OK(room.status());
  ASSERT_EQ(room->size(), 3u);
  std::memcpy(room->data(), "xyz", 3);
  EXPECT_EQ(get_in(snapshot, "c"), "xyz");
  ASSERT_OK(snapshot.put_stream(tree_, "d", 100'000, [](std::span<char> to) -> Result<size_t> {
    std::memset(to.data(), 'd', to.size());
    return to.size();
  }));
  Transaction nested = snapshot.begin_nested().value();
  EXPECT_EQ(get_in(nested, "a"), "1");
  ASSERT_OK(nested.commit());
  ASSERT_OK(snapshot.commit());
  committed.abort();
  EXPECT_EQ(get("d"), std::string(100'000, 'd'));
  EXPECT_EQ(count(), 3u);
  pass_ms(1100);
  EXPECT_EQ(count(), 2u);
}

TEST_F(Expires, nothing_comes_back_when_the_clock_is_set_back) {
  put("a", "1", 100'000);
  put("b", "1", 200'000);
  put("c", "1", 300'000);
  pass_ms(150'000);
  ASSERT_OK(db_->compact());  // removes the first
  pass_ms(100'000);
  EXPECT_EQ(entries(), (Names{"c=1"}));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(told_.size(), 2u);
  ASSERT_OK(db_->create_snapshot("named"));
  const uint64_t before = db_->snapshot().now_ms();
  reboot();
  EXPECT_GE(db_->snapshot().now_ms() + 1000, before);
  EXPECT_EQ(entries(), (Names{"c=1"}));
  EXPECT_EQ(count(), 1u);
  // What is put now ends after what was put before with the same time.
  put("d", "1", 1000);
  EXPECT_EQ(count(), 2u);
  const Snapshot named = db_->open_snapshot("named").value();
  EXPECT_EQ(entries(&named), (Names{"c=1"}));
}

TEST_F(Expires, named_snapshots_keep_what_had_not_ended) {
  put("a", "1", 1000);
  ASSERT_OK(db_->create_snapshot("named"));
  pass_ms(2500);
  ASSERT_OK(db_->compact());
  EXPECT_EQ(count(), 0u);
  reboot();
  pass_ms(5000);
  const Snapshot named = db_->open_snapshot("named").value();
  EXPECT_EQ(entries(&named), (Names{"a=1"}));
  EXPECT_EQ(db_->count(tree_, "", std::nullopt, {.snapshot = &named}).value(), 1u);
}

TEST_F(Expires, with_several_values_orders_clones_and_ranges) {
  tree_ = db_->tree("set", {.order = "reverse", .multi_value = true, .expires = true}).value();
  put("a", "1", 1000);
  put("a", "2", 5000);
  put("b", "1", 1000);
  EXPECT_EQ(entries(), (Names{"b=1", "a=1", "a=2"}));
  const Tree clone = db_->clone_tree("set", "clone").value();
  pass_ms(1100);
  EXPECT_EQ(entries(), (Names{"a=2"}));
  EXPECT_EQ(get("a"), "2");
  EXPECT_EQ(get("b"), "NotFound");
  EXPECT_EQ(db_->insert(tree_, "b", "1").value(), true);
  EXPECT_EQ(db_->remove_if(tree_, "b", "1").value(), true);
  EXPECT_EQ(keys(clone), Names{"a"});
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(clone), Names{"a"});
  EXPECT_EQ(db_->count(clone, "", std::nullopt).value(), 1u);
  ASSERT_OK(db_->del(tree_, "a"));
  EXPECT_EQ(count(), 0u);
  EXPECT_EQ(keys(clone), Names{"a"});

  tree_ = db_->tree("ranges", {.expires = true}).value();
  for (const std::string key : {"a", "b", "c"}) put(key, "v", 5000);
  ASSERT_OK(db_->delete_range(tree_, "b", "c"));
  EXPECT_EQ(keys(tree_), (Names{"a", "c"}));
  ASSERT_OK(db_->delete_range(tree_, ""));
  EXPECT_EQ(count(), 0u);
  pass_ms(10'000);
  told_.clear();
  ASSERT_OK(db_->compact());
  EXPECT_EQ(told_, Names{"clone:a=2"});
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Expires, what_it_is_not_for) {
  const Tree plain = db_->tree("plain").value();
  EXPECT_EQ(db_->put(plain, "a", "1", Expiry::after_ms(1)).code(), StatusCode::kInvalidArgument);
  Transaction txn = begin();
  EXPECT_EQ(txn.put(plain, "a", "1", Expiry::never()).code(), StatusCode::kInvalidArgument);
  txn.abort();
  WriteBatch batch;
  batch.put(plain, "a", "1", Expiry::never());
  EXPECT_EQ(db_->write(batch).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->expires_at(plain, "a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(db_->tree("x", {.ttl_ms = 5}).status().code(), StatusCode::kInvalidArgument);
  const Tree by_default = db_->tree("y", {.expires = true, .ttl_ms = 1000}).value();
  EXPECT_EQ(db_->ingest(by_default).status().code(), StatusCode::kNotSupported);
  Ingest unsorted = db_->ingest(by_default, {.sorted = false}).value();
  ASSERT_OK(unsorted.add("b", "1"));
  ASSERT_OK(unsorted.add("a", "1"));
  ASSERT_OK(unsorted.finish());
  EXPECT_EQ(keys(by_default), (Names{"a", "b"}));
  Ingest sorted = db_->ingest(tree_).value();
  ASSERT_OK(sorted.add("a", "1"));
  ASSERT_OK(sorted.add("b", "1"));
  ASSERT_OK(sorted.finish());
  pass_ms(1100);
  EXPECT_EQ(keys(by_default), Names{});
  EXPECT_EQ(keys(tree_), (Names{"a", "b"}));
}

// Neither with nor without what tells the notes beside its entries from them in memory.
TEST_F(Expires, estimates_count_entries_and_not_their_notes) {
  for (int i = 0; i < 10; ++i) put("k" + std::to_string(i), "v", 1'000'000);
  const auto expect_ten = [&] {
    const RangeEstimate all = db_->estimate(tree_, "", std::nullopt).value();
    EXPECT_EQ(all.entries, 10u);
    return all.bytes;
  };
  EXPECT_EQ(expect_ten(), 0u);
  ASSERT_OK(db_->close());
  open();
  const uint64_t unread = expect_ten();
  EXPECT_GE(unread, 4096u / 2) << "of at least one block, half of which are notes";
  EXPECT_EQ(db_->estimate(tree_, "", "a")->entries, 4u) << "as if they were spread evenly";
  EXPECT_EQ(db_->estimate(tree_, "z", std::nullopt)->entries, 5u);
  EXPECT_EQ(count(), 10u);  // which reads the index
  EXPECT_EQ(expect_ten(), unread);
  EXPECT_EQ(db_->estimate(tree_, "k5", std::nullopt)->entries, 5u);
}

// What was written again since it was looked at stays.
TEST_F(Expires, loses_to_a_write) {
  put("a", "1", 1000);
  put("b", "1", 1000);
  pass_ms(2500);
  Transaction txn = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(txn.put(tree_, "a", "2"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(told_, Names{"e:b=1"});
  ASSERT_OK(txn.commit());
  EXPECT_EQ(entries(), Names{"a=2"});
  ASSERT_OK(db_->compact());
  EXPECT_EQ(entries(), Names{"a=2"});
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(Expires, callbacks_may_use_the_database_but_not_end_it) {
  db_.reset();
  Options with = options();
  Status compacted;
  Status closed;
  with.on_expiry = [&](std::string_view, std::string_view key, std::string_view value) {
    compacted = db_->compact();
    closed = db_->close();
    EXPECT_OK(db_->put(*db_->tree("archive"), key, value));
  };
  db_ = std::move(*Db::open_on(machine_->machine(), "/db", with));
  tree_ = *db_->find_tree("e");
  put("a", "1", 1000);
  pass_ms(2500);
  ASSERT_OK(db_->compact());
  EXPECT_EQ(compacted.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(closed.code(), StatusCode::kInvalidArgument);
  tree_ = *db_->tree("archive");
  EXPECT_EQ(get("a"), "1");
}

}  // namespace
}  // namespace hawthorn::tests
