#include "tests/crash/cut_history.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hawthorn::tests {
namespace {

void raise(Numbers& numbers, const Numbers& to) {
  for (uint32_t w = 0; w < kWriters; ++w) numbers[w] = std::max(numbers[w], to[w]);
}

}  // namespace

CutPromise promise_at(const testing::Recording& recording, uint64_t moment) {
  CutPromise made;
  Promise& promise = made.promise;
  Numbers returned = {};
  // What had returned when the writer's present call began, and when each commit did.
  std::array<Numbers, kWriters> at_begin = {};
  std::map<std::pair<uint32_t, uint64_t>, Numbers> before;
  for (const testing::RecordedMark& mark : recording.marks) {
    if (mark.moment >= moment) break;
    const uint32_t w = mark.who;
    switch (static_cast<CutMark>(mark.kind)) {
      case CutMark::kOpened:
        made.opened = true;
        break;
      case CutMark::kSetUp:
        promise.set_up = true;
        break;
      case CutMark::kClosed:
        raise(promise.at_least, returned);
        break;
      case CutMark::kShown:
        made.shown[w] = returned[w] = promise.at_least[w] = promise.at_most[w] = mark.number;
        break;
      case CutMark::kBegins:
        at_begin[w] = returned;
        if (mark.number == 0) break;
        before[{w, mark.number}] = returned;
        promise.at_most[w] = std::max(promise.at_most[w], mark.number);
        break;
      case CutMark::kReturned:
        returned[w] = std::max(returned[w], mark.number);
        break;
      case CutMark::kDurable:
        returned[w] = std::max(returned[w], mark.number);
        raise(promise.at_least, at_begin[w]);
        promise.at_least[w] = std::max(promise.at_least[w], mark.number);
        break;
    }
  }
  promise.before = [before = std::move(before)](uint32_t writer, uint64_t number) {
    const auto found = before.find({writer, number});
    return found == before.end() ? Numbers() : found->second;
  };
  return made;
}

}  // namespace hawthorn::tests
