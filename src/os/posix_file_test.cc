#include "os/posix_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace hawthorn::os {
namespace {

class PosixFileTest : public ::testing::Test {
 protected:
  PosixFileTest() {
    std::string pattern = ::testing::TempDir() + "/hawthorn-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~PosixFileTest() override {
    auto names = files_.list(directory_);
    for (const std::string& name : names.value()) {
      EXPECT_TRUE(files_.remove(directory_ + "/" + name).ok()) << name;
    }
    EXPECT_TRUE(files_.remove_directory(directory_).ok());
  }
  std::string in(const std::string& name) const { return directory_ + "/" + name; }

  FileSystem& files_ = posix_file_system();
  std::string directory_;
};

TEST_F(PosixFileTest, MessagesSayWhereAndWhy) {
  const Status missing = files_.open_file(in("nothing"), {}).status();
  EXPECT_TRUE(missing.is_not_found());
  EXPECT_EQ(missing.message(), in("nothing") + ": open: No such file or directory");
  auto file = std::move(files_.open_file(in("f"), {.create = true})).value();
  char data[10] = {};
  const Status end = file->read_at(5, data);
  EXPECT_TRUE(end.is(StatusCode::kCorruption));
  EXPECT_EQ(end.message(), in("f") + ": ends at 5, 10 bytes short");
}

TEST_F(PosixFileTest, FullFileSystemIsNoSpace) {
  const auto full = file_of_descriptor(::open("/dev/full", O_RDWR | O_CLOEXEC), "/dev/full");
  const Status status = full->write_at(0, std::string(10, 'x'));
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_EQ(status.message(), "/dev/full: write at 0: No space left on device");
}

// Also where a direct write ends within a block, from where no other one may go on.
TEST_F(PosixFileTest, AFileThatMayNotBeLargerIsNoSpace) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {rlim_t{4 * kBlockBytes}, rlim_t{4 * kBlockBytes + 512}, rlim_t{512}}) {
    for (const bool direct : {false, true}) {
      const std::string name = in("f" + std::to_string(bytes) + (direct ? "d" : ""));
      auto file = std::move(files_.open_file(name, {.create = true, .direct = direct})).value();
      alignas(kBlockBytes) static const char data[8 * kBlockBytes] = {};
      rlimit small = before;
      small.rlim_cur = bytes;
      ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
      const Status status = file->write_at(0, data);
      ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
      EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
      EXPECT_NE(status.to_string().find("File too large"), std::string::npos);
      EXPECT_TRUE(file->write_at(0, data).ok());
    }
  }
  std::signal(SIGXFSZ, handler);
}

// 4 of posix_file.h.
TEST_F(PosixFileTest, OnlyRegularFilesAreOpened) {
  ASSERT_TRUE(files_.open_file(in("f"), {.create = true}).ok());
  ASSERT_EQ(symlink(in("f").c_str(), in("link").c_str()), 0);
  ASSERT_EQ(symlink(in("none").c_str(), in("dangling").c_str()), 0);
  ASSERT_EQ(mkfifo(in("fifo").c_str(), 0600), 0);
  const struct {
    std::string path;
    const char* kind;
  } kCases[] = {{in("link"), "a symbolic link"},
                {in("dangling"), "a symbolic link"},
                {in("fifo"), "a FIFO"},
                {directory_, "a directory"},
                {"/dev/null", "a device"}};
  for (const auto& [path, kind] : kCases) {
    for (const bool read_only : {false, true}) {
      const Status status =
          files_.open_file(path, {.create = !read_only, .read_only = read_only}).status();
      EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
      EXPECT_EQ(status.message(),
                path + ": is " + kind + " in place of a file of the database, and not used");
      EXPECT_TRUE(files_.map_shared(path, 65536, read_only).status().is(StatusCode::kCorruption));
    }
    EXPECT_TRUE(files_.exists(path).value());
  }
  EXPECT_FALSE(files_.exists(in("none")).value());
  EXPECT_TRUE(files_.open_file(in("link"), {.create = true, .exclusive = true})
                  .status()
                  .is(StatusCode::kInvalidArgument));
  // Devices are the user's to name.
  EXPECT_TRUE(files_.open_file(in("link"), {.device = true}).ok());
  EXPECT_TRUE(
      files_.open_file(in("fifo"), {.device = true}).status().is(StatusCode::kInvalidArgument));
  // Another name of a file that is written.
  ASSERT_EQ(link(in("f").c_str(), in("second").c_str()), 0);
  EXPECT_TRUE(files_.open_file(in("f"), {}).status().is(StatusCode::kCorruption));
  EXPECT_TRUE(files_.open_file(in("f"), {.read_only = true}).ok());
  EXPECT_TRUE(files_.open_file(in("f"), {.device = true}).ok());
}

TEST_F(PosixFileTest, FileSizeLimitIsAFullDisk) {
  auto file = std::move(files_.open_file(in("f"), {.create = true})).value();
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit small = old_limit;
  small.rlim_cur = 10000;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  // The first write is cut short by the limit, the rest of it refused.
  const Status status = file->write_at(0, std::string(20000, 'x'));
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_EQ(status.message(), in("f") + ": write at 10000: File too large");
}

// What is done to make names durable, and to find a full disk, needs no more than the directory.
TEST_F(PosixFileTest, HeldDirectoryNeedsNoDescriptor) {
  const auto held = files_.of_directory(directory_, 0600);
  ASSERT_TRUE(held->hold().ok());
  ASSERT_TRUE(held->sync_directory(directory_).ok());
  rlimit old_limit;
  getrlimit(RLIMIT_NOFILE, &old_limit);
  rlimit none = old_limit;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  const Status synced = held->sync_directory(directory_);
  const Status free = held->free_bytes(directory_).status();
  const Status other = files_.sync_directory(directory_);
  setrlimit(RLIMIT_NOFILE, &old_limit);
  EXPECT_TRUE(synced.ok()) << synced.to_string();
  EXPECT_TRUE(free.ok()) << free.to_string();
  EXPECT_TRUE(other.is(StatusCode::kNoSpace)) << other.to_string();
}

