#include "db/catalog.h"

#include <algorithm>
#include <set>

#include "db/compared_keys.h"
#include "db/large_values.h"
#include "db/scheduler.h"
#include "hawthorn/db.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
Status damaged(std::string_view name) {
  return Status(StatusCode::kCorruption,
                "the catalog's entry of tree \"" + std::string(name) + "\" is none");
}
}  // namespace

// Those first that others show, layers and clones, and whatever these keep then.
Catalog::~Catalog() {
  std::vector<std::unique_ptr<tree::TreeState>> left;
  {
    os::MutexLock lock(mutex_);
    for (auto& [id, tree] : trees_) left.push_back(std::move(tree));
    for (Gone& gone : gone_) left.push_back(std::move(gone.tree));
    trees_.clear();
    gone_.clear();
  }
  for (size_t before = 0; before != left.size();) {
    before = left.size();
    std::erase_if(left, [](const auto& tree) { return !tree->is_held(); });
  }
  HAWTHORN_ASSERT(left.empty());
}

// ---- Trees

// What it is a clone of is pinned.
tree::TreeState* Catalog::add(uint32_t id, std::vector<tree::Container*> containers,
                              tree::TreeState* clone_of, Shape shape) {
  auto made = std::make_unique<tree::TreeState>(store_, id, std::move(containers));
  const bool expires = shape != nullptr && shape->expires();
  if (shape != nullptr) {
    for (const format::TreeShape::Order* order : {&shape->order(), &shape->value_order()}) {
      auto* const compared = static_cast<ComparedKeys*>(order->compared.get());
      if (compared != nullptr) compared->set_tree(made.get());
    }
  }
  made->set_shape(std::move(shape));
  if (expires && !store_->expires.exchange(true, std::memory_order_acq_rel)) tell_expires();
  if (clone_of != nullptr) made->set_base(std::make_unique<tree::CloneBase>(clone_of));
  os::MutexLock lock(mutex_);
  next_tree_ = std::max(next_tree_, id + 1);
  list_.push_back(made.get());
  tree::TreeCell* const cell = take_cell();
  made->set_cell(cell);
  store_->active.add(made.get());  // until it is found to rest
  cell->state.store(made.get(), std::memory_order_release);
  cell->id.store(id, std::memory_order_release);
  return trees_.emplace(id, std::move(made)).first->second.get();
}

tree::TreeCell* Catalog::take_cell() {
  if (free_cells_.empty()) return &cells_.emplace_back(store_);
  tree::TreeCell* const cell = free_cells_.back();
  free_cells_.pop_back();
  return cell;
}

tree::TreeState* Catalog::any(uint32_t id) const {
  HAWTHORN_ASSERT(os::epoch::in_call());
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(id);
  if (at == trees_.end() || at->second->dropped.load(std::memory_order_acquire)) return nullptr;
  return at->second.get();
}

tree::TreeState* Catalog::find(uint32_t id) const {
  if (id == format::kCatalogTree) return nullptr;
  tree::TreeState* tree = any(id);
  return tree != nullptr && tree->stands() ? tree : nullptr;
}

std::vector<tree::TreeRef> Catalog::all() const {
  HAWTHORN_TEST_POINT("catalog.looks_at_all");
  std::vector<tree::TreeRef> result;
  os::MutexLock lock(mutex_);
  result.reserve(list_.size());
  for (tree::TreeState* tree : list_) {
    if (!tree->dropped.load(std::memory_order_acquire)) result.emplace_back(tree);
  }
  return result;
}

size_t Catalog::gone() const {
  os::MutexLock lock(mutex_);
  return gone_.size();
}

format::Lsn Catalog::log_needed(uint64_t durable_batch) const {
  format::Lsn needed = format::kLsnMax;
  for (tree::TreeState* tree : store_->active.list_all()) {
    bool rests = false;
    needed = std::min(needed, tree->log_needed(durable_batch, &rests));
    if (rests) store_->active.rest(tree, durable_batch);
  }
  return needed;
}

