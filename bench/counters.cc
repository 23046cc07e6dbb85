#include "bench/counters.h"

#include <algorithm>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/stamp.h"
#include "bench/team.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kCounterLoadBatch = 1000;
constexpr uint64_t kLookEvery = 64;  // steps between two looks at the clock
constexpr uint64_t kCountMask = 0xffff'ffff;

uint64_t zero_of(uint64_t key) { return stamp(key, 0) & ~kCountMask; }
bool is_counter_of(uint64_t key, std::string_view value) {
  return value.size() == sizeof(uint64_t) && ((load64(value.data()) ^ stamp(key, 0)) >> 32) == 0;
}

struct alignas(128) Tally {
  Histogram latencies;
  RateWindows windows;
  uint64_t steps = 0;
  uint64_t conflicts = 0;
  uint64_t wrong = 0;
};

// Returns how many tries conflicts cost.
uint64_t step_locked(TxnClient& client, std::string_view key, const Change& change,
                     std::string& next) {
  for (uint64_t conflicts = 0;; ++conflicts) {
    client.begin();
    std::string_view old;
    const TxnAnswer found = client.get_for_update(key, old);
    if (found == TxnAnswer::kConflict) continue;
    change(found == TxnAnswer::kDone, old, next);
    if (client.put(key, next) == TxnAnswer::kConflict) continue;
    if (client.commit() == TxnAnswer::kDone) return conflicts;
  }
}

class CounterSink : public EntrySink {
 public:
  void add(std::string_view key, std::string_view value) override {
    ++entries_;
    if (key.size() != kKeyBytes || !is_counter_of(load64(key.data()), value)) {
      ++errors_;
      return;
    }
    sum_ += load64(value.data()) & kCountMask;
  }
  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
  uint64_t sum_ = 0;
};

class Counters {
 public:
  Counters(const RunContext& run, const CountersOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        team_(options.threads),
        tallies_(options.threads) {
    if (options_.steps == 0) options_.steps = options_.counters;
  }

  void run();

 private:
  void load();
  void count(unsigned thread, uint64_t start);
  void report_curve(const RateWindows& windows);
  void verify(uint64_t steps);

  const RunContext& run_;
  Report& report_;
  CountersOptions options_;
  Engine& engine_;
  Team team_;
  std::vector<Tally> tallies_;
};

void Counters::load() {
  progress(run_, "load");
  const double seconds = team_.run([this](unsigned thread, uint64_t) {
    const std::unique_ptr<Writer> writer = engine_.writer();
    const uint64_t end = options_.counters * (thread + 1) / team_.threads();
    for (uint64_t at = options_.counters * thread / team_.threads();
         at < end && !team_.stopped();) {
      const uint64_t batch_end = std::min(end, at + kCounterLoadBatch);
      writer->begin(WriteIntent::kBlind);
      for (; at < batch_end; ++at) {
        char key[kKeyBytes];
        char value[sizeof(uint64_t)];
        store64(key, random_key(at));
        store64(value, zero_of(random_key(at)));
        writer->put({key, sizeof key}, {value, sizeof value});
      }
      writer->commit();
    }
  });
  report_.add("load", "ops_per_s", static_cast<double>(options_.counters) / seconds);
  engine_.drain();
}

void Counters::count(unsigned thread, uint64_t start) {
  std::unique_ptr<Writer> writer;
  std::unique_ptr<TxnClient> client;
  if (options_.row_locks) {
    client = engine_.transactions(TxnKind::kRowLocks);
  } else {
    writer = engine_.writer();
  }
  std::string next_value;
  Tally& tally = tallies_[thread];
  const uint64_t steps =
      options_.steps * (thread + 1) / team_.threads() - options_.steps * thread / team_.threads();
  uint64_t random = mix64(options_.seed + thread);
  uint64_t key = 0;
  const Change step = [&tally, &key](bool found, std::string_view old, std::string& next) {
    const bool right = found && is_counter_of(key, old);
    tally.wrong += right ? 0 : 1;
    next.resize(sizeof(uint64_t));
    store64(next.data(), (right ? load64(old.data()) : zero_of(key)) + 1);
  };
  uint64_t before = Ticks::now();
  for (uint64_t i = 0; i < steps; ++i) {
    if (i % kLookEvery == 0) {
      const bool late = options_.seconds != 0 &&
                        Ticks::seconds(before - start) >= static_cast<double>(options_.seconds);
      if (late || team_.stopped()) break;
    }
    key = random_key(scale(mix64(++random), options_.counters));
    char bytes[kKeyBytes];
    store64(bytes, key);
    const std::string_view key_bytes(bytes, sizeof bytes);
    tally.conflicts += client ? step_locked(*client, key_bytes, step, next_value)
                              : writer->modify(key_bytes, step);
    ++tally.steps;
    const uint64_t now = Ticks::now();
    tally.latencies.record(Ticks::ns(now - before));
    tally.windows.add(Ticks::ns(now - start), 1);
    before = now;
  }
}

void Counters::report_curve(const RateWindows& windows) {
  uint64_t steps = 0;
  const std::vector<uint64_t> seconds = windows.per_second();
  for (size_t second = 0; second < seconds.size(); ++second) {
    steps += seconds[second];
    if (options_.row_locks) {
      report_.csv(print_text("txn,%s,counters,%u,count,%zu,%lu", run_.engine_name.c_str(),
                             options_.threads, second + 1, seconds[second]));
      continue;
    }
    report_.csv(print_text("counters,%s,%zu,%lu,%lu", run_.engine_name.c_str(), second + 1, steps,
                           seconds[second]));
  }
}

void Counters::verify(uint64_t steps) {
  progress(run_, "verify");
  CounterSink sink;
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  reader->iterate(sink);
  reader->end();
  if (sink.errors() != 0 || sink.entries() != options_.counters || sink.sum() != steps) {
    report_.fail(print_text("%s counters of %s sum up to %s after %s steps, %s are damaged",
                            with_commas(sink.entries()).c_str(),
                            with_commas(options_.counters).c_str(), with_commas(sink.sum()).c_str(),
                            with_commas(steps).c_str(), with_commas(sink.errors()).c_str()));
  }
}

void Counters::run() {
  open_engine(run_, engine_);
  load();
  progress(run_, "count");
  WriteMeter meter(run_);
  const double seconds =
      team_.run([this](unsigned thread, uint64_t start) { count(thread, start); });
  Tally sum;
  for (const Tally& tally : tallies_) {
    sum.latencies.merge(tally.latencies);
    sum.windows.merge(tally.windows);
    sum.steps += tally.steps;
    sum.conflicts += tally.conflicts;
    sum.wrong += tally.wrong;
  }
  if (sum.wrong != 0) {
    report_.fail(
        print_text("%s gets gave no counter of their key", with_commas(sum.wrong).c_str()));
  }
  report_.add("count", "ops_per_s", static_cast<double>(sum.steps) / seconds);
  report_.add_latencies("count", sum.latencies);
  report_rate_parts(report_, "count", sum.windows, seconds);
  report_.add("count", "conflicts", static_cast<double>(sum.conflicts));
  report_curve(sum.windows);

  const Stopwatch drain;
  engine_.drain();
  report_drain(report_, sum.steps, seconds, drain.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  meter.report(engine_, sum.steps * (kKeyBytes + sizeof(uint64_t)));
  verify(sum.steps);
  finish_run(run_, engine_, options_.counters * (kKeyBytes + sizeof(uint64_t)));
}

}  // namespace

void run_counters(const RunContext& run, const CountersOptions& options, Engine& engine) {
  Counters(run, options, engine).run();
}

}  // namespace hawthorn::bench
