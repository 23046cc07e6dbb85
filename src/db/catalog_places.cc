// Where trees hang: the entries of the catalog as a transaction changes them, for names and for
// subtrees alike, and those of subtrees as they are read.

#include <set>

#include "db/catalog.h"
#include "db/stored_key.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
constexpr auto kPut = format::OperationType::kPut;
constexpr auto kDelete = format::OperationType::kDelete;

std::string key_of(const Catalog::Place& place) {
  return place.parent == nullptr ? format::catalog_key(place.key)
                                 : format::subtree_key({place.parent->id(), place.key});
}

// As the caller of the tree calls it.
std::string loaded_key(const tree::TreeState& tree, std::string_view stored_key) {
  std::string key;
  if (!tree.shape()->load(stored_key, &key, nullptr).ok()) key = stored_key;
  return key;
}

std::string name_in(const Catalog::Place& place) {
  return place.parent == nullptr ? std::string(place.key) : std::string();
}

TreeChanged news_of(TreeChanged::Change change, const tree::TreeState& tree,
                    const Catalog::Place& place, std::string former_name = {}) {
  TreeChanged news{change, tree.id(), name_in(place), std::move(former_name)};
  if (place.parent == nullptr) return news;
  news.parent = place.parent->id();
  news.key = loaded_key(*place.parent, place.key);
  return news;
}

std::string encoded_shape(const tree::TreeState& tree) {
  return tree.shape() == nullptr ? std::string() : format::encode_tree_shape(tree.shape()->names());
}

// All writes of one change, or none.
template <typename Writes>
Status together(txn::Txn& txn, Writes writes) {
  const uint64_t mark = txn.mark();
  Status status = writes();
  if (!status.ok()) {
    static_cast<void>(txn.roll_back_to(mark).ok());
    txn.undo_tree_change();  // of which no write was made
  }
  static_cast<void>(txn.release_mark(mark).ok());
  return status;
}

std::string subtree_text(uint32_t parent) { return "below tree " + std::to_string(parent); }

Status damaged_entry(uint32_t parent) {
  return Status(StatusCode::kCorruption, "an entry of the catalog for a subtree of tree " +
                                             std::to_string(parent) + " is none");
}
}  // namespace

// ---- Changes

// That of a clone says so also where it is renamed: the log may be read from there first.
std::string Catalog::entry_of(const tree::TreeState* tree) const {
  const auto codec = store_->residency->compression().plan(tree->id()).codec;
  const tree::CloneBase* base = tree->base();
  return format::encode_catalog_entry({tree->id(), static_cast<uint32_t>(codec),
                                       base == nullptr ? 0 : base->source->id(),
                                       encoded_shape(*tree)});
}

Status Catalog::hang(txn::Txn& txn, const Place& place, const tree::TreeState* tree) {
  const std::string key = key_of(place);
  Status status = txn.write(names_, kPut, key, entry_of(tree));
  if (!status.ok() || place.parent == nullptr) return status;
  status = txn.write(names_, kPut, format::place_key(tree->id()), key);
  return status.ok() ? txn.write(place.parent, kPut, place.key, {}) : status;
}

Status Catalog::take_off(txn::Txn& txn, const Place& place, const tree::TreeState* tree) {
  Status status = txn.write(names_, kDelete, key_of(place), {});
  if (!status.ok() || place.parent == nullptr) return status;
  status = txn.write(names_, kDelete, format::place_key(tree->id()), {});
  return status.ok() ? txn.write(place.parent, kDelete, place.key, {}) : status;
}

Result<tree::TreeState*> Catalog::create(txn::Txn& txn, const Place& place, format::Codec codec,
                                         std::string shape) {
  relieve();
  Result<tree::TreeState*> made = make(name_in(place), codec, {.shape = std::move(shape)});
  if (!made.ok()) return made;
  HAWTHORN_TEST_POINT("catalog.made");
  return hang_made(txn, place, *made, news_of(TreeChanged::Change::kCreated, **made, place));
}

