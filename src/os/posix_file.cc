#include "os/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/made_once.h"
#include "os/delays.h"
#include "os/mirrored_mapping.h"
#include "os/posix_error.h"
#include "os/sync.h"

namespace hawthorn::os {
namespace {

constexpr size_t kZeroChunkBytes = size_t{256} << 10;
constexpr size_t kMappingUnitBytes = size_t{64} << 10;

// Repeats a system call that a signal interrupted.
template <typename Call>
auto retried(Call call) {
  delay_point(Seam::kOperation);
  while (true) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

Status write_fully(int fd, const std::string& path, uint64_t offset, std::span<const char> data) {
  while (!data.empty()) {
    const ssize_t written =
        retried([&] { return pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset)); });
    // Only where a file may not be larger does a write end within a block; a direct one does not
    // go on from there.
    const bool at_limit = written < 0 && errno == EINVAL && offset % kBlockBytes != 0;
    if (written < 0) return error_status(at_limit ? EFBIG : errno, path, "write", offset);
    if (written == 0) return error_status(EIO, path, "write", offset);
    offset += static_cast<uint64_t>(written);
    data = data.subspan(static_cast<size_t>(written));
  }
  return Status();
}

Status write_zeros(int fd, const std::string& path, uint64_t offset, uint64_t size) {
  // Never written, so that it takes no memory; fit for direct writes.
  alignas(kBlockBytes) static char zeros[kZeroChunkBytes];
  while (size > 0) {
    const size_t chunk = static_cast<size_t>(std::min<uint64_t>(size, kZeroChunkBytes));
    if (Status s = write_fully(fd, path, offset, {zeros, chunk}); !s.ok()) return s;
    offset += chunk;
    size -= chunk;
  }
  return Status();
}

Result<uint64_t> size_of(int fd, const std::string& path) {
  delay_point(Seam::kOperation);
  struct stat info;
  if (fstat(fd, &info) != 0) return error_status(errno, path, "stat");
  if (!S_ISBLK(info.st_mode)) return static_cast<uint64_t>(info.st_size);
  uint64_t bytes = 0;
  if (ioctl(fd, BLKGETSIZE64, &bytes) != 0) return error_status(errno, path, "size of device");
  return bytes;
}

// Descriptors of files whose locks are taken. What was opened is a child's as well as its parent's,
// and with it the locks: the child would keep them for as long as it lives, whatever its parent
// does. So it has something else under these numbers from its first moment on.
class Descriptors {
 public:
  // Opens, and remembers what was opened: no fork comes between.
  template <typename Open>
  int add(Open open_it) {
    MutexLock lock(mutex_);
    const int fd = open_it();
    if (fd >= 0) open_.push_back(fd);
    return fd;
  }
  // Locks are given back by name: a child of fork that has not come to its first moment yet, or of
  // another kind (vfork, clone), has the descriptor, too, and would keep them.
  void close_one(int fd) {
    MutexLock lock(mutex_);
    std::erase(open_, fd);
    flock(fd, LOCK_UN);
    struct flock all = {};
    all.l_type = F_UNLCK;
    all.l_whence = SEEK_SET;
    fcntl(fd, F_OFD_SETLK, &all);
    close(fd);
  }

  // Around a fork; what follows neither locks nor allocates.
  void before_fork() NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void in_parent() NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }
  void in_child() NO_THREAD_SAFETY_ANALYSIS {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (const int fd : open_) {
      // Without anything to put there the number is free: better than a lock that nobody has.
      if (nothing < 0 || dup3(nothing, fd, O_CLOEXEC) < 0) close(fd);
    }
    if (nothing >= 0) close(nothing);
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  std::vector<int> open_ GUARDED_BY(mutex_);
};
// Never destroyed: files may outlive static variables.
Descriptors& descriptors() {
  return made_once<[] { return Descriptors(); }>();
}
[[maybe_unused]] const bool files_stay_with_the_parent = [] {
  static_cast<void>(descriptors());
  pthread_atfork([] { descriptors().before_fork(); }, [] { descriptors().in_parent(); },
                 [] { descriptors().in_child(); });
  return true;
}();

void close_opened(int fd, bool locks) {
  if (locks) {
    descriptors().close_one(fd);
  } else {
    close(fd);
  }
}

class PosixFile : public File {
 public:
  PosixFile(int fd, std::string path, OpenFlags flags)
      : fd_(fd), path_(std::move(path)), direct_(flags.direct), locks_(flags.locks) {}
  ~PosixFile() override { close_opened(fd_, locks_); }

