#include "tree/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/scaled.h"
#include "tree/delta_test_keys.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree {
namespace {

using namespace fixture;

// What shapes a history's merges took, so that a test can say that it met them all.
struct Shapes {
  uint32_t index_only = 0;
  uint32_t rewrites = 0;
  uint32_t splits = 0;
  uint32_t appends = 0;
  uint32_t divisions = 0;
  uint32_t joins = 0;
  uint32_t ranges = 0;
  uint32_t erased = 0;
};

enum class Values { kInline, kFixed, kSeparated, kMixed };

// A tree with random transactions, snapshots and flushes, and the model of it.
class History {
 public:
  History(uint64_t seed, Values values, bool append_keys)
      : prng_(seed),
        values_(values),
        append_keys_(append_keys),
        store_({.seed = seed}),
        tree_(store_.make_tree()),
        flusher_(store_) {
    policy_.target_bytes = prng_.one_in(2) ? 48 << 10 : 256 << 10;
    policy_.extents_max = static_cast<uint32_t>(prng_.between(2, 6));
  }
  ~History() { tree_.reset(); }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      switch (prng_.below(14)) {
        case 0:
          take_snapshot();
          break;
        case 1:
          drop_snapshot();
          break;
        case 2:
        case 3:
          ASSERT_NO_FATAL_FAILURE(flush_one());
          break;
        case 4:
          if (prng_.one_in(3)) {
            ASSERT_NO_FATAL_FAILURE(divide_one());
          }
          break;
        case 5:
          ASSERT_NO_FATAL_FAILURE(join_some());
          break;
        case 6:
          if (prng_.one_in(3)) delete_range();
          if (prng_.one_in(2)) erase_ranges();
          break;
        default:
          ASSERT_NO_FATAL_FAILURE(transaction());
          break;
      }
      if (!prng_.one_in(30)) continue;
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
    ASSERT_NO_FATAL_FAILURE(expect_all());
    flusher_.flush_all(*tree_, policy_);
    ASSERT_NO_FATAL_FAILURE(expect_all());
    ASSERT_NO_FATAL_FAILURE(expect_gone());
  }
  const Shapes& shapes() const { return shapes_; }

 private:
  std::string random_key() {
    if (append_keys_ && prng_.one_in(2)) return delta_keys::big_endian(++last_key_ * 7);
    if (append_keys_) return delta_keys::big_endian(prng_.between(1, last_key_ + 1) * 7);
    if (prng_.one_in(20)) return delta_keys::make_key(prng_, delta_keys::KeyShape::kEdges, 0);
    return "key" + delta_keys::big_endian(prng_.below(3000)).substr(5) +
           (prng_.one_in(4) ? "longer tail" : "");
  }
  std::string random_value() {
    size_t size = 0;
    switch (values_) {
      case Values::kInline:
        size = prng_.below(60);
        break;
      case Values::kFixed:
        size = 200;
        break;
      case Values::kSeparated:
        size = prng_.between(130, 700);
        break;
      case Values::kMixed:
        size = prng_.one_in(2) ? 8 : prng_.between(0, 2000);
        break;
    }
    return delta_keys::random_bytes(prng_, size);
  }

