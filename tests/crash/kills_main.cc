// Kills processes that use a database, in every state (kill_lives.h):
//
//   kills [--kills N] [--first-seed S] [--directory D] [--lose-log]
//
// Ten kills belong to one seed. Prints how many hit each state; the last line is
// `K kills, L lives, F failed`. Exits with 1 where something failed, and where a state was never
// hit though there were kills enough for all of them. What failed is left below D.
#include <stdlib.h>

#include <cstdio>
#include <string_view>

#include "tests/crash/kill_lives.h"

namespace {

int usage() {
  fprintf(stderr, "usage: kills [--kills N] [--first-seed S] [--directory D] [--lose-log]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  KillOptions options;
  const char* const temporary = getenv("TMPDIR");
  options.directory = temporary != nullptr ? temporary : "/tmp";
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--lose-log") {
      options.lose_log = true;
      continue;
    }
    if (++i == argc) return usage();
    if (name == "--kills") {
      options.kills = strtoull(argv[i], nullptr, 10);
    } else if (name == "--first-seed") {
      options.first_seed = strtoull(argv[i], nullptr, 10);
    } else if (name == "--directory") {
      options.directory = argv[i];
    } else {
      return usage();
    }
  }
  const KillTotals totals = run_kills(options);
  fputs(table_of(totals).c_str(), stdout);
  const bool enough = totals.kills >= 4 * kill_states().size();
  const size_t never_hit = enough ? totals.never_hit().size() : 0;
  if (never_hit > 0) printf("FAILED %zu states were never hit\n", never_hit);
  printf("%llu seeds, %llu commits\n", static_cast<unsigned long long>(totals.seeds),
         static_cast<unsigned long long>(totals.commits));
  printf("%llu kills, %llu lives, %llu failed\n", static_cast<unsigned long long>(totals.kills),
         static_cast<unsigned long long>(totals.lives),
         static_cast<unsigned long long>(totals.failed + never_hit));
  return totals.failed + never_hit > 0 ? 1 : 0;
}
