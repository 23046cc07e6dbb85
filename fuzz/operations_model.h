#pragma once
// What the operations of operations_run.h know of the database: its trees, each a row of cells in
// the order of its keys, and in each cell the number of a value. A moment of the database is the
// numbers of all cells.
//
// Not here: what is done with it. Threads: one.
//
// 1. A cell is an entry that may be there: a key of its tree; in `pairs` a key and one of its
// values.
// 2. 0: it is not there. kHangs + i in `nest` or in a subtree: the i-th subtree hangs there.
// 3. Trees that come and go have a cell behind all others that tells whether they are there by a
//    name; the cells of one that is not there are 0.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/database.h"

namespace hawthorn::fuzz {

enum TreeNumber : int {
  kPlain,     // nothing special; has the pool's keys, all others have some of them
  kSums,      // appends operands
  kReverse,   // the other way round
  kCompared,  // an order that is a comparison
  kPairs,     // several values to a key
  kEnding,    // entries end
  kNest,      // trees as values
  kSub0,      // these
  kSub1,
  kSub2,
  kCloneA,  // of `plain`, or of the other one
  kCloneB,
  kTrees
};
inline constexpr int kSubs = 3;
inline constexpr int kFixedTrees = kSub0;
inline constexpr int kValuesOfKey = 4;  // in `pairs`
inline constexpr std::array<int, kTrees> kCellsOf = {kKeys, 32, 64, 32, 64,    32,
                                                     16,    16, 16, 16, kKeys, kKeys};
constexpr int first_of(int tree) {
  int first = 0;
  for (int i = 0; i < tree; ++i) first += kCellsOf[static_cast<size_t>(i)];
  return first;
}
inline constexpr int kCells = first_of(kTrees);
inline constexpr int kNames = kTrees - kFixedTrees;
inline constexpr uint32_t kHangs = uint32_t{1} << 30;
inline constexpr uint32_t kPresent = 1;  // the number of what has no value of its own

struct Span {
  int from = 0;
  int to = 0;
  bool covers(int cell) const { return from <= cell && cell < to; }
  bool meets(const Span& other) const { return from < other.to && other.from < to; }
};
inline Span cells_of(int tree) {
  const int first = first_of(tree);
  return {first, first + kCellsOf[static_cast<size_t>(tree)]};
}
inline TreeNumber tree_of(int cell) {
  int tree = 0;
  while (cell >= first_of(tree + 1)) ++tree;
  return static_cast<TreeNumber>(tree);
}
inline int name_cell(int tree) { return kCells + tree - kFixedTrees; }
inline bool is_sub(int tree) { return tree >= kSub0 && tree <= kSub2; }
inline bool is_clone(int tree) { return tree >= kCloneA; }
inline bool can_nest(int tree) { return tree == kNest || is_sub(tree); }
inline std::string name_of(int tree) {
  static const char* const kNamesOfTrees[] = {"t",     "sums",   "reverse", "compared",
                                              "pairs", "ending", "nest",    "sub 0",
                                              "sub 1", "sub 2",  "clone a", "clone b"};
  return kNamesOfTrees[tree];
}

inline TreeOptions options_of(int tree) {
  switch (tree) {
    case kReverse:
      return {.order = "reverse"};
    case kCompared:
      return {.order = "by size"};
    case kPairs:
      return {.multi_value = true};
    case kEnding:
      return {.expires = true};
    case kNest:
    case kSub0:
    case kSub1:
    case kSub2:
      return {.subtrees = true};
    default:
      return {};
  }
}

// The key of each cell. The empty one is in `plain` and its clones alone: as a lower end it is
// none.
inline const std::vector<std::string>& cell_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (int tree = 0; tree < kTrees; ++tree) {
      const int count = kCellsOf[static_cast<size_t>(tree)];
      const int keys_there = tree == kPairs ? count / kValuesOfKey : count;
      std::vector<std::string> some;
      for (int i = 0; i < keys_there; ++i) {
        some.push_back(key(count == kKeys ? i : 1 + i * (kKeys - 1) / keys_there));
      }
      if (tree == kReverse) std::reverse(some.begin(), some.end());
      if (tree == kCompared) {
        std::sort(some.begin(), some.end(), [](const std::string& a, const std::string& b) {
          return BySize().compare(a, b) < 0;
        });
      }
      for (int i = 0; i < count; ++i) {
        all.push_back(some[static_cast<size_t>(tree == kPairs ? i / kValuesOfKey : i)]);
      }
    }
    return all;
  }();
  return keys;
}
inline const std::string& cell_key(int cell) { return cell_keys()[static_cast<size_t>(cell)]; }
// In `pairs`, one of the values that keys may have there, in their order.
inline std::string pair_value(int cell) {
  static const std::string kValues[] = {std::string(), std::string("\0\0", 2), "a value",
                                        std::string(150, 'v')};
  return kValues[(cell - first_of(kPairs)) % kValuesOfKey];
}

using State = std::array<uint32_t, kCells + kNames>;
inline uint32_t at(const State& state, int cell) { return state[static_cast<size_t>(cell)]; }
inline uint32_t& at(State& state, int cell) { return state[static_cast<size_t>(cell)]; }

// Where a subtree hangs; -1: nowhere.
inline int place_of(const State& state, int sub) {
  const uint32_t hanging = kHangs + static_cast<uint32_t>(sub - kSub0);
  for (int cell = first_of(kNest); cell < first_of(kCloneA); ++cell) {
    if (at(state, cell) == hanging) return cell;
  }
  return -1;
}
inline bool exists(const State& state, int tree) {
  if (tree < kFixedTrees) return true;
  if (at(state, name_cell(tree)) != 0) return true;
  return is_sub(tree) && place_of(state, tree) >= 0;
}
// What a cell held is gone, and with a subtree all that hangs below it. `done` is called with each
// cell that has changed.
template <typename Done>
void clear_cell(State& state, int cell, const Done& done) {
  const uint32_t number = at(state, cell);
  at(state, cell) = 0;
  done(cell);
  if (number < kHangs) return;
  const Span below = cells_of(kSub0 + static_cast<int>(number - kHangs));
  for (int i = below.from; i < below.to; ++i) {
    if (at(state, i) != 0) clear_cell(state, i, done);
  }
}
inline void clear_cell(State& state, int cell) {
  clear_cell(state, cell, [](int) {});
}

// By their numbers: bytes, and when they end in steps of the clock.
class ValueTable {
 public:
  ValueTable() { values_.resize(2); }
  uint32_t add(std::string bytes, uint32_t ends = 0) {
    values_.push_back({std::move(bytes), ends});
    return static_cast<uint32_t>(values_.size() - 1);
  }
  uint32_t next() const { return static_cast<uint32_t>(values_.size()); }
  const std::string& bytes(uint32_t number) const { return values_[number].bytes; }
  uint32_t ends(uint32_t number) const { return number < kHangs ? values_[number].ends : 0; }

 private:
  struct One {
    std::string bytes;
    uint32_t ends = 0;
  };
  std::vector<One> values_;
};

// A moment as somebody sees it, from a step of the clock.
struct View {
  State state;
  uint32_t step = 0;
};

}  // namespace hawthorn::fuzz
