#include "bench/instructions/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

namespace hawthorn::bench {
namespace {

constexpr size_t kNames = 3;  // columns before those of the shapes
constexpr size_t kColumns = kNames + kShapes.size() + 1;

std::vector<std::string> header() {
  std::vector<std::string> cells = {"program", "operation", "state"};
  cells.insert(cells.end(), kShapes.begin(), kShapes.end());
  cells.emplace_back("why it changed");
  return cells;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += cell.empty() ? " |" : " " + cell + " |";
  return line;
}

std::vector<std::string> cells_of(const CountedRow& row) {
  std::vector<std::string> cells = {row.program, row.operation, row.state};
  for (const std::optional<double>& cell : row.cells) {
    cells.push_back(cell.has_value() ? print_count(*cell) : "");
  }
  cells.push_back(row.reason);
  return cells;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
}

double parse_cell(const std::string& cell, std::string_view line) {
  std::string digits = cell;
  std::erase(digits, ',');
  char* end = nullptr;
  const double count = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(count) || count < 0) {
    throw std::runtime_error("'" + cell + "' is no count, in: " + std::string(line));
  }
  return count;
}

CountedRow parse_row(std::string_view line) {
  std::vector<std::string> cells;
  std::string_view rest = line.substr(1);
  for (size_t bar = rest.find('|'); bar != std::string_view::npos; bar = rest.find('|')) {
    cells.push_back(trimmed(rest.substr(0, bar)));
    rest = rest.substr(bar + 1);
  }
  if (cells.size() != kColumns || !trimmed(rest).empty()) {
    throw std::runtime_error("not " + std::to_string(kColumns) + " cells in: " + std::string(line));
  }
  CountedRow row;
  row.program = cells[0];
  row.operation = cells[1];
  row.state = cells[2];
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    if (!cells[kNames + shape].empty()) {
      row.cells[shape] = parse_cell(cells[kNames + shape], line);
    }
  }
  row.reason = cells.back();
  return row;
}

// Where the lines behind the header begin and end, and what they are.
struct Place {
  size_t begin = 0;
  size_t end = 0;
  std::vector<std::string_view> lines;  // the line of dashes not among them
};

Place find_table(std::string_view document) {
  const std::string first = line_of(header()) + "\n";
  const size_t at = document.find(first);
  if (at == std::string_view::npos || (at > 0 && document[at - 1] != '\n')) {
    throw std::runtime_error("there is no table with the header " + line_of(header()));
  }
  Place place = {.begin = at, .end = at + first.size(), .lines = {}};
  while (place.end < document.size() && document[place.end] == '|') {
    const size_t newline = std::min(document.find('\n', place.end), document.size());
    place.lines.push_back(document.substr(place.end, newline - place.end));
    place.end = std::min(newline + 1, document.size());
  }
  if (place.lines.empty() || place.lines[0].find_first_not_of("|- :") != std::string_view::npos) {
    throw std::runtime_error("the table of counts has no line of dashes");
  }
  place.lines.erase(place.lines.begin());
  return place;
}

const CountedRow* find_row(const CountedTable& table, const CountedRow& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const CountedRow& row) { return row.same_name(name); });
  return found == table.end() ? nullptr : &*found;
}

std::string name_of(const CountedRow& row, size_t shape) {
  return row.program + ", " + row.operation + ", " + row.state + ", " + std::string(kShapes[shape]);
}

double as_printed(double count) { return parse_cell(print_count(count), ""); }

// By how much of `before` it is more; infinite where that was nothing.
double rise(double before, double now) {
  now = as_printed(now);
  if (before == now) return 0;
  return (now - before) / before;
}

