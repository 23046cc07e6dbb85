// Copies beside writers and flushes: each holds the state of one moment while it was made.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <thread>
#include <unordered_map>

#include "base/checksum.h"
#include "testing/string_stream.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kAccounts = 500;
constexpr uint64_t kStart = 1000;
constexpr size_t kThreads = 3;

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  return options;
}

// With files that stand for devices where a test asks for them.
std::unique_ptr<Db> open_source(const TempDirectory& directory, bool on_devices) {
  Options source = options();
  for (const char* name : {"one", "two"}) {
    if (!on_devices) continue;
    const std::string path = directory / name;
    std::ofstream(path).close();
    EXPECT_EQ(truncate(path.c_str(), 256 << 20), 0);
    source.devices.push_back(path);
  }
  return Db::open(directory / "db", source).value();
}

// Whether the data of the source lie on devices.
class BackupConcurrency : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(FilesAndDevices, BackupConcurrency, ::testing::Bool());

std::string account(uint64_t number) { return "a" + big_endian(number); }
std::string counter(uint64_t thread) { return "c" + big_endian(thread); }
std::string entry(uint64_t thread, uint64_t number) {
  return "e" + big_endian(thread) + big_endian(number);
}
uint64_t number_in(const std::string& value) { return std::stoull(value.substr(0, 20)); }
// Values are long, so that there are flushes, and now and then of more than 64 KB.
std::string valued(uint64_t number, uint64_t salt) {
  std::string digits = std::to_string(number);
  digits.insert(0, 20 - digits.size(), '0');
  return digits + value_of(salt, salt % 97 == 0 ? 100'000 : 400);
}

class Bank {
 public:
  explicit Bank(Db& db) : db_(db), tree_(db.tree("t").value()) {}
  Status fill() {
    for (uint64_t i = 0; i < kAccounts; ++i) {
      if (Status s = db_.put(tree_, account(i), valued(kStart, i)); !s.ok()) return s;
    }
    for (uint64_t i = 0; i < kThreads; ++i) {
      if (Status s = db_.put(tree_, counter(i), valued(0, i + 1)); !s.ok()) return s;
    }
    return {};
  }
  // One transfer, number `n` of a thread, who notes it in the same transaction.
  Status transfer(uint64_t thread, uint64_t n, Prng& prng) {
    const uint64_t from = prng.below(kAccounts);
    const uint64_t to = (from + 1 + prng.below(kAccounts - 1)) % kAccounts;
    Result<Transaction> txn = db_.begin({});
    if (!txn.ok()) return txn.status();
    Value value;
    if (Status s = txn->get(tree_, account(from), value); !s.ok()) return s;
    const uint64_t has = number_in(value.to_string());
    if (Status s = txn->get(tree_, account(to), value); !s.ok()) return s;
    const uint64_t other = number_in(value.to_string());
    const uint64_t amount = has == 0 ? 0 : 1 + prng.below(has);
    if (Status s = txn->put(tree_, account(from), valued(has - amount, prng.next())); !s.ok()) {
      return s;
    }
    if (Status s = txn->put(tree_, account(to), valued(other + amount, prng.next())); !s.ok()) {
      return s;
    }
    if (Status s = txn->put(tree_, counter(thread), valued(n, 1)); !s.ok()) return s;
    if (Status s = txn->put(tree_, entry(thread, n), "x"); !s.ok()) return s;
    return txn->commit();
  }

 private:
  Db& db_;
  const Tree tree_;
};

// The sum is what it was, and what a thread has noted is all up to its counter, and no more.
void expect_one_moment(Db& db, const std::array<uint64_t, kThreads>& before,
                       const std::array<uint64_t, kThreads>& after) {
  const Contents all = read_all(db, db.find_tree("t").value());
  uint64_t sum = 0;
  std::array<uint64_t, kThreads> entries{};
  for (const auto& [key, value] : all) {
    if (key[0] == 'a') sum += number_in(value);
    if (key[0] == 'e') ++entries[static_cast<size_t>(key[8])];
  }
  EXPECT_EQ(sum, kAccounts * kStart);
  for (size_t i = 0; i < kThreads; ++i) {
    const uint64_t counted = number_in(all.at(counter(i)));
    EXPECT_EQ(entries[i], counted);
    if (counted > 0) {
      EXPECT_TRUE(all.contains(entry(i, counted)));
    }
    EXPECT_GE(counted, before[i]) << "it misses what was committed before";
    EXPECT_LE(counted, after[i]) << "it has what was committed behind it";
  }
  const Result<CheckReport> report = db.check();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok()) << report->errors.front();
}

