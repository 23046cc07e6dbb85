#include "shims/rocksdb/src/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

S failed_at(const std::string& path, int error) {
  const std::string text = std::generic_category().message(error);
  if (error == ENOENT) return S::PathNotFound(path, text);
  if (error == ENOSPC) return S::NoSpace(path, text);
  return S::IOError(path, text);
}

S sync(const std::string& path, int descriptor) {
  return ::fsync(descriptor) == 0 ? S::OK() : failed_at(path, errno);
}

}  // namespace

FileWriter::~FileWriter() {
  if (is_open()) ::close(descriptor_);
}

S FileWriter::open(const std::string& path) {
  constexpr mode_t kMode = 0644;
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  return is_open() ? S::OK() : failed_at(path_, errno);
}

S FileWriter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed_at(path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return S::OK();
}

S FileWriter::close() {
  S s = sync(path_, descriptor_);
  if (::close(std::exchange(descriptor_, -1)) != 0 && s.ok()) s = failed_at(path_, errno);
  return s;
}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

S FileReader::open(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) return failed_at(path_, errno);
  struct stat found = {};
  if (::fstat(descriptor_, &found) != 0) return failed_at(path_, errno);
  bytes_ = static_cast<uint64_t>(found.st_size);
  return S::OK();
}

S FileReader::read(uint64_t offset, size_t size, std::string* bytes) const {
  if (offset > bytes_ || size > bytes_ - offset) return S::Corruption(path_, "is cut off");
  bytes->resize(size);
  for (size_t done = 0; done < size;) {
    const ssize_t got =
        ::pread(descriptor_, bytes->data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_at(path_, errno);
    if (got == 0) return S::Corruption(path_, "is cut off");
    done += static_cast<size_t>(got);
  }
  return S::OK();
}

S sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed_at(directory, errno);
  S s = sync(directory, descriptor);
  ::close(descriptor);
  return s;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

S replace_file(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  FileWriter file;
  S s = file.open(fresh);
  if (s.ok()) s = file.append(bytes);
  if (s.ok()) s = file.close();
  if (s.ok() && std::rename(fresh.c_str(), path.c_str()) != 0) s = failed_at(path, errno);
  return s.ok() ? sync_directory(directory_of(path)) : s;
}

S read_whole_file(const std::string& path, std::string* bytes) {
  FileReader file;
  S s = file.open(path);
  return s.ok() ? file.read(0, file.bytes(), bytes) : s;
}

S remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return sync_directory(directory_of(path));
  return errno == ENOENT ? S::OK() : failed_at(path, errno);
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path result = std::filesystem::weakly_canonical(path, error);
  return error ? path : result.string();
}

}  // namespace hawthorn::rocks
