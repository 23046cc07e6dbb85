// The three descriptions of each struct on disk agree: the compiler's offsets and sizes, the table
// in the header's comment, and the same table in docs/format.md.
//
// With HAWTHORN_UPDATE_DOCS=1 in the environment the tables of docs/format.md are written anew from
// the headers.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "format/backup_layout.h"
#include "format/backup_stream_layout.h"
#include "format/counters_layout.h"
#include "format/device_label.h"
#include "format/epoch_mark.h"
#include "format/followers_layout.h"
#include "format/key_file.h"
#include "format/log_record.h"
#include "format/manifest_layout.h"
#include "format/prepare_record.h"
#include "format/run_layout.h"
#include "format/superblock.h"
#include "testing/source_tree.h"

namespace hawthorn::format {
namespace {

struct Field {
  std::string name;
  size_t offset;
  size_t size;
  bool operator==(const Field&) const = default;
};

#define FIELD(type, member) \
  Field { #member, offsetof(type, member), sizeof(type::member) }

struct Struct {
  size_t size;
  std::vector<Field> fields;
};

// A new struct on disk gets an entry here, a table above it, and a place in docs/format.md:
//   <!-- table: Name -->
//   (an empty code block, filled by HAWTHORN_UPDATE_DOCS=1)
const std::map<std::string, Struct>& structs() {
  static const std::map<std::string, Struct> all = {
      {"SuperblockSlot",
       {sizeof(SuperblockSlot),
        {FIELD(SuperblockSlot, magic), FIELD(SuperblockSlot, format_version),
         FIELD(SuperblockSlot, reserved_0), FIELD(SuperblockSlot, uuid_low),
         FIELD(SuperblockSlot, uuid_high), FIELD(SuperblockSlot, generation),
         FIELD(SuperblockSlot, manifest_number), FIELD(SuperblockSlot, features_compatible),
         FIELD(SuperblockSlot, features_read_only), FIELD(SuperblockSlot, features_incompatible),
         FIELD(SuperblockSlot, reserved_1), FIELD(SuperblockSlot, checksum_low),
         FIELD(SuperblockSlot, checksum_high)}}},
      {"RepositoryHeader",
       {sizeof(RepositoryHeader),
        {FIELD(RepositoryHeader, magic), FIELD(RepositoryHeader, version),
         FIELD(RepositoryHeader, reserved), FIELD(RepositoryHeader, salt),
         FIELD(RepositoryHeader, checksum)}}},
      {"BackupHeader",
       {sizeof(BackupHeader),
        {FIELD(BackupHeader, magic), FIELD(BackupHeader, version), FIELD(BackupHeader, incremental),
         FIELD(BackupHeader, id), FIELD(BackupHeader, created_us), FIELD(BackupHeader, bytes),
         FIELD(BackupHeader, bytes_stored), FIELD(BackupHeader, bytes_read),
         FIELD(BackupHeader, files), FIELD(BackupHeader, index_bytes),
         FIELD(BackupHeader, checksum)}}},
      {"BackupPart",
       {sizeof(BackupPart),
        {FIELD(BackupPart, offset), FIELD(BackupPart, backup), FIELD(BackupPart, place),
         FIELD(BackupPart, bytes), FIELD(BackupPart, reserved), FIELD(BackupPart, sum_low),
         FIELD(BackupPart, sum_high), FIELD(BackupPart, salted), FIELD(BackupPart, mark_low),
         FIELD(BackupPart, mark_high)}}},
      {"BackupSeal",
       {sizeof(BackupSeal),
        {FIELD(BackupSeal, key), FIELD(BackupSeal, salt), FIELD(BackupSeal, tag)}}},
      {"StreamHeader",
       {sizeof(StreamHeader),
        {FIELD(StreamHeader, magic), FIELD(StreamHeader, version), FIELD(StreamHeader, reserved),
         FIELD(StreamHeader, created_us), FIELD(StreamHeader, salt),
         FIELD(StreamHeader, checksum)}}},
      {"StreamRecord",
       {sizeof(StreamRecord),
        {FIELD(StreamRecord, type), FIELD(StreamRecord, payload_bytes),
         FIELD(StreamRecord, sequence), FIELD(StreamRecord, number), FIELD(StreamRecord, sum_low),
         FIELD(StreamRecord, sum_high), FIELD(StreamRecord, checksum)}}},
      {"ManifestHeader",
       {sizeof(ManifestHeader),
        {FIELD(ManifestHeader, magic), FIELD(ManifestHeader, format_version),
         FIELD(ManifestHeader, reserved_0), FIELD(ManifestHeader, uuid_low),
         FIELD(ManifestHeader, uuid_high), FIELD(ManifestHeader, number),
         FIELD(ManifestHeader, salt), FIELD(ManifestHeader, key), FIELD(ManifestHeader, key_salt),
         FIELD(ManifestHeader, reserved_1), FIELD(ManifestHeader, checksum)}}},
      {"ManifestRecordHeader",
       {sizeof(ManifestRecordHeader),
        {FIELD(ManifestRecordHeader, checksum), FIELD(ManifestRecordHeader, payload_bytes),
         FIELD(ManifestRecordHeader, sequence), FIELD(ManifestRecordHeader, type),
         FIELD(ManifestRecordHeader, reserved)}}},
      {"BatchBeginPayload",
       {sizeof(BatchBeginPayload),
        {FIELD(BatchBeginPayload, number), FIELD(BatchBeginPayload, kind),
         FIELD(BatchBeginPayload, reserved)}}},
      {"BatchCommitPayload",
       {sizeof(BatchCommitPayload),
        {FIELD(BatchCommitPayload, number), FIELD(BatchCommitPayload, checksum),
         FIELD(BatchCommitPayload, record_count)}}},
      {"TreeCreatePayload",
       {sizeof(TreeCreatePayload),
        {FIELD(TreeCreatePayload, id), FIELD(TreeCreatePayload, comparator),
         FIELD(TreeCreatePayload, flags), FIELD(TreeCreatePayload, name_bytes)}}},
      {"LayerPayload",
       {sizeof(LayerPayload),
        {FIELD(LayerPayload, of), FIELD(LayerPayload, reserved), FIELD(LayerPayload, cts)}}},
      {"ClonePayload",
       {sizeof(ClonePayload),
        {FIELD(ClonePayload, of), FIELD(ClonePayload, reserved), FIELD(ClonePayload, cts)}}},
      {"TreeDropPayload",
       {sizeof(TreeDropPayload), {FIELD(TreeDropPayload, id), FIELD(TreeDropPayload, reserved)}}},
      {"ExtentPayload",
       {sizeof(ExtentPayload),
        {FIELD(ExtentPayload, file), FIELD(ExtentPayload, block), FIELD(ExtentPayload, blocks)}}},
      {"ValueExtentPayload",
       {sizeof(ValueExtentPayload),
        {FIELD(ValueExtentPayload, file), FIELD(ValueExtentPayload, block),
         FIELD(ValueExtentPayload, blocks), FIELD(ValueExtentPayload, bytes),
         FIELD(ValueExtentPayload, garbage_bytes)}}},
      {"ContainerSetPayload",
       {sizeof(ContainerSetPayload),
        {FIELD(ContainerSetPayload, id),
         FIELD(ContainerSetPayload, cut),
         FIELD(ContainerSetPayload, max_ts),
         FIELD(ContainerSetPayload, entries),
         FIELD(ContainerSetPayload, run_checksum),
         FIELD(ContainerSetPayload, tree),
         FIELD(ContainerSetPayload, run_file),
         FIELD(ContainerSetPayload, run_block),
         FIELD(ContainerSetPayload, run_blocks),
         FIELD(ContainerSetPayload, low_bytes),
         FIELD(ContainerSetPayload, value_count),
         FIELD(ContainerSetPayload, large_count),
         FIELD(ContainerSetPayload, version),
         FIELD(ContainerSetPayload, flags),
         FIELD(ContainerSetPayload, codec),
         FIELD(ContainerSetPayload, cipher),
         FIELD(ContainerSetPayload, reserved_0),
         FIELD(ContainerSetPayload, comparator),
         FIELD(ContainerSetPayload, nonce),
         FIELD(ContainerSetPayload, expiry_min),
         FIELD(ContainerSetPayload, unpacked_blocks),
         FIELD(ContainerSetPayload, separator_blocks)}}},
      {"ContainerDeletePayload",
       {sizeof(ContainerDeletePayload), {FIELD(ContainerDeletePayload, id)}}},
      {"EpochSetPayload",
       {sizeof(EpochSetPayload),
        {FIELD(EpochSetPayload, number), FIELD(EpochSetPayload, start), FIELD(EpochSetPayload, end),
         FIELD(EpochSetPayload, salt)}}},
      {"EpochMark",
       {sizeof(EpochMark),
        {FIELD(EpochMark, salt), FIELD(EpochMark, number), FIELD(EpochMark, key),
         FIELD(EpochMark, reserved)}}},
      {"EpochKeyPayload",
       {sizeof(EpochKeyPayload), {FIELD(EpochKeyPayload, key), FIELD(EpochKeyPayload, reserved)}}},
      {"KeySlot",
       {sizeof(KeySlot),
        {FIELD(KeySlot, magic), FIELD(KeySlot, version), FIELD(KeySlot, key_count),
         FIELD(KeySlot, uuid_low), FIELD(KeySlot, uuid_high), FIELD(KeySlot, generation),
         FIELD(KeySlot, current), FIELD(KeySlot, key_id_bytes), FIELD(KeySlot, nonce),
         FIELD(KeySlot, tag), FIELD(KeySlot, key_id), FIELD(KeySlot, sealed),
         FIELD(KeySlot, reserved), FIELD(KeySlot, checksum)}}},
      {"EpochDeletePayload", {sizeof(EpochDeletePayload), {FIELD(EpochDeletePayload, number)}}},
      {"LsnPayload", {sizeof(LsnPayload), {FIELD(LsnPayload, lsn)}}},
      {"CountersPayload",
       {sizeof(CountersPayload),
        {FIELD(CountersPayload, next_container), FIELD(CountersPayload, next_tree),
         FIELD(CountersPayload, reserved)}}},
      {"DeviceSetPayload",
       {sizeof(DeviceSetPayload),
        {FIELD(DeviceSetPayload, index), FIELD(DeviceSetPayload, path_bytes),
         FIELD(DeviceSetPayload, generation), FIELD(DeviceSetPayload, blocks)}}},
      {"DictionaryAddPayload",
       {sizeof(DictionaryAddPayload),
        {FIELD(DictionaryAddPayload, id), FIELD(DictionaryAddPayload, tree),
         FIELD(DictionaryAddPayload, bytes), FIELD(DictionaryAddPayload, reserved)}}},
      {"SnapshotPayload",
       {sizeof(SnapshotPayload),
        {FIELD(SnapshotPayload, timestamp), FIELD(SnapshotPayload, created_us),
         FIELD(SnapshotPayload, name_bytes), FIELD(SnapshotPayload, reserved)}}},
      {"FeedPayload",
       {sizeof(FeedPayload),
        {FIELD(FeedPayload, position), FIELD(FeedPayload, scan_from),
         FIELD(FeedPayload, created_us), FIELD(FeedPayload, log_bytes_max),
         FIELD(FeedPayload, name_bytes), FIELD(FeedPayload, flags)}}},
      {"DeviceSlot",
       {sizeof(DeviceSlot),
        {FIELD(DeviceSlot, magic), FIELD(DeviceSlot, format_version), FIELD(DeviceSlot, index),
         FIELD(DeviceSlot, uuid_low), FIELD(DeviceSlot, uuid_high), FIELD(DeviceSlot, generation),
         FIELD(DeviceSlot, blocks), FIELD(DeviceSlot, reserved), FIELD(DeviceSlot, checksum_low),
         FIELD(DeviceSlot, checksum_high)}}},
      {"CountersHeader",
       {sizeof(CountersHeader),
        {FIELD(CountersHeader, magic), FIELD(CountersHeader, version),
         FIELD(CountersHeader, header_bytes), FIELD(CountersHeader, sequence),
         FIELD(CountersHeader, uuid_low), FIELD(CountersHeader, uuid_high),
         FIELD(CountersHeader, pid), FIELD(CountersHeader, process_start),
         FIELD(CountersHeader, opened_us), FIELD(CountersHeader, updated_us),
         FIELD(CountersHeader, state), FIELD(CountersHeader, entry_count),
         FIELD(CountersHeader, entry_bytes), FIELD(CountersHeader, reserved)}}},
      {"FollowersHeader",
       {sizeof(FollowersHeader),
        {FIELD(FollowersHeader, magic), FIELD(FollowersHeader, version),
         FIELD(FollowersHeader, slot_count), FIELD(FollowersHeader, salt),
         FIELD(FollowersHeader, salt_before), FIELD(FollowersHeader, reserved),
         FIELD(FollowersHeader, checksum)}}},
      {"FollowerSlot",
       {sizeof(FollowerSlot),
        {FIELD(FollowerSlot, claim), FIELD(FollowerSlot, pid), FIELD(FollowerSlot, process_start),
         FIELD(FollowerSlot, since_us), FIELD(FollowerSlot, batch), FIELD(FollowerSlot, state),
         FIELD(FollowerSlot, reserved), FIELD(FollowerSlot, checksum)}}},
      {"CountersEntry",
       {sizeof(CountersEntry),
        {FIELD(CountersEntry, name), FIELD(CountersEntry, kind), FIELD(CountersEntry, unit),
         FIELD(CountersEntry, value)}}},
      {"RecordHeader",
       {sizeof(RecordHeader),
        {FIELD(RecordHeader, header_checksum), FIELD(RecordHeader, length),
         FIELD(RecordHeader, lsn), FIELD(RecordHeader, durable_lsn),
         FIELD(RecordHeader, payload_checksum), FIELD(RecordHeader, payload_bytes),
         FIELD(RecordHeader, operations), FIELD(RecordHeader, type),
         FIELD(RecordHeader, reserved)}}},
      {"RunHeader",
       {sizeof(RunHeader),
        {FIELD(RunHeader, magic),
         FIELD(RunHeader, version),
         FIELD(RunHeader, flags),
         FIELD(RunHeader, container),
         FIELD(RunHeader, tree),
         FIELD(RunHeader, comparator),
         FIELD(RunHeader, cut),
         FIELD(RunHeader, max_ts),
         FIELD(RunHeader, expiry_min),
         FIELD(RunHeader, features),
         FIELD(RunHeader, entries),
         FIELD(RunHeader, groups),
         FIELD(RunHeader, header_blocks),
         FIELD(RunHeader, index_blocks),
         FIELD(RunHeader, heap_blocks),
         FIELD(RunHeader, heap_bytes),
         FIELD(RunHeader, skip),
         FIELD(RunHeader, fixed_key_size),
         FIELD(RunHeader, fixed_value_size),
         FIELD(RunHeader, fixed_inline_size),
         FIELD(RunHeader, key_size_max),
         FIELD(RunHeader, plain_inline_count),
         FIELD(RunHeader, record_count),
         FIELD(RunHeader, tombstone_count),
         FIELD(RunHeader, timestamp_count),
         FIELD(RunHeader, large_count),
         FIELD(RunHeader, extent_count),
         FIELD(RunHeader, codec),
         FIELD(RunHeader, cipher),
         FIELD(RunHeader, reserved_a),
         FIELD(RunHeader, nonce),
         FIELD(RunHeader, heap_stored_blocks),
         FIELD(RunHeader, heap_dictionary),
         FIELD(RunHeader, seal),
         FIELD(RunHeader, tag),
         FIELD(RunHeader, separator_blocks),
         FIELD(RunHeader, separator_count),
         FIELD(RunHeader, separator_bytes),
         FIELD(RunHeader, reserved_b)}}},
      {"PrepareHeader",
       {sizeof(PrepareHeader),
        {FIELD(PrepareHeader, transaction), FIELD(PrepareHeader, first_lsn),
         FIELD(PrepareHeader, timestamp), FIELD(PrepareHeader, wall_us),
         FIELD(PrepareHeader, operations), FIELD(PrepareHeader, part), FIELD(PrepareHeader, parts),
         FIELD(PrepareHeader, id_bytes)}}},
      {"RunExtent",
       {sizeof(RunExtent),
        {FIELD(RunExtent, file), FIELD(RunExtent, block), FIELD(RunExtent, blocks),
         FIELD(RunExtent, bytes), FIELD(RunExtent, garbage_bytes), FIELD(RunExtent, dictionary),
         FIELD(RunExtent, codec), FIELD(RunExtent, reserved)}}},
      {"IndexBlockHeader",
       {sizeof(IndexBlockHeader),
        {FIELD(IndexBlockHeader, first_group), FIELD(IndexBlockHeader, groups),
         FIELD(IndexBlockHeader, reserved)}}},
      {"RunGroup", {sizeof(RunGroup), {FIELD(RunGroup, heads), FIELD(RunGroup, locations)}}},
  };
  return all;
}

// Described in docs/format-run.md, in tables that also go below the level of structs.
const std::set<std::string>& described_elsewhere() {
  static const std::set<std::string> names = {"RunHeader", "RunExtent", "IndexBlockHeader",
                                              "RunGroup"};
  return names;
}

std::filesystem::path repository() { return testing::source_tree(); }

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Table {
  std::string text;  // rows as in the comment, the title included
  std::vector<Field> fields;
};

// A row such as "  16    8 uuid_low   of the database".
bool parse_row(const std::string& text, Field* field) {
  std::istringstream row(text);
  return static_cast<bool>(row >> field->offset >> field->size >> field->name);
}

// What stands between the two, when the line consists of the three.
bool between(const std::string& line, std::string_view before, std::string_view after,
             std::string* name) {
  if (line.size() <= before.size() + after.size()) return false;
  if (!line.starts_with(before) || !line.ends_with(after)) return false;
  *name = line.substr(before.size(), line.size() - before.size() - after.size());
  return true;
}

// Every "OFFSET SIZE FIELD" table of the headers in src/format, by the struct that follows it.
std::map<std::string, Table> header_tables() {
  std::map<std::string, Table> tables;
  for (const auto& entry : std::filesystem::directory_iterator(repository() / "src/format")) {
    if (entry.path().extension() != ".h") continue;
    std::istringstream lines(content(entry.path()));
    Table table;
    Field field;
    std::string name;
    bool in_table = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("// OFFSET SIZE FIELD")) {
        EXPECT_TRUE(table.text.empty()) << entry.path() << ": a table without a struct";
        table = {line.substr(3) + "\n", {}};
        in_table = true;
      } else if (in_table && line.starts_with("// ") && parse_row(line.substr(3), &field)) {
        table.text += line.substr(3) + "\n";
        table.fields.push_back(field);
      } else {
        in_table = false;
        if (table.text.empty() || !between(line, "struct ", " {", &name)) continue;
        EXPECT_TRUE(tables.emplace(name, table).second) << name;
        table = {};
      }
    }
    EXPECT_TRUE(table.text.empty()) << entry.path() << ": a table without a struct";
  }
  return tables;
}

TEST(FormatDocTest, HeaderTablesAreWhatTheCompilerSays) {
  const std::map<std::string, Table> tables = header_tables();
  for (const auto& [name, table] : tables) {
    SCOPED_TRACE(name);
    const auto known = structs().find(name);
    ASSERT_NE(known, structs().end()) << "add it to structs() in this test";
    const std::vector<Field>& fields = known->second.fields;
    ASSERT_EQ(table.fields.size(), fields.size());
    size_t end = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      EXPECT_EQ(table.fields[i].name, fields[i].name);
      EXPECT_EQ(table.fields[i].offset, fields[i].offset) << fields[i].name;
      EXPECT_EQ(table.fields[i].size, fields[i].size) << fields[i].name;
      EXPECT_EQ(fields[i].offset, end) << "implicit padding before " << fields[i].name;
      end = fields[i].offset + fields[i].size;
    }
    EXPECT_EQ(end, known->second.size) << "implicit padding at the end";
  }
  for (const auto& [name, known] : structs()) {
    EXPECT_TRUE(tables.contains(name)) << name << " has no table in src/format";
  }
}

