#include "tests/crash/workload.h"

#include <utility>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "tests/crash/workload_commits.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using Kind = WorkChange::Kind;

class Writer {
 public:
  Writer(Db& db, uint64_t seed, uint32_t writer, const Upkeep& upkeep, Witness& witness)
      : db_(db),
        seed_(seed),
        writer_(writer),
        upkeep_(upkeep),
        witness_(witness),
        dice_(mix64(seed + writer)) {}

  Status commit(uint64_t number) {
    const WorkCommit work = work_commit(seed_, writer_, number);
    if (work.drops) witness_.calls(Witness::Call::kDrop, true);
    Status status;
    if (!work.ingest.empty()) {
      witness_.begins(writer_, number);
      for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
        status = ingest(work);
        if (!is_worth_another_try(status)) break;
      }
      if (!status.ok()) return status;
    }
    for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
      witness_.begins(writer_, number);
      status = work.as_batch ? write_batch(work, number) : write_transaction(work, number);
      if (!is_worth_another_try(status)) break;
    }
    if (!status.ok()) return status;
    witness_.ends(writer_, number, work.durability == Durability::kFull);
    // The manifest is told, and the space is free again.
    if (work.drops && dice_.one_in(2)) status = flush();
    if (work.drops) witness_.calls(Witness::Call::kDrop, false);
    return status;
  }

  Status keep_up() {
    if (dice_.one_in(upkeep_.flush)) {
      if (Status s = flush(); !s.ok()) return s;
    }
    if (dice_.one_in(upkeep_.drain)) {
      if (Status s = db_.drain(); !s.ok()) return s;
    }
    if (dice_.one_in(upkeep_.compact)) {
      witness_.calls(Witness::Call::kCompact, true);
      const Status status = db_.compact();
      witness_.calls(Witness::Call::kCompact, false);
      if (!status.ok()) return status;
    }
    if (!dice_.one_in(upkeep_.sync)) return {};
    witness_.begins(writer_, 0);
    if (Status s = db_.sync(); !s.ok()) return s;
    witness_.ends(writer_, 0, true);
    return {};
  }

 private:
  Status flush() {
    witness_.calls(Witness::Call::kFlush, true);
    witness_.begins(writer_, 0);
    const Status status = db_.flush();
    if (status.ok()) witness_.ends(writer_, 0, true);
    witness_.calls(Witness::Call::kFlush, false);
    return status;
  }

  Status ingest(const WorkCommit& work) {
    const Result<Tree> tree = db_.find_tree(tree_load(writer_));
    if (!tree.ok()) return tree.status();
    Result<Ingest> ingest = db_.ingest(*tree, {.durability = work.durability});
    if (!ingest.ok()) return ingest.status();
    for (const auto& [key, value] : work.ingest) {
      if (Status s = ingest->add(key, value); !s.ok()) return s;
    }
    return ingest->finish();
  }

  Status write_batch(const WorkCommit& work, uint64_t number) {
    std::map<std::string, Tree> trees;
    WriteBatch batch;
    for (const WorkChange& change : work.changes) {
      auto [tree, made] = trees.try_emplace(change.tree);
      if (made) {
        const Result<Tree> found = db_.find_tree(change.tree);
        if (!found.ok()) return found.status();
        tree->second = *found;
      }
      if (change.kind == Kind::kPut) {
        batch.put(tree->second, change.key, change.text);
      } else if (change.kind == Kind::kDelete) {
        batch.del(tree->second, change.key);
      } else {
        batch.delete_range(tree->second, change.key, change.text);
      }
    }
    const Result<Tree> sum = db_.find_tree(tree_sum(writer_));
    if (!sum.ok()) return sum.status();
    batch.merge(*sum, kSumKey, number_text(number));
    return db_.write(batch, work.durability);
  }

  Status write_transaction(const WorkCommit& work, uint64_t number) {
    Result<Transaction> begun = db_.begin(work.how);
    if (!begun.ok()) return begun.status();
    Transaction& t = *begun;
    if (work.transfers) {
      if (Status s = transfer(t, work, number); !s.ok()) return s;
    }
    std::map<std::string, Tree> trees;
    for (const WorkChange& change : work.changes) {
      if (Status s = apply(t, change, trees); !s.ok()) return s;
    }
    const Result<Tree> sum = t.find_tree(tree_sum(writer_));
    if (!sum.ok()) return sum.status();
    if (Status s = t.merge(*sum, kSumKey, number_text(number)); !s.ok()) return s;
    if (work.rolls_back) {
      if (Status s = roll_back(t, number); !s.ok()) return s;
    }
    return t.commit(work.durability);
  }

  static Status apply(Transaction& t, const WorkChange& change,
                      std::map<std::string, Tree>& trees) {
    switch (change.kind) {
      case Kind::kMake: {
        const Result<Tree> made = t.tree(change.tree);
        if (made.ok()) trees[change.tree] = *made;
        return made.status();
      }
      case Kind::kClone: {
        const Result<Tree> made = t.clone_tree(change.text, change.tree);
        if (made.ok()) trees[change.tree] = *made;
        return made.status();
      }
      case Kind::kDrop:
        trees.erase(change.tree);
        return t.drop_tree(change.tree);
      default:
        break;
    }
    auto [tree, made] = trees.try_emplace(change.tree);
    if (made) {
      const Result<Tree> found = t.find_tree(change.tree);
      if (!found.ok()) return found.status();
      tree->second = *found;
    }
    if (change.kind == Kind::kPut) return t.put(tree->second, change.key, change.text);
    if (change.kind == Kind::kDelete) return t.del(tree->second, change.key);
    return t.delete_range(tree->second, change.key, change.text);
  }

  // Some of it is in chunks of the log by then.
  Status roll_back(Transaction& t, uint64_t number) {
    const Result<Savepoint> savepoint = t.savepoint();
    if (!savepoint.ok()) return savepoint.status();
    const Result<Tree> tree = t.find_tree(tree_a(writer_));
    if (!tree.ok()) return tree.status();
    const uint64_t count = number % 16 == 1 ? 400 : number % 8;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string key = key_of(mix64(number + i) % 4000);
      if (Status s = t.put(*tree, key, value_of(i, 900)); !s.ok()) return s;
    }
    return t.rollback_to(*savepoint);
  }

  Status transfer(Transaction& t, const WorkCommit& work, uint64_t number) {
    const Result<Tree> bank = t.find_tree(kBank);
    if (!bank.ok()) return bank.status();
    const Result<Tree> journal = t.find_tree(kJournal);
    if (!journal.ok()) return journal.status();
    const auto read = [&](const std::string& key, uint64_t* found) {
      Value value;
      if (Status s = t.get_for_update(*bank, key, value); !s.ok()) return s;
      if (read_number(value.view(), found)) return Status();
      return Status(StatusCode::kCorruption, key + " of the bank is no number");
    };
    uint64_t ticket = 0;
    if (Status s = read(kTicketKey, &ticket); !s.ok()) return s;
    ++ticket;
    if (Status s = t.put(*bank, kTicketKey, number_text(ticket)); !s.ok()) return s;
    for (const bool gives : {true, false}) {
      const Transfer& transfer = work.transfer;
      const std::string key = account_key(gives ? transfer.from : transfer.to);
      uint64_t balance = 0;
      if (Status s = read(key, &balance); !s.ok()) return s;
      balance += gives ? -transfer.amount : transfer.amount;
      if (Status s = t.put(*bank, key, number_text(balance)); !s.ok()) return s;
    }
    return t.put(*journal, big_endian(ticket), journal_entry(writer_, number, work.transfer));
  }

  Db& db_;
  const uint64_t seed_;
  const uint32_t writer_;
  const Upkeep upkeep_;
  Witness& witness_;
  Prng dice_;
};

}  // namespace

