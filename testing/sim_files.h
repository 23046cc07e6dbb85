#pragma once
// The files of a simulated machine with threads: each operation takes its time, so that others come
// in between, may fail or go wrong as the seed wants it, and is written to the trace.
//
// Not here: what a disk keeps (sim_disk.h), whose turn it is (sim_scheduler.h).
// Threads: those of the schedule. Lifetime: the disk's and the machine's.
//
// 1. Faults are counted when an operation meets them; what went wrong unseen (a write that was
//    lost, a bit that rotted) when its place is read.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "os/file.h"
#include "testing/sim_disk.h"
#include "testing/sim_scheduler.h"
#include "testing/sim_trace.h"

namespace hawthorn::testing {

enum class SimFaultKind : uint8_t {
  // Errors.
  kOpenFails,
  kReadFails,
  kShortRead,
  kWriteFails,
  kNoSpace,
  kSyncFails,
  kNameFails,
  kDirectorySyncFails,
  // Lies.
  kDroppedWrite,
  kForgottenWrite,
  kMisdirectedWrite,
  kBitRot,
  // What a power loss does.
  kKeptUnsynced,
  kLostUnsynced,
  kTornUnsynced,
  kOlderPage,
  kNameKept,
  kNameLost,
  kCount,
};
inline constexpr size_t kSimFaultKinds = static_cast<size_t>(SimFaultKind::kCount);

enum class SimFileClass : uint8_t {
  kSuperblock,
  kManifest,
  kSegment,  // of the log
  kRing,
  kData,
  kOther,
  kDirectory,
  kCount
};
inline constexpr size_t kSimFileClasses = static_cast<size_t>(SimFileClass::kCount);

const char* sim_fault_name(SimFaultKind kind);
const char* sim_file_class_name(SimFileClass file);
SimFileClass sim_file_class(const std::string& path);

// How often each kind of fault met each class of files.
using SimCoverage = std::array<std::array<uint64_t, kSimFileClasses>, kSimFaultKinds>;

struct SimFaultPlan {
  std::array<uint64_t, kSimFaultKinds> period = {};  // one operation in so many; 0: never
  uint64_t faults_max = 0;                           // of all kinds
  uint64_t errors_of =
      ~uint64_t{0};  // classes of files whose writes and syncs fail: a bit for each
  uint64_t lies_about = ~uint64_t{0};  // the same, whose writes go wrong
  bool secret = false;                 // nobody is told of lies: they are no damage
  uint64_t latency_us = 0;             // of a read or write at most; syncs: ten times
};

class SimFiles : public os::FileSystem, public SimDiskFaults {
 public:
  SimFiles(SimDisk* disk, SimScheduler* scheduler, SimTrace* trace, SimCoverage* coverage,
           uint64_t seed);
  ~SimFiles() override;

  // Of the operations from now on.
  void set_plan(const SimFaultPlan& plan) {
    plan_ = plan;
    faults_ = 0;
  }
  // The disk behind a crash. No file may be open.
  void set_disk(SimDisk* disk);
  // Errors that were answered since begin_life; those of them after which nothing may be committed
  // in /db any more.
  uint64_t errors_met() const { return errors_; }
  uint64_t final_errors_met() const { return final_errors_; }
  // Forgets them, and the files that were harmed, but those that are.
  void begin_life();
  // Whether there are places that are not what was written there, and were not written again since.
  bool damaged() const { return !damage_.empty(); }
  // Whether a text names a file, with its directory or without, that is harmed, or was since
  // begin_life, or ever: damaged, read short, or left by a write that failed.
  bool names_harmed(std::string_view text, bool ever = false) const;
  // Whether a file of the class in the directory is damaged, or was since forget_harm.
  bool harmed(const std::string& directory, SimFileClass file) const;
  void forget_harm();
  std::string describe_damage() const;

  Result<std::unique_ptr<os::File>> open_file(const std::string& path,
                                              os::OpenFlags flags) override;
  Result<std::unique_ptr<os::MappedFile>> map_shared(const std::string& path, size_t size,
                                                     bool read_only) override;
  Result<bool> exists(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;
  Result<uint64_t> free_bytes(const std::string& directory) override;

  Status meet(SimOp op, const std::string& path) override;
  WriteFate fate_of_write(const Write& write, uint64_t* elsewhere) override;
  void crashed(const std::string& path, bool name, CrashFate fate) override;

  // For the files that it opens.
  void begin(const char* what, const std::string& path, uint64_t latency_us);
  Status end(const std::string& path, const Status& status, std::span<const char> data = {});
  void before_read(const std::string& opened, uint64_t offset, size_t size);
  uint64_t latency_us() const { return plan_.latency_us; }
  SimDisk* disk() { return disk_; }

 private:
  struct Damage {
    SimFaultKind kind;
    std::string path;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  // Whether the next operation is to meet this kind of fault.
  bool draw(SimFaultKind kind);
  void count(SimFaultKind kind, const std::string& path);
  bool final(SimFaultKind kind, const std::string& path) const;
  void harm(const std::string& path);
  void damage(SimFaultKind kind, const std::string& path, uint64_t offset, uint64_t size);
  // Turns a bit of that byte; false: there is none.
  bool rot(const std::string& path, uint64_t at);
  std::set<std::string> damaged_files() const;
  void rot_before_map(const std::string& path, size_t size);
  // Of a file that was opened by this name.
  const std::string& name_now(const std::string& path) const;

  SimDisk* disk_;
  SimScheduler* const scheduler_;
  SimTrace* const trace_;
  SimCoverage* const coverage_;
  Prng prng_;
  SimFaultPlan plan_;
  uint64_t faults_ = 0;
  uint64_t errors_ = 0;
  uint64_t final_errors_ = 0;
  std::set<std::string> written_;  // data files, since they were made
  std::vector<Damage> damage_;
  std::map<std::string, std::string> renamed_;
  std::set<std::string> harmed_ever_;
  std::set<std::string> harmed_in_life_;
  std::set<std::string> damaged_since_;  // forget_harm
};

}  // namespace hawthorn::testing
