#include "tree/count.h"

#include <cstring>
#include <span>
#include <utility>

#include "format/run_layout.h"
#include "os/epoch.h"
#include "os/file.h"
#include "os/io_queue.h"
#include "os/test_point.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kUnseenAtOnce = 32;
}  // namespace

std::optional<uint64_t> settled_keys(const Descriptor& descriptor, Lsn ts) {
  if (!descriptor.active->empty() || descriptor.frozen != nullptr) return {};
  return descriptor.run->seen_at(ts)->live_at(ts);
}

// In this order.
std::optional<uint64_t> settled_keys(const NodeSums& sums, Lsn ts) {
  if (sums.dirty.load(std::memory_order_acquire) != 0) return {};
  HAWTHORN_TEST_POINT("count.leaf.clean");
  const uint64_t live = sums.live.load(std::memory_order_acquire);
  HAWTHORN_TEST_POINT("count.leaf.before_from");
  if (sums.from.load(std::memory_order_relaxed) > ts) return {};
  return live;
}

// ---- Passing

namespace {
// What is left of a leaf that was passed container by container, though its sums do not say that
// it is clean: somebody has looked at runs since.
void recount_all(std::span<Container* const> containers) {
  for (Container* container : containers) {
    os::MutexLock lock(container->latch);
    if (!container->dead) container->recount(*container->descriptor.load());
  }
}
}  // namespace

// A place among the containers, and the way from there.
struct NodeWalk::At {
  const Directory::Root& root;
  const bool forward;
  size_t leaf = 0;
  size_t index = 0;
  bool past_end = false;

  const Directory::Leaf& node() const { return *root.children()[leaf]; }
  const Container& container() const { return *node().children()[index]; }
  size_t first() const { return forward ? 0 : node().children().size() - 1; }
  // False: the edge lies within a container.
  bool find(std::string_view edge) {
    leaf = root.find(edge);
    index = node().find(edge);
    if (container().low != edge) return false;
    if (!forward) step();
    return true;
  }
  void next_leaf() {
    past_end = forward ? leaf + 1 == root.children().size() : leaf == 0;
    if (past_end) return;
    leaf = forward ? leaf + 1 : leaf - 1;
    index = first();
  }
  void step() {
    if (index == (forward ? node().children().size() - 1 : 0)) return next_leaf();
    index = forward ? index + 1 : index - 1;
  }
};

namespace {
bool is_unseen(const Descriptor& descriptor, Lsn ts) {
  const RunFile& file = *descriptor.run;
  return descriptor.active->empty() && descriptor.frozen == nullptr && file.since <= ts &&
         file.live.load(std::memory_order_acquire) == RunFile::kNotLooked;
}

bool within(const Container& container, const NodePass& pass) {
  if (!pass.bound) return true;
  return pass.forward ? container.has_high && container.high <= *pass.bound
                      : container.low >= *pass.bound;
}
}  // namespace

void NodeWalk::pass(const Directory& directory, NodePass* pass) {
  pass->unseen.clear();
  const os::epoch::Guard guard;
  At at{*directory.root_.load(std::memory_order_acquire), pass->forward};
  if (!at.find(pass->edge)) return;
  const size_t bound_leaf = pass->bound ? at.root.find(*pass->bound) : 0;
  const auto passes = [&](const std::optional<uint64_t>& keys) {
    if (!keys || *keys > pass->most) return false;
    pass->most -= *keys;
    return true;
  };
  bool from_first = false;  // of the present leaf, its containers were passed one by one
  while (!at.past_end) {
    const Container& container = at.container();
    if (pass->bound &&
        (pass->forward ? container.low >= *pass->bound : container.high <= *pass->bound)) {
      break;
    }
    const Directory::Leaf& leaf = at.node();
    if (at.index == at.first()) {
      from_first = true;
      const bool whole = !pass->bound || (pass->forward ? at.leaf < bound_leaf  //
                                                        : at.leaf > bound_leaf);
      if (whole && passes(settled_keys(leaf.sums, pass->ts))) {
        at.next_leaf();
        continue;
      }
    }
    const Descriptor& present = *container.descriptor.load(std::memory_order_acquire);
    if (!within(container, *pass) || !passes(settled_keys(present, pass->ts))) {
      pass->edge = pass->forward ? container.low : container.high;
      while (!at.past_end && pass->unseen.size() < kUnseenAtOnce && within(at.container(), *pass)) {
        const Container& next = at.container();
        const Descriptor& descriptor = *next.descriptor.load(std::memory_order_acquire);
        if (is_unseen(descriptor, pass->ts)) {
          pass->unseen.push_back(
              {PinnedRunFile(descriptor.run), next.low, next.high, next.has_high});
        } else if (pass->unseen.empty()) {
          break;  // it stops for another reason
        }
        at.step();
      }
      return;
    }
    const size_t leaf_number = at.leaf;
    at.step();
    if (!at.past_end && at.leaf == leaf_number) continue;
    if (from_first && leaf.sums.dirty.load(std::memory_order_relaxed) != 0) {
      recount_all(leaf.children());
    }
    from_first = false;
  }
  pass->ended = true;
}

