#include "bench/bank_kill.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <thread>

#include "bench/clock.h"
#include "bench/machine.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// How long a child may take to load and to commit its first batch.
constexpr double kFirstCommitSeconds = 300;

// What the processes tell each other.
struct Shared {
  std::atomic<uint64_t> batches{0};  // acknowledged in this round
  std::atomic<uint64_t> logged{0};   // successful transfers that are acknowledged, in all rounds
  std::atomic<uint64_t> found{0};    // log entries that the validation found
  std::atomic<uint64_t> open_ns{0};
  std::atomic<bool> child_failed{false};
};

class SharedMemory {
 public:
  SharedMemory() {
    memory_ =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no shared memory");
    shared_ = new (memory_) Shared;
  }
  ~SharedMemory() { munmap(memory_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared& operator*() const { return *shared_; }
  Shared* operator->() const { return shared_; }

 private:
  void* memory_;
  Shared* shared_;
};

// The transfers as far as the database is known to hold them.
struct Position {
  TransferSource source;
  Balances balances;
  uint64_t attempts = 0;
  uint64_t logged = 0;
};

class KilledBank {
 public:
  KilledBank(const EngineInfo& engine, const EngineConfig& config, const BankOptions& options,
             const KillOptions& kill, const AccountNames& names, const ChildLimits& limits)
      : engine_(engine),
        config_(config),
        options_(options),
        kill_(kill),
        names_(names),
        limits_(limits),
        source_(options.seed, 0, options.accounts, options.initial_balance),
        position_{source_, Balances(options.accounts, options.initial_balance)},
        delays_(options.seed) {}

  Report run();

 private:
  [[noreturn]] void run_transfers(bool load);
  bool run_and_kill(unsigned round, Report& report);
  void validate(unsigned round, Report& report);
  void check(Report& report, bool last);
  bool advance(uint64_t found, uint64_t acknowledged, Report& report);

  const EngineInfo& engine_;
  const EngineConfig& config_;
  const BankOptions& options_;
  const KillOptions& kill_;
  const AccountNames& names_;
  const ChildLimits& limits_;
  const TransferSource source_;  // from the first transfer on
  Position position_;
  std::mt19937_64 delays_;
  SharedMemory shared_;
  std::vector<uint64_t> opens_ns_;
  MemoryUse memory_use_;  // of all children, under a cap
};

// In the child: never returns, and never ends by itself unless something fails.
void KilledBank::run_transfers(bool load) {
  try {
    const std::unique_ptr<Engine> engine = engine_.make();
    engine->open(config_);
    if (load) load_accounts(*engine, options_, names_);
    BankWriter writer(*engine, options_, names_, 0);
    writer.set_logged(position_.logged);
    TransferFeed feed(position_.source, names_);
    while (writer.missing_accounts() == 0) {
      writer.run_batch(feed, options_.batch_size);
      shared_->logged.store(writer.logged(), std::memory_order_release);
      shared_->batches.fetch_add(1, std::memory_order_release);
    }
    std::fprintf(stderr, "  an account was not found\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "  %s\n", error.what());
  }
  shared_->child_failed = true;
  _exit(1);
}

bool KilledBank::run_and_kill(unsigned round, Report& report) {
  shared_->batches = 0;
  shared_->logged = position_.logged;
  // Only a cap holds here too: M is a matter of figures, and a killed run has none.
  std::unique_ptr<MemoryGroup> group;
  if (limits_.cap_bytes != 0) group = make_limit_group(engine_.name, limits_, report);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    if (group == nullptr || group->enter()) run_transfers(round == 0);
    std::fprintf(stderr, "  the memory cap could not be imposed\n");
    shared_->child_failed = true;
    _exit(1);
  }

  const Stopwatch watch;
  while (shared_->batches == 0 && !shared_->child_failed && watch.seconds() < kFirstCommitSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const uint64_t span = kill_.run_ms_max - kill_.run_ms_min + 1;
  const uint64_t delay = kill_.run_ms_min + draw_below(delays_, span);
  std::this_thread::sleep_for(std::chrono::milliseconds(delay));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (group != nullptr) memory_use_.merge(group->use());
  const bool running = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && shared_->batches != 0;
  if (!running) {
    report.fail(print_text("round %u: the process ended before it was killed", round + 1));
    return false;
  }
  report.note(
      print_text("round %u: killed with SIGKILL %lu ms after its first commit, %s commits and "
                 "%s transfers acknowledged",
                 round + 1, delay, with_commas(shared_->batches).c_str(),
                 with_commas(shared_->logged - position_.logged).c_str()));
  return true;
}

// Moves the position to the batch end after which the database has `found` log entries.
bool KilledBank::advance(uint64_t found, uint64_t acknowledged, Report& report) {
  if (found < acknowledged) {
    report.fail(print_text("%s transfers were acknowledged, the log holds %s",
                           with_commas(acknowledged).c_str(), with_commas(found).c_str()));
    return false;
  }
  Position position = position_;
  while (position.logged < found) {
    for (uint64_t i = 0; i < options_.batch_size; ++i, ++position.attempts) {
      if (position.balances.apply(position.source.next())) ++position.logged;
    }
  }
  if (position.logged > found) {
    report.fail(
        print_text("the log ends with transfer %s, within a batch", with_commas(found).c_str()));
    return false;
  }
  position_ = position;
  return true;
}

// In the child that validates.
void KilledBank::check(Report& report, bool last) {
  const std::unique_ptr<Engine> engine = engine_.make();
  const Stopwatch watch;
  engine->open(config_);
  shared_->open_ns = static_cast<uint64_t>(watch.seconds() * 1e9);

  BankSink sink;
  {
    const std::unique_ptr<Reader> reader = engine->reader();
    reader->begin(View::kSnapshot);
    reader->iterate(sink);
    reader->end();
  }
  shared_->found = sink.log_entries();
  if (sink.balance_sum() != options_.accounts * options_.initial_balance) {
    report.fail(print_text("the balances sum up to %s, not %s",
                           with_commas(sink.balance_sum()).c_str(),
                           with_commas(options_.accounts * options_.initial_balance).c_str()));
  }
  if (!advance(sink.log_entries(), shared_->logged, report)) return;
  uint64_t bytes_raw = 0;
  const std::vector<ThreadHistory> history{{{{source_, position_.attempts}}}};
  const auto error = compare_bank(*engine, options_, names_, history, bytes_raw);
  if (error) report.fail(*error);
  if (!last) return;
  engine->close();
  report.add("verify", "bytes_raw", static_cast<double>(bytes_raw));
  report.add("verify", "bytes_on_disk", static_cast<double>(disk_bytes(config_.path)));
  // Once more after an orderly close: this is what stays.
  engine->open(config_);
  const auto later = compare_bank(*engine, options_, names_, history, bytes_raw);
  if (later) report.fail("after close and open: " + *later);
  engine->close();
}

void KilledBank::validate(unsigned round, Report& report) {
  const uint64_t acknowledged = shared_->logged;
  const bool last = round + 1 == kill_.rounds;
  const Report child = run_in_child(engine_.name, limits_, [&](Report& r) { check(r, last); });
  const auto used = [&child](const char* metric) {
    return static_cast<uint64_t>(child.value("verify", metric));
  };
  memory_use_.merge({used("group_peak_bytes"), used("group_limit_hits"), used("group_oom_kills")});
  for (const std::string& note : child.notes()) report.note(note);
  for (const std::string& failure : child.failures()) {
    report.fail(print_text("round %u: %s", round + 1, failure.c_str()));
  }
  if (!child.ok() || !advance(shared_->found, acknowledged, report)) return;
  opens_ns_.push_back(shared_->open_ns);
  // Those of earlier rounds are only what their children used.
  for (const Row& row : child.rows()) {
    if (!row.metric.starts_with("group_")) report.add(row.phase, row.metric, row.value);
  }
  report.note(print_text(
      "round %u: opened in %.1f ms; %s transfers found, %s of them not "
      "acknowledged; every entry compared: PASS",
      round + 1, static_cast<double>(shared_->open_ns) / 1e6, with_commas(shared_->found).c_str(),
      with_commas(shared_->found - acknowledged).c_str()));
}

Report KilledBank::run() {
  Report report;
  for (unsigned round = 0; round < kill_.rounds && report.ok(); ++round) {
    if (run_and_kill(round, report)) validate(round, report);
  }
  if (limits_.cap_bytes != 0) report_memory_use(memory_use_, report);
  if (!opens_ns_.empty()) {
    double sum = 0;
    for (const uint64_t ns : opens_ns_) sum += static_cast<double>(ns);
    report.add("open", "avg_us", sum / static_cast<double>(opens_ns_.size()) / 1e3);
    report.add("open", "max_us",
               static_cast<double>(*std::max_element(opens_ns_.begin(), opens_ns_.end())) / 1e3);
  }
  return report;
}

}  // namespace

Report run_killed_bank(const EngineInfo& engine, const EngineConfig& config,
                       const BankOptions& options, const KillOptions& kill,
                       const AccountNames& names, const ChildLimits& limits) {
  return KilledBank(engine, config, options, kill, names, limits).run();
}

}  // namespace hawthorn::bench
