#include "format/manifest_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "format/manifest_test_batches.h"
#include "format/tree_shape.h"

namespace hawthorn::format::manifest_record_test {
namespace {

constexpr uint64_t kSalt = 0x1122334455667788;

struct RawRecord {
  ManifestRecordType type;
  std::string payload;
};

// The records of encoded batches, without any check.
std::vector<RawRecord> split(std::string_view bytes) {
  std::vector<RawRecord> records;
  while (!bytes.empty()) {
    const auto header = load<ManifestRecordHeader>(bytes.data());
    records.push_back({static_cast<ManifestRecordType>(header.type),
                       std::string(bytes.substr(sizeof(header), header.payload_bytes))});
    bytes.remove_prefix(sizeof(header) + align_up(header.payload_bytes, kManifestRecordAlign));
  }
  return records;
}

std::string encode(const ManifestBatch& batch) {
  ManifestEncoder encoder(kSalt);
  encoder.add_batch(1, batch);
  return encoder.take();
}

ContainerRecord small_container() {
  ContainerRecord record;
  record.id = 3;
  record.tree = 1;
  record.low = "abcdefgh";
  record.cut = 100;
  record.max_ts = 90;
  record.entries = 5;
  record.run = {0, 16, 2};
  record.run_checksum = 0xdead;
  record.values = {{{0, 20, 2}, 5000, 10}};
  record.large = {{1, 7, 30}};
  return record;
}

TEST(ManifestRecordTest, RandomBatchesRoundTrip) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  BatchMaker maker(kSeed);
  ManifestState state;
  for (int round = 0; round < 300; ++round) {
    const ManifestBatch batch = maker.make(state);
    const std::string bytes = encode(batch);
    ASSERT_EQ(bytes.size() % kManifestBlockBytes, 0u);
    DecodedBatch decoded;
    for (const RawRecord& record : split(bytes)) {
      if (record.type == ManifestRecordType::kBatchBegin) continue;
      if (record.type == ManifestRecordType::kBatchCommit) continue;
      const Status status = decode_change(record.type, record.payload, decoded);
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
    EXPECT_EQ(decoded.changes, batch);
    // Some of it becomes the state that the next batches refer to.
    for (const TreeRecord& tree : batch.trees_created) {
      state.trees.set(tree);
      state.next_tree = tree.id + 1;
    }
    for (const ContainerRecord& container : batch.containers_set) {
      state.containers.set(container);
    }
  }
}

TEST(ManifestRecordTest, AContainerTakesAbout200Bytes) {
  ContainerRecord record = small_container();
  while (record.values.size() < 4) record.values.push_back(record.values.front());
  record.large.clear();
  ManifestEncoder encoder(kSalt);
  encoder.set_container(record);
  EXPECT_EQ(encoder.pending_bytes(), 216u);
}

TEST(ManifestRecordTest, CheckRefusesWhatCannotBeReadBack) {
  const auto refused = [](const auto& change) {
    ContainerRecord record = small_container();
    EXPECT_TRUE(check(record).ok());
    change(record);
    return check(record).is(StatusCode::kCorruption);
  };
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.id = ~uint64_t{0}; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.cut = kLsnMax + 1; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.max_ts = kLsnMax + 1; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.run.blocks = 0; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.run = {0, ~uint32_t{0}, 1}; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.values[0].address.blocks = 0; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.values[0].bytes = kValueExtentBytesMax + 1; }));
  // Packed values, and heaps, are larger than their blocks.
  EXPECT_FALSE(refused([](ContainerRecord& r) { r.values[0].bytes = 2 * 4096 + 1; }));
  EXPECT_FALSE(refused([](ContainerRecord& r) { r.unpacked_blocks = r.run.blocks + 1; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.unpacked_blocks = r.run.blocks; }));
  EXPECT_FALSE(refused([](ContainerRecord& r) { r.wide = true; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) {
    r.wide = true;
    r.unpacked_blocks = r.run.blocks + 1;
  }));
  EXPECT_TRUE(refused([](ContainerRecord& r) {
    r.wide = true;
    r.run = {};
  }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.values[0].garbage_bytes = 5001; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.large[0].blocks = 0; }));
  EXPECT_TRUE(refused([](ContainerRecord& r) { r.large[0].block = ~uint32_t{0}; }));
  EXPECT_TRUE(
      refused([](ContainerRecord& r) { r.low = std::string(kManifestPayloadBytesMax, 'k'); }));
  EXPECT_FALSE(refused([](ContainerRecord& r) { r.run = {}; }));
  EXPECT_FALSE(check(LogEpoch{1, 10, 9, 0}).ok());
  EXPECT_FALSE(check(LogEpoch{1, 10, kLsnMax + 1, 0}).ok());
  EXPECT_TRUE(check(LogEpoch{1, 10, 10, 0}).ok());
  EXPECT_FALSE(check(TreeRecord{~uint32_t{0}, "t", 0, 0}).ok());
  EXPECT_TRUE(check(TreeRecord{1, "t", 0, 2}).ok());
  EXPECT_FALSE(check(TreeRecord{1, "t", 0, 3}).ok());
  EXPECT_TRUE(check(DictionaryRecord{1, 1, "bytes"}).ok());
  EXPECT_FALSE(check(DictionaryRecord{0, 1, "bytes"}).ok());
  EXPECT_FALSE(check(DictionaryRecord{1, 1, std::string(kDictionaryBytesMax + 1, 'd')}).ok());
  EXPECT_FALSE(check(TreeRecord{1, std::string(kManifestPayloadBytesMax, 'n'), 0, 0}).ok());
}

