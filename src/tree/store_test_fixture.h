#pragma once
// For tests of trees: everything that a tree needs, over the simulated machine, without db and txn.
// Transactions go through their steps one by one, so that tests can stop between any two.
//
// Not here: publishing and recovery (a flush counts as durable at once). Threads: as the parts.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "format/run_layout.h"
#include "os/epoch.h"
#include "testing/sim_machine.h"
#include "tree/cursor.h"
#include "tree/merge.h"
#include "tree/store.h"
#include "tree/tree.h"
#include "wal/log.h"

namespace hawthorn::tree::fixture {

inline void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_string(); }

struct StoreOptions {
  uint64_t seed = 1;
  size_t budget = size_t{64} << 20;
};

class TestStore {
 public:
  explicit TestStore(const StoreOptions& options = {})
      : disk(options.seed), machine(disk, options.seed) {
    must(disk.make_directory("/db"));
    arena = std::move(os::Arena::create(options.budget)).value();
    auto opened = space::Space::open(
        machine.machine(), "/db",
        {.file_bytes_first = 1 << 20, .file_share = 1, .file_bytes_max = 4 << 20});
    must(opened.status());
    space = std::move(opened).value();
    residency = std::make_unique<Residency>(machine.machine(), arena.get(), space.get());
    const format::LogEpoch epoch{
        .number = 1, .start = size_t{128} << 10, .end = format::kLsnMax, .salt = 7};
    auto started =
        wal::Log::start(machine.machine(), "/db",
                        {.ring_bytes = size_t{64} << 10, .segment_bytes = size_t{128} << 10}, epoch,
                        format::kLsnMax, 0);
    must(started.status());
    log = std::move(started).value();
    store.machine = &machine.machine();
    store.arena = arena.get();
    store.space = space.get();
    store.residency = residency.get();
    store.slots = &slots;
    store.snapshots = &snapshots;
    store.large = &large;
    store.visible = &visible;
    store.log = log.get();
  }
  ~TestStore() { os::epoch::drain(); }

  // Throws all out of memory that nobody pins, and leaves `bytes` for what comes in: less than the
  // database takes, so that reads go by blocks and windows.
  void squeeze(size_t bytes) {
    residency->set_reserve(arena->budget() - bytes);
    evict_all();
  }
  void relax() { residency->set_reserve(0); }
  void evict_all() {
    while (residency->make_room(size_t{1} << 40)) continue;
  }
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  std::unique_ptr<TreeState> make_tree(uint32_t id = 1) {
    format::ContainerRecord record;
    record.id = store.next_container.fetch_add(1);
    record.tree = id;
    return std::make_unique<TreeState>(
        &store, id, std::vector<Container*>{TreeState::empty_container(&store, record)});
  }

  // The place of a commit in the log: its record is appended, nobody sees it yet.
  Lsn append_commit() {
    const uint64_t checksum = wal::Log::payload_checksum({});
    for (;;) {
      {
        os::MutexLock lock(log->mutex());
        if (const Lsn lsn = log->try_append(format::RecordType::kCommit, 0, {}, checksum)) {
          return lsn;
        }
      }
      must(log->wait_room(0));
      log->trim(log->drained());
    }
  }

  // A large value on disk, named by nobody yet; its encoding.
  std::string make_large(std::string_view bytes) {
    format::LargeValue value;
    value.size = bytes.size();
    const auto blocks = static_cast<uint32_t>((bytes.size() + 4095) / 4096);
    // In two extents, to have more than one.
    size_t done = 0;
    for (const uint32_t part : {blocks / 2, blocks - blocks / 2}) {
      if (part == 0) continue;
      auto address = space->allocate(part);
      must(address.status());
      const size_t size = std::min(bytes.size() - done, size_t{part} * 4096);
      char* buffer = residency->allocate_for_read(os::Quota::kMerge, size_t{part} * 4096);
      std::memset(buffer, 0, size_t{part} * 4096);
      std::memcpy(buffer, bytes.data() + done, size);
      must(space->file(address->file)
               ->write_at(uint64_t{address->block} * 4096, {buffer, size_t{part} * 4096}));
      residency->release(os::Quota::kMerge, buffer, size_t{part} * 4096);
      large.add(
          ExtentRef(new Extent(residency.get(), *address, static_cast<uint32_t>(size), false)));
      value.extents.push_back(*address);
      done += size;
    }
    for (size_t at = 0; at < bytes.size(); at += format::kLargeChunkBytes) {
      value.checksum =
          format::extend_large_checksum(value.checksum, bytes.substr(at, format::kLargeChunkBytes));
    }
    std::string encoded;
    format::append_large_value(encoded, value);
    return encoded;
  }
  // What a roll-back does with it.
  void drop_large(std::string_view encoded) {
    const auto value = format::decode_large_value(encoded);
    for (const ExtentAddress& address : value->extents) {
      if (ExtentRef extent = large.take(address); extent) extent->dropped.store(true);
    }
  }

