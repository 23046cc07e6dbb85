#pragma once
// A stream of a backup that is kept in memory: written, then read back.
//
// Not here: streams that fail, or give their bytes in pieces (the tests of those have their own).
// Used by tests and fuzz targets. Threads: one at a time.

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/backup.h"

namespace hawthorn::testing {

class StringStream : public BackupSink, public BackupSource {
 public:
  Status write(std::string_view part) override {
    bytes += part;
    return {};
  }
  Result<size_t> read(std::span<char> to) override {
    const size_t size = std::min(to.size(), bytes.size() - at_);
    std::copy_n(bytes.data() + at_, size, to.data());
    at_ += size;
    return size;
  }
  // It is read from its begin again.
  void rewind() { at_ = 0; }

  std::string bytes;

 private:
  size_t at_ = 0;
};

}  // namespace hawthorn::testing
