// Db::check: what it finds, how it says so, and what it leaves alone.

#include "db/check.h"

#include <algorithm>
#include <set>

#include "format/run_layout.h"
#include "tests/check/every_kind.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

using Kind = CheckItem::Kind;
using testing::SimDisk;
using testing::SimMachine;

class Check : public ::testing::Test {
 protected:
  static const EveryKind& closed() {
    static const EveryKind kClosed(Left::kClosed);
    return kClosed;
  }
  // One bit, of the byte at `offset` of an extent.
  static void flip(SimDisk& disk, const format::ExtentAddress& extent, uint64_t offset) {
    ASSERT_TRUE(disk.flip_bit(data_path(extent), place_of(extent, offset), offset % 8));
  }
  static CheckReport check(Db& db, const CheckOptions& options = {}) {
    Result<CheckReport> report = db.check(options);
    EXPECT_OK(report.status());
    return std::move(report).value();
  }
  static const CheckItem* item_at(const CheckReport& report, const std::string& file,
                                  uint64_t offset) {
    for (const CheckItem& item : report.items) {
      if (item.file == file && offset >= item.offset && offset < item.offset + item.bytes) {
        return &item;
      }
    }
    return nullptr;
  }
};

TEST_F(Check, of_every_kind_of_data_finds_nothing_wrong) {
  for (const bool read_only : {false, true}) {
    SCOPED_TRACE(read_only ? "read-only" : "read-write");
    const auto disk = closed().copy();
    SimMachine machine(*disk, 2);
    auto db = open_every_kind(machine, read_only);
    ASSERT_OK(db.status());
    const CheckReport report = check(**db);
    EXPECT_TRUE(report.ok()) << report.errors.front();
    EXPECT_EQ(report.trees, closed().state.trees.size() - 1);
    EXPECT_GE(report.containers, report.trees);
    EXPECT_GT(report.entries, 4000u);
    EXPECT_EQ(report.subtrees, 1u);
    EXPECT_GE(report.large_values, 6u);
    EXPECT_GT(report.manifest_batches, 0u);
    EXPECT_EQ(report.bytes_unaccounted, 0u);
    // All that is in use, and the small files.
    const uint64_t used = (*db)->stats().disk_bytes_reachable;
    EXPECT_GE(report.blocks_verified * 4096, used);
    EXPECT_GT(report.bytes_verified, report.blocks_verified * 4096);
  }
}

TEST_F(Check, without_values_or_files_reads_less) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  const CheckReport all = check(**db);
  const CheckReport indexes = check(**db, {.verify_values = false, .verify_files = false});
  EXPECT_TRUE(indexes.ok());
  EXPECT_LT(indexes.blocks_verified, all.blocks_verified / 2);
  EXPECT_EQ(indexes.entries, all.entries);
  EXPECT_EQ(indexes.manifest_batches, 0u);
}

TEST_F(Check, options_out_of_range_are_refused) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  EXPECT_TRUE((*db)->check({.threads = 0}).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE((*db)->check({.threads = 65}).status().is(StatusCode::kInvalidArgument));
}

// One bit in one block of each part of each container, all at once: each is found, and said to be
// where it is.
TEST_F(Check, finds_all_that_is_damaged) {
  const auto disk = closed().copy();
  struct Place {
    std::string file;
    uint64_t offset;
    format::ContainerRecord record;
  };
  std::vector<Place> places;
  const auto damage = [&](const format::ContainerRecord& record,
                          const format::ExtentAddress& extent, uint64_t offset) {
    flip(*disk, extent, offset);
    places.push_back({"data." + std::to_string(extent.file), place_of(extent, offset), record});
  };
  Prng prng(3);
  for (const auto& [id, record] : closed().state.containers) {
    // The catalog must open.
    if (record.run.blocks == 0 || record.tree == format::kCatalogTree) continue;
    const format::RunFront front = format::run_front(record);
    if (record.run.blocks > front.header_blocks) {
      const uint32_t blocks = record.run.blocks - front.header_blocks;
      damage(record, record.run,
             (front.header_blocks + prng.below(blocks)) * 4096 + prng.below(4096));
    }
    for (const format::ValueExtentRecord& value : record.values) {
      damage(record, value.address, prng.below(uint64_t{value.address.blocks} * 4096));
    }
  }
  ASSERT_GE(places.size(), 20u);
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  const CheckReport report = check(**db);
  for (const Place& place : places) {
    SCOPED_TRACE(place.file + " at " + std::to_string(place.offset));
    const CheckItem* item = item_at(report, place.file, place.offset);
    ASSERT_NE(item, nullptr) << "not found";
    EXPECT_EQ(item->kind, Kind::kChecksum);
    EXPECT_EQ(item->bytes, 4096u);
    EXPECT_EQ(item->container, place.record.id);
    EXPECT_EQ(item->tree, place.record.tree);
    EXPECT_EQ(item->low_key, place.record.low);
    EXPECT_EQ(item->tree_name, closed().state.trees.at(place.record.tree).name);
    EXPECT_NE(
        item->to_string().find(place.file + " at " + std::to_string(place.offset / 4096 * 4096)),
        std::string::npos)
        << item->to_string();
  }
  EXPECT_EQ(report.items.size(), places.size()) << "told twice, or of what is whole";
  EXPECT_EQ(report.errors.size(), report.items.size());
  // In parts, the same.
  const CheckReport few = check(**db, {.errors_max = 3});
  EXPECT_EQ(few.items.size(), 3u);
  EXPECT_EQ(few.errors_left_out, places.size() - 3);
  EXPECT_FALSE(few.ok());
}

