#pragma once
// Small files in which the system says something: those of /proc and /sys.
//
// Not here: what they say (process.h, memory_limit.h). Threads: any.

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace hawthorn::os {

// Up to 4 KB of its text; empty where it cannot be read.
inline std::string system_text(const std::string& path) {
  char text[4096];
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = ::read(file, text, sizeof(text));
  ::close(file);
  return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

}  // namespace hawthorn::os
