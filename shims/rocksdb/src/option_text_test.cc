// Options as text: all of them, each way; how values are written; what is an error.

#include "shims/rocksdb/src/option_text.h"

#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>

#include <algorithm>

#include "shims/rocksdb/src/builtin_merges.h"
#include "shims/rocksdb/src/option_objects.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyOptions;
using rocksdb::ConfigOptions;
using rocksdb::DBOptions;
using rocksdb::Options;

// One of them is another value of any option.
constexpr const char* kValues[] = {"true",
                                   "false",
                                   "17",
                                   "0.5",
                                   "text",
                                   "kZSTD",
                                   "kCompactionStyleUniversal",
                                   "kRoundRobin",
                                   "kCompactionStopStyleSimilarSize",
                                   "kHot",
                                   "kFlushOnly",
                                   "kSkipAnyCorruptedRecords",
                                   "kVolatileTier",
                                   "ERROR_LEVEL",
                                   "kCRC32c",
                                   "kPrefix",
                                   "kAll",
                                   "kHashSearch",
                                   "kDataBlockBinaryAndHash",
                                   "kNoShortening",
                                   "rocksdb.ReverseBytewiseComparator",
                                   "put",
                                   "rocksdb.Noop",
                                   "vector",
                                   "bloomfilter:10:false",
                                   "PlainTable",
                                   "window_bits=5",
                                   "age_for_warm=5",
                                   "size_ratio=5",
                                   "partition_pinning=kAll",
                                   "kZSTD:kNoCompression",
                                   "1:2",
                                   "{temperature=kHot;age=5}"};
// Which the library has none of but null.
constexpr const char* kOnlyNull[] = {"wal_filter",
                                     "file_checksum_gen_factory",
                                     "flush_block_policy_factory",
                                     "compression_manager",
                                     "sst_partitioner_factory",
                                     "compaction_filter",
                                     "compaction_filter_factory"};

std::map<std::string, std::string> shown(OptionTable table, const void* of) {
  std::map<std::string, std::string> all;
  for (const OptionField& field : table) {
    if (field.show == nullptr || field.has(OptionField::kHidden)) continue;
    all[field.name] = field.show(ConfigOptions(), of).value_or("?");
  }
  return all;
}

// Each option takes another value, alone, and keeps it when it is shown, read and copied.
template <typename T>
void each_way(OptionTable table) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  const T defaults;
  const auto before = shown(table, &defaults);
  for (const auto& [name, text] : before) {
    SCOPED_TRACE(name);
    T again;
    ASSERT_OK(parse_options(table, config, {{name, text}}, &again));
    EXPECT_EQ(shown(table, &again), before);
    T other;
    const bool found = std::any_of(std::begin(kValues), std::end(kValues), [&](const char* value) {
      T tried;
      if (!parse_options(table, config, {{name, value}}, &tried).ok()) return false;
      if (shown(table, &tried).at(name) == text) return false;
      other = tried;
      return true;
    });
    const bool only_null =
        std::find(std::begin(kOnlyNull), std::end(kOnlyNull), name) != std::end(kOnlyNull);
    ASSERT_EQ(found, !only_null);
    if (only_null) continue;
    auto expected = shown(table, &other);
    T of_text;
    ASSERT_OK(parse_options(table, config, {{name, expected[name]}}, &of_text));
    EXPECT_EQ(shown(table, &of_text), expected);
    T copied;
    copy_options(table, {{name, ""}}, &other, &copied);
    EXPECT_EQ(shown(table, &copied), expected);
    expected[name] = text;
    EXPECT_EQ(expected, before);  // nothing else has changed
  }
}

TEST(OptionText, EachOptionIsReadAndShown) {
  each_way<DBOptions>(db_option_table());
  each_way<ColumnFamilyOptions>(family_option_table());
  each_way<BlockBasedTableOptions>(block_based_table());
  each_way<rocksdb::PlainTableOptions>(plain_table());
  each_way<rocksdb::CuckooTableOptions>(cuckoo_table());
  each_way<rocksdb::LRUCacheOptions>(cache_table());
}