namespace {
// The part of the budget that trees must leave free, so that existing ones can be written to,
// dropped and replayed: at least two huge pages of the arena.
size_t free_of_trees(size_t budget) { return std::max(budget / 32, size_t{4} << 20); }
// Open transactions and the like count up to one part of so many, however much they take.
constexpr size_t kOthersPart = 8;
}  // namespace

Status Catalog::check_memory() const {
  const os::Arena& arena = *store_->arena;
  const size_t budget = arena.budget();
  const size_t trees = arena.used(os::Quota::kTrees);
  const size_t others =
      arena.used(os::Quota::kLog) + std::min(arena.used(os::Quota::kOther), budget / kOthersPart);
  if (trees + others <= budget - free_of_trees(budget)) return {};
  return Status(StatusCode::kOutOfMemory,
                "there is no room for another tree in the memory budget of " +
                    std::to_string(budget) + " bytes: trees and their containers have " +
                    std::to_string(trees) + ", the log and others " + std::to_string(others) +
                    "; drop some, or set a larger memory_budget_bytes");
}

// The record's batch is the one that is filling, or an earlier one than any of its containers'.
Result<tree::TreeState*> Catalog::make(std::string_view name, format::Codec codec,
                                       const Kind& kind) {
  Result<Shape> shape = shape_of(name, kind.shape);
  if (!shape.ok()) return shape.status();
  // A layer makes room.
  if (kind.layer_of == 0) {
    if (Status s = check_memory(); !s.ok()) return s;
  }
  // On a full disk the manifest's last room is for what flushes change.
  if (Status s = publisher_->keep_manifest_room(kTreeRecordBytes); !s.ok()) return s;
  if (Status s = publisher_->status(); !s.ok()) return s;
  os::MutexLock making(making_);
  Edit edit;
  format::TreeRecord record;
  {
    os::MutexLock lock(mutex_);
    if (next_tree_ == UINT32_MAX) {
      return Status(StatusCode::kNotSupported, "no more ids of trees are left");
    }
    if (kind.clone_of != nullptr) {
      if (clone_depth(kind.clone_of) > kCloneDepthMade) {
        return Status(StatusCode::kNotSupported, "a clone of a clone, more than " +
                                                     std::to_string(kCloneDepthMade) +
                                                     " times: copy its entries into a new tree");
      }
      // From here on it stays.
      if (kind.clone_of->was_dropped()) {
        return Status(StatusCode::kConflict, "what is to be cloned has just been dropped");
      }
      kind.clone_of->pins().add(tree::PinList::kNoMoment);
    }
    record.id = next_tree_++;
    record.name = name;
    record.flags = static_cast<uint32_t>(codec);
    record.layer_of = kind.layer_of;
    record.shape = kind.shape;
    if (kind.clone_of != nullptr) record.clone_of = kind.clone_of->id();
    records_.set(record);
  }
  edit.trees_created.push_back(record);
  format::ContainerRecord container;
  container.id = store_->next_container.fetch_add(1, std::memory_order_relaxed);
  container.tree = record.id;
  // No cut: older records in the log cannot be this tree's, whose id is new.
  edit.set.push_back(container);
  publisher_->add(std::move(edit));
  tree::TreeState* tree = add(record.id, {tree::TreeState::empty_container(store_, container)},
                              kind.clone_of, std::move(*shape));
  tree->ended.store(tree::TreeState::kUnborn, std::memory_order_release);
  store_->residency->compression().set_codec(record.id, codec);
  return tree;
}

// ---- Layers

// It has no name ever: an open that finds it without a commit takes it away.
Result<tree::TreeState*> Catalog::make_layer(const tree::TreeState* of) {
  return make("", store_->residency->compression().plan(of->id()).codec, {.layer_of = of->id()});
}

