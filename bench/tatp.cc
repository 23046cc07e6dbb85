#include "bench/tatp.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bench/clock.h"
#include "bench/machine.h"
#include "bench/tatp_check.h"
#include "bench/tatp_runner.h"
#include "bench/team.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kTatpLoadBatch = 1000;  // subscribers
constexpr uint64_t kTatpLookEvery = 64;    // transactions between two looks at the clock
constexpr uint64_t kWarmUpMax = 100'000;

// A connection with its sequence of transactions.
struct alignas(128) TatpThread {
  TatpThread(const TatpSource& calls, const TatpPopulation& population, TatpModel& model,
             std::unique_ptr<TatpClient> client)
      : source(calls), runner(population, model, std::move(client)) {}

  TatpSource source;
  TatpRunner runner;
  RateWindows windows;
};

struct Phase {
  double seconds = 0;
  TatpTallies tallies;
  RateWindows windows;

  TatpTally all() const {
    TatpTally sum;
    for (const TatpTally& tally : tallies) sum.merge(tally);
    return sum;
  }
};

class Tatp {
 public:
  Tatp(const RunContext& run, const TatpOptions& options, TatpDatabase& database)
      : run_(run),
        report_(*run.report),
        options_(options),
        database_(database),
        config_{run.config.path, run.config.sync, options.cache_bytes},
        population_(options.seed, options.subscribers),
        model_(population_),
        team_(options.connections) {}

  void run();

 private:
  void load();
  uint64_t load_subscriber(TatpLoader& loader, uint64_t s_id) const;
  void connect();
  Phase run_phase(const std::string& name, uint64_t transactions, uint64_t seconds);
  void run_thread(unsigned thread, uint64_t start, uint64_t transactions, uint64_t seconds);
  void warm_up();
  void measure();
  void report_wrong();
  void verify();
  void reopen();

  const RunContext& run_;
  Report& report_;
  const TatpOptions& options_;
  TatpDatabase& database_;
  const TatpConfig config_;
  const TatpPopulation population_;
  TatpModel model_;
  Team team_;
  std::vector<std::unique_ptr<TatpThread>> connections_;
  TatpSums sums_;
};

// Returns how many rows that were.
uint64_t Tatp::load_subscriber(TatpLoader& loader, uint64_t s_id) const {
  uint64_t rows = 1;
  loader.insert(population_.subscriber(s_id, 0, 0));
  for (unsigned type = 1; type <= kAccessTypes; ++type) {
    if (!population_.has_access(s_id, type)) continue;
    loader.insert(population_.access(s_id, type));
    ++rows;
  }
  for (unsigned type = 1; type <= kFacilityTypes; ++type) {
    if (!population_.has_facility(s_id, type)) continue;
    loader.insert(population_.facility(s_id, type, 0));
    ++rows;
    const unsigned there = population_.start_times_at_first(s_id, type);
    for (unsigned i = 0; i < kStartTimes; ++i) {
      if ((there >> i & 1) == 0) continue;
      loader.insert(population_.forwarding(s_id, type, i * kHoursOfStart, 1));
      ++rows;
    }
  }
  return rows;
}

void Tatp::load() {
  progress(run_, "load");
  uint64_t rows = 0;
  const Stopwatch watch;
  const std::unique_ptr<TatpLoader> loader = database_.loader();
  for (uint64_t s_id = 1; s_id <= options_.subscribers;) {
    const uint64_t end = std::min(options_.subscribers + 1, s_id + kTatpLoadBatch);
    loader->begin();
    for (; s_id < end; ++s_id) rows += load_subscriber(*loader, s_id);
    loader->commit();
  }
  report_.add("load", "ops_per_s", static_cast<double>(rows) / watch.seconds());
  report_.note(print_text("load: %s rows", with_commas(rows).c_str()));
  database_.drain();
}

void Tatp::connect() {
  for (unsigned i = 0; i < options_.connections; ++i) {
    connections_.push_back(
        std::make_unique<TatpThread>(TatpSource(options_.seed, options_.subscribers, i),
                                     population_, model_, database_.connect()));
  }
}

void Tatp::run_thread(unsigned thread, uint64_t start, uint64_t transactions, uint64_t seconds) {
  TatpThread& connection = *connections_[thread];
  connection.windows = {};
  connection.runner.clear();
  const uint64_t share = transactions * (thread + 1) / options_.connections -
                         transactions * thread / options_.connections;
  for (uint64_t i = 0; i < share; ++i) {
    if (i % kTatpLookEvery == 0) {
      const bool late =
          seconds != 0 && Ticks::seconds(Ticks::now() - start) >= static_cast<double>(seconds);
      if (late || team_.stopped()) break;
    }
    connection.runner.run(connection.source.next());
    connection.windows.add(Ticks::ns(Ticks::now() - start), 1);
  }
}

