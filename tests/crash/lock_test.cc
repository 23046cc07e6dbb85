// The lock of a database's directory is had before anything in it is changed, and kept until all
// is written (R30, attack 39): so whoever gets it finds no write of another process on its way.
#include <atomic>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "os/machine.h"
#include "os/posix_file.h"
#include "os/test_point.h"
#include "testing/watched_files.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::FileCall;
using testing::FileOp;

// Notes what is changed in the directory while nobody has the lock.
class WithoutLock : public testing::FileWatcher {
 public:
  explicit WithoutLock(std::string lock) : lock_(std::move(lock)) {}

  Verdict before(FileCall& call) override {
    // Whoever waits for it may have it as soon as it is given back.
    if (call.path == lock_ && call.op == FileOp::kClose) had_ = false;
    if (!had_ && changes(call)) late_ = true;
    return Verdict::kDo;
  }
  void after(FileCall& call, const Status& status) override {
    if (call.path == lock_ && call.op == FileOp::kOpen && status.ok()) had_ = true;
    if (call.op == FileOp::kWrite && status.ok()) ++writes_;
  }
  bool late() const { return late_; }
  uint64_t writes() const { return writes_; }

 private:
  // The directory itself and the lock are there before it can be had.
  bool changes(const FileCall& call) const {
    switch (call.op) {
      case FileOp::kClose:
      case FileOp::kUnmap:
      case FileOp::kRead:
      case FileOp::kMakeDirectory:
      case FileOp::kSyncDirectory:
        return false;
      case FileOp::kOpen:
        return call.flags.create && call.path != lock_;
      default:
        return true;
    }
  }

  const std::string lock_;
  std::atomic<bool> had_{false};
  std::atomic<bool> late_{false};
  std::atomic<uint64_t> writes_{0};
};

TEST(Lock, is_had_before_and_kept_behind_all_that_is_written) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  for (const bool closed : {true, false, true}) {
    SCOPED_TRACE(closed);
    WithoutLock watcher(path + "/lock");
    testing::WatchedFiles files(os::posix_file_system(), watcher);
    os::Machine machine = os::real_machine();
    machine.files = &files;
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    auto db = Db::open_on(machine, path, options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    for (uint64_t i = 0; i < 4000; ++i) {
      ASSERT_OK((*db)->put(tree, big_endian(i), value_of(i, 2000)));
      if (i % 1500 == 0) ASSERT_OK((*db)->flush());
    }
    if (closed) ASSERT_OK((*db)->close());
    db->reset();
    EXPECT_GT(watcher.writes(), 0u);
    EXPECT_FALSE(watcher.late()) << "something was written, or made, without the lock";
  }
}

TEST(Lock, keeps_another_writer_out) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  auto db = Db::open(path, options);
  ASSERT_OK(db.status());
  EXPECT_TRUE(Db::open(path, options).status().is(StatusCode::kBusy));
  ASSERT_OK((*db)->close());
  EXPECT_OK(Db::open(path, options).status());
}

// Many create one database at once: whoever opens it has it, the others are told that it is busy,
// and nobody is told that it is damaged.
TEST(Lock, creation_is_one_step) {
  constexpr int kOpeners = 8;
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  for (uint64_t round = 0; round < scaled(60); ++round) {
    const TempDirectory directory;
    std::atomic<int> written{0};
    std::barrier together(kOpeners);
    std::vector<std::thread> openers;
    for (int i = 0; i < kOpeners; ++i) {
      openers.emplace_back([&, i] {
        together.arrive_and_wait();
        auto db = Db::open(directory / "db", options);
        if (!db.ok()) {
          EXPECT_TRUE(db.status().is(StatusCode::kBusy)) << db.status().to_string();
          return;
        }
        const Result<Tree> tree = (*db)->tree("t");
        ASSERT_OK(tree.status());
        ASSERT_OK((*db)->put(*tree, big_endian(static_cast<uint64_t>(i)), "v"));
        written.fetch_add(1);
        if (i % 2 == 0) EXPECT_OK((*db)->close());
      });
    }
    for (std::thread& opener : openers) opener.join();
    auto db = Db::open(directory / "db", options);
    ASSERT_OK(db.status());
    ASSERT_GT(written.load(), 0);
    EXPECT_EQ(*(*db)->count(*(*db)->tree("t"), "", std::nullopt),
              static_cast<uint64_t>(written.load()));
    if (::testing::Test::HasFailure()) return;
  }
}

#if defined(HAWTHORN_TEST_POINTS)
// The same in the order that matters: another one creates it, and has closed it or has it open,
// between the look and the lock.
TEST(Lock, is_created_by_another_meanwhile) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  for (const bool closed : {true, false}) {
    for (const bool may_exist : {true, false}) {
      SCOPED_TRACE(std::string(closed ? "closed" : "open") + (may_exist ? ", may exist" : ""));
      const TempDirectory directory;
      const std::string path = directory / "db";
      std::unique_ptr<Db> other;
      bool once = true;
      os::set_test_point("open.before_lock", [&] {
        if (!std::exchange(once, false)) return;
        auto made = Db::open(path, options);
        ASSERT_OK(made.status());
        ASSERT_OK((*made)->put(*(*made)->tree("t"), "k", "v"));
        other = *std::move(made);
        if (closed) ASSERT_OK(other->close());
      });
      Options mine = options;
      mine.error_if_exists = !may_exist;
      auto db = Db::open(path, mine);
      os::set_test_point("open.before_lock", nullptr);
      if (!closed) {
        EXPECT_TRUE(db.status().is(StatusCode::kBusy)) << db.status().to_string();
      } else if (!may_exist) {
        EXPECT_TRUE(db.status().is(StatusCode::kInvalidArgument)) << db.status().to_string();
      } else {
        ASSERT_OK(db.status());
        Value found;
        EXPECT_OK((*db)->get(*(*db)->tree("t"), "k", found));
      }
    }
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tests
