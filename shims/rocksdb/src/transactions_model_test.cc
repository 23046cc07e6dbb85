// Several transactions at a time, in one thread, against a model of what they write and lock.
// ROCKS_MODEL_SEED replays a run.

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

using Map = std::map<std::string, std::string>;

struct Lock {
  bool exclusive = false;
  int reads = 0;
  int writes = 0;
};

// What a savepoint brings back.
struct Written {
  std::map<std::string, std::optional<std::string>> writes;  // nothing: deleted
  std::optional<Map> snapshot;
  uint64_t snapshot_number = 0;
};

struct Open {
  TransactionPtr t;
  Written written;
  std::map<std::string, Lock> locks;
  // The locks when each savepoint was set.
  std::vector<std::pair<Written, std::map<std::string, Lock>>> marks;
  // Taken back, and maybe still locked.
  std::set<std::string> left;
};

class TransactionsModel : public TransactionsTest {
 protected:
  static constexpr size_t kOpen = 4;

  TransactionsModel() {
    db_options_.transaction_lock_timeout = 0;
    db_options_.default_lock_timeout = 0;
  }

  size_t below(size_t limit) { return random_() % limit; }
  std::string key() { return "k" + std::to_string(below(25)); }

  std::optional<std::string> value_in(const Open& open, const std::string& at) const {
    if (const auto own = open.written.writes.find(at); own != open.written.writes.end()) {
      return own->second;
    }
    const auto found = committed_.find(at);
    return found == committed_.end() ? std::nullopt : std::optional(found->second);
  }

  // Whether somebody else may hold it: nothing where that is not certain.
  std::optional<bool> is_held(const Open* by, const std::string& at, bool exclusive) const {
    for (const Open& open : open_) {
      if (&open == by) continue;
      const auto lock = open.locks.find(at);
      if (lock != open.locks.end() && (exclusive || lock->second.exclusive)) return true;
    }
    for (const Open& open : open_) {
      if (&open != by && open.left.contains(at)) return std::nullopt;
    }
    return false;
  }

  // Whether the key has changed since the snapshot: nothing where either answer is right.
  std::optional<bool> has_changed(const Open& open, const std::string& at) const {
    if (!open.written.snapshot.has_value()) return false;
    const auto changed = changed_.find(at);
    if (changed == changed_.end() || changed->second <= open.written.snapshot_number) return false;
    if (!open.written.snapshot->contains(at) && !committed_.contains(at)) return std::nullopt;
    return true;
  }

  // What became of a call that tracks a key; true where it went through.
  bool tracked(Open& open, const std::string& at, bool exclusive, bool reads, const Status& s) {
    const auto lock = open.locks.find(at);
    const bool asks = lock == open.locks.end() || (exclusive && !lock->second.exclusive);
    const std::optional<bool> held = asks ? is_held(&open, at, exclusive) : false;
    if (held.value_or(false) || (!held.has_value() && s.IsTimedOut())) {
      EXPECT_TRUE(s.IsTimedOut()) << s.ToString();
      return false;
    }
    const std::optional<bool> changed = has_changed(open, at);
    if (changed.value_or(false) || (!changed.has_value() && s.IsBusy())) {
      EXPECT_TRUE(s.IsBusy()) << s.ToString();
      return false;
    }
    EXPECT_TRUE(s.ok() || (reads && s.IsNotFound())) << s.ToString();
    Lock& now = open.locks[at];
    now.exclusive = now.exclusive || exclusive;
    ++(reads ? now.reads : now.writes);
    return true;
  }

  void write(Open& open) {
    const std::string at = key();
    const std::string value = std::to_string(below(1000));
    const std::optional<std::string> before = value_in(open, at);
    const size_t how = below(4);
    if (how == 0) {
      if (tracked(open, at, true, false, open.t->Delete(at))) {
        open.written.writes[at] = std::nullopt;
      }
    } else if (how == 1) {
      if (tracked(open, at, true, false, open.t->Merge(at, value))) {
        open.written.writes[at] = before.has_value() ? *before + "," + value : value;
      }
    } else if (tracked(open, at, true, false, open.t->Put(at, value))) {
      open.written.writes[at] = value;
    }
  }

  void read_for_update(Open& open) {
    const std::string at = key();
    const bool exclusive = below(2) == 0;
    std::string value;
    const Status s = open.t->GetForUpdate(ReadOptions(), at, &value, exclusive);
    if (!tracked(open, at, exclusive, true, s)) return;
    const std::optional<std::string> expected = value_in(open, at);
    ASSERT_EQ(s.ok(), expected.has_value());
    if (expected.has_value()) {
      ASSERT_EQ(value, *expected);
    }
    if (below(3) != 0 || !open.marks.empty()) return;
    open.t->UndoGetForUpdate(at);
    Lock& lock = open.locks.at(at);
    if (--lock.reads + lock.writes > 0) return;
    open.locks.erase(at);
    open.left.insert(at);
  }

