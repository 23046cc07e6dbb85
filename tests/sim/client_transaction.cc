// The transactions of a simulated client: every mode and isolation, savepoints, locks, ranges.

#include <algorithm>
#include <map>

#include "tests/sim/client.h"
#include "tests/sim/printed.h"

namespace hawthorn::tests {

namespace {

constexpr const char* kModes[] = {"optimistic", "exclusive", "pessimistic"};
constexpr const char* kIsolations[] = {"read committed", "snapshot", "serializable"};

constexpr auto kGivesWay = {StatusCode::kConflict, StatusCode::kTimedOut, StatusCode::kDeadlock,
                            StatusCode::kNotFound};

}  // namespace

struct SimClient::Work {
  Transaction transaction;
  TxnOptions options;
  SimCommit commit;
  uint64_t read_at = 0;  // the moment that it reads; 0: unknown
  std::map<SimKey, std::optional<std::string>> own;
  std::vector<SimWrite> ranges;  // deleted
  bool merged = false;           // what it reads follows from more than `own`

  // Whether its own writes may decide about the key.
  bool unclear(size_t tree, const std::string& key) const {
    return merged || std::any_of(ranges.begin(), ranges.end(), [&](const SimWrite& range) {
             return range.tree == tree && key >= range.key &&
                    (!range.high.has_value() || key < *range.high);
           });
  }
};

void SimClient::transaction() {
  Work work;
  work.options.mode = static_cast<TxnMode>(prng_.below(3));
  work.options.isolation = static_cast<Isolation>(prng_.below(3));
  work.commit.what = what("transaction") + " (" +
                     kModes[static_cast<size_t>(work.options.mode)] + ", " +
                     kIsolations[static_cast<size_t>(work.options.isolation)] + ")";
  const std::string name = work.commit.what;
  Snapshot snapshot;
  const bool one_moment = work.options.mode != TxnMode::kExclusive &&
                          work.options.isolation != Isolation::kReadCommitted;
  if (one_moment && prng_.one_in(2)) {
    snapshot = world_->db->snapshot();
    work.read_at = snapshot.timestamp();
    work.commit.unchanged_from = work.read_at;
    work.options.snapshot = &snapshot;
  }
  Result<Transaction> begun = world_->db->begin(work.options);
  world_->judge(begun.status(), name + ", begin", kGivesWay);
  if (!begun.ok()) return;
  work.transaction = std::move(*begun);
  for (uint64_t steps = prng_.between(1, 7); steps > 0; --steps) {
    if (!transaction_step(work) || world_->stopped()) return;
  }
  if (prng_.one_in(8)) return work.transaction.abort();
  const Durability durability = any_durability();
  if (work.commit.writes.empty()) {
    world_->judge(work.transaction.commit(durability), name + ", commit", kGivesWay);
    return;
  }
  const bool poisoned = world_->poisoned;
  const size_t number = begin(std::move(work.commit));
  const Status status = work.transaction.commit(durability);
  finish(number, status, durability);
  world_->judge(status, name + ", commit", kGivesWay);
  if (status.is(StatusCode::kUnknownOutcome)) world_->poisoned = true;
  if (poisoned && status.ok() && !world_->stopped() && world_->history.commits[number].cts != 0) {
    world_->fail(name + " was committed though a sync had failed before");
  }
}

// False: it has given way, or the machine has stopped.
bool SimClient::transaction_step(Work& work) {
  if (prng_.one_in(2)) return transaction_read(work);
  if (!prng_.one_in(10)) return transaction_write(work);
  const Result<Savepoint> savepoint = work.transaction.savepoint();
  world_->judge(savepoint.status(), work.commit.what + ", savepoint");
  if (!savepoint.ok()) return false;
  const size_t writes = work.commit.writes.size();
  const auto own = work.own;
  const auto ranges = work.ranges;
  const bool merged = work.merged;
  for (uint64_t steps = prng_.between(1, 3); steps > 0; --steps) {
    if (!transaction_write(work)) return false;
  }
  if (prng_.one_in(3)) return true;
  const Status status = work.transaction.rollback_to(*savepoint);
  world_->judge(status, work.commit.what + ", rollback");
  work.commit.writes.resize(writes);
  work.own = own;
  work.ranges = ranges;
  work.merged = merged;
  return status.ok();
}

bool SimClient::transaction_read(Work& work) {
  const size_t tree = any_tree();
  const std::string key = any_key();
  const bool for_update = prng_.one_in(3);
  Value value;
  const Status status = for_update
                            ? work.transaction.get_for_update(world_->trees[tree], key, value)
                            : work.transaction.get(world_->trees[tree], key, value);
  const std::string name = work.commit.what + (for_update ? ", get_for_update" : ", get");
  world_->judge(status, name, kGivesWay);
  if (world_->stopped() || (!status.ok() && !status.is_not_found())) return false;
  std::optional<std::string> found;
  if (status.ok()) found = value.to_string();
  world_->trace->bytes("get", value.view());
  const auto own = work.own.find({tree, key});
  if (own != work.own.end() && !work.merged) {
    if (own->second != found) {
      world_->fail(name + " of " + printed(key) + " does not see its own write");
    }
    return true;
  }
  if (own != work.own.end() || work.unclear(tree, key)) return true;
  const bool serializable = work.options.mode == TxnMode::kExclusive ||
                            work.options.isolation == Isolation::kSerializable;
  if (serializable || for_update) work.commit.reads.push_back({tree, key, found});
  if (work.read_at != 0) {
    world_->history.reads.push_back(
        {.timestamp = work.read_at, .what = name, .read = {tree, key, found}});
  }
  return true;
}

bool SimClient::transaction_write(Work& work) {
  SimWrite write = any_write();
  Transaction& transaction = work.transaction;
  const Tree& tree = world_->trees[write.tree];
  // Where a range is deleted key by key, and nothing keeps others from adding keys to it, it is not
  // the range that is empty when the transaction commits.
  const bool whole = work.options.mode == TxnMode::kExclusive ||
                     work.options.isolation == Isolation::kSerializable ||
                     (work.options.mode == TxnMode::kOptimistic && write.tree < 2);
  if (whole && prng_.one_in(12)) {
    write.kind = SimWrite::Kind::kDeleteRange;
    if (!prng_.one_in(5)) write.high = any_key();
  }
  Status status;
  switch (write.kind) {
    case SimWrite::Kind::kPut:
      status = transaction.put(tree, write.key, write.value);
      if (status.ok()) work.own[{write.tree, write.key}] = write.value;
      break;
    case SimWrite::Kind::kDelete:
      status = transaction.del(tree, write.key);
      if (status.ok()) work.own[{write.tree, write.key}] = std::nullopt;
      break;
    case SimWrite::Kind::kAppend:
      status = transaction.merge(tree, write.key, write.value);
      work.merged = true;
      break;
    case SimWrite::Kind::kDeleteRange: {
      std::optional<std::string_view> high;
      if (write.high.has_value()) high = *write.high;
      status = transaction.delete_range(tree, write.key, high);
      std::erase_if(work.own, [&](const auto& own) {
        return own.first.first == write.tree && own.first.second >= write.key &&
               (!write.high.has_value() || own.first.second < *write.high);
      });
      work.ranges.push_back(write);
      break;
    }
  }
  world_->judge(status, work.commit.what + ", write", kGivesWay);
  if (!status.ok()) return false;
  work.commit.writes.push_back(std::move(write));
  return true;
}

}  // namespace hawthorn::tests
