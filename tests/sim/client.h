#pragma once
// A program that uses a simulated database from a thread of its own: reads, writes, transactions,
// upkeep, all drawn from a seed and told to the history.
//
// Not here: whether what it saw is right (history.h). Used by tests/sim. Threads: its own.

#include <string>
#include <vector>

#include "base/prng.h"
#include "tests/sim/world.h"

namespace hawthorn::tests {

// Tells a client when its commits happened.
std::shared_ptr<CommitHook> timestamp_hook();

class SimClient {
 public:
  SimClient(SimWorld* world, std::string name, uint64_t seed)
      : world_(world), name_(std::move(name)), prng_(seed) {}

  void run(uint64_t operations);

 private:
  struct Held {
    Snapshot snapshot;
    std::string what;
  };
  struct Work;  // of a transaction

  void step();
  void put();
  void erase();
  void batch();
  void delete_range();
  void compare_and_set();
  void read_snapshot();
  void upkeep();
  void transaction();
  bool transaction_step(Work& work);
  bool transaction_read(Work& work);
  bool transaction_write(Work& work);

  // Begins a commit of the history, and says what came of it.
  size_t begin(SimCommit commit);
  void finish(size_t commit, const Status& status, Durability durability);
  void look(const Snapshot& snapshot, const std::string& what);

  std::string what(const char* operation);
  size_t any_tree() { return prng_.below(kSimTrees); }
  std::string any_key();
  std::string any_value();
  Durability any_durability();
  SimWrite any_write();

  SimWorld* const world_;
  const std::string name_;
  Prng prng_;
  uint64_t numbers_ = 0;
  std::vector<Held> held_;
};

}  // namespace hawthorn::tests
