#pragma once
// How values of a type are read and shown, and the fields of option tables that follow from it.
//
// Not here: objects by their names (option_objects.h). Used by option_tables.cc. Threads: any.

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "shims/rocksdb/src/option_objects.h"
#include "shims/rocksdb/src/option_text.h"

namespace hawthorn::rocks {

template <typename E>
struct Named {
  const char* name;
  E value;
};
// Enumerations and structures that options have; specialised beside the tables.
template <typename E>
std::span<const Named<E>> names_of();
template <typename T>
OptionTable table_of();

template <typename T>
concept Structure =
    std::same_as<T, rocksdb::CompressionOptions> ||
    std::same_as<T, rocksdb::CompactionOptionsFIFO> ||
    std::same_as<T, rocksdb::CompactionOptionsUniversal> ||
    std::same_as<T, rocksdb::MetadataCacheOptions> || std::same_as<T, rocksdb::FileTemperatureAge>;

inline rocksdb::Status not_read(const std::string& text) {
  return rocksdb::Status::InvalidArgument("cannot be read", text);
}

template <std::integral T>
rocksdb::Status parse_value(const rocksdb::ConfigOptions&, const std::string& text, T* value) {
  const char* const end = text.data() + text.size();
  T number = 0;
  auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return not_read(text);
  if (at != end) {
    const size_t unit = std::string_view("kmgt").find(static_cast<char>(*at | 0x20));
    if (unit == std::string_view::npos || at + 1 != end) return not_read(text);
    for (size_t i = 0; i <= unit; ++i) {
      if (__builtin_mul_overflow(number, T{64}, &number)) return not_read(text);
      if (__builtin_mul_overflow(number, T{16}, &number)) return not_read(text);
    }
  }
  *value = number;
  return rocksdb::Status::OK();
}
template <std::integral T>
std::optional<std::string> show_value(const rocksdb::ConfigOptions&, const T& value) {
  return std::to_string(value);
}

template <>
inline rocksdb::Status parse_value(const rocksdb::ConfigOptions&, const std::string& text,
                                   bool* value) {
  if (text != "true" && text != "1" && text != "false" && text != "0") return not_read(text);
  *value = text == "true" || text == "1";
  return rocksdb::Status::OK();
}
template <>
inline std::optional<std::string> show_value(const rocksdb::ConfigOptions&, const bool& value) {
  return value ? "true" : "false";
}

inline rocksdb::Status parse_value(const rocksdb::ConfigOptions&, const std::string& text,
                                   double* value) {
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || !std::isfinite(number)) return not_read(text);
  *value = number;
  return rocksdb::Status::OK();
}
inline std::optional<std::string> show_value(const rocksdb::ConfigOptions&, const double& value) {
  return std::to_string(value);
}

inline rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                                   std::string* value) {
  *value = config.input_strings_escaped ? unescaped(text) : text;
  return rocksdb::Status::OK();
}
inline std::optional<std::string> show_value(const rocksdb::ConfigOptions&,
                                             const std::string& value) {
  return escaped(value);
}

template <typename E>
  requires std::is_enum_v<E>
rocksdb::Status parse_value(const rocksdb::ConfigOptions&, const std::string& text, E* value) {
  for (const Named<E>& named : names_of<E>()) {
    if (text != named.name) continue;
    *value = named.value;
    return rocksdb::Status::OK();
  }
  return not_read(text);
}
template <typename E>
  requires std::is_enum_v<E>
std::optional<std::string> show_value(const rocksdb::ConfigOptions&, const E& value) {
  for (const Named<E>& named : names_of<E>()) {
    if (value == named.value) return named.name;
  }
  return std::nullopt;
}

