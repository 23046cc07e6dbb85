// Processes killed by SIGKILL on the real file system while they copy a database that they write
// to: the database has all that was acknowledged, a copy is whole or refused, each backup that is
// listed restores to one moment, and the next copy goes well.

#include <sys/mman.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/support/child_process.h"
#include "tests/support/encryption_test.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

struct Shared {
  std::atomic<uint64_t> acknowledged;  // commits of the writer
  std::atomic<uint64_t> copies;        // that were finished, of any kind
  std::atomic<uint32_t> failed;
};

constexpr uint64_t kKeys = 3000;

// Set by each test: whether all of its databases are encrypted.
bool encrypted = false;

Options options() {
  Options options;
  if (encrypted) options.encryption = encryption_of();
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  return options;
}

// Commit n writes its number under "last", and two keys whose values follow from it.
std::string value_at(uint64_t n, uint64_t which) {
  return value_of(n * 2 + which, n % 40 == 0 ? 90'000 : 400);
}
std::string key_at(uint64_t n, uint64_t which) { return big_endian(mix64(n * 2 + which) % kKeys); }

Contents contents_after(uint64_t n) {
  Contents contents;
  for (uint64_t i = 1; i <= n; ++i) {
    for (uint64_t which : {0, 1}) contents[key_at(i, which)] = value_at(i, which);
  }
  contents["last"] = big_endian(n);
  return contents;
}

// The commits that a database shows; fails where that is no state after a number of them.
void expect_prefix(const std::string& path, uint64_t at_least, uint64_t* found) {
  Options there = options();
  there.create_if_missing = false;
  auto db = Db::open(path, there);
  ASSERT_OK(db.status());
  const Result<CheckReport> report = (*db)->check();
  ASSERT_OK(report.status());
  ASSERT_TRUE(report->ok()) << report->errors.front();
  const Result<Tree> tree = (*db)->find_tree("t");
  const Contents all = tree.ok() ? read_all(**db, *tree) : Contents();
  *found = 0;
  if (const auto last = all.find("last"); last != all.end()) {
    for (const char c : last->second) *found = *found << 8 | static_cast<unsigned char>(c);
    EXPECT_TRUE(same(all, contents_after(*found)));
  } else {
    EXPECT_TRUE(all.empty());
  }
  EXPECT_GE(*found, at_least);
}

[[noreturn]] void fail(Shared& shared, const Status& status) {
  fprintf(stderr, "child: %s\n", status.to_string().c_str());
  shared.failed.store(1);
  _exit(1);
}

void write_for_ever(Db& db, Shared& shared) {
  const Result<Tree> tree = db.tree("t");
  if (!tree.ok()) fail(shared, tree.status());
  for (uint64_t n = shared.acknowledged.load() + 1;; ++n) {
    WriteBatch batch;
    for (uint64_t which : {0, 1}) batch.put(*tree, key_at(n, which), value_at(n, which));
    batch.put(*tree, "last", big_endian(n));
    if (Status s = db.write(batch); !s.ok()) fail(shared, s);
    shared.acknowledged.store(n);
    if (n % 500 == 0) {
      if (Status s = db.flush(); !s.ok()) fail(shared, s);
    }
  }
}

// Checkpoints, backups and restores, one after the other, beside the writer.
void live(const std::string& where, Shared& shared) {
  auto db = Db::open(where + "/db", options());
  if (!db.ok()) fail(shared, db.status());
  auto repository = BackupRepository::open(where + "/repo");
  if (!repository.ok()) fail(shared, repository.status());
  std::thread writer([&] { write_for_ever(**db, shared); });
  for (;;) {
    // By another name: what a kill leaves of a removal is no copy.
    for (const char* const name : {"/copy", "/restored"}) {
      std::error_code ignored;
      std::filesystem::remove_all(where + "/old", ignored);
      std::filesystem::rename(where + name, where + "/old", ignored);
    }
    if (Status s = (*db)->checkpoint(where + "/copy"); !s.ok()) fail(shared, s);
    ++shared.copies;
    const Result<BackupInfo> made = (*db)->backup(**repository);
    if (!made.ok()) fail(shared, made.status());
    ++shared.copies;
    if (Status s = (*repository)->restore(made->id, where + "/restored"); !s.ok()) fail(shared, s);
    ++shared.copies;
    if (made->id > 2) {
      const Status removed = (*repository)->remove(made->id - 2);
      if (!removed.ok() && !removed.is_not_found()) fail(shared, removed);
    }
  }
}

// What the killed process has left, and that it can be made anew.
void expect_left(const std::string& where, Shared& shared, Prng& prng) {
  uint64_t found = 0;
  expect_prefix(where + "/db", shared.acknowledged.load(), &found);
  shared.acknowledged.store(found);
  auto db = Db::open(where + "/db", options());
  ASSERT_OK(db.status());
  auto repository = BackupRepository::open(where + "/repo");
  ASSERT_OK(repository.status());
  uint64_t copied = 0;
  for (const char* const name : {"/copy", "/restored"}) {
    const std::string path = where + name;
    if (std::filesystem::exists(path + "/copy.incomplete")) {
      EXPECT_TRUE(Db::open(path, options()).status().is(StatusCode::kCorruption));
    } else if (std::filesystem::exists(path + "/superblock")) {
      expect_prefix(path, 0, &copied);
      continue;
    }
    // It was being made, or removed by this test.
    if (!std::filesystem::exists(path + "/copy.incomplete")) std::filesystem::remove_all(path);
    ASSERT_OK((*db)->checkpoint(path));
    expect_prefix(path, found, &copied);
  }
  const std::vector<BackupInfo> list = (*repository)->list().value();
  for (const BackupInfo& info : list) {
    ASSERT_OK((*repository)->verify(info.id, {.encryption = options().encryption}));
  }
  if (!list.empty()) {
    const uint64_t id = list[prng.below(list.size())].id;
    ASSERT_OK((*repository)->restore(id, where + "/again"));
    expect_prefix(where + "/again", 0, &copied);
    std::filesystem::remove_all(where + "/again");
  }
  const Result<BackupInfo> next = (*db)->backup(**repository);
  ASSERT_OK(next.status());
  ASSERT_OK((*repository)->restore(next->id, where + "/again"));
  expect_prefix(where + "/again", found, &copied);
  EXPECT_EQ(copied, found);
  std::filesystem::remove_all(where + "/again");
}

void kill_at_random_times() {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  const TempDirectory directory;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared{};
  for (uint64_t round = 0; round < scaled(10); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const pid_t child = start_child([&] { live(directory.path(), shared); });
    kill_at_random(child, shared, prng, round,
                   {.done = [&] { return shared.copies.load(); },
                    .often = 4,
                    .seldom = 12,
                    .pause_us = 60'000});
    if (::testing::Test::HasFatalFailure()) return;
    // In a child, so that this process, which starts more of them, has no threads of ours.
    const pid_t looker = start_child([&] {
      expect_left(directory.path(), shared, prng);
      if (::testing::Test::HasFailure()) _exit(1);
    });
    int result = 0;
    ASSERT_EQ(waitpid(looker, &result, 0), looker);
    ASSERT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    prng.next();
  }
  munmap(memory, sizeof(Shared));
}

TEST(BackupKill, at_random) { kill_at_random_times(); }

TEST(BackupKill, at_random_and_encrypted) {
  encrypted = true;
  kill_at_random_times();
  encrypted = false;
}

}  // namespace
}  // namespace hawthorn::tests
