#pragma once
// A transaction: the engine's, what it knows of tables, and its cursors.
//
// One that writes is the engine's kExclusive: it never conflicts. One that reads is a snapshot.
// What it hands out lies in memory that lasts until it ends, or, where it writes, until a later
// write.
//
// Threads: as the original's: of the thread that began it, or with MDBX_NOSTICKYTHREADS of one at a
// time.

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hawthorn/db.h"
#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/copies.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/tables.h"

namespace hawthorn::mdbx {

constexpr uint32_t kTransactionSignature = 0x484d5458;

struct CursorPlace;

// A table as a transaction sees it.
struct TxnTable {
  std::shared_ptr<Table> table;  // null: not looked up yet
  uint32_t generation = 0;       // of the handle, when it was
  Tree tree;
  std::optional<TableRecord> record;  // as of this transaction, once it was needed
  bool made = false;                  // by this transaction
  std::shared_ptr<Table> before;      // what the handle stood for until then; null: nothing
  bool written = false;
  bool gone = false;                // dropped
  std::optional<uint64_t> entries;  // of one that writes, once they were asked for
  MDBX_cursor* cursors = nullptr;
  std::optional<Cursor> scratch;  // for what is done without a cursor of the program's
};

}  // namespace hawthorn::mdbx

struct MDBX_txn {
  using TxnTable = hawthorn::mdbx::TxnTable;
  using Table = hawthorn::mdbx::Table;
  using TableRecord = hawthorn::mdbx::TableRecord;

  MDBX_txn(MDBX_env* environment, unsigned begin_flags, void* context)
      : env(environment), flags(begin_flags), userctx(context) {}

  // Starts what was made. Holding the writer's lock, where it writes.
  // `beside_the_writer`: of the thread that also writes.
  int begin_read(bool beside_the_writer);
  // Reads without being one of the environment's readers, for as long as this object lives.
  int begin_look();
  // Reads what the other one reads; of one that writes, what it began with.
  int begin_clone(const MDBX_txn& origin);
  int renew();
  int begin_write();
  int begin_nested(MDBX_txn* around);
  int commit(MDBX_commit_latency* latency);
  int abort();
  // Commits and goes on, or begins anew without what was written, or reads from then on.
  int checkpoint(unsigned weaker, MDBX_commit_latency* latency);
  int rollback();
  int commit_and_read(MDBX_txn** reader, MDBX_commit_latency* latency);
  // Of a transaction that reads: it can be renewed.
  void reset();
  int park(bool auto_unpark);
  int unpark(bool restart);
  // Of a parked one, by another thread: takes away what it reads. False: it is not parked any more.
  bool oust();
  // Ends and frees it, and those nested in it.
  void finish_for_close();

  bool read_only() const { return (flags & MDBX_TXN_RDONLY) != 0; }
  // Whether it may be used so now: MDBX_EBADSIGN, MDBX_BAD_TXN, MDBX_EACCESS, ... `bad` are flags
  // that it must not have.
  static int check(const MDBX_txn* txn, unsigned bad);
  static int check_write(const MDBX_txn* txn, unsigned bad = MDBX_TXN_BLOCKED);

  // The table with this handle as this transaction sees it. Lifetime: until it ends.
  int table(MDBX_dbi dbi, TxnTable** found);
  // Its record as of this transaction.
  int record(TxnTable* found, TableRecord** record);
  int write_record(TxnTable* found);
  // What it sees of the database: of one that writes, its own writes among it.
  hawthorn::Status read(const hawthorn::Tree& tree, std::string_view key, hawthorn::Value& out);
  hawthorn::Result<uint64_t> count(const hawthorn::Tree& tree, std::string_view low,
                                   std::optional<std::string_view> high);
  hawthorn::Result<hawthorn::Tree> find_tree(std::string_view name);
  hawthorn::Result<std::vector<std::string>> list_trees();
  hawthorn::Cursor open_cursor(const hawthorn::Tree& tree, hawthorn::CursorOptions options = {});
  int finish_reserve();
  hawthorn::Cursor& scratch(TxnTable* found);
  // Cursors that are open do not see what a program has put into room that it had reserved, before
  // this. What goes wrong with it is told by the next write.
  void write_reserved() {
    if (std::exchange(reserved, false)) static_cast<void>(engine.finish_reserve());
  }

  int open_table(const MDBX_val* name, unsigned wanted, MDBX_dbi* dbi, hawthorn::mdbx::Compare keys,
                 hawthorn::mdbx::Compare values);
  // Another shape, or order, for a table that has no entries.
  int reshape(MDBX_dbi dbi, TxnTable* found, unsigned wanted, hawthorn::mdbx::Compare keys,
              hawthorn::mdbx::Compare values);
  int drop_table(MDBX_dbi dbi, bool remove);
  int rename_table(MDBX_dbi dbi, std::string_view name);
  int stat(TxnTable* found, MDBX_stat* stat, size_t bytes);
  int names(const std::function<int(std::string_view name, const TableRecord& record)>& use);

