#include "tools/mdbx/table_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

namespace hawthorn::tools {
namespace {

struct Table {
  TableHeader header;
  std::vector<std::pair<std::string, std::string>> entries;
};

class TableText : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(name_.c_str()); }

  std::string write(const std::vector<Table>& tables, bool printable,
                    const EnvironmentHeader* environment = nullptr) {
    Output output = Output::to_file(name_).value();
    TableTextWriter writer(output, printable);
    for (const Table& table : tables) {
      writer.begin(table.header, environment);
      for (const auto& [key, value] : table.entries) writer.entry(key, value);
      writer.end();
    }
    EXPECT_TRUE(output.finish().ok());
    std::ostringstream text;
    text << std::ifstream(name_, std::ios::binary).rdbuf();
    return text.str();
  }

  // Reads a file with this text; the message of its error, or empty.
  std::string read(const std::string& text, std::vector<Table>* tables, bool plain = false) {
    std::ofstream(name_, std::ios::binary) << text;
    Input input = Input::open(name_).value();
    notes_.clear();
    TableTextReader reader(
        input, plain, [this](const std::string& note) { notes_ += without_path(note) + "\n"; });
    tables->clear();
    for (bool open = false;;) {
      const Result<TableTextReader::Event> event = reader.next();
      if (!event.ok()) return without_path(event.status().message());
      switch (*event) {
        case TableTextReader::Event::kTable:
          EXPECT_FALSE(open);
          tables->push_back({reader.header(), {}});
          open = true;
          break;
        case TableTextReader::Event::kEntry:
          EXPECT_TRUE(open);
          tables->back().entries.emplace_back(reader.key(), reader.value());
          break;
        case TableTextReader::Event::kTableEnd:
          EXPECT_TRUE(open);
          open = false;
          break;
        case TableTextReader::Event::kEnd:
          EXPECT_FALSE(open);
          return "";
      }
    }
  }

  std::string error_of(const std::string& text, bool plain = false) {
    std::vector<Table> tables;
    return read(text, &tables, plain);
  }

  std::string without_path(std::string_view message) {
    EXPECT_TRUE(message.starts_with(name_ + ":")) << message;
    return std::string(message.substr(name_.size() + 1));
  }

  const std::string name_ = ::testing::TempDir() + "table_text." + std::to_string(::getpid());
  std::string notes_;
};

TableHeader header_of(const char* name, unsigned flags = 0, uint64_t sequence = 0) {
  TableHeader header;
  if (name != nullptr) header.name = name;
  header.flags = flags;
  header.sequence = sequence;
  return header;
}

std::vector<Table> all_shapes() {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string large(200'000, '\\');
  return {
      {header_of(nullptr),
       {{"", ""}, {" ", "  "}, {"a", every_byte}, {every_byte, "a"}, {"l", large}}},
      {header_of("a table = with\tspaces ", MDBX_DUPSORT, 7),
       {{"a", "1"}, {"a", "2"}, {"DATA=END", "HEADER=END"}}},
      {header_of("numbers", MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP | MDBX_INTEGERKEY),
       {{std::string(4, '\0'), std::string(8, '\xff')}}},
      {header_of("reverse", MDBX_DUPSORT | MDBX_REVERSEDUP | MDBX_REVERSEKEY | MDBX_DUPFIXED), {}}};
}

void expect_same(const std::vector<Table>& a, const std::vector<Table>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].header.name, b[i].header.name);
    EXPECT_EQ(a[i].header.flags, b[i].header.flags);
    EXPECT_EQ(a[i].header.sequence, b[i].header.sequence);
    EXPECT_EQ(a[i].entries, b[i].entries);
  }
}

TEST_F(TableText, WhatIsWrittenIsRead) {
  for (const bool printable : {false, true}) {
    const std::string text = write(all_shapes(), printable);
    std::vector<Table> tables;
    EXPECT_EQ(read(text, &tables), "");
    EXPECT_EQ(notes_, "");
    expect_same(tables, all_shapes());
  }
}