TEST_F(Check, finds_damage_anywhere_in_large_values) {
  // Bytes, tables of sums, and what fills up the last block.
  std::set<uint64_t> seen;
  for (const format::ContainerRecord& record : closed().containers("large")) {
    for (const format::ExtentAddress& extent : record.large) {
      const uint64_t bytes = uint64_t{extent.blocks} * 4096;
      for (const uint64_t offset :
           {uint64_t{0}, bytes / 2, bytes - 4096, bytes - 2000, bytes - 9, bytes - 1}) {
        const auto disk = closed().copy();
        flip(*disk, extent, offset);
        SimMachine machine(*disk, 2);
        auto db = open_every_kind(machine, true);
        ASSERT_OK(db.status());
        const CheckReport report = check(**db);
        const CheckItem* item =
            item_at(report, "data." + std::to_string(extent.file), place_of(extent, offset));
        ASSERT_NE(item, nullptr) << "byte " << offset << " of " << bytes;
        EXPECT_EQ(item->low_key, record.low);
        EXPECT_NE(item->what.find("large value"), std::string::npos);
        seen.insert(offset);
      }
    }
  }
  EXPECT_GT(seen.size(), 10u);
}

TEST_F(Check, names_the_header_of_a_run) {
  const format::ContainerRecord record = closed().containers("separated").front();
  const auto disk = closed().copy();
  flip(*disk, record.run, 100);
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  const CheckReport report = check(**db);
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].container, record.id);
  EXPECT_EQ(report.items[0].offset, place_of(record.run));
  EXPECT_NE(report.items[0].what.find("header area"), std::string::npos);
}

TEST_F(Check, reads_both_slots_of_the_superblock) {
  for (const uint64_t offset : {uint64_t{70}, uint64_t{4096 + 2000}}) {
    const auto disk = closed().copy();
    ASSERT_TRUE(disk->flip_bit("/db/superblock", offset, 1));
    SimMachine machine(*disk, 2);
    auto db = open_every_kind(machine, true);
    ASSERT_OK(db.status());  // the other slot serves
    const CheckReport report = check(**db);
    ASSERT_EQ(report.items.size(), 1u);
    EXPECT_EQ(report.items[0].file, "superblock");
    EXPECT_EQ(report.items[0].offset, offset / 4096 * 4096);
  }
}

TEST_F(Check, reads_both_slots_of_the_file_of_keys) {
  static const EveryKind kEncrypted(Left::kClosed, true);
  for (const bool read_only : {false, true}) {
    for (const uint64_t offset : {uint64_t{70}, uint64_t{4096 + 2000}}) {
      const auto disk = kEncrypted.copy();
      SimMachine machine(*disk, 2);
      auto db = open_every_kind(machine, read_only, true);
      ASSERT_OK(db.status());
      if (!read_only) ASSERT_OK((*db)->rotate_key("second"));
      EXPECT_TRUE(check(**db).ok());
      ASSERT_TRUE(disk->flip_bit("/db/keys", offset, 1));
      db->reset();
      db = open_every_kind(machine, read_only, true);
      ASSERT_OK(db.status());  // the other slot serves
      const CheckReport report = check(**db);
      ASSERT_EQ(report.items.size(), 1u);
      EXPECT_EQ(report.items[0].file, "keys");
      EXPECT_EQ(report.items[0].offset, offset / 4096 * 4096);
      EXPECT_EQ(report.items[0].bytes, 4096u);
      EXPECT_NE(report.items[0].what.find("checksum mismatch"), std::string::npos)
          << report.items[0].what;
    }
  }
}

