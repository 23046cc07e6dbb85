// Processes killed by SIGKILL on the real file system: a child commits batches whose contents
// follow from their number, and tells through shared memory how many were acknowledged. It dies at
// any instruction: committing, opening and recovering, flushing, compacting, draining, closing.
// Another child then finds every acknowledged commit, whole and in order (R1, R3, R6, R7, R9;
// attacks 3, 4).
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "base/sanitizers.h"
#include "db/file_sizing.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests::kill_test {
namespace {

constexpr uint32_t kWriters = 2;

struct Shared {
  std::atomic<uint64_t> acknowledged[kWriters];
  std::atomic<uint64_t> found[kWriters];
  std::atomic<uint32_t> failed;
};

struct Write {
  uint32_t tree = 0;  // of the writer's two
  std::string key;
  bool deleted = false;
  std::string value;
};

// Commit `number` of a writer. The last operations put the number itself under the empty key of
// both trees: a batch that came back in part shows two numbers.
std::vector<Write> commit_of(uint32_t writer, uint64_t number) {
  Prng prng(number * kWriters + writer);
  std::vector<Write> writes;
  uint64_t count = prng.between(1, prng.one_in(20) ? 200 : 8);
  if (prng.one_in(300)) count = 3000;  // several chunks
  if (prng.one_in(300)) {
    // Nearly all of a tree is deleted: what is left of its containers is joined.
    const auto tree = static_cast<uint32_t>(prng.below(2));
    for (uint64_t key = 1; key < 20000; ++key) {
      if (key % 50 != 0) writes.push_back({tree, key_of(key), true, {}});
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    Write write;
    write.tree = static_cast<uint32_t>(prng.below(2));
    write.key = key_of(1 + prng.below(20000));
    write.deleted = prng.one_in(5);
    if (!write.deleted) write.value = value_of(prng.next(), random_size(prng, prng.one_in(20)));
    writes.push_back(std::move(write));
  }
  for (uint32_t tree = 0; tree < 2; ++tree) {
    writes.push_back({tree, std::string(), false, value_of(number, 8)});
  }
  return writes;
}

std::string tree_name(uint32_t writer, uint32_t tree) {
  return "writer" + std::to_string(writer) + (tree == 0 ? ".left" : ".right");
}

// Each commit merges its number into a sum, so that one that counts twice shows.
constexpr const char* kCountKey = "sum of the numbers";
std::string count_operand(uint64_t number) {
  std::string operand(8, '\0');
  std::memcpy(operand.data(), &number, 8);
  return operand;
}

using Contents = std::map<std::string, std::string>;

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{24} << 20;
  options.merge_operators = {uint64_add()};
  return options;
}

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  shared.failed.store(1);
  _exit(1);
}

// As the batch of the same commit, with values that are filled in place.
Status write_in_place(Db& db, const Tree (&trees)[2], const Tree& counts, uint64_t number,
                      Durability durability, const std::vector<Write>& writes) {
  Result<Transaction> transaction = db.begin(TxnMode::kOptimistic);
  if (!transaction.ok()) return transaction.status();
  if (Status s = transaction->merge(counts, kCountKey, count_operand(number)); !s.ok()) return s;
  for (const Write& write : writes) {
    if (write.deleted) {
      if (Status s = transaction->del(trees[write.tree], write.key); !s.ok()) return s;
      continue;
    }
    const auto room = transaction->put_reserve(trees[write.tree], write.key, write.value.size());
    if (!room.ok()) return room.status();
    if (!write.value.empty()) std::memcpy(room->data(), write.value.data(), room->size());
  }
  return transaction->commit(durability);
}

