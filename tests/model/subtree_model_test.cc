// Trees as values against maps in maps: by transactions of every kind with savepoints, nested ones
// and aborts, beside snapshots, named and not, flushes and restarts. At the end all trees are
// dropped, and none is left.

#include <algorithm>
#include <optional>

#include "testing/sim_machine.h"
#include "tests/support/forest.h"
#include "tests/support/subtrees.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

class SubtreeModel {
 public:
  explicit SubtreeModel(uint64_t seed)
      : prng_(seed), disk_(seed), machine_(disk_, seed), gardener_(prng_, [] { return false; }) {}

  void run(uint64_t steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      if (prng_.one_in(2) && !::testing::Test::HasFailure()) check_any();
    }
    if (::testing::Test::HasFailure()) return;
    kept_.reset();
    check_named();
    for (const auto& [name, forest] : named_) ASSERT_OK(db_->drop_snapshot(name));
    ASSERT_TRUE(nothing_lost(*db_));
    for (const auto& [name, grown] : now_) ASSERT_OK(db_->drop_tree(name));
    ASSERT_TRUE(nothing_lost(*db_));
    const Stats stats = db_->stats();
    EXPECT_EQ(stats.subtrees, 0u);
    EXPECT_EQ(stats.trees.size(), 0u);
    ASSERT_OK(db_->close());
  }
  const Gardener& gardener() const { return gardener_; }

 private:
  void open() {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }

  void step() {
    switch (prng_.below(16)) {
      case 0:
        kept_.reset();
        kept_forest_ = now_;
        kept_ = db_->snapshot();
        return;
      case 1:
        ASSERT_OK(prng_.one_in(2) ? db_->flush() : db_->compact());
        return;
      case 2:
        kept_.reset();
        if (prng_.one_in(2)) ASSERT_OK(db_->close());
        db_.reset();
        return open();
      case 3:
        return name_or_forget();
      case 4:
        ASSERT_OK(db_->drain());
        return;
      default:
        return transaction();
    }
  }
  void name_or_forget() {
    if (named_.size() >= 2) {
      check_named();
      ASSERT_OK(db_->drop_snapshot(named_.begin()->first));
      named_.erase(named_.begin());
      return;
    }
    const std::string name = std::to_string(prng_.next());
    ASSERT_OK(db_->create_snapshot(name));
    named_[name] = now_;
  }

  void transaction() {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    Transaction t = db_->begin(options).value();
    Forest forest = now_;
    work(t, forest, 0);
    if (::testing::Test::HasFailure()) return;
    if (prng_.one_in(5)) return t.abort();
    ASSERT_OK(t.commit());
    now_ = std::move(forest);
  }
  void work(Transaction& t, Forest& forest, int depth) {
    std::optional<Savepoint> savepoint;
    Forest kept;
    for (uint64_t left = prng_.between(1, 10); left > 0; --left) {
      if (::testing::Test::HasFailure()) return;
      if (prng_.one_in(8)) {
        savepoint = t.savepoint().value();
        kept = forest;
      } else if (savepoint.has_value() && prng_.one_in(6)) {
        ASSERT_OK(t.rollback_to(*savepoint));
        forest = kept;
      } else if (depth < 2 && prng_.one_in(10)) {
        Forest inner = forest;
        Transaction nested = t.begin_nested().value();
        work(nested, inner, depth + 1);
        savepoint.reset();
        if (prng_.one_in(2)) continue;  // its end aborts it
        ASSERT_OK(nested.commit());
        forest = std::move(inner);
      } else {
        ASSERT_OK(gardener_.change(t, forest));
      }
    }
  }

  void check(const Snapshot& at, const Forest& forest) {
    Forest found;
    ASSERT_OK(read_forest(*db_, at, &found));
    ASSERT_TRUE(found == forest) << "found" << text_of(found) << "; wanted" << text_of(forest);
  }
  void check_any() {
    if (kept_.has_value() && prng_.one_in(2)) return check(*kept_, kept_forest_);
    if (prng_.one_in(8)) check_named();
    check(db_->snapshot(), now_);
  }
  void check_named() {
    for (const auto& [name, forest] : named_) {
      const Result<Snapshot> at = db_->open_snapshot(name);
      ASSERT_OK(at.status());
      check(*at, forest);
    }
    ASSERT_TRUE(clean(*db_));
  }

  Prng prng_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  Gardener gardener_;
  std::unique_ptr<Db> db_;
  Forest now_;
  std::optional<Snapshot> kept_;
  Forest kept_forest_;
  std::map<std::string, Forest> named_;
};

TEST(SubtreeModel, random_histories) {
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : std::max<uint64_t>(4, scaled(8));
  std::map<std::string, uint64_t> done;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    SubtreeModel model(seed);
    model.run(environment_number("HAWTHORN_OPERATIONS", 160));
    if (::testing::Test::HasFailure()) return;
    for (const char* kind : {"create", "attach", "detach", "move", "delete a subtree"}) {
      done[kind] += model.gardener().changes(kind);
    }
  }
  for (const auto& [kind, times] : done) EXPECT_GT(times, count * 2) << kind;
}

// Where some of a transaction's writes leave the deltas.
TEST(SubtreeModel, transactions_that_spill) {
  txn::memory_share_max = size_t{16} << 10;
  for (uint64_t seed = 101; seed <= 100 + scaled(4); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SubtreeModel model(seed);
    model.run(120);
    if (::testing::Test::HasFailure()) break;
  }
  txn::memory_share_max = ~size_t{0};
}

}  // namespace
}  // namespace hawthorn::tests
