#pragma once
// A program that uses a simulated database from a thread of its own: reads, writes, transactions,
// upkeep, all drawn from a seed and told to the history.
//
// Not here: whether what it saw is right (history.h). Used by tests/sim. Threads: its own.

#include <map>
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
  void put();

 private:
  struct Held {
    Snapshot snapshot;
    std::string what;
  };
  struct Work;    // of a transaction
  struct Making;  // of a tree

  void step();
  void feature_step();
  void erase();
  void batch();
  void delete_range();
  void compare_and_set();
  void upkeep();

  // client_reads.cc
  void read_snapshot();
  void look(const Snapshot& snapshot, const std::string& what);
  void look_at_key(const Snapshot& snapshot, SimReadAt at, const Tree& tree);
  void look_at_keys(const Snapshot& snapshot, const SimReadAt& at, const Tree& tree);
  void look_at_range(const Snapshot& snapshot, SimReadAt at, const Tree& tree);

  // client_transaction.cc
  void transaction();
  bool transaction_step(Work& work);
  bool transaction_read(Work& work);
  bool transaction_write(Work& work);
  SimTree any_tree_of(Transaction& transaction);
  void prepare(Work& work);
  void resolve();

  // client_trees.cc
  void change_trees();
  void make_tree(Making& making, const std::string& name);
  void clone_tree(Making& making, const std::string& name);
  void make_subtree(Making& making);
  void fill(Making& making, SimTree number, const Tree& tree);
  void rename_tree(const std::string& name);
  void drop_tree(const std::string& name);
  void move_subtree();
  void ingest();

  // client_values.cc
  void change_part();
  void put_ending();

  // client_copies.cc
  void keep_snapshot();
  void copy();
  Status copy_to(bool checkpoint, const std::string& directory);
  void compare_copy(const std::string& directory, SimState state);
  void fill_disk();

  // Begins a commit of the history, and says what came of it.
  size_t begin(SimCommit commit);
  void finish(size_t commit, const Status& status, Durability durability);
  // The same, and judges the error: a commit that began when the database was poisoned must say so.
  void finish(size_t commit, const Status& status, Durability durability, bool poisoned,
              std::span<const StatusCode> expected);
  // What a write to it may come to.
  static std::span<const StatusCode> may(SimTree tree);

  std::string what(const char* operation);
  SimTree any_tree();
  std::string any_name();
  const Tree& handle(SimTree tree);
  std::string any_key();
  std::string any_value();
  Durability any_durability();
  SimWrite any_write();
  void any_write_to(SimWrite* write);
  uint64_t now_ms() const;

  SimWorld* const world_;
  const std::string name_;
  Prng prng_;
  uint64_t numbers_ = 0;
  std::vector<Held> held_;
  std::map<SimTree, Tree> made_;  // that it has had in hand
};

}  // namespace hawthorn::tests
