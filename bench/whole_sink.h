#pragma once
// A walk over stamped entries that compares each value to its last byte, and sums up versions.
//
// Used by txn_snapshots.cc, txn_clone.cc and txn_orders.cc, for passes that nobody times. Threads:
// one sink in one thread.

#include <cstdint>
#include <string_view>

#include "bench/sinks.h"

namespace hawthorn::bench {

class WholeSink : public EntrySink {
 public:
  WholeSink(size_t value_bytes, Fill fill) : value_bytes_(value_bytes), fill_(fill) {}

  void add(std::string_view key, std::string_view value) override {
    ++entries_;
    if (key.size() != kKeyBytes || value.size() != value_bytes_) {
      ++errors_;
      return;
    }
    const auto version = static_cast<uint8_t>(load64(value.data()) & 0xff);
    errors_ += value_is_whole(load64(key.data()), version, value, fill_) ? 0 : 1;
    versions_ += version;
  }

  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }
  uint64_t versions() const { return versions_; }

 private:
  const size_t value_bytes_;
  const Fill fill_;
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
  uint64_t versions_ = 0;
};

}  // namespace hawthorn::bench