  void transaction() {
    TestTxn txn(store_);
    std::map<std::string, std::optional<std::string>> writes;
    std::vector<std::string> large;
    for (uint64_t n = prng_.between(1, prng_.one_in(5) ? 400 : 20); n > 0; --n) {
      const std::string key = random_key();
      if (prng_.one_in(4)) {
        must(txn.remove(*tree_, key));
        writes[key] = std::nullopt;
      } else if (values_ == Values::kMixed && prng_.one_in(40)) {
        const std::string value = delta_keys::random_bytes(prng_, prng_.between(66000, 150000));
        large.push_back(store_.make_large(value));
        must(txn.write(*tree_, key, VersionKind::kLarge, large.back()));
        writes[key] = value;
      } else {
        const std::string value = random_value();
        must(txn.put(*tree_, key, value));
        writes[key] = value;
      }
    }
    if (prng_.one_in(8)) {
      txn.undo_all();
      for (const std::string& encoded : large) store_.drop_large(encoded);
      return;
    }
    std::vector<VersionModel::Written> written;
    for (const auto& [key, value] : writes) written.push_back({key, value});
    model_.commit(txn.commit(), written);
  }
  // And writes a key, perhaps in the range, in the same transaction.
  void delete_range() {
    auto layer = std::make_shared<Layer>();
    KeyRange& range = layer->range;
    range.low = random_key();
    range.high = random_key();
    if (*range.high < range.low) range.low.swap(*range.high);
    if (prng_.one_in(10)) range.high.reset();
    TestTxn txn(store_);
    std::map<std::string, std::optional<std::string>> writes;
    for (const auto& [key, versions] : model_.versions()) {
      if (range.covers(key)) writes[key] = std::nullopt;
    }
    const std::string key = random_key();
    const std::string value = random_value();
    must(txn.put(*tree_, key, value));
    writes[key] = value;
    ASSERT_TRUE(tree_->layers().add(layer));
    const Lsn cts = txn.sequence();
    tree_->layers().commit(*layer, cts);
    txn.publish();
    txn.stamp();
    txn.release();
    std::vector<VersionModel::Written> written;
    for (const auto& [at, state] : writes) written.push_back({at, state});
    model_.commit(cts, written);
    ++shapes_.ranges;
  }
  // As the background does: containers that were merged since the range need nothing.
  void erase_ranges() {
    for (const std::shared_ptr<Layer>& layer : tree_->layers().list()) {
      const Lsn cts = layer->cts.load();
      std::string at = layer->range.low;
      for (bool last = false; !last;) {
        const Container* container = container_of(*tree_, at);
        if (container->descriptor.load()->run->record.cut < cts) {
          must(flusher_.flush(*tree_, at, policy_).status);
          continue;
        }
        last = !container->has_high || (layer->range.high && container->high >= *layer->range.high);
        at = container->high;
      }
      if (layer->merged.load() == format::kLsnMax) {
        tree_->layers().merged(*layer, store_.visible.load() + 1);
      }
      if (!store_.snapshots.read_between(cts, layer->merged.load(), store_.visible.load())) {
        tree_->layers().remove(layer.get());
        ++shapes_.erased;
      }
    }
  }
  void take_snapshot() {
    if (snapshots_.size() < 5) snapshots_.push_back(store_.snapshots.add(store_.visible));
  }
  void drop_snapshot() {
    if (snapshots_.empty()) return;
    const size_t at = prng_.below(snapshots_.size());
    store_.snapshots.remove(snapshots_[at].slot);
    snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(at));
  }
  void flush_one() {
    MergePolicy policy = policy_;
    policy.recluster = prng_.one_in(6);
    policy.keep_extents = prng_.one_in(6);
    if (prng_.one_in(10)) policy.ready_share = 1.0 / static_cast<double>(prng_.between(1, 4));
    const Flushed flushed = flusher_.flush(*tree_, random_key(), policy);
    must(flushed.status);
    if (flushed.unchanged_run && flushed.pieces > 1) {
      ++shapes_.appends;
    } else if (flushed.pieces > 1) {
      ++shapes_.splits;
    } else if (flushed.reclustered) {
      ++shapes_.rewrites;
    } else {
      ++shapes_.index_only;
    }
    if (!prng_.one_in(4)) return;
    ASSERT_NO_FATAL_FAILURE(expect_space());
  }

  // Both with transactions beside them, before they are installed.
  void divide_one() {
    const auto beside = [&] { write_beside(); };
    if (flusher_.divide(*tree_, random_key(), prng_.between(1, 5), beside)) ++shapes_.divisions;
  }
  void join_some() {
    const auto beside = [&] { write_beside(); };
    if (flusher_.join(*tree_, random_key(), prng_.between(2, 5), beside) > 1) ++shapes_.joins;
  }
  void write_beside() {
    for (uint64_t n = prng_.below(4); n > 0; --n) transaction();
  }

  // Space of extents that only large versions in deltas refer to.
  uint64_t blocks_of_deltas() {
    uint64_t blocks = store_.space->used_blocks() - recorded_blocks(*tree_);
    if (values_ != Values::kMixed) return 0;
    return blocks;
  }
  void expect_space() {
    os::epoch::drain();
    ASSERT_NO_FATAL_FAILURE(expect_accounts(store_, {tree_.get()}, blocks_of_deltas()));
  }
  void expect_all() {
    for (const auto& snapshot : snapshots_) {
      ASSERT_NO_FATAL_FAILURE(model_.expect_at(*tree_, snapshot.ts));
    }
    const auto now = store_.snapshots.add(store_.visible);
    model_.expect_at(*tree_, now.ts);
    store_.snapshots.remove(now.slot);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    ASSERT_NO_FATAL_FAILURE(model_.expect_now(*tree_, store_.visible));
    ASSERT_NO_FATAL_FAILURE(expect_space());
  }

  // Without snapshots, when all is deleted and flushed, nothing is left (attack 25).
  void expect_gone() {
    while (!snapshots_.empty()) drop_snapshot();
    erase_ranges();
    ASSERT_EQ(tree_->layers().ranges(), 0u);
    TestTxn txn(store_);
    std::vector<VersionModel::Written> written;
    for (const auto& [key, versions] : model_.versions()) {
      must(txn.remove(*tree_, key));
      written.push_back({key, std::nullopt});
    }
    model_.commit(txn.commit(), written);
    flusher_.flush_all(*tree_, policy_);
    ASSERT_NO_FATAL_FAILURE(expect_all());
    os::epoch::drain();
    ASSERT_EQ(store_.space->used_blocks(), 0u);
  }

  Prng prng_;
  const Values values_;
  const bool append_keys_;
  TestStore store_;
  std::unique_ptr<TreeState> tree_;
  Flusher flusher_;
  MergePolicy policy_;
  VersionModel model_;
  std::vector<Snapshots::Registration> snapshots_;
  uint64_t last_key_ = 0;
  Shapes shapes_;
};

