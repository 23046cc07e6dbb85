// simulate: runs seeds of the simulated machine, and says which of them fail.
//
//   simulate [--first-seed N] [--seeds M] [--jobs J] [--shrink] [--verbose] [--table]
//            [--require-all-faults] [--hashes] [--trace FILE]
//            [--lives L] [--clients C] [--operations O] [--faults F] [--kinds MASK]
//            [--features MASK] [--planted] [--planted-races]
//
// The last line is "S seeds, L lives, C crashes, F failed"; the exit code 1 where any failed, or a
// fault that is required was never met, and 2 for wrong options. --lives to --features make
// runs smaller, as --shrink prints them. --planted: the disk drops what was synced;
// --planted-races: transactions commit as if they had read nothing.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/machine.h"
#include "tests/sim/coverage.h"
#include "tests/sim/runner.h"

namespace hawthorn::tests {
namespace {

struct Arguments {
  SimParameters parameters;
  uint64_t seeds = 100;
  uint64_t jobs = os::processors();
  uint64_t shrink = 0;
  uint64_t table = 0;
  uint64_t require_all = 0;
  uint64_t hashes = 0;
  uint64_t verbose = 0;
  uint64_t planted = 0;
  uint64_t planted_races = 0;
};

bool parse(int count, char** texts, Arguments* arguments) {
  const struct {
    const char* name;
    uint64_t* number;
    bool flag;
  } options[] = {
      {"--first-seed", &arguments->parameters.seed, false},
      {"--seeds", &arguments->seeds, false},
      {"--jobs", &arguments->jobs, false},
      {"--shrink", &arguments->shrink, true},
      {"--table", &arguments->table, true},
      {"--require-all-faults", &arguments->require_all, true},
      {"--hashes", &arguments->hashes, true},
      {"--verbose", &arguments->verbose, true},
      {"--planted", &arguments->planted, true},
      {"--planted-races", &arguments->planted_races, true},
      {"--lives", &arguments->parameters.lives, false},
      {"--clients", &arguments->parameters.clients, false},
      {"--operations", &arguments->parameters.operations, false},
      {"--faults", &arguments->parameters.faults, false},
      {"--kinds", &arguments->parameters.kinds, false},
      {"--features", &arguments->parameters.features, false},
  };
  for (int i = 1; i < count; ++i) {
    const std::string text = texts[i];
    if (text == "--trace" && i + 1 < count) {
      arguments->parameters.trace = texts[++i];
      continue;
    }
    bool known = false;
    for (const auto& option : options) {
      if (text != option.name) continue;
      known = true;
      if (option.flag) {
        *option.number = 1;
        continue;
      }
      if (++i == count) return false;
      char* end = nullptr;
      *option.number = strtoull(texts[i], &end, 0);
      known = *texts[i] != '\0' && *end == '\0';
    }
    if (!known) return false;
  }
  arguments->parameters.verbose = arguments->verbose != 0;
  if (arguments->planted != 0) arguments->parameters.planted = SimPlanted::kLies;
  if (arguments->planted_races != 0) arguments->parameters.planted = SimPlanted::kRaces;
  return true;
}

int run(const Arguments& arguments) {
  std::vector<SimParameters> runs(arguments.seeds, arguments.parameters);
  for (uint64_t i = 0; i < arguments.seeds; ++i) runs[i].seed += i;
  SimResult sum;
  uint64_t failed = 0;
  run_all(runs, arguments.jobs, [&](const SimParameters& parameters, const SimResult& result) {
    add(&sum, result);
    if (arguments.hashes != 0) {
      printf("seed %llu: trace %016llx, disk %016llx\n",
             static_cast<unsigned long long>(parameters.seed),
             static_cast<unsigned long long>(result.trace),
             static_cast<unsigned long long>(result.image));
    }
    if (result.failure.empty()) return;
    ++failed;
    printf("seed %llu: %s\n", static_cast<unsigned long long>(parameters.seed),
           result.failure.c_str());
    const SimParameters again = arguments.shrink != 0 ? shrink(parameters, result) : parameters;
    printf("  %s\n", command_line(again).c_str());
    fflush(stdout);
  });
  if (arguments.table != 0 || arguments.require_all != 0) {
    printf("%s", coverage_table(sum.coverage).c_str());
    printf(
        "%llu commits, of which crashes took %llu; %llu lives poisoned, %llu runs ended by "
        "damage; %llu points, %llu switches\n",
        static_cast<unsigned long long>(sum.commits), static_cast<unsigned long long>(sum.lost),
        static_cast<unsigned long long>(sum.poisoned),
        static_cast<unsigned long long>(sum.corruption), static_cast<unsigned long long>(sum.steps),
        static_cast<unsigned long long>(sum.switches));
  }
  bool complete = true;
  if (arguments.require_all != 0) {
    const std::string missing = never_met(sum.coverage);
    complete = missing.empty();
    if (!complete) printf("never met: %s\n", missing.c_str());
  }
  printf("%llu seeds, %llu lives, %llu crashes, %llu failed\n",
         static_cast<unsigned long long>(arguments.seeds),
         static_cast<unsigned long long>(sum.lives), static_cast<unsigned long long>(sum.crashes),
         static_cast<unsigned long long>(failed));
  return failed == 0 && complete ? 0 : 1;
}

}  // namespace
}  // namespace hawthorn::tests

int main(int count, char** texts) {
  hawthorn::tests::Arguments arguments;
  if (!hawthorn::tests::parse(count, texts, &arguments)) {
    fprintf(stderr, "simulate: wrong options; see the head of tests/sim/simulate.cc\n");
    return 2;
  }
  return hawthorn::tests::run(arguments);
}
