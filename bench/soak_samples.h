#pragma once
// What the soak's threads did and how long it took, what a second of it looked like, and whether
// space and memory stay level.
//
// Used by soak.cc. Threads: a SoakTally belongs to one thread, but for what is atomic in it, which
// the one that takes samples reads; the rest is for one thread at a time.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/histogram.h"

namespace hawthorn::bench {

enum class SoakKind { kUpsert, kOverwrite, kRemove, kIngest, kGet, kMultiGet, kRange, kSnapshot };
inline constexpr size_t kSoakKinds = 8;
// The phase of the report.
std::string_view phase_of(SoakKind kind);

struct alignas(128) SoakTally {
  // `operations` keys or entries in one call, or commit, that took so long.
  void add(SoakKind kind, uint64_t operations, uint64_t nanoseconds);

  std::array<std::atomic<uint64_t>, kSoakKinds> operations{};
  std::array<std::atomic<uint64_t>, kSoakKinds> longest_ns{};  // since the last sample
  std::array<Histogram, kSoakKinds> latencies;
};

struct SoakSample {
  double second = 0;  // its end, from the start of the load
  bool loading = false;
  std::array<uint64_t, kSoakKinds> operations{};  // in this second
  uint64_t longest_write_us = 0;
  uint64_t longest_read_us = 0;
  uint64_t longest_ingest_us = 0;
  uint64_t cap_bytes = 0;    // 0: none
  uint64_t group_bytes = 0;  // of the control group, page cache included; 0: none
  uint64_t rss_bytes = 0;
  uint64_t engine_bytes = 0;  // resident by the engine's own account; 0: it has none
  uint64_t data_bytes = 0;    // blocks of files that are no log
  uint64_t log_bytes = 0;
  uint64_t live_bytes = 0;  // keys and values of what is there

  std::string csv() const;
  double space() const;  // blocks of all files / live bytes
};

// The last quarter's mean over the second's.
struct SoakGrowth {
  double space = 0;
  double memory = 0;  // rss_bytes
};

// Space comes in steps where files grow in large ones, so a little more is no growth; what grows
// without end is beyond these after any time that is long enough.
inline constexpr double kSpaceGrowthMax = 1.25;
inline constexpr double kMemoryGrowthMax = 1.1;
inline constexpr size_t kSamplesOfGrowth = 60;  // fewer tell nothing

// Of the samples behind the load; nothing where they are too few.
std::optional<SoakGrowth> growth_of(std::span<const SoakSample> samples);
// What is wrong with memory and space, in words; empty: nothing.
std::string complaint(std::span<const SoakSample> samples);

}  // namespace hawthorn::bench
