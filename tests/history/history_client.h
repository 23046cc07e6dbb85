#pragma once
// Clients of the engine that make a history: threads that run random transactions on lists, stored
// as values of one tree, and record what they did and saw.
//
// Not here: where that is kept (recording.h), killing (the tests). A list is read by get, multi_get
// or a cursor of the transaction, and appended to by get and put. Keys come from a pool of
// kPoolKeys that is changed for the next after kPoolAppends appends, so lists stay short while
// transactions meet all the time. Transactions yield their processor between operations, as there
// are more threads than processors, and would hardly overlap otherwise.
// Threads: run_client starts its own.

#include <cstdint>
#include <functional>

#include "hawthorn/hawthorn.h"
#include "tests/history/recording.h"

namespace hawthorn::history {

inline constexpr uint64_t kPoolKeys = 8;
inline constexpr uint64_t kPoolAppends = 64;

using Begin = std::function<Result<hawthorn::Transaction>(Db&)>;

struct ClientOptions {
  Begin begin;                   // begins a transaction in the mode that is tested
  uint32_t threads = 8;          // at most as many as the recording has tracks
  uint64_t transactions = 1000;  // the client ends when the recording has so many
  uint64_t seed = 1;
  // What is appended to is read by get_for_update.
  bool for_update = false;
  // A client that is wrong: it puts the longer list back outside of its transaction.
  bool blind_puts = false;
};

// Runs until the recording has all transactions, or an error that is no conflict.
Status run_client(Db& db, const ClientOptions& options, Recording& recording);

// Reads every key by one transaction, the history's last; no client may run.
Status read_everything(Db& db, const Begin& begin, Recording& recording);

}  // namespace hawthorn::history
