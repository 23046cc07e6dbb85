#pragma once
// The options of a database: few, and each one with a default that is right for most programs.
//
// Sizes are in bytes. There is no option that weakens what a durability level promises.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/encryption.h"

namespace hawthorn {

class CommitHook;
class EventListener;
class FlushFilter;
class KeyComparator;
class KeyOrder;
class MergeOperator;

// What a commit survives. Each level includes the ones before it.
enum class Durability : uint8_t {
  kDefault = 0,  // what Options::durability says
  kNone = 1,   // the death of the process (kill -9) and a later clean reboot; after a power loss a
               // prefix of the commit order remains, never shorter than the last kFull commit
  kAsync = 2,  // as kNone, and a power loss takes no more than the last few milliseconds
  kFull =
      3,  // everything that the hardware itself survives: the commit returns when the log is synced
};

enum class IoMode : uint8_t {
  kAuto = 0,      // direct where the file system offers it, buffered elsewhere
  kDirect = 1,    // O_DIRECT, or open fails
  kBuffered = 2,  // through the operating system's page cache
};

// How a tree's values and small records are stored on disk, in chunks of 16 KB each by itself;
// chunks and whole containers that this would not make smaller are stored as they are. In memory
// nothing is compressed. Values of more than 64 KB are not compressed.
enum class Compression : uint8_t {
  kNone = 0,
  kLz4 = 1,   // fast
  kZstd = 2,  // smaller; with a dictionary trained from the tree's first megabyte, where that helps
};

enum class LogLevel : uint8_t { kInfo = 0, kWarning = 1, kError = 2 };

// The budget of those who name none: `most`, or a quarter of what the control groups of this
// process allow it, where that is less. Looks each time; `most` where it cannot.
HAWTHORN_EXPORT size_t default_memory_budget_bytes(size_t most = size_t{256} << 20);

struct Options {
  // Everything that the library allocates stays within this budget, but for a twentieth that a
  // moment may take beyond: unflushed writes, cached data, the log ring, what open transactions and
  // cursors hold. Not in it: what Value, ReadBatch and WriteBatch objects hold for their owners,
  // and half a megabyte or so for each thread that calls (its stack, what malloc keeps for it). At
  // least 16 MB. Can be changed while running: Db::set_memory_budget.
  // A database may need a larger budget than the one it was open with before: who reads only, and a
  // Follower, must have room for all that was not flushed (up to half of that budget); whoever
  // opens it, for what prepared transactions have written. Open says kOutOfMemory where there is
  // none, and changes nothing.
  size_t memory_budget_bytes = default_memory_budget_bytes();

  // Makes the whole budget resident at open, which then takes longer (a tenth of a second per GB,
  // or several seconds where a hypervisor has to find the memory). Without it memory becomes
  // resident as it is first needed, and is then kept.
  bool preallocate_memory = false;

  // The level of commits that do not name one.
  Durability durability = Durability::kFull;

  IoMode io_mode = IoMode::kAuto;

  // How much of the data files' space may be in use for each live byte, garbage being what
  // overwritten and deleted values leave until their container is rewritten: 1.02 to 4. Less means
  // that values are rewritten more often: at 1.10 a byte of random overwrites costs about five of
  // rewriting, at 1.25 about two. Deltas, the log and the reserve come on top.
  // Errors of open: kInvalidArgument out of range.
  double space_target = 1.10;

  // Of trees that are created; Db::set_compression changes it for one tree. A database with a
  // compressed tree cannot be opened by versions before compression. Errors of open:
  // kInvalidArgument.
  Compression compression = Compression::kNone;

  // Those that trees of this database have or will get (merge_operator.h), each with a name of its
  // own. Errors of open: kInvalidArgument where a tree has one that is not among them.
  std::vector<std::shared_ptr<const MergeOperator>> merge_operators;

  // Orders that trees of this database have or will get, beside the library's (key_order.h), each
  // with a name of its own. Errors of open: kInvalidArgument where a tree has one that is not among
  // them.
  std::vector<std::shared_ptr<const KeyOrder>> key_orders;
  // The same of orders that are comparisons. Names are unique among both.
  std::vector<std::shared_ptr<const KeyComparator>> key_comparators;

  // Told of each entry that has ended (TreeOptions::expires), when it was removed: its tree's name,
  // key and value. Once, in no certain order, within a second or so on an idle machine; not of what
  // was removed when a process died before it told. Called on a thread of the database, and by
  // Db::compact on the caller's; it may call the database, but for close and compact, and must not
  // throw. Default: none.
  std::function<void(std::string_view tree, std::string_view key, std::string_view value)>
      on_expiry;

