// Recovery with more memory than the log needs, and with much less: then it flushes while it
// replays, also between the chunks of a large transaction and its commit record, and amid the
// operations of one record (R7, R10, R11).
#include <map>
#include <utility>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kLarge = size_t{512} << 20;  // nothing is flushed before the crash
constexpr size_t kSmall = size_t{16} << 20;

Options with_budget(size_t bytes) {
  Options options;
  options.memory_budget_bytes = bytes;
  options.durability = Durability::kNone;
  return options;
}

// Several trees: a delta of more than some megabytes is flushed whatever the budget.
constexpr size_t kTrees = 8;
using Key = std::pair<size_t, std::string>;  // the tree's number, the key
using Contents = std::map<Key, std::string>;

void expect_contents(Db& db, const Contents& expected) {
  Contents found;
  for (size_t t = 0; t < kTrees; ++t) {
    const Result<Tree> tree = db.find_tree("tree" + std::to_string(t));
    ASSERT_OK(tree.status());
    ASSERT_OK(db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) found.emplace(Key(t, entry.key), entry.value);
      return true;
    }));
  }
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_TRUE(found == expected);
  EXPECT_TRUE(clean(db));
}

// Leaves the contents only in the log: small commits, and where asked for the writes of one large
// transaction between them.
Contents write_log(const std::string& path, Prng& prng, bool chunks) {
  Contents expected;
  Contents large;
  Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kLarge));
  EXPECT_OK(db.status());
  std::vector<Tree> trees;
  for (size_t t = 0; t < kTrees; ++t) {
    Result<Tree> tree = (*db)->tree("tree" + std::to_string(t));
    EXPECT_OK(tree.status());
    trees.push_back(std::move(tree).value());
  }
  Result<Transaction> transaction = (*db)->begin(TxnMode::kOptimistic);
  EXPECT_OK(transaction.status());
  // Some of the transaction is rolled back, most of that from the log.
  std::vector<std::pair<Savepoint, Contents>> marks;
  for (uint64_t round = 0; round < 1200; ++round) {
    if (chunks && prng.one_in(40)) {
      marks.emplace_back(transaction->savepoint().value(), large);
    } else if (!marks.empty() && prng.one_in(60)) {
      const size_t to = prng.below(marks.size());
      EXPECT_OK(transaction->rollback_to(marks[to].first));
      large = marks[to].second;
      marks.resize(to + 1);
    }
    for (int i = 0; chunks && i < 8; ++i) {
      const Key key(prng.below(kTrees), "large" + std::to_string(prng.below(4000)));
      const std::string value = value_of(prng.next(), 600);
      EXPECT_OK(transaction->put(trees[key.first], key.second, value));
      large[key] = value;
    }
    WriteBatch batch;
    const uint64_t count = round % 50 == 7 ? 400 : 20;
    for (uint64_t i = 0; i < count; ++i) {
      const Key key(prng.below(kTrees), "small" + std::to_string(prng.below(60000)));
      const std::string value = value_of(prng.next(), 900);
      batch.put(trees[key.first], key.second, value);
      expected[key] = value;
    }
    EXPECT_OK((*db)->write(batch));
  }
  EXPECT_OK(transaction->commit());
  for (const auto& [key, value] : large) expected[key] = value;
  EXPECT_EQ((*db)->stats().flushes, 0u) << "the log must hold everything";
  return expected;
}

void recover_in_little_memory(bool chunks) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    const TempDirectory directory;
    const std::string path = directory / "db";
    const Contents expected = write_log(path, prng, chunks);
    {
      Options reading = with_budget(kSmall);
      reading.read_only = true;
      const Status refused = Db::open(path, reading).status();
      EXPECT_TRUE(refused.is(StatusCode::kOutOfMemory)) << refused.to_string();
      Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
      ASSERT_OK(db.status());
      EXPECT_GT((*db)->stats().flushes, 0u) << "the replay must not fit the budget";
      expect_contents(**db, expected);
    }
    // Once more from what the first recovery flushed and logged, and after a clean close.
    for (int i = 0; i < 2; ++i) {
      Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
      ASSERT_OK(db.status());
      expect_contents(**db, expected);
      ASSERT_OK((*db)->close());
    }
  }
}

// The log's ring follows the budget; the one that a killed process left is read whatever its size.
TEST(Recovery, with_another_budget_than_before) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  uint64_t lives = 0;
  for (const size_t megabytes : {600, 16, 64, 600, 128, 16}) {
    SCOPED_TRACE(std::to_string(megabytes) + " MB in life " + std::to_string(lives));
    Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(megabytes << 20));
    ASSERT_OK(db.status());
    const Result<Tree> tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    Value value;
    for (uint64_t i = 0; i < lives; ++i) ASSERT_OK((*db)->get(*tree, big_endian(i), value));
    ASSERT_OK((*db)->put(*tree, big_endian(lives++), "in the ring"));
  }
}

// The scan applies what memory allows, and stops amid the log.
TEST(Recovery, flushes_after_the_scan) { recover_in_little_memory(false); }

// The scan stops at the first chunk.
TEST(Recovery, flushes_between_the_chunks_of_a_commit) { recover_in_little_memory(true); }

TEST(Recovery, all_is_applied_where_memory_allows) {
  for (const bool chunks : {false, true}) {
    SCOPED_TRACE(chunks);
    Prng prng(7);
    const TempDirectory directory;
    const std::string path = directory / "db";
    const Contents expected = write_log(path, prng, chunks);
    Options reading = with_budget(kLarge);
    reading.read_only = true;
    for (const Options& options : {reading, with_budget(kLarge)}) {
      Result<std::unique_ptr<Db>> db = Db::open(path, options);
      ASSERT_OK(db.status());
      EXPECT_EQ((*db)->stats().flushes, 0u);
      expect_contents(**db, expected);
    }
  }
}

