#include "tests/sim/world.h"

#include <algorithm>

namespace hawthorn::tests {

void SimWorld::fail(const std::string& what) {
  trace->text(what);
  if (failure.empty()) failure = what;
}

bool SimWorld::may_lose_end() const {
  using testing::SimFileClass;
  constexpr SimFileClass kTell[] = {SimFileClass::kSegment, SimFileClass::kRing,
                                    SimFileClass::kManifest, SimFileClass::kSuperblock};
  return std::any_of(std::begin(kTell), std::end(kTell),
                     [this](SimFileClass file) { return files->harmed("/db", file); });
}

bool SimWorld::excused(const Status& status) const {
  if (stopped()) return true;
  if (status.is(StatusCode::kNoSpace) && was_full) return true;
  switch (status.code()) {
    case StatusCode::kIoError:
    case StatusCode::kNoSpace:
    case StatusCode::kUnknownOutcome:
    case StatusCode::kReadOnly:
      return files->errors_met() > 0 &&
             status.message().find("injected: ") != std::string_view::npos;
    case StatusCode::kNotSupported:
      // Where the open could not find out, as its probes have failed, files are opened direct.
      return files->errors_met() > 0 && status.message().ends_with("has no direct I/O");
    case StatusCode::kCorruption:
      // Of the log's end no single file is to blame, nor of a record that is not there: it may go
      // on in the next segment, or have been in the ring alone, or the manifest did not keep that
      // it is not needed any more. Where the superblock was not written, it names a manifest that
      // was.
      return files->names_harmed(status.message()) ||
             ((status.message().starts_with("/db: the log ends") ||
               status.message().starts_with("/db: manifest.") ||
               status.message().find(": no valid record") != std::string_view::npos) &&
              may_lose_end());
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

void SimWorld::judge(const CheckReport& report, const std::string& what) {
  for (const std::string& error : report.errors) {
    if (stopped() || error.find("injected: ") != std::string::npos) continue;
    judge(Status(StatusCode::kCorruption, error), what);
  }
}

void SimWorld::judge(const Status& status, const std::string& what,
                     std::span<const StatusCode> expected) {
  if (status.ok() || excused(status)) return;
  if (std::find(expected.begin(), expected.end(), status.code()) != expected.end()) return;
  fail(what + ": " + status.to_string() + (files->damaged() ? "; " : "") +
       files->describe_damage());
}

}  // namespace hawthorn::tests
