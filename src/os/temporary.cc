#include "os/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "os/mirrored_mapping.h"

namespace hawthorn::os {

namespace {
// Nameless from the start where the file system can do that.
int open_nameless(int directory) {
  const int nameless = ::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (nameless >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return nameless;
  static std::atomic<uint64_t> next{0};
  while (true) {
    const std::string name =
        "hawthorn-" + std::to_string(::getpid()) + "-" + std::to_string(next.fetch_add(1));
    const int named =
        ::openat(directory, name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (named < 0 && errno == EEXIST) continue;
    if (named >= 0) ::unlinkat(directory, name.c_str(), 0);
    return named;
  }
}

// -1: there is none, or stores into it could fail.
int open_safe(int directory) {
  const int descriptor = open_nameless(directory);
  if (descriptor < 0 || stores_are_safe(descriptor)) return descriptor;
  ::close(descriptor);
  return -1;
}

int open_safe_elsewhere() {
  const char* const named = ::getenv("TMPDIR");
  const int directory =
      ::open(named != nullptr && *named != '\0' ? named : "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  const int descriptor = open_safe(directory);
  ::close(directory);
  return descriptor;
}

Status failed(const char* what, int error) {
  return Status(error == ENOSPC ? StatusCode::kNoSpace : StatusCode::kIoError,
                std::string("a temporary file: ") + what + ": " + std::strerror(error));
}
}  // namespace

Result<std::unique_ptr<TemporaryMapping>> TemporaryMapping::create(int directory, size_t bytes) {
  int descriptor = directory < 0 ? -1 : open_safe(directory);
  if (descriptor < 0) descriptor = open_safe_elsewhere();
  const bool in_memory = descriptor < 0;
  int error = in_memory ? 0 : EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::close(descriptor);
    return failed("fallocate", error);
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | (in_memory ? MAP_ANONYMOUS : 0), descriptor, 0);
  if (data == MAP_FAILED) {
    error = errno;
    if (!in_memory) ::close(descriptor);
    return failed("mmap", error);
  }
  return std::unique_ptr<TemporaryMapping>(
      new TemporaryMapping(descriptor, static_cast<char*>(data), bytes));
}

TemporaryMapping::~TemporaryMapping() {
  ::munmap(data_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryMapping::let_go() {
  // What is stored is in the file's page cache; the kernel writes it out when it needs the memory.
  ::madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace hawthorn::os
