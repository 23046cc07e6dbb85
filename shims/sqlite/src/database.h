#pragma once
// A database of Hawthorn's that connections of SQLite share: one for each directory in a process.
//
// Not here: what a connection sees (connection.h), where it lies (place.h). Threads: every function
// from any thread.
//
//   tree `sqlite`      numbers of the database, under `numbers`
//   tree `root/N`      the table or index whose root is N; sqlite_schema's is 1
//
// 1. One connection at a time writes. Its commits, and nothing else, change what is committed.
// 2. Roots are never given twice, but where what made them was rolled back.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/hawthorn.h"

namespace hawthorn::sqlite {

// SQLite's code for a status, whose text goes to SQLite's log where it is an error.
int to_code(const Status& status);

std::string tree_name(uint32_t root);

constexpr uint32_t kSchemaRoot = 1;

constexpr char kNumbersKey[] = "numbers";

// As the database keeps them.
struct Numbers {
  std::array<uint32_t, 16> meta{};  // of SQLite's header
  uint32_t next_root = kSchemaRoot + 1;
  uint32_t wal = 0;  // 1: the journal mode is said to be WAL

  std::string encode() const;
  static std::optional<Numbers> decode(std::string_view bytes);
};

class Database {
 public:
  // Opens the database whose file is at `path`, which is absolute; made where `create` is set and
  // nothing is there, or an empty file. Errors: SQLITE_CANTOPEN; SQLITE_BUSY (another process has
  // it); SQLITE_NOTADB; SQLITE_CORRUPT; SQLITE_NOMEM; SQLITE_FULL.
  static int open(const std::string& path, bool create, bool read_only, uint64_t memory_bytes,
                  Database** out);
  // One user less; the last one closes it.
  static void release(Database* database);

  Db& db() { return *db_; }
  const Tree& numbers_tree() const { return numbers_; }
  bool read_only() const { return read_only_; }

  // Waits up to wait_ms for who writes. False: it still does.
  bool lock_writer(int64_t wait_ms);
  void unlock_writer();

  // One connection wants so much cached, and not what it wanted before. Errors: those of
  // Db::set_memory_budget, but for a budget that is in use: then it stays as it is.
  Status change_cache(uint64_t before, uint64_t after);

  // On disk and in memory, as it was within the last second.
  uint64_t bytes();

  // Counts commits, and is odd while there is one under way.
  uint64_t version();
  // Around a commit, by who holds the writer's lock.
  void begin_commit() { ++version_; }
  void end_commit() { ++version_; }

 private:
  struct Registry;
  static Registry& registry();
  Database() = default;
  int start(bool create);

  std::string directory_;  // canonical
  uint64_t users_ = 0;     // under the registry's mutex
  std::unique_ptr<Db> db_;
  Tree numbers_;
  bool read_only_ = false;
  bool fixed_memory_ = false;  // the program has set the budget
  std::mutex mutex_;
  uint64_t cache_bytes_ = 0;  // that all connections want; under mutex_
  uint64_t budget_ = 0;       // under mutex_
  std::condition_variable freed_;
  bool writing_ = false;
  std::atomic<uint64_t> version_{0};
  uint64_t bytes_ = 0;  // under mutex_
  std::chrono::steady_clock::time_point counted_at_{};
};

}  // namespace hawthorn::sqlite
