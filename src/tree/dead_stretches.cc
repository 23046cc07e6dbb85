#include "tree/dead_stretches.h"

#include <utility>

namespace hawthorn::tree {

namespace {
// For whoever knows the inner one: what a transaction finds must not take from others what they
// know.
bool covers_all(const DeadStretch& outer, const DeadStretch& inner) {
  if (outer.own != 0 && outer.own != inner.own) return false;
  if (inner.low < outer.low) return false;
  return outer.to_end || (!inner.to_end && inner.high <= outer.high);
}
}  // namespace

template <typename Covers>
bool DeadStretches::find_if(const ReadView& view, uint64_t layers, Covers covers,
                            DeadStretch* out) const {
  if (!any()) return false;
  os::MutexLock lock(mutex_);
  for (size_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    const DeadStretch& stretch = stretches_[i];
    if (!covers(stretch) || !stretch.holds_for(view, layers)) continue;
    if (out != nullptr) *out = stretch;
    return true;
  }
  return false;
}

bool DeadStretches::find(std::string_view key, const ReadView& view, uint64_t layers,
                         DeadStretch* out) const {
  return find_if(view, layers, [&](const DeadStretch& at) { return at.covers(key); }, out);
}

bool DeadStretches::find_before(std::optional<std::string_view> key, const ReadView& view,
                                uint64_t layers, DeadStretch* out) const {
  return find_if(view, layers, [&](const DeadStretch& at) { return at.covers_before(key); }, out);
}

bool DeadStretches::have_all_from(std::string_view key, const ReadView& view,
                                  uint64_t layers) const {
  return find_if(
      view, layers, [&](const DeadStretch& at) { return at.to_end && at.low <= key; }, nullptr);
}

void DeadStretches::put(DeadStretch stretch, size_t keep) {
  const size_t count = count_.load(std::memory_order_relaxed);
  if (count < kMost) {
    stretches_[count] = std::move(stretch);
    count_.store(count + 1, std::memory_order_release);
    return;
  }
  if (next_ == keep) next_ = (next_ + 1) % kMost;
  size_t place = next_;
  for (size_t i = 0; i < kMost; ++i) {
    const size_t at = (next_ + i) % kMost;
    if (at == keep || stretches_[at].own == 0) continue;
    place = at;
    break;
  }
  stretches_[place] = std::move(stretch);
  next_ = (place + 1) % kMost;
}

void DeadStretches::add(DeadStretch stretch) {
  os::MutexLock lock(mutex_);
  size_t count = count_.load(std::memory_order_relaxed);
  for (size_t i = count; i > 0; --i) {
    if (!covers_all(stretch, stretches_[i - 1])) continue;
    std::swap(stretches_[i - 1], stretches_[--count]);
  }
  count_.store(count, std::memory_order_release);
  put(std::move(stretch));
}

// What is on both sides of the key stays.
void DeadStretches::revive(std::string_view key) {
  if (!any()) return;
  os::MutexLock lock(mutex_);
  // Those that are put meanwhile do not cover it.
  for (size_t i = count_.load(std::memory_order_relaxed); i > 0; --i) {
    DeadStretch& stretch = stretches_[i - 1];
    if (!stretch.covers(key)) continue;
    DeadStretch before = stretch;
    before.to_end = false;
    before.high.assign(key);
    stretch.low.assign(key);
    stretch.low.push_back('\0');
    const bool behind = stretch.to_end || stretch.low < stretch.high;
    if (before.low == before.high) {
      if (behind) continue;
      const size_t last = count_.load(std::memory_order_relaxed) - 1;
      if (i - 1 != last) std::swap(stretch, stretches_[last]);
      count_.store(last, std::memory_order_release);
    } else if (!behind) {
      stretch = std::move(before);
    } else {
      put(std::move(before), i - 1);
    }
  }
}

void DeadStretches::clear() {
  if (!any()) return;
  os::MutexLock lock(mutex_);
  count_.store(0, std::memory_order_release);
}

}  // namespace hawthorn::tree
