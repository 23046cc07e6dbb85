#pragma once
// A connection's transaction: what it sees of a database, and what it has written.
//
// Not here: cursors (cursor.h), who writes (database.h). Threads: one at a time.
//
//          begin_read            begin_write
//   kNone ───────────> kRead ───────────────> kWrite        begin_write also from kNone
//     ^                  │                       │
//     └──── end_read ────┴─ commit, roll_back ───┘          these to kRead where statements go on
//
// A concurrent transaction (BEGIN CONCURRENT) goes the same way, reads by a transaction of the
// engine, which remembers what, from the beginning, and takes no lock before it commits.
//
// 1. While there are cursors that read, commit and roll_back leave a transaction that reads what
//    was written, or the moment as of which it had begun to.
// 2. Where the transaction changes, each cursor has let go of the engine's (HwCursor::leave).
// 3. What a statement has written before it failed for others' sake (SQLITE_BUSY) may be left, as
//    SQLite does not expect that: so the transaction has failed, and can only be rolled back.
// 4. Outside of a transaction that writes no node is kept (kept_nodes).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shims/sqlite/src/database.h"
#include "shims/sqlite/src/redo.h"
#include "shims/sqlite/src/storage.h"

struct HwConnection {
  enum class Mode : uint8_t { kNone, kRead, kWrite };

  int begin_read();
  // Makes the transaction concurrent, unless it writes: from now on, or as of what it reads.
  int begin_concurrent(int64_t wait_ms);
  int begin_write(int64_t wait_ms);
  // SQLITE_BUSY: somebody writes, and all is as it was. SQLITE_BUSY_SNAPSHOT: it has failed.
  int commit(hawthorn::Durability durability, bool keep_reading, int64_t wait_ms);
  int roll_back(bool keep_reading);
  void end_read();
  // Goes on as one that merely reads.
  void end_concurrent();

  int open_savepoints(size_t count);
  int release_savepoint(int number);
  int roll_back_to(int number);

  // In a handler: the code. What the transaction was to write may be half done, so where it is
  // listed for a commit with others it can only be rolled back; SQLite rolls back the statement.
  [[gnu::cold]] int fail_by_exception() noexcept;
  // The code of a write; where others are the reason the transaction has failed.
  int written(const hawthorn::Status& status);

  unsigned data_version();
  // The same as of its last transaction, and it counts its own commits too.
  unsigned seen_version() const { return data_version_ + static_cast<unsigned>(own_commits_); }
  int numbers(const hawthorn::sqlite::Numbers** out);
  template <typename Change>
  int change_numbers(const Change& change);

  // ---- Changes (changes.cc)

  int tree(uint32_t root, hawthorn::Tree* out);
  int create_tree(uint32_t* root);
  int drop_tree(uint32_t root);
  int clear_tree(uint32_t root, int64_t* entries);
  // From now on there may be indexes by a program's own collation. Also of a concurrent one, beside
  // which no other concurrent one is committed then.
  int note_collated();
  int clear_all();
  // As a new database, but for the schema's version.
  int reset();
  int put(uint32_t root, const hawthorn::Tree& tree, std::string_view key, std::string_view value);
  int del(uint32_t root, const hawthorn::Tree& tree, std::string_view key);
  int write_part(uint32_t root, const hawthorn::Tree& tree, std::string_view key, uint64_t offset,
                 std::string_view bytes);

  // ---- For commits together with others (together.h)

  hawthorn::Status end_txn(hawthorn::Durability durability);
  void end_write(bool keep_reading, bool same_moment, int* code);
  void leave_all();

  hawthorn::Status get(const hawthorn::Tree& tree, std::string_view key, hawthorn::Value& value);
  // Of a value that get has refused as too large.
  hawthorn::Status get_large(const hawthorn::Tree& tree, std::string_view key, std::string* value);
  // key_only: it reads no values.
  hawthorn::Cursor open_cursor(const hawthorn::Tree& tree, bool key_only = false);
  // One that reads them, made now, or one that was kept: of what the transaction sees now, wherever
  // it stands.
  hawthorn::Cursor take_cursor(uint32_t root, const hawthorn::Tree& tree);
  // One that is done, for the next of this tree in the same transaction.
  void keep_cursor(uint32_t root, hawthorn::Cursor cursor);
  hawthorn::Result<uint64_t> count(const hawthorn::Tree& tree);
  // The same, but of an index by a program's own collation the entries that it has.
  int count_entries(const hawthorn::Tree& tree, int64_t* entries);

