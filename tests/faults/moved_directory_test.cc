// Directories whose name leads elsewhere while they are open: the process changes its working
// directory, the directory is renamed, or a file system is mounted on it. What was opened by a path
// goes on in the directory that it was opened in, whatever it does there; where the name leads now,
// nothing changes; and after SIGKILL nothing acknowledged is lost.
//
// The test itself opens no database while a child runs, which so begins with no threads of ours.
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include <fstream>
#include <sstream>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "tests/support/child_process.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

enum class Move { kChdir, kRename, kMountOver };

std::string name_of(const ::testing::TestParamInfo<Move>& info) {
  constexpr const char* kNames[] = {"chdir", "rename", "mount"};
  return kNames[static_cast<size_t>(info.param)];
}

constexpr uint64_t kBefore = 400;
constexpr uint64_t kAfter = 3000;  // several segments of the log, and data files
constexpr uint64_t kIngested = 2000;

std::string value_at(uint64_t number) { return value_of(number, number % 97 == 0 ? 90'000 : 900); }

Options small_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  return options;
}

std::map<std::string, std::string> files_below(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files[entry.path()] = bytes.str();
  }
  return files;
}

// "home/db" and "home/backups" are moved away from under a child that has them open;
// "elsewhere/db" and, where a name is free again, another "home/db" are databases of others.
class MovedDirectory : public ::testing::TestWithParam<Move> {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{1} << 20;
    db::data_file_bytes_first = uint64_t{1} << 20;
    for (const char* name : {"home", "elsewhere"}) fs::create_directory(directory_ / name);
  }

  // Where the child finds what it opens; relative for a chdir.
  std::string at(const std::string& name) const {
    return GetParam() == Move::kChdir ? name : directory_ / ("home/" + name);
  }
  // Where that is after the move, for who looks by name.
  std::string real(const std::string& name) const {
    return directory_ / ((GetParam() == Move::kRename ? "moved/" : "home/") + name);
  }

  // Another database where the name leads now. Its files must stay as they are.
  static void make_decoy(const std::string& directory) {
    Result<std::unique_ptr<Db>> db = Db::open(directory, small_options());
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->put(*(*db)->tree("t"), "decoy", "decoy"));
    ASSERT_OK((*db)->close());
  }

  // False: not possible here.
  bool move() const {
    const std::string home = directory_ / "home";
    switch (GetParam()) {
      case Move::kChdir:
        return chdir((directory_ / "elsewhere").c_str()) == 0;
      case Move::kRename:
        if (rename(home.c_str(), (directory_ / "moved").c_str()) != 0) return false;
        fs::copy(directory_ / "elsewhere", home, fs::copy_options::recursive);
        return true;
      case Move::kMountOver:
        return unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("none", home.c_str(), "tmpfs", 0, nullptr) == 0;
    }
    return false;
  }

  // Everything that opens, makes, renames or removes a file.
  void work(Db& db, Follower& follower, BackupRepository& repository);
  void child();

  static constexpr int kCannot = 2;
  static constexpr int kDone = 3;
  const TempDirectory directory_;
  int* const told_ = static_cast<int*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

void MovedDirectory::work(Db& db, Follower& follower, BackupRepository& repository) {
  const Tree tree = *db.tree("t");
  for (uint64_t i = kBefore; i < kAfter; ++i) {
    ASSERT_OK(db.put(tree, big_endian(i), value_at(i)));
    if (i % 1000 == 0) ASSERT_OK(db.flush());
  }
  // Files for sorting, and containers of its own.
  IngestOptions unsorted;
  unsorted.sorted = false;
  unsorted.sort_memory_bytes = 1;
  ASSERT_OK(ingest_all(db, *db.tree("ingested"), numbered(0, kIngested, 700), nullptr, unsorted));
  {
    // Files without a name, and one of the size of a segment.
    Transaction txn = *db.begin({});
    const auto reserved = txn.put_reserve(tree, "reserved", size_t{8} << 20);
    ASSERT_OK(reserved.status());
    ASSERT_OK(txn.finish_reserve());
    for (uint64_t i = 0; i < kAfter; i += 97) {
      ASSERT_OK(txn.get_pinned(tree, big_endian(i)).status());
    }
    ASSERT_OK(txn.commit());
    Transaction prepared = *db.begin({});
    ASSERT_OK(prepared.put(tree, "prepared", "yes"));
    ASSERT_OK(prepared.prepare("p"));
  }
  ASSERT_OK(db.commit_prepared("p"));
  // The log moves on, and the manifest is written anew.
  ASSERT_OK(db.flush());
  ASSERT_OK(db.compact());
  EXPECT_TRUE(clean(db));
  ASSERT_OK(follower.rebuild());
  ASSERT_OK(follower.refresh());
  Value found;
  ASSERT_OK(follower.view()->get(*follower.view()->tree("t"), big_endian(kAfter - 1), found));
  EXPECT_EQ(found.view(), value_at(kAfter - 1));
  const Result<BackupInfo> backup = db.backup(repository);
  ASSERT_OK(backup.status());
  ASSERT_OK(repository.verify(backup->id));
  const TempDirectory copies;
  ASSERT_OK(repository.restore(backup->id, copies / "restored"));
  ASSERT_OK(db.checkpoint(copies / "checkpoint", {.share_blocks = true}));
  for (const char* copy : {"restored", "checkpoint"}) {
    Result<std::unique_ptr<Db>> opened = Db::open(copies / copy, small_options());
    ASSERT_OK(opened.status());
    ASSERT_OK((*opened)->get(*(*opened)->tree("t"), big_endian(kAfter - 1), found));
  }
  // Only in the log, and its newest segment.
  ASSERT_OK(db.put(tree, "last", "put", Durability::kFull));
}

