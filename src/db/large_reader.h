#pragma once
// A value as reads by parts see it: where its bytes are, and how many there are, without the moment
// of an entry that ends.
//
// Used by value_parts.cc. Threads: one. Lifetime: the caller keeps what was read registered.

#include <optional>
#include <span>
#include <string_view>

#include "hawthorn/value.h"
#include "tree/large_read.h"
#include "tree/tree.h"

namespace hawthorn::db {

class LargeReader {
 public:
  // Errors: kNotFound, also where the entry has ended; those of TreeState::get_encoded.
  Status open(tree::TreeState* tree, std::string_view stored_key, const tree::ReadView& view,
              uint64_t now_ms);
  uint64_t size() const { return size_; }
  // What there is of [offset, offset + to.size()). Errors: kCorruption; kIoError; kOutOfMemory.
  Result<size_t> read(uint64_t offset, std::span<char> to);

 private:
  Value value_;
  std::optional<tree::LargeRead> large_;
  uint64_t skipped_ = 0;  // bytes before the caller's
  uint64_t size_ = 0;
};

}  // namespace hawthorn::db
