#include "bench/report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr std::array<std::string_view, 134> kPhases = {{
    "load",
    "warm_up",
    "write",
    "write_read",
    "scan",
    "upsert",
    "insert",
    "read",
    "count",
    "pass_1",
    "pass_2",
    "pass_3",
    "pass_4",
    "pass_5",
    "pass_6",
    "pass_7",
    "pass_8",
    "pass_9",
    "verify",
    "drain",
    "open",
    "get",
    "get_chain",
    "get_dirty",
    "multi_get",
    "read_1",
    "read_2",
    "read_4",
    "read_8",
    "read_16",
    "read_32",
    "read_64",
    "range_small",
    "range_medium",
    "range_large",
    "mix_1",
    "mix_read_1",
    "mix_write_1",
    "mix_2",
    "mix_read_2",
    "mix_write_2",
    "mix_4",
    "mix_read_4",
    "mix_write_4",
    "mix_8",
    "mix_read_8",
    "mix_write_8",
    "mix_16",
    "mix_read_16",
    "mix_write_16",
    "mix_32",
    "mix_read_32",
    "mix_write_32",
    "mix_64",
    "mix_read_64",
    "mix_write_64",
    "lower_bound",
    "iterate",
    "iterate_batch",
    "disk_write",
    "disk_read",
    "backup",
    "restore",
    "write_backup",
    "remove",
    "overwrite",
    "ingest",
    "range",
    "snapshot",
    "txn_snapshot",
    "txn_serializable",
    "upsert_held",
    "tatp",
    "get_subscriber_data",
    "get_new_destination",
    "get_access_data",
    "update_subscriber_data",
    "update_location",
    "insert_call_forwarding",
    "delete_call_forwarding",
    "clone_none",
    "clone_full",
    "drop",
    "count_flushed",
    "count_flushed_range",
    "count_unflushed",
    "count_unflushed_range",
    "count_overwritten",
    "count_overwritten_range",
    "count_held",
    "count_held_range",
    "count_now",
    "count_now_range",
    "count_first",
    "count_opened",
    "count_opened_range",
    "insert_bytewise",
    "insert_compared",
    "get_bytewise",
    "get_compared",
    "sql",
    "rowid_insert",
    "key_insert",
    "unique_insert",
    "scan_range",
    "scan_like",
    "scan_order",
    "scan_limit",
    "create_index",
    "index_range",
    "key_range",
    "text_range",
    "key_select",
    "index_select",
    "text_select",
    "indexed_insert",
    "insert_select",
    "delete_refill",
    "text_key_insert",
    "text_key_select",
    "without_rowid_insert",
    "without_rowid_select",
    "join",
    "subquery",
    "recursive",
    "update_range",
    "update_key_range",
    "update_row",
    "update_all",
    "delete_range",
    "delete_row",
    "replace",
    "replace_unique",
    "integrity",
}};

