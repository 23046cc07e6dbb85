#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/text.h"
#include "bench/txn.h"
#include "bench/whole_sink.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kSnapshotLoadBatch = 1000;
constexpr uint64_t kSnapshotSamples = 10'000;  // keys whose newest version is looked for afterwards
constexpr uint64_t kSamplesOfHeld = 256;       // keys that each snapshot is asked for
constexpr uint64_t kLaterSampleEvery = 16;     // one of so many came after the snapshot
constexpr std::array<const char*, 2> kSnapshotPhases = {"upsert", "upsert_held"};

// A snapshot, and what was there when it was taken.
struct Held {
  struct Sample {
    uint64_t item;
    bool there;
    uint8_t version;
  };
  std::unique_ptr<Reader> reader;
  std::vector<Sample> samples;
};

// What came of the runs of one sort.
struct SnapshotSum {
  Histogram commits;
  double seconds = 0;
  double drain_seconds = 0;
  uint64_t upserts = 0;
  std::optional<double> worst_second;
  double rate() const { return static_cast<double>(upserts) / seconds; }
};

// One run on a fresh database.
class HoldingRun {
 public:
  HoldingRun(const RunContext& run, const SnapshotsOptions& options, Engine& engine, uint64_t seed,
             bool hold)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        seed_(seed),
        hold_(hold),
        record_(kKeyBytes, options.value_bytes, run.fill) {}

  void load();
  // Returns the upserts per second.
  double upsert(SnapshotSum& sum);
  void verify();
  uint64_t bytes_raw() const { return versions_.size() * record_.bytes(); }

 private:
  void commit_batch(Writer& writer, uint64_t first, uint64_t count);
  void take_snapshot();
  void verify_held();

  const RunContext& run_;
  Report& report_;
  const SnapshotsOptions& options_;
  Engine& engine_;
  const uint64_t seed_;
  const bool hold_;
  Record record_;
  std::vector<uint8_t> versions_;  // of the items that are there, as a value's stamp has them
  std::vector<Held> held_;
};

void HoldingRun::load() {
  versions_.reserve(options_.keys + options_.upserts);
  const std::unique_ptr<Writer> writer = engine_.writer();
  while (versions_.size() < options_.keys) {
    writer->begin(WriteIntent::kBlind);
    for (uint64_t i = 0; i < kSnapshotLoadBatch && versions_.size() < options_.keys; ++i) {
      record_.make(versions_.size(), 0);
      versions_.push_back(0);
      writer->put(record_.key(), record_.value());
    }
    writer->commit();
  }
  engine_.drain();
}

// The upserts from one number on. What an upsert does follows from its number and the seed.
void HoldingRun::commit_batch(Writer& writer, uint64_t first, uint64_t count) {
  const auto fresh_below = static_cast<uint64_t>(options_.fresh * 0x1.0p32);
  writer.begin(WriteIntent::kBlind);
  for (uint64_t number = first; number < first + count; ++number) {
    const uint64_t random = mix64(seed_ + number);
    uint64_t item = versions_.size();
    if (item != 0 && random >> 32 >= fresh_below) {
      item = scale(mix64(random), versions_.size());
      ++versions_[item];
    } else {
      versions_.push_back(0);
    }
    record_.make(item, versions_[item]);
    writer.put(record_.key(), record_.value());
  }
  writer.commit();
}

void HoldingRun::take_snapshot() {
  Held& held = held_.emplace_back();
  held.reader = engine_.reader();
  held.reader->begin(View::kSnapshot);
  uint64_t random = mix64(seed_ + held_.size());
  for (uint64_t i = 0; i < kSamplesOfHeld; ++i) {
    // Beyond the last item are those that come next.
    const uint64_t items = i % kLaterSampleEvery == 0 ? kSamplesOfHeld : versions_.size();
    const uint64_t first = i % kLaterSampleEvery == 0 ? versions_.size() : 0;
    if (items == 0) continue;
    const uint64_t item = first + scale(mix64(++random), items);
    const bool there = item < versions_.size();
    held.samples.push_back({item, there, there ? versions_[item] : uint8_t{0}});
  }
}

double HoldingRun::upsert(SnapshotSum& sum) {
  RateWindows windows;
  uint64_t next_step = 0;
  double seconds = 0;
  {
    const std::unique_ptr<Writer> writer = engine_.writer();
    const uint64_t start = Ticks::now();
    uint64_t commit_start = start;
    for (uint64_t done = 0; done < options_.upserts;) {
      // Of so many steps as there are snapshots; taken or not, the rest of a step is the same.
      if (done >= options_.upserts * next_step / options_.snapshots) {
        ++next_step;
        if (free_disk_bytes(run_.config.path) < options_.free_disk_bytes_min) {
          throw EngineError("the disk is nearly full");
        }
        if (hold_) take_snapshot();
      }
      const uint64_t count = std::min(options_.batch, options_.upserts - done);
      commit_batch(*writer, done, count);
      done += count;
      const uint64_t now = Ticks::now();
      sum.commits.record(Ticks::ns(now - commit_start));
      windows.add(Ticks::ns(now - start), count);
      commit_start = now;
    }
    seconds = Ticks::seconds(Ticks::now() - start);
  }
  sum.seconds += seconds;
  sum.upserts += options_.upserts;
  if (windows.measured()) {
    const double worst = windows.worst_second();
    sum.worst_second = std::min(worst, sum.worst_second.value_or(worst));
  }
  verify_held();
  const Stopwatch drain;
  engine_.drain();
  sum.drain_seconds += drain.seconds();
  return static_cast<double>(options_.upserts) / seconds;
}

