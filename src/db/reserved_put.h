#pragma once
// A put whose value the caller fills in place, until the transaction's next operation writes it.
//
// Not here: that write (transaction_impl.h). Threads: the transaction's.
//
// 1. Nothing of it is in a delta or in the log before it is written: so no flush, chunk or reader
//    meets bytes that still change.

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "os/file.h"
#include "os/temporary.h"
#include "tree/residency.h"

namespace hawthorn::db {

class ReservedPut {
 public:
  ReservedPut(tree::Residency* residency, os::Arena* arena, const os::FileSystem& files)
      : residency_(residency), arena_(arena), files_(files) {}
  ~ReservedPut() { drop(); }
  ReservedPut(const ReservedPut&) = delete;
  ReservedPut& operator=(const ReservedPut&) = delete;

  bool pending() const { return tree_ != nullptr; }
  // Zeros: of the budget as long as these and what is pinned take no more than an eighth of it in
  // all transactions together (they stay for as long as the caller likes, and flushes need memory),
  // else mapped from a file without a name. Errors: kNoSpace, kIoError of that file.
  Result<std::span<std::byte>> begin(tree::TreeState* tree, std::string_view key, size_t size) {
    drop();
    size_ = size;
    if (size > 0 && arena_->used(os::Quota::kPins) + size <= arena_->budget() / kQuotaPart) {
      memory_ = residency_->allocate(os::Quota::kPins, align_up(size, 4096));
    }
    char* bytes = memory_;
    if (memory_ != nullptr) {
      std::memset(memory_, 0, size);
    } else if (size > 0) {
      Result<std::unique_ptr<os::TemporaryMapping>> file =
          os::TemporaryMapping::create(files_.held_descriptor(), align_up(size, 4096));
      if (!file.ok()) return file.status();
      file_ = std::move(*file);
      bytes = file_->data();
    }
    key_ = key;
    tree_ = tree;
    return std::span<std::byte>(reinterpret_cast<std::byte*>(bytes), size);
  }
  // Hands it to `put`, and lets go of it whatever that answers.
  template <typename Put>
  Status finish(Put put) {
    if (!pending()) return {};
    const char* bytes = file_ != nullptr ? file_->data() : memory_;
    Status status = put(tree_, key_, std::string_view(bytes, size_));
    drop();
    return status;
  }
  void drop() {
    if (memory_ != nullptr) {
      residency_->release(os::Quota::kPins, memory_, align_up(size_, 4096));
    }
    memory_ = nullptr;
    file_.reset();
    size_ = 0;
    tree_ = nullptr;
  }

 private:
  static constexpr size_t kQuotaPart = 8;
  tree::Residency* const residency_;
  os::Arena* const arena_;
  const os::FileSystem& files_;
  tree::TreeState* tree_ = nullptr;
  std::string key_;
  char* memory_ = nullptr;  // of the arena; or file_
  std::unique_ptr<os::TemporaryMapping> file_;
  size_t size_ = 0;
};

}  // namespace hawthorn::db
