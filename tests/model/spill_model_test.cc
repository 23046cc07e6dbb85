// Transactions whose intents leave the deltas (txn/spill_sizing.h), and come back where they are
// prepared, and deleted ranges, against a map: random operations in transactions of every kind,
// with savepoints, beside single writes, snapshots, cursors and restarts. What others may do while
// a layer is open or fresh is not foretold: a write may be turned away; but what is seen is.
#include <map>

#include "base/prng.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "tests/support/ingest_test.h"
#include "tree/layered_dead.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kKeys = 3000;

class SpillModel {
 public:
  explicit SpillModel(uint64_t seed) : prng_(seed), disk_(seed), machine_(disk_, seed) {
    txn::memory_share_max = size_t{16} << 10;
    tree::layered_dead_min = 2;
    open();
  }
  ~SpillModel() {
    txn::memory_share_max = ~size_t{0};
    tree::layered_dead_min = dead_min_;
  }

  void run(uint64_t transactions) {
    for (uint64_t i = 0; i < transactions && !::testing::Test::HasFatalFailure(); ++i) {
      if (prng_.one_in(4)) keep_snapshot();
      one_transaction();
      if (prng_.one_in(3)) delete_range_alone();
      check_snapshots();
      if (prng_.one_in(5)) ASSERT_OK(db_->drain());
      if (prng_.one_in(6)) ASSERT_OK(db_->flush());
      if (prng_.one_in(8)) reopen();
      expect_same(read_all(*db_, tree_), now_, "between transactions");
    }
    snapshots_.clear();
    ASSERT_OK(db_->drain());
    expect_same(read_all(*db_, tree_), now_, "at the end");
    ASSERT_TRUE(clean(*db_));
    ASSERT_OK(db_->close());
  }
  uint64_t spilled() const { return spilled_; }
  uint64_t prepared() const { return prepared_; }

 private:
  struct Mark {
    Savepoint savepoint;
    Contents contents;
  };
  struct Kept {
    Snapshot snapshot;
    Contents contents;
  };

  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  void reopen() {
    snapshots_.clear();
    if (prng_.one_in(2)) ASSERT_OK(db_->close());
    db_.reset();
    open();
  }
  std::string any_key() { return big_endian(prng_.below(kKeys)); }
  static void expect_same(const Contents& found, const Contents& expected, const char* when) {
    ASSERT_TRUE(same(found, expected)) << when;
  }
  void keep_snapshot() {
    if (snapshots_.size() > 1) snapshots_.erase(snapshots_.begin());
    snapshots_.push_back({db_->snapshot(), now_});
  }
  void check_snapshots() {
    if (snapshots_.empty() || !prng_.one_in(2)) return;
    const Kept& kept = snapshots_[prng_.below(snapshots_.size())];
    expect_same(read_all(*db_, tree_, &kept.snapshot), kept.contents, "at a snapshot");
  }

  // Of some of the keys, or all from one on.
  template <typename In>
  Status delete_range(In& in, Contents* contents) {
    const uint64_t from = prng_.below(kKeys);
    const std::string low = big_endian(from);
    std::optional<std::string> high = big_endian(from + prng_.below(prng_.one_in(2) ? 50 : kKeys));
    if (prng_.one_in(8)) high.reset();
    contents->erase(contents->lower_bound(low),
                    high ? contents->lower_bound(*high) : contents->end());
    return in.delete_range(tree_, low, high);
  }
  void delete_range_alone() {
    ASSERT_OK(delete_range(*db_, &now_));
    for (uint64_t left = prng_.below(100); left > 0; --left) {
      const std::string key = any_key();
      now_[key] = "since" + std::to_string(++number_);
      ASSERT_OK(db_->put(tree_, key, now_[key]));
    }
  }

