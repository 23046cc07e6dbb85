#include "tools/text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hawthorn::tools {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST(Text, EncodesWhatPeopleRead) {
  EXPECT_EQ(encode(Encoding::kEscaped, "plain # text"), "plain # text");
  EXPECT_EQ(encode(Encoding::kEscaped, "a\tb\nc\rd\\e"), "a\\tb\\nc\\rd\\\\e");
  EXPECT_EQ(encode(Encoding::kEscaped, std::string_view("\0\x7f\xff", 3)), "\\x00\\x7f\\xff");
  EXPECT_EQ(encode(Encoding::kEscaped, "caf\xc3\xa9 \xf0\x9f\x8c\xb3"),
            "caf\xc3\xa9 \xf0\x9f\x8c\xb3");
  EXPECT_EQ(encode(Encoding::kHex, "\x01\xab"), "01ab");
  EXPECT_EQ(encode(Encoding::kBase64, "a"), "YQ==");
  EXPECT_EQ(encode(Encoding::kBase64, "ab"), "YWI=");
  EXPECT_EQ(encode(Encoding::kBase64, "abc"), "YWJj");
}

TEST(Text, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(encode(Encoding::kEscaped, "\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(encode(Encoding::kEscaped, "\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(encode(Encoding::kEscaped, "\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(encode(Encoding::kEscaped, "\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(encode(Encoding::kEscaped, "\xc2\x85"), "\\xc2\\x85");  // C1 control
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_TRUE(is_utf8("\n\xc3\xa9"));
}

TEST(Text, EveryFormHoldsAnyBytes) {
  std::mt19937 random(7);
  for (const Encoding encoding : {Encoding::kEscaped, Encoding::kHex, Encoding::kBase64}) {
    EXPECT_EQ(decode(encoding, encode(encoding, all_bytes())).value(), all_bytes());
    for (int round = 0; round < 500; ++round) {
      std::string bytes(random() % 40, '\0');
      for (char& c : bytes)
        c = static_cast<char>(random() % 3 == 0 ? random() : 0xc0 + random() % 64);
      const std::string text = encode(encoding, bytes);
      EXPECT_EQ(text.find_first_of("\t\n\r"), std::string::npos);
      EXPECT_TRUE(is_utf8(text));
      EXPECT_EQ(decode(encoding, text).value(), bytes);
    }
  }
}

TEST(Text, DecodingTakesRawBytes) {
  EXPECT_EQ(decode(Encoding::kEscaped, "\xff\x01 \xc3\xa9").value(), "\xff\x01 \xc3\xa9");
  EXPECT_EQ(decode(Encoding::kHex, "aBFf").value(), "\xab\xff");
}

TEST(Text, MalformedTextIsNamed) {
  const auto message = [](Encoding encoding, std::string_view text) {
    return std::string(decode(encoding, text).status().message());
  };
  EXPECT_EQ(message(Encoding::kEscaped, "ab\\q"),
            "a backslash that is followed by none of \\ n t r x at byte 3");
  EXPECT_EQ(message(Encoding::kEscaped, "\\"),
            "a backslash that is followed by none of \\ n t r x at byte 1");
  EXPECT_EQ(message(Encoding::kEscaped, "\\x4"), "\\x without two hexadecimal digits at byte 1");
  EXPECT_EQ(message(Encoding::kHex, "0g"), "no hexadecimal digit at byte 2");
  EXPECT_EQ(message(Encoding::kHex, "012"), "an odd number of hexadecimal digits at byte 4");
  EXPECT_EQ(message(Encoding::kBase64, "YQ="), "base64 not in groups of four at byte 4");
  EXPECT_EQ(message(Encoding::kBase64, "Y==="), "no base64 digit at byte 2");
  EXPECT_EQ(message(Encoding::kBase64, "=QQQ"), "no base64 digit at byte 1");
  EXPECT_EQ(message(Encoding::kBase64, "YR=="), "base64 with loose bits at byte 2");
  EXPECT_EQ(message(Encoding::kBase64, "YQ==YQ=="), "no base64 digit at byte 3");
}

}  // namespace
}  // namespace hawthorn::tools
