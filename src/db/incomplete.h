#pragma once
// The mark of a directory that is not a database yet: a file `copy.incomplete`, which is durable
// before anything else is written there, and is removed when all of it is.
//
// Used by opening, and by what makes databases piece by piece. Threads: any.

#include <string>

#include "db/manifest_files.h"
#include "os/machine.h"

namespace hawthorn::db {

inline constexpr char kIncompleteName[] = "copy.incomplete";

// Errors: kCorruption where the directory has the mark; those of looking.
inline Status refuse_incomplete(const os::Machine& machine, const std::string& directory) {
  const Result<bool> marked = machine.files->exists(join(directory, kIncompleteName));
  if (!marked.ok()) return marked.status();
  if (!*marked) return {};
  return Status(StatusCode::kCorruption,
                directory +
                    " has a file `copy.incomplete`: a checkpoint, a restore or a repair is being "
                    "made there, or was interrupted. It is no database: make it again, or remove "
                    "it");
}

}  // namespace hawthorn::db
