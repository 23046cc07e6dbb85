// Listeners, the limit of background I/O and the counters, while everything goes on at once.

#include <atomic>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "base/prng.h"
#include "db/counters_file.h"
#include "hawthorn/counters.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

// Counts what it is told, and uses the database that tells it.
class Busy : public EventListener {
 public:
  void on_flush_begun(const FlushBegun&) override { ++begun_; }
  void on_flush_completed(const FlushCompleted&) override {
    ++completed_;
    use();
  }
  void on_tree_changed(const TreeChanged&) override { use(); }
  void on_snapshot_changed(const SnapshotChanged&) override { use(); }
  void on_write_stall_begun(const WriteStallBegun&) override { ++stalls_; }
  void on_write_stall_ended(const WriteStallEnded&) override { --stalls_; }
  void on_events_dropped(uint64_t count) override { dropped_ += count; }
  void on_closed(const Closed&) override { closed_ = true; }

  void watch(Db* db, const Tree& tree) {
    std::lock_guard lock(mutex_);
    db_ = db;
    tree_ = tree;
  }

  std::atomic<uint64_t> completed_ = 0;
  std::atomic<uint64_t> used_ = 0;
  // Of the one thread that tells, and after it of who has closed.
  uint64_t begun_ = 0;
  uint64_t dropped_ = 0;
  int64_t stalls_ = 0;
  bool closed_ = false;

 private:
  void use() {
    std::lock_guard lock(mutex_);
    if (db_ == nullptr || closed_) return;
    Value value;
    Status status = db_->get(tree_, "watched", value);
    if (status.ok() || status.is_not_found()) {
      status = db_->put(tree_, "watched", std::to_string(++used_), Durability::kNone);
    }
    EXPECT_TRUE(status.ok() || status.is(StatusCode::kClosed)) << status.to_string();
    static_cast<void>(db_->stats());
  }
  std::mutex mutex_;
  Db* db_ = nullptr;
  Tree tree_;
};

TEST(HooksConcurrency, all_at_once) {
  const TempDirectory directory;
  const auto busy = std::make_shared<Busy>();
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.background_io_bytes_per_second = 1 << 20;
  options.listeners.push_back(busy);
  auto opened = Db::open(directory / "db", options);
  ASSERT_OK(opened.status());
  std::unique_ptr<Db> db = std::move(*opened);
  const Tree tree = db->tree("t").value();
  busy->watch(db.get(), tree);
  const uint64_t rounds = scaled(60);
  std::vector<std::thread> threads;
  for (uint64_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      for (uint64_t i = 0; i < rounds * 150; ++i) {
        ASSERT_OK(db->put(tree, counter_key_of(i * 2 + w), value_of(i, 800)));
      }
    });
  }
  threads.emplace_back([&] {
    for (uint64_t i = 0; i < rounds; ++i) {
      ASSERT_OK(db->tree("other").status());
      ASSERT_OK(db->rename_tree("other", "another"));
      ASSERT_OK(db->create_snapshot("s"));
      ASSERT_OK(db->drop_snapshot("s"));
      ASSERT_OK(db->drop_tree("another"));
    }
  });
  threads.emplace_back([&] {
    for (uint64_t i = 0; i < rounds; ++i) {
      ASSERT_OK(db->set_background_io_limit(i % 3 == 0 ? 0 : i % 3 == 1 ? 64 << 20 : 1));
      if (i % 16 == 0) ASSERT_OK(db->flush());
      const Result<Counters> counters = read_counters(directory / "db");
      ASSERT_OK(counters.status());
      ASSERT_TRUE(counters->alive);
    }
    ASSERT_OK(db->set_background_io_limit(0));
  });
  for (std::thread& thread : threads) thread.join();
  // What was told so far may be nothing of that.
  EXPECT_TRUE(wait_until([&] {
    EXPECT_OK(db->put(tree, "one more", "to flush"));
    EXPECT_OK(db->flush());
    return busy->used_ > 0 && busy->completed_ > 0;
  }));
  EXPECT_TRUE(clean(*db));
  const Status closed = db->close();
  ASSERT_OK(closed);
  EXPECT_TRUE(busy->closed_);
  if (busy->dropped_ == 0) {
    EXPECT_EQ(busy->begun_, busy->completed_);
    EXPECT_EQ(busy->stalls_, 0);
  }
}

// Without close: what is told meanwhile meets calls that answer kClosed, not parts that are gone.
TEST(HooksConcurrency, databases_end_while_events_are_told) {
  const TempDirectory directory;
  for (uint64_t round = 0; round < scaled(10); ++round) {
    const auto busy = std::make_shared<Busy>();
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.listeners.push_back(busy);
    auto db = Db::open(directory / "db", options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    busy->watch(db->get(), tree);
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_OK((*db)->put(tree, counter_key_of(i), value_of(i, 100)));
      ASSERT_OK((*db)->create_snapshot("s"));
      ASSERT_OK((*db)->drop_snapshot("s"));
    }
    // As its destructor, but the object stays: callbacks have its address.
    if (round % 2 == 0) {
      ASSERT_OK((*db)->close());
    } else {
      busy->watch(nullptr, {});
      db->reset();
    }
    EXPECT_TRUE(busy->closed_);
  }
}

