// Compressed trees: what is read is what was written, whatever lies on disk in which way; what can
// be saved is saved; damage is noticed.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kCompressedKeys = 30'000;

std::string key(uint64_t number) { return "customer/" + big_endian(mix64(number)); }

// Small and large values as programs have them, in about a third of their size compressed.
std::string text(uint64_t number) {
  Prng prng(number);
  std::string value = "{\"id\":" + std::to_string(number);
  for (uint64_t i = number % 7; i > 0; --i) {
    value += ",\"order\":{\"article\":" + std::to_string(prng.below(100'000)) +
             ",\"state\":\"delivered\",\"count\":" + std::to_string(prng.below(10)) + "}";
  }
  return value + "}";
}

class CompressionTest : public ::testing::TestWithParam<Compression> {
 protected:
  Options options() const {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    return options;
  }
  void open(const Options& how) {
    db_.reset();
    Result<std::unique_ptr<Db>> opened = Db::open(directory_ / "db", how);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = db_->tree("t").value();
  }
  void fill(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to;) {
      WriteBatch batch;
      for (int n = 0; n < 500 && i < to; ++n, ++i) batch.put(tree_, key(i), text(i));
      ASSERT_OK(db_->write(batch));
    }
  }
  void expect_all(uint64_t keys) {
    Value value;
    for (uint64_t i = 0; i < keys; i += 7) {
      ASSERT_OK(db_->get(tree_, key(i), value));
      ASSERT_EQ(value.view(), text(i));
    }
    uint64_t seen = 0;
    uint64_t bytes = 0;
    ASSERT_OK(db_->scan(tree_, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) bytes += entry.value.size();
      seen += entries.size();
      return true;
    }));
    EXPECT_EQ(seen, keys);
    uint64_t expected = 0;
    for (uint64_t i = 0; i < keys; ++i) expected += text(i).size();
    EXPECT_EQ(bytes, expected);
    EXPECT_TRUE(clean(*db_));
  }
  TreeStats stats() { return db_->stats().trees.front(); }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_P(CompressionTest, SavesSpaceAndGivesBackWhatWasWritten) {
  Options how = options();
  how.compression = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(how));
  ASSERT_NO_FATAL_FAILURE(fill(0, kCompressedKeys));
  ASSERT_OK(db_->flush());
  ASSERT_NO_FATAL_FAILURE(expect_all(kCompressedKeys));
  const TreeStats full = stats();
  EXPECT_EQ(full.compression, GetParam());
  EXPECT_LT((full.bytes_index + full.bytes_values) * 10, full.bytes_uncompressed * 7);
  // What was said at its creation stays, whatever the options say later.
  how.compression = Compression::kNone;
  ASSERT_NO_FATAL_FAILURE(open(how));
  EXPECT_EQ(stats().compression, GetParam());
  ASSERT_NO_FATAL_FAILURE(expect_all(kCompressedKeys));
}

TEST_P(CompressionTest, ChangesWhileTheTreeIsInUse) {
  ASSERT_NO_FATAL_FAILURE(open(options()));
  ASSERT_NO_FATAL_FAILURE(fill(0, kCompressedKeys));
  ASSERT_OK(db_->flush());
  const TreeStats plain = stats();
  EXPECT_EQ(plain.bytes_index + plain.bytes_values, plain.bytes_uncompressed);
  ASSERT_OK(db_->set_compression(tree_, GetParam()));
  EXPECT_EQ(stats().compression, GetParam());
  ASSERT_NO_FATAL_FAILURE(fill(kCompressedKeys, 2 * kCompressedKeys));
  ASSERT_OK(db_->flush());
  const TreeStats mixed = stats();
  EXPECT_LT(mixed.bytes_index + mixed.bytes_values, mixed.bytes_uncompressed);
  ASSERT_NO_FATAL_FAILURE(expect_all(2 * kCompressedKeys));
  // And back: garbage makes them be rewritten.
  ASSERT_OK(db_->set_compression(tree_, Compression::kNone));
  for (uint64_t i = 0; i < 2 * kCompressedKeys; ++i) ASSERT_OK(db_->put(tree_, key(i), text(i)));
  ASSERT_OK(db_->compact());
  const TreeStats back = stats();
  EXPECT_EQ(back.bytes_index + back.bytes_values, back.bytes_uncompressed);
  ASSERT_NO_FATAL_FAILURE(open(options()));
  ASSERT_NO_FATAL_FAILURE(expect_all(2 * kCompressedKeys));
}

TEST_P(CompressionTest, LeavesAloneWhatItWouldNotMakeSmaller) {
  Options how = options();
  how.compression = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(how));
  Prng prng(1);
  std::string noise(600, '\0');
  for (uint64_t i = 0; i < 20'000; ++i) {
    for (char& byte : noise) byte = static_cast<char>(prng.next());
    ASSERT_OK(db_->put(tree_, big_endian(mix64(i)), noise));
  }
  ASSERT_OK(db_->flush());
  const TreeStats stored = stats();
  EXPECT_EQ(stored.bytes_index + stored.bytes_values, stored.bytes_uncompressed);
  EXPECT_TRUE(clean(*db_));
}

