#include "tools/text.h"

#include <array>

namespace hawthorn::tools {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kNoDigit = -1;

unsigned byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return kNoDigit;
}

constexpr std::array<signed char, 256> make_base64_values() {
  std::array<signed char, 256> values{};
  values.fill(kNoDigit);
  for (int i = 0; i < 64; ++i) {
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<signed char>(i);
  }
  return values;
}
constexpr std::array<signed char, 256> kBase64Values = make_base64_values();

Status malformed(std::string_view what, size_t at) {
  return Status(StatusCode::kInvalidArgument,
                std::string(what) + " at byte " + std::to_string(at + 1));
}

// The length of the UTF-8 sequence at text[at] and its code point; 0 when there is none. Overlong
// forms, surrogates and numbers above U+10FFFF are none.
size_t utf8_length(std::string_view text, size_t at, uint32_t* code_point) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) {
    *code_point = first;
    return 1;
  }
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() - at < length) return 0;
  uint32_t value = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xc0) != 0x80) return 0;
    value = value << 6 | (next & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    return 0;
  }
  *code_point = value;
  return length;
}

void append_escaped(std::string& to, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const char c = bytes[at];
    if (c == '\\') {
      to += "\\\\";
      ++at;
    } else if (const size_t length = printable_length(bytes, at); length > 0) {
      to.append(bytes, at, length);
      at += length;
    } else {
      to += '\\';
      if (c == '\n') {
        to += 'n';
      } else if (c == '\t') {
        to += 't';
      } else if (c == '\r') {
        to += 'r';
      } else {
        to += 'x';
        to += kHexDigits[byte_at(bytes, at) >> 4];
        to += kHexDigits[byte_at(bytes, at) & 15];
      }
      ++at;
    }
  }
}

Status append_unescaped(std::string& to, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t backslash = text.find('\\', at);
    to.append(text, at, backslash - at);
    if (backslash == std::string_view::npos) return {};
    const char kind = backslash + 1 < text.size() ? text[backslash + 1] : '\0';
    at = backslash + 2;
    if (kind == '\\') {
      to += '\\';
    } else if (kind == 'n') {
      to += '\n';
    } else if (kind == 't') {
      to += '\t';
    } else if (kind == 'r') {
      to += '\r';
    } else if (kind == 'x') {
      const int high = at < text.size() ? hex_digit(text[at]) : kNoDigit;
      const int low = at + 1 < text.size() ? hex_digit(text[at + 1]) : kNoDigit;
      if (high < 0 || low < 0) return malformed("\\x without two hexadecimal digits", backslash);
      to += static_cast<char>(high << 4 | low);
      at += 2;
    } else {
      return malformed("a backslash that is followed by none of \\ n t r x", backslash);
    }
  }
  return {};
}

void append_hex(std::string& to, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); ++at) {
    to += kHexDigits[byte_at(bytes, at) >> 4];
    to += kHexDigits[byte_at(bytes, at) & 15];
  }
}

Status append_unhexed(std::string& to, std::string_view text) {
  if (text.size() % 2 != 0) return malformed("an odd number of hexadecimal digits", text.size());
  for (size_t at = 0; at < text.size(); at += 2) {
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return malformed("no hexadecimal digit", high < 0 ? at : at + 1);
    to += static_cast<char>(high << 4 | low);
  }
  return {};
}

void append_base64(std::string& to, std::string_view bytes) {
  size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const unsigned group =
        byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    for (int shift = 18; shift >= 0; shift -= 6) to += kBase64Digits[group >> shift & 63];
  }
  const size_t left = bytes.size() - at;
  if (left == 0) return;
  const unsigned group = byte_at(bytes, at) << 16 | (left == 2 ? byte_at(bytes, at + 1) << 8 : 0);
  to += kBase64Digits[group >> 18];
  to += kBase64Digits[group >> 12 & 63];
  to += left == 2 ? kBase64Digits[group >> 6 & 63] : '=';
  to += '=';
}

Status append_unbase64(std::string& to, std::string_view text) {
  if (text.size() % 4 != 0) return malformed("base64 not in groups of four", text.size());
  for (size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const size_t digits = last && text[at + 3] == '=' ? (text[at + 2] == '=' ? 2 : 3) : 4;
    unsigned group = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int value = i < digits ? kBase64Values[byte_at(text, at + i)] : 0;
      if (value < 0) return malformed("no base64 digit", at + i);
      group = group << 6 | static_cast<unsigned>(value);
    }
    // Bits that belong to no byte are zero: one text for one string of bytes.
    if ((digits == 2 && (group & 0xffff) != 0) || (digits == 3 && (group & 0xff) != 0)) {
      return malformed("base64 with loose bits", at + digits - 1);
    }
    to += static_cast<char>(group >> 16);
    if (digits > 2) to += static_cast<char>(group >> 8);
    if (digits > 3) to += static_cast<char>(group);
  }
  return {};
}

}  // namespace

size_t printable_length(std::string_view text, size_t at) {
  uint32_t code_point = 0;
  const size_t length = utf8_length(text, at, &code_point);
  // C0, DEL and C1: a terminal would obey them.
  const bool control = code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f);
  return control ? 0 : length;
}

size_t utf8_sequence(std::string_view text, size_t at) {
  uint32_t code_point = 0;
  return utf8_length(text, at, &code_point);
}

void append_utf8(std::string& to, uint32_t code_point) {
  const auto add = [&to](uint32_t byte) { to += static_cast<char>(byte); };
  const auto follow = [&](int shift) { add(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xc0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    add(0xe0 | code_point >> 12);
    follow(6);
  } else {
    add(0xf0 | code_point >> 18);
    follow(12);
    follow(6);
  }
  follow(0);
}

bool is_utf8(std::string_view bytes) {
  uint32_t code_point = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = utf8_length(bytes, at, &code_point);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

void append_encoded(std::string& to, Encoding encoding, std::string_view bytes) {
  switch (encoding) {
    case Encoding::kEscaped:
      return append_escaped(to, bytes);
    case Encoding::kHex:
      return append_hex(to, bytes);
    case Encoding::kBase64:
      return append_base64(to, bytes);
  }
}

std::string encode(Encoding encoding, std::string_view bytes) {
  std::string text;
  append_encoded(text, encoding, bytes);
  return text;
}

Status append_decoded(std::string& to, Encoding encoding, std::string_view text) {
  switch (encoding) {
    case Encoding::kEscaped:
      return append_unescaped(to, text);
    case Encoding::kHex:
      return append_unhexed(to, text);
    case Encoding::kBase64:
      return append_unbase64(to, text);
  }
  return {};
}

Result<std::string> decode(Encoding encoding, std::string_view text) {
  std::string bytes;
  Status status = append_decoded(bytes, encoding, text);
  if (!status.ok()) return status;
  return bytes;
}

}  // namespace hawthorn::tools
