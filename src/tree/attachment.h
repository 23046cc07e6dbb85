#pragma once
// What a bulk ingest has written for one container: extents that are on disk, and the range of keys
// that they are for. Attached, they are the run of a container that held nothing before.
//
// Not here: building it (db/bulk_builder.h), when it is attached (db/ingest.h). Threads: one at a
// time.
//
// 1. While it is claimed nobody flushes, splits, joins or drops its container.

#include <string>
#include <vector>

#include "format/manifest_state.h"
#include "tree/extent.h"

namespace hawthorn::tree {

struct Container;

struct Attachment {
  // The low key is that of the range. The id is that of the container once it stands; cut and
  // max_ts come with the commit.
  format::ContainerRecord record;
  std::string high;
  bool has_high = false;
  ExtentRef image;
  std::vector<ExtentRef> values;
  Container* claimed = nullptr;
};

}  // namespace hawthorn::tree
