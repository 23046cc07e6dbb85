// Transactions, cuts, merges and installations in random order, each taken apart into its steps,
// against a model of all versions. One thread: every interleaving of whole steps, none within one.

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "testing/scaled.h"
#include "tree/delta_test_keys.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree {
namespace {

using namespace fixture;

class Interleavings {
 public:
  explicit Interleavings(uint64_t seed)
      : prng_(seed), store_({.seed = seed}), tree_(store_.make_tree()), merger_(&store_.store) {
    policy_.target_bytes = prng_.one_in(3) ? 1 << 20 : 24 << 10;
    policy_.extents_max = 3;
    keys_ = prng_.one_in(2) ? 12 : 300;
    conflicts_ = prng_.one_in(2);
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      ASSERT_NO_FATAL_FAILURE(act());
      ASSERT_NO_FATAL_FAILURE(expect_key(random_key()));
    }
    finish();
  }
  uint64_t conflicts() const { return conflicts_met_; }
  uint64_t divisions() const { return divisions_; }
  uint64_t joins() const { return joins_; }
  size_t containers() const { return tree_->directory().size(); }

 private:
  enum class State { kWriting, kSequenced, kPublished, kAborted };
  struct Write {
    std::string key;
    std::optional<std::string> value;
  };
  struct Open {
    std::unique_ptr<TestTxn> txn;
    std::vector<Write> writes;
    State state = State::kWriting;
    Lsn cts = 0;
    size_t stamped = 0;
    bool checks = false;
  };

  std::string random_key() {
    return "k" + delta_keys::big_endian(prng_.below(keys_)).substr(6) +
           (prng_.below(keys_) % 5 == 0 ? "x" : "");
  }
  Open* pick(State state) {
    std::vector<Open*> found;
    for (Open& open : open_) {
      if (open.state == state) found.push_back(&open);
    }
    return found.empty() ? nullptr : found[prng_.below(found.size())];
  }

  void act() {
    switch (prng_.below(16)) {
      case 0:
      case 1:
        return begin();
      case 2:
      case 3:
      case 4:
      case 5:
        return write();
      case 6:
        return roll_back_some();
      case 7:
        return sequence();
      case 8:
        return publish();
      case 9:
      case 10:
        return settle();
      case 11:
        return abort();
      case 12:
        return snapshot();
      case 13:
        if (prng_.one_in(4)) store_.squeeze(prng_.below(300) << 10);
        if (prng_.one_in(8)) store_.relax();
        return store_.snapshots.refresh(store_.visible);
      default:
        return flush_step();
    }
  }

