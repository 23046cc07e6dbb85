#pragma once
// Checkpoints, backups, restores and removals of backups for processes that are killed in them, and
// what must be left: a source as ever, and copies that are whole or refused, and can be made again.
//
// Not here: who kills (kill_switch.h), and the rest of what is looked at (kill_lives.h). Used by
// kill_lives.cc only. Threads: one copier beside the writers of a process.
// Layout: the database is ROOT/db, the others ROOT/copy, ROOT/repository and ROOT/restored.

#include <atomic>
#include <functional>
#include <string>

#include "os/machine.h"
#include "tests/crash/kill_switch.h"
#include "tests/crash/workload.h"

namespace hawthorn::tests {

// Commits that must be in a copy; shared with the process that looks at it.
struct CopyFloors {
  std::atomic<uint64_t> copy[kWriters];
  std::atomic<uint64_t> restored[kWriters];
};

// Whether the state lies in a copy, so that copies are to be made.
bool is_copy_state(KillState state);

// Copies again and again what `state` asks for, until stop() says so.
Status copy_for_ever(Db& db, const os::Machine& machine, const std::string& root, KillState state,
                     KillSwitch& killer, CopyFloors& floors,
                     const std::function<Numbers()>& acknowledged,
                     const std::function<bool()>& stop);

// Looks at all copies that there are, of a source that has `found`, and makes those again that
// were interrupted. The text says what is wrong; empty: nothing.
std::string look_at_copies(Db& db, const std::string& root, uint64_t seed, const Numbers& found,
                           const CopyFloors& floors);

}  // namespace hawthorn::tests
