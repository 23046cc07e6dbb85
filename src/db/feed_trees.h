#pragma once
// The trees that a feed's operations name, as they are at the commit that it has come to: by id,
// with names, options and shapes. It begins as of the feed's position, and follows what the commits
// behind do to the catalog.
//
//   the catalog now ──undone, newest first, what the log says was done to it since──> at the
//   position
//
// Not here: reading the log (commit_reader.h). Threads: one at a time.
//
// 1. What takes a name away is preceded by a note of what it was (format/catalog_entry.h), so that
//    both directions work from the log alone.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/catalog_entry.h"
#include "format/operation.h"
#include "format/tree_shape.h"
#include "hawthorn/feed.h"

namespace hawthorn::db {

class FeedTrees {
 public:
  struct Known {
    FeedTree shown;
    uint32_t clone_of = 0;
    std::unique_ptr<const format::TreeShape> shape;  // null: none
  };
  // As Catalog::key_order.
  using FindOrder = std::function<Result<format::TreeShape::Order>(std::string_view, bool, char)>;
  explicit FeedTrees(FindOrder find_order) : find_order_(std::move(find_order)) {}

  // ---- Going back, before all else: the catalog as it is now, then what was done to it, oldest
  // first. Errors: kCorruption; kInvalidArgument for an order that is not among the options'.
  Status begin(std::map<std::string, std::string> entries,
               const std::vector<std::pair<std::string, std::string>>& puts_since);

  // ---- Going forward
  // Null: it has none of this id.
  Known* find(uint32_t id);
  // An operation on tree 0. True: *change is what it means; the tree is changed by the next call.
  Result<bool> apply(const format::Operation& operation, FeedChange* change);
  // What apply has told of last, and left to be done.
  void settle();

 private:
  Result<Known*> add(std::string_view name, const format::CatalogEntry& entry);

  const FindOrder find_order_;
  std::map<uint32_t, Known> trees_;
  std::map<uint32_t, std::string> operators_;  // of trees that are dropped by now
  uint32_t renamed_ = 0;                       // gets new_name_
  uint32_t dropped_ = 0;
  std::string new_name_;
  std::string source_name_;
};

}  // namespace hawthorn::db
