// The budget in a control group: a process that may not have more memory than its database's budget
// and a little, with a database of several times that, is neither killed nor larger than it says.
//
// Needs root and a memory controller, version 1 or 2; skipped without. HAWTHORN_BUDGET_SECONDS says
// for how long (20): an hour is run before a release.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kGroupOfDefault = size_t{100} << 20;
constexpr uint64_t kEntriesOfDefault = 500'000;  // more than the budget holds
constexpr size_t kBudget = size_t{256} << 20;
// The program itself, its stacks, the kernel's tables for it, and the page cache of the log's ring.
constexpr size_t kBesides = size_t{24} << 20;
constexpr size_t kProgram = size_t{4} << 20;
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

// As the group counts it: the log's ring, which is mapped twice, only once. Of programs and
// libraries what is not written is left out: how much of it is whose depends on who else runs.
uint64_t resident_bytes() {
  std::ifstream file("/proc/self/smaps");
  std::string counted = "Pss:";
  uint64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(counted)) {
      kilobytes += std::stoull(line.substr(counted.size()));
    } else if (const size_t mode = line.find(' '); mode < line.find(':')) {
      const bool own_copy = line.compare(mode + 4, 1, "p") == 0 && line.find('/') != line.npos;
      counted = own_copy ? "Anonymous:" : "Pss:";
    }
  }
  return kilobytes * 1024;
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

