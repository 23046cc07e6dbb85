#include "bench/soak.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/memory_group.h"
#include "bench/soak_threads.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr double kSampleSeconds = 1;
constexpr uint64_t kSamplesOfProgress = 10;

class Soak {
 public:
  Soak(const RunContext& run, const SoakOptions& options, Engine& engine)
      : run_(run), report_(*run.report), options_(options), engine_(engine) {}

  void run();

 private:
  void load();
  void soak();
  void sample(Team& team, uint64_t start, bool loading);
  void take_sample(double second, bool loading);
  bool done_enough() const;
  void report_kinds(double seconds);
  void report_level();
  void verify();

  const RunContext& run_;
  Report& report_;
  const SoakOptions& options_;
  Engine& engine_;
  std::unique_ptr<SoakShared> shared_;
  std::vector<SoakSample> samples_;
  std::array<uint64_t, kSoakKinds> seen_{};  // operations up to the last sample
  uint64_t load_start_ = 0;
};

void Soak::take_sample(double second, bool loading) {
  SoakSample sample;
  sample.second = second;
  sample.loading = loading;
  for (size_t kind = 0; kind < kSoakKinds; ++kind) {
    uint64_t operations = 0;
    uint64_t longest_us = 0;
    for (SoakTally& tally : shared_->tallies) {
      operations += tally.operations[kind].load(std::memory_order_relaxed);
      longest_us = std::max(longest_us,
                            tally.longest_ns[kind].exchange(0, std::memory_order_relaxed) / 1000);
    }
    sample.operations[kind] = operations - seen_[kind];
    seen_[kind] = operations;
    const auto which = static_cast<SoakKind>(kind);
    uint64_t& longest = which == SoakKind::kIngest   ? sample.longest_ingest_us
                        : which <= SoakKind::kRemove ? sample.longest_write_us
                                                     : sample.longest_read_us;
    longest = std::max(longest, longest_us);
  }
  sample.cap_bytes = run_.cap_bytes;
  if (run_.cap_bytes != 0) sample.group_bytes = own_group_bytes().value_or(0);
  sample.rss_bytes = rss_bytes();
  sample.engine_bytes = engine_.resident_bytes().value_or(0);
  const DiskUse use =
      disk_use(run_.config.path, [this](std::string_view name) { return engine_.is_log(name); });
  sample.log_bytes = use.taken;
  sample.data_bytes = use.others;
  sample.live_bytes = static_cast<uint64_t>(shared_->live_bytes.load());
  samples_.push_back(sample);
  report_.csv("soak," + run_.engine_name + "," + sample.csv());
  if (samples_.size() % kSamplesOfProgress != 0) return;
  uint64_t operations = 0;
  for (const uint64_t count : sample.operations) operations += count;
  progress(run_, print_text("second %.0f: %s operations, longest write %s us, %s resident, %s on "
                            "disk for %s",
                            second, short_number(static_cast<double>(operations)).c_str(),
                            with_commas(sample.longest_write_us).c_str(),
                            size_text(static_cast<double>(sample.rss_bytes)).c_str(),
                            size_text(static_cast<double>(use.taken + use.others)).c_str(),
                            size_text(static_cast<double>(sample.live_bytes)).c_str()));
}

bool Soak::done_enough() const {
  for (size_t kind = 0; kind < kSoakKinds; ++kind) {
    const auto which = static_cast<SoakKind>(kind);
    if (which == SoakKind::kIngest && !engine_.ingests()) continue;
    if (which == SoakKind::kSnapshot && options_.hold_ms == 0) continue;
    const bool reads =
        which == SoakKind::kGet || which == SoakKind::kMultiGet || which == SoakKind::kRange;
    if (reads && options_.readers == 0) continue;
    uint64_t operations = 0;
    for (const SoakTally& tally : shared_->tallies) operations += tally.operations[kind];
    if (operations < options_.operations_min) return false;
  }
  return true;
}

// One thread of the team: until the others have ended a load, or the time is over.
void Soak::sample(Team& team, uint64_t start, bool loading) {
  const double before = Ticks::seconds(start - load_start_);
  for (double due = kSampleSeconds; !team.stopped();) {
    const double now = Ticks::seconds(Ticks::now() - start);
    const bool over = now >= static_cast<double>(options_.seconds) && done_enough();
    if (interrupted() || (!loading && over)) team.stop();
    if (now >= due) {
      take_sample(before + now, loading);
      if (free_disk_bytes(run_.config.path) < options_.free_disk_bytes_min) {
        report_.fail(print_text("the disk is nearly full at second %.0f", before + now));
        team.stop();
      }
      // Not the missed ones, where looking took longer than a second.
      while (due <= now) due += kSampleSeconds;
    }
    std::this_thread::sleep_for(kLook);
  }
}

