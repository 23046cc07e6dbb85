// Prepared transactions as the public headers promise them: what they hold, against whom, and that
// they are there after a restart. Crashes are in tests/crash/prepared_test.cc.
#include <thread>

#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr TxnOptions kSerially{.isolation = Isolation::kSerializable};
constexpr TxnOptions kLocking{.mode = TxnMode::kPessimistic};
constexpr uint64_t kTimeoutMs = 30;

class Prepared : public Api {
 protected:
  void SetUp() override { reopen(); }

  // How it goes from one open database to the next.
  enum class Between : uint8_t { kDestroyed, kClosed };
  void reopen(Between between = Between::kDestroyed) {
    if (between == Between::kClosed) ASSERT_OK(db_->close());
    db_.reset();
    Options quick = options();
    quick.lock_timeout_ms = kTimeoutMs;
    auto db = Db::open(path_, quick);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  std::vector<std::string> ids() {
    std::vector<std::string> result;
    const auto prepared = db_->prepared();
    EXPECT_OK(prepared.status());
    for (const PreparedTransaction& one : *prepared) result.push_back(one.id);
    return result;
  }
  // Every kind of writer of a key must wait for the prepared one, and nobody sees it.
  void expect_locked(std::string_view key) {
    EXPECT_TRUE(db_->put(tree_, key, "other").is(StatusCode::kTimedOut));
    EXPECT_TRUE(db_->del(tree_, key).is(StatusCode::kTimedOut));
    WriteBatch batch;
    batch.put(tree_, "beside", "1");
    batch.put(tree_, key, "other");
    EXPECT_TRUE(db_->write(batch).is(StatusCode::kTimedOut));
    EXPECT_TRUE(db_->replace(tree_, key, std::nullopt, "x").status().is(StatusCode::kTimedOut) ||
                get(key) != "NotFound");
    for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
      for (const Isolation level :
           {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
        Transaction other = begin({.mode = mode, .isolation = level});
        EXPECT_TRUE(other.put(tree_, key, "other").is(StatusCode::kTimedOut));
      }
    }
    Transaction locker = begin(kLocking);
    EXPECT_TRUE(locker.lock(tree_, key, RowLock::kShared).is(StatusCode::kTimedOut));
    EXPECT_TRUE(db_->begin(TxnMode::kExclusive).status().is(StatusCode::kTimedOut));
    Result<Ingest> ingest = db_->ingest(tree_);
    ASSERT_OK(ingest.status());
    ASSERT_OK(ingest->add(key, "ingested"));
    EXPECT_TRUE(ingest->finish().is(StatusCode::kTimedOut));
  }
};

TEST_F(Prepared, commits_and_rolls_back_through_its_object) {
  put("a", "0");
  for (const bool commit : {true, false}) {
    Transaction t = begin();
    ASSERT_OK(t.put(tree_, "a", commit ? "1" : "2"));
    ASSERT_OK(t.put(tree_, "b", "1"));
    ASSERT_OK(t.prepare("x"));
    EXPECT_TRUE(t.open());
    const auto prepared = db_->prepared().value();
    ASSERT_EQ(prepared.size(), 1u);
    EXPECT_EQ(prepared[0].id, "x");
    EXPECT_EQ(prepared[0].operations, 2u);
    EXPECT_GT(prepared[0].timestamp, 0u);
    EXPECT_GT(prepared[0].prepared_at_us, 0u);
    EXPECT_EQ(get("a"), commit ? "0" : "1");
    if (commit) {
      ASSERT_OK(t.commit());
    } else {
      t.abort();
    }
    EXPECT_FALSE(t.open());
    EXPECT_TRUE(t.commit().is(StatusCode::kInvalidArgument));
    EXPECT_EQ(ids(), std::vector<std::string>());
    EXPECT_EQ(get("a"), "1");
    ASSERT_OK(db_->put(tree_, "a", "1"));  // nothing is locked any more
  }
  EXPECT_EQ(get("b"), "1");
  EXPECT_TRUE(clean(*db_));
  ASSERT_OK(db_->close());
}

TEST_F(Prepared, says_what_it_does_not_do) {
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  EXPECT_TRUE(t.prepare("").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(t.prepare(std::string(201, 'x')).is(StatusCode::kInvalidArgument));
  {
    Transaction nested = t.begin_nested().value();
    EXPECT_TRUE(t.prepare("x").is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(nested.prepare("x").is(StatusCode::kInvalidArgument));
    ASSERT_OK(nested.commit());
  }
  const Savepoint savepoint = t.savepoint().value();
  const std::string id(200, 'x');
  ASSERT_OK(t.prepare(id));
  Value value;
  ReadBatch batch;
  const std::string_view key = "a";
  const auto refused = [](const Status& status) { return status.is(StatusCode::kInvalidArgument); };
  EXPECT_TRUE(refused(t.prepare("y")));
  EXPECT_TRUE(refused(t.put(tree_, "b", "1")));
  EXPECT_TRUE(refused(t.del(tree_, "b")));
  EXPECT_TRUE(refused(t.get(tree_, "a", value)));
  EXPECT_TRUE(refused(t.multi_get(tree_, {&key, 1}, batch)));
  EXPECT_TRUE(refused(t.cursor(tree_).status()));
  EXPECT_TRUE(refused(t.count(tree_, "", std::nullopt).status()));
  EXPECT_TRUE(refused(t.get_for_update(tree_, "a", value)));
  EXPECT_TRUE(refused(t.lock(tree_, "a", RowLock::kShared)));
  EXPECT_TRUE(refused(t.insert(tree_, "c", "1").status()));
  EXPECT_TRUE(refused(t.savepoint().status()));
  EXPECT_TRUE(refused(t.rollback_to(savepoint)));
  EXPECT_TRUE(refused(t.release(savepoint)));
  EXPECT_TRUE(refused(t.begin_nested().status()));
  Transaction same = begin();
  ASSERT_OK(same.put(tree_, "z", "1"));
  EXPECT_TRUE(refused(same.prepare(id))) << "the id is taken";
  ASSERT_OK(same.commit());
  ASSERT_OK(t.commit());
  EXPECT_TRUE(refused(t.prepare("y")));
  EXPECT_TRUE(refused(Transaction().prepare("y")));
  EXPECT_TRUE(refused(begin({.read_only = true}).prepare("y")));
  {
    Transaction exclusive = begin({.mode = TxnMode::kExclusive});
    EXPECT_TRUE(refused(exclusive.prepare("y")));
  }
  EXPECT_TRUE(db_->commit_prepared(id).is_not_found());
  EXPECT_TRUE(db_->rollback_prepared("never").is_not_found());
  EXPECT_EQ(ids(), std::vector<std::string>());
}

TEST_F(Prepared, keeps_every_kind_of_writer_away) {
  put("a", "0");
  for (const bool locking : {false, true}) {
    for (const Isolation level :
         {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
      SCOPED_TRACE(::testing::Message() << locking << static_cast<int>(level));
      Transaction t = begin(
          {.mode = locking ? TxnMode::kPessimistic : TxnMode::kOptimistic, .isolation = level});
      ASSERT_OK(t.put(tree_, "a", "1"));
      ASSERT_OK(t.del(tree_, "gone"));
      ASSERT_OK(t.prepare("x"));
      t = Transaction();
      expect_locked("a");
      expect_locked("gone");
      reopen(locking ? Between::kClosed : Between::kDestroyed);
      expect_locked("a");
      EXPECT_EQ(get("a"), "0");
      EXPECT_EQ(get("beside"), "NotFound");
      ASSERT_OK(db_->rollback_prepared("x"));
      ASSERT_OK(db_->put(tree_, "a", "0"));
    }
  }
}

// What it met before it was prepared.
TEST_F(Prepared, conflicts_when_it_is_prepared) {
  put("a", "0");
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  ASSERT_OK(db_->put(tree_, "a", "2"));
  EXPECT_TRUE(t.prepare("x").is_conflict());
  EXPECT_TRUE(t.open());
  EXPECT_EQ(ids(), std::vector<std::string>());
  EXPECT_EQ(get_in(t, "a"), "1") << "it is as before";
  ASSERT_OK(db_->put(tree_, "a", "3"));
  EXPECT_TRUE(t.commit().is_conflict());
  EXPECT_EQ(get("a"), "3");

  // An intent that is open: whoever prepares waits for it, and of two only one may.
  Transaction first = begin({.lock_timeout_ms = 0});
  Transaction second = begin({.lock_timeout_ms = 0});
  ASSERT_OK(first.put(tree_, "b", "1"));
  ASSERT_OK(second.put(tree_, "b", "2"));
  EXPECT_TRUE(first.prepare("x").is(StatusCode::kTimedOut));
  second.abort();
  ASSERT_OK(first.prepare("x"));
  ASSERT_OK(first.commit());
  EXPECT_EQ(get("b"), "1");

  // Read committed: nothing that was read must hold, but for what was read to be updated.
  Transaction updates = begin({.isolation = Isolation::kReadCommitted});
  Value value;
  ASSERT_OK(updates.get_for_update(tree_, "b", value));
  ASSERT_OK(updates.put(tree_, "c", "1"));
  put("b", "3");
  EXPECT_TRUE(updates.prepare("x").is_conflict());
  updates.abort();
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Prepared, two_that_wrote_the_same_do_not_wait_for_each_other) {
  Transaction first = begin({.lock_timeout_ms = 60'000});
  Transaction second = begin({.lock_timeout_ms = 60'000});
  ASSERT_OK(first.put(tree_, "a", "1"));
  ASSERT_OK(second.put(tree_, "a", "2"));
  Status status[2];
  std::thread one([&] {
    status[0] = first.prepare("first");
    if (!status[0].ok()) first.abort();
  });
  std::thread two([&] {
    status[1] = second.prepare("second");
    if (!status[1].ok()) second.abort();
  });
  one.join();
  two.join();
  EXPECT_NE(status[0].ok(), status[1].ok());
  const Status& lost = status[0].ok() ? status[1] : status[0];
  EXPECT_TRUE(lost.is(StatusCode::kDeadlock)) << lost.to_string();
  ASSERT_OK((status[0].ok() ? first : second).commit());
  EXPECT_EQ(get("a"), status[0].ok() ? "1" : "2");
}

// ---- What a serializable one has read

TEST_F(Prepared, what_it_read_stays_as_it_is) {
  for (uint64_t i = 0; i < 100; ++i) put("k" + std::to_string(100 + i), "0");
  for (const int restarts : {0, 1, 2}) {
    SCOPED_TRACE(restarts);
    Transaction t = begin(kSerially);
    EXPECT_EQ(get_in(t, "k100"), "0");
    EXPECT_EQ(get_in(t, "absent"), "NotFound");
    EXPECT_EQ(t.count(tree_, "k150", "k160").value(), 10u);
    {
      Cursor cursor = t.cursor(tree_);
      ASSERT_TRUE(cursor.seek("k180"));
      ASSERT_TRUE(cursor.next());
    }
    ASSERT_OK(t.put(tree_, "k199", "mine"));
    ASSERT_OK(t.prepare("x"));
    t = Transaction();
    for (int i = 0; i < restarts; ++i) reopen(i == 0 ? Between::kClosed : Between::kDestroyed);
    for (const char* key : {"k100", "absent", "k150", "k155a", "k180", "k1800", "k181"}) {
      EXPECT_TRUE(db_->put(tree_, key, "1").is_conflict()) << key;
      EXPECT_TRUE(db_->del(tree_, key).is_conflict()) << key;
      Transaction other = begin();
      ASSERT_OK(other.put(tree_, key, "1"));
      ASSERT_OK(other.put(tree_, "k120", "1"));
      EXPECT_TRUE(other.commit().is_conflict()) << key;
      Transaction locks = begin(kLocking);
      ASSERT_OK(locks.put(tree_, key, "1"));
      EXPECT_TRUE(locks.commit().is_conflict()) << key;
      Transaction prepares = begin();
      ASSERT_OK(prepares.put(tree_, key, "1"));
      EXPECT_TRUE(prepares.prepare("y").is_conflict()) << key;
    }
    EXPECT_TRUE(db_->insert(tree_, "absent", "1").status().is_conflict()) << "it does not wait";
    for (const char* key : {"k120", "k101", "k149", "k160", "k179", "k182", "absent1"}) {
      SCOPED_TRACE(key);
      ASSERT_OK(db_->put(tree_, key, "0"));
    }
    ASSERT_OK(db_->del(tree_, "absent1"));
    EXPECT_EQ(get("k120"), "0") << "nothing of a conflict remains";
    if (restarts == 1) {
      ASSERT_OK(db_->rollback_prepared("x"));
      EXPECT_EQ(get("k199"), "0");
    } else {
      ASSERT_OK(db_->commit_prepared("x"));
      EXPECT_EQ(get("k199"), "mine");
    }
    for (const char* key : {"k100", "k150", "k180", "k181", "k199"}) put(key, "0");
    EXPECT_EQ(keys(tree_).size(), 100u);
  }
}

// Each of two reads what the other writes: whoever comes second cannot be prepared, whatever both
// have seen, since the first must be able to commit behind it.
TEST_F(Prepared, write_skew) {
  for (const bool both_prepare : {true, false}) {
    put("a", "0");
    put("b", "0");
    Transaction first = begin(kSerially);
    Transaction second = begin(kSerially);
    EXPECT_EQ(get_in(first, "a"), "0");
    EXPECT_EQ(get_in(second, "b"), "0");
    ASSERT_OK(first.put(tree_, "b", "1"));
    ASSERT_OK(second.put(tree_, "a", "1"));
    ASSERT_OK(first.prepare("first"));
    EXPECT_TRUE((both_prepare ? second.prepare("second") : second.commit()).is_conflict());
    if (both_prepare) second.abort();
    ASSERT_OK(first.commit());
    EXPECT_EQ(get("a") + get("b"), "01");
  }
  // One that reads what a prepared one writes may commit before it, but not promise to.
  Transaction writer = begin(kSerially);
  ASSERT_OK(writer.put(tree_, "a", "2"));
  ASSERT_OK(writer.prepare("writer"));
  Transaction reader = begin(kSerially);
  EXPECT_EQ(get_in(reader, "a"), "0");
  ASSERT_OK(reader.put(tree_, "c", "1"));
  EXPECT_TRUE(reader.prepare("reader").is_conflict());
  ASSERT_OK(reader.commit());
  Transaction late = begin(kSerially);
  EXPECT_EQ(get_in(late, "a"), "0");
  ASSERT_OK(late.put(tree_, "c", "2"));
  ASSERT_OK(writer.commit());
  EXPECT_TRUE(late.commit().is_conflict());
}

TEST_F(Prepared, locks_are_kept) {
  put("a", "0");
  Transaction t = begin(kLocking);
  ASSERT_OK(t.lock(tree_, "shared", RowLock::kShared));
  ASSERT_OK(t.lock(tree_, "upgradable", RowLock::kUpgradable));
  ASSERT_OK(t.lock(tree_, "exclusive", RowLock::kExclusive));
  ASSERT_OK(t.lock(tree_, "a", RowLock::kShared));
  ASSERT_OK(t.put(tree_, "a", "1"));
  ASSERT_OK(t.prepare("x"));
  t = Transaction();
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const auto may = [&](std::string_view key, RowLock mode) {
      Transaction other = begin(kLocking);
      const Status status = other.lock(tree_, key, mode);
      EXPECT_TRUE(status.ok() || status.is(StatusCode::kTimedOut)) << status.to_string();
      return status.ok();
    };
    EXPECT_TRUE(may("shared", RowLock::kShared));
    EXPECT_TRUE(may("shared", RowLock::kUpgradable));
    EXPECT_FALSE(may("shared", RowLock::kExclusive));
    EXPECT_TRUE(may("upgradable", RowLock::kShared));
    EXPECT_FALSE(may("upgradable", RowLock::kUpgradable));
    EXPECT_FALSE(may("exclusive", RowLock::kShared));
    EXPECT_FALSE(may("a", RowLock::kShared));
    EXPECT_TRUE(may("other", RowLock::kExclusive));
    reopen(i == 0 ? Between::kDestroyed : Between::kClosed);
  }
  ASSERT_OK(db_->commit_prepared("x"));
  Transaction all = begin(kLocking);
  for (const char* key : {"shared", "upgradable", "exclusive", "a"}) {
    EXPECT_OK(all.lock(tree_, key, RowLock::kExclusive));
  }
  all = Transaction();
  ASSERT_OK(db_->close());
}

// ---- Restarts

TEST_F(Prepared, large_ones_survive_restarts) {
  for (const bool commit : {true, false}) {
    std::map<std::string, std::string> before;
    for (uint64_t i = 0; i < 2000; ++i) {
      before[key_of(i)] = value_of(i, 50);
      put(key_of(i), before[key_of(i)]);
    }
    std::map<std::string, std::string> after = before;
    uint64_t operations = 0;
    {
      Prng prng(commit ? 1 : 2);
      Transaction t = begin();
      for (int round = 0; round < 12; ++round) {
        const Savepoint savepoint = t.savepoint().value();
        const auto unwritten = after;
        const uint64_t from = operations;
        for (uint64_t i = 0; i < 200; ++i) {
          const std::string key = key_of(prng.below(2500));
          ++operations;
          if (prng.one_in(5)) {
            ASSERT_OK(t.del(tree_, key));
            after.erase(key);
            continue;
          }
          const std::string value = value_of(prng.next(), prng.one_in(50) ? 150'000 : 1000);
          ASSERT_OK(t.put(tree_, key, value));
          after[key] = value;
        }
        if (round % 4 == 3) ASSERT_OK(db_->flush());
        if (round % 3 != 1) continue;
        ASSERT_OK(t.rollback_to(savepoint));
        after = unwritten;
        operations = from;
      }
      ASSERT_OK(t.prepare("large"));
    }
    const auto contents = [&] {
      std::map<std::string, std::string> found;
      EXPECT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) found.emplace(entry.key, entry.value);
        return true;
      }));
      return found;
    };
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(i);
      EXPECT_TRUE(contents() == before);
      const auto prepared = db_->prepared().value();
      ASSERT_EQ(prepared.size(), 1u);
      EXPECT_EQ(prepared[0].operations, operations);
      EXPECT_TRUE(clean(*db_));
      if (i % 2 == 1) ASSERT_OK(db_->flush());
      if (i == 3) ASSERT_OK(db_->compact());
      reopen(i == 1 ? Between::kClosed : Between::kDestroyed);
    }
    ASSERT_OK(commit ? db_->commit_prepared("large") : db_->rollback_prepared("large"));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(contents() == (commit ? after : before)) << i;
      EXPECT_EQ(ids(), std::vector<std::string>());
      EXPECT_TRUE(clean(*db_));
      reopen(i == 1 ? Between::kClosed : Between::kDestroyed);
    }
    ASSERT_OK(db_->drop_tree("t"));
    tree_ = db_->tree("t").value();
  }
}

// Many at once, some ended between restarts, ids used again.
TEST_F(Prepared, many_and_again) {
  std::map<std::string, std::string> expected;
  std::map<std::string, std::pair<std::string, std::string>> open;
  Prng prng(7);
  uint64_t next = 0;
  for (int life = 0; life < 12; ++life) {
    SCOPED_TRACE(life);
    for (int step = 0; step < 20; ++step) {
      const std::string id = "id" + std::to_string(prng.below(12));
      if (open.contains(id)) {
        const auto [key, value] = open[id];
        const bool commit = prng.one_in(2);
        ASSERT_OK(commit ? db_->commit_prepared(id, Durability::kNone)
                         : db_->rollback_prepared(id));
        if (commit) expected[key] = value;
        open.erase(id);
        continue;
      }
      const std::string key = "key" + std::to_string(next++);
      Transaction t = begin(prng.one_in(2) ? kSerially : kLocking);
      get_in(t, key);
      if (prng.one_in(8)) {
        ASSERT_OK(t.prepare(id));  // nothing at all
        open[id] = {"", ""};
        expected[""] = "";
        put("", "");
        continue;
      }
      ASSERT_OK(t.put(tree_, key, id));
      ASSERT_OK(t.prepare(id));
      open[id] = {key, id};
    }
    std::vector<std::string> want;
    for (const auto& [id, write] : open) want.push_back(id);
    std::sort(want.begin(), want.end());
    for (int look = 0; look < 2; ++look) {
      EXPECT_EQ(ids(), want);
      for (const auto& [key, value] : expected) EXPECT_EQ(get(key), value) << key;
      EXPECT_EQ(keys(tree_).size(), expected.size());
      if (look == 0) reopen(prng.one_in(2) ? Between::kClosed : Between::kDestroyed);
    }
  }
  EXPECT_TRUE(clean(*db_));
}

TEST_F(Prepared, is_listed_read_only) {
  put("a", "0");
  {
    Transaction t = begin();
    ASSERT_OK(t.put(tree_, "a", "1"));
    ASSERT_OK(t.put(tree_, "large", std::string(100'000, 'x')));
    ASSERT_OK(t.prepare("x"));
  }
  for (const bool closes : {false, true}) {
    if (closes) {
      reopen();
      ASSERT_OK(db_->close());
    }
    db_.reset();
    Options reads = options();
    reads.read_only = true;
    db_ = Db::open(path_, reads).value();
    tree_ = db_->find_tree("t").value();
    const auto prepared = db_->prepared().value();
    ASSERT_EQ(prepared.size(), 1u);
    EXPECT_EQ(prepared[0].id, "x");
    EXPECT_EQ(prepared[0].operations, 2u);
    EXPECT_EQ(get("a"), "0");
    EXPECT_TRUE(db_->commit_prepared("x").is(StatusCode::kReadOnly));
    EXPECT_TRUE(db_->rollback_prepared("x").is(StatusCode::kReadOnly));
  }
  reopen();
  ASSERT_OK(db_->commit_prepared("x"));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("large").size(), 100'000u);
}

TEST_F(Prepared, close_waits_for_handles_only) {
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  ASSERT_OK(t.prepare("x"));
  EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
  t = Transaction();
  put("b", "1");
  ASSERT_OK(db_->close());
  EXPECT_TRUE(db_->prepared().status().is(StatusCode::kClosed));
  EXPECT_TRUE(db_->commit_prepared("x").is(StatusCode::kClosed));
  reopen();
  EXPECT_EQ(ids(), std::vector<std::string>{"x"});
  EXPECT_EQ(get("b"), "1");
  ASSERT_OK(db_->commit_prepared("x"));
  ASSERT_OK(db_->close());
  EXPECT_FALSE(std::filesystem::exists(path_ + "/wal.ring")) << "the log goes with the last one";
  reopen();
  EXPECT_EQ(get("a"), "1");
}

// The log stays for it, and the locks of its files go.
TEST_F(Prepared, are_found_while_the_closed_database_is_still_an_object) {
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  ASSERT_OK(t.prepare("x"));
  t = Transaction();
  ASSERT_OK(db_->close());
  const std::unique_ptr<Db> closed = std::move(db_);
  reopen();
  EXPECT_EQ(ids(), std::vector<std::string>{"x"});
}

TEST_F(Prepared, of_two_that_end_it_one_does) {
  for (int round = 0; round < 50; ++round) {
    const std::string id = std::to_string(round);
    Transaction t = begin();
    ASSERT_OK(t.put(tree_, id, "1"));
    ASSERT_OK(t.prepare(id));
    Status status[3];
    std::thread threads[] = {
        std::thread([&] { status[0] = db_->commit_prepared(id); }),
        std::thread([&] { status[1] = db_->rollback_prepared(id); }),
        std::thread([&] { status[2] = t.commit(); }),
    };
    for (std::thread& thread : threads) thread.join();
    int won = 0;
    for (const Status& one : status) {
      EXPECT_TRUE(one.ok() || one.is_not_found()) << one.to_string();
      won += one.ok() ? 1 : 0;
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(get(id), status[1].ok() ? "NotFound" : "1");
    EXPECT_FALSE(t.open());
  }
}

}  // namespace
}  // namespace hawthorn::tests
