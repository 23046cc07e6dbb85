#pragma once
// How much memory the control groups of this process allow it.
//
// Not here: what the engine makes of it (db/budget.h). Threads: any.

#include <cstdint>
#include <string>

namespace hawthorn::os {

// The least limit of the process's group and those above it, in bytes; UINT64_MAX: there is none,
// or none that may be seen. Of version 2 and of version 1 of control groups.
uint64_t memory_limit_bytes();

// The same, from the text of /proc/self/cgroup and the directory where groups are mounted.
uint64_t memory_limit_in(const std::string& groups, const std::string& mounted);

}  // namespace hawthorn::os
