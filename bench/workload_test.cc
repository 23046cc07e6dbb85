// The workloads against the in-memory double, and against doubles that are wrong in one way each:
// every fault must turn the run into a failure.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "bench/bank.h"
#include "bench/counters.h"
#include "bench/engine_memory.h"
#include "bench/insert.h"
#include "bench/micro.h"
#include "bench/nvme.h"
#include "bench/overwrite.h"
#include "bench/scale.h"
#include "bench/upsert.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

class WorkloadTest : public ::testing::Test {
 protected:
  WorkloadTest() : names_(2000, 12345, "/nonexistent") {
    context_.engine_name = "double";
    context_.config.path = directory_.path();
    context_.config.memory_bytes = 1 << 30;
  }

  Report run_bank_on(Fault fault, uint64_t batch_size, unsigned threads = 1) {
    BankOptions options;
    options.accounts = names_.count();
    options.transactions = 20'000;
    options.batch_size = batch_size;
    options.threads = threads;
    return run_on(fault, [&](Engine& engine) { run_bank(context_, options, names_, engine); });
  }

  Report run_micro_on(Fault fault, double dirty = 0) {
    MicroOptions options;
    options.items = 20'000;
    options.gets = 40'000;
    options.dirty = dirty;
    return run_on(fault, [&](Engine& engine) { run_micro(context_, options, engine); });
  }

  Report run_upsert_on(Fault fault) {
    UpsertOptions options;
    options.rounds = 3;
    options.items = 10'000;
    options.free_disk_bytes_min = 0;
    return run_on(fault, [&](Engine& engine) { run_upsert(context_, options, engine); });
  }

  Report run_scale_on(Fault fault, uint64_t keys_per_read = 1) {
    ScaleOptions options;
    options.rounds = 4;
    options.items = 5000;
    options.readers = 2;
    options.keys_per_read = keys_per_read;
    options.free_disk_bytes_min = 0;
    return run_on(fault, [&](Engine& engine) { run_scale(context_, options, engine); });
  }

  Report run_insert_on(Fault fault, uint64_t batch = 1) {
    InsertOptions options;
    options.records = 20'000;
    options.batch = batch;
    options.threads = 3;
    options.free_disk_bytes_min = 0;
    return run_on(fault, [&](Engine& engine) { run_insert(context_, options, engine); });
  }

  Report run_counters_on(Fault fault) {
    CountersOptions options;
    options.counters = 50;  // few, so that steps meet
    options.steps = 20'000;
    options.threads = 4;
    return run_on(fault, [&](Engine& engine) { run_counters(context_, options, engine); });
  }

  Report run_nvme_on(Fault fault) {
    NvmeOptions options;
    options.records = 20'000;
    options.threads = 3;
    options.depths = {1, 8};
    options.gets = 3000;
    options.seconds = 5;
    return run_on(fault, [&](Engine& engine) { run_nvme(context_, options, engine); });
  }

  Report run_overwrite_on(Fault fault) {
    OverwriteOptions options;
    options.records = 5000;
    return run_on(fault, [&](Engine& engine) { run_overwrite(context_, options, engine); });
  }

  AccountNames names_;
  const hawthorn::testing::TempDirectory directory_;
  RunContext context_;

 private:
  template <class F>
  Report run_on(Fault fault, F&& f) {
    Report report;
    context_.report = &report;
    MemoryEngine engine(fault);
    f(engine);
    return report;
  }
};

std::string failures(const Report& report) {
  std::string text;
  for (const std::string& failure : report.failures()) text += failure + "; ";
  return text;
}

