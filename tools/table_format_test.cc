#include "tools/table_format.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <tuple>

#include "testing/temp_directory.h"

namespace hawthorn::tools {
namespace {

using Entries = std::vector<std::tuple<std::string, std::string, uint64_t>>;

class Tables : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(name_.c_str()); }

  std::string write(TableFormat format, std::optional<Encoding> form, bool expires,
                    const Entries& entries) {
    Output output = Output::to_file(name_).value();
    TableWriter writer(output, format, form, expires);
    for (const auto& [key, value, moment] : entries) writer.entry(key, value, moment);
    EXPECT_TRUE(output.finish().ok());
    std::ostringstream text;
    text << std::ifstream(name_, std::ios::binary).rdbuf();
    return text.str();
  }

  // The entries of a text, and its error behind the file's name, or nothing.
  std::string read(TableFormat format, const std::string& text, Entries* entries,
                   const std::string& columns = "") {
    std::ofstream(name_, std::ios::binary) << text;
    Input input = Input::open(name_).value();
    TableReader reader(input, format, columns);
    entries->clear();
    for (TableEntry entry;;) {
      const Result<bool> more = reader.next(entry);
      if (!more.ok()) {
        std::string message(more.status().message());
        // Of columns that were given no line of the file is named.
        if (message.starts_with("columns: ")) return message;
        EXPECT_EQ(message.substr(0, name_.size() + 1), name_ + ":");
        return message.substr(name_.size() + 1);
      }
      if (!*more) return "";
      entries->emplace_back(entry.key, entry.value, entry.expires_at.value_or(0));
    }
  }
  std::string csv_error(const std::string& text, const std::string& columns = "") {
    Entries entries;
    return read(TableFormat::kCsv, text, &entries, columns);
  }
  std::string json_error(const std::string& text) {
    Entries entries;
    return read(TableFormat::kJsonLines, text, &entries);
  }

  const hawthorn::testing::TempDirectory directory_;
  const std::string name_ = directory_ / "table";
};

