// Trees that are made, renamed and dropped by some threads while others use them.
#include <atomic>
#include <thread>

#include "base/sanitizers.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

#if defined(HAWTHORN_TSAN)
constexpr uint64_t kRounds = 60;
#else
constexpr uint64_t kRounds = 600;
#endif

class CatalogConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    for (const char* name : {"a", "b"}) {
      ASSERT_OK(db_->put(db_->tree(name).value(), "name", name));
    }
  }
  void start(std::function<void(Prng&)> work) {
    threads_.emplace_back([work = std::move(work), seed = threads_.size() + 1] {
      Prng prng(seed);
      work(prng);
    });
  }
  void until_done(std::function<void(Prng&)> step) {
    start([this, step = std::move(step)](Prng& prng) {
      while (!done_.load() && !HasFailure()) step(prng);
    });
  }
  void join(size_t workers) {
    for (size_t i = 0; i < workers; ++i) threads_[i].join();
    done_.store(true);
    for (size_t i = workers; i < threads_.size(); ++i) threads_[i].join();
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  std::vector<std::thread> threads_;
  std::atomic<bool> done_{false};
};

std::string read(Db& db, const Snapshot& at, std::string_view name, std::string_view key) {
  const Result<Tree> tree = db.find_tree(name, {.snapshot = &at});
  if (!tree.ok()) return std::string("no tree: ") + tree.status().to_string();
  Value value;
  const Status status = db.get(*tree, key, value, {.snapshot = &at});
  return status.ok() ? value.to_string() : status.to_string();
}

TEST_F(CatalogConcurrency, names_change_with_what_the_trees_hold) {
  // Two trees swap their names.
  start([&](Prng&) {
    for (uint64_t round = 0; round < kRounds && !HasFailure(); ++round) {
      Transaction t = db_->begin(TxnMode::kPessimistic).value();
      ASSERT_OK(t.rename_tree("a", "between"));
      ASSERT_OK(t.rename_tree("b", "a"));
      ASSERT_OK(t.rename_tree("between", "b"));
      for (const char* name : {"a", "b"}) {
        ASSERT_OK(t.put(t.find_tree(name).value(), "name", name));
      }
      ASSERT_OK(t.commit());
    }
  });
  // One comes and goes; each time "log" has its number.
  const Tree log = db_->tree("log").value();
  start([&](Prng& prng) {
    for (uint64_t round = 0; round < kRounds && !HasFailure(); ++round) {
      const std::string number = std::to_string(round);
      {
        Transaction t = db_->begin(TxnOptions{}).value();
        const Tree made = t.tree("guest").value();
        ASSERT_OK(t.put(made, "number", number));
        ASSERT_OK(t.put(log, "number", number));
        if (prng.one_in(5)) {
          t.abort();
          continue;
        }
        ASSERT_OK(t.commit());
      }
      if (prng.one_in(2)) std::this_thread::yield();
      ASSERT_OK(db_->drop_tree("guest"));
    }
  });
  // Writers of what may be dropped: whole or not at all.
  for (int writer = 0; writer < 2; ++writer) {
    until_done([&](Prng& prng) {
      const Result<Tree> guest = db_->find_tree("guest");
      if (!guest.ok()) {
        EXPECT_TRUE(guest.status().is_not_found()) << guest.status().to_string();
        return;
      }
      if (prng.one_in(2)) {
        const Status status = db_->put(*guest, key_of(prng.below(100)), value_of(1, 200));
        EXPECT_TRUE(status.ok() || status.is_conflict() || status.is(StatusCode::kInvalidArgument))
            << status.to_string();
        return;
      }
      const TxnMode mode = prng.one_in(2) ? TxnMode::kOptimistic : TxnMode::kPessimistic;
      Transaction t = db_->begin(mode).value();
      Value value;
      Status status = t.get(*guest, "number", value);
      if (!status.ok()) return;
      status = t.put(*guest, "seen", value.view());
      if (status.ok()) status = t.commit();
      EXPECT_TRUE(status.ok() || status.is_conflict() || status.is(StatusCode::kInvalidArgument) ||
                  status.is(StatusCode::kDeadlock))
          << status.to_string();
    });
  }
  // What a snapshot shows is of one moment, also when the trees go meanwhile.
  until_done([&](Prng& prng) {
    const Snapshot now = db_->snapshot();
    EXPECT_EQ(read(*db_, now, "a", "name"), "a");
    EXPECT_EQ(read(*db_, now, "b", "name"), "b");
    const Result<std::vector<std::string>> names = db_->list_trees({.snapshot = &now});
    ASSERT_OK(names.status());
    const bool guest = std::find(names->begin(), names->end(), "guest") != names->end();
    ASSERT_EQ(names->size(), guest ? 4u : 3u);
    if (!guest) return;
    const std::string number = read(*db_, now, "log", "number");
    for (uint64_t again = prng.below(5); again > 0; --again) {
      EXPECT_EQ(read(*db_, now, "guest", "number"), number);
      const Tree tree = db_->find_tree("guest", {.snapshot = &now}).value();
      Value seen;
      const Status status = db_->get(tree, "seen", seen, {.snapshot = &now});
      EXPECT_TRUE(status.is_not_found() || (status.ok() && seen.view() == number));
      std::this_thread::yield();
    }
  });
  until_done([&](Prng& prng) {
    const uint64_t pick = prng.below(4);
    if (pick == 0) {
      EXPECT_OK(db_->flush());
    } else if (pick == 1) {
      EXPECT_OK(db_->drain());
    } else if (pick == 2) {
      EXPECT_GE(db_->stats().trees.size(), 3u);
    } else {
      EXPECT_TRUE(db_->check().value().ok());
    }
  });
  join(2);
  EXPECT_EQ(db_->list_trees().value(), (std::vector<std::string>{"a", "b", "log"}));
  ASSERT_OK(db_->close());
}

}  // namespace
}  // namespace hawthorn::tests