void MovedDirectory::child() {
  if (GetParam() == Move::kChdir) {
    ASSERT_EQ(chdir((directory_ / "home").c_str()), 0);
  }
  Result<std::unique_ptr<Db>> db = Db::open(at("db"), small_options());
  ASSERT_OK(db.status());
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(at("backups"));
  ASSERT_OK(repository.status());
  const Tree tree = *(*db)->tree("t");
  for (uint64_t i = 0; i < kBefore; ++i) ASSERT_OK((*db)->put(tree, big_endian(i), value_at(i)));
  Result<std::unique_ptr<Follower>> follower = Follower::open(at("db"));
  ASSERT_OK(follower.status());
  if (!move()) {
    *told_ = kCannot;
    return;
  }
  work(**db, **follower, **repository);
  if (HasFailure()) return;
  *told_ = kDone;
  raise(SIGKILL);
}

TEST_P(MovedDirectory, goes_on_where_it_was_opened) {
  make_decoy(directory_ / "elsewhere/db");
  const auto decoy = files_below(directory_ / "elsewhere");
  const pid_t pid = start_child([&] { child(); });
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (*told_ == kCannot) GTEST_SKIP() << "the move is not possible here";
  ASSERT_EQ(*told_, kDone) << "see what the child has said";
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files_below(directory_ / "elsewhere"), decoy);
  if (GetParam() == Move::kRename) {
    auto copied = files_below(directory_ / "home");
    EXPECT_EQ(copied.size(), decoy.size());
    for (const auto& [path, bytes] : decoy) {
      EXPECT_EQ(copied[directory_ / ("home" + path.substr((directory_ / "elsewhere").size()))],
                bytes);
    }
  }

  Result<std::unique_ptr<Db>> db = Db::open(real("db"), small_options());
  ASSERT_OK(db.status());
  const Tree tree = *(*db)->tree("t");
  Value found;
  for (uint64_t i = 0; i < kAfter; ++i) {
    ASSERT_OK((*db)->get(tree, big_endian(i), found));
    ASSERT_EQ(found.view(), value_at(i)) << i;
  }
  for (const char* key : {"reserved", "prepared", "last"}) EXPECT_OK((*db)->get(tree, key, found));
  EXPECT_TRUE(same(read_all(**db, *(*db)->tree("ingested")), numbered(0, kIngested, 700)));
  EXPECT_TRUE(clean(**db));
  ASSERT_OK((*db)->close());
  Result<std::unique_ptr<BackupRepository>> repository = BackupRepository::open(real("backups"));
  ASSERT_OK(repository.status());
  EXPECT_EQ((*repository)->list()->size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Moves, MovedDirectory,
                         ::testing::Values(Move::kChdir, Move::kRename, Move::kMountOver), name_of);

// Calls that take a path and return: what it means is settled when they begin.
TEST(RelativePaths, are_settled_at_the_beginning) {
  const TempDirectory directory;
  const TempDirectory other;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  Options options = small_options();
  {
    fs::create_directory("a");
    Result<std::unique_ptr<Db>> db = Db::open("./a//db/", options);
    fs::current_path(other.path());
    EXPECT_OK(db.status());
    if (db.ok()) {
      EXPECT_EQ((*db)->path(), directory / "a/db");
      const Tree tree = *(*db)->tree("t");
      EXPECT_OK((*db)->put(tree, "k", "v"));
      // These mean the directory of now.
      EXPECT_OK((*db)->checkpoint("copy"));
      EXPECT_TRUE(fs::exists(other / "copy/superblock"));
      options.create_if_missing = false;
      EXPECT_TRUE(Db::open("a/db", options).status().is_not_found());
    }
  }
  fs::current_path(directory.path());
  EXPECT_OK(read_counters("a/db").status());
  EXPECT_OK(Db::repair("a/db", "repaired", {}).status());
  EXPECT_OK(Db::destroy("repaired"));
  EXPECT_FALSE(fs::exists(directory / "repaired"));
  EXPECT_TRUE(Db::open("", options).status().is(StatusCode::kInvalidArgument));
  // A working directory that is gone has no paths in it.
  fs::create_directory(directory / "gone");
  fs::current_path(directory / "gone");
  fs::remove(directory / "gone");
  const Status gone = Db::open("db", options).status();
  EXPECT_TRUE(gone.is_not_found()) << gone.to_string();
  EXPECT_NE(gone.message().find("working directory"), std::string_view::npos) << gone.to_string();
  fs::current_path(before);
}

}  // namespace
}  // namespace hawthorn::tests
