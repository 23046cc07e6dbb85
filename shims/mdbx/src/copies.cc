#include "shims/mdbx/src/copies.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace hawthorn::mdbx {
namespace {

constexpr size_t kFirstBlockBytes = 64 << 10;
constexpr size_t kFileBlockBytes = size_t{16} << 20;
// Blocks that nobody uses, and that are kept all the same.
constexpr size_t kFreeBlocksMax = 8;

// 0, or what is wrong.
int reserve(int file, off_t offset, off_t size) {
  for (;;) {
    const int error = posix_fallocate(file, offset, size);
    if (error != EINTR) return error;
  }
}

}  // namespace

CopySpace::~CopySpace() {
  for (char* block : free_) std::free(block);
}

void CopySpace::open(const std::string& directory, size_t bytes_max) {
  directory_ = directory;
  bytes_max_ = bytes_max;
  free_.reserve(kFreeBlocksMax);
}

char* CopySpace::take() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!free_.empty()) {
      char* const block = free_.back();
      free_.pop_back();
      return block;
    }
    if (bytes_ + kBlockBytes > bytes_max_) return nullptr;
    bytes_ += kBlockBytes;
  }
  // As one huge page, where there is one: it is filled from end to end.
  auto* const block = static_cast<char*>(std::aligned_alloc(kBlockBytes, kBlockBytes));
  if (block == nullptr) {
    const std::lock_guard<std::mutex> guard(mutex_);
    bytes_ -= kBlockBytes;
    return nullptr;
  }
  static_cast<void>(madvise(block, kBlockBytes, MADV_HUGEPAGE));
  return block;
}

void CopySpace::give_back(char* block) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (free_.size() < kFreeBlocksMax) {
      free_.push_back(block);
      return;
    }
    bytes_ -= kBlockBytes;
  }
  std::free(block);
}

bool Copies::grow(size_t bytes) {
  if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 4);
  Block block{Kind::kFirst, nullptr, kFirstBlockBytes};
  if (blocks_.empty() && bytes <= kFirstBlockBytes) {
    block.data = new char[kFirstBlockBytes];
  } else {
    block = {Kind::kShared, nullptr, CopySpace::kBlockBytes};
    if (bytes <= CopySpace::kBlockBytes) block.data = space_->take();
    if (block.data == nullptr && !map(bytes, &block)) return false;
  }
  blocks_.push_back(block);
  end_ = block.data;
  left_ = block.size;
  return true;
}

// A part of a file for which the disk has room: a page for which it had none would be found missing
// only when it is touched.
bool Copies::map(size_t bytes, Block* block) {
  if (file_ < 0) {
    file_ = ::open(space_->directory().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  *block = {Kind::kMapped, nullptr, (std::max(kFileBlockBytes, bytes) + page - 1) / page * page};
  const auto offset = static_cast<off_t>(file_bytes_);
  bool in_file = file_ >= 0;
  if (in_file) {
    error_ = reserve(file_, offset, static_cast<off_t>(block->size));
    const bool full = error_ == ENOSPC || error_ == EDQUOT || error_ == EFBIG || error_ == EIO;
    if (full) return false;
    in_file = error_ == 0;
  }
  // It is memory for who only reads, in a directory that cannot be written to, and where the system
  // reserves nothing.
  void* const at = mmap(nullptr, block->size, PROT_READ | PROT_WRITE,
                        in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, in_file ? file_ : -1,
                        in_file ? offset : 0);
  if (at == MAP_FAILED) {
    error_ = errno;
    return false;
  }
  if (in_file) file_bytes_ += block->size;
  block->data = static_cast<char*>(at);
  return true;
}

void Copies::free(const Block& block) {
  switch (block.kind) {
    case Kind::kFirst:
      delete[] block.data;
      break;
    case Kind::kShared:
      space_->give_back(block.data);
      break;
    case Kind::kMapped:
      munmap(block.data, block.size);
      break;
  }
}

void Copies::clear() {
  const bool keeps = !blocks_.empty() && blocks_[0].kind == Kind::kFirst;
  for (size_t i = keeps ? 1 : 0; i < blocks_.size(); ++i) free(blocks_[i]);
  blocks_.erase(blocks_.begin() + (keeps ? 1 : 0), blocks_.end());
  end_ = keeps ? blocks_[0].data : nullptr;
  left_ = keeps ? blocks_[0].size : 0;
  bytes_ = 0;
  file_bytes_ = 0;
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

Copies::~Copies() {
  clear();
  for (const Block& block : blocks_) free(block);
}

}  // namespace hawthorn::mdbx
