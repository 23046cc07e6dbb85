#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/manifest_image.h"
#include "db/manifest_test_fixture.h"
#include "format/manifest_record.h"
#include "hawthorn/version.h"
#include "testing/source_tree.h"

namespace hawthorn::db {
namespace {

using namespace manifest_fixture;

TEST(ManifestTest, NewDatabase) {
  Fixture f;
  EXPECT_FALSE(*Manifest::exists(f.machine(), kDirectory));
  EXPECT_TRUE(f.load().status().is_not_found());
  auto manifest = f.create();
  EXPECT_TRUE(*Manifest::exists(f.machine(), kDirectory));
  EXPECT_EQ(f.names(), (std::vector<std::string>{"manifest.1", "manifest.spare", "superblock"}));
  Result<LoadedManifest> loaded = f.load();
  must(loaded.status());
  EXPECT_EQ(f.warning, "");
  EXPECT_EQ(loaded->state, ManifestState());
  EXPECT_EQ(loaded->number, 1u);
  EXPECT_EQ(loaded->generation, 2u);
  EXPECT_NE(loaded->uuid_low, 0u);
  // Not a second time.
  EXPECT_TRUE(
      Manifest::start(f.machine(), kDirectory, {}, true).status().is(StatusCode::kInvalidArgument));
}

TEST(ManifestTest, ANewDatabaseIsNotMadeOverManifestsWithoutASuperblock) {
  Fixture f;
  f.create();
  f.reopen();
  must(f.disk.remove("/db/superblock"));
  EXPECT_TRUE(f.load().status().is_not_found());
  EXPECT_TRUE(
      Manifest::start(f.machine(), kDirectory, {}, true).status().is(StatusCode::kInvalidArgument));
}

TEST(ManifestTest, RandomBatchesSurviveReopening) {
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  Fixture f(kSeed);
  BatchMaker maker(kSeed);
  ManifestState model;
  auto manifest = f.create();
  uint64_t opens = 1;
  for (int round = 0; round < 600; ++round) {
    const ManifestBatch batch = maker.make(model);
    must(apply(batch, model));
    must(manifest->append(batch));
    ASSERT_EQ(manifest->state(), model) << round;
    if (round % 20 != 0) continue;
    Result<LoadedManifest> loaded = f.load();
    must(loaded.status());
    ASSERT_EQ(loaded->state, model) << round;
    EXPECT_EQ(f.warning, "");
    if (round % 300 == 0) {
      manifest = f.reopen();
      ++opens;
    }
  }
  EXPECT_EQ(model.last_batch, 600u);
  EXPECT_GT(manifest->number(), opens);  // rewritten in between
  EXPECT_EQ(f.names().size(), 3u);
}

// However many records there are of a kind, little of them is in memory at once.
TEST(ManifestTest, AStateIsWrittenInPieces) {
  ManifestState state;
  for (uint32_t i = 1; i <= 1000; ++i) {
    format::TreeRecord tree;
    tree.id = i;
    tree.name = "tree " + std::to_string(i);
    state.trees.set(tree);
    format::DictionaryRecord dictionary;
    dictionary.id = i;
    dictionary.tree = i;
    dictionary.bytes = std::string(1000, 'd');
    state.dictionaries.insert({i, dictionary});
    format::SnapshotRecord snapshot;
    snapshot.name = "snapshot " + std::to_string(i);
    state.snapshots.insert({snapshot.name, snapshot});
    format::ContainerRecord container;
    container.id = i;
    container.tree = i;
    state.containers.set(container);
  }
  format::ManifestEncoder encoder(0);
  size_t pieces = 0;
  const Status status = encode_state(state, encoder, [&] {
    EXPECT_LT(encoder.pending_bytes(), 2000u);
    if (!encoder.take().empty()) ++pieces;
    return Status();
  });
  must(status);
  EXPECT_GE(pieces, 4000u);
  EXPECT_LT(encoder.pending_bytes(), 2000u);
}

TEST(ManifestTest, WorksOnTheRealFileSystem) {
  std::string directory = (std::filesystem::temp_directory_path() / "hawthorn_XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  BatchMaker maker(3);
  ManifestState model;
  for (int open = 0; open < 5; ++open) {
    LoadedManifest previous;
    if (open > 0) {
      std::string warning;
      Result<LoadedManifest> loaded = Manifest::load(os::real_machine(), directory, &warning);
      must(loaded.status());
      EXPECT_EQ(loaded->state, model);
      EXPECT_EQ(warning, "");
      previous = *std::move(loaded);
    }
    auto manifest = Manifest::start(os::real_machine(), directory, std::move(previous), open == 0);
    must(manifest.status());
    for (int i = 0; i < 20; ++i) {
      const ManifestBatch batch = maker.make(model);
      must(apply(batch, model));
      must((*manifest)->append(batch));
    }
  }
  std::filesystem::remove_all(directory);
}

TEST(ManifestTest, RewritesBeyondTwiceTheSnapshot) {
  Fixture f;
  auto manifest = f.create();
  ManifestBatch batch;
  batch.trees_created = {{1, "t", 0, 0}};
  must(manifest->append(batch));
  ManifestBatch reserve;
  for (uint64_t i = 1; i <= 1000; ++i) {
    reserve.lsn_reserved = i;
    must(manifest->append(reserve));
    EXPECT_LE(manifest->bytes(), (uint64_t{1} << 20) + 3 * 4096);
  }
  EXPECT_EQ(manifest->number(), 4u);  // 1 MB takes 255 batches
  EXPECT_EQ(f.names().size(), 3u);
  EXPECT_EQ(f.load()->state, manifest->state());
}

TEST(ManifestTest, AppendsDoNotChangeTheFileSizeEachTime) {
  Fixture f;
  auto manifest = f.create();
  const uint64_t before = f.disk.counters().allocates;
  ManifestBatch reserve;
  for (uint64_t i = 1; i <= 100; ++i) {
    reserve.lsn_reserved = i;
    must(manifest->append(reserve));
  }
  EXPECT_LE(f.disk.counters().allocates - before, 16u);  // half of them the spare's
}

TEST(ManifestTest, BatchesThatDoNotFitAreRefusedAndChangeNothing) {
  Fixture f;
  auto manifest = f.create();
  BatchMaker maker(9);
  ManifestBatch first;
  first.trees_created = {{1, "t", 0, 0}, {2, "u", 0, 0}};
  first.containers_set = {maker.container(1, 1), maker.container(2, 2)};
  first.epochs_set = {{1, 0, 10, 0}};
  must(manifest->append(first));
  const ManifestState before = manifest->state();
  const auto refused = [&](const auto& change) {
    ManifestBatch batch;
    batch.log_trim = 7;
    change(batch);
    const bool corrupt = manifest->append(batch).is(StatusCode::kCorruption);
    EXPECT_EQ(manifest->state(), before);
    return corrupt;
  };
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_created = {{1, "again", 0, 0}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_created = {{3, "", 0, 0}, {3, "", 0, 0}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_dropped = {3}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_dropped = {1, 1}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.containers_deleted = {3}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.containers_deleted = {1, 1}; }));
  EXPECT_TRUE(refused([&](ManifestBatch& b) { b.containers_set = {maker.container(3, 9)}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.epochs_deleted = {2}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.epochs_set = {{2, 5, 4, 0}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.lsn_reserved = format::kLsnMax + 1; }));
  ManifestBatch drop;
  drop.trees_dropped = {1};
  must(manifest->append(drop));
  EXPECT_FALSE(manifest->state().containers.contains(1));
  EXPECT_TRUE(manifest->state().containers.contains(2));
  // A dropped tree's id is not given again, not even after reopening.
  manifest = f.reopen();
  ManifestBatch again;
  again.trees_created = {{1, "t", 0, 0}};
  EXPECT_TRUE(manifest->append(again).is(StatusCode::kCorruption));
  EXPECT_EQ(manifest->state().next_container, 3u);
}

TEST(ManifestTest, AFullDiskChangesNothingAndIsNotFinal) {
  Fixture f;
  auto manifest = f.create();
  f.disk.set_capacity(f.disk.used_bytes());
  // What leaves the state as large as it is goes on for ever: manifest and spare take turns.
  ManifestBatch reserve;
  for (uint64_t i = 1; i <= 1000; ++i) {
    reserve.lsn_reserved = i;
    must(manifest->append(reserve));
  }
  EXPECT_TRUE(manifest->short_of_room() || manifest->keep_room().ok());
  EXPECT_EQ(f.load()->state, manifest->state());
  manifest = f.reopen();
  must(manifest->append(reserve));
  ManifestBatch grow;
  for (uint32_t id = 1; id < 1000; ++id) {
    grow.trees_created.push_back({id, std::string(200, 't') + std::to_string(id), 0, 0});
  }
  const Status status = manifest->append(grow);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_EQ(manifest->append(grow).code(), StatusCode::kNoSpace);
  EXPECT_EQ(f.load()->state, manifest->state());
  must(manifest->append(reserve));
  f.disk.set_capacity(0);
  for (int i = 0; i < 10; ++i) must(manifest->append(reserve));
  must(manifest->append(grow));
  EXPECT_EQ(f.load()->state, manifest->state());
}

// A start keeps the file before its own where there is no space for a new one: what room it has
// others must not take.
TEST(ManifestTest, WithLittleSpaceTheFileBeforeIsTheSpare) {
  Fixture f;
  auto manifest = f.create();
  manifest->expect_growth(uint64_t{100} << 10);
  must(manifest->keep_room());
  const uint64_t large = f.read("manifest.spare").size();
  f.disk.set_capacity(f.disk.used_bytes() - (uint64_t{60} << 10));
  manifest.reset();  // what is open keeps its space
  EXPECT_NE(f.reopen(), nullptr);
  EXPECT_EQ(f.read("manifest.spare").size(), large);
  f.disk.set_capacity(f.disk.used_bytes());
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(f.reopen(), nullptr);
    EXPECT_GE(f.read("manifest.spare").size(), large);
  }
}

TEST(ManifestTest, TrimmedItKeepsWhatAFullDiskNeeds) {
  Fixture f;
  auto manifest = f.create();
  manifest->expect_growth(uint64_t{8} << 20);
  must(manifest->keep_room());
  ManifestBatch reserve;
  reserve.lsn_reserved = 1;
  must(manifest->append(reserve));
  const ManifestState state = manifest->state();
  const uint64_t before = f.disk.used_bytes();
  must(manifest->trim());
  EXPECT_LE(f.read("manifest.1").size(), manifest->bytes() + (uint64_t{128} << 10));
  EXPECT_EQ(f.read("manifest.spare").size(), f.read("manifest.1").size());
  EXPECT_LT(f.disk.used_bytes(), before - (uint64_t{15} << 20));
  EXPECT_EQ(f.load()->state, state);
  must(manifest->trim());  // there is no more
  // It takes batches, the disk being full; and so it does when it is opened again.
  f.disk.set_capacity(f.disk.used_bytes());
  for (uint64_t round = 2; round < 6; ++round) {
    reserve.lsn_reserved = round;
    must(manifest->append(reserve));
    must(manifest->trim());
    manifest.reset();
    ASSERT_NE(manifest = f.reopen(), nullptr) << round;
    EXPECT_EQ(manifest->state().lsn_reserved, round);
  }
}

TEST(ManifestTest, ATrimThatFailsLosesNothing) {
  for (const SimOp op : {SimOp::kAny, SimOp::kSync}) {
    for (uint64_t nth = 1; nth <= 4; ++nth) {
      Fixture f;
      auto manifest = f.create();
      manifest->expect_growth(uint64_t{1} << 20);
      must(manifest->keep_room());
      ManifestBatch reserve;
      reserve.lsn_reserved = 7;
      must(manifest->append(reserve));
      f.disk.fail(op, nth, StatusCode::kIoError);
      const bool failed = !manifest->trim().ok();
      EXPECT_EQ(failed, f.disk.counters().faults > 0) << nth;
      f.disk.clear_faults();
      EXPECT_EQ(f.load()->state, manifest->state());
      EXPECT_NE(f.reopen(), nullptr);
    }
  }
}

TEST(ManifestTest, ARewriteWithoutSpaceIsPutOff) {
  Fixture f;
  auto manifest = f.create();
  ManifestBatch reserve;
  for (uint64_t i = 1; manifest->bytes() <= uint64_t{1} << 20; ++i) {
    reserve.lsn_reserved = i;
    must(manifest->append(reserve));
  }
  f.disk.fail_path("manifest.2", SimOp::kAny, 1, StatusCode::kNoSpace, true);
  for (int i = 0; i < 100; ++i) must(manifest->append(reserve));
  EXPECT_EQ(manifest->number(), 1u);
  EXPECT_EQ(f.load()->state, manifest->state());
  f.disk.clear_faults();
  for (int i = 0; i < 300; ++i) must(manifest->append(reserve));
  EXPECT_EQ(manifest->number(), 2u);
  EXPECT_EQ(f.load()->state, manifest->state());
}

// No file can be opened, with a spare or without one: what is open goes on.
TEST(ManifestTest, WithoutDescriptorsThePresentFileGrows) {
  for (const bool spare : {true, false}) {
    for (const bool grows : {true, false}) {
      Fixture f;
      auto manifest = f.create();
      if (!spare) must(f.disk.remove(std::string(kDirectory) + "/manifest.spare"));
      f.disk.fail(SimOp::kOpen, 1, StatusCode::kNoSpace, true);
      if (grows) manifest->expect_growth(uint64_t{1} << 20);
      ManifestBatch reserve;
      uint64_t i = 0;
      while (manifest->bytes() <= uint64_t{3} << 20) {
        reserve.lsn_reserved = ++i;
        must(manifest->append(reserve));
        const Status room = manifest->keep_room();
        ASSERT_TRUE(room.ok() || room.is(StatusCode::kNoSpace)) << room.to_string();
      }
      EXPECT_EQ(manifest->number(), 1u);
      must(manifest->trim());
      f.disk.clear_faults();
      EXPECT_EQ(f.load()->state, manifest->state());
      for (int more = 0; more < 300; ++more) {
        reserve.lsn_reserved = ++i;
        must(manifest->append(reserve));
      }
      EXPECT_GT(manifest->number(), 1u);
      EXPECT_EQ(f.load()->state, manifest->state());
    }
  }
}

// It is a precaution only.
TEST(ManifestTest, ASpareThatCannotBeMadeIsToldAndTriedAgain) {
  for (const SimOp op : {SimOp::kAny, SimOp::kSync, SimOp::kAllocate}) {
    for (const StatusCode code : {StatusCode::kIoError, StatusCode::kReadOnly}) {
      Fixture f;
      auto manifest = f.create();
      std::vector<std::string> warnings;
      manifest->on_warning([&](std::string_view message) { warnings.emplace_back(message); });
      f.disk.fail_path("manifest.spare", op, 1, code, true);
      manifest->expect_growth(uint64_t{1} << 20);
      ManifestBatch reserve;
      for (uint64_t i = 1; i <= 400; ++i) {
        reserve.lsn_reserved = i;
        must(manifest->append(reserve));
        must(manifest->keep_room());
      }
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings[0].find("manifest.spare"), std::string::npos) << warnings[0];
      EXPECT_FALSE(manifest->short_of_room());
      // Beyond a rewrite, which needs a new file.
      for (uint64_t i = 401; manifest->number() == 1 && i < 200'000; ++i) {
        reserve.lsn_reserved = i;
        must(manifest->append(reserve));
      }
      EXPECT_EQ(f.load()->state, manifest->state());
      f.disk.clear_faults();
      f.sim.clock().advance_us(2'000'000);
      must(manifest->keep_room());
      EXPECT_EQ(warnings.size(), 1u);
      const std::vector<std::string> names = f.names();
      EXPECT_TRUE(std::count(names.begin(), names.end(), "manifest.spare") == 1);
      manifest = f.reopen();
      must(manifest->append(reserve));
    }
  }
}

TEST(ManifestTest, ASpareThatIsGoneIsNone) {
  Fixture f;
  auto manifest = f.create();
  ManifestBatch reserve;
  for (uint64_t i = 1; manifest->number() == 1 && i < 200'000; ++i) {
    if (manifest->bytes() > 1'000'000) {
      static_cast<void>(f.disk.remove("/db/manifest.spare").ok());
    }
    reserve.lsn_reserved = i;
    must(manifest->append(reserve));
  }
  EXPECT_EQ(f.load()->state, manifest->state());
}

TEST(ManifestTest, AfterAFailedSyncItIsFailedForGood) {
  for (const SimOp op : {SimOp::kSync, SimOp::kWrite}) {
    Fixture f;
    auto manifest = f.create();
    ManifestBatch reserve;
    reserve.lsn_reserved = 5;
    must(manifest->append(reserve));
    f.disk.fail(op, 1, StatusCode::kIoError);
    reserve.lsn_reserved = 6;
    EXPECT_TRUE(manifest->append(reserve).is(StatusCode::kIoError));
    EXPECT_TRUE(manifest->append(reserve).is(StatusCode::kIoError));
    EXPECT_EQ(manifest->state().lsn_reserved, 5u);
    manifest = f.reopen();
    EXPECT_GE(manifest->state().lsn_reserved, 5u);
    must(manifest->append(reserve));
  }
}

// What was reserved for it is taken away, and given back: by a quota, say. Whatever write meets it,
// a batch is there as a whole or was refused, and the next one finds nothing in its way.
TEST(ManifestTest, WritesThatFindNoSpaceChangeNothing) {
  Prng prng(7);
  uint64_t refused = 0;
  uint64_t rewritten = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    Fixture f;
    auto manifest = f.create();
    ManifestBatch reserve;
    uint64_t next = 1;
    for (int fault = 0; fault < 10; ++fault) {
      const std::string part = prng.one_in(3) ? "superblock" : "manifest.";
      f.disk.fail_path(part, SimOp::kWrite, prng.between(1, 5), StatusCode::kNoSpace,
                       prng.one_in(2));
      for (uint64_t batches = prng.between(1, 60); batches > 0; --batches) {
        reserve.lsn_reserved = ++next;
        const ManifestState before = manifest->state();
        const Status status = manifest->append(reserve);
        must(manifest->status());
        if (status.ok()) {
          EXPECT_EQ(manifest->state().lsn_reserved, next);
        } else {
          ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
          EXPECT_EQ(manifest->state(), before);
          ++refused;
        }
        ASSERT_EQ(f.load()->state, manifest->state());
      }
      f.disk.clear_faults();
      reserve.lsn_reserved = ++next;
      must(manifest->append(reserve));
      ASSERT_EQ(f.load()->state, manifest->state());
      rewritten += manifest->number() > 1 ? 1 : 0;
      if (!prng.one_in(3)) continue;
      manifest = f.reopen();
      EXPECT_EQ(manifest->state().lsn_reserved, next);
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(rewritten, 0u);
}

TEST(ManifestTest, OneBadSuperblockSlotIsTolerated) {
  Fixture f;
  auto manifest = f.create();
  ManifestBatch reserve;
  for (int open = 0; open < 4; ++open) {
    reserve.lsn_reserved = manifest->state().lsn_reserved + 1;
    must(manifest->append(reserve));
    const ManifestState state = manifest->state();
    for (const uint64_t offset : {uint64_t{0}, uint64_t{40}, uint64_t{4096}, uint64_t{8191}}) {
      ASSERT_TRUE(f.disk.flip_bit("/db/superblock", offset, 3));
      Result<LoadedManifest> loaded = f.load();
      must(loaded.status());
      EXPECT_EQ(loaded->state, state);
      EXPECT_NE(f.warning.find(offset < 4096 ? "superblock at 0" : "superblock at 4096"),
                std::string::npos);
      ASSERT_TRUE(f.disk.flip_bit("/db/superblock", offset, 3));
    }
    // The next open repairs it.
    ASSERT_TRUE(f.disk.flip_bit("/db/superblock", open % 2 == 0 ? 100 : 5000, 3));
    manifest = f.reopen();
    EXPECT_NE(f.warning, "");
    must(f.load().status());
    EXPECT_EQ(f.warning, "");
  }
  ASSERT_TRUE(f.disk.flip_bit("/db/superblock", 20, 0));
  ASSERT_TRUE(f.disk.flip_bit("/db/superblock", 5000, 0));
  const Status status = f.load().status();
  EXPECT_TRUE(status.is(StatusCode::kCorruption));
  EXPECT_NE(status.message().find("superblock at 4096"), std::string::npos);
}

TEST(ManifestTest, EveryFlippedByteIsToleratedAsSpecifiedOrCorruption) {
  Fixture f;
  BatchMaker maker(15);  // without a feature, which would begin manifest.2
  auto manifest = f.create();
  std::vector<ManifestState> states = {manifest->state()};
  uint64_t last_begin = 0;
  for (int i = 0; i < 3; ++i) {
    last_begin = manifest->bytes();
    must(manifest->append(maker.make(manifest->state())));
    states.push_back(manifest->state());
  }
  const uint64_t end = manifest->bytes();
  for (uint64_t offset = 0; offset < end + 64; ++offset) {
    const auto bit = static_cast<unsigned>(offset * 5 % 8);
    ASSERT_TRUE(f.disk.flip_bit("/db/manifest.1", offset, bit));
    Result<LoadedManifest> loaded = f.load();
    ASSERT_TRUE(f.disk.flip_bit("/db/manifest.1", offset, bit));
    if (offset < last_begin) {
      ASSERT_TRUE(loaded.status().is(StatusCode::kCorruption)) << offset;
      EXPECT_TRUE(loaded.status().message().starts_with("manifest.1 at "));
      continue;
    }
    must(loaded.status());
    ASSERT_EQ(loaded->state, states[offset < end ? 2 : 3]) << offset;
    EXPECT_NE(f.warning.find("unfinished batch"), std::string::npos);
  }
}

TEST(ManifestTest, AMissingOrForeignManifestIsCorruption) {
  Fixture f;
  f.create();
  const std::string saved = f.read("manifest.1");
  must(f.disk.remove("/db/manifest.1"));
  Status status = f.load().status();
  EXPECT_TRUE(status.is(StatusCode::kCorruption));
  EXPECT_NE(status.message().find("manifest.1 is missing"), std::string::npos);
  for (const size_t field : {size_t{16}, size_t{24}, size_t{32}}) {  // uuid, number
    std::string bytes = saved;
    bytes[field] = static_cast<char>(bytes[field] ^ 1);
    store<uint64_t>(bytes.data() + 4088, checksum64(bytes.data(), 4088, 0));
    f.write("manifest.1", 0, bytes);
    status = f.load().status();
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << field;
  }
  f.write("manifest.1", 0, saved);
  must(f.load().status());
}

TEST(ManifestTest, LitterIsRemoved) {
  Fixture f;
  f.write("manifest.1", 0, "left by a creation that was cut short");
  f.write("superblock.new", 0, std::string(20000, 'x'));
  f.create();
  f.write("manifest.2", 0, std::string(9000, 'x'));
  f.write("manifest.77", 0, std::string(9000, 'x'));
  f.write("manifest.x", 0, "not ours");
  f.reopen();
  EXPECT_EQ(f.names(),
            (std::vector<std::string>{"manifest.2", "manifest.spare", "manifest.x", "superblock"}));
}

std::filesystem::path compat(const std::string& name) {
  return std::filesystem::path(testing::source_tree()) / "tests/compat/v1" / name;
}

// Three batches over a new database; together they have a record of every type.
std::vector<ManifestBatch> version_1_batches() {
  std::vector<ManifestBatch> batches(3);
  batches[0].trees_created = {{1, "first", 0, 0}, {2, "second", 0, 0}, {3, "", 0, 0}};
  batches[0].epochs_set = {{1, 64 << 20, 65 << 20, 11}, {2, 128 << 20, format::kLsnMax, 22}};
  batches[0].lsn_reserved = 200 << 20;
  format::ContainerRecord container;
  container.id = 1;
  container.tree = 1;
  batches[1].containers_set = {container};
  container.id = 2;
  container.low = std::string("low\0key", 7);
  container.cut = 150 << 20;
  container.max_ts = 149 << 20;
  container.entries = 4000;
  container.run = {0, 17, 12};
  container.run_checksum = 0x0123456789abcdef;
  container.values = {{{0, 29, 250}, 1020000, 0}, {{1, 5, 100}, 400001, 77}};
  container.large = {{1, 105, 16}, {2, 0, 300}};
  batches[1].containers_set.push_back(container);
  container.id = 7;
  container.tree = 2;
  container.low = std::string(300, 'k');
  batches[1].containers_set.push_back(container);
  batches[2].containers_deleted = {1};
  batches[2].trees_dropped = {3};
  batches[2].epochs_deleted = {1};
  batches[2].log_trim = 129 << 20;
  return batches;
}

// The files are kept as this version wrote them; every later one must open them. They are written
// anew, for a new format version only, with HAWTHORN_UPDATE_COMPAT=1.
TEST(ManifestTest, OpensTheFilesOfVersion1) {
  ManifestState model;
  Fixture writer;
  auto manifest = writer.create();
  const std::vector<ManifestBatch> batches = version_1_batches();
  for (size_t i = 0; i < batches.size(); ++i) {
    if (i == 1) manifest = writer.reopen();
    must(manifest->append(batches[i]));
    must(apply(batches[i], model));
  }
  if (std::getenv("HAWTHORN_UPDATE_COMPAT") != nullptr) {
    std::ofstream(compat("superblock.bin"), std::ios::binary) << writer.read("superblock");
    std::ofstream(compat("manifest.bin"), std::ios::binary) << writer.read("manifest.2");
  }
  Fixture reader;
  for (const char* name : {"superblock", "manifest"}) {
    std::ifstream file(compat(name + std::string(".bin")), std::ios::binary);
    ASSERT_TRUE(file.is_open()) << name;
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    reader.write(name + std::string(name[0] == 'm' ? ".2" : ""), 0, bytes);
  }
  Result<LoadedManifest> loaded = reader.load();
  must(loaded.status());
  EXPECT_EQ(reader.warning, "");
  EXPECT_EQ(loaded->state, model);
  EXPECT_EQ(reader.reopen()->state(), model);
}

TEST(ManifestTest, NamesOfFiles) {
  for (const char* name : {"superblock", "superblock.new", "manifest.1", "manifest.123456789"}) {
    EXPECT_TRUE(is_manifest_file(name)) << name;
  }
  for (const char* name : {"", "manifest", "manifest.", "manifest.0", "manifest.01", "manifest.1x",
                           "manifest.9999999999999999999999", "superblock.old", "data.1"}) {
    EXPECT_FALSE(is_manifest_file(name)) << name;
  }
}

}  // namespace
}  // namespace hawthorn::db