Status Catalog::keep_layers(std::span<const CommittedLayer> layers, bool kept) {
  if (Status s = publisher_->keep_manifest_room(layers.size() * kTreeRecordBytes); !s.ok())
    return s;
  HAWTHORN_TEST_POINT("catalog.before_keep_layers");
  os::MutexLock removing(removing_);
  format::ManifestBatch batch;
  {
    os::MutexLock lock(mutex_);
    for (const CommittedLayer& committed : layers) {
      const tree::Layer& layer = *committed.layer;
      // Its tree was dropped since the caller looked, and with it the layer.
      if (layer.data->drop_durable.load(std::memory_order_acquire)) continue;
      batch.trees_set.push_back(records_.at(layer.data->id()));
      batch.trees_set.back().layer_cts = kept ? layer.cts.load(std::memory_order_acquire) : 0;
    }
  }
  if (batch.empty()) return {};
  const std::vector<format::TreeRecord> set = batch.trees_set;
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  os::MutexLock lock(mutex_);
  for (const format::TreeRecord& record : set) records_.set(record);
  return {};
}

std::vector<Catalog::CommittedLayer> Catalog::committed_layers() const {
  std::vector<CommittedLayer> result;
  for (const tree::TreeRef& tree : active()) {
    if (!tree->layers().any()) continue;
    for (std::shared_ptr<tree::Layer>& layer : tree->layers().list()) {
      if (layer->deletes() || layer->cts.load(std::memory_order_acquire) == format::kLsnMax)
        continue;
      result.push_back({tree, std::move(layer)});
    }
  }
  std::sort(result.begin(), result.end(), [](const CommittedLayer& a, const CommittedLayer& b) {
    const format::Lsn one = a.layer->cts.load(std::memory_order_acquire);
    const format::Lsn two = b.layer->cts.load(std::memory_order_acquire);
    return one != two ? one < two : a.layer->data->id() < b.layer->data->id();
  });
  return result;
}

std::set<format::Lsn> Catalog::layers_of_manifest() const {
  std::set<format::Lsn> result;
  for (const CommittedLayer& committed : committed_layers()) {
    result.insert(committed.layer->cts.load(std::memory_order_acquire));
  }
  return result;
}

// Its own, of a tree that is gone.
void Catalog::drop_layers_of(tree::TreeState* tree) {
  for (const std::shared_ptr<tree::Layer>& layer : tree->layers().list()) {
    // Of one that is open its transaction takes care.
    if (layer->cts.load(std::memory_order_acquire) == format::kLsnMax) continue;
    if (tree->layers().remove(layer.get()) && !layer->deletes()) unmade(layer->data);
  }
}

// ---- Names

Status Catalog::check_name(std::string_view name) {
  const size_t max = Db::limits().tree_name_bytes_max;
  if (!name.empty() && name.size() <= max) return {};
  return Status(StatusCode::kInvalidArgument,
                "a tree name must have 1 to " + std::to_string(max) + " bytes");
}

Status Catalog::change_record(uint32_t id, const std::function<void(format::TreeRecord&)>& change) {
  HAWTHORN_TEST_POINT("catalog.before_change");
  // What was taken out of the manifest must not come back.
  os::MutexLock removing(removing_);
  if (any(id) == nullptr) return Status(StatusCode::kInvalidArgument, "the tree was dropped");
  format::TreeRecord record;
  {
    os::MutexLock lock(mutex_);
    record = records_.at(id);
  }
  change(record);
  format::ManifestBatch batch;
  batch.trees_set.push_back(record);
  if (Status s = publisher_->keep_manifest_room(kTreeRecordBytes); !s.ok()) return s;
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  os::MutexLock lock(mutex_);
  records_.set(record);
  return {};
}

std::string Catalog::manifest_name(uint32_t id) const {
  os::MutexLock lock(mutex_);
  return records_.get(id).value_or(format::TreeRecord()).name;
}

Result<tree::TreeState*> Catalog::tree_of(std::string_view name, std::string_view value) const {
  HAWTHORN_ASSERT(os::epoch::in_call());
  const std::optional<format::CatalogEntry> entry = format::decode_catalog_entry(value);
  if (!entry.has_value()) return damaged(name);
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(entry->id);
  if (at == trees_.end()) {
    return Status(StatusCode::kCorruption, "tree \"" + std::string(name) + "\" has the id " +
                                               std::to_string(entry->id) +
                                               ", which the manifest does not know");
  }
  return at->second.get();
}

