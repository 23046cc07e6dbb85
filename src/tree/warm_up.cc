#include "tree/warm_up.h"

#include <string>
#include <utility>
#include <vector>

#include "os/epoch.h"
#include "os/io_queue.h"
#include "tree/residency.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {

constexpr size_t kAtOnce = 8;

struct Front {
  PinnedRunFile file;
  char* memory = nullptr;
  Status status;
};

// The file of the container with this low key, where its front is to be read, or its outline.
bool find_missing(const TreeState& tree, const std::string& low, PinnedRunFile* found) {
  os::epoch::Guard guard;
  const Container* container = tree.directory().find(low);
  RunFile* file = container->descriptor.load(std::memory_order_acquire)->run;
  // A front that is in memory for another file only has to be attached, and may not be on the disk.
  if (file->empty() || file->image->memory.load(std::memory_order_acquire) != nullptr ||
      file->damaged.load(std::memory_order_acquire)) {
    return false;
  }
  *found = PinnedRunFile(file);
  return true;
}

// Takes the fronts over, or gives their memory back.
Status read(Store& store, std::vector<Front>& fronts) {
  Residency& residency = *store.residency;
  std::vector<os::IoRead> requests;
  for (Front& front : fronts) {
    requests.push_back(residency.front_request(*front.file.get(), front.memory));
    requests.back().context = &front;
  }
  {
    const os::IoQueueLease queue = store.machine->queues->lease();
    residency.disk().read_all(*queue, requests, [](os::IoCompletion done) {
      static_cast<Front*>(done.context)->status = std::move(done.status);
    });
  }
  Status first;
  for (Front& front : fronts) {
    if (front.status.ok()) {
      front.status = residency.finish_front(front.file.get(), front.memory);
    } else {
      residency.drop_front(*front.file.get(), front.memory);
    }
    if (first.ok()) first = std::move(front.status);
  }
  fronts.clear();
  return first;
}

}  // namespace

Status warm_up(TreeState& tree, bool* full) {
  Store& store = *tree.store();
  std::vector<std::string> lows;
  {
    os::epoch::Guard guard;
    for (const Container* container : tree.directory().all()) lows.push_back(container->low);
  }
  Status first;
  std::vector<Front> fronts;
  const auto read_all = [&] {
    Status status = read(store, fronts);
    if (first.ok()) first = std::move(status);
  };
  for (const std::string& low : lows) {
    Front front;
    if (!find_missing(tree, low, &front.file)) continue;
    RunFile* file = front.file.get();
    if (!file->record.wide && store.residency->spare(file->image->front_bytes())) {
      front.memory = store.residency->begin_front(file);
    }
    if (front.memory != nullptr) {
      fronts.push_back(std::move(front));
      if (fronts.size() == kAtOnce) read_all();
    } else if (file->record.wide && file->record.first_heads) {
      Status status = store.residency->load_outline(file);
      *full = status.is(StatusCode::kOutOfMemory);
      if (first.ok() && !*full) first = std::move(status);
    } else {
      *full = !file->record.wide;
    }
    if (*full) break;
  }
  read_all();
  return first;
}

}  // namespace hawthorn::tree
