// Directories that somebody made to do harm: the sizes, counts, ids and places in them are not what
// the engine writes, and their checksums are right. Each is opened read-only, followed, opened for
// writing, checked, read and written as a whole (testing/sample_databases.h): errors that say
// something, or what is read stays as it is; within a bounded number of bytes read and of memory.
//
// The target `directory` of fuzz/ looks for more of the kind; what it found stands in its corpus.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/bytes.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "format/catalog_entry.h"
#include "format/operation.h"
#include "format/run_layout.h"
#include "testing/database_image.h"
#include "testing/sample_databases.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;
using format::ManifestRecordType;
using testing::DatabaseImage;
using testing::Exercised;
using testing::Sample;
using testing::SimDisk;
using testing::SimMachine;

constexpr char kDirectory[] = "/db";
// What one of them may read, and how much the test may grow.
constexpr uint64_t kReadBytesMax = uint64_t{256} << 20;
constexpr long kResidentKilobytesMax = 700L << 10;
constexpr uint64_t kExtremes[] = {
    0, 1, 0x7fff, 0xffff, 0x100000, 0x7fffffff, 0xffffffff, (uint64_t{1} << 62) - 1, ~uint64_t{0}};

// As fuzz/database.h has them.
class SmallSizes {
 public:
  SmallSizes() {
    db::log_segment_bytes = size_t{1} << 20;
    db::log_bytes_min = size_t{2} << 20;
    db::log_ring_bytes_max = size_t{128} << 10;
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{4} << 20;
  }
};

class HostileDirectory : public ::testing::Test {
 protected:
  static const DatabaseImage& sample(Sample which) {
    static std::map<Sample, DatabaseImage> samples;
    const auto found = samples.find(which);
    return found != samples.end() ? found->second : samples[which] = made(which, {});
  }

  static DatabaseImage made(Sample which, const Encryption& encryption) {
    SimDisk disk(1);
    const SimMachine machine(disk, 1);
    std::unique_ptr<Db> open;
    EXPECT_OK(testing::make_sample(machine.machine(), kDirectory, which, &open, encryption));
    const auto killed = disk.after_crash(1, testing::CrashKind::kProcessKill);
    return DatabaseImage::read(*killed, kDirectory).value();
  }

  void TearDown() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, kResidentKilobytesMax);
  }

  static Exercised expect_bounded(const DatabaseImage& image, const std::string& what,
                                  bool follow = false, const Encryption& encryption = {}) {
    SCOPED_TRACE(what);
    SimDisk disk(1);
    disk.set_capacity(uint64_t{128} << 20);
    EXPECT_OK(image.write(disk, kDirectory));
    const SimMachine machine(disk, 1);
    const Exercised found = testing::exercise(machine.machine(), kDirectory, follow, encryption);
    EXPECT_EQ(found.violated, "");
    EXPECT_LT(disk.counters().bytes_read, kReadBytesMax);
    return found;
  }

  // Each field of four bytes at some extremes, and eight bytes at the larger ones.
  template <typename Change>
  static void with_extremes(std::string& bytes, size_t from, size_t to, Change change) {
    size_t turn = environment_number("HAWTHORN_SEED", 0);
    for (size_t at = from; at + 4 <= to && at + 4 <= bytes.size(); at += 4) {
      for (const uint64_t number : kExtremes) {
        // All of them with HAWTHORN_SCALE=4 (8 under a sanitizer), or with three seeds.
        if (turn++ % 3 != 0 && !is_whole()) continue;
        const size_t width = number > UINT32_MAX && at + 8 <= bytes.size() ? 8 : 4;
        const std::string before = bytes.substr(at, width);
        std::memcpy(bytes.data() + at, &number, width);
        if (bytes.substr(at, width) == before) continue;
        change("offset " + std::to_string(at) + ", " + std::to_string(number));
        bytes.replace(at, width, before);
      }
    }
  }

  static const SmallSizes sizes_;
};
const SmallSizes HostileDirectory::sizes_;

