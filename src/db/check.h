#pragma once
// The checker: reads every container from disk and verifies what the manifest and the run say of
// it.
//
// Works while the database is in use: what is being checked is referenced, so its space is not
// reused meanwhile. Verified: checksums of runs and values, entry order, keys inside the
// container's range, entry counts, value locations, garbage figures, and that no two extents
// overlap.

#include "db/impl.h"

namespace hawthorn::db {

Result<CheckReport> check(Db::Impl& database, const CheckOptions& options);

}  // namespace hawthorn::db
