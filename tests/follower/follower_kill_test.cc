// Processes: one that writes, one that follows, and SIGKILL for either at any moment. Each commit
// keeps what the follower checks: that it is seen as a whole, and that none is missing before it.
// Who follows tells, through shared memory, what it was shown, so that the next one knows that
// nothing goes back; and holds views while all that they read is rewritten and given away.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <thread>

#include "base/sanitizers.h"
#include "db/file_sizing.h"
#include "tests/follower/follower_fixture.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

constexpr uint32_t kWriters = 2;
constexpr uint64_t kKeys = 300;

struct Shared {
  std::atomic<uint64_t> acknowledged[kWriters];
  std::atomic<uint64_t> shown[kWriters];
  std::atomic<uint64_t> views;    // that were checked
  std::atomic<uint64_t> rebuilt;  // other ones than before
  std::atomic<uint64_t> held;     // old ones that were checked again
  std::atomic<uint32_t> opened;
  std::atomic<uint32_t> failed;
};

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  shared.failed.store(1);
  _exit(1);
}
void must(Shared& shared, const Status& status, const char* what) {
  if (!status.ok()) fail(shared, std::string(what) + ": " + status.to_string());
}

std::string number_of(uint64_t number) { return big_endian(number); }
uint64_t number_in(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8 && i < bytes.size(); ++i) {
    number = number << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return number;
}

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.merge_operators = {uint64_add()};
  return options;
}
FollowerOptions follower_options() {
  FollowerOptions options;
  options.memory_budget_bytes = size_t{32} << 20;
  options.merge_operators = {uint64_add()};
  return options;
}

std::string name_of(uint32_t writer, const char* tree) {
  return "w" + std::to_string(writer) + tree;
}

// Commit n of a writer puts n under "" of both trees; in `left` it adds to one key what it takes
// from another one, so that their sum stays what it was (0, modulo 2^64); in `right` it puts a
// value that follows from n under a key that follows from n, small or large, or deletes some. What
// is under a key of `right` tells its number, which must be the last one that wrote it.
struct Write {
  uint64_t key = 0;
  size_t size = 0;
};
struct Move {
  uint64_t from;
  uint64_t to;
  uint64_t by;
};
Move move_of(uint64_t n) {
  Prng prng(n);
  const uint64_t by = prng.next();
  return {1 + prng.below(50), 100 + prng.below(50), by};
}
Write write_of(uint32_t writer, uint64_t n) {
  Prng prng(n * kWriters + writer);
  Write write;
  write.key = prng.below(kKeys);
  write.size = 16 + random_size(prng, prng.one_in(30));
  return write;
}

void commit(Db& db, Shared& shared, uint32_t writer, uint64_t n, const Tree& left,
            const Tree& right, const Tree& count) {
  const Write write = write_of(writer, n);
  const Move move = move_of(n);
  std::string value = value_of(n, write.size);
  value.replace(0, 8, number_of(n));
  static constexpr Durability kLevels[] = {Durability::kNone, Durability::kNone, Durability::kNone,
                                           Durability::kAsync, Durability::kFull};
  Result<Transaction> transaction = db.begin(TxnMode::kOptimistic);
  must(shared, transaction.status(), "begin");
  const auto change = [&](const std::string& key, uint64_t by) {
    Value present;
    const Status status = transaction->get(left, key, present);
    if (!status.ok() && !status.is_not_found()) fail(shared, "get: " + status.to_string());
    const uint64_t before = status.ok() ? number_in(present.view()) : 0;
    must(shared, transaction->put(left, key, number_of(before + by)), "put");
  };
  change(number_of(move.from), move.by);
  change(number_of(move.to), ~move.by + 1);
  must(shared, transaction->put(left, "", number_of(n)), "put");
  must(shared, transaction->put(right, "", number_of(n)), "put");
  must(shared, transaction->put(right, number_of(1 + write.key), value), "put");
  if (n % 400 == 0) {  // several chunks
    for (uint64_t i = 0; i < 1200; ++i) {
      must(shared, transaction->put(right, number_of(1000 + i), number_of(n) + value_of(n, 300)),
           "put");
    }
  }
  if (n % 400 == 200) {
    must(shared, transaction->delete_range(right, number_of(1000), number_of(9000)), "range");
  }
  std::string one(8, '\0');
  one[0] = 1;
  must(shared, transaction->merge(count, "commits", one), "merge");
  // A tree whose name is the newest number that is a multiple of ten.
  if (n % 10 == 0) {
    must(shared, transaction->tree(name_of(writer, ".") + std::to_string(n)).status(), "tree");
    if (n > 10) {
      must(shared, transaction->drop_tree(name_of(writer, ".") + std::to_string(n - 10)), "drop");
    }
  }
  must(shared, transaction->commit(kLevels[mix64(n) % 5]), "commit");
  shared.acknowledged[writer].store(n);
}

