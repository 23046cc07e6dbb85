#include "bench/upsert.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kUpsertSamples = 10'000;  // values that are compared to the last byte afterwards

class Upsert {
 public:
  Upsert(const RunContext& run, const UpsertOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        value_(options.value_bytes, '\0') {}

  void run();

 private:
  void run_round(Writer& writer);
  void commit_batch(Writer& writer, uint64_t count);
  void report_rates();
  void verify();

  const RunContext& run_;
  Report& report_;
  const UpsertOptions& options_;
  Engine& engine_;
  std::string value_;
  uint64_t committed_ = 0;  // sequence numbers below this one are in the database
  uint64_t start_ticks_ = 0;
  double seconds_ = 0;
  Histogram commits_;
  RateWindows windows_;
  std::vector<double> round_rates_;
};

void Upsert::commit_batch(Writer& writer, uint64_t count) {
  writer.begin(WriteIntent::kBlind);
  for (uint64_t sequence = committed_; sequence < committed_ + count; ++sequence) {
    const uint64_t key = random_key(sequence);
    char key_bytes[kKeyBytes];
    store64(key_bytes, key);
    make_value(key, 0, value_.data(), value_.size(), run_.fill);
    writer.put({key_bytes, sizeof key_bytes}, value_);
  }
  writer.commit();
  committed_ += count;
}

void Upsert::run_round(Writer& writer) {
  const uint64_t round_start = Ticks::now();
  uint64_t commit_start = round_start;
  for (uint64_t done = 0; done < options_.items;) {
    const uint64_t count = std::min(options_.batch, options_.items - done);
    commit_batch(writer, count);
    const uint64_t now = Ticks::now();
    commits_.record(Ticks::ns(now - commit_start));
    windows_.add(Ticks::ns(now - start_ticks_), count);
    commit_start = now;
    done += count;
  }
  const double seconds = Ticks::seconds(Ticks::now() - round_start);
  const double rate = static_cast<double>(options_.items) / seconds;
  round_rates_.push_back(rate);
  const uint64_t on_disk = disk_bytes(run_.config.path);
  report_.csv(print_text("upsert,%s,%zu,%lu,%.0f,%lu", run_.engine_name.c_str(),
                         round_rates_.size(), committed_, rate, on_disk));
  progress(run_,
           print_text("round %zu: %s upserts/s, %s on disk", round_rates_.size(),
                      short_number(rate).c_str(), size_text(static_cast<double>(on_disk)).c_str()));
}

void Upsert::report_rates() {
  // The mean over some rounds is that of their time, not of their rates.
  const auto mean_rate = [&](size_t first, size_t end) {
    double seconds = 0;
    for (size_t i = first; i < end; ++i) seconds += 1.0 / round_rates_[i];
    return static_cast<double>(end - first) / seconds;
  };
  const size_t rounds = round_rates_.size();
  report_.add("upsert", "ops_per_s", static_cast<double>(committed_) / seconds_);
  report_.add_latencies("upsert", commits_);
  report_rate_parts(report_, "upsert", windows_, seconds_);
  if (rounds == 0) return;
  const auto [slowest, fastest] = std::minmax_element(round_rates_.begin(), round_rates_.end());
  const auto rate_text = [&](size_t first, size_t end) {
    return with_commas(static_cast<uint64_t>(mean_rate(first, end))) + "/s";
  };
  report_.note(
      print_text("%zu rounds, %s keys in %.1f s: first 30 rounds %s, first 100 %s, all %s, last 30 "
                 "%s; peak %s/s, "
                 "minimum %s/s",
                 rounds, with_commas(committed_).c_str(), seconds_,
                 rate_text(0, std::min<size_t>(30, rounds)).c_str(),
                 rate_text(0, std::min<size_t>(100, rounds)).c_str(), rate_text(0, rounds).c_str(),
                 rate_text(rounds - std::min<size_t>(30, rounds), rounds).c_str(),
                 with_commas(static_cast<uint64_t>(*fastest)).c_str(),
                 with_commas(static_cast<uint64_t>(*slowest)).c_str()));
}

void Upsert::verify() {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  StampSink sink(options_.value_bytes);
  const Stopwatch watch;
  reader->iterate_batch(sink);
  report_.add("verify", "entries_per_s", static_cast<double>(sink.entries()) / watch.seconds());
  if (sink.errors() != 0 || sink.entries() != committed_) {
    report_.fail(print_text("the scan found %s entries of %s and %s errors",
                            with_commas(sink.entries()).c_str(), with_commas(committed_).c_str(),
                            with_commas(sink.errors()).c_str()));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < std::min(kUpsertSamples, committed_); ++i) {
    const uint64_t key = random_key(scale(mix64(i), committed_));
    char key_bytes[kKeyBytes];
    store64(key_bytes, key);
    std::string_view value;
    const bool found = reader->get({key_bytes, sizeof key_bytes}, value);
    wrong +=
        found && value.size() == options_.value_bytes && value_is_whole(key, 0, value, run_.fill)
            ? 0
            : 1;
  }
  reader->end();
  if (wrong != 0)
    report_.fail(print_text("%s values of a sample are wrong", with_commas(wrong).c_str()));
}

void Upsert::run() {
  open_engine(run_, engine_);
  WriteMeter meter(run_);
  std::string limit;
  {
    const std::unique_ptr<Writer> writer = engine_.writer();
    start_ticks_ = Ticks::now();
    try {
      while (round_rates_.size() < options_.rounds) {
        if (free_disk_bytes(run_.config.path) < options_.free_disk_bytes_min) {
          limit = "the disk is nearly full";
          break;
        }
        run_round(*writer);
      }
    } catch (const EngineError& error) {
      if (!error.full()) throw;
      limit = error.what();
    }
    seconds_ = Ticks::seconds(Ticks::now() - start_ticks_);
  }
  if (!limit.empty()) {
    report_.limited(print_text("%s after %s keys", limit.c_str(), with_commas(committed_).c_str()));
  }
  report_rates();
  progress(run_, "drain");
  const Stopwatch watch;
  engine_.drain();
  report_drain(report_, committed_, seconds_, watch.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  const uint64_t bytes_raw = committed_ * (kKeyBytes + options_.value_bytes);
  meter.report(engine_, bytes_raw);
  verify();
  finish_run(run_, engine_, bytes_raw);
}

}  // namespace

void run_upsert(const RunContext& run, const UpsertOptions& options, Engine& engine) {
  Upsert(run, options, engine).run();
}

}  // namespace hawthorn::bench
