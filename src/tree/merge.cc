#include "tree/merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/out_of_memory.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/test_point.h"
#include "tree/merge_work.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kKeptShare = 64;              // of the budget, by each merger
constexpr size_t kGarbageBytesMin = 64 << 10;  // less is not worth a rewrite
constexpr double kSplitAt = 1.6;               // of the target size
constexpr double kSplitInto = 0.8;
// Extents are similar up to so many times what is smaller together; at least so many of them.
constexpr double kSimilar[] = {0.5, 1.0, 2.0};
constexpr size_t kSimilarMin = 3;
constexpr double kNearlyAll = 0.7;

enum class Shape : uint8_t { kIndexOnly, kRewrite, kAppend };

struct Plan {
  Shape shape = Shape::kIndexOnly;
  size_t pieces = 1;
  // The value extents that an index-only merge does not keep. A bit for each.
  uint32_t left_behind = 0;
};

size_t live_in(const format::ValueExtentRecord& value) { return value.bytes - value.garbage_bytes; }

// Of value extents that have become too many, those of about one size: with what is flushed they
// become a new one. So a byte is rewritten once on its way from small extents to large ones, not
// with every few flushes. 0: nearly all, so that all may go in key order.
uint32_t similar_extents(const RunFile& old_file, uint32_t gone, size_t added) {
  std::array<std::pair<size_t, uint32_t>, RunFile::kExtentsMax> sizes;
  size_t count = 0;
  size_t total = 0;
  for (uint32_t e = 0; e < old_file.record.values.size(); ++e) {
    if ((gone >> e & 1) != 0) continue;
    sizes[count++] = {live_in(old_file.record.values[e]), e};
    total += sizes[count - 1].first;
  }
  std::sort(sizes.begin(), sizes.begin() + count);
  for (const double ratio : kSimilar) {
    size_t taken = 0;
    size_t sum = added;
    uint32_t bits = 0;
    while (taken < count &&
           static_cast<double>(sizes[taken].first) <= ratio * static_cast<double>(sum)) {
      sum += sizes[taken].first;
      bits |= uint32_t{1} << sizes[taken++].second;
    }
    if (taken < std::max<size_t>(kSimilarMin, count / 3)) continue;
    const bool nearly_all =
        static_cast<double>(sum - added) > kNearlyAll * static_cast<double>(total);
    return nearly_all ? 0 : bits;
  }
  return 0;
}

// Of more value extents than an index can name the smallest ones, whose values go into the new one.
uint32_t smallest_extents(const RunFile& old_file, uint32_t gone, size_t added) {
  const size_t stay = old_file.values.size() - static_cast<size_t>(std::popcount(gone));
  uint32_t bits = 0;
  for (size_t over = stay + added; over > RunFile::kExtentsMax; --over) {
    uint32_t least = 0;
    size_t least_bytes = ~size_t{0};
    for (uint32_t e = 0; e < old_file.record.values.size(); ++e) {
      const size_t bytes = live_in(old_file.record.values[e]);
      if (((gone | bits) >> e & 1) != 0 || bytes >= least_bytes) continue;
      least = e;
      least_bytes = bytes;
    }
    bits |= uint32_t{1} << least;
  }
  return bits;
}

// Everything of the plan but whether the delta lies behind the run, which needs the run.
// `new_extents`: 0 when the delta surely needs none.
Plan make_plan(size_t added, size_t new_extents, const RunFile& old_file,
               const MergePolicy& policy) {
  Plan plan;
  for (size_t e = 0; e < old_file.record.values.size(); ++e) {
    const bool moves = policy.move_file == old_file.record.values[e].address.file;
    if (old_file.all_garbage(e) || moves) plan.left_behind |= uint32_t{1} << e;
  }
  if (policy.keep_extents) {
    plan.left_behind |= smallest_extents(old_file, plan.left_behind, new_extents);
    return plan;
  }
  if (policy.ready_share != 0) {
    plan.shape = Shape::kRewrite;
    return plan;
  }
  const size_t total = live_bytes(old_file) + added;
  if (static_cast<double>(total) > kSplitAt * static_cast<double>(policy.target_bytes)) {
    plan.shape = Shape::kRewrite;
    plan.pieces = std::max<size_t>(
        2, static_cast<size_t>(static_cast<double>(total) /
                               (kSplitInto * static_cast<double>(policy.target_bytes))));
    return plan;
  }
  const size_t garbage = old_file.garbage_bytes();
  const bool much_garbage = garbage > std::min(kGarbageBytesMin, policy.target_bytes / 16) &&
                            static_cast<double>(garbage) >
                                policy.garbage_max * static_cast<double>(old_file.value_bytes());
  if (policy.recluster || much_garbage) {
    plan.shape = Shape::kRewrite;
    return plan;
  }
  const size_t extents_max = std::min<size_t>(policy.extents_max, RunFile::kExtentsMax - 1);
  const auto leaves = static_cast<size_t>(std::popcount(plan.left_behind));
  if (old_file.values.size() - leaves + 1 > extents_max) {
    const uint32_t similar = similar_extents(old_file, plan.left_behind, added);
    if (similar == 0) plan.shape = Shape::kRewrite;
    plan.left_behind |= similar;
  }
  return plan;
}
}  // namespace

