#pragma once
// A file system that does all by another one: a base for those that do some of it otherwise.
//
// Used by tests only. Threads: as the other file system, which outlives this and all that it gives.

#include <memory>
#include <string>
#include <vector>

#include "os/file.h"

namespace hawthorn::testing {

class ForwardedFiles : public os::FileSystem {
 public:
  explicit ForwardedFiles(os::FileSystem& files) : files_(files) {}

  Result<std::unique_ptr<os::File>> open_file(const std::string& path,
                                              os::OpenFlags flags) override {
    return files_.open_file(path, flags);
  }
  Result<std::unique_ptr<os::MappedFile>> map_shared(const std::string& path, size_t size,
                                                     bool read_only) override {
    return files_.map_shared(path, size, read_only);
  }
  Result<bool> exists(const std::string& path) override { return files_.exists(path); }
  Status make_directory(const std::string& path) override { return files_.make_directory(path); }
  Status remove_directory(const std::string& path) override {
    return files_.remove_directory(path);
  }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    return files_.list(directory);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  Status remove(const std::string& path) override { return files_.remove(path); }
  Status sync_directory(const std::string& directory) override {
    return files_.sync_directory(directory);
  }
  Result<uint64_t> free_bytes(const std::string& directory) override {
    return files_.free_bytes(directory);
  }

 protected:
  os::FileSystem& files_;
};

}  // namespace hawthorn::testing
