#pragma once
// What all workloads are told, and the steps that they share.
//
// Used by all workloads. Threads: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/engine.h"
#include "bench/report.h"
#include "bench/stamp.h"
#include "bench/text.h"

namespace hawthorn::bench {

// One run of one workload against one engine.
struct RunContext {
  std::string engine_name;
  EngineConfig config;
  Report* report = nullptr;
  bool verbose = false;      // progress on standard error
  uint64_t cap_bytes = 0;    // of the control group that the run is in; 0: none
  Fill fill = Fill::kNoise;  // of values
};

// A line of progress on standard error, when it is wanted.
void progress(const RunContext& run, const std::string& text);

// Sizes, the close, the time that an open takes after it, and whether everything is still there:
// the phases `verify` and `open` of the report. The engine is open before and closed afterwards.
// bytes_raw: keys and values of all live entries. `opened`: called right behind the open; returns
// keys and values of those entries that it found and that no reader of the engine walks over.
void finish_run(const RunContext& run, Engine& engine, uint64_t bytes_raw,
                const std::function<uint64_t()>& opened = {});

// What the process has taken so far: its memory at most, and what it wrote to devices.
void add_process_figures(Report& report);

// Walks over all entries of a snapshot. The sink, which has `entries` and `errors`, must find
// `expected` of the one and none of the other, or the run fails.
template <class Sink>
void verify_walk(const RunContext& run, Engine& engine, Sink&& sink, uint64_t expected) {
  progress(run, "verify");
  const std::unique_ptr<Reader> reader = engine.reader();
  reader->begin(View::kSnapshot);
  reader->iterate(sink);
  reader->end();
  if (sink.errors() != 0 || sink.entries() != expected) {
    run.report->fail(print_text("the walk found %s entries of %s and %s errors",
                                with_commas(sink.entries()).c_str(), with_commas(expected).c_str(),
                                with_commas(sink.errors()).c_str()));
  }
}

// Opens the engine and notes its version and settings.
void open_engine(const RunContext& run, Engine& engine);

// Of a phase that writes: the worst second and the worst ten, the first and the last tenth of its
// operations.
void report_rate_parts(Report& report, const std::string& phase, const RateWindows& windows,
                       double seconds);
// The rate with the time until background work ended, and that time.
void report_drain(Report& report, uint64_t operations, double write_seconds, double drain_seconds);

// What a run has its device write, from the construction on: the figures of phase `verify`.
class WriteMeter {
 public:
  explicit WriteMeter(const RunContext& run);
  // Lets the kernel write out what it holds back first. bytes_put: keys and values of all puts,
  // overwritten ones included. The engine is open and drained.
  void report(Engine& engine, uint64_t bytes_put);

 private:
  const RunContext& run_;
  const uint64_t process_bytes_;
  const std::optional<uint64_t> disk_bytes_;
};

}  // namespace hawthorn::bench
