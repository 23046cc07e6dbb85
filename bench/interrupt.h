#pragma once
// Ctrl+C as the end of a run and not of the program: what was measured by then is printed.
//
// Used by scale.cc and soak.cc, in the child that runs, and by program.cc, in its parent: a
// terminal signals both. Threads: any.

namespace hawthorn::bench {

// From now on SIGINT is noted. One that comes more than a second after the first ends the process:
// somebody who is done waiting sends it, and not `timeout`, which signals twice at once.
void catch_interrupts();
bool interrupted();

}  // namespace hawthorn::bench
