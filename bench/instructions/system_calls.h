#pragma once
// What a counted program has asked the operating system to write, and how often to sync.
//
// The linker binds the calls of the library, which is linked statically, to the functions of
// system_calls.cc in place of the C library's. These count and pass on, and give answers that are
// the same on every machine: no io_uring, two processors, and a fixed sequence of random numbers.
//
// Not here: stores into mapped files, which the operating system writes back when it likes (the
// library maps the ring in which the log is collected; what it makes durable of the log it writes
// from there to the log's files). Used by the counted programs only.
// Threads: any.

#include <cstdint>

namespace hawthorn::bench {

struct WriteCalls {
  uint64_t bytes = 0;  // in blocks of 4 KB: what a device writes of each write
  uint64_t syncs = 0;  // fdatasync, fsync, msync
};

WriteCalls write_calls();

}  // namespace hawthorn::bench
