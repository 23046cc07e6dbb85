#pragma once
// Small databases that have something of every kind in them, and everything that a program may do
// with one that somebody else has changed.
//
// Not here: the changes (database_image.h). Used by the target `directory` of fuzz/ and by
// tests/faults/hostile_directory_test.cc. Threads: one.

#include <string>

#include "hawthorn/hawthorn.h"
#include "os/machine.h"

namespace hawthorn::testing {

enum class Sample {
  kPlain,   // one tree, a few keys; half of them in the log
  kValues,  // killed: large values by parts, compression, ranges that were deleted, chunks of a
            // transaction, one that is prepared, a named snapshot, a feed, layers
  kTrees,   // killed: clones, subtrees, orders, several values, entries that end, operands
  kClosed,  // as kValues and kTrees, closed: no log
};
inline constexpr int kSamples = 4;

// Of those that are encrypted: any id has its key.
Encryption sample_encryption();
// What they are opened with.
Options sample_options(const Encryption& encryption = {});
// Makes one; what it leaves open is closed or, where it is to look killed, left as it is: then copy
// the files while *open is there.
Status make_sample(const os::Machine& machine, const std::string& directory, Sample sample,
                   std::unique_ptr<Db>* open, const Encryption& encryption = {});

struct Exercised {
  Status read;           // of opening read-only
  Status followed;       // of opening a follower
  Status written;        // of opening for writing
  size_t reports = 0;    // errors that the checker found
  size_t refusals = 0;   // calls that answered with an error
  std::string violated;  // empty: what must hold whatever was changed does
};
// Opens the database read-only, with a follower (where `follow` says so) and for writing; checks,
// reads everything, writes to everything, flushes, reopens. Ends after a bounded number of calls.
// What must hold: errors say something; and where there was no error in what was read, it is the
// same after a flush and a reopening.
Exercised exercise(const os::Machine& machine, const std::string& directory, bool follow = true,
                   const Encryption& encryption = {});

}  // namespace hawthorn::testing