// Rules R10, R14 and attack 25, by a model of all versions: histories of transactions, roll-backs,
// snapshots and flushes in all shapes, compared at every registered timestamp.
class RandomHistories : public ::testing::TestWithParam<std::tuple<Values, bool>> {};

TEST_P(RandomHistories, ReadTheSameAtEveryRegisteredTimestamp) {
  const auto [values, append_keys] = GetParam();
  Shapes shapes;
  // As many as it takes to come by all of the shapes, at least.
  const uint64_t seeds = std::max<uint64_t>(append_keys ? 6 : 4, testing::scaled(12));
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    History history(seed * 10 + static_cast<uint64_t>(values), values, append_keys);
    ASSERT_NO_FATAL_FAILURE(history.run(250));
    shapes.index_only += history.shapes().index_only;
    shapes.rewrites += history.shapes().rewrites;
    shapes.splits += history.shapes().splits;
    shapes.appends += history.shapes().appends;
    shapes.divisions += history.shapes().divisions;
    shapes.joins += history.shapes().joins;
    shapes.ranges += history.shapes().ranges;
    shapes.erased += history.shapes().erased;
  }
  EXPECT_GT(shapes.index_only, 0u);
  EXPECT_GT(shapes.rewrites, 0u);
  EXPECT_GT(shapes.splits + shapes.appends, 0u);
  EXPECT_GT(shapes.divisions, 0u);
  EXPECT_GT(shapes.joins, 0u);
  EXPECT_GT(shapes.ranges, 0u);
  EXPECT_EQ(shapes.erased, shapes.ranges);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RandomHistories,
                         ::testing::Combine(::testing::Values(Values::kInline, Values::kFixed,
                                                              Values::kSeparated, Values::kMixed),
                                            ::testing::Bool()));

// 256-byte values under random keys, and the model of them.
class Values256 {
 public:
  explicit Values256(TestStore& store) : store_(store), tree_(store.make_tree()), prng_(1) {}

  void write(uint64_t count) {
    TestTxn txn(store_);
    std::map<std::string, std::string> values;
    while (values.size() < count) {
      values[delta_keys::big_endian(prng_.next())] = delta_keys::random_bytes(prng_, kBytes);
    }
    std::vector<VersionModel::Written> written;
    for (const auto& [key, value] : values) {
      must(txn.put(*tree_, key, value));
      written.push_back({key, value});
    }
    model_.commit(txn.commit(), written);
  }
  TreeState& tree() { return *tree_; }
  // Of the first container.
  size_t extents() {
    const os::epoch::Guard guard;
    return tree_->directory().find("")->descriptor.load()->run->values.size();
  }
  void expect_whole() { ASSERT_NO_FATAL_FAILURE(model_.expect_now(*tree_, store_.visible)); }

  static constexpr size_t kBytes = 256;

 private:
  TestStore& store_;
  std::unique_ptr<TreeState> tree_;
  Prng prng_;
  VersionModel model_;
};

