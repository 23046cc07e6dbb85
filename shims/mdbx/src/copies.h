#pragma once
// Where what is handed out to programs lies: copies that last as long as a transaction.
//
// Those of all transactions of an environment take memory up to a bound; what is beyond goes to
// files without names, which the system keeps in memory or not as it likes.

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::mdbx {

// The memory of an environment's copies. Threads: any.
class CopySpace {
 public:
  static constexpr size_t kBlockBytes = size_t{2} << 20;

  CopySpace() = default;
  ~CopySpace();
  CopySpace(const CopySpace&) = delete;
  CopySpace& operator=(const CopySpace&) = delete;

  // Of an environment in this directory, whose copies may have so much memory.
  void open(const std::string& directory, size_t bytes_max);
  const std::string& directory() const { return directory_; }
  // A block of kBlockBytes; null where the bound is met.
  char* take();
  void give_back(char* block);

 private:
  std::string directory_;
  std::mutex mutex_;
  std::vector<char*> free_;
  size_t bytes_max_ = 0;
  size_t bytes_ = 0;  // of blocks, the free ones among them
};

// Threads: one.
class Copies {
 public:
  explicit Copies(CopySpace* space) : space_(space) {}
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // False: there is room for it neither in memory nor on the disk.
  bool keep(std::string_view bytes, std::string_view* copy) {
    char* const at = room(bytes.size());
    if (at == nullptr) return false;
    if (!bytes.empty()) memcpy(at, bytes.data(), bytes.size());
    *copy = {at, bytes.size()};
    return true;
  }
  // Room to be filled; null likewise.
  char* room(size_t bytes) {
    if ((bytes > left_ || end_ == nullptr) && !grow(bytes)) return nullptr;
    char* const at = end_;
    const size_t whole = (bytes + 7) & ~size_t{7};  // aligned, for numbers
    const size_t taken = whole < left_ ? whole : left_;
    end_ += taken;
    left_ -= taken;
    bytes_ += taken;
    return at;
  }
  // Why there was none: an errno.
  int error() const { return error_; }
  size_t bytes() const { return bytes_; }
  // The first block stays, for what comes next.
  void clear();

 private:
  enum class Kind : uint8_t { kFirst, kShared, kMapped };
  struct Block {
    Kind kind;
    char* data;
    size_t size;
  };
  bool grow(size_t bytes);
  bool map(size_t bytes, Block* block);
  void free(const Block& block);

  CopySpace* space_;
  std::vector<Block> blocks_;
  char* end_ = nullptr;  // of what is used of the last block
  size_t left_ = 0;
  size_t bytes_ = 0;
  int file_ = -1;
  int error_ = 0;
  uint64_t file_bytes_ = 0;
};

}  // namespace hawthorn::mdbx
