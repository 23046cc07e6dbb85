#pragma once
// top: a database that another process has open, as one screen that is drawn anew each second:
// rates now and over the last minute, latencies, cache, pacing, memory, disk, readers.
//
// Not here: all figures with their names (watch.h). Threads: single-threaded.

#include <span>
#include <string>
#include <string_view>

#include "hawthorn/counters.h"
#include "tools/command.h"

namespace hawthorn::tools {

// The screen, a line for each group of figures, none of them longer than so many columns. `looks`:
// at least one, the newest last; rates are between the last two, and between the first and the
// last.
std::string top_page(std::string_view directory, std::span<const Counters> looks, size_t columns);

// Until the database is closed, q is pressed, or as often as the options say. What is no terminal
// gets page after page. Errors: as of stats --watch.
Status run_top(const CommonOptions& common, const TopOptions& options);

}  // namespace hawthorn::tools
