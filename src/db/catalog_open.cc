// The catalog when a database is opened: from the manifest, and from the log.

#include <algorithm>

#include "db/catalog.h"
#include "os/epoch.h"

namespace hawthorn::db {

namespace {
Status contradicts(uint64_t container) {
  return Status(StatusCode::kCorruption,
                "the manifest contradicts itself about container " + std::to_string(container));
}

Status too_deep(uint32_t id) {
  return Status(StatusCode::kCorruption, "tree " + std::to_string(id) +
                                             " is a clone of a clone, more than " +
                                             std::to_string(Catalog::kCloneDepthMax) + " times");
}
}  // namespace

size_t Catalog::clone_depth(const tree::TreeState* source) {
  size_t depth = 0;
  while (source != nullptr) {
    ++depth;
    source = source->base() == nullptr ? nullptr : source->base()->source.get();
  }
  return depth;
}

Status Catalog::build(format::ManifestState& state) {
  const os::epoch::Call call;
  tree::Compression& compression = store_->residency->compression();
  for (const auto& [id, record] : state.trees) {
    compression.set_codec(id, static_cast<format::Codec>(record.flags));
  }
  for (const auto& [id, dictionary] : state.dictionaries) {
    if (compression.add_dictionary(dictionary.tree, id, dictionary.bytes)) continue;
    return Status(StatusCode::kCorruption,
                  "dictionary " + std::to_string(id) + " of the manifest is no Zstd dictionary");
  }
  {
    os::MutexLock lock(mutex_);
    next_tree_ = state.next_tree;
  }
  known_trees_ = state.next_tree;
  if (!state.trees.contains(format::kCatalogTree)) {
    add_to(state, format::kCatalogTree, state.trees.empty() ? format::kCatalogTreeName : "", 0);
  }
  const bool had_catalog = state.trees.at(format::kCatalogTree).name == format::kCatalogTreeName;
  std::vector<std::pair<uint32_t, uint64_t>> by_tree;
  by_tree.reserve(state.containers.size());
  for (const auto& [id, record] : state.containers) by_tree.emplace_back(record.tree, id);
  std::sort(by_tree.begin(), by_tree.end());
  auto of_tree = by_tree.begin();
  for (const auto& [id, tree_record] : state.trees) {
    if (tree_record.comparator != 0) {
      return Status(StatusCode::kNotSupported,
                    "tree " + std::to_string(id) + " has an order that this version does not know");
    }
    {
      os::MutexLock lock(mutex_);
      records_.set(tree_record);
    }
    const bool kept_layer =
        tree_record.layer_cts != 0 && state.trees.contains(tree_record.layer_of);
    if (id != format::kCatalogTree && !kept_layer) {
      opened_.push_back(id);
      if (!had_catalog) old_names_.emplace(tree_record.name, id);
    }
    std::vector<format::ContainerRecord> records;
    of_tree = std::lower_bound(of_tree, by_tree.end(), std::pair{id, uint64_t{0}});
    for (; of_tree != by_tree.end() && of_tree->first == id; ++of_tree) {
      records.push_back(state.containers.at(of_tree->second));
    }
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.low < b.low; });
    if (records.empty() || !records.front().low.empty()) {
      return Status(StatusCode::kCorruption,
                    "the manifest has no container for the first keys of tree " +
                        std::to_string(id) + " (\"" + tree_record.name + "\")");
    }
    for (size_t i = 1; i < records.size(); ++i) {
      if (records[i - 1].low == records[i].low) return contradicts(records[i].id);
    }
    std::vector<tree::Container*> containers;
    Status status = open_containers(records, &containers);
    tree::TreeState* const source = tree_record.clone_of == 0 ? nullptr : any(tree_record.clone_of);
    if (tree_record.clone_of != 0 && source == nullptr && status.ok()) {
      status = Status(StatusCode::kCorruption,
                      "the manifest has tree " + std::to_string(id) + ", a clone, without tree " +
                          std::to_string(tree_record.clone_of) + ", of which it was made");
    }
    if (status.ok() && clone_depth(source) > kCloneDepthMax) status = too_deep(id);
    Result<Shape> shape = shape_of(tree_record.name, tree_record.shape);
    if (!shape.ok() && status.ok()) status = shape.status();
    tree::TreeState* tree =
        add(id, std::move(containers), source, shape.ok() ? std::move(*shape) : nullptr);
    if (source != nullptr) {
      source->pins().add(tree::PinList::kNoMoment);
      if (tree_record.clone_ts != 0) {
        tree->show_base(tree_record.clone_ts, format::kLsnMax);
      } else {
        // Until the log has told.
        source->pins().add(tree::PinList::kEverything);
        untold_.push_back(source);
      }
    }
    if (id == format::kCatalogTree) names_ = tree;
    if (status.ok()) status = give_operator(tree, tree_record);
    if (!status.ok()) return status;
    if (kept_layer) give_layer(tree, tree_record);
  }
  return {};
}

