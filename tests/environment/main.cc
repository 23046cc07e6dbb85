// The program of each API:
//
//   environment_API                            the short part that the gate runs
//   environment_API --case "calls open EMFILE 12 3"
//   environment_API --first-seed N [--cases K | --minutes M]
//
// A line for each case says what it met; those that fail have `FAILED`, and the command that runs
// them again. The last line is `N cases, M met, S skipped, F failed`. Exits with 1 where one
// failed.

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/temp_directory.h"
#include "tests/environment/cases.h"
#include "tests/environment/store.h"
#include "tests/environment/supervisor.h"
#include "tests/environment/taking.h"
#include "tests/environment/workload.h"

namespace hawthorn::tests {
namespace {

constexpr int kSkipped = 77;

struct Totals {
  unsigned long long cases = 0;
  unsigned long long met = 0;
  unsigned long long skipped = 0;
  unsigned long long failed = 0;
};

class Runner {
 public:
  Runner(std::string_view api, const MakeStore& make_store) : api_(api), make_store_(make_store) {}

  // `must_meet`: a case that meets nothing shows nothing, and has failed.
  void run(const Case& shortage, bool must_meet = false);
  int end() const {
    printf("%llu cases, %llu met, %llu skipped, %llu failed\n", totals_.cases, totals_.met,
           totals_.skipped, totals_.failed);
    return totals_.failed > 0 ? 1 : 0;
  }

 private:
  const std::string_view api_;
  const MakeStore& make_store_;
  Totals totals_;
};

void Runner::run(const Case& shortage, bool must_meet) {
  const std::string text = text_of(shortage);
  const testing::TempDirectory directory;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) Shared;
  Supervised supervised;
  supervised.kind = shortage.kind;
  supervised.error = shortage.error;
  supervised.first = shortage.first;
  supervised.count = shortage.count;
  Ended ended = supervise(supervised, *shared, [&] {
    const std::string missing = prepare_process(shortage, directory.path());
    if (!missing.empty()) {
      shared->fail("%s", missing.c_str());
      _exit(kSkipped);
    }
    if (chdir(directory.path().c_str()) != 0) return false;
    return run_workload(shortage, {directory.path(), api_}, make_store_, *shared);
  });
  ++totals_.cases;
  const bool is_met = shared->met.load() > 0;
  if (is_met) ++totals_.met;
  if (must_meet && !is_met && ended.wrong.empty()) ended.wrong = "nothing was refused";
  if (ended.code == kSkipped) {
    ++totals_.skipped;
    printf("skipped %s: %s\n", text.c_str(), ended.wrong.c_str());
  } else if (ended.wrong.empty()) {
    printf("%s %s [%s]: %llu calls, %llu met, %llu errors, %llu commits\n",
           is_met ? "passed" : "not met", text.c_str(), ended.subject.c_str(),
           static_cast<unsigned long long>(ended.calls),
           static_cast<unsigned long long>(shared->met.load()),
           static_cast<unsigned long long>(shared->refused.load()),
           static_cast<unsigned long long>(shared->acknowledged.load()));
  } else {
    ++totals_.failed;
    printf("FAILED environment_%.*s --case \"%s\" [%s]: %s\n", static_cast<int>(api_.size()),
           api_.data(), text.c_str(), ended.subject.c_str(), ended.wrong.c_str());
  }
  fflush(stdout);
  munmap(memory, sizeof(Shared));
}

int usage(std::string_view api) {
  fprintf(stderr,
          "usage: environment_%.*s [--case TEXT | --first-seed N [--cases K | --minutes M]]\n",
          static_cast<int>(api.size()), api.data());
  return 2;
}

}  // namespace

int run_environment(int argc, char** argv, std::string_view api, const MakeStore& make_store) {
  // So that files come and go all the time.
  db::log_segment_bytes = size_t{512} << 10;
  db::log_bytes_min = size_t{1} << 20;
  db::log_ring_bytes_max = size_t{1} << 20;
  db::data_file_bytes_first = db::data_file_bytes_max = uint64_t{4} << 20;

  Runner runner(api, make_store);
  uint64_t first_seed = 0;
  uint64_t cases = 0;
  uint64_t minutes = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (++i == argc) return usage(api);
    if (name == "--case") {
      const std::optional<Case> parsed = parse_case(argv[i]);
      if (!parsed) return usage(api);
      runner.run(*parsed);
      return runner.end();
    }
    const uint64_t number = strtoull(argv[i], nullptr, 10);
    if (name == "--first-seed") {
      first_seed = number;
      cases = std::max<uint64_t>(cases, 1);
    } else if (name == "--cases") {
      cases = number;
    } else if (name == "--minutes") {
      minutes = number;
    } else {
      return usage(api);
    }
  }
  if (cases == 0 && minutes == 0) {
    for (const char* const text : gate_cases()) {
      const Case shortage = *parse_case(text);
      const bool is_fork = shortage.kind != nullptr && shortage.kind->name == "fork";
      if (is_fork && !opens_in_children(api)) continue;
      runner.run(shortage, shortage.shortage != Shortage::kNone);
    }
    return runner.end();
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(minutes);
  for (uint64_t n = 0; minutes > 0 ? std::chrono::steady_clock::now() < end : n < cases; ++n) {
    runner.run(draw_case(first_seed + n));
  }
  return runner.end();
}

}  // namespace hawthorn::tests
