#pragma once
// shell: a database that stays open, and commands that are typed, one a line.
//
// Not here: editing lines (line_editor.h), the commands of the command line. Threads:
// single-threaded.
//
// 1. Keys and values are words with the escapes of text.h; what has spaces stands in double quotes,
//    in which \" is a quote.
// 2. Without a transaction each command is a commit of its own, durable when the next prompt comes.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/command.h"

namespace hawthorn::tools {

// The words of a line. Errors: kInvalidArgument for a quote that nothing ends, and escapes.
Result<std::vector<std::string>> split_words(std::string_view line);

class Interactive {
 public:
  Interactive(Db& db, std::string tree, ProgressShow show)
      : db_(db), tree_(std::move(tree)), show_(show) {}

  // Does what a line says; what it prints goes to `output`. An error leaves everything as it is.
  Status run(std::string_view line, std::string* output);
  bool ended() const { return ended_; }
  std::string prompt() const;
  std::vector<std::string> complete(const std::string& before, const std::string& word);

 private:
  using Words = std::vector<std::string>;
  struct Command {
    const char* name;
    const char* arguments;
    const char* what;
    size_t words_min;  // behind its name
    size_t words_max;
    Status (Interactive::*run)(const Words& words, std::string* output);
  };
  static const Command kCommands[];

  Status help(const Words& words, std::string* output);
  Status get(const Words& words, std::string* output);
  Status put(const Words& words, std::string* output);
  Status del(const Words& words, std::string* output);
  Status scan(const Words& words, std::string* output);
  Status count(const Words& words, std::string* output);
  Status tree(const Words& words, std::string* output);
  Status trees(const Words& words, std::string* output);
  Status begin(const Words& words, std::string* output);
  Status commit(const Words& words, std::string* output);
  Status abort(const Words& words, std::string* output);
  Status quit(const Words& words, std::string* output);
  Result<Tree> present(bool create);
  Cursor cursor_of(const Tree& tree, CursorOptions options);

  Db& db_;
  std::string tree_;
  const ProgressShow show_;
  std::optional<Transaction> transaction_;
  bool ended_ = false;
};

}  // namespace hawthorn::tools
