#pragma once
// An environment: a database, its handles of tables, its readers and its one writer.
//
// It writes where no other process does: then `db` is open. Otherwise, and where it is opened to
// read only, it follows (hawthorn/follower.h), and each transaction reads the newest view.
//
// Threads: as the original's: any, but for what stands before open, open and close.

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/follower.h"
#include "shims/held_directory.h"
#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/copies.h"
#include "shims/mdbx/src/tables.h"

namespace hawthorn::mdbx {

constexpr uint32_t kEnvironmentSignature = 0x484d4458;

struct Geometry {
  uint64_t lower = 0;
  uint64_t now = 0;
  uint64_t upper = 0;  // 0: none
  uint64_t growth = 0;
  uint64_t shrink = 0;
};

// A handle that programs have as a number.
struct Handle {
  std::shared_ptr<Table> table;         // null: closed
  std::atomic<uint32_t> generation{0};  // of what the number has stood for
};

// The right to write, which one transaction has, or a program that has asked for it. Threads: any.
class WriterLock {
 public:
  // False: somebody has it, and it was not to be waited for.
  bool lock(bool wait);
  void unlock();
  bool held_by_this_thread() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool held_ = false;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace hawthorn::mdbx

struct MDBX_env {
  using Geometry = hawthorn::mdbx::Geometry;
  using Table = hawthorn::mdbx::Table;
  using TableRecord = hawthorn::mdbx::TableRecord;

  MDBX_env();
  ~MDBX_env();
  MDBX_env(const MDBX_env&) = delete;
  MDBX_env& operator=(const MDBX_env&) = delete;

  // Opened by a process of which this one is a child: all that it has is of that one's.
  bool inherited() const { return pid != 0 && pid != hawthorn::mdbx::process_id(); }

  int open(const char* path, unsigned flags, mdbx_mode_t mode);
  int close(bool dont_sync);
  bool is_open() const { return db != nullptr || follower != nullptr; }
  bool writes() const { return db != nullptr && !(flags & MDBX_RDONLY); }

  // Becomes the writer where no other process is it. Holding the writer's lock.
  int take_over();
  // The database that a transaction reads which begins now. `keep` holds a follower's view.
  int view(hawthorn::Db** database, std::shared_ptr<hawthorn::Db>* keep);

  // Of each reader, under `mutex`: there may be max_readers, and one of each thread unless the
  // environment has MDBX_NOSTICKYTHREADS.
  int add_reader(MDBX_txn* txn);
  void remove_reader(MDBX_txn* txn);
  // A reader that is reset goes to the dormant ones. Out of those it is taken with its place in the
  // list, which takes it back without asking for memory.
  void move_to_dormant(MDBX_txn* txn);
  std::list<MDBX_txn*> take_dormant(MDBX_txn* txn);
  void give_dormant(std::list<MDBX_txn*>* place);

  // Before a transaction that writes: where the upper bound is near, takes from parked readers what
  // they keep, asks the program's HSR callback for the others, and compacts. That has to be done
  // before: what an open transaction has written cannot be flushed.
  void make_room(const MDBX_txn* txn);
  // How many bytes the database has, as the upper bound of the geometry means it.
  uint64_t used_bytes();
  // Whether nobody has to look how far away the upper bound is, for so many more bytes, which count
  // from then on. Holding the writer's lock.
  bool has_much_room(uint64_t bytes) {
    if (bytes >= room_unseen) return false;
    room_unseen -= bytes;
    room -= bytes;
    return true;
  }
  hawthorn::Durability durability(unsigned txn_flags) const;
  // What mode and thresholds ask for behind a commit of so many bytes.
  int sync_by_threshold(uint64_t bytes);
  int sync(bool force, bool nonblock);

  unsigned reader_limit() const { return max_readers != 0 ? max_readers : lmdb ? 126 : 8192; }
  uint64_t memory_budget() const;
  // While it is open.
  int change_geometry(const Geometry& wanted);

  // Closes a handle. Holding `mutex`.
  void forget(MDBX_dbi dbi);
  // Sets which functions compare in the slot of a table.
  void give_comparators(const Table& table);

  uint32_t signature = hawthorn::mdbx::kEnvironmentSignature;
  unsigned flags = 0;
  pid_t pid = 0;
  std::string path;  // as the program gave it
  void* userctx = nullptr;
  bool lmdb = false;  // opened by LMDB's API: its rules where the two differ
  bool died = false;  // after a failure behind which nobody may go on

  std::unique_ptr<hawthorn::Db> db;
  hawthorn::Tree catalog;  // of `db`
  std::unique_ptr<hawthorn::Follower> follower;
  hawthorn::mdbx::Comparators comparators;
  hawthorn::HeldDirectory directory;  // once it is open
  hawthorn::mdbx::CopySpace copies;

  unsigned max_readers = 0;  // as asked for; 0: the default
  MDBX_dbi max_dbi = hawthorn::mdbx::kCoreDbis;
  uint64_t memory_bytes = 0;  // 0: the default
  uint64_t sync_bytes = 0;
  uint64_t sync_period = 0;  // 16.16 seconds
  uint64_t page_bytes = 4096;
  // Of pages, which are kept and told, and mean nothing here but for
  // MDBX_opt_prefault_write_enable.
  uint64_t page_options[32] = {};
  Geometry geometry;
  bool geometry_set = false;
  hawthorn::mdbx::PointerTo<MDBX_hsr_func> hsr = nullptr;

  hawthorn::mdbx::WriterLock writer;
  MDBX_txn* write_txn = nullptr;     // the innermost one
  std::unique_ptr<MDBX_txn> spare;   // the one before, to be used again. Holding the writer's lock.
  std::atomic<uint64_t> renames{0};  // of tables

  std::mutex mutex;  // of handles, readers, and what is counted
  std::unique_ptr<hawthorn::mdbx::Handle[]> handles;
  MDBX_dbi handle_count = hawthorn::mdbx::kCoreDbis;
  std::list<MDBX_txn*> readers;
  std::list<MDBX_txn*> dormant;  // reset, or between begin and renew

  std::atomic<uint64_t> commits{0};       // of this environment, since it was opened
  std::atomic<uint64_t> last_txnid{0};    // that it knows of
  uint64_t next_table = 0;                // 0: not read yet. Holding the writer's lock.
  std::atomic<uint64_t> named_tables{0};  // that the main table has, at least when there are some
  std::atomic<uint64_t> unsynced_bytes{0};
  std::atomic<std::chrono::steady_clock::time_point> synced_at;
  std::mutex sync_mutex;         // one sync at a time
  uint64_t room = 0;             // below the upper bound, as far as is known
  uint64_t room_unseen = 0;      // that may be taken until it is looked at again
  uint64_t written_by_last = 0;  // transaction
  uint64_t made_room_at = 0;     // after so many commits

 private:
  // At `name`: the path, or the directory that is held.
  hawthorn::Status open_as_wanted();
  hawthorn::Status open_writer(const std::string& name, bool create);
  hawthorn::Status open_follower(const std::string& name);
  hawthorn::Status open_reader();
  hawthorn::Status prepare_catalog();
  hawthorn::Status read_catalog(hawthorn::Db& database);
  hawthorn::Options database_options() const;
  uint32_t file_mode_ = 0600;
};
