#pragma once
// What a power cut at a moment of a recording leaves of the files, first on a simulated disk, whose
// rules for power cuts it follows (sim_disk.h), then on real files.
//
// Not here: which moments are cut at, and what must be there (tests/crash/cut_lives.h). Used by
// tests only. Threads: one.
//
// 1. A sync that had ended covers what had ended before it began. One under way covers nothing.
// 2. A write that was under way is there, missing, or there in part; any other call under way was
//    made or not.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "testing/recording.h"
#include "testing/sim_disk.h"

namespace hawthorn::testing {

enum class CutKind : uint8_t {
  kPrefix,  // all that was done, in order, as if each call had been synced
  kSubset,  // of what no sync covers any part, in any order, torn at sectors
  kSynced,  // what was synced alone
};

struct Cut {
  uint64_t moment = 0;  // calls and ends of calls before it have happened
  CutKind kind = CutKind::kPrefix;
  uint64_t seed = 0;
  // A canary: syncs of files of this class are taken for not made. Empty: none.
  std::string without_syncs_of;
};

// What a cut has met, by the class of the file.
enum class CutState : uint8_t {
  kInWrite,
  kInSync,
  kInOther,  // a change of a size or of a name
  kKept,     // an unsynced change that is there,
  kTorn,     // in part,
  kLost,     // or not
  kNameKept,
  kNameLost,
};
inline constexpr size_t kCutStates = 8;
const char* name_of(CutState state);
using CutStates = std::map<std::string, std::set<CutState>>;

// Files of one purpose: the path below the root, or below `db` in it, with "N" for each number
// between its slashes and dots. Syncs of directories are of the class "directory".
std::string file_class(const std::string& path);

// The disk after the cut. Errors: kCorruption where the recording contradicts itself.
Result<std::unique_ptr<SimDisk>> disk_after(const Recording& recording, const Cut& cut,
                                            CutStates* states);

// Makes real files of all that is on the disk, in a directory that is there and empty.
Status write_out(SimDisk& disk, const std::string& directory);
// Which file of the directory differs from what is on the disk; empty: none.
Result<std::string> difference(SimDisk& disk, const std::string& directory);

}  // namespace hawthorn::testing
