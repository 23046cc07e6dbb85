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
// 1. While there are cursors that read, commit and roll_back leave a transaction that reads what
//    was written, or the moment as of which it had begun to.
// 2. Where the transaction changes, each cursor has let go of the engine's (HwCursor::leave).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shims/sqlite/src/database.h"
#include "shims/sqlite/src/storage.h"

struct HwConnection {
  enum class Mode : uint8_t { kNone, kRead, kWrite };

  int begin_read();
  int begin_write(int64_t wait_ms);
  int commit(hawthorn::Durability durability, bool keep_reading);
  int roll_back(bool keep_reading);
  void end_read();

  int open_savepoints(size_t count);
  int roll_back_to(int number);

  int numbers(const hawthorn::sqlite::Numbers** out);
  template <typename Change>
  int change_numbers(const Change& change);

  int tree(uint32_t root, hawthorn::Tree* out);
  int create_tree(uint32_t* root);
  int drop_tree(uint32_t root);
  int clear_tree(uint32_t root, int64_t* entries);

  hawthorn::Status get(const hawthorn::Tree& tree, std::string_view key, hawthorn::Value& value);
  // Of a value that get has refused as too large.
  hawthorn::Status get_large(const hawthorn::Tree& tree, std::string_view key, std::string* value);
  hawthorn::Cursor open_cursor(const hawthorn::Tree& tree);
  hawthorn::Result<uint64_t> count(const hawthorn::Tree& tree);

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
  hawthorn::Snapshot snapshot;  // of kRead
  hawthorn::Transaction txn;    // of kWrite
  bool dirty = false;
  std::vector<hawthorn::Savepoint> savepoints;
  uint64_t version = 0;      // of the database, when its transaction began
  uint64_t own_commits = 0;  // in counts of versions
  HwCursor* cursors = nullptr;
  int64_t places = 0;  // that cursors have had

 private:
  int take_snapshot();
  void leave_all();
  void end_write(bool keep_reading, int* code);
  void forget_made();

  std::optional<hawthorn::sqlite::Numbers> numbers_;
  std::unordered_map<uint32_t, hawthorn::Tree> trees_;
  std::vector<uint32_t> made_;  // roots, by this transaction
};
