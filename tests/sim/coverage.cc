#include "tests/sim/coverage.h"

#include <cstdio>

namespace hawthorn::tests {
namespace {

using testing::kSimFaultKinds;
using testing::kSimFileClasses;
using testing::SimFaultKind;
using testing::SimFileClass;

// Whether the engine does, with such files, what this kind of fault befalls.
bool possible(SimFaultKind kind, SimFileClass file) {
  switch (file) {
    case SimFileClass::kDirectory:
      return kind == SimFaultKind::kDirectorySyncFails;
    case SimFileClass::kRing:  // is mapped: it is stored into, neither read nor written
      return kind == SimFaultKind::kOpenFails || kind == SimFaultKind::kKeptUnsynced ||
             kind == SimFaultKind::kLostUnsynced || kind == SimFaultKind::kTornUnsynced ||
             kind == SimFaultKind::kOlderPage || kind == SimFaultKind::kBitRot;
    case SimFileClass::kOther:  // small, never waited for
      if (kind == SimFaultKind::kSyncFails || kind == SimFaultKind::kMisdirectedWrite) return false;
      break;
    default:
      break;
  }
  if (kind == SimFaultKind::kNoSpace) {  // is met where space is taken beforehand
    return file == SimFileClass::kSegment || file == SimFileClass::kData;
  }
  if (kind == SimFaultKind::kOlderPage) return false;  // only the ring is mapped to be written
  return kind != SimFaultKind::kDirectorySyncFails;
}

}  // namespace

std::string coverage_table(const testing::SimCoverage& coverage) {
  char line[200];
  std::string table;
  snprintf(line, sizeof(line), "%-22s", "fault");
  table += line;
  for (size_t file = 0; file < kSimFileClasses; ++file) {
    snprintf(line, sizeof(line), "%11s",
             testing::sim_file_class_name(static_cast<SimFileClass>(file)));
    table += line;
  }
  table += "\n";
  for (size_t kind = 0; kind < kSimFaultKinds; ++kind) {
    snprintf(line, sizeof(line), "%-22s", testing::sim_fault_name(static_cast<SimFaultKind>(kind)));
    table += line;
    for (size_t file = 0; file < kSimFileClasses; ++file) {
      if (possible(static_cast<SimFaultKind>(kind), static_cast<SimFileClass>(file)) ||
          coverage[kind][file] != 0) {
        snprintf(line, sizeof(line), "%11llu",
                 static_cast<unsigned long long>(coverage[kind][file]));
      } else {
        snprintf(line, sizeof(line), "%11s", "-");
      }
      table += line;
    }
    table += "\n";
  }
  return table;
}

std::string never_met(const testing::SimCoverage& coverage) {
  std::string missing;
  for (size_t kind = 0; kind < kSimFaultKinds; ++kind) {
    for (size_t file = 0; file < kSimFileClasses; ++file) {
      const auto fault = static_cast<SimFaultKind>(kind);
      const auto where = static_cast<SimFileClass>(file);
      if (!possible(fault, where) || coverage[kind][file] != 0) continue;
      missing += std::string(missing.empty() ? "" : "; ") + testing::sim_fault_name(fault) +
                 " of " + testing::sim_file_class_name(where);
    }
  }
  return missing;
}

}  // namespace hawthorn::tests
