// The contract of the public headers, one function after the other, with misuse: what a call
// answers, not how it does it. On the real machine, as programs use it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <thread>

#include "base/sanitizers.h"
#include "os/epoch.h"
#include "testing/waiting_thread.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

TEST_F(Api, status_and_result) {
  EXPECT_TRUE(Status().ok());
  const Status error(StatusCode::kBusy, "somebody has it");
  EXPECT_EQ(error.to_string(), "Busy: somebody has it");
  EXPECT_EQ(Status(error).message(), "somebody has it");
  EXPECT_TRUE(Status::not_found().is_not_found());
  EXPECT_TRUE(Status(StatusCode::kConflict).is_conflict());
  Result<int> result(error);
  EXPECT_FALSE(result.ok());
  EXPECT_TRUE(result.status().is(StatusCode::kBusy));
  EXPECT_EQ(*Result<int>(7), 7);
  EXPECT_FALSE(version().empty());
}

TEST_F(Api, get_put_del) {
  EXPECT_EQ(get("a"), "NotFound");
  ASSERT_OK(db_->put(tree_, "a", "1"));
  EXPECT_EQ(get("a"), "1");
  ASSERT_OK(db_->put(tree_, "a", ""));
  EXPECT_EQ(get("a"), "");
  ASSERT_OK(db_->put(tree_, "", "empty key"));
  EXPECT_EQ(get(""), "empty key");
  ASSERT_OK(db_->del(tree_, "a"));
  ASSERT_OK(db_->del(tree_, "a"));
  EXPECT_EQ(get("a"), "NotFound");
  for (const Durability level :
       {Durability::kDefault, Durability::kNone, Durability::kAsync, Durability::kFull}) {
    ASSERT_OK(db_->put(tree_, "level", std::to_string(static_cast<int>(level)), level));
    EXPECT_EQ(get("level"), std::to_string(static_cast<int>(level)));
  }
}

