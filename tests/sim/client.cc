#include "tests/sim/client.h"

#include <algorithm>

#include "tests/sim/printed.h"

namespace hawthorn::tests {
namespace {

// What writes may come to where others hold locks, or are faster.
constexpr auto kWaits = {StatusCode::kTimedOut, StatusCode::kDeadlock, StatusCode::kConflict};
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
  if (pick >= 98 && world_->large_values) size = prng_.between(66'000, 150'000);
  const bool noise = prng_.one_in(2);
  uint64_t state = prng_.next();
  while (value.size() < size) value.push_back(static_cast<char>(noise ? splitmix64(state) : state));
  return value;
}

Durability SimClient::any_durability() {
  return static_cast<Durability>(prng_.between(0, 3));  // the default is kNone
}

SimWrite SimClient::any_write() {
  SimWrite write;
  write.tree = any_tree();
  write.key = any_key();
  if (prng_.one_in(4)) {
    write.kind = SimWrite::Kind::kDelete;
  } else if (write.tree == 2 && prng_.one_in(2)) {
    write.kind = SimWrite::Kind::kAppend;
    write.value = name_ + "." + std::to_string(++numbers_);
  } else {
    write.value = any_value();
  }
  return write;
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

void SimClient::run(uint64_t operations) {
  for (uint64_t i = 0; i < operations && !world_->stopped(); ++i) step();
}

void SimClient::step() {
  const uint64_t pick = prng_.below(100);
  if (pick < 22) {
    put();
  } else if (pick < 30) {
    erase();
  } else if (pick < 38) {
    batch();
  } else if (pick < 68) {
    transaction();
  } else if (pick < 72) {
    delete_range();
  } else if (pick < 78) {
    compare_and_set();
  } else if (pick < 92) {
    read_snapshot();
  } else {
    upkeep();
  }
}

// A commit that begins when the database is poisoned must say so; whichever way it fails, what it
// says must be excused.
void SimClient::put() {
  const SimWrite write = any_write();
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const size_t commit = begin({.what = what("put"), .writes = {write}});
  const std::string name = world_->history.commits[commit].what;
  Db& db = *world_->db;
  const Tree& tree = world_->trees[write.tree];
  Status status;
  if (write.kind == SimWrite::Kind::kDelete) {
    status = db.del(tree, write.key, durability);
  } else if (write.kind == SimWrite::Kind::kAppend) {
    status = db.merge(tree, write.key, write.value, durability);
  } else {
    status = db.put(tree, write.key, write.value, durability);
  }
  finish(commit, status, durability);
  if (world_->stopped()) return;
  world_->judge(status, name, kWaits);
  if (status.is(StatusCode::kUnknownOutcome)) world_->poisoned = true;
  if (!poisoned) return;
  const bool says_so = status.message().find("the log failed") != std::string_view::npos ||
                       status.message().find("read-only") != std::string_view::npos;
  if (status.ok()) world_->fail(name + " was committed though a sync had failed before");
  if (!says_so) world_->fail(name + " does not say that a sync had failed: " + status.to_string());
}

void SimClient::erase() {
  const size_t tree = any_tree();
  const std::string key = any_key();
  const Durability durability = any_durability();
  const size_t commit =
      begin({.what = what("del"),
             .writes = {{.kind = SimWrite::Kind::kDelete, .tree = tree, .key = key, .value = ""}}});
  const std::string name = world_->history.commits[commit].what;
  const Status status = world_->db->del(world_->trees[tree], key, durability);
  finish(commit, status, durability);
  world_->judge(status, name, kWaits);
}

void SimClient::batch() {
  WriteBatch batch;
  SimCommit commit{.what = what("batch")};
  for (uint64_t count = prng_.between(1, 8); count > 0; --count) {
    SimWrite write = any_write();
    // All of it has to fit one record of the log.
    if (write.value.size() > kBatchValueMax) write.value.resize(kBatchValueMax);
    const Tree& tree = world_->trees[write.tree];
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
  const std::string name = commit.what;
  const size_t number = begin(std::move(commit));
  const Status status = world_->db->write(batch, durability);
  finish(number, status, durability);
  world_->judge(status, name, kWaits);
}

void SimClient::delete_range() {
  SimWrite write{
      .kind = SimWrite::Kind::kDeleteRange, .tree = prng_.below(2), .key = any_key(), .value = ""};
  if (!prng_.one_in(5)) write.high = any_key();
  const Durability durability = any_durability();
  const Tree& tree = world_->trees[write.tree];
  const size_t commit = begin({.what = what("delete_range"), .writes = {write}});
  const std::string name = world_->history.commits[commit].what;
  std::optional<std::string_view> high;
  if (write.high.has_value()) high = *write.high;
  const Status status = world_->db->delete_range(tree, write.key, high, durability);
  finish(commit, status, durability);
  world_->judge(status, name, kWaits);
}

void SimClient::compare_and_set() {
  const size_t tree = any_tree();
  const std::string key = any_key();
  const std::string value = any_value();
  const Durability durability = any_durability();
  Db& db = *world_->db;
  const Tree& handle = world_->trees[tree];
  Value before;
  const Status read = db.get(handle, key, before);
  world_->judge(read, name_ + "'s get", {StatusCode::kNotFound});
  if (!read.ok() && !read.is_not_found()) return;
  std::optional<std::string> expected;
  if (read.ok()) expected = before.to_string();
  before.reset();
  SimCommit commit{.what = what("compare and set"),
                   .writes = {{.tree = tree, .key = key, .value = value}},
                   .reads = {{tree, key, expected}}};
  const bool removes = expected.has_value() && prng_.one_in(3);
  if (removes) commit.writes[0].kind = SimWrite::Kind::kDelete;
  const std::string name = commit.what;
  const size_t number = begin(std::move(commit));
  std::optional<std::string_view> wanted;
  if (expected.has_value()) wanted = *expected;
  const Result<bool> done = removes ? db.remove_if(handle, key, *expected, durability)
                                    : db.replace(handle, key, wanted, value, durability);
  if (done.ok() && !*done) return;  // another was faster
  finish(number, done.status(), durability);
  world_->judge(done.status(), name, kWaits);
}

void SimClient::look(const Snapshot& snapshot, const std::string& name) {
  const size_t tree = any_tree();
  SimReadAt at{.timestamp = snapshot.timestamp(), .what = name, .read = {tree, any_key(), {}}};
  Db& db = *world_->db;
  const Tree& handle = world_->trees[tree];
  if (prng_.one_in(2)) {
    Value value;
    const Status status = db.get(handle, at.read.key, value, {.snapshot = &snapshot});
    world_->judge(status, name, {StatusCode::kNotFound});
    if (!status.ok() && !status.is_not_found()) return;
    if (status.ok()) at.read.value = value.to_string();
    world_->trace->bytes("get", value.view());
    if (!world_->stopped()) world_->history.reads.push_back(std::move(at));
    return;
  }
  at.range = true;
  if (prng_.one_in(2)) at.high = any_key();
  if (at.high.has_value() && *at.high < at.read.key) std::swap(*at.high, at.read.key);
  CursorOptions options;
  options.lower = at.read.key;
  options.upper = at.high;
  options.snapshot = &snapshot;
  Cursor cursor = db.cursor(handle, options);
  const bool backwards = prng_.one_in(3);
  for (bool there = backwards ? cursor.last() : cursor.first(); there;
       there = backwards ? cursor.prev() : cursor.next()) {
    at.entries.emplace_back(cursor.key(), cursor.value());
  }
  world_->judge(cursor.status(), name);
  if (!cursor.status().ok() || world_->stopped()) return;
  if (backwards) std::reverse(at.entries.begin(), at.entries.end());
  std::optional<std::string_view> high;
  if (at.high.has_value()) high = *at.high;
  const Result<uint64_t> count = db.count(handle, at.read.key, high, {.snapshot = &snapshot});
  world_->judge(count.status(), name + ", counting");
  if (count.ok() && *count != at.entries.size() && !world_->stopped()) {
    world_->fail(name + " counted " + std::to_string(*count) + " where a cursor showed " +
                 std::to_string(at.entries.size()));
  }
  world_->trace->number("scan", at.entries.size());
  if (!world_->stopped()) world_->history.reads.push_back(std::move(at));
}

void SimClient::read_snapshot() {
  if (held_.empty() || (held_.size() < 3 && prng_.one_in(3))) {
    held_.push_back({world_->db->snapshot(), what("snapshot")});
  }
  const size_t pick = prng_.below(held_.size());
  look(held_[pick].snapshot, held_[pick].what);
  if (prng_.one_in(4)) held_.erase(held_.begin() + static_cast<ptrdiff_t>(pick));
}

void SimClient::upkeep() {
  Db& db = *world_->db;
  const uint64_t acknowledged = world_->history.acknowledged();
  const uint64_t pick = prng_.below(16);
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
    world_->judge(db.drain(), name);
    return;
  } else {
    name = what("check");
    const Result<CheckReport> report = db.check();
    world_->judge(report.status(), name);
    if (report.ok() && !report->ok() && !world_->stopped() && world_->files->errors_met() == 0 &&
        !world_->files->damaged()) {
      world_->fail(name + ": " + report->errors[0]);
    }
    return;
  }
  world_->judge(status, name);
  if (status.ok() && !world_->stopped()) world_->history.durable_to(acknowledged);
}

}  // namespace hawthorn::tests
