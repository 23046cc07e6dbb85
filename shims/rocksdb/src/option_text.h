#pragma once
// Options as text, by a table for each structure: how each member is read and shown.
//
// Not here: the tables (option_tables.cc), how values of a type look (option_values.h), files of
// options (options_file.h).
// Used by convenience.h's functions, SetOptions and options files. Threads: any.
//
// 1. What a table shows, it reads, and then shows again; but for strings with a semicolon or
// braces.
// 2. Where reading fails, what is read into is half changed: callers read into a copy.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rocksdb/convenience.h"

namespace hawthorn::rocks {

using OptionMap = std::unordered_map<std::string, std::string>;

// One option of a structure. Without functions: a name of earlier versions, which means nothing.
struct OptionField {
  enum : uint32_t {
    kPlain = 0,
    kMutable = 1,        // SetOptions and SetDBOptions change it
    kHidden = 2,         // it is read, and not shown
    kUncompared = 4,     // by CheckOptionsCompatibility
    kLoose = 8,          // is compared also where the rest is not
    kByName = 16,        // an object: compared by its text
    kMayBeMissing = 32,  // a file may say that there was none
  };
  const char* name;
  uint32_t flags = kPlain;
  // `part`: what stands behind the name and a dot. NotSupported for objects that cannot be made.
  rocksdb::Status (*parse)(const rocksdb::ConfigOptions& config, std::string_view part,
                           const std::string& text, void* in) = nullptr;
  // Nothing for what has no name; "" for what is left out.
  std::optional<std::string> (*show)(const rocksdb::ConfigOptions& config,
                                     const void* of) = nullptr;
  void (*copy)(const void* from, void* to) = nullptr;

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

using OptionTable = std::span<const OptionField>;

OptionTable db_option_table();
OptionTable family_option_table();
OptionTable block_based_table();
OptionTable plain_table();
OptionTable cuckoo_table();
OptionTable cache_table();  // rocksdb::LRUCacheOptions

// Of "name" or "name.part", whose part is then set.
const OptionField* find_option(OptionTable table, std::string_view name, std::string_view* part);

// Sets what is named. Names that the table has not are put into `unknown`, or, where that is null,
// are an error or ignored as `config` says.
rocksdb::Status parse_options(OptionTable table, const rocksdb::ConfigOptions& config,
                              const OptionMap& options, void* in, OptionMap* unknown = nullptr);
rocksdb::Status show_options(OptionTable table, const rocksdb::ConfigOptions& config,
                             const void* of, std::string* text);
// InvalidArgument, naming the first option that `of` has otherwise than `file`, which was read from
// `texts`.
rocksdb::Status compare_options(OptionTable table, const rocksdb::ConfigOptions& config,
                                const void* of, const void* file, const OptionMap& texts);
// The options that `named` names.
void copy_options(OptionTable table, const OptionMap& named, const void* from, void* to);

// The value that begins at `at`, whose braces are taken away; *at is behind its delimiter then, or
// npos at the end.
rocksdb::Status next_value(std::string_view text, char delimiter, size_t* at, std::string* value);

// Of strings: what separates options is behind a backslash.
std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);
std::string_view trimmed(std::string_view text);

}  // namespace hawthorn::rocks
