#include "os/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hawthorn::os {

namespace {
// Nameless from the start where the file system can do that.
int open_nameless(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
    return descriptor;
  }
  std::string name = directory + "/hawthorn-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

Status failed(const char* what, int error) {
  return Status(error == ENOSPC ? StatusCode::kNoSpace : StatusCode::kIoError,
                std::string("a temporary file: ") + what + ": " + std::strerror(error));
}
}  // namespace

Result<std::unique_ptr<TemporaryMapping>> TemporaryMapping::create(const std::string& directory,
                                                                   size_t bytes) {
  int descriptor = open_nameless(directory);
  if (descriptor < 0) {
    const char* const elsewhere = ::getenv("TMPDIR");
    descriptor = open_nameless(elsewhere != nullptr && *elsewhere != '\0' ? elsewhere : "/tmp");
  }
  if (descriptor < 0) return failed("open", errno);
  int error = 0;
  do {
    error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) {
    ::close(descriptor);
    return failed("fallocate", error);
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    error = errno;
    ::close(descriptor);
    return failed("mmap", error);
  }
  return std::unique_ptr<TemporaryMapping>(
      new TemporaryMapping(descriptor, static_cast<char*>(data), bytes));
}

TemporaryMapping::~TemporaryMapping() {
  ::munmap(data_, bytes_);
  ::close(descriptor_);
}

void TemporaryMapping::let_go() {
  // What is stored is in the file's page cache; the kernel writes it out when it needs the memory.
  ::madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace hawthorn::os
