// Files of options: when they are written, what stands in them, and that reading them survives
// anything.

#include "shims/rocksdb/src/options_file.h"

#include <rocksdb/slice_transform.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>

#include <atomic>
#include <fstream>
#include <random>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

namespace fs = std::filesystem;
using rocksdb::ColumnFamilyOptions;
using rocksdb::ConfigOptions;
using rocksdb::DB;
using rocksdb::DBOptions;
using Descriptors = std::vector<rocksdb::ColumnFamilyDescriptor>;

class OptionsFiles : public RocksTest {
 protected:
  OptionsFiles() { options_.create_missing_column_families = true; }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    EXPECT_OK(list_options_files(path_, &names));
    return names;
  }
  rocksdb::Status load(const std::string& directory) {
    return LoadLatestOptions(ConfigOptions(), directory, &database_, &families_);
  }
  // A file with this text.
  rocksdb::Status read(const std::string& text, const ConfigOptions& config = {}) {
    const std::string path = directory_ + "/file";
    std::ofstream(path, std::ios::binary) << text;
    return LoadOptionsFromFile(config, path, &database_, &families_);
  }
  rocksdb::Status compatible(const Descriptors& families, const ConfigOptions& config = {}) {
    return CheckOptionsCompatibility(config, path_, options_, families);
  }

  DBOptions database_;
  Descriptors families_;
};

TEST_F(OptionsFiles, AreWrittenWhenOptionsChange) {
  EXPECT_TRUE(load(path_).IsPathNotFound());
  open();
  EXPECT_EQ(names(), std::vector<std::string>{"OPTIONS-000001"});
  ASSERT_OK(load(path_));
  EXPECT_TRUE(database_.create_if_missing);
  ASSERT_EQ(families_.size(), 1U);
  EXPECT_EQ(families_[0].name, "default");
  EXPECT_EQ(families_[0].options.write_buffer_size, options_.write_buffer_size);
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "5M"}}));
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "7"}}));
  // The last two are kept.
  EXPECT_EQ(names(), (std::vector<std::string>{"OPTIONS-000003", "OPTIONS-000002"}));
  ASSERT_OK(load(path_));
  EXPECT_EQ(database_.max_open_files, 7);
  EXPECT_EQ(families_[0].options.write_buffer_size, size_t{5} << 20);
  ASSERT_OK(db_->CreateColumnFamilies(options_, {"b", "a"}, &handles_));
  EXPECT_EQ(names().front(), "OPTIONS-000004");
  ASSERT_OK(load(path_));
  ASSERT_EQ(families_.size(), 3U);
  EXPECT_EQ(families_[1].name, "b");  // by their ids
  ASSERT_OK(db_->DropColumnFamily(handles_[0]));
  ASSERT_OK(load(path_));
  ASSERT_EQ(families_.size(), 2U);
  EXPECT_EQ(families_[1].name, "a");
  // What changes nothing writes nothing.
  EXPECT_FALSE(db_->SetOptions({{"num_levels", "5"}}).ok());
  EXPECT_FALSE(db_->DropColumnFamily(handles_[0]).ok());
  EXPECT_EQ(names().front(), "OPTIONS-000005");
  close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path_, &db_));
  EXPECT_EQ(names().front(), "OPTIONS-000005");
  close();
  std::string name;
  ASSERT_OK(rocksdb::GetLatestOptionsFileName(path_, rocksdb::Env::Default(), &name));
  EXPECT_EQ(name, "OPTIONS-000005");
}

