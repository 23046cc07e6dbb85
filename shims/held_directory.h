#pragma once
// The directory of an open database, for the files that a shim makes beside the engine's. It is the
// same one when it is renamed, or something is mounted on it, as for the engine (Db::path).
//
// Not here: the engine's own files. Threads: any, but for assignments. Lifetime: the descriptor's
// is this object's; a child of fork has it too.

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace hawthorn {

class HeldDirectory {
 public:
  HeldDirectory() = default;
  // Where it cannot be held (no descriptor left, no /proc), path() is its name from the root.
  explicit HeldDirectory(const std::string& path) {
    std::error_code error;
    path_ = std::filesystem::absolute(path, error).string();
    if (error) path_ = path;
    descriptor_ = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const std::string held = "/proc/self/fd/" + std::to_string(descriptor_);
    if (descriptor_ >= 0 && ::access(held.c_str(), F_OK) == 0) path_ = held;
  }
  ~HeldDirectory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  HeldDirectory(HeldDirectory&& from) noexcept
      : path_(std::move(from.path_)), descriptor_(std::exchange(from.descriptor_, -1)) {}
  HeldDirectory& operator=(HeldDirectory&& from) noexcept {
    path_.swap(from.path_);
    std::swap(descriptor_, from.descriptor_);
    return *this;
  }

  // Put before "/" and the name of a file in it. Empty: it holds none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace hawthorn
