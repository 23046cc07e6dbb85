// Devices, with plain files of a simulated disk standing in for them: what is taken, what is
// refused, labels through crashes, and a space on them.
#include "space/devices.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "space/device_image.h"
#include "space/space_test_support.h"

namespace hawthorn::space {
namespace {

constexpr uint64_t kDeviceBytes = 20 * kMegabyte;

struct DeviceFixture : Fixture {
  DeviceFixture() {
    for (const char* path : {"/a", "/b", "/c"}) make(path, kDeviceBytes);
    must(disk->sync_directory("/"));
  }
  void make(const std::string& path, uint64_t bytes) {
    auto file = disk->open_file(path, {.create = true}).value();
    must(file->truncate(bytes));
    must(file->sync_data());
  }
  void write(const std::string& path, uint64_t offset, const std::string& bytes) {
    auto file = disk->open_file(path, {}).value();
    must(file->write_at(offset, bytes));
    must(file->sync_data());
  }
  Result<std::unique_ptr<Devices>> open_devices(const std::vector<std::string>& paths) {
    options.paths = paths;
    return Devices::open(sim->machine(), options);
  }
  Status refused(const std::vector<std::string>& paths) { return open_devices(paths).status(); }
  // A database is created on them, as db does it; the manifest then has generation 1.
  void create(const std::vector<std::string>& paths) {
    auto devices = open_devices(paths);
    must(devices.status());
    must((*devices)->label(7, 8, 0));
    must((*devices)->label(7, 8, 1));
    options.records = (*devices)->records(1);
    options.uuid_low = 7;
    options.uuid_high = 8;
  }
  DeviceOptions options;
};

void expect_refused(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_TRUE(status.is(code)) << status.to_string();
  EXPECT_NE(status.message().find(part), std::string_view::npos) << status.to_string();
}

TEST(DevicesTest, LabelsTellWhichIsWhich) {
  DeviceFixture f;
  f.create({"/b", "/a"});
  for (const std::vector<std::string>& paths :
       {std::vector<std::string>{"/b", "/a"}, {"/a", "/b"}, {}}) {
    auto devices = f.open_devices(paths);
    must(devices.status());
    ASSERT_EQ((*devices)->count(), 2u);
    EXPECT_EQ((*devices)->file(0)->path(), "/b");
    EXPECT_EQ((*devices)->file(1)->path(), "/a");
  }
  // Moved: found by the label, and then where it is.
  must(f.disk->rename("/b", "/moved"));
  expect_refused(f.refused({}), StatusCode::kInvalidArgument, "/b: no such device");
  auto devices = f.open_devices({"/moved", "/a"});
  must(devices.status());
  EXPECT_EQ((*devices)->records(2)[0].path, "/moved");
}

TEST(DevicesTest, WhatIsRefused) {
  DeviceFixture f;
  expect_refused(f.refused({"/none"}), StatusCode::kInvalidArgument, "/none: no such device");
  expect_refused(f.refused({"/a", "/a"}), StatusCode::kInvalidArgument, "/a: is listed twice");
  f.make("/small", kDeviceBytesMin - 4096);
  expect_refused(f.refused({"/small"}), StatusCode::kInvalidArgument, "/small: has");
  f.write("/a", 1080, "\x53\xef");
  expect_refused(f.refused({"/a"}), StatusCode::kInvalidArgument, "/a: holds an ext2");
  f.write("/a", 1080, std::string(2, '\0'));
  f.write("/a", 510, "\x55\xaa");
  expect_refused(f.refused({"/a"}), StatusCode::kInvalidArgument, "/a: holds a partition table");
  f.write("/a", 510, std::string(2, '\0'));
  f.write("/a", kMegabyte - 1, "x");
  expect_refused(f.refused({"/a"}), StatusCode::kInvalidArgument, "byte 1048575");
  f.write("/a", kMegabyte - 1, std::string(1, '\0'));
  f.write("/a", kDeviceBytes - 512, "EFI PART");
  expect_refused(f.refused({"/a"}), StatusCode::kInvalidArgument, "/a: holds data");
  f.write("/a", kDeviceBytes - 512, std::string(8, '\0'));
  must(f.refused({"/a"}));
  // What lies in between is nobody's signature.
  f.write("/a", 5 * kMegabyte, "old");
  must(f.refused({"/a"}));
  // In use.
  auto held = f.open_devices({"/a"});
  must(held.status());
  expect_refused(f.refused({"/a"}), StatusCode::kBusy, "/a");
}

TEST(DevicesTest, LabelsOfOthersAreRefused) {
  DeviceFixture f;
  f.create({"/a", "/b"});
  expect_refused(f.refused({"/a"}), StatusCode::kInvalidArgument, "device 1, last at /b");
  expect_refused(f.refused({"/a", "/c"}), StatusCode::kInvalidArgument, "device 1, last at /b");
  DeviceOptions other;
  other.paths = {"/a"};
  expect_refused(Devices::open(f.sim->machine(), other).status(), StatusCode::kInvalidArgument,
                 "/a: carries the label of another database");
  f.options.uuid_low = 9;
  expect_refused(f.refused({"/a", "/b"}), StatusCode::kInvalidArgument, "another database");
  f.options.uuid_low = 7;
  must(clear_label(f.sim->machine(), "/a", 9, 8));  // another's: stays
  must(f.refused({"/a", "/b"}));
  must(clear_label(f.sim->machine(), "/a", 7, 8));
  must(clear_label(f.sim->machine(), "/a", 7, 8));
  expect_refused(f.refused({"/a", "/b"}), StatusCode::kInvalidArgument, "device 0, last at /a");
  must(Devices::open(f.sim->machine(), other).status());
}

TEST(DevicesTest, CopiesOfAnotherTimeAreRefused) {
  DeviceFixture f;
  f.create({"/a", "/b"});
  const auto advance = [&](uint64_t generation) {
    auto devices = f.open_devices({"/a", "/b"});
    must(devices.status());
    must((*devices)->label(7, 8, generation));
  };
  advance(2);
  // The open was cut short before the manifest said 2, as often as you like.
  advance(2);
  f.options.records[0].generation = f.options.records[1].generation = 2;
  advance(3);
  f.options.records[0].generation = f.options.records[1].generation = 3;
  must(f.refused({"/a", "/b"}));
  f.options.records[0].generation = f.options.records[1].generation = 4;
  expect_refused(f.refused({"/a", "/b"}), StatusCode::kCorruption, "/a: is a copy of device 0");
  f.options.records[0].generation = f.options.records[1].generation = 1;
  expect_refused(f.refused({"/a", "/b"}), StatusCode::kCorruption, "/a: the directory is a copy");
  f.options.records[0].generation = f.options.records[1].generation = 3;
  f.options.records[1].blocks += 1;
  expect_refused(f.refused({"/a", "/b"}), StatusCode::kCorruption, "/b: has 5120 blocks");
}

TEST(DevicesTest, BlankOnesAreAdded) {
  DeviceFixture f;
  f.create({"/a"});
  f.options.read_only = true;
  expect_refused(f.refused({"/b", "/a"}), StatusCode::kInvalidArgument, "/b: carries no label");
  f.options.read_only = false;
  auto devices = f.open_devices({"/b", "/a"});
  must(devices.status());
  EXPECT_EQ((*devices)->file(1)->path(), "/b");
  must((*devices)->label(7, 8, 2));
  devices->reset();
  // Not named yet: it may be there or not.
  must(f.refused({"/a"}));
  devices = f.open_devices({"/c", "/b", "/a"});
  must(devices.status());
  EXPECT_EQ((*devices)->count(), 3u);
  must((*devices)->label(7, 8, 2));
  f.options.records = (*devices)->records(2);
  devices->reset();
  must(f.refused({"/b", "/c", "/a"}));
}

// Whatever a crash leaves of the labels' writing, the devices are accepted by a manifest of before
// and, where the writing was done, of after.
TEST(DevicesTest, CrashesWhileLabelsAreWritten) {
  for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLoss}) {
    for (uint64_t stop = 1; stop < 60; ++stop) {
      SCOPED_TRACE("operation " + std::to_string(stop));
      DeviceFixture f;
      bool created = false;
      bool advanced = false;
      f.disk->stop_at(SimOp::kAny, stop);
      if (auto devices = f.open_devices({"/a", "/b"}); devices.ok()) {
        if ((*devices)->label(7, 8, 0).ok()) {
          f.options.records = (*devices)->records(1);
          f.options.uuid_low = 7;
          f.options.uuid_high = 8;
          // From here on there is a manifest.
          created = true;
          if ((*devices)->label(7, 8, 1).ok()) advanced = (*devices)->label(7, 8, 2).ok();
        }
      }
      f.crash(kind);
      must(f.refused({"/a", "/b"}));
      if (advanced) {
        for (auto& record : f.options.records) record.generation = 2;
        must(f.refused({"/a", "/b"}));
      }
      if (!created) f.create({"/b", "/a"});
    }
  }
}

