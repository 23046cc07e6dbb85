#pragma once
// A small database on a simulated disk with every kind of data that there is, what must be found in
// it, and where its parts lie on the disk.
//
// Not here: tests. Used by the folder tests/check only. Threads: the test's.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/key_store.h"
#include "db/log_sizing.h"
#include "db/manifest.h"
#include "format/manifest_state.h"
#include "format/superblock.h"
#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {

// Of each tree, by its name, what a walk shows; subtrees by "NAME/KEY".
using Everything = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

inline Options every_kind_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.lock_timeout_ms = 0;
  options.merge_operators = {append_with(",")};
  return options;
}

inline Result<std::unique_ptr<Db>> open_every_kind(testing::SimMachine& machine,
                                                   bool read_only = false, bool encrypted = false) {
  db::log_segment_bytes = size_t{4} << 20;
  Options options = every_kind_options();
  options.read_only = read_only;
  if (encrypted) options.encryption = encryption_of();
  return Db::open_on(machine.machine(), "/db", options);
}

namespace every_kind {

inline Tree tree(Db& db, const std::string& name, const TreeOptions& options = {}) {
  Result<Tree> made = db.tree(name, options);
  EXPECT_OK(made.status());
  return *made;
}

// Text that can be compressed.
inline std::string text(uint64_t number, size_t size) {
  std::string made;
  while (made.size() < size) made += "the value of key " + std::to_string(number) + " and so on; ";
  made.resize(size);
  return made;
}

inline void fill_small(Db& db) {
  const Tree wide = tree(db, "wide");
  const Tree separated = tree(db, "separated");
  const Tree mixed = tree(db, "mixed");
  Prng prng(7);
  for (uint64_t i = 0; i < 1500; ++i) {
    EXPECT_OK(db.put(wide, big_endian(i * 3), big_endian(i)));
    EXPECT_OK(db.put(separated, counter_key_of(i), value_of(i, 256)));
    if (i < 300) EXPECT_OK(db.put(mixed, key_of(i), value_of(i, random_size(prng, false))));
    if (i == 900) EXPECT_OK(db.flush());
  }
  EXPECT_OK(db.flush());
  // Garbage, deletes, and a deleted range.
  for (uint64_t i = 0; i < 1500; i += 5) {
    EXPECT_OK(db.put(separated, counter_key_of(i), value_of(i + 1, 200)));
    if (i % 25 == 0) EXPECT_OK(db.del(wide, big_endian(i * 3)));
  }
  EXPECT_OK(db.delete_range(wide, big_endian(600), big_endian(700)));
}

inline void fill_packed(Db& db) {
  for (const auto& [name, codec] :
       {std::pair{"lz4", Compression::kLz4}, {"zstd", Compression::kZstd}}) {
    const Tree packed = tree(db, name);
    EXPECT_OK(db.set_compression(packed, codec));
    for (uint64_t i = 0; i < 400; ++i) {
      const std::string key = i % 2 == 0 ? big_endian(i) : "packed/" + std::to_string(i);
      EXPECT_OK(db.put(packed, key, text(i, 100 + i % 7 * 100)));
    }
    EXPECT_OK(db.flush());
  }
}

inline void fill_large(Db& db) {
  const Tree large = tree(db, "large");
  for (uint64_t i = 0; i < 6; ++i) {
    EXPECT_OK(db.put(large, "value " + std::to_string(i), value_of(i, 70'000 + i * 31'000)));
  }
  EXPECT_OK(db.flush());
  EXPECT_OK(db.write_part(large, "value 3", 50'000, value_of(99, 21'000)));
  EXPECT_OK(db.append(large, "value 4", value_of(98, 5000)).status());
  EXPECT_OK(db.resize(large, "value 5", 400'000));
}

inline void fill_shapes(Db& db) {
  const Tree merged = tree(db, "merged");
  EXPECT_OK(db.set_merge_operator(merged, append_with(",")->name()));
  const Tree several = tree(db, "several", {.multi_value = true});
  const Tree ending = tree(db, "ending", {.expires = true});
  const Tree home = tree(db, "home", {.subtrees = true});
  for (uint64_t i = 0; i < 200; ++i) {
    const std::string key = "key " + std::to_string(i % 50);
    EXPECT_OK(db.merge(merged, key, std::to_string(i)));
    EXPECT_OK(db.put(several, key, "value " + std::to_string(i)));
    EXPECT_OK(db.put(ending, key, value_of(i, 40), Expiry::after_ms(uint64_t{1} << 40)));
    if (i < 20) EXPECT_OK(db.put(home, key, value_of(i, 30)));
    if (i == 100) EXPECT_OK(db.flush());
  }
  const Result<Tree> sub = db.create_subtree(home, "sub");
  EXPECT_OK(sub.status());
  for (uint64_t i = 0; i < 50; ++i) EXPECT_OK(db.put(*sub, big_endian(i), value_of(i, 150)));
}

inline void fill_versions(Db& db) {
  const Tree versions = tree(db, "versions");
  for (uint64_t i = 0; i < 300; ++i) EXPECT_OK(db.put(versions, big_endian(i), value_of(i, 100)));
  EXPECT_OK(db.create_snapshot("before"));
  EXPECT_OK(db.clone_tree("versions", "clone").status());
  const Tree clone = db.find_tree("clone").value();
  for (uint64_t i = 0; i < 300; i += 2) {
    EXPECT_OK(db.put(versions, big_endian(i), value_of(i + 7, 90)));
    EXPECT_OK(db.del(clone, big_endian(i)));
  }
}
}  // namespace every_kind

// Of what is only in the log, in the order in which it was written.
inline std::string late_value_of(uint64_t i) { return value_of(i, i == 70 ? 90'000 : 300); }

// `log`: some of it is not flushed when it returns.
inline void fill_every_kind(Db& db, bool log) {
  every_kind::fill_small(db);
  every_kind::fill_packed(db);
  every_kind::fill_large(db);
  every_kind::fill_shapes(db);
  every_kind::fill_versions(db);
  EXPECT_OK(db.flush());
  EXPECT_OK(db.drain());
  if (!log) return;
  const Tree late = every_kind::tree(db, "late");
  for (uint64_t i = 0; i < 200; ++i) {
    EXPECT_OK(db.put(late, key_of(i), late_value_of(i)));
  }
  EXPECT_OK(db.sync());
}

// All that there is, or the first error.
inline Status read_everything(Db& db, Everything* found) {
  const auto walk = [&](const std::string& name, const Tree& tree) {
    auto& entries = (*found)[name];
    Cursor cursor = db.cursor(tree);
    for (bool there = cursor.first(); there; there = cursor.next()) {
      entries.emplace_back(cursor.key(), cursor.value());
    }
    return cursor.status();
  };
  const Result<std::vector<std::string>> names = db.list_trees();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const Result<Tree> tree = db.find_tree(name);
    if (!tree.ok()) return tree.status();
    if (Status s = walk(name, *tree); !s.ok()) return s;
    if (name != "home") continue;
    const Result<std::vector<std::string>> hanging = db.list_subtrees(*tree);
    if (!hanging.ok()) return hanging.status();
    for (const std::string& key : *hanging) {
      const Result<Tree> sub = db.subtree(*tree, key);
      if (!sub.ok()) return sub.status();
      if (Status s = walk(name + "/" + key, *sub); !s.ok()) return s;
    }
  }
  return {};
}

// How its last process has left a database.
enum class Left : uint8_t { kClosed, kKilled, kWithoutPower };

inline std::string read_file(testing::SimDisk& disk, const std::string& path, uint64_t offset,
                             size_t size) {
  auto file = disk.open_file(path, {.read_only = true});
  EXPECT_OK(file.status());
  std::string bytes(size, '\0');
  EXPECT_OK((*file)->read_at(offset, bytes));
  return bytes;
}

// A disk with such a database, and what is in it.
struct EveryKind {
  explicit EveryKind(Left left, bool is_encrypted = false) : encrypted(is_encrypted) {
    testing::SimMachine machine(*disk, 1);
    auto db = open_every_kind(machine, false, encrypted);
    EXPECT_OK(db.status());
    fill_every_kind(**db, left != Left::kClosed);
    EXPECT_OK(read_everything(**db, &contents));
    if (left == Left::kClosed) EXPECT_OK((*db)->close());
    if (left == Left::kWithoutPower) {
      auto rest = disk->after_crash(1, testing::CrashKind::kPowerLossDrop);
      db->reset();
      machine_of_before = std::move(disk);
      disk = std::move(rest);
    }
    db->reset();
    load_state();
  }
  void load_state() {
    testing::SimMachine again(*disk, 1);
    os::Machine machine = again.machine();
    os::DataKeys keys;
    if (encrypted) {
      const std::string directory = "/db";
      const Encryption encryption = encryption_of();
      db::KeyStore store(machine, directory, encryption);
      const auto superblock =
          format::choose_superblock(read_file(*disk, "/db/superblock", 0, 8192), nullptr);
      EXPECT_OK(superblock.status());
      EXPECT_OK(store.load(superblock->uuid_low, superblock->uuid_high, &keys));
      machine.keys = &keys;
    }
    auto loaded = db::Manifest::load(machine, "/db", nullptr);
    EXPECT_OK(loaded.status());
    state = std::move(loaded->state);
  }
  std::unique_ptr<testing::SimDisk> copy() const {
    return disk->after_crash(1, testing::CrashKind::kProcessKill);
  }
  // The containers of a tree, in the order of their keys.
  std::vector<format::ContainerRecord> containers(const std::string& tree) const {
    std::map<std::string, format::ContainerRecord> by_key;
    for (const auto& [id, record] : state.containers) {
      const auto of = state.trees.find(record.tree);
      if (of != state.trees.end() && of->second.name == tree) by_key.emplace(record.low, record);
    }
    std::vector<format::ContainerRecord> all;
    for (auto& [low, record] : by_key) all.push_back(std::move(record));
    return all;
  }

  const bool encrypted;
  std::unique_ptr<testing::SimDisk> machine_of_before;  // must outlive its machine
  std::unique_ptr<testing::SimDisk> disk = std::make_unique<testing::SimDisk>(1);
  Everything contents;
  format::ManifestState state;
};

inline std::string data_path(const format::ExtentAddress& extent) {
  return "/db/data." + std::to_string(extent.file);
}
inline uint64_t place_of(const format::ExtentAddress& extent, uint64_t offset = 0) {
  return uint64_t{extent.block} * 4096 + offset;
}

}  // namespace hawthorn::tests
