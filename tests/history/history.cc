#include "tests/history/history.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

namespace hawthorn::history {
namespace {

constexpr std::string_view kFirstLine = "history 1";

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCommitted:
      return "committed";
    case Outcome::kAborted:
      return "aborted";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

void put_list(std::string& text, const List& list) {
  text += " [";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(list[i]);
  }
  text += ']';
}

// Reads one line from left to right; after the first mistake every call fails.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  const std::string& error() const { return error_; }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (!error_.empty() || !rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool expect(std::string_view token) {
    if (accept(token)) return true;
    return fail("\"" + std::string(token) + "\"");
  }
  bool number(uint64_t* value) {
    skip_spaces();
    if (!error_.empty()) return false;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *value);
    if (code != std::errc()) return fail("a number");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool list(List* list) {
    if (!expect("[")) return false;
    while (!accept("]")) {
      if (!number(&list->emplace_back())) return false;
    }
    return true;
  }
  bool fail(const std::string& wanted) {
    if (error_.empty()) {
      error_ = "wanted " + wanted + " at \"" + std::string(rest_.substr(0, 30)) + "\"";
    }
    return false;
  }

 private:
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string error_;
};

bool read_operation(LineReader& line, Operation* operation) {
  if (line.accept("append")) {
    operation->kind = Operation::Kind::kAppend;
    return line.number(&operation->key) && line.number(&operation->element);
  }
  if (line.accept("read")) {
    operation->kind = Operation::Kind::kRead;
    return line.number(&operation->key) && line.list(&operation->lists.emplace_back());
  }
  if (!line.accept("range")) return line.fail("append, read or range");
  operation->kind = Operation::Kind::kRange;
  uint64_t end = 0;
  if (!line.number(&operation->key) || !line.expect("..") || !line.number(&end)) return false;
  if (end < operation->key) return line.fail("a range that does not end before its start");
  for (Key key = operation->key; key < end; ++key) {
    if (!line.list(&operation->lists.emplace_back())) return false;
  }
  return true;
}

bool read_transaction(LineReader& line, Transaction* transaction) {
  if (!line.number(&transaction->id) || !line.expect("process") ||
      !line.number(&transaction->process)) {
    return false;
  }
  if (line.accept("committed")) {
    transaction->outcome = Outcome::kCommitted;
  } else if (line.accept("aborted")) {
    transaction->outcome = Outcome::kAborted;
  } else if (line.accept("unknown")) {
    transaction->outcome = Outcome::kUnknown;
  } else {
    return line.fail("committed, aborted or unknown");
  }
  if (!line.number(&transaction->begin)) return false;
  if (line.accept("never")) {
    transaction->end = kNever;
  } else if (!line.number(&transaction->end)) {
    return false;
  }
  if (!line.expect(":")) return false;
  while (!line.at_end()) {
    if (!transaction->operations.empty() && !line.expect(";")) return false;
    if (!read_operation(line, &transaction->operations.emplace_back())) return false;
  }
  return line.error().empty();
}

}  // namespace

Operation Operation::append(Key key, Element element) {
  Operation operation;
  operation.kind = Kind::kAppend;
  operation.key = key;
  operation.element = element;
  return operation;
}

Operation Operation::read(Key key, List list) {
  Operation operation;
  operation.kind = Kind::kRead;
  operation.key = key;
  operation.lists.push_back(std::move(list));
  return operation;
}

Operation Operation::range(Key low, std::vector<List> lists) {
  Operation operation;
  operation.kind = Kind::kRange;
  operation.key = low;
  operation.lists = std::move(lists);
  return operation;
}

std::string to_text(const Transaction& transaction) {
  std::string text =
      std::to_string(transaction.id) + " process " + std::to_string(transaction.process) + " " +
      std::string(name_of(transaction.outcome)) + " " + std::to_string(transaction.begin) + " " +
      (transaction.end == kNever ? "never" : std::to_string(transaction.end)) + ":";
  for (size_t i = 0; i < transaction.operations.size(); ++i) {
    const Operation& operation = transaction.operations[i];
    const std::string key = std::to_string(operation.key);
    if (i > 0) text += ';';
    switch (operation.kind) {
      case Operation::Kind::kAppend:
        text += " append " + key + " " + std::to_string(operation.element);
        continue;
      case Operation::Kind::kRead:
        text += " read " + key;
        break;
      case Operation::Kind::kRange:
        text += " range " + key + ".." + std::to_string(operation.key + operation.lists.size());
        break;
    }
    for (const List& list : operation.lists) put_list(text, list);
  }
  return text;
}

std::string to_text(const History& history) {
  std::string text = std::string(kFirstLine) + "\n";
  if (history.last_read.has_value()) text += "last " + std::to_string(*history.last_read) + "\n";
  for (const Transaction& transaction : history.transactions) text += to_text(transaction) + "\n";
  return text;
}

bool from_text(const std::string& text, History* history, std::string* error) {
  *history = History();
  size_t number = 0;
  for (size_t from = 0; from < text.size(); ++number) {
    const size_t to = std::min(text.find('\n', from), text.size());
    const std::string_view content = std::string_view(text).substr(from, to - from);
    from = to + 1;
    LineReader line(content);
    if (number == 0) {
      if (content != kFirstLine) line.fail("\"" + std::string(kFirstLine) + "\"");
    } else if (number == 1 && line.accept("last")) {
      uint64_t id = 0;
      if (line.number(&id) && !line.at_end()) line.fail("the end of the line");
      history->last_read = id;
    } else if (!line.at_end()) {
      read_transaction(line, &history->transactions.emplace_back());
    }
    if (!line.error().empty()) {
      *error = "line " + std::to_string(number + 1) + ": " + line.error();
      return false;
    }
  }
  if (number > 0) return true;
  *error = "line 1: wanted \"" + std::string(kFirstLine) + "\", the text is empty";
  return false;
}

bool write_file(const History& history, const std::string& path, std::string* error) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << to_text(history);
  file.close();
  if (file.good()) return true;
  *error = path + ": cannot be written";
  return false;
}

bool read_file(const std::string& path, History* history, std::string* error) {
  const std::ifstream file(path, std::ios::binary);
  if (!file.good()) {
    *error = path + ": cannot be read";
    return false;
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (from_text(std::move(text).str(), history, error)) return true;
  *error = path + ", " + *error;
  return false;
}

}  // namespace hawthorn::history
