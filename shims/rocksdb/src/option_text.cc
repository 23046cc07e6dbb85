#include "shims/rocksdb/src/option_text.h"

#include <algorithm>
#include <cctype>

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using Config = rocksdb::ConfigOptions;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

S unknown_option(std::string_view name) {
  return S::InvalidArgument("Unrecognized option", std::string(name));
}

// Behind the brace that ends what begins at `at`; npos where there is none.
size_t end_of_braces(std::string_view text, size_t at) {
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

S parse_option(const OptionField& field, const Config& config, std::string_view part,
               const std::string& text, void* in) {
  if (field.parse == nullptr) return S::OK();
  if (config.mutable_options_only && !field.has(OptionField::kMutable)) {
    return S::InvalidArgument(std::string("Option not changeable: ") + field.name);
  }
  Config inside = config;
  inside.mutable_options_only = false;  // what is within a mutable option is mutable
  S s = field.parse(inside, part, text, in);
  if (s.ok() || (s.IsNotSupported() && config.ignore_unsupported_options)) return S::OK();
  return S::InvalidArgument(std::string("Error parsing ") + field.name, s.ToString());
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\#:\r\n").find(c) != std::string_view::npos) result += '\\';
    result += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return result;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool special = text[i] == '\\';
    if (special && ++i == text.size()) break;
    const char c = text[i];
    result += special && c == 'n' ? '\n' : special && c == 'r' ? '\r' : c;
  }
  return result;
}

S next_value(std::string_view text, char delimiter, size_t* at, std::string* value) {
  size_t begin = *at;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  const bool braces = begin < text.size() && text[begin] == '{';
  size_t end = text.find(delimiter, begin);
  if (braces) {
    const size_t behind = end_of_braces(text, begin);
    if (behind == std::string_view::npos) {
      return S::InvalidArgument("Mismatched curly braces for nested options");
    }
    end = behind;
    while (end < text.size() && is_space(text[end])) ++end;
    if (end < text.size() && text[end] != delimiter) {
      return S::InvalidArgument("Unexpected chars after nested options");
    }
    *value = trimmed(text.substr(begin + 1, behind - begin - 2));
  } else {
    end = std::min(end, text.size());
    *value = trimmed(text.substr(begin, end - begin));
  }
  *at = end < text.size() ? end + 1 : std::string_view::npos;
  return S::OK();
}

const OptionField* find_option(OptionTable table, std::string_view name, std::string_view* part) {
  *part = {};
  const auto named = [table](std::string_view whole) -> const OptionField* {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [whole](const OptionField& f) { return f.name == whole; });
    return found == table.end() ? nullptr : &*found;
  };
  if (const OptionField* const field = named(name)) return field;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  *part = name.substr(dot + 1);
  return named(name.substr(0, dot));
}

S parse_options(OptionTable table, const Config& config, const OptionMap& options, void* in,
                OptionMap* unknown) {
  for (const auto& [name, text] : options) {
    std::string_view part;
    const OptionField* const field = find_option(table, name, &part);
    if (field != nullptr) {
      if (S s = parse_option(*field, config, part, text, in); !s.ok()) return s;
    } else if (unknown != nullptr) {
      unknown->emplace(name, text);
    } else if (!config.ignore_unknown_options) {
      return unknown_option(name);
    }
  }
  return S::OK();
}

S show_options(OptionTable table, const Config& config, const void* of, std::string* text) {
  text->clear();
  for (const OptionField& field : table) {
    if (field.show == nullptr || field.has(OptionField::kHidden)) continue;
    if (config.mutable_options_only && !field.has(OptionField::kMutable)) continue;
    const std::optional<std::string> value = field.show(config, of);
    if (!value.has_value()) return S::InvalidArgument("Cannot serialize option", field.name);
    if (!value->empty()) *text += std::string(field.name) + "=" + *value + config.delimiter;
  }
  return S::OK();
}

S compare_options(OptionTable table, const Config& config, const void* of, const void* file,
                  const OptionMap& texts) {
  for (const OptionField& field : table) {
    if (field.show == nullptr || field.has(OptionField::kHidden | OptionField::kUncompared)) {
      continue;
    }
    const Config::SanityLevel level = field.has(OptionField::kLoose)
                                          ? Config::kSanityLevelLooselyCompatible
                                          : Config::kSanityLevelExactMatch;
    if (!config.IsCheckEnabled(level)) continue;
    const std::string own = field.show(config, of).value_or("?");
    std::string other = field.show(config, file).value_or("?");
    if (own == other) continue;
    if (field.has(OptionField::kByName)) {
      // The program's objects were not made of the text.
      const auto text = texts.find(field.name);
      if (text == texts.end() || text->second == own) continue;
      if (text->second == "nullptr" && field.has(OptionField::kMayBeMissing)) continue;
      other = text->second;
    }
    return S::InvalidArgument(std::string(field.name) + " is " + own, "and was " + other);
  }
  return S::OK();
}

void copy_options(OptionTable table, const OptionMap& named, const void* from, void* to) {
  for (const auto& [name, text] : named) {
    std::string_view part;
    const OptionField* const field = find_option(table, name, &part);
    if (field != nullptr && field->copy != nullptr) field->copy(from, to);
  }
}

}  // namespace hawthorn::rocks

namespace rocksdb {

Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map) {
  std::string_view text = hawthorn::rocks::trimmed(opts_str);
  while (text.size() > 2 && text.front() == '{' && text.back() == '}') {
    text = hawthorn::rocks::trimmed(text.substr(1, text.size() - 2));
  }
  for (size_t at = 0; at < text.size();) {
    const size_t equals = text.find_first_of("={};", at);
    if (equals == std::string_view::npos) {
      return Status::InvalidArgument("Mismatched key value pair, '=' expected");
    }
    if (text[equals] != '=') return Status::InvalidArgument("Unexpected char in key");
    const std::string_view key = hawthorn::rocks::trimmed(text.substr(at, equals - at));
    if (key.empty()) return Status::InvalidArgument("Empty key found");
    std::string value;
    at = equals + 1;
    if (Status s = hawthorn::rocks::next_value(text, ';', &at, &value); !s.ok()) return s;
    (*opts_map)[std::string(key)] = std::move(value);
    if (at != std::string_view::npos) {
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    }
  }
  return Status::OK();
}

}  // namespace rocksdb