  void begin() {
    if (open_.size() >= 6) return;
    open_.emplace_back();
    open_.back().checks = conflicts_ && prng_.one_in(2);
    open_.back().txn = std::make_unique<TestTxn>(store_, open_.back().checks);
  }
  void write() {
    Open* open = pick(State::kWriting);
    if (open == nullptr) return;
    for (uint64_t n = prng_.between(1, prng_.one_in(5) ? 40 : 3); n > 0; --n) {
      Write write{random_key(), std::nullopt};
      if (!prng_.one_in(4)) {
        write.value = delta_keys::random_bytes(prng_, prng_.one_in(2) ? 8 : prng_.below(600));
      }
      const Status status = write.value ? open->txn->put(*tree_, write.key, *write.value)
                                        : open->txn->remove(*tree_, write.key);
      if (status.is_conflict()) {
        ASSERT_TRUE(open->checks);
        ASSERT_TRUE(committed_since(write.key, open->txn->view().ts, format::kLsnMax, false));
        ++conflicts_met_;
        open->txn->abort();
        open->state = State::kAborted;
        return;
      }
      must(status);
      // Attack 24: what was committed since, flushed or not, would have been a lost update.
      ASSERT_FALSE(open->checks &&
                   committed_since(write.key, open->txn->view().ts, format::kLsnMax, true));
      open->writes.push_back(std::move(write));
    }
  }
  // Whether anybody committed the key in (after, before); `as_put`: and it holds a value since. (A
  // key that came and went may leave nothing behind.)
  bool committed_since(const std::string& key, Lsn after, Lsn before, bool as_put) const {
    const auto found = sequenced_.find(key);
    if (found == sequenced_.end()) return false;
    auto last = found->second.lower_bound(before);
    if (last == found->second.begin()) return false;
    --last;
    return last->first > after && (!as_put || last->second);
  }
  void roll_back_some() {
    Open* open = pick(State::kWriting);
    if (open == nullptr || open->writes.empty()) return;
    const size_t savepoint = prng_.below(open->writes.size());
    open->txn->roll_back(savepoint);
    open->writes.resize(savepoint);
  }
  void sequence() {
    Open* open = pick(State::kWriting);
    if (open == nullptr) return;
    if (open->checks && open->txn->contended() && !open->txn->valid()) {
      ++conflicts_met_;
      open->txn->abort();
      open->state = State::kAborted;
      return;
    }
    open->cts = open->txn->sequence();
    open->state = State::kSequenced;
    for (const Write& write : open->writes) {
      // First committer wins (R18).
      ASSERT_FALSE(open->checks &&
                   committed_since(write.key, open->txn->view().ts, open->cts, true))
          << "a lost update of " << write.key;
    }
    for (const Write& write : open->writes) {
      sequenced_[write.key][open->cts] = write.value.has_value();
    }
  }
  // In the order of their timestamps.
  void publish() {
    Open* first = nullptr;
    for (Open& open : open_) {
      if (open.state != State::kSequenced) continue;
      if (first == nullptr || open.cts < first->cts) first = &open;
    }
    if (first == nullptr) return;
    std::vector<VersionModel::Written> written;
    for (const Write& write : first->writes) written.push_back({write.key, write.value});
    model_.commit(first->cts, written);
    first->txn->publish();
    first->state = State::kPublished;
  }
  // One step of stamping, or of rolling back.
  void settle() {
    for (auto open = open_.begin(); open != open_.end(); ++open) {
      UndoList& undo = open->txn->undo();
      if (open->state == State::kPublished) {
        for (uint64_t n = prng_.between(1, 20); n > 0 && open->stamped < undo.size(); --n) {
          static_cast<void>(TreeState::stamp(undo[open->stamped++], open->txn->id(), open->cts));
        }
        if (open->stamped < undo.size()) continue;
      } else if (open->state == State::kAborted) {
        open->txn->roll_back(undo.size() - std::min<size_t>(undo.size(), prng_.between(1, 20)));
        if (!undo.empty()) continue;
      } else {
        continue;
      }
      open->txn->release();
      open_.erase(open);
      return;
    }
  }
  void abort() {
    Open* open = pick(State::kWriting);
    if (open == nullptr || !prng_.one_in(3)) return;
    open->txn->abort();
    open->state = State::kAborted;
  }
  void snapshot() {
    if (snapshots_.size() < 4 && prng_.one_in(2)) {
      snapshots_.push_back(store_.snapshots.add(store_.visible));
    } else if (!snapshots_.empty()) {
      const size_t at = prng_.below(snapshots_.size());
      store_.snapshots.remove(snapshots_[at].slot);
      snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(at));
    }
  }
  // As far as three steps: the cut, the merge, the installation.
  void join_step() {
    if (cuts_.empty()) {
      const os::epoch::Guard guard;
      std::vector<Container*> group{tree_->directory().find(random_key())};
      for (uint64_t n = prng_.between(1, 4); n > 0 && group.back()->has_high; --n) {
        group.push_back(tree_->directory().find(group.back()->high));
      }
      if (group.size() > 1) cuts_ = tree_->cut_to_join(group);
      return;
    }
    if (!merged_.has_value()) {
      std::vector<MergeInput> inputs;
      for (const TreeState::Cut& cut : cuts_) {
        inputs.push_back({cut.container, cut.frozen, cut.file});
      }
      Result<MergeOutput> joined = merger_.join(inputs, cuts_.front().cut);
      must(joined.status());
      if (prng_.one_in(4)) {
        for (TreeState::Cut& cut : cuts_) tree_->give_up(cut);
        cuts_.clear();
        return;
      }
      merged_.emplace(std::move(joined).value());
      return;
    }
    must(write_fresh(store_, *merged_));
    tree_->install_joined(cuts_, *merged_, ++batch_);
    for (const ExtentRef& extent : merged_->dropped) extent->dropped.store(true);
    merged_.reset();
    cuts_.clear();
    ++joins_;
  }
  void divide() {
    Flusher flusher(store_);
    if (flusher.divide(*tree_, random_key(), prng_.between(1, 4), [] {})) ++divisions_;
  }
  void flush_step() {
    if (!cuts_.empty() || (!cut_.has_value() && prng_.one_in(3))) {
      join_step();
      return;
    }
    if (!cut_.has_value() && prng_.one_in(4)) {
      divide();
      return;
    }
    if (!cut_.has_value()) {
      const os::epoch::Guard guard;
      cut_ = tree_->cut(tree_->directory().find(random_key()), prng_.one_in(2));
      return;
    }
    if (!merged_.has_value()) {
      MergePolicy policy = policy_;
      policy.recluster = prng_.one_in(8);
      Result<MergeOutput> merged =
          merger_.merge({cut_->container, cut_->frozen, cut_->file}, cut_->cut, policy);
      must(merged.status());
      if (prng_.one_in(6)) {
        // As after a failure: nothing is left of the output, and the frozen delta waits.
        tree_->give_up(*cut_);
        cut_.reset();
        return;
      }
      merged_.emplace(std::move(merged).value());
      return;
    }
    must(write_fresh(store_, *merged_));
    tree_->install(*cut_, *merged_, ++batch_);
    for (const ExtentRef& extent : merged_->dropped) extent->dropped.store(true);
    merged_.reset();
    cut_.reset();
  }

  void expect_key(const std::string& key) {
    const Lsn visible = store_.visible;
    ASSERT_EQ(get_now(*tree_, key), model_.at(key, visible)) << key;
    const auto now = store_.snapshots.add(store_.visible);
    ASSERT_EQ(get(*tree_, key, {now.ts, 0}), model_.at(key, now.ts)) << key;
    store_.snapshots.remove(now.slot);
    for (const auto& snapshot : snapshots_) {
      ASSERT_EQ(get(*tree_, key, {snapshot.ts, 0}), model_.at(key, snapshot.ts))
          << key << " at " << snapshot.ts;
    }
    for (const Open& open : open_) {
      if (open.state != State::kWriting) continue;
      std::string expected = model_.at(key, open.txn->view().ts);
      for (const Write& write : open.writes) {
        if (write.key == key) expected = write.value.value_or("<absent>");
      }
      ASSERT_EQ(get(*tree_, key, open.txn->view()), expected) << key << " by its own transaction";
    }
  }

  void finish() {
    while (!open_.empty()) {
      while (Open* open = pick(State::kWriting)) {
        open->txn->abort();
        open->state = State::kAborted;
      }
      publish();
      settle();
    }
    while (cut_.has_value() || !cuts_.empty()) ASSERT_NO_FATAL_FAILURE(flush_step());
    {
      const os::epoch::Guard guard;
      for (Container* container : tree_->directory().all()) {
        ASSERT_EQ(container->intents, 0u);
        ASSERT_TRUE(container->open_entries.empty());
      }
    }
    Flusher flusher(store_);
    flusher.flush_all(*tree_, policy_);
    for (const auto& snapshot : snapshots_) {
      ASSERT_NO_FATAL_FAILURE(model_.expect_at(*tree_, snapshot.ts));
    }
    ASSERT_NO_FATAL_FAILURE(model_.expect_now(*tree_, store_.visible));
    ASSERT_NO_FATAL_FAILURE(expect_accounts(store_, {tree_.get()}));
  }

  Prng prng_;
  TestStore store_;
  std::unique_ptr<TreeState> tree_;
  Merger merger_;
  MergePolicy policy_;
  uint64_t keys_ = 0;
  bool conflicts_ = false;
  std::vector<Snapshots::Registration> snapshots_;
  std::list<Open> open_;
  std::optional<TreeState::Cut> cut_;
  std::vector<TreeState::Cut> cuts_;  // of a join
  std::optional<MergeOutput> merged_;
  uint64_t divisions_ = 0;
  uint64_t joins_ = 0;
  uint64_t batch_ = 0;
  VersionModel model_;
  // Of every key: who committed it in the log, and whether it left a value.
  std::map<std::string, std::map<Lsn, bool>> sequenced_;
  uint64_t conflicts_met_ = 0;
};

TEST(TreeModelTest, StepsInRandomOrder) {
  uint64_t conflicts = 0;
  uint64_t divisions = 0;
  uint64_t joins = 0;
  size_t containers = 0;
  const uint64_t seeds = testing::scaled(60);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Interleavings interleavings(seed);
    ASSERT_NO_FATAL_FAILURE(interleavings.run(1500));
    conflicts += interleavings.conflicts();
    divisions += interleavings.divisions();
    joins += interleavings.joins();
    containers = std::max(containers, interleavings.containers());
  }
  EXPECT_GT(conflicts, 2 * seeds);
  EXPECT_GT(divisions, 2 * seeds);
  EXPECT_GT(joins, seeds / 2);
  EXPECT_GT(containers, 3u);
}

}  // namespace
}  // namespace hawthorn::tree
