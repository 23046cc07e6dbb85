#include "bench/machine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "bench/clock.h"

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

}  // namespace

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

uint64_t peak_rss_bytes() { return number_in("/proc/self/status", "VmHWM:") * 1024; }
uint64_t rss_bytes() { return number_in("/proc/self/status", "VmRSS:") * 1024; }
void reset_peak_rss() { write_file("/proc/self/clear_refs", "5"); }

uint64_t device_write_bytes() {
  const uint64_t written = number_in("/proc/self/io", "write_bytes:");
  const uint64_t cancelled = number_in("/proc/self/io", "cancelled_write_bytes:");
  return written > cancelled ? written - cancelled : 0;
}

uint64_t available_memory_bytes() { return number_in("/proc/meminfo", "MemAvailable:") * 1024; }

DiskUse disk_use(const std::string& directory,
                 const std::function<bool(std::string_view file_name)>& takes) {
  DiskUse use;
  std::error_code error;
  // Engines delete files and directories while we look: what is gone counts nothing.
  std::filesystem::recursive_directory_iterator entries(directory, error);
  for (; entries != std::filesystem::recursive_directory_iterator(); entries.increment(error)) {
    struct stat status{};
    if (lstat(entries->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      uint64_t& bytes = takes(entries->path().filename().native()) ? use.taken : use.others;
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return use;
}

uint64_t disk_bytes(const std::string& directory) {
  return disk_use(directory, [](std::string_view) { return true; }).taken;
}

std::optional<uint64_t> disk_written_bytes(const std::string& directory) {
  struct stat status{};
  if (stat(directory.c_str(), &status) != 0) return std::nullopt;
  const std::string device =
      std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  std::ifstream file("/sys/dev/block/" + device + "/stat");
  // The seventh number counts sectors of 512 bytes, whatever the device's own are.
  uint64_t sectors = 0;
  for (int i = 0; i < 7; ++i) file >> sectors;
  if (file.fail()) return std::nullopt;
  return sectors * 512;
}

uint64_t free_disk_bytes(const std::string& directory) {
  struct statvfs status{};
  if (statvfs(directory.c_str(), &status) != 0) return 0;
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

DiskRates sequential_rates(const std::string& file, uint64_t bytes) {
  constexpr size_t kPiece = 4 << 20;
  constexpr size_t kAlign = 4096;
  const uint64_t pieces = std::max<uint64_t>(1, bytes / kPiece);
  const auto free_memory = [](char* memory) { std::free(memory); };
  const std::unique_ptr<char, decltype(free_memory)> piece(
      static_cast<char*>(std::aligned_alloc(kAlign, kPiece)), free_memory);
  std::memset(piece.get(), 0x5a, kPiece);
  const int descriptor =
      open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  if (descriptor < 0) throw std::runtime_error(file + ": " + std::strerror(errno));
  unlink(file.c_str());
  const auto pass = [&](auto&& move) {
    const Stopwatch watch;
    for (uint64_t at = 0; at < pieces; ++at) {
      if (move(static_cast<off_t>(at * kPiece)) != static_cast<ssize_t>(kPiece)) {
        close(descriptor);
        throw std::runtime_error(file + ": " + std::strerror(errno));
      }
    }
    if (fdatasync(descriptor) != 0) throw std::runtime_error(file + ": " + std::strerror(errno));
    return static_cast<double>(pieces * kPiece) / watch.seconds();
  };
  DiskRates rates;
  rates.write_bytes_per_s =
      pass([&](off_t at) { return pwrite(descriptor, piece.get(), kPiece, at); });
  rates.read_bytes_per_s =
      pass([&](off_t at) { return pread(descriptor, piece.get(), kPiece, at); });
  close(descriptor);
  return rates;
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

}  // namespace hawthorn::bench