TEST_F(OptionsFiles, OpenTheDatabaseAgain) {
  const std::string odd = "a \"b\" #c\\\n[d]\t";
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(1));
  options_.compression_per_level = {rocksdb::kNoCompression, rocksdb::kZSTD};
  options_.db_host_id = "a#b:c";
  options_.compaction_options_fifo.file_temperature_age_thresholds = {
      {rocksdb::Temperature::kHot, 5}};
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 12345;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(9.5));
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      ConfigOptions(), options_, "merge_operator={id=stringappend;delimiter=#}", &options_));
  ASSERT_OK(try_open({"default", odd}));
  ASSERT_OK(put("b", "1", handles_[1]));
  ASSERT_OK(put("a", "1", handles_[1]));
  ASSERT_OK(db_->Merge(rocksdb::WriteOptions(), handles_[1], "a", "2"));
  close();
  auto cache = rocksdb::NewLRUCache(1 << 20);
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &database_, &families_, &cache));
  ASSERT_EQ(families_.size(), 2U);
  EXPECT_EQ(families_[1].name, odd);
  EXPECT_EQ(database_.db_host_id, "a#b:c");
  const ColumnFamilyOptions& read = families_[1].options;
  EXPECT_EQ(read.compression_per_level, options_.compression_per_level);
  EXPECT_EQ(read.prefix_extractor->GetId(), "rocksdb.FixedPrefix.1");
  ASSERT_EQ(read.compaction_options_fifo.file_temperature_age_thresholds.size(), 1U);
  EXPECT_EQ(read.compaction_options_fifo.file_temperature_age_thresholds[0].age, 5U);
  const auto& block = *read.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  EXPECT_EQ(block.block_size, 12345U);
  EXPECT_EQ(block.filter_policy->GetId(), "bloomfilter:9.5:false");
  EXPECT_EQ(block.block_cache, cache);
  ASSERT_OK(compatible(families_));
  ASSERT_OK(DB::Open(database_, path_, families_, &handles_, &db_));
  EXPECT_EQ(all(handles_[1]), "b=1 a=1#2 ");
}

TEST_F(OptionsFiles, AreCompared) {
  options_.merge_operator = std::make_shared<Append>();
  ASSERT_OK(try_open({"default", "other"}));
  close();
  Descriptors own = {{"default", options_}, {"other", options_}};
  EXPECT_OK(compatible(own));
  // Objects of the program's own are told by their names, and not made of them.
  ASSERT_OK(load(path_));
  EXPECT_EQ(families_[0].options.merge_operator, nullptr);
  ConfigOptions loose;
  loose.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  ConfigOptions none;
  none.sanity_level = ConfigOptions::kSanityLevelNone;
  own[1].options.num_levels = 3;
  EXPECT_TRUE(compatible(own).IsInvalidArgument());
  EXPECT_OK(compatible(own, loose));
  own[1].options.comparator = rocksdb::ReverseBytewiseComparator();
  EXPECT_TRUE(compatible(own, loose).IsInvalidArgument());
  EXPECT_OK(compatible(own, none));
  own[1].options = options_;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1;
  own[1].options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  EXPECT_TRUE(compatible(own).IsCorruption());
  EXPECT_OK(compatible(own, loose));
  own[1].options.table_factory.reset(rocksdb::NewPlainTableFactory());
  EXPECT_FALSE(compatible(own, loose).ok());
  own[1].options = options_;
  own[1].name = "another";
  EXPECT_TRUE(compatible(own).IsInvalidArgument());
  own.pop_back();
  EXPECT_TRUE(compatible(own, loose).IsInvalidArgument());
  EXPECT_OK(compatible(own, none));
  options_.max_open_files = 7;
  EXPECT_TRUE(CheckOptionsCompatibility(ConfigOptions(), path_, options_, own).IsInvalidArgument());
}

TEST_F(OptionsFiles, GoWithCopies) {
  open();
  ASSERT_OK(put("a", "1"));
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "5M"}}));
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_OK(rocksdb::Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint(directory_ + "/copy"));
  rocksdb::BackupEngine* opened = nullptr;
  ASSERT_OK(rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(directory_ + "/backups"),
                                        rocksdb::Env::Default(), &opened));
  const std::unique_ptr<rocksdb::BackupEngine> backups(opened);
  ASSERT_OK(backups->CreateNewBackup(db_.get()));
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "6M"}}));
  close();
  // Over the database, whose own files of options go.
  ASSERT_OK(backups->RestoreDBFromLatestBackup(rocksdb::RestoreOptions(), path_, path_));
  EXPECT_EQ(names(), std::vector<std::string>{"OPTIONS-000001"});
  for (const std::string& copy : {path_, directory_ + "/copy"}) {
    ASSERT_OK(load(copy));
    EXPECT_EQ(families_.at(0).options.write_buffer_size, size_t{5} << 20) << copy;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(database_, copy, families_, &handles_, &db));
    for (auto* handle : handles_) delete handle;
    handles_.clear();
  }
  ASSERT_OK(backups->DeleteBackup(1));
  EXPECT_TRUE(fs::is_empty(directory_ + "/backups/metadata"));
}

