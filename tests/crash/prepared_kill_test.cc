// Prepared transactions in processes killed by SIGKILL on the real file system: a child prepares
// and ends transactions of two keys each, and tells through shared memory how far it came with
// which. The next child finds each of them prepared or ended, as a whole, once (R21).
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kNumbers = 1 << 16;

enum State : uint8_t {
  kNone,
  kPreparing,
  kPrepared,
  kCommitting,
  kCommitted,
  kRollingBack,
  kRolledBack,
};

struct Shared {
  std::atomic<uint8_t> states[kNumbers];
  std::atomic<uint64_t> next;
  std::atomic<uint64_t> prepared;
  std::atomic<uint32_t> failed;
};

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  shared.failed.store(1);
  _exit(1);
}

void must(Shared& shared, const Status& status, const std::string& what) {
  if (!status.ok()) fail(shared, what + ": " + status.to_string());
}

std::unique_ptr<Db> open(Shared& shared, const std::string& path) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  Result<std::unique_ptr<Db>> db = Db::open(path, options);
  must(shared, db.status(), "open");
  return std::move(*db);
}

size_t size_of(uint64_t number) { return number % 37 == 0 ? 100'000 : number % 900; }

void write(Shared& shared, Db& db, uint64_t number) {
  Result<Transaction> t = db.begin(number % 2 == 0 ? TxnMode::kPessimistic : TxnMode::kOptimistic);
  must(shared, t.status(), "begin");
  for (const char* name : {"left", "right"}) {
    const Tree tree = db.tree(name).value();
    must(shared, t->put(tree, big_endian(number), value_of(number, size_of(number))), "put");
    // Many chunks, now and then.
    for (uint64_t i = 0; number % 50 == 7 && i < 400; ++i) {
      must(shared, t->put(tree, big_endian(number) + std::to_string(i), value_of(i, 1000)), "put");
    }
  }
  shared.states[number].store(kPreparing);
  must(shared, t->prepare(std::to_string(number)), "prepare");
  shared.states[number].store(kPrepared);
  shared.prepared.fetch_add(1);
}

void end(Shared& shared, Db& db, uint64_t number, bool commit) {
  shared.states[number].store(commit ? kCommitting : kRollingBack);
  must(shared,
       commit ? db.commit_prepared(std::to_string(number))
              : db.rollback_prepared(std::to_string(number)),
       "end");
  shared.states[number].store(commit ? kCommitted : kRolledBack);
}

void work(Shared& shared, const std::string& path, uint64_t seed) {
  Prng prng(seed);
  std::unique_ptr<Db> db = open(shared, path);
  Tree busy = db->tree("busy").value();
  for (;;) {
    const uint64_t number = shared.next.load();
    if (number + 1 == kNumbers) return;
    shared.next.store(number + 1);
    write(shared, *db, number);
    const uint64_t earlier = number < 40 ? prng.below(number + 1) : number - prng.below(40);
    if (shared.states[earlier].load() == kPrepared) end(shared, *db, earlier, !prng.one_in(3));
    for (int i = 0; i < 20; ++i) {
      must(shared, db->put(busy, key_of(prng.below(50)), value_of(i, 20'000), Durability::kNone),
           "put");
    }
    if (prng.one_in(100)) must(shared, db->flush(), "flush");
    if (!prng.one_in(100)) continue;
    must(shared, db->close(), "close");
    db.reset();
    db = open(shared, path);
    busy = db->tree("busy").value();
  }
}

// Finds what each has become, and says so.
void verify(Shared& shared, const std::string& path) {
  std::unique_ptr<Db> db = open(shared, path);
  const std::vector<PreparedTransaction> there = db->prepared().value();
  uint64_t listed = 0;
  for (uint64_t number = 0; number < shared.next.load(); ++number) {
    const std::string id = std::to_string(number);
    const bool open = std::any_of(there.begin(), there.end(),
                                  [&](const PreparedTransaction& one) { return one.id == id; });
    listed += open ? 1 : 0;
    int present = 0;
    for (const char* name : {"left", "right"}) {
      Value value;
      const Status status = db->get(db->tree(name).value(), big_endian(number), value);
      if (status.is_not_found()) continue;
      must(shared, status, "get");
      if (value.view() != value_of(number, size_of(number))) fail(shared, "another value");
      ++present;
    }
    if (present == 1 || (open && present != 0)) fail(shared, id + " is there in part");
    const uint8_t now = open ? kPrepared : present == 2 ? kCommitted : kRolledBack;
    const uint8_t before = shared.states[number].load();
    const bool right = now == before || before == kNone || before == kPreparing ||
                       (before == kCommitting && now != kRolledBack) ||
                       (before == kRollingBack && now != kCommitted);
    if (!right || (before <= kPreparing && now == kCommitted)) {
      fail(shared, id + " went from " + std::to_string(before) + " to " + std::to_string(now));
    }
    shared.states[number].store(now);
  }
  if (listed != there.size()) fail(shared, "some are there that nobody prepared");
  if (const auto checked = clean(*db); !checked) fail(shared, checked.message());
}

TEST(PreparedKill, each_is_there_or_has_its_outcome) {
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
  db::log_segment_bytes = size_t{1} << 20;
  db::log_bytes_min = size_t{1} << 20;
  const uint64_t rounds = environment_number("HAWTHORN_KILL_ROUNDS", scaled(60));
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t child_seed = prng.next();
    const pid_t worker = start_child([&] { work(shared, path, child_seed); });
    ASSERT_NO_FATAL_FAILURE(kill_at_random(
        worker, shared, prng, round,
        {.done = [&] { return shared.prepared.load(); }, .often = 20, .seldom = 150}));
    const pid_t verifier = start_child([&] { verify(shared, path); });
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