// Writers change what a filter looks at, in every way that there is: no change of either is lost.
TEST(HooksConcurrency, filters_and_writers_lose_nothing_to_each_other) {
  constexpr uint64_t kKeys = 200;
  constexpr uint64_t kMark = uint64_t{1} << 32;
  // Adds kMark to every number, and removes what is dead.
  struct Marks : FlushFilter {
    std::atomic<uint64_t> changed_ = 0;
    std::string_view name() const override { return "marks"; }
    Decision filter(std::string_view, std::string_view value, std::string* changed) override {
      if (value == "dead") return Decision::kRemove;
      if (value.size() != 8) return Decision::kKeep;
      append(*changed, load<uint64_t>(value.data()) + kMark);
      ++changed_;
      return Decision::kChange;
    }
  };
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.merge_operators = {uint64_add()};
  const auto marks_of_filter = std::make_shared<Marks>();
  options.flush_filters["sums"] = marks_of_filter;
  options.flush_filters["rows"] = marks_of_filter;
  auto opened = Db::open(directory / "db", options);
  ASSERT_OK(opened.status());
  std::unique_ptr<Db> db = std::move(*opened);
  Tree sums = db->tree("sums").value();
  Tree rows = db->tree("rows").value();
  ASSERT_OK(db->set_merge_operator(sums, "uint64_add"));
  const uint64_t rounds = scaled(10000);
  std::atomic<uint64_t> added{0};
  std::atomic<int> writing{5};
  std::vector<std::thread> threads;
  std::string one;
  append(one, uint64_t{1});
  for (uint64_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Prng prng(w + 1);
      // Until the filter has met some of them, too.
      for (uint64_t i = 0; i < rounds || (marks_of_filter->changed_ == 0 && !HasFailure()); ++i) {
        ASSERT_OK(db->merge(sums, big_endian(prng.below(kKeys)), one));
        ++added;
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    Prng prng(7);
    for (uint64_t i = 0; i < rounds / 4; ++i) {
      const std::string key = big_endian(prng.below(kKeys));
      Transaction t = db->begin(TxnOptions{}).value();
      Value value;
      Status status = t.get_for_update(sums, key, value);
      std::string next;
      append(next, (status.ok() ? load<uint64_t>(value.view().data()) : 0) + 1);
      if (status.ok() || status.is_not_found()) status = t.put(sums, key, next);
      if (status.ok()) status = t.commit();
      if (status.ok()) ++added;
      ASSERT_TRUE(status.ok() || status.is_conflict()) << status.to_string();
    }
    --writing;
  });
  // Each row is dead for a while, and alive at the end of every turn.
  for (uint64_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      for (uint64_t i = 0; i < rounds; ++i) {
        const std::string key = big_endian(2 * (i % kKeys) + w);
        ASSERT_OK(db->put(rows, key, "dead"));
        ASSERT_OK(db->put(rows, key, "alive"));
        Value value;
        ASSERT_OK(db->get(rows, key, value));
        ASSERT_EQ(value.view(), "alive");
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    while (writing > 0) ASSERT_OK(db->flush());
  });
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db->compact());
  ASSERT_OK(db->close());
  const uint64_t changed = read_counters(directory / "db")->value("filter_changed").value();
  options.flush_filters.clear();
  db.reset();
  db = Db::open(directory / "db", options).value();
  sums = db->find_tree("sums").value();
  rows = db->find_tree("rows").value();
  uint64_t sum = 0;
  uint64_t marks = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    Value value;
    ASSERT_OK(db->get(sums, big_endian(key), value));
    const auto number = load<uint64_t>(value.view().data());
    sum += number % kMark;
    marks += number / kMark;
  }
  EXPECT_EQ(sum, added.load());
  EXPECT_EQ(marks, changed);
  EXPECT_GT(changed, 0U);
  EXPECT_EQ(db->count(rows, "", std::nullopt).value(), 2 * kKeys);
  EXPECT_TRUE(clean(*db));
}

// Figures that always agree are read by others as figures that agree.
TEST(HooksConcurrency, counters_are_of_one_moment) {
  const TempDirectory directory;
  testing::SimClock clock;
  os::Machine machine = os::real_machine();
  machine.clock = &clock;
  db::CountersFile file(machine, directory.path(), 1, 2);
  const auto all = [](Stats* stats, uint64_t n) {
    stats->memory_budget_bytes = stats->commits = stats->bytes_read = stats->data_files_removed = n;
  };
  ASSERT_OK(file.start({}));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      uint64_t seen = 0;
      while (!done.load()) {
        const Result<Counters> counters = read_counters(directory.path());
        ASSERT_OK(counters.status());
        const uint64_t n = counters->value("commits").value();
        ASSERT_GE(n, seen);
        ASSERT_EQ(counters->value("memory_budget_bytes"), n);
        ASSERT_EQ(counters->value("bytes_read"), n);
        ASSERT_EQ(counters->value("data_files_removed"), n);
        seen = n;
      }
    });
  }
  std::vector<std::thread> writers;
  std::atomic<uint64_t> written{0};
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        clock.advance_us(1'000'000);
        file.update_when_due([&](Stats* stats) { all(stats, ++written); });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  Stats last;
  all(&last, ++written);
  file.close(last);
  EXPECT_TRUE(read_counters(directory.path())->closed);
  EXPECT_EQ(read_counters(directory.path())->value("commits"), written.load());
}

}  // namespace
}  // namespace hawthorn::tests
