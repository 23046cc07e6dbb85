#include "txn/read_set.h"

#include <algorithm>
#include <tuple>

#include "os/arena.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kBudgetPart = 32;  // of the memory budget, before it becomes coarser
constexpr size_t kGroup = 64;       // keys, or ranges, that become one range
}  // namespace

void ReadSet::add(const tree::TreeState* tree, std::string_view key, Lsn floor) {
  if (!keys_.empty() && keys_.back().tree == tree && text_of(keys_.back()) == key &&
      keys_.back().floor <= floor) {
    return;
  }
  keys_.push_back({tree, floor, text_.size(), static_cast<uint32_t>(key.size())});
  text_.append(key);
  if (keys_.size() % 1024 == 0) coarsen();
}

void ReadSet::add_range(const tree::TreeState* tree, std::string_view low,
                        std::optional<std::string_view> high, Lsn floor) {
  if (high.has_value() && *high <= low) return;
  Range range{tree, floor, {}};
  range.check.low = low;
  if (high.has_value()) range.check.high = std::string(*high);
  range_bytes_ += low.size() + (high.has_value() ? high->size() : 0);
  ranges_.push_back(std::move(range));
  if (ranges_.size() % 256 == 0) coarsen();
}

void ReadSet::fold_walks() {
  for (OpenWalk* walk : walks_) walk->fold();
}

CommitCheck::Verdict ReadSet::validate(TxnId own) {
  const CommitCheck::Verdict verdict =
      search_.validate(keys_.size(), [this](size_t i) { return checked(i); }, own);
  if (verdict != CommitCheck::Verdict::kValid) return verdict;
  for (Range& range : ranges_) {
    switch (
        range.tree->newer_commit_in(range.check, std::max(range.floor, passed_), own, nullptr)) {
      case tree::TreeState::Newer::kYes:
        return CommitCheck::Verdict::kConflict;
      case tree::TreeState::Newer::kNeedRun:
        return CommitCheck::Verdict::kMustRead;
      case tree::TreeState::Newer::kNo:
        break;
    }
  }
  return CommitCheck::Verdict::kValid;
}

Result<bool> ReadSet::read_ahead(TxnId own) {
  Result<bool> valid = search_.read_ahead(
      keys_.size(), [this](size_t i) { return checked(i); }, own, *store_->residency);
  if (!valid.ok() || !*valid) return valid;
  for (Range& range : ranges_) {
    for (;;) {
      tree::PinnedRunFile run;
      const Lsn floor = std::max(range.floor, passed_);
      const auto newer = range.tree->newer_commit_in(range.check, floor, own, &run);
      if (newer == tree::TreeState::Newer::kYes) return false;
      if (newer == tree::TreeState::Newer::kNo) break;
      // Once it was searched, it counts as such (RangeCheck::searched), in memory or not.
      if (Status s = store_->residency->load_for_conflicts(run.get()); !s.ok()) return s;
      if (range.tree->newer_commit_in(range.check, floor, own, nullptr) ==
          tree::TreeState::Newer::kYes) {
        return false;
      }
    }
  }
  return true;
}

void ReadSet::fence(ReadFence* fence) const {
  for (const Key& key : keys_) {
    const std::string low(text_of(key));
    fence->add({key.tree->id(), low, low + '\0'});
  }
  for (const Range& range : ranges_) {
    fence->add({range.tree->id(), range.check.low, range.check.high});
  }
}

void ReadSet::clear() {
  for (OpenWalk* walk : walks_) walk->forget();
  walks_.clear();
  keys_.clear();
  text_.clear();
  ranges_.clear();
  range_bytes_ = 0;
  search_.clear();
  passed_ = 0;
  constexpr size_t kKept = 4096;
  if (keys_.capacity() * sizeof(Key) > kKept) std::vector<Key>().swap(keys_);
  if (text_.capacity() > kKept) std::string().swap(text_);
  if (ranges_.capacity() * sizeof(Range) > kKept) std::vector<Range>().swap(ranges_);
}

size_t ReadSet::bytes() const {
  return keys_.capacity() * sizeof(Key) + text_.capacity() + ranges_.capacity() * sizeof(Range) +
         range_bytes_ + search_.bytes();
}

// ---- Coarser, where it grows large

void ReadSet::coarsen() {
  const size_t limit = store_->arena->budget() / kBudgetPart;
  if (bytes() <= limit) return;
  search_.clear();  // by number
  keys_to_ranges(kGroup);
  // Ranges one by one may be as many as keys were.
  for (size_t group = 2; bytes() > limit / 2 && ranges_.size() > 1; group *= 2) join_ranges(group);
}

void ReadSet::keys_to_ranges(size_t group) {
  std::sort(keys_.begin(), keys_.end(), [this](const Key& a, const Key& b) {
    return std::tuple(a.tree->id(), text_of(a)) < std::tuple(b.tree->id(), text_of(b));
  });
  const std::vector<Key> keys = std::exchange(keys_, {});
  const std::string text = std::exchange(text_, {});
  const auto text_at = [&](const Key& key) {
    return std::string_view(text).substr(key.offset, key.size);
  };
  for (size_t begin = 0; begin < keys.size();) {
    size_t end = begin;
    Lsn floor = format::kLsnMax;
    while (end < keys.size() && end < begin + group && keys[end].tree == keys[begin].tree) {
      floor = std::min(floor, keys[end++].floor);
    }
    Range range{keys[begin].tree, floor, {}};
    range.check.low = text_at(keys[begin]);
    range.check.high = std::string(text_at(keys[end - 1])) + '\0';
    range_bytes_ += range.check.low.size() + range.check.high->size();
    ranges_.push_back(std::move(range));
    begin = end;
  }
}

void ReadSet::join_ranges(size_t group) {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tuple(a.tree->id(), std::string_view(a.check.low)) <
           std::tuple(b.tree->id(), std::string_view(b.check.low));
  });
  std::vector<Range> joined;
  range_bytes_ = 0;
  for (size_t begin = 0; begin < ranges_.size();) {
    Range range = std::move(ranges_[begin]);
    size_t end = begin + 1;
    for (; end < ranges_.size() && end < begin + group && ranges_[end].tree == range.tree; ++end) {
      const Range& other = ranges_[end];
      range.floor = std::min(range.floor, other.floor);
      if (!other.check.high.has_value()) range.check.high.reset();
      if (range.check.high.has_value()) {
        range.check.high = std::max(*range.check.high, *other.check.high);
      }
    }
    // Of other containers than before.
    range.check.settled.clear();
    range.check.searched.clear();
    range_bytes_ += range.check.low.size() + (range.check.high ? range.check.high->size() : 0);
    joined.push_back(std::move(range));
    begin = end;
  }
  ranges_ = std::move(joined);
}

}  // namespace hawthorn::txn
