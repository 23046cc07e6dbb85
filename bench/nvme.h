#pragma once
// Small records on a fast device: single puts by many threads, then random reads with several under
// way, ranges of three lengths, and reads and puts mixed.
//
// Phases: load, drain, read_D, range_small, range_medium, range_large, and for the mix mix_D (all
// operations), mix_read_D and mix_write_D, where D is how many reads each thread has under way.
// Used by the command line. Threads: `threads` of them.
//
// 1. The database is drained, closed and opened again before the reads, so that no engine finds in
//    memory what it just wrote; the mix comes last, since it adds records.
// 2. Every value that is read is that of its key, and every range has all its entries, in order.
// 3. Latencies are of single reads: where a call has several under way, each took as long as it.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bench/workload.h"

namespace hawthorn::bench {

struct NvmeOptions {
  uint64_t records = 10'000'000;
  uint64_t key_bytes = 24;  // a multiple of 8
  uint64_t value_bytes = 100;
  unsigned threads = 12;
  std::vector<uint64_t> depths = {1, 8, 16};  // powers of two up to 64
  uint64_t gets = 0;      // at most so many in each phase; 0: as many as records
  uint64_t seconds = 30;  // at most so many for each phase after the load
  uint64_t seed = 12345;
  std::set<std::string> phases;  // of read, range and mix; empty: all
};

void run_nvme(const RunContext& run, const NvmeOptions& options, Engine& engine);

}  // namespace hawthorn::bench
