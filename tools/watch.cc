#include "tools/watch.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

double seconds_between(const Counters& before, const Counters& now) {
  return now.updated_us > before.updated_us
             ? static_cast<double>(now.updated_us - before.updated_us) / 1e6
             : 0;
}

}  // namespace

std::string amount(double number, Counter::Unit unit) {
  if (unit == Counter::Unit::kBytes) return short_bytes(number);
  std::string text = short_count(number);
  while (text.ends_with(' ')) text.pop_back();
  return unit == Counter::Unit::kMicroseconds ? text + " us" : text;
}

std::optional<double> rate_of(const Counter& counter, const Counters& before, const Counters& now) {
  const double seconds = seconds_between(before, now);
  const std::optional<uint64_t> old = before.value(counter.name);
  if (counter.kind != Counter::Kind::kCount || seconds == 0 || !old || counter.value < *old) {
    return std::nullopt;
  }
  return static_cast<double>(counter.value - *old) / seconds;
}

Result<double> parse_seconds(const std::string& option, const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || at != end || !(seconds >= 0.05) || seconds > 86400) {
    return Status(StatusCode::kInvalidArgument,
                  option + ": seconds between 0.05 and 86400, not \"" + text + "\"");
  }
  return seconds;
}

Result<Counters> read_open_counters(const std::string& directory) {
  Result<Counters> counters = read_counters(directory);
  if (counters.ok() && !counters->alive) {
    return Status(StatusCode::kNotFound,
                  directory + ": no process has it open; `hawthorn stats` opens it");
  }
  return counters;
}

std::string watch_text(const Counters& before, const Counters& now) {
  std::string text;
  char line[128];
  std::snprintf(line, sizeof(line), "  %-28s %14s %16s\n", "", "total", "in a second");
  text += line;
  for (const Counter& counter : now.entries) {
    const std::optional<double> rate = rate_of(counter, before, now);
    std::snprintf(line, sizeof(line), "  %-28s %14s %16s\n", counter.name.c_str(),
                  amount(static_cast<double>(counter.value), counter.unit).c_str(),
                  rate ? amount(*rate, counter.unit).c_str() : "");
    text += line;
  }
  return text;
}

std::string watch_json(const Counters& before, const Counters& now) {
  Json json;
  json.begin_object().field("pid", now.pid).field("updated_us", now.updated_us);
  json.field("seconds", seconds_between(before, now));
  json.begin_object("counters");
  for (const Counter& counter : now.entries) json.field(counter.name, counter.value);
  json.end_object().begin_object("rates");
  for (const Counter& counter : now.entries) {
    const std::optional<double> rate = rate_of(counter, before, now);
    if (rate) json.field(counter.name, *rate);
  }
  return json.end_object().end_object().text();
}

Status watch_counters(const CommonOptions& common, const StatsOptions& options) {
  const Result<double> seconds = parse_seconds("--watch", options.watch_seconds);
  if (!seconds.ok()) return seconds.status();
  Result<Counters> before = read_open_counters(common.directory);
  if (!before.ok()) return before.status();
  for (uint64_t shown = 0; options.times == 0 || shown < options.times; ++shown) {
    std::this_thread::sleep_for(std::chrono::duration<double>(*seconds));
    Result<Counters> now = read_counters(common.directory);
    if (!now.ok()) return now.status();
    Output output = Output::to_stdout();
    if (common.json) {
      output.write(watch_json(*before, *now) + "\n");
    } else {
      // A terminal shows one page that is drawn anew.
      if (output.is_terminal()) output.write("\x1b[H\x1b[2J");
      output.write(common.directory + ", process " + std::to_string(now->pid) + "\n" +
                   watch_text(*before, *now));
    }
    if (Status s = output.finish(); !s.ok()) return s;
    if (now->closed || !now->alive) return {};
    // Figures that are of the same moment say nothing of a rate: the next ones go on from there.
    if (now->updated_us > before->updated_us) before = std::move(now);
  }
  return {};
}

}  // namespace hawthorn::tools
