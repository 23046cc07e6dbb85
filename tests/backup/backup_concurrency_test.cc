// Copies beside writers and flushes: each holds the state of one moment while it was made.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

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
    if (counted > 0) EXPECT_TRUE(all.contains(entry(i, counted)));
    EXPECT_GE(counted, before[i]) << "it misses what was committed before";
    EXPECT_LE(counted, after[i]) << "it has what was committed behind it";
  }
  const Result<CheckReport> report = db.check();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok()) << report->errors.front();
}

TEST(BackupConcurrency, each_copy_is_of_one_moment) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  const TempDirectory directory;
  const std::unique_ptr<Db> db = Db::open(directory / "db", options()).value();
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

}  // namespace
}  // namespace hawthorn::tests