// So long at least, and until the budget is nearly full: before that nothing is in need of memory.
bool goes_on(std::chrono::steady_clock::time_point end, uint64_t most_counted, size_t budget) {
  return std::chrono::steady_clock::now() < end || most_counted < budget / 10 * 9;
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
  for (uint64_t round = 1; goes_on(end, most_counted, kBudget); ++round) {
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
  // Code that was not resident before, and stacks.
  if (most - before > kBudget + kBudget / 20 + kProgram) return 9;
  return (*db)->close().ok() ? 0 : 10;
}

// Runs it in a process of such a group.
void run_in_group(size_t limit_bytes, int (*what)(const std::string&, uint64_t)) {
  const MemoryGroup group(limit_bytes);
  if (geteuid() != 0 || !group.usable()) {
    GTEST_SKIP() << "not root, or there is no memory controller";
  }
  TempDirectory directory;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(group.enter() ? what(directory / "db", environment_number("HAWTHORN_BUDGET_SECONDS", 20))
                        : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
  std::fprintf(stderr, "the group's peak: %llu KB\n",
               static_cast<unsigned long long>(group.peak_bytes() / 1024));
}

TEST(MemoryGroup, the_budget_is_enough) { run_in_group(kBudget + kBudget / 20 + kBesides, work); }

// ---- Who names no budget

int work_by_default(const std::string& directory, uint64_t /*seconds*/) {
  const Options options;
  if (options.memory_budget_bytes != kGroupOfDefault / 4) return 2;
  if (FollowerOptions().memory_budget_bytes != kGroupOfDefault / 4) return 3;
  Result<std::unique_ptr<Db>> db = Db::open(directory, options);
  if (!db.ok()) return 4;
  Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return 5;
  Value found;
  for (uint64_t number = 0; number < kEntriesOfDefault; ++number) {
    if (!(*db)->put(*tree, key(number), value(number, 1), Durability::kNone).ok()) return 6;
    if (!(*db)->get(*tree, key(mix64(number) % (number + 1)), found).ok()) return 7;
  }
  return (*db)->close().ok() ? 0 : 8;
}

TEST(MemoryGroup, the_default_fits) { run_in_group(kGroupOfDefault, work_by_default); }

int refused(const std::string& directory, uint64_t /*seconds*/) {
  const Status status = Db::open(directory, {}).status();
  if (!status.is(StatusCode::kInvalidArgument)) return 2;
  if (status.message().find("the control group allows") == std::string_view::npos) return 3;
  return std::filesystem::exists(directory) ? 4 : 0;
}

TEST(MemoryGroup, too_little_is_named) { run_in_group(size_t{60} << 20, refused); }

// ---- Many threads: what each of them makes the library hold beside the arena

constexpr size_t kBudgetOfMany = size_t{96} << 20;
constexpr uint64_t kThreads = 16;
constexpr uint64_t kKeysOfMany = 1'000'000;
constexpr size_t kCursorsEach = 8;
// A thread's own: its stack, what it reads into (values, a batch of 64), the batch that it writes,
// and what malloc keeps free for it.
constexpr size_t kEachThread = size_t{640} << 10;

std::string value_of_many(uint64_t number) { return value_of(number, 100 + number % 300); }
// Now and then one that goes to extents of its own.
std::string large_value(uint64_t number) { return value_of(number, 100'000); }

// Small and large transactions, batches, reads of compressed data and cursors that stay open, all
// at random. 0: all went well.
int work_as_one_of_many(Db& db, const Tree& tree, uint64_t seed, const std::atomic<bool>& ends) {
  Prng prng(seed);
  std::vector<Cursor> cursors;
  Value found;
  ReadBatch batch;
  while (!ends.load()) {
    const uint64_t pick = prng.below(100);
    if (pick < 40) {
      WriteBatch writes;
      for (uint64_t i = prng.between(1, 100); i > 0; --i) {
        const uint64_t number = prng.below(kKeysOfMany);
        writes.put(tree, key(number), value_of_many(number));
      }
      if (!db.write(writes).ok()) return 11;
    } else if (pick < 60) {
      Result<Transaction> txn = db.begin(TxnMode::kOptimistic);
      if (!txn.ok()) return 12;
      Status status;
      for (uint64_t i = prng.one_in(20) ? prng.below(2000) : prng.below(20); i > 0; --i) {
        const uint64_t number = prng.below(kKeysOfMany);
        status = txn->put(tree, key(number), value_of_many(number));
        if (!status.ok()) break;
      }
      if (status.ok()) status = txn->commit();
      if (!status.ok() && !status.is_conflict()) return 13;
    } else if (pick < 75) {
      for (int i = 0; i < 20; ++i) {
        const uint64_t number = prng.below(kKeysOfMany);
        const Status status = db.get(tree, key(number), found);
        if (!status.ok() && !status.is_not_found()) return 14;
        if (status.ok() && found.view() != value_of_many(number)) return 15;
      }
    } else if (pick < 85) {
      std::vector<std::string> keys(64);
      for (std::string& one : keys) one = key(prng.below(kKeysOfMany));
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      if (!db.multi_get(tree, views, batch).ok()) return 16;
    } else if (pick < 99) {
      if (cursors.size() == kCursorsEach) cursors.erase(cursors.begin());
      cursors.push_back(db.cursor(tree));
      Cursor& cursor = prng.one_in(2) ? cursors.front() : cursors.back();
      cursor.seek(key(prng.below(kKeysOfMany)));
      for (uint64_t i = prng.below(300); i > 0 && cursor.valid(); --i) cursor.next();
      if (!cursor.status().ok()) return 17;
    } else {
      const std::string name = "large " + std::to_string(prng.below(100));
      if (!db.put(tree, name, large_value(seed)).ok()) return 18;
      const Status status = db.get(tree, name, found);
      if (!status.ok() || found.size() != 100'000) return 19;
    }
  }
  return 0;
}

int work_of_many(const std::string& directory, uint64_t seconds) {
  const uint64_t before = resident_bytes();
  Options options;
  options.memory_budget_bytes = kBudgetOfMany;
  options.durability = Durability::kNone;
  options.compression = Compression::kZstd;
  Result<std::unique_ptr<Db>> db = Db::open(directory, options);
  if (!db.ok()) return 2;
  Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return 3;
  std::atomic<bool> ends{false};
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const int step = work_as_one_of_many(**db, *tree, thread + 1, ends);
      if (step != 0) failed.store(step);
    });
  }
  uint64_t most = 0;
  uint64_t most_counted = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (goes_on(end, most_counted, kBudgetOfMany) && failed.load() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    most = std::max(most, resident_bytes());
    most_counted = std::max(most_counted, (*db)->stats().memory_resident_bytes);
  }
  ends.store(true);
  for (std::thread& thread : threads) thread.join();
  const Stats stats = (*db)->stats();
  std::fprintf(stderr,
               "resident at most %llu KB, counted %llu KB, budget %llu KB, %llu commits, %llu MB "
               "on disk\n",
               static_cast<unsigned long long>((most - before) / 1024),
               static_cast<unsigned long long>(most_counted / 1024),
               static_cast<unsigned long long>(kBudgetOfMany / 1024),
               static_cast<unsigned long long>(stats.commits),
               static_cast<unsigned long long>(stats.disk_bytes_reachable >> 20));
  if (failed.load() != 0) return failed.load();
  if (most_counted > kBudgetOfMany + kBudgetOfMany / 20) return 8;
  if (most - before > kBudgetOfMany + kBudgetOfMany / 20 + kProgram + kThreads * kEachThread) {
    return 9;
  }
  return (*db)->close().ok() ? 0 : 10;
}

TEST(MemoryGroup, the_budget_is_enough_for_many_threads) {
  run_in_group(kBudgetOfMany + kBudgetOfMany / 20 + kBesides + kThreads * kEachThread,
               work_of_many);
}

// ---- As many trees as there is room for

// What the database does in the background comes last, and others want the processors.
class SlowBackground {
 public:
  SlowBackground() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const int id = std::stoi(task.path().filename());
      if (id != getpid()) setpriority(PRIO_PROCESS, static_cast<id_t>(id), kLast);
    }
    for (uint32_t i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
      burners_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
    }
  }

 private:
  static constexpr int kLast = 19;
  std::vector<std::jthread> burners_;
};

