#pragma once
// Runs a workload against one engine in a child process, so that each engine has memory, limits and
// background threads of its own, and a crash of one does not end the comparison.
//
// Used by program.h and bank_kill.h. Threads: one; a process that forks must have no others, so the
// parent never opens an engine.

#include <cstddef>
#include <functional>
#include <string>

#include "bench/engine_registry.h"
#include "bench/report.h"

namespace hawthorn::bench {

// How the memory figure M is imposed on a child.
struct ChildLimits {
  size_t memory_bytes = 0;
  MemoryLimit limit = MemoryLimit::kOwn;
  bool use_cgroup = true;
};

// Calls `work` in a child process and returns what it reported. A child that dies, or throws, gives
// a failure; one whose limit cannot be imposed gives a note that says so.
Report run_in_child(const std::string& name, const ChildLimits& limits,
                    const std::function<void(Report&)>& work);

// An empty directory for an engine's database: the old one goes. Throws std::runtime_error when the
// parent directory holds something that this program did not put there.
void make_database_directory(const std::string& base, const std::string& path);
void remove_database_directory(const std::string& base, const std::string& path);

}  // namespace hawthorn::bench
