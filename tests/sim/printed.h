#pragma once
// Keys and values in messages: printable, and short.

#include <string>
#include <string_view>

namespace hawthorn::tests {

inline std::string printed(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kMost = 40;
  std::string text = "\"";
  for (const char c : bytes.substr(0, kMost)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      text.push_back(c);
    } else {
      text += "\\x";
      text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
      text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
    }
  }
  text += "\"";
  if (bytes.size() > kMost) text += " (" + std::to_string(bytes.size()) + " bytes)";
  return text;
}

}  // namespace hawthorn::tests