// A container that takes little with each flush gathers what came with several of them, and leaves
// what it had before where it is: until it splits, each value is written about three times.
TEST(SimilarExtents, AreGatheredBeforeAllIsRewritten) {
  constexpr uint32_t kExtentsMax = 8;
  constexpr uint64_t kPerFlush = 20;
  constexpr uint64_t kFlushes = 60;
  TestStore store({.seed = 1});
  Values256 values(store);
  Flusher flusher(store);
  const MergePolicy policy{.extents_max = kExtentsMax};
  values.write(2400);
  must(flusher.flush(values.tree(), "", policy).status);
  size_t bytes = 0;
  size_t most = 0;
  for (uint64_t i = 0; i < kFlushes; ++i) {
    values.write(kPerFlush);
    const Flushed flushed = flusher.flush(values.tree(), "", policy);
    must(flushed.status);
    ASSERT_EQ(flushed.pieces, 1u) << i;
    bytes += flushed.value_bytes_written;
    most = std::max(most, values.extents());
  }
  EXPECT_LE(most, kExtentsMax);
  EXPECT_GE(most, kExtentsMax - 1);
  EXPECT_LT(bytes, kFlushes * kPerFlush * Values256::kBytes * 4);
  ASSERT_NO_FATAL_FAILURE(values.expect_whole());
  os::epoch::drain();
  ASSERT_NO_FATAL_FAILURE(expect_accounts(store, {&values.tree()}, 0));
}

// A flush that shall write as little as it can leaves all value extents where they are, and moves
// the smallest one when the index can name no more.
TEST(KeptExtents, AreAsManyAsTheIndexCanName) {
  constexpr uint64_t kFlushes = 3 * RunFile::kExtentsMax;
  constexpr uint64_t kPerFlush = 20;
  TestStore store({.seed = 1});
  Values256 values(store);
  Flusher flusher(store);
  values.write(2000);
  must(flusher.flush(values.tree(), "").status);
  size_t bytes = 0;
  for (uint64_t i = 0; i < kFlushes; ++i) {
    SCOPED_TRACE(i);
    values.write(kPerFlush);
    const Flushed flushed = flusher.flush(values.tree(), "", {.keep_extents = true});
    must(flushed.status);
    EXPECT_FALSE(flushed.reclustered);
    bytes += flushed.value_bytes_written;
    EXPECT_EQ(values.extents(), std::min<uint64_t>(i + 2, RunFile::kExtentsMax));
    ASSERT_NO_FATAL_FAILURE(values.expect_whole());
  }
  // Each value about twice.
  EXPECT_LT(bytes, kFlushes * kPerFlush * Values256::kBytes * 3);
}

// On a full disk whose space lies in pieces: what a merge makes fits the pieces.
TEST(ReadyShare, MakesRunsThatFitTheRangesOfTheDisk) {
  constexpr uint32_t kRangeBlocks = 16;
  TestStore store({.seed = 1});
  Values256 values(store);
  Flusher flusher(store);
  values.write(500);
  must(flusher.flush(values.tree(), "").status);
  values.write(500);
  must(store.space->keep_ready(600, 600));
  store.disk.set_capacity(store.disk.used_bytes());
  std::vector<space::ExtentAddress> taken;
  for (auto range = store.space->allocate(kRangeBlocks); range.ok();
       range = store.space->allocate(kRangeBlocks)) {
    taken.push_back(*range);
  }
  while (store.space->allocate(1).ok()) continue;
  ASSERT_GE(taken.size(), 20u);
  for (size_t i = 0; i < taken.size(); i += 2) store.space->release(taken[i]);

  EXPECT_TRUE(flusher.flush(values.tree(), "").status.is(StatusCode::kNoSpace));
  const Flushed flushed = flusher.flush(values.tree(), "", {.ready_share = 1});
  must(flushed.status);
  const size_t least = 1000 * Values256::kBytes / (kRangeBlocks * os::kBlockBytes);
  EXPECT_GT(flushed.pieces, least);
  EXPECT_LE(flushed.pieces, 2 * least);
  ASSERT_NO_FATAL_FAILURE(values.expect_whole());
}

