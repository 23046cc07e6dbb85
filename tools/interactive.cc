#include "tools/interactive.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "tools/db_progress.h"
#include "tools/line_editor.h"

namespace hawthorn::tools {
namespace {

constexpr uint64_t kScanLimit = 100;
constexpr size_t kCompletionsMax = 50;

std::string word_of(std::string_view bytes) {
  std::string text = encode(Encoding::kEscaped, bytes);
  if (!text.empty() && text.find_first_of(" \"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool quoted = false;
  const auto end_word = [&]() -> Status {
    Result<std::string> bytes = decode(Encoding::kEscaped, word);
    if (!bytes.ok()) return bytes.status();
    words.push_back(std::move(*bytes));
    word.clear();
    in_word = false;
    return {};
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
      if (!in_word) continue;
      if (Status s = end_word(); !s.ok()) return s;
      continue;
    }
    in_word = true;
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\' && i + 1 < line.size()) {
      // A quote is itself; what else is escaped is decoded with the word.
      if (line[++i] != '"') word += '\\';
      word += line[i];
    } else {
      word += c;
    }
  }
  if (quoted) return Status(StatusCode::kInvalidArgument, "a quote that nothing ends");
  if (in_word) {
    if (Status s = end_word(); !s.ok()) return s;
  }
  return words;
}

const Interactive::Command Interactive::kCommands[] = {
    {"get", "KEY", "print a value", 1, 1, &Interactive::get},
    {"put", "KEY VALUE", "write an entry", 2, 2, &Interactive::put},
    {"del", "KEY...", "delete keys", 1, SIZE_MAX, &Interactive::del},
    {"scan", "[PREFIX [LIMIT]]", "print entries, 100 unless told otherwise", 0, 2,
     &Interactive::scan},
    {"count", "[PREFIX]", "count entries", 0, 1, &Interactive::count},
    {"tree", "NAME", "go to another tree", 1, 1, &Interactive::tree},
    {"trees", "", "list the trees", 0, 0, &Interactive::trees},
    {"begin", "", "begin a transaction", 0, 0, &Interactive::begin},
    {"commit", "", "commit it", 0, 0, &Interactive::commit},
    {"abort", "", "take all of it back", 0, 0, &Interactive::abort},
    {"help", "", "this", 0, 0, &Interactive::help},
    {"quit", "", "leave; a transaction that is open is aborted", 0, 0, &Interactive::quit}};

Status Interactive::run(std::string_view line, std::string* output) {
  Result<Words> words = split_words(line);
  if (!words.ok()) return words.status();
  if (words->empty()) return {};
  const std::string name = words->front();
  words->erase(words->begin());
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    if (words->size() < command.words_min || words->size() > command.words_max) {
      return Status(StatusCode::kInvalidArgument,
                    std::string(command.name) +
                        " takes: " + (*command.arguments == '\0' ? "nothing" : command.arguments));
    }
    return (this->*command.run)(*words, output);
  }
  return Status(StatusCode::kInvalidArgument,
                "there is no command " + encode(Encoding::kEscaped, name) + "; help lists them");
}

std::string Interactive::prompt() const {
  return encode(Encoding::kEscaped, tree_) + (transaction_ ? "*> " : "> ");
}

std::vector<std::string> Interactive::complete(const std::string& before, const std::string& word) {
  std::vector<std::string> found;
  const Result<Words> words = split_words(before);
  if (!words.ok()) return found;
  if (words->empty()) {
    for (const Command& command : kCommands) {
      if (std::string_view(command.name).starts_with(word)) found.emplace_back(command.name);
    }
    return found;
  }
  if (words->front() == "tree") {
    const Result<std::vector<std::string>> names = db_.list_trees();
    for (const std::string& name : names.ok() ? *names : Words()) {
      if (word_of(name).starts_with(word)) found.push_back(word_of(name));
    }
    return found;
  }
  const Result<std::string> prefix = decode(Encoding::kEscaped, word);
  const Result<Tree> tree = present(false);
  if (!prefix.ok() || !tree.ok()) return found;
  Cursor cursor = cursor_of(*tree, {.lower = *prefix, .key_only = true});
  for (bool more = cursor.first(); more && cursor.key().starts_with(*prefix);
       more = cursor.next()) {
    // What needs quotes is not what stands in the line.
    if (const std::string key = word_of(cursor.key()); key.starts_with(word)) found.push_back(key);
    if (found.size() == kCompletionsMax) break;
  }
  return found;
}

Status Interactive::help(const Words&, std::string* output) {
  for (const Command& command : kCommands) {
    std::string line = std::string("  ") + command.name + " " + command.arguments;
    line.resize(std::max<size_t>(line.size() + 1, 26), ' ');
    *output += line + command.what + "\n";
  }
  *output += "Words have the escapes \\n \\t \\r \\\\ \\xNN; \"with spaces\".\n";
  return {};
}

// Reads do not make a tree.
Result<Tree> Interactive::present(bool create) {
  if (transaction_) return create ? transaction_->tree(tree_) : transaction_->find_tree(tree_);
  return create ? db_.tree(tree_) : db_.find_tree(tree_);
}

Cursor Interactive::cursor_of(const Tree& tree, CursorOptions options) {
  return transaction_ ? transaction_->cursor(tree, options) : db_.cursor(tree, options);
}

Status Interactive::get(const Words& words, std::string* output) {
  const Result<Tree> tree = present(false);
  if (!tree.ok()) return tree.status();
  Value value;
  Status status =
      transaction_ ? transaction_->get(*tree, words[0], value) : db_.get(*tree, words[0], value);
  if (status.is_not_found()) return Status(StatusCode::kNotFound, "no key " + word_of(words[0]));
  if (status.ok()) *output += encode(Encoding::kEscaped, value.view()) + "\n";
  return status;
}

Status Interactive::put(const Words& words, std::string*) {
  const Result<Tree> tree = present(true);
  if (!tree.ok()) return tree.status();
  return transaction_ ? transaction_->put(*tree, words[0], words[1])
                      : db_.put(*tree, words[0], words[1]);
}

Status Interactive::del(const Words& words, std::string*) {
  const Result<Tree> tree = present(false);
  if (!tree.ok()) return tree.status();
  if (!transaction_) {
    WriteBatch batch;
    for (const std::string& key : words) batch.del(*tree, key);
    return db_.write(batch);
  }
  for (const std::string& key : words) {
    if (Status s = transaction_->del(*tree, key); !s.ok()) return s;
  }
  return {};
}

Status Interactive::scan(const Words& words, std::string* output) {
  uint64_t limit = kScanLimit;
  if (words.size() == 2) {
    const char* end = words[1].data() + words[1].size();
    const auto [at, error] = std::from_chars(words[1].data(), end, limit);
    if (error != std::errc() || at != end) {
      return Status(StatusCode::kInvalidArgument, "scan: LIMIT is a number");
    }
  }
  const Result<Tree> tree = present(false);
  if (!tree.ok()) return tree.status();
  const std::string prefix = words.empty() ? "" : words[0];
  Cursor cursor = cursor_of(*tree, {.lower = prefix});
  Progress progress("read", Progress::Unit::kEntries, show_);
  uint64_t count = 0;
  for (bool more = cursor.first(); more && cursor.key().starts_with(prefix); more = cursor.next()) {
    if (count++ == limit) {
      *output += "...\n";
      break;
    }
    *output += encode(Encoding::kEscaped, cursor.key()) + "\t" +
               encode(Encoding::kEscaped, cursor.value()) + "\n";
    progress.update(count, 0);
  }
  return cursor.status();
}

Status Interactive::count(const Words& words, std::string* output) {
  const Result<Tree> tree = present(false);
  if (!tree.ok()) return tree.status();
  const std::string prefix = words.empty() ? "" : words[0];
  const std::optional<std::string> end = after_prefix(prefix);
  std::optional<std::string_view> high;
  if (end) high = *end;
  const Result<uint64_t> count =
      transaction_ ? transaction_->count(*tree, prefix, high) : db_.count(*tree, prefix, high);
  if (count.ok()) *output += std::to_string(*count) + "\n";
  return count.status();
}

Status Interactive::tree(const Words& words, std::string*) {
  tree_ = words[0];
  return {};
}

Status Interactive::trees(const Words&, std::string* output) {
  const Result<std::vector<std::string>> names = db_.list_trees();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) *output += encode(Encoding::kEscaped, name) + "\n";
  return {};
}

