// SstFileReader: what a writer has written is read, in both directions, and damage is told.

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

#include <fstream>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::SstFileReader;
using rocksdb::SstFileWriter;
using rocksdb::Status;

class FileReaders : public RocksTest {
 protected:
  FileReaders() { options_.merge_operator = std::make_shared<Append>(); }
  static std::string key(int i) { return std::to_string(100'000 + i); }

  // Of so many puts, each third one an entity.
  void write(int count, size_t value_bytes) {
    SstFileWriter writer(rocksdb::EnvOptions(), options_);
    ASSERT_OK(writer.Open(file_));
    for (int i = 0; i < count; ++i) {
      const std::string value = std::to_string(i) + std::string(value_bytes, 'v');
      if (i % 3 == 0) {
        ASSERT_OK(writer.PutEntity(key(i), {{"", value}, {"x", "y"}}));
      } else {
        ASSERT_OK(writer.Put(key(i), value));
      }
    }
    ASSERT_OK(writer.Finish());
  }
  std::string bytes() {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put_bytes(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
  }

  const std::string file_ = directory_ + "/entries";
};

TEST_F(FileReaders, AreWalkedInBothDirections) {
  constexpr int kCount = 2000;
  ASSERT_NO_FATAL_FAILURE(write(kCount, 200));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file_));
  EXPECT_OK(reader.VerifyChecksum());
  EXPECT_OK(reader.VerifyNumEntries(ReadOptions()));
  EXPECT_GT(reader.GetTableProperties()->num_data_blocks, 3U);
  const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(ReadOptions()));
  int i = 0;
  for (at->SeekToFirst(); at->Valid(); at->Next(), ++i) {
    ASSERT_EQ(at->key(), Slice(key(i)));
    ASSERT_EQ(at->value(), Slice(std::to_string(i) + std::string(200, 'v')));
    ASSERT_EQ(at->columns().size(), i % 3 == 0 ? 2U : 1U);
  }
  EXPECT_EQ(i, kCount);
  for (at->SeekToLast(); at->Valid(); at->Prev()) ASSERT_EQ(at->key(), Slice(key(--i)));
  EXPECT_EQ(i, 0);
  EXPECT_OK(at->status());
  for (const int place : {0, 1, 700, kCount - 1}) {
    at->Seek(key(place));
    ASSERT_TRUE(at->Valid());
    EXPECT_EQ(at->key(), Slice(key(place)));
    at->Seek(key(place) + "x");
    EXPECT_EQ(at->Valid(), place + 1 < kCount);
    at->SeekForPrev(key(place) + "x");
    ASSERT_TRUE(at->Valid());
    EXPECT_EQ(at->key(), Slice(key(place)));
    at->SeekForPrev(key(place));
    EXPECT_EQ(at->key(), Slice(key(place)));
    if (place == 0) continue;
    at->Prev();
    EXPECT_EQ(at->key(), Slice(key(place - 1)));
  }
  at->SeekForPrev("0");
  EXPECT_FALSE(at->Valid());
  at->Seek("9");
  EXPECT_FALSE(at->Valid());
}

TEST_F(FileReaders, ShowWhatTheyHold) {
  SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_OK(writer.Open(file_));
  ASSERT_OK(writer.Delete("a"));
  ASSERT_OK(writer.Put("b", "1"));
  ASSERT_OK(writer.DeleteRange("a", "z"));
  ASSERT_OK(writer.Merge("c", "2"));
  ASSERT_OK(writer.Delete("d"));
  ASSERT_OK(writer.Finish());
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file_));
  const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(ReadOptions()));
  EXPECT_EQ(walk(*at), "b=1 c=2 ");
  EXPECT_EQ(walk(*at, false), "c=2 b=1 ");
  ReadOptions bounded;
  const Slice lower("b");
  const Slice upper("c");
  bounded.iterate_lower_bound = &lower;
  bounded.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> within(reader.NewIterator(bounded));
  EXPECT_EQ(walk(*within), "b=1 ");
  EXPECT_EQ(walk(*within, false), "b=1 ");
  within->SeekForPrev("x");
  EXPECT_EQ(within->key(), Slice("b"));
  within->Seek("a");
  EXPECT_EQ(within->key(), Slice("b"));
  std::vector<std::string> values;
  const std::vector<Status> found = reader.MultiGet(ReadOptions(), {"c", "a", "b", "x"}, &values);
  EXPECT_EQ(values, (std::vector<std::string>{"2", "", "1", ""}));
  EXPECT_TRUE(found[0].ok() && found[1].IsNotFound() && found[2].ok() && found[3].IsNotFound());

  const auto properties = reader.GetTableProperties();
  EXPECT_EQ(properties->num_entries, 5U);
  EXPECT_EQ(properties->num_deletions, 3U);
  EXPECT_EQ(properties->num_merge_operands, 1U);
  EXPECT_EQ(properties->num_range_deletions, 1U);
  EXPECT_EQ(properties->raw_key_size, 5U);
  EXPECT_EQ(properties->raw_value_size, 3U);
  EXPECT_EQ(properties->comparator_name, options_.comparator->Name());
  EXPECT_EQ(properties->column_family_id, 0x7fffffffU);
  EXPECT_EQ(properties->tail_start_offset + properties->index_size, bytes().size());
  EXPECT_EQ(properties->ToString(" ", ":").find("num_entries:5 ") != std::string::npos, true);
  rocksdb::TableProperties twice = *properties;
  twice.Add(*properties);
  EXPECT_EQ(twice.GetAggregatablePropertiesAsMap().at("num_entries"), 10U);
  EXPECT_TRUE(twice.user_collected_properties == rocksdb::UserCollectedProperties());

  options_.merge_operator.reset();
  SstFileReader without(options_);
  ASSERT_OK(without.Open(file_));
  const std::unique_ptr<rocksdb::Iterator> stops(without.NewIterator(ReadOptions()));
  stops->Seek("c");
  EXPECT_TRUE(!stops->Valid() && stops->status().IsInvalidArgument());
  stops->SeekToFirst();
  EXPECT_TRUE(stops->Valid());
}

