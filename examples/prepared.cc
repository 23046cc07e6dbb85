// Money moves between two databases: both halves are prepared, the decision is written down, then
// both are committed. Wherever the program dies, who opens the databases again looks into the
// coordinator's log and ends what is prepared the way it was decided.

#include <string>

#include "must.h"

using hawthorn::Db;
using hawthorn::Options;
using hawthorn::PreparedTransaction;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::Value;

namespace {

constexpr int kTransfers = 12;

// What is open for one moment of the program's life.
struct Bank {
  explicit Bank(const std::string& path)
      : east(must(Db::open(path + ".east", Options()))),
        west(must(Db::open(path + ".west", Options()))),
        decisions(must(Db::open(path + ".decisions", Options()))) {}

  std::unique_ptr<Db> east;
  std::unique_ptr<Db> west;
  std::unique_ptr<Db> decisions;
};

int balance(Db& db) {
  Value value;
  must(db.get(must(db.tree("accounts")), "ada", value));
  return std::stoi(value.to_string());
}

void prepare(Db& db, const std::string& id, int amount) {
  const Tree accounts = must(db.tree("accounts"));
  Transaction transaction = must(db.begin(hawthorn::TxnMode::kPessimistic));
  Value value;
  must(transaction.get_for_update(accounts, "ada", value));
  must(transaction.put(accounts, "ada", std::to_string(std::stoi(value.to_string()) + amount)));
  must(transaction.prepare(id));
  // The object goes; what it prepared stays.
}

// The program dies after so many steps.
void transfer(Bank& bank, const std::string& id, int steps) {
  if (steps-- == 0) return;
  prepare(*bank.east, id, -1);
  if (steps-- == 0) return;
  prepare(*bank.west, id, 1);
  if (steps-- == 0) return;
  // From here on it is decided: durable before the first half commits.
  must(bank.decisions->put(must(bank.decisions->tree("decided")), id, "commit",
                           hawthorn::Durability::kFull));
  if (steps-- == 0) return;
  must(bank.east->commit_prepared(id));
  if (steps-- == 0) return;
  must(bank.west->commit_prepared(id));
}

// What was not decided is not to be.
void end_what_is_open(Bank& bank) {
  const Tree decided = must(bank.decisions->tree("decided"));
  for (Db* db : {bank.east.get(), bank.west.get()}) {
    for (const PreparedTransaction& open : must(db->prepared())) {
      Value value;
      const bool commit = bank.decisions->get(decided, open.id, value).ok();
      must(commit ? db->commit_prepared(open.id) : db->rollback_prepared(open.id));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "example.db";
  for (const char* name : {".east", ".west", ".decisions"}) {
    const hawthorn::Status removed = Db::destroy(path + name);
    if (!removed.is_not_found()) must(removed);
  }
  {
    Bank bank(path);
    for (Db* db : {bank.east.get(), bank.west.get()}) {
      must(db->put(must(db->tree("accounts")), "ada", "100"));
    }
  }
  int moved = 0;
  for (int i = 0; i < kTransfers; ++i) {
    const int steps = i % 6;
    {
      Bank bank(path);
      transfer(bank, "transfer " + std::to_string(i), steps);
    }  // without a close, as when the program dies
    Bank bank(path);
    end_what_is_open(bank);
    moved += steps >= 3 ? 1 : 0;
    must(balance(*bank.east) == 100 - moved);
    must(balance(*bank.west) == 100 + moved);
  }
  std::printf("%d of %d transfers were decided, and nothing was lost\n", moved, kTransfers);
}
