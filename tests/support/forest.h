#pragma once
// Trees as values for random tests: what a database should hold, as maps in maps; reading what it
// does hold; and changes at random, made to both, which know what each one has to answer.
//
// Not here: crashes, threads, whether trees are lost (subtrees.h). Used by tests/model and
// tests/crash. Threads: one.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

struct Grown {
  bool holds = false;  // others may hang in it
  std::map<std::string, std::string> values;
  std::map<std::string, Grown> below;
  bool has(const std::string& key) const { return values.contains(key) || below.contains(key); }
  bool operator==(const Grown&) const = default;
};
using Forest = std::map<std::string, Grown>;  // by name

inline std::string text_of(const Grown& tree) {
  std::string text = tree.holds ? "[" : "(";
  for (const auto& [key, value] : tree.values)
    text += key + "=" + std::to_string(value.size()) + " ";
  for (const auto& [key, below] : tree.below) text += key + text_of(below) + " ";
  return text + (tree.holds ? "]" : ")");
}
inline std::string text_of(const Forest& forest) {
  std::string text;
  for (const auto& [name, tree] : forest) text += " " + name + text_of(tree);
  return text;
}

// By every read that knows of subtrees, each against the other.
inline Status read_tree(Db& db, const Tree& tree, const Snapshot& at, Grown* found) {
  const Result<TreeOptions> options = db.tree_options(tree);
  if (!options.ok()) return options.status();
  found->holds = options->subtrees;
  std::vector<std::string> told;
  uint64_t entries = 0;
  Cursor cursor = db.cursor(tree, {.snapshot = &at});
  for (bool there = cursor.first(); there; there = cursor.next()) {
    ++entries;
    const std::string key(cursor.key());
    const Result<bool> hangs = cursor.is_subtree();
    if (!hangs.ok()) return hangs.status();
    if (!*hangs) {
      found->values[key] = cursor.value();
      continue;
    }
    EXPECT_TRUE(cursor.value().empty());
    told.push_back(key);
    const Result<Tree> below = db.subtree(tree, key, {.snapshot = &at});
    if (!below.ok()) return below.status();
    if (Status s = read_tree(db, *below, at, &found->below[key]); !s.ok()) return s;
  }
  if (!cursor.status().ok()) return cursor.status();
  const Result<uint64_t> counted = db.count(tree, "", std::nullopt, {.snapshot = &at});
  if (!counted.ok()) return counted.status();
  EXPECT_EQ(*counted, entries);
  if (!found->holds) return {};
  const Result<std::vector<std::string>> listed = db.list_subtrees(tree, {.snapshot = &at});
  if (!listed.ok()) return listed.status();
  EXPECT_EQ(*listed, told);
  return {};
}

inline Status read_forest(Db& db, const Snapshot& at, Forest* found) {
  const Result<std::vector<std::string>> names = db.list_trees({.snapshot = &at});
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const Result<Tree> tree = db.find_tree(name, {.snapshot = &at});
    if (!tree.ok()) return tree.status();
    if (Status s = read_tree(db, *tree, at, &(*found)[name]); !s.ok()) return s;
  }
  return {};
}

class Gardener {
 public:
  // `died`: whether an error may be the machine's.
  Gardener(Prng& prng, std::function<bool()> died) : prng_(prng), died_(std::move(died)) {}

  // One change in a transaction, and to the forest that it should make of it. OK also where both
  // refuse it. Errors: the machine's.
  Status change(Transaction& t, Forest& forest);
  uint64_t changes(const std::string& kind) const {
    const auto at = done_.find(kind);
    return at == done_.end() ? 0 : at->second;
  }

