// Moving money between two accounts, by many threads: optimistic transactions that try again after
// a conflict, and one exclusive transaction that never has any.

#include <string>
#include <thread>
#include <vector>

#include "must.h"

using hawthorn::Db;
using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;
using hawthorn::Value;

namespace {

int balance(Transaction& transaction, const Tree& accounts, const std::string& name) {
  Value value;
  must(transaction.get(accounts, name, value));
  return std::stoi(value.to_string());
}

// One attempt; kConflict when another transaction was first.
Status try_transfer(Db& db, const Tree& accounts, const std::string& from, const std::string& to,
                    int amount) {
  Transaction transaction = must(db.begin(TxnMode::kOptimistic));
  const int from_balance = balance(transaction, accounts, from);
  const int to_balance = balance(transaction, accounts, to);
  Status status = transaction.put(accounts, from, std::to_string(from_balance - amount));
  if (status.ok()) status = transaction.put(accounts, to, std::to_string(to_balance + amount));
  // A transaction that is destroyed without commit leaves nothing behind.
  return status.ok() ? transaction.commit(hawthorn::Durability::kNone) : status;
}

void transfer(Db& db, const Tree& accounts, const std::string& from, const std::string& to,
              int amount) {
  Status status = try_transfer(db, accounts, from, to, amount);
  while (status.is_conflict()) status = try_transfer(db, accounts, from, to, amount);
  must(status);
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree accounts = must(db->tree("accounts"));
  must(db->put(accounts, "ada", "1000"));
  must(db->put(accounts, "grace", "1000"));

  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        if (t % 2 == 0) transfer(*db, accounts, "ada", "grace", 2);
        if (t % 2 == 1) transfer(*db, accounts, "grace", "ada", 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  {
    // Nobody else commits between begin and the end of an exclusive transaction.
    Transaction transaction = must(db->begin(TxnMode::kExclusive));
    const int ada = balance(transaction, accounts, "ada");
    const int grace = balance(transaction, accounts, "grace");
    std::printf("ada %d, grace %d\n", ada, grace);
    must(ada == 800 && grace == 1200);
    must(transaction.put(accounts, "ada", "1000000"));
    must(balance(transaction, accounts, "ada") == 1000000);  // sees its own writes
    transaction.abort();
  }
  {
    Value value;
    must(db->get(accounts, "ada", value));
    must(value.view() == "800");
  }
  must(db->close());
}
