#pragma once
// What a transaction has read that must not have changed when it commits (R19): keys, there or
// not, and ranges with their gaps.
//
// Not here: when it is validated (sequencer.h). Used by transaction.h; cursors report their walks.
// Threads: one at a time.
//
// 1. What was found valid up to some timestamp is looked at from there on only (passed). So a large
//    set is validated beforehand, and only what came since at the turn of its transaction.
// 2. Above a share of the memory budget neighbouring keys become ranges, which may find conflicts
//    that are none, and never miss one.
// 3. Every floor is a timestamp that the transaction has registered.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree/conflicts.h"
#include "tree/store.h"
#include "txn/conflict_search.h"
#include "txn/read_fence.h"
#include "txn/sequencer.h"

namespace hawthorn::txn {

// A cursor that is walking.
class OpenWalk {
 public:
  virtual ~OpenWalk() = default;
  // Adds the range that it has shown to the read set.
  virtual void fold() = 0;
  // The transaction has ended.
  virtual void forget() = 0;
};

class ReadSet {
 public:
  explicit ReadSet(const tree::Store* store) : store_(store) {}

  // Nobody may have committed to the key above `floor`.
  void add(const tree::TreeState* tree, std::string_view key, Lsn floor);
  // Nor to any key in [low, high), without `high` to the end.
  void add_range(const tree::TreeState* tree, std::string_view low,
                 std::optional<std::string_view> high, Lsn floor);
  // A walk between its begin and end: it is folded before the set is validated.
  void begin_walk(OpenWalk* walk) { walks_.push_back(walk); }
  void end_walk(OpenWalk* walk) { std::erase(walks_, walk); }
  void fold_walks();

  bool empty() const { return keys_.empty() && ranges_.empty() && walks_.empty(); }
  CommitCheck::Verdict validate(TxnId own);
  Result<bool> read_ahead(TxnId own);
  // It was valid with everything up to here.
  void passed(Lsn upto) { passed_ = std::max(passed_, upto); }

  // All of it, for when it must stay as it is; walks are folded before. The caller seals it.
  void fence(ReadFence* fence) const;

  void clear();
  // That it takes of the heap.
  size_t bytes() const;

 private:
  struct Key {
    const tree::TreeState* tree;
    Lsn floor;
    size_t offset;  // in text_
    uint32_t size;
  };
  struct Range {
    const tree::TreeState* tree;
    Lsn floor;
    tree::RangeCheck check;
  };

  std::string_view text_of(const Key& key) const { return {text_.data() + key.offset, key.size}; }
  CheckedKey checked(size_t number) const {
    const Key& key = keys_[number];
    return {key.tree, text_of(key), std::max(key.floor, passed_)};
  }
  void coarsen();
  void keys_to_ranges(size_t group);
  void join_ranges(size_t group);

  const tree::Store* const store_;
  std::vector<Key> keys_;
  std::string text_;
  std::vector<Range> ranges_;
  size_t range_bytes_ = 0;  // of their keys
  std::vector<OpenWalk*> walks_;
  ConflictSearch search_;
  Lsn passed_ = 0;
};

}  // namespace hawthorn::txn
