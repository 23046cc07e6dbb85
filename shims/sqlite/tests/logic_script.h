#pragma once
// A file of sqllogictest's: its records, one after the other.
//
// Not here: running them (logic_run.h). Used by hawthorn-sqllogictest. Threads: one.
//
//   [skipif NAME | onlyif NAME]...
//   statement ok|error              SQL until an empty line
//   query TYPES [SORT [LABEL]]      SQL until `----` or an empty line; then the values expected,
//   one
//                                   a line; TYPES: a letter of I, T, R for each column; SORT:
//                                   nosort, rowsort, valuesort
//   hash-threshold N                more values than so many are compared by their MD5, `N values
//                                   hashing to MD5`; 0: none are; without it: 8
//   halt                            the rest is not run
//
// Lines that begin with # are nowhere; a line of spaces is an empty one; \r before \n is dropped.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::sqlite {

struct LogicRecord {
  enum class Kind : uint8_t { kStatement, kQuery, kHashThreshold, kHalt, kMalformed };
  enum class Sort : uint8_t { kNone, kRows, kValues };

  Kind kind = Kind::kMalformed;
  size_t line = 0;       // from 1, of `statement`, `query` and so on
  bool skipped = false;  // by skipif or onlyif
  std::string sql;

  bool expect_error = false;  // of a statement

  std::string types;  // of a query
  Sort sort = Sort::kNone;
  std::string label;
  std::vector<std::string> expected;
  size_t expected_line = 0;  // of its first value; without `----`, as line

  size_t hash_threshold = 0;

  std::string problem;  // of what is malformed
};

class LogicScript {
 public:
  // The engine's name decides what skipif and onlyif do, in any case.
  LogicScript(std::string text, std::string_view engine);

  // False: there is none. Behind a malformed one, which has no end that is known, there are none.
  bool next(LogicRecord* record);

 private:
  struct Line {
    std::string_view text;
    size_t number = 0;
  };

  // The next one that is no comment.
  bool read_line(Line* line);
  void read_sql(LogicRecord* record, bool until_results);
  void read_expected(LogicRecord* record);
  void read_conditions(Line* line, LogicRecord* record);
  void read_record(const Line& line, LogicRecord* record);

  const std::string text_;
  const std::string engine_;
  size_t at_ = 0;
  size_t number_ = 0;  // of the line read last
  bool has_results_ = false;
  bool ended_ = false;
};

}  // namespace hawthorn::sqlite
