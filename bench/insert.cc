#include "bench/insert.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/team.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kSamples = 10'000;          // records that are looked for one by one afterwards
constexpr uint64_t kInsertLookEvery = 16'384;  // a thread looks at the disk once in so many records

struct alignas(128) InsertTally {
  Histogram commits;
  RateWindows windows;
  uint64_t records = 0;
};

class Insert {
 public:
  Insert(const RunContext& run, const InsertOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        team_(options.threads),
        tallies_(options.threads) {}

  void run();

 private:
  size_t value_bytes() const { return options_.record_bytes - kKeyBytes; }
  void write(unsigned thread, uint64_t start);
  void report_curve(const RateWindows& windows);
  void verify(uint64_t records);

  const RunContext& run_;
  Report& report_;
  const InsertOptions& options_;
  Engine& engine_;
  Team team_;
  std::vector<InsertTally> tallies_;
  std::atomic<bool> disk_full_{false};
};

void Insert::write(unsigned thread, uint64_t start) {
  const std::unique_ptr<Writer> writer = engine_.writer();
  Record record(kKeyBytes, value_bytes(), run_.fill);
  InsertTally& tally = tallies_[thread];
  const uint64_t first = options_.records * thread / team_.threads();
  const uint64_t end = options_.records * (thread + 1) / team_.threads();
  uint64_t look_at = first;
  uint64_t before = Ticks::now();
  for (uint64_t at = first; at < end && !team_.stopped();) {
    if (at >= look_at) {
      look_at = at + kInsertLookEvery;
      if (free_disk_bytes(run_.config.path) < options_.free_disk_bytes_min) {
        disk_full_ = true;
        team_.stop();
        break;
      }
    }
    const uint64_t count = std::min(options_.batch, end - at);
    if (count == 1) {
      record.make(at);
      writer->put_now(record.key(), record.value());
    } else {
      writer->begin(WriteIntent::kBlind);
      for (uint64_t i = 0; i < count; ++i) {
        record.make(at + i);
        writer->put(record.key(), record.value());
      }
      writer->commit();
    }
    at += count;
    tally.records += count;
    const uint64_t now = Ticks::now();
    tally.commits.record(Ticks::ns(now - before));
    tally.windows.add(Ticks::ns(now - start), count);
    before = now;
  }
}

// One line for each second: how many records there were at its end, and how many came in it.
void Insert::report_curve(const RateWindows& windows) {
  uint64_t records = 0;
  const std::vector<uint64_t> seconds = windows.per_second();
  for (size_t second = 0; second < seconds.size(); ++second) {
    records += seconds[second];
    report_.csv(print_text("insert,%s,%lu,%zu,%lu,%lu", run_.engine_name.c_str(),
                           options_.record_bytes, second + 1, records, seconds[second]));
  }
}

void Insert::verify(uint64_t records) {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  StampSink sink(value_bytes());
  const Stopwatch watch;
  reader->iterate_batch(sink);
  report_.add("verify", "entries_per_s", static_cast<double>(sink.entries()) / watch.seconds());
  if (sink.errors() != 0 || sink.entries() != records) {
    report_.fail(print_text("the scan found %s entries of %s and %s errors",
                            with_commas(sink.entries()).c_str(), with_commas(records).c_str(),
                            with_commas(sink.errors()).c_str()));
  }
  uint64_t wrong = 0;
  Record record(kKeyBytes, value_bytes(), run_.fill);
  for (uint64_t i = 0; i < kSamples; ++i) {
    // Of one thread's share, up to where it came.
    const unsigned thread = static_cast<unsigned>(i % team_.threads());
    if (tallies_[thread].records == 0) continue;
    record.make_key_of(options_.records * thread / team_.threads() +
                       scale(mix64(i), tallies_[thread].records));
    std::string_view value;
    wrong += reader->get(record.key(), value) && record.is_whole_value(value) ? 0 : 1;
  }
  reader->end();
  if (wrong != 0) {
    report_.fail(print_text("%s values of a sample are wrong", with_commas(wrong).c_str()));
  }
}

void Insert::run() {
  open_engine(run_, engine_);
  progress(run_, "insert");
  WriteMeter meter(run_);
  std::string limit;
  const Stopwatch watch;
  try {
    team_.run([this](unsigned thread, uint64_t start) { write(thread, start); });
  } catch (const EngineError& error) {
    if (!error.full()) throw;
    limit = error.what();
  }
  const double seconds = watch.seconds();
  if (disk_full_) limit = "the disk is nearly full";
  InsertTally sum;
  for (const InsertTally& tally : tallies_) {
    sum.commits.merge(tally.commits);
    sum.windows.merge(tally.windows);
    sum.records += tally.records;
  }
  if (!limit.empty()) {
    report_.limited(
        print_text("%s after %s records", limit.c_str(), with_commas(sum.records).c_str()));
  }
  report_.add("insert", "ops_per_s", static_cast<double>(sum.records) / seconds);
  report_.add_latencies("insert", sum.commits);
  report_rate_parts(report_, "insert", sum.windows, seconds);
  report_curve(sum.windows);

  progress(run_, "drain");
  const Stopwatch drain;
  engine_.drain();
  report_drain(report_, sum.records, seconds, drain.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  const uint64_t bytes_raw = sum.records * options_.record_bytes;
  meter.report(engine_, bytes_raw);
  verify(sum.records);
  finish_run(run_, engine_, bytes_raw);
}

}  // namespace

void run_insert(const RunContext& run, const InsertOptions& options, Engine& engine) {
  Insert(run, options, engine).run();
}

}  // namespace hawthorn::bench
