// Files of entries: rocksdb::SstFileWriter, and taking them in.

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "shims/rocksdb/src/checksum.h"
#include "shims/rocksdb/src/entries_file.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

namespace fs = std::filesystem;
using rocksdb::EnvOptions;
using rocksdb::ExternalSstFileInfo;
using rocksdb::IngestExternalFileOptions;
using rocksdb::SstFileWriter;

class Files : public RocksTest {
 protected:
  Files() : writer_(std::make_unique<SstFileWriter>(EnvOptions(), options_)) {}

  std::string path(const std::string& name) { return directory_ + "/" + name; }
  // Puts of "a=1 b=2".
  std::string make(const std::string& name, const std::string& puts) {
    EXPECT_OK(writer_->Open(path(name)));
    std::istringstream words(puts);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      EXPECT_OK(writer_->Put(word.substr(0, equals), word.substr(equals + 1)));
    }
    EXPECT_OK(writer_->Finish(&info_));
    return path(name);
  }
  rocksdb::Status ingest(const std::vector<std::string>& files,
                         rocksdb::ColumnFamilyHandle* family = nullptr) {
    return db_->IngestExternalFile(family ? family : db_->DefaultColumnFamily(), files,
                                   ingest_options_);
  }

  std::unique_ptr<SstFileWriter> writer_;
  ExternalSstFileInfo info_;
  IngestExternalFileOptions ingest_options_;
};

TEST_F(Files, OfPutsAreTakenIn) {
  open();
  ASSERT_OK(put("b", "old"));
  const rocksdb::Snapshot* const before = db_->GetSnapshot();
  const std::string file = make("one.sst", "a=1 b=2 d=4");
  EXPECT_EQ(info_.file_path, file);
  EXPECT_EQ(info_.smallest_key, "a");
  EXPECT_EQ(info_.largest_key, "d");
  EXPECT_EQ(info_.num_entries, 3u);
  EXPECT_EQ(info_.num_range_del_entries, 0u);
  EXPECT_EQ(info_.smallest_range_del_key + info_.largest_range_del_key, "");
  EXPECT_EQ(info_.file_size, fs::file_size(file));
  EXPECT_EQ(writer_->FileSize(), fs::file_size(file));
  EXPECT_EQ(info_.version, 1);
  EXPECT_EQ(info_.sequence_number, 0u);
  EXPECT_EQ(info_.file_checksum + info_.file_checksum_func_name, "");
  ASSERT_OK(db_->IngestExternalFile({file}, ingest_options_));
  EXPECT_EQ(all(), "a=1 b=2 d=4 ");
  EXPECT_EQ(get("b", nullptr, before), "old");
  EXPECT_EQ(get("a", nullptr, before), "(missing)");
  db_->ReleaseSnapshot(before);
  EXPECT_TRUE(fs::exists(file));
  // Over what is there, and moved.
  ASSERT_OK(put("a", "later"));
  ingest_options_.move_files = true;
  ASSERT_OK(ingest({file}));
  EXPECT_EQ(get("a"), "1");
  EXPECT_FALSE(fs::exists(file));
  reopen();
  EXPECT_EQ(all(), "a=1 b=2 d=4 ");
}

TEST_F(Files, CountInTheirOrder) {
  open();
  const std::string low = make("low", "a=1 b=1");
  const std::string high = make("high", "c=2 d=2");
  ASSERT_OK(ingest({high, low}));
  EXPECT_EQ(all(), "a=1 b=1 c=2 d=2 ");
  const std::string across = make("across", "b=3 c=3");
  ASSERT_OK(ingest({across, low}));
  EXPECT_EQ(all(), "a=1 b=1 c=3 d=2 ");
  ASSERT_OK(ingest({low, across}));
  EXPECT_EQ(all(), "a=1 b=3 c=3 d=2 ");
}