TEST(DevicesTest, ADamagedSlotCostsNothing) {
  DeviceFixture f;
  f.create({"/a"});
  for (const uint64_t slot : {0, 1}) {
    SCOPED_TRACE(slot);
    ASSERT_TRUE(f.disk->flip_bit("/a", slot * 4096 + 40, 3));
    must(f.refused({"/a"}));
    ASSERT_TRUE(f.disk->flip_bit("/a", (1 - slot) * 4096 + 40, 3));
    expect_refused(f.refused({"/a"}), StatusCode::kCorruption, "/a: checksum mismatch");
    ASSERT_TRUE(f.disk->flip_bit("/a", slot * 4096 + 40, 3));
    ASSERT_TRUE(f.disk->flip_bit("/a", (1 - slot) * 4096 + 40, 3));
  }
}

TEST(DevicesTest, ASpaceOnThem) {
  DeviceFixture f;
  f.create({"/a", "/b"});
  auto devices = f.open_devices({});
  must(devices.status());
  SpaceOptions options;
  options.devices = devices->get();
  std::vector<ExtentAddress> live;
  for (int open = 0; open < 3; ++open) {
    auto space = f.open(options, live);
    for (size_t i = 0; i < live.size(); ++i) EXPECT_TRUE(holds(*space, live[i], i));
    EXPECT_EQ(space->allocated_bytes(), 2 * kDeviceBytes);
    Result<ExtentAddress> extent = space->allocate(kBlocksPerMegabyte);
    for (; extent.ok(); extent = space->allocate(kBlocksPerMegabyte)) {
      EXPECT_GE(extent->file, kFilesMax);
      EXPECT_GE(extent->block, format::kDeviceHeadBlocks);
      EXPECT_LE(extent->block + extent->blocks, 20 * kBlocksPerMegabyte - 16);
      write_extent(*space, *extent, live.size());
      live.push_back(*extent);
    }
    expect_refused(extent.status(), StatusCode::kNoSpace, "/a, /b");
    EXPECT_TRUE(space->keep_ready(kBlocksPerMegabyte * 3, 1).is(StatusCode::kNoSpace));
    must(space->sync());
    EXPECT_FALSE(space->leave(0, {}).has_value());
    EXPECT_EQ(live.size(), 36u);
    space->release(live.back());
    live.pop_back();
    must(space->trim_files());
    EXPECT_TRUE(f.names().empty());
  }
  // An extent where the label is, or behind the end, was never given out.
  auto space = f.open(options, live);
  EXPECT_TRUE(space->mark_used(ExtentAddress{kFilesMax, 0, 2}).is(StatusCode::kCorruption));
  EXPECT_TRUE(space->mark_used(ExtentAddress{kFilesMax, 20 * kBlocksPerMegabyte - 8, 8})
                  .is(StatusCode::kCorruption));
  EXPECT_TRUE(space->mark_used(ExtentAddress{kFilesMax + 2, 300, 2}).is(StatusCode::kCorruption));
  EXPECT_TRUE(space->mark_used(ExtentAddress{0, 300, 2}).is(StatusCode::kCorruption));
}