TEST_F(Tables, AnyBytesComeBack) {
  std::mt19937 random(11);
  constexpr char kHostile[] = "\",\\\n\r\t '{}:\0\x01\x7f\x80\xc3\xa9\xff\xed\xa0\x80";
  const std::string alphabet(kHostile, sizeof(kHostile) - 1);
  const auto bytes = [&] {
    std::string made(random() % 12, '\0');
    for (char& c : made) {
      c = random() % 4 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    return made;
  };
  Entries entries;
  for (int i = 0; i < 3000; ++i) entries.emplace_back(bytes(), bytes(), random());
  Entries without;
  for (const auto& [key, value, moment] : entries) without.emplace_back(key, value, 0);
  for (const TableFormat format : {TableFormat::kCsv, TableFormat::kJsonLines}) {
    for (const std::optional<Encoding> form :
         {std::optional<Encoding>(), std::optional(Encoding::kHex),
          std::optional(Encoding::kBase64)}) {
      Entries back;
      EXPECT_EQ(read(format, write(format, form, true, entries), &back), "");
      EXPECT_EQ(back, entries);
      EXPECT_EQ(read(format, write(format, form, false, entries), &back), "");
      EXPECT_EQ(back, without);
    }
  }
}

TEST_F(Tables, LooksAsPeopleExpect) {
  const Entries entries = {{"ada", "1815", 0}, {"a,b", "say \"hi\"\n", 0}, {"\xff", "", 0}};
  EXPECT_EQ(write(TableFormat::kCsv, {}, false, entries),
            "key,value\nada,1815\n\"a,b\",\"say \"\"hi\"\"\\n\"\n\\xff,\n");
  EXPECT_EQ(write(TableFormat::kCsv, Encoding::kHex, false, {{"a", "b", 0}}),
            "key_hex,value_hex\n61,62\n");
  EXPECT_EQ(write(TableFormat::kJsonLines, {}, true, {{"a\n", "\xff", 7}}),
            "{\"key\":\"a\\u000a\",\"value_base64\":\"/w==\",\"expires_at\":7}\n");
}

TEST_F(Tables, ReadsWhatOtherProgramsWrite) {
  Entries entries;
  EXPECT_EQ(read(TableFormat::kCsv,
                 "\xef\xbb\xbfvalue,key_text\r\n\r\n\"two\r\nlines\",C:\\x\r\n\"a\"\"b\",\"k\"\r\n"
                 "x,",
                 &entries),
            "");
  EXPECT_EQ(entries, (Entries{{"C:\\x", "two\r\nlines", 0}, {"k", "a\"b", 0}, {"", "x", 0}}));
  EXPECT_EQ(read(TableFormat::kCsv, "1,x,61,9\n", &entries, "key,-,value_hex,expires_at"), "");
  EXPECT_EQ(entries, (Entries{{"1", "a", 9}}));
  EXPECT_EQ(read(TableFormat::kCsv, "key,value\n\"one\ntwo\",last\r\n", &entries), "");
  EXPECT_EQ(entries, (Entries{{"one\ntwo", "last", 0}}));
  EXPECT_EQ(read(TableFormat::kJsonLines,
                 " { \"value\" : \"\\ud83c\\udf33\\/\\b\" , \"key\":\"\\u00e9\" } \r\n\n"
                 "{\"key_hex\":\"fF\",\"value_base64\":\"YQ==\",\"expires_at\":0}",
                 &entries),
            "");
  EXPECT_EQ(entries, (Entries{{"\xc3\xa9", "\xf0\x9f\x8c\xb3/\b", 0}, {"\xff", "a", 0}}));
}

TEST_F(Tables, MistakesInCsvAreNamed) {
  EXPECT_EQ(csv_error(""), "");
  EXPECT_EQ(csv_error("key,worth\n").substr(0, 32), "1:5: no column is named \"worth\":");
  EXPECT_EQ(csv_error("key,key_hex\n"), "1:5: a second column for the same, \"key_hex\"");
  EXPECT_EQ(csv_error("key\n"), "1:1: there must be a key and a value");
  EXPECT_EQ(csv_error("x", "key,valu").substr(0, 34), "columns: no column is named \"valu\"");
  EXPECT_EQ(csv_error("key,value\na,b\na\n"), "3:1: 1 fields, where there are 2 columns");
  EXPECT_EQ(csv_error("key,value\na,b,c\n"), "2:1: 3 fields, where there are 2 columns");
  EXPECT_EQ(csv_error("key,value\nab,c\"d\n"),
            "2:5: a quote in a field that does not begin with one");
  EXPECT_EQ(csv_error("key,value\n\"ab\"c,d\n"),
            "2:5: something behind the quote that ends a field");
  EXPECT_EQ(csv_error("key,value\na,\"b\nc\n"), "2:3: a quote that nothing ends");
  EXPECT_EQ(csv_error("key,value\na,\"b\nc\"d\n"),
            "3:3: something behind the quote that ends a field");
  EXPECT_EQ(csv_error("key,value\na\\q,b\n"),
            "2:1: key: a backslash that is followed by none of \\ n t r x at byte 2");
  EXPECT_EQ(csv_error("key,value_hex\na,123\n").substr(0, 18), "2:3: value: an odd");
  EXPECT_EQ(csv_error("key,value,expires_at\na,b,soon\n"), "2:5: expires_at: no number");
  EXPECT_EQ(csv_error("key,value,expires_at\na,b,99999999999999999999\n"),
            "2:5: expires_at: no number");
}

TEST_F(Tables, MistakesInJsonAreNamed) {
  EXPECT_EQ(json_error(""), "");
  EXPECT_EQ(json_error("[1]").substr(0, 27), "1:1: an object was expected");
  EXPECT_EQ(json_error("{}"), "1:2: there is no key");
  EXPECT_EQ(json_error("\n{\"key\":\"a\"}"), "2:11: there is no value");
  EXPECT_EQ(json_error("{\"value\":\"a\"}"), "1:13: there is no key");
  EXPECT_EQ(json_error("{\"key\":\"a\",\"key_hex\":\"61\"}"),
            "1:12: a second member for the same, \"key_hex\"");
  EXPECT_EQ(json_error("{\"key\":\"a\",\"price\":1}"), "1:12: no member has the name \"price\"");
  EXPECT_EQ(json_error("{\"key\":1}"), "1:8: a string was expected");
  EXPECT_EQ(json_error("{\"key\":\"a\" \"value\":\"b\"}"), "1:12: a , or a } was expected");
  EXPECT_EQ(json_error("{\"key\":\"a\",\"value\":\"b\"} x"), "1:25: something behind the object");
  EXPECT_EQ(json_error("{\"key\":\"a\",\"value\":\"b"), "1:20: a string that nothing ends");
  EXPECT_EQ(json_error("{\"key\":\"a\",}"), "1:12: a string was expected");
  EXPECT_EQ(json_error("{\"key\":\"a\x01\"}"), "1:10: a control character in a string");
  EXPECT_EQ(json_error("{\"key\":\"\xff\"}"), "1:9: no UTF-8");
  EXPECT_EQ(json_error("{\"key\":\"\\ud800x\"}"), "1:9: half a surrogate pair");
  EXPECT_EQ(json_error("{\"key\":\"\\udc00\"}"), "1:9: half a surrogate pair");
  EXPECT_EQ(json_error("{\"key\":\"\\u12g4\"}").substr(0, 16), "1:9: a backslash");
  EXPECT_EQ(json_error("{\"key_hex\":\"6\"}").substr(0, 16), "1:13: key: an od");
  EXPECT_EQ(json_error("{\"key\":\"a\",\"expires_at\":-1}"), "1:25: expires_at: no number");
}

TEST_F(Tables, ReadersSurviveWhateverComes) {
  std::mt19937 random(3);
  const std::string pieces[] = {"\"", ",", "\n",   "\r",  "key",  "value", "\\", "{",          "}",
                                ":",  "a", "_hex", "\\u", "d800", "\xff",  "1",  "expires_at", " "};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t n = random() % 30; n > 0; --n) text += pieces[random() % std::size(pieces)];
    Entries entries;
    const std::string csv = read(TableFormat::kCsv, "key,value\n" + text, &entries);
    EXPECT_TRUE(csv.empty() || csv.find(": ") != std::string::npos);
    const std::string json = read(TableFormat::kJsonLines, text, &entries);
    EXPECT_TRUE(json.empty() || json.find(": ") != std::string::npos);
  }
}

}  // namespace
}  // namespace hawthorn::tools
