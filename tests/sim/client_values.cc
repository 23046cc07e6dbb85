// What a simulated client does with values: changes them by parts, and writes entries that end.

#include "tests/sim/client.h"

namespace hawthorn::tests {

void SimClient::change_part() {
  using Kind = SimWrite::Kind;
  Db& db = *world_->db;
  const bool large = world_->has(SimFeature::kLargeValues) && prng_.one_in(2);
  const uint64_t most = large ? 150'000 : 600;
  SimWrite write;
  write.tree = any_tree();
  if (write.tree == 2) write.tree = 1;
  write.key = any_key();
  const Tree in = handle(write.tree);
  const uint64_t pick = prng_.below(8);
  if (pick < 2) {
    // Its parts are those of the whole.
    const Snapshot snapshot = db.snapshot();
    const std::string name = what("read_part");
    Value value;
    const Status whole = db.get(in, write.key, value, {.snapshot = &snapshot});
    if (!whole.is_not_found()) world_->judge(whole, name, may(write.tree));
    if (!whole.ok()) return;
    const uint64_t offset = prng_.below(value.size() + 10);
    std::string part(prng_.between(1, most), '?');
    const Result<size_t> read = db.read_part(in, write.key, offset, part, {.snapshot = &snapshot});
    const Result<uint64_t> size = db.size_of(in, write.key, {.snapshot = &snapshot});
    world_->judge(read.status(), name, may(write.tree));
    world_->judge(size.status(), name, may(write.tree));
    if (!read.ok() || !size.ok() || world_->stopped()) return;
    const std::string_view is = value.view().substr(std::min<uint64_t>(offset, value.size()));
    part.resize(*read);
    if (*size != value.size() || part != is.substr(0, part.size()) ||
        (part.size() < is.size() && *read == 0)) {
      world_->fail(name + " does not show a part of the value");
    }
    return;
  }
  if (pick < 5) {
    write.kind = Kind::kOverwrite;
    write.number = prng_.below(most);
  } else if (pick < 7) {
    write.kind = Kind::kExtend;
  } else {
    write.kind = Kind::kResize;
    write.number = prng_.below(most);
  }
  if (write.kind != Kind::kResize) {
    write.value = any_value();
    if (large && prng_.one_in(2)) write.value.resize(prng_.below(70'000), '+');
  }
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const size_t number = begin({.what = what("change of a part"), .writes = {write}});
  Status status;
  if (write.kind == Kind::kOverwrite) {
    status = db.write_part(in, write.key, write.number, write.value, durability);
  } else if (write.kind == Kind::kExtend) {
    status = db.append(in, write.key, write.value, durability).status();
  } else {
    status = db.resize(in, write.key, write.number, durability);
  }
  finish(number, status, durability, poisoned, may(write.tree));
}

uint64_t SimClient::now_ms() const { return world_->db->snapshot().now_ms(); }

void SimClient::put_ending() {
  Db& db = *world_->db;
  const Tree& tree = world_->trees[kSimEnding];
  SimCommit commit{.what = what("put of what ends")};
  const Durability durability = any_durability();
  const bool poisoned = world_->poisoned;
  const uint64_t pick = prng_.below(8);
  if (pick == 0) {
    SimWrite write{.kind = SimWrite::Kind::kDeleteRange,
                   .tree = kSimEnding,
                   .key = any_key(),
                   .value = "",
                   .high = any_key()};
    commit.writes = {write};
    const size_t number = begin(std::move(commit));
    const Status status =
        db.delete_range(tree, write.key, std::string_view(*write.high), durability);
    return finish(number, status, durability, poisoned, may(kSimEnding));
  }
  // Some have ended already, and some never do.
  const uint64_t now = now_ms();
  WriteBatch batch;
  for (uint64_t count = prng_.between(1, 4); count > 0; --count) {
    SimWrite write{.tree = kSimEnding, .key = any_key(), .value = ""};
    if (prng_.one_in(5)) {
      write.kind = SimWrite::Kind::kDelete;
      batch.del(tree, write.key);
    } else {
      std::string value = any_value();
      if (value.size() > 1000) value.resize(1000);
      const uint64_t ends = prng_.one_in(4) ? 0 : now + prng_.below(150) - 5;
      batch.put(tree, write.key, value, Expiry::at_ms(ends));
      write.value = ending_value(value, ends);
    }
    commit.writes.push_back(std::move(write));
  }
  const size_t number = begin(std::move(commit));
  finish(number, db.write(batch, durability), durability, poisoned, may(kSimEnding));
}

}  // namespace hawthorn::tests