  testing::SimDisk disk;
  testing::SimMachine machine;
  std::unique_ptr<os::Arena> arena;
  std::unique_ptr<space::Space> space;
  std::unique_ptr<Residency> residency;
  std::unique_ptr<wal::Log> log;
  TxnSlots slots;
  Snapshots snapshots;
  LargeExtents large;
  std::atomic<Lsn> visible{0};
  Store store;
};

// A transaction, step by step:
//   write* -> commit = { sequence -> publish } -> stamp -> release, or abort -> roll_back ->
//   release
class TestTxn {
 public:
  explicit TestTxn(TestStore& store, bool check_conflicts = false)
      : store_(store), registration_(store.snapshots.add(store.visible)) {
    context_.id = store.slots.acquire();
    context_.undo = &undo_;
    context_.check_conflicts = check_conflicts;
    context_.read_ts = registration_.ts;
  }
  ~TestTxn() {
    if (context_.id == 0) return;
    abort();
    roll_back();
    release();
  }
  TestTxn(const TestTxn&) = delete;
  TestTxn& operator=(const TestTxn&) = delete;

  TxnId id() const { return context_.id; }
  ReadView view() const { return {context_.read_ts, context_.id}; }
  uint32_t next_seq() const { return context_.seq; }
  UndoList& undo() { return undo_; }

  Status write(TreeState& tree, std::string_view key, VersionKind kind, std::string_view value) {
    keys_.emplace_back(key);
    context_.layers = tree.layers().state();  // those of others are none of these tests' business
    const Status status = tree.write(context_, keys_.back(), kind, value);
    if (std::exchange(context_.may_be_empty, false)) {
      TreeCursor::look_for_dead(undo_[undo_.size() - 1], view());
    }
    return status;
  }
  Status put(TreeState& tree, std::string_view key, std::string_view value) {
    return write(tree, key, VersionKind::kPut, value);
  }
  Status remove(TreeState& tree, std::string_view key) {
    return write(tree, key, VersionKind::kTombstone, {});
  }

  // Only the slot knows; visible_ts has not passed it.
  Lsn sequence() {
    cts_ = store_.append_commit();
    store_.slots.commit(id(), cts_);
    return cts_;
  }
  void publish() { store_.visible.store(cts_, std::memory_order_release); }
  void stamp() {
    for (size_t i = 0; i < undo_.size(); ++i) {
      if (TreeState::stamp(undo_[i], id(), cts_)) TreeCursor::look_for_dead(undo_[i], {});
    }
  }
  bool contended() const { return store_.slots.contended(id()); }
  // Whether somebody else committed a key of this transaction since it began (R18).
  bool valid() {
    for (size_t i = 0; i < undo_.size(); ++i) {
      const Undo& undo = undo_[i];
      TreeState::Newer newer;
      PinnedRunFile run;
      while ((newer = undo.tree->newer_commit(undo.key, context_.read_ts, id(), nullptr, &run)) ==
             TreeState::Newer::kNeedRun) {
        must(store_.residency->load_run(run.get()));
      }
      if (newer == TreeState::Newer::kYes) return false;
    }
    return true;
  }
  void abort() { store_.slots.abort(id()); }
  void roll_back(size_t from = 0) {
    for (size_t i = undo_.size(); i > from; --i) TreeState::roll_back(undo_[i - 1], id());
    undo_.resize(from);
  }
  void release() {
    store_.snapshots.remove(registration_.slot);
    store_.slots.release(id());
    context_.id = 0;
  }
  Lsn commit() {
    sequence();
    publish();
    stamp();
    release();
    return cts_;
  }
  void undo_all() {
    abort();
    roll_back();
    release();
  }

