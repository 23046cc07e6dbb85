#include "tests/sim/history.h"

#include <algorithm>

#include "tests/sim/printed.h"
#include "tests/sim/replay.h"

namespace hawthorn::tests {

void append_to(std::string* value, bool present, std::string_view operand) {
  if (present) value->push_back(',');
  value->append(operand);
}

void History::begin_life(const SimFound& found) {
  base_ = found.contents;
  commits.clear();
  reads.clear();
  copies.clear();
  open_.clear();
  const auto prepared = base_.find(kSimPrepared);
  std::erase_if(prepared_, [&](const auto& one) {
    return prepared == base_.end() || !prepared->second.contains(one.first);
  });
  snapshots_.clear();
  for (const auto& [name, state] : found.snapshots) {
    snapshots_[name] = {.there = Outcome::kIs, .contents = state.contents};
  }
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

void History::prepare(const std::string& id, SimCommit commit, Outcome outcome) {
  if (outcome == Outcome::kIsNot) return;
  commit.writes.push_back(
      {.kind = SimWrite::Kind::kDelete, .tree = kSimPrepared, .key = id, .value = ""});
  prepared_[id] = std::move(commit);
  if (outcome == Outcome::kOpen) {
    open_.insert({kSimPrepared, id});
  } else {
    base_[kSimPrepared][id] = "";
  }
}

void History::roll_back(const std::string& id, Outcome outcome) {
  if (outcome == Outcome::kIs) return;
  if (outcome == Outcome::kOpen) {
    open_.insert({kSimPrepared, id});
  } else {
    base_[kSimPrepared].erase(id);
  }
}

SimCommit History::commit_of(const std::string& id) const {
  const auto prepared = prepared_.find(id);
  return prepared == prepared_.end() ? SimCommit() : prepared->second;
}

std::set<SimKey> History::keys() const {
  std::set<SimKey> keys;
  for (const auto& [tree, entries] : base_) {
    for (const auto& [key, value] : entries) keys.insert({tree, key});
  }
  for (const SimCommit& commit : commits) {
    for (const SimWrite& write : commit.writes) keys.insert({write.tree, write.key});
  }
  return keys;
}

// Whether those are there that must, and none else.
std::string History::check_snapshots(const SimFound& found, SimMayLose may_lose) {
  if (may_lose == SimMayLose::kSuffix) return "";
  for (const auto& [name, snapshot] : snapshots_) {
    const bool there = found.snapshots.contains(name);
    if (snapshot.there == Outcome::kIs && !there) return "the snapshot " + name + " is lost";
    if (snapshot.there == Outcome::kIsNot && there) return "the snapshot " + name + " is back";
  }
  for (const auto& [name, state] : found.snapshots) {
    if (!snapshots_.contains(name)) return "nobody has made the snapshot " + name;
  }
  return "";
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
  if (std::string error = check_snapshots(found, may_lose); !error.empty()) return error;
  std::vector<SimState> states = copies;
  for (const auto& [name, state] : found.snapshots) {
    const auto known = snapshots_.find(name);
    if (known == snapshots_.end() || !known->second.contents.has_value()) {
      states.push_back(state);
      // Without the end of the log it shows what was there before that.
      if (may_lose == SimMayLose::kSuffix) states.back().from = 0;
    } else if (known->second.contents != state.contents) {
      std::string difference;
      static_cast<void>(SimReplay(*known->second.contents, found, {}).is(state, &difference));
      return "the snapshot " + name + " shows something else than before the crash: " + difference;
    }
  }

  // Where the end of the log may be lost, so may be what was prepared there, or rolled back.
  if (may_lose == SimMayLose::kSuffix) {
    for (const auto& [id, commit] : prepared_) open_.insert({kSimPrepared, id});
  }
  SimReplay replay(base_, found, open_);
  std::string early;
  size_t match = commits.size() + 1;
  auto read = reads.begin();
  for (size_t n = 0;; ++n) {
    const uint64_t since = n == 0 ? 0 : commits[n - 1].cts;
    const uint64_t until = n < commits.size() ? commits[n].cts : ~uint64_t{0};
    for (; read != reads.end() && read->timestamp < until; ++read) {
      if (std::string error = replay.read(*read); !error.empty()) return error;
    }
    std::string difference;
    std::erase_if(states, [&](const SimState& state) {
      return state.until >= since && state.from < until && replay.is(state, &difference);
    });
    for (const SimState& state : states) {
      if (state.until >= until) continue;
      return state.what + ", of " + std::to_string(state.from) + " to " +
             std::to_string(state.until) + ", is not what was there: " + difference;
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