TEST_F(OptionsFiles, GoWithTheDatabase) {
  open();
  std::ofstream(path_ + "/OPTIONS-000009.new") << "unfinished";
  EXPECT_TRUE(rocksdb::DestroyDB(path_, options_).IsIOError());
  EXPECT_EQ(names().size(), 1U);
  close();
  ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  // As a crash in the middle may leave them; and beside what is not the database's.
  fs::create_directory(path_);
  std::ofstream(path_ + "/OPTIONS-000001") << "x";
  std::ofstream(path_ + "/OPTIONS-notes") << "x";
  ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  EXPECT_TRUE(names().empty());
  EXPECT_TRUE(fs::exists(path_ + "/OPTIONS-notes"));
  std::ofstream(path_ + "/OPTIONS-000001") << "x";
  std::ofstream(path_ + "/CURRENT") << "x";  // RocksDB's own
  ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(OptionsFiles, ThatCannotBeWrittenAreAnError) {
  open();
  // In the way of the next one.
  fs::create_directories(path_ + "/OPTIONS-000002.new/x");
  EXPECT_TRUE(db_->SetOptions({{"write_buffer_size", "5M"}}).IsIOError());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, size_t{5} << 20);  // it holds all the same
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "other", &handle).IsIOError());
  ASSERT_NE(handle, nullptr);
  handles_.push_back(handle);
  ASSERT_OK(put("a", "1", handle));
  close();
  EXPECT_TRUE(try_open({"default", "other"}).IsIOError());
  EXPECT_TRUE(handles_.empty());
  fs::remove_all(path_ + "/OPTIONS-000002.new");
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(get("a", handles_[1]), "1");
}

constexpr const char* kGood =
    "# A comment\n[Version]\n  rocksdb_version=10.4.2\n  options_file_version=1.1\n\n"
    "[DBOptions]\n  max_open_files=7 # another\n  wal_dir=/a\\#b\n  \n"
    "[CFOptions \"default\"]\n  write_buffer_size=17\n  comparator=leveldb.BytewiseComparator\n"
    "  compression_opts={level=5;checksum=false;}\n  table_factory=BlockBasedTable\n"
    "[TableOptions/BlockBasedTable \"default\"]\n  block_size=5\n"
    "  metadata_cache_options={partition_pinning=kAll;}\n  filter_policy=nullptr\n";

std::string replaced(const std::string& what, const std::string& with) {
  std::string text = kGood;
  EXPECT_NE(text.find(what), std::string::npos) << what;
  return text.replace(text.find(what), what.size(), with);
}

TEST_F(OptionsFiles, OfRocksDB) {
  ASSERT_OK(read(kGood));
  EXPECT_EQ(database_.max_open_files, 7);
  EXPECT_EQ(database_.wal_dir, "/a#b");
  ASSERT_EQ(families_.size(), 1U);
  EXPECT_EQ(families_[0].options.write_buffer_size, 17U);
  EXPECT_EQ(families_[0].options.compression_opts.level, 5);
  const auto& factory = families_[0].options.table_factory;
  EXPECT_EQ(factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_size, 5U);
  ASSERT_OK(read(replaced("TableOptions/BlockBasedTable", "TableOptions/TheirOwnTable")));
  EXPECT_EQ(families_[0].options.table_factory, nullptr);
  // Names that are not known are ignored in files of later versions alone.
  ConfigOptions ignoring;
  ignoring.ignore_unknown_options = true;
  EXPECT_TRUE(read(replaced("max_open_files", "no_such_option"), ignoring).IsInvalidArgument());
  std::string later = replaced("max_open_files", "no_such_option");
  later.replace(later.find("10.4.2"), 6, "10.5.0");
  EXPECT_OK(read(later, ignoring));
  EXPECT_TRUE(read(later).IsInvalidArgument());
}

