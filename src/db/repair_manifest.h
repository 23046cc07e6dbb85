#pragma once
// What of a damaged database's superblock and manifests can be read.
//
// Not here: how its containers are found without (repair_scan.h). Used by db/repair.cc.
// Threads: one at a time.

#include "db/repair_source.h"
#include "format/manifest_state.h"
#include "format/superblock.h"
#include "hawthorn/repair.h"

namespace hawthorn::db {

struct RepairManifest {
  format::ManifestState state;
  format::Features features;
  bool superblock_read = false;
  // All of the current one: what it says of containers is true.
  bool whole = false;
  // As far as it goes: trees, dictionaries and log epochs may be missing.
  bool any = false;
};

// Adds what is lost to the report. Errors: kNotSupported for what a newer version wrote.
Status read_manifest_for_repair(RepairSource& source, RepairManifest* manifest,
                                RepairReport* report);

}  // namespace hawthorn::db
