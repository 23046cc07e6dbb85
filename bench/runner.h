#pragma once
// Runs a workload against one engine in a child process, so that each engine has memory, limits and
// background threads of its own, and a crash of one does not end the comparison.
//
// Used by program.h and bank_kill.h. Threads: one; a process that forks must have no others, so the
// parent never opens an engine.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bench/engine_registry.h"
#include "bench/memory_group.h"
#include "bench/report.h"

namespace hawthorn::bench {

// How memory is bounded in a child: by the memory figure M for engines that rely on the page cache,
// or by a cap that holds for all of it, page cache included, whatever the engine.
struct ChildLimits {
  size_t memory_bytes = 0;
  MemoryLimit limit = MemoryLimit::kOwn;
  bool use_cgroup = true;
  size_t cap_bytes = 0;  // 0: no cap
};

// The control group of a child that is about to be made; null where it needs none, or where M
// cannot be imposed, which gives a note. Throws std::runtime_error when a cap cannot be imposed.
std::unique_ptr<MemoryGroup> make_limit_group(const std::string& name, const ChildLimits& limits,
                                              Report& report);
// The rows of what a capped child used.
void report_memory_use(const MemoryUse& use, Report& report);

// Calls `work` in a child process and returns what it reported. A child that dies, or throws, gives
// a failure; one whose limit cannot be imposed gives a note that says so.
Report run_in_child(const std::string& name, const ChildLimits& limits,
                    const std::function<void(Report&)>& work);

// An empty directory for an engine's database: the old one goes. Throws std::runtime_error when the
// parent directory holds something that this program did not put there.
void make_database_directory(const std::string& base, const std::string& path);
void remove_database_directory(const std::string& base, const std::string& path);

}  // namespace hawthorn::bench
