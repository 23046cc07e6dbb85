// The kills of kill_lives.h, a few of them, and that they find what they should.
#include "tests/crash/kill_lives.h"

#include <unistd.h>

#include "base/sanitizers.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

TEST(KillLives, nothing_is_lost_in_any_state) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  KillOptions options;
  options.first_seed = environment_number("HAWTHORN_SEED", 1);
  options.kills = environment_number("HAWTHORN_KILLS", scaled(60));
  // Rare states come after many kills, each of which takes a sanitizer's time.
#if !defined(HAWTHORN_ASAN)
  options.until_all_states = true;
#endif
  options.directory = directory.path();
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(options.first_seed));
  const KillTotals totals = run_kills(options);
  EXPECT_EQ(totals.failed, 0u) << table_of(totals);
  EXPECT_TRUE(!options.until_all_states || totals.never_hit().empty()) << table_of(totals);
  EXPECT_GE(totals.kills, options.kills);
}

// Writes to the log's segments that are lost: what the ring has given up is gone.
TEST(KillLives, a_log_that_is_not_written_is_found) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  KillOptions options;
  options.kills = 200;
  options.lose_log = true;
  options.directory = directory.path();
  EXPECT_GT(run_kills(options).failed, 0u);
}

}  // namespace
}  // namespace hawthorn::tests
