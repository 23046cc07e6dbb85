#include "db/feed_trees.h"

#include <utility>

namespace hawthorn::db {

namespace {
Status damaged_feed(std::string_view name) {
  return Status(StatusCode::kCorruption,
                "the catalog's entry of \"" + std::string(name) + "\" in the log is damaged_feed");
}
bool is_note(std::string_view key) { return key.starts_with(format::kCatalogNotes); }
}  // namespace

Status FeedTrees::begin(std::map<std::string, std::string> entries,
                        const std::vector<std::pair<std::string, std::string>>& puts_since) {
  for (auto put = puts_since.rbegin(); put != puts_since.rend(); ++put) {
    const auto& [key, value] = *put;
    if (format::is_catalog_name(key)) {
      entries.erase(std::string(format::catalog_name(key)));
    } else if (is_note(key)) {
      const auto note = format::decode_catalog_note(value);
      if (!note.has_value()) return damaged_feed(key);
      entries[key.substr(format::kCatalogNotes.size())] = std::string(note->entry);
      // Nothing else may know it any more.
      const auto entry = format::decode_catalog_entry(note->entry);
      if (entry.has_value() && !note->renamed) operators_[entry->id] = std::string(note->name);
    }
  }
  for (const auto& [name, value] : entries) {
    const auto entry = format::decode_catalog_entry(value);
    if (!entry.has_value()) return damaged_feed(name);
    Result<Known*> added = add(name, *entry);
    if (!added.ok()) return added.status();
  }
  return {};
}

Result<FeedTrees::Known*> FeedTrees::add(std::string_view name, const format::CatalogEntry& entry) {
  Known& known = trees_[entry.id];
  known = {};
  known.clone_of = entry.clone_of;
  known.shown.id = entry.id;
  known.shown.name = std::string(name);
  known.shown.compression = static_cast<Compression>(entry.codec);
  if (const auto of = operators_.find(entry.id); of != operators_.end()) {
    known.shown.merge_operator = of->second;
  }
  if (entry.shape.empty()) return &known;
  auto names = format::decode_tree_shape(entry.shape);
  if (!names.has_value()) return damaged_feed(name);
  using Shape = format::TreeShape;
  Shape::Order orders[2];
  for (int i = 0; i < 2; ++i) {
    const std::string& wanted = i == 0 ? names->order : names->value_order;
    if (wanted == format::kBytewiseOrder) continue;
    Result<Shape::Order> order =
        find_order_(wanted, i == 0 ? names->compared : names->values_compared,
                    i == 0 ? Shape::kKeyLabels : Shape::kValueLabels);
    if (!order.ok()) {
      return Status(order.status().code(), "tree \"" + std::string(name) + "\" has the order \"" +
                                               wanted + "\", " +
                                               std::string(order.status().message()));
    }
    orders[i] = std::move(*order);
  }
  TreeOptions& options = known.shown.options;
  options.order = names->order;
  options.multi_value = names->multi_value;
  if (names->multi_value) options.value_order = names->value_order;
  options.expires = names->expires;
  options.ttl_ms = names->ttl_ms;
  known.shape =
      std::make_unique<const Shape>(std::move(*names), std::move(orders[0]), std::move(orders[1]));
  return &known;
}

FeedTrees::Known* FeedTrees::find(uint32_t id) {
  const auto at = trees_.find(id);
  return at == trees_.end() ? nullptr : &at->second;
}

void FeedTrees::settle() {
  if (renamed_ != 0) trees_[renamed_].shown.name = std::move(new_name_);
  if (dropped_ != 0) trees_.erase(dropped_);
  renamed_ = dropped_ = 0;
}

Result<bool> FeedTrees::apply(const format::Operation& operation, FeedChange* change) {
  settle();
  if (operation.type != format::OperationType::kPut) return false;
  if (is_note(operation.key)) {
    const auto note = format::decode_catalog_note(operation.value);
    if (!note.has_value()) return damaged_feed(operation.key);
    const auto entry = format::decode_catalog_entry(note->entry);
    if (!entry.has_value()) return damaged_feed(operation.key);
    const Known* known = find(entry->id);
    if (known == nullptr) return damaged_feed(operation.key);
    *change = {};
    change->type = note->renamed ? ChangeType::kRenameTree : ChangeType::kDropTree;
    change->tree = &known->shown;
    if (note->renamed) {
      renamed_ = entry->id;
      new_name_ = std::string(note->name);
      change->other_name = new_name_;
    } else {
      dropped_ = entry->id;
    }
    return true;
  }
  if (format::decode_subtree_key(operation.key).has_value()) {
    return Status(StatusCode::kNotSupported, "a feed of trees that hang in trees");
  }
  if (!format::is_catalog_name(operation.key)) return false;
  const std::string_view name = format::catalog_name(operation.key);
  const auto entry = format::decode_catalog_entry(operation.value);
  if (!entry.has_value()) return damaged_feed(name);
  if (find(entry->id) != nullptr) return false;  // its other name, of which the note has told
  Result<Known*> added = add(name, *entry);
  if (!added.ok()) return added.status();
  *change = {};
  change->type = ChangeType::kCreateTree;
  change->tree = &(*added)->shown;
  if (entry->clone_of != 0) {
    const Known* source = find(entry->clone_of);
    if (source == nullptr) return damaged_feed(name);
    change->type = ChangeType::kCloneTree;
    source_name_ = source->shown.name;
    change->other_name = source_name_;
  }
  return true;
}

}  // namespace hawthorn::db
