#include "tools/dump_format.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "testing/temp_directory.h"

namespace hawthorn::tools {
namespace {

using Trees = std::map<std::string, std::map<std::string, std::string>>;

class DumpFormat : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(name_.c_str()); }

  std::string write(const Trees& trees, Encoding encoding) {
    Output output = Output::to_file(name_).value();
    DumpWriter writer(output, encoding, 1);
    for (const auto& [tree, entries] : trees) {
      writer.begin_tree(tree, {.order = "bytewise"});
      for (const auto& [key, value] : entries) write_entry(writer, key, value);
      writer.end_tree();
    }
    writer.finish();
    EXPECT_TRUE(output.finish().ok());
    std::ostringstream text;
    text << std::ifstream(name_, std::ios::binary).rdbuf();
    return text.str();
  }

  static void write_entry(DumpWriter& writer, const std::string& key, const std::string& value) {
    if (value.size() <= kInlineValueBytesMax) return writer.entry(key, value);
    writer.begin_value(key, value.size());
    for (size_t at = 0; at < value.size(); at += kValuePartBytes) {
      writer.value_part(std::string_view(value).substr(at, kValuePartBytes));
    }
  }

  // Reads a file with this text; the message of its error, or empty.
  std::string read(const std::string& text, Trees& trees) {
    std::ofstream(name_, std::ios::binary) << text;
    Input input = Input::open(name_).value();
    DumpReader reader(input);
    trees.clear();
    while (true) {
      Result<DumpReader::Event> event = reader.next();
      if (!event.ok()) return without_path(event.status());
      switch (*event) {
        case DumpReader::Event::kTree:
        case DumpReader::Event::kSubtree:
          trees[reader.tree()];
          break;
        case DumpReader::Event::kEntry:
          trees[reader.tree()][reader.key()] = reader.value();
          break;
        case DumpReader::Event::kLargeValue: {
          std::string& value = trees[reader.tree()][reader.key()];
          value.resize(reader.value_bytes());
          Result<size_t> got = reader.read_value(value);
          if (!got.ok()) return without_path(got.status());
          EXPECT_EQ(*got, value.size());
          break;
        }
        case DumpReader::Event::kTreeEnd:
          break;
        case DumpReader::Event::kEnd:
          return "";
      }
    }
  }

  std::string without_path(const Status& status) {
    const std::string message(status.message());
    EXPECT_TRUE(message.starts_with(name_ + ":")) << message;
    return message.substr(name_.size() + 1);
  }

  std::string error_of(const std::string& text) {
    Trees trees;
    return read(text, trees);
  }

  const hawthorn::testing::TempDirectory directory_;
  const std::string name_ = directory_ / "dump";
};

constexpr char kHead[] = "#hawthorn-dump version=1 encoding=escaped\n";

TEST_F(DumpFormat, IsTheTextThatTheDocumentShows) {
  const Trees trees = {{"users", {{"ada", "1815"}, {"#1\t", "a\nb"}}}};
  EXPECT_EQ(write(trees, Encoding::kEscaped),
            "#hawthorn-dump version=1 encoding=escaped\n"
            "#tree name=users\n"
            "\\x231\\t\ta\\nb\n"
            "ada\t1815\n"
            "#end entries=2 xxh3=50730151bc34ec11\n"
            "#end-of-dump trees=1\n");
}