Result<tree::TreeState*> Catalog::find(std::string_view name, const tree::ReadView& view,
                                       bool registered) {
  if (const auto old = old_names_.find(name); old != old_names_.end()) return any(old->second);
  const std::string key = format::catalog_key(name);
  Value value;
  Status status = names_->get(key, view, registered, value);
  if (status.is_not_found()) return Status(StatusCode::kNotFound, "no tree has this name");
  if (status.is(StatusCode::kCorruption)) return salvage(name, status);
  if (!status.ok()) return status;
  return tree_of_newest(name, key, view, registered, value);
}

// What a reader that is not registered has read may have been dropped, and have gone, before it
// looked the tree up: then the entry is another one by now, or none.
Result<tree::TreeState*> Catalog::tree_of_newest(std::string_view name, std::string_view key,
                                                 const tree::ReadView& view, bool registered,
                                                 Value& value) {
  for (;;) {
    Result<tree::TreeState*> tree = tree_of(name, value.view());
    if (tree.ok() || registered) return tree;
    const std::string before = value.to_string();
    const Status status = names_->get(key, view, registered, value);
    if (status.is_not_found()) return Status(StatusCode::kNotFound, "no tree has this name");
    if (!status.ok()) return status;
    if (value.view() == before) return tree;
  }
}

// The catalog cannot be read: the manifest's name, where it is beyond doubt.
Result<tree::TreeState*> Catalog::salvage(std::string_view name, Status damage) const {
  tree::TreeState* found = nullptr;
  os::MutexLock lock(mutex_);
  for (const auto& [id, known] : records_) {
    if (id == format::kCatalogTree || known.name != name) continue;
    const auto at = trees_.find(id);
    if (at == trees_.end() || !at->second->stands()) continue;
    if (found != nullptr) return damage;
    found = at->second.get();
  }
  if (found == nullptr) return damage;
  return found;
}

template <typename Each>
Status Catalog::read_names(const tree::ReadView& view, Each each) {
  tree::TreeCursor cursor(
      names_, view,
      {std::string(format::kCatalogTreesBegin), std::string(format::kCatalogTreesEnd), false});
  for (bool there = cursor.first(); there; there = cursor.next()) {
    const std::string_view name = format::catalog_name(cursor.key());
    const auto entry = format::decode_catalog_entry(cursor.value());
    if (!entry.has_value()) return damaged(name);
    each(name, entry->id);
  }
  return cursor.status();
}

Result<std::vector<Catalog::Name>> Catalog::list(const tree::ReadView& view) {
  std::vector<Name> result;
  const Status status = read_names(
      view, [&](std::string_view name, uint32_t id) { result.push_back({std::string(name), id}); });
  if (status.ok()) {
    for (const auto& [name, id] : old_names_) result.push_back({name, id});
    return result;
  }
  if (!status.is(StatusCode::kCorruption)) return status;
  result.clear();
  {
    os::MutexLock lock(mutex_);
    for (const auto& [id, tree] : trees_) {
      const std::optional<format::TreeRecord> record = records_.get(id);
      if (id == format::kCatalogTree || !record.has_value() || !tree->stands()) continue;
      if (record->name.empty()) continue;  // a layer, or a subtree
      result.push_back({record->name, id});
    }
  }
  // What of the catalog can be read may say that there was none of this name at that moment.
  const os::epoch::Call call;
  std::erase_if(
      result, [&](const Name& one) { return find(one.name, view, true).status().is_not_found(); });
  return result;
}

// ---- What is taken away

void Catalog::unmade(tree::TreeState* tree) {
  tree->ended.store(0, std::memory_order_release);
  ended(tree);
}

void Catalog::ended(tree::TreeState* tree) {
  os::MutexLock lock(mutex_);
  ended_.push_back(tree);
  has_work_.store(true, std::memory_order_release);
}

void Catalog::moved() {
  os::MutexLock lock(mutex_);
  moved_ = true;
  has_work_.store(true, std::memory_order_release);
}