// What is sparse, and what has grown, has its space before it is used; a reader takes none.
TEST(DevicesTest, FilesThatStandForDevicesHaveTheirSpace) {
  DeviceFixture f;
  f.create({"/a"});
  const auto taken = [&] {
    return f.disk->open_file("/a", {.read_only = true}).value()->allocated_bytes().value();
  };
  EXPECT_GE(taken(), kDeviceBytes);
  must(f.disk->open_file("/a", {}).value()->punch_hole(2 * kMegabyte, 10 * kMegabyte));
  must(f.disk->open_file("/a", {}).value()->truncate(kDeviceBytes + 8 * kMegabyte));
  ASSERT_LT(taken(), kDeviceBytes - 9 * kMegabyte);
  f.options.read_only = true;
  must(f.refused({"/a"}));
  EXPECT_LT(taken(), kDeviceBytes - 9 * kMegabyte);
  f.options.read_only = false;
  auto devices = f.open_devices({"/a"});
  must(devices.status());
  EXPECT_LT(taken(), kDeviceBytes - 9 * kMegabyte);
  must((*devices)->label(7, 8, 2));
  EXPECT_EQ((*devices)->blocks(0), (kDeviceBytes + 8 * kMegabyte) / 4096);
  EXPECT_GE(taken(), kDeviceBytes + 8 * kMegabyte);
  devices->reset();
  f.disk->set_capacity(f.disk->used_bytes() + kMegabyte);
  must(f.disk->open_file("/a", {}).value()->truncate(kDeviceBytes + 16 * kMegabyte));
  devices = f.open_devices({"/a"});
  must(devices.status());
  expect_refused((*devices)->label(7, 8, 3), StatusCode::kNoSpace, "/a");
}