constexpr std::array<Metric, 45> kMetrics = {{
    {"tx_per_s", "1/s", true},
    {"ops_per_s", "1/s", true},
    {"reads_per_s", "1/s", true},
    {"entries_per_s", "1/s", true},
    {"bytes_per_s", "bytes/s", true},
    {"part_of_disk", "ratio", true},
    {"writer_loss", "ratio", false},
    {"seconds", "s", false},
    {"first_tenth_ops_per_s", "1/s", true},
    {"last_tenth_ops_per_s", "1/s", true},
    {"first_ten_rounds_ops_per_s", "1/s", true},
    {"last_ten_rounds_ops_per_s", "1/s", true},
    {"per_thread_ops_per_s", "1/s", true},
    {"worst_second_ops_per_s", "1/s", true},
    {"worst_ten_seconds_ops_per_s", "1/s", true},
    {"ms", "ms", false},
    {"total_ms", "ms", false},
    {"rows_per_s", "1/s", true},
    {"avg_us", "us", false},
    {"p50_us", "us", false},
    {"p90_us", "us", false},
    {"p99_us", "us", false},
    {"p999_us", "us", false},
    {"max_us", "us", false},
    {"bytes_raw", "bytes", false},
    {"bytes_reachable", "bytes", false},
    {"bytes_allocated", "bytes", false},
    {"bytes_on_disk", "bytes", false},
    {"rss_bytes", "bytes", false},
    {"group_peak_bytes", "bytes", false},
    {"group_limit_hits", "count", false},
    {"group_oom_kills", "count", false},
    {"device_write_bytes", "bytes", false},
    {"disk_write_bytes", "bytes", false},
    {"log_write_bytes", "bytes", false},
    {"data_write_bytes", "bytes", false},
    {"write_amplification", "times", false},
    {"space_amplification", "times", false},
    {"space_amplification_max", "times", false},
    {"space_growth", "times", false},
    {"memory_growth", "times", false},
    {"part_failed", "ratio", false},
    {"conflicts", "count", false},
    {"busy", "count", false},
    {"cost", "times", false},
}};

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

std::span<const std::string_view> phase_names() { return kPhases; }
std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

void Report::add(std::string_view phase, std::string_view metric, double value) {
  if (find_metric(metric) == nullptr ||
      std::find(kPhases.begin(), kPhases.end(), phase) == kPhases.end()) {
    throw std::logic_error("undocumented figure: " + std::string(phase) + " " +
                           std::string(metric));
  }
  rows_.push_back({std::string(phase), std::string(metric), value});
  tell('R',
       print_text("%s %s %.17g", rows_.back().phase.c_str(), rows_.back().metric.c_str(), value));
}

void Report::add_latencies(std::string_view phase, const Histogram& nanoseconds) {
  if (nanoseconds.count() == 0) return;
  add(phase, "avg_us", nanoseconds.mean() / 1e3);
  add(phase, "p50_us", static_cast<double>(nanoseconds.percentile(50)) / 1e3);
  add(phase, "p90_us", static_cast<double>(nanoseconds.percentile(90)) / 1e3);
  add(phase, "p99_us", static_cast<double>(nanoseconds.percentile(99)) / 1e3);
  add(phase, "p999_us", static_cast<double>(nanoseconds.percentile(99.9)) / 1e3);
  add(phase, "max_us", static_cast<double>(nanoseconds.max()) / 1e3);
}

void Report::note(std::string_view text) {
  notes_.push_back(one_line(text));
  tell('N', notes_.back());
}

void Report::csv(std::string_view line) {
  csv_lines_.push_back(one_line(line));
  tell('C', csv_lines_.back());
}

void Report::fail(std::string_view text) {
  failures_.push_back(one_line(text));
  tell('F', failures_.back());
}

void Report::limited(std::string_view text) {
  limits_.push_back(one_line(text));
  tell('L', limits_.back());
}

bool Report::apply(std::string_view line) {
  if (line.size() < 2 || line[1] != ' ') return false;
  const std::string_view text = line.substr(2);
  switch (line[0]) {
    case 'N':
      note(text);
      return true;
    case 'C':
      csv(text);
      return true;
    case 'F':
      fail(text);
      return true;
    case 'L':
      limited(text);
      return true;
    case 'R': {
      const std::vector<std::string> parts = split(text, ' ');
      if (parts.size() != 3) return false;
      add(parts[0], parts[1], std::strtod(parts[2].c_str(), nullptr));
      return true;
    }
    default:
      return false;
  }
}

double Report::value(std::string_view phase, std::string_view metric, double missing) const {
  for (const Row& row : rows_) {
    if (row.phase == phase && row.metric == metric) return row.value;
  }
  return missing;
}

void Report::tell(char kind, std::string_view text) {
  if (listener_) listener_(std::string(1, kind) + ' ' + std::string(text));
}

}  // namespace hawthorn::bench