TEST_F(WorkloadTest, BankPassesOnARightEngineWithAnyBatchSize) {
  for (const uint64_t batch_size : {1, 7, 100, 20'000, 1'000'000}) {
    const Report report = run_bank_on(Fault::kNone, batch_size);
    EXPECT_TRUE(report.ok()) << batch_size << ": " << failures(report);
    for (const char* phase : {"warm_up", "write", "drain", "write_read"}) {
      EXPECT_GT(report.value(phase, "tx_per_s"), 0) << phase;
    }
    EXPECT_GT(report.value("write_read", "reads_per_s"), 0);
    EXPECT_GT(report.value("scan", "entries_per_s"), 0);
    EXPECT_GT(report.value("verify", "bytes_raw"), 0);
    EXPECT_EQ(report.csv_lines().size(), batch_size <= 2000 ? 20U : 2U);
  }
}

TEST_F(WorkloadTest, BankPassesWithSeveralWriters) {
  const Report report = run_bank_on(Fault::kNone, 10, 4);
  EXPECT_TRUE(report.ok()) << failures(report);
}

TEST_F(WorkloadTest, BankCatchesALostPut) { EXPECT_FALSE(run_bank_on(Fault::kLosesPut, 10).ok()); }
TEST_F(WorkloadTest, BankCatchesALostCommit) {
  EXPECT_FALSE(run_bank_on(Fault::kLosesCommit, 10).ok());
}
TEST_F(WorkloadTest, BankCatchesReadsThatMissTheirBatch) {
  EXPECT_FALSE(run_bank_on(Fault::kHidesOwnWrites, 100).ok());
}
TEST_F(WorkloadTest, BankCatchesAFlippedBit) {
  EXPECT_FALSE(run_bank_on(Fault::kCorruptsValue, 10).ok());
}
TEST_F(WorkloadTest, BankCatchesAScanWithHoles) {
  EXPECT_FALSE(run_bank_on(Fault::kSkipsInScan, 10).ok());
}

TEST_F(WorkloadTest, UpsertPassesOnARightEngine) {
  const Report report = run_upsert_on(Fault::kNone);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_GT(report.value("upsert", "ops_per_s"), 0);
  EXPECT_GT(report.value("upsert", "p99_us"), 0);
  EXPECT_EQ(report.value("verify", "bytes_raw"), 30'000.0 * 264);
  EXPECT_EQ(report.csv_lines().size(), 3U);
}

TEST_F(WorkloadTest, UpsertCatchesWrongEngines) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(run_upsert_on(fault).ok()) << static_cast<int>(fault);
  }
}

// Takes in some batches, then is full.
class FullEngine : public MemoryEngine {
 public:
  std::unique_ptr<Writer> writer() override {
    class FullWriter : public Writer {
     public:
      explicit FullWriter(std::unique_ptr<Writer> inner) : inner_(std::move(inner)) {}
      void begin(WriteIntent intent) override { inner_->begin(intent); }
      void commit() override {
        if (++commits_ > 150) throw EngineError("MAP_FULL: test", EngineError::Kind::kFull);
        inner_->commit();
      }
      bool get(std::string_view key, std::string_view& value) override {
        return inner_->get(key, value);
      }
      void put(std::string_view key, std::string_view value) override { inner_->put(key, value); }
      void del(std::string_view key) override { inner_->del(key); }

     private:
      std::unique_ptr<Writer> inner_;
      int commits_ = 0;
    };
    return std::make_unique<FullWriter>(MemoryEngine::writer());
  }
};

TEST_F(WorkloadTest, UpsertTakesAFullMapAsAResult) {
  Report report;
  context_.report = &report;
  FullEngine engine;
  UpsertOptions options;
  options.rounds = 3;
  options.items = 10'000;
  options.free_disk_bytes_min = 0;
  run_upsert(context_, options, engine);
  EXPECT_TRUE(report.ok()) << failures(report);
  ASSERT_EQ(report.limits().size(), 1U);
  EXPECT_NE(report.limits()[0].find("MAP_FULL"), std::string::npos);
  EXPECT_EQ(report.value("verify", "bytes_raw"), 15'000.0 * 264);
}

TEST_F(WorkloadTest, MicroPassesOnARightEngine) {
  const Report clean = run_micro_on(Fault::kNone);
  EXPECT_TRUE(clean.ok()) << failures(clean);
  for (const char* phase : {"load", "get", "get_chain", "multi_get", "lower_bound", "remove"}) {
    EXPECT_GT(clean.value(phase, "ops_per_s"), 0) << phase;
  }
  EXPECT_GT(clean.value("iterate", "entries_per_s"), 0);
  EXPECT_GT(clean.value("iterate_batch", "entries_per_s"), 0);

  const Report dirty = run_micro_on(Fault::kNone, 0.08);
  EXPECT_TRUE(dirty.ok()) << failures(dirty);
  EXPECT_GT(dirty.value("get_dirty", "ops_per_s"), 0);
  EXPECT_EQ(dirty.value("get", "ops_per_s"), 0);
}

TEST_F(WorkloadTest, MicroCatchesWrongEngines) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kSkipsInScan, Fault::kKeepsRemoved}) {
    EXPECT_FALSE(run_micro_on(fault).ok()) << static_cast<int>(fault);
  }
  // A put that is lost while it overwrites leaves a value with an older version.
  EXPECT_FALSE(run_micro_on(Fault::kLosesPut, 0.5).ok());
}