TEST(DevicesTest, ImagesAreNamedByTheirNameAlone) {
  DeviceFixture f;
  const os::Machine& machine = f.sim->machine();
  must(machine.files->make_directory("/db"));
  f.options.directory = "/db";
  f.make("/db/device.0", kDeviceBytes);
  f.make("/elsewhere", kDeviceBytes);
  f.create({"/db/device.0", "/elsewhere"});
  EXPECT_EQ(f.options.records[0].path, "device.0");
  EXPECT_EQ(f.options.records[1].path, "/elsewhere");
  {
    auto devices = f.open_devices({});
    must(devices.status());
    EXPECT_EQ((*devices)->file(0)->path(), "/db/device.0");
    EXPECT_EQ((*devices)->records(2)[0].path, "device.0");
  }
  // A name that is no image's in this directory is a path, as versions before took it for one.
  EXPECT_EQ(find_device(machine, "/db", {1, 1, 5120, "device.1"}).value(), "device.1");
  EXPECT_EQ(find_device(machine, "/db", {1, 1, 5120, "device.0"}).value(), "device.0");
  EXPECT_EQ(recorded_path("/db", 0, "device.0"), "./device.0");
  EXPECT_EQ(recorded_path("/db", 1, "/db/device.0"), "/db/device.0");
}

TEST(DevicesTest, NamesOfImages) {
  for (const char* name : {"device.0", "device.9", "device.10", "device.63"}) {
    EXPECT_TRUE(is_device_image(name)) << name;
  }
  for (const char* name :
       {"device.", "device.64", "device.00", "device.07", "device.1x", "device.-1", "device",
        "data.1", "device.100", "/device.1", "device.1/"}) {
    EXPECT_FALSE(is_device_image(name)) << name;
  }
}

TEST(DevicesTest, LabelsAndTailsAreNotInUse) {
  DeviceFixture f;
  f.create({"/a", "/b"});
  auto devices = f.open_devices({});
  must(devices.status());
  SpaceOptions options;
  options.devices = devices->get();
  const auto space = f.open(options, {});
  EXPECT_TRUE(space->used_ranges().empty());
  const ExtentAddress extent = space->allocate(10).value();
  EXPECT_EQ(space->used_ranges(), std::vector<ExtentAddress>{extent});
  while (space->allocate(1).ok()) {
  }
  const std::vector<ExtentAddress> all = {{kFilesMax, 256, 5120 - 256 - 16},
                                          {kFilesMax + 1, 256, 5120 - 256 - 16}};
  EXPECT_EQ(space->used_ranges(), all);
}

}  // namespace
}  // namespace hawthorn::space