  // Block devices that hold the data instead of files in the directory, which keeps superblock,
  // manifest and log: paths of whole devices or partitions of 16 MB at least, 64 at most. They are
  // opened exclusively, so they must not be mounted. A file of fixed size serves as one, too.
  //
  // A database is created on devices that are blank: where the first megabyte or the last 64 KB
  // hold anything but zeros, or a label of another database, open fails. Afterwards the order does
  // not matter, since labels tell which is which, and an empty list means all of them where they
  // last were. Blank ones that are listed besides all others are added. A device that has grown is
  // used as a whole from the next open on; none is ever taken away. Db::destroy clears the labels.
  // Copies (backup.h) have files in their directory instead, and are opened with an empty list.
  //
  // Open returns kInvalidArgument for a device that is missing, too small, carries other data, or
  // is listed for a database that has its data in files; kBusy when it is in use; kCorruption when
  // it is a copy of another time than the directory; all name the path. Default: none.
  std::vector<std::string> devices;

  // Keys of a database that is encrypted at rest, or that is created so (encryption.h). Errors of
  // open: kInvalidArgument for a wrong key, for a database that is encrypted when there are no
  // keys, for one that is not when there are, and for a bad id of a new one's key; what the
  // callback returns. Default: none.
  Encryption encryption;

  // Reads only: no file is created, changed or removed. Commits return kReadOnly. The log is
  // replayed in memory. Without its lock file (a copy may have none) the database opens all the
  // same, but then nothing keeps a writing process out. Beside a process that writes, a Follower
  // reads (follower.h).
  bool read_only = false;

  // Creates the database when the directory holds none. When false, open returns kNotFound.
  bool create_if_missing = true;

  // With it also the directories above that are missing. Without: open returns kNotFound where the
  // directory above is missing, since a path like that is more often a mistake than a wish.
  bool create_parents = false;

  // Open returns kInvalidArgument when the database exists.
  bool error_if_exists = false;

  // Permissions of the files that this process makes in the directory, as of chmod, less what the
  // umask takes: the owner's to read and write, and any of 0066. Directories that it makes get
  // the same, and whoever may read them may enter. What is there keeps what it has. Followers of
  // other users (follower.h) need 0640 or 0644: they get to read everything, and to write the
  // file `followers` alone, by which they can keep disk space from being used again, but change
  // nothing. Default: nobody else. Errors of open: kInvalidArgument.
  uint32_t file_mode = 0600;

  // How long a write waits, in milliseconds, while another transaction has locked its row, and the
  // begin of an exclusive transaction for its turn; 0: not at all. Transactions may say otherwise
  // (transaction.h).
  uint64_t lock_timeout_ms = 1000;

  // What background work may read and write per second, in bytes: flushes, re-clustering, moving
  // data out of files that are given back, and Db::compact and Db::check, whoever calls them; 0: no
  // limit. Averaged over a second, or over the rewriting of one container (up to 64 MB) where that
  // takes longer. It yields to writers: where deltas are near their quota, or the log at one and a
  // half times its limit, flushes go on at full speed, as do those that writers run themselves and
  // those of Db::flush, Db::drain (but for what it rewrites for space) and close. Can be changed
  // while running: Db::set_background_io_limit.
  uint64_t background_io_bytes_per_second = 0;

  // Verifies all that is on disk in the background, round after round, at so many bytes per second:
  // what Db::check verifies of containers, and where a round ends superblock, manifest and log.
  // Counts under background_io_bytes_per_second, too, and stands back for all else that does. A
  // round begins anywhere; between two there is a pause of an hour, so that a small database is not
  // read all the time. What it finds is told to listeners (DamageFound), to `log`, and counted
  // (Stats::scrub_errors). Default 0: it does not. Has no effect in a database that is opened
  // read-only.
  uint64_t scrub_bytes_per_second = 0;

  // Called with each message of interest to an operator (recovery, damage, a full disk). Called
  // from any thread, also from background threads, never under a lock that a database call takes;
  // it must not throw. Default: none, silent.
  std::function<void(LogLevel, std::string_view)> log;

  // Called by open on its thread, while it replays the log: each megabyte, and at the end of each
  // reading, with the bytes that were read and how many there are to be. These become less when the
  // log's end is found, and more where parts are read twice: it is read once where it fits into
  // memory and has no large transactions. What it returns, unless it is ok, ends the open, which
  // returns that; the next one begins again and loses nothing. It must not throw. Default: none.
  std::function<Status(uint64_t bytes_done, uint64_t bytes)> open_progress;

  // Told of flushes, stalls, errors, damage, changes of trees and files, each as a value of its own
  // (events.h), on a thread that there is for that. Default: none, and no such thread. Errors of
  // open: kInvalidArgument for a null pointer.
  std::vector<std::shared_ptr<EventListener>> listeners;

  // Asked before each commit of the program, which they may refuse, and told behind it
  // (commit_hook.h), in this order. Default: none. Errors of open: kInvalidArgument for a null
  // pointer.
  std::vector<std::shared_ptr<CommitHook>> commit_hooks;

  // By the name of a tree: what looks at its entries after flushes, and may remove or change them
  // (flush_filter.h). Not kept in the database: without it nothing is filtered. Default: none, and
  // no thread for it. In a database that is opened read-only they do nothing. Errors of open:
  // kInvalidArgument for a null pointer, or what cannot be the name of a tree.
  std::map<std::string, std::shared_ptr<FlushFilter>> flush_filters;
};

}  // namespace hawthorn
