#include "os/system_page.h"

#include <unistd.h>

#include <atomic>

namespace hawthorn::os {

namespace {
std::atomic<size_t> page_bytes_of_tests{0};
}  // namespace

size_t system_page_bytes() {
  const size_t set = page_bytes_of_tests.load(std::memory_order_relaxed);
  if (set != 0) return set;
  const long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : 4096;
}

void set_system_page_bytes(size_t bytes) {
  page_bytes_of_tests.store(bytes, std::memory_order_relaxed);
}

}  // namespace hawthorn::os
