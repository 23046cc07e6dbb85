#include "tests/sim/replay.h"

#include <algorithm>
#include <cstdlib>

#include "tests/sim/printed.h"

namespace hawthorn::tests {
namespace {

constexpr std::string_view kTreeMark = "\x01tree ";
constexpr char kEndMark = '\x02';
constexpr size_t kEndDigits = 16;

std::string shown(const std::string* value) {
  return value == nullptr ? "nothing" : printed(*value);
}

std::string shown(const std::optional<std::string>& value) {
  return shown(value.has_value() ? &*value : nullptr);
}

std::string place(SimTree tree, const std::string& key) {
  return "tree " + std::to_string(tree) + " key " + printed(key);
}

// What it wrote, in order.
std::string shown(const SimCommit& commit) {
  constexpr const char* kKinds[] = {"put",    "del",    "delete_range", "merge", "write_part",
                                    "append", "resize", "clone",        "move"};
  std::string text = commit.what + " at " + std::to_string(commit.cts) + ":";
  for (const SimWrite& write : commit.writes) {
    text += std::string("\n    ") + kKinds[static_cast<size_t>(write.kind)] + " " +
            place(write.tree, write.key);
    if (write.kind == SimWrite::Kind::kDeleteRange) text += " to " + shown(write.high);
    if (write.kind >= SimWrite::Kind::kOverwrite) text += ", " + std::to_string(write.number);
  }
  return text;
}

const std::map<std::string, std::string>& tree_of(const SimContents& contents, SimTree tree) {
  static const std::map<std::string, std::string> kEmpty;
  const auto at = contents.find(tree);
  return at == contents.end() ? kEmpty : at->second;
}

bool ended(SimTree tree, const std::string& value, uint64_t now_ms) {
  if (tree != kSimEnding || value.size() <= kEndDigits) return false;
  const uint64_t ends = strtoull(value.c_str() + value.size() - kEndDigits, nullptr, 16);
  return ends != 0 && ends <= now_ms;
}

}  // namespace

std::string ending_value(std::string_view value, uint64_t ends_ms) {
  char digits[kEndDigits + 1];
  snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(ends_ms));
  return std::string(value) + kEndMark + digits;
}

std::string tree_value(SimTree tree) { return std::string(kTreeMark) + std::to_string(tree); }

std::optional<SimTree> tree_of_value(std::string_view value) {
  if (!value.starts_with(kTreeMark)) return std::nullopt;
  return static_cast<SimTree>(
      strtoul(std::string(value.substr(kTreeMark.size())).c_str(), nullptr, 10));
}

SimReplay::SimReplay(SimContents base, const SimFound& found, const std::set<SimKey>& open)
    : state_(std::move(base)), found_(found), open_(open) {
  for (const auto& [tree, entries] : state_) {
    for (const auto& [key, value] : entries) {
      was_there_.insert({tree, key});
      if (const auto made = tree_of_value(value); made.has_value()) made_.insert(*made);
      wrong_ += differs(tree, key) ? 1 : 0;
    }
  }
  for (const auto& [tree, entries] : found_.contents) {
    for (const auto& [key, value] : entries) {
      if (get(tree, key) == nullptr) wrong_ += differs(tree, key) ? 1 : 0;
    }
  }
}

const std::string* SimReplay::get(SimTree tree, const std::string& key) const {
  const auto& entries = tree_of(state_, tree);
  const auto at = entries.find(key);
  return at == entries.end() ? nullptr : &at->second;
}

std::string SimReplay::read(const SimReadAt& at) const {
  const std::string who = at.what + " at " + std::to_string(at.timestamp);
  const SimTree tree = at.read.tree;
  if (!at.range) {
    const std::string* value = get(tree, at.read.key);
    if (value != nullptr && ended(tree, *value, at.now_ms)) value = nullptr;
    const bool same = value == nullptr ? !at.read.value.has_value() : at.read.value == *value;
    if (same) return "";
    return who + " read " + shown(at.read.value) + " of " + place(tree, at.read.key) +
           ", which then had " + shown(value);
  }
  const auto& entries = tree_of(state_, tree);
  auto is = entries.lower_bound(at.read.key);
  const auto pass = [&] {
    while (is != entries.end() && ended(tree, is->second, at.now_ms)) ++is;
  };
  pass();
  for (const auto& [key, value] : at.entries) {
    if (is == entries.end() || is->first != key || is->second != value) {
      return who + " walked over " + place(tree, key) + " with " + printed(value) +
             (is == entries.end()
                  ? ", but that is the end"
                  : ", but next is " + printed(is->first) + " with " + printed(is->second));
    }
    ++is;
    pass();
  }
  if (is == entries.end() || (at.high.has_value() && is->first >= *at.high)) return "";
  return who + " missed " + place(tree, is->first) + " with " + printed(is->second);
}

