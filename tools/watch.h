#pragma once
// stats --watch: the figures of a database that another process has open, again and again, each
// with what it has changed by in a second.
//
// Not here: the figures of a database that this process opens (care.cc). Threads: single-threaded.

#include <optional>
#include <string>

#include "hawthorn/counters.h"
#include "tools/command.h"

namespace hawthorn::tools {

// Until the database is closed, or as often as the options say. Errors: kNotFound where no process
// has it open; kInvalidArgument for the options.
Status watch_counters(const CommonOptions& common, const StatsOptions& options);

// Figures of a database that a process has open. Errors: kNotFound where none has.
Result<Counters> read_open_counters(const std::string& directory);
// The seconds between two looks. `option`: its name, for the error.
Result<double> parse_seconds(const std::string& option, const std::string& text);

// "1.23 M", "4.00 MB" or "7 us".
std::string amount(double number, Counter::Unit unit);
// In a second, of what only grows; nothing where no time has passed, or another process has begun
// anew.
std::optional<double> rate_of(const Counter& counter, const Counters& before, const Counters& now);

// One look, beside the one before: what a terminal or a pipe gets, without the line that names the
// database, and the same as JSON.
std::string watch_text(const Counters& before, const Counters& now);
std::string watch_json(const Counters& before, const Counters& now);

}  // namespace hawthorn::tools