  Status read_at(uint64_t offset, std::span<char> data) override {
    while (!data.empty()) {
      const ssize_t got =
          retried([&] { return pread(fd_, data.data(), data.size(), static_cast<off_t>(offset)); });
      if (got < 0) return error_status(errno, path_, "read", offset);
      offset += static_cast<uint64_t>(got);
      data = data.subspan(static_cast<size_t>(got));
      // A direct read that ends inside a block has met the end of the file; going on would only
      // be refused for its alignment.
      if (got == 0 || (direct_ && !data.empty() && offset % kBlockBytes != 0)) {
        return ends_early(path_, offset, data.size());
      }
    }
    return Status();
  }

  Status write_at(uint64_t offset, std::span<const char> data) override {
    return write_fully(fd_, path_, offset, data);
  }

  Status sync_data() override {
    // Not repeated after a failure: the kernel has dropped the pages that it could not write.
    if (retried([&] { return fdatasync(fd_); }) != 0) return error_status(errno, path_, "sync");
    return Status();
  }

  Result<uint64_t> size() override { return size_of(fd_, path_); }

  Result<uint64_t> allocated_bytes() override {
    delay_point(Seam::kOperation);
    struct stat info;
    if (fstat(fd_, &info) != 0) return error_status(errno, path_, "stat");
    if (S_ISBLK(info.st_mode)) return size();
    return static_cast<uint64_t>(info.st_blocks) * 512;
  }

  Status truncate(uint64_t size) override {
    if (retried([&] { return ftruncate(fd_, static_cast<off_t>(size)); }) != 0) {
      return error_status(errno, path_, "truncate", size);
    }
    return Status();
  }

  Status allocate(uint64_t offset, uint64_t size) override {
    if (size == 0) return Status();
    if (retried([&] {
          return fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(size));
        }) == 0) {
      return Status();
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS) {
      return error_status(errno, path_, "allocate", offset);
    }
    // Without fallocate only what lies behind the end can be given space without touching data;
    // the part before it has been written, or is a hole whose writes may fail for lack of space.
    Result<uint64_t> present = this->size();
    if (!present.ok()) return present.status();
    const uint64_t end = offset + size;
    uint64_t from = std::max(offset, *present);
    if (direct_) from = align_up(from, kBlockBytes);
    return from < end ? write_zeros(fd_, path_, from, end - from) : Status();
  }

