#include "tests/sim/history.h"

#include <algorithm>

#include "tests/sim/printed.h"

namespace hawthorn::tests {
namespace {

std::string shown(const std::optional<std::string>& value) {
  return value.has_value() ? printed(*value) : "nothing";
}

std::string place(size_t tree, const std::string& key) {
  return "tree " + std::to_string(tree) + " key " + printed(key);
}

// What it wrote, in order.
std::string shown(const SimCommit& commit) {
  constexpr const char* kKinds[] = {"put", "del", "delete_range", "merge"};
  std::string text = commit.what + " at " + std::to_string(commit.cts) + ":";
  for (const SimWrite& write : commit.writes) {
    text += std::string("\n    ") + kKinds[static_cast<size_t>(write.kind)] + " " +
            place(write.tree, write.key);
    if (write.kind == SimWrite::Kind::kDeleteRange) text += " to " + shown(write.high);
  }
  return text;
}

}  // namespace

void append_to(std::string* value, bool present, std::string_view operand) {
  if (present) value->push_back(',');
  value->append(operand);
}

// The state after each commit, and how much of what was found differs from it.
class History::Replay {
 public:
  Replay(SimContents base, const SimFound& found) : state_(std::move(base)), found_(found) {
    for (size_t tree = 0; tree < kSimTrees; ++tree) {
      for (const auto& [key, value] : state_[tree]) {
        was_there_.insert({tree, key});
        wrong_ += differs(tree, key) ? 1 : 0;
      }
      for (const auto& [key, value] : found_.contents[tree]) {
        if (!state_[tree].contains(key)) wrong_ += differs(tree, key) ? 1 : 0;
      }
    }
  }

  size_t wrong() const { return wrong_; }

  std::optional<std::string> get(size_t tree, const std::string& key) const {
    const auto at = state_[tree].find(key);
    if (at == state_[tree].end()) return std::nullopt;
    return at->second;
  }

  // Empty, or what contradicts the state.
  std::string read(const SimReadAt& at) const {
    const std::string who = at.what + " at " + std::to_string(at.timestamp);
    if (!at.range) {
      const std::optional<std::string> is = get(at.read.tree, at.read.key);
      if (is == at.read.value) return "";
      return who + " read " + shown(at.read.value) + " of " + place(at.read.tree, at.read.key) +
             ", which then had " + shown(is);
    }
    const auto& tree = state_[at.read.tree];
    auto is = tree.lower_bound(at.read.key);
    for (const auto& [key, value] : at.entries) {
      if (is == tree.end() || is->first != key || is->second != value) {
        return who + " walked over " + place(at.read.tree, key) + " with " + printed(value) +
               (is == tree.end()
                    ? ", but that is the end"
                    : ", but next is " + printed(is->first) + " with " + printed(is->second));
      }
      ++is;
    }
    if (is == tree.end() || (at.high.has_value() && is->first >= *at.high)) return "";
    return who + " missed " + place(at.read.tree, is->first) + " with " + printed(is->second);
  }

  // Empty, or what contradicts the commit's place in the order.
  std::string commit(const SimCommit& commit) {
    for (const SimRead& read : commit.reads) {
      const std::optional<std::string> is = get(read.tree, read.key);
      if (is == read.value) continue;
      return commit.what + " read " + shown(read.value) + " of " + place(read.tree, read.key) +
             ", but " + shown(is) + " was there when it committed";
    }
    std::string error;
    for (const SimWrite& write : commit.writes) {
      if (write.kind != SimWrite::Kind::kDeleteRange) {
        if (error.empty()) error = touched(commit, write.tree, write.key);
        one(write);
        continue;
      }
      auto& tree = state_[write.tree];
      const auto end = write.high.has_value() ? tree.lower_bound(*write.high) : tree.end();
      std::vector<std::string> keys;
      for (auto at = tree.lower_bound(write.key); at != end && at != tree.end(); ++at) {
        if (write.high.has_value() && at->first >= *write.high) break;
        keys.push_back(at->first);
      }
      for (const std::string& key : keys) {
        if (error.empty()) error = touched(commit, write.tree, key);
        set(write.tree, key, std::nullopt);
      }
    }
    for (const SimKey& key : now_) {
      written_[key].push_back({&commit, state_[key.first].contains(key.second)});
    }
    now_.clear();
    return error;
  }

  std::string differences(size_t most) const {
    std::string text;
    for (size_t tree = 0; tree < kSimTrees; ++tree) {
      std::set<std::string> keys;
      for (const auto& [key, value] : state_[tree]) keys.insert(key);
      for (const auto& [key, value] : found_.contents[tree]) keys.insert(key);
      for (const std::string& key : keys) {
        if (!differs(tree, key) || most == 0) continue;
        --most;
        const auto at = found_.contents[tree].find(key);
        text += "\n  " + place(tree, key) + " has " +
                (at == found_.contents[tree].end() ? "nothing" : printed(at->second)) +
                ", should have " + shown(get(tree, key));
      }
    }
    return text;
  }

