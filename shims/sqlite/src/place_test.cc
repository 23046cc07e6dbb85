// The file that names a directory (place.h), where the system does not say what it names, or others
// make it at the same time.

#include "shims/sqlite/src/place.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shims/permission_test_support.h"
#include "shims/sqlite/src/files_test_support.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite {
namespace {

namespace fs = std::filesystem;

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(undefined_behavior_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

rlimit limit_of_descriptors() {
  rlimit limit{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  return limit;
}

using PlaceTest = FilesTest;

// A file that cannot be read may name any directory.
TEST_F(PlaceTest, NothingIsRemovedWhileAFileCannotBeRead) {
  make(path_, "one");
  const std::string directory = only_directory(path_);
  fs::rename(path_, path("renamed.db"));
  const int failed = run_as_nobody([] { return 0; });
  if (failed == kNoOtherUser) GTEST_SKIP() << "needs root";
  // As another user, who may write all but read the file: root may read everything.
  set_modes(directory_, 0777, 0666);
  ASSERT_EQ(chmod(path("renamed.db").c_str(), 0), 0);
  const int made = run_as_nobody([this] {
    Connection second(path_);
    return second.code("CREATE TABLE t(a); INSERT INTO t VALUES('two')") == SQLITE_OK ? 0 : 1;
  });
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(fs::exists(directory));
  ASSERT_EQ(chmod(path("renamed.db").c_str(), 0666), 0);
  EXPECT_EQ(Connection(path("renamed.db")).value("SELECT * FROM t"), "t'one'");
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'two'");
}

// Nor is one made in its place.
TEST_F(PlaceTest, AFileThatCannotBeReadIsNoNewOne) {
  make(path_, "one");
  set_modes(directory_, 0777, 0666);
  const std::string content = content_of(path_);
  // A path through a directory that may not be searched.
  ASSERT_EQ(chmod(directory_.c_str(), 0), 0);
  const int failed = run_as_nobody([this] {
    std::string named;
    if (look_at(path_, &named) != Found::kUnknown) return 1;
    Connection connection;
    return (connection.open(path_) & 0xff) == SQLITE_CANTOPEN ? 0 : 2;
  });
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  if (failed == kNoOtherUser) GTEST_SKIP() << "needs root";
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(content_of(path_), content);
  EXPECT_EQ(Connection(path_).value("SELECT * FROM t"), "t'one'");
}

// The shortage of descriptors begins and ends at any point.
TEST_F(PlaceTest, WithoutDescriptorsNothingIsLost) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors to look at objects";
  make(path_, "one");
  fs::rename(path_, path("renamed.db"));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int first_free = dup(STDERR_FILENO);
    close(first_free);
    for (rlim_t more = 0; more < 40; ++more) {
      const rlimit before = limit_of_descriptors();
      rlimit few = before;
      few.rlim_cur = static_cast<rlim_t>(first_free) + more;
      setrlimit(RLIMIT_NOFILE, &few);
      {
        Connection second;
        if (second.open(path_) == SQLITE_OK) second.code("CREATE TABLE IF NOT EXISTS t(a)");
      }
      setrlimit(RLIMIT_NOFILE, &before);
      fs::remove(path_);
      if (Connection(path("renamed.db")).value("SELECT * FROM t") != "t'one'") _exit(1);
    }
    _exit(0);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
}

TEST_F(PlaceTest, WhatWasNotFinishedGoesWithTheNextOne) {
  const std::string unfinished = path_ + "-0123456789ab";
  fs::create_directory(unfinished);
  make(path_, "one");
  EXPECT_FALSE(fs::exists(unfinished));
  fs::remove(path_);
  fs::create_directory(unfinished);
  write_content(unfinished + "/lock", "");
  make(path_, "two");
  EXPECT_FALSE(fs::exists(unfinished));
  only_directory(path_);
}

// Who makes a database has the directory before the file says so: to others it looks left over.
TEST_F(PlaceTest, NothingIsRemovedWhileSomebodyMakesIt) {
  const std::string unfinished = path_ + "-0123456789ab";
  {
    Maker maker;
    ASSERT_TRUE(maker.begin(path_).ok());
    fs::create_directory(unfinished);
    // By the same process, too.
    EXPECT_EQ(Connection().open(path_), SQLITE_BUSY);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(Connection().open(path_) == SQLITE_BUSY ? 0 : 1);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
    EXPECT_TRUE(fs::exists(unfinished));
  }
  make(path_, "one");
  EXPECT_FALSE(fs::exists(unfinished));
  only_directory(path_);
}

// What a process was told is committed is there, whoever else was making the database.
TEST_F(PlaceTest, ManyProcessesMayMakeItAtOnce) {
  constexpr int kProcesses = 6;
  for (const bool empty : {false, true}) {
    for (uint64_t round = 0; round < testing::scaled(20); ++round) {
      if (empty) write_content(path_, "");
      std::vector<pid_t> children;
      for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
          const std::string sql =
              "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(" + std::to_string(i) + ")";
          for (;;) {
            Connection connection;
            int code = connection.open(path_);
            if (code == SQLITE_OK) code = connection.code(sql);
            if (code == SQLITE_OK) _exit(0);
            if ((code & 0xff) != SQLITE_BUSY) _exit(1);
          }
        }
        children.push_back(child);
      }
      for (const pid_t child : children) {
        int result = 0;
        ASSERT_EQ(waitpid(child, &result, 0), child);
        EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
      }
      EXPECT_EQ(Connection(path_).value("SELECT count(*), sum(a) FROM t"), "i6|i15");
      fs::remove(path_);
    }
  }
  make(path_, "one");
  only_directory(path_);
}

}  // namespace
}  // namespace hawthorn::sqlite
