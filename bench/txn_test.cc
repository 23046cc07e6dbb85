// The cases of `txn` against the in-memory double, and against doubles that are wrong in one way
// each: every fault must turn the run into a failure.

#include "bench/txn.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "bench/counters.h"
#include "bench/engine_memory.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

class TxnTest : public ::testing::Test {
 protected:
  TxnTest() {
    context_.engine_name = "double";
    context_.config.path = directory_.path();
    context_.config.memory_bytes = 1 << 30;
    context_.config.transactions = true;
    point_.keys = 500;
    point_.threads = 3;
    point_.transactions = 3000;
    point_.rounds = 3;
    counters_.counters = 20;
    counters_.steps = 10'000;
    counters_.threads = 4;
    counters_.row_locks = true;
    snapshots_.keys = 500;
    snapshots_.upserts = 3000;
    snapshots_.snapshots = 10;
    snapshots_.batch = 10;
    snapshots_.rounds = 2;
    snapshots_.free_disk_bytes_min = 0;
    clone_.keys = 2000;
    clone_.clones = 5;
    clone_.threads = 2;
    count_.keys = 5000;
    count_.counts = 300;
    count_.threads = 3;
    orders_.keys = 2000;
    orders_.gets = 3000;
    orders_.rounds = 3;
  }

  template <class Options>
  Report run_on(Engine& engine, void (*run)(const RunContext&, const Options&, Engine&),
                const Options& options) {
    Report report;
    context_.report = &report;
    run(context_, options, engine);
    return report;
  }
  template <class Options>
  bool passes_with(Fault fault, void (*run)(const RunContext&, const Options&, Engine&),
                   const Options& options, uint64_t period = 1000) {
    MemoryEngine engine(fault, period);
    return run_on(engine, run, options).ok();
  }

  const hawthorn::testing::TempDirectory directory_;
  RunContext context_;
  PointOptions point_;
  CountersOptions counters_;
  SnapshotsOptions snapshots_;
  CloneOptions clone_;
  CountOptions count_;
  OrdersOptions orders_;
};

std::string failures(const Report& report) {
  std::string text;
  for (const std::string& failure : report.failures()) text += failure + "; ";
  return text;
}

TEST_F(TxnTest, PointPassesOnARightEngine) {
  for (const unsigned threads : {1U, 3U}) {
    point_.threads = threads;
    MemoryEngine engine;
    const Report report = run_on(engine, run_txn_point, point_);
    EXPECT_TRUE(report.ok()) << failures(report);
    for (const char* phase : {"txn_snapshot", "txn_serializable"}) {
      EXPECT_GT(report.value(phase, "tx_per_s"), 0) << phase;
      EXPECT_GT(report.value(phase, "p50_us"), 0) << phase;
      // The double refuses one in 64.
      EXPECT_NEAR(report.value(phase, "conflicts"), 9000.0 / 63, 5) << phase;
    }
    EXPECT_NEAR(
        report.value("txn_serializable", "cost"),
        report.value("txn_snapshot", "tx_per_s") / report.value("txn_serializable", "tx_per_s"),
        1e-9);
    EXPECT_EQ(report.value("verify", "bytes_raw"), 500.0 * 108);
    EXPECT_EQ(report.csv_lines().size(), 6U);
  }
}

TEST_F(TxnTest, PointCatchesWrongEngines) {
  EXPECT_FALSE(passes_with(Fault::kLosesPut, run_txn_point, point_));
  EXPECT_FALSE(passes_with(Fault::kLosesCommit, run_txn_point, point_));
  // Only the verification reads values to their last byte: of the bits that flipped so many are in
  // values that nobody has put again, however the threads took turns.
  EXPECT_FALSE(passes_with(Fault::kCorruptsValue, run_txn_point, point_, 5));
  point_.keys = 5000;
  EXPECT_FALSE(passes_with(Fault::kSkipsInScan, run_txn_point, point_));
}

