// What each command does. Errors of the arguments come before anything is read or written.

#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <limits>

#include "tools/rocksdb/ldb.h"

namespace hawthorn::tools {
namespace {

using Slice = rocksdb::Slice;

void print(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::putchar('\n');
}

LdbError ok_or(const rocksdb::Status& status, const std::string& before = "") {
  if (status.ok()) print("OK");
  return ldb_error(status, before);
}

LdbError bad_count(const LdbCall& call, const std::string& takes) {
  return call.arguments.command + " takes " + takes;
}

LdbError key_option(const LdbCall& call, const std::string& name, std::optional<std::string>* key) {
  const std::optional<std::string> text = call.arguments.option(name);
  if (!text) return std::nullopt;
  return call.text.key(*text, &key->emplace());
}

LdbError keys_of(const LdbCall& call, std::vector<std::string>* keys) {
  for (const std::string& text : call.arguments.parameters) {
    if (LdbError e = call.text.key(text, &keys->emplace_back()); e) return e;
  }
  return std::nullopt;
}

LdbError get(const LdbCall& call) {
  std::vector<std::string> keys;
  if (call.arguments.parameters.size() != 1) return bad_count(call, "one key");
  if (LdbError e = keys_of(call, &keys); e) return e;
  std::string value;
  const rocksdb::Status s = call.database->db().Get(rocksdb::ReadOptions(), call.database->family(),
                                                    keys.front(), &value);
  if (!s.ok() && !s.IsNotFound()) return ldb_error(s, "Get failed: ");
  print(s.ok() ? call.text.value(value) : "Key not found");
  return std::nullopt;
}

LdbError multi_get(const LdbCall& call) {
  std::vector<std::string> keys;
  if (call.arguments.parameters.empty()) return bad_count(call, "at least one key");
  if (LdbError e = keys_of(call, &keys); e) return e;
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  call.database->db().MultiGet(rocksdb::ReadOptions(), call.database->family(), keys.size(),
                               slices.data(), values.data(), statuses.data());
  LdbError error;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) {
      print(call.text.entry(keys[i], values[i].ToStringView()));
    } else if (statuses[i].IsNotFound()) {
      print("Key not found: " + call.text.key(keys[i]));
    } else {
      error = ldb_error(statuses[i], call.text.key(keys[i]) + ": ");
    }
  }
  return error;
}

LdbError batch_put(const LdbCall& call) {
  const std::vector<std::string>& given = call.arguments.parameters;
  if (given.empty() || given.size() % 2 != 0) return bad_count(call, "keys, each with its value");
  rocksdb::WriteBatch batch;
  for (size_t i = 0; i < given.size(); i += 2) {
    std::string key;
    std::string value;
    LdbError error = call.text.key(given[i], &key);
    if (!error) error = call.text.value(given[i + 1], &value);
    if (!error) error = ldb_error(batch.Put(call.database->family(), key, value));
    if (error) return error;
  }
  return ok_or(call.database->db().Write(rocksdb::WriteOptions(), &batch));
}

LdbError put(const LdbCall& call) {
  if (call.arguments.parameters.size() != 2) return bad_count(call, "a key and a value");
  return batch_put(call);
}

LdbError del(const LdbCall& call) {
  std::vector<std::string> keys;
  if (call.arguments.parameters.size() != 1) return bad_count(call, "one key");
  if (LdbError e = keys_of(call, &keys); e) return e;
  return ok_or(
      call.database->db().Delete(rocksdb::WriteOptions(), call.database->family(), keys.front()));
}

LdbError delete_range(const LdbCall& call) {
  std::vector<std::string> keys;
  if (call.arguments.parameters.size() != 2) return bad_count(call, "the first key, and the last");
  if (LdbError e = keys_of(call, &keys); e) return e;
  return ok_or(call.database->db().DeleteRange(rocksdb::WriteOptions(), call.database->family(),
                                               keys[0], keys[1]));
}

LdbError keys_max(const LdbCall& call, uint64_t* max) {
  *max = std::numeric_limits<uint64_t>::max();
  const std::optional<std::string> text = call.arguments.option("max_keys");
  if (!text || text == "-1") return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, *max);
  if (error == std::errc() && at == end) return std::nullopt;
  return "max_keys has an invalid value";
}

