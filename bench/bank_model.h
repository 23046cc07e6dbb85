#pragma once
// The bank that must come out: the same transfers on plain arrays, and the check of a database
// against them, entry by entry.
//
// Used by bank.h after the timed phases and by bank_kill.h after each kill. Not timed. Threads:
// one.
//
// 1. A transfer moves money exactly if the source's balance suffices, whatever the batch size.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/bank_data.h"

namespace hawthorn::bench {

// What every account holds.
class Balances {
 public:
  Balances(uint64_t accounts, uint64_t initial) : balances_(accounts, initial) {}

  // Whether the money was there, and moved.
  bool apply(const Transfer& transfer) {
    uint64_t& source = balances_[transfer.source];
    if (source < transfer.amount) return false;
    source -= transfer.amount;
    balances_[transfer.target] += transfer.amount;
    return true;
  }
  uint64_t operator[](uint64_t account) const { return balances_[account]; }

 private:
  std::vector<uint64_t> balances_;
};

// One thread's share of a phase: transfers of a source, of which the first `attempts` were tried.
// The log entries of those that succeeded follow one another.
struct Stretch {
  TransferSource source;
  uint64_t attempts = 0;
};

// The stretches of one thread in the order in which they ran.
struct ThreadHistory {
  std::vector<Stretch> stretches;
};

// Replays a history on balances; returns how many transfers succeeded in each stretch.
std::vector<uint64_t> replay(const ThreadHistory& history, Balances& balances);

// Receives a database in key order and compares each entry with what the histories lead to.
class BankComparer : public EntrySink {
 public:
  BankComparer(const AccountNames& names, uint64_t initial_balance,
               std::vector<ThreadHistory> histories);

  void add(std::string_view key, std::string_view value) override;
  // The first difference, with the number of all; nothing when the database is as it must be.
  std::optional<std::string> finish();

  uint64_t bytes() const { return bytes_; }
  uint64_t log_entries() const { return log_entries_; }

 private:
  // Steps through the log entries of one thread.
  struct LogWalk {
    ThreadHistory history;
    size_t stretch = 0;
    uint64_t tried = 0;
    uint64_t expected = 0;  // entries in all
    uint64_t seen = 0;
  };

  void check_account(std::string_view key, std::string_view value);
  void check_log(std::string_view key, std::string_view value);
  Transfer next_logged(LogWalk& walk);
  void differ(std::string text);

  const AccountNames& names_;
  Balances final_;    // after all transfers
  Balances running_;  // after those whose log entries were seen
  std::vector<LogWalk> walks_;
  uint64_t accounts_seen_ = 0;
  uint64_t log_entries_ = 0;
  uint64_t bytes_ = 0;
  uint64_t differences_ = 0;
  std::string first_difference_;
};

}  // namespace hawthorn::bench