TEST_F(Files, HaveMergesAndDeletes) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) ASSERT_OK(put(key, "old"));
  ASSERT_OK(writer_->Open(path("mixed")));
  ASSERT_OK(writer_->Merge("a", "more"));
  ASSERT_OK(writer_->Delete("b"));
  ASSERT_OK(writer_->Add("d", "new"));
  ASSERT_OK(writer_->DeleteRange("c", "f"));
  ASSERT_OK(writer_->DeleteRange("x", "x"));
  EXPECT_TRUE(writer_->DeleteRange("y", "x").IsInvalidArgument());
  ASSERT_OK(writer_->DeleteRange("bb", "bc"));
  ASSERT_OK(writer_->Merge("g", "first"));
  ASSERT_OK(writer_->Finish(&info_));
  EXPECT_EQ(info_.num_entries, 4u);
  EXPECT_EQ(info_.num_range_del_entries, 2u);
  EXPECT_EQ(info_.smallest_key + info_.largest_key, "ag");
  EXPECT_EQ(info_.smallest_range_del_key, "bb");
  EXPECT_EQ(info_.largest_range_del_key, "f");
  ASSERT_OK(ingest({path("mixed")}));
  EXPECT_EQ(all(), "a=old,more d=new f=old g=first ");
  // A range of a later file deletes what an earlier one has.
  ASSERT_OK(writer_->Open(path("range")));
  ASSERT_OK(writer_->DeleteRange("a", "z"));
  ASSERT_OK(writer_->Finish());
  ASSERT_OK(ingest({path("mixed"), path("range")}));
  EXPECT_EQ(all(), "");
  close();
  options_.merge_operator = nullptr;
  path_ = directory_ + "/without";
  open();
  ASSERT_OK(put("b", "stays"));
  EXPECT_TRUE(ingest({path("mixed")}).IsNotSupported());
  EXPECT_EQ(all(), "b=stays ");
}

TEST_F(Files, AreTakenIntoSeveralFamiliesAtOnce) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "two"}));
  const std::string one = make("one", "a=1");
  writer_ = std::make_unique<SstFileWriter>(EnvOptions(options_), options_, handles_[1]);
  const std::string two = make("two", "b=2");
  EXPECT_TRUE(ingest({two}, handles_[0]).IsInvalidArgument());
  rocksdb::IngestExternalFileArg first;
  first.column_family = handles_[0];
  first.external_files = {one};
  first.options = ingest_options_;
  rocksdb::IngestExternalFileArg second = first;
  EXPECT_TRUE(db_->IngestExternalFiles({first, second}).IsInvalidArgument());
  second.column_family = handles_[1];
  second.external_files = {path("nothing")};
  EXPECT_TRUE(db_->IngestExternalFiles({first, second}).IsPathNotFound());
  EXPECT_EQ(all(), "");
  second.external_files = {two};
  ASSERT_OK(db_->IngestExternalFiles({first, second}));
  EXPECT_EQ(all(), "a=1 ");
  EXPECT_EQ(all(handles_[1]), "b=2 ");
  EXPECT_TRUE(db_->IngestExternalFiles({}).IsInvalidArgument());
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(ingest({two}, handles_[1]).IsInvalidArgument());
}

TEST_F(Files, HaveTheOrderOfTheComparator) {
  writer_ =
      std::make_unique<SstFileWriter>(EnvOptions(), options_, rocksdb::ReverseBytewiseComparator());
  const std::string file = make("reverse", "c=3 b=2 a=1");
  EXPECT_EQ(info_.smallest_key + info_.largest_key, "ca");
  open();
  EXPECT_TRUE(ingest({file}).IsInvalidArgument());
  close();
  path_ = directory_ + "/reverse_db";
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  open();
  ASSERT_OK(ingest({file}));
  EXPECT_EQ(all(), "c=3 b=2 a=1 ");
}