// Compares all samples to the last byte, and lets go of the snapshots.
void HoldingRun::verify_held() {
  uint64_t wrong = 0;
  uint64_t samples = 0;
  for (const Held& held : held_) {
    for (const Held::Sample& sample : held.samples) {
      record_.make_key_of(sample.item);
      std::string_view value;
      const bool found = held.reader->get(record_.key(), value);
      const bool right =
          found == sample.there && (!found || record_.is_whole_value(value, sample.version));
      wrong += right ? 0 : 1;
      ++samples;
    }
    held.reader->end();
  }
  if (wrong != 0 || hold_ == held_.empty()) {
    report_.fail(print_text("%zu snapshots: %s of %s answers are not of their moment", held_.size(),
                            with_commas(wrong).c_str(), with_commas(samples).c_str()));
  }
  held_.clear();
}

void HoldingRun::verify() {
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  WholeSink sink(options_.value_bytes, run_.fill);
  reader->iterate(sink);
  const uint64_t versions = std::accumulate(versions_.begin(), versions_.end(), uint64_t{0});
  if (sink.errors() != 0 || sink.entries() != versions_.size() || sink.versions() != versions) {
    report_.fail(
        print_text("the walk found %s entries of %s, versions of the sum %s, not %s, and "
                   "%s errors",
                   with_commas(sink.entries()).c_str(), with_commas(versions_.size()).c_str(),
                   with_commas(sink.versions()).c_str(), with_commas(versions).c_str(),
                   with_commas(sink.errors()).c_str()));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < std::min<uint64_t>(kSnapshotSamples, versions_.size()); ++i) {
    const uint64_t item = scale(mix64(i), versions_.size());
    record_.make_key_of(item);
    std::string_view value;
    const bool found = reader->get(record_.key(), value);
    wrong += found && record_.is_whole_value(value, versions_[item]) ? 0 : 1;
  }
  reader->end();
  if (wrong != 0) {
    report_.fail(print_text("%s values of a sample are wrong", with_commas(wrong).c_str()));
  }
}

class Snapshots {
 public:
  Snapshots(const RunContext& run, const SnapshotsOptions& options, Engine& engine)
      : run_(run), report_(*run.report), options_(options), engine_(engine) {}

  void run();

 private:
  double run_one(uint64_t round, bool hold, bool last);
  void report_loss();

  const RunContext& run_;
  Report& report_;
  const SnapshotsOptions& options_;
  Engine& engine_;
  std::array<SnapshotSum, 2> sums_;  // without snapshots, and with them
  std::vector<double> losses_;       // of each round
};

double Snapshots::run_one(uint64_t round, bool hold, bool last) {
  progress(run_, print_text("round %lu of %lu, %s snapshots", round, options_.rounds,
                            hold ? "with" : "without"));
  RunContext fresh = run_;
  fresh.config.path =
      (std::filesystem::path(run_.config.path) / print_text("%lu.%s", round, kSnapshotPhases[hold]))
          .string();
  std::filesystem::create_directories(fresh.config.path);
  // The first one notes what it is.
  if (sums_[0].upserts == 0 && sums_[1].upserts == 0) {
    open_engine(fresh, engine_);
  } else {
    engine_.open(fresh.config);
  }
  HoldingRun one(fresh, options_, engine_, mix64(options_.seed + round), hold);
  one.load();
  const double rate = one.upsert(sums_[hold]);
  report_.csv(print_text("txn,%s,snapshots,1,%s,%lu,%.0f", run_.engine_name.c_str(),
                         kSnapshotPhases[hold], round, rate));
  one.verify();
  if (last) {
    add_process_figures(report_);
    finish_run(fresh, engine_, one.bytes_raw());
  } else {
    engine_.close();
    std::filesystem::remove_all(fresh.config.path);
    sync_file_system(run_.config.path);
  }
  return rate;
}

void Snapshots::report_loss() {
  for (size_t hold = 0; hold < sums_.size(); ++hold) {
    const SnapshotSum& sum = sums_[hold];
    report_.add(kSnapshotPhases[hold], "ops_per_s", sum.rate());
    report_.add_latencies(kSnapshotPhases[hold], sum.commits);
    if (sum.worst_second)
      report_.add(kSnapshotPhases[hold], "worst_second_ops_per_s", *sum.worst_second);
  }
  report_.add("upsert_held", "writer_loss", 1.0 - sums_[1].rate() / sums_[0].rate());
  std::sort(losses_.begin(), losses_.end());
  report_.note(print_text(
      "%lu snapshots held: of %zu rounds a loss of %.1f%% to %.1f%%, in the "
      "middle %.1f%%; drained in %.1f s, without snapshots %.1f s",
      options_.snapshots, losses_.size(), 100 * losses_.front(), 100 * losses_.back(),
      100 * losses_[losses_.size() / 2], sums_[1].drain_seconds, sums_[0].drain_seconds));
}

void Snapshots::run() {
  for (uint64_t round = 1; round <= options_.rounds; ++round) {
    std::array<double, 2> rates{};
    for (const uint64_t place : {uint64_t{0}, uint64_t{1}}) {
      const bool hold = (place + round) % 2 == 0;
      rates[hold] = run_one(round, hold, round == options_.rounds && place == 1);
    }
    losses_.push_back(1.0 - rates[1] / rates[0]);
  }
  report_loss();
}

}  // namespace

void run_txn_snapshots(const RunContext& run, const SnapshotsOptions& options, Engine& engine) {
  Snapshots(run, options, engine).run();
}

}  // namespace hawthorn::bench
