#include "tree/merge.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/merge_work.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kWorkBytesKept = size_t{1} << 20;
constexpr size_t kGarbageBytesMin = 64 << 10;  // less is not worth a rewrite
constexpr double kSplitAt = 1.6;               // of the target size
constexpr double kSplitInto = 0.8;

enum class Shape : uint8_t { kIndexOnly, kRewrite, kAppend };

struct Plan {
  Shape shape = Shape::kIndexOnly;
  size_t pieces = 1;
};

// Of the run's live entries and values, and `delta_bytes` of new ones.
size_t live_bytes(size_t delta_bytes, const RunFile& old_file) {
  return old_file.value_bytes() - old_file.garbage_bytes() +
         size_t{old_file.record.run.blocks} * kBlock + delta_bytes;
}

size_t delta_bytes(const Delta* delta) {
  return delta == nullptr ? 0 : delta->live_bytes() + delta->entries() * kEntryBytes;
}

// Everything of the plan but whether the delta lies behind the run, which needs the run.
// `new_extents`: 0 when the delta surely needs none.
Plan make_plan(size_t added, size_t new_extents, const RunFile& old_file,
               const MergePolicy& policy) {
  Plan plan;
  if (policy.keep_extents && old_file.values.size() + new_extents <= RunFile::kExtentsMax) {
    return plan;
  }
  const size_t total = live_bytes(added, old_file);
  if (static_cast<double>(total) > kSplitAt * static_cast<double>(policy.target_bytes)) {
    plan.shape = Shape::kRewrite;
    plan.pieces = std::max<size_t>(
        2, static_cast<size_t>(static_cast<double>(total) /
                               (kSplitInto * static_cast<double>(policy.target_bytes))));
    return plan;
  }
  const size_t garbage = old_file.garbage_bytes();
  const bool much_garbage = garbage > kGarbageBytesMin &&
                            static_cast<double>(garbage) >
                                policy.garbage_max * static_cast<double>(old_file.value_bytes());
  const size_t extents_max = std::min<size_t>(policy.extents_max, RunFile::kExtentsMax - 1);
  if (policy.recluster || much_garbage || old_file.values.size() + 1 > extents_max)
    plan.shape = Shape::kRewrite;
  return plan;
}
}  // namespace

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
Merger::~Merger() = default;

bool Merger::needs_io(const Container&, const Delta* delta, const RunFile& old_file,
                      const MergePolicy& policy) {
  if (old_file.empty()) return false;
  if (old_file.run.load(std::memory_order_acquire) == nullptr) return true;
  if (make_plan(delta_bytes(delta), 1, old_file, policy).shape == Shape::kIndexOnly) return false;
  for (size_t e = 0; e < old_file.values.size(); ++e) {
    if (old_file.bases[e].load(std::memory_order_acquire) == nullptr) return true;
  }
  return false;
}

// Counts what was gathered against the budget while the merge runs. What a large delta needed is
// not kept.
class Merger::WorkMemory {
 public:
  explicit WorkMemory(Work& work)
      : work_(work),
        bytes_(work.records.capacity() * sizeof(Work::Record) +
               work.versions.capacity() * sizeof(Work::Kept)) {
    work_.store->arena->charge(os::Quota::kMerge, static_cast<ptrdiff_t>(bytes_));
  }
  ~WorkMemory() {
    if (bytes_ > kWorkBytesKept) {
      work_.records = {};
      work_.versions = {};
      work_.copies = {};
    }
    work_.store->arena->charge(os::Quota::kMerge, -static_cast<ptrdiff_t>(bytes_));
  }
  WorkMemory(const WorkMemory&) = delete;
  WorkMemory& operator=(const WorkMemory&) = delete;

 private:
  Work& work_;
  const size_t bytes_;
};

Result<MergeOutput> Merger::merge(const Container& container, const Delta* delta, RunFile* old_file,
                                  Lsn cut, const MergePolicy& policy) {
  Work& work = *work_;
  Store* store = work.store;
  store->snapshots->refresh(store->visible->load(std::memory_order_acquire));

  // Pinned, nothing of the old run can be evicted while it is read; an eviction that was under way
  // before may still take it, once.
  PinnedRunFile pinned(old_file);
  HAWTHORN_TEST_POINT("merge.after_pin");
  const Run* run = old_file->run.load(std::memory_order_acquire);
  while (!old_file->empty() && run == nullptr) {
    if (Status s = store->residency->load_run(old_file); !s.ok()) return s;
    run = old_file->run.load(std::memory_order_acquire);
  }

  PruneView view;
  {
    os::epoch::Guard guard;
    view = *store->snapshots->view();
  }
  work.container = &container;
  work.old_file = old_file;
  work.run = run;
  work.view = &view;
  work.cut = cut;
  work.floor = view.oldest();
  work.max_ts = old_file->record.max_ts;
  work.garbage.assign(old_file->values.size(), 0);
  work.large_dropped.clear();
  work.large_refs.clear();
  work.output = MergeOutput();
  work.gather(delta);
  const WorkMemory memory(work);
  const size_t added = work.gathered_bytes();
  Plan plan = make_plan(added, work.adds_extent() ? 1 : 0, *old_file, policy);
  work.choose_shape();

  if (plan.pieces > 1 && work.run != nullptr && !work.records.empty() && !policy.recluster) {
    const std::string_view first = work.records.front().key;
    if (work.run->compare(work.run->entries() - 1, first, key_head(first, work.run->skip())) < 0 &&
        live_bytes(0, *old_file) * 2 > policy.target_bytes) {
      plan.shape = Shape::kAppend;
    }
  }

  Status status;
  switch (plan.shape) {
    case Shape::kIndexOnly:
      work.merge_index();
      status = work.finish_piece(true);
      break;
    case Shape::kRewrite:
      for (uint32_t e = 0; e < old_file->values.size() && status.ok(); ++e) {
        // Twice, as above. The file is its container's newest: what is loaded for it stays with it.
        for (int attempt = 0; attempt < 2 && status.ok(); ++attempt) {
          status = store->residency->load_values(old_file, e, true);
        }
        if (status.ok() && old_file->bases[e].load(std::memory_order_acquire) == nullptr) {
          status = Status(StatusCode::kOutOfMemory,
                          "a value extent could not be kept in memory for a merge");
        }
      }
      if (status.ok()) status = work.merge_rewrite(plan.pieces, live_bytes(added, *old_file));
      break;
    case Shape::kAppend: {
      status = work.merge_append(std::max<size_t>(1, added / policy.target_bytes), added);
      break;
    }
  }
  MergeOutput output = std::move(work.output);
  if (!status.ok()) {
    // Large extents go back to where they came from; everything else is given up with the output.
    for (ExtentRef& extent : work.large_refs) store->large->add(std::move(extent));
    work.large_refs.clear();
    return status;
  }

  // What the old file referred to and no piece does.
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
  if (old_file->image && !still_used(old_file->image.get()))
    output.dropped.push_back(old_file->image);
  for (const ExtentRef& value : old_file->values) {
    if (!still_used(value.get())) output.dropped.push_back(value);
  }
  for (const ExtentRef& large : old_file->large) {
    if (!still_used(large.get())) output.dropped.push_back(large);
  }
  for (const ExtentAddress& address : work.large_dropped) {
    if (ExtentRef extent = store->large->take(address); extent)
      output.dropped.push_back(std::move(extent));
  }
  work.large_refs.clear();
  return output;
}

}  // namespace hawthorn::tree
