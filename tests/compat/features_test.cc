// Databases of what has joined the format behind its first samples (database_test.cc), kept in the
// same way in tests/compat/v<version>/database: today's code must open them, read and check them,
// and go on.
//
//   ingested     was killed behind two bulk ingests: the log has their containers (of the second
//   one
//                the log alone), some of their entries, and what was written over them
//   compressed   was closed: trees of LZ4, of Zstd with a dictionary, and one that was switched
//   devices      was killed: its data lie on two devices, which files stand in for (`disks`)
//   wide         was closed: runs of which some have wide groups, and one that had them before
//   subtrees     was killed: trees that hang in trees, some of them in the log alone
//   parts        was killed: large values in pieces, which versions in runs and in the log share
//
// What they hold follows from the code below, which therefore must not change its bytes.
//
// HAWTHORN_WRITE_COMPAT=<directory> writes those of today's format there: for a new version n,
// never over those of an old one.
#include <stdlib.h>

#include <fstream>

#include "db/manifest.h"
#include "format/catalog_entry.h"
#include "tests/compat/kept_database.h"
#include "tests/compat/packed_directory.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDeviceBytes = uint64_t{16} << 20;
constexpr uint64_t kBefore = 30;  // keys, of which an ingest replaces some
constexpr uint64_t kUnsorted = 4;
constexpr const char* kDevices[] = {"one", "two"};

// ---- What they hold

// Text of a few phrases: compresses to next to nothing.
std::string frozen_text(uint64_t number, size_t size) {
  std::string text = std::to_string(number);
  while (text.size() < size) {
    text += " phrase " + std::to_string(number % 5) + " of five, which come again and again";
    number = number * 7 + 3;
  }
  text.resize(size);
  return text;
}

void write_before_ingests(Writer writer) {
  for (uint64_t i = 0; i < kBefore; ++i)
    writer.put("t", frozen_number(i * 100), frozen_bytes(i, 40));
}