TEST_F(Files, RefuseWhatIsOutOfOrder) {
  EXPECT_TRUE(writer_->Put("a", "1").IsInvalidArgument());  // not open
  EXPECT_TRUE(writer_->Finish().IsInvalidArgument());
  EXPECT_TRUE(writer_->Open(directory_ + "/nowhere/file").IsPathNotFound());
  ASSERT_OK(writer_->Open(path("file")));
  EXPECT_TRUE(writer_->Finish().IsInvalidArgument());  // no entries
  EXPECT_FALSE(fs::exists(path("file")));
  ASSERT_OK(writer_->Open(path("file")));
  ASSERT_OK(writer_->Put("b", "1"));
  EXPECT_TRUE(writer_->Put("b", "2").IsInvalidArgument());
  EXPECT_TRUE(writer_->Delete("a").IsInvalidArgument());
  EXPECT_TRUE(writer_->Merge("", "2").IsInvalidArgument());
  ASSERT_OK(writer_->Put("c", "3"));
  open();
  EXPECT_TRUE(ingest({path("file")}).IsCorruption());  // not finished
  ASSERT_OK(writer_->Finish());
  ASSERT_OK(ingest({path("file")}));
  EXPECT_EQ(all(), "b=1 c=3 ");
}

TEST_F(Files, ThatLackABlockAreNotFinished) {
  ASSERT_OK(writer_->Open(path("file")));
  FileSizeLimit limit(100000);
  rocksdb::Status s;
  for (int i = 100; s.ok() && i < 200; ++i) {
    s = writer_->Put("k" + std::to_string(i), std::string(3000, 'v'));
  }
  limit.lift();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_TRUE(writer_->Put("z", "1").IsIOError());
  EXPECT_TRUE(writer_->Finish().IsIOError());
  EXPECT_FALSE(fs::exists(path("file")));
}

TEST_F(Files, ThatAreDamagedAreNotTakenIn) {
  open();
  ASSERT_OK(put("a", "old"));
  std::string puts;
  for (int i = 100; i < 150; ++i) puts += "k" + std::to_string(i) + "=" + std::string(3000, 'v');
  for (size_t at = 1; (at = puts.find('k', at)) != std::string::npos; at += 2) puts.insert(at, " ");
  const std::string file = make("file", puts);
  std::string whole;
  {
    std::ifstream in(file, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_GT(whole.size(), 130000u);  // several blocks
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t at = 0; at < whole.size(); at += at < 100 || at + 200 > whole.size() ? 1 : 997) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write(damaged);
    ASSERT_TRUE(ingest({file}).IsCorruption()) << at;
    write(whole.substr(0, at));
    ASSERT_TRUE(ingest({file}).IsCorruption()) << at;
  }
  EXPECT_EQ(all(), "a=old ");
  write(whole);
  ASSERT_OK(ingest({file}));
  EXPECT_EQ(get("k149"), std::string(3000, 'v'));
}

// Whatever stands in blocks whose checksums are right: it is read or refused, and all or nothing of
// it is taken in.
TEST_F(Files, MayHoldAnything) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto framed = [](const std::string& bytes) {
    const auto size = static_cast<uint32_t>(bytes.size());
    const uint32_t crc = crc32c(bytes);
    return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) +
           std::string(reinterpret_cast<const char*>(&crc), sizeof(crc)) + bytes;
  };
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string block;
    const unsigned records = 1 + random() % 6;
    for (unsigned i = 0; i < records; ++i) {
      static constexpr char kTags[] = {0x0, 0x1, 0x2, 0xF};
      const char tag = kTags[random() % sizeof(kTags)];
      block += tag;
      append_string(std::string(1 + random() % 3, static_cast<char>('a' + i)), &block);
      if (tag != 0) append_string(std::string(random() % 5, static_cast<char>('b' + i)), &block);
    }
    for (unsigned n = random() % 3; n > 0; --n) {
      block[random() % block.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) block.resize(1 + random() % block.size());
    EntriesIndex index;
    index.entries = records;
    index.others = random() % 2;
    index.comparator = options_.comparator->Name();
    std::ofstream(path("any"), std::ios::binary | std::ios::trunc)
        << kEntriesMagic << framed(block) << encode_index(index);
    const std::string before = all();
    const rocksdb::Status s = ingest({path("any")});
    ++(s.ok() ? taken : refused);
    if (s.ok()) continue;
    ASSERT_EQ(all(), before) << round << ": " << s.ToString();
  }
  EXPECT_GT(taken, 20);
  EXPECT_GT(refused, 20);
}