// Gets what was there when it was made.
class StaleEngine : public MemoryEngine {
 public:
  std::unique_ptr<TxnClient> transactions(TxnKind kind) override {
    class StaleClient : public TxnClient {
     public:
      explicit StaleClient(std::unique_ptr<TxnClient> inner) : inner_(std::move(inner)) {}
      void begin() override { inner_->begin(); }
      TxnAnswer commit() override { return inner_->commit(); }
      TxnAnswer get(std::string_view key, std::string_view& value) override {
        const auto [entry, first] = seen_.try_emplace(std::string(key));
        if (first) {
          if (inner_->get(key, value) != TxnAnswer::kDone) return TxnAnswer::kMissing;
          entry->second = value;
        }
        value = entry->second;
        return TxnAnswer::kDone;
      }
      TxnAnswer get_for_update(std::string_view key, std::string_view& value) override {
        return get(key, value);
      }
      TxnAnswer put(std::string_view key, std::string_view value) override {
        return inner_->put(key, value);
      }

     private:
      std::unique_ptr<TxnClient> inner_;
      std::map<std::string, std::string, std::less<>> seen_;
    };
    return std::make_unique<StaleClient>(MemoryEngine::transactions(kind));
  }
};

TEST_F(TxnTest, PointCatchesGetsOfAnEarlierTime) {
  StaleEngine engine;
  EXPECT_FALSE(run_on(engine, run_txn_point, point_).ok());
}

TEST_F(TxnTest, CountersPassOnARightEngineAndCatchWrongOnes) {
  MemoryEngine engine;
  const Report report = run_on(engine, run_counters, counters_);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_GT(report.value("count", "ops_per_s"), 0);
  EXPECT_GT(report.value("count", "conflicts"), 0);
  EXPECT_EQ(report.value("verify", "bytes_raw"), 20.0 * 16);
  ASSERT_FALSE(report.csv_lines().empty());
  EXPECT_TRUE(report.csv_lines()[0].starts_with("txn,double,counters,4,count,1,"));
  for (const Fault fault : {Fault::kLosesCommit, Fault::kCorruptsValue}) {
    EXPECT_FALSE(passes_with(fault, run_counters, counters_)) << static_cast<int>(fault);
  }
}

// Locks no row: others come between the get and the put.
class CarelessEngine : public MemoryEngine {
 public:
  std::unique_ptr<TxnClient> transactions(TxnKind) override {
    class CarelessClient : public TxnClient {
     public:
      explicit CarelessClient(std::unique_ptr<Writer> inner) : inner_(std::move(inner)) {}
      void begin() override { inner_->begin(WriteIntent::kReadWrite); }
      TxnAnswer commit() override {
        inner_->commit();
        return TxnAnswer::kDone;
      }
      TxnAnswer get(std::string_view key, std::string_view& value) override {
        const bool found = inner_->get(key, value);
        std::this_thread::yield();
        return found ? TxnAnswer::kDone : TxnAnswer::kMissing;
      }
      TxnAnswer get_for_update(std::string_view key, std::string_view& value) override {
        return get(key, value);
      }
      TxnAnswer put(std::string_view key, std::string_view value) override {
        inner_->put(key, value);
        return TxnAnswer::kDone;
      }

     private:
      std::unique_ptr<Writer> inner_;
    };
    return std::make_unique<CarelessClient>(writer());
  }
};

TEST_F(TxnTest, CountersCatchRowsThatAreNotLocked) {
  counters_.counters = 1;
  counters_.steps = 5000;
  CarelessEngine engine;
  EXPECT_FALSE(run_on(engine, run_counters, counters_).ok());
}

// Its readers copy all entries when they begin a snapshot, so that commits go on beside them; or
// they show the newest entries.
class SnapshotEngine : public MemoryEngine {
 public:
  explicit SnapshotEngine(bool right, Fault fault = Fault::kNone)
      : MemoryEngine(fault), right_(right) {}

  std::unique_ptr<Reader> reader() override {
    return std::make_unique<CopyReader>(MemoryEngine::reader(), right_);
  }
  bool holds_snapshots() const override { return true; }

