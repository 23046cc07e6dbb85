#pragma once
// The prepared transactions of an open database, by their ids.
//
//   reserve(id) ──prepared──> add ──> there ──begin_end──> being ended ──finish_end──> gone
//        └──────not──────> cancel                               └──failed──> there
//
// Not here: what being prepared means (txn/prepare.cc), what the log has of them (replay.h).
// Threads: every function from any thread. Lifetime: abandon_all before the trees go.
//
// 1. An id is there once, from reserve on. Who ends one has it alone; others wait for what becomes
//    of it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/transaction.h"
#include "os/machine.h"
#include "os/sync.h"
#include "txn/transaction.h"

namespace hawthorn::db {

// A file of the size of a log segment, while transactions are prepared: it gives way where the disk
// is full and the log, which they hold, has no room for the record that ends one.
class OutcomeReserve {
 public:
  OutcomeReserve(const os::Machine& machine, const std::string& directory)
      : machine_(machine), path_(directory + "/" + std::string(kName)) {}

  static constexpr std::string_view kName = "prepared.reserve";

  // Does nothing where it is there. Errors: kNoSpace, kIoError.
  Status keep(size_t segment_bytes) EXCLUDES(mutex_);
  // False: it was not there.
  bool give_up() EXCLUDES(mutex_);
  // Whether or not an earlier process has left it.
  void remove() EXCLUDES(mutex_);

 private:
  const os::Machine& machine_;
  const std::string path_;
  os::Mutex mutex_;
  bool kept_ GUARDED_BY(mutex_) = false;
};

class PreparedTransactions {
 public:
  static constexpr uint64_t kAny = 0;

  // Errors: kInvalidArgument where it is there already.
  Status reserve(std::string_view id);
  void cancel(std::string_view id);
  // Returns the number by which it is told from another one of the same id: never kAny.
  uint64_t add(std::unique_ptr<txn::Txn> txn);
  // In a database that is read only: what the log has.
  void add_found(const txn::FoundPrepared& found);
  std::vector<PreparedTransaction> list();
  bool empty();

  // Hands it out to be ended; null where there is none of this id and number.
  std::unique_ptr<txn::Txn> begin_end(std::string_view id, uint64_t number);
  // `txn`: it is still prepared; null: it has ended.
  void finish_end(std::string_view id, std::unique_ptr<txn::Txn> txn);

  void abandon_all();

 private:
  struct Entry {
    uint64_t number = 0;
    PreparedTransaction shown;
    bool is_prepared = false;
    std::unique_ptr<txn::Txn> txn;  // null: being prepared or ended, or read only
  };

  os::Mutex mutex_;
  os::CondVar ended_;
  uint64_t next_number_ GUARDED_BY(mutex_) = 1;
  std::map<std::string, Entry, std::less<>> entries_ GUARDED_BY(mutex_);
};

}  // namespace hawthorn::db