TEST_P(CompressionTest, HoldsForIngests) {
  Options how = options();
  how.compression = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(how));
  IngestOptions unsorted;
  unsorted.sorted = false;
  {
    Result<Ingest> ingest = db_->ingest(tree_, unsorted);
    ASSERT_OK(ingest.status());
    for (uint64_t i = 0; i < kCompressedKeys; ++i) ASSERT_OK(ingest->add(key(i), text(i)));
    ASSERT_OK(ingest->finish());
    EXPECT_GT(ingest->stats().containers, 0u);
  }
  const TreeStats full = stats();
  EXPECT_LT((full.bytes_index + full.bytes_values) * 10, full.bytes_uncompressed * 7);
  ASSERT_NO_FATAL_FAILURE(expect_all(kCompressedKeys));
  ASSERT_NO_FATAL_FAILURE(open(how));
  ASSERT_NO_FATAL_FAILURE(expect_all(kCompressedKeys));
}

// A bit of each block that holds data is turned: reads say where, or were not concerned.
TEST_P(CompressionTest, NoticesDamage) {
  Options how = options();
  how.compression = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(how));
  ASSERT_NO_FATAL_FAILURE(fill(0, kCompressedKeys));
  ASSERT_OK(db_->close());
  db_.reset();
  const std::string path = directory_ / "db/data.0";
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t at = 100; at < size; at += 4096 * 16) {
      file.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(file.get() ^ 4);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
    }
    ASSERT_TRUE(file.good());
  }
  how.compression = Compression::kNone;
  ASSERT_NO_FATAL_FAILURE(open(how));
  Value value;
  uint64_t damaged = 0;
  for (uint64_t i = 0; i < kCompressedKeys; i += 3) {
    const Status status = db_->get(tree_, key(i), value);
    if (status.ok()) {
      ASSERT_EQ(value.view(), text(i));
      continue;
    }
    ASSERT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
    ++damaged;
  }
  EXPECT_GT(damaged, 0u);
  Result<CheckReport> report = db_->check();
  ASSERT_OK(report.status());
  EXPECT_FALSE(report->ok());
  EXPECT_NE(report->errors.front().find("data.0"), std::string::npos) << report->errors.front();
}

INSTANTIATE_TEST_SUITE_P(Codecs, CompressionTest,
                         ::testing::Values(Compression::kLz4, Compression::kZstd),
                         [](const auto& codec) {
                           return codec.param == Compression::kLz4 ? "Lz4" : "Zstd";
                         });

using CompressionOptionsTest = CompressionTest;

TEST_P(CompressionOptionsTest, OutOfRangeAreRefused) {
  Options how = options();
  how.compression = static_cast<Compression>(3);
  EXPECT_TRUE(Db::open(directory_ / "db", how).status().is(StatusCode::kInvalidArgument));
  ASSERT_NO_FATAL_FAILURE(open(options()));
  EXPECT_TRUE(
      db_->set_compression(tree_, static_cast<Compression>(3)).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->set_compression({}, GetParam()).is(StatusCode::kInvalidArgument));
  ASSERT_OK(db_->drop_tree("t"));
  EXPECT_TRUE(db_->set_compression(tree_, GetParam()).is(StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(Codecs, CompressionOptionsTest, ::testing::Values(Compression::kLz4));

// What comes again in many values, but seldom within 16 KB.
TEST_P(CompressionTest, TrainsADictionaryWhereThatHelps) {
  Options how = options();
  how.compression = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(how));
  std::vector<std::string> phrases;
  for (uint64_t i = 0; i < 100; ++i) phrases.push_back(value_of(4 * i + 3, 128));
  const auto value = [&](uint64_t number) {
    return phrases[mix64(number) % 100] + std::to_string(mix64(number));
  };
  const auto write = [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) ASSERT_OK(db_->put(tree_, big_endian(i), value(i)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
  };
  ASSERT_NO_FATAL_FAILURE(write(0, 20'000));
  const TreeStats before = stats();
  EXPECT_EQ(before.compression_dictionary, GetParam() == Compression::kZstd);
  ASSERT_NO_FATAL_FAILURE(write(20'000, 80'000));
  const TreeStats after = stats();
  const auto bytes = [](const TreeStats& tree) { return tree.bytes_index + tree.bytes_values; };
  if (GetParam() == Compression::kZstd) {
    EXPECT_LT(bytes(after) - bytes(before), bytes(before) * 3 * 9 / 10);
  }
  ASSERT_NO_FATAL_FAILURE(open(how));
  EXPECT_EQ(stats().compression_dictionary, GetParam() == Compression::kZstd);
  Value found;
  for (uint64_t i = 0; i < 80'000; i += 3) {
    ASSERT_OK(db_->get(tree_, big_endian(i), found));
    ASSERT_EQ(found.view(), value(i));
  }
  EXPECT_TRUE(clean(*db_));
  // The dictionary goes with its tree; another one may have the next.
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_NO_FATAL_FAILURE(open(how));
  ASSERT_NO_FATAL_FAILURE(write(0, 20'000));
  ASSERT_NO_FATAL_FAILURE(open(how));
  EXPECT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
