#include "bench/workload.h"

#include <cstdio>

#include "bench/clock.h"
#include "bench/machine.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

class ByteCounter : public EntrySink {
 public:
  void add(std::string_view key, std::string_view value) override {
    bytes_ += key.size() + value.size();
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

}  // namespace

void progress(const RunContext& run, const std::string& text) {
  if (run.verbose) std::fprintf(stderr, "  %s: %s\n", run.engine_name.c_str(), text.c_str());
}

void add_process_figures(Report& report) {
  report.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  report.add("verify", "device_write_bytes", static_cast<double>(device_write_bytes()));
}

void open_engine(const RunContext& run, Engine& engine) {
  reset_peak_rss();
  engine.open(run.config);
  if (run.cap_bytes != 0) {
    run.report->note(print_text("%s: under a cap of %s, page cache included; M is %s of it",
                                run.engine_name.c_str(),
                                size_text(static_cast<double>(run.cap_bytes)).c_str(),
                                size_text(static_cast<double>(run.config.memory_bytes)).c_str()));
  }
  run.report->note(run.engine_name + ": " + engine.version() + "; " + engine.settings());
}

void finish_run(const RunContext& run, Engine& engine, uint64_t bytes_raw,
                const std::function<uint64_t()>& opened) {
  Report& report = *run.report;
  report.add("verify", "bytes_raw", static_cast<double>(bytes_raw));
  if (const uint64_t reachable = engine.reachable_bytes(); reachable != 0) {
    report.add("verify", "bytes_reachable", static_cast<double>(reachable));
  }
  engine.close();
  report.add("verify", "bytes_on_disk", static_cast<double>(disk_bytes(run.config.path)));

  EngineConfig reopened = run.config;
  reopened.pretouch = false;  // it would be timed
  const Stopwatch watch;
  engine.open(reopened);
  report.add("open", "avg_us", watch.seconds() * 1e6);
  const uint64_t others = opened ? opened() : 0;
  // A size counts only if all is still there.
  ByteCounter counter;
  {
    const std::unique_ptr<Reader> reader = engine.reader();
    reader->begin(View::kSnapshot);
    reader->iterate(counter);
    reader->end();
  }
  if (counter.bytes() + others != bytes_raw) {
    report.fail(print_text("after close and open there are %s bytes of keys and values, not %s",
                           with_commas(counter.bytes() + others).c_str(),
                           with_commas(bytes_raw).c_str()));
  }
  engine.close();
}

void report_rate_parts(Report& report, const std::string& phase, const RateWindows& windows,
                       double seconds) {
  // None at all in a second is a figure too, but not of a phase that was over before.
  if (windows.measured()) {
    report.add(phase, "worst_second_ops_per_s", windows.worst_second());
    report.add(phase, "worst_ten_seconds_ops_per_s", windows.worst_rate(10));
  }
  report.add(phase, "first_tenth_ops_per_s", windows.rate_of_part(0, 0.1, seconds));
  report.add(phase, "last_tenth_ops_per_s", windows.rate_of_part(0.9, 1, seconds));
}

void report_drain(Report& report, uint64_t operations, double write_seconds, double drain_seconds) {
  report.add("drain", "ops_per_s",
             static_cast<double>(operations) / (write_seconds + drain_seconds));
  report.add("drain", "seconds", drain_seconds);
}

WriteMeter::WriteMeter(const RunContext& run)
    : run_(run),
      process_bytes_(device_write_bytes()),
      disk_bytes_(disk_written_bytes(run.config.path)) {}

void WriteMeter::report(Engine& engine, uint64_t bytes_put) {
  Report& report = *run_.report;
  sync_file_system(run_.config.path);
  const auto written = static_cast<double>(device_write_bytes() - process_bytes_);
  report.add("verify", "device_write_bytes", written);
  const std::optional<uint64_t> disk = disk_written_bytes(run_.config.path);
  double amplifier = written;
  if (disk && disk_bytes_) {
    amplifier = static_cast<double>(*disk - *disk_bytes_);
    report.add("verify", "disk_write_bytes", amplifier);
  } else {
    report.note("no counters of one block device: write_amplification is of /proc/self/io");
  }
  if (bytes_put != 0) {
    report.add("verify", "write_amplification", amplifier / static_cast<double>(bytes_put));
  }
  if (const std::optional<WriteAccount> account = engine.write_account()) {
    report.add("verify", "log_write_bytes", static_cast<double>(account->log_bytes));
    report.add("verify", "data_write_bytes", static_cast<double>(account->data_bytes));
    report.add("verify", "bytes_allocated", static_cast<double>(account->allocated_bytes));
  }
}

}  // namespace hawthorn::bench
