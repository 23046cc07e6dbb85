// Children of fork while the threads of their parent are at work in its databases: whatever these
// had locked or half changed, a child opens, writes, reads and closes databases of its own; lets go
// of what it has inherited; and the parent notices nothing.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

Options small_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  return options;
}

struct Inherited {
  std::unique_ptr<Db>* db;
  Transaction* transaction;
  Cursor* cursor;
  Snapshot* snapshot;
};

// Empty, or what went wrong. A hang ends in SIGALRM.
std::string live_in_child(const std::string& path, Inherited inherited) {
  alarm(240);
  auto db = Db::open(path, small_options());
  if (!db.ok()) return db.status().to_string();
  const Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return tree.status().to_string();
  for (uint64_t i = 0; i < 300; ++i) {
    const Status s = (*db)->put(*tree, key_of(i), value_of(i, i % 50 == 0 ? 70'000 : 100));
    if (!s.ok()) return s.to_string();
  }
  if (Status s = (*db)->flush(); !s.ok()) return s.to_string();
  if (!clean(**db)) return "the check finds something";
  if (Status s = (*db)->close(); !s.ok()) return s.to_string();
  if (!inherited.transaction->commit().is(StatusCode::kForked)) return "an inherited commit";
  if (!(*inherited.db)->close().is(StatusCode::kForked))
    return "an inherited database can be closed";
  *inherited.transaction = Transaction();
  *inherited.cursor = Cursor();
  inherited.snapshot->reset();
  inherited.db->reset();
  return {};
}

TEST(Fork, children_work_whatever_the_parent_is_doing) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer does not like forks of programs with threads";
#endif
  const TempDirectory directory;
  auto db = Db::open(directory / "parent", small_options());
  ASSERT_OK(db.status());
  const Tree tree = *(*db)->tree("t");
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> written{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; !stop.load(); ++i) {
        const std::string key = big_endian(t << 32 | i % 2000);
        Value value;
        if (i % 3 == 0) {
          EXPECT_OK((*db)->put(tree, key, value_of(i, 300)));
        } else if (t == 0 && i % 1000 == 1) {
          auto other = Db::open(directory / "other", small_options());
          EXPECT_OK(other.status());
          if (other.ok()) EXPECT_OK((*other)->close());
        } else {
          const Status s = (*db)->get(tree, key, value);
          EXPECT_TRUE(s.ok() || s.is_not_found()) << s.to_string();
        }
        written.fetch_add(1);
      }
    });
  }
  // These have read and written something; only children let go of them meanwhile.
  for (const char* key : {"j", "k"}) ASSERT_OK((*db)->put(tree, key, value_of(1, 300)));
  Transaction transaction = *(*db)->begin({});
  ASSERT_OK(transaction.put(tree, "held", "by the parent"));
  Snapshot snapshot = (*db)->snapshot();
  Cursor cursor = (*db)->cursor(tree);
  ASSERT_TRUE(cursor.first());
  for (uint64_t n = 0; n < std::max<uint64_t>(10, scaled(100)); ++n) {
    const uint64_t before = written.load();
    ASSERT_TRUE(wait_until([&] { return written.load() > before + 20; }));
    const std::string path = directory / ("child" + std::to_string(n % 3));
    const pid_t child = start_child([&] {
      const std::string wrong = live_in_child(path, {&*db, &transaction, &cursor, &snapshot});
      if (wrong.empty()) _exit(0);
      static_cast<void>(write(STDERR_FILENO, wrong.data(), wrong.size()) < 0);
      _exit(1);
    });
    ASSERT_GT(child, 0);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0)
        << "child " << n << (WIFSIGNALED(result) ? " hung, or crashed" : "") << ": " << result;
    if (HasFailure()) break;
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(transaction.commit());
  EXPECT_TRUE(cursor.next());
  cursor = Cursor();
  snapshot.reset();
  transaction = Transaction();
  EXPECT_TRUE(clean(**db));
  EXPECT_OK((*db)->close());
}

// A child that does nothing yet, or was made in another way than by the C library's fork, has all
// that its parent had open.
TEST(Fork, a_child_that_has_not_run_yet_keeps_nobody_out) {
  const TempDirectory directory;
  int stays[2];
  ASSERT_EQ(pipe2(stays, O_CLOEXEC), 0);
  for (const bool closed : {true, false}) {
    auto db = Db::open(directory / "db", small_options());
    ASSERT_OK(db.status());
    const Tree tree = *(*db)->tree("t");
    for (uint64_t i = 0; i < 100; ++i) ASSERT_OK((*db)->put(tree, key_of(i), value_of(i, 1000)));
    ASSERT_OK((*db)->flush());
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, 0, 0));
    if (child == 0) {
      char byte = 0;
      syscall(SYS_close, stays[1]);
      syscall(SYS_read, stays[0], &byte, 1);  // until the parent's end is closed
      syscall(SYS_exit_group, 0);
    }
    ASSERT_GT(child, 0);
    // Without a close the log's files stay, too.
    if (closed) ASSERT_OK((*db)->close());
    db->reset();
    auto again = Db::open(directory / "db", small_options());
    EXPECT_OK(again.status());
    if (again.ok()) EXPECT_OK((*again)->close());
  }
  close(stays[0]);
  close(stays[1]);
  while (waitpid(-1, nullptr, 0) > 0) continue;
}

// Whoever has forked a child that stays (a daemon, a helper) and is killed, or closes: the child
// keeps no lock of what it has inherited.
TEST(Fork, a_child_that_stays_keeps_nobody_out) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  int stays[2];
  int runs[2];
  ASSERT_EQ(pipe(stays), 0);
  ASSERT_EQ(pipe(runs), 0);
  const pid_t parent = start_child([&] {
    close(stays[1]);
    for (const bool closed : {true, false}) {
      auto db = Db::open(path, small_options());
      if (!db.ok()) _exit(2);
      const Tree tree = *(*db)->tree("t");
      for (uint64_t i = 0; i < 1000; ++i) {
        if (!(*db)->put(tree, key_of(i), value_of(i, 1000)).ok()) _exit(3);
      }
      if (!(*db)->flush().ok() || !(*db)->put(tree, "last", "of all").ok()) _exit(4);
      if (fork() == 0) {
        char byte = 0;
        static_cast<void>(write(runs[1], &byte, 1));
        static_cast<void>(read(stays[0], &byte, 1));  // until the other end is closed
        _exit(0);
      }
      // One that has not run yet gives back nothing by itself.
      char byte = 0;
      if (read(runs[0], &byte, 1) != 1) _exit(5);
      if (closed && !(*db)->close().ok()) _exit(6);
      if (!closed) kill(getpid(), SIGKILL);
    }
  });
  close(stays[0]);
  close(runs[0]);
  close(runs[1]);
  int result = 0;
  ASSERT_EQ(waitpid(parent, &result, 0), parent);
  ASSERT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL) << result;
  auto db = Db::open(path, small_options());
  ASSERT_OK(db.status());
  Value value;
  EXPECT_OK((*db)->get(*(*db)->tree("t"), "last", value));
  EXPECT_TRUE(clean(**db));
  EXPECT_OK((*db)->close());
  close(stays[1]);
}

}  // namespace
}  // namespace hawthorn::tests
