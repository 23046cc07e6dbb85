#pragma once
// Tells a process from the children that it forks: a child has its parent's memory, but none of its
// threads, and must not use the parent's files (R30).
//
// Threads: any.

#include <cstdint>

namespace hawthorn::os {

// Changes in a child of fork; two equal answers mean that no fork lies between them. Cheap enough
// for every call.
uint64_t fork_generation();

}  // namespace hawthorn::os