Phase Tatp::run_phase(const std::string& name, uint64_t transactions, uint64_t seconds) {
  progress(run_, name);
  Phase phase;
  phase.seconds = team_.run(
      [&](unsigned thread, uint64_t start) { run_thread(thread, start, transactions, seconds); });
  for (const auto& connection : connections_) {
    for (size_t kind = 0; kind < phase.tallies.size(); ++kind) {
      phase.tallies[kind].merge(connection->runner.tallies()[kind]);
    }
    phase.windows.merge(connection->windows);
  }
  return phase;
}

// What each connection caches is there, and its statements have run, when it is measured.
void Tatp::warm_up() {
  const uint64_t transactions = std::min(options_.transactions / 10, kWarmUpMax);
  if (transactions == 0) return;
  const Phase phase = run_phase("warm_up", transactions, options_.seconds);
  const TatpTally all = phase.all();
  report_.add("warm_up", "tx_per_s", static_cast<double>(all.done + all.failed) / phase.seconds);
}

void Tatp::measure() {
  const Phase phase = run_phase("tatp", options_.transactions, options_.seconds);
  const auto add_tally = [this](std::string_view name, const TatpTally& tally) {
    report_.add_latencies(name, tally.latencies);
    if (const uint64_t ended = tally.done + tally.failed; ended != 0) {
      report_.add(name, "part_failed",
                  static_cast<double>(tally.failed) / static_cast<double>(ended));
    }
  };
  const TatpTally all = phase.all();
  const auto ended = static_cast<double>(all.done + all.failed);
  report_.add("tatp", "tx_per_s", ended / phase.seconds);
  add_tally("tatp", all);
  report_rate_parts(report_, "tatp", phase.windows, phase.seconds);
  report_.add("tatp", "busy", static_cast<double>(all.busy));
  for (size_t kind = 0; kind < kTatpKinds.size(); ++kind) {
    add_tally(kTatpKinds[kind].phase, phase.tallies[kind]);
  }
  report_.note(print_text("tatp: MQTh %s; %s transactions done, %s failed by the rules",
                          with_commas(static_cast<uint64_t>(ended / phase.seconds)).c_str(),
                          with_commas(all.done).c_str(), with_commas(all.failed).c_str()));
  if (all.busy != 0) {
    report_.note(print_text("tatp: %s transactions waited for a lock in vain (SQLITE_BUSY)",
                            with_commas(all.busy).c_str()));
  }

  const Stopwatch watch;
  database_.drain();
  report_.add("drain", "tx_per_s", ended / (phase.seconds + watch.seconds()));
}

void Tatp::report_wrong() {
  for (size_t i = 0; i < connections_.size(); ++i) {
    const TatpRunner& runner = connections_[i]->runner;
    if (runner.wrong() == 0) continue;
    report_.fail(print_text("connection %zu: %s wrong answers, the first of %s", i + 1,
                            with_commas(runner.wrong()).c_str(), runner.first_wrong().c_str()));
  }
}

void Tatp::verify() {
  progress(run_, "verify");
  const Stopwatch watch;
  const TatpErrors errors = check_tatp(population_, model_, *database_.inspect(), sums_);
  for (const std::string& error : errors) report_.fail(error);
  report_.note(print_text("%s: every row compared in %.1f s", report_.ok() ? "PASS" : "FAIL",
                          watch.seconds()));
}

// A size counts only if all is still there.
void Tatp::reopen() {
  database_.close();
  report_.add("verify", "bytes_on_disk", static_cast<double>(disk_bytes(config_.path)));
  const Stopwatch watch;
  database_.open(config_);
  report_.add("open", "avg_us", watch.seconds() * 1e6);
  for (const std::string& error : check_tatp_sums(sums_, *database_.inspect())) {
    report_.fail("after close and open: " + error);
  }
  database_.close();
}

void Tatp::run() {
  reset_peak_rss();
  database_.open(config_);
  report_.note(run_.engine_name + ": " + database_.version() + "; " + database_.settings());
  load();
  connect();
  warm_up();
  measure();
  report_wrong();
  connections_.clear();
  add_process_figures(report_);
  verify();
  reopen();
}

}  // namespace

void run_tatp(const RunContext& run, const TatpOptions& options, TatpDatabase& database) {
  Tatp(run, options, database).run();
}

}  // namespace hawthorn::bench
