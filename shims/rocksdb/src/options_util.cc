// Reading files of options, which are input: sections first, then what stands in them.

#include "rocksdb/utilities/options_util.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/option_objects.h"
#include "shims/rocksdb/src/option_text.h"
#include "shims/rocksdb/src/options_file.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using Config = rocksdb::ConfigOptions;

constexpr std::string_view kTablePrefix = "TableOptions/";

// `[title "argument"]`, and the lines below it.
struct Section {
  std::string title;
  std::string argument;
  size_t line = 0;
  OptionMap options;
};
struct FamilyOfFile {
  std::string name;
  rocksdb::ColumnFamilyOptions options;
  OptionMap texts;
  OptionMap table_texts;
};
struct OptionsOfFile {
  rocksdb::DBOptions database;
  OptionMap texts;
  std::vector<FamilyOfFile> families;
};

S wrong(size_t line, const std::string& what) {
  return S::InvalidArgument("line " + std::to_string(line) + " of a file of options", what);
}

std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] != '\\') return line.substr(0, at);
  }
  return line;
}

void begin_section(std::string_view line, size_t number, std::vector<Section>* sections) {
  Section section;
  section.line = number;
  const std::string_view inner = line.substr(1, line.size() - 2);
  const size_t first = inner.find('"');
  const size_t last = inner.rfind('"');
  section.title = trimmed(inner.substr(0, first));
  if (first != last) section.argument = unescaped(inner.substr(first + 1, last - first - 1));
  sections->push_back(std::move(section));
}

S split_file(std::string_view text, std::vector<Section>* sections) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.size() >= 2 && line.front() == '[' && line.back() == ']') {
      begin_section(line, number, sections);
      continue;
    }
    const size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos) return wrong(number, "has no '='");
    if (name.empty()) return wrong(number, "has no name before the '='");
    if (sections->empty()) return wrong(number, "is before the first section");
    sections->back().options.emplace(name, trimmed(line.substr(equals + 1)));
  }
  return S::OK();
}

// "10.4.2"; what is missing is 0.
using Version = std::array<uint32_t, 3>;
std::optional<Version> version_of(std::string_view text) {
  Version version{};
  for (uint32_t& number : version) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return version;
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const Config& config, OptionsOfFile* file) : config_(config), file_(*file) {}

  S read(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      if (S s = read(section); !s.ok()) return s;
    }
    if (!has_database_) return S::Corruption("a file of options without a section DBOptions");
    if (file_.families.empty()) {
      return S::Corruption("a file of options without a section of the family default");
    }
    return S::OK();
  }

 private:
  S read(const Section& section) {
    S s;
    if (section.title == "Version") {
      s = read_version(section);
    } else if (section.title == "DBOptions") {
      if (has_database_) return wrong(section.line, "a second section DBOptions");
      has_database_ = true;
      file_.texts = section.options;
      s = parse_options(db_option_table(), config_, section.options, &file_.database);
    } else if (section.title == "CFOptions") {
      s = read_family(section);
    } else if (section.title.starts_with(kTablePrefix)) {
      s = read_table(section);
    } else {
      s = S::InvalidArgument("Unknown section " + section.title);
    }
    return s.ok() ? s : wrong(section.line, s.ToString());
  }

  S read_version(const Section& section) {
    for (const auto& [name, text] : section.options) {
      const std::optional<Version> version = version_of(text);
      if (!version.has_value()) return S::InvalidArgument("a version that cannot be read", text);
      if (name == "options_file_version" && (*version)[0] < 1) {
        return S::InvalidArgument("a version of the file before 1", text);
      }
      // Files of later versions may have options that are not known; in others they are damage.
      if (name == "rocksdb_version" &&
          *version <= Version{ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH}) {
        config_.ignore_unknown_options = false;
      }
    }
    return S::OK();
  }

  FamilyOfFile* find(const std::string& name) {
    const auto found = std::find_if(file_.families.begin(), file_.families.end(),
                                    [&name](const FamilyOfFile& f) { return f.name == name; });
    return found == file_.families.end() ? nullptr : &*found;
  }

  S read_family(const Section& section) {
    const bool is_default = section.argument == rocksdb::kDefaultColumnFamilyName;
    if (file_.families.empty() && !is_default) {
      return S::InvalidArgument("the family default is not the first one");
    }
    if (find(section.argument) != nullptr) return S::InvalidArgument("a family is there twice");
    FamilyOfFile& family = file_.families.emplace_back();
    family.name = section.argument;
    family.texts = section.options;
    return parse_options(family_option_table(), config_, section.options, &family.options);
  }

  // What the library has no factory of, is left out.
  S read_table(const Section& section) {
    FamilyOfFile* const family = find(section.argument);
    if (family == nullptr) return S::InvalidArgument("options of a table of no family");
    Shared<rocksdb::TableFactory>& factory = family->options.table_factory;
    factory.reset();
    S s = parse_table_factory(config_, {}, section.title.substr(kTablePrefix.size()), &factory);
    if (s.IsNotSupported()) return S::OK();
    family->table_texts = section.options;
    return s.ok() ? parse_table_options(config_, section.options, &factory) : s;
  }

  Config config_;
  OptionsOfFile& file_;
  bool has_database_ = false;
};