  // Nodes of indexes by a program's own collations are written again and again, of which the engine
  // keeps each version until the transaction ends. So they are kept here first (TreeNodes), until
  // there are many, a savepoint is made, the transaction is committed, or a tree is read without
  // TreeNodes. What is kept was written behind the last savepoint: a rollback drops it.
  struct KeptNodes {
    hawthorn::Tree tree;
    std::unordered_map<std::string, std::optional<std::string>> values;  // none: removed
  };
  int write_kept_nodes();
  int write_kept_nodes_of(uint32_t root);
  void drop_kept_nodes();

  // PRAGMA max_page_count: more is not put.
  void limit_pages(uint32_t pages, uint32_t page_bytes);

  // Keeps the places of all cursors but one, of one tree (0: of all). Errors: as about_to_change.
  int save_all(uint32_t root, const HwCursor* but);
  template <typename Use>
  void each_cursor(const Use& use);
  // Before anything of a tree changes: of one row, or of any. Cursors on it keep their places.
  // SQLITE_CONSTRAINT_PINNED: one of others may not, and nothing has happened.
  int about_to_change(uint32_t root, std::optional<int64_t> row, const HwCursor* by);

  hawthorn::sqlite::Database* database = nullptr;
  bool read_only = false;
  uint64_t cache_bytes = 0;  // that it has asked for
  Mode mode = Mode::kNone;
  bool concurrent = false;
  hawthorn::Snapshot snapshot;  // of kRead, and of a concurrent one
  hawthorn::Transaction txn;    // of kWrite, and of a concurrent one
  bool dirty = false;
  uint64_t written_bytes = 0;  // by txn: keys and values
  int failed = 0;              // with which code
  std::vector<hawthorn::Savepoint> savepoints;
  // Where it may be committed together with others: what it has done, and how much that was at each
  // savepoint.
  std::optional<hawthorn::sqlite::Redo> redo;
  std::vector<uint64_t> redo_sizes;
  HwCursor* cursors = nullptr;
  std::string sought;     // of the last hw_seek_record: what it has allocated
  std::string spare_key;  // of a cursor that was closed: what it has allocated
  int64_t places = 0;     // that cursors have had
  // By root, the greatest key that the transaction which writes has there, where it is known.
  // Empty: there is none.
  std::unordered_map<uint32_t, std::string> tails;
  std::unordered_map<uint32_t, KeptNodes> kept_nodes;  // by root
  size_t kept_bytes = 0;

 private:
  bool uses_txn() const { return mode == Mode::kWrite || concurrent; }
  int take_snapshot();
  void keep_numbers(uint64_t changes);
  void look_at_commits(uint64_t commits, bool certain);
  int sync(bool wrote, hawthorn::Durability durability);
  int commit_concurrent(hawthorn::Durability durability, bool keep_reading, int64_t wait_ms);
  int settle();
  int write_numbers(const hawthorn::sqlite::Numbers& changed);
  // Of a write that was made.
  int done(const hawthorn::sqlite::Redo::Operation& operation);
  void forget_made();
  void forget_all();
  // Before something of that size is put. SQLITE_FULL: the database would have more pages than it
  // may have.
  int make_room(uint64_t bytes);
  // Of what it takes more than it must, where it comes close to the limit.
  int shrink();

  hawthorn::Savepoint start_;  // of a concurrent one that writes
  unsigned data_version_ = 0;
  uint64_t others_commits_ = UINT64_MAX;  // as of the last look; before it none is like it
  uint64_t own_commits_ = 0;
  std::optional<hawthorn::sqlite::Numbers> numbers_;
  uint64_t numbers_as_of_ = 1;    // how many changes of them; odd: nobody knows
  bool numbers_changed_ = false;  // by this transaction
  struct KeptCursor {
    uint32_t root;
    hawthorn::Cursor cursor;
  };
  std::vector<KeptCursor> kept_cursors_;  // the last one was kept last
  std::unordered_map<uint32_t, hawthorn::Tree> trees_;
  std::vector<uint32_t> made_;  // roots, by this transaction
  uint32_t pages_max_ = UINT32_MAX;
  uint64_t bytes_max_ = UINT64_MAX;
  uint64_t room_ = UINT64_MAX;    // that may be put before the size is looked at again
  unsigned room_as_of_ = 0;       // the data version
  uint64_t compacted_bytes_ = 0;  // behind the last time that it was made smaller
};
