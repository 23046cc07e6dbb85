#pragma once
// A file system on which stores into the pages of a file are not safe, as on btrfs: what is mapped
// for writing is a copy (os/mirrored_mapping.h). All else is another file system's.
//
// Threads: as the other file system, which outlives this and all that it gives.

#include <memory>
#include <string>
#include <utility>

#include "os/mirrored_mapping.h"
#include "testing/forwarded_files.h"

namespace hawthorn::testing {

class CopiedMappings final : public ForwardedFiles {
 public:
  using ForwardedFiles::ForwardedFiles;

  Result<std::unique_ptr<os::MappedFile>> map_shared(const std::string& path, size_t size,
                                                     bool read_only) override {
    auto mapped = files_.map_shared(path, size, read_only);
    if (!mapped.ok() || read_only) return mapped;
    mapped->reset();  // it has its space now
    auto file = files_.open_file(path, {});
    if (!file.ok()) return file.status();
    return os::make_mapped_copy(*std::move(file), size);
  }
};

}  // namespace hawthorn::testing