size_t live_bytes(const RunFile& file) {
  return file.value_bytes() - file.garbage_bytes() +
         size_t{file.record.run.blocks} * os::kBlockBytes + file.large.size() * kLargeExtentBytes;
}

MergePolicy jittered(const MergePolicy& policy, uint64_t container_id) {
  const double unit = static_cast<double>((container_id * 0x9E3779B97F4A7C15u) >> 40) /
                      static_cast<double>(1 << 24);
  const double factor = 0.75 + 0.5 * unit;
  MergePolicy result = policy;
  result.extents_max =
      std::max<uint32_t>(2, static_cast<uint32_t>(policy.extents_max * factor + 0.5));
  result.garbage_max *= factor;
  result.target_bytes = static_cast<size_t>(static_cast<double>(policy.target_bytes) * factor);
  return result;
}

MergeOutput::~MergeOutput() {
  for (MergePiece& piece : pieces) {
    if (piece.file != nullptr) piece.file->unref();
  }
}

Merger::Merger(Store* store) : work_(std::make_unique<Work>(store)) {}
Merger::~Merger() {
  work_->store->arena->charge(os::Quota::kMerge, -static_cast<ptrdiff_t>(work_->charged_bytes));
}

bool Merger::needs_io(const Delta* delta, const RunFile& old_file, const MergePolicy& policy) {
  if (old_file.empty()) return false;
  {
    os::epoch::Guard guard;
    const Run* run = old_file.run.load(std::memory_order_acquire);
    if (run == nullptr || run->heap() == nullptr) return true;
  }
  const size_t added = delta == nullptr ? 0 : delta->bytes_each();
  const Plan plan = make_plan(added, 1, old_file, policy);
  // Operands may need any value.
  const bool folds = delta != nullptr && delta->has_operands();
  for (size_t e = 0; e < old_file.values.size(); ++e) {
    if (!folds && plan.shape == Shape::kIndexOnly && (plan.left_behind >> e & 1) == 0) continue;
    const bool present = old_file.bases[e].load(std::memory_order_acquire) != nullptr;
    if (!present && !old_file.all_garbage(e)) return true;
  }
  return false;
}

// Between two merges no more is kept than a small part of the budget.
class Merger::WorkMemory {
 public:
  explicit WorkMemory(Work& work) : work_(work) {}
  ~WorkMemory() {
    if (work_.buffer_bytes() > work_.store->arena->budget() / kKeptShare) {
      work_.release_buffers();
    }
    work_.drop_folded();
    work_.charge_codec();
  }
  WorkMemory(const WorkMemory&) = delete;
  WorkMemory& operator=(const WorkMemory&) = delete;

 private:
  Work& work_;
};

// While they are read, nothing of the inputs' runs can be evicted.
class Merger::PinnedInputs {
 public:
  explicit PinnedInputs(std::span<const MergeInput> inputs) {
    for (const MergeInput& input : inputs) files_.emplace_back(input.file);
    HAWTHORN_TEST_POINT("merge.after_pin");
  }

 private:
  std::vector<PinnedRunFile> files_;
};