bool SimReplay::is(const SimState& state, std::string* difference) const {
  std::set<SimTree> trees;
  for (const auto& [tree, entries] : state_) trees.insert(tree);
  for (const auto& [tree, entries] : state.contents) trees.insert(tree);
  for (const SimTree tree : trees) {
    if (tree == kSimPrepared) continue;  // is of the present, not of a moment
    const auto& there = tree_of(state.contents, tree);
    size_t shows = 0;
    for (const auto& [key, value] : tree_of(state_, tree)) {
      if (ended(tree, value, state.now_ms)) continue;
      ++shows;
      const auto at = there.find(key);
      if (at != there.end() && at->second == value) continue;
      *difference = place(tree, key) + " should have " + printed(value) + ", has " +
                    shown(at == there.end() ? nullptr : &at->second);
      return false;
    }
    if (shows == there.size()) continue;
    for (const auto& [key, value] : there) {
      if (get(tree, key) != nullptr) continue;
      *difference = place(tree, key) + " should not be there, has " + printed(value);
    }
    return false;
  }
  return true;
}

std::string SimReplay::commit(const SimCommit& commit) {
  for (const SimRead& read : commit.reads) {
    const std::string* const value = get(read.tree, read.key);
    if (value == nullptr ? !read.value.has_value() : read.value == *value) continue;
    return commit.what + " read " + shown(read.value) + " of " + place(read.tree, read.key) +
           ", but " + shown(value) + " was there when it committed";
  }
  std::string error;
  for (const SimWrite& write : commit.writes) {
    const std::string wrong = one(commit, write);
    if (error.empty()) error = wrong;
  }
  for (const SimKey& key : now_) {
    written_[key].push_back({&commit, get(key.first, key.second) != nullptr});
  }
  now_.clear();
  return error;
}

std::string SimReplay::differences(size_t most) const {
  std::string text;
  std::set<SimKey> keys;
  for (const auto& [tree, entries] : state_) {
    for (const auto& [key, value] : entries) keys.insert({tree, key});
  }
  for (const auto& [tree, entries] : found_.contents) {
    for (const auto& [key, value] : entries) keys.insert({tree, key});
  }
  for (const auto& [tree, key] : keys) {
    if (most == 0 || !differs(tree, key)) continue;
    --most;
    const auto& entries = tree_of(found_.contents, tree);
    const auto at = entries.find(key);
    text += "\n  " + place(tree, key) + " has " +
            (at == entries.end() ? "nothing" : printed(at->second)) + ", should have " +
            shown(get(tree, key));
  }
  return text;
}

// A key that was absent at the moment that the commit reads, and is so again, may pass: no run
// needs to remember a tombstone below which nothing is left.
std::string SimReplay::changed(const SimCommit& commit, SimTree tree,
                               const std::string& key) const {
  const auto at = written_.find({tree, key});
  if (commit.unchanged_from == 0 || at == written_.end() || at->second.empty() ||
      at->second.back().by->cts <= commit.unchanged_from) {
    return "";
  }
  bool there = was_there_.contains({tree, key});
  for (const Change& change : at->second) {
    if (change.by->cts <= commit.unchanged_from) there = change.there;
  }
  if (!there && !at->second.back().there) return "";
  const SimCommit& last = *at->second.back().by;
  return commit.what + " wrote " + place(tree, key) + " of " +
         std::to_string(commit.unchanged_from) + ", which had changed at " +
         std::to_string(last.cts) + "\n  " + shown(last) + "\n  " + shown(commit);
}

std::string SimReplay::touch(const SimCommit& commit, SimTree tree, const std::string& key) {
  return now_.insert({tree, key}).second ? changed(commit, tree, key) : "";
}