TEST(OptionText, AllTogether) {
  DBOptions database;
  database.max_background_jobs = 7;
  database.wal_dir = "a\\b:c#d\ne";
  database.daily_offpeak_time_utc = "01:00-02:00";
  std::string text;
  ASSERT_OK(GetStringFromDBOptions(ConfigOptions(database), database, &text));
  EXPECT_NE(text.find("max_background_jobs=7;"), std::string::npos);
  EXPECT_NE(text.find("daily_offpeak_time_utc=01\\:00-02\\:00;"), std::string::npos);
  EXPECT_EQ(text.find("db_log_dir="), std::string::npos);  // empty ones are left out
  DBOptions read;
  ASSERT_OK(GetDBOptionsFromString(ConfigOptions(), DBOptions(), text, &read));
  EXPECT_EQ(read.wal_dir, database.wal_dir);
  EXPECT_EQ(shown(db_option_table(), &read), shown(db_option_table(), &database));
  ColumnFamilyOptions family;
  family.write_buffer_size = 17;
  family.compaction_options_fifo.file_temperature_age_thresholds = {
      {rocksdb::Temperature::kHot, 1}, {rocksdb::Temperature::kCold, 2}};
  family.compaction_options_fifo.allow_trivial_copy_when_change_temperature = true;
  family.compaction_options_fifo.trivial_copy_buffer_size = 17;
  ASSERT_OK(GetStringFromColumnFamilyOptions(&text, family, "; "));
  EXPECT_NE(text.find("write_buffer_size=17; "), std::string::npos);
  EXPECT_NE(text.find("comparator=leveldb.BytewiseComparator; "), std::string::npos);
  EXPECT_NE(text.find("table_factory=BlockBasedTable; "), std::string::npos);
  ColumnFamilyOptions again;
  ASSERT_OK(GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text, &again));
  EXPECT_EQ(shown(family_option_table(), &again), shown(family_option_table(), &family));
  const auto& ages = again.compaction_options_fifo.file_temperature_age_thresholds;
  ASSERT_EQ(ages.size(), 2U);
  EXPECT_EQ(ages[1].temperature, rocksdb::Temperature::kCold);
  EXPECT_EQ(ages[1].age, 2U);
  ConfigOptions config;
  config.mutable_options_only = true;
  ASSERT_OK(GetStringFromColumnFamilyOptions(config, family, &text));
  EXPECT_EQ(text.find("comparator="), std::string::npos);
  EXPECT_NE(text.find("write_buffer_size="), std::string::npos);
  family.compression = static_cast<rocksdb::CompressionType>(0x55);
  EXPECT_TRUE(GetStringFromColumnFamilyOptions(&text, family).IsInvalidArgument());
}

TEST(OptionText, MapsOfStrings) {
  const auto map = [](const std::string& text) {
    OptionMap options;
    std::string all = rocksdb::StringToMap(text, &options).ok() ? "" : "failed ";
    for (const auto& [name, value] :
         std::map<std::string, std::string>(options.begin(), options.end())) {
      all += name + "=" + value + ",";
    }
    return all;
  };
  EXPECT_EQ(map(""), "");
  EXPECT_EQ(map(" a = 1 ;b=2; "), "a=1,b=2,");
  EXPECT_EQ(map("{a=1;b={c=2;d={e=3}};}"), "a=1,b=c=2;d={e=3},");
  EXPECT_EQ(map("a=;b={}"), "a=,b=,");
  EXPECT_EQ(map("a=x=y"), "a=x=y,");
  EXPECT_EQ(map("a"), "failed ");
  EXPECT_EQ(map("=1"), "failed ");
  EXPECT_EQ(map("a;b=1"), "failed ");
  EXPECT_EQ(map("a={b=1"), "failed ");
  EXPECT_EQ(map("a={b=1}c;d=1"), "failed ");
}