 private:
  struct KeySink : EntrySink {
    void add(std::string_view key, std::string_view value) override { entries.emplace(key, value); }
    std::map<std::string, std::string, std::less<>> entries;
  };

  class CopyReader : public ReaderOf<CopyReader> {
   public:
    CopyReader(std::unique_ptr<Reader> inner, bool right)
        : inner_(std::move(inner)), right_(right) {}
    void begin(View) override { inner_->iterate(copy_); }
    void end() override { copy_.entries.clear(); }
    uint64_t count(std::string_view lower, std::optional<std::string_view> upper) override {
      if (!right_) return inner_->count(lower, upper);
      const auto end = upper ? copy_.entries.lower_bound(*upper) : copy_.entries.end();
      return static_cast<uint64_t>(std::distance(copy_.entries.lower_bound(lower), end));
    }
    bool get(std::string_view key, std::string_view& value) override {
      if (!right_) return inner_->get(key, value);
      const auto found = copy_.entries.find(key);
      if (found == copy_.entries.end()) return false;
      value = found->second;
      return true;
    }
    void multi_get(std::span<const std::string_view>, std::span<std::string_view>) override {}
    template <class Sink>
    void seek_from(std::string_view, size_t, Sink&) {}
    template <class Sink>
    void walk(Sink& sink) {
      for (const auto& [key, value] : copy_.entries) sink.add(key, value);
    }

   private:
    std::unique_ptr<Reader> inner_;
    const bool right_;
    KeySink copy_;
  };

  const bool right_;
};

TEST_F(TxnTest, SnapshotsPassOnARightEngine) {
  SnapshotEngine engine(true);
  const Report report = run_on(engine, run_txn_snapshots, snapshots_);
  EXPECT_TRUE(report.ok()) << failures(report);
  const double free = report.value("upsert", "ops_per_s");
  const double held = report.value("upsert_held", "ops_per_s");
  EXPECT_GT(free, 0);
  EXPECT_GT(held, 0);
  EXPECT_NEAR(report.value("upsert_held", "writer_loss"), 1 - held / free, 1e-9);
  EXPECT_EQ(report.csv_lines().size(), 4U);
}

TEST_F(TxnTest, SnapshotsCatchOnesThatMove) {
  SnapshotEngine engine(false);
  EXPECT_FALSE(run_on(engine, run_txn_snapshots, snapshots_).ok());
}

// Of keys that are all new, and of such as were there.
TEST_F(TxnTest, SnapshotsTakeAnyPartOfNewKeys) {
  for (const double fresh : {0.0, 1.0}) {
    snapshots_.fresh = fresh;
    SnapshotEngine engine(true);
    const Report report = run_on(engine, run_txn_snapshots, snapshots_);
    EXPECT_TRUE(report.ok()) << failures(report);
    EXPECT_EQ(report.value("verify", "bytes_raw"), (500 + fresh * 3000) * 108);
  }
}

TEST_F(TxnTest, ClonePassesOnARightEngineAndCatchesWrongOnes) {
  MemoryEngine engine;
  const Report report = run_on(engine, run_txn_clone, clone_);
  EXPECT_TRUE(report.ok()) << failures(report);
  for (const char* phase : {"clone_none", "clone_full", "drop"}) {
    EXPECT_GT(report.value(phase, "max_us"), 0) << phase;
  }
  EXPECT_EQ(report.value("verify", "bytes_raw"), 2000.0 * 108);
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(passes_with(fault, run_txn_clone, clone_)) << static_cast<int>(fault);
  }
}