// A tree without one is written as ever: older versions read it.
TEST(ManifestRecordTest, MergeOperatorsStandBehindTheNamesOfTheirTrees) {
  ManifestBatch batch;
  batch.trees_created = {{1, "plain", 0, 2}, {2, "counters", 0, 0, "uint64_add"}};
  const std::vector<RawRecord> records = split(encode(batch));
  ASSERT_GE(records.size(), 3u);
  EXPECT_EQ(records[1].payload.size(), sizeof(TreeCreatePayload) + 5);
  EXPECT_EQ(records[2].payload.substr(sizeof(TreeCreatePayload)), "counters\x0auint64_add");
  DecodedBatch decoded;
  for (const size_t record : {1, 2}) {
    ASSERT_TRUE(decode_change(records[record].type, records[record].payload, decoded).ok());
  }
  EXPECT_EQ(decoded.changes.trees_created, batch.trees_created);
  EXPECT_TRUE(check(TreeRecord{1, "t", 0, 0, std::string(255, 'o')}).ok());
  EXPECT_FALSE(check(TreeRecord{1, "t", 0, 0, std::string(256, 'o')}).ok());
  EXPECT_TRUE(check(TreeRecord{2, "", 0, 0, {}, 1, 9}).ok());
  EXPECT_FALSE(check(TreeRecord{2, "", 0, 0, {}, 2, 9}).ok());
  EXPECT_FALSE(check(TreeRecord{2, "", 0, 0, {}, 0, 9}).ok());
  EXPECT_FALSE(check(TreeRecord{2, "", 0, 0, {}, 1, kLsnMax + 1}).ok());
  std::string cut = records[2].payload.substr(0, sizeof(TreeCreatePayload) + 12);
  EXPECT_FALSE(decode_change(records[2].type, cut, decoded).ok());
}

TEST(ManifestRecordTest, ShapesStandBeforeMergeOperators) {
  ManifestBatch batch;
  TreeRecord tree{2, "t", 0, 1, "adds"};
  tree.clone_of = 1;
  tree.shape = encode_tree_shape({"reverse", "bytewise", false});
  batch.trees_created = {tree};
  const std::vector<RawRecord> records = split(encode(batch));
  ASSERT_GE(records.size(), 2u);
  const std::string& payload = records[1].payload;
  EXPECT_EQ(payload.substr(sizeof(TreeCreatePayload) + 1 + sizeof(ClonePayload)),
            std::string("\xb\0", 2) + tree.shape + "\4adds");
  DecodedBatch decoded;
  ASSERT_TRUE(decode_change(records[1].type, payload, decoded).ok());
  EXPECT_EQ(decoded.changes.trees_created, batch.trees_created);
  for (size_t size = sizeof(TreeCreatePayload); size < payload.size(); ++size) {
    // Cut off behind the shape, there is no operator.
    const bool whole = payload.size() - size == 5;
    EXPECT_EQ(decode_change(records[1].type, payload.substr(0, size), decoded).ok(), whole) << size;
  }
  tree.shape += "x";
  EXPECT_FALSE(check(tree).ok());
}

