#pragma once
// What opens cursors, of databases and of transactions. Threads: any.

#include "c/handles.h"

namespace hawthorn::c {

// The snapshot is left to the caller, who knows the database.
Status take_cursor_options(const hawthorn_cursor_options* given, CursorOptions* out,
                           const hawthorn_snapshot** snapshot);
// The error of one that could not be opened.
Status hand_out_cursor(hawthorn_cursor opened, hawthorn_cursor** out);

}  // namespace hawthorn::c