TEST_F(WorkloadTest, MicroRunsChosenPhasesInEitherOrder) {
  MicroOptions options;
  options.items = 5'000;
  options.gets = 5'000;
  options.sequential = true;
  options.value_bytes = 8;
  options.phases = {"get_chain", "lower_bound"};
  Report report;
  context_.report = &report;
  MemoryEngine engine;
  run_micro(context_, options, engine);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_GT(report.value("get_chain", "ops_per_s"), 0);
  EXPECT_EQ(report.value("get", "ops_per_s"), 0);
}

TEST_F(WorkloadTest, ScalePassesOnARightEngine) {
  for (const uint64_t keys_per_read : {1, 64}) {
    const Report report = run_scale_on(Fault::kNone, keys_per_read);
    EXPECT_TRUE(report.ok()) << failures(report);
    EXPECT_EQ(report.value("verify", "bytes_raw"), 20'000.0 * 264);
    EXPECT_EQ(report.csv_lines().size(), 4U);
    for (const char* metric :
         {"ops_per_s", "first_ten_rounds_ops_per_s", "last_ten_rounds_ops_per_s"}) {
      EXPECT_GT(report.value("insert", metric), 0) << metric;
    }
    EXPECT_GT(report.value("read", "ops_per_s"), 0);
    EXPECT_NEAR(report.value("read", "per_thread_ops_per_s"), report.value("read", "ops_per_s") / 2,
                1);
  }
}

TEST_F(WorkloadTest, ScaleEndsAtItsSizeOrItsTime) {
  ScaleOptions options;
  options.size_bytes = 1'000'000;
  options.items = 1500;
  options.readers = 0;
  options.free_disk_bytes_min = 0;
  Report report;
  context_.report = &report;
  MemoryEngine engine;
  run_scale(context_, options, engine);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_EQ(report.value("verify", "bytes_raw"), 3788.0 * 264);

  options.size_bytes = 0;
  options.seconds = 1;
  options.batch = 10;
  options.write_rate = 2000;
  Report timed;
  context_.report = &timed;
  MemoryEngine other;
  run_scale(context_, options, other);
  EXPECT_TRUE(timed.ok()) << failures(timed);
  EXPECT_LE(timed.value("insert", "ops_per_s"), 2050);
  EXPECT_GT(timed.value("insert", "ops_per_s"), 0);
}

TEST_F(WorkloadTest, ScaleCatchesWrongEngines) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(run_scale_on(fault).ok()) << static_cast<int>(fault);
  }
}

TEST_F(WorkloadTest, InsertPassesOnARightEngine) {
  for (const uint64_t batch : {1, 100}) {
    const Report report = run_insert_on(Fault::kNone, batch);
    EXPECT_TRUE(report.ok()) << failures(report);
    EXPECT_GT(report.value("insert", "ops_per_s"), 0);
    EXPECT_GT(report.value("insert", "last_tenth_ops_per_s"), 0);
    EXPECT_EQ(report.value("verify", "bytes_raw"), 20'000.0 * 128);
    EXPECT_FALSE(report.csv_lines().empty());
  }
}

TEST_F(WorkloadTest, InsertCatchesWrongEngines) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(run_insert_on(fault).ok()) << static_cast<int>(fault);
  }
}

TEST_F(WorkloadTest, CountersPassOnARightEngineAndCatchWrongOnes) {
  const Report report = run_counters_on(Fault::kNone);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_GT(report.value("count", "ops_per_s"), 0);
  EXPECT_EQ(report.value("verify", "bytes_raw"), 50.0 * 16);
  for (const Fault fault : {Fault::kLosesCommit, Fault::kCorruptsValue}) {
    EXPECT_FALSE(run_counters_on(fault).ok()) << static_cast<int>(fault);
  }
}