TEST_F(HostileDirectory, nothing_is_wrong_with_the_samples) {
  for (int i = 0; i < 2 * testing::kSamples; ++i) {
    const auto which = static_cast<Sample>(i / 2);
    const Encryption encryption = i % 2 == 0 ? Encryption() : testing::sample_encryption();
    const Exercised found =
        expect_bounded(made(which, encryption), "sample " + std::to_string(i), true, encryption);
    EXPECT_OK(found.read);
    EXPECT_OK(found.followed);
    EXPECT_OK(found.written);
    EXPECT_EQ(found.reports, 0u);
  }
}

TEST_F(HostileDirectory, numbers_of_the_manifest) {
  DatabaseImage image = sample(Sample::kPlain);
  const size_t count = image.manifest().size();
  for (size_t i = 0; i < count; ++i) {
    // What a commit says is made right.
    if (image.manifest()[i].type == ManifestRecordType::kBatchCommit) continue;
    std::string& payload = image.manifest()[i].payload;
    with_extremes(payload, 0, 108, [&](const std::string& what) {
      image.seal_manifest();
      expect_bounded(image, "record " + std::to_string(i) + " of type " +
                                std::to_string(static_cast<int>(image.manifest()[i].type)) + ", " +
                                what);
    });
  }
}

TEST_F(HostileDirectory, numbers_of_a_run) {
  DatabaseImage image = sample(Sample::kPlain);
  auto containers = image.records_of(ManifestRecordType::kContainerSet);
  const auto before = image.files();
  std::string header;
  for (DatabaseImage::Record* const container : containers) {
    const std::string payload = container->payload;
    if (!image.edit_run(*container, [&](std::string& run) { header = run.substr(0, 1024); })) {
      continue;
    }
    with_extremes(header, 8, sizeof(format::RunHeader), [&](const std::string& what) {
      image.edit_run(*container, [&](std::string& run) { run.replace(0, header.size(), header); });
      expect_bounded(image, what);
      image.files() = before;
      container->payload = payload;
    });
    break;  // one run is as good as another
  }
}

TEST_F(HostileDirectory, numbers_of_the_log) {
  DatabaseImage image = sample(Sample::kPlain);
  const auto before = image.files();
  for (size_t i = 0; i < std::min<size_t>(image.log_count(), 2); ++i) {
    std::string payload;
    image.edit_log(i, [&](format::RecordHeader&, std::string& bytes) { payload = bytes; });
    with_extremes(payload, 0, 32, [&](const std::string& what) {
      image.edit_log(i, [&](format::RecordHeader&, std::string& bytes) { bytes = payload; });
      expect_bounded(image, "record " + std::to_string(i) + ", " + what);
      image.files() = before;
    });
    for (const uint64_t number : kExtremes) {
      image.edit_log(i, [&](format::RecordHeader& header, std::string&) {
        header.operations = static_cast<uint32_t>(number);
      });
      expect_bounded(image, "operations of record " + std::to_string(i));
      image.files() = before;
    }
  }
}

// Of each type, too short for what it must hold.
TEST_F(HostileDirectory, short_records_of_the_log) {
  for (int type = 0; type <= 14; ++type) {
    for (const size_t size : {0, 8, 12, 19, 20, 24}) {
      DatabaseImage image = sample(Sample::kPlain);
      ASSERT_TRUE(image.append_log(static_cast<format::RecordType>(type), 1,
                                   std::string(size, type % 2 == 0 ? '\0' : '\xff')));
      expect_bounded(image, "type " + std::to_string(type) + ", " + std::to_string(size));
    }
  }
}

