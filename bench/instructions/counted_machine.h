#pragma once
// The machine on which the databases of a counted program are opened: the same calls do the same
// work on it each time. The library has no threads of its own and no io_uring there, the clock
// counts how often it is read, random numbers have a fixed seed, and vectors have 32 bytes. Files
// are those of the operating system, through its page cache; the memory budget is 1 GB, whatever
// the options say.
//
// The programs see the public interface alone, as do the libraries with other engines' interfaces:
// the linker has their calls of Db::open come here (--wrap in CMakeLists.txt).
//
// Used by the counted programs. Threads: one.

#include <string_view>

#include "bench/instructions/data.h"
#include "hawthorn/db.h"

namespace hawthorn::bench {

// Ends the program where the processor, as callgrind shows it, has no vectors of 32 bytes. Before
// the first database is opened.
void fix_vector_width();

// The one that was opened last, by whatever interface. Lifetime: while it is open.
Db& counted_db();

void check(const Status& status, std::string_view what);

// The states in which operations are counted, as the table names them.
inline constexpr std::string_view kFlushed = "flushed";
inline constexpr std::string_view kUnflushed = "unflushed";
inline constexpr std::string_view kPartly = "10% unflushed, snapshot held";
inline constexpr std::string_view kStates[] = {kFlushed, kUnflushed, kPartly};
constexpr uint64_t kPartlyUpdates = kCountedEntries / 10;

// Ends the program unless counted_db() has as many unflushed versions as the state says.
void require_state(std::string_view state);

}  // namespace hawthorn::bench