std::string change_of(const CountedRow& row, size_t shape, double before, double now) {
  char percent[32];
  std::snprintf(percent, sizeof(percent), "%+.1f%%", 100 * rise(before, now));
  return name_of(row, shape) + ": " + print_count(now) + ", the table has " + print_count(before) +
         " (" + percent + ")";
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string print_count(double count) {
  char digits[64];
  const bool whole_number = count >= 99.995 || count == std::floor(count);
  std::snprintf(digits, sizeof(digits), whole_number ? "%.0f" : "%.2f", count);
  std::string text = digits;
  const size_t whole = std::min(text.find('.'), text.size());
  for (size_t at = whole; at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

void add_cell(CountedTable& table, const CountedRow& name, size_t shape, double count) {
  auto row = std::find_if(table.begin(), table.end(),
                          [&](const CountedRow& other) { return other.same_name(name); });
  if (row == table.end()) {
    table.push_back({name.program, name.operation, name.state, {}, ""});
    row = table.end() - 1;
  }
  if (row->cells.at(shape).has_value()) {
    throw std::runtime_error(name_of(*row, shape) + " was counted twice");
  }
  row->cells.at(shape) = count;
}

std::string print_text(const CountedTable& table) {
  std::vector<std::vector<std::string>> lines = {header()};
  for (const CountedRow& row : table) lines.push_back(cells_of(row));
  std::array<size_t, kColumns> widths = {};
  for (const auto& cells : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    // Without the reasons, which a document has.
    for (size_t i = 0; i + 1 < kColumns; ++i) {
      const std::string room(widths[i] - cells[i].size(), ' ');
      line += i < kNames ? cells[i] + room + "  " : room + cells[i] + "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string print_markdown(const CountedTable& table) {
  std::string text = line_of(header()) + "\n|";
  for (size_t i = 0; i < kColumns; ++i) {
    text += i < kNames || i + 1 == kColumns ? "---|" : "---:|";
  }
  text += "\n";
  for (const CountedRow& row : table) text += line_of(cells_of(row)) + "\n";
  return text;
}

std::string print_json(const CountedTable& table) {
  std::string text = "[";
  for (const CountedRow& row : table) {
    for (size_t shape = 0; shape < kShapes.size(); ++shape) {
      if (!row.cells[shape].has_value()) continue;
      char count[64];
      std::snprintf(count, sizeof(count), "%.3f", *row.cells[shape]);
      text += text.size() > 1 ? ",\n " : "\n ";
      // Names have no characters that JSON would need escaped: they are the programs' own.
      text += R"({"program": ")" + row.program + R"(", "operation": ")" + row.operation +
              R"(", "state": ")" + row.state + R"(", "shape": ")" + std::string(kShapes[shape]) +
              R"(", "count": )" + count + "}";
    }
  }
  return text + "\n]\n";
}

CountedTable parse_table(std::string_view document) {
  CountedTable table;
  for (const std::string_view line : find_table(document).lines) {
    CountedRow row = parse_row(line);
    if (find_row(table, row) != nullptr) {
      throw std::runtime_error("a row stands there twice: " + std::string(line));
    }
    table.push_back(std::move(row));
  }
  return table;
}

std::string replace_table(std::string_view document, const CountedTable& table) {
  const Place place = find_table(document);
  return std::string(document.substr(0, place.begin)) + print_markdown(table) +
         std::string(document.substr(place.end));
}

Comparison compare(const CountedTable& expected, const CountedTable& counted,
                   const std::vector<std::string>& programs, const std::vector<size_t>& shapes) {
  Comparison comparison;
  for (const CountedRow& row : counted) {
    const CountedRow* const before = find_row(expected, row);
    for (const size_t shape : shapes) {
      const std::optional<double>& now = row.cells[shape];
      if (!now.has_value()) continue;
      if (before == nullptr || !before->cells[shape].has_value()) {
        comparison.failures.push_back(name_of(row, shape) + ": is not in the table");
        continue;
      }
      const double change = rise(*before->cells[shape], *now);
      if (std::abs(change) <= kRiseMax) continue;
      (change > 0 ? comparison.failures : comparison.notes)
          .push_back(change_of(row, shape, *before->cells[shape], *now));
    }
  }
  for (const CountedRow& row : expected) {
    if (!contains(programs, row.program)) continue;
    const CountedRow* const now = find_row(counted, row);
    for (const size_t shape : shapes) {
      if (!row.cells[shape].has_value()) continue;
      if (now == nullptr || !now->cells[shape].has_value()) {
        comparison.failures.push_back(name_of(row, shape) + ": is in the table, and not counted");
      }
    }
  }
  return comparison;
}

CountedTable updated(const CountedTable& present, const CountedTable& counted,
                     const std::vector<std::string>& programs, const std::vector<size_t>& shapes,
                     const std::string& reason) {
  if (reason.find_first_of("|\n") != std::string::npos) {
    throw std::runtime_error("a reason is one line without bars");
  }
  std::string unexplained;
  CountedTable table;
  for (const CountedRow& row : present) {
    if (!contains(programs, row.program)) table.push_back(row);
  }
  for (const CountedRow& row : counted) {
    const CountedRow* const before = find_row(present, row);
    CountedRow next = row;
    if (before != nullptr) {
      // Columns that were not counted stay as they are.
      next.cells = before->cells;
      next.reason = before->reason;
    }
    for (const size_t shape : shapes) {
      next.cells[shape] = row.cells[shape];
      if (before == nullptr || !row.cells[shape] || !before->cells[shape]) continue;
      const double change = rise(*before->cells[shape], *row.cells[shape]);
      if (change > kRiseMax && reason.empty()) {
        unexplained += "\n  " + change_of(row, shape, *before->cells[shape], *row.cells[shape]);
      }
      if (std::abs(change) > kRiseMax) next.reason = reason;
    }
    table.push_back(std::move(next));
  }
  if (!unexplained.empty()) throw std::runtime_error("give the reason of:" + unexplained);
  // Programs in the order of the document, and new ones behind them.
  std::vector<std::string> order;
  for (const CountedTable* from : {&present, &counted}) {
    for (const CountedRow& row : *from) {
      if (!contains(order, row.program)) order.push_back(row.program);
    }
  }
  CountedTable ordered;
  for (const std::string& program : order) {
    std::copy_if(table.begin(), table.end(), std::back_inserter(ordered),
                 [&](const CountedRow& row) { return row.program == program; });
  }
  return ordered;
}

}  // namespace hawthorn::bench
