#pragma once
// Lines that somebody types: with editing, history and completion on a terminal, where libedit is
// there; else as they come.
//
// Not here: what the lines mean (interactive.cc). Threads: single-threaded; one at a time.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hawthorn::tools {

class LineEditor {
 public:
  // What a word may become that begins so, behind what stands before it in the line.
  using Completer =
      std::function<std::vector<std::string>(const std::string& before, const std::string& word)>;

  // `history`: the file that keeps lines from one session to the next; empty: none does.
  LineEditor(std::string history, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Whether a terminal is asked.
  bool interactive() const { return interactive_; }
  // Nothing: the end.
  std::optional<std::string> next(const std::string& prompt);

 private:
  const bool interactive_;
  const std::string history_;
};

}  // namespace hawthorn::tools