 private:
  TestStore& store_;
  WriteContext context_;
  UndoList undo_;
  std::deque<std::string> keys_;
  const Snapshots::Registration registration_;
  Lsn cts_ = 0;
};

inline Lsn put(TestStore& store, TreeState& tree, std::string_view key, std::string_view value) {
  TestTxn txn(store);
  must(txn.put(tree, key, value));
  return txn.commit();
}
inline Lsn remove(TestStore& store, TreeState& tree, std::string_view key) {
  TestTxn txn(store);
  must(txn.remove(tree, key));
  return txn.commit();
}

// "<absent>", or the value as a reader sees it.
inline std::string get(TreeState& tree, std::string_view key, const ReadView& view,
                       bool registered = true) {
  Value value;
  const Status status = tree.get(key, view, registered, value);
  if (status.is_not_found()) return "<absent>";
  return status.ok() ? value.to_string() : "<" + status.to_string() + ">";
}
inline std::string get_now(TreeState& tree, std::string_view key) {
  return get(tree, key, {}, false);
}

inline Container* container_of(TreeState& tree, std::string_view key) {
  const os::epoch::Guard guard;
  return tree.directory().find(key);
}

// ---- Flushing

struct Flushed {
  Status status;
  bool cut = false;  // there was something to do
  size_t pieces = 0;
  bool reclustered = false;
  bool unchanged_run = false;
  size_t value_bytes_written = 0;
};

// Writes what a merge made, as the publisher does; the batch counts as durable at once.
inline Status write_fresh(TestStore& store, const MergeOutput& output) {
  for (const ExtentRef& extent : output.fresh) {
    os::File* file = store.space->file(extent->address.file);
    Status status = file->write_at(uint64_t{extent->address.block} * 4096,
                                   {extent->memory.load(), extent->disk_bytes()});
    if (!status.ok()) return status;
    store.space->mark_written(extent->address.file);
    extent->writing.store(false, std::memory_order_release);
  }
  return {};
}

class Flusher {
 public:
  explicit Flusher(TestStore& store) : store_(store), merger_(&store.store) {}