void Soak::load() {
  progress(run_, "load");
  Team team(options_.writers + 1);
  std::atomic<unsigned> left{options_.writers};
  load_start_ = Ticks::now();
  const double seconds = team.run([&](unsigned thread, uint64_t start) {
    if (thread == options_.writers) return sample(team, start, true);
    SoakWriter(*shared_, team, thread).load();
    if (--left == 0) team.stop();
  });
  report_.add("load", "ops_per_s", static_cast<double>(shared_->live_items) / seconds);
  engine_.drain();
  // What the load counted as upserts.
  for (SoakTally& tally : shared_->tallies) {
    for (Histogram& latencies : tally.latencies) latencies = Histogram();
    for (std::atomic<uint64_t>& operations : tally.operations) operations = 0;
    for (std::atomic<uint64_t>& longest : tally.longest_ns) longest = 0;
  }
  seen_ = {};
}

void Soak::soak() {
  progress(run_, print_text("soak: %s of keys and values",
                            size_text(static_cast<double>(shared_->live_bytes)).c_str()));
  Team team(options_.writers + options_.readers + 2);
  const double seconds = team.run([&](unsigned thread, uint64_t start) {
    if (thread < options_.writers) return SoakWriter(*shared_, team, thread).write(start);
    thread -= options_.writers;
    if (thread < options_.readers) return SoakReader(*shared_, team, thread).read();
    if (thread == options_.readers) return SoakHolder(*shared_, team).hold_snapshots();
    sample(team, start, false);
  });
  report_kinds(seconds);
}

void Soak::report_kinds(double seconds) {
  for (size_t kind = 0; kind < kSoakKinds; ++kind) {
    Histogram latencies;
    uint64_t operations = 0;
    for (const SoakTally& tally : shared_->tallies) {
      latencies.merge(tally.latencies[kind]);
      operations += tally.operations[kind];
    }
    if (latencies.count() == 0) continue;
    const std::string_view phase = phase_of(static_cast<SoakKind>(kind));
    report_.add(phase, "ops_per_s", static_cast<double>(operations) / seconds);
    report_.add_latencies(phase, latencies);
  }
  if (shared_->ingests != 0) {
    report_.note(print_text("%s ingests of %s entries, %s of them past the log",
                            with_commas(shared_->ingests).c_str(),
                            with_commas(shared_->entries_ingested).c_str(),
                            with_commas(shared_->entries_attached).c_str()));
  }
  if (shared_->wrong_answers != 0) {
    report_.fail(print_text("%s wrong answers after %.1f seconds, the first of %s",
                            with_commas(shared_->wrong_answers).c_str(), seconds,
                            shared_->first_wrong.c_str()));
  }
}

// Whether space and memory stayed level.
void Soak::report_level() {
  double sum = 0;
  double most = 0;
  uint64_t count = 0;
  for (const SoakSample& sample : samples_) {
    if (sample.loading) continue;
    sum += sample.space();
    most = std::max(most, sample.space());
    ++count;
  }
  if (count != 0) {
    report_.add("verify", "space_amplification", sum / static_cast<double>(count));
    report_.add("verify", "space_amplification_max", most);
  }
  if (const std::optional<SoakGrowth> growth = growth_of(samples_)) {
    report_.add("verify", "space_growth", growth->space);
    report_.add("verify", "memory_growth", growth->memory);
  } else {
    report_.note(print_text("%lu seconds behind the load tell nothing about growth; %zu do", count,
                            kSamplesOfGrowth));
  }
  if (const std::string text = complaint(samples_); !text.empty()) report_.fail(text);
}

void Soak::verify() {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  SoakWalk walk(shared_->model);
  reader->iterate(walk);
  walk.finish();
  reader->end();
  const auto live = static_cast<uint64_t>(shared_->live_items.load());
  if (walk.errors() != 0 || walk.entries() != live) {
    report_.fail(print_text("the walk found %s entries of %s, and %s wrong or missing",
                            with_commas(walk.entries()).c_str(), with_commas(live).c_str(),
                            with_commas(walk.errors()).c_str()));
  }
}

void Soak::run() {
  open_engine(run_, engine_);
  shared_ = std::make_unique<SoakShared>(options_, run_.fill, engine_);
  WriteMeter meter(run_);
  load();
  if (!interrupted() && report_.ok()) {
    soak();
    report_level();
  }
  progress(run_, "drain");
  const Stopwatch drain;
  engine_.drain();
  report_.add("drain", "seconds", drain.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  meter.report(engine_, shared_->bytes_put);
  verify();
  finish_run(run_, engine_, static_cast<uint64_t>(shared_->live_bytes.load()));
}

}  // namespace

void run_soak(const RunContext& run, const SoakOptions& options, Engine& engine) {
  Soak(run, options, engine).run();
}

}  // namespace hawthorn::bench