// To the tree that it is of, whose id is smaller: in the order in which they were made.
void Catalog::give_layer(tree::TreeState* data, const format::TreeRecord& record) {
  auto layer = std::make_shared<tree::Layer>();
  layer->data = tree::TreeRef(data);
  layer->cts.store(record.layer_cts, std::memory_order_relaxed);
  layer->log_from.store(format::kLsnMax, std::memory_order_relaxed);
  any(record.layer_of)->layers().add(std::move(layer));
}

Status Catalog::give_operator(tree::TreeState* tree, const format::TreeRecord& record) const {
  if (record.merge_operator.empty()) return {};
  const MergeOperator* found = merge_operator(record.merge_operator);
  if (found == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "tree \"" + record.name + "\" has the merge operator \"" + record.merge_operator +
                      "\", which is not among the options'");
  }
  tree->set_merge_operator(found);
  return {};
}

// Null for none.
Result<Catalog::Shape> Catalog::shape_of(std::string_view name, std::string_view encoded) const {
  if (encoded.empty()) return Shape();
  std::optional<format::TreeShapeNames> names = format::decode_tree_shape(encoded);
  if (!names.has_value()) {
    return Status(StatusCode::kCorruption,
                  "the shape of tree \"" + std::string(name) + "\" is none that there is");
  }
  using Order = format::TreeShape::Order;
  const auto order_of = [&](const std::string& wanted, bool compared, char rows) -> Result<Order> {
    if (wanted == format::kBytewiseOrder) return Order();
    Result<Order> order = key_order(wanted, compared, rows);
    if (order.ok()) return order;
    return Status(order.status().code(), "tree \"" + std::string(name) + "\" has the order \"" +
                                             wanted + "\", " +
                                             std::string(order.status().message()));
  };
  Result<Order> order = order_of(names->order, names->compared, format::TreeShape::kKeyLabels);
  if (!order.ok()) return order.status();
  Result<Order> value_order =
      order_of(names->value_order, names->values_compared, format::TreeShape::kValueLabels);
  if (!value_order.ok()) return value_order.status();
  return std::make_unique<const format::TreeShape>(std::move(*names), std::move(*order),
                                                   std::move(*value_order));
}

// A tree without keys.
format::ContainerRecord Catalog::add_to(format::ManifestState& state, uint32_t id,
                                        std::string_view name, uint32_t flags) {
  format::ContainerRecord container;
  container.id = store_->next_container.fetch_add(1, std::memory_order_relaxed);
  container.tree = id;
  state.trees.set({id, std::string(name), 0, flags});
  state.next_tree = std::max(state.next_tree, id + 1);
  state.next_container = std::max(state.next_container, container.id + 1);
  state.containers.set(container);
  return container;
}

// `containers` has one for each record also where there is an error.
Status Catalog::open_containers(const std::vector<format::ContainerRecord>& records,
                                std::vector<tree::Container*>* containers) {
  Status status;
  for (size_t i = 0; i < records.size(); ++i) {
    const format::ContainerRecord& record = records[i];
    auto* file = new tree::RunFile;
    file->record = record;
    const auto extent = [&](const tree::ExtentAddress& address, uint32_t bytes, bool index) {
      if (status.ok()) status = store_->space->mark_used(address);
      return tree::ExtentRef(new tree::Extent(store_->residency, address, bytes, index));
    };
    if (record.run.blocks != 0) {
      file->image = extent(record.run, record.image_blocks() * 4096, true);
      if (!file->find_front() && status.ok()) status = contradicts(record.id);
    }
    for (const format::ValueExtentRecord& value : record.values) {
      file->values.push_back(extent(value.address, value.bytes, false));
    }
    for (const tree::ExtentAddress& address : record.large) {
      file->large.push_back(extent(address, address.blocks * 4096, false));
      file->large.back()->large_value = true;
    }
    store_->residency->adopt(file, nullptr);
    const bool bounded = i + 1 < records.size();
    containers->push_back(tree::TreeState::resting_container(
        store_, record, bounded ? std::string(records[i + 1].low) : std::string(), bounded, file));
  }
  return status;
}

// And those that waited for it, however many that are: no call for each.
Status Catalog::adopt(const Logged& logged, format::ManifestState& state) {
  const os::epoch::Call call;
  std::vector<Orphan> next;
  Status status = adopt_one(logged, state, &next);
  while (status.ok() && !next.empty()) {
    const Orphan orphan = std::move(next.back());
    next.pop_back();
    status = adopt_one({orphan.key, orphan.value, orphan.cts, orphan.first_lsn}, state, &next);
  }
  return status;
}

