// The reads of a simulated client at a moment: keys, many keys at once, keys that are waited for
// later, ranges in both directions.

#include <algorithm>

#include "tests/sim/client.h"

namespace hawthorn::tests {
namespace {

// A tree may have been dropped; a snapshot still reads it.
constexpr StatusCode kMayBeMissing[] = {StatusCode::kNotFound};

// What a read has found, as the history has it: an empty value may be a tree.
std::string seen(Db& db, const Tree& tree, std::string_view key, std::string_view value,
                 const Snapshot& snapshot) {
  if (!value.empty()) return std::string(value);
  const Result<Tree> below = db.subtree(tree, key, {.snapshot = &snapshot});
  return below.ok() ? tree_value(kSimMade + below->id()) : "";
}

}  // namespace

void SimClient::read_snapshot() {
  if (held_.empty() || (held_.size() < 3 && prng_.one_in(3))) {
    held_.push_back({world_->db->snapshot(), what("snapshot")});
  }
  const size_t pick = prng_.below(held_.size());
  look(held_[pick].snapshot, held_[pick].what);
  if (prng_.one_in(4)) held_.erase(held_.begin() + static_cast<ptrdiff_t>(pick));
}

void SimClient::look(const Snapshot& snapshot, const std::string& name) {
  SimReadAt at{.timestamp = snapshot.timestamp(),
               .what = name,
               .read = {static_cast<SimTree>(prng_.below(kSimTrees)), any_key(), {}},
               .now_ms = snapshot.now_ms()};
  Tree tree = world_->trees[at.read.tree];
  if (world_->has(SimFeature::kEnding) && prng_.one_in(4)) {
    at.read.tree = kSimEnding;
    tree = world_->trees[kSimEnding];
  } else if (world_->has(SimFeature::kMadeTrees) && prng_.one_in(3)) {
    const std::string named = any_name();
    const Result<Tree> found = world_->db->find_tree(named, {.snapshot = &snapshot});
    world_->judge(found.status(), name + ", find_tree", kMayBeMissing);
    if (world_->stopped()) return;
    if (found.ok() || found.status().is_not_found()) {
      std::optional<std::string> value;
      if (found.ok()) value = tree_value(kSimMade + found->id());
      world_->history.reads.push_back(
          {.timestamp = at.timestamp, .what = name, .read = {kSimNames, named, std::move(value)}});
    }
    if (found.ok()) {
      at.read.tree = kSimMade + found->id();
      tree = *found;
    }
  }
  const uint64_t pick = prng_.below(6);
  if (pick < 2) return look_at_key(snapshot, std::move(at), tree);
  if (pick < 4) return look_at_range(snapshot, std::move(at), tree);
  if (at.read.tree != kSimEnding) return look_at_keys(snapshot, at, tree);
  look_at_range(snapshot, std::move(at), tree);
}

void SimClient::look_at_key(const Snapshot& snapshot, SimReadAt at, const Tree& tree) {
  Db& db = *world_->db;
  Value value;
  const Status status = db.get(tree, at.read.key, value, {.snapshot = &snapshot});
  world_->judge(status, at.what, kMayBeMissing);
  if (world_->stopped() || (!status.ok() && !status.is_not_found())) return;
  world_->trace->bytes("get", value.view());
  if (status.ok()) at.read.value = seen(db, tree, at.read.key, value.view(), snapshot);
  if (status.ok() && at.read.tree == kSimEnding) {
    const Result<uint64_t> ends = db.expires_at(tree, at.read.key, {.snapshot = &snapshot});
    world_->judge(ends.status(), at.what + ", expires_at");
    if (!ends.ok()) return;
    at.read.value = ending_value(*at.read.value, *ends);
  }
  if (!world_->stopped()) world_->history.reads.push_back(std::move(at));
}

// By one call, or by a queue.
void SimClient::look_at_keys(const Snapshot& snapshot, const SimReadAt& at, const Tree& tree) {
  Db& db = *world_->db;
  std::vector<SimReadAt> reads(prng_.between(2, 12), at);
  for (SimReadAt& read : reads) read.read.key = any_key();
  std::vector<Status> answers(reads.size());
  if (prng_.one_in(2)) {
    std::vector<std::string_view> keys;
    for (const SimReadAt& read : reads) keys.emplace_back(read.read.key);
    ReadBatch batch;
    const Status status = db.multi_get(tree, keys, batch, {.snapshot = &snapshot});
    world_->judge(status, at.what + ", multi_get");
    if (!status.ok()) return;
    for (size_t i = 0; i < reads.size(); ++i) {
      if (!batch[i].found()) continue;
      reads[i].read.value = seen(db, tree, reads[i].read.key, batch[i].value, snapshot);
    }
  } else {
    const auto queue = db.read_queue({.depth = static_cast<uint32_t>(prng_.between(1, 8))});
    world_->judge(queue.status(), at.what + ", read_queue");
    if (!queue.ok()) return;
    for (size_t i = 0; i < reads.size(); ++i) {
      const auto done = [&reads, &answers, i](const Status& status, Value& value) {
        answers[i] = status;
        if (status.ok()) reads[i].read.value = value.to_string();
      };
      (*queue)->get_async(tree, reads[i].read.key, done, {.snapshot = &snapshot});
      if (prng_.one_in(3)) (*queue)->poll();
    }
    while ((*queue)->pending() > 0) (*queue)->wait();
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    world_->judge(answers[i], at.what + ", one of many", kMayBeMissing);
    if (world_->stopped()) return;
    if (!answers[i].ok() && !answers[i].is_not_found()) continue;
    if (reads[i].read.value == "") {
      reads[i].read.value = seen(*world_->db, tree, reads[i].read.key, "", snapshot);
    }
    world_->trace->text(reads[i].read.value.value_or("nothing"));
    world_->history.reads.push_back(std::move(reads[i]));
  }
}

void SimClient::look_at_range(const Snapshot& snapshot, SimReadAt at, const Tree& tree) {
  Db& db = *world_->db;
  at.range = true;
  if (prng_.one_in(2)) at.high = any_key();
  if (at.high.has_value() && *at.high < at.read.key) std::swap(*at.high, at.read.key);
  CursorOptions options;
  options.lower = at.read.key;
  options.upper = at.high;
  options.snapshot = &snapshot;
  Cursor cursor = db.cursor(tree, options);
  const bool backwards = prng_.one_in(3);
  for (bool there = backwards ? cursor.last() : cursor.first(); there;
       there = backwards ? cursor.prev() : cursor.next()) {
    std::string value = seen(db, tree, cursor.key(), cursor.value(), snapshot);
    if (at.read.tree == kSimEnding) value = ending_value(value, cursor.expires_at());
    at.entries.emplace_back(cursor.key(), std::move(value));
  }
  world_->judge(cursor.status(), at.what);
  if (!cursor.status().ok() || world_->stopped()) return;
  if (backwards) std::reverse(at.entries.begin(), at.entries.end());
  std::optional<std::string_view> high;
  if (at.high.has_value()) high = *at.high;
  const Result<uint64_t> count = db.count(tree, at.read.key, high, {.snapshot = &snapshot});
  world_->judge(count.status(), at.what + ", counting");
  if (count.ok() && *count != at.entries.size() && !world_->stopped()) {
    world_->fail(at.what + " counted " + std::to_string(*count) + " where a cursor showed " +
                 std::to_string(at.entries.size()));
  }
  world_->trace->number("scan", at.entries.size());
  if (!world_->stopped()) world_->history.reads.push_back(std::move(at));
}

}  // namespace hawthorn::tests
