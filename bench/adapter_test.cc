// Every engine of this build under small runs of every workload, and killed: an adapter that loses,
// mixes up or tears anything fails here before it can win a comparison.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "bench/bank_kill.h"
#include "bench/counters.h"
#include "bench/engine_registry.h"
#include "bench/insert.h"
#include "bench/micro.h"
#include "bench/nvme.h"
#include "bench/overwrite.h"
#include "bench/scale.h"
#include "bench/soak.h"
#include "bench/txn.h"
#include "bench/upsert.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const EngineInfo& info : engines()) {
    if (info.program.empty()) names.push_back(info.name);
  }
  return names;
}

class AdapterTest : public ::testing::TestWithParam<std::string> {
 protected:
  AdapterTest()
      : info_(*find_engine(GetParam())),
        base_(directory_.path()),
        names_(500, 12345, "/nonexistent") {
    run_.engine_name = info_.name;
    run_.config.path = base_ + "/db";
    run_.config.memory_bytes = size_t{64} << 20;
    run_.config.map_bytes = size_t{1} << 30;
    bank_.accounts = names_.count();
    bank_.transactions = 3000;
    bank_.batch_size = 10;
    make_database_directory(base_, run_.config.path);
  }

  // In a child process, as the program does: engines start threads that a test must not inherit.
  template <class F>
  void expect_pass(F&& work) {
    const Report report = run_in_child(info_.name, {}, [&](Report& child) {
      run_.report = &child;
      work(*info_.make());
    });
    for (const std::string& failure : report.failures()) ADD_FAILURE() << failure;
    EXPECT_FALSE(report.rows().empty());
  }

  bool commits_batches() const { return info_.make()->commits_batches(); }

  const EngineInfo& info_;
  const hawthorn::testing::TempDirectory directory_;
  const std::string base_;
  const AccountNames names_;
  RunContext run_;
  BankOptions bank_;
};

TEST_P(AdapterTest, KeepsTheBankRight) {
  if (!commits_batches()) GTEST_SKIP();
  expect_pass([&](Engine& engine) { run_bank(run_, bank_, names_, engine); });
}

TEST_P(AdapterTest, KeepsTheBankRightWithSeveralSyncedWriters) {
  if (!commits_batches()) GTEST_SKIP();
  bank_.threads = 4;
  bank_.transactions = 400;
  run_.config.writers = 4;
  run_.config.sync = SyncMode::kFull;
  expect_pass([&](Engine& engine) { run_bank(run_, bank_, names_, engine); });
}

// It would be faster than engines that commit what it tears.
TEST_P(AdapterTest, RefusesTransactionsThatItWouldTear) {
  if (commits_batches()) GTEST_SKIP();
  expect_pass([&](Engine& engine) {
    engine.open(run_.config);
    {
      const auto writer = engine.writer();
      writer->begin(WriteIntent::kReadWrite);
      writer->put("one", "1");
      writer->put("two", "2");
      try {
        writer->commit();
        run_.report->fail("it committed");
      } catch (const EngineError&) {
        run_.report->add("verify", "bytes_raw", 8);
      }
    }
    engine.close();
  });
}

TEST_P(AdapterTest, UpsertsAndFindsAll) {
  UpsertOptions options;
  options.rounds = 2;
  options.items = 5000;
  options.free_disk_bytes_min = 0;
  expect_pass([&](Engine& engine) { run_upsert(run_, options, engine); });
}

TEST_P(AdapterTest, ReadsWhatWasWrittenLast) {
  for (const bool sequential : {false, true}) {
    MicroOptions options;
    options.items = 5000;
    options.gets = 10'000;
    options.sequential = sequential;
    options.value_bytes = sequential ? 8 : 256;
    options.dirty = 0.1;
    make_database_directory(base_, run_.config.path);
    expect_pass([&](Engine& engine) { run_micro(run_, options, engine); });
  }
}

TEST_P(AdapterTest, InsertsAndCountsWithSeveralThreads) {
  run_.config.writers = 4;
  InsertOptions insert;
  insert.records = 5000;
  insert.threads = 4;
  insert.free_disk_bytes_min = 0;
  expect_pass([&](Engine& engine) { run_insert(run_, insert, engine); });

  make_database_directory(base_, run_.config.path);
  CountersOptions counters;
  counters.counters = 40;
  counters.steps = 2000;
  counters.threads = 4;
  expect_pass([&](Engine& engine) { run_counters(run_, counters, engine); });
}

TEST_P(AdapterTest, ReadsWhileItGrows) {
  ScaleOptions options;
  options.rounds = 2;
  options.items = 5000;
  options.readers = 2;
  options.keys_per_read = 8;
  options.free_disk_bytes_min = 0;
  expect_pass([&](Engine& engine) { run_scale(run_, options, engine); });
}

TEST_P(AdapterTest, ReadsWithSeveralUnderWay) {
  run_.config.writers = 3;
  run_.fill = Fill::kHalf;
  NvmeOptions options;
  options.records = 5000;
  options.threads = 3;
  options.depths = {1, 8};
  options.gets = 300;
  options.seconds = 2;
  expect_pass([&](Engine& engine) { run_nvme(run_, options, engine); });
}

