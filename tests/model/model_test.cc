// Random operations against a database and a model of it (model_run.h). The variant on the
// simulated machine has no background threads: the same seed gives the same run, HAWTHORN_SEED and
// HAWTHORN_OPERATIONS replay and scale it.
#include "db/file_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/model/model_run.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;

uint64_t seed_or(uint64_t otherwise) { return environment_number("HAWTHORN_SEED", otherwise); }
uint64_t operations_or(uint64_t otherwise) {
  return environment_number("HAWTHORN_OPERATIONS", otherwise);
}

// Some of the bulk ingests must go past the log, in a run that is long enough to have several.
void expect_attaching(const ModelRun& run, const ModelOptions& options) {
  constexpr uint64_t kEnough = 200'000;
  const ModelRun::Ingests& ingests = run.ingests();
  printf("%llu ingests, %llu of them attached %llu containers; %llu transactions prepared\n",
         static_cast<unsigned long long>(ingests.finished),
         static_cast<unsigned long long>(ingests.attaching),
         static_cast<unsigned long long>(ingests.containers),
         static_cast<unsigned long long>(run.prepared()));
  if (::testing::Test::HasFailure() || options.operations < kEnough) return;
  EXPECT_GT(ingests.finished, 4u);
  EXPECT_GT(ingests.attaching, 1u);
  EXPECT_GT(run.prepared(), 20u);
}

void run_simulated(const ModelOptions& options, bool attaching = false) {
  ::testing::Test::RecordProperty("seed", std::to_string(options.seed));
  printf("HAWTHORN_SEED=%llu HAWTHORN_OPERATIONS=%llu\n",
         static_cast<unsigned long long>(options.seed),
         static_cast<unsigned long long>(options.operations));
  SimDisk disk(options.seed);
  SimMachine machine(disk, options.seed);
  ModelRun run(options,
               [&](const Options& how) { return Db::open_on(machine.machine(), "/db", how); });
  run.run();
  if (attaching) expect_attaching(run, options);
}

// Many short runs over few keys: histories of one key, splits hardly ever.
TEST(Model, few_keys) {
  const uint64_t seeds = environment_number("HAWTHORN_SEED", 0) != 0 ? 1 : 10;
  for (uint64_t i = 0; i < seeds; ++i) {
    run_simulated(
        {.seed = seed_or(100 + i), .operations = operations_or(scaled(20'000)), .keys = 150});
    if (::testing::Test::HasFailure()) return;
  }
}

// More data than memory: containers split, extents are evicted and read again, cursors read ahead.
// Files are small: they come and go.
TEST(Model, more_than_memory) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
#if defined(HAWTHORN_TEST_POINTS)
  size_t read_ahead = 0;
  os::set_test_point("tree.cursor_ahead.taken", [&] { ++read_ahead; });
#endif
  const uint64_t operations = operations_or(scaled(800'000));
  run_simulated({.seed = seed_or(7), .operations = operations, .keys = 60'000}, true);
#if defined(HAWTHORN_TEST_POINTS)
  os::clear_test_points();
  printf("windows that were read ahead: %zu\n", read_ahead);
  if (operations >= 400'000) {
    EXPECT_GT(read_ahead, 0u);
  }
#endif
}

// Keys and values stand in wide groups, where no version, tombstone or odd size is among them.
TEST(Model, counters) {
#if defined(HAWTHORN_TEST_POINTS)
  size_t wide = 0;
  os::set_test_point("run_builder.wide", [&] { ++wide; });
#endif
  run_simulated({.seed = seed_or(13),
                 .operations = operations_or(scaled(400'000)),
                 .keys = 200'000,
                 .counters = true});
#if defined(HAWTHORN_TEST_POINTS)
  os::clear_test_points();
  printf("wide runs: %zu\n", wide);
  EXPECT_GT(wide, 0u);
#endif
}

// All of the same on what is encrypted.
TEST(Model, encrypted) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  run_simulated({.seed = seed_or(19),
                 .operations = operations_or(scaled(300'000)),
                 .keys = 40'000,
                 .encrypted = true});
}

TEST(Model, batches_of_cursors) {
  run_simulated({.seed = seed_or(29),
                 .operations = operations_or(scaled(300'000)),
                 .keys = 40'000,
                 .batches = true});
}

// In this history a transaction that has locked two rows is prepared while a commit from after that
// still stands in a layer. It is refused, though nobody has written these rows: who began before
// such a commit meets it on every key of the tree (docs/transactions.md, "Larger than memory").
TEST(Model, locked_rows_and_layers) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  run_simulated(
      {.seed = seed_or(7), .operations = operations_or(140'000), .keys = 60'000, .batches = true});
}

TEST(Model, real_threads_and_files) {
  const ModelOptions options{
      .seed = seed_or(11), .operations = operations_or(scaled(800'000)), .keys = 60'000};
  const TempDirectory directory;
  ModelRun run(options, [&](const Options& how) { return Db::open(directory / "db", how); });
  run.run();
  expect_attaching(run, options);
}

}  // namespace
}  // namespace hawthorn::tests
