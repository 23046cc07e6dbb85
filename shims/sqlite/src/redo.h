#pragma once
// What a transaction has done to its database, so that it can be done once more: kept while it may
// be committed together with another database's (together.h).
//
// Not here: where the operations are kept behind the commit. Threads: one.
//
// Up to 1 MB is in memory, the rest in a file without a name beside the database.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hawthorn/hawthorn.h"

namespace hawthorn::sqlite {

class Redo {
 public:
  enum class Kind : uint8_t { kNumbers, kCreate, kDrop, kClear, kPut, kDelete, kPart };

  struct Operation {
    Kind kind = Kind::kPut;
    uint32_t root = 0;
    uint64_t offset = 0;  // of kPart
    std::string_view key = {};
    std::string_view value = {};
  };

  // `place`: the directory in which its file is made.
  explicit Redo(std::string place) : place_(std::move(place)) {}
  ~Redo();
  Redo(const Redo&) = delete;
  Redo& operator=(const Redo&) = delete;

  // Errors: kIoError, kNoSpace; then nothing was added.
  Status add(const Operation& operation);
  uint64_t size() const { return in_file_ + memory_.size(); }
  // What was added behind that size is forgotten.
  void truncate(uint64_t size);
  // All of it, in pieces. Errors: kIoError; those of `use`.
  Status read(size_t piece_bytes, const std::function<Status(std::string_view)>& use) const;

 private:
  Status move_to_file();

  const std::string place_;
  std::string memory_;    // behind what is in the file
  uint64_t in_file_ = 0;  // bytes
  int file_ = -1;
};

// Gives the next bytes of the operations; none at the end.
using RedoSource = std::function<Result<std::string_view>()>;

// Does them again. Errors: kCorruption where these are no operations; those of the writes.
Status do_again(Transaction& txn, const Tree& numbers, const RedoSource& source);

}  // namespace hawthorn::sqlite
