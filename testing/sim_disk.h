#pragma once
// A disk in memory that loses power, tears writes and fails on demand, the same way for the same
// seed.
//
// Not here: clock, randomness, I/O queues (sim_machine.h). Used by tests only.
// Threads: all functions from any thread, under one mutex; stores into mapped files are not seen
// one by one but found when the file is synced, read, unmapped or the disk crashes.
//
// 1. What a file held when its last sync_data returned OK is there after every crash; a name, when
//    the last sync_directory of its directory did. A new directory is a name in its parent.
// 2. After a power loss each other change is there, missing or (writes, pages of mapped files) torn
//    at sector boundaries, decided for each alone; of a page also an older state, if
//    write_back_pages saw it. A rename happened whole or not at all.
// 3. After a killed process everything is there, and what was not synced is still not synced.
// 4. A failed sync loses some of what was unsynced: it reads back until the crash, but no later
//    sync makes it durable.
// 5. After crash() or stop() every call answers kIoError and changes nothing.
// 6. Space that was freed is taken again only when no crash can bring back what had it: where the
//    capacity leaves no other, names and what frees parts of files become durable first.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/file.h"

namespace hawthorn::testing {

enum class CrashKind : uint8_t {
  kProcessKill,    // the machine goes on: the page cache survives
  kPowerLoss,      // each unsynced change survives or not
  kPowerLossDrop,  // no unsynced change survives
};

enum class SimOp : uint8_t { kRead, kWrite, kSync, kSyncDirectory, kOpen, kName, kAllocate, kAny };

struct SimCounters {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t syncs = 0;  // of files and of mappings
  uint64_t directory_syncs = 0;
  uint64_t opens = 0;
  uint64_t names = 0;      // creates, renames, removes, directories
  uint64_t allocates = 0;  // truncate, allocate, punch_hole
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_cloned = 0;
  uint64_t faults = 0;  // injected and met
};

// Asked by a disk within each of its operations, under its lock, and told what a power loss did.
class SimDiskFaults {
 public:
  enum class WriteFate : uint8_t {
    kWritten,
    kDropped,      // acknowledged, and nothing was written
    kForgotten,    // reads back until the power is lost, synced or not
    kMisdirected,  // at another place of the file
  };
  enum class CrashFate : uint8_t { kKept, kLost, kTorn, kOlder };

  virtual ~SimDiskFaults() = default;
  // An error to answer with. kRead with kCorruption: a short read.
  virtual Status meet(SimOp op, const std::string& path) = 0;
  struct Write {
    const std::string& path;
    uint64_t offset;
    size_t size;
    uint64_t file_size;
    // Whether the bytes of [begin, end) of the file, which lie in the write, are there already.
    const std::function<bool(uint64_t begin, uint64_t end)>& repeats;
  };
  // *elsewhere: where a misdirected write goes.
  virtual WriteFate fate_of_write(const Write& write, uint64_t* elsewhere) = 0;
  // What became of an unsynced change: of a file, or (`name`) of names in a directory. kOlder: of a
  // page that was stored into again since, and that was lost.
  virtual void crashed(const std::string& path, bool name, CrashFate fate) = 0;
};

class SimDisk : public os::FileSystem {
 public:
  explicit SimDisk(uint64_t seed = 1);
  ~SimDisk() override;

  // What a restart would find. This disk is dead afterwards.
  std::unique_ptr<SimDisk> crash(uint64_t seed, CrashKind kind);
  // The same, but this disk goes on: for looking at many outcomes of one moment.
  std::unique_ptr<SimDisk> after_crash(uint64_t seed, CrashKind kind);
  // From now on, or from the n-th operation of a kind from now on (1: the next), every call fails.
  void stop();
  void stop_at(SimOp op, uint64_t nth);
  bool stopped() const;

  // The n-th operation of a kind from now on (1: the next) fails with this code; all that follow
  // too, if `forever`. A failed write may leave some of its sectors. kRead with kCorruption is a
  // short read.
  void fail(SimOp op, uint64_t nth, StatusCode code, bool forever = false);
  // The same for files whose path contains `part` only.
  void fail_path(const std::string& part, SimOp op, uint64_t nth, StatusCode code,
                 bool forever = false);
  void clear_faults();
  // Null: none. Lifetime: longer than the disk, and than those that a crash makes of it.
  void set_faults(SimDiskFaults* faults);
  // Bytes that files may take; kNoSpace beyond. 0: no limit.
  void set_capacity(uint64_t bytes);
  void set_direct_supported(bool supported);
  // Of ranges between files; not unless this was called.
  void set_clones_supported(bool supported);
  // As the kernel may at any time: what is in the pages of mapped files now may be on the disk
  // after a power loss, whatever is stored into them later.
  void write_back_pages();
  // Turns one bit of what is on the disk; false when there is no such file or byte.
  bool flip_bit(const std::string& path, uint64_t offset, unsigned bit);

  SimCounters counters() const;
  uint64_t used_bytes() const;
  // Of all names and bytes, as they are now.
  uint64_t image_hash() const;
  // The number of changes that no sync covers yet, names included.
  uint64_t unsynced_changes() const;

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

  struct State;

 private:
  explicit SimDisk(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // files outlive the disk object
};

}  // namespace hawthorn::testing
