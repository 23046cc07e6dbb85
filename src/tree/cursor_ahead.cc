#include "tree/cursor_ahead.h"

#include <algorithm>
#include <utility>

#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::tree {

CursorAhead::CursorAhead(TreeState* tree, Lsn ts, bool values,
                         const std::optional<std::string>& lower,
                         const std::optional<std::string>& upper)
    : tree_(tree), ts_(ts), values_(values), lower_(lower), upper_(upper) {}

void CursorAhead::drop() {
  if (!placed_) return;
  queue_.reset();  // waits
  unsent_.clear();
  Residency& residency = *tree_->store()->residency;
  if (front_.memory != nullptr) residency.drop_front(*file_.get(), front_.memory);
  front_ = {};
  for (const Item& item : windows_) residency.unreserve_ahead(item.reserved);
  windows_.clear();
  file_.reset();
  bytes_ = 0;
  window_bytes_ = kFirstBytes;
  placed_ = false;
}

std::unique_ptr<CursorWindow> CursorAhead::take(const RunFile* file, Run::Range must,
                                                bool forward) {
  if (windows_.empty() || forward != forward_ || windows_.front().file.get() != file) {
    drop();
    return nullptr;
  }
  Item& item = windows_.front();
  const CursorWindow& window = *item.window;
  const bool goes_on = forward ? window.begin() == must.begin && window.end() >= must.end
                               : window.end() == must.end && window.begin() <= must.begin;
  // Only a child of fork reaps nothing: it cannot have what its parent asked for.
  while (goes_on && item.reads > 0 && reap(1) > 0) continue;
  if (!goes_on || item.reads > 0 || !item.status.ok()) {
    drop();
    return nullptr;
  }
  HAWTHORN_TEST_POINT("tree.cursor_ahead.taken");
  std::unique_ptr<CursorWindow> taken = std::move(item.window);
  Residency& residency = *tree_->store()->residency;
  residency.unreserve_ahead(item.reserved);
  bytes_ -= item.bytes;
  windows_.pop_front();
  window_bytes_ = std::min(window_bytes_ * 2, CursorWindow::kBytesMax / 2);
  return taken;
}

void CursorAhead::go_on(const Place& place, bool forward) {
  if (!placed_ || forward != forward_) {
    drop();
    forward_ = forward;
    set_place(place);
  }
  if (queue_) reap(0);
  fill();
  if (windows_.empty() && front_.memory != nullptr) {
    // Else fronts would always come too late for windows: here one is waited for earlier than it
    // has to be, and from then on they are a window ahead.
    await_front(file_.get());
    if (placed_) fill();
  }
  submit();
}

void CursorAhead::await_front(const RunFile* file) {
  while (front_.memory != nullptr && file_.get() == file) {
    if (reap(1) == 0) return drop();
  }
}

void CursorAhead::set_place(const Place& place) {
  placed_ = true;
  ended_ = false;
  // The file is pinned already, so this needs no guard.
  file_ = PinnedRunFile(place.file);
  low_ = place.low;
  high_ = place.high;
  has_high_ = place.has_high;
  run_ = file_->run_to_walk();
  look_at_run();
  must_ = {place.at, place.at};
}

// ---- What to read

namespace {
// Where a walk comes into a container.
Run::Range edge_of(const Run& run, bool forward) {
  const uint32_t at = forward ? 0 : run.entries();
  return {at, at};
}
}  // namespace

void CursorAhead::fill() {
  const size_t most = CursorWindow::bytes_max(*tree_->store()->residency);
  for (int passed = 0; !ended_ && front_.memory == nullptr;) {
    if (file_->empty() || (run_ != nullptr && at_end())) {
      if (++passed > kContainersMax) return;
      ended_ = !next_container();
      continue;
    }
    if (run_ == nullptr && !find_run()) return;
    if (run_ == nullptr || at_end()) continue;
    if (windows_.size() == kWindowsMax) return;
    if (bytes_ + std::min(window_bytes_, most / 2) > std::min(2 * window_bytes_, most)) return;
    if (!start_window()) return;
  }
}

bool CursorAhead::next_container() {
  if (forward_) {
    if (!has_high_ || (upper_ && high_ >= *upper_)) return false;
    key_.swap(high_);
  } else {
    if (low_.empty() || (lower_ && low_ <= *lower_)) return false;
    key_.swap(low_);
  }
  PinnedRunFile file;
  {
    os::epoch::Guard guard;
    const Directory& directory = tree_->directory();
    const Container* container = forward_ ? directory.find(key_) : directory.before(key_);
    if (container == nullptr) return false;
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    file = PinnedRunFile(descriptor->run->seen_at(ts_));
    low_ = container->low;
    high_ = container->high;
    has_high_ = container->has_high;
  }
  file_ = std::move(file);
  run_ = nullptr;
  // From here on, nothing goes of what is there.
  tree_->store()->residency->await_evictions();
  HAWTHORN_TEST_POINT("tree.cursor_ahead.entered");
  return !file_->damaged.load(std::memory_order_acquire);
}