TEST_F(Api, sizes_at_and_over_the_limits) {
  const Limits limits = Db::limits();
  const std::string key(limits.key_bytes_max, 'k');
  ASSERT_OK(db_->put(tree_, key, "longest key"));
  EXPECT_EQ(get(key), "longest key");
  EXPECT_TRUE(db_->put(tree_, key + "k", "").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->del(tree_, key + "k").is(StatusCode::kInvalidArgument));
  EXPECT_EQ(get(key + "k"), "NotFound");
  const std::string too_large(limits.batch_value_bytes_max + 1, 'v');
  EXPECT_TRUE(db_->put(tree_, "a", too_large).is(StatusCode::kInvalidArgument));
  WriteBatch batch;
  batch.put(tree_, "b", "1");
  batch.put(tree_, key + "k", "");
  EXPECT_TRUE(db_->write(batch).is(StatusCode::kInvalidArgument));
  EXPECT_EQ(get("b"), "NotFound");
  for (const size_t size : {65'535u, 65'536u, 65'537u, 1'000'000u, 4'000'000u}) {
    const std::string value = value_of(size, size);
    ASSERT_OK(db_->put(tree_, "large", value));
    ASSERT_TRUE(get("large") == value) << size;
  }
  ASSERT_OK(db_->flush());
  ASSERT_TRUE(get("large") == value_of(4'000'000, 4'000'000));
  EXPECT_TRUE(db_->tree("").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->tree(std::string(256, 'n')).status().is(StatusCode::kInvalidArgument));
  EXPECT_OK(db_->tree(std::string(255, 'n')).status());
}

TEST_F(Api, batches) {
  WriteBatch batch;
  EXPECT_OK(db_->write(batch));
  batch.put(tree_, "a", "1");
  batch.put(tree_, "a", "2");
  batch.put(tree_, "b", "1");
  batch.del(tree_, "b");
  EXPECT_EQ(batch.count(), 4u);
  EXPECT_GT(batch.bytes(), 0u);
  ASSERT_OK(db_->write(batch, Durability::kFull));
  EXPECT_EQ(get("a"), "2");
  EXPECT_EQ(get("b"), "NotFound");
  batch.clear();
  EXPECT_EQ(batch.count(), 0u);
  batch.put(tree_, "c", "3");
  ASSERT_OK(db_->write(batch));
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(get("c"), "3");
}

TEST_F(Api, snapshots_and_values_outlive_writes) {
  ASSERT_OK(db_->put(tree_, "a", "old"));
  const Snapshot snapshot = db_->snapshot();
  Value held;
  ASSERT_OK(db_->get(tree_, "a", held));
  ASSERT_OK(db_->put(tree_, "a", "new"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get("a", &snapshot), "old");
  EXPECT_EQ(get("a"), "new");
  EXPECT_EQ(held.view(), "old");
  Value moved = std::move(held);
  EXPECT_EQ(moved.view(), "old");
  EXPECT_GE(db_->stats().visible_timestamp, snapshot.timestamp());
  EXPECT_EQ(db_->stats().oldest_snapshot_timestamp, snapshot.timestamp());
}

TEST_F(Api, cursors) {
  for (const char* key : {"b", "d", "f"}) ASSERT_OK(db_->put(tree_, key, key));
  Cursor cursor = db_->cursor(tree_);
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.next());
  ASSERT_TRUE(cursor.first());
  EXPECT_EQ(cursor.key(), "b");
  ASSERT_TRUE(cursor.next());
  ASSERT_TRUE(cursor.prev());
  EXPECT_EQ(cursor.value(), "b");
  EXPECT_FALSE(cursor.prev());
  EXPECT_FALSE(cursor.valid());
  ASSERT_TRUE(cursor.last());
  EXPECT_EQ(cursor.key(), "f");
  EXPECT_FALSE(cursor.next());
  EXPECT_OK(cursor.status());
  ASSERT_TRUE(cursor.seek("c"));
  EXPECT_EQ(cursor.key(), "d");
  ASSERT_TRUE(cursor.seek_for_prev("c"));
  EXPECT_EQ(cursor.key(), "b");
  EXPECT_FALSE(cursor.seek("g"));
  EXPECT_FALSE(cursor.seek_for_prev("a"));
  Cursor bounded = db_->cursor(tree_, {.lower = "c", .upper = "f", .key_only = true});
  ASSERT_TRUE(bounded.first());
  EXPECT_EQ(bounded.key(), "d");
  EXPECT_EQ(bounded.value(), "");
  EXPECT_FALSE(bounded.next());
  // A cursor shows what was there when it was opened.
  ASSERT_OK(db_->put(tree_, "e", "e"));
  ASSERT_TRUE(cursor.seek("e"));
  EXPECT_EQ(cursor.key(), "f");
  Cursor unopened;
  EXPECT_FALSE(unopened.first());
}

TEST_F(Api, batches_of_a_cursor) {
  const auto shown = [](Cursor& cursor, size_t most) {
    std::vector<Entry> out(most);
    std::string text;
    const size_t count = cursor.next_batch(out);
    for (size_t i = 0; i < count; ++i) text.append(out[i].key).append(out[i].value).append(" ");
    EXPECT_FALSE(cursor.valid());
    EXPECT_OK(cursor.status());
    return text;
  };
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) ASSERT_OK(db_->put(tree_, key, key));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->put(tree_, "c", "new"));
  Transaction noting =
      db_->begin({.mode = TxnMode::kOptimistic, .isolation = Isolation::kSerializable}).value();
  Transaction plain = db_->begin(TxnMode::kPessimistic).value();
  std::vector<Cursor> cursors;
  cursors.push_back(db_->cursor(tree_, {.upper = "f"}));
  cursors.push_back(noting.cursor(tree_, {.upper = "f"}));
  cursors.push_back(plain.cursor(tree_, {.upper = "f"}));
  for (Cursor& cursor : cursors) {
    EXPECT_EQ(shown(cursor, 8), "") << "it stands nowhere";
    ASSERT_TRUE(cursor.seek("b"));
    EXPECT_EQ(cursor.next_batch({}), 0u);
    EXPECT_TRUE(cursor.valid()) << "there was nothing to hand it out to";
    // As many as there is room for, or fewer.
    std::string all;
    for (std::string some = shown(cursor, 2); !some.empty(); some = shown(cursor, 2)) all += some;
    EXPECT_EQ(all, "bb cnew dd ee ");
    EXPECT_EQ(shown(cursor, 8), "");
    EXPECT_FALSE(cursor.next());
    // A seek in the middle of them, and back from there.
    ASSERT_TRUE(cursor.seek("a"));
    EXPECT_EQ(shown(cursor, 1), "aa ");
    ASSERT_TRUE(cursor.seek("d"));
    ASSERT_TRUE(cursor.prev());
    EXPECT_EQ(cursor.value(), "new");
    EXPECT_EQ(shown(cursor, 1), "cnew ");
  }
  // What was handed out to one that notes what it reads was read.
  ASSERT_OK(noting.put(tree_, "x", ""));
  ASSERT_OK(db_->put(tree_, "dd", ""));
  EXPECT_TRUE(noting.commit().is(StatusCode::kConflict));
  Cursor unopened;
  Entry entry;
  EXPECT_EQ(unopened.next_batch({&entry, 1}), 0u);
}