TEST(ManifestRecordTest, TheLargestRecordRoundTrips) {
  ContainerRecord record = small_container();
  record.low = std::string(kManifestPayloadBytesMax - sizeof(ContainerSetPayload) -
                               sizeof(ValueExtentPayload) - sizeof(ExtentPayload),
                           'k');
  ASSERT_TRUE(check(record).ok());
  ManifestEncoder encoder(kSalt);
  encoder.set_container(record);
  DecodedBatch decoded;
  const std::string bytes = encoder.take();
  const Status status =
      decode_change(ManifestRecordType::kContainerSet, split(bytes).front().payload, decoded);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(decoded.changes.containers_set.front(), record);
}

TEST(ManifestRecordTest, PayloadsCutOffOrExtendedAreRefused) {
  ManifestBatch batch;
  batch.trees_created = {{1, "tree", 0, 0}};
  batch.trees_dropped = {1};
  batch.containers_set = {small_container()};
  batch.containers_deleted = {3};
  batch.epochs_set = {{1, 2, 3, 4}};
  batch.epochs_deleted = {1};
  batch.log_trim = 5;
  batch.lsn_reserved = 6;
  for (const RawRecord& record : split(encode(batch))) {
    if (record.type == ManifestRecordType::kBatchBegin) continue;
    if (record.type == ManifestRecordType::kBatchCommit) continue;
    for (size_t size = 0; size <= record.payload.size() + 9; ++size) {
      std::string payload = record.payload;
      payload.resize(size, 'x');
      DecodedBatch decoded;
      EXPECT_EQ(decode_change(record.type, payload, decoded).ok(), size == record.payload.size());
    }
  }
}

// Whatever decodes is encoded as the same bytes: no byte of a payload is without meaning.
TEST(ManifestRecordTest, DamagedPayloadsNeverDecodeLoosely) {
  constexpr uint64_t kSeed = 97;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  BatchMaker maker(kSeed);
  ManifestState state;
  state.trees.set({1, "t", 0, 0});
  uint64_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    for (RawRecord& record : split(encode(maker.make(state)))) {
      if (record.type == ManifestRecordType::kBatchBegin) continue;
      if (record.type == ManifestRecordType::kBatchCommit) continue;
      for (uint64_t i = prng.below(3); i < 3 && !record.payload.empty(); ++i) {
        record.payload[prng.below(record.payload.size())] = static_cast<char>(prng.next());
      }
      if (prng.one_in(10)) record.type = static_cast<ManifestRecordType>(prng.below(256));
      DecodedBatch decoded;
      decoded.snapshot = prng.one_in(2);
      if (!decode_change(record.type, record.payload, decoded).ok()) continue;
      if (record.type == ManifestRecordType::kCounters || decoded.changes.empty()) continue;
      ++accepted;
      EXPECT_EQ(split(encode(decoded.changes)).at(1).payload, record.payload);
    }
  }
  EXPECT_GT(accepted, 1000u);
}

TEST(ManifestRecordTest, GarbagePayloadsNeverCrash) {
  constexpr uint64_t kSeed = 4242;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 20000; ++round) {
    std::string payload(prng.below(300), '\0');
    for (char& c : payload) c = static_cast<char>(prng.one_in(2) ? 0 : prng.next());
    DecodedBatch decoded;
    static_cast<void>(
        decode_change(static_cast<ManifestRecordType>(prng.below(14)), payload, decoded).ok());
  }
}

}  // namespace
}  // namespace hawthorn::format::manifest_record_test
