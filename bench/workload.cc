#include "bench/workload.h"

#include <cstdio>

#include "bench/clock.h"
#include "bench/machine.h"

namespace hawthorn::bench {

void progress(const RunContext& run, const std::string& text) {
  if (run.verbose) std::fprintf(stderr, "  %s: %s\n", run.engine_name.c_str(), text.c_str());
}

void open_engine(const RunContext& run, Engine& engine) {
  reset_peak_rss();
  engine.open(run.config);
  run.report->note(run.engine_name + ": " + engine.version() + "; " + engine.settings());
}

void finish_run(const RunContext& run, Engine& engine, uint64_t bytes_raw) {
  Report& report = *run.report;
  report.add("verify", "bytes_raw", static_cast<double>(bytes_raw));
  if (const uint64_t reachable = engine.reachable_bytes(); reachable != 0) {
    report.add("verify", "bytes_reachable", static_cast<double>(reachable));
  }
  engine.close();
  report.add("verify", "bytes_on_disk", static_cast<double>(disk_bytes(run.config.path)));

  const Stopwatch watch;
  engine.open(run.config);
  report.add("open", "avg_us", watch.seconds() * 1e6);
  engine.close();
}

}  // namespace hawthorn::bench