bool Catalog::clones_kept() const {
  const std::vector<tree::TreeRef> trees = all();
  return std::all_of(trees.begin(), trees.end(), [](const tree::TreeRef& tree) {
    return tree->base() == nullptr ||
           tree->base()->log_from.load(std::memory_order_acquire) == format::kLsnMax;
  });
}

// Tells the manifest the moments of clones that are committed.
Status Catalog::keep_clones() {
  {
    os::MutexLock lock(mutex_);
    if (!cloned_) return {};
    cloned_ = false;  // what is made from here on says so again
  }
  bool left = false;
  format::ManifestBatch batch;
  std::vector<tree::CloneBase*> kept;
  format::Lsn newest = 0;
  const std::vector<tree::TreeRef> trees = all();
  for (const tree::TreeRef& tree : trees) {
    tree::CloneBase* const base = tree->base();
    if (base == nullptr) continue;
    const format::Lsn at = base->at.load(std::memory_order_acquire);
    if (at == tree::PinList::kNoMoment) {
      left = left || tree->ended.load(std::memory_order_acquire) != 0;
      continue;
    }
    if (base->log_from.load(std::memory_order_acquire) == format::kLsnMax) continue;
    os::MutexLock lock(mutex_);
    format::TreeRecord record = records_.at(tree->id());
    record.clone_ts = at;
    records_.set(record);
    batch.trees_set.push_back(record);
    kept.push_back(base);
    newest = std::max(newest, at);
  }
  Status status;
  if (!kept.empty()) {
    status = publisher_->keep_manifest_room(kept.size() * kTreeRecordBytes);
    // Should the log lose the commit, its moment would be another one's.
    if (status.ok()) status = store_->log->wait_durable(newest);
    if (status.ok()) status = publisher_->publish_now(std::move(batch));
  }
  if (status.ok()) {
    for (tree::CloneBase* base : kept) {
      base->log_from.store(format::kLsnMax, std::memory_order_release);
    }
  }
  os::MutexLock lock(mutex_);
  cloned_ = cloned_ || left || !status.ok();
  // Until there is room again the log tells.
  return status.is(StatusCode::kNoSpace) ? Status() : status;
}

// Finds what was there at open and nothing leads to, and names that the manifest does not know.
Status Catalog::look_through() {
  const std::vector<uint32_t> opened = std::exchange(opened_, {});
  bool moved = false;
  {
    os::MutexLock lock(mutex_);
    moved = std::exchange(moved_, false);
  }
  if (opened.empty() && !moved) return {};
  std::map<uint32_t, std::string> names;  // of subtrees none
  const auto view = store_->snapshots->add(*store_->visible);
  Status status = read_names({view.ts, 0},
                             [&](std::string_view name, uint32_t id) { names.emplace(id, name); });
  const auto read_hanging = [&](const tree::ReadView& at, const auto& each) {
    const Result<std::vector<Hanging>> all = all_subtrees(at);
    if (!all.ok()) return all.status();
    for (const Hanging& hanging : *all) each(hanging.id);
    return Status();
  };
  if (status.ok()) {
    status = read_hanging({view.ts, 0}, [&](uint32_t id) { names.emplace(id, ""); });
  }
  std::set<uint32_t> kept;
  for (const format::Lsn ts : std::exchange(kept_, {})) {
    if (!status.ok()) break;
    status = read_names({ts, 0}, [&](std::string_view, uint32_t id) { kept.insert(id); });
    if (!status.ok()) break;
    status = read_hanging({ts, 0}, [&](uint32_t id) { kept.insert(id); });
  }
  store_->snapshots->remove(view.slot);
  // What is damaged tells nothing.
  if (!status.ok()) return status.is(StatusCode::kCorruption) ? Status() : status;
  for (const uint32_t id : opened) {
    if (names.contains(id)) continue;
    // What was dropped since is known already.
    tree::TreeState* tree = find(id);
    if (tree == nullptr) continue;
    // Where a snapshot has it, it ended later.
    tree->ended.store(kept.contains(id) ? view.ts : 0, std::memory_order_release);
    ended(tree);
  }
  format::ManifestBatch batch;
  {
    os::MutexLock lock(mutex_);
    for (auto& [id, name] : names) {
      std::optional<format::TreeRecord> record = records_.get(id);
      if (!record.has_value() || record->name == name) continue;
      record->name = std::move(name);
      records_.set(*record);
      batch.trees_set.push_back(*std::move(record));
    }
  }
  if (batch.empty()) return {};
  // On a full disk the manifest stays behind.
  if (!publisher_->keep_manifest_room(kTreeRecordBytes).ok()) return {};
  status = publisher_->publish_now(std::move(batch));
  return status.is(StatusCode::kNoSpace) ? Status() : status;
}

