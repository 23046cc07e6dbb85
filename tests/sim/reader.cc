#include "tests/sim/reader.h"

#include <algorithm>

namespace hawthorn::tests {
namespace {

class Reader {
 public:
  Reader(Db& db, const Snapshot& snapshot, SimContents* contents, const SimBroken& broken)
      : db_(db), snapshot_(snapshot), contents_(*contents), broken_(broken) {}

  Status read() {
    const Result<std::vector<std::string>> names = db_.list_trees({.snapshot = &snapshot_});
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      const Result<Tree> tree = db_.find_tree(name, {.snapshot = &snapshot_});
      if (!tree.ok()) return tree.status();
      const SimTree number = sim_tree_of(name, *tree);
      if (number >= kSimMade) contents_[kSimNames][name] = tree_value(number);
      if (Status s = read_tree(number, *tree); !s.ok()) return s;
    }
    return {};
  }

 private:
  Status read_tree(SimTree number, const Tree& tree) {
    auto& entries = contents_[number];
    const Status status = number == kSimEnding ? read_ending(tree, &entries) : scan(tree, &entries);
    if (!status.ok() && !(broken_ && broken_(number, tree, status))) return status;
    if (number < kSimForest) return {};
    const Result<TreeOptions> options = db_.tree_options(tree);
    // A tree that was dropped behind the snapshot does not tell any more, and has none.
    if (options.ok() && !options->subtrees) return {};
    const Result<std::vector<std::string>> keys = db_.list_subtrees(tree, {.snapshot = &snapshot_});
    if (keys.status().is(StatusCode::kInvalidArgument)) return {};
    if (!keys.ok()) return keys.status();
    for (const std::string& key : *keys) {
      const Result<Tree> below = db_.subtree(tree, key, {.snapshot = &snapshot_});
      if (!below.ok()) return below.status();
      const SimTree hangs = kSimMade + below->id();
      contents_[number][key] = tree_value(hangs);
      if (Status s = read_tree(hangs, *below); !s.ok()) return s;
    }
    return {};
  }

  Status scan(const Tree& tree, std::map<std::string, std::string>* to) {
    return db_.scan(tree, "", std::nullopt,
                    [&](std::span<const Entry> entries) {
                      for (const Entry& entry : entries) to->emplace(entry.key, entry.value);
                      return true;
                    },
                    {.snapshot = &snapshot_});
  }

  Status read_ending(const Tree& tree, std::map<std::string, std::string>* to) {
    CursorOptions options;
    options.snapshot = &snapshot_;
    Cursor cursor = db_.cursor(tree, options);
    for (bool there = cursor.first(); there; there = cursor.next()) {
      to->emplace(cursor.key(), ending_value(cursor.value(), cursor.expires_at()));
    }
    return cursor.status();
  }

  Db& db_;
  const Snapshot& snapshot_;
  SimContents& contents_;
  const SimBroken& broken_;
};

}  // namespace

SimTree sim_tree_of(std::string_view name, const Tree& tree) {
  const auto at = std::find(std::begin(kSimTreeNames), std::end(kSimTreeNames), name);
  return at != std::end(kSimTreeNames) ? static_cast<SimTree>(at - std::begin(kSimTreeNames))
                                       : kSimMade + tree.id();
}

Status read_trees(Db& db, const Snapshot& snapshot, SimContents* contents,
                  const SimBroken& broken) {
  return Reader(db, snapshot, contents, broken).read();
}

Status read_all(Db& db, SimFound* found, const SimBroken& broken) {
  {
    const Snapshot snapshot = db.snapshot();
    found->now_ms = snapshot.now_ms();
    if (Status s = read_trees(db, snapshot, &found->contents, broken); !s.ok()) return s;
  }
  const Result<std::vector<PreparedTransaction>> prepared = db.prepared();
  if (!prepared.ok()) return prepared.status();
  for (const PreparedTransaction& one : *prepared) found->contents[kSimPrepared][one.id] = "";
  const Result<std::vector<NamedSnapshot>> names = db.list_snapshots();
  if (!names.ok()) return names.status();
  for (const NamedSnapshot& one : *names) {
    const Result<Snapshot> opened = db.open_snapshot(one.name);
    if (!opened.ok()) return opened.status();
    SimState& state = found->snapshots[one.name];
    state = {.what = "snapshot " + one.name,
             .from = one.timestamp,
             .until = one.timestamp,
             .now_ms = opened->now_ms()};
    if (Status s = read_trees(db, *opened, &state.contents); !s.ok()) return s;
  }
  return {};
}

}  // namespace hawthorn::tests
