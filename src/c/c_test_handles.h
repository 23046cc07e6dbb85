#pragma once
// Handles of the C API that free themselves, for tests and fuzz targets.

#include <memory>

#include "hawthorn/c.h"

namespace hawthorn::c {

template <auto kFree>
struct FreeBy {
  template <typename T>
  void operator()(T* handle) const {
    kFree(handle);
  }
};
template <typename T, auto kFree>
using Handle = std::unique_ptr<T, FreeBy<kFree>>;

using ErrorHandle = Handle<hawthorn_error, hawthorn_error_free>;
using DbHandle = Handle<hawthorn_db, hawthorn_db_free>;
using TreeHandle = Handle<hawthorn_tree, hawthorn_tree_free>;
using SnapshotHandle = Handle<hawthorn_snapshot, hawthorn_snapshot_free>;
using ValueHandle = Handle<hawthorn_value, hawthorn_value_free>;
using ReadBatchHandle = Handle<hawthorn_read_batch, hawthorn_read_batch_free>;
using BatchHandle = Handle<hawthorn_batch, hawthorn_batch_free>;
using CursorHandle = Handle<hawthorn_cursor, hawthorn_cursor_free>;
using TxnHandle = Handle<hawthorn_txn, hawthorn_txn_free>;
using OptionsHandle = Handle<hawthorn_options, hawthorn_options_free>;
using RecordsHandle = Handle<hawthorn_records, hawthorn_records_free>;
using QueueHandle = Handle<hawthorn_read_queue, hawthorn_read_queue_free>;
using RepositoryHandle = Handle<hawthorn_repository, hawthorn_repository_free>;
using IngestHandle = Handle<hawthorn_ingest, hawthorn_ingest_free>;
using FeedHandle = Handle<hawthorn_feed, hawthorn_feed_free>;
using ReplicaHandle = Handle<hawthorn_replica, hawthorn_replica_free>;
using FollowerHandle = Handle<hawthorn_follower, hawthorn_follower_free>;

}  // namespace hawthorn::c
