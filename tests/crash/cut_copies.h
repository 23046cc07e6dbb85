#pragma once
// Checkpoints, backups and restores that are made while a database is recorded, and what a cut must
// have left of them: what had ended is whole, what had not is missing, whole, or marked as
// incomplete, and can be made again.
//
// Not here: kills in copies (kill_copies.h), what is compared in a copy (cut_aside.h). Used by
// cut_lives.cc only. Threads: a CutCopier one, beside the writers; the rest one.
// Layout: the database is ROOT/db, others ROOT/copy.N, ROOT/repository and ROOT/restored.N.

#include <string>

#include "os/machine.h"
#include "tests/crash/cut_aside.h"

namespace hawthorn::tests {

class CutCopier {
 public:
  CutCopier(Db& db, const os::Machine& machine, std::string root, CutWitness& witness,
            uint64_t dice)
      : db_(db), machine_(machine), root_(std::move(root)), witness_(witness), dice_(dice) {}

  // A copy of some kind. Some backups are restored, and some old ones go.
  Status make();

 private:
  Status checkpoint();
  Status backup();

  Db& db_;
  const os::Machine& machine_;
  const std::string root_;
  CutWitness& witness_;
  Prng dice_;
  std::unique_ptr<BackupRepository> repository_;
};

struct CopiesMet {
  uint64_t whole = 0;
  uint64_t incomplete = 0;
  uint64_t backups = 0;
};

// Looks at all copies that there are of a database that was cut, and at those that must be. With a
// source, which has `found`, interrupted ones and one more backup are made of it. The text says
// what is wrong; empty: nothing.
std::string look_at_cut_copies(const std::string& root, uint64_t seed, const CutPromise& promise,
                               Db* source, const CutFound& found, CopiesMet* met);
// All but the repository: what comes then makes others.
void remove_cut_copies(const std::string& root);

}  // namespace hawthorn::tests