TEST_F(OptionsFiles, ThatAreDamaged) {
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {"[DBOptions]", "[DBOptions"},
           {"[DBOptions]", "[Options]"},
           {"max_open_files=7", "max_open_files"},
           {"max_open_files=7", "=7"},
           {"max_open_files=7", "max_open_files=x"},
           {"[Version]", "a=1\n[Version]"},
           {"10.4.2", "10.4.2.1"},
           {"10.4.2", "ten"},
           {"=1.1", "=0.9"},
           {"[DBOptions]", "[DBOptions]\n[DBOptions]"},
           {"\"default\"", "\"other\""},
           {"[TableOptions/BlockBasedTable \"default\"]", "[CFOptions \"default\"]"},
           {"[TableOptions/BlockBasedTable \"default\"]", "[TableOptions/BlockBasedTable \"b\"]"},
           {"partition_pinning=kAll", "partition_pinning=kNobody"},
           {"level=5;", "level=5;{"}}) {
    const rocksdb::Status s = read(replaced(what, with));
    EXPECT_TRUE(s.IsInvalidArgument()) << with << ": " << s.ToString();
  }
  EXPECT_TRUE(read("").IsCorruption());
  EXPECT_TRUE(read("[DBOptions]\n").IsCorruption());
  EXPECT_TRUE(read("[CFOptions \"default\"]\n").IsCorruption());
  EXPECT_TRUE(LoadOptionsFromFile(ConfigOptions(), directory_ + "/none", &database_, &families_)
                  .IsPathNotFound());
  EXPECT_FALSE(LoadOptionsFromFile(ConfigOptions(), directory_, &database_, &families_).ok());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text = kGood;
    for (int j = 0; j < 3; ++j) text[random() % text.size()] = "\"[]={}#\\\n;:x0"[random() % 13];
    const rocksdb::Status s = read(text);
    ASSERT_TRUE(s.ok() || s.IsInvalidArgument() || s.IsCorruption()) << text << s.ToString();
  }
}

// A database is not held up by what others have put there.
TEST_F(OptionsFiles, OfOthersInTheDirectory) {
  open();
  for (const char* name : {"OPTIONS-", "OPTIONS-x", "OPTIONS-99999999999999999999",
                           "OPTIONS-18446744073709551615", "OPTIONS-000007.dbtmp"}) {
    std::ofstream(path_ + "/" + name) << "x";
  }
  std::ofstream(path_ + "/OPTIONS-000041") << "damaged";
  EXPECT_TRUE(load(path_).IsInvalidArgument());
  reopen();
  EXPECT_EQ(names(), (std::vector<std::string>{"OPTIONS-000042", "OPTIONS-000041"}));
  ASSERT_OK(load(path_));
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(OptionsFiles, AreWholeWhenTheProcessIsKilled) {
  std::mt19937 random(3);
  constexpr size_t kFamilies = 20;
  std::vector<std::string> families = {"default"};
  for (size_t i = 1; i < kFamilies; ++i) families.push_back(std::to_string(i));
  const SharedWithChildren<std::atomic<size_t>> acknowledged;
  acknowledged->store(options_.write_buffer_size);
  for (int round = 0; round < 6; ++round) {
    ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(random, round, *acknowledged, [&] {
      options_.write_buffer_size = acknowledged->load();
      if (!try_open(families).ok()) _exit(1);
      for (size_t bytes = acknowledged->load() + 1;; ++bytes) {
        const std::string text = std::to_string(bytes);
        if (!db_->SetOptions({{"write_buffer_size", text}}).ok()) _exit(1);
        acknowledged->store(bytes);
      }
    }));
    const size_t least = acknowledged->load();
    const rocksdb::Status s = load(path_);
    if (s.IsPathNotFound()) continue;  // before the first open was done
    ASSERT_OK(s);
    ASSERT_EQ(families_.size(), kFamilies);
    EXPECT_GE(families_[0].options.write_buffer_size, least);
    EXPECT_LE(families_[0].options.write_buffer_size, least + 1);
    acknowledged->store(families_[0].options.write_buffer_size);
  }
  options_.write_buffer_size = acknowledged->load();
  ASSERT_OK(try_open(families));
  EXPECT_EQ(names().size(), 2U);
  for (const auto& entry : fs::directory_iterator(path_)) {
    EXPECT_NE(entry.path().extension(), ".new");
  }
}

}  // namespace
}  // namespace hawthorn::rocks
