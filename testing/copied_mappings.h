#pragma once
// A file system on which stores into the pages of a file are not safe, as on btrfs: what is mapped
// for writing is a copy (os/mirrored_mapping.h). All else is another file system's.
//
// Threads: as the other file system, which outlives this and all that it gives.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "os/file.h"
#include "os/mirrored_mapping.h"

namespace hawthorn::testing {

class CopiedMappings final : public os::FileSystem {
 public:
  explicit CopiedMappings(os::FileSystem& files) : files_(files) {}

  Result<std::unique_ptr<os::MappedFile>> map_shared(const std::string& path, size_t size,
                                                     bool read_only) override {
    auto mapped = files_.map_shared(path, size, read_only);
    if (!mapped.ok() || read_only) return mapped;
    mapped->reset();  // it has its space now
    auto file = files_.open_file(path, {});
    if (!file.ok()) return file.status();
    return os::make_mapped_copy(*std::move(file), size);
  }
  Result<std::unique_ptr<os::File>> open_file(const std::string& path,
                                              os::OpenFlags flags) override {
    return files_.open_file(path, flags);
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

 private:
  os::FileSystem& files_;
};

}  // namespace hawthorn::testing
