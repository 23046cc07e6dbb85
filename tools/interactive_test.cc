#include "tools/interactive.h"

#include <gtest/gtest.h>

namespace hawthorn::tools {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, QuotesAndEscapes) {
  EXPECT_EQ(split_words("  put a  b ").value(), (Words{"put", "a", "b"}));
  EXPECT_EQ(split_words("put \"a b\" \"\"").value(), (Words{"put", "a b", ""}));
  EXPECT_EQ(split_words("x\\\"y \"say \\\"hi\\\"\"").value(), (Words{"x\"y", "say \"hi\""}));
  EXPECT_EQ(split_words("a\\x00\\xff \\\\n").value(), (Words{std::string("a\0\xff", 3), "\\n"}));
  EXPECT_EQ(split_words("").value(), Words{});
}

TEST(SplitWords, MistakesAreNamed) {
  EXPECT_EQ(split_words("put \"a").status().message(), "a quote that nothing ends");
  EXPECT_TRUE(split_words("\\q").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(split_words("a\\").status().is(StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace hawthorn::tools
