// Many threads move money between few accounts with row locks: who comes later waits, and a
// deadlock is found at once, so no work is thrown away but that of its victim.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "must.h"

using hawthorn::Db;
using hawthorn::Isolation;
using hawthorn::RowLock;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;
using hawthorn::Value;

namespace {

Status add(Transaction& transaction, const Tree& accounts, const std::string& name, int amount) {
  // Locked from here to the end of the transaction, and read as it is now.
  Value value;
  if (Status s = transaction.get_for_update(accounts, name, value); !s.ok()) return s;
  return transaction.put(accounts, name, std::to_string(std::stoi(value.to_string()) + amount));
}

Status transfer(Db& db, const Tree& accounts, const std::string& from, const std::string& to) {
  Transaction transaction =
      must(db.begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted}));
  Status status = add(transaction, accounts, from, -1);
  if (status.ok()) status = add(transaction, accounts, to, 1);
  return status.ok() ? transaction.commit(hawthorn::Durability::kNone) : status;
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree accounts = must(db->tree("accounts"));
  must(db->put(accounts, "ada", "1000"));
  must(db->put(accounts, "grace", "1000"));

  std::atomic<int> deadlocks{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string from = t % 2 == 0 ? "ada" : "grace";
      const std::string to = t % 2 == 0 ? "grace" : "ada";
      for (int done = 0; done < 100;) {
        const Status status = transfer(*db, accounts, from, to);
        if (status.is(StatusCode::kDeadlock)) {
          ++deadlocks;  // the message names the circle
        } else {
          must(status);
          ++done;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Value value;
  must(db->get(accounts, "ada", value));
  must(value.view() == "1000");
  std::printf("%d deadlocks, nothing lost\n", deadlocks.load());

  {
    // A try: a row that somebody has locked is refused at once.
    Transaction holder = must(db->begin(TxnMode::kPessimistic));
    must(holder.lock(accounts, "ada", RowLock::kExclusive));
    Transaction tries = must(db->begin(TxnMode::kPessimistic));
    must(tries.lock(accounts, "ada", RowLock::kShared, 0).is(StatusCode::kTimedOut));
  }
  value.reset();
  must(db->close());
}
