#pragma once
// A new, empty directory of a test, removed with everything in it. No other process has it: names
// made of process numbers come again, and what a killed test left is still there then.
//
// Used by tests. Threads: any, each its own object.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace hawthorn::testing {

class TempDirectory {
 public:
  TempDirectory() {
    std::string name = ::testing::TempDir() + "hawthorn-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace hawthorn::testing
