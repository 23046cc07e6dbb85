#include "tools/line_editor.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#ifdef HAWTHORN_HAVE_EDITLINE
#include <editline/readline.h>
#endif

namespace hawthorn::tools {
namespace {

// libedit asks a function without a context.
LineEditor::Completer present_completer;

#ifdef HAWTHORN_HAVE_EDITLINE
constexpr int kHistoryLinesMax = 1000;
std::vector<std::string> matches;

char* next_match(const char*, int state) {
  static size_t at = 0;
  if (state == 0) at = 0;
  return at < matches.size() ? strdup(matches[at++].c_str()) : nullptr;
}

char** complete(const char* word, int begin, int) {
  rl_attempted_completion_over = 1;  // never with names of files
  const std::string line(rl_line_buffer);
  matches = present_completer(line.substr(0, static_cast<size_t>(begin)), word);
  return matches.empty() ? nullptr : rl_completion_matches(word, next_match);
}
#endif

}  // namespace

LineEditor::LineEditor(std::string history, Completer completer)
    : interactive_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1),
      history_(std::move(history)) {
  present_completer = std::move(completer);
#ifdef HAWTHORN_HAVE_EDITLINE
  if (!interactive_) return;
  rl_initialize();
  rl_attempted_completion_function = complete;
  stifle_history(kHistoryLinesMax);
  if (!history_.empty()) read_history(history_.c_str());
#endif
}

LineEditor::~LineEditor() {
#ifdef HAWTHORN_HAVE_EDITLINE
  if (interactive_ && !history_.empty()) write_history(history_.c_str());
#endif
  present_completer = nullptr;
}

std::optional<std::string> LineEditor::next(const std::string& prompt) {
#ifdef HAWTHORN_HAVE_EDITLINE
  if (interactive_) {
    char* line = readline(prompt.c_str());
    if (line == nullptr) return std::nullopt;
    std::string text(line);
    std::free(line);
    if (text.find_first_not_of(" \t") != std::string::npos) add_history(text.c_str());
    return text;
  }
#endif
  if (interactive_) {
    std::fputs(prompt.c_str(), stdout);
    std::fflush(stdout);
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

}  // namespace hawthorn::tools
