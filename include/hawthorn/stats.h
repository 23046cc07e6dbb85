#pragma once
// What a database says about itself. All figures are of one moment, read without stopping anybody.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/export.h"
#include "hawthorn/options.h"

namespace hawthorn {

// What a named snapshot may keep from being removed.
struct NamedSnapshotStats {
  std::string name;
  uint64_t timestamp = 0;
  uint64_t created_us = 0;  // wall clock, microseconds since 1970
  // At most: older versions, in memory and on disk, in containers that have changed since. Several
  // snapshots may keep the same ones.
  uint64_t bytes_kept = 0;
};

// A process that reads beside this one (follower.h), and what it keeps from being used again.
struct FollowerStats {
  uint64_t pid = 0;       // as it sees itself
  uint64_t since_us = 0;  // wall clock, microseconds since 1970
  uint64_t batch = 0;     // of the manifest, which its view was made from; 0: it is being made
  bool revoked = false;   // a full disk took away what it kept
};

struct TreeStats {
  std::string name;
  uint64_t entries_flushed = 0;  // entries in flushed runs
  uint64_t delta_records = 0;    // unflushed versions in memory
  uint64_t containers = 0;
  uint64_t bytes_index = 0;    // index runs on disk, inline values included
  uint64_t bytes_values = 0;   // value extents on disk
  uint64_t bytes_garbage = 0;  // of values, uncompressed, that no entry refers to
  // What index runs and value extents would take uncompressed.
  uint64_t bytes_uncompressed = 0;
  Compression compression = Compression::kNone;  // of what is written now
  bool compression_dictionary = false;           // Zstd has one for it
  uint64_t subtrees = 0;                         // that hang in it, those below them not counted
};

struct FeedStats {
  std::string name;
  uint64_t position = 0;   // timestamp of the last commit that was acknowledged
  uint64_t log_bytes = 0;  // from where the log is kept for it to its end
  bool lost = false;
};

struct Stats {
  std::vector<TreeStats> trees;  // those that have a name
  uint64_t subtrees = 0;         // that hang in other trees, at whatever depth
  uint64_t bytes_subtrees = 0;   // what they take on disk, of disk_bytes_reachable
  // That nothing leads to: dropped, and still read or used or about to be removed, or made by
  // transactions that are open.
  uint64_t trees_unreachable = 0;

  uint64_t memory_budget_bytes = 0;
  uint64_t memory_used_bytes = 0;  // allocated from the budget
  uint64_t memory_delta_bytes = 0;
  uint64_t memory_index_bytes = 0;
  uint64_t memory_value_bytes = 0;      // resident value extents
  uint64_t memory_settled_bytes = 0;    // of those: kept since they are read again and again
  uint64_t memory_frame_bytes = 0;      // single blocks of extents that are not resident
  uint64_t memory_pinned_bytes = 0;     // what get_pinned has handed out, and cursors hold
  uint64_t memory_resident_bytes = 0;   // touched and kept: what of the budget is in RAM
  uint64_t memory_huge_page_bytes = 0;  // of the arena, as the kernel reports it
  bool direct_io = false;

  uint64_t disk_bytes_reachable = 0;  // what the manifest refers to
  uint64_t disk_bytes_allocated = 0;  // files as they are now, preallocation included
  uint64_t log_bytes = 0;             // log that a reopen would replay
  std::vector<FeedStats> feeds;
  // Of large values that are gone from all trees, and kept for feeds.
  uint64_t feed_bytes_held = 0;

  uint64_t commits = 0;
  uint64_t operations = 0;
  uint64_t conflicts = 0;
  uint64_t flushes = 0;
  uint64_t flush_us = 0;  // that merging took in these; what they write reaches the disk behind it
  uint64_t reclusters = 0;
  uint64_t splits = 0;
  uint64_t joins = 0;
  uint64_t manifest_batches = 0;
  // That making flushes durable took in these: waits for writes and syncs, the manifest.
  uint64_t manifest_batch_us = 0;
  uint64_t log_syncs = 0;
  uint64_t log_sync_us = 0;     // that these took, each with what it wrote out before
  uint64_t commit_waits = 0;    // commits with Durability::kFull, and prepares
  uint64_t commit_wait_us = 0;  // for which they waited for the sync of their group
  uint64_t bytes_written_log = 0;
  uint64_t bytes_written_data = 0;
  uint64_t bytes_read = 0;
  // Reads from disk that a call or a flush waited for, one by one, and for how long; and batches of
  // them, from the first to the last. Not what cursors read ahead, nor what read queues do.
  uint64_t disk_reads = 0;
  uint64_t disk_read_us = 0;
  uint64_t disk_read_batches = 0;
  uint64_t disk_read_batch_us = 0;
  // Blocks that were found in frames; that were read into them; of those, the ones that somewhat
  // more frames would have kept.
  uint64_t frame_hits = 0;
  uint64_t frame_misses = 0;
  uint64_t frame_ghost_hits = 0;
  std::string_view
      read_backend;          // of batches and asynchronous gets: "io_uring", "threads", "inline"
  uint64_t write_waits = 0;  // commits that pacing slowed
  uint64_t write_wait_us = 0;
  uint64_t quarantined_containers = 0;
  // Of Options::scrub_bytes_per_second, while open: what was verified, how often all of the
  // database was gone through, and what was found wrong, each round anew.
  uint64_t scrub_bytes = 0;
  uint64_t scrub_containers = 0;
  uint64_t scrub_rounds = 0;
  uint64_t scrub_errors = 0;
  // What Options::background_io_bytes_per_second is about: what was read and written under it; what
  // went past it, since writers needed it; for how long work was put off.
  uint64_t background_io_bytes_per_second = 0;
  uint64_t background_io_bytes = 0;
  uint64_t background_io_urgent_bytes = 0;
  uint64_t background_io_wait_us = 0;

