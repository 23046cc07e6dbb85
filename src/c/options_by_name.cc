// Options by their names, for bindings and configuration files: one table for both directions.

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "c/callbacks.h"
#include "c/options.h"

namespace hawthorn::c {

namespace {

Status bad_value(std::string_view value, std::string_view wanted) {
  return invalid("\"" + std::string(value) + "\" is not " + std::string(wanted));
}

// A decimal number, which K, M or G may multiply.
template <typename T>
Status parse_number(std::string_view text, T* out) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, number);
  unsigned shift = 0;
  if (fault == std::errc() && end - at == 1) {
    const char unit = *at;
    shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  }
  const bool whole = at == end || shift != 0;
  if (fault != std::errc() || !whole || number > (UINT64_MAX >> shift)) {
    return bad_value(text, "a number, with K, M or G behind it or not");
  }
  *out = static_cast<T>(number << shift);
  return {};
}

Status parse_flag(std::string_view text, bool* out) {
  if (text == "true" || text == "1") {
    *out = true;
  } else if (text == "false" || text == "0") {
    *out = false;
  } else {
    return bad_value(text, "true or false");
  }
  return {};
}

template <typename T, size_t kCount>
Status parse_word(std::string_view text, const std::array<std::string_view, kCount>& words, T first,
                  T* out) {
  std::string wanted;
  for (size_t index = 0; index < words.size(); ++index) {
    if (text == words[index]) {
      *out = static_cast<T>(static_cast<size_t>(first) + index);
      return {};
    }
    wanted.append(index == 0 ? "one of " : ", ").append(words[index]);
  }
  return bad_value(text, wanted);
}

constexpr std::array<std::string_view, 3> kDurabilities = {"none", "async", "full"};
constexpr std::array<std::string_view, 3> kIoModes = {"auto", "direct", "buffered"};
constexpr std::array<std::string_view, 3> kCompressions = {"none", "lz4", "zstd"};

struct NamedOption {
  const char* name;
  // Null where it takes functions: then `call` is what sets it.
  Status (*set)(Options& options, std::string_view value);
  std::string (*get)(const Options& options);
  const char* call = nullptr;
};

template <auto kField>
Status set_number(Options& options, std::string_view value) {
  return parse_number(value, &(options.*kField));
}
template <auto kField>
std::string get_number(const Options& options) {
  return std::to_string(options.*kField);
}
template <auto kField>
Status set_flag(Options& options, std::string_view value) {
  return parse_flag(value, &(options.*kField));
}
template <auto kField>
std::string get_flag(const Options& options) {
  return options.*kField ? "true" : "false";
}
// Of lists: how many there are.
template <auto kField>
std::string get_count(const Options& options) {
  return std::to_string((options.*kField).size());
}

Status set_durability(Options& options, std::string_view value) {
  if (value == "default") {
    options.durability = Durability::kDefault;
    return {};
  }
  return parse_word(value, kDurabilities, Durability::kNone, &options.durability);
}
std::string get_durability(const Options& options) {
  if (options.durability == Durability::kDefault) return "full";
  return std::string(kDurabilities.at(static_cast<size_t>(options.durability) - 1));
}
Status set_io_mode(Options& options, std::string_view value) {
  return parse_word(value, kIoModes, IoMode::kAuto, &options.io_mode);
}
std::string get_io_mode(const Options& options) {
  return std::string(kIoModes.at(static_cast<size_t>(options.io_mode)));
}
Status set_compression(Options& options, std::string_view value) {
  return parse_word(value, kCompressions, Compression::kNone, &options.compression);
}
std::string get_compression(const Options& options) {
  return std::string(kCompressions.at(static_cast<size_t>(options.compression)));
}

Status set_space_target(Options& options, std::string_view value) {
  const char* const end = value.data() + value.size();
  double number = 0;
  const auto [at, fault] = std::from_chars(value.data(), end, number);
  if (fault != std::errc() || at != end) return bad_value(value, "a number such as 1.10");
  options.space_target = number;
  return {};
}
std::string get_space_target(const Options& options) {
  std::array<char, 32> text{};
  const auto [end, fault] =
      std::to_chars(text.data(), text.data() + text.size(), options.space_target);
  return fault == std::errc() ? std::string(text.data(), end) : std::string();
}

Status set_file_mode(Options& options, std::string_view value) {
  uint32_t mode = 0;
  const char* const end = value.data() + value.size();
  const auto [at, fault] = std::from_chars(value.data(), end, mode, 8);
  if (fault != std::errc() || at != end) return bad_value(value, "permissions such as 0640");
  options.file_mode = mode;
  return {};
}
std::string get_file_mode(const Options& options) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(options.file_mode));
  return text.data();
}

Status add_device(Options& options, std::string_view value) {
  if (value.empty()) return bad_value(value, "a path");
  options.devices.emplace_back(value);
  return {};
}
Status add_merge_operator(Options& options, std::string_view value) {
  auto made = builtin_merge_operator(value);
  if (made == nullptr) {
    return bad_value(value, "uint64_add, max, append, or append: and a separator");
  }
  options.merge_operators.push_back(std::move(made));
  return {};
}