template <Structure T>
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            T* value) {
  OptionMap options;
  rocksdb::Status s = rocksdb::StringToMap(text, &options);
  return s.ok() ? parse_options(table_of<T>(), config, options, value) : s;
}
template <Structure T>
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config, const T& value) {
  rocksdb::ConfigOptions inside = config;
  inside.delimiter = ";";
  inside.mutable_options_only = false;
  std::string text;
  if (!show_options(table_of<T>(), inside, &value, &text).ok()) return std::nullopt;
  return "{" + text + "}";
}

// Elements are separated by colons; those that have some themselves are in braces.
template <typename T>
rocksdb::Status parse_value(const rocksdb::ConfigOptions& config, const std::string& text,
                            std::vector<T>* value) {
  std::vector<T> elements;
  std::string_view all = text;
  // Of structures in a file, where nothing has taken the outermost braces away.
  if (all.starts_with("{{") && all.ends_with("}}")) all = all.substr(1, all.size() - 2);
  for (size_t at = 0; at < all.size();) {
    std::string one;
    rocksdb::Status s = next_value(all, ':', &at, &one);
    if (s.ok()) s = parse_value(config, one, &elements.emplace_back());
    if (!s.ok()) return s;
  }
  *value = std::move(elements);
  return rocksdb::Status::OK();
}
template <typename T>
std::optional<std::string> show_value(const rocksdb::ConfigOptions& config,
                                      const std::vector<T>& value) {
  std::string all;
  for (const T& element : value) {
    const std::optional<std::string> one = show_value(config, element);
    if (!one.has_value()) return std::nullopt;
    all += (all.empty() ? "" : ":") + *one;
  }
  return Structure<T> && !all.empty() ? "{" + all + "}" : all;
}

// A field by its member: OPTION in option_tables.cc.
template <typename Of, auto Member>
struct FieldOf {
  using Type = std::remove_cvref_t<decltype(std::declval<Of&>().*Member)>;

  static rocksdb::Status parse(const rocksdb::ConfigOptions& config, std::string_view part,
                               const std::string& text, void* in) {
    Type* const value = &(static_cast<Of*>(in)->*Member);
    if constexpr (Structure<Type>) {
      if (!part.empty()) {
        return parse_options(table_of<Type>(), config, {{std::string(part), text}}, value);
      }
    }
    if constexpr (std::same_as<Type, std::shared_ptr<rocksdb::TableFactory>>) {
      return parse_table_factory(config, part, text, value);
    } else {
      if (!part.empty()) return rocksdb::Status::InvalidArgument("has no parts");
      return parse_value(config, text, value);
    }
  }
  static std::optional<std::string> show(const rocksdb::ConfigOptions& config, const void* of) {
    return show_value(config, static_cast<const Of*>(of)->*Member);
  }
  static void copy(const void* from, void* to) {
    static_cast<Of*>(to)->*Member = static_cast<const Of*>(from)->*Member;
  }

  // Of an object whose class the headers only name: it has no text but that of none.
  static rocksdb::Status parse_opaque(const rocksdb::ConfigOptions&, std::string_view,
                                      const std::string& text, void* in) {
    if (text == "nullptr") static_cast<Of*>(in)->*Member = nullptr;
    if (text == "nullptr" || text.empty()) return rocksdb::Status::OK();
    return rocksdb::Status::NotSupported("cannot be made of its name", text);
  }
  static std::optional<std::string> show_opaque(const rocksdb::ConfigOptions&, const void* of) {
    return static_cast<const Of*>(of)->*Member == nullptr ? "nullptr" : "";
  }
};

template <typename Of, auto Member>
constexpr OptionField field(const char* name, uint32_t flags = OptionField::kPlain) {
  using F = FieldOf<Of, Member>;
  return {name, flags, &F::parse, &F::show, &F::copy};
}
template <typename Of, auto Member>
constexpr OptionField opaque_field(const char* name, uint32_t flags = OptionField::kPlain) {
  using F = FieldOf<Of, Member>;
  return {name, flags | OptionField::kUncompared, &F::parse_opaque, &F::show_opaque, &F::copy};
}

}  // namespace hawthorn::rocks