  Status punch_hole(uint64_t offset, uint64_t size) override {
    if (size == 0) return Status();
    if (retried([&] {
          return fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(offset), static_cast<off_t>(size));
        }) == 0) {
      return Status();
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS) {
      return error_status(errno, path_, "punch hole", offset);
    }
    // The space stays taken, but the promise that it reads as zeros is kept.
    Result<uint64_t> present = this->size();
    if (!present.ok()) return present.status();
    const uint64_t end = std::min(offset + size, *present);
    return offset < end ? write_zeros(fd_, path_, offset, end - offset) : Status();
  }

  Status lock_exclusive() override {
    HAWTHORN_ASSERT(locks_);
    if (retried([&] { return flock(fd_, LOCK_EX | LOCK_NB); }) != 0) {
      return error_status(errno, path_, "lock");
    }
    return Status();
  }

  // Of the open file, not of the process: two opens in one process exclude each other, too.
  Status lock_byte(uint64_t offset) override { return set_lock(F_WRLCK, offset); }
  Status unlock_byte(uint64_t offset) override { return set_lock(F_UNLCK, offset); }

  Status clone_from(uint64_t offset, File& from, uint64_t from_offset, uint64_t size) override {
    if (size == 0) return Status();  // to the kernel: up to the end
    file_clone_range range{};
    range.src_fd = from.descriptor();
    range.src_offset = from_offset;
    range.src_length = size;
    range.dest_offset = offset;
    if (range.src_fd >= 0 && retried([&] { return ioctl(fd_, FICLONERANGE, &range); }) == 0) {
      return Status();
    }
    switch (range.src_fd < 0 ? EOPNOTSUPP : errno) {
      case EOPNOTSUPP:  // no reflinks here
      case ENOTTY:
      case ENOSYS:
      case EXDEV:   // another file system
      case EINVAL:  // larger blocks than ours, or one of the two is no regular file
      case EPERM:
      case ETXTBSY:
        return Status(StatusCode::kNotSupported, path_ + ": the file system shares no blocks");
      default:
        return error_status(errno, path_, "clone of a range", offset);
    }
  }

  Result<bool> has_name() override {
    struct stat info;
    if (fstat(fd_, &info) != 0) return error_status(errno, path_, "stat");
    return info.st_nlink > 0;
  }

  bool direct() const override { return direct_; }
  const std::string& path() const override { return path_; }
  int descriptor() const override { return fd_; }

 private:
  Status set_lock(short type, uint64_t offset) {
    HAWTHORN_ASSERT(locks_);
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(offset);
    lock.l_len = 1;
    if (retried([&] { return fcntl(fd_, F_OFD_SETLK, &lock); }) == 0) return Status();
    const int error = errno;
    if (error == EAGAIN) {
      return Status(StatusCode::kBusy, path_ + ": byte " + std::to_string(offset) + " is locked");
    }
    if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) {
      return Status(StatusCode::kNotSupported, path_ + ": the file system has no locks of bytes");
    }
    return error_status(error, path_, "lock of a byte", offset);
  }

  const int fd_;
  const std::string path_;
  const bool direct_;
  const bool locks_;
};

// A file mapped twice in a row into one reservation, so that what wraps around is contiguous.
class PosixMappedFile : public MappedFile {
 public:
  PosixMappedFile(int fd, std::string path, char* data, size_t size)
      : fd_(fd), path_(std::move(path)), data_(data), size_(size) {}
  ~PosixMappedFile() override {
    unmap_mirrored(data_, size_);
    close(fd_);
  }

  char* data() override { return data_; }
  size_t size() const override { return size_; }
  // The second mapping shares the pages of the first: one msync reaches all.
  Status sync() override {
    if (retried([&] { return msync(data_, size_, MS_SYNC); }) != 0) {
      return error_status(errno, path_, "sync of mapping");
    }
    return Status();
  }
  bool mirrored() const override { return true; }

 private:
  const int fd_;  // kept: a lock or a deleted name must not change what is mapped
  const std::string path_;
  char* const data_;
  const size_t size_;
};

