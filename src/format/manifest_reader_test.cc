#include "format/manifest_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "format/manifest_test_batches.h"

namespace hawthorn::format {
namespace {

using Step = ManifestReader::Step;
constexpr ManifestIdentity kIdentity = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 7,
                                        0x1122334455667788};

struct Image {
  std::string bytes;
  std::vector<size_t> ends;  // of the header and of each batch
  std::vector<ManifestBatch> batches;
};

// A file of a snapshot and `count` batches of changes.
Image make_image(uint64_t seed, int count, size_t rest = 2 * kManifestBlockBytes) {
  Image image;
  image.bytes = encode_manifest_header(kIdentity);
  image.ends.push_back(image.bytes.size());
  BatchMaker maker(seed);
  ManifestState state;
  state.trees.set({1, "t", 0, 0});
  state.next_tree = 2;
  state.containers.set(maker.container(1, 1));
  state.next_container = 2;
  ManifestEncoder encoder(kIdentity.salt);
  encoder.begin(41, ManifestBatchKind::kSnapshot);
  encoder.set_counters(2, 2);
  encoder.create_tree(state.trees.at(1));
  encoder.set_container(state.containers.at(1));
  encoder.commit();
  ManifestBatch snapshot;
  snapshot.trees_created = {state.trees.at(1)};
  snapshot.containers_set = {state.containers.at(1)};
  image.batches.push_back(snapshot);
  image.bytes += encoder.take();
  image.ends.push_back(image.bytes.size());
  for (int i = 0; i < count; ++i) {
    image.batches.push_back(maker.make(state));
    encoder.add_batch(static_cast<uint64_t>(42 + i), image.batches.back());
    image.bytes += encoder.take();
    image.ends.push_back(image.bytes.size());
  }
  image.bytes.append(rest, '\0');
  return image;
}

struct Outcome {
  Status status;
  std::vector<ManifestBatch> batches;
  uint64_t torn_offset = 0;
};

// Feeds pieces of random sizes (with a prng), or all at once.
Outcome read(std::string_view file, Prng* prng = nullptr) {
  Outcome outcome;
  ManifestReader reader("manifest.7");
  size_t from = 0;
  size_t to = prng == nullptr ? file.size() : 0;
  for (;;) {
    std::string_view bytes = file.substr(from, to - from);
    Result<Step> step = reader.next(bytes, to == file.size());
    from = to - bytes.size();
    if (!step.ok()) {
      outcome.status = step.status();
      break;
    }
    if (*step == Step::kEnd) break;
    if (*step == Step::kBatch) {
      outcome.batches.push_back(reader.batch().changes);
      continue;
    }
    EXPECT_LT(to, file.size());
    EXPECT_GT(reader.wanted_bytes(), to - from);
    const size_t wanted = from + reader.wanted_bytes() + (prng == nullptr ? 0 : prng->below(9000));
    to = std::min(file.size(), wanted);
  }
  outcome.torn_offset = reader.torn_offset();
  return outcome;
}

bool is_prefix(const std::vector<ManifestBatch>& read, const std::vector<ManifestBatch>& written) {
  return read.size() <= written.size() && std::equal(read.begin(), read.end(), written.begin());
}

void expect_corruption(const Outcome& outcome) {
  ASSERT_TRUE(outcome.status.is(StatusCode::kCorruption)) << outcome.status.to_string();
  EXPECT_TRUE(outcome.status.message().starts_with("manifest.7 at ")) << outcome.status.message();
}

TEST(ManifestReaderTest, ReadsWhatWasWrittenInAnyPieces) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const Image image = make_image(seed, static_cast<int>(seed % 7), seed % 3 * 5000);
    Prng prng(seed);
    for (Prng* pieces : {static_cast<Prng*>(nullptr), &prng}) {
      const Outcome outcome = read(image.bytes, pieces);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
      EXPECT_EQ(outcome.batches, image.batches);
      EXPECT_EQ(outcome.torn_offset, 0u);
    }
  }
}

