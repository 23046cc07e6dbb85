#pragma once
// A new directory for a test, in the one for temporary files.
//
// Used by tests, which remove it. Threads: any.

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

}  // namespace hawthorn
