// Batches applied to the state, with all that can be wrong about them checked first.

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "db/manifest.h"
#include "format/manifest_record.h"

namespace hawthorn::db {
namespace {

Status corrupt(std::string why) { return Status(StatusCode::kCorruption, std::move(why)); }

auto find_epoch(std::vector<format::LogEpoch>& epochs, uint64_t number) {
  return std::lower_bound(
      epochs.begin(), epochs.end(), number,
      [](const format::LogEpoch& epoch, uint64_t wanted) { return epoch.number < wanted; });
}

bool has_epoch(const format::ManifestState& state, uint64_t number) {
  return std::any_of(state.epochs.begin(), state.epochs.end(),
                     [&](const format::LogEpoch& epoch) { return epoch.number == number; });
}

Status check_trees(const format::ManifestBatch& batch, const format::ManifestState& state,
                   std::unordered_set<uint32_t>& created) {
  for (const format::TreeRecord& tree : batch.trees_created) {
    if (Status status = format::check(tree); !status.ok()) return status;
    const bool used_before = tree.id != 0 && tree.id < state.next_tree;
    if (used_before || state.trees.contains(tree.id) || !created.insert(tree.id).second) {
      return corrupt("tree " + std::to_string(tree.id) + " is created a second time");
    }
  }
  for (const format::TreeRecord& tree : batch.trees_set) {
    if (Status status = format::check(tree); !status.ok()) return status;
    const std::optional<format::TreeRecord> old = state.trees.get(tree.id);
    if (old.has_value() ? old->comparator != tree.comparator : !created.contains(tree.id)) {
      return corrupt("tree " + std::to_string(tree.id) + " is set, but is not that tree");
    }
  }
  std::unordered_set<uint32_t> added;
  for (const format::DictionaryRecord& dictionary : batch.dictionaries_added) {
    if (Status status = format::check(dictionary); !status.ok()) return status;
    if (state.dictionaries.contains(dictionary.id) || !added.insert(dictionary.id).second ||
        (!state.trees.contains(dictionary.tree) && !created.contains(dictionary.tree))) {
      return corrupt("dictionary " + std::to_string(dictionary.id) +
                     " exists already, or its tree does not");
    }
  }
  std::unordered_set<uint32_t> dropped;
  for (const uint32_t id : batch.trees_dropped) {
    if ((!state.trees.contains(id) && !created.contains(id)) || !dropped.insert(id).second) {
      return corrupt("tree " + std::to_string(id) + " is dropped, but does not exist");
    }
  }
  return {};
}

Status check_containers(const format::ManifestBatch& batch, const format::ManifestState& state,
                        const std::unordered_set<uint32_t>& created) {
  std::unordered_set<uint64_t> deleted;
  for (const uint64_t id : batch.containers_deleted) {
    if (!state.containers.contains(id) || !deleted.insert(id).second) {
      return corrupt("container " + std::to_string(id) + " is deleted, but does not exist");
    }
  }
  for (const format::ContainerRecord& container : batch.containers_set) {
    if (Status status = format::check(container); !status.ok()) return status;
    if (!state.trees.contains(container.tree) && !created.contains(container.tree)) {
      return corrupt("container " + std::to_string(container.id) + " belongs to tree " +
                     std::to_string(container.tree) + ", which does not exist");
    }
  }
  return {};
}

Status check_log(const format::ManifestBatch& batch, const format::ManifestState& state) {
  std::unordered_set<uint64_t> deleted;
  for (const uint64_t number : batch.epochs_deleted) {
    if (!has_epoch(state, number) || !deleted.insert(number).second) {
      return corrupt("log epoch " + std::to_string(number) + " is deleted, but does not exist");
    }
  }
  for (const format::LogEpoch& epoch : batch.epochs_set) {
    if (Status status = format::check(epoch); !status.ok()) return status;
  }
  if (batch.log_trim > format::kLsnMax || batch.lsn_reserved > format::kLsnMax) {
    return corrupt("log position out of range");
  }
  return {};
}

Status check_devices(const format::ManifestBatch& batch, const format::ManifestState& state) {
  size_t count = state.devices.size();
  for (const format::DeviceRecord& device : batch.devices_set) {
    if (Status status = format::check(device); !status.ok()) return status;
    if (device.index > count) return corrupt("a device is set before the one of a lower index");
    count = std::max<size_t>(count, device.index + 1);
  }
  return {};
}

Status check_snapshots(const format::ManifestBatch& batch, const format::ManifestState& state) {
  std::unordered_set<std::string> deleted;
  for (const std::string& name : batch.snapshots_deleted) {
    if (!state.snapshots.contains(name) || !deleted.insert(name).second) {
      return corrupt("snapshot \"" + name + "\" is deleted, but does not exist");
    }
  }
  std::unordered_set<std::string> set;
  for (const format::SnapshotRecord& snapshot : batch.snapshots_set) {
    if (Status status = format::check(snapshot); !status.ok()) return status;
    const bool there = state.snapshots.contains(snapshot.name) && !deleted.contains(snapshot.name);
    if (there || !set.insert(snapshot.name).second) {
      return corrupt("snapshot \"" + snapshot.name + "\" is made a second time");
    }
  }
  return {};
}

Status check_feeds(const format::ManifestBatch& batch, const format::ManifestState& state) {
  for (const std::string& name : batch.feeds_deleted) {
    if (!state.feeds.contains(name)) {
      return corrupt("feed \"" + name + "\" is deleted, but does not exist");
    }
  }
  for (const format::FeedRecord& feed : batch.feeds_set) {
    if (Status status = format::check(feed); !status.ok()) return status;
  }
  return {};
}

void drop_trees(const std::vector<uint32_t>& dropped, format::ManifestState& state) {
  if (dropped.empty()) return;
  const std::unordered_set<uint32_t> ids(dropped.begin(), dropped.end());
  for (const uint32_t id : dropped) state.trees.erase(id);
  state.containers.erase_if([&](const auto& container) { return ids.contains(container.tree); });
  std::erase_if(state.dictionaries,
                [&](const auto& entry) { return ids.contains(entry.second.tree); });
}

}  // namespace

Status check(const format::ManifestBatch& batch, const format::ManifestState& state) {
  std::unordered_set<uint32_t> created;
  if (Status status = check_trees(batch, state, created); !status.ok()) return status;
  if (Status status = check_containers(batch, state, created); !status.ok()) return status;
  if (Status status = check_devices(batch, state); !status.ok()) return status;
  if (Status status = check_snapshots(batch, state); !status.ok()) return status;
  if (Status status = check_feeds(batch, state); !status.ok()) return status;
  return check_log(batch, state);
}

Status apply(format::ManifestBatch batch, format::ManifestState& state) {
  if (Status status = check(batch, state); !status.ok()) return status;
  for (const format::TreeRecord& tree : batch.trees_created) {
    state.next_tree = std::max(state.next_tree, tree.id + 1);
    state.trees.set(tree);
  }
  for (const format::TreeRecord& tree : batch.trees_set) state.trees.set(tree);
  for (format::DictionaryRecord& dictionary : batch.dictionaries_added) {
    const uint32_t id = dictionary.id;
    state.dictionaries.insert_or_assign(id, std::move(dictionary));
  }
  for (const uint64_t id : batch.containers_deleted) state.containers.erase(id);
  for (const format::ContainerRecord& container : batch.containers_set) {
    state.next_container = std::max(state.next_container, container.id + 1);
    state.containers.set(container);
  }
  drop_trees(batch.trees_dropped, state);
  for (const uint64_t number : batch.epochs_deleted) {
    const auto at = find_epoch(state.epochs, number);
    if (at != state.epochs.end() && at->number == number) state.epochs.erase(at);
  }
  for (const format::LogEpoch& epoch : batch.epochs_set) {
    const auto at = find_epoch(state.epochs, epoch.number);
    if (at != state.epochs.end() && at->number == epoch.number) {
      *at = epoch;
    } else {
      state.epochs.insert(at, epoch);
    }
  }
  for (format::DeviceRecord& device : batch.devices_set) {
    const size_t index = device.index;
    if (index == state.devices.size()) state.devices.emplace_back();
    state.devices[index] = std::move(device);
  }
  for (const std::string& name : batch.snapshots_deleted) state.snapshots.erase(name);
  for (format::SnapshotRecord& snapshot : batch.snapshots_set) {
    const std::string name = snapshot.name;
    state.snapshots.insert_or_assign(name, std::move(snapshot));
  }
  for (const std::string& name : batch.feeds_deleted) state.feeds.erase(name);
  for (format::FeedRecord& feed : batch.feeds_set) {
    const std::string name = feed.name;
    state.feeds.insert_or_assign(name, std::move(feed));
  }
  state.log_trim = std::max(state.log_trim, batch.log_trim);
  state.lsn_reserved = std::max(state.lsn_reserved, batch.lsn_reserved);
  ++state.last_batch;
  return {};
}

}  // namespace hawthorn::db