TEST_F(Api, multi_get_scan_and_read_part) {
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(db_->put(tree_, big_endian(static_cast<uint64_t>(i)), std::to_string(i)));
  }
  const std::string a = big_endian(1999);
  const std::string b = big_endian(3000);
  const std::string c = big_endian(5);
  const std::string_view wanted[] = {a, b, c, a};
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree_, wanted, batch));
  ASSERT_EQ(batch.size(), 4u);
  EXPECT_EQ(batch[0].value, "1999");
  EXPECT_FALSE(batch[1].found());
  EXPECT_EQ(batch[2].value, "5");
  EXPECT_EQ(batch[3].value, "1999");
  size_t seen = 0;
  ASSERT_OK(db_->scan(tree_, big_endian(10), big_endian(20), [&](std::span<const Entry> entries) {
    seen += entries.size();
    return true;
  }));
  EXPECT_EQ(seen, 10u);
  seen = 0;
  ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
    seen += entries.size();
    return false;
  }));
  EXPECT_GT(seen, 0u);
  EXPECT_LT(seen, 2000u);
  ASSERT_OK(db_->put(tree_, "part", value_of(1, 300'000)));
  std::string buffer(1000, '\0');
  Result<size_t> part = db_->read_part(tree_, "part", 299'500, buffer);
  ASSERT_OK(part.status());
  EXPECT_EQ(*part, 500u);
  EXPECT_EQ(buffer.substr(0, 500), value_of(1, 300'000).substr(299'500));
  EXPECT_TRUE(db_->read_part(tree_, "none", 0, buffer).status().is_not_found());
}

TEST_F(Api, optimistic_transactions) {
  ASSERT_OK(db_->put(tree_, "a", "0"));
  auto one = db_->begin(TxnMode::kOptimistic);
  auto two = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(one.status());
  ASSERT_OK(two.status());
  ASSERT_OK(one->put(tree_, "a", "1"));
  ASSERT_OK(two->put(tree_, "a", "2"));
  Value value;
  ASSERT_OK(one->get(tree_, "a", value));
  EXPECT_EQ(value.view(), "1");
  EXPECT_EQ(get("a"), "0");
  ASSERT_OK(two->commit());
  EXPECT_TRUE(one->commit().is_conflict());
  EXPECT_FALSE(one->open());
  EXPECT_EQ(get("a"), "2");
  EXPECT_TRUE(one->commit().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(one->put(tree_, "a", "").is(StatusCode::kInvalidArgument));
  auto three = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(db_->put(tree_, "a", "3"));
  EXPECT_TRUE(three->put(tree_, "a", "4").is_conflict());
  EXPECT_TRUE(three->del(tree_, "a").is_conflict());
  // It can go on with other keys.
  ASSERT_OK(three->put(tree_, "b", "b"));
  Cursor cursor = three->cursor(tree_);
  ASSERT_TRUE(cursor.seek("b"));
  EXPECT_EQ(cursor.value(), "b");
  ASSERT_OK(three->put(tree_, "c", "later"));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.key(), "c");
  cursor = Cursor();
  ASSERT_OK(three->commit());
  EXPECT_EQ(get("b"), "b");
  Transaction none;
  EXPECT_FALSE(none.open());
  EXPECT_FALSE(none.put(tree_, "k", "").ok());
}

TEST_F(Api, plain_writes_against_an_open_transaction) {
  // The same thread's plain put does not wait for its own transaction (attack 29).
  auto txn = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(txn->put(tree_, "k", "txn"));
  ASSERT_OK(db_->put(tree_, "k", "plain"));
  EXPECT_EQ(get("k"), "plain");
  EXPECT_TRUE(txn->commit().is_conflict());
  EXPECT_EQ(get("k"), "plain");
}

TEST_F(Api, exclusive_transactions) {
  auto txn = db_->begin(TxnMode::kExclusive);
  ASSERT_OK(txn.status());
  ASSERT_OK(txn->put(tree_, "a", "x"));
  EXPECT_TRUE(db_->put(tree_, "a", "self").is(StatusCode::kInvalidArgument));
  std::atomic<bool> written{false};
  testing::WaitingThread other([&] {
    EXPECT_OK(db_->put(tree_, "a", "other"));
    written.store(true);
  });
  EXPECT_TRUE(other.wait_until_it_waits());
  EXPECT_FALSE(written.load()) << "a commit passed an exclusive transaction";
  EXPECT_EQ(get("a"), "NotFound");
  ASSERT_OK(txn->commit());
  other.join();
  EXPECT_EQ(get("a"), "other");
  {
    auto aborted = db_->begin(TxnMode::kExclusive);
    ASSERT_OK(aborted->put(tree_, "b", "x"));
  }
  EXPECT_EQ(get("b"), "NotFound");
  EXPECT_OK(db_->put(tree_, "b", "free again"));
}

TEST_F(Api, streams) {
  const std::string bytes = value_of(3, 5'000'000);
  const auto stream = [&](Transaction& txn, uint64_t size) {
    size_t given = 0;
    return txn.put_stream(tree_, "s", size, [&](std::span<char> to) -> Result<size_t> {
      const size_t count = std::min({to.size(), bytes.size() - given, size_t{77'777}});
      std::memcpy(to.data(), bytes.data() + given, count);
      given += count;
      return count;
    });
  };
  auto txn = db_->begin(TxnMode::kOptimistic);
  EXPECT_TRUE(stream(*txn, bytes.size() + 1).is(StatusCode::kInvalidArgument)) << "ends early";
  EXPECT_TRUE(
      stream(*txn, Db::limits().stream_value_bytes_max + 1).is(StatusCode::kInvalidArgument));
  ASSERT_OK(stream(*txn, bytes.size()));
  ASSERT_OK(txn->commit());
  EXPECT_TRUE(get("s") == bytes);
  ASSERT_TRUE(clean(*db_));
}

TEST_F(Api, trees) {
  auto other = db_->tree("other");
  ASSERT_OK(other.status());
  EXPECT_NE(other->id(), tree_.id());
  EXPECT_EQ(db_->tree("other")->id(), other->id());
  EXPECT_EQ(*db_->list_trees(), (std::vector<std::string>{"other", "t"}));
  ASSERT_OK(db_->put(*other, "k", "v"));
  EXPECT_EQ(get("k"), "NotFound");
  ASSERT_OK(db_->drop_tree("other"));
  EXPECT_TRUE(db_->drop_tree("other").is_not_found());
  EXPECT_TRUE(db_->find_tree("other").status().is_not_found());
  Value value;
  EXPECT_TRUE(db_->get(*other, "k", value).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(*other, "k", "").is(StatusCode::kInvalidArgument));
  Cursor cursor = db_->cursor(*other);
  EXPECT_FALSE(cursor.first());
  EXPECT_TRUE(cursor.status().is(StatusCode::kInvalidArgument));
  auto again = db_->tree("other");
  ASSERT_OK(again.status());
  EXPECT_NE(again->id(), other->id()) << "ids are never used twice (R26)";
  EXPECT_TRUE(keys(*again).empty());
}

TEST_F(Api, misused_handles) {
  Value value;
  EXPECT_FALSE(Tree().valid());
  EXPECT_TRUE(db_->get(Tree(), "k", value).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(Tree(), "k", "").is(StatusCode::kInvalidArgument));
  auto second = Db::open(directory_ / "second", options());
  ASSERT_OK(second.status());
  auto foreign = (*second)->tree("t");
  ASSERT_OK(foreign.status());
  EXPECT_TRUE(db_->get(*foreign, "k", value).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->put(*foreign, "k", "").is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(db_->cursor(*foreign).first());
}

// Ended is ended: whatever their objects may still be, and however they have ended, transactions
// keep nobody from closing, and their objects may outlive the database.
TEST_F(Api, ended_transactions_hold_nothing) {
  const auto fill = [this](Transaction& txn) {
    EXPECT_OK(txn.put(tree_, "k", "v"));
    EXPECT_OK(txn.get_pinned(tree_, "k").status());
    const auto room = txn.put_reserve(tree_, "r", 100);
    ASSERT_OK(room.status());
    std::fill(room->begin(), room->end(), std::byte{'r'});
  };
  for (const std::string how : {"commit", "abort", "conflict", "nested", "prepared", "by its id"}) {
    SCOPED_TRACE(how);
    auto txn = db_->begin(TxnOptions{});
    ASSERT_OK(txn.status());
    std::optional<Transaction> nested;
    if (how == "prepared" || how == "by its id") {
      EXPECT_OK(txn->put(tree_, "k", "v"));
    } else {
      fill(*txn);
    }
    if (how == "commit") {
      EXPECT_OK(txn->commit());
    } else if (how == "abort") {
      txn->abort();
    } else if (how == "conflict") {
      EXPECT_OK(db_->put(tree_, "k", "other"));
      EXPECT_TRUE(txn->commit().is(StatusCode::kConflict));
    } else if (how == "nested") {
      auto begun = txn->begin_nested();
      ASSERT_OK(begun.status());
      nested = std::move(*begun);
      EXPECT_OK(nested->put(tree_, "n", "v"));
      EXPECT_OK(txn->commit());
    } else {
      EXPECT_OK(txn->prepare("id"));
      EXPECT_TRUE(db_->close().is(StatusCode::kBusy)) << "its object may still end it";
      if (how == "by its id") {
        EXPECT_OK(db_->rollback_prepared("id"));
        EXPECT_TRUE(txn->commit().is_not_found());
      } else {
        EXPECT_OK(txn->commit());
      }
    }
    EXPECT_OK(db_->close());
    EXPECT_FALSE(txn->open());
    for (const bool gone : {false, true}) {
      if (gone) db_.reset();
      Transaction* const all[] = {&*txn, nested.has_value() ? &*nested : &*txn};
      for (Transaction* const one : all) {
        EXPECT_TRUE(one->commit().is(StatusCode::kInvalidArgument));
        one->abort();
        one->release_pinned();
        Value value;
        EXPECT_TRUE(one->get(tree_, "k", value).is(StatusCode::kInvalidArgument));
        EXPECT_TRUE(one->put(tree_, "k", "v").is(StatusCode::kInvalidArgument));
        EXPECT_TRUE(one->savepoint().status().is(StatusCode::kInvalidArgument));
        EXPECT_TRUE(one->begin_nested().status().is(StatusCode::kInvalidArgument));
        EXPECT_TRUE(one->prepare("again").is(StatusCode::kInvalidArgument));
      }
    }
    open();
  }
}

TEST_F(Api, close_waits_for_nobody) {
  ASSERT_OK(db_->put(tree_, "k", "v"));
  {
    const Snapshot snapshot = db_->snapshot();
    EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  }
  {
    const Cursor cursor = db_->cursor(tree_);
    EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  }
  {
    auto txn = db_->begin(TxnMode::kOptimistic);
    EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  }
  EXPECT_EQ(get("k"), "v") << "it stays open";
  ASSERT_OK(db_->close());
  EXPECT_OK(db_->close());
  EXPECT_EQ(get("k"), "Closed");
  EXPECT_TRUE(db_->put(tree_, "k", "").is(StatusCode::kClosed));
  EXPECT_TRUE(db_->flush().is(StatusCode::kClosed));
  EXPECT_TRUE(db_->begin(TxnMode::kOptimistic).status().is(StatusCode::kClosed));
  open();
  EXPECT_EQ(get("k"), "v");
}

// What was retired stays for as long as somebody is in a guard: so nobody may stay in one for as
// long as he likes (R17, attack 27).
TEST_F(Api, no_guard_is_held_where_others_have_the_thread) {
  const auto guarded = [] {
    const os::epoch::Slot* const slot = os::epoch::this_thread_slot;
    return slot != nullptr && slot->depth != 0;
  };
  int calls = 0;
  // Whoever is called may do whatever he likes, what flushes and waits among it.
  const auto use = [&](std::string_view name) {
    ++calls;
    EXPECT_FALSE(guarded()) << name;
    EXPECT_OK(db_->put(tree_, "called", name));
    EXPECT_OK(db_->flush());
    EXPECT_FALSE(guarded()) << name;
  };
  for (int i = 0; i < 1000; ++i) put("key" + std::to_string(i), "v");
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry>) {
    use("a scan");
    return calls < 3;
  }));
  EXPECT_EQ(calls, 2) << "of batches";
  auto queue = db_->read_queue().value();
  queue->get_async(tree_, "key1", [&](const Status&, Value&) { use("a completion"); });
  while (queue->pending() > 0) queue->wait();
  queue.reset();
  EXPECT_EQ(calls, 3);
  {
    Cursor cursor = db_->cursor(tree_);
    for (bool more = cursor.first(); more && calls < 10; more = cursor.next()) use("a cursor");
  }
  Transaction txn = begin({.isolation = Isolation::kSerializable});
  EXPECT_EQ(get_in(txn, "key1"), "v");
  use("a transaction");
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree_, std::vector<std::string_view>{"key1", "key2"}, batch));
  use("a batch");
  EXPECT_EQ(calls, 12);
}

TEST_F(Api, read_only) {
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->put(tree_, "logged", "v"));
  db_.reset();  // not closed: there is a log to replay in memory
  Options how = options();
  how.read_only = true;
  auto db = Db::open(path_, how);
  ASSERT_OK(db.status());
  db_ = std::move(*db);
  tree_ = *db_->find_tree("t");
  EXPECT_EQ(get("k"), "v");
  EXPECT_EQ(get("logged"), "v");
  EXPECT_TRUE(db_->put(tree_, "k", "").is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->begin(TxnMode::kOptimistic).status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->flush().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->tree("new").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(db_->drop_tree("t").is(StatusCode::kReadOnly));
  EXPECT_TRUE(clean(*db_));
  ASSERT_OK(db_->close());
  open();
  EXPECT_EQ(get("logged"), "v");
}

TEST_F(Api, destroy) {
  EXPECT_TRUE(Db::destroy(directory_ / "none").is_not_found());
  EXPECT_TRUE(Db::destroy(path_).is(StatusCode::kBusy));
  db_.reset();
  ASSERT_OK(Db::destroy(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  open();
  std::ofstream(path_ + "/a file of somebody else") << "kept";
  db_.reset();
  ASSERT_OK(Db::destroy(path_));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/a file of somebody else"));
}

TEST_F(Api, upkeep_stats_and_budget) {
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_OK(db_->put(tree_, big_endian(i), value_of(i, 300)));
  ASSERT_OK(db_->sync());
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->compact());
  ASSERT_OK(db_->drain());
  const Stats stats = db_->stats();
  ASSERT_EQ(stats.trees.size(), 1u);
  EXPECT_EQ(stats.trees[0].name, "t");
  EXPECT_EQ(stats.trees[0].entries_flushed, 5000u);
  EXPECT_GE(stats.commits, 5000u);
  EXPECT_EQ(stats.memory_budget_bytes, size_t{32} << 20);
  EXPECT_LE(stats.memory_used_bytes, stats.memory_budget_bytes);
  EXPECT_GT(stats.disk_bytes_allocated, stats.disk_bytes_reachable);
  EXPECT_TRUE(db_->set_memory_budget(1 << 20).is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->set_memory_budget(size_t{16} << 20));
  EXPECT_EQ(db_->stats().memory_budget_bytes, size_t{16} << 20);
  uint64_t steps = 0;
  const auto report = db_->check({.progress = [&](uint64_t, uint64_t) { ++steps; }});
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok()) << (report->ok() ? "" : report->errors[0]);
  EXPECT_GT(steps, 0u);
  EXPECT_EQ(report->entries, 5000u);
}

// One transaction that fills a tree at once is flushed as many containers; when nearly all is
// deleted, few are left.
TEST_F(Api, containers_follow_the_data) {
  ASSERT_OK(db_->set_memory_budget(size_t{256} << 20));
  constexpr uint64_t kKeys = 60'000;
  const auto containers = [&] { return db_->stats().trees[0].containers; };
  for (const bool in_order : {false, true}) {
    Result<Transaction> txn = db_->begin(TxnMode::kExclusive);
    ASSERT_OK(txn.status());
    for (uint64_t i = 0; i < kKeys; ++i) {
      const uint64_t number = in_order ? i : i * 7919 % kKeys;
      ASSERT_OK(txn->put(tree_, big_endian(number), value_of(number, 700)));
    }
    ASSERT_OK(txn->commit());
    ASSERT_OK(db_->drain());  // it is larger than its share of memory
    ASSERT_OK(db_->flush());
    EXPECT_EQ(db_->stats().trees[0].delta_records, 0u);
    EXPECT_GT(containers(), 20u);
    EXPECT_LT(containers(), 80u);
    ASSERT_TRUE(clean(*db_));
    uint64_t kept = 0;
    // Again where the background was joining some when others were deleted in them: it gives up
    // then, and joins none for a while.
    EXPECT_TRUE(wait_until([&] {
      for (uint64_t i = 0; i < kKeys; ++i) {
        if (i % 1000 != 0) EXPECT_OK(db_->del(tree_, big_endian(i)));
      }
      EXPECT_OK(db_->flush());
      return containers() < 8 || HasFailure();
    }));
    EXPECT_GT(db_->stats().joins, 2u);
    ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        EXPECT_EQ(entry.key, big_endian(1000 * kept));
        EXPECT_EQ(entry.value, value_of(1000 * kept, 700));
        ++kept;
      }
      return true;
    }));
    EXPECT_EQ(kept, kKeys / 1000);
    ASSERT_TRUE(clean(*db_));
  }
}