uint64_t committed(Db& db, Shared& shared, const Tree& tree) {
  Value value;
  const Status status = db.get(tree, "", value);
  if (status.is_not_found()) return 0;
  must(shared, status, "the number");
  return number_in(value.view());
}

void write_for_ever(Db& db, Shared& shared, uint32_t writer, uint64_t count) {
  const Result<Tree> left = db.tree(name_of(writer, ".left"));
  const Result<Tree> right = db.tree(name_of(writer, ".right"));
  const Result<Tree> counts = db.tree(name_of(writer, ".count"));
  for (const Result<Tree>* tree : {&left, &right, &counts}) must(shared, tree->status(), "tree");
  must(shared, db.set_merge_operator(*counts, "uint64_add"), "operator");
  const uint64_t first = committed(db, shared, *left) + 1;
  if (first <= shared.acknowledged[writer].load()) fail(shared, "a commit is lost");
  for (uint64_t n = first; n < first + count; ++n) {
    commit(db, shared, writer, n, *left, *right, *counts);
    Status upkeep;
    switch (mix64(n + writer) % 100) {
      case 0:
        upkeep = db.flush();
        break;
      case 1:
        upkeep = db.compact();
        break;
      case 2:
        upkeep = db.drain();
        break;
      default:
        break;
    }
    must(shared, upkeep, "upkeep");
  }
}

void run_worker(const std::string& path, Shared& shared, uint64_t seed) {
  Prng prng(seed);
  for (;;) {
    Result<std::unique_ptr<Db>> db = Db::open(path, options());
    must(shared, db.status(), "open");
    shared.opened.store(1);
    const uint64_t count = prng.one_in(2) ? prng.below(60) : ~uint64_t{0} >> 1;
    std::vector<std::thread> threads;
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back([&, writer] { write_for_ever(**db, shared, writer, count); });
    }
    for (std::thread& thread : threads) thread.join();
    if (prng.one_in(3)) continue;  // not flushed
    must(shared, (*db)->close(), "close");
  }
}

