#pragma once
// Reads parts of a file: in pieces of 1 MB, several of them in flight, and hands them over in
// order.
//
// Not here: which parts (copy_source.h). Threads: one object, one thread; nothing else reads by it.
//
// 1. Parts that are close to each other are read together, with what lies between them.
// 2. Whatever fails, no read is in flight when read() has returned.

#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "db/copy_sink.h"

namespace hawthorn::db {

class CopyReader {
 public:
  using Deliver = std::function<Status(const CopyPart&, std::span<const char>)>;

  explicit CopyReader(const os::Machine& machine) : machine_(machine) {}
  // Errors: kOutOfMemory.
  Status prepare();
  // Ascending parts, without overlaps. Errors: those of the file and of `deliver`.
  Status read(os::File& file, std::span<const CopyPart> parts, const Deliver& deliver);

 private:
  struct FreeBuffer {
    void operator()(char* buffer) const { std::free(buffer); }
  };
  struct Piece {
    std::unique_ptr<char, FreeBuffer> buffer;
    std::span<const CopyPart> parts;
    uint64_t offset = 0;
    bool done = false;
    Status status;
  };

  // How many of them one read has, and its size.
  static size_t gather(const os::File& file, std::span<const CopyPart> parts, uint64_t* offset,
                       size_t* bytes);

  const os::Machine& machine_;
  std::vector<Piece> pieces_;
};

}  // namespace hawthorn::db