// Its clones are the database itself.
class SharingEngine : public MemoryEngine {
 public:
  std::unique_ptr<Clone> clone(const std::string&, SyncMode) override {
    class SharedClone : public Clone {
     public:
      explicit SharedClone(SharingEngine& engine)
          : reader_(engine.reader()), writer_(engine.writer()) {}
      uint64_t count() override {
        StampSink sink(100);
        reader_->iterate(sink);
        return sink.entries();
      }
      bool get(std::string_view key, std::string_view& value) override {
        return reader_->get(key, value);
      }
      void put(std::string_view key, std::string_view value) override {
        writer_->put_now(key, value);
      }
      void drop() override {}

     private:
      std::unique_ptr<Reader> reader_;
      std::unique_ptr<Writer> writer_;
    };
    return std::make_unique<SharedClone>(*this);
  }
};

TEST_F(TxnTest, CloneCatchesOnesThatShareTheirWrites) {
  SharingEngine engine;
  EXPECT_FALSE(run_on(engine, run_txn_clone, clone_).ok());
}

TEST_F(TxnTest, CountPassesOnARightEngine) {
  for (const bool ascending : {false, true}) {
    count_.ascending = ascending;
    SnapshotEngine engine(true);
    const Report report = run_on(engine, run_txn_count, count_);
    EXPECT_TRUE(report.ok()) << failures(report);
    for (const std::string phase : {"count_flushed", "count_unflushed", "count_overwritten",
                                    "count_held", "count_now", "count_opened"}) {
      EXPECT_GT(report.value(phase, "p99_us"), 0) << phase;
      EXPECT_GT(report.value(phase + "_range", "p99_us"), 0) << phase;
    }
    EXPECT_GT(report.value("count_first", "avg_us"), 0);
    EXPECT_EQ(report.value("verify", "bytes_raw"), 5000.0 * 108);
  }
}

// Where there is not one key that comes late, and where all are overwritten or none.
TEST_F(TxnTest, CountTakesAnyNumberOfKeysAndAnyPart) {
  for (const uint64_t keys : {1U, 2U, 17U, 1000U, 1024U}) {
    for (const double overwritten : {0.0, 1.0}) {
      count_.keys = keys;
      count_.counts = 50;
      count_.value_bytes = 8;
      count_.overwritten = overwritten;
      SnapshotEngine engine(true);
      const Report report = run_on(engine, run_txn_count, count_);
      EXPECT_TRUE(report.ok()) << keys << ": " << failures(report);
      EXPECT_EQ(report.value("verify", "bytes_raw"), static_cast<double>(keys) * 16);
    }
  }
}

// One whose counts are wrong by `error` where `strikes` says so.
class MiscountingEngine : public SnapshotEngine {
 public:
  using Strikes = std::function<bool(bool whole, uint64_t count)>;
  MiscountingEngine(Strikes strikes, int error)
      : SnapshotEngine(true), strikes_(std::move(strikes)), error_(error) {}

  std::unique_ptr<Reader> reader() override {
    return std::make_unique<Miscounting>(SnapshotEngine::reader(), *this);
  }

 private:
  class Miscounting : public ReaderOf<Miscounting> {
   public:
    Miscounting(std::unique_ptr<Reader> inner, const MiscountingEngine& engine)
        : inner_(std::move(inner)), engine_(engine) {}
    void begin(View view) override { inner_->begin(view); }
    void end() override { inner_->end(); }
    bool get(std::string_view key, std::string_view& value) override {
      return inner_->get(key, value);
    }
    void multi_get(std::span<const std::string_view>, std::span<std::string_view>) override {}
    uint64_t count(std::string_view lower, std::optional<std::string_view> upper) override {
      const uint64_t count = inner_->count(lower, upper);
      const bool whole = lower.empty() && !upper;
      return engine_.strikes_(whole, count) ? count + static_cast<uint64_t>(engine_.error_) : count;
    }
    template <class Sink>
    void seek_from(std::string_view, size_t, Sink&) {}
    template <class Sink>
    void walk(Sink& sink) {
      inner_->iterate(sink);
    }

   private:
    std::unique_ptr<Reader> inner_;
    const MiscountingEngine& engine_;
  };

  const Strikes strikes_;
  const int error_;
};