Status set_key_id(Options& options, std::string_view value) {
  options.encryption.key_id = value;
  return {};
}
std::string get_key_id(const Options& options) { return options.encryption.key_id; }
// No message may hold what was given.
Status set_key(Options& options, std::string_view value) {
  Result<SecretKey> key = SecretKey::from_hex(value);
  if (!key.ok()) return key.status();
  options.encryption.key = [key = *key](std::string_view) -> Result<SecretKey> { return key; };
  return {};
}
std::string get_key(const Options& options) {
  return options.encryption.key != nullptr ? "true" : "false";
}

constexpr auto kOptions = std::to_array<NamedOption>({
    {"memory_budget_bytes", set_number<&Options::memory_budget_bytes>,
     get_number<&Options::memory_budget_bytes>},
    {"preallocate_memory", set_flag<&Options::preallocate_memory>,
     get_flag<&Options::preallocate_memory>},
    {"durability", set_durability, get_durability},
    {"io_mode", set_io_mode, get_io_mode},
    {"space_target", set_space_target, get_space_target},
    {"compression", set_compression, get_compression},
    {"merge_operators", add_merge_operator, get_count<&Options::merge_operators>},
    {"key_orders", nullptr, get_count<&Options::key_orders>, "hawthorn_options_add_key_order"},
    {"key_comparators", nullptr, get_count<&Options::key_comparators>,
     "hawthorn_options_add_key_comparator"},
    {"on_expiry", nullptr, nullptr, "hawthorn_options_set_on_expiry"},
    {"open_progress", nullptr, nullptr, "hawthorn_options_set_open_progress"},
    {"devices", add_device, get_count<&Options::devices>},
    {"encryption.key_id", set_key_id, get_key_id},
    {"encryption.key", set_key, get_key},
    {"read_only", set_flag<&Options::read_only>, get_flag<&Options::read_only>},
    {"create_if_missing", set_flag<&Options::create_if_missing>,
     get_flag<&Options::create_if_missing>},
    {"create_parents", set_flag<&Options::create_parents>, get_flag<&Options::create_parents>},
    {"error_if_exists", set_flag<&Options::error_if_exists>, get_flag<&Options::error_if_exists>},
    {"file_mode", set_file_mode, get_file_mode},
    {"lock_timeout_ms", set_number<&Options::lock_timeout_ms>,
     get_number<&Options::lock_timeout_ms>},
    {"background_io_bytes_per_second", set_number<&Options::background_io_bytes_per_second>,
     get_number<&Options::background_io_bytes_per_second>},
    {"scrub_bytes_per_second", set_number<&Options::scrub_bytes_per_second>,
     get_number<&Options::scrub_bytes_per_second>},
    {"log", nullptr, nullptr, "hawthorn_options_set_log"},
    {"listeners", nullptr, get_count<&Options::listeners>, "hawthorn_options_add_listener"},
    {"commit_hooks", nullptr, get_count<&Options::commit_hooks>,
     "hawthorn_options_add_commit_hook"},
    {"flush_filters", nullptr, get_count<&Options::flush_filters>,
     "hawthorn_options_set_flush_filter"},
});

Status find_option(const char* name, const NamedOption** out) {
  for (const NamedOption& option : kOptions) {
    if (std::string_view(option.name) == name) {
      *out = &option;
      return {};
    }
  }
  return Status(StatusCode::kNotFound, "there is no option \"" + std::string(name) + "\"");
}

Status takes_functions(const NamedOption& option) {
  return Status(StatusCode::kNotSupported, std::string("the option \"") + option.name +
                                               "\" takes functions: call " + option.call);
}

}  // namespace

}  // namespace hawthorn::c

hawthorn_code hawthorn_options_set(hawthorn_options* options, const char* name, const char* value,
                                   hawthorn_error** error) {
  using namespace hawthorn::c;
  return call(error, [&]() -> hawthorn::Status {
    const NamedOption* option = nullptr;
    auto s = need(OptionsGiven(options), Given(name, "name"), Given(value, "value"));
    if (s.ok()) s = find_option(name, &option);
    if (!s.ok()) return s;
    if (option->set == nullptr) return takes_functions(*option);
    s = option->set(options->options, value);
    if (s.ok()) return s;
    return hawthorn::Status(s.code(),
                            std::string("option \"") + name + "\": " + std::string(s.message()));
  });
}

hawthorn_code hawthorn_options_get(const hawthorn_options* options, const char* name, char** out,
                                   hawthorn_error** error) {
  using namespace hawthorn::c;
  return call(error, [&]() -> hawthorn::Status {
    const NamedOption* option = nullptr;
    auto s = need(OptionsGiven(options), Given(name, "name"), Given(out, "out"));
    if (s.ok()) s = find_option(name, &option);
    if (!s.ok()) return s;
    if (option->get == nullptr) return takes_functions(*option);
    const std::string text = option->get(options->options);
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *out = copy;
    return {};
  });
}

const char* hawthorn_options_name(size_t index) {
  const auto& options = hawthorn::c::kOptions;
  return index < options.size() ? options[index].name : nullptr;
}