TEST_P(AdapterTest, OverwritesInPasses) {
  OverwriteOptions options;
  options.records = 2000;
  expect_pass([&](Engine& engine) { run_overwrite(run_, options, engine); });
}

TEST_P(AdapterTest, DoesEverythingAtOnce) {
  if (!commits_batches()) GTEST_SKIP();
  // A program of its C API alone shows it, too: once in a hundred runs, with two writers that do
  // not sync.
  if (GetParam() == "tidesdb") GTEST_SKIP() << "TidesDB 10.2.1 opens with old values of some keys";
  SoakOptions options;
  options.records = 5000;
  options.seconds = 2;
  options.hold_ms = 100;
  options.free_disk_bytes_min = 0;
  run_.config.writers = options.writers;
  expect_pass([&](Engine& engine) { run_soak(run_, options, engine); });
}

TEST_P(AdapterTest, CommitsTransactions) {
  run_.config.transactions = true;
  if (info_.make()->offers(TxnKind::kRowLocks)) {
    CountersOptions counters;
    counters.counters = 10;
    counters.steps = 2000;
    counters.threads = 4;
    counters.row_locks = true;
    run_.config.writers = counters.threads;
    expect_pass([&](Engine& engine) { run_counters(run_, counters, engine); });
  }
  if (info_.make()->offers(TxnKind::kSerializable)) {
    make_database_directory(base_, run_.config.path);
    PointOptions point;
    point.keys = 1000;
    point.threads = 4;
    point.transactions = 2000;
    point.rounds = 2;
    run_.config.writers = point.threads;
    expect_pass([&](Engine& engine) { run_txn_point(run_, point, engine); });
  }
}

TEST_P(AdapterTest, HoldsSnapshotsAndClones) {
  if (info_.make()->holds_snapshots()) {
    SnapshotsOptions snapshots;
    snapshots.keys = 2000;
    snapshots.upserts = 5000;
    snapshots.snapshots = 20;
    snapshots.rounds = 1;
    snapshots.free_disk_bytes_min = 0;
    expect_pass([&](Engine& engine) { run_txn_snapshots(run_, snapshots, engine); });
  }
  if (info_.make()->clones()) {
    make_database_directory(base_, run_.config.path);
    CloneOptions clone;
    clone.keys = 5000;
    clone.clones = 3;
    clone.threads = 2;
    expect_pass([&](Engine& engine) { run_txn_clone(run_, clone, engine); });
  }
}

TEST_P(AdapterTest, CountsAndCompares) {
  const std::unique_ptr<Engine> engine = info_.make();
  if (engine->counts() && engine->holds_snapshots()) {
    CountOptions count;
    count.keys = 20'000;
    count.counts = 100;
    count.threads = 2;
    expect_pass([&](Engine& one) { run_txn_count(run_, count, one); });
  }
  if (engine->compares()) {
    make_database_directory(base_, run_.config.path);
    OrdersOptions orders;
    orders.keys = 5000;
    orders.gets = 5000;
    orders.rounds = 2;
    expect_pass([&](Engine& one) { run_txn_orders(run_, orders, one); });
  }
}

TEST_P(AdapterTest, ASnapshotShowsTheMomentOfItsBegin) {
  // Its snapshots hold writers off.
  if (GetParam() == "memory" || !commits_batches()) GTEST_SKIP();
  expect_pass([&](Engine& engine) {
    engine.open(run_.config);
    {
      const auto writer = engine.writer();
      const auto reader = engine.reader();
      const auto write = [&](std::string_view value) {
        writer->begin(WriteIntent::kBlind);
        writer->put("key", value);
        writer->commit();
      };
      for (const std::string_view value : {"old", "new"}) {
        write(value);
        reader->begin(View::kSnapshot);
        write("later");
        std::string_view found;
        if (!reader->get("key", found) || found != value) {
          run_.report->fail("the snapshot shows '" + std::string(found) + "'");
        }
        reader->end();
      }
      run_.report->add("verify", "bytes_raw", 8);
    }
    engine.close();
  });
}

TEST_P(AdapterTest, SurvivesAKill) {
  // Those do not promise to.
  if (GetParam() == "memory" || GetParam().ends_with("-writemap")) GTEST_SKIP();
  if (!commits_batches()) GTEST_SKIP();
  const KillOptions kill{.rounds = 2, .run_ms_min = 20, .run_ms_max = 100};
  const Report report = run_killed_bank(info_, run_.config, bank_, kill, names_, {});
  for (const std::string& failure : report.failures()) ADD_FAILURE() << failure;
  EXPECT_GT(report.value("open", "avg_us"), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, AdapterTest, ::testing::ValuesIn(engine_names()),
                         [](const ::testing::TestParamInfo<std::string>& engine) {
                           std::string name = engine.param;
                           for (char& c : name) c = c == '-' || c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace hawthorn::bench
