#include "bench/overwrite.h"

#include <algorithm>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kSamplesOfPass = 100;  // looks at the size
constexpr uint64_t kChecks = 100'000;     // records that are looked for one by one afterwards

// Adds up how many times the records were overwritten, which no lost put leaves as it should be.
class VersionSink : public EntrySink {
 public:
  explicit VersionSink(size_t value_bytes) : value_bytes_(value_bytes) {}

  void add(std::string_view key, std::string_view value) override {
    ++entries_;
    if (key.size() != kKeyBytes || value.size() != value_bytes_ ||
        !stamp_fits(load64(key.data()), load64(value.data()))) {
      ++errors_;
      return;
    }
    versions_ += load64(value.data()) & 0xff;
  }
  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }
  uint64_t versions() const { return versions_; }

 private:
  const size_t value_bytes_;
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
  uint64_t versions_ = 0;
};

class Overwrite {
 public:
  Overwrite(const RunContext& run, const OverwriteOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        record_(kKeyBytes, options.value_bytes, run.fill),
        versions_(options.records, 0),
        random_(mix64(options.seed)) {}

  void run();

 private:
  uint64_t bytes_raw() const { return options_.records * record_.bytes(); }
  template <class F>
  void write_pass(const std::string& phase, F&& next_item);
  void sample_size(const std::string& phase, uint64_t done, std::vector<double>& sizes);
  void verify();

  const RunContext& run_;
  Report& report_;
  const OverwriteOptions& options_;
  Engine& engine_;
  Record record_;
  std::vector<uint8_t> versions_;  // by item; wraps around
  uint64_t random_;
};

void Overwrite::sample_size(const std::string& phase, uint64_t done, std::vector<double>& sizes) {
  const uint64_t on_disk = disk_bytes(run_.config.path);
  sizes.push_back(static_cast<double>(on_disk) / static_cast<double>(bytes_raw()));
  report_.csv(print_text("overwrite,%s,%s,%lu,%lu,%.4f", run_.engine_name.c_str(), phase.c_str(),
                         done, on_disk, sizes.back()));
}

// Puts the item that next_item(i) names for each i below the number of records.
template <class F>
void Overwrite::write_pass(const std::string& phase, F&& next_item) {
  progress(run_, phase);
  const std::unique_ptr<Writer> writer = engine_.writer();
  Histogram commits;
  RateWindows windows;
  std::vector<double> sizes;
  const bool overwrites = phase != "load";
  const uint64_t sample_every = std::max<uint64_t>(1, options_.records / kSamplesOfPass);
  uint64_t sample_at = sample_every;
  uint64_t sampling = 0;  // ticks that looking at the size took
  const uint64_t start = Ticks::now();
  uint64_t before = start;
  for (uint64_t done = 0; done < options_.records;) {
    const uint64_t count = std::min(options_.batch, options_.records - done);
    writer->begin(WriteIntent::kBlind);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t item = next_item(done + i);
      record_.make(item, versions_[item]);
      writer->put(record_.key(), record_.value());
    }
    writer->commit();
    done += count;
    uint64_t now = Ticks::now();
    commits.record(Ticks::ns(now - before));
    windows.add(Ticks::ns(now - start - sampling), count);
    if (overwrites && done >= sample_at) {
      sample_at += sample_every;
      sample_size(phase, done, sizes);
      const uint64_t after = Ticks::now();
      sampling += after - now;
      now = after;
    }
    before = now;
  }
  const double seconds = Ticks::seconds(Ticks::now() - start - sampling);
  report_.add(phase, "ops_per_s", static_cast<double>(options_.records) / seconds);
  report_.add_latencies(phase, commits);
  report_rate_parts(report_, phase, windows, seconds);
  if (sizes.empty()) return;
  double sum = 0;
  for (const double size : sizes) sum += size;
  report_.add(phase, "space_amplification", sum / static_cast<double>(sizes.size()));
  report_.add(phase, "space_amplification_max", *std::max_element(sizes.begin(), sizes.end()));
}

void Overwrite::verify() {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  VersionSink sink(options_.value_bytes);
  reader->iterate(sink);
  uint64_t versions = 0;
  for (const uint8_t version : versions_) versions += version;
  if (sink.errors() != 0 || sink.entries() != options_.records || sink.versions() != versions) {
    report_.fail(print_text(
        "the scan found %s entries of %s, %s errors, and versions that sum up to %s, not %s",
        with_commas(sink.entries()).c_str(), with_commas(options_.records).c_str(),
        with_commas(sink.errors()).c_str(), with_commas(sink.versions()).c_str(),
        with_commas(versions).c_str()));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < std::min(kChecks, options_.records); ++i) {
    const uint64_t item = scale(mix64(i), options_.records);
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

void Overwrite::run() {
  open_engine(run_, engine_);
  write_pass("load", [](uint64_t i) { return i; });
  engine_.drain();
  WriteMeter meter(run_);
  for (unsigned pass = 1; pass <= options_.passes; ++pass) {
    write_pass(print_text("pass_%u", pass), [this](uint64_t) {
      const uint64_t item = scale(mix64(++random_), options_.records);
      ++versions_[item];
      return item;
    });
  }
  const Stopwatch drain;
  engine_.drain();
  report_.add("drain", "seconds", drain.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  report_.add("verify", "space_amplification",
              static_cast<double>(disk_bytes(run_.config.path)) / static_cast<double>(bytes_raw()));
  meter.report(engine_, options_.passes * bytes_raw());
  verify();
  finish_run(run_, engine_, bytes_raw());
}

}  // namespace

void run_overwrite(const RunContext& run, const OverwriteOptions& options, Engine& engine) {
  Overwrite(run, options, engine).run();
}

}  // namespace hawthorn::bench
