// What hawthorn-sqllogictest reads, compares and reports; and our own files (logic/), of which
// those in good/ have to pass, and those in bad/ to fail where their comments `# FAILS LINE: TEXT`
// say so.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "shims/directory_test_support.h"
#include "shims/sqlite/tests/logic_run.h"

namespace hawthorn::sqlite::logic_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(HAWTHORN_LOGIC_FILES) / folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class LogicTest : public ::testing::Test {
 protected:
  ~LogicTest() override {
    sqlite3_close(db_);
    fs::remove_all(directory_);
  }

  sqlite3* db() {
    if (db_ == nullptr) {
      EXPECT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
    }
    return db_;
  }

  std::string value(const std::string& expression, char type) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db(), ("SELECT " + expression).c_str(), -1, &statement, nullptr),
              SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    std::string text = logic_value(statement, 0, type);
    sqlite3_finalize(statement);
    return text;
  }

  LogicResult run_file(const fs::path& path, bool stock) {
    LogicOptions options;
    options.stock = stock;
    options.directory = make_test_directory();
    LogicResult result = run_logic_file(path, options);
    EXPECT_EQ(fs::exists(options.directory + "/test.db"), true) << path;
    fs::remove_all(options.directory);
    return result;
  }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(directory_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // What the program exits with; report_ has what it prints.
  int run_program(const std::vector<std::string>& arguments) {
    char* bytes = nullptr;
    size_t size = 0;
    FILE* const out = open_memstream(&bytes, &size);
    const int code = logic_main(arguments, out);
    fclose(out);
    report_.assign(bytes, size);
    free(bytes);
    return code;
  }

  const std::string directory_ = make_test_directory();
  std::string report_;

 private:
  sqlite3* db_ = nullptr;
};

std::vector<LogicRecord> records_of(const std::string& text) {
  LogicScript script(text, "sqlite");
  std::vector<LogicRecord> records;
  LogicRecord record;
  while (script.next(&record)) records.push_back(record);
  EXPECT_FALSE(script.next(&record));
  return records;
}

// ---- Records

TEST_F(LogicTest, AStatement) {
  const auto records = records_of(
      "\n# a comment\n\nstatement ok\nCREATE TABLE t(\n# one more\n  a)\n\n\n\nstatement error\nx");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kind, LogicRecord::Kind::kStatement);
  EXPECT_EQ(records[0].line, 4U);
  EXPECT_EQ(records[0].sql, "CREATE TABLE t(\n  a)");
  EXPECT_FALSE(records[0].expect_error);
  EXPECT_EQ(records[1].line, 11U);
  EXPECT_EQ(records[1].sql, "x");
  EXPECT_TRUE(records[1].expect_error);
}

TEST_F(LogicTest, AQuery) {
  const auto records = records_of(
      "query ITR valuesort here\r\nSELECT\r\n1\r\n----\r\n a b \r\n# no\r\n----\r\n \t\r\nquery I "
      "rowsort\nSELECT 2\n\nquery T\nSELECT 3\n----");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].kind, LogicRecord::Kind::kQuery);
  EXPECT_EQ(records[0].types, "ITR");
  EXPECT_EQ(records[0].sort, LogicRecord::Sort::kValues);
  EXPECT_EQ(records[0].label, "here");
  EXPECT_EQ(records[0].sql, "SELECT\n1");
  EXPECT_EQ(records[0].expected, (std::vector<std::string>{" a b ", "----"}));
  EXPECT_EQ(records[0].expected_line, 5U);
  EXPECT_EQ(records[1].sort, LogicRecord::Sort::kRows);
  EXPECT_EQ(records[1].label, "");
  EXPECT_EQ(records[1].sql, "SELECT 2");
  EXPECT_TRUE(records[1].expected.empty());
  EXPECT_EQ(records[1].expected_line, 9U);
  EXPECT_EQ(records[2].sort, LogicRecord::Sort::kNone);
  EXPECT_TRUE(records[2].expected.empty());
}