TEST_P(BackupConcurrency, each_copy_is_of_one_moment) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  const TempDirectory directory;
  const std::unique_ptr<Db> db = open_source(directory, GetParam());
  const auto repository = BackupRepository::open(directory / "repo").value();
  Bank bank(*db);
  ASSERT_OK(bank.fill());
  std::array<std::atomic<uint64_t>, kThreads> done{};
  std::array<std::atomic<uint64_t>, kThreads> begun{};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Prng prng(seed * 100 + i);
      for (uint64_t n = 1; !stop;) {
        begun[i] = n;
        const Status status = bank.transfer(i, n, prng);
        if (status.is_conflict()) continue;
        ASSERT_OK(status);
        done[i] = n++;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) EXPECT_OK(db->flush());
  });
  const auto look = [](const auto& from) {
    std::array<uint64_t, kThreads> result{};
    for (size_t i = 0; i < kThreads; ++i) result[i] = from[i].load();
    return result;
  };
  for (uint64_t round = 0; round < scaled(8); ++round) {
    const std::string copy = directory / ("copy" + std::to_string(round));
    const auto before = look(done);
    uint64_t id = 0;
    if (round % 2 == 0) {
      EXPECT_OK(db->checkpoint(copy));
    } else {
      const Result<BackupInfo> made = db->backup(*repository);
      EXPECT_OK(made.status());
      if (made.ok()) id = made->id;
    }
    const auto after = look(begun);
    if (id != 0) {
      EXPECT_OK(repository->restore(id, copy));
    }
    Result<std::unique_ptr<Db>> opened = Db::open(copy, options());
    EXPECT_OK(opened.status());
    if (opened.ok()) expect_one_moment(**opened, before, after);
    if (::testing::Test::HasFailure()) break;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  expect_one_moment(*db, look(done), look(done));
}

// ---- The order of commits, as the database's own feed tells it, against each copy

uint64_t sum_of(std::string_view tree, std::string_view key, std::string_view value) {
  const uint64_t where =
      checksum64(key.data(), key.size(), checksum64(tree.data(), tree.size(), 1));
  return checksum64(value.data(), value.size(), where);
}

// Of the contents, whatever the order of entries: each commit changes it by a few of them.
class Sums {
 public:
  void put(std::string_view tree, std::string_view key, std::string_view value) {
    del(tree, key);
    const uint64_t sum = sum_of(tree, key, value);
    entries_[name(tree, key)] = sum;
    total_ += sum;
  }
  void del(std::string_view tree, std::string_view key) {
    const auto found = entries_.find(name(tree, key));
    if (found == entries_.end()) return;
    total_ -= found->second;
    entries_.erase(found);
  }
  uint64_t total() const { return total_; }

 private:
  static std::string name(std::string_view tree, std::string_view key) {
    return std::string(tree) + "/" + std::string(key);
  }
  std::unordered_map<std::string, uint64_t> entries_;
  uint64_t total_ = 0;
};

constexpr const char* kTrees[] = {"left", "right"};

Result<uint64_t> total_of(Db& db) {
  Sums sums;
  for (const char* const name : kTrees) {
    const Result<Tree> tree = db.find_tree(name);
    if (!tree.ok()) return tree.status();
    for (const auto& [key, value] : read_all(db, *tree)) sums.put(name, key, value);
  }
  return sums.total();
}

std::string whole(FeedCommit& commit, const FeedChange& change) {
  if (!change.streamed) return std::string(change.value);
  std::string value(change.value_bytes, '\0');
  EXPECT_EQ(commit.read_value(0, value).value(), value.size());
  return value;
}

