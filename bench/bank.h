#pragma once
// The bank: transfers between accounts, each of two reads, two updates and one log entry, in
// batches; with and without a reader beside the writer; then every entry is validated.
//
// Phases: load, warm_up, write (then drain), write_read, write_backup where that is asked for,
// scan, verify, open. Used by the command line and, in part, by bank_kill.h. Threads: `threads`
// writers on accounts of their own and one reader, or one that makes backups.
//
// 1. A transfer that was counted was committed, and the database at the end is exactly the one that
//    the transfers lead to (bank_model.h); otherwise the run fails.
// 2. The warm-up moves nothing, so that the write phase finds the balances of the document.

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/bank_data.h"
#include "bench/bank_model.h"
#include "bench/histogram.h"
#include "bench/workload.h"

namespace hawthorn::bench {

struct BankOptions {
  uint64_t accounts = 1'000'000;
  uint64_t transactions = 10'000'000;  // attempts in each of the two phases
  uint64_t batch_size = 1;
  uint64_t sync_every = 0;  // commits; 0: never
  uint64_t seed = 12345;
  uint64_t initial_balance = 1'000'000;
  uint64_t reads_per_tx = 100;  // reads of one snapshot
  unsigned threads = 1;
  bool with_reader = true;  // run the write_read phase
  // Of the write_backup phase, in which full backups are made one after another; 0: none.
  uint64_t backup_rate = 0;  // bytes per second
};

void run_bank(const RunContext& run, const BankOptions& options, const AccountNames& names,
              Engine& engine);

// The parts, also used by the killed run.

// Puts all accounts with their initial balance.
void load_accounts(Engine& engine, const BankOptions& options, const AccountNames& names);

// Tries transfers in batches from the feed and commits them.
class BankWriter {
 public:
  BankWriter(Engine& engine, const BankOptions& options, const AccountNames& names, unsigned thread,
             bool zero_amounts = false);

  // Tries up to batch_size transfers as one batch; returns how many were tried.
  uint64_t run_batch(TransferFeed& feed, uint64_t attempts_left);

  // Log entries that were written so far, the number of the last one.
  uint64_t logged() const { return logged_; }
  void set_logged(uint64_t logged) { logged_ = logged; }
  uint64_t missing_accounts() const { return missing_; }

 private:
  bool transfer(const Transfer& transfer);

  std::unique_ptr<Writer> writer_;
  const BankOptions& options_;
  const AccountNames& names_;
  const unsigned thread_;
  const bool zero_amounts_;
  uint64_t logged_ = 0;
  uint64_t missing_ = 0;
};

// Compares the whole database with the histories; the error, or nothing. Fills bytes_raw.
std::optional<std::string> compare_bank(Engine& engine, const BankOptions& options,
                                        const AccountNames& names,
                                        std::vector<ThreadHistory> histories, uint64_t& bytes_raw);

}  // namespace hawthorn::bench