 private:
  // A key that was absent at the moment that the commit reads, and is so again, may pass: no run
  // needs to remember a tombstone below which nothing is left.
  std::string touched(const SimCommit& commit, size_t tree, const std::string& key) {
    const bool first = now_.insert({tree, key}).second;
    const std::vector<Change>& changes = written_[{tree, key}];
    if (!first || commit.unchanged_from == 0 || changes.empty() ||
        changes.back().by->cts <= commit.unchanged_from) {
      return "";
    }
    bool there = was_there_.contains({tree, key});
    for (const Change& change : changes) {
      if (change.by->cts <= commit.unchanged_from) there = change.there;
    }
    if (!there && !changes.back().there) return "";
    const SimCommit& last = *changes.back().by;
    return commit.what + " wrote " + place(tree, key) + " of " +
           std::to_string(commit.unchanged_from) + ", which had changed at " +
           std::to_string(last.cts) + "\n  " + shown(last) + "\n  " + shown(commit);
  }

  void one(const SimWrite& write) {
    if (write.kind == SimWrite::Kind::kDelete) return set(write.tree, write.key, std::nullopt);
    if (write.kind == SimWrite::Kind::kPut) return set(write.tree, write.key, write.value);
    std::optional<std::string> value = get(write.tree, write.key);
    const bool present = value.has_value();
    if (!present) value.emplace();
    append_to(&*value, present, write.value);
    set(write.tree, write.key, value);
  }

  void set(size_t tree, const std::string& key, const std::optional<std::string>& value) {
    wrong_ -= differs(tree, key) ? 1 : 0;
    if (value.has_value()) {
      state_[tree][key] = *value;
    } else {
      state_[tree].erase(key);
    }
    wrong_ += differs(tree, key) ? 1 : 0;
  }

  bool differs(size_t tree, const std::string& key) const {
    const auto is = found_.contents[tree].find(key);
    const auto should = state_[tree].find(key);
    const bool found = is != found_.contents[tree].end();
    const bool wanted = should != state_[tree].end();
    if (found == wanted && (!found || is->second == should->second)) return false;
    return found_.unreadable.empty() || !found_.unreadable.contains({tree, key});
  }

  SimContents state_;
  const SimFound& found_;
  size_t wrong_ = 0;
  struct Change {
    const SimCommit* by;
    bool there;  // the key, behind it
  };
  std::set<SimKey> was_there_;  // before all commits
  std::map<SimKey, std::vector<Change>> written_;
  std::set<SimKey> now_;  // by the commit that is looked at
};

void History::begin_life(SimContents contents) {
  base_ = std::move(contents);
  commits.clear();
  reads.clear();
}

void History::acknowledge(size_t commit, bool durable) {
  commits[commit].acknowledged = ++acknowledged_;
  commits[commit].durable = durable;
}

void History::durable_to(uint64_t acknowledged) {
  for (SimCommit& commit : commits) {
    if (commit.acknowledged != 0 && commit.acknowledged <= acknowledged) commit.durable = true;
  }
}

std::set<SimKey> History::keys() const {
  std::set<SimKey> keys;
  for (size_t tree = 0; tree < kSimTrees; ++tree) {
    for (const auto& [key, value] : base_[tree]) keys.insert({tree, key});
  }
  for (const SimCommit& commit : commits) {
    for (const SimWrite& write : commit.writes) keys.insert({write.tree, write.key});
  }
  return keys;
}

std::string History::check(const SimFound& found, SimMayLose may_lose, size_t* lost) {
  std::erase_if(commits, [](const SimCommit& commit) { return commit.cts == 0; });
  const auto earlier = [](const SimCommit& a, const SimCommit& b) { return a.cts < b.cts; };
  std::sort(commits.begin(), commits.end(), earlier);
  std::sort(reads.begin(), reads.end(),
            [](const SimReadAt& a, const SimReadAt& b) { return a.timestamp < b.timestamp; });
  size_t low = 0;
  for (size_t n = 0; n < commits.size(); ++n) {
    if (n > 0 && commits[n].cts == commits[n - 1].cts) {
      return commits[n].what + " and " + commits[n - 1].what + " have the same timestamp";
    }
    const bool survives =
        may_lose == SimMayLose::kNothing ||
        (may_lose == SimMayLose::kUnacknowledged && commits[n].acknowledged != 0) ||
        (may_lose == SimMayLose::kUnsynced && commits[n].durable);
    if (survives) low = n + 1;
  }

  Replay replay(base_, found);
  std::string early;
  size_t match = commits.size() + 1;
  auto read = reads.begin();
  for (size_t n = 0;; ++n) {
    const uint64_t until = n < commits.size() ? commits[n].cts : ~uint64_t{0};
    for (; read != reads.end() && read->timestamp < until; ++read) {
      if (std::string error = replay.read(*read); !error.empty()) return error;
    }
    if (replay.wrong() == 0) {
      if (n >= low) match = n;
      if (n < low) early = "; it is the state of " + std::to_string(n);
    }
    if (n == commits.size()) break;
    if (std::string error = replay.commit(commits[n]); !error.empty()) return error;
  }
  if (match <= commits.size()) {
    *lost = commits.size() - match;
    return "";
  }
  std::string text = "what is there is no state between the " + std::to_string(low) +
                     "th commit, which had to survive, and the " + std::to_string(commits.size()) +
                     "th" + early;
  if (low > 0) text += "; that was " + commits[low - 1].what;
  return text + "; compared with the last:" + replay.differences(8);
}

}  // namespace hawthorn::tests
