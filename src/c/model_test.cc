// The C API beside the C++ API: random operations on two databases, which must stay equal.

#include <random>

#include "c/c_test_fixture.h"
#include "hawthorn/hawthorn.h"
#include "testing/scaled.h"

namespace hawthorn::c {

namespace {

constexpr uint64_t kPatienceMs = 120'000;

class ModelCTest : public CTest {
 protected:
  void SetUp() override {
    CTest::SetUp();
    seed_ = testing::environment_number("HAWTHORN_SEED", std::random_device{}());
    random_.seed(seed_);
    RecordProperty("seed", std::to_string(seed_));
  }
  void TearDown() override {
    if (HasFailure()) printf("HAWTHORN_SEED=%llu replays it\n", (unsigned long long)seed_);
    model_tree_ = {};
    model_.reset();
    CTest::TearDown();
  }

  uint64_t below(uint64_t end) { return random_() % end; }
  std::string key() { return "k" + std::to_string(below(60)); }
  std::string value() {
    return std::string(below(8) == 0 ? below(5000) : below(40), static_cast<char>('a' + below(26)));
  }

  void open_both() {
    C_OK(hawthorn_options_set_lock_timeout_ms(options_.get(), kPatienceMs, &e));
    open_with_tree();
    Options options;
    options.memory_budget_bytes = 32 << 20;
    options.durability = Durability::kNone;
    // Deleted ranges are erased as fast as the machine can: an emulated one, not in a second.
    options.lock_timeout_ms = kPatienceMs;
    auto opened = Db::open(path("model"), options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    model_ = std::move(*opened);
    model_tree_ = model_->tree("tree").value();
  }

  // What both say must be the same code.
  void same(const Status& model, hawthorn_code code) {
    ASSERT_EQ(static_cast<hawthorn_code>(model.code()), code) << model.to_string();
  }

  void write_one() {
    const std::string k = key();
    const std::string v = value();
    hawthorn_db* const db = db_.get();
    const hawthorn_tree* const in = tree_.get();
    int done = 0;
    switch (below(7)) {
      case 0:
        return same(model_->del(model_tree_, k),
                    hawthorn_db_del(db, in, k.data(), k.size(), nullptr, nullptr));
      case 1: {
        const std::string high = key();
        return same(model_->delete_range(model_tree_, k, high),
                    hawthorn_db_delete_range(db, in, k.data(), k.size(), high.data(), high.size(),
                                             nullptr, nullptr));
      }
      case 2: {
        const auto wrote = model_->insert(model_tree_, k, v);
        same(wrote.status(), hawthorn_db_insert(db, in, k.data(), k.size(), v.data(), v.size(),
                                                nullptr, &done, nullptr));
        ASSERT_EQ(*wrote, done == 1);
        return;
      }
      case 3: {
        const auto wrote = model_->update(model_tree_, k, v);
        same(wrote.status(), hawthorn_db_update(db, in, k.data(), k.size(), v.data(), v.size(),
                                                nullptr, &done, nullptr));
        ASSERT_EQ(*wrote, done == 1);
        return;
      }
      case 4: {
        const auto wrote = model_->append(model_tree_, k, v);
        uint64_t at = 0;
        same(wrote.status(), hawthorn_db_append(db, in, k.data(), k.size(), v.data(), v.size(),
                                                nullptr, &at, nullptr));
        ASSERT_EQ(*wrote, at);
        return;
      }
      default:
        return same(
            model_->put(model_tree_, k, v),
            hawthorn_db_put(db, in, k.data(), k.size(), v.data(), v.size(), nullptr, nullptr));
    }
  }

  void write_batch() {
    WriteBatch model;
    const BatchHandle batch(hawthorn_batch_create());
    for (uint64_t i = below(20); i != 0; --i) {
      const std::string k = key();
      const std::string v = value();
      if (below(3) == 0) {
        model.del(model_tree_, k);
        C_OK(hawthorn_batch_del(batch.get(), tree_.get(), k.data(), k.size(), &e));
      } else {
        model.put(model_tree_, k, v);
        C_OK(hawthorn_batch_put(batch.get(), tree_.get(), k.data(), k.size(), v.data(), v.size(),
                                nullptr, &e));
      }
    }
    ASSERT_EQ(model.count(), hawthorn_batch_count(batch.get()));
    ASSERT_EQ(model.bytes(), hawthorn_batch_bytes(batch.get()));
    same(model_->write(model), hawthorn_db_write(db_.get(), batch.get(), nullptr, nullptr));
  }

  void run_transaction() {
    Transaction model = model_->begin({}).value();
    const TxnHandle txn = begin();
    Savepoint model_mark = model.savepoint().value();
    hawthorn_savepoint mark;
    C_OK(hawthorn_txn_savepoint(txn.get(), &mark, &e));
    for (uint64_t i = below(15); i != 0; --i) {
      const std::string k = key();
      const std::string v = value();
      switch (below(6)) {
        case 0:
          model_mark = model.savepoint().value();
          C_OK(hawthorn_txn_savepoint(txn.get(), &mark, &e));
          break;
        case 1:
          same(model.rollback_to(model_mark), hawthorn_txn_rollback_to(txn.get(), &mark, nullptr));
          break;
        case 2:
          same(model.del(model_tree_, k),
               hawthorn_txn_del(txn.get(), tree_.get(), k.data(), k.size(), nullptr));
          break;
        default:
          same(model.put(model_tree_, k, v),
               hawthorn_txn_put(txn.get(), tree_.get(), k.data(), k.size(), v.data(), v.size(),
                                nullptr, nullptr));
      }
      Value wanted;
      const ValueHandle found(hawthorn_value_create());
      const Status read = model.get(model_tree_, k, wanted);
      same(read,
           hawthorn_txn_get(txn.get(), tree_.get(), k.data(), k.size(), found.get(), nullptr));
      size_t size = 0;
      const void* const data = hawthorn_value_data(found.get(), &size);
      ASSERT_EQ(read.ok() ? wanted.view() : std::string_view(), bytes_of(data, size));
    }
    if (below(4) == 0) {
      model.abort();
      C_OK(hawthorn_txn_abort(txn.get(), &e));
    } else {
      same(model.commit(), hawthorn_txn_commit(txn.get(), 0, nullptr));
    }
  }

  // Both walks in both directions; columns of any capacity give the same entries.
  void compare(const Snapshot* model_at = nullptr, const hawthorn_snapshot* at = nullptr) {
    std::vector<std::pair<std::string, std::string>> wanted;
    Cursor model = model_->cursor(model_tree_, {.snapshot = model_at});
    for (bool more = model.first(); more; more = model.next()) {
      wanted.emplace_back(model.key(), model.value());
    }
    hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
    options.snapshot = at;
    const CursorHandle walking = cursor(&options);
    for (const bool forward : {true, false}) {
      std::vector<std::pair<std::string, std::string>> found;
      int stands = 0;
      if (forward) {
        C_OK(hawthorn_cursor_first(walking.get(), &stands, &e));
      } else {
        C_OK(hawthorn_cursor_last(walking.get(), &stands, &e));
      }
      for (;;) {
        Columns columns(1 + below(20), below(200), below(40'000));
        const hawthorn_code code =
            forward ? hawthorn_cursor_next_columns(walking.get(), columns.get(), nullptr)
                    : hawthorn_cursor_prev_columns(walking.get(), columns.get(), nullptr);
        if (code == HAWTHORN_BUFFER_TOO_SMALL) {
          ASSERT_EQ(columns->rows, 0U);
          continue;  // another size, by and by
        }
        ASSERT_EQ(code, HAWTHORN_OK);
        if (columns->rows == 0) break;
        for (size_t row = 0; row < columns->rows; ++row) {
          found.emplace_back(columns.key(row), columns.value(row));
        }
      }
      if (!forward) std::reverse(found.begin(), found.end());
      ASSERT_EQ(found, wanted) << (forward ? "forward" : "backward");
    }
    compare_gets(wanted, at);
  }

  void compare_gets(const std::vector<std::pair<std::string, std::string>>& wanted,
                    const hawthorn_snapshot* at) {
    std::string keys;
    std::vector<int64_t> offsets = {0};
    for (int i = 0; i < 60; ++i) {
      keys += "k" + std::to_string(i);
      offsets.push_back(static_cast<int64_t>(keys.size()));
    }
    const ReadBatchHandle batch(hawthorn_read_batch_create());
    Columns columns(60, 0, 1 << 20);
    C_OK(hawthorn_db_multi_get_columns(db_.get(), tree_.get(), keys.data(), offsets.data(), 60, at,
                                       batch.get(), columns.get(), &e));
    ASSERT_EQ(columns->rows, 60U);
    size_t there = 0;
    for (size_t i = 0; i < 60; ++i) {
      const std::string k = "k" + std::to_string(i);
      const auto entry = std::find_if(wanted.begin(), wanted.end(),
                                      [&](const auto& pair) { return pair.first == k; });
      ASSERT_EQ(columns.found(i), entry != wanted.end()) << k;
      if (entry == wanted.end()) continue;
      ++there;
      ASSERT_EQ(columns.value(i), entry->second) << k;
    }
    ASSERT_EQ(there, wanted.size());
  }

  uint64_t seed_ = 0;
  std::mt19937_64 random_;
  std::unique_ptr<Db> model_;
  Tree model_tree_;
};

TEST_F(ModelCTest, BothApisDoTheSame) {
  open_both();
  for (uint64_t round = testing::scaled(12000); round != 0 && !HasFatalFailure(); --round) {
    switch (below(12)) {
      case 0:
        write_batch();
        break;
      case 1:
        run_transaction();
        break;
      case 2:
        compare();
        break;
      case 3: {
        const Snapshot model_at = model_->snapshot();
        const SnapshotHandle at = snapshot();
        write_one();
        write_one();
        if (HasFatalFailure()) return;
        compare(&model_at, at.get());
        break;
      }
      case 4:
        if (below(10) == 0) {
          ASSERT_TRUE(model_->flush().ok());
          C_OK(hawthorn_db_flush(db_.get(), &e));
        }
        break;
      default:
        write_one();
    }
  }
  compare();
}

}  // namespace

}  // namespace hawthorn::c