// Finds the run of a container that was entered, or asks for its front. False: there is no more to
// do now.
bool CursorAhead::find_run() {
  Residency& residency = *tree_->store()->residency;
  RunFile* file = file_.get();
  run_ = file->run.load(std::memory_order_acquire);
  if (run_ == nullptr && file->image->memory.load(std::memory_order_acquire) != nullptr) {
    // In memory for another file: it only has to be attached.
    if (!residency.load_run(file).ok()) return false;
    run_ = file->run.load(std::memory_order_acquire);
  }
  if (run_ == nullptr) run_ = file->run_to_walk();
  if (run_ == nullptr) {
    front_.memory = residency.begin_front(file);
    if (front_.memory == nullptr) return false;
    const size_t first = unsent_.size();
    unsent_.push_back(residency.front_request(*file, front_.memory));
    send(&front_, first);
    return true;
  }
  look_at_run();
  must_ = edge_of(*run_, forward_);
  return true;
}

// How far the cursor will go in this container.
void CursorAhead::look_at_run() {
  if (run_ == nullptr) return;
  stop_ = forward_ ? run_->entries() : 0;
  if (forward_ && upper_ && *upper_ > low_ && (!has_high_ || *upper_ < high_)) {
    stop_ = run_->range_of(*upper_).end;
  } else if (!forward_ && lower_ && *lower_ > low_) {
    stop_ = run_->range_of(*lower_).begin;
  }
}

// False: no memory for it now.
bool CursorAhead::start_window() {
  Residency& residency = *tree_->store()->residency;
  const size_t missing = CursorWindow::missing(*file_.get(), *run_, values_);
  if (missing == 0) {
    must_ = {stop_, stop_};
    return true;
  }
  const size_t wanted = std::min(window_bytes_, CursorWindow::bytes_max(residency) / 2);
  Run::Range range = CursorWindow::choose(*file_.get(), *run_, values_, must_, forward_, wanted,
                                          {0, run_->entries()});
  if (forward_) {
    range.end = std::max(must_.end, std::min(range.end, stop_));
  } else {
    range.begin = std::min(must_.begin, std::max(range.begin, stop_));
  }
  Item item;
  item.bytes = static_cast<size_t>(uint64_t{missing} * (range.end - range.begin) / run_->entries());
  // What is packed lies in memory twice for a moment.
  item.reserved = 2 * item.bytes;
  if (!residency.reserve_ahead(item.reserved)) return false;
  item.file = PinnedRunFile(file_.get());
  item.window = std::make_unique<CursorWindow>(&residency);
  Status status = item.window->begin(file_.get(), *run_, values_, range, Need::kMay, {});
  if (!status.ok()) {
    residency.unreserve_ahead(item.reserved);
    return false;
  }
  bytes_ += item.bytes;
  windows_.push_back(std::move(item));
  if (Item& last = windows_.back(); !last.window->complete()) {
    const size_t first = unsent_.size();
    last.window->requests(&last, &unsent_);
    send(&last, first);
  }
  must_ = forward_ ? Run::Range{range.end, range.end} : Run::Range{range.begin, range.begin};
  return true;
}

// ---- Its way

// Requests from `first` on are those of `pending`.
void CursorAhead::send(Pending* pending, size_t first) {
  for (size_t i = first; i < unsent_.size(); ++i) unsent_[i].context = pending;
  pending->reads = unsent_.size() - first;
}

void CursorAhead::submit() {
  if (unsent_.empty()) return;
  if (!queue_) queue_.emplace(tree_->store()->machine->queues->lease());
  (*queue_)->submit(unsent_);
  unsent_.clear();
}

// Works up what is done, and sends off what follows from it. Returns how many reads were done.
size_t CursorAhead::reap(size_t wait_for) {
  submit();
  if (!queue_) return 0;
  size_t reaped = 0;
  os::IoCompletion done[16];
  for (size_t count = 16; count == 16; wait_for = 0) {
    count = (*queue_)->reap(done, wait_for);
    reaped += count;
    for (size_t i = 0; i < count; ++i) {
      auto* pending = static_cast<Pending*>(done[i].context);
      if (pending->status.ok()) pending->status = std::move(done[i].status);
      if (--pending->reads == 0) arrived(pending);
    }
  }
  submit();
  if ((*queue_)->in_flight() == 0) queue_.reset();
  return reaped;
}

void CursorAhead::arrived(Pending* pending) {
  if (pending == &front_) {
    Residency& residency = *tree_->store()->residency;
    char* const memory = std::exchange(front_.memory, nullptr);
    // What went wrong is met again by who needs the container.
    ended_ = !front_.status.ok();
    if (ended_) {
      residency.drop_front(*file_.get(), memory);
    } else {
      ended_ = !residency.finish_front(file_.get(), memory).ok();
    }
    front_ = {};
    return;
  }
  auto* item = static_cast<Item*>(pending);
  if (item->status.ok()) item->status = item->window->arrived();
  if (!item->status.ok() || item->window->complete()) return;
  const size_t first = unsent_.size();
  item->window->requests(pending, &unsent_);
  send(pending, first);
}

}  // namespace hawthorn::tree