S read_file(const Config& config, const std::string& path, OptionsOfFile* file) {
  std::string text;
  std::vector<Section> sections;
  S s = read_whole_file(path, &text);
  if (s.ok()) s = split_file(text, &sections);
  return s.ok() ? Reader(config, file).read(sections) : s;
}

// A database that is open may have replaced the file that was the newest.
S read_latest(const Config& config, const std::string& directory, OptionsOfFile* file) {
  for (std::string before, name;; before = name) {
    S s = rocksdb::GetLatestOptionsFileName(directory, config.env, &name);
    if (s.ok()) s = read_file(config, directory + "/" + name, file);
    if (!s.IsPathNotFound() || name == before) return s;
  }
}

void give(const OptionsOfFile& file, const Shared<rocksdb::Cache>* cache,
          rocksdb::DBOptions* database, std::vector<rocksdb::ColumnFamilyDescriptor>* families) {
  *database = file.database;
  families->clear();
  for (const FamilyOfFile& family : file.families) {
    rocksdb::TableFactory* const factory = family.options.table_factory.get();
    if (cache != nullptr && factory != nullptr) {
      auto* const table = factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      if (table != nullptr) table->block_cache = *cache;
    }
    families->emplace_back(family.name, family.options);
  }
}

S compare_family(const Config& config, const rocksdb::ColumnFamilyDescriptor& own,
                 const FamilyOfFile& file) {
  S s = compare_options(family_option_table(), config, &own.options, &file.options, file.texts);
  const TableOptionsOf table = options_of_table(own.options.table_factory.get());
  const TableOptionsOf other = options_of_table(file.options.table_factory.get());
  // Kinds of tables have been compared by their names.
  if (!s.ok() || table.table.data() != other.table.data()) return s;
  s = compare_options(table.table, config, table.options, other.options, file.table_texts);
  return s.ok() ? s : S::Corruption(s.ToString());
}

}  // namespace
}  // namespace hawthorn::rocks

namespace rocksdb {

Status LoadOptionsFromFile(const ConfigOptions& config, const std::string& options_file_name,
                           DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache) {
  hawthorn::rocks::OptionsOfFile file;
  Status s = hawthorn::rocks::read_file(config, options_file_name, &file);
  if (s.ok()) hawthorn::rocks::give(file, cache, db_options, cf_descs);
  return s;
}

Status LoadLatestOptions(const ConfigOptions& config, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache) {
  hawthorn::rocks::OptionsOfFile file;
  Status s = hawthorn::rocks::read_latest(config, dbpath, &file);
  if (s.ok()) hawthorn::rocks::give(file, cache, db_options, cf_descs);
  return s;
}

Status GetLatestOptionsFileName(const std::string& dbpath, Env*, std::string* options_file_name) {
  std::vector<std::string> names;
  const Status s = hawthorn::rocks::list_options_files(dbpath, &names);
  if (!s.ok() && !s.IsPathNotFound()) return s;
  if (names.empty()) {
    return Status::NotFound(Status::kPathNotFound, "no file of options is in " + dbpath);
  }
  *options_file_name = names.front();
  return Status::OK();
}

Status CheckOptionsCompatibility(const ConfigOptions& config, const std::string& dbpath,
                                 const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs) {
  hawthorn::rocks::OptionsOfFile file;
  Status s = hawthorn::rocks::read_latest(config, dbpath, &file);
  if (s.ok()) {
    s = hawthorn::rocks::compare_options(hawthorn::rocks::db_option_table(), config, &db_options,
                                         &file.database, file.texts);
  }
  if (!s.ok()) return s;
  const bool any_count = !config.IsCheckEnabled(ConfigOptions::kSanityLevelLooselyCompatible);
  if (cf_descs.size() > file.families.size() ||
      (cf_descs.size() < file.families.size() && !any_count)) {
    return Status::InvalidArgument("the file of options has another number of families");
  }
  for (size_t i = 0; s.ok() && i < cf_descs.size(); ++i) {
    if (cf_descs[i].name != file.families[i].name) {
      return Status::InvalidArgument("the file of options has another family",
                                     file.families[i].name);
    }
    s = hawthorn::rocks::compare_family(config, cf_descs[i], file.families[i]);
  }
  return s;
}

}  // namespace rocksdb