// Extents that overlap, lie behind the end of their file or in none, and values that are runs.
TEST_F(HostileDirectory, extents) {
  const DatabaseImage& made = sample(Sample::kValues);
  struct Case {
    const char* what;
    uint32_t file;
    uint32_t block;
    uint32_t blocks;
  };
  for (const Case& one : {Case{"behind the end", 0, 0xfffff000, 16}, Case{"no file", 77, 0, 16},
                          Case{"absurd file", 0xffffffff, 0, 16}, Case{"device", 16384, 0, 16},
                          Case{"all", 0, 0, 0xfffffffe}, Case{"over the end", 0, 0xffffffff, 2}}) {
    DatabaseImage image = made;
    for (DatabaseImage::Record* record : image.records_of(ManifestRecordType::kContainerSet)) {
      auto fixed = load<format::ContainerSetPayload>(record->payload.data());
      if (fixed.run_blocks == 0) continue;
      fixed.run_file = one.file;
      fixed.run_block = one.block;
      fixed.run_blocks = one.blocks;
      store(record->payload.data(), fixed);
      break;
    }
    image.seal_manifest();
    expect_bounded(image, one.what, true);
  }
  // The values of one container are the run of another one, and its own.
  DatabaseImage image = made;
  std::vector<format::ContainerSetPayload> runs;
  for (DatabaseImage::Record* record : image.records_of(ManifestRecordType::kContainerSet)) {
    runs.push_back(load<format::ContainerSetPayload>(record->payload.data()));
  }
  for (DatabaseImage::Record* record : image.records_of(ManifestRecordType::kContainerSet)) {
    const auto fixed = load<format::ContainerSetPayload>(record->payload.data());
    for (const format::ContainerSetPayload& other : runs) {
      if (fixed.value_count == 0 || other.run_blocks == 0) continue;
      DatabaseImage changed = image;
      auto value = load<format::ValueExtentPayload>(record->payload.data() + sizeof(fixed));
      value.file = other.run_file;
      value.block = other.run_block;
      value.blocks = other.run_blocks;
      std::string& payload =
          changed.manifest()[static_cast<size_t>(record - image.manifest().data())].payload;
      store(payload.data() + sizeof(fixed), value);
      changed.seal_manifest();
      expect_bounded(changed, "values that are a run");
    }
  }
}

format::TreeCreatePayload tree_payload(uint32_t id, uint32_t flags) {
  return {.id = id, .comparator = 0, .flags = flags, .name_bytes = 0};
}
template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&parts), sizeof(parts)), ...);
  return bytes;
}
std::string empty_container(uint64_t id, uint32_t tree) {
  format::ContainerSetPayload fixed = {};
  fixed.id = id;
  fixed.tree = tree;
  fixed.version = format::kContainerPayloadVersion;
  return joined(fixed);
}

