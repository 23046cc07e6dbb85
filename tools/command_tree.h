#pragma once
// What a command line consists of, as its CLI11 application describes it: for shells that complete
// it, and for manual pages.
//
// Not here: which commands there are (main.cc). Threads: pure functions.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::tools {

struct OptionShape {
  std::vector<std::string> names;  // with their dashes; empty: it is told by its place
  std::string type;                // "FILE"; empty: it takes none
  std::string description;
  bool required = false;
  bool repeats = false;  // takes as many as there are
  // What the type allows; empty: anything.
  std::vector<std::string> choices = {};

  bool takes_value() const { return !type.empty(); }
  bool takes_file() const;
  bool takes_directory() const { return type == "DIR"; }
};

struct CommandShape {
  std::string name;
  std::string description;
  std::vector<OptionShape> options;
  std::vector<OptionShape> places;  // in their order
};

// The commands of an application, in their order.
std::vector<CommandShape> commands_of(const CLI::App& app);
// The application's own options.
CommandShape shape_of(const CLI::App& app);

// `hawthorn put DIR KEY [VALUE] [options]`.
std::string synopsis_of(std::string_view program, const CommandShape& command);

}  // namespace hawthorn::tools
