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

  EngineConfig reopened = run.config;
  reopened.pretouch = false;  // it would be timed
  const Stopwatch watch;
  engine.open(reopened);
  report.add("open", "avg_us", watch.seconds() * 1e6);
  // A size counts only if all is still there.
  ByteCounter counter;
  {
    const std::unique_ptr<Reader> reader = engine.reader();
    reader->begin(View::kSnapshot);
    reader->iterate(counter);
    reader->end();
  }
  if (counter.bytes() != bytes_raw) {
    report.fail(print_text("after close and open there are %s bytes of keys and values, not %s",
                           with_commas(counter.bytes()).c_str(), with_commas(bytes_raw).c_str()));
  }
  engine.close();
}

}  // namespace hawthorn::bench
