#pragma once
// A database of Hawthorn's that connections of SQLite share: one for each directory in a process.
//
// Not here: what a connection sees (connection.h), where it lies (place.h). Threads: every function
// from any thread.
//
//   tree `sqlite`      numbers of the database, under `numbers`
//   tree `root/N`      the table or index whose root is N; sqlite_schema's is 1
//   tree `commits`     what is committed together with this one, for others (together.h)
//
// 1. One connection at a time writes, and commits in the end; while none does, any number of those
//    with transactions of BEGIN CONCURRENT commit. Nothing else changes what is committed. So who
//    has the writer's lock meets no commit, and who commits never waits in the engine for an
//    exclusive transaction.
// 2. Roots are never given twice, but where what made them was rolled back.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "shims/held_directory.h"
#include "shims/of_process.h"
#include "shims/sqlite/src/writer_lock.h"

namespace hawthorn::sqlite {

// SQLite's code for a status, whose text goes to SQLite's log where it is an error.
int to_code(const Status& status);

// Each function of storage.h that may throw is a function-try-block, so that no exception leaves
// it: this is the answer in its handler. SQLITE_NOMEM for std::bad_alloc.
[[gnu::cold]] int exception_code() noexcept;

std::string tree_name(uint32_t root);
// Of a tree with such a name.
std::optional<uint32_t> root_of(std::string_view name);

constexpr uint32_t kSchemaRoot = 1;

constexpr char kNumbersKey[] = "numbers";
// In the same tree: the id of the last commit together with others that has come here.
constexpr char kAppliedKey[] = "applied";

// As the database keeps them.
struct Numbers {
  std::array<uint32_t, 16> meta{};  // of SQLite's header
  uint32_t next_root = kSchemaRoot + 1;
  uint32_t wal = 0;       // 1: the journal mode is said to be WAL
  uint32_t collated = 0;  // 1: there may be indexes by a program's own collation

  std::string encode() const;
  static std::optional<Numbers> decode(std::string_view bytes);
  bool operator==(const Numbers&) const = default;
};

class Database : public MadeInProcess {
 public:
  // Opens the database whose file is at `path`, which is absolute; made where `create` is set and
  // nothing is there, or an empty file. Errors: SQLITE_CANTOPEN; SQLITE_BUSY (another process has
  // it); SQLITE_NOTADB; SQLITE_CORRUPT; SQLITE_NOMEM; SQLITE_FULL.
  static int open(const std::string& path, bool create, bool read_only, uint64_t memory_bytes,
                  Database** out);
  // One user more of one that is open.
  static Database* share(Database* database);
  // One user less; the last one closes it.
  static void release(Database* database);

  Db& db() { return *db_; }
  const Tree& numbers_tree() const { return numbers_; }
  bool read_only() const { return read_only_; }
  const std::string& directory() const { return directory_; }
  // The directory in which that one is: for files without names.
  const std::string& place() const { return place_.path(); }

  // Waits up to wait_ms for who writes, and who commits. False: it still does.
  bool lock_writer(int64_t wait_ms) { return writers_.lock(wait_ms); }
  void unlock_writer() { writers_.unlock(); }
  // The same for the commit of a concurrent transaction, beside others. Writers that wait go first,
  // and those of these that have waited for a writer before the next one.
  bool lock_committer(int64_t wait_ms) { return writers_.lock_shared(wait_ms); }
  void unlock_committer() { writers_.unlock_shared(); }

  // One connection wants so much cached, and not what it wanted before. Errors: those of
  // Db::set_memory_budget, but for a budget that is in use: then it stays as it is.
  Status change_cache(uint64_t before, uint64_t after);

  // ---- Commits together with other databases (together.h)

  // Of one such its part is missing: nobody may write, nor begin to read, before it is settled.
  bool in_doubt() const { return in_doubt_.load(); }
  void doubt() { in_doubt_ = true; }
  // Does what is missing, or finds that there is nothing. Called by who holds the writer's lock.
  // Errors: SQLITE_BUSY (another process has the coordinator), those of reading that and writing
  // this; then it stays in doubt.
  int settle();
  // What is kept here of a commit is not needed any more, and goes with one of the next commits.
  void forget_commit(std::string_view id);
  Status erase_forgotten(Transaction& txn);

  // On disk and in memory, as it was within the last second.
  uint64_t bytes();
  uint64_t bytes_now();

  // What was committed since the last checkpoint.
  void add_log_bytes(uint64_t bytes) { log_bytes_ += bytes; }
  void clear_log_bytes() { log_bytes_ = 0; }
  uint64_t log_bytes() const { return log_bytes_; }

  // Around a commit, by who holds one of the locks.
  void begin_commit() { ++started_; }
  void end_commit(bool committed);
  // How many were begun; have ended; and were successful.
  uint64_t commits_started() const { return started_.load(); }
  uint64_t commits_ended() const { return ended_.load(); }
  uint64_t commits() const { return committed_.load(); }
  // Of those that change the numbers, which never overlap, in the same way: twice as many as have
  // ended, and one more while one is under way.
  void begin_change_of_numbers() { ++numbers_changes_; }
  void end_change_of_numbers() { ++numbers_changes_; }
  uint64_t numbers_changes() const { return numbers_changes_.load(); }
  // The engine's timestamp of the last one. Exact for who holds the writer's lock.
  uint64_t last_commit() const;

 private:
  class CommitWatch;
  struct Registry;
  static Registry& registry();
  Database() = default;
  int start(bool create);
  // Shows `use` the database of a directory, which is opened for that where it is not open. Called
  // by who holds the registry's mutex. Errors: as those of Db::open.
  static Status visit(const std::string& directory, const std::function<Status(Db&)>& use);
  int settle_now();
  Status follow_intent(const std::string& coordinator, std::string_view id, uint32_t number);
  Status redo_from(Db& coordinator, std::string_view id, uint32_t number, bool* committed);
  Status find_forgotten();

  std::string directory_;  // canonical
  HeldDirectory place_;    // the one that has it
  uint64_t users_ = 0;     // under the registry's mutex
  std::unique_ptr<Db> db_;
  Tree numbers_;
  bool read_only_ = false;
  bool fixed_memory_ = false;  // the program has set the budget
  std::mutex mutex_;
  uint64_t cache_bytes_ = 0;  // that all connections want; under mutex_
  uint64_t budget_ = 0;       // under mutex_
  WriterLock writers_;
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> numbers_changes_{0};
  std::atomic<uint64_t> log_bytes_{0};
  std::shared_ptr<CommitWatch> watch_;
  std::atomic<bool> in_doubt_{false};
  std::atomic<bool> has_forgotten_{false};
  std::vector<std::string> forgotten_;  // under mutex_
  uint64_t bytes_ = 0;                  // under mutex_
  std::chrono::steady_clock::time_point counted_at_{};
};

}  // namespace hawthorn::sqlite
