#include "tests/crash/cut_history.h"

#include <algorithm>

namespace hawthorn::tests {
namespace {

void raise(CutNumbers& numbers, const CutNumbers& to) {
  for (uint32_t i = 0; i < kCutActors; ++i) numbers[i] = std::max(numbers[i], to[i]);
}

}  // namespace

CutPromise promise_at(const testing::Recording& recording, uint64_t moment) {
  CutPromise promise;
  CutNumbers returned = {};
  // What had returned when the actor's present call began, and when each act did.
  std::array<CutNumbers, kCutActors> at_begin = {};
  for (const testing::RecordedMark& mark : recording.marks) {
    if (mark.moment >= moment) break;
    const uint32_t who = mark.who;
    const std::pair<CutCopyKind, uint64_t> copy = {static_cast<CutCopyKind>(who), mark.number};
    switch (static_cast<CutMark>(mark.kind)) {
      case CutMark::kOpened:
        promise.opened = true;
        break;
      case CutMark::kSetUp:
        promise.set_up = true;
        break;
      case CutMark::kClosed:
        raise(promise.at_least, returned);
        break;
      case CutMark::kShown:
        promise.shown[who] = returned[who] = mark.number;
        promise.at_least[who] = promise.at_most[who] = mark.number;
        break;
      case CutMark::kBegins:
        at_begin[who] = returned;
        if (mark.number == 0) break;
        promise.before[{who, mark.number}] = returned;
        promise.at_most[who] = std::max(promise.at_most[who], mark.number);
        break;
      case CutMark::kReturned:
        returned[who] = std::max(returned[who], mark.number);
        break;
      case CutMark::kDurable:
        returned[who] = std::max(returned[who], mark.number);
        raise(promise.at_least, at_begin[who]);
        promise.at_least[who] = std::max(promise.at_least[who], mark.number);
        break;
      case CutMark::kRotated:
        promise.key_generation = mark.number;
        break;
      case CutMark::kCopyBegins:
        promise.copies[copy] = {.at_least = returned};
        // It has what its backup has.
        if (copy.first != CutCopyKind::kRestore) break;
        promise.copies[copy].at_least =
            promise.copies[{CutCopyKind::kBackup, mark.number}].at_least;
        break;
      case CutMark::kCopied:
        promise.copies[copy].ended = true;
        promise.copies[copy].at_most = promise.at_most;
        break;
      case CutMark::kCopyGoes:
        promise.copies[copy].goes = true;
        break;
    }
  }
  for (auto& [id, copy] : promise.copies) {
    if (!copy.ended) copy.at_most = promise.at_most;
  }
  return promise;
}

Numbers writers_of(const CutNumbers& numbers) {
  Numbers writers;
  std::copy_n(numbers.begin(), kWriters, writers.begin());
  return writers;
}

}  // namespace hawthorn::tests