// Clones of clones, as many as the manifest likes: a read must not take a level of the stack for
// each.
TEST_F(HostileDirectory, clones_of_clones_of_clones) {
  for (const bool from_log : {false, true}) {
    DatabaseImage image = sample(Sample::kPlain);
    constexpr uint32_t kFirst = 100;
    constexpr uint32_t kClones = 30'000;
    if (from_log) {
      // The last one first: all wait for those of which they are clones.
      std::string operations;
      uint32_t count = 0;
      for (uint32_t id = kFirst + kClones; id > kFirst; --id) {
        const format::CatalogEntry entry{id, 0, id == kFirst + 1 ? 1 : id - 1, ""};
        const std::string key = format::catalog_key("clone " + std::to_string(id));
        const std::string value = format::encode_catalog_entry(entry);
        format::append_operation(operations, {.type = format::OperationType::kPut,
                                              .tree = format::kCatalogTree,
                                              .key = key,
                                              .value = value});
        ++count;
        if (operations.size() < 10'000 && id > kFirst + 1) continue;
        if (!image.append_log(format::RecordType::kCommit, count, operations)) break;
        operations.clear();
        count = 0;
      }
    } else {
      auto& records = image.manifest();
      for (uint32_t i = 0; i < kClones; ++i) {
        const uint32_t id = kFirst + i;
        const format::ClonePayload clone = {i == 0 ? 1 : id - 1, 0, 1};
        records.insert(records.end() - 1, {ManifestRecordType::kTreeCreate,
                                           joined(tree_payload(id, format::kTreeIsClone), clone)});
        records.insert(records.end() - 1,
                       {ManifestRecordType::kContainerSet, empty_container(1000 + i, id)});
      }
      image.seal_manifest();
    }
    const Exercised found = expect_bounded(image, from_log ? "log" : "manifest");
    if (!from_log) {
      EXPECT_TRUE(found.written.is(StatusCode::kCorruption)) << found.written.to_string();
      EXPECT_NE(found.written.message().find("clone of a clone"), std::string_view::npos);
    }
  }
}

TEST_F(HostileDirectory, trees_that_are_there_twice_or_nowhere) {
  struct Case {
    const char* what;
    std::string payload;
  };
  const uint32_t layer = format::kTreeIsLayer;
  for (const Case& one :
       {Case{"tree 1 again", joined(tree_payload(1, 0))},
        Case{"the catalog again", joined(tree_payload(0, 0))},
        Case{"the last id", joined(tree_payload(~uint32_t{0}, 0))},
        Case{"the last but one", joined(tree_payload(~uint32_t{0} - 1, 0))},
        Case{"a layer of itself", joined(tree_payload(50, layer), format::LayerPayload{50, 0, 9})},
        Case{"a layer of none", joined(tree_payload(50, layer), format::LayerPayload{40, 0, 9})},
        Case{"a clone of itself",
             joined(tree_payload(50, format::kTreeIsClone), format::ClonePayload{50, 0, 9})},
        Case{"a clone of none",
             joined(tree_payload(50, format::kTreeIsClone), format::ClonePayload{40, 0, 9})},
        Case{"a clone of the catalog",
             joined(tree_payload(50, format::kTreeIsClone), format::ClonePayload{0, 0, 9})}}) {
    for (const bool with_container : {false, true}) {
      DatabaseImage image = sample(Sample::kPlain);
      auto& records = image.manifest();
      const auto id = load<uint32_t>(one.payload.data());
      records.insert(records.end() - 1, {ManifestRecordType::kTreeCreate, one.payload});
      if (with_container) {
        records.insert(records.end() - 1,
                       {ManifestRecordType::kContainerSet, empty_container(900, id)});
      }
      image.seal_manifest();
      expect_bounded(image, one.what, true);
    }
  }
}

// Ranges of containers: the same twice, and none that begins at the first key.
TEST_F(HostileDirectory, ranges_of_containers) {
  for (const std::string& low : {std::string(), std::string("m")}) {
    for (const int copies : {1, 3}) {
      DatabaseImage image = sample(Sample::kPlain);
      auto& records = image.manifest();
      for (int i = 0; i < copies; ++i) {
        auto fixed = load<format::ContainerSetPayload>(
            empty_container(900 + static_cast<uint64_t>(i), 1).data());
        fixed.low_bytes = static_cast<uint32_t>(low.size());
        records.insert(records.end() - 1, {ManifestRecordType::kContainerSet, joined(fixed) + low});
      }
      image.seal_manifest();
      expect_bounded(image, "low key '" + low + "', " + std::to_string(copies) + " times", true);
    }
  }
}

// A circle of trees: whoever hangs something there must not go round for ever.
TEST_F(HostileDirectory, subtrees_in_a_circle) {
  DatabaseImage image = sample(Sample::kTrees);
  // Of the trees that hang somewhere: each now also hangs in every other.
  std::string operations;
  uint32_t count = 0;
  const auto put = [&](const std::string& key, const std::string& value) {
    format::append_operation(operations, {.type = format::OperationType::kPut,
                                          .tree = format::kCatalogTree,
                                          .key = key,
                                          .value = value});
    ++count;
  };
  std::vector<std::pair<uint32_t, std::string>> shapes;
  for (const DatabaseImage::Record* record : image.records_of(ManifestRecordType::kTreeCreate)) {
    const auto fixed = load<format::TreeCreatePayload>(record->payload.data());
    if ((fixed.flags & format::kTreeHasShape) == 0) continue;
    const size_t at = sizeof(fixed) + fixed.name_bytes;
    const auto size = load<uint16_t>(record->payload.data() + at);
    shapes.emplace_back(fixed.id, record->payload.substr(at + 2, size));
  }
  for (const auto& [id, shape] : shapes) {
    for (const auto& [parent, other] : shapes) {
      const std::string key = format::subtree_key({parent, "k" + std::to_string(id)});
      put(key, format::encode_catalog_entry({id, 0, 0, shape}));
      put(format::place_key(id), key);
    }
  }
  ASSERT_TRUE(image.append_log(format::RecordType::kCommit, count, operations));
  expect_bounded(image, "a circle", true);

  SimDisk disk(1);
  ASSERT_OK(image.write(disk, kDirectory));
  const SimMachine machine(disk, 1);
  auto db = Db::open_on(machine.machine(), kDirectory, testing::sample_options());
  ASSERT_OK(db.status());
  const Tree roots = (*db)->find_tree("roots").value();
  const auto keys = (*db)->list_subtrees(roots);
  ASSERT_OK(keys.status());
  for (const std::string& key : *keys) {
    const Result<Tree> child = (*db)->subtree(roots, key);
    if (!child.ok()) continue;
    const Status attached = (*db)->attach(*child, "attached", "source");
    if (attached.ok()) break;
    EXPECT_FALSE(attached.message().empty());
  }
  for (const std::string& key : *keys) static_cast<void>((*db)->del(roots, key));
  static_cast<void>((*db)->drop_tree("roots"));
  static_cast<void>((*db)->flush());
}

// Positions of feeds, snapshots and the log that are nowhere.
TEST_F(HostileDirectory, positions) {
  for (const uint64_t lsn : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40, format::kLsnMax}) {
    for (const ManifestRecordType type :
         {ManifestRecordType::kFeedSet, ManifestRecordType::kSnapshotSet,
          ManifestRecordType::kLogTrim, ManifestRecordType::kLsnReserve}) {
      // A snapshot of a moment to come shows what is there now, and later something else.
      if (type == ManifestRecordType::kSnapshotSet && lsn == format::kLsnMax) continue;
      DatabaseImage image = sample(Sample::kValues);
      auto records = image.records_of(type);
      ASSERT_FALSE(records.empty());
      for (DatabaseImage::Record* record : records) {
        store(record->payload.data(), lsn);
        if (type == ManifestRecordType::kFeedSet) store(record->payload.data() + 8, lsn);
      }
      image.seal_manifest();
      expect_bounded(
          image, "type " + std::to_string(static_cast<int>(type)) + " at " + std::to_string(lsn),
          true);
    }
  }
}

