#pragma once
// Bytes that a transaction has read and that stay where they are until it ends.
//
// Not here: reading (Transaction::get_pinned). Used by transaction_impl.h. Threads: the
// transaction's; the bytes from any.
//
// 1. What was handed out is never moved, changed or unmapped before clear.
// 2. Blocks come from the budget as long as all transactions of the database together have no more
//    than an eighth of it in them; the others are mapped from temporary files without names, which
//    the kernel may write out (R23). So memory is bounded, and only a full disk sets an end. In an
//    encrypted database there are no such files: the eighth is the end.
// 3. A value that is asked for again at the same moment is handed out again, as far as the last
//    kKnownMax are remembered.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hawthorn/status.h"
#include "os/file.h"
#include "os/temporary.h"
#include "tree/residency.h"

namespace hawthorn::db {

class PinnedValues {
 public:
  PinnedValues(tree::Residency* residency, os::Arena* arena, const os::FileSystem& files)
      : residency_(residency), arena_(arena), files_(files) {}
  ~PinnedValues() { clear(); }
  PinnedValues(const PinnedValues&) = delete;
  PinnedValues& operator=(const PinnedValues&) = delete;

  // A copy. Errors: kNoSpace, kIoError, where there is neither memory nor a file; kOutOfMemory in
  // an encrypted database.
  Result<std::string_view> add(std::string_view bytes);
  void clear();

  // The value of a key, if it was remembered since `forget`.
  const std::string_view* find(uint32_t tree, std::string_view key);
  void remember(uint32_t tree, std::string_view key, std::string_view value);
  // The transaction sees other values from now on.
  void forget() { known_.clear(); }

  size_t mapped_bytes() const { return mapped_bytes_; }

 private:
  static constexpr size_t kKnownMax = 1024;
  static constexpr size_t kKnownKeyMax = 256;
  struct Block {
    char* memory;
    size_t bytes;
    std::unique_ptr<os::TemporaryMapping> file;  // null: of the arena
  };
  Status add_block(size_t bytes);
  const std::string& name_of(uint32_t tree, std::string_view key);

  tree::Residency* const residency_;
  os::Arena* const arena_;
  const os::FileSystem& files_;
  std::vector<Block> blocks_;
  char* at_ = nullptr;
  size_t left_ = 0;
  size_t mapped_bytes_ = 0;
  std::string name_;  // kept for its capacity
  std::unordered_map<std::string, std::string_view> known_;
};

}  // namespace hawthorn::db
