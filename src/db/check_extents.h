#pragma once
// Whether the extents of all trees fit together: none overlaps another one, none counts as free,
// and what is in use belongs to somebody.
//
// Looks at what is in memory of the manifest and of the allocator; reads nothing. Threads: any,
// beside whatever goes on.

#include <vector>

#include "db/check_report.h"

namespace hawthorn::db {

struct ExtentClaim {
  format::ExtentAddress extent;
  uint32_t tree = 0;
  uint64_t container = 0;
};

// Where two of the claims overlap, or one of them a range that is free. Sorts both.
std::vector<CheckItem> find_overlaps(std::vector<ExtentClaim>& claims,
                                     std::vector<format::ExtentAddress>& free);

void check_extents(Db::Impl& database, CheckSink& sink);

}  // namespace hawthorn::db
