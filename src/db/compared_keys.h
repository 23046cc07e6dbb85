#pragma once
// Sort keys of a tree whose order is a comparison: of each key that was ever stored there is a row
// in the tree itself, its label and the key, in the order of the comparison. A sort key is the row
// without its first byte, so below the public functions such a tree is one of bytes like any other.
//
//   find(key): rows between the nearest ones in memory ──halved──> there: its sort key
//                                                  └─> not there: a label between its neighbours
//
// A row is committed by itself, before what is stored under it, whatever becomes of the transaction
// that asked; it never changes, and goes with the tree. So what a key is stored as depends on no
// reader's moment. Where the transaction has made the tree, the manifest is published first.
//
// Not here: labels (format/label.h), when a key is stored (db/stored_key.h). Used by
// format::TreeShape of such trees. Threads: any.
//
// 1. One row is made at a time in a tree, by who has looked again since: rows stand in order, and
//    keys that compare equal share one.
// 2. Who makes one waits for nobody's transaction while it holds that turn, also not for an
//    exclusive one: that may be waiting for the turn.
// 3. Rows that were looked at stay in memory, up to kCachedBytes; they are all true.

#include <map>
#include <string>
#include <string_view>

#include "format/label.h"
#include "format/tree_shape.h"
#include "hawthorn/db.h"
#include "os/sync.h"
#include "tree/tree.h"

namespace hawthorn::db {

class ComparedKeys final : public format::ComparedSortKeys {
 public:
  // `rows`: the byte with which they begin.
  ComparedKeys(Db::Impl* db, const KeyComparator* comparator, char rows);
  ~ComparedKeys() override;

  // Before the first call: the tree whose rows they are.
  void set_tree(tree::TreeState* tree) { tree_ = tree; }

  Status find(std::string_view key, Use use, std::string* sort_key) override;
  bool decode(std::string_view sort_key, std::string* key) const override;

 private:
  // Where a key is, or would be. Empty labels: nothing before, or behind.
  struct Place {
    std::string before;
    std::string behind;
    std::string sort_key;  // empty: it is not there
  };
  struct Less {
    using is_transparent = void;
    const KeyComparator* comparator;
    bool operator()(std::string_view a, std::string_view b) const {
      return comparator->compare(a, b) < 0;
    }
  };
  static constexpr size_t kCachedBytes = size_t{1} << 20;
  static constexpr size_t kCachedOverhead = 160;  // of a row: a node and two strings

  // Errors: those of reading.
  Status locate(std::string_view key, Place* place) EXCLUDES(cache_mutex_);
  bool look_in_cache(std::string_view key, Place* place) EXCLUDES(cache_mutex_);
  void keep(std::string_view sort_key, size_t label_bytes) EXCLUDES(cache_mutex_);
  void halve_cache() REQUIRES(cache_mutex_);
  // *again: somebody's exclusive transaction was in the way.
  Status make_row(std::string_view key, std::string* sort_key, bool* again) EXCLUDES(making_);
  Status commit_row(std::string_view row) REQUIRES(making_);

  Db::Impl* const db_;
  const KeyComparator* const comparator_;
  const char rows_;
  tree::TreeState* tree_ = nullptr;

  os::Mutex making_;
  std::string last_made_ GUARDED_BY(making_);   // its label
  bool published_ GUARDED_BY(making_) = false;  // the tree, or it stood

  os::Mutex cache_mutex_;  // innermost; the comparison is called under it
  std::map<std::string, std::string, Less> cache_ GUARDED_BY(cache_mutex_);  // key, its label
  size_t cached_bytes_ GUARDED_BY(cache_mutex_) = 0;
};

}  // namespace hawthorn::db