// Behind the last key: containers, one with a large value; and keys that are there: the log.
Entries sorted_entries() {
  Entries entries;
  for (uint64_t i = 0; i < 10; ++i) entries[frozen_number(10'000 + i)] = frozen_wide(i, 60'000);
  entries[frozen_number(9'999)] = std::string(100'000, '\0') + "large";
  entries[frozen_number(0)] = "replaced by the ingest";
  entries[frozen_number(500)] = "";
  return entries;
}

// Into an empty tree.
Entries unsorted_entries() {
  Entries entries;
  for (uint64_t i = 0; i < kUnsorted; ++i)
    entries[frozen_number(i * i)] = frozen_wide(8 * i, 40'000);
  return entries;
}

void write_behind_ingests(Writer writer) {
  writer.put("t", frozen_number(10'001), "overwritten behind the ingest");
  writer.del("t", frozen_number(10'002));
  writer.del("t", frozen_number(10'009));
  writer.put("t", frozen_number(100), "overwritten, too");
  writer.put("unsorted", frozen_number(5), "between two of the ingest");
}

void write_compressed(Writer writer) {
  writer.compress("lz4", Compression::kLz4);
  for (uint64_t i = 0; i < 90; ++i) writer.put("lz4", frozen_number(i), frozen_text(i, 2000));
  for (uint64_t i = 0; i < 6; ++i) writer.put("lz4", frozen_number(1000 + i), frozen_wide(i, 9000));
  // More than the samples that a dictionary is trained from.
  writer.compress("zstd", Compression::kZstd);
  for (uint64_t i = 0; i < 230; ++i) writer.put("zstd", frozen_number(i), frozen_text(i, 5000));
  for (uint64_t i = 0; i < 40; ++i) writer.put("switched", frozen_number(i), frozen_text(i, 300));
}

// With the dictionary.
void write_more_compressed(Writer writer) {
  for (uint64_t i = 0; i < 50; ++i) {
    writer.put("zstd", frozen_number(5000 + i), frozen_text(i * 11, 900));
  }
  for (uint64_t i = 0; i < 230; i += 9) writer.del("zstd", frozen_number(i));
  for (uint64_t i = 0; i < 90; i += 3) writer.put("lz4", frozen_number(i), frozen_text(i, 90));
  writer.compress("switched", Compression::kLz4);
  for (uint64_t i = 20; i < 60; ++i) writer.put("switched", frozen_number(i), frozen_text(i, 500));
}

void write_to_devices(Writer writer) {
  for (uint64_t i = 0; i < 30; ++i) writer.put("t", frozen_number(i * i), frozen_wide(i, 50'000));
  for (uint64_t i = 0; i < 50; ++i) writer.put("small", frozen_number(i), frozen_bytes(i, 20));
  writer.stream("t", "large", frozen_bytes(7, 300) + std::string(150'000, '\0') + "large");
}

// And behind the flush.
void write_more_to_devices(Writer writer) {
  for (uint64_t i = 0; i < 50; i += 4) writer.put("small", frozen_number(i), "overwritten");
  writer.del("t", frozen_number(9));
}

void write_small(Writer writer) {
  for (const uint64_t size : {0, 8, 13}) {
    const std::string tree = "of " + std::to_string(size);
    for (uint64_t i = 0; i < 1000; ++i) {
      writer.put(tree, frozen_number(i * i), frozen_bytes(i + size, size));
    }
  }
  for (uint64_t i = 0; i < 100; ++i) {
    writer.put("mixed", frozen_number(i), frozen_bytes(i, i == 50 ? 7 : 8));
    writer.put("changed", frozen_number(i), frozen_bytes(i, 8));
  }
}

// And behind the flush.
void write_more_small(Writer writer) {
  for (uint64_t i = 0; i < 1000; i += 7) writer.put("of 8", frozen_number(i * i), "eighteen");
  for (uint64_t i = 0; i < 1000; i += 70) writer.del("of 13", frozen_number(i * i));
  writer.put("changed", frozen_number(3), "of another size");
}

// Reads find a key at which a tree hangs with an empty value.
void write_hanging(Contents& contents, Db* db) {
  contents["h"] = {{"value", "v"}, {"a", ""}, {"gone", ""}, {"moved", ""}};
  contents["named"] = {{"k", "n"}};
  if (db == nullptr) return;
  const Tree h = db->tree("h", {.subtrees = true}).value();
  EXPECT_OK(db->put(h, "value", "v"));
  const Tree a = db->create_subtree(h, "a", {.order = "reverse", .subtrees = true}).value();
  EXPECT_OK(db->put(a, "value", "in a"));
  EXPECT_OK(db->put(db->create_subtree(a, "deep").value(), "k", "deep"));
  EXPECT_OK(db->create_subtree(h, "gone").status());
  EXPECT_OK(db->create_subtree(h, "moved").status());
  EXPECT_OK(db->put(db->tree("named").value(), "k", "n"));
}

// And behind the flush.
void write_more_hanging(Contents& contents, Db* db) {
  contents["h"] = {{"value", "v"}, {"a", ""}, {"new", ""}};
  contents.erase("named");
  contents["was moved"] = {{"k", "m"}};
  if (db == nullptr) return;
  const Tree h = db->find_tree("h").value();
  EXPECT_OK(db->del(h, "gone"));
  EXPECT_OK(db->put(db->subtree(h, "moved").value(), "k", "m"));
  EXPECT_OK(db->detach(h, "moved", "was moved"));
  EXPECT_OK(db->attach(db->subtree(h, "a").value(), "n", "named"));
  EXPECT_OK(db->put(db->create_subtree(h, "new").value(), "k", "new"));
}

void expect_hanging(Db& db) {
  using Keys = std::vector<std::string>;
  const Tree h = db.find_tree("h").value();
  EXPECT_EQ(db.list_subtrees(h).value(), (Keys{"a", "new"}));
  const Tree a = db.subtree(h, "a").value();
  EXPECT_EQ(db.list_subtrees(a).value(), (Keys{"n", "deep"}));
  const auto holds = [&](const Tree& parent, const char* key, const char* value) {
    Value found;
    EXPECT_OK(db.get(db.subtree(parent, key).value(), "k", found));
    EXPECT_EQ(found.view(), value);
  };
  holds(h, "new", "new");
  holds(a, "n", "n");
  holds(a, "deep", "deep");
  EXPECT_EQ(db.check().value().subtrees, 4u);
}

// Mostly zeros, in which a table of sums, a hole and pieces of several extents are.
void write_parts(Writer writer) {
  writer.stream("t", "a", frozen_bytes(1, 300) + std::string(150'000, '\0') + "end");
  writer.append("t", "a", "appended");
  writer.write_part("t", "a", 70'000, "in the middle");
  writer.resize("t", "a", 400'000);
  writer.append("t", "a", "behind a hole");
  writer.stream("t", "b", std::string(90'000, '\0') + "of one extent");
}

// And behind the flush, where a snapshot holds what it has.
void write_more_parts(Writer writer) {
  writer.write_part("t", "a", 140'000, "changed again");
  writer.append("t", "a", frozen_bytes(2, 40));
  writer.append("t", "b", "and more");
  writer.resize("t", "b", 80'000);
}
void write_last_parts(Writer writer) {
  writer.write_part("t", "a", 5, "in the log");
  writer.write_part("t", "b", 1, "there, too");
  writer.append("t", "small", "value");
}

enum class Kind { kIngested, kCompressed, kOnDevices, kWide, kHanging, kParts };

struct Sample {
  Kind kind;
  const char* name;
  bool killed;
  bool on_devices;
};
constexpr Sample kSamples[] = {
    {Kind::kIngested, "ingested", true, false}, {Kind::kCompressed, "compressed", false, false},
    {Kind::kOnDevices, "devices", true, true},  {Kind::kWide, "wide", false, false},
    {Kind::kHanging, "subtrees", true, false},  {Kind::kParts, "parts", true, false}};

Contents contents_of(const Sample& sample) {
  Contents contents;
  Writer writer(contents, nullptr);
  if (sample.kind == Kind::kIngested) {
    write_before_ingests(writer);
    writer.ingest("unsorted", unsorted_entries(), false, nullptr);
    writer.ingest("t", sorted_entries(), true, nullptr);
    write_behind_ingests(writer);
  } else if (sample.kind == Kind::kCompressed) {
    write_compressed(writer);
    write_more_compressed(writer);
  } else if (sample.kind == Kind::kWide) {
    write_small(writer);
    write_more_small(writer);
  } else if (sample.kind == Kind::kHanging) {
    write_hanging(contents, nullptr);
    write_more_hanging(contents, nullptr);
  } else if (sample.kind == Kind::kParts) {
    write_parts(writer);
    write_more_parts(writer);
    write_last_parts(writer);
  } else {
    write_to_devices(writer);
    write_more_to_devices(writer);
  }
  return contents;
}

// ---- Making them. `path` gets the folders `db` and, for one on devices, `disks`.

void write_ingested(const std::string& path, const std::string& scratch) {
  QuietMachine machine;
  auto db = machine.open(scratch);
  ASSERT_OK(db.status());
  Contents unused;
  Writer writer(unused, db->get());
  write_before_ingests(writer);
  IngestStats stats;
  writer.ingest("unsorted", unsorted_entries(), false, &stats);
  EXPECT_EQ(stats.entries_attached, kUnsorted);
  writer.ingest("t", sorted_entries(), true, &stats);
  EXPECT_GE(stats.containers, 2u);
  EXPECT_EQ(stats.entries_logged, 2u);
  write_behind_ingests(writer);
  copy_as_killed(scratch, path + "/db");
}

void write_closed(const std::string& path, const std::string& scratch, void (*write)(Writer),
                  void (*write_more)(Writer)) {
  QuietMachine machine;
  Contents unused;
  auto db = machine.open(scratch);
  ASSERT_OK(db.status());
  write(Writer(unused, db->get()));
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->drain());
  write_more(Writer(unused, db->get()));
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->close());
  db->reset();
  fs::create_directories(path);
  fs::rename(scratch, path + "/db");
}

void write_killed_hanging(const std::string& path, const std::string& scratch) {
  QuietMachine machine;
  auto db = machine.open(scratch);
  ASSERT_OK(db.status());
  Contents unused;
  write_hanging(unused, db->get());
  ASSERT_OK((*db)->flush());
  write_more_hanging(unused, db->get());
  copy_as_killed(scratch, path + "/db");
}

void write_in_parts(const std::string& path, const std::string& scratch) {
  QuietMachine machine;
  auto db = machine.open(scratch);
  ASSERT_OK(db.status());
  Contents unused;
  Writer writer(unused, db->get());
  write_parts(writer);
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->create_snapshot("before"));
  write_more_parts(writer);
  ASSERT_OK((*db)->flush());
  write_last_parts(writer);
  copy_as_killed(scratch, path + "/db");
}

void make_devices(const std::string& path) {
  fs::create_directories(path);
  for (const char* name : kDevices) {
    {
      const std::ofstream made(path + "/" + name, std::ios::binary);
    }
    fs::resize_file(path + "/" + name, kDeviceBytes);
  }
}

Options options_of(const Sample& sample, const std::string& path, bool read_only = false) {
  Options options = with(read_only);
  if (!sample.on_devices) return options;
  for (const char* name : kDevices) options.devices.push_back(path + "/disks/" + name);
  return options;
}

void write_on_devices(const Sample& sample, const std::string& path, const std::string& scratch) {
  QuietMachine machine;
  make_devices(scratch + "/disks");
  auto db = machine.open(scratch + "/db", options_of(sample, scratch));
  ASSERT_OK(db.status());
  Contents unused;
  write_to_devices(Writer(unused, db->get()));
  ASSERT_OK((*db)->flush());
  write_more_to_devices(Writer(unused, db->get()));
  copy_as_killed(scratch + "/db", path + "/db");
  copy_as_killed(scratch + "/disks", path + "/disks");
}

// ---- Looking at them

format::ManifestState manifest_of(const std::string& path) {
  const QuietMachine machine;
  std::string warning;
  const Result<db::LoadedManifest> manifest =
      db::Manifest::load(machine.machine(), path + "/db", &warning);
  EXPECT_OK(manifest.status());
  EXPECT_EQ(warning, "");
  return manifest.ok() ? manifest->state : format::ManifestState();
}

uint64_t entries_of(const format::ManifestState& state) {
  uint64_t entries = 0;
  for (const auto& [id, container] : state.containers) entries += container.entries;
  return entries;
}

// That it holds what it is kept for.
void expect_kind(const Sample& sample, const std::string& path) {
  EXPECT_EQ(fs::exists(path + "/db/wal.ring"), sample.killed);
  const format::ManifestState state = manifest_of(path);
  if (sample.kind == Kind::kIngested) {
    // The second ingest's commit has brought the first one's container there; its own are for the
    // replay to attach.
    EXPECT_EQ(entries_of(state), kBefore + kUnsorted);
  } else if (sample.kind == Kind::kCompressed) {
    EXPECT_EQ(state.dictionaries.size(), 1u);
    uint64_t packed = 0;
    for (const auto& [id, container] : state.containers) {
      packed += container.unpacked_blocks != 0 ? 1 : 0;
      for (const format::ValueExtentRecord& value : container.values) {
        packed += value.address.blocks < (value.bytes + 4095) / 4096 ? 1 : 0;
      }
    }
    EXPECT_GT(packed, 3u);
  } else if (sample.kind == Kind::kWide) {
    uint64_t wide = 0;
    uint64_t containers = 0;
    for (const auto& [id, container] : state.containers) {
      containers += container.tree != format::kCatalogTree ? 1 : 0;
      wide += container.wide ? 1 : 0;
      EXPECT_EQ(container.first_heads, container.run.blocks != 0);
    }
    EXPECT_EQ(wide, 3u);
    EXPECT_EQ(containers, 5u);
  } else if (sample.kind == Kind::kHanging) {
    const QuietMachine machine;
    std::string warning;
    const auto loaded = db::Manifest::load(machine.machine(), path + "/db", &warning);
    EXPECT_NE(loaded->features.incompatible & format::kFeatureSubtrees, 0u);
    uint64_t without_a_name = 0;
    for (const auto& [id, tree] : state.trees) without_a_name += tree.name.empty() ? 1 : 0;
    EXPECT_GE(without_a_name, 3u);
  } else if (sample.kind == Kind::kParts) {
    // Two versions of each of two values: their extents, each once.
    size_t extents = 0;
    for (const auto& [id, container] : state.containers) extents += container.large.size();
    EXPECT_EQ(extents, 7u);
    EXPECT_EQ(state.snapshots.size(), 1u);
  } else {
    EXPECT_EQ(state.devices.size(), 2u);
  }
}

void expect_compression(Db& db) {
  for (const TreeStats& tree : db.stats().trees) {
    const bool zstd = tree.name == "zstd";
    EXPECT_EQ(tree.compression, zstd ? Compression::kZstd : Compression::kLz4) << tree.name;
    EXPECT_EQ(tree.compression_dictionary, zstd) << tree.name;
  }
}

// What the snapshot shows.
void expect_before(Db& db) {
  Contents contents;
  write_parts(Writer(contents, nullptr));
  const Snapshot snapshot = db.open_snapshot("before").value();
  const Tree tree = db.find_tree("t").value();
  for (const auto& [key, value] : contents["t"]) {
    Value found;
    ASSERT_OK(db.get(tree, key, found, {.snapshot = &snapshot}));
    EXPECT_TRUE(found.view() == value) << key;
  }
}

std::map<std::string, std::string> all_files_of(const Sample& sample, const std::string& path,
                                                const std::string& scratch) {
  auto files = files_of(path + "/db", scratch);
  if (!sample.on_devices) return files;
  for (auto& [name, bytes] : files_of(path + "/disks", scratch + "-disks")) {
    files["disks/" + name] = std::move(bytes);
  }
  return files;
}

void expect_sample(const Sample& sample, const std::string& packed) {
  SCOPED_TRACE(packed);
  const TempDirectory directory;
  const std::string path = directory / "unpacked";
  ASSERT_EQ(unpack_directory(packed + (sample.on_devices ? "/db" : ""), path + "/db"), "");
  if (sample.on_devices) {
    ASSERT_EQ(unpack_directory(packed + "/disks", path + "/disks"), "");
  }
  ASSERT_NO_FATAL_FAILURE(expect_kind(sample, path));
  Contents expected = contents_of(sample);

  // Read-only first: it must leave every byte as it is.
  const auto before = all_files_of(sample, path, directory / "before");
  {
    auto db = Db::open(path + "/db", options_of(sample, path, true));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    if (sample.kind == Kind::kCompressed) expect_compression(**db);
    if (sample.kind == Kind::kHanging) expect_hanging(**db);
    if (sample.kind == Kind::kParts) expect_before(**db);
    ASSERT_OK((*db)->close());
  }
  EXPECT_TRUE(all_files_of(sample, path, directory / "after") == before)
      << "a reader changed a file";

  {
    auto db = Db::open(path + "/db", options_of(sample, path));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    // Go on, behind a flush into the log again; and with another ingest.
    Writer writer(expected, db->get());
    for (const std::string name : {"t", "lz4", "zstd", "switched", "small", "of 8"}) {
      if (!expected.contains(name)) continue;
      for (uint64_t i = 0; i < 400; i += 5) {
        if (i == 200) ASSERT_OK((*db)->flush());
        writer.put(name, frozen_number(i), frozen_text(i, 800));
        writer.del(name, frozen_number(i + 4));
      }
    }
    writer.ingest("new", unsorted_entries(), true, nullptr);
    expect_contents(**db, expected);
  }
  // Not closed: what was logged is replayed. Then closed, and opened once more.
  for (int i = 0; i < 2; ++i) {
    auto db = Db::open(path + "/db", options_of(sample, path));
    ASSERT_OK(db.status());
    expect_contents(**db, expected);
    if (sample.kind == Kind::kHanging) expect_hanging(**db);
    ASSERT_OK((*db)->close());
  }
}

TEST(CompatFeatures, every_version_opens) {
  size_t versions = 0;
  for (const auto& entry : fs::directory_iterator(kept_versions())) {
    if (!entry.is_directory()) continue;
    ++versions;
    for (const Sample& sample : kSamples) {
      expect_sample(sample, entry.path().string() + "/database/" + sample.name);
    }
  }
  EXPECT_GE(versions, 1u);
}

// What the next version's samples would be: the code above still makes what it describes.
TEST(CompatFeatures, todays_version_is_written_and_opens) {
  const char* const wish = getenv("HAWTHORN_WRITE_COMPAT");
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.name);
    const TempDirectory directory;
    const std::string path = directory / "made";
    const std::string scratch = directory / "scratch";
    if (sample.kind == Kind::kIngested) {
      write_ingested(path, scratch);
    } else if (sample.kind == Kind::kCompressed) {
      write_closed(path, scratch, write_compressed, write_more_compressed);
    } else if (sample.kind == Kind::kWide) {
      write_closed(path, scratch, write_small, write_more_small);
    } else if (sample.kind == Kind::kHanging) {
      write_killed_hanging(path, scratch);
    } else if (sample.kind == Kind::kParts) {
      write_in_parts(path, scratch);
    } else {
      write_on_devices(sample, path, scratch);
    }
    if (::testing::Test::HasFatalFailure()) return;
    const std::string packed = (wish != nullptr ? wish : directory / "packed") + "/" + sample.name;
    ASSERT_EQ(pack_directory(path + "/db", packed + (sample.on_devices ? "/db" : "")), "");
    if (sample.on_devices) {
      ASSERT_EQ(pack_directory(path + "/disks", packed + "/disks"), "");
    }
    expect_sample(sample, packed);
  }
}

}  // namespace
}  // namespace hawthorn::tests
