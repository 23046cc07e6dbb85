#include "tools/metrics.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <thread>

#include "tools/http_server.h"
#include "tools/json.h"
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

Result<ListenPlace> parse_listen(std::string_view text) {
  ListenPlace place;
  std::string_view port = text;
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    std::string_view address = text.substr(0, colon);
    port = text.substr(colon + 1);
    const bool brackets = address.starts_with('[') && address.ends_with(']');
    if (brackets) address = address.substr(1, address.size() - 2);
    place.address = std::string(address);
    const bool v6 = address.find(':') != std::string_view::npos;
    if (!is_address(place.address) || v6 != brackets) {
      return Status(StatusCode::kInvalidArgument,
                    "--listen: \"" + std::string(text.substr(0, colon)) +
                        "\" is no IP address; those of IPv6 stand in brackets");
    }
  }
  const auto [at, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || at != port.data() + port.size()) {
    return Status(StatusCode::kInvalidArgument,
                  "--listen: a port between 0 and 65535, not \"" + std::string(port) + "\"");
  }
  return place;
}

namespace {

constexpr char kMetricsPath[] = "/metrics";

// Where the file cannot be read (any more), as where nobody has it open.
Counters counters_or_none(const std::string& directory) {
  Result<Counters> counters = read_counters(directory);
  return counters.ok() ? *std::move(counters) : Counters();
}

Status listen_for_collectors(const CommonOptions& common, const std::string& text) {
  const Result<ListenPlace> place = parse_listen(text);
  if (!place.ok()) return place.status();
  if (Status s = read_counters(common.directory).status(); !s.ok()) return s;
  const EndSignals end;
  const Result<std::unique_ptr<HttpServer>> server = HttpServer::start(
      {.host = place->address, .port = place->port, .threads = 2, .other_machines = true},
      [&common](const HttpRequest& request) -> HttpResponse {
        if (request.path != kMetricsPath) {
          return {.status = 404,
                  .type = "text/plain; charset=utf-8",
                  .body = std::string("the figures are at ") + kMetricsPath + "\n"};
        }
        return {.type = "text/plain; version=0.0.4; charset=utf-8",
                .body = metrics_text(common.directory, counters_or_none(common.directory))};
      });
  if (!server.ok()) return server.status();
  const std::string url = (*server)->url() + (kMetricsPath + 1);
  Json json;
  json.begin_object().field("url", url).end_object();
  Status status = print_line(common.json ? json.text() : url);
  if (status.ok()) end.wait();
  return status;
}

}  // namespace

Status run_metrics(const CommonOptions& common, const MetricsOptions& options) {
  if (!options.listen.empty()) return listen_for_collectors(common, options.listen);
  if (common.json) {
    return Status(StatusCode::kInvalidArgument, "metrics has no JSON; `hawthorn counters` has");
  }
  const bool again = !options.every_seconds.empty();
  const Result<double> seconds =
      again ? parse_seconds("--every", options.every_seconds) : Result<double>(0.0);
  if (!seconds.ok()) return seconds.status();
  if (Status s = read_counters(common.directory).status(); !s.ok()) return s;
  while (true) {
    // What cannot be read later is as what nobody has open: who reads the file is to hear that.
    const Counters counters = counters_or_none(common.directory);
    Result<Output> output =
        options.file.empty() ? Result<Output>(Output::to_stdout()) : Output::to_file(options.file);
    if (!output.ok()) return output.status();
    output->write(metrics_text(common.directory, counters));
    if (Status s = output->finish(); !s.ok()) return s;
    if (!again) return {};
    std::this_thread::sleep_for(std::chrono::duration<double>(*seconds));
  }
}

}  // namespace hawthorn::tools