// What `info` is instead of a regular file; null: it is one.
const char* other_kind(const struct stat& info) {
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
      return nullptr;
    case S_IFLNK:
      return "a symbolic link";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

class PosixFileSystem : public FileSystem {
 public:
  explicit PosixFileSystem(mode_t file_mode) : file_mode_(file_mode) {}
  ~PosixFileSystem() override {
    if (held_ >= 0) close(held_);
  }

  Result<std::string> absolute(const std::string& path) const override {
    if (path.empty()) return Status(StatusCode::kInvalidArgument, "a path is empty");
    std::string from_root;
    if (path.front() != '/') {
      const std::unique_ptr<char, decltype(&free)> directory(getcwd(nullptr, 0), &free);
      if (directory == nullptr) return error_status(errno, path, "find the working directory");
      from_root = directory.get();
    }
    // Without what means nothing: "//" and "/./".
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string_view part = std::string_view(path).substr(begin, end - begin);
      if (!part.empty() && part != ".") {
        if (!from_root.ends_with('/')) from_root += '/';
        from_root += part;
      }
      begin = end + 1;
    }
    return from_root.empty() ? "/" : from_root;
  }

  std::unique_ptr<FileSystem> of_directory(const std::string& directory,
                                           uint32_t file_mode) const override {
    auto made = std::make_unique<PosixFileSystem>(file_mode);
    made->directory_ = directory;
    // Whoever has it held already goes on with that one.
    if (held_ >= 0 && directory == directory_) made->held_ = fcntl(held_, F_DUPFD_CLOEXEC, 0);
    return made;
  }

  Status hold() override {
    if (held_ >= 0 || directory_.empty()) return {};
    const auto open_it = [&](int mode) {
      return retried([&] { return open(directory_.c_str(), mode | O_DIRECTORY | O_CLOEXEC); });
    };
    held_ = open_it(O_RDONLY);
    if (held_ < 0 && errno == EACCES) held_ = open_it(O_PATH);  // one that can be searched alone
    if (held_ < 0) return error_status(errno, directory_, "open");
    return {};
  }

  int held_descriptor() const override { return held_; }

  Result<std::unique_ptr<File>> open_file(const std::string& path, OpenFlags flags) override {
    Result<int> fd = open_descriptor(path, flags);
    if (!fd.ok()) return fd.status();
    return std::unique_ptr<File>(new PosixFile(*fd, path, flags));
  }

  Result<std::unique_ptr<MappedFile>> map_shared(const std::string& path, size_t size,
                                                 bool read_only) override {
    if (size == 0 || size % kMappingUnitBytes != 0) {
      return Status(StatusCode::kInvalidArgument, path + ": mapping of " + std::to_string(size) +
                                                      " bytes, not a multiple of 64 KB");
    }
    const OpenFlags flags{.create = !read_only, .read_only = read_only, .in_place = true};
    Result<int> fd = open_descriptor(path, flags);
    if (!fd.ok()) return fd.status();
    Status status = read_only ? check_size(*fd, path, size) : fill(*fd, path, size);
    if (status.ok() && !read_only && !stores_are_safe(*fd)) {
      return make_mapped_copy(std::make_unique<PosixFile>(*fd, path, flags), size);
    }
    char* const data = status.ok() ? map_mirrored(*fd, size, read_only) : nullptr;
    if (status.ok() && data == nullptr) status = error_status(errno, path, "map");
    if (!status.ok()) {
      close(*fd);
      return status;
    }
    return std::unique_ptr<MappedFile>(new PosixMappedFile(*fd, path, data, size));
  }

  Result<bool> exists(const std::string& path) override {
    delay_point(Seam::kOperation);
    struct stat info;
    const At at = at_of(path);
    if (fstatat(at.directory, at.name, &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return error_status(errno, path, "stat");
  }

  Status make_directory(const std::string& path) override {
    delay_point(Seam::kOperation);
    const mode_t mode = file_mode_ | (file_mode_ & 0444) >> 2;  // who may read may enter
    if (mkdir(path.c_str(), mode) == 0) return Status();
    const int error = errno;
    struct stat info;
    // On a read-only file system, and so on, it is fine when it is there.
    if (stat(path.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) return Status();
    } else if (error == EEXIST && errno != ENOENT && errno != ELOOP) {
      return error_status(errno, path, "look at");  // what is there cannot be told
    }
    return error_status(error, path, "make directory");
  }

  Status remove_directory(const std::string& path) override {
    delay_point(Seam::kOperation);
    if (rmdir(path.c_str()) != 0) return error_status(errno, path, "remove directory");
    return Status();
  }

  Result<std::vector<std::string>> list(const std::string& directory) override {
    delay_point(Seam::kOperation);
    const int fd = open_directory(directory);
    if (fd < 0) return error_status(errno, directory, "list");
    DIR* const stream = fdopendir(fd);
    if (stream == nullptr) {
      const int error = errno;
      close(fd);
      return error_status(error, directory, "list");
    }
    std::vector<std::string> names;
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(stream);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    closedir(stream);
    if (error != 0) return error_status(error, directory, "list");
    std::sort(names.begin(), names.end());
    return names;
  }

  Status rename(const std::string& from, const std::string& to) override {
    delay_point(Seam::kOperation);
    const At before = at_of(from);
    const At after = at_of(to);
    if (renameat(before.directory, before.name, after.directory, after.name) != 0) {
      return error_status(errno, from, ("rename to " + to).c_str());
    }
    return Status();
  }

  Status remove(const std::string& path) override {
    delay_point(Seam::kOperation);
    const At at = at_of(path);
    if (unlinkat(at.directory, at.name, 0) != 0) return error_status(errno, path, "remove");
    return Status();
  }

  Status sync_directory(const std::string& directory) override {
    return with_directory(directory, "sync of directory", [](int fd) { return fsync(fd); });
  }

  Result<uint64_t> free_bytes(const std::string& directory) override {
    struct statvfs info;
    const Status status =
        with_directory(directory, "statvfs", [&](int fd) { return fstatvfs(fd, &info); });
    if (!status.ok()) return status;
    return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  }

 private:
  // What the *at() calls take.
  struct At {
    int directory;
    const char* name;
  };
  // Lifetime: the path's.
  At at_of(const std::string& path) const {
    if (held_ < 0 || !path.starts_with(directory_)) return {AT_FDCWD, path.c_str()};
    size_t name = directory_.size();
    if (name == path.size()) return {held_, "."};
    if (path[name] != '/' && directory_ != "/") return {AT_FDCWD, path.c_str()};
    while (path[name] == '/') ++name;  // more of them would mean the root
    return {held_, name == path.size() ? "." : path.c_str() + name};
  }

  // -1, and errno.
  int open_directory(const std::string& directory) const {
    const At at = at_of(directory);
    return retried(
        [&] { return openat(at.directory, at.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  }

  // Of what has been opened, or, where `opened` is false, stands at the path: opening alone makes
  // some devices do something.
  static Status check_kind(const std::string& path, const struct stat& info, OpenFlags flags,
                           bool opened) {
    if (flags.device) {
      if (S_ISBLK(info.st_mode) || S_ISREG(info.st_mode)) return {};
      return Status(StatusCode::kInvalidArgument, path + ": neither a block device nor a file");
    }
    if (const char* const kind = other_kind(info)) {
      return Status(StatusCode::kCorruption,
                    path + ": is " + kind + " in place of a file of the database, and not used");
    }
    if (opened && !flags.read_only && info.st_nlink > 1) {
      return Status(StatusCode::kCorruption,
                    path + ": has " + std::to_string(info.st_nlink) +
                        " names (hard links); what is written to it would change there, too. Make "
                        "it a copy of its own");
    }
    return {};
  }

  // Of the one that is held it needs no descriptor: a log that renames its files while there is
  // none left must not fail.
  template <typename Call>
  Status with_directory(const std::string& directory, const char* what, Call call) const {
    const At at = at_of(directory);
    if (at.directory == held_ && std::string_view(at.name) == ".") {
      if (retried([&] { return call(held_); }) == 0) return {};
      if (errno != EBADF)
        return error_status(errno, directory, what);  // EBADF: it is an O_PATH one
    }
    const int fd = open_directory(directory);
    if (fd < 0) return error_status(errno, directory, "open");
    const bool done = retried([&] { return call(fd); }) == 0;
    const int error = errno;
    close(fd);
    return done ? Status() : error_status(error, directory, what);
  }

  // Two looks: before, so that nothing is opened that is better not; and at what was opened, which
  // may be another one by then.
  Result<int> open_descriptor(const std::string& path, OpenFlags flags) const {
    // Without O_NONBLOCK a FIFO would be waited for.
    int mode = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (flags.read_only ? O_RDONLY : O_RDWR);
    if (!flags.device) mode |= O_NOFOLLOW;
    if (flags.create) mode |= O_CREAT;
    if (flags.create && flags.exclusive) mode |= O_EXCL;
    // Without O_CREAT it concerns block devices alone: nobody else has them open exclusively.
    if (flags.device && !flags.read_only) mode |= O_EXCL;
    // A file system without direct I/O refuses O_DIRECT only after it has created the file: ask
    // for it in a second step, so that "not supported" is told apart from a bad argument, and a
    // file made by this call is removed again.
    struct stat info;
    const At at = at_of(path);
    const bool stands =
        fstatat(at.directory, at.name, &info, flags.device ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
    // Who cannot tell makes nothing, which would have to be removed again.
    if (!stands && errno != ENOENT) return error_status(errno, path, "stat");
    const bool existed = !flags.create || stands;
    if (stands && !(flags.create && flags.exclusive)) {
      if (Status s = check_kind(path, info, flags, false); !s.ok()) return s;
    }
    const auto open_it = [&] {
      return retried([&] { return openat(at.directory, at.name, mode, file_mode_); });
    };
    const int fd = flags.locks ? descriptors().add(open_it) : open_it();
    if (fd < 0) return error_status(errno, path, "open");
    Status checked = fstat(fd, &info) == 0 ? check_kind(path, info, flags, true)
                                           : error_status(errno, path, "stat");
    // Of such a device the open succeeds, and the first write is refused as if by permissions.
    int read_only = 0;
    if (checked.ok() && !flags.read_only && S_ISBLK(info.st_mode) &&
        ioctl(fd, BLKROGET, &read_only) == 0 && read_only != 0) {
      checked = error_status(EROFS, path, "open");
    }
    if (!checked.ok()) {
      close_opened(fd, flags.locks);
      if (!existed) unlinkat(at.directory, at.name, 0);
      return checked;
    }
    // Before anything is in it. Where it is refused the file is as any other there.
    if (!existed && flags.in_place && on_btrfs(fd)) static_cast<void>(set_no_copy_on_write(fd));
    if (!set_flags(fd, flags.direct)) {
      const int error = errno;
      close_opened(fd, flags.locks);
      if (!existed) unlinkat(at.directory, at.name, 0);
      if (error != EINVAL) return error_status(error, path, "open");
      return Status(StatusCode::kNotSupported, path + ": the file system has no direct I/O");
    }
    return fd;
  }

  static bool on_btrfs(int fd) {
    struct statfs info;
    return fstatfs(fd, &info) == 0 && info.f_type == BTRFS_SUPER_MAGIC;
  }

  static bool set_no_copy_on_write(int fd) {
    int marks = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &marks) != 0) return false;
    marks |= FS_NOCOW_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &marks) == 0;
  }

  // Also takes O_NONBLOCK away, under which a ring would not wait for the disk.
  static bool set_flags(int fd, bool direct) {
    const int present = fcntl(fd, F_GETFL);
    if (present == -1) return false;
    return fcntl(fd, F_SETFL, (present & ~O_NONBLOCK) | (direct ? O_DIRECT : 0)) != -1;
  }

  static Status check_size(int fd, const std::string& path, size_t size) {
    Result<uint64_t> present = size_of(fd, path);
    if (!present.ok()) return present.status();
    if (*present >= size) return Status();
    return ends_early(path, *present, size - *present);
  }

  // Gives every page of the file a block of its own on disk. Blocks that are there keep their
  // bytes; holes (a crash while the file was filled) are written with zeros. Without this, a store
  // into the mapping could meet a full disk, and the only answer to that is SIGBUS.
  static Status fill(int fd, const std::string& path, size_t size) {
    Result<uint64_t> present = size_of(fd, path);
    if (!present.ok()) return present.status();
    if (*present > size) {
      if (retried([&] { return ftruncate(fd, static_cast<off_t>(size)); }) != 0) {
        return error_status(errno, path, "truncate", size);
      }
    }
    const uint64_t kept = std::min<uint64_t>(*present, size);
    bool filled = kept < size;
    uint64_t at = 0;
    while (at < kept) {
      const off_t hole = lseek(fd, static_cast<off_t>(at), SEEK_HOLE);
      if (hole < 0 || static_cast<uint64_t>(hole) >= kept) break;
      const off_t data = lseek(fd, hole, SEEK_DATA);
      const uint64_t end = data < 0 ? kept : std::min<uint64_t>(static_cast<uint64_t>(data), kept);
      const auto begin = static_cast<uint64_t>(hole);
      if (Status s = write_zeros(fd, path, begin, end - begin); !s.ok()) return s;
      filled = true;
      at = end;
    }
    if (kept < size) {
      if (Status s = write_zeros(fd, path, kept, size - kept); !s.ok()) return s;
    }
    // Delayed allocation gives blocks only when pages are written back: sync, then it is certain.
    if (filled && retried([&] { return fsync(fd); }) != 0) return error_status(errno, path, "sync");
    return Status();
  }

  const mode_t file_mode_;
  std::string directory_;  // empty: of all
  int held_ = -1;
};

}  // namespace

std::unique_ptr<File> file_of_descriptor(int descriptor, const std::string& path) {
  return std::make_unique<PosixFile>(descriptor, path, OpenFlags{});
}

FileSystem& posix_file_system() {
  return made_once<[] { return PosixFileSystem(kPrivateFileMode); }>();
}

}  // namespace hawthorn::os