// Names of numbers that no file has: none is waited for, one by one or otherwise.
TEST_F(HostileDirectory, numbers_in_names) {
  const DatabaseImage& made = sample(Sample::kPlain);
  std::string segment;
  DatabaseImage image = made;
  for (const auto& [name, bytes] : image.files()) {
    if (name.size() == 20 && name.starts_with("wal.")) segment = bytes;
  }
  ASSERT_FALSE(segment.empty());
  for (const char* name :
       {"wal.ffffffffffffffff", "wal.7fffffffffffffff", "wal.000003fffffffffe",
        "wal.00000000ffffffff", "manifest.999999999999999999", "manifest.18446744073709551616",
        "data.4294967295", "data.16383", "data.16384", "ingest.99999999999999999999999"}) {
    image = made;
    image.files()[name] = segment;
    expect_bounded(image, name, true);
  }
}

// ---- On the real disk: files that claim more than any disk has.

TEST_F(HostileDirectory, files_that_are_mostly_holes) {
  const TempDirectory directory;
  for (const char* name : {"superblock", "manifest", "data.0", "wal.ring", "wal.0", "counters",
                           "followers", "revocations", "lock", "manifest.spare", "data.7"}) {
    const std::string path = directory / name;
    SimDisk disk(1);
    ASSERT_OK(sample(Sample::kPlain).write(*os::real_machine().files, path));
    std::string longest = path + "/" + name;
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string found = entry.path().filename();
      const std::string wanted = std::string(name) == "manifest" ? "manifest." : "wal.0";
      if (!fs::exists(longest) && found.starts_with(wanted) && found != "manifest.spare") {
        longest = entry.path();
      }
    }
    {
      const std::ofstream made(longest, std::ios::binary | std::ios::app);
    }
    constexpr off_t kSizes[] = {off_t{1} << 52, (off_t{1} << 44) - 4096, off_t{1} << 40};
    bool grown = false;
    for (const off_t size : kSizes) grown = grown || truncate(longest.c_str(), size) == 0;
    ASSERT_TRUE(grown);
    const Exercised found = testing::exercise(os::real_machine(), path);
    EXPECT_EQ(found.violated, "") << name;
    uint64_t taken = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
      struct stat info{};
      ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
      taken += static_cast<uint64_t>(info.st_blocks) * 512;
    }
    EXPECT_LT(taken, uint64_t{512} << 20) << name;
    fs::remove_all(path);
  }
}