  // Of Options::flush_filters, while open: entries shown to them, removed and changed by them.
  uint64_t filter_seen = 0;
  uint64_t filter_removed = 0;
  uint64_t filter_changed = 0;
  // Entries that had ended (TreeOptions::expires) and were removed, while open.
  uint64_t expired = 0;

  uint64_t visible_timestamp = 0;
  uint64_t oldest_snapshot_timestamp = 0;  // equal to visible_timestamp when nobody holds one
  uint64_t snapshots = 0;  // snapshots, transactions and cursors that are open, and named snapshots
  std::vector<NamedSnapshotStats> named_snapshots;
  // For how long the oldest of them has been open, to the second or so; 0 when there is none.
  uint64_t oldest_snapshot_seconds = 0;
  // What readers of old timestamps hold, as far as it was counted: versions behind the newest of
  // their keys, in memory and on disk. Those on disk go with the next merge of their container
  // after the readers have gone.
  uint64_t bytes_old_versions = 0;

  // What transactions larger than their share of memory have written outside of their trees, until
  // it is brought into them behind the commit and nobody reads below that, or the rollback.
  uint64_t layers = 0;
  uint64_t deleted_ranges = 0;  // that are not erased yet, or still asked for by readers
  uint64_t bytes_layers = 0;    // on disk, of disk_bytes_reachable

  // Of those in other processes, and views that this one has of itself. What was dropped and one of
  // them may still read is kept, and held bytes are not used again, until it moves on or is gone.
  std::vector<FollowerStats> followers;
  uint64_t manifest_batch = 0;  // the newest; a follower's is at most this one
  uint64_t follower_bytes_held = 0;

  uint64_t data_files_removed = 0;  // while open, since nothing in them was in use any more
};

struct Limits {
  size_t key_bytes_max = 65535;
  size_t batch_value_bytes_max = size_t{64} << 20;  // larger values by Transaction::put_stream
  uint64_t stream_value_bytes_max = uint64_t{4} << 30;
  size_t tree_name_bytes_max = 255;
  size_t memory_budget_bytes_min = size_t{16} << 20;
};

// One thing that a check has found.
struct CheckItem {
  enum class Kind : uint8_t {
    kChecksum = 0,   // bytes are not those that were written
    kStructure = 1,  // they are, and contradict themselves or what refers to them: order, ranges
    kCount = 2,      // there are not as many as something else says
    kOverlap = 3,    // two claim the same blocks, or what is in use counts as free
    kReference = 4,  // something that is referred to is missing, or is referred to by nothing
    kUnchecked = 5,  // could not be looked at: the disk failed, or memory was short
  };
  Kind kind = Kind::kChecksum;
  // Where it is: the file's name in the directory ("data.0", "superblock"), or "device 0"; empty
  // where it is in no file. In bytes.
  std::string file = {};
  uint64_t offset = 0;
  uint64_t bytes = 0;  // that are concerned, as far as is known; 0: it is not
  // Whose it is: a container of a tree, and the range of its stored keys. 0: of none.
  uint64_t container = 0;
  uint32_t tree = 0;
  std::string tree_name = {};  // as it was last told to the manifest; empty for the catalog
  std::string low_key = {};
  std::optional<std::string> high_key = {};  // nothing: to the end of the tree
  std::string what = {};

  // All of it, in one line.
  HAWTHORN_EXPORT std::string to_string() const;
};

struct CheckReport {
  uint64_t trees = 0;       // the catalog not among them
  uint64_t containers = 0;  // of those trees
  uint64_t entries = 0;
  uint64_t subtrees = 0;
  uint64_t large_values = 0;
  uint64_t bytes_verified = 0;   // of data files, of the log, and of the small files
  uint64_t blocks_verified = 0;  // of data files, of 4 KB
  uint64_t log_records = 0;
  uint64_t manifest_batches = 0;
  // In use as the allocator says, and referred to by no tree, nor held for a feed or a follower:
  // values that are being written, what was just replaced and somebody still reads. Where none of
  // these is there, space that is lost until the next open.
  uint64_t bytes_unaccounted = 0;
  // What was found, by place; `errors` has the same as text. Of more than CheckOptions::errors_max
  // the rest is only counted.
  std::vector<CheckItem> items;
  std::vector<std::string> errors;  // each names file and offset, or tree and key range
  uint64_t errors_left_out = 0;
  bool ok() const { return errors.empty(); }
};

}  // namespace hawthorn