TEST_F(LogicTest, Conditions) {
  const auto records = records_of(
      "skipif sqlite\nstatement ok\na\n\nskipif mysql # why\nstatement ok\nb\n\nonlyif SQLite\n"
      "statement ok\nc\n\nonlyif sqlite\nonlyif mysql\nstatement ok\nd\n\nskipif a\nskipif b\n"
      "hash-threshold 12\n\nskipif SQLITE\nhalt\n");
  ASSERT_EQ(records.size(), 6U);
  const bool skipped[] = {true, false, false, true, false, true};
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i].skipped, skipped[i]) << i;
  EXPECT_EQ(records[0].line, 2U);
  EXPECT_EQ(records[4].kind, LogicRecord::Kind::kHashThreshold);
  EXPECT_EQ(records[4].hash_threshold, 12U);
  EXPECT_EQ(records[5].kind, LogicRecord::Kind::kHalt);
}

TEST_F(LogicTest, NothingFollowsWhatIsMalformed) {
  const auto records = records_of("wrong\n\nstatement ok\nSELECT 1\n");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].kind, LogicRecord::Kind::kMalformed);
  EXPECT_EQ(records[0].problem, "there is no directive 'wrong'");
}

TEST_F(LogicTest, AnEmptyFileHasNoRecords) {
  EXPECT_TRUE(records_of("").empty());
  EXPECT_TRUE(records_of("\n").empty());
  EXPECT_TRUE(records_of("# a comment").empty());
  EXPECT_TRUE(records_of(" \r\n\t\n").empty());
}

// ---- Values

TEST_F(LogicTest, ValuesAreWrittenAsTheOriginalWritesThem) {
  EXPECT_EQ(value("NULL", 'I'), "NULL");
  EXPECT_EQ(value("NULL", 'T'), "NULL");
  EXPECT_EQ(value("-5", 'I'), "-5");
  EXPECT_EQ(value("2147483648", 'I'), "-2147483648");
  EXPECT_EQ(value("4294967297", 'I'), "1");
  EXPECT_EQ(value("1.9", 'I'), "1");
  EXPECT_EQ(value("'12x'", 'I'), "12");
  EXPECT_EQ(value("1", 'R'), "1.000");
  EXPECT_EQ(value("-0.12345", 'R'), "-0.123");
  EXPECT_EQ(value("1e300", 'R').size(), 305U);
  EXPECT_EQ(value("''", 'T'), "(empty)");
  EXPECT_EQ(value("x''", 'T'), "(empty)");
  EXPECT_EQ(value("1.5", 'T'), "1.5");
  EXPECT_EQ(value("'a' || char(1, 9, 10, 31, 32, 126, 127, 228) || 'b'", 'T'), "a@@@@ ~@@@b");
  EXPECT_EQ(value("x'61620063'", 'T'), "ab");
}

TEST_F(LogicTest, HashesAreMd5) {
  EXPECT_EQ(logic_hash({}), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(logic_hash({"1"}), "b026324c6904b2a9cb4b88d6d61c81d1");       // of "1\n"
  EXPECT_EQ(logic_hash({"a", "b"}), "dd8c6a395b5dd36c56d23275028f526c");  // of "a\nb\n"
}

TEST_F(LogicTest, RowsAreSortedByTheBytesOfTheirValues) {
  const std::string sql =
      "SELECT * FROM (VALUES(9, 'b'), (10, 'a'), (9, 'B'), (-1, NULL), (NULL, 'x'))";
  const LogicResult result = run_logic_script(
      db(), "hash-threshold 0\n\nquery IT rowsort\n" + sql +
                "\n----\n-1\nNULL\n10\na\n9\nB\n9\nb\nNULL\nx\n\nquery IT valuesort\n" + sql +
                "\n----\n-1\n10\n9\n9\nB\nNULL\nNULL\na\nb\nx\n\nquery IT nosort\n" + sql +
                "\n----\n9\nb\n10\na\n9\nB\n-1\nNULL\nNULL\nx\n");
  for (const LogicFailure& failure : result.failures) ADD_FAILURE() << failure.what;
  EXPECT_EQ(result.records, 3U);
}

// ---- Our own files

TEST_F(LogicTest, GoodFilesPassInBothStorages) {
  size_t records = 0;
  for (const fs::path& path : files_of("good")) {
    for (const bool stock : {true, false}) {
      const LogicResult result = run_file(path, stock);
      for (const LogicFailure& failure : result.failures) {
        ADD_FAILURE() << path << ":" << failure.line << ": " << failure.what;
      }
      EXPECT_GT(result.records, 0U) << path;
      records += result.records;
    }
  }
  EXPECT_GT(records, 100U);
}

TEST_F(LogicTest, BadFilesFailWhereTheySaySo) {
  const std::regex line("(?:^|\n)# FAILS ([0-9]+): ([^\r\n]*)");
  for (const fs::path& path : files_of("bad")) {
    const std::string text = text_of(path);
    std::vector<LogicFailure> said;
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      said.push_back({std::stoul((*at)[1]), (*at)[2]});
    }
    ASSERT_FALSE(said.empty()) << path;
    for (const bool stock : {true, false}) {
      const LogicResult result = run_file(path, stock);
      for (size_t i = 0; i < std::max(said.size(), result.failures.size()); ++i) {
        const LogicFailure none{0, "(nothing)"};
        const LogicFailure& expected = i < said.size() ? said[i] : none;
        const LogicFailure& actual = i < result.failures.size() ? result.failures[i] : none;
        EXPECT_EQ(actual.line, expected.line) << path << ": " << actual.what;
        EXPECT_TRUE(actual.what.starts_with(expected.what))
            << path << ": " << actual.what << "\nexpected: " << expected.what;
      }
    }
  }
}