// What was of an open transaction when it was applied is not any more at its commit record: then
// containers full of such versions can be flushed, also where nothing is left to copy those into
// that still are.
TEST(Recovery, of_many_transactions_of_some_chunks) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  constexpr uint64_t kTransactions = 40;
  constexpr uint64_t kKeys = 1200;
  const auto value_in = [](uint64_t transaction, uint64_t key) {
    return value_of(transaction * kKeys + key, 900);
  };
  {
    Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kLarge));
    ASSERT_OK(db.status());
    std::vector<Tree> trees;
    for (size_t t = 0; t < kTrees; ++t) {
      trees.push_back((*db)->tree("tree" + std::to_string(t)).value());
    }
    for (uint64_t i = 0; i < kTransactions; ++i) {
      Result<Transaction> transaction = (*db)->begin(TxnMode::kOptimistic);
      ASSERT_OK(transaction.status());
      for (uint64_t key = 0; key < kKeys; ++key) {
        ASSERT_OK(transaction->put(trees[key % kTrees], big_endian(key), value_in(i, key)));
      }
      ASSERT_OK(transaction->commit());
    }
    EXPECT_EQ((*db)->stats().flushes, 0u) << "the log must hold everything";
  }
  Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
  ASSERT_OK(db.status());
  EXPECT_GT((*db)->stats().flushes, 0u) << "the replay must not fit the budget";
  for (size_t t = 0; t < kTrees; ++t) {
    const Tree tree = (*db)->find_tree("tree" + std::to_string(t)).value();
    for (uint64_t key = t; key < kKeys; key += kTrees) {
      Value value;
      ASSERT_OK((*db)->get(tree, big_endian(key), value));
      ASSERT_EQ(value.view(), value_in(kTransactions - 1, key));
    }
  }
  EXPECT_TRUE(clean(**db));
}

// Each operation of the batch is the first one of its container: it takes far more memory than its
// own bytes, where the scan has little left.
TEST(Recovery, a_batch_over_all_containers) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  constexpr uint64_t kKeys = 120'000;
  const std::string wide(500, 'w');
  {
    Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
    ASSERT_OK(db.status());
    const Result<Tree> tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    for (uint64_t i = 0; i < kKeys; ++i) ASSERT_OK((*db)->put(*tree, big_endian(i), wide));
    ASSERT_OK((*db)->close());
  }
  {
    Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kLarge));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->find_tree("t").value();
    for (uint64_t i = 0; i < 16'000; ++i) ASSERT_OK((*db)->put(tree, big_endian(i), wide));
    WriteBatch batch;
    for (uint64_t i = 0; i < kKeys; i += 20) batch.put(tree, big_endian(i), "narrow");
    ASSERT_OK((*db)->write(batch));
  }
  Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
  ASSERT_OK(db.status());
  const Tree tree = (*db)->find_tree("t").value();
  for (uint64_t i = 0; i < kKeys; ++i) {
    Value value;
    ASSERT_OK((*db)->get(tree, big_endian(i), value));
    ASSERT_EQ(value.view(), i % 20 == 0 ? std::string_view("narrow") : std::string_view(wide));
  }
  EXPECT_TRUE(clean(**db));
}

// A record of the log holds 256 KB less its headers in so small a ring: batches, transactions, and
// the rest of a transaction behind its chunks, of every size about that.
TEST(Recovery, of_commits_about_as_large_as_a_record) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  constexpr uint64_t kOperations = 258;  // of 1013 bytes with their heads, 13 for those
  constexpr size_t kLast = 262'144 - kOperations * 1013 - 13;
  const std::string value(1000, 'v');
  std::string last;
  const auto write_all = [&](const auto& write) {
    for (uint64_t i = 0; i < kOperations; ++i) write(big_endian(i), value);
    write("last one", last);
  };
  Result<std::unique_ptr<Db>> db = Db::open(path, with_budget(kSmall));
  ASSERT_OK(db.status());
  Tree tree = (*db)->tree("t").value();
  for (size_t size = kLast - 120; size < kLast + 30; ++size) {
    SCOPED_TRACE(size);
    last = std::string(size, 'l');
    WriteBatch batch;
    write_all([&](const std::string& key, const std::string& what) { batch.put(tree, key, what); });
    ASSERT_OK((*db)->write(batch));
    for (const bool chunks : {false, true}) {
      Result<Transaction> transaction = (*db)->begin(TxnMode::kOptimistic);
      ASSERT_OK(transaction.status());
      const auto put = [&](const std::string& key, const std::string& what) {
        ASSERT_OK(transaction->put(tree, key, what));
      };
      for (uint64_t i = 0; chunks && i <= kOperations; ++i) put("chunk" + big_endian(i), value);
      last.back() = chunks ? 'c' : 't';
      write_all(put);
      ASSERT_OK(transaction->commit());
    }
    if (size % 10 != 0) continue;
    db->reset();  // not closed: replayed
    db = Db::open(path, with_budget(kSmall));
    ASSERT_OK(db.status());
    tree = (*db)->find_tree("t").value();
    Value found;
    ASSERT_OK((*db)->get(tree, "last one", found));
    ASSERT_EQ(found.view(), last);
    ASSERT_OK((*db)->get(tree, big_endian(kOperations - 1), found));
    ASSERT_EQ(found.view(), value);
  }
  EXPECT_TRUE(clean(**db));
}

}  // namespace
}  // namespace hawthorn::tests
