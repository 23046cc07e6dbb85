#include "shims/rocksdb/src/options_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>

#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/option_objects.h"
#include "shims/rocksdb/src/option_text.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "OPTIONS-";
constexpr std::string_view kUnfinished = ".new";  // of replace_file
constexpr size_t kKept = 2;

// So that the one behind it is a number, too.
constexpr uint64_t kNumberMax = UINT64_MAX / 2;

// Of "OPTIONS-000017", and 0 of other names.
uint64_t number_of(std::string_view name) {
  if (!name.starts_with(kName)) return 0;
  name.remove_prefix(kName.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && number <= kNumberMax ? number : 0;
}

std::string name_of(uint64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%06llu", static_cast<unsigned long long>(number));
  return std::string(kName) + digits;
}

struct Listed {
  std::map<uint64_t, std::string, std::greater<>> names;
  std::vector<std::string> unfinished;
};
S list(const std::string& directory, Listed* listed) {
  std::vector<std::string> all;
  if (S s = rocksdb::Env::Default()->GetChildren(directory, &all); !s.ok()) return s;
  for (const std::string& name : all) {
    const std::string_view view = name;
    if (const uint64_t number = number_of(view); number != 0) {
      listed->names.emplace(number, name);
    } else if (view.ends_with(kUnfinished) &&
               number_of(view.substr(0, view.size() - kUnfinished.size())) != 0) {
      listed->unfinished.push_back(name);
    }
  }
  return S::OK();
}

// Not durable: what comes back after a crash is removed the next time.
void remove_all(const std::string& directory, const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names) fs::remove(directory + "/" + name, ignored);
}

}  // namespace

S options_file_text(const rocksdb::DBOptions& options, const NamedFamilies& families,
                    std::string* text) {
  rocksdb::ConfigOptions config;
  config.delimiter = "\n  ";
  S s;
  const auto section = [&](const std::string& title, OptionTable table, const void* of) {
    std::string lines;
    if (s.ok()) s = show_options(table, config, of, &lines);
    *text += "[" + title + "]\n  " + lines + "\n";
  };
  *text =
      "# The options of this database, as it was opened last or as they were set since.\n\n"
      "[Version]\n  rocksdb_version=" +
      rocksdb::GetRocksVersionAsString() + "\n  options_file_version=1.1\n\n";
  section("DBOptions", db_option_table(), &options);
  for (const auto& [name, family] : families) {
    const std::string quoted = " \"" + escaped(name) + "\"";
    section("CFOptions" + quoted, family_option_table(), &family);
    const rocksdb::TableFactory* const factory = family.table_factory.get();
    if (factory == nullptr) continue;
    const TableOptionsOf of = options_of_table(factory);
    section(std::string("TableOptions/") + factory->Name() + quoted, of.table, of.options);
  }
  return s;
}

S list_options_files(const std::string& directory, std::vector<std::string>* names) {
  Listed listed;
  S s = list(directory, &listed);
  names->clear();
  for (auto& [number, name] : listed.names) names->push_back(std::move(name));
  return s;
}

S write_options_file(const std::string& directory, const std::string& text) {
  Listed listed;
  if (S s = list(directory, &listed); !s.ok()) return s;
  remove_all(directory, listed.unfinished);
  const uint64_t last = listed.names.empty() ? 0 : listed.names.begin()->first;
  if (S s = replace_file(directory + "/" + name_of(last + 1), text); !s.ok()) return s;
  std::vector<std::string> old;
  size_t kept = 1;
  for (auto& [number, name] : listed.names) {
    if (kept++ >= kKept) old.push_back(std::move(name));
  }
  remove_all(directory, old);
  return S::OK();
}

S remove_options_files(const std::string& directory) {
  Listed listed;
  if (rocksdb::Env::Default()->FileExists(directory + "/CURRENT").ok()) return S::OK();
  S s = list(directory, &listed);
  if (!s.ok()) return s.IsPathNotFound() ? S::OK() : s;
  std::vector<std::string> all = std::move(listed.unfinished);
  for (auto& [number, name] : listed.names) all.push_back(std::move(name));
  if (all.empty()) return S::OK();
  remove_all(directory, all);
  std::error_code ignored;  // others' files are in it
  fs::remove(directory, ignored);
  return S::OK();
}

}  // namespace hawthorn::rocks
