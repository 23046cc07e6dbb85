#pragma once
// The files of the page of `hawthorn web`, which the build makes of tools/web/.
//
// Threads: what never changes.

#include <span>
#include <string_view>

namespace hawthorn::tools {

struct WebFile {
  std::string_view name;  // without a directory
  std::string_view bytes;
};
std::span<const WebFile> web_files();

}  // namespace hawthorn::tools