// Commits until it is killed. Other calls come in between: flush, drain, compact, and closing.
void write_for_ever(Db& db, Shared& shared, uint32_t writer, uint64_t until) {
  Result<Tree> trees[2] = {db.tree(tree_name(writer, 0)), db.tree(tree_name(writer, 1))};
  for (const Result<Tree>& tree : trees) {
    if (!tree.ok()) fail(shared, tree.status().to_string());
  }
  const Result<Tree> counts = db.tree(tree_name(writer, 0) + ".count");
  if (!counts.ok()) fail(shared, counts.status().to_string());
  if (Status s = db.set_merge_operator(*counts, "uint64_add"); !s.ok()) {
    fail(shared, s.to_string());
  }
  for (uint64_t number = shared.acknowledged[writer].load() + 1; number <= until; ++number) {
    WriteBatch batch;
    const std::vector<Write> writes = commit_of(writer, number);
    for (const Write& write : writes) {
      if (write.deleted) {
        batch.del(*trees[write.tree], write.key);
      } else {
        batch.put(*trees[write.tree], write.key, write.value);
      }
    }
    batch.merge(*counts, kCountKey, count_operand(number));
    static constexpr Durability kLevels[] = {Durability::kNone, Durability::kNone,
                                             Durability::kAsync, Durability::kFull};
    const Durability level = kLevels[mix64(number) % 4];
    const Status status =
        number % 3 == 0 ? write_in_place(db, {*trees[0], *trees[1]}, *counts, number, level, writes)
                        : db.write(batch, level);
    if (!status.ok()) fail(shared, status.to_string());
    shared.acknowledged[writer].store(number);
    Status upkeep;
    switch (mix64(number + writer) % 150) {
      case 0:
        upkeep = db.flush();
        break;
      case 1:
        upkeep = db.drain();
        break;
      case 2:
        upkeep = db.compact();
        break;
      case 3:
        upkeep = db.sync();
        break;
      default:
        break;
    }
    if (!upkeep.ok()) fail(shared, upkeep.to_string());
  }
}

[[noreturn]] void run_worker(const std::string& path, Shared& shared, uint64_t seed) {
  Prng prng(seed);
  for (;;) {
    Result<std::unique_ptr<Db>> db = Db::open(path, options());
    if (!db.ok()) fail(shared, "open: " + db.status().to_string());
    // Some lives end by closing, again and again: the kill then often meets a close or an open.
    const bool close_often = prng.one_in(3);
    std::vector<std::thread> threads;
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      const uint64_t until =
          close_often ? shared.acknowledged[writer].load() + prng.below(40) : ~uint64_t{0};
      threads.emplace_back([&, writer, until] { write_for_ever(**db, shared, writer, until); });
    }
    for (std::thread& thread : threads) thread.join();
    if (prng.one_in(4)) continue;  // ~Db: not flushed, replayed by the next open
    if (const Status s = (*db)->close(); !s.ok()) fail(shared, "close: " + s.to_string());
  }
}