Result<tree::TreeState*> Catalog::clone(txn::Txn& txn, const Place& place, tree::TreeState* source,
                                        std::string_view source_name) {
  relieve();
  const auto codec = store_->residency->compression().plan(source->id()).codec;
  Result<tree::TreeState*> made =
      make(name_in(place), codec, {.clone_of = source, .shape = encoded_shape(*source)});
  if (!made.ok()) return made;
  HAWTHORN_TEST_POINT("catalog.cloned");
  {
    os::MutexLock lock(mutex_);
    cloned_ = true;
    has_work_.store(true, std::memory_order_release);
  }
  return hang_made(txn, place, *made,
                   news_of(TreeChanged::Change::kCloned, **made, place, std::string(source_name)));
}

Result<tree::TreeState*> Catalog::hang_made(txn::Txn& txn, const Place& place,
                                            tree::TreeState* made, TreeChanged change) {
  Status status = together(txn, [&] {
    txn.made_tree(made);
    const size_t undo = txn.undo_count();
    Status s = hang(txn, place, made);
    if (s.ok()) txn.note_tree_change(std::move(change), undo);
    return s;
  });
  return status.ok() ? Result<tree::TreeState*>(made) : status;
}

// For who reads the log (catalog_entry.h); subtrees are no matter of feeds.
Status Catalog::note_end(txn::Txn& txn, std::string_view name, const format::CatalogNote& note) {
  const std::string key = format::catalog_note_key(name);
  Status status = txn.write(names_, kPut, key, format::encode_catalog_note(note));
  return status.ok() ? txn.write(names_, kDelete, key, {}) : status;
}

Status Catalog::drop(txn::Txn& txn, const Place& place, tree::TreeState* tree) {
  const std::string entry = entry_of(tree);
  const MergeOperator* merges = tree->merge_operator();
  return together(txn, [&]() -> Status {
    if (place.parent == nullptr) {
      const std::string_view merged_by = merges == nullptr ? std::string_view() : merges->name();
      if (Status s = note_end(txn, place.key, {false, entry, merged_by}); !s.ok()) return s;
    }
    txn.dropped_tree(tree);
    const size_t undo = txn.undo_count();
    if (Status s = take_off(txn, place, tree); !s.ok()) return s;
    txn.note_tree_change(news_of(TreeChanged::Change::kDropped, *tree, place), undo);
    return drop_below(txn, {tree});
  });
}

Status Catalog::move(txn::Txn& txn, const Place& from, const Place& to, tree::TreeState* tree) {
  TreeChanged::Change change = TreeChanged::Change::kRenamed;
  if (to.parent != nullptr) {
    change = TreeChanged::Change::kAttached;
  } else if (from.parent != nullptr) {
    change = TreeChanged::Change::kDetached;
  }
  const std::string entry = entry_of(tree);
  return together(txn, [&] {
    Status s;
    if (change == TreeChanged::Change::kRenamed) s = note_end(txn, from.key, {true, entry, to.key});
    const size_t undo = txn.undo_count();
    if (s.ok()) s = take_off(txn, from, tree);
    if (s.ok()) s = hang(txn, to, tree);
    if (s.ok()) txn.note_tree_change(news_of(change, *tree, to, name_in(from)), undo);
    return s;
  });
}

// Of a parent whose own entries somebody else takes away; adds what it has dropped.
Status Catalog::drop_hanging(txn::Txn& txn, tree::TreeState* parent, std::string_view low,
                             std::optional<std::string_view> high,
                             std::vector<tree::TreeState*>* dropped) {
  const tree::ReadView view = txn.expect_range(names_, format::subtrees_begin(parent->id(), low),
                                               format::subtrees_end(parent->id(), high));
  const Result<std::vector<Subtree>> found = subtrees(*parent, low, high, view);
  if (!found.ok()) return found.status();
  for (const Subtree& subtree : *found) {
    txn.dropped_tree(subtree.tree);
    const size_t undo = txn.undo_count();
    const Place place{subtree.key, parent};
    Status status = txn.write(names_, kDelete, key_of(place), {});
    if (status.ok()) {
      status = txn.write(names_, kDelete, format::place_key(subtree.tree->id()), {});
    }
    if (!status.ok()) return status;
    txn.note_tree_change(news_of(TreeChanged::Change::kDropped, *subtree.tree, place), undo);
    dropped->push_back(subtree.tree);
  }
  return {};
}

