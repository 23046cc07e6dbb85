// A bank: accounts, transfers that never overdraw one, a journal of them, and an auditor who adds
// all up while others transfer. Money is neither made nor lost, whoever conflicts with whom.

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "must.h"

using hawthorn::Db;
using hawthorn::Durability;
using hawthorn::Entry;
using hawthorn::Snapshot;
using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;
using hawthorn::Value;

namespace {

constexpr int kAccounts = 10;
constexpr long kOpening = 1000;
constexpr int kThreads = 4;
constexpr int kTransfers = 500;  // of each thread

std::string account(int number) { return "account/" + std::to_string(number); }

class Bank {
 public:
  explicit Bank(Db& db)
      : db_(db), accounts_(must(db.tree("accounts"))), journal_(must(db.tree("journal"))) {}

  void open_account(const std::string& name, long amount) {
    must(must(db_.insert(accounts_, name, std::to_string(amount))));
  }

  // All of it or nothing; false where an account has too little. `reference`: the same transfer,
  // asked for twice, is made once.
  bool transfer(const std::string& reference, const std::string& from, const std::string& to,
                long amount) {
    while (true) {
      Transaction transaction = must(db_.begin(TxnMode::kOptimistic));
      bool enough = true;
      Status status = attempt(transaction, reference, from, to, amount, &enough);
      if (status.ok()) status = transaction.commit(Durability::kNone);
      if (status.ok()) return enough;
      if (!status.is_conflict()) must(status);
      ++conflicts;  // somebody else changed an account in the meantime: from the start
    }
  }

  // Of one moment, without making anybody wait.
  long sum() {
    const Snapshot now = db_.snapshot();
    long sum = 0;
    must(db_.scan(accounts_, "", std::nullopt,
                  [&](std::span<const Entry> entries) {
                    for (const Entry& entry : entries) {
                      const long balance = std::stol(std::string(entry.value));
                      must(balance >= 0);
                      sum += balance;
                    }
                    return true;
                  },
                  {.snapshot = &now}));
    return sum;
  }

  long balance(const std::string& name) {
    Value value;
    must(db_.get(accounts_, name, value));
    return std::stol(value.to_string());
  }

  uint64_t journal_entries() { return must(db_.count(journal_, "", std::nullopt)); }

  std::atomic<int> conflicts{0};

 private:
  Status attempt(Transaction& transaction, const std::string& reference, const std::string& from,
                 const std::string& to, long amount, bool* enough) {
    Value known;
    Status status = transaction.get_for_update(journal_, reference, known);
    if (!status.is_not_found()) return status;  // made before, or an error
    if (status = change(transaction, from, -amount, enough); !status.ok()) return status;
    if (!*enough) return {};  // nothing was written
    if (status = change(transaction, to, amount, enough); !status.ok()) return status;
    return transaction.put(journal_, reference, from + ' ' + to + ' ' + std::to_string(amount));
  }

  Status change(Transaction& transaction, const std::string& name, long by, bool* enough) {
    Value value;
    if (Status s = transaction.get(accounts_, name, value); !s.ok()) return s;
    const long balance = std::stol(value.to_string()) + by;
    *enough = balance >= 0;
    return *enough ? transaction.put(accounts_, name, std::to_string(balance)) : Status();
  }

  Db& db_;
  Tree accounts_;
  Tree journal_;
};

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  Bank bank(*db);
  for (int i = 0; i < kAccounts; ++i) bank.open_account(account(i), kOpening);

  std::atomic<int> done{0};
  std::atomic<int> working{kThreads};
  std::vector<std::thread> tellers;
  for (int t = 0; t < kThreads; ++t) {
    tellers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kTransfers; ++i) {
        const int from = static_cast<int>(random() % kAccounts);
        const int to = (from + 1 + static_cast<int>(random() % (kAccounts - 1))) % kAccounts;
        const std::string reference = std::to_string(t) + "." + std::to_string(i);
        const long amount = static_cast<long>(random() % 900);
        if (bank.transfer(reference, account(from), account(to), amount)) ++done;
      }
      --working;
    });
  }
  int audits = 0;
  while (working > 0 || audits == 0) {
    must(bank.sum() == kAccounts * kOpening);
    ++audits;
  }
  for (std::thread& teller : tellers) teller.join();
  must(bank.sum() == kAccounts * kOpening);
  must(bank.journal_entries() == static_cast<uint64_t>(done));

  bank.open_account("ada", 50);
  bank.open_account("grace", 0);
  must(!bank.transfer("rent", "ada", "grace", 60));
  must(bank.transfer("rent", "ada", "grace", 30));
  must(bank.transfer("rent", "ada", "grace", 30));  // known: not again
  must(bank.balance("ada") == 20 && bank.balance("grace") == 30);
  std::printf("%d transfers, %d audits, %d conflicts\n", done.load(), audits,
              bank.conflicts.load());
  must(db->close());
}