TEST_F(DumpFormat, RoundTripOfAnyBytes) {
  std::mt19937 random(11);
  Trees trees = {{"", {}}, {"a tree\n# two", {{"", ""}, {"#", "#"}, {"\t", "\n"}}}};
  for (int i = 0; i < 1000; ++i) {
    std::string key(random() % 30, '\0');
    for (char& c : key) c = static_cast<char>(random());
    trees["random"][key] = key + key;
  }
  std::string large(kInlineValueBytesMax + 3 * kValuePartBytes + 17, '#');
  for (size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(random());
  trees["random"]["large"] = large;
  trees["random"]["whole parts"] = std::string(kValuePartBytes * 30, '#');
  for (const Encoding encoding : {Encoding::kEscaped, Encoding::kBase64}) {
    Trees back;
    EXPECT_EQ(read(write(trees, encoding), back), "");
    EXPECT_EQ(back, trees);
  }
}

TEST_F(DumpFormat, EveryTruncationIsNoticed) {
  const Trees trees = {{"a", {{"k", "v"}, {"l", "w"}}}, {"b", {{"m", "x"}}}};
  const std::string text = write(trees, Encoding::kEscaped);
  // Without its last newline the file is still complete.
  for (size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_NE(error_of(text.substr(0, size)), "") << size;
  }
  EXPECT_EQ(error_of(text.substr(0, text.size() - 1)), "");
}

TEST_F(DumpFormat, EveryChangedByteIsNoticed) {
  const std::string text = write({{"a", {{"key", "value"}, {"other", "v"}}}}, Encoding::kEscaped);
  const size_t name = text.find("name=a") + 5;  // the name is not under the checksum
  for (size_t at = 0; at < text.size() - 1; ++at) {
    if (at == name) continue;
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(error_of(changed), "") << "byte " << at;
  }
}

TEST_F(DumpFormat, MalformedLinesAreNamed) {
  const std::string head = kHead;
  const std::string tree = head + "#tree name=t\n";
  EXPECT_EQ(error_of(""), "0: no dump file: it does not begin with #hawthorn-dump");
  EXPECT_EQ(error_of("hello\n"), "1: no dump file: it does not begin with #hawthorn-dump");
  EXPECT_EQ(error_of("#hawthorn-dump version=9 encoding=escaped\n"),
            "1: format version 9 is newer than this program's 3");
  const std::string third = "#hawthorn-dump version=3 encoding=escaped\n";
  EXPECT_EQ(error_of(head + "#subtree in=1 key=k\n"), "2: expected #tree or #end-of-dump");
  EXPECT_EQ(error_of(third + "#subtree in=1 key=k\n"),
            "2: expected #subtree in=NUMBER key=KEY, with the number of a tree before it");
  EXPECT_EQ(error_of(third + "#tree order=bytewise subtrees=2 name=t\n"), "2: expected subtrees=1");
  EXPECT_EQ(error_of(third + "#tree name=t\n#end entries=0\n#subtree in=1 name=k\n"),
            "4: expected key=KEY");
  EXPECT_EQ(error_of("#hawthorn-dump version=1 encoding=morse\n"),
            "1: expected encoding=escaped or encoding=base64");
  EXPECT_EQ(error_of(head + "k\tv\n"), "2: expected #tree or #end-of-dump");
  EXPECT_EQ(error_of(tree + "k\tv\nno tab\n"), "4: no tab between key and value");
  EXPECT_EQ(error_of(tree + "a\tb\tc\n"),
            "3: more than one tab; a tab inside a key or value is \\t");
  EXPECT_EQ(error_of(tree + "a\\q\tb\n"),
            "3: a backslash that is followed by none of \\ n t r x at byte 2");
  EXPECT_EQ(error_of(tree + "#what\n"), "3: expected an entry, #value or #end");
  EXPECT_EQ(error_of(tree + "a\tb\n#end entries=2\n"), "4: tree t has 1 entries, its end says 2");
  EXPECT_EQ(error_of(tree + "#end entries=0 xxh3=00\n").substr(0, 28),
            "3: tree t has the checksum 2");
  EXPECT_EQ(error_of(tree + "#end entries=0\n#end-of-dump trees=1\nmore\n"),
            "5: something follows the end of the dump");
  EXPECT_EQ(error_of(tree + "#value bytes=4 key=k\nab\n#end entries=1\n"),
            "5: a value that ends 2 bytes too early");
  EXPECT_EQ(error_of(tree + "#value bytes=4 key=k\nabcde\n"),
            "4: a value longer than its header says");
  EXPECT_EQ(error_of(tree + "#value bytes=9999999999 key=k\n"),
            "3: a value above the limit of 4 GB");
}

TEST_F(DumpFormat, FilesByHandNeedNoChecksum) {
  Trees trees;
  EXPECT_EQ(
      read(std::string(kHead) + "#tree name=t\nb\t2\na\t1\n#end entries=2\n#end-of-dump trees=1",
           trees),
      "");
  EXPECT_EQ(trees, (Trees{{"t", {{"a", "1"}, {"b", "2"}}}}));
}

TEST_F(DumpFormat, AFailedOutputLeavesNoFile) {
  {
    Output output = Output::to_file(name_).value();
    output.write("half");
  }
  EXPECT_NE(::access(name_.c_str(), F_OK), 0);
  EXPECT_NE(::access((name_ + ".partial").c_str(), F_OK), 0);
  EXPECT_TRUE(Output::to_file("/no/such/folder/file").status().is(StatusCode::kNotFound));
}

}  // namespace
}  // namespace hawthorn::tools
