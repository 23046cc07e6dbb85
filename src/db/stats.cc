// Db::stats: what the parts of a database count, and what its trees hold.

#include <algorithm>
#include <map>
#include <set>

#include "db/impl.h"
#include "db/scrub.h"
#include "hawthorn/db.h"
#include "os/epoch.h"
#include "os/io_queue.h"

namespace hawthorn {

namespace {
// Entries of deltas are not looked at one by one: their share of the bytes.
uint64_t old_bytes_of(const tree::Delta& delta) {
  const uint64_t versions = delta.versions();
  const uint64_t entries = delta.entries();
  return versions > entries ? delta.bytes() * (versions - entries) / versions : 0;
}
}  // namespace

Stats Db::stats() {
  Stats stats;
  if (!impl_->usable().ok()) return stats;
  std::map<uint32_t, std::string> names;
  std::map<uint32_t, uint64_t> hanging;  // how many hang in a tree itself
  std::set<uint32_t> subtrees;
  {
    const Snapshot now = snapshot();
    const auto listed = impl_->catalog_->list({now.timestamp(), 0});
    if (listed.ok()) {
      for (const db::Catalog::Name& name : *listed) names.emplace(name.id, name.name);
    }
    const auto all = impl_->catalog_->all_subtrees({now.timestamp(), 0});
    if (all.ok()) {
      for (const db::Catalog::Hanging& one : *all) {
        subtrees.insert(one.id);
        ++hanging[one.parent];
      }
    }
  }
  for (NamedSnapshot& named : impl_->named_snapshots_->list()) {
    stats.named_snapshots.push_back({std::move(named.name), named.timestamp, named.created_us, 0});
  }
  const std::vector<tree::TreeRef> trees = impl_->catalog_->all();
  std::set<const tree::TreeState*> layers;
  for (const tree::TreeState* state : trees) {
    if (!state->layers().any()) continue;
    for (const auto& layer : state->layers().list()) {
      if (!layer->deletes()) layers.insert(layer->data);
    }
    stats.deleted_ranges += state->layers().ranges();
  }
  stats.layers = layers.size();
  stats.subtrees = subtrees.size();
  stats.trees_unreachable = impl_->catalog_->gone();
  for (tree::TreeState* state : trees) {
    TreeStats tree_stats;
    if (const auto name = names.find(state->id()); name != names.end()) {
      tree_stats.name = name->second;
    }
    const tree::Compression::Plan plan = impl_->residency_->compression().plan(state->id());
    if (const auto in = hanging.find(state->id()); in != hanging.end()) {
      tree_stats.subtrees = in->second;
    }
    tree_stats.compression = static_cast<Compression>(plan.codec);
    tree_stats.compression_dictionary = plan.dictionary != nullptr;
    os::epoch::Guard guard;
    const tree::Delta* shared = nullptr;  // by neighbours: counts once
    for (const tree::Container* container : state->directory().all()) {
      const tree::Descriptor* d = container->descriptor.load(std::memory_order_acquire);
      ++tree_stats.containers;
      tree_stats.delta_records += d->active->versions();
      if (d->frozen != nullptr && d->frozen != shared) {
        tree_stats.delta_records += d->frozen->versions();
      }
      if (d->frozen != nullptr) shared = d->frozen;
      tree_stats.entries_flushed += d->run->record.entries;
      tree_stats.bytes_index += uint64_t{d->run->record.run.blocks} * 4096;
      tree_stats.bytes_uncompressed += uint64_t{d->run->record.image_blocks()} * 4096;
      for (const format::ValueExtentRecord& value : d->run->record.values) {
        tree_stats.bytes_values += uint64_t{value.address.blocks} * 4096;
        tree_stats.bytes_uncompressed += uint64_t{format::run_extent_blocks(value.bytes)} * 4096;
      }
      for (const tree::ExtentAddress& large : d->run->record.large) {
        tree_stats.bytes_values += uint64_t{large.blocks} * 4096;
        tree_stats.bytes_uncompressed += uint64_t{large.blocks} * 4096;
      }
      tree_stats.bytes_garbage += d->run->garbage_bytes();
      const uint64_t old_bytes = d->run->old_version_bytes + old_bytes_of(*d->active);
      stats.bytes_old_versions += old_bytes;
      for (NamedSnapshotStats& named : stats.named_snapshots) {
        const bool changed = !d->active->empty() || d->run->record.max_ts > named.timestamp;
        named.bytes_kept += changed ? old_bytes : 0;
      }
      stats.quarantined_containers += d->run->damaged.load(std::memory_order_relaxed) ? 1 : 0;
    }
    stats.disk_bytes_reachable += tree_stats.bytes_index + tree_stats.bytes_values;
    if (layers.contains(state)) {
      stats.bytes_layers += tree_stats.bytes_index + tree_stats.bytes_values;
    }
    const bool hangs = subtrees.contains(state->id());
    if (hangs) stats.bytes_subtrees += tree_stats.bytes_index + tree_stats.bytes_values;
    stats.trees_unreachable += !hangs && tree_stats.name.empty() && !layers.contains(state) &&
                                       state->id() != format::kCatalogTree
                                   ? 1
                                   : 0;
    // What is dropped and still read, subtrees, layers, and the catalog have no name.
    if (!tree_stats.name.empty()) stats.trees.push_back(std::move(tree_stats));
  }
  impl_->figures(&stats);
  stats.disk_bytes_allocated = impl_->space_->allocated_bytes();
  stats.memory_huge_page_bytes = impl_->arena_->huge_page_bytes();
  return stats;
}

void Db::Impl::figures(Stats* stats) const {
  const os::Arena& arena = *arena_;
  stats->memory_budget_bytes = arena.budget();
  stats->memory_used_bytes = arena.used();
  stats->memory_delta_bytes = arena.used(os::Quota::kDelta);
  stats->memory_index_bytes = arena.used(os::Quota::kTrees) + arena.used(os::Quota::kIndex);
  stats->memory_value_bytes = arena.used(os::Quota::kValues);
  stats->memory_settled_bytes = residency_->settled_bytes();
  stats->memory_frame_bytes = arena.used(os::Quota::kFrames);
  stats->memory_pinned_bytes = arena.used(os::Quota::kPins);
  stats->memory_resident_bytes = arena.resident_bytes();
  const tree::FrameCache& frames = residency_->frames();
  stats->frame_hits = frames.hits();
  stats->frame_misses = frames.misses();
  stats->frame_ghost_hits = frames.ghost_hits();
  stats->read_backend = os::io_backend_name(machine_.queues->backend());
  stats->direct_io = space_->direct();
  stats->disk_bytes_allocated = space_->file_bytes();
  stats->commits = sequencer_->commits();
  stats->conflicts = sequencer_->conflicts();
  stats->operations = operations_.load(std::memory_order_relaxed);
  const db::SchedulerStats& flushing = scheduler_->stats();
  stats->flushes = flushing.flushes.load(std::memory_order_relaxed);
  stats->flush_us = flushing.flush_us.load(std::memory_order_relaxed);
  stats->reclusters = flushing.reclusters.load(std::memory_order_relaxed);
  stats->splits = flushing.splits.load(std::memory_order_relaxed);
  stats->joins = flushing.joins.load(std::memory_order_relaxed);
  stats->write_waits = flushing.write_waits.load(std::memory_order_relaxed);
  stats->write_wait_us = flushing.write_wait_us.load(std::memory_order_relaxed);
  stats->bytes_written_data = publisher_->bytes_written();
  stats->manifest_batches = publisher_->batches();
  stats->manifest_batch_us = publisher_->batch_us();
  stats->manifest_batch = publisher_->manifest_batch();
  if (followers_ != nullptr) {
    stats->follower_bytes_held = space_->held_blocks() * os::kBlockBytes;
    stats->followers = followers_->list();
  }
  stats->bytes_read = residency_->bytes_read();
  const tree::DiskReads& disk = residency_->disk();
  stats->disk_reads = disk.count();
  stats->disk_read_us = disk.us();
  stats->disk_read_batches = disk.batches();
  stats->disk_read_batch_us = disk.batch_us();
  if (log_ != nullptr) {
    const wal::LogStats log = log_->stats();
    stats->log_bytes = log_->head() - std::min(log_->head(), log_->trimmed());
    stats->log_syncs = log.syncs;
    stats->log_sync_us = log.sync_us;
    stats->commit_waits = log.commit_waits;
    stats->commit_wait_us = log.commit_wait_us;
    stats->bytes_written_log = log.bytes_drained;
  }
  stats->visible_timestamp = sequencer_->visible().load(std::memory_order_acquire);
  stats->oldest_snapshot_timestamp = snapshots_->oldest(stats->visible_timestamp);
  stats->snapshots = snapshots_->count();
  for (FeedInfo& feed : feeds_->list()) {
    stats->feeds.push_back({std::move(feed.name), feed.position, feed.log_bytes, feed.lost});
  }
  stats->feed_bytes_held = feeds_->held_bytes();
  const uint64_t now = machine_.clock->monotonic_us();
  snapshots_->observe(now);
  if (const uint64_t since = snapshots_->oldest_since_us(); since != 0 && since < now) {
    stats->oldest_snapshot_seconds = (now - since) / 1'000'000;
  }
  stats->background_io_bytes_per_second = background_io_.rate();
  stats->background_io_bytes = background_io_.bytes();
  stats->background_io_urgent_bytes = background_io_.urgent_bytes();
  stats->background_io_wait_us = background_io_.waited_us();
  if (filters_ != nullptr) {
    stats->filter_seen = filters_->seen();
    stats->filter_removed = filters_->removed();
    stats->filter_changed = filters_->changed();
  }
  if (expiry_ != nullptr) stats->expired = expiry_->removed();
  if (scrub_ != nullptr) scrub_->add_to(stats);
  stats->data_files_removed = flushing.files_removed.load(std::memory_order_relaxed);
}

}  // namespace hawthorn
