// What a simulated client does with trees: makes, clones, renames and drops them, hangs them in
// others, and fills them at once.

#include <map>

#include "tests/sim/client.h"
#include "tests/sim/reader.h"

namespace hawthorn::tests {
namespace {

// Others may be faster with the same names and keys, and a prepared transaction may use the tree.
constexpr StatusCode kMayNot[] = {
    StatusCode::kConflict, StatusCode::kTimedOut,        StatusCode::kDeadlock,
    StatusCode::kNotFound, StatusCode::kInvalidArgument, StatusCode::kNotSupported,
    StatusCode::kBusy};
// Entries of which bulk loads attach the containers, when nothing lies there yet.
constexpr size_t kIngestedMax = 60;

}  // namespace

// By a transaction, so that the tree's number is known when it commits.
struct SimClient::Making {
  Transaction transaction;
  SimCommit commit;
};

void SimClient::change_trees() {
  const std::string name = any_name();
  const bool forest = world_->has(SimFeature::kForest);
  const uint64_t pick = prng_.below(world_->has(SimFeature::kMadeTrees) ? 12 : 2);
  if (pick >= 10) return drop_tree(name);
  if (pick >= 8) return rename_tree(name);
  if (pick < 2 && forest && prng_.one_in(3)) {
    // A value where a tree may hang, or nothing in place of either.
    SimWrite write{.tree = kSimForest, .key = any_key(), .value = any_value()};
    if (prng_.one_in(2)) write.kind = SimWrite::Kind::kDelete;
    const Durability durability = any_durability();
    const bool poisoned = world_->poisoned;
    const bool puts = write.kind == SimWrite::Kind::kPut;
    const size_t number = begin({.what = what("write where trees hang"), .writes = {write}});
    const Tree& tree = world_->trees[kSimForest];
    const Status status = puts ? world_->db->put(tree, write.key, write.value, durability)
                               : world_->db->del(tree, write.key, durability);
    return finish(number, status, durability, poisoned, kMayNot);
  }
  Making making;
  TxnOptions options;
  if (prng_.one_in(3)) options.isolation = Isolation::kSerializable;
  if (prng_.one_in(3)) options.mode = TxnMode::kPessimistic;
  making.commit.what = what(pick < 2 && forest ? "subtree" : pick < 5 ? "tree" : "clone");
  const Snapshot snapshot = world_->db->snapshot();
  options.snapshot = &snapshot;
  making.commit.unchanged_from = snapshot.timestamp();
  const bool poisoned_before = world_->poisoned;
  Result<Transaction> begun = world_->db->begin(options);
  world_->judge_write(poisoned_before, begun.status(), making.commit.what + ", begin", kMayNot);
  if (!begun.ok()) return;
  making.transaction = std::move(*begun);
  if (pick < 2 && forest) {
    make_subtree(making);
  } else if (pick < 5) {
    make_tree(making, name);
  } else {
    clone_tree(making, name);
  }
  if (making.commit.writes.empty() || world_->stopped()) return;
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const size_t number = begin(std::move(making.commit));
  finish(number, making.transaction.commit(durability), durability, poisoned, kMayNot);
}

// Nothing is to be committed where any of it fails.
void SimClient::make_tree(Making& making, const std::string& name) {
  if (!making.transaction.find_tree(name).status().is_not_found()) return;
  const Result<Tree> tree = making.transaction.tree(name);
  world_->judge(tree.status(), making.commit.what, kMayNot);
  if (!tree.ok()) return;
  const SimTree number = kSimMade + tree->id();
  making.commit.writes.push_back({.tree = kSimNames, .key = name, .value = tree_value(number)});
  fill(making, number, *tree);
}

void SimClient::clone_tree(Making& making, const std::string& name) {
  const std::string from = prng_.one_in(3) ? kSimTreeNames[prng_.below(2)] : any_name();
  const Result<Tree> source = making.transaction.find_tree(from);
  if (!source.ok() || !making.transaction.find_tree(name).status().is_not_found()) return;
  const SimTree of = sim_tree_of(from, *source);
  if (prng_.one_in(3)) fill(making, of, *source);
  if (!making.transaction.open() || world_->stopped()) return;
  const Result<Tree> tree = making.transaction.clone_tree(from, name);
  world_->judge(tree.status(), making.commit.what, kMayNot);
  if (!tree.ok()) return making.commit.writes.clear();
  const SimTree number = kSimMade + tree->id();
  making.commit.writes.push_back(
      {.kind = SimWrite::Kind::kClone, .tree = of, .key = "", .value = "", .number = number});
  making.commit.writes.push_back({.tree = kSimNames, .key = name, .value = tree_value(number)});
}

void SimClient::make_subtree(Making& making) {
  const Tree& forest = world_->trees[kSimForest];
  const std::string key = any_key();
  Value value;
  const Status there = making.transaction.get(forest, key, value);
  world_->judge(there, making.commit.what, kMayNot);
  if (!there.is_not_found()) return;
  const Result<Tree> tree = making.transaction.create_subtree(forest, key);
  world_->judge(tree.status(), making.commit.what, kMayNot);
  if (!tree.ok()) return;
  const SimTree number = kSimMade + tree->id();
  made_[number] = *tree;
  making.commit.writes.push_back({.tree = kSimForest, .key = key, .value = tree_value(number)});
  fill(making, number, *tree);
}

void SimClient::fill(Making& making, SimTree number, const Tree& tree) {
  for (uint64_t count = prng_.below(6); count > 0; --count) {
    SimWrite write;
    write.tree = number;
    any_write_to(&write);
    if (write.kind != SimWrite::Kind::kPut) continue;
    const Status status = making.transaction.put(tree, write.key, write.value);
    world_->judge(status, making.commit.what + ", put", kMayNot);
    if (!status.ok()) {
      making.transaction.abort();
      return making.commit.writes.clear();
    }
    making.commit.writes.push_back(std::move(write));
  }
}

void SimClient::rename_tree(const std::string& name) {
  const std::string to = any_name();
  if (to == name) return;
  const bool poisoned = world_->poisoned;
  const size_t number = begin({.what = what("rename"),
                               .writes = {{.kind = SimWrite::Kind::kMove,
                                           .tree = kSimNames,
                                           .key = name,
                                           .value = "",
                                           .high = to,
                                           .number = kSimNames}}});
  finish(number, world_->db->rename_tree(name, to), Durability::kFull, poisoned, kMayNot);
}

void SimClient::drop_tree(const std::string& name) {
  const bool poisoned = world_->poisoned;
  const size_t number = begin(
      {.what = what("drop"),
       .writes = {{.kind = SimWrite::Kind::kDelete, .tree = kSimNames, .key = name, .value = ""}}});
  finish(number, world_->db->drop_tree(name), Durability::kFull, poisoned, kMayNot);
}

// From a key to another, to a name, or from there.
void SimClient::move_subtree() {
  Db& db = *world_->db;
  const Tree& forest = world_->trees[kSimForest];
  const Result<std::vector<std::string>> keys = db.list_subtrees(forest);
  world_->judge(keys.status(), name_ + "'s list_subtrees");
  if (!keys.ok()) return;
  std::string key = any_key();
  if (!keys->empty() && !prng_.one_in(4)) key = (*keys)[prng_.below(keys->size())];
  const std::string other = any_key();
  if (other == key) return;  // to where it hangs: that is no commit
  const std::string name = any_name();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  SimWrite write{.kind = SimWrite::Kind::kMove, .tree = kSimForest, .key = key, .value = ""};
  write.number = kSimForest;
  Status status;
  size_t number = 0;
  const uint64_t pick = prng_.below(3);
  if (pick == 0) {
    write.high = other;
    number = begin({.what = what("move_subtree"), .writes = {write}});
    status = db.move_subtree(forest, key, forest, other, durability);
  } else if (pick == 1) {
    write.high = name;
    write.number = kSimNames;
    number = begin({.what = what("detach"), .writes = {write}});
    status = db.detach(forest, key, name, durability);
  } else {
    write.tree = kSimNames;
    write.key = name;
    write.high = other;
    number = begin({.what = what("attach"), .writes = {write}});
    status = db.attach(forest, other, name, durability);
  }
  finish(number, status, durability, poisoned, kMayNot);
}

void SimClient::ingest() {
  const SimTree tree = any_tree();
  if (tree == 2) return put();  // has a merge operator: what is below operands is another matter
  const Tree in = handle(tree);
  IngestOptions options;
  options.sorted = !prng_.one_in(3);
  options.durability = any_durability();
  SimCommit commit{.what = what("ingest")};
  std::map<std::string, std::string> entries;
  // Between what is there, or behind all of it.
  const bool behind = prng_.one_in(2);
  const size_t size = prng_.one_in(3) ? 12'000 : 100;
  for (uint64_t count = prng_.between(1, kIngestedMax); count > 0; --count) {
    std::string value = any_value();
    if (value.size() < size) value.resize(size, '=');
    entries[behind ? "z" + std::to_string(prng_.below(1000)) : any_key()] = std::move(value);
  }
  const bool poisoned = world_->poisoned;
  Result<Ingest> begun = world_->db->ingest(in, options);
  world_->judge_write(poisoned, begun.status(), commit.what, kMayNot);
  if (!begun.ok()) return;
  for (const auto& [key, value] : entries) {
    const Status status = begun->add(key, value);
    world_->judge(status, commit.what + ", add", kMayNot);
    if (!status.ok()) return;
    commit.writes.push_back({.tree = tree, .key = key, .value = value});
  }
  if (prng_.one_in(6)) return begun->abandon();
  const bool poisoned_since = world_->poisoned;
  const size_t number = begin(std::move(commit));
  finish(number, begun->finish(), options.durability, poisoned_since, kMayNot);
}

}  // namespace hawthorn::tests
