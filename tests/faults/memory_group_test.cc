// The budget in a control group: a process that may not have more memory than its database's budget
// and a little, with a database of several times that, is neither killed nor larger than it says.
//
// Needs root and a memory controller, version 1 or 2; skipped without. HAWTHORN_BUDGET_SECONDS says
// for how long (20): an hour is run before a release.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kBudget = size_t{256} << 20;
// The program itself, its stacks, the kernel's tables for it, and the page cache of the log's ring.
constexpr size_t kBesides = size_t{40} << 20;
constexpr size_t kProgram = size_t{14} << 20;
constexpr uint64_t kKeys = 4'000'000;  // of 264 bytes: four times the budget

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  file >> number;
  return number;
}

// A group with a limit; removed at the end.
class MemoryGroup {
 public:
  explicit MemoryGroup(size_t limit_bytes) {
    const std::string name = "hawthorn-test-" + std::to_string(getpid());
    const bool first = std::filesystem::exists("/sys/fs/cgroup/memory/cgroup.procs");
    path_ = (first ? "/sys/fs/cgroup/memory/" : "/sys/fs/cgroup/") + name;
    peak_ = path_ + (first ? "/memory.max_usage_in_bytes" : "/memory.peak");
    std::error_code ignored;
    std::filesystem::create_directory(path_, ignored);
    usable_ = write_file(path_ + (first ? "/memory.limit_in_bytes" : "/memory.max"),
                         std::to_string(limit_bytes));
  }
  ~MemoryGroup() { rmdir(path_.c_str()); }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  bool usable() const { return usable_; }
  bool enter() const { return write_file(path_ + "/cgroup.procs", "0"); }
  uint64_t peak_bytes() const { return read_number(peak_); }

 private:
  std::string path_;
  std::string peak_;
  bool usable_ = false;
};

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string key(uint64_t number) { return big_endian(mix64(number)); }
std::string value(uint64_t number, uint64_t round) {
  return value_of(mix64(number) + round, 248) + big_endian(round);
}
bool is_value_of(std::string_view found, uint64_t number) {
  if (found.size() != 256) return false;
  uint64_t round = 0;
  for (size_t i = 248; i < 256; ++i) {
    round = round << 8 | static_cast<unsigned char>(found[i]);
  }
  return found == value(number, round);
}

// What the process in the group does; its exit code says which step failed.
int work(const std::string& directory, uint64_t seconds) {
  const uint64_t before = resident_bytes();
  Options options;
  options.memory_budget_bytes = kBudget;
  options.durability = Durability::kNone;
  Result<std::unique_ptr<Db>> db = Db::open(directory, options);
  if (!db.ok()) return 2;
  Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return 3;
  Prng prng(1);
  uint64_t most = 0;
  uint64_t most_counted = 0;
  uint64_t written = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  Value found;
  for (uint64_t round = 1; std::chrono::steady_clock::now() < end; ++round) {
    for (int batches = 0; batches < 20; ++batches) {
      WriteBatch batch;
      for (int i = 0; i < 100; ++i) {
        const uint64_t number = written < kKeys ? written++ : prng.below(kKeys);
        batch.put(*tree, key(number), value(number, round));
      }
      if (!(*db)->write(batch).ok()) return 4;
    }
    for (int i = 0; i < 200; ++i) {
      const uint64_t number = prng.below(written);
      if (!(*db)->get(*tree, key(number), found).ok()) return 5;
      if (!is_value_of(found.view(), number)) return 6;
    }
    if (round % 50 == 0) {
      Cursor cursor = (*db)->cursor(*tree);
      if (!cursor.seek(key(prng.below(written)))) return 7;
      for (int i = 0; i < 20000 && cursor.valid(); ++i) cursor.next();
      if (!cursor.status().ok()) return 8;
    }
    most = std::max(most, resident_bytes());
    most_counted = std::max(most_counted, (*db)->stats().memory_resident_bytes);
  }
  std::fprintf(stderr, "resident at most %llu KB, counted %llu KB, budget %llu KB, %llu keys\n",
               static_cast<unsigned long long>((most - before) / 1024),
               static_cast<unsigned long long>(most_counted / 1024),
               static_cast<unsigned long long>(kBudget / 1024),
               static_cast<unsigned long long>(written));
  // Code that was not resident before, stacks, the mirror of the ring (which shows twice).
  if (most - before > kBudget + kBudget / 20 + kProgram) return 9;
  return (*db)->close().ok() ? 0 : 10;
}

TEST(MemoryGroup, the_budget_is_enough) {
  const MemoryGroup group(kBudget + kBudget / 20 + kBesides);
  if (geteuid() != 0 || !group.usable()) {
    GTEST_SKIP() << "not root, or there is no memory controller";
  }
  TempDirectory directory;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(group.enter() ? work(directory / "db", environment_number("HAWTHORN_BUDGET_SECONDS", 20))
                        : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
  std::fprintf(stderr, "the group's peak: %llu KB\n",
               static_cast<unsigned long long>(group.peak_bytes() / 1024));
}

}  // namespace
}  // namespace hawthorn::tests
