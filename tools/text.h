#pragma once
// Bytes as text: the escaped form that people read and type, hexadecimal, and base64.
//
// Not here: the lines of a dump file (dump_format.h), JSON (json.h). Threads: pure functions.
//
// 1. Each form holds any bytes, and decoding what was encoded gives the same bytes.
// 2. No form contains a tab, a newline or another control character.
// 3. The escaped form shows printable characters, UTF-8 included, as they are; the rest is \n, \t,
//    \r, \\ or \xNN. Decoding also takes raw bytes that encoding would have escaped.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hawthorn/status.h"

namespace hawthorn::tools {

enum class Encoding : uint8_t { kEscaped, kHex, kBase64 };

// The length of the printable character that starts at text[at], 1 to 4, or 0 when the byte there
// is a control character or no valid UTF-8.
size_t printable_length(std::string_view text, size_t at);

// The same of any character, control characters, too; and the bytes of one.
size_t utf8_sequence(std::string_view text, size_t at);
void append_utf8(std::string& to, uint32_t code_point);

// Whether the bytes are UTF-8 (control characters allowed), as JSON strings have to be.
bool is_utf8(std::string_view bytes);

void append_encoded(std::string& to, Encoding encoding, std::string_view bytes);
std::string encode(Encoding encoding, std::string_view bytes);

// Errors: kInvalidArgument, saying what is wrong at which byte.
Status append_decoded(std::string& to, Encoding encoding, std::string_view text);
Result<std::string> decode(Encoding encoding, std::string_view text);

}  // namespace hawthorn::tools