// Prints each entry with `line`, up to --to and --max_keys. As ldb has it, scan looks at the second
// behind an entry, and dump before it.
template <typename Line>
LdbError walk(const LdbCall& call, bool one_at_least, uint64_t* count, const Line& line) {
  std::optional<std::string> from;
  std::optional<std::string> to;
  uint64_t max = 0;
  LdbError error = key_option(call, "from", &from);
  if (!error) error = key_option(call, "to", &to);
  if (!error) error = keys_max(call, &max);
  if (error) return error;
  if (max == 0 && one_at_least) max = 1;
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const Slice upper = to ? Slice(*to) : Slice();
  if (to) options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> at(
      call.database->db().NewIterator(options, call.database->family()));
  from ? at->Seek(*from) : at->SeekToFirst();
  for (*count = 0; at->Valid() && *count < max; at->Next(), ++*count) line(*at);
  return ldb_error(at->status());
}

LdbError scan(const LdbCall& call) {
  uint64_t count = 0;
  const bool keys_only = call.arguments.has("no_value");
  return walk(call, true, &count, [&](const rocksdb::Iterator& at) {
    const std::string_view key = at.key().ToStringView();
    print(keys_only ? call.text.key(key) : call.text.entry(key, at.value().ToStringView()));
  });
}

LdbError dump(const LdbCall& call) {
  uint64_t count = 0;
  const bool count_only = call.arguments.has("count_only");
  LdbError error = walk(call, false, &count, [&](const rocksdb::Iterator& at) {
    if (count_only) return;
    print(call.text.entry(at.key().ToStringView(), at.value().ToStringView()));
  });
  if (!error) print("Keys in range: " + std::to_string(count));
  return error;
}

LdbError compact_all(const LdbCall& call, const Slice* from, const Slice* to) {
  return ldb_error(call.database->db().CompactRange(rocksdb::CompactRangeOptions(),
                                                    call.database->family(), from, to),
                   "Compaction failed: ");
}

LdbError load(const LdbCall& call) {
  uint64_t bad_lines = 0;
  std::string key;
  std::string value;
  for (std::string line; std::getline(std::cin, line);) {
    LdbError error;
    if (call.text.split(line, &key, &value, &error)) {
      if (!error) {
        error = ldb_error(
            call.database->db().Put(rocksdb::WriteOptions(), call.database->family(), key, value),
            "Load failed: ");
      }
      if (error) return error;
    } else if (line.compare(0, 14, "Keys in range:") != 0) {
      ++bad_lines;
    }
  }
  if (bad_lines > 0) print("Warning: " + std::to_string(bad_lines) + " bad lines ignored.");
  return call.arguments.has("compact") ? compact_all(call, nullptr, nullptr) : std::nullopt;
}

LdbError compact(const LdbCall& call) {
  std::optional<std::string> from;
  std::optional<std::string> to;
  if (LdbError e = key_option(call, "from", &from); e) return e;
  if (LdbError e = key_option(call, "to", &to); e) return e;
  const Slice first = from ? Slice(*from) : Slice();
  const Slice last = to ? Slice(*to) : Slice();
  return compact_all(call, from ? &first : nullptr, to ? &last : nullptr);
}

LdbError approximate_size(const LdbCall& call) {
  std::optional<std::string> from;
  std::optional<std::string> to;
  LdbError error = key_option(call, "from", &from);
  if (!error) error = key_option(call, "to", &to);
  if (error) return error;
  if (!from || !to) return "approxsize takes --from and --to";
  const rocksdb::Range range(*from, *to);
  uint64_t bytes = 0;
  const rocksdb::Status s = call.database->db().GetApproximateSizes(
      rocksdb::SizeApproximationOptions(), call.database->family(), &range, 1, &bytes);
  if (s.ok()) print(std::to_string(bytes));
  return ldb_error(s);
}

LdbError get_property(const LdbCall& call) {
  if (call.arguments.parameters.size() != 1) return bad_count(call, "the name of a property");
  const std::string& name = call.arguments.parameters.front();
  std::string value;
  if (!call.database->db().GetProperty(call.database->family(), name, &value)) {
    return "failed to get property: " + name;
  }
  print(name + ": " + value);
  return std::nullopt;
}

LdbError check_consistency(const LdbCall& call) {
  return ok_or(call.database->db().VerifyChecksum());
}

LdbError list_families(const LdbCall& call) {
  const std::string path = *call.arguments.option("db");
  std::vector<std::string> names;
  const rocksdb::Status s = rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), path, &names);
  if (!s.ok()) return "Error in processing db " + path + " " + s.ToString();
  print("Column families in " + path + ": ");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  print("{" + list + "}");
  return std::nullopt;
}

LdbError create_family(const LdbCall& call) {
  if (call.arguments.parameters.size() != 1) return bad_count(call, "a name");
  rocksdb::ColumnFamilyHandle* made = nullptr;
  rocksdb::DB& db = call.database->db();
  const rocksdb::Status s = db.CreateColumnFamily(rocksdb::ColumnFamilyOptions(),
                                                  call.arguments.parameters.front(), &made);
  if (s.ok()) static_cast<void>(db.DestroyColumnFamilyHandle(made));
  return ok_or(s, "Fail to create new column family: ");
}

