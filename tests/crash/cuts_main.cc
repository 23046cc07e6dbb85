// Cuts the power of recorded databases (cut_lives.h):
//
//   power_cuts [--cuts N] [--first-seed S] [--directory D] [--drop-syncs CLASS]
//   power_cuts --recording FILE --cut K [--directory D] [--drop-syncs CLASS]
//
// 25 cuts belong to one seed. Prints in which states each class of files was cut, and how many cuts
// left what only some seeds have; the last line is
// `N cuts, A again, S seeds, F failed`. Exits with 1 where something failed, and where a class was
// never cut in a state that it must be cut in though there were cuts enough. What failed is left
// below D, and the line `FAILED` has the command that cuts it again: the second form, which leaves
// the files in D/power-cut-again. --drop-syncs takes syncs of files of a class (wal., data.,
// manifest., superblock, directory, keys, copy., repository/) for not made: a canary, which must
// fail.
#include <stdlib.h>

#include <cstdio>
#include <string_view>

#include "tests/crash/cut_lives.h"

namespace {

// So many cuts meet every state, but for very bad luck.
constexpr uint64_t kEnoughCuts = 1000;

int usage() {
  fprintf(stderr,
          "usage: power_cuts [--cuts N] [--first-seed S] [--directory D] [--drop-syncs CLASS]\n"
          "       power_cuts --recording FILE --cut K [--directory D] [--drop-syncs CLASS]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  CutOptions options;
  const char* const temporary = getenv("TMPDIR");
  options.directory = temporary != nullptr ? temporary : "/tmp";
  std::string recording;
  uint64_t cut = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return usage();
    const char* const value = argv[i + 1];
    if (name == "--cuts") {
      options.cuts = strtoull(value, nullptr, 10);
    } else if (name == "--first-seed") {
      options.first_seed = strtoull(value, nullptr, 10);
    } else if (name == "--directory") {
      options.directory = value;
    } else if (name == "--drop-syncs") {
      options.drop_syncs = value;
    } else if (name == "--recording") {
      recording = value;
    } else if (name == "--cut") {
      cut = strtoull(value, nullptr, 10);
    } else {
      return usage();
    }
  }
  if (!recording.empty()) {
    const std::string error = run_cut_again(recording, cut, options);
    printf("%s\n", error.empty() ? "nothing is wrong" : ("FAILED " + error).c_str());
    return error.empty() ? 0 : 1;
  }
  const CutTotals totals = run_cuts(options);
  fputs(table_of(totals).c_str(), stdout);
  uint64_t failed = totals.failed;
  if (totals.cuts >= kEnoughCuts) {
    for (const std::string& state : totals.never_met()) {
      printf("FAILED never met: %s\n", state.c_str());
      ++failed;
    }
  }
  printf("%llu commits recorded, %llu cuts left no database yet\n",
         static_cast<unsigned long long>(totals.commits),
         static_cast<unsigned long long>(totals.none));
  printf("%llu cuts, %llu again, %llu seeds, %llu failed\n",
         static_cast<unsigned long long>(totals.cuts),
         static_cast<unsigned long long>(totals.again),
         static_cast<unsigned long long>(totals.seeds), static_cast<unsigned long long>(failed));
  return failed > 0 ? 1 : 0;
}