  // Of others, while the transaction is open.
  void write_beside(const Contents& before, const Contents& own) {
    const std::string key = any_key();
    // A key that the transaction wrote would be a conflict.
    const auto at = [&](const Contents& contents) {
      const auto found = contents.find(key);
      return found == contents.end() ? std::string("-") : found->second;
    };
    if (at(before) != at(own)) return;
    const std::string value = "beside" + std::to_string(++number_);
    const Status status = db_->put(tree_, key, value);
    ASSERT_TRUE(status.ok() || status.is(StatusCode::kTimedOut)) << status.to_string();
    if (status.ok()) now_[key] = value;
  }

  void one_transaction() {
    TxnOptions options;
    options.mode = prng_.one_in(3) ? TxnMode::kPessimistic : TxnMode::kOptimistic;
    options.isolation = prng_.one_in(3) ? Isolation::kSerializable : Isolation::kSnapshot;
    const bool exclusive = prng_.one_in(5);
    if (exclusive) options.mode = TxnMode::kExclusive;
    Result<Transaction> begun = db_->begin(options);
    ASSERT_OK(begun.status());
    Transaction txn = std::move(*begun);
    const Contents before = now_;
    Contents own = now_;
    std::vector<Mark> marks;
    std::unique_ptr<Cursor> kept;
    bool others = false;
    const uint64_t steps = prng_.below(2000);
    for (uint64_t step = 0; step < steps; ++step) {
      const uint64_t pick = prng_.below(1000);
      const std::string key = any_key();
      if (pick < 600) {
        const std::string value =
            value_of(++number_, prng_.one_in(500) ? 70'000 : 20 + prng_.below(60));
        const Status status = txn.put(tree_, key, value);
        // Another one has changed the key since, or a layer that was fresh then.
        if (!status.ok()) {
          ASSERT_TRUE(status.is_conflict()) << status.to_string();
          others = true;
          continue;
        }
        own[key] = value;
      } else if (pick < 750) {
        const Status status = txn.del(tree_, key);
        if (!status.ok()) {
          ASSERT_TRUE(status.is_conflict()) << status.to_string();
          others = true;
          continue;
        }
        own.erase(key);
      } else if (pick < 960) {
        Value value;
        const Status status = txn.get(tree_, key, value);
        const auto expected = own.find(key);
        if (expected == own.end()) {
          ASSERT_TRUE(status.is_not_found()) << status.to_string();
        } else {
          ASSERT_OK(status);
          ASSERT_EQ(value.view(), expected->second);
        }
      } else if (pick < 967) {
        Result<Savepoint> savepoint = txn.savepoint();
        ASSERT_OK(savepoint.status());
        marks.push_back({*savepoint, own});
      } else if (pick < 976 && !marks.empty()) {
        const size_t to = prng_.below(marks.size());
        if (prng_.one_in(3)) {
          ASSERT_OK(txn.release(marks[to].savepoint));
          marks.resize(to);
        } else {
          ASSERT_OK(txn.rollback_to(marks[to].savepoint));
          own = marks[to].contents;
          marks.resize(to + 1);
        }
      } else if (pick < 990) {
        if (kept == nullptr || prng_.one_in(4)) kept = std::make_unique<Cursor>(txn.cursor(tree_));
        walk(*kept, own);
      } else if (pick < 991) {
        const Status status = delete_range(txn, &own);
        if (!status.ok()) {
          ASSERT_TRUE(status.is_conflict() && others) << status.to_string();
          return;
        }
      } else if (pick < 993) {
        const uint64_t from = prng_.below(kKeys);
        for (uint64_t i = from; i < from + prng_.below(200); ++i) {
          const Status status = txn.del(tree_, big_endian(i));
          ASSERT_TRUE(status.ok() || status.is_conflict()) << status.to_string();
          if (status.ok()) {
            own.erase(big_endian(i));
          } else {
            others = true;
          }
        }
      } else if (pick < 995) {
        ASSERT_EQ(txn.count(tree_, "", std::nullopt).value(), own.size());
      } else if (!exclusive) {
        const Contents was = now_;
        write_beside(before, own);
        others = others || now_ != was;
      }
    }
    if (prng_.one_in(3)) expect_same(read_all(*db_, tree_), now_, "beside a transaction");
    if (prng_.one_in(4)) {
      txn.abort();
      return;
    }
    kept = nullptr;
    std::optional<bool> committed;
    if (!exclusive && prng_.one_in(2)) {
      end_prepared(txn, others, &committed);
      if (::testing::Test::HasFatalFailure()) return;
    }
    if (!committed.has_value()) {
      const Status status = txn.commit();
      if (!status.ok()) {
        ASSERT_TRUE(status.is_conflict() && others) << status.to_string();
        return;
      }
    } else if (!*committed) {
      return;
    }
    ++spilled_;
    // What others have written since it began, it has not.
    for (const auto& [key, value] : now_) {
      const auto was = before.find(key);
      if (was == before.end() || was->second != value) own[key] = value;
    }
    now_ = own;
  }

  // In two phases, where that is possible: what went to layers comes back for it.
  void end_prepared(Transaction& txn, bool others, std::optional<bool>* committed) {
    if (prng_.one_in(4)) ASSERT_OK(txn.savepoint().status());
    const std::string id = "p" + std::to_string(++number_);
    const Status status = txn.prepare(id);
    if (!status.ok()) {
      // It has deleted a range.
      const bool may_be = status.is(StatusCode::kNotSupported) || (status.is_conflict() && others);
      ASSERT_TRUE(may_be) << status.to_string();
      return;
    }
    ++prepared_;
    const bool by_id = prng_.one_in(2);
    if (by_id) {
      txn = Transaction();
      if (prng_.one_in(2)) reopen();
      if (prng_.one_in(2)) ASSERT_OK(db_->flush());
    }
    expect_same(read_all(*db_, tree_), now_, "beside a prepared transaction");
    *committed = !prng_.one_in(3);
    if (by_id) {
      ASSERT_OK(**committed ? db_->commit_prepared(id) : db_->rollback_prepared(id));
    } else if (**committed) {
      ASSERT_OK(txn.commit());
    } else {
      txn.abort();
    }
  }

  void walk(Cursor& cursor, const Contents& own) {
    const std::string from = any_key();
    auto at = own.begin();
    bool there = false;
    switch (prng_.below(4)) {
      case 0:
        there = cursor.first();
        break;
      case 1:
        there = cursor.last();
        at = own.empty() ? own.end() : std::prev(own.end());
        break;
      case 2:
        there = cursor.seek_for_prev(from);
        at = own.upper_bound(from);
        at = at == own.begin() ? own.end() : std::prev(at);
        break;
      default:
        there = cursor.seek(from);
        at = own.lower_bound(from);
    }
    const bool goes_back = prng_.one_in(2);
    for (int step = 0; step < 40; ++step) {
      ASSERT_EQ(there, at != own.end());
      if (!there) return;
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
      if (prng_.one_in(8) != goes_back && at != own.begin()) {
        --at;
        there = cursor.prev();
      } else {
        ++at;
        there = cursor.next();
      }
    }
  }

  Prng prng_;
  hawthorn::testing::SimDisk disk_;
  hawthorn::testing::SimMachine machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Contents now_;
  std::vector<Kept> snapshots_;
  const uint32_t dead_min_ = tree::layered_dead_min;
  uint64_t number_ = 0;
  uint64_t spilled_ = 0;
  uint64_t prepared_ = 0;
};

TEST(SpillModel, random) {
  uint64_t prepared = 0;
  for (uint64_t seed = 1; seed <= scaled(4); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SpillModel model(seed);
    model.run(30);
    EXPECT_GT(model.spilled(), 3u);
    prepared += model.prepared();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(prepared, 3u);
}

}  // namespace
}  // namespace hawthorn::tests
