// A database where the system denies io_uring, as containers do: it opens, says which backend it
// has, and gets, batches, cursors and asynchronous gets read beyond its memory by threads.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "testing/deny_system_call.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kKeys = 150'000;
constexpr size_t kValueBytes = 300;

std::string key(uint64_t number) { return big_endian(mix64(number)); }

// Of a process that has no way back; 0, or the number of the step that failed.
int work(const std::string& path) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  auto db = Db::open(path, options);
  if (!db.ok()) return 2;
  auto tree = (*db)->tree("t");
  if (!tree.ok()) return 3;
  for (uint64_t i = 0; i < kKeys;) {
    WriteBatch batch;
    for (int n = 0; n < 500; ++n, ++i) batch.put(*tree, key(i), value_of(i, kValueBytes));
    if (!(*db)->write(batch).ok()) return 4;
  }
  if (!(*db)->flush().ok()) return 5;
  if ((*db)->stats().read_backend != "threads") return 6;

  Prng prng(1);
  Value value;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t number = prng.below(kKeys);
    if (!(*db)->get(*tree, key(number), value).ok()) return 7;
    if (value.view() != value_of(number, kValueBytes)) return 8;
  }
  ReadBatch batch;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> keys;
    std::vector<uint64_t> numbers;
    for (int i = 0; i < 64; ++i) keys.push_back(key(numbers.emplace_back(prng.below(kKeys))));
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    if (!(*db)->multi_get(*tree, views, batch).ok()) return 9;
    for (size_t i = 0; i < views.size(); ++i) {
      if (!batch[i].found() || batch[i].value != value_of(numbers[i], kValueBytes)) return 10;
    }
  }
  uint64_t seen = 0;
  Status scanned = (*db)->scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    seen += entries.size();
    return true;
  });
  if (!scanned.ok() || seen != kKeys) return 11;
  auto queue = (*db)->read_queue();
  if (!queue.ok()) return 12;
  int right = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    (*queue)->get_async(*tree, key(i), [&right, i](const Status& status, Value& found) {
      if (status.ok() && found.view() == value_of(i, kValueBytes)) ++right;
    });
  }
  while ((*queue)->pending() > 0) (*queue)->wait();
  if (right != 1000) return 13;
  queue->reset();
  if ((*db)->stats().bytes_read == 0) return 14;
  return (*db)->close().ok() ? 0 : 15;
}

TEST(DeniedIoUring, threads_read) {
  for (const int error : {EPERM, ENOSYS}) {
    const TempDirectory directory;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const bool denied =
          testing::deny_system_call(SYS_io_uring_setup, static_cast<unsigned>(error));
      _exit(denied ? work(directory / "db") : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
  }
}

}  // namespace
}  // namespace hawthorn::tests
