// Figures: Stats and counters as named fields.

#include "c/stats.h"

#include "c/handles.h"
#include "c/records.h"

namespace hawthorn::c {

std::string_view compression_name(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kLz4:
      return "lz4";
    case Compression::kZstd:
      return "zstd";
  }
  return "unknown";
}

namespace {

hawthorn_records show_trees(const Stats& stats) {
  hawthorn_records records;
  for (const TreeStats& tree : stats.trees) {
    records.add()
        .bytes("name", std::string_view(tree.name))
        .number("entries_flushed", tree.entries_flushed)
        .number("delta_records", tree.delta_records)
        .number("containers", tree.containers)
        .size("bytes_index", tree.bytes_index)
        .size("bytes_values", tree.bytes_values)
        .size("bytes_garbage", tree.bytes_garbage)
        .size("bytes_uncompressed", tree.bytes_uncompressed)
        .bytes("compression", compression_name(tree.compression))
        .flag("compression_dictionary", tree.compression_dictionary)
        .number("subtrees", tree.subtrees);
  }
  return records;
}

hawthorn_records show_feeds(const Stats& stats) {
  hawthorn_records records;
  for (const FeedStats& feed : stats.feeds) {
    records.add()
        .bytes("name", std::string_view(feed.name))
        .number("position", feed.position)
        .size("log_bytes", feed.log_bytes)
        .flag("lost", feed.lost);
  }
  return records;
}

hawthorn_records show_snapshots(const Stats& stats) {
  hawthorn_records records;
  for (const NamedSnapshotStats& snapshot : stats.named_snapshots) {
    records.add()
        .bytes("name", std::string_view(snapshot.name))
        .number("timestamp", snapshot.timestamp)
        .us("created_us", snapshot.created_us)
        .size("bytes_kept", snapshot.bytes_kept);
  }
  return records;
}

hawthorn_records show_followers(const Stats& stats) {
  hawthorn_records records;
  for (const FollowerStats& follower : stats.followers) {
    records.add()
        .number("pid", follower.pid)
        .us("since_us", follower.since_us)
        .number("batch", follower.batch)
        .flag("revoked", follower.revoked);
  }
  return records;
}

void show_memory_and_disk(const Stats& s, Row* row) {
  row->number("subtrees", s.subtrees)
      .size("bytes_subtrees", s.bytes_subtrees)
      .number("trees_unreachable", s.trees_unreachable)
      .size("memory_budget_bytes", s.memory_budget_bytes)
      .size("memory_used_bytes", s.memory_used_bytes)
      .size("memory_delta_bytes", s.memory_delta_bytes)
      .size("memory_index_bytes", s.memory_index_bytes)
      .size("memory_value_bytes", s.memory_value_bytes)
      .size("memory_settled_bytes", s.memory_settled_bytes)
      .size("memory_frame_bytes", s.memory_frame_bytes)
      .size("memory_pinned_bytes", s.memory_pinned_bytes)
      .size("memory_resident_bytes", s.memory_resident_bytes)
      .size("memory_huge_page_bytes", s.memory_huge_page_bytes)
      .flag("direct_io", s.direct_io)
      .size("disk_bytes_reachable", s.disk_bytes_reachable)
      .size("disk_bytes_allocated", s.disk_bytes_allocated)
      .size("log_bytes", s.log_bytes)
      .size("feed_bytes_held", s.feed_bytes_held);
}

void show_work(const Stats& s, Row* row) {
  row->number("commits", s.commits)
      .number("operations", s.operations)
      .number("conflicts", s.conflicts)
      .number("flushes", s.flushes)
      .us("flush_us", s.flush_us)
      .number("reclusters", s.reclusters)
      .number("splits", s.splits)
      .number("joins", s.joins)
      .number("manifest_batches", s.manifest_batches)
      .us("manifest_batch_us", s.manifest_batch_us)
      .number("log_syncs", s.log_syncs)
      .us("log_sync_us", s.log_sync_us)
      .number("commit_waits", s.commit_waits)
      .us("commit_wait_us", s.commit_wait_us)
      .size("bytes_written_log", s.bytes_written_log)
      .size("bytes_written_data", s.bytes_written_data)
      .size("bytes_read", s.bytes_read)
      .number("disk_reads", s.disk_reads)
      .us("disk_read_us", s.disk_read_us)
      .number("disk_read_batches", s.disk_read_batches)
      .us("disk_read_batch_us", s.disk_read_batch_us)
      .number("frame_hits", s.frame_hits)
      .number("frame_misses", s.frame_misses)
      .number("frame_ghost_hits", s.frame_ghost_hits)
      .bytes("read_backend", s.read_backend)
      .number("write_waits", s.write_waits)
      .us("write_wait_us", s.write_wait_us)
      .number("quarantined_containers", s.quarantined_containers)
      .size("scrub_bytes", s.scrub_bytes)
      .number("scrub_containers", s.scrub_containers)
      .number("scrub_rounds", s.scrub_rounds)
      .number("scrub_errors", s.scrub_errors)
      .size("background_io_bytes_per_second", s.background_io_bytes_per_second)
      .size("background_io_bytes", s.background_io_bytes)
      .size("background_io_urgent_bytes", s.background_io_urgent_bytes)
      .us("background_io_wait_us", s.background_io_wait_us)
      .number("filter_seen", s.filter_seen)
      .number("filter_removed", s.filter_removed)
      .number("filter_changed", s.filter_changed)
      .number("expired", s.expired);
}

void show_readers(const Stats& s, Row* row) {
  row->number("visible_timestamp", s.visible_timestamp)
      .number("oldest_snapshot_timestamp", s.oldest_snapshot_timestamp)
      .number("snapshots", s.snapshots)
      .number("oldest_snapshot_seconds", s.oldest_snapshot_seconds, HAWTHORN_UNIT_SECONDS)
      .size("bytes_old_versions", s.bytes_old_versions)
      .number("layers", s.layers)
      .number("deleted_ranges", s.deleted_ranges)
      .size("bytes_layers", s.bytes_layers)
      .number("manifest_batch", s.manifest_batch)
      .size("follower_bytes_held", s.follower_bytes_held)
      .number("data_files_removed", s.data_files_removed);
}

Status stats_of(hawthorn_db* db, hawthorn_records* out) {
  if (Status s = usable(*db->db); !s.ok()) return s;
  const Stats stats = db->db->stats();
  Row& row = out->add();
  show_memory_and_disk(stats, &row);
  show_work(stats, &row);
  show_readers(stats, &row);
  row.list("trees", show_trees(stats))
      .list("feeds", show_feeds(stats))
      .list("named_snapshots", show_snapshots(stats))
      .list("followers", show_followers(stats));
  return {};
}

hawthorn_unit unit_of(Counter::Unit unit) {
  switch (unit) {
    case Counter::Unit::kBytes:
      return HAWTHORN_UNIT_BYTES;
    case Counter::Unit::kMicroseconds:
      return HAWTHORN_UNIT_MICROSECONDS;
    default:
      return HAWTHORN_UNIT_NUMBER;
  }
}

hawthorn_records show_entries(const Counters& counters) {
  hawthorn_records records;
  for (const Counter& counter : counters.entries) {
    records.add()
        .bytes("name", std::string_view(counter.name))
        .number("value", counter.value, unit_of(counter.unit))
        .flag("grows", counter.kind == Counter::Kind::kCount);
  }
  return records;
}

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::call;
using hawthorn::c::DbGiven;
using hawthorn::c::Given;
using hawthorn::c::need;

hawthorn_code hawthorn_db_stats(hawthorn_db* db, hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_records records;
    Status s = need(DbGiven(db), Given(out, "out"));
    if (s.ok()) s = hawthorn::c::stats_of(db, &records);
    if (s.ok()) hawthorn::c::hand_out_records(out, std::move(records));
    return s;
  });
}

