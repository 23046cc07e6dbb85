// compact: flushes, and rewrites what carries garbage. The database gets smaller on disk where
// much was overwritten or deleted; nothing that a read finds changes.

#include <string>

#include "tools/command.h"
#include "tools/db_progress.h"
#include "tools/json.h"
#include "tools/progress.h"

namespace hawthorn::tools {
namespace {

struct Footprint {
  uint64_t bytes = 0;    // on disk, of the data
  uint64_t garbage = 0;  // of values that no entry refers to
};

Footprint footprint_of(Db& db) {
  const Stats stats = db.stats();
  Footprint footprint;
  footprint.bytes = stats.disk_bytes_reachable;
  for (const TreeStats& tree : stats.trees) footprint.garbage += tree.bytes_garbage;
  return footprint;
}

}  // namespace

Status run_compact(const CommonOptions& common, const CompactOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  // What is in the log alone is on disk first, so that the two can be compared.
  Status status = flush_shown(**db, common.show());
  if (!status.ok()) return status;
  const Footprint before = footprint_of(**db);
  const uint64_t written_before = (*db)->stats().bytes_written_data;
  const Progress time("compacted", Progress::Unit::kBytes, ProgressShow::kNever);
  if (options.bytes_per_second != 0) {
    status = (*db)->set_background_io_limit(options.bytes_per_second);
  }
  if (status.ok()) {
    Progress progress("rewritten", Progress::Unit::kContainers, common.show());
    status = (*db)->compact({.progress = [&progress](uint64_t done, uint64_t all) {
      progress.update_step(done, all);
      return Status();
    }});
  }
  if (!status.ok()) return status;
  const Footprint after = footprint_of(**db);
  const uint64_t written = (*db)->stats().bytes_written_data - written_before;
  const double seconds = time.seconds();
  if (status = close_shown(**db, common.show()); !status.ok()) return status;
  if (!common.json) {
    const auto bytes = [](uint64_t number) { return short_bytes(static_cast<double>(number)); };
    return print_line(bytes(before.bytes) + " with " + bytes(before.garbage) +
                      " of garbage before, " + bytes(after.bytes) + " with " +
                      bytes(after.garbage) + " after; " + bytes(written) + " written in " +
                      short_time(seconds));
  }
  Json json;
  json.begin_object().field("bytes_before", before.bytes).field("bytes_after", after.bytes);
  json.field("garbage_before", before.garbage).field("garbage_after", after.garbage);
  json.field("bytes_written", written).field("seconds", seconds).end_object();
  return print_line(json.text());
}

}  // namespace hawthorn::tools
