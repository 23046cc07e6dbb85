#include "tools/command_tree.h"

#include <map>

namespace hawthorn::tools {
namespace {

// Of the types of options that main.cc names, those with few values.
std::vector<std::string> choices_of(const std::string& type) {
  static const std::map<std::string, std::vector<std::string>> kChoices = {
      {"LEVEL", {"none", "async", "full"}},
      {"CODEC", {"none", "lz4", "zstd"}},
      {"FORMAT", {"csv", "jsonl"}},
      {"SHELL", {"bash", "zsh", "fish"}}};
  const auto at = kChoices.find(type);
  return at == kChoices.end() ? std::vector<std::string>() : at->second;
}

OptionShape shape_of_option(const CLI::Option& option) {
  OptionShape shape;
  for (const std::string& name : option.get_snames()) shape.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shape.names.push_back("--" + name);
  shape.description = option.get_description();
  shape.required = option.get_required();
  const bool flag = option.get_items_expected_max() == 0 || option.get_type_size_max() == 0;
  if (!flag) shape.type = option.get_type_name();
  shape.repeats = option.get_items_expected_max() > 1;
  shape.choices = choices_of(shape.type);
  return shape;
}

}  // namespace

bool OptionShape::takes_file() const {
  return type == "FILE" || type == "TARGET" || type == "DEVICE" || type == "REPOSITORY";
}

CommandShape shape_of(const CLI::App& app) {
  CommandShape shape{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    (option->nonpositional() ? shape.options : shape.places).push_back(shape_of_option(*option));
  }
  return shape;
}

std::vector<CommandShape> commands_of(const CLI::App& app) {
  std::vector<CommandShape> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(shape_of(*command));
  }
  return commands;
}

std::string synopsis_of(std::string_view program, const CommandShape& command) {
  std::string text(program);
  text += ' ' + command.name;
  for (const OptionShape& place : command.places) {
    const std::string type = place.type + (place.repeats ? "..." : "");
    text += place.required ? ' ' + type : " [" + type + ']';
  }
  return command.options.empty() ? text : text + " [options]";
}

}  // namespace hawthorn::tools
