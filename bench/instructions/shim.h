#pragma once
// The rows of a library with another engine's interface: an insert and an update, each in a commit
// of its own that survives the process, in each state of the table.
//
// Used by the programs shim_*.cc. Threads: one.

#include <memory>
#include <string>
#include <string_view>

namespace hawthorn::bench {

// One database by such an interface. All functions end the program when a call fails.
class ShimDatabase {
 public:
  virtual ~ShimDatabase() = default;  // closes

  // Many inserts in one commit.
  virtual void begin_load() = 0;
  virtual void load(const std::string& key, const std::string& value) = 0;
  virtual void end_load() = 0;

  virtual void insert(const std::string& key, const std::string& value) = 0;
  virtual void update(const std::string& key, const std::string& value) = 0;

  // Until release_snapshot, or the end.
  virtual void hold_snapshot() = 0;
  virtual void release_snapshot() = 0;
};

using OpenShim = std::unique_ptr<ShimDatabase> (*)(const std::string& directory);

// The program: `open` makes a database in a directory that is there and empty.
int count_shim(int argc, char** argv, std::string_view program, OpenShim open);

}  // namespace hawthorn::bench