TEST_F(TableText, IsWhatTheOriginalsWrite) {
  Table table{header_of("words", MDBX_DUPSORT), {{"a\n", " b\\"}, {"", ""}}};
  EXPECT_EQ(write({table}, false),
            "VERSION=3\nformat=bytevalue\ndatabase=words\ntype=btree\ndupsort=1\nduplicates=1\n"
            "HEADER=END\n 610a\n 20625c\n \n \nDATA=END\n");
  EXPECT_EQ(write({table}, true),
            "VERSION=3\nformat=print\ndatabase=words\ntype=btree\ndupsort=1\nduplicates=1\n"
            "HEADER=END\n a\\0a\n \\20b\\5c\n \n \nDATA=END\n");
  EnvironmentHeader environment;
  environment.bytes_max = 4096;
  environment.info.mi_dxb_pagesize = 512;
  table.header.flags = MDBX_DUPSORT | MDBX_DUPFIXED;
  table.header.canary = MDBX_canary{1, 2, 3, 4};
  const std::string text = write({table}, false, &environment);
  EXPECT_EQ(text.substr(0, text.find("HEADER=END")),
            "VERSION=3\ngeometry=l0,u4096,s0,g0\nmapsize=4096\ncanary=v4,x1,y2,z3\n"
            "format=bytevalue\ndatabase=words\ntype=btree\ndb_pagesize=512\ndupsort=1\n"
            "dupfixed=1\ndupfix=1\nduplicates=1\n");
}

TEST_F(TableText, ReadsWhatTheOriginalsWrite) {
  std::vector<Table> tables;
  EXPECT_EQ(read("VERSION=3\nformat=print\ntype=btree\nmapsize=1048576\nmapaddr=0x1\n"
                 "maxreaders=126\nduplicates=1\ndupsort=1\ndb_pagesize=4096\nHEADER=END\n"
                 "  a\\\\b\n \\0A\\20\nDATA=END\n"
                 "VERSION=3\nformat=bytevalue\ndatabase=n\ntype=btree\nduplicates=1\ndupfix=1\n"
                 "integerdup=1\nsequence=9\ncanary=v4,x1,y2,z3\ngeometry=l1,u2,s3,g4\nHEADER=END\n"
                 " 6B\n 00000001\n  00000002\nDATA=END\n",
                 &tables),
            "");
  EXPECT_EQ(notes_, "");
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].header.flags, unsigned{MDBX_DUPSORT});
  EXPECT_EQ(tables[0].entries.at(0), std::pair(std::string(" a\\b"), std::string("\n ")));
  EXPECT_EQ(tables[1].header.name, "n");
  EXPECT_EQ(tables[1].header.flags, unsigned{MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP});
  EXPECT_EQ(tables[1].header.sequence, 9U);
  EXPECT_EQ(tables[1].header.canary->v, 4U);
  EXPECT_EQ(tables[1].header.canary->z, 3U);
  ASSERT_EQ(tables[1].entries.size(), 2U);
  EXPECT_EQ(tables[1].entries[1], std::pair(std::string("k"), std::string("\0\0\0\2", 4)));
}

TEST_F(TableText, TellsWhatItPassesOver) {
  std::vector<Table> tables;
  EXPECT_EQ(read("VERSION=3\nh_ffactor=9\nintegerkey=1\nreversekey=1\nreversedup=1\ndupfixed=0\n"
                 "database=\nHEADER=END\nDATA=END\n",
                 &tables),
            "");
  EXPECT_EQ(notes_,
            "2: passed over: h_ffactor=9\n8: without a meaning beside the other flags, and passed "
            "over: integerkey, reversedup\n");
  EXPECT_EQ(tables[0].header.flags, unsigned{MDBX_REVERSEKEY});
  EXPECT_FALSE(tables[0].header.name);
}

TEST_F(TableText, PlainLines) {
  std::vector<Table> tables;
  EXPECT_EQ(read("a\n b\\\\\n\\00\n\n", &tables, true), "");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].entries, (std::vector<std::pair<std::string, std::string>>{
                                   {"a", " b\\"}, {std::string(1, '\0'), ""}}));
  EXPECT_EQ(read("", &tables, true), "");
  EXPECT_EQ(error_of("a\nb\nc\n", true), "3: the file ends behind a key, without its value");
  EXPECT_EQ(error_of("a\nbc\\0\n", true), "2: no two hexadecimal digits at byte 4 of the line");
}

