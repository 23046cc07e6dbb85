#pragma once
// A manifest on a simulated disk, for tests.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/manifest.h"
#include "format/manifest_test_batches.h"
#include "testing/sim_machine.h"

namespace hawthorn::db::manifest_fixture {

using format::BatchMaker;
using format::ManifestBatch;
using format::ManifestState;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

inline constexpr char kDirectory[] = "/db";

inline void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_string(); }

struct Fixture {
  explicit Fixture(uint64_t seed = 1) : disk(seed), sim(disk, seed) {
    must(disk.make_directory(kDirectory));
    must(disk.sync_directory("/"));
  }
  const os::Machine& machine() { return sim.machine(); }
  std::unique_ptr<Manifest> create() {
    auto manifest = Manifest::start(machine(), kDirectory, {}, true);
    EXPECT_TRUE(manifest.ok()) << manifest.status().to_string();
    return manifest.ok() ? *std::move(manifest) : nullptr;
  }
  Result<LoadedManifest> load() { return Manifest::load(machine(), kDirectory, &warning); }
  std::unique_ptr<Manifest> reopen() {
    Result<LoadedManifest> loaded = load();
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    if (!loaded.ok()) return nullptr;
    auto manifest = Manifest::start(machine(), kDirectory, *std::move(loaded), false);
    EXPECT_TRUE(manifest.ok()) << manifest.status().to_string();
    return manifest.ok() ? *std::move(manifest) : nullptr;
  }
  std::vector<std::string> names() { return disk.list(kDirectory).value(); }
  std::string read(const std::string& name) {
    auto file = disk.open_file(kDirectory + ("/" + name), {.read_only = true});
    std::string bytes((*file)->size().value(), '\0');
    must((*file)->read_at(0, bytes));
    return bytes;
  }
  void write(const std::string& name, uint64_t offset, const std::string& bytes) {
    auto file = disk.open_file(kDirectory + ("/" + name), {.create = true});
    must((*file)->write_at(offset, bytes));
    must((*file)->sync_data());
  }

  SimDisk disk;
  SimMachine sim;
  std::string warning;
};

}  // namespace hawthorn::db::manifest_fixture