TEST_F(Files, AreThoseOfAModel) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::map<std::string, std::string> model;
  const auto key = [&random] { return "k" + std::to_string(100 + random() % 60); };
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> files;
    const bool puts_alone = random() % 2 == 0;
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      files.push_back(path("model" + std::to_string(i)));
      ASSERT_OK(writer_->Open(files.back()));
      std::map<std::string, unsigned> operations;
      for (unsigned n = 0; n < 1 + random() % 20; ++n) {
        operations[key()] = puts_alone ? 0 : random() % 4;
      }
      if (!puts_alone && random() % 2 == 0) {
        std::string begin = key();
        std::string end = key();
        if (end < begin) begin.swap(end);
        ASSERT_OK(writer_->DeleteRange(begin, end));
        model.erase(model.lower_bound(begin), model.lower_bound(end));
      }
      for (const auto& [name, operation] : operations) {
        const std::string value = std::to_string(random() % 1000);
        if (operation == 0 || operation == 3) {
          ASSERT_OK(writer_->Put(name, value));
          model[name] = value;
        } else if (operation == 1) {
          ASSERT_OK(writer_->Delete(name));
          model.erase(name);
        } else {
          ASSERT_OK(writer_->Merge(name, value));
          std::string& now = model[name];
          now += (now.empty() ? "" : ",") + value;
        }
      }
      ASSERT_OK(writer_->Finish());
    }
    ASSERT_OK(ingest(files));
    std::string expected;
    for (const auto& [name, value] : model) expected += name + "=" + value + " ";
    ASSERT_EQ(all(), expected) << round;
    if (random() % 8 == 0) reopen();
  }
}

TEST_F(Files, HaveOptions) {
  open();
  const std::string file = make("file", "a=1");
  EXPECT_TRUE(ingest({}).IsInvalidArgument());
  ingest_options_.ingest_behind = true;
  EXPECT_TRUE(ingest({file}).IsNotSupported());
  ingest_options_.ingest_behind = false;
  ingest_options_.allow_global_seqno = false;
  EXPECT_TRUE(ingest({file}).IsNotSupported());
  ingest_options_.allow_global_seqno = true;
  ingest_options_.link_files = ingest_options_.move_files = true;
  EXPECT_TRUE(ingest({file}).IsInvalidArgument());
  ingest_options_.move_files = false;
  ingest_options_.failed_move_fall_back_to_copy = false;
  ingest_options_.snapshot_consistency = false;
  ingest_options_.allow_blocking_flush = false;
  ingest_options_.write_global_seqno = true;
  ingest_options_.verify_checksums_before_ingest = true;
  ingest_options_.verify_checksums_readahead_size = 1 << 20;
  ingest_options_.verify_file_checksum = false;
  ingest_options_.fail_if_not_bottommost_level = true;
  ingest_options_.allow_db_generated_files = true;
  ingest_options_.fill_cache = false;
  ASSERT_OK(ingest({file}));
  EXPECT_EQ(all(), "a=1 ");
  close();
  // Read-only it is refused, and over transactions as below them.
  ASSERT_OK(rocksdb::DB::OpenForReadOnly(options_, path_, &db_));
  EXPECT_TRUE(ingest({file}).IsNotSupported());
  close();
  rocksdb::TransactionDB* transactions = nullptr;
  ASSERT_OK(rocksdb::TransactionDB::Open(options_, rocksdb::TransactionDBOptions(), path_,
                                         &transactions));
  db_.reset(transactions);
  ASSERT_OK(ingest({make("file", "b=2")}));
  ASSERT_OK(db_->IngestExternalFiles({{db_->DefaultColumnFamily(), {make("c", "c=3")}, {}}}));
  EXPECT_EQ(all(), "a=1 b=2 c=3 ");
}

}  // namespace
}  // namespace hawthorn::rocks
