#include "os/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "os/system_text.h"

namespace hawthorn::os {
namespace {

// "max", and what cannot be read, is no limit.
uint64_t limit_in_file(const std::string& path) {
  const std::string text = system_text(path);
  uint64_t limit = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), limit);
  return read.ec == std::errc() ? limit : UINT64_MAX;
}

// Of a group and all above it. Where groups are mounted so that the path is not seen, as in a
// container, the upmost one that is seen is the process's own.
uint64_t least_upwards(const std::string& mounted, std::string group, const char* file) {
  uint64_t least = UINT64_MAX;
  while (true) {
    least = std::min(least, limit_in_file(mounted + group + "/" + file));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "memory") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

uint64_t memory_limit_in(const std::string& groups, const std::string& mounted) {
  uint64_t least = UINT64_MAX;
  // "NUMBER:CONTROLLERS:GROUP"; version 2 has number 0 and no controllers (man 7 cgroups).
  for (size_t from = 0, end = 0; from < groups.size(); from = end + 1) {
    end = std::min(groups.find('\n', from), groups.size());
    const std::string line = groups.substr(from, end - from);
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, least_upwards(mounted, group, "memory.max"));
    } else if (names_memory(controllers)) {
      least = std::min(least, least_upwards(mounted + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

uint64_t memory_limit_bytes() {
  return memory_limit_in(system_text("/proc/self/cgroup"), "/sys/fs/cgroup");
}

}  // namespace hawthorn::os