// What one writer's trees show at a snapshot must be a commit's, all of it.
// The number of that; 0: there is none.
uint64_t check(Db& view, Shared& shared, const Snapshot& snapshot, uint32_t writer) {
  const ReadOptions at{.snapshot = &snapshot};
  const auto tree = [&](const char* name) { return view.find_tree(name_of(writer, name), at); };
  const Result<Tree> left = tree(".left");
  const Result<Tree> right = tree(".right");
  const Result<Tree> counts = tree(".count");
  if (!left.ok() || !right.ok() || !counts.ok()) {
    for (const Result<Tree>* found : {&left, &right, &counts}) {
      if (!found->ok() && !found->status().is_not_found()) must(shared, found->status(), "tree");
    }
    return 0;
  }
  Value value;
  Status status = view.get(*left, "", value, at);
  if (status.is_not_found()) return 0;
  must(shared, status, "left");
  const uint64_t n = number_in(value.view());
  std::map<uint64_t, uint64_t> amounts;
  for (uint64_t i = 1; i <= n; ++i) {
    const Move move = move_of(i);
    amounts[move.from] += move.by;
    amounts[move.to] -= move.by;
  }
  status = view.scan(
      *left, number_of(1), std::nullopt,
      [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) {
          const uint64_t key = number_in(entry.key);
          const auto amount = amounts.find(key);
          if (amount == amounts.end() || amount->second != number_in(entry.value)) {
            uint64_t changed = n;
            while (changed > 0 && move_of(changed).from != key && move_of(changed).to != key) {
              --changed;
            }
            fail(shared, "at " + std::to_string(snapshot.timestamp()) + " commit " +
                             std::to_string(n) + " is shown with another amount of key " +
                             std::to_string(key) + ", which commit " + std::to_string(changed) +
                             " has changed last");
          }
          amounts.erase(amount);
        }
        return true;
      },
      {.snapshot = &snapshot});
  must(shared, status, "left");
  if (!amounts.empty()) fail(shared, "amounts of commit " + std::to_string(n) + " are missing");
  std::map<uint64_t, uint64_t> last;  // by key
  for (uint64_t i = 1; i <= n; ++i) last[1 + write_of(writer, i).key] = i;
  uint64_t seen = 0;
  uint64_t chunked = 0;
  status =
      view.scan(*right, "", std::nullopt,
                [&](std::span<const Entry> entries) {
                  for (const Entry& entry : entries) {
                    const uint64_t number = number_in(entry.value);
                    if (entry.key.empty()) {
                      if (number != n) fail(shared, "half a commit");
                      continue;
                    }
                    const uint64_t key = number_in(entry.key);
                    if (key >= 1000) {
                      ++chunked;
                      if (number != n / 400 * 400) fail(shared, "another chunk's entry");
                      continue;
                    }
                    ++seen;
                    const auto expected = last.find(key);
                    if (expected == last.end() || expected->second != number) {
                      fail(shared, "commit " + std::to_string(n) + ": key " + std::to_string(key) +
                                       " has number " + std::to_string(number));
                    }
                    std::string bytes = value_of(number, write_of(writer, number).size);
                    bytes.replace(0, 8, number_of(number));
                    if (entry.value != bytes) fail(shared, "another value");
                  }
                  return true;
                },
                {.snapshot = &snapshot});
  must(shared, status, "right");
  if (seen != last.size()) fail(shared, "an entry is missing");
  if (chunked != (n % 400 < 200 && n >= 400 ? 1200 : 0)) fail(shared, "chunks are missing");
  must(shared, view.get(*counts, "commits", value, at), "count");
  uint64_t commits = 0;
  std::memcpy(&commits, value.view().data(), 8);
  if (commits != n) fail(shared, "the count is not " + std::to_string(n));
  if (n >= 10) {
    const std::string newest = name_of(writer, ".") + std::to_string(n / 10 * 10);
    must(shared, view.find_tree(newest, at).status(), newest.c_str());
    const std::string older = name_of(writer, ".") + std::to_string(n / 10 * 10 - 10);
    if (!view.find_tree(older, at).status().is_not_found()) fail(shared, older + " is there");
  }
  return n;
}

struct Held {
  std::shared_ptr<Db> view;
  Snapshot snapshot;  // before the view goes
  uint64_t numbers[kWriters] = {};
};

void run_follower(const std::string& path, Shared& shared, uint64_t seed) {
  Prng prng(seed);
  auto follower = Follower::open(path, follower_options());
  static_cast<void>(wait_until([&] {
    follower = Follower::open(path, follower_options());
    return !follower.status().is_not_found();  // until there is a database
  }));
  must(shared, follower.status(), "follow");
  shared.opened.store(1);
  std::deque<Held> held;
  std::shared_ptr<Db> before;
  for (;;) {
    uint64_t acknowledged[kWriters];
    for (uint32_t w = 0; w < kWriters; ++w) acknowledged[w] = shared.acknowledged[w].load();
    must(shared, (*follower)->refresh(), "refresh");
    Held now;
    now.view = (*follower)->view();
    now.snapshot = now.view->snapshot();
    if (before != now.view) shared.rebuilt.fetch_add(1);
    before = now.view;
    for (uint32_t w = 0; w < kWriters; ++w) {
      now.numbers[w] = check(*now.view, shared, now.snapshot, w);
      if (now.numbers[w] < acknowledged[w]) {
        fail(shared, "writer " + std::to_string(w) + ": commit " + std::to_string(acknowledged[w]) +
                         " was acknowledged, " + std::to_string(now.numbers[w]) + " is shown");
      }
      if (now.numbers[w] < shared.shown[w].load()) fail(shared, "it went back");
      shared.shown[w].store(now.numbers[w]);
    }
    shared.views.fetch_add(1);
    if (prng.one_in(4)) held.push_back(std::move(now));
    if (held.size() > 3 || (!held.empty() && prng.one_in(10))) {
      const Held& old = held.front();
      for (uint32_t w = 0; w < kWriters; ++w) {
        const uint64_t shown = check(*old.view, shared, old.snapshot, w);
        if (shown != old.numbers[w]) {
          fail(shared, "a held view shows commit " + std::to_string(shown) + ", and has shown " +
                           std::to_string(old.numbers[w]));
        }
      }
      shared.held.fetch_add(1);
      held.pop_front();
    }
    if (prng.one_in(20)) must(shared, (*follower)->rebuild(), "rebuild");
  }
}