  // The value of a key, for as long as this transaction hands out memory.
  int get(TxnTable* found, std::string_view key, MDBX_val* value);
  // Copies of the entry on which an engine's cursor stands. Copies::error().
  int keep(const hawthorn::Cursor& cursor, MDBX_val* key, MDBX_val* value);
  int keep(std::string_view bytes, MDBX_val* out);
  // The same of a value that is too large to be read otherwise.
  int keep_large(const hawthorn::Tree& tree, std::string_view key, MDBX_val* out);
  void let_copies_go();
  // Behind each write. `more`: by how many entries the table has grown, where that is known.
  void wrote(TxnTable* found, uint64_t bytes, std::optional<int64_t> more = std::nullopt);
  // The code of a failed call of the engine; the transaction can then only be aborted, but for
  // what is the caller's mistake.
  int fail(const hawthorn::Status& status);
  // MDBX_MAP_FULL where the upper bound of the geometry is in the way.
  int has_room(uint64_t bytes);

  int open_catalog();
  uint64_t id();
  int read_number(std::string_view key, uint64_t* number);
  int canary(MDBX_canary* out);
  int set_canary(const MDBX_canary* canary);

  // Cursors of this transaction, in lists of their tables.
  void attach(MDBX_cursor* cursor);
  void detach(MDBX_cursor* cursor);
  // Of a table: each of them, but `but`.
  template <typename Use>
  void each_cursor(TxnTable* found, const Use& use);
  // One that a program releases is not given back to those around this.
  void keep_cursor(MDBX_cursor& cursor);

  uint32_t signature = hawthorn::mdbx::kTransactionSignature;
  MDBX_env* env;
  unsigned flags;
  void* userctx;
  std::thread::id owner{};  // none while it is reset
  pthread_t owner_thread{};
  MDBX_txn* parent = nullptr;
  MDBX_txn* child = nullptr;
  hawthorn::Db* db = nullptr;
  std::shared_ptr<hawthorn::Db> followed;      // keeps `db`, where that is a follower's view
  std::shared_ptr<hawthorn::Snapshot> moment;  // of one that reads, shared with its clones
  hawthorn::Transaction engine;                // of one that writes
  hawthorn::Tree catalog;
  uint64_t renames_before = 0;
  std::vector<uint64_t> dropped;          // ids of tables
  uint64_t commits_before = 0;            // of the environment, when it began
  uint64_t txnid = 0;                     // 0: not read yet
  std::atomic<uint64_t> begun_behind{0};  // about the id of the last commit that it sees
  bool auto_unpark = false;
  bool reserved = false;  // room, since the last look
  enum class Parked : uint8_t { kNot, kParked, kBeingOusted, kOusted };
  std::atomic<Parked> parked{Parked::kNot};
  uint64_t written_bytes = 0;
  std::list<MDBX_txn*>::iterator reader{};
  MDBX_canary own_canary{};
  bool canary_known = false;
  std::vector<std::unique_ptr<TxnTable>> tables;  // by handle; null: not used yet
  hawthorn::mdbx::Copies copies{&env->copies};
  hawthorn::Value value;  // of the last get

 private:
  // Of the transactions around this one.
  struct Borrowed {
    MDBX_cursor* cursor;
    std::shared_ptr<hawthorn::mdbx::CursorPlace> place;
  };
  std::vector<Borrowed> borrowed;

  int begin_again();
  void announce_drops();
  void announce_writes();
  // How many entries the table has, counted once, and followed from then on.
  int entries_of(TxnTable* found, uint64_t* entries);
  uint64_t bytes_of(TxnTable* found, uint64_t entries);
  int write_out(MDBX_commit_latency* latency);
  void release_writer();
  void recycle();
  void see_renames();
  int look_up(MDBX_dbi dbi, TxnTable* found);
  int open_main(unsigned wanted, hawthorn::mdbx::Compare keys, hawthorn::mdbx::Compare values);
  int new_record(unsigned wanted, hawthorn::mdbx::Compare keys, hawthorn::mdbx::Compare values,
                 TableRecord* record);
  int bind(MDBX_dbi dbi, std::shared_ptr<Table> table, bool made);
  int find_handle(std::string_view name, MDBX_dbi* dbi);
  int remove_table(std::string_view name, const TableRecord& record);
  bool has_entries(TxnTable* found, bool* any);
  void end_cursors();
  void settle(bool committed);
  void note_cursors(MDBX_txn& around);
  void borrow_cursors();
  void give_cursors_back(bool as_they_are);
  void make_room_in_parent();
  void merge_into_parent();
  void end_engine();
};