// Far below the deltas' quota, and without a drain: in steps, the last of which frees its memory.
// In steps, but where the background comes by while half of the intents are stamped: then all may
// go in one. So several trees.
TEST_F(Api, large_deltas_are_flushed_in_the_background) {
  ASSERT_OK(db_->set_memory_budget(size_t{512} << 20));
  uint64_t trees = 0;
  EXPECT_TRUE(wait_until([&] {
    const std::string name = "large" + std::to_string(++trees);
    const Tree tree = db_->tree(name).value();
    const uint64_t before = db_->stats().flushes;
    WriteBatch batch;
    for (uint64_t i = 0; i < 40'000; ++i) {
      batch.put(tree, big_endian(i * 7919 % 40'000), value_of(i, 700));
    }
    EXPECT_OK(db_->write(batch));
    EXPECT_OK(db_->put(tree, "one more", "looks at the size"));
    const auto unflushed = [&] {
      for (const TreeStats& stats : db_->stats().trees) {
        if (stats.name == name) return stats.delta_records;
      }
      return ~uint64_t{0};
    };
    EXPECT_TRUE(wait_until([&] { return unflushed() <= 1; }));
    const uint64_t steps = db_->stats().flushes - before;
    EXPECT_OK(db_->drop_tree(name));
    return steps > 10 || HasFailure();
  }));
}

TEST_F(Api, a_child_of_fork_is_refused) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer does not like forks of programs with threads";
#endif
  ASSERT_OK(db_->put(tree_, "k", "v"));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // R30, attack 51.
    Value value;
    const bool refused = db_->get(tree_, "k", value).is(StatusCode::kForked) &&
                         db_->put(tree_, "k", "child").is(StatusCode::kForked) &&
                         db_->flush().is(StatusCode::kForked) &&
                         db_->close().is(StatusCode::kForked);
    db_.reset();
    _exit(refused ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
  EXPECT_EQ(get("k"), "v");
  ASSERT_OK(db_->put(tree_, "k", "parent"));
  ASSERT_OK(db_->close());
}

// What the process keeps for all databases has threads, too, which a child has not.
TEST_F(Api, a_child_of_fork_opens_what_is_closed) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer does not like forks of programs with threads";
#endif
  ASSERT_OK(db_->put(tree_, "k", "v"));
  db_.reset();  // without a flush, so that there is a log to read
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    open();
    const bool written = get("k") == "v" && db_->put(tree_, "k", "child").ok() &&
                         db_->flush().ok() && db_->close().ok();
    _exit(written && !HasFailure() ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
  open();
  EXPECT_EQ(get("k"), "child");
}

TEST(Memory, is_resident_from_open_where_asked) {
  const auto resident_pages = [] {
    size_t size = 0;
    size_t resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident;
  };
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{128} << 20;
  options.preallocate_memory = true;
  const size_t before = resident_pages();
  Result<std::unique_ptr<Db>> db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  EXPECT_GT((resident_pages() - before) * 4096, size_t{100} << 20);
  ASSERT_OK((*db)->close());
}

}  // namespace
}  // namespace hawthorn::tests
