#pragma once
// Reads a moment of an open database, and writes it into a CopySink: what is in use of the data
// files, the log, and the manifest and superblock of a database of its own, which come last. Of an
// encrypted one its data keys come first, in a file of that database; log and data files are copied
// as they are sealed, since their seals are not bound to an id, and the manifest is sealed anew. Of
// one on devices, files stand for these (copy_devices.h).
//
//   pin ──> keys ──> log durable to there ──> segments ──> log let go of ──> data files ──>
//   manifest
//
// Not here: where it goes (copy_sink.h), and what a pin keeps (publisher.h).
// Threads: from any; each call for itself.
//
// 1. The copy is what a process finds that opens the database after a kill at the moment of the
//    pin, but for records in the ring, which stand in segments by then.
// 2. All that is in use is copied, not only what the manifest lists: the log may name more (R27).
// 3. A pin that was revoked makes the copy fail, whatever was read since.
// 4. The copy's log is closed: its manifest says where it ends.
// 5. Devices are only read.
// 6. What the copy's manifest, log and data are sealed with is in its file of keys.

#include "db/copy_sink.h"
#include "hawthorn/db.h"
#include "hawthorn/status.h"

namespace hawthorn::db {

// Copies the database as it is now. Errors: those of Db::checkpoint, and of the sink.
Status copy_database(Db::Impl& db, CopySink& sink, CopyPace& pace);

}  // namespace hawthorn::db