template <size_t kBudgetOfTrees, bool kSlowly = false>
int fill_with_trees(const std::string& directory, uint64_t /*seconds*/) {
  const uint64_t before = resident_bytes();
  Options options;
  options.memory_budget_bytes = kBudgetOfTrees;
  options.durability = Durability::kNone;
  Result<std::unique_ptr<Db>> db = Db::open(directory, options);
  if (!db.ok()) return 2;
  std::optional<SlowBackground> slow;
  if (kSlowly) slow.emplace();
  uint64_t most = 0;
  Status full;
  for (uint64_t number = 0; full.ok();) {
    Result<Transaction> txn = (*db)->begin(TxnMode::kOptimistic);
    if (!txn.ok()) return 3;
    for (const uint64_t end = number + 50; number < end && full.ok(); ++number) {
      const Result<Tree> tree = txn->tree("tree" + std::to_string(number));
      full = tree.ok() ? txn->put(*tree, "key", "value") : tree.status();
    }
    if (full.ok()) full = txn->commit();
    most = std::max(most, resident_bytes());
  }
  if (!full.is(StatusCode::kOutOfMemory)) return 5;
  slow.reset();
  if (!(*db)->flush().ok() || !(*db)->drain().ok()) return 4;
  most = std::max(most, resident_bytes());
  std::fprintf(stderr, "resident at most %llu KB, budget %llu KB\n",
               static_cast<unsigned long long>((most - before) / 1024),
               static_cast<unsigned long long>(kBudgetOfTrees / 1024));
  if (most - before > kBudgetOfTrees + kBudgetOfTrees / 20 + kProgram) return 9;
  return (*db)->close().ok() ? 0 : 10;
}

TEST(MemoryGroup, trees_fit_the_smallest_budget) {
  constexpr size_t kBudgetOfTrees = size_t{16} << 20;
  run_in_group(2 * kBudgetOfTrees + kBesides, fill_with_trees<kBudgetOfTrees>);
}

TEST(MemoryGroup, trees_fit_where_the_background_is_slow) {
  constexpr size_t kBudgetOfTrees = size_t{16} << 20;
  run_in_group(2 * kBudgetOfTrees + kBesides, fill_with_trees<kBudgetOfTrees, true>);
}

TEST(MemoryGroup, trees_fit_a_small_budget) {
  constexpr size_t kBudgetOfTrees = size_t{64} << 20;
  run_in_group(2 * kBudgetOfTrees + kBesides, fill_with_trees<kBudgetOfTrees>);
}

}  // namespace
}  // namespace hawthorn::tests
