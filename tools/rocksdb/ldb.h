#pragma once
// ldb over databases of hawthorn-rocksdb: RocksDB's command line for looking into a database and
// changing it, with its arguments and its output.
//
//   hawthorn-ldb --db=DIR [--OPTION[=VALUE]]... COMMAND [ARGUMENT]...
//
// A program of its own, linked with the shim. Of ldb's commands those are here that are not about
// RocksDB's files; others are refused by name. docs/command.md lists them.
//
// 1. Commands that read open the database read-only.
// 2. Opening changes no family: each is opened as what its row says. Merge operators are not known
//    here: values that somebody has merged into and nobody folded yet cannot be read.

#include <rocksdb/db.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shims/rocksdb/src/families.h"

namespace hawthorn::tools {

// The command line, as ldb takes it apart.
struct LdbArguments {
  std::string command;
  std::vector<std::string> parameters;
  std::map<std::string, std::string> options;  // --NAME=VALUE
  std::set<std::string> flags;                 // --NAME

  static LdbArguments parse(int argc, const char* const* argv);

  // --NAME, and --NAME=true.
  bool has(const std::string& flag) const {
    return flags.count(flag) > 0 || option(flag) == "true";
  }
  std::optional<std::string> option(const std::string& name) const;
};

// What a command ends with: nothing, or what ldb prints behind "Failed: ".
using LdbError = std::optional<std::string>;
LdbError ldb_error(const rocksdb::Status& status, const std::string& before = "");

// Keys and values in the words of the command line, and as they are printed.
class LdbText {
 public:
  explicit LdbText(const LdbArguments& arguments)
      : key_hex_(arguments.has("hex") || arguments.has("key_hex")),
        value_hex_(arguments.has("hex") || arguments.has("value_hex")) {}

  // Errors: what is no "0x" and hexadecimal digits, where that is asked for.
  LdbError key(const std::string& text, std::string* bytes) const;
  LdbError value(const std::string& text, std::string* bytes) const;
  std::string key(std::string_view bytes) const;
  std::string value(std::string_view bytes) const;
  std::string entry(std::string_view key, std::string_view value) const;
  // A line of what `entry` has made; false where it is none.
  bool split(const std::string& line, std::string* key, std::string* value, LdbError* error) const;

 private:
  const bool key_hex_;
  const bool value_hex_;
};

enum class LdbAccess { kNone, kRead, kWrite };

class LdbDatabase {
 public:
  // Of commands with kNone nothing is opened.
  static LdbError open(const LdbArguments& arguments, LdbAccess access,
                       std::unique_ptr<LdbDatabase>* database);
  ~LdbDatabase();

  rocksdb::DB& db() { return *db_; }
  // That --column_family names.
  rocksdb::ColumnFamilyHandle* family() { return chosen_; }
  // Null where there is none.
  rocksdb::ColumnFamilyHandle* family(const std::string& name);
  // Errors: of closing.
  LdbError close();

 private:
  LdbError open_families(const rocks::FamilyRows& rows, const std::string& chosen, LdbAccess access,
                         std::vector<rocksdb::ColumnFamilyDescriptor>* families);

  std::string path_;
  std::vector<std::unique_ptr<rocksdb::Comparator>> comparators_;  // of families that are not read
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::ColumnFamilyHandle* chosen_ = nullptr;
};

struct LdbCall {
  const LdbArguments& arguments;
  LdbText text;
  LdbDatabase* database;  // null with LdbAccess::kNone
};

struct LdbCommand {
  const char* name;
  const char* parameters;  // as help shows them
  LdbAccess access;
  std::set<std::string> options;  // beside those of all commands
  LdbError (*run)(const LdbCall& call);
};

const std::vector<LdbCommand>& ldb_commands();

}  // namespace hawthorn::tools
