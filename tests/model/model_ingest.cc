// Bulk ingests against the model, a part of the random operations.

#include "tests/model/model_run.h"

namespace hawthorn::tests {

// A range of keys, most of them or some, in order or not; now and then abandoned. A range that was
// cleared before holds many gaps.
void ModelRun::ingest() {
  OpenTree& tree = any_tree();
  const Rank from = any_key();
  const uint64_t count = std::min<uint64_t>(pool_.size() - from, prng_.between(10, 8000));
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
  if (writes.empty()) return;
  ++commit_;
  const uint64_t keep = oldest();
  for (const Write& write : writes) tree.model->write(write.rank, commit_, write.value, keep);
}

}  // namespace hawthorn::tests
