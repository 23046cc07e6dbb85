#include "tools/metrics.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "tools/stream.h"
#include "tools/watch.h"

namespace hawthorn::tools {
namespace {

// Of a label: a backslash, a quote and a line's end are escaped.
std::string label(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string seconds_of(uint64_t us) {
  char text[32];
  std::snprintf(text, sizeof(text), "%llu.%06llu", static_cast<unsigned long long>(us / 1'000'000),
                static_cast<unsigned long long>(us % 1'000'000));
  return text;
}

struct Writer {
  std::string labels;
  std::string text = {};

  void add(const std::string& name, std::string_view help, bool grows, std::string_view value) {
    text.append("# HELP ").append(name).append(" ").append(help);
    text.append("\n# TYPE ").append(name).append(grows ? " counter\n" : " gauge\n");
    text.append(name).append(labels).append(" ").append(value).append("\n");
  }
};

void add_counter(Writer& writer, const Counter& counter) {
  std::string name = "hawthorn_" + counter.name;
  const bool grows = counter.kind == Counter::Kind::kCount;
  const bool time = counter.unit == Counter::Unit::kMicroseconds;
  if (time && name.ends_with("_us")) name.resize(name.size() - 3);
  if (time) name += "_seconds";
  if (grows) name += "_total";
  writer.add(name, "As Stats::" + counter.name + " in hawthorn/stats.h.", grows,
             time ? seconds_of(counter.value) : std::to_string(counter.value));
}

}  // namespace

std::string metrics_text(std::string_view directory, const Counters& counters) {
  Writer writer{.labels = "{database=\"" + label(directory) + "\"}"};
  writer.add("hawthorn_up", "Whether a process has the database open.", false,
             counters.alive ? "1" : "0");
  if (!counters.alive) return writer.text;
  writer.add("hawthorn_opened_time_seconds", "When it was opened, in seconds since 1970.", false,
             seconds_of(counters.opened_us));
  writer.add("hawthorn_updated_time_seconds", "Of when these figures are, in seconds since 1970.",
             false, seconds_of(counters.updated_us));
  for (const Counter& counter : counters.entries) add_counter(writer, counter);
  return writer.text;
}

Status run_metrics(const CommonOptions& common, const MetricsOptions& options) {
  if (common.json) {
    return Status(StatusCode::kInvalidArgument, "metrics has no JSON; `hawthorn counters` has");
  }
  const bool again = !options.every_seconds.empty();
  const Result<double> seconds =
      again ? parse_seconds("--every", options.every_seconds) : Result<double>(0.0);
  if (!seconds.ok()) return seconds.status();
  for (bool first = true;; first = false) {
    Result<Counters> counters = read_counters(common.directory);
    if (!counters.ok() && first) return counters.status();
    // Later, as where nobody has it open: who reads the file is to hear that.
    if (!counters.ok()) counters = Counters();
    Result<Output> output =
        options.file.empty() ? Result<Output>(Output::to_stdout()) : Output::to_file(options.file);
    if (!output.ok()) return output.status();
    output->write(metrics_text(common.directory, *counters));
    if (Status s = output->finish(); !s.ok()) return s;
    if (!again) return {};
    std::this_thread::sleep_for(std::chrono::duration<double>(*seconds));
  }
}

}  // namespace hawthorn::tools
