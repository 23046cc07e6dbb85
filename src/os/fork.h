#pragma once
// Tells a process from the children that it forks: a child has its parent's memory, but none of its
// threads, and must not use the parent's files (R30).
//
// State of the process, not of a database, stays in a child as the parent's threads left it: locks
// held for ever, lists half changed. Whoever has such state gives it a handler that begins anew,
// and leaves to the dead what was there.
//
// Threads: any.

#include <cstdint>

namespace hawthorn::os {

// Changes in a child of fork; two equal answers mean that no fork lies between them. Cheap enough
// for every call.
uint64_t fork_generation();

// Calls it in each child of fork from now on, before fork returns there. Once for each handler,
// when the library is loaded. It may neither lock nor allocate.
void at_fork_in_child(void (*handler)());

}  // namespace hawthorn::os