// Of an id that the manifest knew, the tree is there, or was taken away after a drop that follows.
Status Catalog::adopt_one(const Logged& logged, format::ManifestState& state,
                          std::vector<Orphan>* next) {
  const bool named = format::is_catalog_name(logged.key);
  if (!named && !format::decode_subtree_key(logged.key).has_value()) return {};
  const std::string_view name = named ? format::catalog_name(logged.key) : std::string_view();
  const std::optional<format::CatalogEntry> entry = format::decode_catalog_entry(logged.value);
  if (!entry.has_value()) {
    return Status(StatusCode::kCorruption, "the log holds an entry of the catalog that is none");
  }
  if (tree::TreeState* const known = any(entry->id); known != nullptr) {
    if (entry->clone_of != 0) show_clone(known, logged);
    return {};
  }
  if (entry->id < known_trees_) return {};
  tree::TreeState* const source = entry->clone_of == 0 ? nullptr : any(entry->clone_of);
  if (entry->clone_of != 0 && source == nullptr) {
    // Its entry may be in a chunk, which is looked at later.
    orphans_.emplace(entry->clone_of, Orphan{std::string(logged.key), std::string(logged.value),
                                             logged.cts, logged.first_lsn});
    return {};
  }
  if (clone_depth(source) > kCloneDepthMax) return too_deep(entry->id);
  Result<Shape> shape = shape_of(name, entry->shape);
  if (!shape.ok()) return shape.status();
  const format::ContainerRecord container = add_to(state, entry->id, name, entry->codec);
  tree::TreeState* const made = add(
      entry->id, {tree::TreeState::empty_container(store_, container)}, source, std::move(*shape));
  if (source != nullptr) source->pins().add(tree::PinList::kNoMoment);
  store_->residency->compression().set_codec(entry->id, static_cast<format::Codec>(entry->codec));
  opened_.push_back(entry->id);
  format::TreeRecord record = state.trees.at(entry->id);
  record.clone_of = entry->clone_of;
  record.shape = entry->shape;
  state.trees.set(record);
  {
    os::MutexLock lock(mutex_);
    records_.set(record);
  }
  if (source != nullptr) show_clone(made, logged);
  const auto [first, last] = orphans_.equal_range(entry->id);
  for (auto orphan = first; orphan != last; ++orphan) next->push_back(std::move(orphan->second));
  orphans_.erase(first, last);
  return {};
}

void Catalog::show_clone(tree::TreeState* tree, const Logged& logged) {
  tree::CloneBase* const base = tree->base();
  if (base == nullptr) return;
  const format::Lsn at = base->at.load(std::memory_order_acquire);
  const format::Lsn log_from = base->log_from.load(std::memory_order_acquire);
  // The manifest knows it; or it was made before, and this has renamed it.
  if (at != tree::PinList::kNoMoment && (log_from == format::kLsnMax || at <= logged.cts)) return;
  if (at != tree::PinList::kNoMoment) base->source->pins().move(at, tree::PinList::kNoMoment);
  tree->show_base(logged.cts, std::min(log_from, logged.first_lsn));
}

// The log is replayed: what it has not told of was not committed.
void Catalog::end_clones() {
  for (tree::TreeState* source : std::exchange(untold_, {})) {
    source->pins().remove(tree::PinList::kEverything);
  }
  const bool kept = clones_kept();
  os::MutexLock lock(mutex_);
  cloned_ = !kept;
}

Status Catalog::finish_open(const txn::Services& services, bool read_only,
                            std::vector<format::Lsn> kept) {
  kept_ = std::move(kept);
  if (!orphans_.empty()) {
    return Status(StatusCode::kCorruption, "the log holds a clone of tree " +
                                               std::to_string(orphans_.begin()->first) +
                                               ", which is not there");
  }
  end_clones();
  if (!old_names_.empty()) {
    Value value;
    const Status status = names_->get(format::kCatalogMigratedKey, {0, 0}, false, value);
    // Where it is damaged, it was there.
    if (status.ok() || status.is(StatusCode::kCorruption)) {
      old_names_.clear();
    } else if (!status.is_not_found()) {
      return status;
    }
  }
  if (read_only) {
    opened_.clear();
    return {};
  }
  if (!old_names_.empty()) {
    if (Status s = migrate(services); !s.ok()) return s;
  }
  // The background has begun already, and looks through them itself as soon as it may.
  os::MutexLock removing(removing_);
  {
    os::MutexLock lock(mutex_);
    has_work_.store(!opened_.empty() || cloned_, std::memory_order_release);
  }
  // Only who reads such a moment may use what was dropped since.
  return kept_.empty() ? Status() : look_through();
}

Status Catalog::migrate(const txn::Services& services) {
  txn::Txn txn(services);
  if (Status s = txn.begin({}); !s.ok()) return s;
  const auto put = [&](const std::string& key, const std::string& value) {
    return txn.write(names_, format::OperationType::kPut, key, value);
  };
  Status status = put(std::string(format::kCatalogMigratedKey), "");
  for (const auto& [name, id] : old_names_) {
    if (!status.ok()) break;
    const auto codec = store_->residency->compression().plan(id).codec;
    status = put(format::catalog_key(name),
                 format::encode_catalog_entry({id, static_cast<uint32_t>(codec)}));
  }
  if (!status.ok()) {
    txn.abort();
    return status;
  }
  status = txn.commit(Durability::kFull);
  if (status.ok()) old_names_.clear();
  return status;
}

}  // namespace hawthorn::db
