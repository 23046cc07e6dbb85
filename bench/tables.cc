#include "bench/tables.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// Left out unless all are asked for.
constexpr std::array<std::string_view, 2> kMinorMetrics = {"avg_us", "p90_us"};

std::string value_text(const Metric& metric, double value) {
  if (metric.unit == "bytes") return size_text(value);
  if (metric.unit == "ratio") return print_text("%.1f%%", value * 100);
  if (metric.unit == "times") return print_text("%.2f", value);
  if (metric.unit == "count") return with_commas(static_cast<uint64_t>(value));
  if (metric.unit == "s") return print_text("%.1f s", value);
  return short_number(value);
}

std::string cell_text(const Results& results, const TableOptions& options,
                      const std::string& workload, const std::string& engine, const Row& name) {
  const auto summary = results.summary(workload, engine, name.phase, name.metric);
  if (!summary) return "-";
  const Metric& metric = *find_metric(name.metric);
  std::string text = value_text(metric, summary->median);
  if (summary->count > 1) text += print_text(" ±%.0f%%", summary->spread * 50);
  const bool compares = !options.baseline.empty() && engine != options.baseline &&
                        !results.unfair(engine) && !results.unfair(options.baseline);
  if (compares && metric.unit != "ratio") {
    const auto base = results.summary(workload, options.baseline, name.phase, name.metric);
    if (base && base->median != 0) text += print_text(" %.2fx", summary->median / base->median);
  }
  return text;
}

// Columns on a screen: "±" takes two bytes.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string status_text(const Results& results, const std::string& workload,
                        const std::string& engine) {
  size_t runs = 0;
  size_t failed = 0;
  bool limited = false;
  for (const Run& run : results.runs()) {
    if (run.workload != workload || run.engine != engine) continue;
    ++runs;
    failed += run.report.ok() ? 0 : 1;
    limited = limited || !run.report.limits().empty();
  }
  if (failed != 0) return runs == 1 ? "FAIL" : print_text("FAIL %zu of %zu", failed, runs);
  return limited ? "PASS, ran full" : "PASS";
}

std::string assertions_text(const Results& results, const std::string& engine) {
  for (const Run& run : results.runs()) {
    if (run.engine != engine) continue;
    if (!run.build.assertions) return "not known";
    return *run.build.assertions ? "ON" : "off";
  }
  return "";
}

void print_table(const Results& results, const TableOptions& options, const std::string& workload,
                 std::ostream& out) {
  const std::vector<std::string> engines = results.engines(workload);
  const bool unfair = std::any_of(engines.begin(), engines.end(), [&](const std::string& engine) {
    return results.unfair(engine);
  });
  std::vector<std::vector<std::string>> lines;
  lines.push_back({workload});
  lines.back().insert(lines.back().end(), engines.begin(), engines.end());
  for (const Row& name : results.row_names(workload)) {
    const bool minor =
        std::find(kMinorMetrics.begin(), kMinorMetrics.end(), name.metric) != kMinorMetrics.end();
    // Of one call the mean is all that there is.
    const bool one_call = name.phase == "open" || name.phase == "count_first";
    if (minor && !one_call && !options.all_metrics) continue;
    std::vector<std::string>& line = lines.emplace_back();
    line.push_back(name.phase + " " + name.metric);
    for (const std::string& engine : engines) {
      line.push_back(cell_text(results, options, workload, engine, name));
    }
  }
  lines.push_back({"every answer checked"});
  for (const std::string& engine : engines) {
    lines.back().push_back(status_text(results, workload, engine));
  }
  if (unfair) {
    lines.push_back({"assertions"});
    for (const std::string& engine : engines) {
      lines.back().push_back(assertions_text(results, engine));
    }
  }

  std::vector<size_t> widths(engines.size() + 1, 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  for (const auto& line : lines) {
    const bool marks = &line == &lines.front() || &line == &lines.back();
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - width_of(line[i]), ' ');
      const bool red = options.colors && unfair && marks && i > 0 && results.unfair(engines[i - 1]);
      out << (i == 0 ? line[i] + padding : "  " + padding + red_text(line[i], red));
    }
    out << '\n';
  }
}

}  // namespace

std::string red_text(const std::string& text, bool red) {
  return red ? "\033[31m" + text + "\033[0m" : text;
}

void print_tables(const Results& results, const TableOptions& options, std::ostream& out) {
  for (const std::string& workload : results.workloads()) {
    out << '\n';
    print_table(results, options, workload, out);
  }
  const bool repeated = std::any_of(results.runs().begin(), results.runs().end(),
                                    [](const Run& run) { return run.repeat != 0; });
  if (repeated) out << "Medians; ± is half of the spread between the smallest and largest value.\n";
  if (!options.baseline.empty())
    out << "x: the value divided by that of " << options.baseline << ".\n";
  std::string unfair;
  for (const std::string& workload : results.workloads()) {
    for (const std::string& engine : results.engines(workload)) {
      if (!results.unfair(engine) || (unfair + ",").find(" " + engine + ",") != std::string::npos) {
        continue;
      }
      unfair += (unfair.empty() ? " " : ", ") + engine;
    }
  }
  if (!unfair.empty()) {
    out << red_text("Built with assertions, which cost time:" + unfair +
                        ". There is no ratio of these, nor against them.",
                    options.colors)
        << '\n';
  }
}

void print_run(const Run& run, std::ostream& out) {
  for (const std::string& note : run.report.notes()) out << "  " << note << '\n';
  for (const std::string& limit : run.report.limits()) out << "  FULL: " << limit << '\n';
  for (const std::string& failure : run.report.failures()) out << "  FAIL: " << failure << '\n';
}

}  // namespace hawthorn::bench
