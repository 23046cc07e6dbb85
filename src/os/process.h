#pragma once
// Which process this is, and whether another one is still the same.
//
// Not here: starting and ending processes. Threads: every function from any thread.

#include <cstdint>

namespace hawthorn::os {

uint64_t process_id();

// When a process was started, in clock ticks since the boot (field 22 of /proc/<pid>/stat): number
// and start together name it for good. 0: there is none of this number, or none that may be seen.
uint64_t process_start(uint64_t pid);

}  // namespace hawthorn::os
