#include "tests/sim/client.h"

#include <algorithm>

#include "tests/sim/reader.h"

namespace hawthorn::tests {
namespace {

// What writes may come to where others hold locks, or are faster; the last three, where the tree
// may have been dropped, or be a clone.
constexpr StatusCode kMay[] = {StatusCode::kTimedOut,     StatusCode::kDeadlock,
                               StatusCode::kConflict,     StatusCode::kInvalidArgument,
                               StatusCode::kNotSupported, StatusCode::kNotFound};
constexpr size_t kBatchValueMax = 1000;

thread_local uint64_t told_timestamp = 0;

class TimestampHook : public CommitHook {
 public:
  void after(const CommitInfo&, uint64_t cts, const Status&) override { told_timestamp = cts; }
};

}  // namespace

std::shared_ptr<CommitHook> timestamp_hook() { return std::make_shared<TimestampHook>(); }

std::string SimClient::what(const char* operation) {
  return name_ + "'s " + operation + " " + std::to_string(++numbers_);
}

std::string SimClient::any_key() {
  const uint64_t number = prng_.below(world_->keys);
  if (number == 0) return "";
  if (number % 50 == 1) return std::string(300 + number, 'k') + std::to_string(number);
  std::string key = std::to_string(number);
  return std::string(key.size() < 5 ? 5 - key.size() : 0, '0') + key;
}

// Tells whose it is, so that a wrong one can be found in the history.
std::string SimClient::any_value() {
  std::string value = name_ + "." + std::to_string(++numbers_) + ":";
  const uint64_t pick = prng_.below(100);
  size_t size = prng_.below(60);
  if (pick >= 60) size = prng_.below(400);
  if (pick >= 92) size = prng_.below(6000);
  if (pick >= 98 && world_->has(SimFeature::kLargeValues)) size = prng_.between(66'000, 150'000);
  const bool noise = prng_.one_in(2);
  uint64_t state = prng_.next();
  while (value.size() < size) value.push_back(static_cast<char>(noise ? splitmix64(state) : state));
  return value;
}

Durability SimClient::any_durability() {
  if (world_->planted == SimPlanted::kLies) return Durability::kFull;
  return static_cast<Durability>(prng_.between(0, 3));  // the default is kNone
}

std::string SimClient::any_name() { return "t" + std::to_string(prng_.below(5)); }

SimTree SimClient::any_tree() {
  const bool made = world_->has(SimFeature::kMadeTrees) || world_->has(SimFeature::kForest);
  if (!made || !prng_.one_in(4)) return static_cast<SimTree>(prng_.below(kSimTrees));
  if (made_.empty() || prng_.one_in(2)) {
    const std::string name = any_name();
    const Result<Tree> tree = world_->db->find_tree(name);
    world_->judge(tree.status(), name_ + "'s find_tree", may(kSimMade));
    if (!tree.ok()) return static_cast<SimTree>(prng_.below(kSimTrees));
    made_[sim_tree_of(name, *tree)] = *tree;
  }
  auto any = made_.begin();
  std::advance(any, prng_.below(made_.size()));
  return any->first;
}

const Tree& SimClient::handle(SimTree tree) {
  return tree < kSimOpened ? world_->trees[tree] : made_[tree];
}

std::span<const StatusCode> SimClient::may(SimTree tree) {
  return tree < kSimForest ? std::span(kMay).first(3) : std::span(kMay);
}

SimWrite SimClient::any_write() {
  SimWrite write;
  write.tree = any_tree();
  any_write_to(&write);
  return write;
}

void SimClient::any_write_to(SimWrite* write) {
  write->key = any_key();
  if (prng_.one_in(4)) {
    write->kind = SimWrite::Kind::kDelete;
  } else if (write->tree == 2 && prng_.one_in(2)) {
    write->kind = SimWrite::Kind::kAppend;
    write->value = name_ + "." + std::to_string(++numbers_);
  } else {
    write->value = any_value();
  }
}

size_t SimClient::begin(SimCommit commit) {
  told_timestamp = 0;
  world_->history.commits.push_back(std::move(commit));
  return world_->history.commits.size() - 1;
}

void SimClient::finish(size_t number, const Status& status, Durability durability) {
  SimCommit& commit = world_->history.commits[number];
  commit.cts = told_timestamp;
  world_->trace->number("commit", commit.cts, static_cast<uint64_t>(status.code()));
  if (world_->stopped()) return;
  const bool only_ranges =
      std::all_of(commit.writes.begin(), commit.writes.end(),
                  [](const SimWrite& write) { return write.kind == SimWrite::Kind::kDeleteRange; });
  if (status.ok() && commit.cts == 0 && !only_ranges) {
    world_->fail(commit.what + " was committed at no timestamp");
  }
  if (status.ok()) world_->history.acknowledge(number, durability == Durability::kFull);
}

void SimClient::finish(size_t number, const Status& status, Durability durability, bool poisoned,
                       std::span<const StatusCode> expected) {
  finish(number, status, durability);
  const SimCommit& commit = world_->history.commits[number];
  // What changes nothing is no commit.
  const bool nothing = status.ok() && commit.cts == 0;
  world_->judge_write(poisoned && !nothing, status, commit.what, expected);
}

void SimClient::run(uint64_t operations) {
  for (uint64_t i = 0; i < operations && !world_->stopped(); ++i) step();
}

void SimClient::step() {
  const uint64_t pick = prng_.below(100);
  if (pick < 20) {
    put();
  } else if (pick < 27) {
    erase();
  } else if (pick < 35) {
    batch();
  } else if (pick < 62) {
    transaction();
  } else if (pick < 66) {
    delete_range();
  } else if (pick < 71) {
    compare_and_set();
  } else if (pick < 84) {
    read_snapshot();
  } else if (pick < 92) {
    feature_step();
  } else {
    upkeep();
  }
}

// One of those that the seed has; where it has none, something else.
void SimClient::feature_step() {
  const std::pair<SimFeature, void (SimClient::*)()> steps[] = {
      {SimFeature::kParts, &SimClient::change_part},
      {SimFeature::kEnding, &SimClient::put_ending},
      {SimFeature::kMadeTrees, &SimClient::change_trees},
      {SimFeature::kForest, &SimClient::change_trees},
      {SimFeature::kForest, &SimClient::move_subtree},
      {SimFeature::kIngests, &SimClient::ingest},
      {SimFeature::kPrepared, &SimClient::resolve},
      {SimFeature::kNamedSnapshots, &SimClient::keep_snapshot},
      {SimFeature::kCopies, &SimClient::copy},
      {SimFeature::kFullDisk, &SimClient::fill_disk},
  };
  std::vector<void (SimClient::*)()> has;
  for (const auto& [feature, step] : steps) {
    if (world_->has(feature)) has.push_back(step);
  }
  if (has.empty()) return put();
  (this->*has[prng_.below(has.size())])();
}

void SimClient::put() {
  const SimWrite write = any_write();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const Tree tree = handle(write.tree);
  const size_t commit = begin({.what = what("put"), .writes = {write}});
  Db& db = *world_->db;
  Status status;
  if (write.kind == SimWrite::Kind::kDelete) {
    status = db.del(tree, write.key, durability);
  } else if (write.kind == SimWrite::Kind::kAppend) {
    status = db.merge(tree, write.key, write.value, durability);
  } else {
    status = db.put(tree, write.key, write.value, durability);
  }
  finish(commit, status, durability, poisoned, may(write.tree));
}

void SimClient::erase() {
  const SimTree tree = any_tree();
  const std::string key = any_key();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const Tree in = handle(tree);
  const size_t commit =
      begin({.what = what("del"),
             .writes = {{.kind = SimWrite::Kind::kDelete, .tree = tree, .key = key, .value = ""}}});
  finish(commit, world_->db->del(in, key, durability), durability, poisoned, may(tree));
}

void SimClient::batch() {
  WriteBatch batch;
  SimCommit commit{.what = what("batch")};
  SimTree last = 0;
  for (uint64_t count = prng_.between(1, 8); count > 0; --count) {
    SimWrite write = any_write();
    // All of it has to fit one record of the log.
    if (write.value.size() > kBatchValueMax) write.value.resize(kBatchValueMax);
    const Tree& tree = handle(write.tree);
    last = std::max(last, write.tree);
    if (write.kind == SimWrite::Kind::kDelete) {
      batch.del(tree, write.key);
    } else if (write.kind == SimWrite::Kind::kAppend) {
      batch.merge(tree, write.key, write.value);
    } else {
      batch.put(tree, write.key, write.value);
    }
    commit.writes.push_back(std::move(write));
  }
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const size_t number = begin(std::move(commit));
  finish(number, world_->db->write(batch, durability), durability, poisoned, may(last));
}

void SimClient::delete_range() {
  SimWrite write{
      .kind = SimWrite::Kind::kDeleteRange, .tree = any_tree(), .key = any_key(), .value = ""};
  if (write.tree == 2) write.tree = 0;  // a tree with a merge operator has none
  if (!prng_.one_in(5)) write.high = any_key();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const Tree tree = handle(write.tree);
  const size_t commit = begin({.what = what("delete_range"), .writes = {write}});
  std::optional<std::string_view> high;
  if (write.high.has_value()) high = *write.high;
  const Status status = world_->db->delete_range(tree, write.key, high, durability);
  finish(commit, status, durability, poisoned, may(write.tree));
}

void SimClient::compare_and_set() {
  const SimTree tree = any_tree();
  const std::string key = any_key();
  const std::string value = any_value();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  Db& db = *world_->db;
  const Tree in = handle(tree);
  Value before;
  const Status read = db.get(in, key, before);
  if (!read.is_not_found()) world_->judge(read, name_ + "'s get", may(tree));
  if (!read.ok() && !read.is_not_found()) return;
  std::optional<std::string> expected;
  if (read.ok()) expected = before.to_string();
  before.reset();
  SimCommit commit{.what = what("compare and set"),
                   .writes = {{.tree = tree, .key = key, .value = value}},
                   .reads = {{tree, key, expected}}};
  const bool removes = expected.has_value() && prng_.one_in(3);
  if (removes) commit.writes[0].kind = SimWrite::Kind::kDelete;
  const size_t number = begin(std::move(commit));
  std::optional<std::string_view> wanted;
  if (expected.has_value()) wanted = *expected;
  const Result<bool> done = removes ? db.remove_if(in, key, *expected, durability)
                                    : db.replace(in, key, wanted, value, durability);
  if (done.ok() && !*done) {  // another was faster
    return world_->judge_write(poisoned, done.status(), name_ + "'s compare and set");
  }
  finish(number, done.status(), durability, poisoned, may(tree));
}

void SimClient::upkeep() {
  Db& db = *world_->db;
  const uint64_t acknowledged = world_->history.acknowledged();
  const uint64_t pick = prng_.below(16);
  const bool poisoned = world_->poisoned;
  Status status;
  std::string name;
  if (pick < 6) {
    name = what("flush");
    status = db.flush();
  } else if (pick < 10) {
    name = what("sync");
    status = db.sync();
  } else if (pick < 12) {
    name = what("compact");
    status = db.compact();
  } else if (pick < 14) {
    name = what("drain");
    world_->judge_write(poisoned, db.drain(), name);
    return;
  } else {
    name = what("check");
    const Result<CheckReport> report = db.check();
    world_->judge(report.status(), name);
    if (report.ok()) world_->judge(*report, name);
    return;
  }
  world_->judge_write(poisoned, status, name);
  if (status.ok() && !world_->stopped()) world_->history.durable_to(acknowledged);
}

}  // namespace hawthorn::tests
