#include "shims/rocksdb/src/option_objects.h"

#include <optional>

#include "rocksdb/rate_limiter.h"
#include "rocksdb/table.h"
#include "shims/rocksdb/src/builtin_merges.h"
#include "shims/rocksdb/src/option_values.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using Config = rocksdb::ConfigOptions;

bool is_none(const std::string& text) { return text.empty() || text == "nullptr"; }

S cannot_make(const std::string& text) {
  return S::NotSupported("cannot be made of its name", text);
}

// "NAME" or "id=NAME;option=value".
struct Id {
  std::string name;
  OptionMap options;
};
S parse_id(const std::string& text, Id* id) {
  if (text.find('=') == std::string::npos) {
    id->name = text;
    return S::OK();
  }
  if (S s = rocksdb::StringToMap(text, &id->options); !s.ok()) return s;
  const auto named = id->options.extract("id");
  if (!named.empty()) id->name = named.mapped();
  return S::OK();
}

// The number behind one of these beginnings.
std::optional<size_t> number_behind(const std::string& text,
                                    std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view beginning : beginnings) {
    size_t number = 0;
    if (!text.starts_with(beginning)) continue;
    if (parse_value(Config(), text.substr(beginning.size()), &number).ok()) return number;
  }
  return std::nullopt;
}

// Parts between colons.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  static_cast<void>(parse_value<std::string>(Config(), text, &parts));
  return parts;
}

S make_table(const std::string& kind, Shared<rocksdb::TableFactory>* value) {
  using rocksdb::TableFactory;
  if (kind == TableFactory::kBlockBasedTableName()) {
    value->reset(rocksdb::NewBlockBasedTableFactory());
  } else if (kind == TableFactory::kPlainTableName()) {
    value->reset(rocksdb::NewPlainTableFactory());
  } else if (kind == TableFactory::kCuckooTableName()) {
    value->reset(rocksdb::NewCuckooTableFactory());
  } else {
    return cannot_make(kind);
  }
  return S::OK();
}

}  // namespace

S parse_value(const Config&, const std::string& text, const rocksdb::Comparator** value) {
  for (const rocksdb::Comparator* known :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    if (text != known->Name()) continue;
    *value = known;
    return S::OK();
  }
  return cannot_make(text);
}

S parse_value(const Config&, const std::string& text, const rocksdb::CompactionFilter** value) {
  if (!is_none(text)) return cannot_make(text);
  *value = nullptr;
  return S::OK();
}

S parse_value(const Config&, const std::string& text,
              Shared<rocksdb::CompactionFilterFactory>* value) {
  if (!is_none(text)) return cannot_make(text);
  value->reset();
  return S::OK();
}

S parse_value(const Config& config, const std::string& text,
              Shared<rocksdb::MergeOperator>* value) {
  Shared<rocksdb::MergeOperator> made;
  if (!is_none(text)) {
    Id id;
    if (S s = parse_id(text, &id); !s.ok()) return s;
    std::string delimiter = ",";
    if (const auto given = id.options.find("delimiter"); given != id.options.end()) {
      if (S s = parse_value(config, given->second, &delimiter); !s.ok()) return s;
    }
    made = builtin_merge(id.name, delimiter);
    if (made == nullptr) return cannot_make(text);
  }
  *value = std::move(made);
  return S::OK();
}

S parse_value(const Config&, const std::string& text,
              Shared<const rocksdb::SliceTransform>* value) {
  if (is_none(text)) {
    value->reset();
  } else if (text == "rocksdb.Noop") {
    value->reset(rocksdb::NewNoopTransform());
  } else if (const auto fixed = number_behind(text, {"rocksdb.FixedPrefix.", "fixed:"})) {
    value->reset(rocksdb::NewFixedPrefixTransform(*fixed));
  } else if (const auto capped = number_behind(text, {"rocksdb.CappedPrefix.", "capped:"})) {
    value->reset(rocksdb::NewCappedPrefixTransform(*capped));
  } else {
    return cannot_make(text);
  }
  return S::OK();
}