// A manifest that names somebody else's file as a device.
TEST_F(HostileDirectory, devices_of_others_are_not_written) {
  const TempDirectory directory;
  constexpr size_t kBytes = size_t{16} << 20;
  const std::string own = directory / "own";
  const std::string path = directory / "db";
  {
    std::ofstream(own) << "";
    ASSERT_EQ(truncate(own.c_str(), kBytes), 0);
    Options options = testing::sample_options();
    options.devices = {own};
    auto db = Db::open(path, options);
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->put((*db)->tree("t").value(), "k", "v"));
    ASSERT_OK((*db)->close());
  }
  auto made = DatabaseImage::read(*os::real_machine().files, path);
  ASSERT_OK(made.status());
  const auto read = [](const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string labelled = read(own);
  std::string other_index = labelled;
  std::string text(kBytes, '\0');
  text.replace(0, 12, "a user's own");
  struct Case {
    const char* what;
    std::string bytes;
  };
  std::string other_uuid = labelled;
  for (const size_t slot : {size_t{0}, size_t{4096}})
    other_uuid[slot + 16] ^= 1;  // breaks the seal
  for (const Case& one : {Case{"zeros", std::string(kBytes, '\0')}, Case{"text", text},
                          Case{"too small", "text"}, Case{"another label", other_uuid}}) {
    SCOPED_TRACE(one.what);
    const std::string foreign = directory / "foreign";
    std::ofstream(foreign, std::ios::binary) << one.bytes;
    for (const bool added : {false, true}) {
      DatabaseImage image = *made;
      for (DatabaseImage::Record* record : image.records_of(ManifestRecordType::kDeviceSet)) {
        auto fixed = load<format::DeviceSetPayload>(record->payload.data());
        if (!added) {
          fixed.path_bytes = static_cast<uint32_t>(foreign.size());
          record->payload = joined(fixed) + foreign;
          continue;
        }
        fixed.index = 1;
        fixed.path_bytes = static_cast<uint32_t>(foreign.size());
        image.manifest().insert(image.manifest().end() - 1,
                                {ManifestRecordType::kDeviceSet, joined(fixed) + foreign});
        break;
      }
      image.seal_manifest();
      ASSERT_OK(image.write(*os::real_machine().files, path));
      for (const bool read_only : {true, false}) {
        Options options = testing::sample_options();
        options.read_only = read_only;
        const Status status = Db::open(path, options).status();
        EXPECT_TRUE(status.is(StatusCode::kInvalidArgument) || status.is(StatusCode::kCorruption))
            << status.to_string();
        EXPECT_NE(status.message().find(foreign), std::string_view::npos) << status.to_string();
      }
      EXPECT_TRUE(read(foreign) == one.bytes) << "opened";
      static_cast<void>(Db::destroy(path));
      EXPECT_TRUE(read(foreign) == one.bytes) << "destroyed";
      std::ofstream(own, std::ios::binary) << labelled;
    }
  }
}

}  // namespace
}  // namespace hawthorn::tests
