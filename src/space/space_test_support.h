#pragma once
// What the tests of the space have in common: a simulated disk with a space on it, small files, and
// extents whose bytes tell them apart.
//
// Used by tests only. Threads: as the parts.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "space/data_files.h"
#include "space/space.h"
#include "testing/sim_machine.h"

namespace hawthorn::space {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

inline constexpr char kDirectory[] = "/db";
inline constexpr uint64_t kMegabyte = uint64_t{1} << 20;
inline constexpr uint32_t kBlocksPerMegabyte = 256;

inline void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_string(); }

inline SpaceOptions small_files() {
  return {.file_bytes_first = kMegabyte, .file_share = 1, .file_bytes_max = 4 * kMegabyte};
}

struct Fixture {
  explicit Fixture(uint64_t seed = 1)
      : disk(std::make_unique<SimDisk>(seed)), sim(std::make_unique<SimMachine>(*disk, seed)) {
    must(disk->make_directory(kDirectory));
    must(disk->sync_directory("/"));
  }
  std::unique_ptr<Space> open(const SpaceOptions& options = small_files(),
                              const std::vector<ExtentAddress>& used = {}) {
    auto space = Space::open(sim->machine(), kDirectory, options);
    EXPECT_TRUE(space.ok()) << space.status().to_string();
    must((*space)->mark_used(used));
    return *std::move(space);
  }
  std::vector<std::string> names() { return disk->list(kDirectory).value(); }
  uint64_t size_of(uint32_t number) {
    auto file = disk->open_file(kDirectory + ("/" + data_file_name(number)), {.read_only = true});
    return file.ok() ? (*file)->size().value() : 0;
  }
  void crash(CrashKind kind) {
    disk = disk->crash(9, kind);
    sim = std::make_unique<SimMachine>(*disk, 9);
  }

  std::unique_ptr<SimDisk> disk;
  std::unique_ptr<SimMachine> sim;
};

struct alignas(os::kBlockBytes) Block {
  char bytes[os::kBlockBytes];
};

// A pattern that tells extents apart, in the first and the last block.
inline void write_extent(Space& space, const ExtentAddress& extent, uint64_t mark) {
  auto block = std::make_unique<Block>();
  for (const uint32_t i : {extent.block, extent.block + extent.blocks - 1}) {
    std::memset(block->bytes, static_cast<int>(mark & 0xff), os::kBlockBytes);
    std::memcpy(block->bytes, &mark, sizeof(mark));
    must(space.file(extent.file)->write_at(uint64_t{i} * os::kBlockBytes, block->bytes));
  }
  space.mark_written(extent.file);
}

inline bool holds(Space& space, const ExtentAddress& extent, uint64_t mark) {
  auto block = std::make_unique<Block>();
  for (const uint32_t i : {extent.block, extent.block + extent.blocks - 1}) {
    const uint64_t offset = uint64_t{i} * os::kBlockBytes;
    if (!space.file(extent.file)->read_at(offset, block->bytes).ok()) return false;
    if (std::memcmp(block->bytes, &mark, sizeof(mark)) != 0) return false;
  }
  return true;
}

}  // namespace hawthorn::space
