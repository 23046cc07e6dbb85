#include "db/check_subtrees.h"

#include <map>
#include <set>
#include <vector>

#include "db/stored_key.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
using Error = std::function<void(std::string)>;

std::string text_of(const Catalog::Hanging& one) {
  return "tree " + std::to_string(one.id) + " below tree " + std::to_string(one.parent) + ", key " +
         tree::quoted_key(one.key);
}

// What is found from the names on: all that hangs, and each once.
void check_reached(const std::vector<Catalog::Name>& names,
                   const std::vector<Catalog::Hanging>& hanging, const Error& error) {
  std::multimap<uint32_t, const Catalog::Hanging*> below;
  for (const Catalog::Hanging& one : hanging) below.emplace(one.parent, &one);
  std::set<uint32_t> reached;
  std::vector<uint32_t> open;
  for (const Catalog::Name& name : names) {
    if (!reached.insert(name.id).second)
      error("tree " + std::to_string(name.id) + " has two names");
    open.push_back(name.id);
  }
  while (!open.empty()) {
    const auto [first, last] = below.equal_range(open.back());
    open.pop_back();
    for (auto at = first; at != last; ++at) {
      if (reached.insert(at->second->id).second) {
        open.push_back(at->second->id);
      } else {
        error(text_of(*at->second) + ": it hangs, or has a name, elsewhere, too");
      }
    }
  }
  for (const Catalog::Hanging& one : hanging) {
    if (!reached.contains(one.id)) error(text_of(one) + ": no name leads there");
  }
}

void check_entries(const Catalog& catalog, const Catalog::Hanging& one, const tree::ReadView& view,
                   const Error& error) {
  Value value;
  Status status = catalog.names()->get(format::place_key(one.id), view, true, value);
  if (!status.ok() || value.view() != format::subtree_key({one.parent, one.key})) {
    error(text_of(one) + ": from below, the catalog says something else");
  }
  const os::epoch::Call call;
  tree::TreeState* const parent = catalog.any(one.parent);
  if (parent == nullptr || !holds_subtrees(*parent)) {
    return error(text_of(one) + ": that is no tree in which others may hang");
  }
  status = parent->get(one.key, view, true, value);
  if (status.ok() && value.view().empty()) return;
  // What cannot be read is told where its container is looked at.
  if (status.ok() || status.is_not_found()) error(text_of(one) + ": the tree has no such entry");
}
}  // namespace

uint64_t check_subtrees(Db::Impl& database, const Error& error) {
  Catalog& catalog = *database.catalog_;
  const Snapshot now = database.snapshot();
  const tree::ReadView view{now.timestamp(), 0};
  const auto names = catalog.list(view);
  const auto hanging = catalog.all_subtrees(view);
  for (const Status& status : {names.status(), hanging.status()}) {
    if (!status.ok()) error("the catalog: " + status.to_string());
  }
  if (!names.ok() || !hanging.ok()) return 0;
  check_reached(*names, *hanging, error);
  for (const Catalog::Hanging& one : *hanging) check_entries(catalog, one, view, error);
  uint64_t places = 0;
  tree::TreeCursor cursor(
      catalog.names(), view,
      {std::string(format::kCatalogPlacesBegin), std::string(format::kCatalogPlacesEnd), true});
  for (bool there = cursor.first(); there; there = cursor.next()) ++places;
  if (places != hanging->size()) {
    error("the catalog has " + std::to_string(hanging->size()) + " subtrees, and says of " +
          std::to_string(places) + " where they hang");
  }
  return hanging->size();
}

}  // namespace hawthorn::db
