#pragma once
// metrics: the figures of a database for Prometheus, in its text format (version 0.0.4), to
// standard output, to a file that a collector reads again and again, or over HTTP to who asks.
//
// Not here: what the figures are (hawthorn/stats.h), HTTP (http_server.h). Threads:
// single-threaded.
//
// 1. Names are those of Stats with hawthorn_ before them; what only grows ends with _total.
//    Microseconds become seconds, as Prometheus has them.
// 2. A database that nobody has open has hawthorn_up 0 and no other figures: those in its file are
//    of another time.
// 3. Over HTTP any user of the machine gets them (a collector is one of its own): the directory's
//    name, sizes and counts, no key and no value. Other machines only where the address lets them.

#include <cstdint>
#include <string>
#include <string_view>

#include "hawthorn/counters.h"
#include "tools/command.h"

namespace hawthorn::tools {

// What one look gives, a line for each figure. `directory` becomes the label `database`.
std::string metrics_text(std::string_view directory, const Counters& counters);

struct ListenPlace {
  std::string address = "127.0.0.1";
  uint16_t port = 0;
};
// Of "9464", "10.0.0.1:9464" or "[::1]:9464". Errors: kInvalidArgument.
Result<ListenPlace> parse_listen(std::string_view text);

// Once, each so many seconds for ever, or to who asks until SIGINT or SIGTERM. Errors: kNotFound
// where no process has ever opened it, kInvalidArgument for the options, those of the file, and of
// HttpServer::start.
Status run_metrics(const CommonOptions& common, const MetricsOptions& options);

}  // namespace hawthorn::tools
