// The transactions of a simulated client: every mode and isolation, savepoints, locks, ranges.

#include <algorithm>
#include <map>
#include <span>

#include "tests/sim/client.h"
#include "tests/sim/printed.h"
#include "tests/sim/reader.h"

namespace hawthorn::tests {

namespace {

constexpr const char* kModes[] = {"optimistic", "exclusive", "pessimistic"};
constexpr const char* kIsolations[] = {"read committed", "snapshot", "serializable"};

// The last two: where a tree may have been dropped.
constexpr StatusCode kMayCome[] = {StatusCode::kConflict,        StatusCode::kTimedOut,
                                   StatusCode::kDeadlock,        StatusCode::kNotFound,
                                   StatusCode::kInvalidArgument, StatusCode::kNotSupported};
constexpr std::span<const StatusCode> kGivesWay = std::span(kMayCome).first(4);

}  // namespace

struct SimClient::Work {
  Transaction transaction;
  TxnOptions options;
  SimCommit commit;
  uint64_t read_at = 0;  // the moment that it reads; 0: unknown
  std::map<SimKey, std::optional<std::string>> own;
  std::vector<SimWrite> ranges;  // deleted
  bool merged = false;           // what it reads follows from more than `own`
  bool made = false;             // it uses trees that others may drop

  std::span<const StatusCode> may() const { return made ? std::span(kMayCome) : kGivesWay; }
  // Whether its own writes may decide about the key.
  bool unclear(SimTree tree, const std::string& key) const {
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
  work.commit.what = what("transaction") + " (" + kModes[static_cast<size_t>(work.options.mode)] +
                     ", " + kIsolations[static_cast<size_t>(work.options.isolation)] + ")";
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
  TxnOptions options = work.options;
  if (world_->planted == SimPlanted::kRaces && options.mode == TxnMode::kOptimistic) {
    options.isolation = Isolation::kReadCommitted;
  }
  const bool poisoned_before = world_->poisoned;
  Result<Transaction> begun = world_->db->begin(options);
  world_->judge_write(poisoned_before, begun.status(), name + ", begin", kGivesWay);
  if (!begun.ok()) return;
  work.transaction = std::move(*begun);
  for (uint64_t steps = prng_.between(1, 7); steps > 0; --steps) {
    if (!transaction_step(work) || world_->stopped()) return;
  }
  if (prng_.one_in(8)) return work.transaction.abort();
  // Ranges in which nothing is, change nothing: what is prepared then waits for no outcome.
  const bool only_ranges =
      std::all_of(work.commit.writes.begin(), work.commit.writes.end(),
                  [](const SimWrite& write) { return write.kind == SimWrite::Kind::kDeleteRange; });
  if (world_->has(SimFeature::kPrepared) && !only_ranges && prng_.one_in(4)) {
    return prepare(work);
  }
  const Durability durability = any_durability();
  if (work.commit.writes.empty()) {
    world_->judge(work.transaction.commit(durability), name + ", commit", work.may());
    return;
  }
  const bool poisoned = world_->poisoned;
  const size_t number = begin(std::move(work.commit));
  finish(number, work.transaction.commit(durability), durability, poisoned, work.may());
}

// Of those that are always there, or that the transaction finds by a name.
SimTree SimClient::any_tree_of(Transaction& transaction) {
  const auto usual = static_cast<SimTree>(prng_.below(kSimTrees));
  if (!world_->has(SimFeature::kMadeTrees) || !prng_.one_in(4)) return usual;
  const std::string name = any_name();
  const Result<Tree> tree = transaction.find_tree(name);
  world_->judge(tree.status(), name_ + "'s transaction, find_tree", kGivesWay);
  if (!tree.ok()) return usual;
  const SimTree number = sim_tree_of(name, *tree);
  made_[number] = *tree;
  return number;
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
  const SimTree tree = any_tree_of(work.transaction);
  if (!work.transaction.open()) return false;
  work.made |= tree >= kSimMade;
  const std::string key = any_key();
  const bool for_update = prng_.one_in(3);
  Value value;
  const Status status = for_update ? work.transaction.get_for_update(handle(tree), key, value)
                                   : work.transaction.get(handle(tree), key, value);
  const std::string name = work.commit.what + (for_update ? ", get_for_update" : ", get");
  world_->judge(status, name, work.may());
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
  Transaction& transaction = work.transaction;
  SimWrite write;
  write.tree = any_tree_of(transaction);
  work.made |= write.tree >= kSimMade;
  any_write_to(&write);
  const Tree& tree = handle(write.tree);
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
    default:
      break;
  }
  world_->judge_write(false, status, work.commit.what + ", write", work.may());
  if (!status.ok()) return false;
  work.commit.writes.push_back(std::move(write));
  return true;
}

// ---- In two phases

void SimClient::prepare(Work& work) {
  using Outcome = History::Outcome;
  const std::string id = name_ + "p" + std::to_string(++numbers_);
  const std::string name = work.commit.what + ", prepare";
  const uint64_t acknowledged = world_->history.acknowledged();
  const bool poisoned = world_->poisoned;
  const Status status = work.transaction.prepare(id);
  Outcome outcome = Outcome::kIs;
  if (!status.ok()) outcome = Outcome::kIsNot;
  // Where the machine stops in the middle of it, nobody knows.
  if (status.is(StatusCode::kUnknownOutcome) || world_->stopped()) outcome = Outcome::kOpen;
  world_->history.prepare(id, std::move(work.commit), outcome);
  if (world_->stopped()) return;
  constexpr StatusCode kMayNot[] = {StatusCode::kConflict,        StatusCode::kTimedOut,
                                    StatusCode::kDeadlock,        StatusCode::kNotFound,
                                    StatusCode::kInvalidArgument, StatusCode::kNotSupported};
  world_->judge_write(poisoned, status, name, kMayNot);
  if (!status.ok()) return;
  world_->history.durable_to(acknowledged);
  world_->prepared.push_back(id);
  // What is let go of stays, too.
  if (prng_.one_in(2)) resolve();
}

// Ends any that is prepared, of whichever life and client.
void SimClient::resolve() {
  using Outcome = History::Outcome;
  Db& db = *world_->db;
  if (world_->prepared.empty()) return put();
  const size_t pick = prng_.below(world_->prepared.size());
  const std::string id = world_->prepared[pick];
  world_->prepared.erase(world_->prepared.begin() + static_cast<ptrdiff_t>(pick));
  const bool poisoned = world_->poisoned;
  // Which of two objects ends it does not matter; here the other one has gone already.
  constexpr StatusCode kMayNot[] = {StatusCode::kConflict};
  if (!prng_.one_in(3)) {
    const Durability durability = any_durability();
    SimCommit commit = world_->history.commit_of(id);
    commit.what += ", prepared as " + id;
    const size_t number = begin(std::move(commit));
    const Status status = db.commit_prepared(id, durability);
    finish(number, status, durability, poisoned, {});
    if (!status.ok() && !status.is(StatusCode::kUnknownOutcome)) world_->prepared.push_back(id);
    return;
  }
  const std::string name = what("rollback_prepared");
  const Status status = db.rollback_prepared(id);
  const bool open = !status.ok() || world_->stopped();
  world_->history.roll_back(id, open ? Outcome::kOpen : Outcome::kIsNot);
  world_->judge_write(poisoned, status, name, kMayNot);
}

}  // namespace hawthorn::tests
