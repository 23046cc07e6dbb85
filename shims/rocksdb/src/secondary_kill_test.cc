// A secondary reads while the process that writes is killed again and again: each time that it has
// caught up, all that was acknowledged is there, of one moment, and nothing has gone.

#include <atomic>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;

std::string key_of(int number) { return std::to_string(1'000'000 + number); }

std::vector<rocksdb::ColumnFamilyDescriptor> both_families() {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : {"default", "other"}) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
  return families;
}

// The number of the last batch that was acknowledged.
std::atomic<int>& acknowledged(const std::string& directory) {
  return counter_in(directory + "/acknowledged");
}

// In the child, until it is killed: a batch for each number, over both families.
TEST(SecondaryKillsChild, WritesWithoutEnd) {
  if (Rerun::directory() == nullptr) GTEST_SKIP();
  const std::string directory = Rerun::directory();
  std::atomic<int>& last = acknowledged(directory);
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, directory + "/db", both_families(), &handles, &db));
  for (int i = last + 1;; ++i) {
    rocksdb::WriteBatch batch;
    ASSERT_OK(batch.Put(key_of(i), std::string(200, 'v')));
    ASSERT_OK(batch.Put(handles[1], "last", std::to_string(i)));
    ASSERT_OK(db->Write(rocksdb::WriteOptions(), &batch));
    last = i;
  }
}

class SecondaryKills : public RocksTest {
 protected:
  // Returns the last number that is there.
  int catch_up(int acknowledged) {
    EXPECT_OK(db_->TryCatchUpWithPrimary());
    const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
    const std::string text = get("last", handles_[1], snapshot);
    const int last = text == "(missing)" ? 0 : std::stoi(text);
    EXPECT_GE(last, acknowledged);
    if (last > 0) {
      EXPECT_EQ(get(key_of(last), nullptr, snapshot).size(), 200u);
    }
    EXPECT_EQ(get(key_of(last + 1), nullptr, snapshot), "(missing)");
    db_->ReleaseSnapshot(snapshot);
    return last;
  }
};

TEST_F(SecondaryKills, MissNothing) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "other"}));
  close();
  ASSERT_OK(DB::OpenAsSecondary(options_, path_, "", both_families(), &handles_, &db_));
  std::atomic<int>& written = acknowledged(directory_);
  constexpr int kRounds = 6;
  constexpr int kEachRound = 2'000;
  int seen = 0;
  for (int round = 1; round <= kRounds; ++round) {
    Rerun child("SecondaryKillsChild.*", directory_);
    while (seen < round * kEachRound) {
      const int last = catch_up(written);
      ASSERT_GE(last, seen);
      ASSERT_FALSE(HasFailure());
      ASSERT_TRUE(child.lives());
      seen = last;
    }
    child.end();
    const int last = catch_up(written);
    ASSERT_GE(last, seen);
    seen = last;
    written = last;
  }
}

}  // namespace
}  // namespace hawthorn::rocks