S make_memtable(const std::string& text, std::unique_ptr<rocksdb::MemTableRepFactory>* made) {
  Id id;
  if (S s = parse_id(text, &id); !s.ok()) return s;
  const size_t colon = id.name.find(':');
  const std::string name = id.name.substr(0, colon);
  size_t count = 0;
  if (colon != std::string::npos) {
    if (S s = parse_value(Config(), id.name.substr(colon + 1), &count); !s.ok()) return s;
  }
  if (name == "SkipListFactory" || name == "skip_list") {
    *made = std::make_unique<rocksdb::SkipListFactory>(count);
  } else if (name == "VectorRepFactory" || name == "vector") {
    *made = std::make_unique<rocksdb::VectorRepFactory>(count);
  } else if (name == "HashSkipListRepFactory" || name == "prefix_hash") {
    made->reset(rocksdb::NewHashSkipListRepFactory(count));
  } else if (name == "HashLinkListRepFactory" || name == "hash_linkedlist") {
    made->reset(rocksdb::NewHashLinkListRepFactory(count));
  } else {
    return cannot_make(text);
  }
  return S::OK();
}

S parse_value(const Config&, const std::string& text, Shared<rocksdb::MemTableRepFactory>* value) {
  std::unique_ptr<rocksdb::MemTableRepFactory> made;
  S s = make_memtable(text, &made);
  if (s.ok()) *value = std::move(made);
  return s;
}

S parse_value(const Config& config, const std::string& text,
              Shared<const rocksdb::FilterPolicy>* value) {
  if (is_none(text)) {
    value->reset();
    return S::OK();
  }
  const std::vector<std::string> parts =
      split(config.input_strings_escaped ? unescaped(text) : text);
  if (parts.size() < 2 || parts.size() > 3) return cannot_make(text);
  const bool bloom = parts[0] == "bloomfilter" || parts[0] == "rocksdb.BloomFilter";
  const bool ribbon = parts[0] == "ribbonfilter" || parts[0] == "rocksdb.RibbonFilter";
  if (!bloom && !ribbon) return cannot_make(text);
  double bits = 0;
  if (S s = parse_value(config, parts[1], &bits); !s.ok()) return s;
  bool block_based = false;
  int level = 0;
  if (parts.size() == 3) {
    S s =
        bloom ? parse_value(config, parts[2], &block_based) : parse_value(config, parts[2], &level);
    if (!s.ok()) return s;
  }
  value->reset(bloom ? rocksdb::NewBloomFilterPolicy(bits)
                     : rocksdb::NewRibbonFilterPolicy(bits, level));
  return S::OK();
}

S parse_value(const Config& config, const std::string& text, Shared<rocksdb::Cache>* value) {
  rocksdb::LRUCacheOptions options;
  if (is_none(text)) {
    value->reset();
    return S::OK();
  }
  if (text.find('=') == std::string::npos) {
    if (S s = parse_value(config, text, &options.capacity); !s.ok()) return s;
  } else {
    OptionMap named;
    S s = rocksdb::StringToMap(text, &named);
    if (s.ok()) s = parse_options(cache_table(), config, named, &options);
    if (!s.ok()) return s;
  }
  *value = rocksdb::NewLRUCache(options);
  return S::OK();
}

S parse_value(const Config&, const std::string& text, Shared<rocksdb::Statistics>* value) {
  if (!is_none(text) && text != "BasicStatistics") return cannot_make(text);
  *value = is_none(text) ? nullptr : rocksdb::CreateDBStatistics();
  return S::OK();
}

S parse_value(const Config& config, const std::string& text, Shared<rocksdb::RateLimiter>* value) {
  int64_t bytes = 0;
  if (S s = parse_value(config, text, &bytes); !s.ok()) return s;
  value->reset(rocksdb::NewGenericRateLimiter(bytes));
  return S::OK();
}

S parse_table_options(const Config& config, const OptionMap& options,
                      Shared<rocksdb::TableFactory>* value) {
  using rocksdb::BlockBasedTableOptions;
  const auto changed = [&](const auto* had, OptionTable table, auto* make) {
    auto fresh = *had;
    S s = parse_options(table, config, options, &fresh);
    if (s.ok()) value->reset(make(fresh));
    return s;
  };
  const rocksdb::TableFactory& factory = **value;
  if (const auto* had = factory.GetOptions<BlockBasedTableOptions>()) {
    return changed(had, block_based_table(), &rocksdb::NewBlockBasedTableFactory);
  }
  if (const auto* had = factory.GetOptions<rocksdb::PlainTableOptions>()) {
    return changed(had, plain_table(), &rocksdb::NewPlainTableFactory);
  }
  if (const auto* had = factory.GetOptions<rocksdb::CuckooTableOptions>()) {
    return changed(had, cuckoo_table(), &rocksdb::NewCuckooTableFactory);
  }
  return options.empty() ? S::OK() : S::InvalidArgument("a factory without options");
}

