#include "bench/library_build.h"

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

std::string json_or_null(const std::string& text) {
  return text.empty() ? "null" : json_string(text);
}

}  // namespace

std::string build_text(const LibraryBuild& build) {
  std::string text;
  for (const std::string& part : {build.version, build.origin, build.compiler, build.flags}) {
    if (!part.empty()) text += part + "; ";
  }
  if (!build.assertions) return text + "assertions not known";
  return text + (*build.assertions ? "assertions ON" : "assertions off");
}

std::string build_json(const LibraryBuild& build) {
  return "\"version\": " + json_or_null(build.version) +
         ", \"origin\": " + json_or_null(build.origin) +
         ", \"compiler\": " + json_or_null(build.compiler) +
         ", \"flags\": " + json_or_null(build.flags) + ", \"assertions\": " +
         (!build.assertions   ? "null"
          : *build.assertions ? "true"
                              : "false");
}

}  // namespace hawthorn::bench
