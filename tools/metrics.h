#pragma once
// metrics: the figures of a database for Prometheus, in its text format (version 0.0.4), to
// standard output or to a file that a collector reads again and again.
//
// Not here: what the figures are (hawthorn/stats.h). Threads: single-threaded.
//
// 1. Names are those of Stats with hawthorn_ before them; what only grows ends with _total.
//    Microseconds become seconds, as Prometheus has them.
// 2. A database that nobody has open has hawthorn_up 0 and no other figures: those in its file are
//    of another time.

#include <string>
#include <string_view>

#include "hawthorn/counters.h"
#include "tools/command.h"

namespace hawthorn::tools {

// What one look gives, a line for each figure. `directory` becomes the label `database`.
std::string metrics_text(std::string_view directory, const Counters& counters);

// Once, or each so many seconds for ever. Errors: kNotFound where no process has ever opened it,
// kInvalidArgument for the options, those of the file.
Status run_metrics(const CommonOptions& common, const MetricsOptions& options);

}  // namespace hawthorn::tools
