#pragma once
// Single operations, one thread: inserts in key order or at random, gets, chains of gets, batches
// of gets, seeks, walks, removals.
//
// Phases: load, drain, get or get_dirty, get_chain, multi_get, lower_bound, iterate, iterate_batch,
// remove, verify, open. Used by the command line. Threads: one.
//
// 1. Every value that is read is the newest of its key, and every seek lands on the key that it
// must.
// 2. Before the reads the database is settled (Engine::settle) and walked once. With `dirty` a part
//    is then overwritten, and neither drained nor settled.

#include <cstdint>
#include <set>
#include <string>

#include "bench/workload.h"

namespace hawthorn::bench {

struct MicroOptions {
  uint64_t items = 1'000'000;  // below 2^32
  uint64_t value_bytes = 256;
  uint64_t batch = 512;
  bool sequential = false;    // insert in key order
  uint64_t gets = 2'000'000;  // of each kind
  double dirty = 0;           // the part that is overwritten before the gets
  double remove = 0.1;        // the part that is removed in the end
  uint64_t seed = 12345;
  std::set<std::string> phases;  // empty: all
};

inline constexpr size_t kMultiGetKeys = 64;
inline constexpr size_t kEntriesAfterSeek = 10;

void run_micro(const RunContext& run, const MicroOptions& options, Engine& engine);

}  // namespace hawthorn::bench
