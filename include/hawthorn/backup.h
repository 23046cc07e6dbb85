#pragma once
// Copies of a database that is in use: checkpoints, which are databases themselves, backups in a
// repository, a directory that holds several of them and stores what they have in common once, and
// backups into a stream, such as a pipe.
//
//   (*db)->checkpoint("/var/copies/monday");
//   auto repository = hawthorn::BackupRepository::open("/var/backups/app");
//   hawthorn::Result<hawthorn::BackupInfo> made = (*db)->backup(**repository);
//   hawthorn::Status s = (*repository)->restore(made->id, "/var/lib/app/restored");
//   made = (*db)->backup_to(sink);
//   made = hawthorn::restore_backup(source, "/var/lib/app/restored");
//
// A copy holds exactly what was committed at one moment while it was called, named snapshots,
// feeds and prepared transactions included; docs/backup.md has what that means, and the bytes.
//
// Threads: a BackupRepository from any thread; one call at a time is served, others wait.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/encryption.h"
#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

namespace os {
struct Machine;
}

// Called by the thread that copies, without locks of the database, after each MB or somewhat more,
// with the bytes that this call has copied until then. What it returns, unless it is ok, ends the
// copy and is what the call returns; what was copied until then is left as by any other error. It
// must not throw, nor call the repository or stream that is in use.
using CopyProgress = std::function<Status(uint64_t bytes)>;

struct CheckpointOptions {
  uint64_t bytes_per_second = 0;  // at most so much is read and copied; 0: no limit
  CopyProgress progress = {};     // null: nobody is told
  // Data files share their blocks with those of the database where the file system can do that
  // (reflinks: XFS, Btrfs), and are copied where it cannot. False: always copied, for a copy that
  // damage of the source's blocks does not concern.
  bool share_blocks = true;
};

struct BackupOptions {
  uint64_t bytes_per_second = 0;  // as above
  CopyProgress progress = {};     // as above; what earlier backups have is not copied
  // Reads and stores all of it again, and refers to no earlier backup: damage of those does not
  // concern it. A backup into a stream always is full.
  bool full = false;
};

// Of a backup of an encrypted database its bytes stay as they are sealed, and it takes no key to
// copy them. Who gives one (as Options::encryption does; key_id is not looked at) is also told
// whether the backup is what was written: its keys open, its index or stream and its manifest are
// those of one backup, complete and unchanged, or that is kCorruption. A wrong key is
// kInvalidArgument, and so is a backup that is not encrypted, since somebody may have put it there.
struct RestoreOptions {
  uint64_t bytes_per_second = 0;  // as above
  CopyProgress progress = {};     // as above
  Encryption encryption = {};     // without a key: see above
};

struct VerifyOptions {
  Encryption encryption = {};  // as above
  CopyProgress progress = {};  // as above, of what was read and compared
};

struct BackupInfo {
  uint64_t id = 0;            // from 1, and never given twice while a later one exists; stream: 0
  uint64_t created_us = 0;    // wall clock, microseconds since 1970
  uint64_t bytes = 0;         // that a restore writes
  uint64_t bytes_stored = 0;  // of those, which no earlier backup had; stream: its size
  // Of the database, read to make it, the log included. What an earlier backup has of containers
  // that were not written since is not read again.
  uint64_t bytes_read = 0;
  bool incremental = false;  // it refers to parts that an earlier one stored
  bool encrypted = false;    // its database is: it opens with the key that was that one's then
};

// Takes the bytes of a backup, in order.
class HAWTHORN_EXPORT BackupSink {
 public:
  virtual ~BackupSink();
  // About 1 MB at a time. What it returns ends the backup, and is what that returns; it must not
  // throw. Called by the thread that makes the backup, without locks.
  virtual Status write(std::string_view bytes) = 0;
};

// Gives them back.
class HAWTHORN_EXPORT BackupSource {
 public:
  virtual ~BackupSource();
  // Fills some of it and returns how much: at least one byte, 0 at the end alone. It must not
  // throw.
  virtual Result<size_t> read(std::span<char> bytes) = 0;
};

// Reads a backup from a stream and compares its checksums. Errors: kCorruption naming the offset
// where it is damaged or cut off; kNotSupported for a newer version; those of the source, and of
// the options. Reads nothing behind the backup's end.
HAWTHORN_EXPORT Result<BackupInfo> verify_backup(BackupSource& source,
                                                 const VerifyOptions& options = {});
// Makes a database of it, as BackupRepository::restore does.
HAWTHORN_EXPORT Result<BackupInfo> restore_backup(BackupSource& source, const std::string& target,
                                                  const RestoreOptions& options = {});
// On another machine than the real one. For the project's own tests.
HAWTHORN_HIDDEN Result<BackupInfo> restore_backup_on(const os::Machine& machine,
                                                     BackupSource& source,
                                                     const std::string& target,
                                                     const RestoreOptions& options = {});

struct RepositoryOptions {
  bool create_if_missing = true;
};

class HAWTHORN_EXPORT BackupRepository {
 public:
  // Opens the repository in this directory, makes it when missing, and removes what interrupted
  // backups have left in it. Of two processes one has it. Errors: kBusy; kInvalidArgument for a
  // directory that holds other files; kNotFound where there is none and none is to be made; those
  // of the disk. Durable: when it returns.
  static Result<std::unique_ptr<BackupRepository>> open(const std::string& directory,
                                                        const RepositoryOptions& options = {});
  ~BackupRepository();
  BackupRepository(const BackupRepository&) = delete;
  BackupRepository& operator=(const BackupRepository&) = delete;

  // All backups, the oldest first. Reads the head of each. Errors: kCorruption naming the file.
  Result<std::vector<BackupInfo>> list();
  // Reads everything that a restore of it needs, and compares checksums. Errors: kNotFound;
  // kCorruption naming file and offset of the first part that is damaged; those of the options.
  Status verify(uint64_t id, const VerifyOptions& options = {});
  // Makes a database of it in a directory that is missing or empty, or holds what an interrupted
  // restore has left. Until it is whole and durable the directory has a file `copy.incomplete`, and
  // opening it is refused. Errors: as verify; kInvalidArgument for a target with other contents;
  // kBusy where another process writes into the target; kNoSpace. Durable: when it returns.
  Status restore(uint64_t id, const std::string& target, const RestoreOptions& options = {});
  // Deletes a backup, and gives the space of those parts back that no other one needs. Errors:
  // kNotFound; kCorruption where another backup cannot be read, so that nobody knows what it needs.
  // Durable: when it returns.
  Status remove(uint64_t id);

  // As open, on another machine than the real one. For the project's own tests.
  HAWTHORN_HIDDEN static Result<std::unique_ptr<BackupRepository>> open_on(
      const os::Machine& machine, const std::string& directory,
      const RepositoryOptions& options = {});

  struct HAWTHORN_HIDDEN Impl;

 private:
  friend class Db;
  explicit BackupRepository(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