// A get and a put that others come between lose a step now and then.
class CarelessEngine : public MemoryEngine {
 public:
  std::unique_ptr<Writer> writer() override {
    class CarelessWriter : public Writer {
     public:
      explicit CarelessWriter(std::unique_ptr<Writer> inner) : inner_(std::move(inner)) {}
      void begin(WriteIntent intent) override { inner_->begin(intent); }
      void commit() override { inner_->commit(); }
      bool get(std::string_view key, std::string_view& value) override {
        return inner_->get(key, value);
      }
      void put(std::string_view key, std::string_view value) override { inner_->put(key, value); }
      void del(std::string_view key) override { inner_->del(key); }
      uint64_t modify(std::string_view key, const Change& change) override {
        inner_->begin(WriteIntent::kReadWrite);
        std::string_view old;
        const bool found = inner_->get(key, old);
        std::string next;
        change(found, old, next);
        std::this_thread::yield();
        inner_->put(key, next);
        inner_->commit();
        return 0;
      }

     private:
      std::unique_ptr<Writer> inner_;
    };
    return std::make_unique<CarelessWriter>(MemoryEngine::writer());
  }
};

TEST_F(WorkloadTest, CountersCatchUpdatesThatAreNotAtomic) {
  CountersOptions options;
  options.counters = 1;
  options.steps = 50'000;
  options.threads = 4;
  Report report;
  context_.report = &report;
  CarelessEngine engine;
  run_counters(context_, options, engine);
  EXPECT_FALSE(report.ok());
}

TEST_F(WorkloadTest, NvmePassesOnARightEngine) {
  const Report report = run_nvme_on(Fault::kNone);
  EXPECT_TRUE(report.ok()) << failures(report);
  for (const char* phase : {"load", "drain", "read_1", "read_8", "range_small", "range_medium",
                            "range_large", "mix_1", "mix_read_8", "mix_write_8"}) {
    EXPECT_GT(report.value(phase, "ops_per_s"), 0) << phase;
  }
  EXPECT_GT(report.value("range_medium", "entries_per_s"), 0);
  EXPECT_GT(report.value("read_8", "p999_us"), 0);
  EXPECT_GT(report.value("mix_1", "rss_bytes"), 0);
  EXPECT_GT(report.value("verify", "bytes_raw"), 20'000.0 * 124);
}

TEST_F(WorkloadTest, NvmeCatchesWrongEngines) {
  for (const Fault fault : {Fault::kLosesPut, Fault::kSkipsInScan}) {
    EXPECT_FALSE(run_nvme_on(fault).ok()) << static_cast<int>(fault);
  }
}

TEST_F(WorkloadTest, OverwritePassesOnARightEngineAndCatchesWrongOnes) {
  const Report report = run_overwrite_on(Fault::kNone);
  EXPECT_TRUE(report.ok()) << failures(report);
  for (const char* phase : {"load", "pass_1", "pass_2", "pass_3"}) {
    EXPECT_GT(report.value(phase, "ops_per_s"), 0) << phase;
  }
  EXPECT_EQ(report.value("verify", "bytes_raw"), 5000.0 * 264);
  EXPECT_GE(report.csv_lines().size(), 150U);
  for (const Fault fault : {Fault::kLosesPut, Fault::kCorruptsValue, Fault::kSkipsInScan}) {
    EXPECT_FALSE(run_overwrite_on(fault).ok()) << static_cast<int>(fault);
  }
}

TEST(Values, AreWholeWithEitherFill) {
  for (const Fill fill : {Fill::kNoise, Fill::kHalf}) {
    for (const size_t bytes : {8, 9, 15, 16, 17, 100, 101, 256}) {
      std::string value(bytes, '\0');
      make_value(42, 3, value.data(), bytes, fill);
      EXPECT_TRUE(value_is_whole(42, 3, value, fill)) << bytes;
      EXPECT_FALSE(value_is_whole(43, 3, value, fill)) << bytes;
      value.back() ^= 1;
      EXPECT_FALSE(value_is_whole(42, 3, value, fill)) << bytes;
    }
  }
  // The second half repeats the first, so that a codec can leave it out.
  std::string value(256, '\0');
  make_value(42, 0, value.data(), value.size(), Fill::kHalf);
  EXPECT_EQ(value.substr(0, 128), value.substr(128));
}

TEST_F(WorkloadTest, TheReaderNoticesASnapshotThatMoves) {
  BankOptions options;
  options.accounts = names_.count();
  options.transactions = 200'000;
  options.batch_size = 10;
  options.reads_per_tx = 5'000;
  Report report;
  context_.report = &report;
  MemoryEngine engine(Fault::kMovesSnapshots);
  run_bank(context_, options, names_, engine);
  EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace hawthorn::bench
