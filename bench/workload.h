#pragma once
// What all workloads are told, and the steps that they share.
//
// Used by bank.h, upsert.h, micro.h. Threads: one.

#include <cstdint>
#include <memory>
#include <string>

#include "bench/engine.h"
#include "bench/report.h"

namespace hawthorn::bench {

// One run of one workload against one engine.
struct RunContext {
  std::string engine_name;
  EngineConfig config;
  Report* report = nullptr;
  bool verbose = false;  // progress on standard error
};

// A line of progress on standard error, when it is wanted.
void progress(const RunContext& run, const std::string& text);

// Sizes, the close, the time that an open takes after it, and whether everything is still there:
// the phases `verify` and `open` of the report. The engine is open before and closed afterwards.
// bytes_raw: keys and values of all live entries.
void finish_run(const RunContext& run, Engine& engine, uint64_t bytes_raw);

// Opens the engine and notes its version and settings.
void open_engine(const RunContext& run, Engine& engine);

}  // namespace hawthorn::bench
