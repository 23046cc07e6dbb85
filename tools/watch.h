#pragma once
// stats --watch: the figures of a database that another process has open, again and again, each
// with what it has changed by in a second.
//
// Not here: the figures of a database that this process opens (care.cc). Threads: single-threaded.

#include <string>

#include "hawthorn/counters.h"
#include "tools/command.h"

namespace hawthorn::tools {

// Until the database is closed, or as often as the options say. Errors: kNotFound where no process
// has it open; kInvalidArgument for the options.
Status watch_counters(const CommonOptions& common, const StatsOptions& options);

// One look, beside the one before: what a terminal or a pipe gets, without the line that names the
// database, and the same as JSON.
std::string watch_text(const Counters& before, const Counters& now);
std::string watch_json(const Counters& before, const Counters& now);

}  // namespace hawthorn::tools
