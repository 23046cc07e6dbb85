#include "bench/text.h"

#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace hawthorn::bench {
namespace {

// A number and what follows it, in lower case.
double parse_number(const std::string& text, std::string& unit) {
  size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
    throw std::invalid_argument("not a number: " + text);
  }
  if (!(number >= 0)) throw std::invalid_argument("not a number of zero or more: " + text);
  unit.clear();
  for (const char c : text.substr(used)) {
    unit.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return number;
}

}  // namespace

std::string print_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int bytes = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(bytes > 0 ? static_cast<size_t>(bytes) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string with_commas(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string size_text(double bytes) {
  if (bytes >= 1e9) return print_text("%.2f GB", bytes / 1e9);
  if (bytes >= 1e6) return print_text("%.1f MB", bytes / 1e6);
  return print_text("%.1f KB", bytes / 1e3);
}

std::string short_number(double number) {
  const char* unit = "";
  if (number >= 1e6) {
    number /= 1e6;
    unit = " M";
  } else if (number >= 1e4) {
    number /= 1e3;
    unit = " K";
  }
  const int digits = number >= 100 ? 0 : number >= 10 ? 1 : number >= 1 ? 2 : 3;
  return print_text("%.*f%s", digits, number, unit);
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += print_text("\\u%04x", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = text.find(separator);
    if (at != 0) parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  }
  return parts;
}

uint64_t parse_size(const std::string& text) {
  std::string unit;
  const double number = parse_number(text, unit);
  double factor = 0;
  if (unit.empty() || unit == "g" || unit == "gb") factor = 1e9;
  if (unit == "m" || unit == "mb") factor = 1e6;
  if (unit == "k" || unit == "kb") factor = 1e3;
  if (factor == 0) throw std::invalid_argument("unknown unit: " + text);
  return static_cast<uint64_t>(std::llround(number * factor));
}

uint64_t parse_count(const std::string& text) {
  std::string unit;
  const double number = parse_number(text, unit);
  double factor = 0;
  if (unit.empty()) factor = 1;
  if (unit == "k") factor = 1e3;
  if (unit == "m") factor = 1e6;
  if (factor == 0) throw std::invalid_argument("unknown unit: " + text);
  return static_cast<uint64_t>(std::llround(number * factor));
}

}  // namespace hawthorn::bench