// The base has another write buffer than the default; a failure leaves it.
Options of(const std::string& text, bool expected = true) {
  Options base, result;
  base.write_buffer_size = 12345;
  const rocksdb::Status s = rocksdb::GetOptionsFromString(base, text, &result);
  EXPECT_EQ(s.ok(), expected) << text << ": " << s.ToString();
  EXPECT_EQ(s.IsInvalidArgument(), !expected) << text;
  if (!expected) {
    EXPECT_EQ(result.write_buffer_size, 12345U) << text;
  }
  return result;
}

const BlockBasedTableOptions& table_of(const Options& options) {
  return *options.table_factory->GetOptions<BlockBasedTableOptions>();
}

TEST(OptionText, Numbers) {
  EXPECT_EQ(of("write_buffer_size=64M").write_buffer_size, size_t{64} << 20);
  EXPECT_EQ(of("max_total_wal_size=2G").max_total_wal_size, uint64_t{2} << 30);
  EXPECT_EQ(of("ttl=1t").ttl, uint64_t{1} << 40);
  EXPECT_EQ(of("max_open_files=3k").max_open_files, 3072);
  EXPECT_EQ(of("max_open_files=-1;allow_2pc=1").max_open_files, -1);
  EXPECT_EQ(of("ttl=18446744073709551615").write_buffer_size, 12345U);
  EXPECT_EQ(of("max_bytes_for_level_multiplier=2.5").max_bytes_for_level_multiplier, 2.5);
  for (const char* text :
       {"=", "=x", "=1x", "=1kk", "=-1", "=18446744073709551616", "=16777216t", "=0x10", "=1.5"}) {
    of(std::string("write_buffer_size") + text, false);
    of(std::string("write_buffer_size=1;write_buffer_size") + text, false);
  }
  of("block_protection_bytes_per_key=256", false);
  of("max_open_files=2147483648", false);
  of("max_bytes_for_level_multiplier=nan", false);
  of("allow_2pc=yes", false);
  of("compression=kNothing", false);
  of("compression=kCustomCompression80", false);
  of("no_such_option=1", false);
  of("compression_opts={no_such_option=1}", false);
  of("write_buffer_size.part=1", false);
}