TEST(FormatDocTest, TablesOfTheDocumentAreThoseOfTheHeaders) {
  const std::filesystem::path path = repository() / "docs/format.md";
  const std::map<std::string, Table> tables = header_tables();
  std::set<std::string> seen;
  std::istringstream lines(content(path));
  std::string updated;
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    updated += line + "\n";
    if (!between(line, "<!-- table: ", " -->", &name)) continue;
    EXPECT_TRUE(seen.insert(name).second) << name << " has two tables";
    const auto table = tables.find(name);
    ASSERT_NE(table, tables.end()) << name << " has no table in src/format";
    updated += "```\n" + table->second.text + "```\n";
    std::string old;
    if (!std::getline(lines, line) || line != "```") {
      ADD_FAILURE() << "no code block behind the marker of " << name;
      return;
    }
    while (std::getline(lines, line) && line != "```") old += line + "\n";
    if (std::getenv("HAWTHORN_UPDATE_DOCS") == nullptr) {
      EXPECT_EQ(old, table->second.text)
          << name << ": run this test with HAWTHORN_UPDATE_DOCS=1 to write the table anew";
    }
  }
  for (const auto& [known, table] : tables) {
    if (described_elsewhere().contains(known)) continue;
    EXPECT_TRUE(seen.contains(known)) << known << " is missing in docs/format.md";
  }
  if (std::getenv("HAWTHORN_UPDATE_DOCS") != nullptr) std::ofstream(path) << updated;
}

}  // namespace
}  // namespace hawthorn::format