Status Interactive::begin(const Words&, std::string*) {
  if (transaction_) return Status(StatusCode::kInvalidArgument, "one is open: commit or abort");
  Result<Transaction> begun = db_.begin(TxnMode::kOptimistic);
  if (!begun.ok()) return begun.status();
  transaction_ = std::move(*begun);
  return {};
}

Status Interactive::commit(const Words&, std::string*) {
  if (!transaction_) return Status(StatusCode::kInvalidArgument, "no transaction is open");
  Status status = transaction_->commit(Durability::kFull);
  transaction_.reset();
  return status;
}

Status Interactive::abort(const Words&, std::string*) {
  if (!transaction_) return Status(StatusCode::kInvalidArgument, "no transaction is open");
  transaction_.reset();
  return {};
}

Status Interactive::quit(const Words&, std::string*) {
  transaction_.reset();
  ended_ = true;
  return {};
}

Status run_shell(const CommonOptions& common, const ShellOptions& options) {
  Result<std::shared_ptr<Db>> db =
      open_database(common, options.read_only ? Access::kRead : Access::kCreate);
  if (!db.ok()) return db.status();
  Status last;
  {
    Interactive shell(**db, common.tree, common.show());
    const char* home = std::getenv("HOME");
    LineEditor editor(home == nullptr ? "" : std::string(home) + "/.hawthorn_history",
                      [&shell](const std::string& before, const std::string& word) {
                        return shell.complete(before, word);
                      });
    while (!shell.ended()) {
      const std::optional<std::string> line = editor.next(shell.prompt());
      if (!line) break;
      std::string output;
      last = shell.run(*line, &output);
      std::fputs(output.c_str(), stdout);
      std::fflush(stdout);
      if (last.ok()) continue;
      if (!editor.interactive()) break;  // a script ends where it goes wrong
      std::fprintf(stderr, "%s\n", last.to_string().c_str());
      last = {};
    }
  }
  if (options.read_only) return last;
  const Status closed = close_shown(**db, common.show());
  return last.ok() ? closed : last;
}

}  // namespace hawthorn::tools