S parse_table_factory(const Config& config, std::string_view part, const std::string& text,
                      Shared<rocksdb::TableFactory>* value) {
  if (!part.empty()) {
    if (*value == nullptr) return S::InvalidArgument("there is no table factory");
    return parse_table_options(config, {{std::string(part), text}}, value);
  }
  if (is_none(text)) {
    value->reset();
    return S::OK();
  }
  Id id;
  if (S s = parse_id(text, &id); !s.ok()) return s;
  Shared<rocksdb::TableFactory> made = *value;
  if (!id.name.empty() && (made == nullptr || id.name != made->Name())) {
    if (S s = make_table(id.name, &made); !s.ok()) return s;
  }
  if (made == nullptr) return cannot_make(text);
  S s = parse_table_options(config, id.options, &made);
  if (s.ok()) *value = std::move(made);
  return s;
}

S parse_options_of_table(const Config& config, const char* kind, std::string_view part,
                         const std::string& text, Shared<rocksdb::TableFactory>* value) {
  Shared<rocksdb::TableFactory> made = *value;
  if (made == nullptr) {
    if (S s = make_table(kind, &made); !s.ok()) return s;
  } else if (made->Name() != std::string_view(kind)) {
    return S::InvalidArgument(std::string("Cannot modify ") + made->Name() + " as " + kind);
  }
  OptionMap options;
  if (!part.empty()) {
    options.emplace(part, text);
  } else if (S s = rocksdb::StringToMap(text, &options); !s.ok()) {
    return s;
  }
  S s = parse_table_options(config, options, &made);
  if (s.ok()) *value = std::move(made);
  return s;
}

std::string line_of_id(const std::string& id) {
  std::string line;
  for (const char c : id) {
    if (std::string_view("\\#\r\n").find(c) != std::string_view::npos) line += '\\';
    line += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return line;
}

TableOptionsOf options_of_table(const rocksdb::TableFactory* factory) {
  if (factory == nullptr) return {};
  if (const auto* block = factory->GetOptions<rocksdb::BlockBasedTableOptions>()) {
    return {block_based_table(), block};
  }
  if (const auto* plain = factory->GetOptions<rocksdb::PlainTableOptions>()) {
    return {plain_table(), plain};
  }
  if (const auto* cuckoo = factory->GetOptions<rocksdb::CuckooTableOptions>()) {
    return {cuckoo_table(), cuckoo};
  }
  return {};
}

std::optional<std::string> show_value(const Config& config,
                                      const Shared<rocksdb::TableFactory>& value) {
  if (value == nullptr) return "nullptr";
  const TableOptionsOf of = options_of_table(value.get());
  if (!config.IsDetailed() || of.table.empty()) return value->GetId();
  Config inside = config;
  inside.delimiter = ";";
  std::string text;
  if (!show_options(of.table, inside, of.options, &text).ok()) return std::nullopt;
  return "{id=" + value->GetId() + ";" + text + "}";
}

std::optional<std::string> show_value(const Config&, const Shared<rocksdb::MergeOperator>& value) {
  if (value == nullptr) return "nullptr";
  const std::string* const delimiter = delimiter_of(*value);
  if (delimiter == nullptr) return value->GetId();
  return "{id=" + value->GetId() + ";delimiter=" + escaped(*delimiter) + ";}";
}

std::optional<std::string> show_value(const Config&, const Shared<rocksdb::Cache>&) { return ""; }
std::optional<std::string> show_value(const Config&, const Shared<rocksdb::RateLimiter>&) {
  return "";
}
std::optional<std::string> show_value(const Config&, const Shared<rocksdb::Statistics>&) {
  return "";
}

}  // namespace hawthorn::rocks

namespace rocksdb {

Status GetMemTableRepFactoryFromString(const std::string& opts_str,
                                       std::unique_ptr<MemTableRepFactory>* new_mem_factory) {
  return hawthorn::rocks::make_memtable(opts_str, new_mem_factory);
}

}  // namespace rocksdb