// ---- The program

TEST_F(LogicTest, AllFilesBelowADirectoryAreRun) {
  const std::string good = "statement ok\nCREATE TABLE t(a)\n";
  write("a/1.test", good);
  write("a/b/2.test", good + "\nskipif sqlite\nstatement ok\nx\n");
  write("a/b/other.txt", "not this\n");
  const std::string named = write("named.txt", good);
  EXPECT_EQ(run_program({directory_ + "/a", named}), 0);
  EXPECT_EQ(report_, "3 files, 3 records, 1 skipped, 0 failed\n");
  EXPECT_EQ(run_program({"--stock", "--jobs", "2", directory_ + "/a"}), 0);
  EXPECT_EQ(report_, "2 files, 2 records, 1 skipped, 0 failed\n");
}

TEST_F(LogicTest, FailuresAreToldWithTheirPlaces) {
  const std::string bad = write("a/bad.test", "statement ok\nSELECT 1\n\nstatement ok\nnothing\n");
  for (int i = 0; i < 9; ++i) write("a/" + std::to_string(i) + ".test", "statement ok\nSELECT 1\n");
  for (const std::string jobs : {"1", "4"}) {
    EXPECT_EQ(run_program({"--jobs", jobs, directory_ + "/a"}), 1);
    EXPECT_EQ(report_, bad +
                           ":4: error: near \"nothing\": syntax error: nothing\n"
                           "10 files, 11 records, 0 skipped, 1 failed\n");
  }
}

TEST_F(LogicTest, WhatCannotBeRunIsAnError) {
  const auto says = [&](const std::string& text) {
    return report_.find(text) != std::string::npos ? std::string() : report_;
  };
  EXPECT_EQ(run_program({}), 2);
  EXPECT_EQ(says("there is no path"), "");
  EXPECT_EQ(run_program({"--other", "x"}), 2);
  EXPECT_EQ(says("there is no option --other"), "");
  for (const std::string number : {"0", "x", "3x", ""}) {
    EXPECT_EQ(run_program({"--jobs", number, directory_}), 2);
    EXPECT_EQ(says("--jobs takes a number"), "");
  }
  EXPECT_EQ(run_program({"x", "--jobs"}), 2);
  EXPECT_EQ(says("--jobs takes a number"), "");
  EXPECT_EQ(run_program({directory_}), 2);
  EXPECT_EQ(says("there is no .test file"), "");
  EXPECT_EQ(run_program({directory_ + "/missing"}), 2);
  EXPECT_EQ(says("missing: there is no such file"), "");
}

TEST_F(LogicTest, DatabasesAreRemoved) {
  const std::string temporary = directory_ + "/temporary";
  fs::create_directory(temporary);
  const char* const before = getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", temporary.c_str(), 1);
  const std::string file = write("x.test", "statement ok\nCREATE TABLE t(a)\n");
  EXPECT_EQ(run_program({file}), 0) << report_;
  EXPECT_EQ(run_program({"--stock", file}), 0) << report_;
  EXPECT_TRUE(fs::is_empty(temporary));
  fs::remove(temporary);
  EXPECT_EQ(run_program({file}), 1);
  EXPECT_NE(report_.find("x.test:0: no directory: "), std::string::npos) << report_;
  if (before != nullptr) {
    setenv("TMPDIR", kept.c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::logic_test
