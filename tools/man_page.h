#pragma once
// The manual page of the command, or of one of its commands: made of what its command line says of
// itself.
//
//   hawthorn man | man -l -
//
// Not here: completion of shells (completion.h). Threads: pure functions.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace hawthorn::tools {

// `command`: empty for all of them. Nothing: there is no such command.
std::string man_page(const CLI::App& app, std::string_view command, std::string_view version);

}  // namespace hawthorn::tools