// What nobody can read any more need not be read to be thrown away.
TEST(DeletedRanges, ContainersThatTheyCoverAreEmptiedUnread) {
  TestStore store({.seed = 1});
  const std::unique_ptr<TreeState> tree = store.make_tree();
  Flusher flusher(store);
  VersionModel model;
  const auto fill = [&] {
    std::vector<VersionModel::Written> written;
    TestTxn txn(store);
    for (uint64_t i = 0; i < 600; ++i) {
      written.push_back({delta_keys::big_endian(i), std::string(300, 'v')});
      must(txn.put(*tree, written.back().key, *written.back().value));
    }
    model.commit(txn.commit(), written);
    must(flusher.flush(*tree, "").status);
    store.evict_all();
  };
  const auto delete_all = [&](std::string_view low) {
    auto layer = std::make_shared<Layer>();
    layer->range.low = low;
    ASSERT_TRUE(tree->layers().add(layer));
    TestTxn txn(store);
    const Lsn cts = txn.sequence();
    tree->layers().commit(*layer, cts);
    txn.publish();
    txn.release();
    std::vector<VersionModel::Written> written;
    for (const auto& [key, versions] : model.versions()) {
      if (key >= low) written.push_back({key, std::nullopt});
    }
    model.commit(cts, written);
  };
  const auto bytes_read = [&] { return store.disk.counters().bytes_read; };

  fill();
  delete_all("");
  uint64_t before = bytes_read();
  must(flusher.flush(*tree, "").status);
  EXPECT_EQ(bytes_read(), before);
  ASSERT_NO_FATAL_FAILURE(model.expect_now(*tree, store.visible));
  os::epoch::drain();
  EXPECT_EQ(store.space->used_blocks(), 0u);

  // With a part that stays, or somebody who reads below, it is merged.
  fill();
  delete_all(delta_keys::big_endian(10));
  before = bytes_read();
  must(flusher.flush(*tree, "").status);
  EXPECT_GT(bytes_read(), before);
  ASSERT_NO_FATAL_FAILURE(model.expect_now(*tree, store.visible));
  fill();
  const auto snapshot = store.snapshots.add(store.visible);
  delete_all("");
  before = bytes_read();
  must(flusher.flush(*tree, "").status);
  EXPECT_GT(bytes_read(), before);
  ASSERT_NO_FATAL_FAILURE(model.expect_at(*tree, snapshot.ts));
  ASSERT_NO_FATAL_FAILURE(model.expect_now(*tree, store.visible));
  store.snapshots.remove(snapshot.slot);
}

// Values of one size under keys that the index holds as a whole go to value extents from 48 bytes
// on, so that a flush does not write them again; under longer keys, or of many sizes, they stand in
// the run, where one read finds both.
TEST(SmallValues, GoToExtentsWhereTheIndexAloneFindsThem) {
  struct Case {
    size_t key_bytes;
    size_t value_bytes;
    bool one_size;
    bool extents;
  };
  for (const Case& c : {Case{8, 48, true, true}, Case{8, 120, true, true}, Case{5, 100, true, true},
                        Case{8, 47, true, false}, Case{8, 100, false, false},
                        Case{16, 100, true, false}, Case{16, 256, true, true}}) {
    SCOPED_TRACE(::testing::Message()
                 << c.key_bytes << " + " << c.value_bytes << (c.one_size ? "" : " or less"));
    TestStore store({.seed = 1});
    const std::unique_ptr<TreeState> tree = store.make_tree();
    Flusher flusher(store);
    VersionModel model;
    Prng prng(1);
    for (int round = 0; round < 3; ++round) {
      TestTxn txn(store);
      std::map<std::string, std::string> values;
      for (int i = 0; i < 300; ++i) {
        const size_t bytes = c.one_size ? c.value_bytes : c.value_bytes - prng.below(50);
        values[delta_keys::random_bytes(prng, c.key_bytes)] = delta_keys::random_bytes(prng, bytes);
      }
      std::vector<VersionModel::Written> written;
      for (const auto& [key, value] : values) {
        must(txn.put(*tree, key, value));
        written.push_back({key, value});
      }
      model.commit(txn.commit(), written);
      must(flusher.flush(*tree, "").status);
    }
    ASSERT_NO_FATAL_FAILURE(model.expect_now(*tree, store.visible));
    const os::epoch::Guard guard;
    const RunFile* file = tree->directory().find("")->descriptor.load()->run;
    EXPECT_EQ(file->values.size(), c.extents ? 3u : 0u);
    if (c.extents) {
      EXPECT_EQ(file->value_bytes(), 900 * c.value_bytes);
    }
  }
}

}  // namespace
}  // namespace hawthorn::tree
