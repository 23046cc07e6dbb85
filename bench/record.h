#pragma once
// The record of a sequence number, key and value, in buffers that are used again.
//
// Used by the workloads whose databases are larger than memory. Threads: one object in one thread.
//
// 1. The key costs one hash, the value one copy out of a table (stamp.h).

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/stamp.h"

namespace hawthorn::bench {

class Record {
 public:
  // key_bytes: a multiple of 8 up to kKeyBytesMax.
  Record(size_t key_bytes, size_t value_bytes, Fill fill)
      : key_bytes_(key_bytes), fill_(fill), value_(value_bytes, '\0') {}

  // Makes key and value; returns the key's first eight bytes.
  uint64_t make(uint64_t sequence, uint8_t version = 0) {
    make_key_of(sequence);
    make_value(word_, version, value_.data(), value_.size(), fill_);
    return word_;
  }
  uint64_t make_key_of(uint64_t sequence) {
    word_ = random_key(sequence);
    make_key(word_, key_, key_bytes_);
    return word_;
  }
  // Whether a value that was read is that of the key, in that version.
  bool is_value(std::string_view value, uint8_t version = 0) const {
    return value.size() == value_.size() && load64(value.data()) == stamp(word_, version);
  }
  // The same, to the last byte.
  bool is_whole_value(std::string_view value, uint8_t version = 0) const {
    return value.size() == value_.size() && value_is_whole(word_, version, value, fill_);
  }

  std::string_view key() const { return {key_, key_bytes_}; }
  std::string_view value() const { return value_; }
  uint64_t bytes() const { return key_bytes_ + value_.size(); }

 private:
  const size_t key_bytes_;
  const Fill fill_;
  uint64_t word_ = 0;
  char key_[kKeyBytesMax];
  std::string value_;
};

}  // namespace hawthorn::bench
