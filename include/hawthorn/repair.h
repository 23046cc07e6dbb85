#pragma once
// What Db::repair is told and what it tells: which parts of a damaged database were found, which
// are lost.
//
// Keys are stored keys: in trees with an order of their own, with several values to a key or with
// entries that end, these are what docs/format.md says, not what the program has put.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/options.h"

namespace hawthorn {

struct RepairOptions {
  // With which the target is opened when it is ready: orders and merge operators of the trees have
  // to be there. memory_budget_bytes (64 MB at least) is for its log's replay, and bounds what one
  // container with its values may take while it is read: one that takes more is lost. `encryption`:
  // of the source, and of the target. `devices`: the source's, which are only read; none: where the
  // manifest says. read_only, create_if_missing and error_if_exists count for nothing.
  Options database;
  // Looks for containers in the data files as without a manifest, though one can be read. For when
  // it can be, but is of another time. Where the data files and the log have nothing that it does
  // not know, and have all that it names, nothing is in doubt, and the target is made by it.
  bool ignore_manifest = false;
  // Called between containers, with how many were looked at; or, where data files are looked
  // through, with blocks.
  std::function<void(uint64_t done, uint64_t all)> progress;
};

struct RepairLoss {
  enum class Kind : uint8_t {
    kSuperblock,   // and with it which manifest was the current one
    kManifest,     // or a part of it
    kKeyRange,     // of a tree: what was there, entries of blocks that are damaged
    kDataFile,     // missing, or shorter than what lies in it; a device: also of another time
    kLogGap,       // records that are missing or damaged
    kTransaction,  // dropped whole, since a part of it lies in a gap or in damaged extents
    kTree,         // something of a tree as a whole: its name, its options
    kOther,
  };
  Kind kind = Kind::kOther;
  std::string tree;      // its name in the target
  uint32_t tree_id = 0;  // in source and target
  uint64_t container = 0;
  std::string low;                  // kKeyRange: the first key that may be lost
  std::optional<std::string> high;  // the first key behind; none: to the end of the tree
  uint64_t entries = 0;             // kKeyRange: of a run, versions and deletes among them
  std::string file;                 // in the source, without its directory
  uint64_t offset = 0;              // kLogGap and kTransaction without a file: a log position
  uint64_t bytes = 0;
  std::string what;  // in words
};
std::string_view repair_loss_name(RepairLoss::Kind kind);

struct RepairedTree {
  std::string name;
  uint32_t id = 0;
  bool named = true;  // false: its name is lost, and was made of its id
  uint64_t containers = 0;
  uint64_t containers_damaged = 0;
  uint64_t entries = 0;  // in runs, before the log's replay
};

struct RepairReport {
  bool superblock_read = false;
  bool manifest_read = false;
  // The containers were found by looking at all blocks of the data files. Where no manifest says
  // the same, what was deleted may be back then, and older values where newer ones are lost; see
  // docs/reliability.md.
  bool scanned = false;
  bool resurrected_possible = false;
  // Of the containers that a scan has found, those whose header no record of the manifest vouches
  // for: of a flipped bit in it that nothing else tells, which tree they are of and which commits
  // they have may be wrong.
  uint64_t containers_unvouched = 0;
  // Containers of a bulk ingest that may never have been committed: only after a scan.
  bool uncommitted_possible = false;
  std::vector<RepairedTree> trees;
  std::vector<RepairLoss> losses;
  uint64_t containers = 0;
  uint64_t containers_damaged = 0;
  uint64_t entries = 0;  // in runs, before the log's replay
  uint64_t bytes_copied = 0;
  uint64_t log_records = 0;  // read, and replayed where containers do not have them yet
  uint64_t log_begin = 0;    // lsns of the first one and behind the last one
  uint64_t log_end = 0;
  uint64_t transactions_dropped = 0;
  // The target was opened with RepairOptions::database, its log replayed and flushed, and all of it
  // checked. Where it cannot be with these (an order or a merge operator is missing), why: then
  // that is left to who has them.
  bool opened = false;
  std::string open_error;
  // Nothing was missing, nothing is in doubt, and the target was opened and checked.
  bool ok() const { return losses.empty() && !resurrected_possible && opened; }
};

}  // namespace hawthorn
