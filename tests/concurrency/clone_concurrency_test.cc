// Clones are made and dropped while others write to the source and the background flushes it: each
// shows one moment, from the first read to the last, whatever becomes of the source.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kAccounts = 400;
constexpr uint64_t kEach = 1000;

class CloneConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    source_ = *db_->tree("accounts");
    WriteBatch batch;
    for (uint64_t i = 0; i < kAccounts; ++i) batch.put(source_, account(i), text(kEach));
    ASSERT_OK(db_->write(batch));
  }
  static std::string account(uint64_t i) { return big_endian(i); }
  static std::string text(uint64_t balance) {
    return std::to_string(balance) + std::string(100, '.');
  }
  static uint64_t balance(std::string_view value) { return std::stoull(std::string(value)); }

  // One transfer, of a sum between two accounts of the tree. False: it met another one.
  bool transfer(const Tree& tree, Prng& prng) {
    Result<Transaction> begun = db_->begin({});
    EXPECT_OK(begun.status());
    const uint64_t from = prng.below(kAccounts);
    const uint64_t to = (from + 1 + prng.below(kAccounts - 1)) % kAccounts;
    Value a;
    Value b;
    EXPECT_OK(begun->get(tree, account(from), a));
    EXPECT_OK(begun->get(tree, account(to), b));
    if (HasFailure()) return false;
    const uint64_t sum = prng.below(balance(a.view()) + 1);
    Status status = begun->put(tree, account(from), text(balance(a.view()) - sum));
    if (status.ok()) status = begun->put(tree, account(to), text(balance(b.view()) + sum));
    if (status.ok()) status = begun->commit();
    EXPECT_TRUE(status.ok() || status.is_conflict()) << status.to_string();
    return status.ok();
  }
  // By a walk, and by gets in between.
  void expect_whole(const Tree& tree, std::map<std::string, std::string>* contents) {
    uint64_t sum = 0;
    uint64_t count = 0;
    contents->clear();
    ASSERT_OK(db_->scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        sum += balance(entry.value);
        ++count;
        contents->emplace(entry.key, entry.value);
      }
      return true;
    }));
    ASSERT_EQ(count, kAccounts);
    ASSERT_EQ(sum, kAccounts * kEach);
    ASSERT_EQ(db_->count(tree, "", std::nullopt).value(), kAccounts);
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree source_;
};

TEST_F(CloneConcurrency, each_shows_one_moment) {
  const uint64_t rounds = environment_number("HAWTHORN_OPERATIONS", 60);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < 2; ++id) {
    threads.emplace_back([&, id] {
      Prng prng(id + 1);
      while (!done && !HasFailure()) static_cast<void>(transfer(source_, prng));
    });
  }
  threads.emplace_back([&] {
    while (!done && !HasFailure()) {
      EXPECT_OK(db_->flush());
      std::this_thread::yield();
    }
  });
  Prng prng(99);
  std::map<std::string, std::string> first;
  std::map<std::string, std::string> again;
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    const Result<Tree> clone = db_->clone_tree("accounts", "clone");
    EXPECT_OK(clone.status());
    if (!clone.ok()) break;
    expect_whole(*clone, &first);
    for (const auto& [key, value] : first) {
      Value found;
      EXPECT_OK(db_->get(*clone, key, found));
      EXPECT_EQ(found.view(), value);
    }
    expect_whole(*clone, &again);
    EXPECT_EQ(first, again);
    for (int i = 0; i < 50 && !HasFailure(); ++i) EXPECT_TRUE(transfer(*clone, prng));
    expect_whole(*clone, &again);
    EXPECT_NE(first, again);
    EXPECT_OK(db_->drop_tree("clone"));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  expect_whole(source_, &first);
  ASSERT_OK(db_->drain());
}

// While the source is dropped and made anew by others, and clones of clones follow.
TEST_F(CloneConcurrency, outlives_its_source) {
  const uint64_t rounds = environment_number("HAWTHORN_OPERATIONS", 40);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    Prng prng(5);
    while (!done && !HasFailure()) {
      const Result<Tree> present = db_->find_tree("accounts");
      if (!present.ok()) continue;
      Result<Transaction> begun = db_->begin({});
      EXPECT_OK(begun.status());
      for (uint64_t i = 0; i < 20; ++i) {
        // The tree may be another one by now.
        if (!begun->put(*present, account(prng.below(kAccounts)), text(kEach)).ok()) break;
      }
      static_cast<void>(begun->commit().ok());
    }
  });
  std::map<std::string, std::string> contents;
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    EXPECT_OK(db_->clone_tree("accounts", "next").status());
    EXPECT_OK(db_->drop_tree("accounts"));
    EXPECT_OK(db_->rename_tree("next", "accounts"));
    if (round % 4 == 0) EXPECT_OK(db_->flush());
    expect_whole(*db_->find_tree("accounts"), &contents);
  }
  done = true;
  writer.join();
  ASSERT_OK(db_->drain());
}

}  // namespace
}  // namespace hawthorn::tests