// One commit of a thread: several keys of both trees.
WriteBatch random_batch(const std::array<Tree, 2>& trees, Prng& prng) {
  WriteBatch batch;
  const uint64_t count = 1 + prng.below(8);
  for (uint64_t i = 0; i < count; ++i) {
    const Tree& tree = trees[prng.below(2)];
    const std::string key = big_endian(prng.below(2000));
    if (prng.one_in(6)) {
      batch.del(tree, key);
    } else {
      const size_t size = prng.one_in(80) ? 80'000 : prng.below(600);
      batch.put(tree, key, value_of(prng.next(), size));
    }
  }
  return batch;
}

TEST_P(BackupConcurrency, each_copy_is_a_prefix_of_the_order_of_commits) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  const TempDirectory directory;
  const std::unique_ptr<Db> db = open_source(directory, GetParam());
  const auto repository = BackupRepository::open(directory / "repo").value();
  const std::array<Tree, 2> trees = {db->tree(kTrees[0]).value(), db->tree(kTrees[1]).value()};
  ASSERT_OK(db->create_feed("all"));
  std::atomic<uint64_t> acknowledged{0};
  std::atomic<uint64_t> begun{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Prng prng(seed * 100 + i);
      while (!stop) {
        const WriteBatch batch = random_batch(trees, prng);
        ++begun;
        ASSERT_OK(db->write(batch));
        ++acknowledged;
        if (i == 0 && prng.one_in(150)) ASSERT_OK(db->flush());
      }
    });
  }
  struct Copy {
    std::string path;
    uint64_t before = 0;
    uint64_t after = 0;
  };
  std::vector<Copy> copies;
  for (uint64_t round = 0; round < scaled(9); ++round) {
    Copy copy;
    copy.path = directory / ("copy" + std::to_string(round));
    copy.before = acknowledged;
    testing::StringStream stream;
    Result<BackupInfo> made = BackupInfo();
    if (round % 3 == 0) EXPECT_OK(db->checkpoint(copy.path));
    if (round % 3 == 1) made = db->backup(*repository);
    if (round % 3 == 2) made = db->backup_to(stream);
    copy.after = begun;
    EXPECT_OK(made.status());
    if (::testing::Test::HasFailure()) break;
    if (round % 3 == 1) EXPECT_OK(repository->restore(made->id, copy.path));
    if (round % 3 == 2) EXPECT_OK(restore_backup(stream, copy.path).status());
    copies.push_back(copy);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  // By the sum of the contents: the numbers of the first and the last commit behind which they are.
  std::unordered_map<uint64_t, std::pair<uint64_t, uint64_t>> moments = {{0, {0, 0}}};
  Sums sums;
  uint64_t commits = 0;
  Feed feed = db->open_feed("all").value();
  while (FeedCommit* const commit = feed.next(0).value()) {
    FeedChange change;
    while (commit->next(&change).value()) {
      if (change.type == ChangeType::kPut) {
        sums.put(change.tree->name, change.key, whole(*commit, change));
      } else if (change.type == ChangeType::kDelete) {
        sums.del(change.tree->name, change.key);
      }
    }
    const auto [at, added] = moments.try_emplace(sums.total(), ++commits, commits);
    if (!added) at->second.second = commits;
  }
  EXPECT_EQ(commits, acknowledged.load());
  EXPECT_EQ(total_of(*db).value(), sums.total());
  for (const Copy& copy : copies) {
    SCOPED_TRACE(copy.path);
    auto opened = Db::open(copy.path, options());
    ASSERT_OK(opened.status());
    const auto found = moments.find(total_of(**opened).value());
    ASSERT_NE(found, moments.end()) << "its contents are of no moment";
    EXPECT_GE(found->second.second, copy.before) << "it misses what was acknowledged before";
    EXPECT_LE(found->second.first, copy.after) << "it has what began behind it";
    const Result<CheckReport> report = (*opened)->check();
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->ok()) << report->errors.front();
  }
}

}  // namespace
}  // namespace hawthorn::tests
