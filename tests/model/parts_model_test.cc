// Values by parts against strings: transactions of every kind with savepoints and nested ones,
// beside snapshots, clones, prepared transactions, flushes, restarts and evacuated data files;
// whole puts and deletes between them.

#include <map>
#include <optional>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using Values = std::map<std::string, std::string>;

class PartsModel {
 public:
  explicit PartsModel(uint64_t seed) : prng_(seed), disk_(seed), machine_(disk_, seed) {}

  uint64_t files_removed = 0;
  void run(uint64_t steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      if (prng_.one_in(4) && !::testing::Test::HasFatalFailure()) check(nullptr, values_);
    }
    if (::testing::Test::HasFatalFailure()) return;
    kept_.clear();
    ASSERT_NO_FATAL_FAILURE(check(nullptr, values_));
    ASSERT_OK(db_->compact());
    files_removed += db_->stats().data_files_removed;
    ASSERT_TRUE(clean(*db_));
    ASSERT_NO_FATAL_FAILURE(check(nullptr, values_));
    // Nothing is left of what went.
    for (const auto& [key, value] : values_) ASSERT_OK(db_->del(tree_, key));
    for (uint64_t i = 0; i < clones_; ++i) ASSERT_OK(db_->drop_tree("t" + std::to_string(i)));
    ASSERT_OK(db_->compact());
    ASSERT_OK(db_->compact());
    uint64_t bytes = 0;
    for (const TreeStats& tree : db_->stats().trees) bytes += tree.bytes_values;
    EXPECT_EQ(bytes, 0u);
    tree_ = Tree();
    ASSERT_OK(db_->close());
    // What is free at the end of a data file goes at the close. What nobody names, but was never
    // given back, would go at the next one: an open takes as free what the manifest does not name.
    db_.reset();
    const uint64_t bytes_left = data_bytes();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_OK(db_->close());
    db_.reset();
    EXPECT_EQ(data_bytes(), bytes_left);
  }

 private:
  struct Kept {
    Snapshot snapshot;
    Values values;
    Tree tree;
  };

  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree("t" + std::to_string(clones_));
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  uint64_t data_bytes() {
    uint64_t bytes = 0;
    const std::vector<std::string> names = disk_.list("/db").value();
    for (const std::string& name : names) {
      if (!name.starts_with("data.")) continue;
      auto file = disk_.open_file("/db/" + name, {.read_only = true});
      bytes += file.value()->size().value();
    }
    return bytes;
  }
  std::string any_key() { return "k" + std::to_string(prng_.below(5)); }
  // Around the limits, and what is far beyond them.
  uint64_t any_size() {
    switch (prng_.below(6)) {
      case 0:
        return prng_.below(100);
      case 1:
        return prng_.below(3000);
      case 2:
        return 65536 - 3 + prng_.below(6);
      case 3:
        return prng_.below(40'000);
      case 4:
        return prng_.below(400'000);
      default:
        return 16384 - 2 + prng_.below(5);
    }
  }
  std::string any_bytes(uint64_t size) { return value_of(prng_.next(), size); }

  void step() {
    switch (prng_.below(16)) {
      case 0:
        if (kept_.size() > 2) kept_.erase(kept_.begin());
        kept_.push_back({db_->snapshot(), values_, tree_});
        return;
      case 1:
        if (!kept_.empty()) kept_.erase(kept_.begin());
        return;
      case 2:
      case 3:
        ASSERT_OK(db_->flush());
        return;
      case 4:
        ASSERT_OK(prng_.one_in(2) ? db_->compact() : db_->drain());
        return;
      case 5:
        if (prng_.one_in(2)) return;
        kept_.clear();
        if (prng_.one_in(2)) ASSERT_OK(db_->close());
        files_removed += db_->stats().data_files_removed;
        db_.reset();
        return open();
      case 6:
        return prng_.one_in(4) && clones_ < 4 ? clone() : prepared();
      case 7:
        return alone();
      case 8:
        if (!kept_.empty()) check(&kept_.front(), kept_.front().values);
        return;
      default:
        return transaction();
    }
  }

  void clone() {
    const std::string from = "t" + std::to_string(clones_);
    ++clones_;
    ASSERT_OK(db_->clone_tree(from, "t" + std::to_string(clones_)).status());
    tree_ = db_->find_tree("t" + std::to_string(clones_)).value();
  }

  // What outlives the process, or not.
  void prepared() {
    Transaction txn = db_->begin(TxnMode::kOptimistic).value();
    Values values = values_;
    for (uint64_t left = 1 + prng_.below(3); left > 0; --left) change(txn, &values);
    ASSERT_OK(txn.prepare("p"));
    if (prng_.one_in(2)) ASSERT_OK(db_->flush());
    if (prng_.one_in(2)) {
      kept_.clear();
      txn = Transaction();
      db_.reset();
      ASSERT_NO_FATAL_FAILURE(open());
    }
    check(nullptr, values_);
    if (prng_.one_in(2)) {
      ASSERT_OK(db_->rollback_prepared("p"));
    } else {
      ASSERT_OK(db_->commit_prepared("p"));
      values_ = values;
    }
  }

  void alone() {
    const std::string key = any_key();
    std::string& value = values_[key];
    const std::string bytes = any_bytes(1 + any_size());
    switch (prng_.below(3)) {
      case 0: {
        const Result<uint64_t> at = db_->append(tree_, key, bytes);
        ASSERT_OK(at.status());
        ASSERT_EQ(*at, value.size());
        value += bytes;
        break;
      }
      case 1: {
        const uint64_t offset = prng_.below(value.size() + 1000);
        ASSERT_OK(db_->write_part(tree_, key, offset, bytes));
        put(&value, offset, bytes);
        break;
      }
      default: {
        const uint64_t size = prng_.below(value.size() + 100'000);
        ASSERT_OK(db_->resize(tree_, key, size));
        value.resize(size, '\0');
      }
    }
  }

  static void put(std::string* value, uint64_t offset, const std::string& bytes) {
    if (value->size() < offset + bytes.size()) value->resize(offset + bytes.size(), '\0');
    value->replace(offset, bytes.size(), bytes);
  }
  StreamSource source_of(const std::string& bytes) {
    return [this, &bytes, at = size_t{0}](std::span<char> to) mutable -> Result<size_t> {
      const size_t count = std::min({to.size(), bytes.size() - at, 1 + prng_.below(100'000)});
      std::memcpy(to.data(), bytes.data() + at, count);
      at += count;
      return count;
    };
  }

  void change(Transaction& txn, Values* values) {
    const std::string key = any_key();
    if (prng_.one_in(12)) {
      ASSERT_OK(txn.del(tree_, key));
      values->erase(key);
      return;
    }
    const std::string bytes = any_bytes(any_size());
    if (prng_.one_in(8)) {
      ASSERT_OK(txn.put(tree_, key, bytes));
      (*values)[key] = bytes;
      return;
    }
    const bool there = values->contains(key);
    std::string& value = (*values)[key];
    switch (prng_.below(5)) {
      case 0:
      case 1: {
        const bool streamed = prng_.one_in(3);
        const Result<uint64_t> at =
            streamed ? txn.append_stream(tree_, key, bytes.size(), source_of(bytes))
                     : txn.append(tree_, key, bytes);
        ASSERT_OK(at.status());
        ASSERT_EQ(*at, value.size());
        value += bytes;
        break;
      }
      case 2:
      case 3: {
        const uint64_t offset =
            prng_.below(value.size() + (prng_.one_in(3) ? prng_.below(100'000) + 1 : 1));
        if (prng_.one_in(3)) {
          ASSERT_OK(txn.write_part_stream(tree_, key, offset, bytes.size(), source_of(bytes)));
        } else {
          ASSERT_OK(txn.write_part(tree_, key, offset, bytes));
        }
        if (!bytes.empty()) put(&value, offset, bytes);
        break;
      }
      default: {
        const uint64_t size =
            prng_.one_in(2) ? prng_.below(value.size() + 1) : prng_.below(value.size() + 100'000);
        ASSERT_OK(txn.resize(tree_, key, size));
        value.resize(size, '\0');
        return;
      }
    }
    if (!there && bytes.empty()) values->erase(key);
    if (prng_.one_in(2)) check_in(txn, key, *values);
  }

  void check_in(Transaction& txn, const std::string& key, const Values& values) {
    const auto at = values.find(key);
    const Result<uint64_t> size = txn.size_of(tree_, key);
    if (at == values.end()) {
      ASSERT_TRUE(size.status().is_not_found());
      return;
    }
    const std::string& value = at->second;
    ASSERT_OK(size.status());
    ASSERT_EQ(*size, value.size());
    const uint64_t offset = prng_.below(value.size() + 1);
    std::string part(prng_.below(50'000), '\0');
    const Result<size_t> got = txn.read_part(tree_, key, offset, part);
    ASSERT_OK(got.status());
    ASSERT_EQ(*got, std::min<uint64_t>(part.size(), value.size() - offset));
    part.resize(*got);
    ASSERT_TRUE(part == std::string_view(value).substr(offset, *got)) << key << " at " << offset;
    if (!prng_.one_in(4)) return;
    Value whole;
    ASSERT_OK(txn.get(tree_, key, whole));
    ASSERT_TRUE(whole.view() == value) << key;
  }

  void transaction() {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    Transaction txn = db_->begin(options).value();
    Values values = values_;
    std::optional<std::pair<Savepoint, Values>> mark;
    for (uint64_t left = prng_.below(7); left > 0; --left) {
      ASSERT_NO_FATAL_FAILURE(change(txn, &values));
      if (prng_.one_in(5)) mark.emplace(txn.savepoint().value(), values);
      if (mark && prng_.one_in(4)) {
        ASSERT_OK(txn.rollback_to(mark->first));
        values = mark->second;
      }
      // Intents are carried on.
      if (prng_.one_in(6)) ASSERT_OK(prng_.one_in(3) ? db_->compact() : db_->flush());
      if (prng_.one_in(10)) ASSERT_OK(db_->drain());
      if (prng_.one_in(6)) {
        Transaction nested = txn.begin_nested().value();
        Values inner = values;
        ASSERT_NO_FATAL_FAILURE(change(nested, &inner));
        if (prng_.one_in(2)) {
          nested.abort();
        } else {
          ASSERT_OK(nested.commit());
          values = inner;
        }
      }
    }
    if (prng_.one_in(5)) return txn.abort();
    ASSERT_OK(txn.commit());
    values_ = values;
  }

  void check(const Kept* kept, const Values& values) {
    const Tree& tree = kept != nullptr ? kept->tree : tree_;
    ReadOptions options;
    if (kept != nullptr) options.snapshot = &kept->snapshot;
    for (const auto& [key, value] : values) {
      Value found;
      ASSERT_OK(db_->get(tree, key, found, options));
      ASSERT_TRUE(found.view() == value) << key << ": " << found.size() << " of " << value.size();
      const uint64_t from = prng_.below(value.size() + 1);
      std::string streamed;
      ASSERT_OK(db_->read_stream(
          tree, key,
          [&](std::string_view piece) {
            streamed += piece;
            return true;
          },
          from, options));
      ASSERT_TRUE(streamed == std::string_view(value).substr(from)) << key;
    }
    CursorOptions walk;
    walk.snapshot = options.snapshot;
    Cursor cursor = db_->cursor(tree, walk);
    size_t count = 0;
    for (bool more = cursor.first(); more; more = cursor.next(), ++count) {
      const auto at = values.find(std::string(cursor.key()));
      ASSERT_NE(at, values.end()) << cursor.key();
      ASSERT_TRUE(cursor.value() == at->second);
    }
    ASSERT_OK(cursor.status());
    ASSERT_EQ(count, values.size());
    if (kept == nullptr && prng_.one_in(3)) {
      ASSERT_TRUE(clean(*db_));
    }
  }

  Prng prng_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Values values_;
  std::vector<Kept> kept_;
  uint64_t clones_ = 0;
};

TEST(PartsModel, random_parts) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 20260726);
  // So that some leave.
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{1} << 20;
  uint64_t files_removed = 0;
  const uint64_t histories = std::max<uint64_t>(4, scaled(8));  // until a file goes
  for (uint64_t i = 0; i < histories && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed + i));
    PartsModel model(seed + i);
    model.run(120);
    files_removed += model.files_removed;
  }
  EXPECT_GT(files_removed, 0u);
}

}  // namespace
}  // namespace hawthorn::tests