TEST_F(FileReaders, LeaveAloneWhatHasNoMeaning) {
  ASSERT_NO_FATAL_FAILURE(write(1, 1));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file_));
  const rocksdb::TableProperties& of = *reader.GetTableProperties();
  EXPECT_GT(of.data_size, 0U);
  for (const uint64_t number :
       {of.orig_file_number, of.index_partitions, of.top_level_index_size, of.index_key_is_user_key,
        of.index_value_is_delta_encoded, of.filter_size, of.num_filter_entries, of.fixed_key_len,
        of.creation_time, of.oldest_key_time, of.newest_key_time, of.file_creation_time,
        of.slow_compression_estimated_data_size, of.fast_compression_estimated_data_size,
        of.external_sst_file_global_seqno_offset}) {
    EXPECT_EQ(number, 0U);
  }
  EXPECT_EQ(of.user_defined_timestamps_persisted, 1U);
  EXPECT_EQ(of.key_largest_seqno, UINT64_MAX);
  EXPECT_EQ(of.db_id + of.db_session_id + of.db_host_id + of.column_family_name +
                of.filter_policy_name + of.merge_operator_name + of.prefix_extractor_name +
                of.property_collectors_names + of.compression_name + of.compression_options +
                of.seqno_to_time_mapping,
            "");
  EXPECT_TRUE(of.readable_properties.empty());
}

TEST_F(FileReaders, OfRangesAloneAreEmpty) {
  SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_OK(writer.Open(file_));
  ASSERT_OK(writer.DeleteRange("a", "b"));
  ASSERT_OK(writer.Finish());
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file_));
  const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(ReadOptions()));
  EXPECT_EQ(walk(*at) + walk(*at, false), "");
  at->Seek("a");
  at->SeekForPrev("a");
  EXPECT_FALSE(at->Valid());
}

TEST_F(FileReaders, OfOthersAreRefused) {
  SstFileReader reader(options_);
  EXPECT_TRUE(reader.VerifyChecksum().IsInvalidArgument());
  EXPECT_EQ(reader.GetTableProperties(), nullptr);
  EXPECT_TRUE(reader.Open(file_).IsPathNotFound());
  put_bytes("something else that is long enough to be looked at");
  EXPECT_TRUE(reader.Open(file_).IsCorruption());
  ASSERT_NO_FATAL_FAILURE(write(1, 1));
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  SstFileReader reverse(options_);
  EXPECT_TRUE(reverse.Open(file_).IsInvalidArgument());
}

// Each byte that is another one is found.
TEST_F(FileReaders, ThatAreDamagedAreTold) {
  ASSERT_NO_FATAL_FAILURE(write(20, 10));
  const std::string whole = bytes();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    put_bytes(damaged);
    SstFileReader reader(options_);
    Status s = reader.Open(file_);
    if (s.ok()) s = reader.VerifyChecksum();
    if (s.ok()) s = reader.VerifyNumEntries(ReadOptions());
    EXPECT_TRUE(s.IsCorruption() || s.IsInvalidArgument()) << i << " " << s.ToString();
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    put_bytes(whole.substr(0, size));
    EXPECT_TRUE(SstFileReader(options_).Open(file_).IsCorruption()) << size;
  }
}

}  // namespace
}  // namespace hawthorn::rocks