Status Catalog::remove_ended(bool wait) {
  if (!has_work_.load(std::memory_order_acquire)) return {};
  os::MutexLock removing(removing_);
  Status status = remove_all(wait);
  free_gone();
  return status;
}

// Whoever makes trees takes away what others left faster than the background does. What a snapshot
// keeps is not looked at each time.
void Catalog::relieve() {
  {
    os::MutexLock lock(mutex_);
    if (ended_.size() < relieve_at_) return;
  }
  // What stands in the way of that is told to those who flush and drop.
  static_cast<void>(remove_ended(false).ok());
  os::MutexLock lock(mutex_);
  relieve_at_ = std::max(kLeftMax, 2 * ended_.size());
}

Status Catalog::remove_all(bool wait) {
  const os::epoch::Call call;
  if (Status s = look_through(); !s.ok()) return s;
  if (Status s = keep_clones(); !s.ok()) return s;
  // With a clone goes what keeps the tree that it showed.
  Result<bool> again = true;
  while (again.ok() && *again) again = remove_some(wait);
  return again.status();
}

// Whether more may go now.
Result<bool> Catalog::remove_some(bool wait) {
  std::vector<tree::TreeState*> trees;
  {
    // All of it under the mutex: meanwhile nobody begins to clone one of them.
    os::MutexLock lock(mutex_);
    const format::Lsn oldest = store_->snapshots->oldest(format::kLsnMax);
    for (tree::TreeState* tree : ended_) {
      if (tree->pins().any()) continue;  // its clones show it
      if (tree->ended.load(std::memory_order_acquire) > oldest) continue;
      tree->dropped.store(true, std::memory_order_seq_cst);
      trees.push_back(tree);
    }
    if (ended_.empty() && gone_.empty() && !moved_ && !cloned_) {
      has_work_.store(false, std::memory_order_release);
    }
  }
  if (trees.empty()) return false;
  format::Lsn end = 0;
  for (const tree::TreeState* tree : trees) {
    end = std::max(end, tree->ended.load(std::memory_order_acquire));
  }
  // What is being flushed is finished and published first; nothing more is started.
  const auto busy = [](tree::TreeState* tree) {
    os::epoch::Guard guard;
    const std::vector<tree::Container*> containers = tree->directory().all();
    return std::any_of(containers.begin(), containers.end(), [](const auto* container) {
      return container->flushing.load(std::memory_order_seq_cst);
    });
  };
  while (wait && std::any_of(trees.begin(), trees.end(), busy)) {
    store_->machine->clock->sleep_us(100);
  }
  std::erase_if(trees, busy);
  if (trees.empty()) return false;
  // Should the log lose the drop, the name would lead to nothing.
  if (Status s = store_->log->wait_durable(end); !s.ok()) return s;
  if (Status s = publisher_->publish(); !s.ok()) return s;
  HAWTHORN_TEST_POINT("catalog.before_removal");
  // With the record of the drop, in one batch: it stands for those of the containers.
  format::ManifestBatch batch;
  std::vector<tree::ExtentRef> extents;
  for (tree::TreeState* tree : trees) {
    batch.trees_dropped.push_back(tree->id());
    os::epoch::Guard guard;
    for (tree::Container* container : tree->directory().all()) {
      const tree::RunFile* file = container->descriptor.load(std::memory_order_acquire)->run;
      if (file->image) extents.push_back(file->image);
      extents.insert(extents.end(), file->values.begin(), file->values.end());
      extents.insert(extents.end(), file->large.begin(), file->large.end());
    }
  }
  if (Status s = publisher_->publish_now(std::move(batch), std::move(extents)); !s.ok()) return s;
  bool unpinned = false;
  for (tree::TreeState* tree : trees) {
    tree->drop_durable.store(true, std::memory_order_release);
    take_memory(tree);
    drop_layers_of(tree);
    if (const tree::CloneBase* base = tree->base(); base != nullptr) {
      base->source->pins().remove(base->at.load(std::memory_order_acquire));
      unpinned = true;
    }
  }
  const auto gone = [](const tree::TreeState* tree) {
    return tree->drop_durable.load(std::memory_order_acquire);
  };
  {
    os::MutexLock lock(mutex_);
    std::erase_if(ended_, gone);
    std::erase_if(list_, gone);
    for (const tree::TreeState* tree : trees) let_go(tree->id());
  }
  return unpinned;
}

