#pragma once
// What a database does beside the writers of workload.h while it is recorded, chosen by the seed:
// transactions that stay prepared, trees that hang in trees, keys that are rotated; and what must
// be there of all of it after a cut, of the writers, too.
//
// Not here: copies (cut_copies.h), what a moment promises (cut_history.h). Used by cut_lives.cc and
// cut_copies.cc only. Threads: an Aside one, beside the writers; the rest one.
//
// 1. Prepared transaction n, its outcome, and round n of the forest follow from the seed and n.
// 2. Transactions end in the order in which they were prepared.

#include <functional>
#include <map>
#include <string>

#include "base/prng.h"
#include "tests/crash/cut_history.h"
#include "tests/support/forest.h"

namespace hawthorn::tests {

struct CutFeatures {
  bool encrypted = false;
  bool prepares = false;
  bool forest = false;
  bool copies = false;
};
CutFeatures features_of(uint64_t seed);
// workload_options, with a key where the seed has one.
Options cut_options(uint64_t seed);

class Aside {
 public:
  // `from`: the last acts that are there.
  Aside(Db& db, uint64_t seed, const CutNumbers& from, CutWitness& witness, uint64_t dice);

  // Makes the trees, where they are missing, and ends what is prepared.
  Status begin();
  // Some of what the seed has. Some transactions stay prepared, for which others may have to wait.
  Status step();
  Status end_all();
  CutNumbers numbers() const { return numbers_; }

 private:
  Status retry(const std::function<Status()>& act);
  Status rotate();
  Status grow();
  Status prepare();
  Status end_oldest();

  Db& db_;
  const uint64_t seed_;
  const CutFeatures features_;
  CutNumbers numbers_;
  CutWitness& witness_;
  Prng dice_;
  Forest forest_;
};

// What was found. `known`, and so the numbers of the writers, is what verify() finds. Where nothing
// tells whether a transaction was prepared and rolled back, or never was, `least` is without it.
struct CutFound {
  Known known;
  CutNumbers least = {};
  CutNumbers most = {};
  uint64_t prepared = 0;  // that are open
};

// Reads all of the database, compares it with the promise, and runs the checker. The text says what
// is wrong; empty: nothing.
std::string verify_cut(Db& db, uint64_t seed, const CutPromise& promise, CutFound* found);

// What is prepared holds its rows, and ends as it should; then every tree is reached by a name or a
// key. Of a database that verify_cut has looked at.
std::string end_prepared(Db& db, uint64_t seed, const CutFound& found);

}  // namespace hawthorn::tests
