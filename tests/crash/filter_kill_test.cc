// Processes killed while a filter removes and changes entries: whatever is acknowledged and not for
// the filter is there, and of the rest only what the filter may have left or made of it.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "base/sanitizers.h"
#include "hawthorn/flush_filter.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

struct Shared {
  std::atomic<uint64_t> acknowledged;
  std::atomic<uint32_t> failed;
};

// By number modulo 3: stays; is removed; becomes another value.
class ByNumber : public FlushFilter {
 public:
  std::string_view name() const override { return "by number"; }
  Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
    const uint64_t number = number_of(key);
    if (number % 3 == 1) return Decision::kRemove;
    if (number % 3 == 0 || value != value_of(number, 400)) return Decision::kKeep;
    *changed = value_of(number + 1, 200);
    return Decision::kChange;
  }
  static uint64_t number_of(std::string_view key) {
    uint64_t number = 0;
    for (const char c : key) number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }
};

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.flush_filters["t"] = std::make_shared<ByNumber>();
  return options;
}

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  shared.failed.store(1);
  _exit(1);
}

[[noreturn]] void write_for_ever(const std::string& path, Shared& shared) {
  auto db = Db::open(path, options());
  if (!db.ok()) fail(shared, db.status().to_string());
  const Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) fail(shared, tree.status().to_string());
  for (uint64_t i = shared.acknowledged.load() + 1;; ++i) {
    Status status = (*db)->put(*tree, big_endian(i), value_of(i, 400));
    if (status.ok() && i % 1000 == 0) status = (*db)->flush();
    if (status.ok() && i % 7000 == 0) status = (*db)->compact();
    if (!status.ok()) fail(shared, status.to_string());
    shared.acknowledged.store(i);
  }
}

void verify(const std::string& path, Shared& shared) {
  Options how = options();
  how.flush_filters.clear();
  auto db = Db::open(path, how);
  if (!db.ok()) {
    if (db.status().is_not_found() && shared.acknowledged.load() == 0) return;
    fail(shared, db.status().to_string());
  }
  const Result<Tree> tree = (*db)->find_tree("t");
  if (!tree.ok()) {
    if (tree.status().is_not_found() && shared.acknowledged.load() == 0) return;
    fail(shared, tree.status().to_string());
  }
  const uint64_t acknowledged = shared.acknowledged.load();
  uint64_t next = 1;
  const auto missing = [&](uint64_t until) {
    for (; next < until; ++next) {
      if (next % 3 != 1) fail(shared, "number " + std::to_string(next) + " is missing");
    }
  };
  const Status status = (*db)->scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      const uint64_t number = ByNumber::number_of(entry.key);
      missing(number);
      next = number + 1;
      const bool as_written = entry.value == value_of(number, 400);
      const bool changed = number % 3 == 2 && entry.value == value_of(number + 1, 200);
      if (!as_written && !changed) fail(shared, "number " + std::to_string(number) + " is wrong");
    }
    return true;
  });
  if (!status.ok()) fail(shared, status.to_string());
  missing(acknowledged + 1);
  const Result<uint64_t> count = (*db)->count(*tree, "", std::nullopt);
  if (!count.ok()) fail(shared, count.status().to_string());
  if (const auto checked = clean(**db); !checked) fail(shared, checked.message());
  // One more may be there than was told.
  shared.acknowledged.store(std::max(acknowledged, next - 1));
}

TEST(FilterKill, removes_nothing_but_what_it_decided) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  const std::string path = directory / "db";
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared{};
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  for (uint64_t round = 0; round < environment_number("HAWTHORN_KILL_ROUNDS", scaled(40));
       ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const pid_t writer = start_child([&] { write_for_ever(path, shared); });
    ASSERT_NO_FATAL_FAILURE(kill_at_random(
        writer, shared, prng, round,
        {.done = [&] { return shared.acknowledged.load(); }, .often = 4000, .seldom = 16'000}));
    const pid_t verifier = start_child([&] { verify(path, shared); });
    ASSERT_GT(verifier, 0);
    int result = 0;
    ASSERT_EQ(waitpid(verifier, &result, 0), verifier);
    ASSERT_EQ(shared.failed.load(), 0u);
    ASSERT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << "status " << result;
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hawthorn::tests
