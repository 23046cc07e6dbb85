#pragma once
// The containers for which some work pays most, out of all that a look shows.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tree/tree.h"

namespace hawthorn::db {

// Lifetime: that of the list which has the tree, under the guard of the look.
struct Ranked {
  const tree::TreeRef* tree;
  const tree::Container* container;
  double worth;
  size_t bytes;  // of what the work is for
};

// The `most` of them that are worth most: of those that are shown, never more than twice as many
// are kept.
class Best {
 public:
  explicit Best(size_t most) : most_(most) { kept_.reserve(2 * most); }

  void add(const Ranked& ranked) {
    if (kept_.size() == 2 * most_) drop_rest();
    kept_.push_back(ranked);
  }
  // From the last one to the first.
  std::vector<Ranked> take() {
    drop_rest();
    std::sort(kept_.begin(), kept_.end(),
              [](const Ranked& a, const Ranked& b) { return a.worth < b.worth; });
    return std::move(kept_);
  }

 private:
  void drop_rest() {
    if (kept_.size() <= most_) return;
    const auto end = kept_.begin() + static_cast<ptrdiff_t>(most_);
    std::nth_element(kept_.begin(), end, kept_.end(),
                     [](const Ranked& a, const Ranked& b) { return a.worth > b.worth; });
    kept_.erase(end, kept_.end());
  }

  const size_t most_;
  std::vector<Ranked> kept_;
};

}  // namespace hawthorn::db
