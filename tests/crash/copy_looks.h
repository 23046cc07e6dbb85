#pragma once
// What an interrupted copy of a database may have left: nothing, something that is marked as
// incomplete and refused, or a whole copy; and what a repository gives back.
//
// Not here: who interrupts (kill_copies.h, cut_copies.h). Used by these only. Threads: one.

#include <functional>
#include <string>

#include "hawthorn/hawthorn.h"

namespace hawthorn::tests {

// Each text says what is wrong; empty: nothing.
// Looks at a database by its path.
using LookAt = std::function<std::string(const std::string& path)>;

enum class CopyIs : uint8_t { kMissing, kIncomplete, kWhole };

// What there is; an incomplete one must be refused when it is opened with these options.
std::string look_for_copy(const std::string& path, const Options& options, CopyIs* is);
// Restores a backup into a new directory, looks at it, and removes it.
std::string look_at_restored(BackupRepository& repository, uint64_t id, const std::string& target,
                             const LookAt& look);

}  // namespace hawthorn::tests
