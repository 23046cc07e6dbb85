// Entries that end against a map of moments: at any present, by transactions of every kind, beside
// snapshots, clones, deleted ranges, removal in the background, flushes and restarts.

#include <map>
#include <set>

#include "base/prng.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

struct Ending {
  std::string value;
  uint64_t moment = 0;
  bool there(uint64_t now) const { return moment == 0 || moment > now; }
};
using Endings = std::map<std::string, Ending>;

class ExpiryModel {
 public:
  explicit ExpiryModel(uint64_t seed) : prng_(seed), disk_(seed), machine_(disk_, seed) {}

  void run(uint64_t steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      if (prng_.one_in(2) && !::testing::Test::HasFatalFailure()) check_any();
    }
    if (::testing::Test::HasFatalFailure()) return;
    kept_.reset();
    pass(1'000'000);
    ASSERT_OK(db_->compact());
    ASSERT_NO_FATAL_FAILURE(check(db_->snapshot(), now_));
    // Each was told once, or was replaced before.
    EXPECT_GT(told_, 0u);
    ASSERT_TRUE(clean(*db_));
    ASSERT_OK(db_->close());
  }

 private:
  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.on_expiry = [this](std::string_view tree, std::string_view key,
                               std::string_view value) {
      if (tree != name()) return;  // of those that were cloned, which go their own way
      ++told_;
      const auto at = now_.find(std::string(key));
      ASSERT_NE(at, now_.end()) << "told of what is not there";
      EXPECT_EQ(at->second.value, value);
      EXPECT_FALSE(at->second.there(machine_.machine().clock->wall_us() / 1000));
      now_.erase(at);
    };
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree(name(), {.expires = true, .ttl_ms = 3000});
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  std::string name() const { return "t" + std::to_string(clones_); }
  void pass(uint64_t ms) { machine_.machine().clock->sleep_us(ms * 1000); }
  std::string any_key() { return "k" + std::to_string(prng_.below(80)); }
  std::string any_value() {
    return value_of(prng_.next(), prng_.one_in(60) ? 70'000 : prng_.below(100));
  }

  void step() {
    switch (prng_.below(11)) {
      case 0:
        kept_.reset();
        kept_endings_ = now_;
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
      case 3: {
        const std::string low = any_key();
        const std::string high = any_key();
        Transaction txn = db_->begin(TxnMode::kOptimistic).value();
        ASSERT_OK(txn.delete_range(tree_, low, high));
        ASSERT_OK(txn.commit());
        if (low < high) now_.erase(now_.lower_bound(low), now_.lower_bound(high));
        return;
      }
      case 4:
        if (prng_.one_in(3)) clone();
        return;
      case 5:
      case 6:
        return pass(prng_.below(3000));
      default:
        return transaction();
    }
  }
  void clone() {
    const std::string from = name();
    ASSERT_OK(db_->clone_tree(from, "t" + std::to_string(clones_ + 1)).status());
    kept_.reset();
    ++clones_;
    tree_ = db_->find_tree(name()).value();
    if (prng_.one_in(2)) ASSERT_OK(db_->drop_tree(from));
  }
  void transaction() {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    Transaction txn = db_->begin(options).value();
    Endings endings = now_;
    std::set<std::string> put;
    for (uint64_t left = prng_.below(30); left > 0; --left) {
      const std::string key = any_key();
      const std::string value = any_value();
      if (prng_.one_in(4)) {
        ASSERT_OK(txn.del(tree_, key));
        endings.erase(key);
        put.erase(key);
        continue;
      }
      switch (prng_.below(3)) {
        case 0:
          ASSERT_OK(txn.put(tree_, key, value));
          break;
        case 1:
          ASSERT_OK(txn.put(tree_, key, value, Expiry::never()));
          break;
        default:
          ASSERT_OK(txn.put(tree_, key, value, Expiry::after_ms(10'000 + prng_.below(5000))));
      }
      endings[key].value = value;
      put.insert(key);
    }
    // When they end, the database says; that this is right, expiry_test.cc.
    if (prng_.one_in(6)) return txn.abort();
    ASSERT_OK(txn.commit());
    for (const std::string& key : put) {
      const Result<uint64_t> moment = db_->expires_at(tree_, key);
      ASSERT_OK(moment.status());
      endings[key].moment = *moment;
    }
    now_ = std::move(endings);
  }

  void check_any() {
    if (kept_.has_value() && prng_.one_in(2)) return check(*kept_, kept_endings_);
    check(db_->snapshot(), now_);
  }
  void check(const Snapshot& at, const Endings& endings) {
    std::vector<std::pair<std::string, std::string>> there;
    for (const auto& [key, ending] : endings) {
      if (ending.there(at.now_ms())) there.emplace_back(key, ending.value);
    }
    size_t i = 0;
    Cursor cursor = db_->cursor(tree_, {.snapshot = &at});
    for (bool more = cursor.first(); more; more = cursor.next(), ++i) {
      ASSERT_LT(i, there.size());
      ASSERT_EQ(cursor.key(), there[i].first);
      ASSERT_EQ(cursor.value(), there[i].second);
    }
    ASSERT_OK(cursor.status());
    ASSERT_EQ(i, there.size());
    for (bool more = cursor.last(); more; more = cursor.prev()) {
      ASSERT_GT(i, 0u);
      ASSERT_EQ(cursor.key(), there[--i].first);
    }
    ASSERT_EQ(i, 0u);
    ASSERT_EQ(db_->count(tree_, "", std::nullopt, {.snapshot = &at}).value(), there.size());
    for (int j = 0; j < 5; ++j) {
      const std::string low = any_key();
      const std::string high = any_key();
      uint64_t inside = 0;
      for (const auto& [key, value] : there) inside += key >= low && key < high ? 1 : 0;
      ASSERT_EQ(db_->count(tree_, low, high, {.snapshot = &at}).value(), inside);
      Value value;
      const Status status = db_->get(tree_, low, value, {.snapshot = &at});
      const auto known = endings.find(low);
      const bool is = known != endings.end() && known->second.there(at.now_ms());
      ASSERT_EQ(status.ok(), is) << status.to_string();
      if (is) {
        ASSERT_EQ(value.view(), known->second.value);
      }
    }
  }

  Prng prng_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Endings now_;
  std::optional<Snapshot> kept_;
  Endings kept_endings_;
  uint64_t clones_ = 0;
  uint64_t told_ = 0;
};

TEST(ExpiryModel, random_histories) {
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(8);
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    ExpiryModel model(seed);
    model.run(environment_number("HAWTHORN_OPERATIONS", 120));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hawthorn::tests
