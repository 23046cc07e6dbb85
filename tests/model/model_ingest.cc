// Bulk ingests against the model, a part of the random operations.

#include "tests/model/model_run.h"

namespace hawthorn::tests {

namespace {

enum class Place {
  kAnywhere,  // what is there, and what readers may still look at, is in the way
  kCleared,   // nobody looks at what was there
  kNewTree,
};

}  // namespace

// A range of keys, most of them or some, in order or not; now and then abandoned. What goes past
// the log needs a range in which nothing is and nobody sees anything: readers close for some of
// them, and what was there goes; others take the place of a tree.
void ModelRun::ingest() {
  const Place place = prng_.one_in(3)   ? Place::kAnywhere
                      : prng_.one_in(4) ? Place::kNewTree
                                        : Place::kCleared;
  if (place == Place::kNewTree) {
    ASSERT_NO_FATAL_FAILURE(trees());
  }
  OpenTree& tree = place == Place::kNewTree ? trees_[renewed_] : any_tree();
  const Rank from = any_key();
  const uint64_t count = std::min<uint64_t>(pool_.size() - from, prng_.between(10, 8000));
  if (place == Place::kCleared) {
    ASSERT_NO_FATAL_FAILURE(clear(tree, from, from + count));
  }
  const uint64_t of = prng_.one_in(3) ? 4 : 1;
  const bool abandoned = prng_.one_in(8);
  IngestOptions options;
  options.sorted = prng_.one_in(2);
  options.sort_memory_bytes = 1;
  options.durability = any_level();
  std::vector<Write> writes;
  for (Rank rank = from; rank < from + count; ++rank) {
    if (!prng_.one_in(of)) continue;
    writes.push_back({&tree, rank, any_value()});
    writes.back().value.present = true;
  }
  done_ += count / 8;
  Result<Ingest> ingest = db_->ingest(tree.handle, options);
  ASSERT_OK(ingest.status());
  for (size_t i = 0; i < writes.size(); ++i) {
    const Write& write = writes[options.sorted ? i : writes.size() - 1 - i];
    ASSERT_OK(ingest->add(pool_[write.rank], value_of(write.value.number, write.value.size)));
  }
  if (abandoned) return;
  ASSERT_OK(ingest->finish());
  const IngestStats stats = ingest->stats();
  ASSERT_EQ(stats.entries, writes.size());
  ASSERT_EQ(stats.entries_attached + stats.entries_logged, writes.size());
  ++ingests_.finished;
  ingests_.attaching += stats.containers > 0 ? 1 : 0;
  ingests_.containers += stats.containers;
  if (writes.empty()) return;
  ++commit_;
  const uint64_t keep = oldest();
  for (const Write& write : writes) tree.model->write(write.rank, commit_, write.value, keep);
  if (writes.size() >= kMayHaveSpilled) note_spilled({tree.id});
}

// Deletes what is in a range, with nobody left who could see it.
void ModelRun::clear(OpenTree& tree, Rank from, Rank to) {
  close_readers();
  std::vector<Write> writes;
  for (Rank rank = from; rank < to; ++rank) {
    if (tree.model->at(rank, commit_).present) writes.push_back({&tree, rank, {}});
  }
  if (!writes.empty()) {
    ASSERT_NO_FATAL_FAILURE(write_all(writes));
  }
  // What is not flushed the ingest flushes itself.
  if (prng_.one_in(3)) ASSERT_OK(db_->flush());
}

}  // namespace hawthorn::tests