TEST(FollowerKill, each_view_is_a_commit_and_none_goes_back) {
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
  const uint64_t rounds = environment_number("HAWTHORN_KILL_ROUNDS", scaled(40));
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  pid_t children[2] = {-1, -1};  // who writes, who follows
  const auto start = [&](int which, uint64_t with) {
    children[which] = which == 0 ? start_child([&] { run_worker(path, shared, with); })
                                 : start_child([&] { run_follower(path, shared, with); });
  };
  // Whether it was still there.
  const auto end = [&](int which) {
    int result = 0;
    return kill(children[which], SIGKILL) == 0 &&
           waitpid(children[which], &result, 0) == children[which] && WIFSIGNALED(result);
  };
  const auto commits = [&] { return shared.acknowledged[0] + shared.acknowledged[1]; };
  // Whether it comes so far, or something is wrong; not, where it ended by itself.
  const auto writes = [&](uint64_t until) {
    return wait_for_child(children[0], [&] { return shared.failed != 0 || commits() >= until; });
  };
  const auto looks = [&](uint64_t until) {
    return wait_for_child(children[1], [&] { return shared.failed != 0 || shared.views >= until; });
  };
  start(0, seed);
  start(1, seed);
  for (uint64_t round = 0; round < rounds && shared.failed.load() == 0; ++round) {
    const uint64_t whom = prng.below(8);  // mostly who writes, seldom both
    const uint64_t next = prng.next();
    const bool writer = whom != 1 && whom != 2;
    const bool follower = whom <= 2;
    // In one round of four wherever they are, which may be in opening.
    if (!prng.one_in(4)) {
      const uint64_t written = commits() + 1 + prng.below(120);
      const uint64_t seen = shared.views + 1 + prng.below(120);
      ASSERT_TRUE(!writer || writes(written)) << "round " << round;
      ASSERT_TRUE(!follower || looks(seen)) << "round " << round;
    }
    usleep(static_cast<useconds_t>(prng.below(20'000)));
    for (int which = 0; which < 2; ++which) {
      if (which == 0 ? !writer : !follower) continue;
      EXPECT_TRUE(end(which)) << "round " << round << ": it ended by itself";
      start(which, next);
    }
  }
  ASSERT_TRUE(writes(2 * rounds + 1));
  ASSERT_TRUE(looks(rounds + 1));
  EXPECT_TRUE(end(1));
  EXPECT_TRUE(end(0));
  ASSERT_EQ(shared.failed.load(), 0U);
  RecordProperty("views", std::to_string(shared.views.load()));
  printf("views %lu, of them new ones %lu, held ones %lu; commits %lu\n",
         static_cast<unsigned long>(shared.views.load()),
         static_cast<unsigned long>(shared.rebuilt.load()),
         static_cast<unsigned long>(shared.held.load()),
         static_cast<unsigned long>(shared.acknowledged[0].load()));
  // Everybody is dead: nothing is held, and whoever opens finds a sound database.
  Result<std::unique_ptr<Db>> db = Db::open(path, options());
  ASSERT_OK(db.status());
  EXPECT_TRUE((*db)->stats().followers.empty());
  EXPECT_EQ((*db)->stats().follower_bytes_held, 0U);
  EXPECT_TRUE(clean(**db));
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hawthorn::tests
