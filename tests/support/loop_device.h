#pragma once
// A block device of its own for a test, backed by a file in a temporary directory; and one command
// of the shell.
//
// Not here: tests. Used by the folders of tests/ only. Threads: any, each its own object.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

inline bool run_command(const std::string& command) {
  return std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) ==
         0;  // NOLINT(cert-env33-c)
}

class LoopDevice {
 public:
  explicit LoopDevice(uint64_t bytes, bool read_only = false) {
    const std::string image = directory_ / "image";
    std::ofstream(image).close();
    if (geteuid() != 0 || truncate(image.c_str(), static_cast<off_t>(bytes)) != 0) return;
    const std::string out = directory_ / "name";
    const std::string command = "losetup --show -f " + std::string(read_only ? "-r " : "") + image +
                                " >" + out + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) return;  // NOLINT(cert-env33-c)
    std::ifstream(out) >> path_;
  }
  ~LoopDevice() {
    if (!path_.empty()) run_command("losetup -d " + path_);
  }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;
  // Only where the tests may make some: as root, with losetup.
  bool made() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  TempDirectory directory_;
  std::string path_;
};

}  // namespace hawthorn::tests
