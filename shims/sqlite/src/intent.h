#pragma once
// The file beside a database's directory that says: this one is about to be committed together with
// others, and whether it is committed another one knows, the coordinator (together.h).
//
//   app.db-3f9a01c24d77.commit    "Hawthorn commit for SQLite\n", the coordinator's directory,
//                                 "\n", the commit's id, "\n", which of its databases this is, "\n"
//
// The directory is a mere name where it lies beside this one. Threads: functions without state.

#include <cstdint>
#include <optional>
#include <string>

#include "hawthorn/status.h"

namespace hawthorn::sqlite {

struct Intent {
  std::string coordinator;  // its directory
  std::string id;
  uint32_t number = 0;
};

std::string new_commit_id();
// Errors: kIoError, kNoSpace. Durable when it returns, where that is asked.
Status write_intent(const std::string& directory, const Intent& intent, bool durable);
enum class FoundIntent : uint8_t { kNone, kWhole, kTorn };
// Torn: it was not written to its end, so nothing was decided. Errors: kIoError.
Result<FoundIntent> read_intent(const std::string& directory, Intent* intent);
void remove_intent(const std::string& directory);

// How another database's directory is named beside this one, and back.
std::string name_beside(const std::string& directory, const std::string& other);
std::string path_beside(const std::string& directory, const std::string& name);

}  // namespace hawthorn::sqlite
