// Clones against maps: trees that are cloned, changed, renamed and dropped at random, by
// transactions of every kind, beside snapshots, large transactions, deleted ranges, bulk ingests,
// flushes and restarts.
#include <map>

#include "base/prng.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "tests/support/every_read.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kKeys = 4000;
constexpr size_t kTreesMax = 6;

using Trees = std::map<std::string, Contents>;

class CloneModel {
 public:
  explicit CloneModel(uint64_t seed) : prng_(seed), disk_(seed), machine_(disk_, seed) {
    txn::memory_share_max = size_t{32} << 10;
  }
  ~CloneModel() { txn::memory_share_max = ~size_t{0}; }

  void begin() {
    ASSERT_NO_FATAL_FAILURE(open(false));
    now_["t"] = {};
    ASSERT_OK(db_->tree("t").status());
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string value = any_value();
      now_["t"][big_endian(i)] = value;
      ASSERT_OK(db_->put(*db_->find_tree("t"), big_endian(i), value));
    }
  }

  void run(uint64_t steps) {
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      if (prng_.one_in(3)) check_one();
    }
    if (::testing::Test::HasFatalFailure()) return;
    kept_.clear();
    for (const auto& [name, contents] : now_) {
      SCOPED_TRACE(name);
      ASSERT_NO_FATAL_FAILURE(check(name, contents, nullptr));
    }
    while (now_.size() > 1) drop(now_.begin()->first);
    ASSERT_OK(db_->drain());
    for (const auto& [name, contents] : now_) {
      ASSERT_NO_FATAL_FAILURE(check(name, contents, nullptr));
    }
    ASSERT_TRUE(clean(*db_));
    ASSERT_OK(db_->close());
  }
  uint64_t clones() const { return clones_; }

 private:
  struct Kept {
    Snapshot snapshot;
    Trees trees;
  };

  void open(bool read_only) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.read_only = read_only;
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  std::string any_value() { return value_of(prng_.next(), prng_.below(300)); }
  std::string any_key() { return big_endian(prng_.below(kKeys)); }
  const std::string& any_name() {
    return std::next(now_.begin(), static_cast<ptrdiff_t>(prng_.below(now_.size())))->first;
  }
  std::string new_name() { return "n" + std::to_string(++names_); }
  Tree tree(const std::string& name) { return db_->find_tree(name).value(); }

  void step() {
    switch (prng_.below(16)) {
      case 0:
      case 1:
        return clone();
      case 2:
        if (now_.size() > 1) drop(std::string(any_name()));
        return;
      case 3:
        return rename();
      case 4:
        if (kept_.size() > 2) kept_.erase(kept_.begin());
        kept_.push_back({db_->snapshot(), now_});
        return;
      case 5:
        return name_snapshot();
      case 6:
        ASSERT_OK(db_->flush());
        return;
      case 7:
        ASSERT_OK(prng_.one_in(2) ? db_->drain() : db_->compact());
        return;
      case 8:
        return reopen();
      case 9:
        return ingest();
      case 10:
        return delete_range();
      default:
        return transaction();
    }
  }

  void clone() {
    const std::string from = any_name();
    if (now_.size() >= kTreesMax) return drop(from);
    const std::string to = new_name();
    ASSERT_OK(db_->clone_tree(from, to).status());
    now_[to] = now_[from];
    ++clones_;
  }
  void drop(const std::string& name) {
    ASSERT_OK(db_->drop_tree(name));
    now_.erase(name);
  }
  void rename() {
    const std::string from = any_name();
    const std::string to = new_name();
    ASSERT_OK(db_->rename_tree(from, to));
    now_[to] = std::move(now_[from]);
    now_.erase(from);
  }
  void name_snapshot() {
    if (!named_.has_value()) {
      ASSERT_OK(db_->create_snapshot("named"));
      named_ = now_;
      return;
    }
    ASSERT_OK(db_->drop_snapshot("named"));
    named_.reset();
  }
  void reopen() {
    kept_.clear();
    if (prng_.one_in(2)) ASSERT_OK(db_->close());
    db_.reset();
    if (prng_.one_in(3)) {
      ASSERT_NO_FATAL_FAILURE(open(true));
      check_one();
      db_.reset();
    }
    ASSERT_NO_FATAL_FAILURE(open(false));
  }
  void ingest() {
    const std::string name = any_name();
    Contents more;
    const uint64_t from = prng_.below(2 * kKeys);
    for (uint64_t i = from; i < from + prng_.below(3000); ++i) more[big_endian(i)] = any_value();
    ASSERT_OK(ingest_all(*db_, tree(name), more));
    for (auto& [key, value] : more) now_[name][key] = std::move(value);
  }
  void delete_range() {
    const std::string name = any_name();
    const std::string low = any_key();
    const std::string high = big_endian(prng_.below(kKeys));
    Contents& contents = now_[name];
    Result<Transaction> txn = db_->begin(any_options());
    ASSERT_OK(txn.status());
    ASSERT_OK(txn->delete_range(tree(name), low, high));
    ASSERT_OK(txn->commit());
    if (low < high) contents.erase(contents.lower_bound(low), contents.lower_bound(high));
  }
  TxnOptions any_options() {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    return options;
  }

  // Writes to a few trees, and perhaps clones one of them, with a rollback of the last part.
  void transaction() {
    Result<Transaction> begun = db_->begin(any_options());
    ASSERT_OK(begun.status());
    Transaction txn = std::move(*begun);
    Trees trees = now_;
    Trees before;
    std::optional<Savepoint> mark;
    // What is cloned holds what its source does in the end, and then what was written to itself.
    std::string source;
    std::string made;
    std::map<std::string, std::optional<std::string>> own;
    for (uint64_t parts = prng_.between(1, 4); parts > 0; --parts) {
      if (!mark.has_value() && made.empty() && prng_.one_in(4)) {
        mark = txn.savepoint().value();
        before = trees;
      }
      const std::string name = any_name();
      if (made.empty() && now_.size() < kTreesMax && prng_.one_in(4)) {
        made = new_name();
        source = name;
        ASSERT_OK(txn.clone_tree(source, made).status());
      }
      const bool to_clone = !made.empty() && prng_.one_in(2);
      const Tree to = txn.find_tree(to_clone ? made : name).value();
      const bool large = prng_.one_in(8);
      for (uint64_t left = prng_.below(large ? 800 : 60); left > 0; --left) {
        const std::string key = any_key();
        std::optional<std::string> value;
        if (!prng_.one_in(3)) value = prng_.one_in(200) ? value_of(left, 70'000) : any_value();
        ASSERT_OK(value ? txn.put(to, key, *value) : txn.del(to, key));
        if (to_clone) {
          own[key] = value;
        } else if (value) {
          trees[name][key] = *value;
        } else {
          trees[name].erase(key);
        }
      }
      if (to_clone && prng_.one_in(3)) {
        ASSERT_TRUE(same(read_in(txn, to), overlaid(trees[source], own)));
      }
    }
    if (mark.has_value() && prng_.one_in(2)) {
      ASSERT_OK(txn.rollback_to(*mark));
      trees = before;
      made.clear();
    }
    if (prng_.one_in(8)) return txn.abort();
    ASSERT_OK(txn.commit());
    if (!made.empty()) {
      trees[made] = overlaid(trees[source], own);
      ++clones_;
    }
    now_ = std::move(trees);
  }
  static Contents overlaid(Contents contents,
                           const std::map<std::string, std::optional<std::string>>& own) {
    for (const auto& [key, value] : own) {
      if (value) {
        contents[key] = *value;
      } else {
        contents.erase(key);
      }
    }
    return contents;
  }
  static Contents read_in(Transaction& txn, const Tree& tree) {
    Contents contents;
    Cursor cursor = txn.cursor(tree);
    for (bool there = cursor.first(); there; there = cursor.next()) {
      contents.emplace(cursor.key(), cursor.value());
    }
    EXPECT_OK(cursor.status());
    return contents;
  }

  void check_one() {
    const uint64_t pick = prng_.below(4);
    if (pick == 0 && !kept_.empty()) {
      const Kept& kept = kept_[prng_.below(kept_.size())];
      return check_any_of(kept.trees, &kept.snapshot, "at a snapshot");
    }
    if (pick == 1 && named_.has_value()) {
      const Snapshot named = db_->open_snapshot("named").value();
      return check_any_of(*named_, &named, "at the named snapshot");
    }
    check_any_of(now_, nullptr, "now");
  }
  void check_any_of(const Trees& trees, const Snapshot* at, const char* when) {
    const auto any = std::next(trees.begin(), static_cast<ptrdiff_t>(prng_.below(trees.size())));
    SCOPED_TRACE(when + (" " + any->first));
    ASSERT_NO_FATAL_FAILURE(check(any->first, any->second, at));
  }
  void check(const std::string& name, const Contents& contents, const Snapshot* at) {
    const Result<Tree> found = db_->find_tree(name, {.snapshot = at});
    ASSERT_OK(found.status());
    std::vector<std::string> wanted;
    for (uint64_t i = 0; i < 40; ++i) wanted.push_back(any_key());
    std::sort(wanted.begin(), wanted.end());
    expect_by_every_read(*db_, *found, contents, wanted, at);
  }

  Prng prng_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::unique_ptr<Db> db_;
  Trees now_;
  std::vector<Kept> kept_;
  std::optional<Trees> named_;
  uint64_t names_ = 0;
  uint64_t clones_ = 0;
};

TEST(CloneModel, random_histories) {
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(4);
  uint64_t clones = 0;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    CloneModel model(seed);
    ASSERT_NO_FATAL_FAILURE(model.begin());
    model.run(environment_number("HAWTHORN_OPERATIONS", 150));
    if (::testing::Test::HasFatalFailure()) return;
    clones += model.clones();
  }
  EXPECT_GT(clones, count * 5);
}

}  // namespace
}  // namespace hawthorn::tests