TEST_F(TableText, BadHeaders) {
  EXPECT_EQ(error_of(""), "0: the file is empty: no dump of a table");
  EXPECT_EQ(error_of("VERSION=3\nformat=print\n"),
            "2: the file ends inside a header, before HEADER=END");
  EXPECT_EQ(error_of("VERSION=4\n"), "1: VERSION=4, while this reads 3");
  EXPECT_EQ(error_of("VERSION=3\n 61\n"), "2: expected NAME=VALUE, up to HEADER=END");
  EXPECT_EQ(error_of("VERSION=3\n a=b\n"), "2: expected NAME=VALUE, up to HEADER=END");
  EXPECT_EQ(error_of("format=hex\n"), "1: expected format=bytevalue or format=print");
  EXPECT_EQ(error_of("type=hash\n"), "1: expected type=btree");
  EXPECT_EQ(error_of("dupsort=2\n"), "1: expected dupsort=0 or 1");
  EXPECT_EQ(error_of("sequence=-1\n"), "1: expected sequence=NUMBER");
  for (const char* canary : {"", "v1", "v1,x2,y3", "v1,x2,y3,z", "v1,x2,y3,z4,w5", "x1,v2,y3,z4"}) {
    EXPECT_EQ(error_of("\ncanary=" + std::string(canary)),
              "1: expected NAME=VALUE, up to "
              "HEADER=END");
    EXPECT_EQ(error_of("canary=" + std::string(canary) + "\n"),
              "1: expected canary=vNUMBER,xNUMBER,yNUMBER,zNUMBER");
  }
}

TEST_F(TableText, BadData) {
  const std::string head = "VERSION=3\nHEADER=END\n";
  EXPECT_EQ(error_of(head + " 61\nDATA=END\n"), "4: a key without its value");
  EXPECT_EQ(error_of(head + " 61\n"), "3: the file ends behind a key, without its value");
  EXPECT_EQ(error_of(head + " 61\n 62\n"), "4: the file ends inside a table, before DATA=END");
  EXPECT_EQ(error_of(head + " 61\n62\n"), "4: expected a value, behind a space");
  EXPECT_EQ(error_of(head + "61\n 62\n"), "3: expected a key, behind a space, or DATA=END");
  EXPECT_EQ(error_of(head + " 616\n"), "3: no two hexadecimal digits at byte 4 of the line");
  EXPECT_EQ(error_of(head + " 6g\n"), "3: no two hexadecimal digits at byte 2 of the line");
  EXPECT_EQ(error_of(head + "  61\n"), "3: a value without a key");
  EXPECT_EQ(error_of("format=print\nHEADER=END\n a\\6\n"),
            "3: no two hexadecimal digits at byte 4 of the line");
  EXPECT_EQ(error_of(head + "DATA=END\njunk\n"), "4: expected NAME=VALUE, up to HEADER=END");
}

TEST_F(TableText, NamesThatCannotBeWritten) {
  EXPECT_TRUE(is_writable_name("a b=\t"));
  EXPECT_FALSE(is_writable_name(""));
  EXPECT_FALSE(is_writable_name("a\nb"));
  EXPECT_FALSE(is_writable_name(std::string_view("a\0b", 3)));
}

// Whatever is in a file, it is read to its end or to an error that names a line; and what was read
// is, written again, read as the same.
TEST_F(TableText, ChangedBytes) {
  std::vector<Table> shapes = all_shapes();
  shapes[0].entries.pop_back();
  const std::string texts[] = {write(shapes, false), write(shapes, true)};
  constexpr std::string_view kLikely = " \n=\\0aDv\t";
  std::mt19937_64 random(20'260);
  const auto below = [&random](size_t bound) { return static_cast<size_t>(random() % bound); };
  size_t read_whole = 0;
  for (int round = 0; round < 1'500; ++round) {
    std::string text = texts[round % 2];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      if (text.empty()) text = ' ';
      const size_t at = below(text.size());
      const char byte =
          below(2) == 0 ? kLikely[below(kLikely.size())] : static_cast<char>(below(256));
      switch (below(4)) {
        case 0:
          text.insert(text.begin() + static_cast<ptrdiff_t>(at), byte);
          break;
        case 1:
          text.erase(at, 1 + below(40));
          break;
        case 2:
          text.resize(at + 1);
          break;
        default:
          text[at] = byte;
      }
    }
    SCOPED_TRACE(round);
    std::vector<Table> tables;
    const std::string error = read(text, &tables, round % 16 == 0);
    if (!error.empty()) {
      EXPECT_NE(error.find(": "), std::string::npos) << error;
      EXPECT_TRUE(error[0] >= '0' && error[0] <= '9') << error;
      continue;
    }
    if (++read_whole % 8 != 0) continue;  // files are synced when they are written
    for (Table& table : tables) {
      if (table.header.name && !is_writable_name(*table.header.name)) table.header.name = "other";
    }
    std::vector<Table> again;
    EXPECT_EQ(read(write(tables, round % 3 == 0), &again), tables.empty() ? error_of("") : "");
    expect_same(again, tables);
  }
  EXPECT_GT(read_whole, 150U);
}

}  // namespace
}  // namespace hawthorn::tools