// However deep that is: no call for each level.
Status Catalog::drop_below(txn::Txn& txn, std::vector<tree::TreeState*> dropped) {
  while (!dropped.empty()) {
    tree::TreeState* const parent = dropped.back();
    dropped.pop_back();
    if (!holds_subtrees(*parent)) continue;
    if (Status s = drop_hanging(txn, parent, {}, std::nullopt, &dropped); !s.ok()) return s;
  }
  return {};
}

Status Catalog::drop_subtrees(txn::Txn& txn, tree::TreeState* parent, std::string_view low,
                              std::optional<std::string_view> high) {
  return together(txn, [&] {
    std::vector<tree::TreeState*> dropped;
    Status status = drop_hanging(txn, parent, low, high, &dropped);
    return status.ok() ? drop_below(txn, std::move(dropped)) : status;
  });
}

// From the parent upwards, to what has a name: who changes where any of these hangs meanwhile is a
// conflict, so that of two moves that would close a circle together one fails.
Status Catalog::check_no_circle(txn::Txn& txn, const tree::TreeState* tree,
                                const tree::TreeState* parent) {
  std::set<uint32_t> passed;
  for (uint32_t at = parent->id(); at != tree->id();) {
    if (!passed.insert(at).second) {
      return Status(StatusCode::kCorruption,
                    "the catalog says that tree " + std::to_string(at) + " hangs below itself");
    }
    const std::string key = format::place_key(at);
    const tree::ReadView view = txn.expect_key(names_, key);
    Value value;
    const Status status = names_->get(key, view, true, value);
    if (status.is_not_found()) return {};
    if (!status.ok()) return status;
    const auto place = format::decode_subtree_key(value.view());
    if (!place.has_value()) return damaged_entry(at);
    at = place->parent;
  }
  return Status(StatusCode::kInvalidArgument, "a tree cannot hang below itself");
}

// ---- Reads

Result<tree::TreeState*> Catalog::find_subtree(const tree::TreeState& parent, std::string_view key,
                                               const tree::ReadView& view, bool registered) {
  const std::string entry_key = format::subtree_key({parent.id(), key});
  Value value;
  Status status = names_->get(entry_key, view, registered, value);
  if (status.is_not_found()) return Status(StatusCode::kNotFound, "no subtree hangs at this key");
  if (!status.ok()) return status;
  return tree_of_newest(subtree_text(parent.id()), entry_key, view, registered, value);
}

Status Catalog::read_subtrees(
    const tree::ReadView& view, std::string begin, std::string end,
    const std::function<Status(const format::SubtreePlace&, std::string_view value)>& each) {
  tree::TreeCursor cursor(names_, view, {std::move(begin), std::move(end), false});
  for (bool there = cursor.first(); there; there = cursor.next()) {
    const auto place = format::decode_subtree_key(cursor.key());
    if (!place.has_value()) return damaged_entry(0);
    if (Status s = each(*place, cursor.value()); !s.ok()) return s;
  }
  return cursor.status();
}

Result<std::vector<Catalog::Subtree>> Catalog::subtrees(const tree::TreeState& parent,
                                                        std::string_view low,
                                                        std::optional<std::string_view> high,
                                                        const tree::ReadView& view) {
  std::vector<Subtree> found;
  if (high.has_value() && *high <= low) return found;
  const Status status = read_subtrees(
      view, format::subtrees_begin(parent.id(), low), format::subtrees_end(parent.id(), high),
      [&](const format::SubtreePlace& place, std::string_view value) {
        const Result<tree::TreeState*> tree = tree_of(subtree_text(parent.id()), value);
        if (tree.ok()) found.push_back({std::string(place.stored_key), *tree});
        return tree.status();
      });
  return status.ok() ? Result<std::vector<Subtree>>(std::move(found)) : status;
}

Result<std::vector<Catalog::Hanging>> Catalog::all_subtrees(const tree::ReadView& view) {
  std::vector<Hanging> found;
  const Status status = read_subtrees(
      view, std::string(format::kCatalogSubtreesBegin), std::string(format::kCatalogSubtreesEnd),
      [&](const format::SubtreePlace& place, std::string_view value) {
        const auto entry = format::decode_catalog_entry(value);
        if (!entry.has_value()) return damaged_entry(place.parent);
        found.push_back({place.parent, std::string(place.stored_key), entry->id});
        return Status();
      });
  return status.ok() ? Result<std::vector<Hanging>>(std::move(found)) : status;
}

}  // namespace hawthorn::db