TEST_F(Check, tells_a_file_of_keys_that_is_cut_off_or_of_two_minds) {
  const EveryKind encrypted(Left::kClosed, true);
  const std::string before = read_file(*encrypted.disk, "/db/keys", 0, 8192);
  SimMachine machine(*encrypted.disk, 2);
  auto db = open_every_kind(machine, false, true);
  ASSERT_OK(db.status());
  ASSERT_OK((*db)->rotate_key("second"));
  auto file = encrypted.disk->open_file("/db/keys", {});
  ASSERT_OK(file.status());
  ASSERT_OK((*file)->write_at(4096, before.substr(4096)));
  CheckReport report = check(**db);
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].to_string(),
            "keys at 4096, 4096 bytes: a slot: it differs from the first one");
  ASSERT_OK((*file)->truncate(4096));
  report = check(**db);
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].offset, 4096u);
  EXPECT_NE(report.items[0].what.find("cut off"), std::string::npos) << report.items[0].what;
  ASSERT_OK((*db)->rotate_data_key());  // writes both anew
  EXPECT_TRUE(check(**db).ok());
}

// While it is open, what it has in memory hides damage on disk from everybody but the check.
TEST_F(Check, reads_what_is_in_memory_from_disk) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open_every_kind(machine);
  ASSERT_OK(db.status());
  fill_every_kind(**db, true);
  EXPECT_TRUE(check(**db).ok());
  const auto loaded = db::Manifest::load(machine.machine(), "/db", nullptr);
  ASSERT_OK(loaded.status());
  // The manifest, in its snapshot.
  const std::string manifest = "manifest." + std::to_string(loaded->number);
  ASSERT_TRUE(disk.flip_bit("/db/" + manifest, 4096 + 30, 1));
  CheckReport report = check(**db);
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].file, manifest);
  EXPECT_EQ(report.items[0].offset, 4096u);
  // In its last batch, which would pass for one that was never finished.
  ASSERT_TRUE(disk.flip_bit("/db/" + manifest, 4096 + 30, 1));
  ASSERT_TRUE(disk.flip_bit("/db/" + manifest, loaded->bytes - 2000, 1));
  report = check(**db);
  ASSERT_EQ(report.items.size(), 1u) << "the last batch is missing";
  EXPECT_EQ(report.items[0].file, manifest);
  EXPECT_EQ(report.items[0].kind, Kind::kReference);
  ASSERT_TRUE(disk.flip_bit("/db/" + manifest, loaded->bytes - 2000, 1));
  EXPECT_TRUE(check(**db).ok());
  Everything found;
  EXPECT_OK(read_everything(**db, &found));
}

TEST_F(Check, reads_the_log_in_its_segments) {
  SimDisk disk(5);
  SimMachine machine(disk, 1);
  auto db = open_every_kind(machine);
  ASSERT_OK(db.status());
  const Tree tree = every_kind::tree(**db, "t");
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_OK((*db)->put(tree, big_endian(i), value_of(i, 700)));
    if (i % 100 == 50) ASSERT_OK((*db)->sync());
  }
  ASSERT_OK((*db)->sync());
  const CheckReport whole = check(**db);
  ASSERT_TRUE(whole.ok()) << whole.errors.front();
  EXPECT_GE(whole.log_records, 300u);
  const auto names = disk.list("/db");
  ASSERT_OK(names.status());
  const auto segment = std::find_if(names->begin(), names->end(), [](const std::string& name) {
    return name.starts_with("wal.0");
  });
  ASSERT_NE(segment, names->end());
  // Two places, a record and more apart.
  for (const uint64_t at : {50'000, 120'000}) {
    ASSERT_TRUE(disk.flip_bit("/db/" + *segment, at, 2));
  }
  const CheckReport report = check(**db);
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_NE(item_at(report, *segment, 50'000), nullptr);
  EXPECT_NE(item_at(report, *segment, 120'000), nullptr);
  EXPECT_EQ(report.log_records, whole.log_records - 2);
  // What is flushed needs that log no more.
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->drain());
  EXPECT_TRUE(check(**db).ok());
}

TEST_F(Check, reads_a_log_that_was_left) {
  const EveryKind killed(Left::kKilled);
  const auto disk = killed.copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  const CheckReport report = check(**db);
  EXPECT_TRUE(report.ok()) << report.errors.front();
  EXPECT_GE(report.log_records, 200u);
  EXPECT_EQ(report.bytes_unaccounted, 0u);
}

TEST_F(Check, keeps_to_its_rate) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  constexpr uint64_t kRate = 1 << 20;
  const uint64_t began = machine.clock().monotonic_us();
  const CheckReport report = check(**db, {.bytes_per_second = kRate});
  const auto us = static_cast<double>(machine.clock().monotonic_us() - began);
  EXPECT_TRUE(report.ok());
  const double wanted_us = 1e6 * static_cast<double>(report.bytes_verified) / kRate;
  // Besides a tenth of a second that was saved up, and the last read.
  EXPECT_GT(us, wanted_us - 6e5);
  EXPECT_LT(us, wanted_us * 1.2 + 6e5);
}

// What is cached is neither used nor changed, and what counts as read by readers neither.
TEST_F(Check, leaves_the_cache_alone) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  // The catalog is read by reads.
  check(**db);
  const Stats before = (*db)->stats();
  const CheckReport report = check(**db);
  const Stats after = (*db)->stats();
  EXPECT_GT(report.blocks_verified, 100u);
  EXPECT_EQ(after.memory_used_bytes, before.memory_used_bytes);
  EXPECT_EQ(after.memory_index_bytes, before.memory_index_bytes);
  EXPECT_EQ(after.memory_value_bytes, before.memory_value_bytes);
  EXPECT_EQ(after.memory_frame_bytes, before.memory_frame_bytes);
  EXPECT_EQ(after.frame_misses, before.frame_misses);
  EXPECT_EQ(after.bytes_read, before.bytes_read);
}