  // Cuts, merges, writes and installs the container that covers `key`.
  Flushed flush(TreeState& tree, std::string_view key, const MergePolicy& policy = {},
                bool force = true) {
    std::optional<TreeState::Cut> cut;
    {
      const os::epoch::Guard guard;
      cut = tree.cut(tree.directory().find(key), force);
    }
    Flushed result;
    if (!cut.has_value()) return result;
    return finish(tree, *cut, policy);
  }
  Flushed finish(TreeState& tree, TreeState::Cut& cut, const MergePolicy& policy = {}) {
    Flushed result;
    result.cut = true;
    Result<MergeOutput> merged = merger_.merge(tree.merge_input(cut), cut.cut, policy);
    if (!merged.ok()) {
      tree.give_up(cut);
      result.status = merged.status();
      return result;
    }
    result.pieces = merged->pieces.size();
    result.reclustered = merged->reclustered;
    result.unchanged_run = merged->pieces.front().unchanged_run;
    for (const ExtentRef& extent : merged->fresh) {
      if (!extent->is_index) result.value_bytes_written += extent->bytes;
    }
    result.status = write_fresh(store_, *merged);
    tree.install(cut, *merged, ++batch_);
    for (const ExtentRef& extent : merged->dropped) extent->dropped.store(true);
    return result;
  }
  // Divides the container that covers `key` at samples of its delta, and leaves the delta to the
  // parts. `beside` runs when the parts are made and not installed. False: it was not possible.
  template <typename Beside>
  bool divide(TreeState& tree, std::string_view key, size_t parts, Beside beside) {
    std::optional<TreeState::Cut> cut;
    std::vector<std::string> lows;
    {
      const os::epoch::Guard guard;
      Container* container = tree.directory().find(key);
      cut = tree.cut_to_divide(container, 0);
      if (!cut.has_value()) return false;
      std::vector<DeltaEntry*> bounds(parts);
      bounds.resize(container->descriptor.load()->active->sample(bounds));
      for (const DeltaEntry* bound : bounds) lows.emplace_back(bound->key());
    }
    EXPECT_TRUE(std::is_sorted(lows.begin(), lows.end()));
    EXPECT_TRUE(std::adjacent_find(lows.begin(), lows.end()) == lows.end());
    // A delta shared with neighbours goes beyond the container.
    std::erase_if(lows, [&](const std::string& low) {
      return low == cut->container->low || !cut->container->covers(low);
    });
    if (lows.empty()) {
      tree.give_up(*cut);
      return false;
    }
    Result<MergeOutput> divided = merger_.divide(tree.merge_input(*cut), lows);
    must(divided.status());
    EXPECT_EQ(divided->pieces.size(), lows.size() + 1);
    must(write_fresh(store_, *divided));
    beside();
    tree.install(*cut, *divided, ++batch_);
    for (const ExtentRef& extent : divided->dropped) extent->dropped.store(true);
    return true;
  }
  // Joins up to `count` containers from the one that covers `key` on. Returns how many.
  template <typename Beside>
  size_t join(TreeState& tree, std::string_view key, size_t count, Beside beside) {
    std::vector<TreeState::Cut> cuts;
    {
      const os::epoch::Guard guard;
      std::vector<Container*> group{tree.directory().find(key)};
      while (group.size() < count && group.back()->has_high) {
        group.push_back(tree.directory().find(group.back()->high));
      }
      if (group.size() < 2) return 0;
      cuts = tree.cut_to_join(group);
    }
    if (cuts.empty()) return 0;
    std::vector<MergeInput> inputs;
    for (const TreeState::Cut& cut : cuts) inputs.push_back(tree.merge_input(cut));
    Result<MergeOutput> joined = merger_.join(inputs, cuts.front().cut);
    must(joined.status());
    EXPECT_EQ(joined->pieces.size(), 1u);
    must(write_fresh(store_, *joined));
    beside();
    tree.install_joined(cuts, *joined, ++batch_);
    for (const ExtentRef& extent : joined->dropped) extent->dropped.store(true);
    return cuts.size();
  }
  // Every container, until no delta has anything left.
  void flush_all(TreeState& tree, const MergePolicy& policy = {}) {
    for (bool again = true; again;) {
      again = false;
      std::vector<std::string> lows;
      {
        const os::epoch::Guard guard;
        for (const Container* container : tree.directory().all()) {
          const Descriptor* d = container->descriptor.load();
          if (!d->active->empty() || d->frozen != nullptr) lows.push_back(container->low);
        }
      }
      for (const std::string& low : lows) {
        const Flushed flushed = flush(tree, low, policy);
        must(flushed.status);
        again = again || flushed.pieces > 1;
      }
    }
  }
  Merger& merger() { return merger_; }
  uint64_t batch() const { return batch_; }

 private:
  TestStore& store_;
  Merger merger_;
  uint64_t batch_ = 0;
};

// ---- Accounting

// Blocks of all extents that the containers' records list.
inline uint64_t recorded_blocks(const TreeState& tree) {
  const os::epoch::Guard guard;
  uint64_t blocks = 0;
  for (const Container* container : tree.directory().all()) {
    const format::ContainerRecord& record = container->descriptor.load()->run->record;
    blocks += record.run.blocks;
    for (const auto& value : record.values) blocks += value.address.blocks;
    for (const auto& extent : record.large) blocks += extent.blocks;
  }
  return blocks;
}

