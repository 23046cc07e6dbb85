#pragma once
// The table of instruction counts: what was counted, how it is printed, how it is read from a
// document again, and when a new count is too far from what stands there.
//
// Not here: the counting (run_counted.h). Used by command.h and tests. Threads: one.
//
// 1. A cell is named by program, operation, state and shape; no two have the same name.
// 2. What is compared is the printed value: parse_table(print_markdown(t)) has the cells of t.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::bench {

// Bytes of keys and values, as the columns are named.
inline constexpr std::array<std::string_view, 4> kShapes = {"8+8", "8+256", "24+8", "24+256"};

struct CountedRow {
  std::string program;
  std::string operation;
  std::string state;  // or the unit, of what is no count of instructions
  std::array<std::optional<double>, kShapes.size()> cells = {};
  std::string reason;  // of the last change; empty: none

  bool same_name(const CountedRow& other) const {
    return program == other.program && operation == other.operation && state == other.state;
  }
};

using CountedTable = std::vector<CountedRow>;

// As the table prints it: a whole number, but with two decimals where it is a fraction below 100.
std::string print_count(double count);

// Adds a cell, and its row where that is new.
void add_cell(CountedTable& table, const CountedRow& name, size_t shape, double count);

std::string print_text(const CountedTable& table);
std::string print_markdown(const CountedTable& table);
std::string print_json(const CountedTable& table);

// The table in the text of a document, found by its header. Errors: std::runtime_error where there
// is none, or where a line of it is not understood, which it names.
CountedTable parse_table(std::string_view document);
// The document with this table in place of its own. Errors: as parse_table.
std::string replace_table(std::string_view document, const CountedTable& table);

// A document's table compared with new counts of some programs in some shapes.
struct Comparison {
  std::vector<std::string> failures;  // what rose by more than kRiseMax, is missing, or is extra
  std::vector<std::string> notes;     // what fell by as much: the table may be made anew
};
inline constexpr double kRiseMax = 0.03;
Comparison compare(const CountedTable& expected, const CountedTable& counted,
                   const std::vector<std::string>& programs, const std::vector<size_t>& shapes);

// The new table: the counts in place of the document's, of the programs and shapes that were
// counted. Keeps each row's reason, but where a cell changed by more than kRiseMax, or the row is
// new in a document that has others of its program: `reason` then. Errors: std::runtime_error,
// which names the rows, where something rose and `reason` is empty.
CountedTable updated(const CountedTable& present, const CountedTable& counted,
                     const std::vector<std::string>& programs, const std::vector<size_t>& shapes,
                     const std::string& reason);

}  // namespace hawthorn::bench