hawthorn_code hawthorn_db_stat(hawthorn_db* db, const char* name, uint64_t* out,
                               hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_records records;
    Status s = need(DbGiven(db), Given(name, "name"), Given(out, "out"));
    if (s.ok()) s = hawthorn::c::stats_of(db, &records);
    if (!s.ok()) return s;
    for (const hawthorn::c::Field& field : records.rows[0].fields()) {
      if (field.name != name || field.type > HAWTHORN_FIELD_FLAG) continue;
      *out = field.number;
      return {};
    }
    return Status(hawthorn::StatusCode::kNotFound,
                  "there is no figure \"" + std::string(name) + "\"");
  });
}

hawthorn_code hawthorn_read_counters(const char* directory, hawthorn_records** out,
                                     hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(directory, "directory"), Given(out, "out")); !s.ok()) return s;
    const auto counters = hawthorn::read_counters(directory);
    if (!counters.ok()) return counters.status();
    hawthorn_records records;
    records.add()
        .number("uuid_low", counters->uuid_low)
        .number("uuid_high", counters->uuid_high)
        .number("pid", counters->pid)
        .number("process_start", counters->process_start)
        .us("opened_us", counters->opened_us)
        .us("updated_us", counters->updated_us)
        .flag("closed", counters->closed)
        .flag("alive", counters->alive)
        .list("entries", hawthorn::c::show_entries(*counters));
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}
