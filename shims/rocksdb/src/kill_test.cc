// A process that writes through the shim is killed in the middle: what was acknowledged is there,
// with sync and without, and of a batch all or nothing.

#include <atomic>
#include <random>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class Kills : public RocksTest, public ::testing::WithParamInterface<bool> {
 protected:
  Kills() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }

  static constexpr int kMergedEach = 50;

  static std::string key_of(int number) { return std::to_string(1'000'000 + number); }

  // In the child: batch after batch over both families, until it is killed.
  void write_for_ever() {
    if (!try_open({"default", "other"}).ok()) _exit(1);
    WriteOptions options;
    options.sync = GetParam();
    for (int i = acknowledged_->load() + 1;; ++i) {
      WriteBatch batch;
      batch.Put(key_of(i), std::to_string(i)).PermitUncheckedError();
      batch.Put(handles_[1], key_of(i), std::to_string(i)).PermitUncheckedError();
      batch.Delete(key_of(i - 10)).PermitUncheckedError();
      if (i % kMergedEach == 0) batch.Merge(handles_[1], "count", "x").PermitUncheckedError();
      if (!db_->Write(options, &batch).ok()) _exit(1);
      acknowledged_->store(i);
    }
  }

  // Returns the number of the last batch that is there.
  int check(int acknowledged) {
    EXPECT_OK(try_open({"default", "other"}));
    int last = 0;
    std::string expected;
    const std::unique_ptr<rocksdb::Iterator> at(
        db_->NewIterator(rocksdb::ReadOptions(), handles_[1]));
    for (at->SeekToFirst(); at->Valid() && at->key() != rocksdb::Slice("count"); at->Next()) {
      EXPECT_EQ(at->key().ToString(), key_of(++last));
    }
    EXPECT_GE(last, acknowledged);
    EXPECT_LE(last, acknowledged + 1);
    for (int i = std::max(last - 9, 1); i <= last; ++i) {
      expected += key_of(i) + "=" + std::to_string(i) + " ";
    }
    EXPECT_EQ(all(), expected);
    std::string merged = "(missing)";
    for (int i = kMergedEach; i <= last; i += kMergedEach) {
      merged = i == kMergedEach ? "x" : merged + ",x";
    }
    EXPECT_EQ(get("count", handles_[1]), merged);
    return last;
  }

  SharedWithChildren<std::atomic<int>> acknowledged_;
};

TEST_P(Kills, LoseNothingThatWasAcknowledged) {
  std::mt19937 random(GetParam() ? 1 : 2);
  constexpr int kRounds = 8;
  int written = 0;
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(
        kill_in_the_middle(random, round, *acknowledged_, [this] { write_for_ever(); }));
    const int last = check(acknowledged_->load());
    acknowledged_->store(last);
    EXPECT_GE(last, written);
    written = last;
    close();
  }
  EXPECT_GT(written, 0);
}

INSTANTIATE_TEST_SUITE_P(Durability, Kills, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "sync" : "no_sync"; });

}  // namespace
}  // namespace hawthorn::rocks
