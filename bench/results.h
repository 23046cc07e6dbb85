#pragma once
// The figures of all runs of a comparison: medians, spreads, ratios, and the JSON and CSV files.
//
// Used by program.h. The JSON is the interface to other programs: docs/benchmarks-json.md.
// Threads: one.
//
// 1. The figures of a run that failed a check, or died, are in no median and in no file but that of
//    write_failed_csv, which has them alone.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bench/library_build.h"
#include "bench/report.h"

namespace hawthorn::bench {

struct Run {
  std::string workload;
  std::string engine;
  unsigned repeat = 0;
  Report report;
  LibraryBuild build = {};
};

class Results {
 public:
  void add(Run run) { runs_.push_back(std::move(run)); }
  const std::vector<Run>& runs() const { return runs_; }
  bool all_ok() const;

  // In the order in which they first ran.
  std::vector<std::string> workloads() const;
  std::vector<std::string> engines(const std::string& workload) const;
  // Phase and metric of each row that any engine has, in the order of the documents.
  std::vector<Row> row_names(const std::string& workload) const;

  // Whether the engine was built with assertions: nothing is to be compared with it.
  bool unfair(const std::string& engine) const;

  struct Summary {
    double median = 0;
    double spread = 0;  // (largest - smallest) / median
    size_t count = 0;
  };
  std::optional<Summary> summary(const std::string& workload, const std::string& engine,
                                 const std::string& phase, const std::string& metric) const;

  void write_json(std::ostream& out) const;
  // The rounds that the workload told of, or all rows where it tells of none.
  void write_csv(std::ostream& out) const;
  // The rounds of the runs that failed, to look for the reason; nothing where none told of any.
  void write_failed_csv(std::ostream& out) const;

 private:
  void write_rounds(std::ostream& out, bool ok) const;

  std::vector<Run> runs_;
};

}  // namespace hawthorn::bench
