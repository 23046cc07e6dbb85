#pragma once
// The state of a history after each of its commits, and how much of what was found differs from it.
//
// Not here: which of the states may be found (history.h). Used by history.cc only.
// Threads: one. Lifetime: what was found, and the set of open keys, longer than it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/history.h"

namespace hawthorn::tests {

class SimReplay {
 public:
  // `open`: keys of which nobody knows whether they are there.
  SimReplay(SimContents base, const SimFound& found, const std::set<SimKey>& open);

  // How many keys differ from what was found; the first few of them.
  size_t wrong() const { return wrong_; }
  std::string differences(size_t most) const;

  // Empty, or what contradicts the state.
  std::string read(const SimReadAt& at) const;
  // Whether this is the state, where what has ended is not looked at.
  bool is(const SimState& state, std::string* difference) const;
  const SimContents& contents() const { return state_; }

  // Empty, or what contradicts the commit's place in the order.
  std::string commit(const SimCommit& commit);

 private:
  struct Change {
    const SimCommit* by;
    bool there;  // the key, behind it
  };

  const std::string* get(SimTree tree, const std::string& key) const;
  std::string changed(const SimCommit& commit, SimTree tree, const std::string& key) const;
  std::string touch(const SimCommit& commit, SimTree tree, const std::string& key);
  std::string one(const SimCommit& commit, const SimWrite& write);
  std::string delete_range(const SimCommit& commit, const SimWrite& write);
  std::string clone(const SimCommit& commit, const SimWrite& write);
  void change_part(const SimWrite& write);
  void erase(SimTree tree, const std::string& key);
  void set(SimTree tree, const std::string& key, const std::string* value);
  bool differs(SimTree tree, const std::string& key) const;

  SimContents state_;
  const SimFound& found_;
  const std::set<SimKey>& open_;
  size_t wrong_ = 0;
  std::set<SimTree> made_;      // those of them that are there
  std::set<SimKey> was_there_;  // before all commits
  std::map<SimKey, std::vector<Change>> written_;
  std::set<SimKey> now_;  // by the commit that is looked at
};

}  // namespace hawthorn::tests