// No handle, name or id leads to it from here on. Who has found it before may still use it.
void Catalog::let_go(uint32_t id) {
  const auto at = trees_.find(id);
  HAWTHORN_ASSERT(at != trees_.end());
  tree::TreeCell* const cell = at->second->cell();
  cell->id.store(0, std::memory_order_seq_cst);
  cell->state.store(nullptr, std::memory_order_seq_cst);
  Gone gone{std::move(at->second), 0};
  trees_.erase(at);
  records_.erase(id);
  store_->active.let_go(gone.tree.get());
  gone.stamp = os::epoch::stamp();
  gone_.push_back(std::move(gone));
}

// Of what was let go: the objects that nobody uses any more, and what is known by their ids.
void Catalog::free_gone() {
  std::vector<Gone> freed;
  {
    os::MutexLock lock(mutex_);
    if (gone_.empty()) return;
    const uint64_t ended = os::epoch::calls_ended_to();
    const auto used = [ended](const Gone& gone) {
      return gone.stamp > ended || gone.tree->is_held();
    };
    const auto first = std::partition(gone_.begin(), gone_.end(), used);
    freed.assign(std::make_move_iterator(first), std::make_move_iterator(gone_.end()));
    gone_.erase(first, gone_.end());
  }
  std::vector<tree::TreeCell*> cells;
  for (Gone& gone : freed) {
    store_->residency->compression().forget_tree(gone.tree->id());
    cells.push_back(gone.tree->cell());
    gone.tree.reset();
  }
  os::MutexLock lock(mutex_);
  free_cells_.insert(free_cells_.end(), cells.begin(), cells.end());
}

namespace {
// Large values that no run has come to name (R22).
void drop_large_values(tree::Store* store, const tree::Delta* delta) {
  tree::DeltaEntry* entries[64];
  size_t count = delta == nullptr ? 0 : delta->collect_first(entries);
  while (count > 0) {
    for (size_t i = 0; i < count; ++i) {
      for (const tree::Version* v = entries[i]->newest.load(std::memory_order_acquire);
           v != nullptr; v = v->older.load(std::memory_order_acquire)) {
        if (v->kind == tree::VersionKind::kLarge) drop_large_value(store, v->value());
      }
    }
    const tree::DeltaEntry* last = entries[count - 1];
    count = delta->collect(tree::Delta::Seek::kGreater, last->key(), last->head, entries);
  }
}
}  // namespace

// Handles keep the tree's object alive, but not its memory.
void Catalog::take_memory(tree::TreeState* tree) {
  os::epoch::Guard guard;
  for (tree::Container* container : tree->directory().all()) {
    auto* empty = new tree::RunFile;
    store_->residency->adopt(empty, nullptr);
    os::MutexLock lock(container->latch);
    const tree::Descriptor* d = container->descriptor.load(std::memory_order_relaxed);
    drop_large_values(store_, d->active);
    drop_large_values(store_, d->frozen);
    container->install(new tree::Descriptor{tree::Delta::none(), nullptr, empty});
    container->open_entries.clear();
    container->intents = 0;
  }
}

}  // namespace hawthorn::db