 private:
  // A tree: its name, and the keys at which it and those above it hang.
  struct Spot {
    std::vector<std::string> path;
    Grown* grown = nullptr;
    Tree tree;
  };
  Status expect(const std::string& kind, const Status& got, StatusCode wanted) {
    if (wanted == StatusCode::kOk) ++done_[kind];
    if (!got.ok() && died_()) return got;
    EXPECT_EQ(got.code(), wanted) << kind << ": " << got.to_string();
    return {};
  }
  static StatusCode refused(bool invalid) {
    return invalid ? StatusCode::kInvalidArgument : StatusCode::kOk;
  }
  std::string any_name() { return std::string(1, static_cast<char>('a' + prng_.below(4))); }
  std::string any_key() { return "k" + std::to_string(prng_.below(7)); }
  // Mostly one at which something hangs, where there is one.
  std::string hanging_key(const Grown& grown) {
    if (grown.below.empty() || prng_.one_in(4)) return any_key();
    auto below = grown.below.begin();
    std::advance(below, prng_.below(grown.below.size()));
    return below->first;
  }
  std::string any_value() {
    return value_of(prng_.next(), prng_.one_in(6)    ? 0
                                  : prng_.one_in(60) ? 70'000
                                                     : prng_.below(300));
  }
  // Mostly one in which others may hang. Without a tree there is none.
  Status any_spot(Transaction& t, Forest& forest, Spot* spot);
  Status of_names(Transaction& t, Forest& forest);
  Status of_entries(Transaction& t, const Spot& spot);
  Status of_subtrees(Transaction& t, Forest& forest, const Spot& spot);
  Status hang(Transaction& t, Forest& forest, const Spot& spot);
  Status take_off(Transaction& t, Forest& forest, const Spot& spot);
  Status move(Transaction& t, Forest& forest, const Spot& spot);

  Prng& prng_;
  const std::function<bool()> died_;
  std::map<std::string, uint64_t> done_;
};

inline Status Gardener::change(Transaction& t, Forest& forest) {
  Spot spot;
  if (Status s = any_spot(t, forest, &spot); !s.ok()) return s;
  if (spot.grown == nullptr || prng_.one_in(5)) return of_names(t, forest);
  if (!spot.grown->holds || prng_.one_in(2)) return of_entries(t, spot);
  return of_subtrees(t, forest, spot);
}

inline Status Gardener::any_spot(Transaction& t, Forest& forest, Spot* spot) {
  if (forest.empty()) return {};
  auto named = forest.begin();
  std::advance(named, prng_.below(forest.size()));
  spot->path = {named->first};
  spot->grown = &named->second;
  const Result<Tree> found = t.find_tree(named->first);
  if (Status s = expect("find", found.status(), StatusCode::kOk); !s.ok()) return s;
  if (!found.ok()) return found.status();
  spot->tree = *found;
  while (!spot->grown->below.empty() && !prng_.one_in(3)) {
    auto below = spot->grown->below.begin();
    std::advance(below, prng_.below(spot->grown->below.size()));
    const Result<Tree> next = t.subtree(spot->tree, below->first);
    if (Status s = expect("find below", next.status(), StatusCode::kOk); !s.ok()) return s;
    if (!next.ok()) return next.status();
    spot->path.push_back(below->first);
    spot->grown = &below->second;
    spot->tree = *next;
  }
  return {};
}

inline Status Gardener::of_names(Transaction& t, Forest& forest) {
  const std::string name = any_name();
  const bool there = forest.contains(name);
  if (!there) {
    const bool holds = !prng_.one_in(4);
    forest[name].holds = holds;
    return expect("make", t.tree(name, {.subtrees = holds}).status(), StatusCode::kOk);
  }
  if (prng_.one_in(2)) {
    forest.erase(name);
    return expect("drop", t.drop_tree(name), StatusCode::kOk);
  }
  const std::string other = any_name();
  const bool taken = other != name && forest.contains(other);
  if (!taken && other != name) {
    auto node = forest.extract(name);
    node.key() = other;
    forest.insert(std::move(node));
  }
  return expect("rename", t.rename_tree(name, other), refused(taken));
}

inline Status Gardener::of_entries(Transaction& t, const Spot& spot) {
  Grown& grown = *spot.grown;
  const std::string key = any_key();
  const bool hangs = grown.below.contains(key);
  switch (prng_.below(8)) {
    case 0: {
      const std::string high = any_key();
      if (key < high) {
        grown.values.erase(grown.values.lower_bound(key), grown.values.lower_bound(high));
        grown.below.erase(grown.below.lower_bound(key), grown.below.lower_bound(high));
      }
      return expect("delete range", t.delete_range(spot.tree, key, high), StatusCode::kOk);
    }
    case 1:
    case 2:
      grown.values.erase(key);
      grown.below.erase(key);
      return expect(hangs ? "delete a subtree" : "delete", t.del(spot.tree, key), StatusCode::kOk);
    case 3: {
      const bool free = !grown.has(key);
      const Result<bool> put = t.insert(spot.tree, key, "inserted");
      if (Status s = expect("insert", put.status(), StatusCode::kOk); !s.ok()) return s;
      if (put.ok()) {
        EXPECT_EQ(*put, free);
      }
      if (free) grown.values[key] = "inserted";
      return {};
    }
    case 4: {
      const auto at = grown.values.find(key);
      const bool equal = at != grown.values.end() && at->second.empty();
      const Result<bool> put = t.remove_if(spot.tree, key, "");
      if (Status s = expect("remove if", put.status(), StatusCode::kOk); !s.ok()) return s;
      if (put.ok()) {
        EXPECT_EQ(*put, equal);
      }
      if (equal) grown.values.erase(key);
      return {};
    }
    default: {
      std::string value = any_value();
      const Status status = t.put(spot.tree, key, value);
      if (!hangs) grown.values[key] = std::move(value);
      return expect("put", status, refused(hangs));
    }
  }
}

