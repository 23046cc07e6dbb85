#include "txn/read_fence.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hawthorn::txn {

void ReadFence::add(format::PreparedRead read) {
  bytes_ += read.low.size() + (read.high.has_value() ? read.high->size() : 0);
  ranges_.push_back(std::move(read));
}

void ReadFence::seal() {
  std::sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.tree, a.low) < std::tie(b.tree, b.low);
  });
  size_t kept = 0;
  for (size_t i = 1; i < ranges_.size(); ++i) {
    format::PreparedRead& last = ranges_[kept];
    format::PreparedRead& next = ranges_[i];
    const bool touches =
        next.tree == last.tree && (!last.high.has_value() || next.low <= *last.high);
    if (!touches) {
      if (++kept != i) ranges_[kept] = std::move(next);
    } else if (last.high.has_value() && (!next.high.has_value() || *next.high > *last.high)) {
      last.high = std::move(next.high);
    }
  }
  if (!ranges_.empty()) ranges_.resize(kept + 1);
}

bool ReadFence::contains(uint32_t tree, std::string_view key) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(tree, key),
                       [](const auto& wanted, const format::PreparedRead& range) {
                         return wanted < std::pair(range.tree, std::string_view(range.low));
                       });
  if (behind == ranges_.begin()) return false;
  const format::PreparedRead& range = *std::prev(behind);
  return range.tree == tree && (!range.high.has_value() || key < *range.high);
}

bool ReadFence::has_tree(uint32_t tree) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [tree](const format::PreparedRead& read) { return read.tree == tree; });
}

}  // namespace hawthorn::txn
