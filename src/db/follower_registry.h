#pragma once
// Which other processes read this database (the files `followers` and `revocations`,
// format/followers_layout.h): the
// side of the process that writes, and a follower's claim.
//
//   follower: claim a slot that pins everything ─fence─> superblock, manifest ──> pin that batch
//   writer:   batch that drops extents is durable ─fence─> look at the slots ──> what is clear is
//   free
//
// Not here: what becomes of extents that are not clear (space/held.cc), who asks when
// (db/publisher.h). Threads: FollowerRegistry from any thread; FollowerClaim from one at a time.
//
// 1. Of a follower that reads the manifest and a writer that has changed it one sees the other: so
// a
//    slot that claims after the writer has looked belongs to one that reads the newer manifest.
// 2. A slot counts as long as the lock of its first byte is held, whatever else it says; what a
//    process that died has left is cleared by who looks. Nobody waits for such a lock.
// 3. What is revoked pins nothing from then on, and its follower is told where it meets what was
//    written over.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/followers_layout.h"
#include "hawthorn/stats.h"
#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn::db {

class FollowerRegistry {
 public:
  // Makes the files where there are none, and tells followers that this process heeds them: `salt`
  // is that of the log epoch which it is about to begin, `salt_before` of the last one that it
  // found. What followers write is made by `shared`, which makes files that they may write. Null:
  // there is no space for the files, and so nobody can follow. Errors: those of the file system.
  static Result<std::unique_ptr<FollowerRegistry>> open(const os::Machine& machine,
                                                        os::FileSystem& shared,
                                                        const std::string& directory, uint64_t salt,
                                                        uint64_t salt_before);
  // Behind a batch that is durable: up to which batch what was dropped is read by nobody else.
  uint64_t clear(uint64_t durable) EXCLUDES(mutex_);
  // Whether one reads the manifest or the log just now: then the log must stay. One that has done
  // so for ten seconds does not count.
  bool reads_log() EXCLUDES(mutex_);
  // Ends what all that are there pin of batches below this. How many there were.
  size_t revoke(uint64_t batch) EXCLUDES(mutex_);
  std::vector<FollowerStats> list() EXCLUDES(mutex_);
  // Whether somebody follows the database in this directory. Errors: those of the file system.
  static Result<bool> any(const os::Machine& machine, const std::string& directory);

 private:
  struct Live {
    uint32_t number = 0;
    bool readable = false;  // its slot is not just being written
    bool revoked = false;
    format::FollowerSlot slot{};
  };
  FollowerRegistry(const os::Machine& machine, std::unique_ptr<os::File> file,
                   std::unique_ptr<os::File> revocations)
      : machine_(machine), file_(std::move(file)), revocations_(std::move(revocations)) {}
  // Errors: those of reading; then nothing is known of anybody.
  Status look(std::vector<Live>* live) REQUIRES(mutex_);

  static constexpr uint64_t kReadsLogUs = 10'000'000;

  const os::Machine machine_;
  os::Mutex mutex_;
  const std::unique_ptr<os::File> file_;
  const std::unique_ptr<os::File> revocations_;
  // When a claim that pins everything was first seen, by the monotonic clock.
  std::map<uint64_t, uint64_t> opening_since_us_ GUARDED_BY(mutex_);
};

// Of a follower: a slot that is its own until the object goes, or the process dies.
class FollowerClaim {
 public:
  // Pins everything. Errors: kNotFound where the file is missing; kPermissionDenied, or kReadOnly
  // on a read-only medium, where it may not be written; kBusy when all slots are taken.
  static Result<std::unique_ptr<FollowerClaim>> make(const os::Machine& machine,
                                                     const std::string& directory);
  ~FollowerClaim();
  FollowerClaim(const FollowerClaim&) = delete;
  FollowerClaim& operator=(const FollowerClaim&) = delete;

  // Whether the process that began the log epoch with this salt heeds followers.
  Result<bool> heeded(uint64_t salt) const;
  // From here on only what batches above this one drop is pinned. 0: everything, again.
  Status pin(uint64_t batch);
  // One load.
  bool revoked() const;
  uint64_t batch() const { return slot_.batch; }

 private:
  FollowerClaim(std::unique_ptr<os::File> file, std::unique_ptr<os::MappedFile> mapped,
                uint32_t number, const format::FollowerSlot& slot)
      : file_(std::move(file)), mapped_(std::move(mapped)), number_(number), slot_(slot) {}
  const std::unique_ptr<os::File> file_;
  const std::unique_ptr<os::MappedFile> mapped_;  // of the revocations
  const uint32_t number_;
  format::FollowerSlot slot_;
};

}  // namespace hawthorn::db
