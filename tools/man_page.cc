#include "tools/man_page.h"

#include "tools/command_tree.h"

namespace hawthorn::tools {
namespace {

// Text of roff, in which nothing is a request.
std::string roff(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_begins = c == '\n';
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string options_text(const CommandShape& command) {
  std::string text;
  for (const OptionShape& place : command.places) {
    text += ".TP\n\\fI" + roff(place.type) + "\\fR\n" + roff(place.description) + "\n";
  }
  for (const OptionShape& option : command.options) {
    text += ".TP\n";
    for (size_t i = 0; i < option.names.size(); ++i) {
      text += (i == 0 ? "\\fB" : ", \\fB") + roff(option.names[i]) + "\\fR";
    }
    if (option.takes_value()) text += " \\fI" + roff(option.type) + "\\fR";
    text += "\n" + roff(option.description);
    if (!option.choices.empty()) {
      text += " (";
      for (size_t i = 0; i < option.choices.size(); ++i) {
        text += (i == 0 ? "" : ", ") + roff(option.choices[i]);
      }
      text += ")";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app, std::string_view wanted, std::string_view version) {
  const std::string program = app.get_name();
  const std::vector<CommandShape> commands = commands_of(app);
  const CommandShape* only = nullptr;
  for (const CommandShape& command : commands) {
    if (command.name == wanted) only = &command;
  }
  if (!wanted.empty() && only == nullptr) return {};
  const std::string name = only == nullptr ? program : program + "-" + only->name;
  const std::string what = only == nullptr ? app.get_description() : only->description;
  std::string text = ".TH " + roff(upper(name)) + " 1 \"\" \"" + roff(program) + " " +
                     roff(version) + "\"\n.SH NAME\n" + roff(name) + " \\- " + roff(what) +
                     "\n.SH SYNOPSIS\n";
  if (only != nullptr) {
    text += ".B " + roff(synopsis_of(program, *only)) + "\n.SH OPTIONS\n" + options_text(*only);
  } else {
    text += ".B " + roff(program) + "\n.I COMMAND\n[arguments] [options]\n.SH COMMANDS\n";
    for (const CommandShape& command : commands) {
      text += ".SS " + roff(command.name) + "\n.B " + roff(synopsis_of(program, command)) +
              "\n.PP\n" + roff(command.description) + ".\n" + options_text(command);
    }
  }
  const std::string footer = app.get_footer();
  if (!footer.empty()) text += ".SH NOTES\n" + roff(footer) + "\n";
  return text;
}

}  // namespace hawthorn::tools
