#pragma once
// A long run on a database larger than its memory, of everything that an engine does, whose size
// stays level: does it stay right, within its memory and its space, and as fast as it was?
//
// Phases: load; then at once upsert, overwrite, remove and ingest (the writers), get, multi_get and
// range (the readers), and snapshot (a thread that holds one for a while, again and again); drain,
// verify, open. Used by the command line. Threads: `writers`, `readers`, the holder of snapshots,
// and one that looks each second and writes a line of the --csv file.
//
// 1. Every answer is checked to its last byte against a model of what it may be (soak_model.h). The
//    first that is wrong ends the run.
// 2. Four fifths of the items are there: where upserts and ingests have made it more, ranges of
//    keys are removed.
// 3. The run fails where memory exceeds the cap, and where space or memory grows although the data
//    does not (soak_samples.h).
// 4. It ends after its time or at Ctrl+C; both end with figures.

#include <cstdint>

#include "bench/workload.h"

namespace hawthorn::bench {

struct SoakOptions {
  uint64_t records = 1'000'000;  // that are there at any time, about
  uint64_t seconds = 1200;       // behind the load
  uint64_t operations_min = 0;   // of each kind that there is: it goes on for longer until then
  uint64_t batch = 100;
  uint64_t value_bytes = 256;  // the mean: sizes go from half of it to one and a half
  unsigned writers = 2;
  unsigned readers = 2;
  uint64_t hold_ms = 10'000;  // of a snapshot; 0: none is held
  uint64_t write_rate = 0;    // keys per second of all writers at most; 0: no bound
  uint64_t seed = 12345;
  uint64_t free_disk_bytes_min = 5'000'000'000;
};

void run_soak(const RunContext& run, const SoakOptions& options, Engine& engine);

}  // namespace hawthorn::bench
