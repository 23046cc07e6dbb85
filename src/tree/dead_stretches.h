#pragma once
// Stretches of a container's keys on which nothing is left, as walks have found out: so that
// whoever takes the first entry of a queue again and again does not pass over all that were taken
// before.
//
//   keys:   a  b  c  d  e  f  g  h       x: a tombstone, the newest version of its key, for good
//           x  x  x  x  x  .  .  .       [a, f): a walk from a, or any key up to e, goes on at f
//
// A delta has those of its container (Delta::dead). Not here: who finds them, and goes by them
// (cursor_hidden.cc). Threads: every function from any thread; add and revive under the container's
// latch, so that nothing is added that a write has just revived.
//
// 1. Who reads at or above `ts` finds nothing there, until a version that is no tombstone is linked
//    (Delta::link), one is taken back (Delta::revive), or a run comes that has more.
// 2. Where that rests upon what a transaction has not committed, it is for that one (`own`); where
//    upon deleted ranges, for whoever knows the same ones (`layers`).

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/sync.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

// How many keys are passed before it is worth to spare others that. Tests set it, before the first
// walk.
inline uint32_t dead_stretch_min = 16;
// After how many more of them a walk looks whether it is in a known stretch.
inline uint32_t dead_looks_again = 64;

struct DeadStretch {
  std::string low;
  std::string high;     // the first key behind it, unless
  bool to_end = false;  // it has all up to the container's end
  Lsn ts = 0;
  TxnId own = 0;        // 0: for everybody
  uint64_t layers = 0;  // Layers::state(); 0: whatever it is

  bool covers(std::string_view key) const { return key >= low && (to_end || key < high); }
  // Whether it has what comes right before a key; nothing: before the container's end.
  bool covers_before(std::optional<std::string_view> key) const {
    return !key ? to_end : low < *key && (to_end || *key <= high);
  }
  bool holds_for(const ReadView& view, uint64_t layers_known) const {
    return view.ts >= ts && (own == 0 || own == view.own) &&
           (layers == 0 || layers == layers_known);
  }
};

class DeadStretches {
 public:
  static constexpr size_t kMost = 4;
  static constexpr size_t kKeyBytesMax = 1 << 10;

  bool any() const { return count_.load(std::memory_order_acquire) != 0; }
  // One that covers the key, and holds for the view. False: there is none.
  bool find(std::string_view key, const ReadView& view, uint64_t layers, DeadStretch* out) const;
  // The same of one that covers what comes right before the key.
  bool find_before(std::optional<std::string_view> key, const ReadView& view, uint64_t layers,
                   DeadStretch* out) const;
  // Whether one covers all of the container from the key on.
  bool have_all_from(std::string_view key, const ReadView& view, uint64_t layers) const;
  // In the place of those that it covers, for whoever those hold; or else of the one that was added
  // first, rather one that is a transaction's, which may have ended.
  void add(DeadStretch stretch);
  // The key is not in any of them any more.
  void revive(std::string_view key);
  void clear();

 private:
  // `out` may be null.
  template <typename Covers>
  bool find_if(const ReadView& view, uint64_t layers, Covers covers, DeadStretch* out) const;
  void put(DeadStretch stretch, size_t keep = kMost)
      REQUIRES(mutex_);  // not in the place of `keep`

  mutable os::Mutex mutex_;
  std::array<DeadStretch, kMost> stretches_ GUARDED_BY(mutex_);
  std::atomic<size_t> count_{0};
  size_t next_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hawthorn::tree