TEST_F(PosixFileTest, DirectReadsAndWrites) {
  auto opened = files_.open_file(in("f"), {.create = true, .direct = true});
  if (opened.status().is(StatusCode::kNotSupported)) GTEST_SKIP();
  auto file = std::move(opened).value();
  EXPECT_TRUE(file->direct());
  alignas(kBlockBytes) static char data[4 * kBlockBytes];
  std::memset(data, 'd', sizeof(data));
  ASSERT_TRUE(file->allocate(0, sizeof(data)).ok());
  ASSERT_TRUE(file->write_at(0, data).ok());
  ASSERT_TRUE(file->sync_data().ok());
  std::memset(data, 0, sizeof(data));
  ASSERT_TRUE(file->read_at(0, data).ok());
  EXPECT_EQ(data[sizeof(data) - 1], 'd');
  ASSERT_TRUE(file->truncate(kBlockBytes + 100).ok());
  EXPECT_TRUE(file->read_at(0, data).is(StatusCode::kCorruption));
}

TEST_F(PosixFileTest, UnsupportedDirectLeavesNoFile) {
  FileSystem& files = posix_file_system();
  const std::string path = "/proc/self/comm";
  EXPECT_TRUE(files.open_file(path, {.direct = true}).status().is(StatusCode::kNotSupported));
}

// Where the file system has reflinks the bytes are there; where it has none nothing has changed.
TEST_F(PosixFileTest, ClonesRangesOrSaysThatItCannot) {
  auto from = std::move(files_.open_file(in("from"), {.create = true})).value();
  auto to = std::move(files_.open_file(in("to"), {.create = true})).value();
  std::string bytes(4 * kBlockBytes, 'a');
  bytes.replace(kBlockBytes, kBlockBytes, std::string(kBlockBytes, 'b'));
  ASSERT_TRUE(from->write_at(0, bytes).ok());
  ASSERT_TRUE(to->truncate(8 * kBlockBytes).ok());
  ASSERT_TRUE(to->clone_from(0, *from, 0, 0).ok());
  const Status status = to->clone_from(2 * kBlockBytes, *from, kBlockBytes, 2 * kBlockBytes);
  EXPECT_TRUE(status.ok() || status.is(StatusCode::kNotSupported)) << status.to_string();
  std::string found(8 * kBlockBytes, 'x');
  ASSERT_TRUE(to->read_at(0, found).ok());
  std::string expected(8 * kBlockBytes, '\0');
  if (status.ok()) {
    expected.replace(2 * kBlockBytes, 2 * kBlockBytes, bytes, kBlockBytes, 2 * kBlockBytes);
  }
  EXPECT_TRUE(found == expected);
  EXPECT_FALSE(to->clone_from(0, *from, 100 * kBlockBytes, kBlockBytes).ok());
}

TEST_F(PosixFileTest, LockExcludesOtherProcesses) {
  auto file = std::move(files_.open_file(in("lock"), {.create = true, .locks = true})).value();
  ASSERT_TRUE(file->lock_exclusive().ok());
  const pid_t child = fork();
  if (child == 0) {
    auto other = files_.open_file(in("lock"), {.locks = true});
    _exit(other.ok() && (*other)->lock_exclusive().is(StatusCode::kBusy) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(PosixFileTest, DescriptorsAreNotInherited) {
  auto file = std::move(files_.open_file(in("f"), {.create = true})).value();
  auto mapped = std::move(files_.map_shared(in("m"), 65536, false)).value();
  int found = 0;
  for (int fd = 3; fd < 256; ++fd) {
    char target[512];
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = readlink(link.c_str(), target, sizeof(target));
    if (length <= 0) continue;
    const std::string name = directory_.substr(directory_.rfind('/'));
    if (std::string(target, static_cast<size_t>(length)).find(name) != std::string::npos) {
      ++found;
      EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  EXPECT_EQ(found, 2);
}

TEST_F(PosixFileTest, MappedFileHasABlockForEveryPage) {
  const std::string path = in("ring");
  {
    // What a crash while the file was made may have left: a hole at the end and in the middle.
    auto file = std::move(files_.open_file(path, {.create = true})).value();
    ASSERT_TRUE(file->write_at(0, std::string(4096, 'a')).ok());
    ASSERT_TRUE(file->write_at(131072, std::string(4096, 'b')).ok());
    ASSERT_TRUE(file->truncate(200000).ok());
  }
  auto mapped = std::move(files_.map_shared(path, 262144, false)).value();
  auto file = std::move(files_.open_file(path, {.read_only = true})).value();
  EXPECT_EQ(file->size().value(), 262144u);
  EXPECT_GE(file->allocated_bytes().value(), 262144u);
  EXPECT_EQ(mapped->data()[0], 'a');
  EXPECT_EQ(mapped->data()[131072], 'b');
  EXPECT_EQ(mapped->data()[8192], '\0');
}

TEST_F(PosixFileTest, StoresSurviveTheProcess) {
  const std::string path = in("ring");
  const pid_t child = fork();
  if (child == 0) {
    auto mapped = files_.map_shared(path, 65536, false);
    if (!mapped.ok()) _exit(1);
    (*mapped)->data()[100] = 'k';
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(std::move(files_.map_shared(path, 65536, true)).value()->data()[100], 'k');
}

}  // namespace
}  // namespace hawthorn::os
