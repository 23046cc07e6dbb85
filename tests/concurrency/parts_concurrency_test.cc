// Values by parts from many threads: appends to the same values, none of which is lost or torn,
// while others read parts of them, take snapshots, and files of data are emptied beneath them.

#include <atomic>
#include <set>
#include <thread>

#include "db/file_sizing.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kWriters = 4;
constexpr size_t kRecord = 1000;
constexpr size_t kValues = 2;

// A record that tells by itself whether it is whole.
std::string record_of(uint64_t writer, uint64_t number) {
  return value_of(writer * 1'000'000 + number, kRecord);
}
std::string name_of(uint64_t value) { return "v" + std::to_string(value); }

class PartsConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{1} << 20;
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    auto db = Db::open(directory_.path() + "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  void TearDown() override {
    db::data_file_bytes_first = uint64_t{64} << 20;
    db::data_file_bytes_max = uint64_t{1} << 30;
  }

  // Each in a transaction of another kind.
  Status append(uint64_t writer, uint64_t number) {
    const std::string bytes = record_of(writer, number);
    const std::string name = name_of(number % kValues);
    if (writer < 2) return db_->append(tree_, name, bytes).status();
    TxnOptions options;
    options.mode = writer == 2 ? TxnMode::kPessimistic : TxnMode::kOptimistic;
    if (writer == 2) options.isolation = Isolation::kReadCommitted;
    for (;;) {
      Transaction txn = db_->begin(options).value();
      // In two parts, of which nobody sees one.
      Status status = txn.append(tree_, name, std::string_view(bytes).substr(0, 300)).status();
      if (status.ok())
        status = txn.append(tree_, name, std::string_view(bytes).substr(300)).status();
      if (status.ok()) status = txn.commit();
      if (!status.is_conflict() && !status.is(StatusCode::kDeadlock)) return status;
    }
  }
  // Whole records, each of one writer in the order of their numbers, none twice.
  void expect_whole(std::string_view value) {
    ASSERT_EQ(value.size() % kRecord, 0u);
    uint64_t next[kWriters] = {};
    for (size_t at = 0; at < value.size(); at += kRecord) {
      uint64_t number = 0;
      std::memcpy(&number, value.data() + at, sizeof(number));
      const uint64_t writer = number / 1'000'000;
      ASSERT_LT(writer, kWriters);
      ASSERT_GE(number % 1'000'000, next[writer]);
      next[writer] = number % 1'000'000 + 1;
      ASSERT_TRUE(value.substr(at, kRecord) == record_of(writer, number % 1'000'000)) << at;
    }
  }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(PartsConcurrency, appenders_and_readers) {
  const uint64_t appends = scaled(120);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (uint64_t i = 0; i < appends; ++i) ASSERT_OK(append(writer, i));
    });
  }
  std::thread reader([&] {
    Prng prng(3);
    while (!stop.load()) {
      const Snapshot snapshot = db_->snapshot();
      const std::string name = name_of(prng.below(kValues));
      Value value;
      const Status status = db_->get(tree_, name, value, {.snapshot = &snapshot});
      if (status.is_not_found()) continue;
      ASSERT_OK(status);
      ASSERT_NO_FATAL_FAILURE(expect_whole(value.view()));
      ASSERT_EQ(db_->size_of(tree_, name, {.snapshot = &snapshot}).value(), value.size());
      std::string part(700, '\0');
      const uint64_t at = prng.below(value.size());
      const Result<size_t> got = db_->read_part(tree_, name, at, part, {.snapshot = &snapshot});
      ASSERT_OK(got.status());
      ASSERT_TRUE(std::string_view(part).substr(0, *got) == value.view().substr(at, *got));
    }
  });
  std::thread upkeep([&] {
    while (!stop.load()) {
      ASSERT_OK(db_->flush());
      ASSERT_OK(db_->compact());
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop.store(true);
  reader.join();
  upkeep.join();
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < kValues; ++i) {
    Value value;
    ASSERT_OK(db_->get(tree_, name_of(i), value));
    ASSERT_NO_FATAL_FAILURE(expect_whole(value.view()));
    bytes += value.size();
  }
  EXPECT_EQ(bytes, kWriters * appends * kRecord);
  ASSERT_TRUE(clean(*db_));
  ASSERT_OK(db_->close());
}

// Threads that overwrite parts of their own of one value: nobody undoes what another has written.
TEST_F(PartsConcurrency, parts_of_one_value) {
  constexpr uint64_t kPart = 60'000;
  ASSERT_OK(db_->resize(tree_, "v", kWriters * kPart));
  std::string expected(kWriters * kPart, '\0');
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Prng prng(writer);
      for (uint64_t i = 0; i < scaled(100); ++i) {
        const std::string bytes = value_of(prng.next(), 1 + prng.below(2000));
        const uint64_t at = writer * kPart + prng.below(kPart - bytes.size());
        ASSERT_OK(db_->write_part(tree_, "v", at, bytes));
        std::copy(bytes.begin(), bytes.end(), expected.data() + at);
        if (prng.one_in(20)) ASSERT_OK(db_->flush());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Value value;
  ASSERT_OK(db_->get(tree_, "v", value));
  EXPECT_TRUE(value.view() == expected);
  ASSERT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
