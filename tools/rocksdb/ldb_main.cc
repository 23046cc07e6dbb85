// hawthorn-ldb: what `hawthorn ldb` becomes. docs/command.md describes it.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "hawthorn/version.h"
#include "tools/rocksdb/ldb.h"

namespace hawthorn::tools {
namespace {

// Of all commands. The last three say how RocksDB's OPTIONS file is read, which is not there.
const std::set<std::string>& common_options() {
  static const std::set<std::string> names = {"db",
                                              "column_family",
                                              "hex",
                                              "key_hex",
                                              "value_hex",
                                              "try_load_options",
                                              "ignore_unknown_options",
                                              "disable_consistency_checks"};
  return names;
}

// --NAME=VALUE; all others are flags, for which VALUE is true or false.
const std::set<std::string>& options_with_values() {
  static const std::set<std::string> names = {"db",       "column_family",  "from",      "to",
                                              "max_keys", "checkpoint_dir", "backup_dir"};
  return names;
}

// ldb's other commands, and why they are not here.
struct Refused {
  const char* name;
  const char* why;
};
constexpr char kFiles[] = "it is about files of RocksDB's";
constexpr Refused kRefused[] = {
    {"repair", "`hawthorn repair DIR TARGET` makes a new database of a damaged one"},
    {"query", "a shell is not offered; get, put, delete and scan do the same"},
    {"singledelete", "delete does the same"},
    {"put_entity", "entities are not offered"},
    {"get_entity", "entities are not offered"},
    {"multi_get_entity", "entities are not offered"},
    {"write_extern_sst", "`load` writes, `dump` reads"},
    {"ingest_extern_sst", "`load` writes, `dump` reads"},
    {"idump", kFiles},
    {"dump_wal", kFiles},
    {"dump_live_files", kFiles},
    {"list_live_files_metadata", kFiles},
    {"list_file_range_deletes", kFiles},
    {"manifest_dump", kFiles},
    {"update_manifest", kFiles},
    {"file_checksum_dump", kFiles},
    {"reduce_levels", kFiles},
    {"change_compaction_style", kFiles},
    {"unsafe_remove_sst_file", kFiles},
};

void print_help(std::FILE* to) {
  std::fputs(
      "hawthorn-ldb: as RocksDB's ldb, on databases of hawthorn-rocksdb\n\n"
      "  hawthorn-ldb --db=DIR [--column_family=NAME] [--hex|--key_hex|--value_hex] COMMAND ...\n\n"
      "Hexadecimal keys and values begin with 0x. Commands:\n",
      to);
  for (const LdbCommand& command : ldb_commands()) {
    std::fprintf(to, "  %s %s\n", command.name, command.parameters);
  }
}

LdbError check_options(const LdbArguments& arguments, const LdbCommand& command) {
  const auto known = [&command](const std::string& name) {
    return common_options().count(name) > 0 || command.options.count(name) > 0;
  };
  for (const std::string& flag : arguments.flags) {
    if (flag == "ttl") return "--ttl: databases with times at their values are not offered";
    if (!known(flag)) return "Invalid command-line flag " + flag;
    if (options_with_values().count(flag) > 0) return "--" + flag + " needs a value, behind a =";
  }
  for (const auto& [name, value] : arguments.options) {
    if (!known(name)) return "Invalid command-line option " + name;
    const bool is_flag = options_with_values().count(name) == 0;
    if (is_flag && value != "true" && value != "false") {
      return "Invalid value for boolean argument --" + name;
    }
  }
  if (!arguments.option("db")) return "db must be specified.";
  return std::nullopt;
}

LdbError run_command(const LdbArguments& arguments, const LdbCommand& command) {
  if (LdbError e = check_options(arguments, command); e) return e;
  std::unique_ptr<LdbDatabase> database;
  LdbError error = LdbDatabase::open(arguments, command.access, &database);
  if (!error) error = command.run({arguments, LdbText(arguments), database.get()});
  if (database != nullptr) {
    if (LdbError closed = database->close(); !error) error = closed;
  }
  if (std::fflush(stdout) != 0 && !error) error = "standard output cannot be written";
  return error;
}

int run(int argc, const char* const* argv) {
  const LdbArguments arguments = LdbArguments::parse(argc, argv);
  if (arguments.has("version")) {
    std::printf("hawthorn-ldb %s\n", std::string(version()).c_str());
    return 0;
  }
  if (arguments.has("help") || arguments.command.empty()) {
    print_help(arguments.has("help") ? stdout : stderr);
    return arguments.has("help") ? 0 : 1;
  }
  const std::vector<LdbCommand>& commands = ldb_commands();
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const auto& c) { return c.name == arguments.command; });
  LdbError error = "Unknown command " + arguments.command + "; --help lists all";
  for (const Refused& refused : kRefused) {
    if (arguments.command == refused.name) error = arguments.command + ": " + refused.why;
  }
  if (command != commands.end()) error = run_command(arguments, *command);
  if (error) std::fprintf(stderr, "Failed: %s\n", error->c_str());
  return error ? 1 : 0;
}

}  // namespace
}  // namespace hawthorn::tools

int main(int argc, char** argv) {
  try {
    return hawthorn::tools::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Failed: %s\n", error.what());
    return 1;
  }
}
