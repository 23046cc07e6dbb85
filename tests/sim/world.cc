#include "tests/sim/world.h"

#include <algorithm>

namespace hawthorn::tests {

void SimWorld::fail(const std::string& what) {
  trace->text(what);
  if (failure.empty()) failure = what;
}

bool SimWorld::excused(const Status& status) const {
  if (stopped()) return true;
  if (status.is(StatusCode::kNoSpace) && was_full) return true;
  switch (status.code()) {
    case StatusCode::kIoError:
    case StatusCode::kNoSpace:
    case StatusCode::kUnknownOutcome:
    case StatusCode::kReadOnly:
      return files->errors_met() > 0 || files->damaged();
    case StatusCode::kCorruption:
      // It says where.
      return (files->errors_met() > 0 || files->damaged()) &&
             (status.message().find("/db") != std::string_view::npos ||
              status.message().find("/copy") != std::string_view::npos ||
              status.message().find("/backups") != std::string_view::npos);
    default:
      return false;
  }
}

void SimWorld::learn(const Status& status) {
  const std::string_view message = status.message();
  const bool refused = status.is(StatusCode::kReadOnly);
  if (status.is(StatusCode::kUnknownOutcome) || message.starts_with("the log failed") || refused) {
    poisoned = true;
  }
  if (!refused) return;
  if (refusal.empty()) refusal = message;
  if (message != refusal)
    fail("refused with '" + std::string(message) + "', not '" + refusal + "'");
}

void SimWorld::judge_write(bool was_poisoned, const Status& status, const std::string& what,
                           std::span<const StatusCode> expected) {
  if (stopped()) return;
  learn(status);
  judge(status, what, expected);
  // Some read before they look whether they may write.
  if (!was_poisoned || status.is(StatusCode::kReadOnly) || status.is(StatusCode::kCorruption))
    return;
  if (std::find(expected.begin(), expected.end(), status.code()) != expected.end()) return;
  fail(what + " was not refused, though the database is read-only (" + refusal +
       "): " + status.to_string());
}

void SimWorld::judge(const Status& status, const std::string& what,
                     std::span<const StatusCode> expected) {
  if (status.ok() || excused(status)) return;
  if (std::find(expected.begin(), expected.end(), status.code()) != expected.end()) return;
  fail(what + ": " + status.to_string() + (files->damaged() ? "; " : "") +
       files->describe_damage());
}

}  // namespace hawthorn::tests