std::string NodeWalk::check_sums(const Directory& directory) {
  const os::epoch::Guard guard;
  const Directory::Root& root = *directory.root_.load(std::memory_order_acquire);
  for (size_t l = 0; l < root.children().size(); ++l) {
    const Directory::Leaf& leaf = *root.children()[l];
    struct {
      uint64_t live = 0;
      uint64_t stored = 0;
      uint64_t blocks = 0;
    } sum;
    uint64_t dirty = 0;
    for (const Container* container : leaf.children()) {
      const Descriptor& present = *container->descriptor.load();
      const RunFile& file = *present.run;
      const std::string where = container->range_text() + ": ";
      if (container->sums != &leaf.sums) return where + "counted in another leaf";
      if (leaf.sums.from.load() < present.run->counts_from()) return where + "counts from later on";
      const bool unsettled = !present.active->empty() || present.frozen != nullptr;
      if (unsettled && !container->part.dirty) return where + "has a delta, and is not dirty";
      if (container->part.live != file.live.load() && !container->part.dirty) {
        return where + "has another count than its run";
      }
      sum.live += container->part.live;
      sum.stored += file.record.entries;
      sum.blocks += file.disk_blocks();
      dirty += container->part.dirty ? 1 : 0;
    }
    if (sum.live != leaf.sums.live.load() || sum.stored != leaf.sums.stored.load() ||
        sum.blocks != leaf.sums.blocks.load() || dirty != leaf.sums.dirty.load()) {
      return "the sums of leaf " + std::to_string(l) + " are not those of its containers";
    }
  }
  return {};
}

void recount(const Directory& directory, std::string_view low, const RunFile* counted) {
  const os::epoch::Guard guard;
  Container* container = directory.find(low);
  os::MutexLock lock(container->latch);
  const Descriptor* present = container->descriptor.load(std::memory_order_relaxed);
  if (!container->dead && present->run == counted) container->recount(*present);
}

// ---- Headers

namespace {
struct HeaderRead {
  const UnseenRun* run = nullptr;
  size_t number = 0;
  os::File* file = nullptr;
  uint64_t offset = 0;
  char* memory = nullptr;
  size_t bytes = 0;
  Status status;
};

// What was read tells, or is read once more.
Status take_header(Store& store, HeaderRead& read) {
  os::DataKeys* const keys = store.machine->keys;
  RunFile* file = read.run->file.get();
  const auto verified = [&] {
    const std::string where = Residency::place(read.file, read.offset);
    Status status = open_header(keys, file->record, read.memory, read.bytes, where);
    if (!status.ok()) return status;
    return Run::verify_header(read.memory, read.bytes, file->record.run_checksum, where);
  };
  Status status = verified();
  if (status.is(StatusCode::kCorruption)) {
    status =
        store.residency->disk().read({read.file, read.offset, read.memory, read.bytes, nullptr});
    if (status.ok()) status = verified();
  }
  if (!status.ok()) return status;
  format::RunHeader header;
  std::memcpy(&header, read.memory, sizeof(header));
  if (header.entries != file->record.entries) {
    return Status(StatusCode::kCorruption, Residency::place(read.file, read.offset) +
                                               ": not the run that the manifest describes");
  }
  file->note_header(header);
  return {};
}

// True: memory told.
Result<bool> told_by_memory(Residency& residency, RunFile* file) {
  if (file->live.load(std::memory_order_acquire) != RunFile::kNotLooked) return true;
  // What another file has in memory may not be on the disk.
  if (file->image->memory.load(std::memory_order_acquire) == nullptr) return false;
  Status status = residency.load_run(file);
  if (!status.ok()) return status;
  return file->live.load(std::memory_order_acquire) != RunFile::kNotLooked;
}

void read_together(Store& store, std::vector<HeaderRead>& reads) {
  std::vector<os::IoRead> requests;
  for (HeaderRead& read : reads) {
    requests.push_back({read.file, read.offset, read.memory, read.bytes, &read});
  }
  const os::IoQueueLease queue = store.machine->queues->lease();
  store.residency->disk().read_all(*queue, requests, [](os::IoCompletion done) {
    static_cast<HeaderRead*>(done.context)->status = std::move(done.status);
  });
}
}  // namespace

Status look_at(Store& store, const std::vector<UnseenRun>& runs, size_t* failed) {
  Residency& residency = *store.residency;
  std::vector<HeaderRead> reads;
  Status first;
  for (size_t i = 0; i < runs.size() && first.ok(); ++i) {
    *failed = i;
    RunFile* file = runs[i].file.get();
    const Result<bool> told = told_by_memory(residency, file);
    if (!told.ok()) first = told.status();
    if (!told.ok() || *told) continue;
    const ExtentAddress& address = file->image->address;
    HeaderRead read;
    read.run = &runs[i];
    read.number = i;
    read.file = store.space->file(address.file);
    read.offset = uint64_t{address.block} * os::kBlockBytes;
    read.bytes = size_t{format::run_front(file->record).header_blocks} * os::kBlockBytes;
    read.memory = residency.allocate_for_read(os::Quota::kMerge, read.bytes);
    if (read.memory == nullptr) {
      first = Status(StatusCode::kOutOfMemory, "no memory to read the header of a run");
      break;
    }
    reads.push_back(std::move(read));
  }
  if (first.ok() && !reads.empty()) read_together(store, reads);
  for (HeaderRead& read : reads) {
    if (first.ok()) {
      *failed = read.number;
      residency.count_read(read.bytes);
      first = read.status.ok() ? take_header(store, read) : std::move(read.status);
    }
    residency.release(os::Quota::kMerge, read.memory, read.bytes);
  }
  return first;
}

}  // namespace hawthorn::tree