TEST(OptionText, StructuresWithinOthers) {
  const Options options = of(
      "compression_opts={level=5;max_dict_bytes=16k};bottommost_compression_opts.level=6;"
      "compression_per_level=kNoCompression:kLZ4Compression;"
      "max_bytes_for_level_multiplier_additional=1:2:3;"
      "block_based_table_factory={block_size=8k;filter_policy=ribbonfilter:9.5:3;"
      "block_cache={capacity=4M;num_shard_bits=2};metadata_cache_options={partition_pinning=kAll}};"
      "compaction_options_universal={size_ratio=7};snap_refresh_nanos=1;create_if_missing=true");
  EXPECT_EQ(options.compression_opts.level, 5);
  EXPECT_EQ(options.compression_opts.max_dict_bytes, 16384U);
  EXPECT_EQ(options.bottommost_compression_opts.level, 6);
  EXPECT_EQ(options.compression_per_level.back(), rocksdb::kLZ4Compression);
  EXPECT_EQ(options.max_bytes_for_level_multiplier_additional, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(options.compaction_options_universal.size_ratio, 7U);
  EXPECT_TRUE(options.create_if_missing);
  const BlockBasedTableOptions& table = table_of(options);
  EXPECT_EQ(table.block_size, 8192U);
  EXPECT_EQ(table.filter_policy->GetId(), "ribbonfilter:9.5:3");
  EXPECT_EQ(table.block_cache->GetCapacity(), size_t{4} << 20);
  EXPECT_EQ(table.metadata_cache_options.partition_pinning, rocksdb::PinningTier::kAll);
  // Another factory than that of the base, which others may share.
  EXPECT_EQ(table_of(Options()).block_size, 4096U);
  ConfigOptions detailed;
  detailed.depth = ConfigOptions::kDepthDetailed;
  EXPECT_TRUE(detailed.IsDetailed());
  EXPECT_FALSE(detailed.IsShallow());
  std::string text;
  ASSERT_OK(GetStringFromColumnFamilyOptions(detailed, options, &text));
  EXPECT_NE(text.find("table_factory={id=BlockBasedTable;"), std::string::npos);
  EXPECT_EQ(table_of(of(text)).block_size, 8192U);
  EXPECT_EQ(table_of(of("table_factory.block_size=1k")).block_size, 1024U);
  EXPECT_EQ(table_of(of("block_based_table_factory.block_size=2k")).block_size, 2048U);
  EXPECT_STREQ(of("table_factory={id=PlainTable;user_key_len=8}").table_factory->Name(),
               "PlainTable");
  of("plain_table_factory={user_key_len=8}", false);  // it is another one
  of("block_based_table_factory={no_such_option=1}", false);
  BlockBasedTableOptions block;
  ASSERT_OK(GetBlockBasedTableOptionsFromString(ConfigOptions(), block, "block_size=5", &block));
  EXPECT_EQ(block.block_size, 5U);
  ASSERT_OK(
      GetBlockBasedTableOptionsFromMap(ConfigOptions(), block, {{"checksum", "kxxHash"}}, &block));
  EXPECT_EQ(block.checksum, rocksdb::kxxHash);
  EXPECT_EQ(block.block_size, 5U);
  rocksdb::PlainTableOptions plain;
  ASSERT_OK(GetPlainTableOptionsFromString(ConfigOptions(), plain, "user_key_len=5", &plain));
  ASSERT_OK(GetPlainTableOptionsFromMap(ConfigOptions(), plain, {{"full_scan_mode", "1"}}, &plain));
  EXPECT_EQ(plain.user_key_len, 5U);
  EXPECT_TRUE(plain.full_scan_mode);
}

TEST(OptionText, CompressionOptionsOfOldFiles) {
  EXPECT_EQ(of("compression_opts=1:2:3").compression_opts.strategy, 3);
  EXPECT_TRUE(of("compression_opts=1:2:3:4:5:true").compression_opts.enabled);
  const rocksdb::CompressionOptions all =
      of("bottommost_compression_opts=1:2:3:4:5:6:true:8:false").bottommost_compression_opts;
  EXPECT_EQ(all.parallel_threads, 6U);
  EXPECT_EQ(all.max_dict_buffer_bytes, 8U);
  EXPECT_TRUE(all.enabled);
  EXPECT_FALSE(all.use_zstd_dict_trainer);
  of("compression_opts=1:2", false);
  of("compression_opts=1:2:3:4:5:6:true:8:false:10", false);
}

TEST(OptionText, ObjectsByTheirNames) {
  const Options options = of(
      "comparator=rocksdb.ReverseBytewiseComparator;prefix_extractor=fixed:3;"
      "memtable_insert_with_hint_prefix_extractor=rocksdb.CappedPrefix.4;memtable=prefix_hash:100;"
      "merge_operator={id=stringappend;delimiter=|};rate_limiter_bytes_per_sec=1000;"
      "statistics=BasicStatistics;compaction_filter=nullptr;blob_cache=1M");
  EXPECT_EQ(options.comparator, rocksdb::ReverseBytewiseComparator());
  EXPECT_EQ(options.prefix_extractor->GetId(), "rocksdb.FixedPrefix.3");
  EXPECT_EQ(options.memtable_insert_with_hint_prefix_extractor->GetId(), "rocksdb.CappedPrefix.4");
  EXPECT_STREQ(options.memtable_factory->Name(), "HashSkipListRepFactory");
  EXPECT_STREQ(options.merge_operator->Name(), "StringAppendOperator");
  EXPECT_EQ(*delimiter_of(*options.merge_operator), "|");
  EXPECT_NE(options.statistics, nullptr);
  EXPECT_EQ(options.blob_cache->GetCapacity(), size_t{1} << 20);
  EXPECT_NE(options.rate_limiter, nullptr);
  std::string text;
  ASSERT_OK(GetStringFromColumnFamilyOptions(&text, options));
  EXPECT_EQ(*delimiter_of(*of(text).merge_operator), "|");
  std::unique_ptr<rocksdb::MemTableRepFactory> memtable;
  ASSERT_OK(rocksdb::GetMemTableRepFactoryFromString("skip_list:16", &memtable));
  EXPECT_STREQ(memtable->Name(), "SkipListFactory");
  EXPECT_FALSE(rocksdb::GetMemTableRepFactoryFromString("cuckoo", &memtable).ok());
  // What the library cannot make stays as it was, or is an error.
  EXPECT_EQ(of("comparator=my.comparator").comparator, rocksdb::BytewiseComparator());
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  for (const char* unknown :
       {"comparator=x", "merge_operator=x", "prefix_extractor=fixed:x", "memtable_factory=x",
        "table_factory=x", "compaction_filter=x", "compaction_filter_factory=x", "statistics=x",
        "block_based_table_factory={filter_policy=x}", "sst_partitioner_factory=x", "env=x"}) {
    Options read;
    EXPECT_TRUE(
        rocksdb::GetOptionsFromString(config, Options(), unknown, &read).IsInvalidArgument())
        << unknown;
  }
}

TEST(OptionText, MergesByTheirNames) {
  const auto merged = [](const char* name, const rocksdb::Slice* existing,
                         std::vector<rocksdb::Slice> operands) {
    std::string value;
    rocksdb::Slice kept;
    rocksdb::MergeOperator::MergeOperationOutput out(value, kept);
    EXPECT_TRUE(builtin_merge(name)->FullMergeV2({"key", existing, operands, nullptr}, &out));
    return value;
  };
  const rocksdb::Slice existing("b");
  EXPECT_EQ(merged("put", &existing, {"c", "a"}), "a");
  EXPECT_EQ(merged("stringappend", &existing, {"c", "a"}), "b,c,a");
  EXPECT_EQ(merged("stringappendtest", nullptr, {"c", "a"}), "c,a");
  EXPECT_EQ(merged("max", &existing, {"c", "a"}), "c");
  EXPECT_EQ(merged("bytesxor", nullptr, {"ab", "   "}), "AB ");
  const std::string one("\1\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(merged("uint64add", nullptr, {one, one, "x"}), std::string("\2\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(builtin_merge("sortlist"), nullptr);
}

TEST(OptionText, WhatIsIgnored) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  config.file_readahead_size = 1;
  config.registry = nullptr;
  config.invoke_prepare_options = false;
  DBOptions database;
  ASSERT_OK(
      GetDBOptionsFromMap(config, database, {{"x", "1"}, {"max_open_files", "5"}}, &database));
  EXPECT_EQ(database.max_open_files, 5);
  // A value that cannot be read is an error in any case.
  EXPECT_TRUE(GetDBOptionsFromMap(config, database, {{"max_open_files", "x"}}, &database)
                  .IsInvalidArgument());
  // Options of earlier versions mean nothing.
  ASSERT_OK(GetDBOptionsFromMap(ConfigOptions(), database, {{"allow_os_buffer", "x"}}, &database));
  config.mutable_options_only = true;
  ColumnFamilyOptions family;
  ASSERT_OK(GetColumnFamilyOptionsFromMap(config, family, {{"write_buffer_size", "5"}}, &family));
  EXPECT_EQ(family.write_buffer_size, 5U);
  EXPECT_TRUE(GetColumnFamilyOptionsFromMap(config, family, {{"num_levels", "5"}}, &family)
                  .IsInvalidArgument());
  config.input_strings_escaped = false;
  ASSERT_OK(GetDBOptionsFromMap(ConfigOptions(), database, {{"wal_dir", "a\\:b"}}, &database));
  EXPECT_EQ(database.wal_dir, "a:b");
  config.mutable_options_only = false;
  ASSERT_OK(GetDBOptionsFromMap(config, database, {{"wal_dir", "a\\:b"}}, &database));
  EXPECT_EQ(database.wal_dir, "a\\:b");
}

TEST(OptionText, Compared) {
  ColumnFamilyOptions own, file;
  ConfigOptions config;
  const auto differs = [&](const OptionMap& texts) {
    return compare_options(family_option_table(), config, &own, &file, texts).ToString();
  };
  EXPECT_EQ(differs({}), "OK");
  own.num_levels = 3;
  EXPECT_EQ(differs({}), "Invalid argument: num_levels is 3: and was 7");
  config.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  EXPECT_FALSE(config.IsCheckEnabled(ConfigOptions::kSanityLevelExactMatch));
  EXPECT_EQ(differs({}), "OK");
  // Of an object of the program's own the text alone is known.
  own.merge_operator = std::make_shared<Append>();
  EXPECT_EQ(differs({{"merge_operator", "test.Append"}}), "OK");
  EXPECT_EQ(differs({{"merge_operator", "nullptr"}}), "OK");
  EXPECT_EQ(differs({{"merge_operator", "other"}}),
            "Invalid argument: merge_operator is test.Append: and was other");
  own.comparator = rocksdb::ReverseBytewiseComparator();
  EXPECT_NE(differs({{"comparator", "leveldb.BytewiseComparator"}}), "OK");
  config.sanity_level = ConfigOptions::kSanityLevelNone;
  EXPECT_TRUE(config.IsCheckDisabled());
  EXPECT_EQ(differs({{"comparator", "leveldb.BytewiseComparator"}}), "OK");
}

TEST(OptionText, Compressions) {
  std::string text;
  ASSERT_OK(rocksdb::GetStringFromCompressionType(&text, rocksdb::kZSTD));
  EXPECT_EQ(text, "kZSTD");
  EXPECT_FALSE(GetStringFromCompressionType(&text, static_cast<rocksdb::CompressionType>(9)).ok());
  const auto& supported = rocksdb::GetSupportedCompressions();
  for (const rocksdb::CompressionType type : supported) {
    ASSERT_OK(rocksdb::GetStringFromCompressionType(&text, type));
    EXPECT_EQ(of("compression=" + text).compression, type);
  }
  EXPECT_EQ(std::count(supported.begin(), supported.end(), rocksdb::kXpressCompression), 0);
}

// Any bytes are either read or refused.
TEST(OptionText, AnyBytes) {
  const std::string base =
      "a={b={c=1;};d=2};compression_opts={level=5;};table_factory={id=PlainTable;};ttl=1k:{x";
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 20000; ++i) {
    std::string text = base;
    for (int j = 0; j < 3; ++j) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      text[state % text.size()] = "={};:.\\ #\n1k"[(state >> 32) % 12];
    }
    Options read;
    const rocksdb::Status s =
        rocksdb::GetOptionsFromString(ConfigOptions(), Options(), text, &read);
    ASSERT_TRUE(s.ok() || s.IsInvalidArgument()) << text;
  }
}

TEST(OptionText, FilesAreNotRemoved) {
  rocksdb::CancelAllBackgroundWork(nullptr, true);
  const rocksdb::RangePtr range(nullptr, nullptr);
  EXPECT_OK(rocksdb::DeleteFilesInRange(nullptr, nullptr, range.start, range.limit));
  EXPECT_OK(rocksdb::DeleteFilesInRanges(nullptr, nullptr, &range, 1));
}

}  // namespace
}  // namespace hawthorn::rocks
