#pragma once
// The checker: reads everything from disk and verifies it, against its checksums and against all
// that refers to it.
//
//   walk ──> container check, on each thread ──┐
//   extents of all trees, at once ─────────────┼──> sink ──> report
//   superblock, manifest, log; subtrees ───────┘
//
// Works while the database is in use: what is being looked at is referenced, so that its space is
// not used again meanwhile. Not here: repairing anything; checking in the background (scrub.h).

#include "db/impl.h"

namespace hawthorn::db {

// Errors: kInvalidArgument.
Result<CheckReport> check(Db::Impl& database, const CheckOptions& options);

}  // namespace hawthorn::db
