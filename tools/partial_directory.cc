#include "tools/partial_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

std::string without_slashes(std::string name) {
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  return name;
}

Status sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_error(path, errno);
  const Status status = ::fsync(fd) == 0 ? Status() : system_error(path, errno);
  ::close(fd);
  return status;
}

bool is_there(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0;
}

}  // namespace

PartialDirectory::PartialDirectory(std::string name)
    : name_(without_slashes(std::move(name))), partial_(name_ + ".partial") {}

PartialDirectory::PartialDirectory(PartialDirectory&& other) noexcept
    : name_(std::move(other.name_)),
      partial_(std::move(other.partial_)),
      open_(std::exchange(other.open_, false)) {}

Result<PartialDirectory> PartialDirectory::make(std::string name) {
  PartialDirectory directory(std::move(name));
  directory.open_ = false;  // nothing of it is ours yet
  if (is_there(directory.name_)) {
    return Status(StatusCode::kInvalidArgument, directory.name_ + " is there already");
  }
  if (::mkdir(directory.partial_.c_str(), 0700) != 0) {
    if (errno != EEXIST) return system_error(directory.partial_, errno);
    return Status(StatusCode::kInvalidArgument,
                  directory.partial_ + " is there already: another run is at work, or was " +
                      "interrupted; then remove it");
  }
  directory.open_ = true;
  return directory;
}

PartialDirectory::~PartialDirectory() {
  std::error_code ignored;
  if (open_) std::filesystem::remove_all(partial_, ignored);
}

Status PartialDirectory::finish() {
  if (Status s = sync_directory(partial_); !s.ok()) return s;
  std::error_code error;
  std::filesystem::rename(partial_, name_, error);
  if (error) return system_error(name_, error.value());
  open_ = false;
  const std::string parent = std::filesystem::path(name_).parent_path();
  return sync_directory(parent.empty() ? "." : parent);
}

Status PartialDirectory::finish_by_moving_out(const std::vector<std::string>& names) {
  if (Status s = sync_directory(partial_); !s.ok()) return s;
  const std::string parent = std::filesystem::path(name_).parent_path();
  const std::string beside = parent.empty() ? "." : parent;
  for (const std::string& name : names) {
    const std::string from = partial_ + "/" + name;
    const std::string to = beside + "/" + name;
    int failed = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0
                     ? 0
                     : errno;
    // Not every file system knows of it.
    if (failed == EINVAL || failed == ENOSYS) {
      failed = is_there(to) ? EEXIST : (::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno);
    }
    if (failed == EEXIST) return Status(StatusCode::kInvalidArgument, to + " is there already");
    if (failed != 0) return system_error(to, failed);
    // Each is where it belongs before the next one says so.
    if (Status s = sync_directory(beside); !s.ok()) return s;
  }
  std::error_code error;
  std::filesystem::remove_all(partial_, error);
  open_ = false;
  return error ? system_error(partial_, error.value()) : sync_directory(beside);
}

}  // namespace hawthorn::tools
