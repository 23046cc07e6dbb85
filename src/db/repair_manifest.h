#pragma once
// What of a damaged database's superblock and manifests can be read.
//
// Not here: how its containers are found without (repair_scan.h). Used by db/repair.cc.
// Threads: one at a time.

#include <map>
#include <utility>

#include "db/repair_source.h"
#include "format/manifest_state.h"
#include "format/superblock.h"
#include "hawthorn/repair.h"

namespace hawthorn::db {

struct RepairManifest {
  // Of every record of a container that validates, wherever it stands, by file and block of its
  // run: what vouches for a run that a scan has found. The last one in the file counts.
  std::map<std::pair<uint32_t, uint32_t>, format::ContainerRecord> known_runs;
  format::ManifestState state;
  format::Features features;
  bool superblock_read = false;
  // All of the current one: what it says of containers is true.
  bool whole = false;
  // It is the current one, as far as it goes.
  bool current = false;
  // Its last batch does not validate. It may never have been finished; or it was durable, and what
  // it replaced may be gone.
  bool torn = false;
  // As far as it goes: trees, dictionaries and log epochs may be missing.
  bool any = false;
};

// What a repair says of an encrypted database that has lost its file of keys: kCorruption.
Status keys_are_missing(const std::string& directory);

// Adds what is lost to the report. No manifest that takes more than `memory_max` is read. Errors:
// kNotSupported for what a newer version wrote; keys_are_missing.
Status read_manifest_for_repair(RepairSource& source, size_t memory_max, RepairManifest* manifest,
                                RepairReport* report);

}  // namespace hawthorn::db
