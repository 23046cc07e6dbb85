#pragma once
// Which build of a library an engine is: what a comparison with it is worth.
//
// Used by the registry, which knows it, and by results and tables, which pass it on. Threads: any.

#include <optional>
#include <string>

namespace hawthorn::bench {

struct LibraryBuild {
  std::string origin;              // where it comes from
  std::string compiler;            // empty where that is not known
  std::string flags;               // likewise
  std::optional<bool> assertions;  // whether they are on; nothing where that is not known
  std::string version = {};        // as the engine says it

  // Compares nothing: it checks itself, which the other one does not.
  bool unfair() const { return assertions.value_or(false); }
};

// "RocksDB 7.8.3; /usr/lib/librocksdb.so; assertions ON": what is known, for people.
std::string build_text(const LibraryBuild& build);
// The same as the members of a JSON object: `"version": "RocksDB 7.8.3", ..., "assertions": true`.
// What is not known is null.
std::string build_json(const LibraryBuild& build);

}  // namespace hawthorn::bench
