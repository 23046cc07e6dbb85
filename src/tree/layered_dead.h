#pragma once
// Stretches of keys on which a walk over layers has found nothing: whoever goes on from there, or
// comes back, need not ask the layers for each of these keys again.
//
//   tree:   a  b  c  d  e  f       a layer:  x  x  x  x  .  .       x: deleted
//   a walk from a: [a, e) is dead    put c: [a, c) and [c\0, e) are left
//
// As dead_stretches.h, which has those of a container for all who read it, but for one view: what
// others write does not come to be in it. Not here: who finds them (layered_walk.h). Threads: every
// function from any thread.
//
// 1. Its transaction reports each key that it writes (revive), and that it has rolled back (clear),
//    before it walks again.
// 2. They hold for a timestamp and a Layers::state(); with others they begin anew, unless it is the
//    transaction itself that has moved intents to a layer (spilled).
// 3. Trees go by their ids, which are never used again.
// 4. Keys and their places take kBytesMax for each tree; then it begins anew.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "os/sync.h"
#include "tree/version.h"

namespace hawthorn::tree {

// How many keys are passed before it is worth it. Tests set it, before the first walk.
inline uint32_t layered_dead_min = 16;

class LayeredDead {
 public:
  static constexpr size_t kBytesMax = size_t{1} << 20;

  struct Moment {
    Lsn ts;
    uint64_t state;
    bool operator==(const Moment&) const = default;
  };
  struct Stretch {
    std::string low;
    // The first key that is no longer in it. None: it reaches to the end of the tree.
    std::optional<std::string> high;
  };
  // False: the key is in none.
  bool find(uint32_t tree, const Moment& moment, std::string_view key, Stretch* out);
  void add(uint32_t tree, const Moment& moment, Stretch stretch);
  // The state has become `after`, and what the transaction sees stays as it is.
  void spilled(uint32_t tree, uint64_t before, uint64_t after);
  // The key may be there now.
  void revive(uint32_t tree, std::string_view key);
  // Any key may be.
  void clear();

 private:
  struct Tree {
    Moment moment;
    std::map<std::string, std::optional<std::string>, std::less<>> stretches;  // low, high
    size_t bytes = 0;
  };
  using At = decltype(Tree::stretches)::iterator;
  static At covering(Tree& tree, std::string_view key);
  static void put(Tree& tree, Stretch stretch);
  static Stretch take(Tree& tree, At at);

  os::Mutex mutex_;
  std::atomic<bool> any_{false};
  std::unordered_map<uint32_t, Tree> trees_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::tree