TEST_F(TxnTest, CountCatchesEveryWrongCount) {
  const std::vector<MiscountingEngine::Strikes> faults = {
      [](bool whole, uint64_t) { return whole; },
      [](bool whole, uint64_t count) { return !whole && count < 10; },
      [](bool whole, uint64_t count) { return !whole && count > 2000; },
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    for (const int error : {-1, 1}) {
      MiscountingEngine engine(faults[i], error);
      const Report report = run_on(engine, run_txn_count, count_);
      ASSERT_FALSE(report.ok()) << i;
      // In each phase that has such counts.
      for (const char* phase : {"count_flushed", "count_held", "count_now", "count_opened"}) {
        EXPECT_NE(failures(report).find(phase), std::string::npos) << i << ' ' << phase;
      }
    }
  }
}

TEST_F(TxnTest, CountCatchesLostAndDamagedEntries) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue}) {
    SnapshotEngine engine(true, fault);
    EXPECT_FALSE(run_on(engine, run_txn_count, count_).ok()) << static_cast<int>(fault);
  }
}

TEST_F(TxnTest, CountCatchesSnapshotsThatMove) {
  SnapshotEngine engine(false);
  const Report report = run_on(engine, run_txn_count, count_);
  EXPECT_NE(failures(report).find("count_held: a range of"), std::string::npos) << failures(report);
  EXPECT_EQ(failures(report).find("count_now"), std::string::npos) << failures(report);
}

TEST_F(TxnTest, OrdersPassOnARightEngineAndCatchWrongOnes) {
  MemoryEngine engine;
  const Report report = run_on(engine, run_txn_orders, orders_);
  EXPECT_TRUE(report.ok()) << failures(report);
  for (const char* what : {"insert", "get"}) {
    const std::string word = what;
    const double bytewise = report.value(word + "_bytewise", "ops_per_s");
    const double compared = report.value(word + "_compared", "ops_per_s");
    EXPECT_GT(bytewise, 0);
    EXPECT_GT(compared, 0);
    EXPECT_NEAR(report.value(word + "_compared", "cost"), bytewise / compared, 1e-9);
    EXPECT_GT(report.value(word + "_compared", "p99_us"), 0);
  }
  EXPECT_EQ(report.value("verify", "bytes_raw"), 2 * 2000.0 * 108);
  ASSERT_EQ(report.csv_lines().size(), 6U);
  EXPECT_TRUE(report.csv_lines()[0].starts_with("txn,double,orders,1,get_compared,1,"));
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(passes_with(fault, run_txn_orders, orders_)) << static_cast<int>(fault);
  }
}

// Its second tree is in another order.
class ReversedEngine : public MemoryEngine {
 public:
  std::unique_ptr<Reader> compared_reader() override {
    return std::make_unique<ReversedReader>(MemoryEngine::compared_reader());
  }

 private:
  struct Entries : EntrySink {
    void add(std::string_view key, std::string_view value) override { all.emplace(key, value); }
    std::map<std::string, std::string, std::greater<>> all;
  };

  class ReversedReader : public ReaderOf<ReversedReader> {
   public:
    explicit ReversedReader(std::unique_ptr<Reader> inner) : inner_(std::move(inner)) {}
    void begin(View view) override { inner_->begin(view); }
    void end() override { inner_->end(); }
    bool get(std::string_view key, std::string_view& value) override {
      return inner_->get(key, value);
    }
    void multi_get(std::span<const std::string_view>, std::span<std::string_view>) override {}
    template <class Sink>
    void seek_from(std::string_view, size_t, Sink&) {}
    template <class Sink>
    void walk(Sink& sink) {
      Entries entries;
      inner_->iterate(entries);
      for (const auto& [key, value] : entries.all) sink.add(key, value);
    }

   private:
    std::unique_ptr<Reader> inner_;
  };
};

TEST_F(TxnTest, OrdersCatchEntriesInAnotherOrder) {
  ReversedEngine engine;
  EXPECT_FALSE(run_on(engine, run_txn_orders, orders_).ok());
}

}  // namespace
}  // namespace hawthorn::bench