bool is_worth_another_try(const Status& status) {
  return status.is(StatusCode::kConflict) || status.is(StatusCode::kTimedOut) ||
         status.is(StatusCode::kDeadlock);
}

Options workload_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.merge_operators = {uint64_add()};
  options.lock_timeout_ms = 100;
  return options;
}

void set_small_sizes() {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  db::log_segment_bytes = size_t{1} << 20;
  db::log_bytes_min = size_t{2} << 20;
}

Status set_up(Db& db, uint64_t seed) {
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    const Result<Tree> a = db.tree(tree_a(writer));
    if (!a.ok()) return a.status();
    const Result<Tree> b = db.tree(tree_b(writer));
    if (!b.ok()) return b.status();
    const auto packed = static_cast<Compression>(mix64(seed) % 3);
    if (Status s = db.set_compression(*b, packed); !s.ok()) return s;
    if (const Result<Tree> load = db.tree(tree_load(writer)); !load.ok()) return load.status();
    const Result<Tree> sum = db.tree(tree_sum(writer));
    if (!sum.ok()) return sum.status();
    if (Status s = db.set_merge_operator(*sum, "uint64_add"); !s.ok()) return s;
  }
  if (const Result<Tree> bank = db.find_tree(kBank); bank.ok()) return {};
  Result<Transaction> t = db.begin(TxnMode::kOptimistic);
  if (!t.ok()) return t.status();
  const Result<Tree> bank = t->tree(kBank);
  if (!bank.ok()) return bank.status();
  if (const Result<Tree> journal = t->tree(kJournal); !journal.ok()) return journal.status();
  for (uint64_t account = 0; account < kAccounts; ++account) {
    const Status status = t->put(*bank, account_key(account), number_text(kFirstBalance));
    if (!status.ok()) return status;
  }
  if (Status s = t->put(*bank, kTicketKey, number_text(0)); !s.ok()) return s;
  return t->commit(Durability::kFull);
}

Result<Numbers> numbers_of(Db& db) {
  Numbers numbers = {};
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    const Result<Tree> tree = db.find_tree(tree_a(writer));
    if (!tree.ok()) return tree.status();
    Value value;
    const Status status = db.get(*tree, kNumberKey, value);
    if (status.is_not_found()) continue;
    if (!status.ok()) return status;
    if (!read_number(value.view(), &numbers[writer])) {
      return Status(StatusCode::kCorruption, tree_a(writer) + ": its number is none");
    }
  }
  return numbers;
}

Status run_writer(Db& db, uint64_t seed, uint32_t writer, uint64_t from, uint64_t until,
                  const Upkeep& upkeep, Witness& witness, const std::function<bool()>& stop) {
  Writer writing(db, seed, writer, upkeep, witness);
  for (uint64_t number = from; number <= until && !stop(); ++number) {
    if (Status s = writing.commit(number); !s.ok()) {
      return Status(s.code(), "commit " + std::to_string(number) + " of writer " +
                                  std::to_string(writer) + ": " + std::string(s.message()));
    }
    if (Status s = writing.keep_up(); !s.ok()) return s;
  }
  return {};
}

}  // namespace hawthorn::tests