  void write_outside() {
    const std::string at = key();
    const bool deletes = below(3) == 0;
    const Status s = deletes ? db_->Delete(WriteOptions(), at) : put(at, "outside");
    const std::optional<bool> held = is_held(nullptr, at, true);
    if (held.has_value()) {
      ASSERT_EQ(s.IsTimedOut(), *held) << s.ToString();
    }
    if (!s.ok()) return;
    commit(at, deletes ? std::nullopt : std::optional<std::string>("outside"));
  }

  void commit(const std::string& at, const std::optional<std::string>& value) {
    changed_[at] = ++number_;
    if (value.has_value()) {
      committed_[at] = *value;
    } else {
      committed_.erase(at);
    }
  }

  void end(Open& open) {
    if (below(3) == 0) {
      ASSERT_OK(open.t->Rollback());
    } else {
      if (below(3) == 0) {
        ASSERT_OK(open.t->SetName("t" + std::to_string(++names_)));
        ASSERT_OK(open.t->Prepare());
      }
      if (open.t->GetState() == Transaction::PREPARED && below(3) == 0) {
        ASSERT_OK(open.t->Rollback());
      } else {
        ASSERT_OK(open.t->Commit());
        for (const auto& [at, value] : open.written.writes) commit(at, value);
      }
    }
    TransactionPtr again = std::move(open.t);
    open = Open();
    open.t = std::move(again);
    transactions_->BeginTransaction(WriteOptions(), {}, open.t.get());
  }

  void savepoint(Open& open) {
    const size_t how = below(3);
    if (how == 0 || open.marks.empty()) {
      open.t->SetSavePoint();
      open.marks.emplace_back(open.written, open.locks);
    } else if (how == 1) {
      ASSERT_OK(open.t->PopSavePoint());
      open.marks.pop_back();
    } else {
      ASSERT_OK(open.t->RollbackToSavePoint());
      open.written = open.marks.back().first;
      open.locks = open.marks.back().second;
      open.marks.pop_back();
    }
  }

  void snapshot(Open& open) {
    if (below(2) == 0) {
      open.t->SetSnapshot();
      open.written.snapshot = committed_;
      open.written.snapshot_number = number_;
    } else {
      open.t->ClearSnapshot();
      open.written.snapshot.reset();
    }
  }

  void compare(const Open& open) {
    Map expected = committed_;
    for (const auto& [at, value] : open.written.writes) {
      if (value.has_value()) {
        expected[at] = *value;
      } else {
        expected.erase(at);
      }
    }
    std::string text;
    for (const auto& [at, value] : expected) text += at + "=" + value + " ";
    const std::unique_ptr<rocksdb::Iterator> at(open.t->GetIterator(ReadOptions()));
    ASSERT_EQ(walk(*at), text);
    ASSERT_EQ(open.t->GetNumKeys(), open.locks.size());
    std::string locks;
    for (const Open& each : open_) {
      for (const auto& [name, lock] : each.locks) {
        locks += name + (lock.exclusive ? "!" : "") + " ";
      }
    }
    std::string told;
    for (const Open& each : open_) {
      std::map<std::string, bool> of_it;
      for (const auto& [family, info] : transactions_->GetLockStatusData()) {
        if (std::find(info.ids.begin(), info.ids.end(), each.t->GetID()) != info.ids.end()) {
          of_it[info.key] = info.exclusive;
        }
      }
      for (const auto& [name, exclusive] : of_it) told += name + (exclusive ? "!" : "") + " ";
    }
    ASSERT_EQ(told, locks);
  }

  std::mt19937_64 random_;
  Map committed_;
  std::map<std::string, uint64_t> changed_;  // when a key was last committed
  uint64_t number_ = 0;
  int names_ = 0;
  Open open_[kOpen];
};

TEST_F(TransactionsModel, AgainstAModel) {
  const char* const given = std::getenv("ROCKS_MODEL_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("ROCKS_MODEL_SEED=" + std::to_string(seed));
  random_.seed(seed);
  open_transactions();
  for (Open& open : open_) open.t = begin();
  constexpr int kSteps = 5000;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    Open& open = open_[below(kOpen)];
    const size_t what = below(100);
    if (what < 35) {
      write(open);
    } else if (what < 55) {
      read_for_update(open);
    } else if (what < 65) {
      savepoint(open);
    } else if (what < 70) {
      snapshot(open);
    } else if (what < 80) {
      write_outside();
    } else if (what < 88) {
      end(open);
    } else if (what == 88) {
      ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    } else {
      compare(open);
    }
  }
  for (Open& open : open_) open.t.reset();
  std::string expected;
  for (const auto& [at, value] : committed_) expected += at + "=" + value + " ";
  EXPECT_EQ(all(), expected);
}

}  // namespace
}  // namespace hawthorn::rocks
