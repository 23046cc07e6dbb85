#pragma once
// What the driver asks the operating system: memory and writes of this process, sizes of
// directories, writes of their devices, and memory touched beforehand.
//
// Used by workloads and the runner. Linux only. Threads: any.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hawthorn::bench {

// Writes a small file, such as one of the kernel's; whether that could be done.
bool write_file(const std::string& path, const std::string& text);
// The peak of resident memory since the last reset, mapped files included.
uint64_t peak_rss_bytes();
uint64_t rss_bytes();
void reset_peak_rss();
// What this process caused to be written to devices, by the kernel's account.
uint64_t device_write_bytes();
// Memory that can be had without pushing other programs out.
uint64_t available_memory_bytes();

// The blocks that a directory's files occupy, which for sparse files is less than their length.
uint64_t disk_bytes(const std::string& directory);
// The same, of the files whose name is taken and of the others.
struct DiskUse {
  uint64_t taken = 0;
  uint64_t others = 0;
};
DiskUse disk_use(const std::string& directory,
                 const std::function<bool(std::string_view file_name)>& takes);
// What was written so far, by anybody, to the block device that holds the directory; nothing where
// no one device does (tmpfs, overlays).
std::optional<uint64_t> disk_written_bytes(const std::string& directory);
uint64_t free_disk_bytes(const std::string& directory);

// What the disk does in order, past the page cache: a new file is written and synced, then read,
// and removed. Throws std::runtime_error.
struct DiskRates {
  double write_bytes_per_s = 0;
  double read_bytes_per_s = 0;
};
DiskRates sequential_rates(const std::string& file, uint64_t bytes);

// Asks the kernel to write out what it holds back, so that one engine's writes do not slow the
// next.
void sync_file_system(const std::string& directory);

// Touches that much memory once and gives it back: the first touch ever of a virtual machine's
// memory costs many times an ordinary page fault, and no engine should pay it for the others.
void touch_memory(size_t bytes);

}  // namespace hawthorn::bench