// What one writer has, compared with what its commits up to the number found there leave.
void verify(Db& db, Shared& shared, uint32_t writer, const Contents (&base)[2], uint64_t known) {
  Contents found[2];
  uint64_t numbers[2] = {0, 0};
  for (uint32_t t = 0; t < 2; ++t) {
    const Result<Tree> tree = db.find_tree(tree_name(writer, t));
    if (!tree.ok()) {
      if (tree.status().is_not_found()) continue;  // killed before it was made
      fail(shared, tree.status().to_string());
    }
    const Status status = db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) found[t].emplace(entry.key, entry.value);
      return true;
    });
    if (!status.ok()) fail(shared, status.to_string());
    const auto number = found[t].find("");
    if (number != found[t].end()) std::memcpy(&numbers[t], number->second.data(), 8);
  }
  const uint64_t acknowledged = shared.acknowledged[writer].load();
  if (numbers[0] != numbers[1]) {
    fail(shared,
         "half a batch: " + std::to_string(numbers[0]) + " and " + std::to_string(numbers[1]));
  }
  if (numbers[0] < acknowledged || numbers[0] > acknowledged + 1) {
    fail(shared, "writer " + std::to_string(writer) + ": acknowledged up to " +
                     std::to_string(acknowledged) + ", found up to " + std::to_string(numbers[0]));
  }
  if (numbers[0] > 0) {
    const Result<Tree> counts = db.find_tree(tree_name(writer, 0) + ".count");
    Value value;
    const Status status = counts.ok() ? db.get(*counts, kCountKey, value) : Status(counts.status());
    if (!status.ok()) fail(shared, "the sum: " + status.to_string());
    if (value.view() != count_operand(numbers[0] * (numbers[0] + 1) / 2)) {
      fail(shared, "the sum of the numbers up to " + std::to_string(numbers[0]) + " is wrong");
    }
  }
  Contents expected[2] = {base[0], base[1]};
  for (uint64_t number = known + 1; number <= numbers[0]; ++number) {
    for (Write& write : commit_of(writer, number)) {
      if (write.deleted) {
        expected[write.tree].erase(write.key);
      } else {
        expected[write.tree][write.key] = std::move(write.value);
      }
    }
  }
  for (uint32_t t = 0; t < 2; ++t) {
    if (expected[t] == found[t]) continue;
    for (const auto& [key, value] : expected[t]) {
      const auto at = found[t].find(key);
      if (at != found[t].end() && at->second == value) continue;
      fprintf(stderr, "tree %u: key %s %s\n", t,
              ::testing::PrintToString(key.substr(0, 40)).c_str(),
              at == found[t].end() ? "is missing" : "has another value");
    }
    fail(shared, "writer " + std::to_string(writer) + " has not what its commits up to " +
                     std::to_string(numbers[0]) + " leave");
  }
  shared.found[writer].store(numbers[0]);
}

TEST(Kill, nothing_acknowledged_is_lost) {
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
  const uint64_t rounds = environment_number("HAWTHORN_KILL_ROUNDS", scaled(200));
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  Contents base[kWriters][2];
  uint64_t known[kWriters] = {};
  // So small that data files come and go.
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  // The parent itself never opens a database: its children start with no threads of ours.
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t child_seed = prng.next();
    const pid_t worker = start_child([&] { run_worker(path, shared, child_seed); });
    const auto done = [&] { return shared.acknowledged[0].load() + shared.acknowledged[1].load(); };
    ASSERT_NO_FATAL_FAILURE(
        kill_at_random(worker, shared, prng, round,
                       {.done = done, .often = 60, .seldom = 400, .pause_us = 20'000}));

    const pid_t verifier = start_child([&] {
      Options how = options();
      how.read_only = round % 8 == 7;
      Result<std::unique_ptr<Db>> db = Db::open(path, how);
      if (!db.ok()) {
        // Killed before there was a database: nothing was acknowledged then.
        const bool none = db.status().is_not_found() && shared.acknowledged[0].load() == 0;
        if (none) return;
        fail(shared, "reopen: " + db.status().to_string());
      }
      for (uint32_t w = 0; w < kWriters; ++w) verify(**db, shared, w, base[w], known[w]);
      if (const auto checked = clean(**db); !checked) fail(shared, checked.message());
      if (how.read_only || round % 3 != 0) return;
      if (const Status s = (*db)->close(); !s.ok()) fail(shared, "close: " + s.to_string());
    });
    ASSERT_GT(verifier, 0);
    int result = 0;
    ASSERT_EQ(waitpid(verifier, &result, 0), verifier);
    ASSERT_EQ(shared.failed.load(), 0u);
    ASSERT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << "status " << result;
    for (uint32_t w = 0; w < kWriters; ++w) {
      const uint64_t found = shared.found[w].load();
      for (uint64_t number = known[w] + 1; number <= found; ++number) {
        for (Write& write : commit_of(w, number)) {
          if (write.deleted) {
            base[w][write.tree].erase(write.key);
          } else {
            base[w][write.tree][write.key] = std::move(write.value);
          }
        }
      }
      known[w] = found;
      shared.acknowledged[w].store(found);
    }
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hawthorn::tests::kill_test
