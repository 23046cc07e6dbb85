#pragma once
// A new directory for a test, in the one for temporary files, and a working directory for a while.
//
// Used by tests, which remove it. Threads: any; all have the same working directory.

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace hawthorn {

inline std::string make_test_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "hawthorn-shim-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), name);
  }
  return name;
}

// The working directory of the process, until this object goes.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) { std::filesystem::current_path(path); }
  ~WorkingDirectory() { std::filesystem::current_path(before_); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace hawthorn
