// Counts, estimates, skips and random places, compared with the model.

#include "tests/model/model_run.h"

namespace hawthorn::tests {

// For the newest state, a snapshot or a transaction.
void ModelRun::count() {
  const OpenTree& tree = any_tree();
  ++done_;
  Rank from = 0;
  Rank to = pool_.size();
  const std::string low = prng_.one_in(3) ? std::string() : any_seek(&from);
  std::optional<std::string> high;
  if (!prng_.one_in(3)) high = any_seek(&to);
  ReadOptions options;
  uint64_t commit = commit_;
  OpenTxn* txn = nullptr;
  if (!txns_.empty() && prng_.one_in(3)) {
    txn = &txns_[prng_.below(txns_.size())];
    commit = seen_by(*txn);
    txn->note_range(tree.id, from, to);
  } else if (!snapshots_.empty() && prng_.one_in(2)) {
    const OpenSnapshot& snapshot = snapshots_[prng_.below(snapshots_.size())];
    options.snapshot = &snapshot.snapshot;
    commit = snapshot.commit;
  }
  const ModelView expected = view(tree, commit, txn);
  uint64_t present = 0;
  for (Rank rank = from; rank < to; ++rank) present += expected.at(rank).present ? 1 : 0;
  const Result<uint64_t> counted = txn != nullptr ? txn->txn.count(tree.handle, low, high)
                                                  : db_->count(tree.handle, low, high, options);
  ASSERT_OK(counted.status());
  ASSERT_EQ(*counted, present) << "in " << tree.name << " from " << shown(low) << " to "
                               << (high ? shown(*high) : "the end")
                               << (txn != nullptr ? ", in a transaction" : "")
                               << (options.snapshot != nullptr ? ", in a snapshot" : "");
  // With few keys no range has so much unflushed that an estimate is none.
  uint64_t newest = 0;
  uint64_t newest_in_part = 0;
  for (Rank rank = 0; rank < pool_.size(); ++rank) {
    const bool there = tree.model->at(rank, commit_).present;
    newest += there ? 1 : 0;
    newest_in_part += there && rank >= from && rank < to ? 1 : 0;
  }
  const Result<RangeEstimate> all = db_->estimate(tree.handle, "", std::nullopt);
  const Result<RangeEstimate> part = db_->estimate(tree.handle, low, high);
  ASSERT_OK(all.status());
  ASSERT_OK(part.status());
  if (pool_.size() < 5000) {
    ASSERT_EQ(all->entries, newest);
    ASSERT_EQ(part->entries, newest_in_part);
  }
  const uint64_t most = 4 * uint64_t{pool_.size()};
  ASSERT_LE(all->entries, most);
  ASSERT_LE(part->entries, most);
  if (high && low >= *high) {
    ASSERT_EQ(part->entries + part->bytes, 0u);
  }
  const uint64_t allocated = db_->stats().disk_bytes_allocated;
  ASSERT_LE(all->bytes, 2 * allocated);
  ASSERT_LE(part->bytes, 2 * allocated);
}

Rank ModelRun::skip(OpenCursor& c, const ModelView& expected, bool* found, bool* forward) {
  const uint64_t most = prng_.one_in(8) ? pool_.size() : prng_.one_in(2) ? 5 : 300;
  const auto size = static_cast<int64_t>(prng_.between(1, most));
  const int64_t n = prng_.one_in(2) ? size : -size;
  const Rank low = std::min(c.lower, c.upper);
  Rank rank = c.at;
  for (int64_t i = 0; i < n && rank != kNoRank; ++i) rank = expected.next(rank + 1, c.upper);
  for (int64_t i = 0; i < -n && rank != kNoRank; ++i) rank = expected.prev(low, rank);
  *forward = n > 0;
  *found = c.cursor.skip(n);
  return rank;
}

// Where it comes to rest, if that is an entry of the range, else another one.
Rank ModelRun::seek_random(OpenCursor& c, const ModelView& expected, bool* found) {
  const Rank low = std::min(c.lower, c.upper);
  *found = c.cursor.seek_random(prng_.next());
  if (!*found) return expected.next(low, c.upper);
  const Rank rank = pool_.lower_bound(c.cursor.key());
  const bool is_there = rank >= low && rank < c.upper && expected.at(rank).present;
  return is_there ? rank : kNoRank;
}

// Some batches; behind them the cursor stands nowhere, and another one goes on there.
void ModelRun::take_batches(OpenCursor& c, const ModelView& expected, OpenTxn* txn) {
  const bool stands = c.at != kNoRank;
  Rank from = stands ? c.at : c.behind;
  c.at = kNoRank;
  if (from == kNoRank) return;
  const Rank low = std::min(c.lower, c.upper);
  Rank rank = stands ? from : expected.next(from, c.upper);
  bool moved = !stands;  // from what it stood on, which its transaction may have changed since
  std::vector<Entry> out(prng_.one_in(4) ? 1 : prng_.between(1, 300));
  for (uint64_t left = prng_.between(1, 4); left > 0; --left) {
    const size_t count = c.cursor.next_batch(out);
    ASSERT_OK(c.cursor.status());
    ASSERT_FALSE(c.cursor.valid());
    for (const Entry& entry : std::span(out).first(count)) {
      ++done_;
      ASSERT_NE(rank, kNoRank) << "a batch shows " << shown(entry.key);
      ASSERT_TRUE(entry.key == pool_[rank])
          << "a batch shows " << shown(entry.key) << ", expected " << shown(pool_[rank]);
      if (c.key_only) {
        ASSERT_TRUE(entry.value.empty());
      } else if (moved || txn == nullptr) {
        ASSERT_NO_FATAL_FAILURE(
            expect_value({}, entry.value, expected.at(rank), "a batch at " + shown(pool_[rank])));
      }
      moved = true;
      if (txn != nullptr) txn->note_walk(c.tree, low, c.upper, from, rank, true);
      from = rank + 1;
      rank = expected.next(from, c.upper);
    }
    c.behind = from;
    if (count > 0) continue;
    ASSERT_EQ(rank, kNoRank) << "batches end before " << shown(pool_[rank]);
    if (txn != nullptr) txn->note_walk(c.tree, low, c.upper, from, kNoRank, true);
    c.behind = kNoRank;
    return;
  }
}

}  // namespace hawthorn::tests
