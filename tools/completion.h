#pragma once
// Scripts by which shells complete the command: made of what its command line says of itself, so
// that they know all that it knows.
//
//   source <(hawthorn completion bash)
//
// Not here: man pages (man_page.h). Threads: pure functions.

#include <CLI/CLI.hpp>
#include <string>

namespace hawthorn::tools {

enum class Shell : uint8_t { kBash, kZsh, kFish };

std::string completion_script(const CLI::App& app, Shell shell);

}  // namespace hawthorn::tools
