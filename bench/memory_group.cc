#include "bench/memory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "bench/machine.h"

namespace hawthorn::bench {
namespace {

constexpr const char* kVersion1 = "/sys/fs/cgroup/memory";
constexpr const char* kVersion2 = "/sys/fs/cgroup";

// The number that a file holds alone; 0 when there is none.
uint64_t number_in_file(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  file >> number;
  return file.fail() ? 0 : number;
}

// The number behind a name in a file of "name number" lines.
uint64_t number_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  uint64_t number = 0;
  while (file >> word >> number) {
    if (word == name) return number;
  }
  return 0;
}

// Removes the groups of programs that were killed: their names hold the program's process id.
void remove_stale_groups(const std::string& hierarchy) {
  constexpr std::string_view kPrefix = "hawthorn-bench.";
  std::error_code error;
  std::filesystem::directory_iterator entries(hierarchy, error);
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const int id = std::atoi(name.c_str() + kPrefix.size());
    // One that still has processes in it stays: the kernel refuses.
    if (id > 0 && kill(id, 0) != 0 && errno == ESRCH) rmdir(entries->path().c_str());
  }
}

}  // namespace

void MemoryUse::merge(const MemoryUse& other) {
  peak_bytes = std::max(peak_bytes, other.peak_bytes);
  limit_hits += other.limit_hits;
  oom_kills += other.oom_kills;
}

std::optional<uint64_t> own_group_bytes() {
  // Lines of hierarchy:controllers:path; version 2 has no controllers in its line.
  std::ifstream groups("/proc/self/cgroup");
  std::string file;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    // Of "," + ... g++ 12 says, where <string> is precompiled, that it overflows.
    std::string controllers = line.substr(first + 1, second - first - 1) + ",";
    controllers.insert(controllers.begin(), ',');
    const std::string path = line.substr(second + 1);
    if (controllers.find(",memory,") != std::string::npos) {
      file = kVersion1 + path + "/memory.usage_in_bytes";
      break;
    }
    if (controllers == ",,") file = kVersion2 + path + "/memory.current";
  }
  const uint64_t bytes = file.empty() ? 0 : number_in_file(file);
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

MemoryGroup::MemoryGroup(const std::string& name, size_t limit_bytes) {
  const std::string version1 = kVersion1;
  const std::string version2 = kVersion2;
  version1_ = std::filesystem::exists(version1 + "/memory.limit_in_bytes");
  if (!version1_ && !std::filesystem::exists(version2 + "/cgroup.controllers")) {
    error_ = "neither " + version1 + " nor a version 2 hierarchy at " + version2 + " is mounted";
    return;
  }
  remove_stale_groups(version1_ ? version1 : version2);
  const std::string directory = (version1_ ? version1 : version2) + "/" + name;
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    error_ = directory + ": " + std::strerror(errno) + (geteuid() == 0 ? "" : " (not root)");
    return;
  }
  const std::string limit = directory + (version1_ ? "/memory.limit_in_bytes" : "/memory.max");
  if (!std::filesystem::exists(limit)) {
    error_ = directory + ": no memory controller (see " + version2 + "/cgroup.subtree_control)";
    rmdir(directory.c_str());
    return;
  }
  if (!write_file(limit, std::to_string(limit_bytes))) {
    error_ = limit + ": cannot be written";
    rmdir(directory.c_str());
    return;
  }
  // A group that swaps would hold more than its limit. (Version 1 also has a limit of both, but the
  // kernel does not count what that one turns away.)
  write_file(directory + (version1_ ? "/memory.swappiness" : "/memory.swap.max"), "0");
  directory_ = directory;
}

MemoryGroup::~MemoryGroup() {
  if (directory_.empty()) return;
  // The child is gone, but the kernel may still be taking the group's last pages back.
  for (int tries = 0; rmdir(directory_.c_str()) != 0 && errno == EBUSY && tries < 50; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

bool MemoryGroup::enter() const { return write_file(directory_ + "/cgroup.procs", "0"); }

MemoryUse MemoryGroup::use() const {
  MemoryUse use;
  if (version1_) {
    use.peak_bytes = number_in_file(directory_ + "/memory.max_usage_in_bytes");
    use.limit_hits = number_in_file(directory_ + "/memory.failcnt");
    use.oom_kills = number_in(directory_ + "/memory.oom_control", "oom_kill");
  } else {
    use.peak_bytes = number_in_file(directory_ + "/memory.peak");
    use.limit_hits = number_in(directory_ + "/memory.events", "max");
    use.oom_kills = number_in(directory_ + "/memory.events", "oom_kill");
  }
  return use;
}

}  // namespace hawthorn::bench
