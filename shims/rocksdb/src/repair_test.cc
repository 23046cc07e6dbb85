// Databases that are damaged, and what RepairDB makes of them.

#include <fcntl.h>
#include <rocksdb/utilities/options_util.h>

#include <fstream>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

namespace fs = std::filesystem;
using rocksdb::RepairDB;
using rocksdb::Status;

class Repairs : public RocksTest {
 protected:
  static constexpr int kEntries = 20'000;

  Repairs() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families(const std::vector<std::string>& names) {
    std::vector<rocksdb::ColumnFamilyDescriptor> all;
    for (const std::string& name : names) {
      all.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    return all;
  }
  static std::string key_of(int i) { return std::to_string(1'000'000 + i); }
  void fill() {
    ASSERT_OK(try_open({"default", "other"}));
    for (int i = 0; i < kEntries; ++i) ASSERT_OK(put(key_of(i), std::string(100, 'v')));
    ASSERT_OK(put("a", "1", handles_[1]));
    ASSERT_OK(db_->Merge(rocksdb::WriteOptions(), handles_[1], "a", "2"));
    close();
  }
  int count() {
    int entries = 0;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    for (at->SeekToFirst(); at->Valid(); at->Next()) ++entries;
    EXPECT_OK(at->status());
    return entries;
  }
  bool exists(const std::string& behind) { return fs::exists(path_ + behind); }
  // A bit of each of some blocks in the middle of the largest file.
  void damage_data() {
    fs::path largest;
    for (const auto& file : fs::directory_iterator(path_)) {
      const bool larger = largest.empty() || file.file_size() > fs::file_size(largest);
      if (file.path().filename().string().starts_with("data") && larger) largest = file.path();
    }
    ASSERT_FALSE(largest.empty());
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    const auto text = std::string(std::istreambuf_iterator<char>(file), {});
    const size_t at = text.find(std::string(90, 'v'));
    ASSERT_NE(at, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(at + 50));
    file.put('w');
  }
};

TEST_F(Repairs, WhatIsWholeStays) {
  fill();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_FALSE(exists(".repair"));
  EXPECT_FALSE(exists(".lost"));
  rocksdb::DBOptions kept;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ASSERT_OK(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), path_, &kept, &families));
  EXPECT_EQ(families.size(), 2U);
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(count(), kEntries);
  EXPECT_EQ(all(handles_[1]), "a=1,2 ");
}

TEST_F(Repairs, ALinkStaysOne) {
  fill();
  const std::string link = directory_ + "/link";
  fs::create_directory_symlink(path_, link);
  ASSERT_OK(RepairDB(link, options_));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_FALSE(fs::is_symlink(path_));
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(count(), kEntries);
}

TEST_F(Repairs, WithoutItsSuperblock) {
  fill();
  fs::remove(path_ + "/superblock");
  EXPECT_FALSE(try_open({"default", "other"}).ok());
  ASSERT_OK(RepairDB(path_ + "/", options_));
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(count(), kEntries);
  EXPECT_EQ(all(handles_[1]), "a=1,2 ");
}

TEST_F(Repairs, OfDamagedDataTheRestIsKept) {
  fill();
  ASSERT_NO_FATAL_FAILURE(damage_data());
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
  EXPECT_TRUE(RepairDB(path_, options_).IsIOError()) << "it is open";
  close();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_TRUE(exists(".lost"));
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_OK(db_->VerifyChecksum());
  const int left = count();
  EXPECT_GT(left, 0);
  EXPECT_LT(left, kEntries);
  EXPECT_EQ(all(handles_[1]), "a=1,2 ");
}

TEST_F(Repairs, FamiliesThatAreNotNamed) {
  fill();
  EXPECT_TRUE(RepairDB(path_, options_, families({"other"})).IsInvalidArgument());
  ASSERT_OK(RepairDB(path_, options_, families({"default"}), options_));
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(all(handles_[1]), "a=1,2 ");
  close();
  ASSERT_OK(RepairDB(path_, options_, families({"default", "other"})));
  EXPECT_FALSE(exists(".lost"));
  ASSERT_OK(RepairDB(path_, options_, families({"default"})));
  EXPECT_TRUE(exists(".lost")) << "the dropped one is still in it";
  ASSERT_OK(try_open({"default"}));
  EXPECT_EQ(count(), kEntries);
}

TEST_F(Repairs, WhatIsNoDatabaseStaysAsItIs) {
  EXPECT_TRUE(RepairDB(path_, options_).IsCorruption());
  EXPECT_FALSE(exists(".repair"));
  fs::create_directory(path_);
  std::ofstream(path_ + "/CURRENT") << "MANIFEST-000001\n";
  EXPECT_TRUE(RepairDB(path_, options_).IsNotSupported());
  EXPECT_TRUE(exists("/CURRENT"));
}

// A crash behind the exchange leaves the damaged one there, one before it what is not finished.
TEST_F(Repairs, WhatACrashHasLeft) {
  fill();
  fs::create_directory(path_ + ".repair");
  std::ofstream(path_ + ".repair/copy.incomplete");
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_FALSE(exists(".repair"));
  EXPECT_FALSE(exists(".lost"));
  fs::create_directory(path_ + ".repair");
  std::ofstream(path_ + ".repair/data.of.mine");
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_FALSE(exists(".repair"));
  EXPECT_TRUE(exists(".lost/data.of.mine"));
  std::ofstream(path_ + "/of.the.program");
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_TRUE(exists(".lost.1/of.the.program"));
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(count(), kEntries);
}

// Counts beginnings and ends of the repairs that the child makes.
std::atomic<int>& steps_of(const std::string& path) { return counter_in(path + "-steps"); }

// What one repair takes here says where about in the next ones the child is killed.
TEST_F(Repairs, KilledInTheMiddle) {
  fill();
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_OK(RepairDB(path_, rocksdb::Options()));
  const auto one = std::chrono::steady_clock::now() - begun;
  std::atomic<int>& steps = steps_of(path_);
  std::mt19937 random(1);
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const int wanted = steps + 1 + static_cast<int>(random() % 3);
    Rerun child("RepairsWithoutEnd.*", path_);
    ASSERT_TRUE(child.lives_until([&] { return steps >= wanted; }));
    std::this_thread::sleep_for(one * (random() % 100) / 100);
    ASSERT_TRUE(child.lives());
    child.end();
    ASSERT_OK(try_open({"default", "other"}));
    ASSERT_EQ(count(), kEntries);
    ASSERT_EQ(all(handles_[1]), "a=1,2 ");
    close();
  }
}

// In the child.
TEST(RepairsWithoutEnd, OfAWholeOne) {
  if (Rerun::directory() == nullptr) GTEST_SKIP();
  std::atomic<int>& steps = steps_of(Rerun::directory());
  for (;;) {
    ++steps;
    ASSERT_OK(RepairDB(Rerun::directory(), rocksdb::Options()));
    ++steps;
  }
}

}  // namespace
}  // namespace hawthorn::rocks
