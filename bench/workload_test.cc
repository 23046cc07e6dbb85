// The workloads against the in-memory double, and against doubles that are wrong in one way each:
// every fault must turn the run into a failure.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "bench/bank.h"
#include "bench/engine_memory.h"
#include "bench/micro.h"
#include "bench/upsert.h"

namespace hawthorn::bench {
namespace {

class WorkloadTest : public testing::Test {
 protected:
  WorkloadTest() : names_(2000, 12345, "/nonexistent") {
    context_.engine_name = "double";
    context_.config.path =
        std::filesystem::temp_directory_path() / ("hawthorn-workload-" + std::to_string(getpid()));
    std::filesystem::create_directories(context_.config.path);
    context_.config.memory_bytes = 1 << 30;
  }
  ~WorkloadTest() override { std::filesystem::remove_all(context_.config.path); }

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

  AccountNames names_;
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
