#pragma once
// What a workload found out about one engine in one run, row by row.
//
// The names of phases and metrics are those of docs/benchmarks-json.md, and only those: other
// programs read them. Used by workloads (which fill it in the child process), runner.h (which
// carries it to the parent) and results.h. Threads: one.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/histogram.h"

namespace hawthorn::bench {

struct Metric {
  std::string_view name;
  std::string_view unit;
  bool more_is_better;
};

std::span<const std::string_view> phase_names();
std::span<const Metric> metrics();
// Null for a name that is not documented.
const Metric* find_metric(std::string_view name);

struct Row {
  std::string phase;
  std::string metric;
  double value = 0;
};

class Report {
 public:
  // Called with each event as the line that encodes it (see apply).
  using Listener = std::function<void(const std::string& line)>;
  explicit Report(Listener listener = {}) : listener_(std::move(listener)) {}

  // Asserts that phase and metric are documented.
  void add(std::string_view phase, std::string_view metric, double value);
  // avg, p50, p90, p99, p999 and max of latencies in nanoseconds, as microseconds.
  void add_latencies(std::string_view phase, const Histogram& nanoseconds);
  // A line for people, shown when the run is over.
  void note(std::string_view text);
  // A line of the --csv file.
  void csv(std::string_view line);
  // The engine gave a wrong answer or failed: its figures do not count.
  void fail(std::string_view text);
  // The engine ran full, or was stopped at a limit: a result, and its figures count.
  void limited(std::string_view text);

  // Takes in a line that another process's Report produced. False for a line that none did.
  bool apply(std::string_view line);

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& csv_lines() const { return csv_lines_; }
  const std::vector<std::string>& failures() const { return failures_; }
  const std::vector<std::string>& limits() const { return limits_; }
  bool ok() const { return failures_.empty(); }
  // The value of a row; `missing` when there is none.
  double value(std::string_view phase, std::string_view metric, double missing = 0) const;

 private:
  void tell(char kind, std::string_view text);

  Listener listener_;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  std::vector<std::string> csv_lines_;
  std::vector<std::string> failures_;
  std::vector<std::string> limits_;
};

}  // namespace hawthorn::bench