// Real threads, real files; the same as one by one.
TEST_F(Check, in_parallel_says_the_same) {
  const TempDirectory directory;
  Options options = every_kind_options();
  options.memory_budget_bytes = size_t{64} << 20;
  auto db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  fill_every_kind(**db, false);
  const Tree tree = every_kind::tree(**db, "many");
  ASSERT_OK(ingest_all(**db, tree, numbered(0, 20'000, 300)));
  ASSERT_OK((*db)->close());
  db->reset();
  options.read_only = true;
  db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  uint64_t steps = 0;
  const CheckReport one = check(**db);
  const CheckReport four =
      check(**db, {.progress = [&](uint64_t, uint64_t) { ++steps; }, .threads = 4});
  EXPECT_TRUE(one.ok()) << one.errors.front();
  EXPECT_TRUE(four.ok()) << four.errors.front();
  EXPECT_EQ(four.blocks_verified, one.blocks_verified);
  EXPECT_EQ(four.entries, one.entries);
  EXPECT_EQ(four.containers, one.containers);
  EXPECT_EQ(four.large_values, one.large_values);
  EXPECT_GE(steps, four.containers);
}

// A device that does not answer is no damage, and is told.
TEST_F(Check, tells_what_could_not_be_read) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine, true);
  ASSERT_OK(db.status());
  const auto extent = closed().containers("separated").front().values.front().address;
  disk->fail_path("/db/data." + std::to_string(extent.file), testing::SimOp::kRead, 1,
                  StatusCode::kIoError, true);
  const CheckReport report = check(**db);
  EXPECT_FALSE(report.ok());
  for (const CheckItem& item : report.items) {
    EXPECT_EQ(item.kind, Kind::kUnchecked) << item.to_string();
  }
  disk->clear_faults();
  EXPECT_TRUE(check(**db).ok());
}

// Space that is in use and belongs to nobody the check knows, while a value is being written.
TEST_F(Check, accounts_for_all_space) {
  const auto disk = closed().copy();
  SimMachine machine(*disk, 2);
  auto db = open_every_kind(machine);
  ASSERT_OK(db.status());
  EXPECT_EQ(check(**db).bytes_unaccounted, 0u);
  const Tree tree = every_kind::tree(**db, "large");
  uint64_t seen = 0;
  {
    auto transaction = (*db)->begin(TxnMode::kOptimistic);
    ASSERT_OK(transaction.status());
    uint64_t left = 20'000'000;
    ASSERT_OK(transaction->put_stream(tree, "k", left, [&](std::span<char> to) -> Result<size_t> {
      const size_t size = std::min<size_t>(to.size(), left);
      std::fill_n(to.data(), size, 'x');
      left -= size;
      if (left < 1'000'000 && seen == 0) seen = check(**db).bytes_unaccounted;
      return size;
    }));
    EXPECT_EQ(check(**db).bytes_unaccounted, 0u) << "its transaction has it";
  }
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(check(**db).bytes_unaccounted, 0u);
  EXPECT_TRUE(check(**db).ok());
}

}  // namespace
}  // namespace hawthorn::tests
