// Followers of another user: they need a database that others may read (Options::file_mode), and
// can then write nothing of it but the file `followers`.
//
// Both sides are processes of their own, so that there are no threads at the forks; the follower is
// nobody. Skipped where that is not possible.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "hawthorn/follower.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

Status write_database(const std::string& path, uint32_t mode) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.file_mode = mode;
  auto db = Db::open(path, options);
  if (!db.ok()) return db.status();
  const Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return tree.status();
  if (Status s = (*db)->put(*tree, "large", value_of(1, 200'000)); !s.ok()) return s;
  return (*db)->close();
}

// What the child of another user answers: empty for what was expected.
std::string as_nobody(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    constexpr unsigned kNobody = 65534;
    const std::string answer =
        setgid(kNobody) != 0 || setuid(kNobody) != 0 ? std::string("cannot") : work();
    _exit(write(ends[1], answer.data(), answer.size()) >= 0 ? 0 : 1);
  }
  close(ends[1]);
  std::string answer(4096, '\0');
  const ssize_t got = read(ends[0], answer.data(), answer.size());
  answer.resize(got > 0 ? static_cast<size_t>(got) : 0);
  close(ends[0]);
  int result = 0;
  if (waitpid(child, &result, 0) != child || result != 0) answer += " (it died)";
  return answer;
}

std::string follow(const std::string& path) {
  FollowerOptions options;
  options.memory_budget_bytes = size_t{16} << 20;
  auto follower = Follower::open(path, options);
  if (!follower.ok()) return follower.status().to_string();
  const std::shared_ptr<Db> view = (*follower)->view();
  Value value;
  const Status status = view->get(view->find_tree("t").value(), "large", value);
  if (!status.ok()) return status.to_string();
  return access((path + "/superblock").c_str(), W_OK) == 0 ? "it may write the superblock" : "";
}

// The database is written by processes of their own, so that there are no threads at the forks.
TEST(FileModesOfOthers, another_user_follows_where_the_mode_says_so) {
  const TempDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  for (const uint32_t mode : {0600u, 0644u}) {
    const std::string path = directory / (mode == 0600 ? "private" : "public");
    const pid_t writer = fork();
    if (writer == 0) {
      umask(0);
      _exit(write_database(path, mode).ok() ? 0 : 1);
    }
    int result = 0;
    ASSERT_EQ(waitpid(writer, &result, 0), writer);
    ASSERT_EQ(result, 0);
    const std::string answer = as_nobody([&] { return follow(path); });
    if (answer == "cannot") GTEST_SKIP() << "needs root";
    if (mode == 0644) {
      EXPECT_EQ(answer, "");
    } else {
      EXPECT_TRUE(answer.starts_with("PermissionDenied: " + path)) << answer;
      EXPECT_NE(answer.find("Permission denied"), std::string::npos) << answer;
    }
  }
}

}  // namespace
}  // namespace hawthorn::tests