Result<MergeOutput> Merger::merge(const MergeInput& input, Lsn cut, const MergePolicy& policy) try {
  Work& work = *work_;
  const PinnedInputs pinned({&input, 1});
  if (Status s = work.begin({&input, 1}, cut); !s.ok()) return s;
  const RunFile& old_file = *input.file;
  const WorkMemory memory(work);
  work.gather(input.delta);
  work.saves_space = policy.keep_extents;
  if (input.delta != nullptr && input.delta->has_operands()) {
    if (Status s = work.fold_records(0); !s.ok()) return s;
  }
  const size_t added = work.gathered_bytes();
  work.choose_shape();
  Plan plan = make_plan(added, work.adds_extent() ? 1 : 0, old_file, policy);

  work.moved_large = policy.moved_large;
  if (work.erases(input)) {
    const double target = static_cast<double>(policy.target_bytes);
    plan = {.shape = Shape::kRewrite, .pieces = 1, .left_behind = 0};
    if (static_cast<double>(added) > kSplitAt * target) {
      plan.pieces = static_cast<size_t>(static_cast<double>(added) / (kSplitInto * target));
    }
  }
  if (plan.pieces > 1 && work.run != nullptr && !work.records.empty() && !policy.rewrites() &&
      input.deleted.empty()) {
    const std::string_view first = work.records.front().key;
    if (work.run->compare(work.run->entries() - 1, first, key_head(first, work.run->skip())) < 0 &&
        live_bytes(old_file) * 2 > policy.target_bytes) {
      plan.shape = Shape::kAppend;
    }
  }

  Status status;
  switch (plan.shape) {
    case Shape::kIndexOnly:
      work.leave_behind(plan.left_behind);
      status = work.load_values(work.left_out);
      if (!status.ok()) break;
      work.merge_index();
      status = work.finish_piece(true);
      break;
    case Shape::kRewrite:
      status = work.load_values();
      if (status.ok()) {
        const size_t kept = work.run == nullptr ? 0 : live_bytes(old_file);
        status = work.merge_rewrite(plan.pieces, kept + added, policy.ready_share);
      }
      break;
    case Shape::kAppend:
      status = work.merge_append(std::max<size_t>(1, added / policy.target_bytes), added);
      break;
  }
  return finish(status);
} catch (const std::bad_alloc&) {
  return finish(out_of_memory());
}

Result<MergeOutput> Merger::join(std::span<const MergeInput> inputs, Lsn cut) try {
  Work& work = *work_;
  const PinnedInputs pinned(inputs);
  if (Status s = work.begin(inputs, cut); !s.ok()) return s;
  const WorkMemory memory(work);
  std::vector<size_t> records_of;
  for (const MergeInput& input : inputs) {
    work.take(input);
    if (Status s = work.load_values(); !s.ok()) return s;
    const size_t gathered = work.records.size();
    work.gather(input.delta);
    if (input.delta != nullptr && input.delta->has_operands()) {
      if (Status s = work.fold_records(gathered); !s.ok()) return s;
    }
    records_of.push_back(work.records.size());
  }
  work.take(inputs.front());
  work.choose_shape();
  return finish(work.merge_join(records_of));
} catch (const std::bad_alloc&) {
  return finish(out_of_memory());
}

Result<MergeOutput> Merger::divide(const MergeInput& input, std::span<const std::string> lows) try {
  Work& work = *work_;
  const PinnedInputs pinned({&input, 1});
  if (Status s = work.begin({&input, 1}, input.file->record.cut); !s.ok()) return s;
  const WorkMemory memory(work);
  work.choose_shape();
  return finish(work.merge_divide(lows));
} catch (const std::bad_alloc&) {
  return finish(out_of_memory());
}

Result<MergeOutput> Merger::finish(const Status& status) {
  Work& work = *work_;
  Store* store = work.store;
  MergeOutput output = std::move(work.output);
  if (!status.ok()) {
    give_up(std::move(output));
    return status;
  }

  // What the old files referred to and no piece does.
  const auto still_used = [&](const Extent* extent) {
    for (const MergePiece& piece : output.pieces) {
      if (piece.file->image.get() == extent) return true;
      for (const ExtentRef& value : piece.file->values) {
        if (value.get() == extent) return true;
      }
      for (const ExtentRef& large : piece.file->large) {
        if (large.get() == extent) return true;
      }
    }
    return false;
  };
  for (const MergeInput& input : work.inputs) {
    const RunFile& old_file = *input.file;
    // Somebody may read below what an ingest has attached: all that is in a piece is newer.
    if (old_file.since > work.floor) {
      for (const MergePiece& piece : output.pieces) {
        if (piece.file->since < old_file.since) piece.file->date(old_file.since, old_file.earlier);
      }
    }
    if (old_file.image && !still_used(old_file.image.get())) {
      output.dropped.push_back(old_file.image);
    }
    for (const ThinVector<ExtentRef>* extents : {&old_file.values, &old_file.large}) {
      for (const ExtentRef& extent : *extents) {
        if (!still_used(extent.get())) output.dropped.push_back(extent);
      }
    }
  }
  for (const ExtentAddress& address : work.large_dropped) {
    if (ExtentRef extent = store->large->take(address); extent) {
      output.taken.push_back(extent);
      output.dropped.push_back(std::move(extent));
    }
  }
  return output;
}

// Large extents go back to where they came from; everything else goes with the output.
void Merger::give_up(MergeOutput output) {
  for (ExtentRef& extent : output.taken) work_->store->large->add(std::move(extent));
  output.taken.clear();
}

}  // namespace hawthorn::tree
