// Directories that may not be written: by their permissions, by their files', or because the file
// system is mounted read-only. Opening for writing says so, names the path and changes nothing;
// opening read-only works; nothing is lost.
//
// Permissions do not bind root, so what must be refused runs in a child process as nobody. The test
// itself never opens a database, so that it has no threads when it forks.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <map>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;
using Contents = std::map<std::string, std::string>;

constexpr unsigned kNobody = 65534;
constexpr char kCannot[] = "cannot";  // what a child answers whose test is not possible here

Options small_options(bool read_only) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.read_only = read_only;
  return options;
}

Contents contents_written() {
  Contents contents;
  for (uint64_t i = 0; i < 300; ++i) contents[big_endian(i)] = value_of(i, i * 7 % 500);
  contents["large"] = value_of(1, 100'000);
  return contents;
}

// Runs `work` in a child process and returns what it answers; empty is success.
std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "no fork";
  if (child == 0) {
    close(ends[0]);
    const std::string answer = work();
    const bool told = write(ends[1], answer.data(), answer.size()) >= 0;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof(part))) > 0;) {
    answer.append(part, static_cast<size_t>(got));
  }
  close(ends[0]);
  int result = 0;
  if (waitpid(child, &result, 0) != child || !WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    return answer + " (the child died: " + std::to_string(result) + ")";
  }
  return answer;
}

// Half of it in containers, half in the log, as a killed process leaves it.
std::string write_database(const std::string& path) {
  auto db = Db::open(path, small_options(false));
  if (!db.ok()) return db.status().to_string();
  const Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return tree.status().to_string();
  uint64_t written = 0;
  for (const auto& [key, value] : contents_written()) {
    if (++written == 150) {
      if (Status s = (*db)->flush(); !s.ok()) return s.to_string();
    }
    if (Status s = (*db)->put(*tree, key, value); !s.ok()) return s.to_string();
  }
  return "";
}

std::string read_database(const std::string& path, bool read_only) {
  auto db = Db::open(path, small_options(read_only));
  if (!db.ok()) return db.status().to_string();
  const Result<Tree> tree = (*db)->find_tree("t");
  if (!tree.ok()) return tree.status().to_string();
  for (const auto& [key, value] : contents_written()) {
    Value found;
    if (Status s = (*db)->get(*tree, key, found); !s.ok()) return "lost: " + s.to_string();
    if (found.view() != value) return "a wrong value";
  }
  if (!clean(**db)) return "the checker finds something";
  const Status put = (*db)->put(*tree, "another key", "");
  if (put.ok() == read_only) return "a put answers " + put.to_string();
  return (*db)->close().ok() ? "" : "it does not close";
}

// Whether it was refused as it should be: with this code, and the path.
std::string refused(const std::string& path, const Status& status, StatusCode code) {
  if (status.ok()) return "it was not refused";
  if (!status.is(code)) return "another error: " + status.to_string();
  if (status.message().find(path) != std::string_view::npos) return "";
  return "it does not name the path: " + status.to_string();
}

std::string opens_for_reading_only(const std::string& path, StatusCode code) {
  for (const size_t budget : {16, 64}) {  // of another budget the log's ring would be made anew
    Options options = small_options(false);
    options.memory_budget_bytes = budget << 20;
    if (std::string s = refused(path, Db::open(path, options).status(), code); !s.empty()) {
      return "open: " + s;
    }
  }
  if (std::string s = refused(path, Db::destroy(path), code); !s.empty()) return "destroy: " + s;
  return read_database(path, true);
}

std::string opens_without_permission(const std::string& path) {
  return opens_for_reading_only(path, StatusCode::kPermissionDenied);
}

std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Names, sizes and times of all files.
std::vector<std::string> files_of(const std::string& path) {
  std::vector<std::string> files;
  for (const std::string& name : names_of(path)) {
    struct stat info;
    if (stat((path + "/" + name).c_str(), &info) != 0) continue;
    files.push_back(name + " " + std::to_string(info.st_size) + " " +
                    std::to_string(info.st_mtim.tv_sec) + "." +
                    std::to_string(info.st_mtim.tv_nsec));
  }
  return files;
}

// Becomes somebody whom permissions bind. False: `path` is out of reach then.
bool become_nobody(const std::string& path) {
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return false;
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

class ReadOnlyDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
    ASSERT_EQ(in_child([this] { return write_database(path_); }), "");
  }
  // So that the temporary directory can be removed, and the database be written again.
  void TearDown() override { set_modes(0755, 0644); }

  void set_modes(mode_t directory, mode_t file) {
    ASSERT_EQ(chmod(path_.c_str(), directory), 0);
    for (const auto& entry : fs::directory_iterator(path_)) {
      ASSERT_EQ(chmod(entry.path().c_str(), file), 0);
    }
  }
  void give_to_nobody() {
    if (geteuid() != 0) return;
    ASSERT_EQ(chown(path_.c_str(), kNobody, kNobody), 0);
    for (const auto& entry : fs::directory_iterator(path_)) {
      ASSERT_EQ(chown(entry.path().c_str(), kNobody, kNobody), 0);
    }
  }
  std::string as_nobody(const std::function<std::string()>& work) {
    return in_child([&] { return become_nobody(path_) ? work() : std::string(kCannot); });
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "db";
};