// These bytes are part of the file format: they may never change, and must be read for ever.
TEST(ManifestReaderTest, GoldenImage) {
  constexpr std::string_view kGolden =
      "484157544d414e490100000000000000000102030405060708090a0b0c0d0e0f\n"
      "07000000000000008877665544332211\n"
      "4040z\n"
      "c6d15a83b2ea03db9572935410\n"
      "11z\n"
      "01000000000000002900000000000000010000000000000012de470210000000\n"
      "01000000000000000b0000000000000006000000000000000300000000000000\n"
      "2f92f787980f0000020000000000000002000000000000002900000000000000\n"
      "3d2114f13c84c37b02\n"
      "3975z\n"
      "dc0bfe8d10000000030000000000000001000000000000002a\n"
      "15z\n"
      "3172cc73160000000400000000000000030000000000000002\n"
      "11z\n"
      "06000000676f6c64656e0000c02836bc08000000050000000000000006000000\n"
      "000000000100000000000000be57cfbca3000000060000000000000005000000\n"
      "0000000005000000000000000010000000000000ff0f0000000000004d000000\n"
      "00000000a8a7a6a5a4a3a2a10200000001000000020000000300000007000000\n"
      "020000000100000001\n"
      "35z\n"
      "040000000500000006000000581b000008000000090000000a0000000b000000\n"
      "0c0000000c0000000d0000000e0000000f0000006c6f77206b65790000000000\n"
      "dce7368308000000070000000000000004000000000000000100000000000000\n"
      "614a1f2508000000080000000000000008000000000000000200000000000000\n"
      "1206c6bc20000000090000000000000007000000000000000300000000000000\n"
      "0040000000000000ffffffffffffff3fb8b7b6b5b4b3b2b1086bd75d08000000\n"
      "0a00000000000000090000000000000000300000000000003ba5929908000000\n"
      "0b000000000000000a000000000000000050000000000000d907902ef80d0000\n"
      "0c0000000000000002000000000000002a0000000000000063077d78e6ac212e\n"
      "09\n"
      "3559z\n";
  ManifestBatch batch;
  batch.trees_created = {{2, "golden", 0, 0}};
  batch.trees_dropped = {1};
  ContainerRecord container;
  container.id = 5;
  container.tree = 2;
  container.low = "low key";
  container.cut = 0x1000;
  container.max_ts = 0xfff;
  container.entries = 77;
  container.run = {1, 2, 3};
  container.run_checksum = 0xa1a2a3a4a5a6a7a8;
  container.values = {{{4, 5, 6}, 7000, 8}, {{9, 10, 11}, 12, 12}};
  container.large = {{13, 14, 15}};
  batch.containers_set = {container};
  batch.containers_deleted = {1};
  batch.epochs_set = {{3, 0x4000, kLsnMax, 0xb1b2b3b4b5b6b7b8}};
  batch.epochs_deleted = {2};
  batch.log_trim = 0x3000;
  batch.lsn_reserved = 0x5000;
  ManifestEncoder encoder(kIdentity.salt);
  encoder.begin(41, ManifestBatchKind::kSnapshot);
  encoder.set_counters(6, 3);
  encoder.commit();
  encoder.add_batch(42, batch);
  const std::string bytes = encode_manifest_header(kIdentity) + encoder.take();
  EXPECT_EQ(hex_dump(bytes), kGolden);
  const Outcome outcome = read(undump(kGolden));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  ASSERT_EQ(outcome.batches.size(), 2u);
  EXPECT_EQ(outcome.batches[1], batch);
}

TEST(ManifestReaderTest, EveryFlippedByteIsTornTailOrCorruption) {
  const Image image = make_image(5, 4);
  std::string bytes = image.bytes;
  const size_t last_begin = image.ends[image.ends.size() - 2];
  const size_t last_end = image.ends.back();
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char old = bytes[i];
    bytes[i] = static_cast<char>(old ^ (1 << (i % 8)));
    const Outcome outcome = read(bytes);
    bytes[i] = old;
    ASSERT_TRUE(is_prefix(outcome.batches, image.batches)) << i;
    if (i < last_begin) {
      expect_corruption(outcome);
      continue;
    }
    ASSERT_TRUE(outcome.status.ok()) << i << " " << outcome.status.to_string();
    ASSERT_EQ(outcome.batches.size(), image.batches.size() - (i < last_end ? 1 : 0)) << i;
    EXPECT_EQ(outcome.torn_offset, i < last_end ? last_begin : last_end);
  }
}

TEST(ManifestReaderTest, TruncationAtEveryLengthLeavesWholeBatches) {
  const Image image = make_image(6, 3, 100);
  for (size_t size = 0; size <= image.bytes.size(); ++size) {
    const Outcome outcome = read(std::string_view(image.bytes).substr(0, size));
    if (size < image.ends[1]) {
      expect_corruption(outcome);
      continue;
    }
    ASSERT_TRUE(outcome.status.ok()) << size << " " << outcome.status.to_string();
    size_t whole = 0;
    while (whole + 1 < image.ends.size() && image.ends[whole + 1] <= size) ++whole;
    ASSERT_EQ(outcome.batches.size(), whole) << size;
    EXPECT_TRUE(is_prefix(outcome.batches, image.batches));
  }
}

// Attack 40: a torn batch followed by a committed one is damage, never skipped.
TEST(ManifestReaderTest, LostBatchBeforeAWholeOneIsCorruption) {
  const Image image = make_image(8, 5);
  for (size_t batch = 1; batch + 1 < image.batches.size(); ++batch) {
    std::string bytes = image.bytes;
    const size_t size = image.ends[batch + 1] - image.ends[batch];
    bytes.replace(image.ends[batch], size, size, '\0');
    const Outcome outcome = read(bytes);
    expect_corruption(outcome);
    EXPECT_EQ(outcome.batches.size(), batch);
    EXPECT_NE(outcome.status.message().find("a later one begins at " +
                                            std::to_string(image.ends[batch + 1])),
              std::string::npos)
        << outcome.status.message();
  }
}