std::string SimReplay::one(const SimCommit& commit, const SimWrite& write) {
  using Kind = SimWrite::Kind;
  std::string error;
  if (write.tree >= kSimMade && !made_.contains(write.tree)) {
    error = commit.what + " wrote to tree " + std::to_string(write.tree) + ", which is not there";
  }
  if (write.kind == Kind::kDeleteRange) return error + delete_range(commit, write);
  if (write.kind == Kind::kClone) return error + clone(commit, write);
  error += touch(commit, write.tree, write.key);
  switch (write.kind) {
    case Kind::kPut:
      if (const auto made = tree_of_value(write.value); made.has_value()) made_.insert(*made);
      set(write.tree, write.key, &write.value);
      break;
    case Kind::kDelete:
      erase(write.tree, write.key);
      break;
    case Kind::kMove: {
      const SimTree to = static_cast<SimTree>(write.number);
      error += touch(commit, to, *write.high);
      const std::string* const value = get(write.tree, write.key);
      if (value == nullptr || get(to, *write.high) != nullptr) {
        return error + commit.what + " moved " + place(write.tree, write.key) + " with " +
               shown(value) + " to " + place(to, *write.high) + " with " +
               shown(get(to, *write.high));
      }
      const std::string moved = *value;
      set(write.tree, write.key, nullptr);
      set(to, *write.high, &moved);
      break;
    }
    default:
      change_part(write);
      break;
  }
  return error;
}

void SimReplay::change_part(const SimWrite& write) {
  const std::string* const before = get(write.tree, write.key);
  std::string value = before == nullptr ? "" : *before;
  switch (write.kind) {
    case SimWrite::Kind::kAppend:
      append_to(&value, before != nullptr, write.value);
      break;
    case SimWrite::Kind::kOverwrite:
      if (write.value.empty()) return;
      if (value.size() < write.number + write.value.size()) {
        value.resize(write.number + write.value.size());
      }
      value.replace(write.number, write.value.size(), write.value);
      break;
    case SimWrite::Kind::kExtend:
      value += write.value;
      break;
    default:
      value.resize(write.number);
      break;
  }
  set(write.tree, write.key, &value);
}

std::string SimReplay::delete_range(const SimCommit& commit, const SimWrite& write) {
  const auto& entries = tree_of(state_, write.tree);
  std::vector<std::string> keys;
  for (auto at = entries.lower_bound(write.key); at != entries.end(); ++at) {
    if (write.high.has_value() && at->first >= *write.high) break;
    keys.push_back(at->first);
  }
  std::string error;
  for (const std::string& key : keys) {
    const std::string wrong = touch(commit, write.tree, key);
    if (error.empty()) error = wrong;
    erase(write.tree, key);
  }
  return error;
}

std::string SimReplay::clone(const SimCommit& commit, const SimWrite& write) {
  std::string error;
  const SimTree to = static_cast<SimTree>(write.number);
  const std::map<std::string, std::string> entries = tree_of(state_, write.tree);
  for (const auto& [key, value] : entries) {
    if (error.empty() && !now_.contains({write.tree, key})) {
      error = changed(commit, write.tree, key);
    }
    set(to, key, &value);
  }
  return error;
}

// With the tree that hangs there, and what hangs below that.
void SimReplay::erase(SimTree tree, const std::string& key) {
  const std::string* const value = get(tree, key);
  const std::optional<SimTree> hangs = value == nullptr ? std::nullopt : tree_of_value(*value);
  set(tree, key, nullptr);
  if (!hangs.has_value()) return;
  made_.erase(*hangs);
  const std::map<std::string, std::string> entries = tree_of(state_, *hangs);
  for (const auto& [below, ignored] : entries) erase(*hangs, below);
}

void SimReplay::set(SimTree tree, const std::string& key, const std::string* value) {
  wrong_ -= differs(tree, key) ? 1 : 0;
  if (value != nullptr) {
    state_[tree][key] = *value;
  } else if (const auto entries = state_.find(tree); entries != state_.end()) {
    entries->second.erase(key);
  }
  wrong_ += differs(tree, key) ? 1 : 0;
}

bool SimReplay::differs(SimTree tree, const std::string& key) const {
  const auto& entries = tree_of(found_.contents, tree);
  const auto is = entries.find(key);
  const std::string* should = get(tree, key);
  if (should != nullptr && ended(tree, *should, found_.now_ms)) should = nullptr;
  const bool found = is != entries.end();
  if (found == (should != nullptr) && (!found || is->second == *should)) return false;
  if (open_.contains({tree, key})) return false;
  return found_.unreadable.empty() || !found_.unreadable.contains({tree, key});
}

}  // namespace hawthorn::tests
