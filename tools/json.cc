#include "tools/json.h"

#include <cmath>
#include <cstdio>

#include "tools/text.h"

namespace hawthorn::tools {

void Json::clear() {
  text_.clear();
  first_ = true;
}

void Json::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

void Json::write_string(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void Json::write_name(std::string_view name) {
  separate();
  write_string(name);
  text_ += ':';
}

Json& Json::begin_object() {
  separate();
  text_ += '{';
  first_ = true;
  return *this;
}

Json& Json::begin_object(std::string_view name) {
  write_name(name);
  text_ += '{';
  first_ = true;
  return *this;
}

Json& Json::end_object() {
  text_ += '}';
  first_ = false;
  return *this;
}

Json& Json::begin_array(std::string_view name) {
  write_name(name);
  text_ += '[';
  first_ = true;
  return *this;
}

Json& Json::end_array() {
  text_ += ']';
  first_ = false;
  return *this;
}

Json& Json::field(std::string_view name, std::string_view value) {
  write_name(name);
  write_string(is_utf8(value) ? value : encode(Encoding::kEscaped, value));
  return *this;
}

Json& Json::field(std::string_view name, bool value) {
  write_name(name);
  text_ += value ? "true" : "false";
  return *this;
}

Json& Json::field(std::string_view name, double value) {
  write_name(name);
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.6g", std::isfinite(value) ? value : 0.0);
  text_ += digits;
  return *this;
}

Json& Json::number(std::string_view name, uint64_t value) {
  write_name(name);
  text_ += std::to_string(value);
  return *this;
}

Json& Json::bytes(std::string_view name, std::string_view value) {
  if (is_utf8(value)) return field(name, value);
  return field(std::string(name) + "_base64", std::string_view(encode(Encoding::kBase64, value)));
}

Json& Json::item(std::string_view value) {
  separate();
  write_string(is_utf8(value) ? value : encode(Encoding::kEscaped, value));
  return *this;
}

}  // namespace hawthorn::tools
