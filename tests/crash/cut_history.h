#pragma once
// What marks in a recording tell of the crash workload, and what that promises of a database that
// was cut at a moment.
//
// Not here: recordings and cuts (cut_lives.h). Used by cut_*.cc only. Threads: CutWitness any, as
// Witness; the rest one.

#include <cstdint>
#include <map>
#include <utility>

#include "testing/recording.h"
#include "tests/crash/workload.h"

namespace hawthorn::tests {

// Whose acts have numbers, and come into the log in the order of these: the writers of workload.h,
// and what is done beside them (cut_aside.h).
enum CutActor : uint32_t {
  kForest = kWriters,  // rounds of trees that hang in trees
  kPrepares,           // transactions that are prepared
  kOutcomes,           // and their ends, in the same order
  kCutActors,
};
using CutNumbers = std::array<uint64_t, kCutActors>;

enum class CutMark : uint32_t {
  kOpened,      // an open has returned
  kSetUp,       // set_up has
  kClosed,      // close has
  kShown,       // the actor's acts up to this number were there from the beginning
  kBegins,      // an act; number 0: a flush or sync
  kReturned,    // it is acknowledged
  kDurable,     // it is, and durable
  kRotated,     // the file of keys was written so often, which is durable
  kCopyBegins,  // in place of an actor the kind, CutCopyKind
  kCopied,
  kCopyGoes,  // from now on it may be gone
};

// Numbers of backups are their ids, those of restores the ids of their backups.
enum class CutCopyKind : uint32_t { kCheckpoint, kBackup, kRestore };

class CutWitness : public Witness {
 public:
  explicit CutWitness(testing::Recorder& recorder) : recorder_(recorder) {}
  void mark(CutMark kind, uint32_t actor = 0, uint64_t number = 0) {
    recorder_.mark(static_cast<uint32_t>(kind), actor, number);
  }
  void mark(CutMark kind, CutCopyKind copy, uint64_t number) {
    mark(kind, static_cast<uint32_t>(copy), number);
  }
  void begins(uint32_t actor, uint64_t number) override { mark(CutMark::kBegins, actor, number); }
  void ends(uint32_t actor, uint64_t number, bool durable) override {
    mark(durable ? CutMark::kDurable : CutMark::kReturned, actor, number);
  }

 private:
  testing::Recorder& recorder_;
};

// Of a copy that was begun.
struct CutCopy {
  bool ended = false;  // and so it is whole, and durable
  bool goes = false;
  CutNumbers at_least = {};  // what had returned when it was begun, or its backup was
  CutNumbers at_most = {};   // what was begun when it ended
};

struct CutPromise {
  bool opened = false;  // there is a database
  bool set_up = false;
  CutNumbers shown = {};     // what it began with
  CutNumbers at_least = {};  // the last that must be there
  CutNumbers at_most = {};   // the last that were begun
  // Of an act, which ones had returned before it began, and so must be there when it is.
  std::map<std::pair<uint32_t, uint64_t>, CutNumbers> before = {};
  uint64_t key_generation = 0;  // at least
  std::map<std::pair<CutCopyKind, uint64_t>, CutCopy> copies = {};
};

// Of a cut at this moment. The log's order is that of commits, so a durable one has all before it.
CutPromise promise_at(const testing::Recording& recording, uint64_t moment);

Numbers writers_of(const CutNumbers& numbers);

}  // namespace hawthorn::tests