TEST_F(ReadOnlyDirectory, by_permissions) {
  set_modes(0555, 0444);
  const std::vector<std::string> before = files_of(path_);
  const std::string answer = as_nobody([this] { return opens_without_permission(path_); });
  if (answer == kCannot) GTEST_SKIP() << "nobody cannot reach " << path_;
  EXPECT_EQ(answer, "");
  EXPECT_EQ(files_of(path_), before) << "a file was changed";
  set_modes(0755, 0644);
  EXPECT_EQ(in_child([this] { return read_database(path_, false); }), "");
}

// A copy may have none, and where nothing can be written none can be made (R30).
TEST_F(ReadOnlyDirectory, without_its_lock_file) {
  ASSERT_TRUE(fs::remove(path_ + "/lock"));
  std::vector<std::string> before = files_of(path_);
  EXPECT_EQ(in_child([this] { return read_database(path_, true); }), "");
  EXPECT_EQ(files_of(path_), before) << "a file was changed";
  set_modes(0555, 0444);
  before = files_of(path_);
  const std::string answer = as_nobody([this] { return opens_without_permission(path_); });
  EXPECT_TRUE(answer.empty() || answer == kCannot) << answer;
  EXPECT_EQ(files_of(path_), before) << "a file was changed";
  set_modes(0755, 0644);
  EXPECT_EQ(in_child([this] { return read_database(path_, false); }), "");
}

// Nobody may even read it; whoever may goes on with all of it.
TEST_F(ReadOnlyDirectory, of_somebody_else) {
  for (const auto& [directory, file] : {std::pair<mode_t, mode_t>(0700, 0600), {0755, 0600}}) {
    set_modes(directory, file);
    const std::vector<std::string> before = files_of(path_);
    const std::string answer = as_nobody([this]() -> std::string {
      for (const bool read_only : {false, true}) {
        const Status status = Db::open(path_, small_options(read_only)).status();
        std::string s = refused(path_, status, StatusCode::kPermissionDenied);
        if (!s.empty()) return (read_only ? "read-only: " : "open: ") + s;
      }
      return refused(path_, Db::destroy(path_), StatusCode::kPermissionDenied);
    });
    if (answer == kCannot) GTEST_SKIP() << "nobody cannot reach " << path_;
    EXPECT_EQ(answer, "");
    EXPECT_EQ(files_of(path_), before) << "a file was changed";
  }
  EXPECT_EQ(in_child([this] { return read_database(path_, true); }), "");
  EXPECT_EQ(in_child([this] { return read_database(path_, false); }), "");
}

// The files may be written, but none be made or removed.
TEST_F(ReadOnlyDirectory, with_writable_files) {
  give_to_nobody();
  set_modes(0555, 0644);
  const std::vector<std::string> before = names_of(path_);
  const std::string answer = as_nobody([this] { return opens_without_permission(path_); });
  if (answer == kCannot) GTEST_SKIP() << "nobody cannot reach " << path_;
  EXPECT_EQ(answer, "");
  EXPECT_EQ(names_of(path_), before);
  set_modes(0755, 0644);
  EXPECT_EQ(as_nobody([this] { return read_database(path_, false); }), "");
}

TEST_F(ReadOnlyDirectory, without_a_database) {
  const std::string empty = directory_ / "empty";
  ASSERT_EQ(mkdir(empty.c_str(), 0555), 0);
  const std::string answer = as_nobody([&]() -> std::string {
    for (const std::string& path : {empty, empty + "/db"}) {
      if (std::string s = refused(empty, Db::open(path, small_options(false)).status(),
                                  StatusCode::kPermissionDenied);
          !s.empty()) {
        return path + ": " + s;
      }
      const Status read = Db::open(path, small_options(true)).status();
      if (!read.is_not_found()) return path + ": " + read.to_string();
      if (read.message().find(path) == std::string_view::npos) {
        return "it does not name " + path + ": " + read.to_string();
      }
    }
    return "";
  });
  if (answer == kCannot) GTEST_SKIP() << "nobody cannot reach " << path_;
  EXPECT_EQ(answer, "");
  EXPECT_TRUE(fs::is_empty(empty));
}

// A file system that is mounted read-only refuses root, too.
TEST_F(ReadOnlyDirectory, by_its_mount) {
  const std::vector<std::string> before = files_of(path_);
  const std::string answer = in_child([this]() -> std::string {
    const char* const at = path_.c_str();
    // Of its own, and not seen outside: it ends with this process.
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(at, at, "", MS_BIND, nullptr) != 0 ||
        mount("", at, "", MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return kCannot;
    }
    if (open((path_ + "/lock").c_str(), O_RDWR | O_CLOEXEC) >= 0 || errno != EROFS) return kCannot;
    return opens_for_reading_only(path_, StatusCode::kReadOnly);
  });
  if (answer == kCannot) GTEST_SKIP() << "no mounts for this process";
  EXPECT_EQ(answer, "");
  EXPECT_EQ(files_of(path_), before) << "a file was changed";
  EXPECT_EQ(in_child([this] { return read_database(path_, false); }), "");
}

}  // namespace
}  // namespace hawthorn::tests