TEST(ManifestReaderTest, SectorsOfATornLastBatchInAnyCombinationDropIt) {
  constexpr uint64_t kSeed = 77;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 300; ++round) {
    const Image image = make_image(prng.next(), 3);
    std::string bytes = image.bytes;
    const size_t begin = image.ends[image.ends.size() - 2];
    for (size_t sector = begin; sector < image.ends.back(); sector += 512) {
      if (prng.one_in(2)) bytes.replace(sector, 512, 512, '\0');
    }
    const bool whole = bytes == image.bytes;
    const Outcome outcome = read(bytes, &prng);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    EXPECT_EQ(outcome.batches.size(), image.batches.size() - (whole ? 0 : 1));
    EXPECT_TRUE(is_prefix(outcome.batches, image.batches));
  }
}

TEST(ManifestReaderTest, BytesOfAnotherManifestNeverValidate) {
  Image image = make_image(9, 2);
  ManifestIdentity other = kIdentity;
  other.salt += 1;
  image.bytes.replace(0, kManifestBlockBytes, encode_manifest_header(other));
  expect_corruption(read(image.bytes));
}

// Batches that validate but are out of place: copied, repeated, left out with their sequence.
TEST(ManifestReaderTest, BatchesOutOfPlaceAreCorruption) {
  const Image image = make_image(10, 4, 0);
  const auto piece = [&](size_t batch) {
    return image.bytes.substr(image.ends[batch], image.ends[batch + 1] - image.ends[batch]);
  };
  const std::string head = image.bytes.substr(0, image.ends[1]);
  expect_corruption(read(head + piece(2) + piece(1)));
  expect_corruption(read(head + piece(1) + piece(1)));
  expect_corruption(read(head + piece(2)));
  expect_corruption(read(head + piece(0)));
  expect_corruption(read(image.bytes.substr(0, image.ends[0]) + piece(1)));
}

TEST(ManifestReaderTest, RandomDamageYieldsAPrefixOrAnError) {
  constexpr uint64_t kSeed = 31337;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 3000; ++round) {
    const Image image = make_image(prng.below(20), 3);
    std::string bytes = image.bytes;
    for (uint64_t edits = 1 + prng.below(4); edits > 0; --edits) {
      const size_t at = prng.below(bytes.size());
      const size_t size = 1 + prng.below(std::min<size_t>(bytes.size() - at, 5000));
      switch (prng.below(4)) {
        case 0:
          for (size_t i = at; i < at + size; ++i) bytes[i] = static_cast<char>(prng.next());
          break;
        case 1:
          bytes.erase(at, size);
          break;
        case 2:
          bytes.insert(at, bytes.substr(prng.below(bytes.size()), size));
          break;
        default:
          bytes[at] = static_cast<char>(prng.next());
          break;
      }
      if (bytes.empty()) break;
    }
    const Outcome outcome = read(bytes, &prng);
    ASSERT_TRUE(is_prefix(outcome.batches, image.batches)) << round;
    if (!outcome.status.ok()) expect_corruption(outcome);
  }
}

// Beyond the checksums: records with a valid checksum and any content.
TEST(ManifestReaderTest, ForgedRecordsNeverCrash) {
  constexpr uint64_t kSeed = 123;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 3000; ++round) {
    const Image image = make_image(prng.below(20), 3);
    std::string bytes = image.bytes;
    size_t at = kManifestBlockBytes;
    for (uint64_t skip = prng.below(12); skip > 0 && at + 24 < image.ends.back(); --skip) {
      const auto header = load<ManifestRecordHeader>(bytes.data() + at);
      const size_t next =
          at + sizeof(header) + align_up(header.payload_bytes, kManifestRecordAlign);
      if (next >= image.ends.back()) break;
      at = next;
    }
    const size_t edited = at + 4 + prng.below(60);
    bytes[edited] = static_cast<char>(prng.next());
    const auto header = load<ManifestRecordHeader>(bytes.data() + at);
    const size_t size = sizeof(header) + align_up(header.payload_bytes, kManifestRecordAlign);
    if (at + size > bytes.size()) continue;
    store<uint32_t>(bytes.data() + at, checksum32(bytes.data() + at + 4, size - 4, kIdentity.salt));
    const Outcome outcome = read(bytes);
    if (bytes == image.bytes) continue;
    ASSERT_TRUE(is_prefix(outcome.batches, image.batches)) << round;
    if (!outcome.status.ok()) expect_corruption(outcome);
  }
}

TEST(ManifestReaderTest, GarbageIsCorruption) {
  constexpr uint64_t kSeed = 55;
  SCOPED_TRACE(kSeed);
  Prng prng(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(prng.below(20000), '\0');
    for (char& c : bytes) c = static_cast<char>(prng.next());
    expect_corruption(read(bytes, &prng));
    // A valid header before garbage: the snapshot is never torn.
    expect_corruption(read(encode_manifest_header(kIdentity) + bytes, &prng));
  }
}

}  // namespace
}  // namespace hawthorn::format
