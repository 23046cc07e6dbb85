#pragma once
// SQL statements of many kinds, each kind an item that is timed by itself: inserts by row id, by
// key and into indexes, scans, sorts, indexes made, ranges and single rows by them, joins,
// correlated and recursive queries, updates, deletes, replacements, tables keyed by text.
//
// Phases: those of sql_items(), `sql` for their sum, integrity, drain, verify. Used by the command
// line. Threads: one connection in one.
//
// 1. What each item returns, and the table that it leaves, is compared with what a model of it
//    expects (sql_plan.h); otherwise the run fails. Nothing of that but the digest of the returned
//    rows is in an item's time.

#include <cstddef>
#include <cstdint>

#include "bench/sql_database.h"
#include "bench/workload.h"

namespace hawthorn::bench {

inline constexpr uint64_t kSqlRowsOfSize = 500;  // of a table, for each unit of size

struct SqlOptions {
  uint64_t size = 100;
  uint64_t seed = 12345;
  size_t cache_bytes = 64'000'000;
};

void run_sql(const RunContext& run, const SqlOptions& options, SqlDatabase& database);

}  // namespace hawthorn::bench
