#pragma once
// What marks in a recording tell of the crash workload, and what that promises of a database that
// was cut at a moment.
//
// Not here: recordings and cuts (cut_lives.h). Used by cut_lives.cc only. Threads: CutWitness any,
// as Witness; the rest one.

#include <cstdint>

#include "testing/recording.h"
#include "tests/crash/workload.h"

namespace hawthorn::tests {

enum class CutMark : uint32_t {
  kOpened,    // an open has returned
  kSetUp,     // set_up has
  kClosed,    // close has
  kShown,     // the writer's commits up to this number were there from the beginning
  kBegins,    // a commit; number 0: a flush or sync
  kReturned,  // it is acknowledged
  kDurable,   // it is, and durable
};

class CutWitness : public Witness {
 public:
  explicit CutWitness(testing::Recorder& recorder) : recorder_(recorder) {}
  void mark(CutMark kind, uint32_t writer = 0, uint64_t number = 0) {
    recorder_.mark(static_cast<uint32_t>(kind), writer, number);
  }
  void begins(uint32_t writer, uint64_t number) override { mark(CutMark::kBegins, writer, number); }
  void ends(uint32_t writer, uint64_t number, bool durable) override {
    mark(durable ? CutMark::kDurable : CutMark::kReturned, writer, number);
  }

 private:
  testing::Recorder& recorder_;
};

struct CutPromise {
  bool opened = false;  // there is a database
  Numbers shown = {};   // what it began with
  Promise promise;
};

// Of a cut at this moment. The log's order is that of commits, so a durable one has all before it.
CutPromise promise_at(const testing::Recording& recording, uint64_t moment);

}  // namespace hawthorn::tests