inline Status Gardener::of_subtrees(Transaction& t, Forest& forest, const Spot& spot) {
  const uint64_t pick = prng_.below(10);
  if (pick < 2) return take_off(t, forest, spot);
  if (pick < 4) return move(t, forest, spot);
  if (pick < 5) return hang(t, forest, spot);
  const std::string key = any_key();
  const bool taken = spot.grown->has(key);
  const bool holds = !prng_.one_in(3);
  const Result<Tree> made = t.create_subtree(spot.tree, key, {.subtrees = holds});
  if (Status s = expect("create", made.status(), refused(taken)); !s.ok()) return s;
  if (taken || !made.ok()) return {};
  Grown& grown = spot.grown->below[key];
  grown.holds = holds;
  if (prng_.one_in(2)) return {};
  std::string value = any_value();
  const Status status = t.put(*made, "k1", value);
  grown.values["k1"] = std::move(value);
  return expect("put", status, StatusCode::kOk);
}

inline Status Gardener::hang(Transaction& t, Forest& forest, const Spot& spot) {
  const std::string key = any_key();
  const std::string name = any_name();
  const Status status = t.attach(spot.tree, key, name);
  if (!forest.contains(name)) return expect("attach", status, StatusCode::kNotFound);
  const bool wrong = spot.grown->has(key) || spot.path.front() == name;
  if (!wrong) {
    Grown taken = std::move(forest.at(name));
    forest.erase(name);
    spot.grown->below[key] = std::move(taken);
  }
  return expect("attach", status, refused(wrong));
}

inline Status Gardener::take_off(Transaction& t, Forest& forest, const Spot& spot) {
  const std::string key = hanging_key(*spot.grown);
  const std::string name = any_name();
  const Status status = t.detach(spot.tree, key, name);
  if (!spot.grown->has(key)) return expect("detach", status, StatusCode::kNotFound);
  const bool wrong = spot.grown->values.contains(key) || forest.contains(name);
  if (!wrong) {
    Grown taken = std::move(spot.grown->below.at(key));
    spot.grown->below.erase(key);
    forest[name] = std::move(taken);
  }
  return expect("detach", status, refused(wrong));
}

inline Status Gardener::move(Transaction& t, Forest& forest, const Spot& spot) {
  Spot to;
  if (Status s = any_spot(t, forest, &to); !s.ok()) return s;
  if (!to.grown->holds) return {};
  const std::string key = hanging_key(*spot.grown);
  const std::string to_key = any_key();
  const Status status = t.move_subtree(spot.tree, key, to.tree, to_key);
  if (!spot.grown->has(key)) return expect("move", status, StatusCode::kNotFound);
  if (spot.grown->values.contains(key)) {
    return expect("move", status, StatusCode::kInvalidArgument);
  }
  if (spot.grown == to.grown && key == to_key) return expect("stay", status, StatusCode::kOk);
  std::vector<std::string> moved = spot.path;
  moved.push_back(key);
  const bool circle =
      to.path.size() >= moved.size() && std::equal(moved.begin(), moved.end(), to.path.begin());
  const bool wrong = circle || to.grown->has(to_key);
  if (!wrong) {
    // What is moved does not hold the other one, and maps keep their nodes where they are.
    Grown taken = std::move(spot.grown->below.at(key));
    spot.grown->below.erase(key);
    to.grown->below[to_key] = std::move(taken);
  }
  return expect("move", status, refused(wrong));
}

}  // namespace hawthorn::tests
