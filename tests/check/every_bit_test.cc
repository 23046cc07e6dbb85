// Every bit of every kind of stored block, flipped in memory against the checksum that covers it:
// none passes. A few blocks of each kind; with HAWTHORN_FLIPS=10000 or more all there are.

#include <functional>

#include "base/checksum.h"
#include "format/device_label.h"
#include "format/followers_layout.h"
#include "format/large_value.h"
#include "format/log_record.h"
#include "format/manifest_reader.h"
#include "format/packing.h"
#include "format/run_layout.h"
#include "format/superblock.h"
#include "tests/check/every_kind.h"
#include "tree/run.h"
#include "wal/log_directory.h"

namespace hawthorn::tests {
namespace {

using format::ExtentAddress;
using testing::SimDisk;

constexpr size_t kBlock = 4096;

// The bits of [from, to) that `passes` does not notice; it must accept the bytes as they are.
size_t unnoticed(std::string bytes, size_t from, size_t to,
                 const std::function<bool(std::string_view)>& passes) {
  EXPECT_TRUE(passes(bytes)) << "not even as it was written";
  size_t count = 0;
  for (size_t at = from; at < to; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      if (passes(bytes)) {
        if (count++ == 0) ADD_FAILURE() << "bit " << bit << " of byte " << at;
      }
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    }
  }
  return count;
}
size_t unnoticed(const std::string& bytes, const std::function<bool(std::string_view)>& passes) {
  return unnoticed(bytes, 0, bytes.size(), passes);
}

class EveryBit : public ::testing::Test {
 protected:
  static const EveryKind& base() {
    static const EveryKind kBase(Left::kClosed);
    return kBase;
  }
  static bool all() { return environment_number("HAWTHORN_FLIPS", 0) >= 10'000; }
  static std::string read(const ExtentAddress& extent, uint64_t block, size_t blocks) {
    return read_file(*base().disk, data_path(extent), place_of(extent, block * kBlock),
                     blocks * kBlock);
  }
  // Of so many blocks those that are looked at.
  static bool chosen(uint32_t block, uint32_t of) { return all() || block == 0 || block + 1 == of; }
  static void expect_blocks(const format::StoredRegion& region, const ExtentAddress& extent,
                            uint32_t first, uint64_t* seen) {
    for (uint32_t i = 0; i < region.stored_blocks; ++i) {
      if (!chosen(i, region.stored_blocks) || (!all() && *seen >= 12)) continue;
      ++*seen;
      SCOPED_TRACE(data_path(extent) + " at " +
                   std::to_string(place_of(extent, (first + i) * kBlock)));
      EXPECT_EQ(unnoticed(read(extent, first + i, 1),
                          [&](std::string_view block) {
                            return tree::block_checksum(block.data()) == region.checksums[i];
                          }),
                0u);
    }
  }
};

TEST_F(EveryBit, of_runs_and_values) {
  uint64_t headers = 0;
  uint64_t index = 0;
  uint64_t heaps = 0;
  uint64_t packed_heaps = 0;
  uint64_t values = 0;
  uint64_t packed_values = 0;
  for (const auto& [id, record] : base().state.containers) {
    if (record.run.blocks == 0) continue;
    const format::RunFront front = format::run_front(record);
    const std::string area = read(record.run, 0, front.header_blocks);
    if (all() || headers < 6) {
      ++headers;
      EXPECT_EQ(
          unnoticed(
              area,
              [&, &checksum = record.run_checksum](std::string_view bytes) {
                return tree::Run::verify_header(bytes.data(), bytes.size(), checksum, "here").ok();
              }),
          0u);
    }
    const std::unique_ptr<char, void (*)(void*)> aligned(
        static_cast<char*>(std::aligned_alloc(kBlock, area.size())), std::free);
    std::memcpy(aligned.get(), area.data(), area.size());
    format::RunView view;
    ASSERT_OK(format::parse_run(aligned.get(), record.image_blocks() * kBlock, &view));
    const uint32_t blocks = view.header->index_blocks;
    const uint32_t first = view.header->header_blocks;
    expect_blocks({blocks, blocks, {}, view.checksums}, record.run, first, &index);
    const format::StoredRegion heap = view.heap_region();
    expect_blocks(heap, record.run, first + blocks, heap.packed() ? &packed_heaps : &heaps);
    for (uint32_t e = 0; e < record.values.size(); ++e) {
      const format::StoredRegion region = view.extent_region(e);
      expect_blocks(region, record.values[e].address, 0,
                    region.packed() ? &packed_values : &values);
    }
  }
  for (const uint64_t seen : {headers, index, heaps, packed_heaps, values, packed_values}) {
    EXPECT_GT(seen, 0u);
  }
}

TEST_F(EveryBit, of_large_values) {
  // As the decoder does it: the sums of chunks, and that of their table.
  const std::string chunk = value_of(5, 5000);
  const uint64_t sum = format::large_sum(chunk);
  EXPECT_EQ(unnoticed(chunk, [&](std::string_view b) { return format::large_sum(b) == sum; }), 0u);
  const std::string table = value_of(7, 96);
  const uint64_t table_sum = format::large_sum(table);
  EXPECT_EQ(unnoticed(table, [&](std::string_view b) { return format::large_sum(b) == table_sum; }),
            0u);
  const uint64_t whole = format::extend_large_checksum(0, chunk);
  EXPECT_EQ(
      unnoticed(chunk,
                [&](std::string_view b) { return format::extend_large_checksum(0, b) == whole; }),
      0u);
}

TEST_F(EveryBit, of_the_superblock) {
  const std::string file = read_file(*base().disk, "/db/superblock", 0, 2 * kBlock);
  for (const size_t slot : {0u, 1u}) {
    EXPECT_EQ(unnoticed(file.substr(slot * kBlock, kBlock),
                        [&](std::string_view block) {
                          return format::decode_superblock(block, slot).ok();
                        }),
              0u);
  }
}

// Of the manifest's last batch the reader says that it was never finished, which the writer's next
// start, and a check, take up; all else is damage.
TEST_F(EveryBit, of_the_manifest) {
  SimDisk disk(1);
  testing::SimMachine machine(disk, 1);
  {
    ASSERT_OK(disk.make_directory("/m"));
    auto manifest = db::Manifest::start(machine.machine(), "/m", {}, true);
    ASSERT_OK(manifest.status());
    format::ManifestBatch batch;
    batch.trees_created.push_back({.id = 1, .name = "a tree"});
    ASSERT_OK((*manifest)->append(batch));
  }
  const auto loaded = db::Manifest::load(machine.machine(), "/m", nullptr);
  ASSERT_OK(loaded.status());
  const std::string name = "/m/manifest." + std::to_string(loaded->number);
  const std::string file = read_file(disk, name, 0, loaded->bytes);
  const auto batches = [&](std::string_view bytes, bool* torn) -> Result<uint64_t> {
    format::ManifestReader reader("manifest");
    uint64_t count = 0;
    for (;;) {
      const auto step = reader.next(bytes, true);
      if (!step.ok()) return step.status();
      if (*step == format::ManifestReader::Step::kEnd) break;
      ++count;
    }
    *torn = reader.torn_offset() != 0;
    return count;
  };
  bool torn = false;
  const uint64_t expected = batches(file, &torn).value();
  ASSERT_FALSE(torn);
  ASSERT_GE(expected, 2u);
  EXPECT_EQ(unnoticed(file,
                      [&](std::string_view bytes) {
                        bool unfinished = false;
                        const Result<uint64_t> found = batches(bytes, &unfinished);
                        return found.ok() && (*found == expected || !unfinished);
                      }),
            0u);
}

// Header and payload of records; the up to seven zero bytes behind them mean nothing to anybody.
TEST_F(EveryBit, of_the_log) {
  constexpr uint64_t kSalt = 77;
  constexpr uint64_t kLsn = uint64_t{1} << 30;
  const std::string payload = value_of(3, 701);
  format::RecordHeader header{};
  header.length = static_cast<uint32_t>(format::record_bytes(payload.size()));
  header.lsn = kLsn;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.payload_checksum = checksum64(payload.data(), payload.size(), 0);
  header.operations = 3;
  header.type = static_cast<uint8_t>(format::RecordType::kCommit);
  format::seal(header, kSalt);
  std::string record(reinterpret_cast<const char*>(&header), sizeof(header));
  record += payload;
  EXPECT_EQ(unnoticed(record,
                      [&](std::string_view bytes) {
                        const auto read = load<format::RecordHeader>(bytes.data());
                        return format::valid(read, kLsn, kSalt) &&
                               checksum64(bytes.data() + sizeof(read), read.payload_bytes, 0) ==
                                   read.payload_checksum;
                      }),
            0u);
}

TEST_F(EveryBit, of_labels_and_followers) {
  const std::string label = format::encode_device_label(
      {.index = 1, .uuid_low = 2, .uuid_high = 3, .generation = 4, .blocks = 1 << 20});
  const std::string blank(kBlock, '\0');
  EXPECT_EQ(
      unnoticed(label + blank, 0, kBlock,
                [](std::string_view blocks) { return format::choose_device_label(blocks).ok(); }),
      0u);
  SimDisk disk(1);
  testing::SimMachine machine(disk, 1);
  auto db = open_every_kind(machine);
  ASSERT_OK(db.status());
  const std::string header = read_file(disk, "/db/followers", 0, sizeof(format::FollowersHeader));
  EXPECT_EQ(unnoticed(header,
                      [](std::string_view bytes) {
                        return format::valid(load<format::FollowersHeader>(bytes.data()));
                      }),
            0u);
}

}  // namespace
}  // namespace hawthorn::tests