LdbError drop_family(const LdbCall& call) {
  if (call.arguments.parameters.size() != 1) return bad_count(call, "a name");
  const std::string& name = call.arguments.parameters.front();
  rocksdb::ColumnFamilyHandle* const family = call.database->family(name);
  if (family == nullptr) return "Column family: " + name + " doesn't exist in db.";
  return ok_or(call.database->db().DropColumnFamily(family), "Fail to drop column family: ");
}

LdbError checkpoint(const LdbCall& call) {
  const std::optional<std::string> directory = call.arguments.option("checkpoint_dir");
  if (!directory) return "--checkpoint_dir: missing checkpoint directory";
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status s = rocksdb::Checkpoint::Create(&call.database->db(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> owned(made);
  return ok_or(s.ok() ? made->CreateCheckpoint(*directory) : s);
}

LdbError backup(const LdbCall& call) {
  const std::optional<std::string> directory = call.arguments.option("backup_dir");
  if (!directory) return "--backup_dir: missing backup directory";
  print("open db OK");
  rocksdb::BackupEngine* opened = nullptr;
  rocksdb::Status s = rocksdb::BackupEngine::Open(
      rocksdb::Env::Default(), rocksdb::BackupEngineOptions(*directory), &opened);
  if (!s.ok()) return ldb_error(s);
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  print("open backup engine OK");
  s = engine->CreateNewBackup(&call.database->db());
  if (s.ok()) print("create new backup OK");
  return ldb_error(s);
}

LdbError restore(const LdbCall& call) {
  const std::optional<std::string> directory = call.arguments.option("backup_dir");
  if (!directory) return "--backup_dir: missing backup directory";
  rocksdb::BackupEngineReadOnly* opened = nullptr;
  rocksdb::Status s = rocksdb::BackupEngineReadOnly::Open(
      rocksdb::Env::Default(), rocksdb::BackupEngineOptions(*directory), &opened);
  if (!s.ok()) return ldb_error(s);
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(opened);
  print("open restore engine OK");
  const std::string path = *call.arguments.option("db");
  s = engine->RestoreDBFromLatestBackup(path, path);
  if (s.ok()) print("restore from backup OK");
  return ldb_error(s);
}

}  // namespace

const std::vector<LdbCommand>& ldb_commands() {
  constexpr LdbAccess kNone = LdbAccess::kNone;
  constexpr LdbAccess kRead = LdbAccess::kRead;
  constexpr LdbAccess kWrite = LdbAccess::kWrite;
  const std::set<std::string> range = {"from", "to"};
  static const std::vector<LdbCommand> commands = {
      {"get", "KEY", kRead, {}, get},
      {"multi_get", "KEY...", kRead, {}, multi_get},
      {"put", "KEY VALUE [--create_if_missing]", kWrite, {"create_if_missing"}, put},
      {"batchput", "KEY VALUE... [--create_if_missing]", kWrite, {"create_if_missing"}, batch_put},
      {"delete", "KEY", kWrite, {}, del},
      {"deleterange", "FIRST LAST (itself not)", kWrite, {}, delete_range},
      {"scan",
       "[--from=KEY] [--to=KEY] [--max_keys=N] [--no_value]",
       kRead,
       {"from", "to", "max_keys", "no_value"},
       scan},
      {"dump",
       "[--from=KEY] [--to=KEY] [--max_keys=N] [--count_only]",
       kRead,
       {"from", "to", "max_keys", "count_only"},
       dump},
      {"load",
       "[--create_if_missing] [--compact], lines of dump on standard input",
       kWrite,
       {"create_if_missing", "compact"},
       load},
      {"approxsize", "--from=KEY --to=KEY", kRead, range, approximate_size},
      {"compact", "[--from=KEY] [--to=KEY]", kWrite, range, compact},
      {"checkconsistency", "", kRead, {}, check_consistency},
      {"get_property", "NAME", kRead, {}, get_property},
      {"list_column_families", "", kNone, {}, list_families},
      {"create_column_family", "NAME", kWrite, {}, create_family},
      {"drop_column_family", "NAME", kWrite, {}, drop_family},
      {"checkpoint", "--checkpoint_dir=DIR", kWrite, {"checkpoint_dir"}, checkpoint},
      {"backup", "--backup_dir=DIR", kWrite, {"backup_dir"}, backup},
      {"restore", "--backup_dir=DIR, the newest one to --db", kNone, {"backup_dir"}, restore},
  };
  return commands;
}

}  // namespace hawthorn::tools
