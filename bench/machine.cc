#include "bench/machine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

namespace hawthorn::bench {
namespace {

// The number behind a name in a file of "name: number" lines.
uint64_t number_in(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

}  // namespace

uint64_t peak_rss_bytes() { return number_in("/proc/self/status", "VmHWM:") * 1024; }
uint64_t rss_bytes() { return number_in("/proc/self/status", "VmRSS:") * 1024; }
void reset_peak_rss() { write_file("/proc/self/clear_refs", "5"); }

uint64_t device_write_bytes() {
  const uint64_t written = number_in("/proc/self/io", "write_bytes:");
  const uint64_t cancelled = number_in("/proc/self/io", "cancelled_write_bytes:");
  return written > cancelled ? written - cancelled : 0;
}

uint64_t available_memory_bytes() { return number_in("/proc/meminfo", "MemAvailable:") * 1024; }

uint64_t disk_bytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  // Engines delete files and directories while we look: what is gone counts nothing.
  std::filesystem::recursive_directory_iterator entries(directory, error);
  for (; entries != std::filesystem::recursive_directory_iterator(); entries.increment(error)) {
    struct stat status{};
    if (lstat(entries->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return bytes;
}

uint64_t free_disk_bytes(const std::string& directory) {
  struct statvfs status{};
  if (statvfs(directory.c_str(), &status) != 0) return 0;
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

void sync_file_system(const std::string& directory) {
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  (void)syncfs(file);
  close(file);
}

void touch_memory(size_t bytes) {
  constexpr size_t kPage = 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  // Huge pages would touch the same memory at a fraction of the faults.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  auto* const start = static_cast<volatile char*>(memory);
  for (size_t at = 0; at < bytes; at += kPage) start[at] = 1;
  munmap(memory, bytes);
}

MemoryGroup::MemoryGroup(const std::string& name, size_t limit_bytes) {
  const std::string version1 = "/sys/fs/cgroup/memory";
  const std::string version2 = "/sys/fs/cgroup";
  const bool old = std::filesystem::exists(version1 + "/memory.limit_in_bytes") ||
                   std::filesystem::exists(version1 + "/cgroup.procs");
  const std::string directory = (old ? version1 : version2) + "/" + name;
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    error_ = directory + ": " + std::strerror(errno);
    return;
  }
  const std::string limit = directory + (old ? "/memory.limit_in_bytes" : "/memory.max");
  if (!write_file(limit, std::to_string(limit_bytes))) {
    error_ = limit + ": cannot be written";
    rmdir(directory.c_str());
    return;
  }
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

}  // namespace hawthorn::bench
