#include "shims/sqlite/tests/logic_script.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hawthorn::sqlite {

namespace {

constexpr std::string_view kSpaces = " \t\v\f\r";
constexpr std::string_view kResults = "----";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kSpaces) == std::string_view::npos;
}

// Until a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while ((at = line.find_first_not_of(kSpaces, at)) != std::string_view::npos && line[at] != '#') {
    const size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// What is wrong with it; empty: nothing.
std::string read_statement(const std::vector<std::string_view>& words, LogicRecord* record) {
  record->kind = LogicRecord::Kind::kStatement;
  if (words.size() != 2 || (words[1] != "ok" && words[1] != "error")) {
    return "a statement is `ok` or `error`";
  }
  record->expect_error = words[1] == "error";
  return {};
}

std::string read_query(const std::vector<std::string_view>& words, LogicRecord* record) {
  record->kind = LogicRecord::Kind::kQuery;
  if (words.size() < 2) return "a query has a type for each column";
  if (words.size() > 4) return "behind a query's label stands " + quoted(words[4]);
  record->types = words[1];
  const size_t other = record->types.find_first_not_of("ITR");
  if (other != std::string::npos) {
    return "a column's type is I, T or R, not " + quoted(record->types.substr(other, 1));
  }
  if (words.size() > 2) {
    if (words[2] == "rowsort") {
      record->sort = LogicRecord::Sort::kRows;
    } else if (words[2] == "valuesort") {
      record->sort = LogicRecord::Sort::kValues;
    } else if (words[2] != "nosort") {
      return "results are sorted by nosort, rowsort or valuesort, not " + quoted(words[2]);
    }
  }
  if (words.size() > 3) record->label = words[3];
  return {};
}

std::string read_threshold(const std::vector<std::string_view>& words, LogicRecord* record) {
  record->kind = LogicRecord::Kind::kHashThreshold;
  const std::string_view number = words.size() == 2 ? words[1] : std::string_view();
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), record->hash_threshold);
  if (number.empty() || error != std::errc() || end != number.data() + number.size()) {
    return "hash-threshold takes a number";
  }
  return {};
}

}  // namespace

LogicScript::LogicScript(std::string text, std::string_view engine)
    : text_(std::move(text)), engine_(engine) {}

bool LogicScript::read_line(Line* line) {
  do {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line->text = std::string_view(text_).substr(at_, end - at_);
    line->number = ++number_;
    at_ = end + 1;
  } while (line->text.starts_with('#'));
  if (line->text.ends_with('\r')) line->text.remove_suffix(1);
  if (is_blank(line->text)) line->text = {};
  return true;
}

void LogicScript::read_sql(LogicRecord* record, bool until_results) {
  Line line;
  while (read_line(&line) && !line.text.empty()) {
    if (until_results && line.text == kResults) {
      has_results_ = true;
      return;
    }
    if (!record->sql.empty()) record->sql += '\n';
    record->sql += line.text;
  }
}

void LogicScript::read_expected(LogicRecord* record) {
  record->expected_line = has_results_ ? number_ + 1 : record->line;
  Line line;
  while (has_results_ && read_line(&line) && !line.text.empty()) {
    if (record->expected.empty()) record->expected_line = line.number;
    record->expected.emplace_back(line.text);
  }
}

void LogicScript::read_conditions(Line* line, LogicRecord* record) {
  for (;;) {
    const std::vector<std::string_view> words = words_of(line->text);
    if (words.empty() || (words[0] != "skipif" && words[0] != "onlyif")) return;
    record->line = line->number;
    if (words.size() != 2) {
      record->problem = std::string(words[0]) + " takes an engine's name";
      return;
    }
    const bool same = strcasecmp(std::string(words[1]).c_str(), engine_.c_str()) == 0;
    if (same == (words[0] == "skipif")) record->skipped = true;
    if (!read_line(line) || line->text.empty()) {
      record->problem = std::string(words[0]) + " is before no record";
      return;
    }
  }
}

void LogicScript::read_record(const Line& line, LogicRecord* record) {
  record->line = line.number;
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.empty()) {
    record->problem = "a record begins with a comment that is not at the beginning of its line";
  } else if (words[0] == "statement") {
    record->problem = read_statement(words, record);
  } else if (words[0] == "query") {
    record->problem = read_query(words, record);
  } else if (words[0] == "hash-threshold") {
    record->problem = read_threshold(words, record);
  } else if (words[0] == "halt") {
    record->kind = LogicRecord::Kind::kHalt;
    if (words.size() > 1) record->problem = "behind halt stands " + quoted(words[1]);
  } else {
    record->problem = "there is no directive " + quoted(words[0]);
  }
  if (!record->problem.empty()) return;

  const bool query = record->kind == LogicRecord::Kind::kQuery;
  if (query || record->kind == LogicRecord::Kind::kStatement) {
    read_sql(record, query);
    if (query) read_expected(record);
    if (record->sql.empty()) record->problem = "there is no SQL";
    return;
  }
  Line behind;
  if (read_line(&behind) && !behind.text.empty()) {
    record->problem = "behind " + std::string(words[0]) + " comes no empty line";
  }
}

bool LogicScript::next(LogicRecord* record) {
  *record = LogicRecord();
  has_results_ = false;
  Line line;
  do {
    if (ended_ || !read_line(&line)) return false;
  } while (line.text.empty());
  read_conditions(&line, record);
  if (record->problem.empty()) read_record(line, record);
  if (!record->problem.empty()) {
    record->kind = LogicRecord::Kind::kMalformed;
    ended_ = true;
  }
  return true;
}

}  // namespace hawthorn::sqlite