// Checks one container's record against its run and descriptor: counts, timestamps, garbage.
inline void expect_record(TestStore& store, RunFile* file) {
  const format::ContainerRecord& record = file->record;
  ASSERT_EQ(file->values.size(), record.values.size());
  ASSERT_EQ(file->large.size(), record.large.size());
  for (size_t e = 0; e < record.large.size(); ++e) {
    ASSERT_EQ(file->large[e]->address, record.large[e]);
    ASSERT_FALSE(file->large[e]->dropped.load());
  }
  if (file->empty()) {
    ASSERT_EQ(record.run.blocks, 0u);
    ASSERT_TRUE(record.values.empty() && record.large.empty());
    return;
  }
  ASSERT_EQ(file->image->address, record.run);
  ASSERT_FALSE(file->image->dropped.load());
  must(store.residency->load_run(file));
  const Run* run = file->run.load();
  ASSERT_NE(run, nullptr);
  must(run->check_entries());
  must(Run::verify(run->image(), run->image_bytes(), record.run_checksum, "in memory"));
  ASSERT_EQ(run->entries(), record.entries);
  ASSERT_LE(run->cut(), record.cut);
  ASSERT_EQ(run->extent_count(), record.values.size());
  std::vector<uint64_t> live(record.values.size());
  std::vector<ExtentAddress> large;
  for (uint32_t i = 0; i < run->entries(); ++i) {
    const RunEntry entry = run->entry(i);
    ASSERT_LE(entry.cts, record.max_ts);
    ASSERT_LE(entry.cts, record.cut);
    if (entry.kind == EntryKind::kSeparated) live[entry.extent] += entry.size;
    if (entry.kind != EntryKind::kLarge) continue;
    const auto value = format::decode_large_value(entry.inline_value);
    large.insert(large.end(), value->extents.begin(), value->extents.end());
  }
  for (uint32_t e = 0; e < record.values.size(); ++e) {
    ASSERT_EQ(file->values[e]->address, record.values[e].address);
    ASSERT_EQ(run->extent_record(e), record.values[e]);
    ASSERT_EQ(record.values[e].bytes - record.values[e].garbage_bytes, live[e])
        << "garbage of extent " << e;
    ASSERT_FALSE(file->values[e]->dropped.load());
  }
  std::vector<ExtentAddress> owned(record.large.begin(), record.large.end());
  std::sort(owned.begin(), owned.end());
  std::sort(large.begin(), large.end());
  ASSERT_EQ(owned, large);
}

// Every record, and that the space in use is what the records list and `others`.
inline void expect_accounts(TestStore& store, const std::vector<TreeState*>& trees,
                            uint64_t others = 0) {
  os::epoch::drain();
  uint64_t blocks = others;
  for (TreeState* tree : trees) {
    std::vector<RunFile*> files;
    {
      const os::epoch::Guard guard;
      std::string last_low;
      for (const Container* container : tree->directory().all()) {
        files.push_back(container->descriptor.load()->run);
        ASSERT_EQ(files.back()->record.low, container->low);
      }
    }
    for (RunFile* file : files) ASSERT_NO_FATAL_FAILURE(expect_record(store, file));
    blocks += recorded_blocks(*tree);
  }
  ASSERT_EQ(store.space->used_blocks(), blocks);
}

// ---- A model of all committed versions

class VersionModel {
 public:
  struct Written {
    std::string key;
    std::optional<std::string> value;  // nothing: deleted
  };
  void commit(Lsn cts, const std::vector<Written>& writes) {
    for (const Written& write : writes) versions_[write.key][cts] = write.value;
  }
  std::string at(const std::string& key, Lsn ts) const {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return "<absent>";
    const auto above = found->second.upper_bound(ts);
    if (above == found->second.begin()) return "<absent>";
    return std::prev(above)->second.value_or("<absent>");
  }
  const std::map<std::string, std::map<Lsn, std::optional<std::string>>>& versions() const {
    return versions_;
  }

  // Every key that was ever written, by single and by grouped gets.
  void expect_at(TreeState& tree, Lsn ts) const {
    std::vector<std::string_view> keys;
    for (const auto& [key, versions] : versions_) {
      ASSERT_EQ(get(tree, key, {ts, 0}), at(key, ts)) << "key " << key << " at " << ts;
      keys.push_back(key);
    }
    ReadBatch batch;
    must(tree.multi_get(keys, {ts, 0}, batch));
    ASSERT_EQ(batch.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(batch[i].found() ? std::string(batch[i].value) : "<absent>",
                at(std::string(keys[i]), ts))
          << "key " << keys[i] << " at " << ts << " by multi_get";
    }
  }
  void expect_now(TreeState& tree, Lsn visible) const {
    for (const auto& [key, versions] : versions_) {
      ASSERT_EQ(get_now(tree, key), at(key, visible)) << "key " << key << " now";
    }
  }

 private:
  std::map<std::string, std::map<Lsn, std::optional<std::string>>> versions_;
};

}  // namespace hawthorn::tree::fixture
