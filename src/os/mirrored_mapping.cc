#include "os/mirrored_mapping.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hawthorn::os {
namespace {

class MappedCopy final : public MappedFile {
 public:
  MappedCopy(std::unique_ptr<File> file, char* data, size_t size)
      : file_(std::move(file)), data_(data), size_(size) {}
  ~MappedCopy() override { unmap_mirrored(data_, size_); }

  char* data() override { return data_; }
  size_t size() const override { return size_; }
  bool mirrored() const override { return true; }
  bool is_copy() const override { return true; }
  Status write_back(size_t offset, size_t bytes) override {
    const size_t before_end = std::min(bytes, size_ - offset);
    if (Status s = file_->write_at(offset, {data_ + offset, before_end}); !s.ok()) return s;
    return bytes == before_end ? Status() : file_->write_at(0, {data_, bytes - before_end});
  }
  Status sync() override { return file_->sync_data(); }
  Status read() { return file_->read_at(0, {data_, size_}); }

 private:
  const std::unique_ptr<File> file_;
  char* const data_;
  const size_t size_;
};

}  // namespace

char* map_mirrored(int descriptor, size_t size, bool read_only) {
  void* const reserved =
      mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  char* const base = static_cast<char*>(reserved);
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  for (char* half : {base, base + size}) {
    if (mmap(half, size, protection, MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
      const int error = errno;
      munmap(base, 2 * size);
      errno = error;
      return nullptr;
    }
  }
  return base;
}

void unmap_mirrored(char* data, size_t size) { munmap(data, 2 * size); }

bool stores_are_safe(int descriptor) {
  struct statfs info;
  if (fstatfs(descriptor, &info) != 0) return false;
  switch (info.f_type) {
    case EXT4_SUPER_MAGIC:  // ext2 and ext3, too
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
      return true;
    default:
      return false;
  }
}

Result<std::unique_ptr<MappedFile>> make_mapped_copy(std::unique_ptr<File> file, size_t size) {
  const int memory = memfd_create("hawthorn", MFD_CLOEXEC);
  char* data = nullptr;
  if (memory >= 0 && ftruncate(memory, static_cast<off_t>(size)) == 0) {
    data = map_mirrored(memory, size, false);
  }
  const int error = errno;
  if (memory >= 0) close(memory);
  if (data == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  file->path() + ": no memory for a copy of it: " + std::strerror(error));
  }
  auto copy = std::make_unique<MappedCopy>(std::move(file), data, size);
  if (Status s = copy->read(); !s.ok()) return s;
  return std::unique_ptr<MappedFile>(std::move(copy));
}

}  // namespace hawthorn::os
