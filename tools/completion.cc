#include "tools/completion.h"

#include "tools/command_tree.h"

namespace hawthorn::tools {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::string names_of(const std::vector<OptionShape>& options) {
  std::string text;
  for (const OptionShape& option : options) {
    text += (text.empty() ? "" : " ") + joined(option.names);
  }
  return text;
}

// In single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// ---- bash

std::string bash_words(const OptionShape& option) {
  if (option.takes_directory()) return "compgen -d -- \"$current\"";
  if (option.takes_file()) return "compgen -f -- \"$current\"";
  if (option.choices.empty()) return ":";
  return "compgen -W " + shell_quoted(joined(option.choices)) + " -- \"$current\"";
}

std::string bash_command(const CommandShape& command) {
  std::string text = "    " + command.name + ")\n      case $previous in\n";
  for (const OptionShape& option : command.options) {
    if (!option.takes_value()) continue;
    text += "        " + joined(option.names, "|") + ") " + bash_words(option) + "; return ;;\n";
  }
  text += "      esac\n      case $current in\n        -*) compgen -W " +
          shell_quoted(names_of(command.options)) + " -- \"$current\"; return ;;\n      esac\n";
  std::string places;
  for (size_t i = 0; i < command.places.size(); ++i) {
    const std::string words = bash_words(command.places[i]);
    if (words == ":") continue;
    const std::string number = std::to_string(i + 1);
    places +=
        "        " + number + (command.places[i].repeats ? "|*" : "") + ") " + words + " ;;\n";
  }
  if (!places.empty()) text += "      case $place in\n" + places + "      esac\n";
  return text + "      ;;\n";
}

std::string bash_script(const std::string& program, const CommandShape& own,
                        const std::vector<CommandShape>& commands) {
  std::string names;
  std::string with_value;
  std::string cases;
  for (const CommandShape& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += bash_command(command);
    for (const OptionShape& option : command.options) {
      for (const std::string& name : option.names) {
        const bool known = (with_value + "|").find("|" + name + "|") != std::string::npos;
        if (option.takes_value() && !known) with_value += "|" + name;
      }
    }
  }
  const std::string skip = with_value.empty() ? "" : with_value.substr(1);
  std::string text = "# What bash completes of " + program + "; made by: " + program +
                     " completion bash\n"
                     "_" +
                     program +
                     "_words() {\n"
                     "  local current=$1 previous=$2 command=$3 place=$4\n"
                     "  case $command in\n"
                     "    '') compgen -W " +
                     shell_quoted(names + " " + names_of(own.options)) + " -- \"$current\" ;;\n" +
                     cases + "  esac\n}\n";
  text += "_" + program +
          "() {\n"
          "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  local command='' place=0 i\n"
          "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
          "    case ${COMP_WORDS[i]} in\n";
  if (!skip.empty()) text += "      " + skip + ") ((++i)) ;;\n";
  text +=
      "      -*) ;;\n"
      "      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((++place)); fi ;;\n"
      "    esac\n"
      "  done\n"
      "  ((++place))\n"
      "  mapfile -t COMPREPLY < <(_" +
      program +
      "_words \"$current\" \"$previous\" "
      "\"$command\" \"$place\")\n"
      "}\n"
      "complete -o filenames -F _" +
      program + " " + program + "\n";
  return text;
}

// ---- zsh

// In a description of _arguments or _describe, which give brackets and colons a meaning.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionShape& option) {
  if (option.takes_directory()) return "_directories";
  if (option.takes_file()) return "_files";
  return option.choices.empty() ? " " : "(" + joined(option.choices) + ")";
}

std::string zsh_command(const CommandShape& command) {
  std::string text = "    (" + command.name + ")\n      _arguments";
  for (const OptionShape& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = option.repeats ? "*" : "";
      spec += name;
      if (option.takes_value()) spec += name.starts_with("--") ? "=" : "+";
      spec.append("[").append(zsh_text(option.description)).append("]");
      if (option.takes_value()) spec += ":" + option.type + ":" + zsh_action(option);
      text += " \\\n        " + shell_quoted(spec);
    }
  }
  for (size_t i = 0; i < command.places.size(); ++i) {
    const OptionShape& place = command.places[i];
    const std::string where = place.repeats ? "*" : std::to_string(i + 1);
    text += " \\\n        " + shell_quoted(where + ":" + place.type + ":" + zsh_action(place));
  }
  return text + "\n      ;;\n";
}

std::string zsh_script(const std::string& program, const std::vector<CommandShape>& commands) {
  std::string list;
  std::string cases;
  for (const CommandShape& command : commands) {
    list += "    " + shell_quoted(command.name + ":" + zsh_text(command.description)) + "\n";
    cases += zsh_command(command);
  }
  return "#compdef " + program + "\n# Made by: " + program + " completion zsh\n_" + program +
         "() {\n"
         "  local -a commands\n  commands=(\n" +
         list +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe -t commands command commands\n    return\n"
         "  fi\n  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n" +
         cases +
         "  esac\n}\n"
         "if [ \"$funcstack[1]\" = _" +
         program + " ]; then\n  _" + program +
         " \"$@\"\nelse\n"
         "  compdef _" +
         program + " " + program + "\nfi\n";
}

// ---- fish

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_script(const std::string& program, const std::vector<CommandShape>& commands) {
  std::string text =
      "# What fish completes of " + program + "; made by: " + program + " completion fish\n";
  const std::string begin = "complete -c " + program + " ";
  for (const CommandShape& command : commands) {
    text += begin + "-f -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_quoted(command.description) + "\n";
  }
  for (const CommandShape& command : commands) {
    const std::string here =
        begin + "-n " + fish_quoted("__fish_seen_subcommand_from " + command.name) + " ";
    for (const OptionShape& option : command.options) {
      std::string line = here;
      for (const std::string& name : option.names) {
        line +=
            name.starts_with("--") ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
      }
      if (option.takes_file() || option.takes_directory()) {
        line += "-r -F ";
      } else if (!option.choices.empty()) {
        line += "-x -a " + fish_quoted(joined(option.choices)) + " ";
      } else if (option.takes_value()) {
        line += "-x ";
      }
      text += line + "-d " + fish_quoted(option.description) + "\n";
    }
    for (const OptionShape& place : command.places) {
      if (!place.choices.empty()) {
        text += here + "-f -a " + fish_quoted(joined(place.choices)) + "\n";
      }
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  const CommandShape own = shape_of(app);
  const std::vector<CommandShape> commands = commands_of(app);
  switch (shell) {
    case Shell::kBash:
      return bash_script(own.name, own, commands);
    case Shell::kZsh:
      return zsh_script(own.name, commands);
    case Shell::kFish:
      return fish_script(own.name, commands);
  }
  return {};
}

}  // namespace hawthorn::tools
