// The trees of a repair's target, and their names: from the catalog where that is whole, else from
// what the manifest says of them, else made of their ids.

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "db/repair_impl.h"
#include "format/tree_shape.h"

namespace hawthorn::db {

namespace {
bool names_a_tree(const std::string& key) {
  return format::is_catalog_name(key) || format::decode_subtree_key(key).has_value();
}
}  // namespace

// Of each key its newest version, which stands first.
void Repair::note_catalog(const std::vector<RepairEntry>& entries) {
  const std::string* last = nullptr;
  for (const RepairEntry& entry : entries) {
    const bool newest = last == nullptr || *last != entry.key;
    last = &entry.key;
    if (newest && entry.kind == tree::EntryKind::kInline) catalog_[entry.key] = entry.value;
  }
}

void Repair::read_catalog() {
  for (const RepairTransaction& transaction : catalog_writes_) {
    for (const RepairOperation& operation : transaction.operations) {
      if (transaction.cts <= cut_of(format::kCatalogTree, operation.key)) continue;
      if (operation.type == format::OperationType::kPut) {
        catalog_[operation.key] = operation.value;
      } else if (operation.type == format::OperationType::kDelete) {
        catalog_.erase(operation.key);
      }
    }
  }
}

// After a scan: every tree that has containers, or a name, gets a record.
void Repair::make_trees() {
  if (scanned_) {
    std::set<uint32_t> ids = {format::kCatalogTree};
    for (const auto& [id, record] : state_.containers) ids.insert(record.tree);
    for (const auto& [id, keys] : logged_keys_) ids.insert(id);
    for (const auto& [key, value] : catalog_) {
      const auto entry = format::decode_catalog_entry(value);
      if (!names_a_tree(key) || !entry.has_value()) continue;
      ids.insert(entry->id);
      if (state_.trees.contains(entry->id)) continue;
      format::TreeRecord tree;
      tree.id = entry->id;
      tree.flags = entry->codec;
      tree.shape = entry->shape;
      if (format::is_catalog_name(key)) tree.name = format::catalog_name(key);
      state_.trees.set(tree);
      if (entry->clone_of != 0) {
        lose(RepairLoss::Kind::kTree, "it was a clone, and has what was written to it alone")
            .tree_id = entry->id;
      }
    }
    for (const auto& [key, value] : catalog_) {
      const auto place = format::decode_subtree_key(key);
      if (!place.has_value()) continue;
      ids.insert(place->parent);
      format::TreeRecord parent =
          state_.trees.get(place->parent).value_or(format::TreeRecord{place->parent, ""});
      if (!parent.shape.empty()) continue;
      const std::string order(format::kBytewiseOrder);
      parent.shape =
          format::encode_tree_shape({.order = order, .value_order = order, .subtrees = true});
      state_.trees.set(parent);
    }
    for (const uint32_t id : ids) {
      if (!state_.trees.contains(id)) state_.trees.set({id, ""});
    }
    format::TreeRecord catalog = state_.trees.at(format::kCatalogTree);
    catalog.name = format::kCatalogTreeName;
    state_.trees.set(catalog);
    std::set<uint32_t> begun;
    for (const auto& [id, record] : state_.containers) {
      if (record.low.empty()) begun.insert(record.tree);
    }
    for (const auto& [id, tree] : state_.trees) {
      if (begun.contains(id)) continue;
      format::ContainerRecord record;
      record.id = state_.next_container++;
      record.tree = id;
      state_.containers.set(record);
    }
    for (const auto& [id, tree] : state_.trees)
      state_.next_tree = std::max(state_.next_tree, id + 1);
  }
}

// The clones of which the log that is left has the moment.
std::set<uint32_t> Repair::clones_in_log() const {
  std::set<uint32_t> ids;
  for (const RepairTransaction& transaction : catalog_writes_) {
    for (const RepairOperation& operation : transaction.operations) {
      if (operation.type != format::OperationType::kPut) continue;
      const auto entry = format::decode_catalog_entry(operation.value);
      if (entry.has_value() && entry->clone_of != 0) ids.insert(entry->id);
    }
  }
  return ids;
}

// What one tree needs of another one is there, or is given up and named.
void Repair::mend_trees() {
  const std::set<uint32_t> told = clones_in_log();
  std::vector<format::TreeRecord> mended;
  for (const auto& [id, record] : state_.trees) {
    format::TreeRecord tree = record;
    if (tree.clone_of != 0 && tree.clone_ts == 0 && !told.contains(id)) {
      // Without it the clone would show what the other tree has by now.
      lose(RepairLoss::Kind::kTree,
           "the moment that it shows of the tree of which it was a clone, which stood in the log: "
           "it has what was written to it alone")
          .tree_id = id;
      tree.clone_of = 0;
    }
    if (tree.clone_of != 0 && !state_.trees.contains(tree.clone_of)) {
      lose(RepairLoss::Kind::kTree,
           "the tree of which it was a clone: it has what was written to "
           "it alone")
          .tree_id = id;
      tree.clone_of = 0;
      tree.clone_ts = 0;
    }
    if (tree.layer_of != 0 && !state_.trees.contains(tree.layer_of)) {
      lose(RepairLoss::Kind::kTree, "the tree of which it holds a part").tree_id = id;
      tree.layer_of = 0;
      tree.layer_cts = 0;
    }
    if (tree != record) mended.push_back(std::move(tree));
  }
  for (const format::TreeRecord& tree : mended) state_.trees.set(tree);
  std::erase_if(state_.dictionaries,
                [&](const auto& one) { return !state_.trees.contains(one.second.tree); });
}

// Subtrees hang where the catalog says: an entry in the tree above, one for the way back.
void Repair::hang_trees(std::string* operations, uint32_t* count) {
  if (report_.losses.empty() && !scanned_) return;
  const auto add = [&](format::OperationType type, uint32_t tree, std::string_view key,
                       std::string_view value) {
    format::append_operation(*operations, {type, tree, key, value});
    ++*count;
  };
  std::map<std::string, std::string> places;
  for (const auto& [key, value] : catalog_) {
    const auto place = format::decode_subtree_key(key);
    const auto entry = format::decode_catalog_entry(value);
    if (!place.has_value() || !entry.has_value()) continue;
    add(format::OperationType::kPut, place->parent, place->stored_key, "");
    places[format::place_key(entry->id)] = key;
  }
  for (const auto& [key, subtree] : places) {
    if (const auto found = catalog_.find(key);
        found == catalog_.end() || found->second != subtree) {
      add(format::OperationType::kPut, format::kCatalogTree, key, subtree);
    }
  }
  for (const auto& [key, value] : catalog_) {
    if (format::decode_place_key(key).has_value() && !places.contains(key)) {
      add(format::OperationType::kDelete, format::kCatalogTree, key, "");
    }
  }
}

void Repair::pass_on_losses() {
  // By the time that an index is reached, what it is passed on from stands before it.
  for (size_t i = 0; i < report_.losses.size(); ++i) {
    const RepairLoss loss = report_.losses[i];
    if (loss.kind != RepairLoss::Kind::kKeyRange) continue;
    for (const auto& [id, tree] : state_.trees) {
      const bool shows = tree.clone_of != 0 && tree.clone_of == loss.tree_id;
      const bool is_layer = id == loss.tree_id && tree.layer_of != 0;
      if (!shows && !is_layer) continue;
      RepairLoss more = loss;
      more.tree_id = shows ? id : tree.layer_of;
      more.what = (shows ? "it shows what a tree had that it was cloned of: "
                         : "a part of a large transaction: ") +
                  loss.what;
      report_.losses.push_back(std::move(more));
    }
  }
}

// A subtree whose tree above is gone gets a name instead.
void Repair::drop_lost_places(std::string* operations, uint32_t* count) {
  for (auto at = catalog_.begin(); at != catalog_.end();) {
    const auto place = format::decode_subtree_key(at->first);
    const auto entry = format::decode_catalog_entry(at->second);
    const bool lost = place.has_value() && entry.has_value() && !has_tree(place->parent);
    if (!lost) {
      ++at;
      continue;
    }
    format::append_operation(*operations,
                             {format::OperationType::kDelete, format::kCatalogTree, at->first, {}});
    ++*count;
    at = catalog_.erase(at);
  }
}

// Puts into the catalog what it has lost, where it may have lost anything; a tree without a name is
// removed when a database is opened.
void Repair::name_trees(std::string* operations, uint32_t* count) {
  drop_lost_places(operations, count);
  std::map<uint32_t, std::string> names;
  std::set<uint32_t> known;
  for (const auto& [key, value] : catalog_) {
    const auto entry = format::decode_catalog_entry(value);
    if (!names_a_tree(key) || !entry.has_value()) continue;
    known.insert(entry->id);
    if (format::is_catalog_name(key)) names[entry->id] = format::catalog_name(key);
  }
  const std::optional<format::TreeRecord> catalog = state_.trees.get(format::kCatalogTree);
  const bool has_catalog = catalog.has_value() && catalog->name == format::kCatalogTreeName;
  const bool doubtful =
      scanned_ || catalog_damaged_ || !log_->gaps().empty() || report_.transactions_dropped > 0;
  for (const auto& [id, tree] : state_.trees) {
    RepairedTree& told = trees_[id];
    told.id = id;
    told.name = names.contains(id) ? names[id] : tree.name;
    if (id == format::kCatalogTree || tree.layer_of != 0 || known.contains(id)) continue;
    if (!has_catalog || !doubtful) continue;
    told.named = !tree.name.empty();
    std::string name = tree.name;
    if (name.empty()) name.append("tree-").append(std::to_string(id));
    while (catalog_.contains(format::catalog_key(name))) {
      name.append("-").append(std::to_string(id));
    }
    const std::string key = format::catalog_key(name);
    const std::string value = format::encode_catalog_entry({id, tree.flags, 0, tree.shape});
    format::append_operation(*operations,
                             {format::OperationType::kPut, format::kCatalogTree, key, value});
    ++*count;
    catalog_[key] = value;
    told.name = name;
    lose(RepairLoss::Kind::kTree,
         told.named
             ? "the catalog does not have its name, which the manifest has: it may have been "
               "dropped or renamed"
             : "its name is lost, or it was dropped, or it held parts of a large "
               "transaction; its options are unknown but for what the manifest says")
        .tree_id = id;
  }
}

}  // namespace hawthorn::db
