#include "bench/results.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// Shortest text that reads back as the same number.
std::string json_number(double number) {
  for (int digits = 6; digits < 17; ++digits) {
    std::string text = print_text("%.*g", digits, number);
    if (std::stod(text) == number) return text;
  }
  return print_text("%.17g", number);
}

// The names of the columns of a workload's lines, which begin with its name.
std::string_view csv_head(std::string_view line) {
  struct Head {
    std::string_view workload;
    std::string_view columns;
  };
  static constexpr auto kHeads = std::to_array<Head>({
      {"bank", "workload,engine,batch_size,phase,round,tx_per_s"},
      {"upsert", "workload,engine,round,total_keys,upserts_per_s,bytes_on_disk"},
      {"scale", "workload,engine,round,total_keys,inserts_per_s,reads_per_s,bytes_on_disk"},
      {"insert", "workload,engine,record_bytes,second,total_records,inserts_per_s"},
      {"counters", "workload,engine,second,total_steps,steps_per_s"},
      {"txn", "workload,engine,case,threads,phase,round,ops_per_s"},
      {"overwrite", "workload,engine,phase,puts,bytes_on_disk,space_amplification"},
      {"soak",
       "workload,engine,phase,second,upserts,overwrites,removes,ingested,gets,multi_gets,"
       "range_entries,snapshot_reads,longest_write_us,longest_read_us,longest_ingest_us,cap_bytes,"
       "group_bytes,rss_bytes,engine_bytes,data_bytes,log_bytes,live_bytes"},
  });
  const std::string_view name = line.substr(0, line.find(','));
  for (const Head& head : kHeads) {
    if (head.workload == name) return head.columns;
  }
  throw std::logic_error("lines of a workload without a head: " + std::string(name));
}

}  // namespace

bool Results::all_ok() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.report.ok(); });
}

std::vector<std::string> Results::workloads() const {
  std::vector<std::string> names;
  for (const Run& run : runs_) add_once(names, run.workload);
  return names;
}

std::vector<std::string> Results::engines(const std::string& workload) const {
  std::vector<std::string> names;
  for (const Run& run : runs_) {
    if (run.workload == workload) add_once(names, run.engine);
  }
  return names;
}

std::vector<Row> Results::row_names(const std::string& workload) const {
  std::vector<Row> names;
  for (const std::string_view phase : phase_names()) {
    for (const Metric& metric : metrics()) {
      const bool present = std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
        return run.workload == workload && run.report.ok() &&
               std::any_of(run.report.rows().begin(), run.report.rows().end(), [&](const Row& row) {
                 return row.phase == phase && row.metric == metric.name;
               });
      });
      if (present) names.push_back({std::string(phase), std::string(metric.name), 0});
    }
  }
  return names;
}

bool Results::unfair(const std::string& engine) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const Run& run) { return run.engine == engine && run.build.unfair(); });
}

std::optional<Results::Summary> Results::summary(const std::string& workload,
                                                 const std::string& engine,
                                                 const std::string& phase,
                                                 const std::string& metric) const {
  std::vector<double> values;
  for (const Run& run : runs_) {
    if (run.workload != workload || run.engine != engine || !run.report.ok()) continue;
    for (const Row& row : run.report.rows()) {
      if (row.phase == phase && row.metric == metric) values.push_back(row.value);
    }
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  const double spread = median == 0 ? 0 : (values.back() - values.front()) / median;
  return Summary{median, spread, values.size()};
}

void Results::write_json(std::ostream& out) const {
  const char* separator = "[\n";
  for (const Run& run : runs_) {
    if (!run.report.ok()) continue;
    for (const Row& row : run.report.rows()) {
      out << separator << "{\"workload\": " << json_string(run.workload)
          << ", \"engine\": " << json_string(run.engine)
          << ", \"phase\": " << json_string(row.phase)
          << ", \"metric\": " << json_string(row.metric)
          << ", \"value\": " << json_number(row.value)
          << ", \"unit\": " << json_string(find_metric(row.metric)->unit)
          << ", \"repeat\": " << run.repeat << ", " << build_json(run.build) << "}";
      separator = ",\n";
    }
  }
  out << (*separator == '[' ? "[]\n" : "\n]\n");
}

void Results::write_rounds(std::ostream& out, bool ok) const {
  bool headed = false;
  for (const Run& run : runs_) {
    if (run.report.ok() != ok) continue;
    for (const std::string& line : run.report.csv_lines()) {
      if (!std::exchange(headed, true)) out << csv_head(line) << ",repeat\n";
      out << line << ',' << run.repeat << '\n';
    }
  }
}

void Results::write_failed_csv(std::ostream& out) const { write_rounds(out, false); }

void Results::write_csv(std::ostream& out) const {
  const bool rounds = std::any_of(runs_.begin(), runs_.end(),
                                  [](const Run& run) { return !run.report.csv_lines().empty(); });
  if (rounds) return write_rounds(out, true);
  out << "workload,engine,phase,metric,value,unit,repeat\n";
  for (const Run& run : runs_) {
    if (!run.report.ok()) continue;
    for (const Row& row : run.report.rows()) {
      out << run.workload << ',' << run.engine << ',' << row.phase << ',' << row.metric << ','
          << json_number(row.value) << ',' << find_metric(row.metric)->unit << ',' << run.repeat
          << '\n';
    }
  }
}

}  // namespace hawthorn::bench
