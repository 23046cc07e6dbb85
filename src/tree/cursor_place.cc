// Where a cursor stands in the container that it holds: places of keys, and the windows that it
// reads of containers that are not in memory as a whole. And how it lets go of deltas.

#include <algorithm>
#include <cstring>

#include "os/sync.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::tree {

using format::kTagPlainInline;

namespace {
constexpr uint32_t kWalkUses = 160;  // of a whole container
}  // namespace

// Whoever takes the deltas away is done at once.
void TreeCursor::take() {
  if (in_batches_) return;
  for (os::SpinWait wait; in_use_.exchange(true, std::memory_order_acquire);) wait.once();
}

bool TreeCursor::let_go_of_deltas() {
  if (in_use_.exchange(true, std::memory_order_acquire)) return false;
  const bool goes = active_.replaced() || frozen_.replaced();
  if (goes) {
    active_.release();
    frozen_.release();
    delta_next_ = nullptr;
    unseen_ = nullptr;
    let_go_ = true;
  }
  in_use_.store(false, std::memory_order_release);
  return goes;
}

// Copies what is shown of a delta. False: no memory.
bool TreeCursor::keep_shown() {
  shown_.assign(key_);
  key_ = shown_;
  if (own_value_) return true;
  if (value_.empty()) {
    value_ = std::string_view();
    return true;
  }
  char* room = value_room(value_.size());
  if (room == nullptr) return false;
  std::memcpy(room, value_.data(), value_.size());
  value_ = {room, value_.size()};
  return true;
}

// Makes the container whole in memory where all of the database has room, or where walks come to it
// again and again, or goes window by window.
Status TreeCursor::settle_in() {
  if (run_hidden_) return {};
  const auto whole = [this] {
    if (run_ == nullptr) return file_->empty();
    if (run_->heap() == nullptr) return false;
    return key_only_ || std::all_of(bases_, bases_ + file_->values.size(),
                                    [](const char* base) { return base != nullptr; });
  };
  if (whole()) return {};
  Residency& residency = *tree_->store()->residency;
  const bool all = residency.roomy(file_->image->memory_bytes() + file_->value_bytes());
  const bool by_outline =
      run_ != nullptr ? run_->is_outline() : file_->record.wide && file_->record.first_heads;
  if (by_outline && !all && !residency.walked_lately(file_.get())) {
    if (Status s = residency.load_outline(file_.get()); !s.ok()) return s;
    take_run();
    windowed_ = !whole();
    if (run_ != nullptr) return {};
  }
  // From here on, nothing goes of what is there.
  residency.await_evictions();
  read_ahead_.await_front(file_.get());
  HAWTHORN_TEST_POINT("tree.cursor.before_load");
  Status status = residency.load_run(file_.get(), all ? RunPart::kWhole : RunPart::kFront);
  for (uint32_t e = 0; all && status.ok() && !key_only_ && e < file_->values.size(); ++e) {
    status = residency.load_values(file_.get(), e);
  }
  // Without memory for all of it, or where a newer file has taken an extent over, windows do.
  if (status.is(StatusCode::kOutOfMemory) && all) status = residency.load_run(file_.get());
  if (!status.ok()) return status;
  if (!all && residency.walked_lately(file_.get())) residency.settle(file_.get(), !key_only_);
  take_run();
  windowed_ = !whole();
  return {};
}

// What was passed of the run since it was put somewhere counts as reads of as many blocks. Who
// comes through most of a container by windows may come again.
void TreeCursor::count_walk() {
  if (run_ == nullptr || run_next_ == run_from_) return;
  const uint64_t passed = std::max(run_next_, run_from_) - std::min(run_next_, run_from_);
  run_from_ = run_next_;
  const uint64_t uses = passed * kWalkUses / std::max(run_->entries(), 1u);
  if (file_->settled_uses != RunFile::kNotSettled) file_->touch(static_cast<uint32_t>(uses));
  if (windowed_ && uses > kWalkUses / 4 * 3) tree_->store()->residency->note_walk(file_.get());
}

// Puts all sources at the first entries from `key` on, in the direction that `mode` says. False:
// status() says why.
bool TreeCursor::place(Seek mode, std::string_view key) {
  count_walk();
  forward_ = mode == Seek::kGreaterEqual || mode == Seek::kGreater;
  run_next_ = 0;
  run_stop_ = 0;
  run_end_ = 0;
  if (run_ != nullptr && !place_run(mode, key)) return fail(std::move(status_));
  run_from_ = run_next_;
  if (active_.delta != nullptr) links_ = active_.delta->links();
  active_.collect(mode, key, kFirstEntries);
  frozen_.collect(mode, key, kFirstEntries);
  clip_frozen();
  update_limit();
  return true;
}

bool TreeCursor::place_run(Seek mode, std::string_view key) {
  const uint32_t entries = run_->entries();
  uint32_t ties_end = entries;
  if (windowed_) {
    const Run::Range heads = file_run_->heads_of(key);
    run_end_ = forward_ ? entries : 0;
    run_next_ = forward_ ? heads.begin : heads.end;
    run_stop_ = run_end_;
    if (run_next_ == run_end_) return true;
    if (!in_window(heads) && !load_window(heads)) return false;
    ties_end = heads.end;
    run_next_ = lower_bound_in(heads, key);
  } else {
    run_next_ = run_->seek(key);
  }
  if (mode == Seek::kGreater || mode == Seek::kLessEqual) {
    while (run_next_ < ties_end && run_->has_key(run_next_, key)) ++run_next_;
  }
  find_end();
  if (forward_) {
    run_next_ = std::min(run_next_, run_stop_);
    run_->prefetch_entry(run_next_);
  } else {
    run_next_ = std::max(run_next_, run_stop_);
  }
  return true;
}

bool TreeCursor::place_last() {
  count_walk();
  forward_ = false;
  run_next_ = 0;
  run_stop_ = 0;
  run_end_ = 0;
  if (run_ != nullptr) {
    const uint32_t entries = run_->entries();
    run_next_ = entries;
    if (windowed_ && !load_window({entries, entries})) return fail(std::move(status_));
    find_end();
    run_next_ = std::max(run_next_, run_stop_);
  }
  run_from_ = run_next_;
  links_ = active_.delta->links();
  active_.collect_last();
  frozen_.collect_last();
  clip_frozen();
  update_limit();
  return true;
}

// Has the window that begins (or, backwards, ends) with the entries `must`, and reads on where the
// walk is long enough.
bool TreeCursor::load_window(Run::Range must) {
  HAWTHORN_TEST_POINT("tree.cursor.before_load");
  const bool proven = walk_bytes_ >= kBytesBefore && !passing_;
  if (auto taken = read_ahead_.take(file_.get(), must, forward_); taken != nullptr) {
    window_ = std::move(taken);
  } else if (Status s = read_window(must); !s.ok()) {
    status_ = std::move(s);
    return false;
  }
  if (proven) {
    const uint32_t at = forward_ ? window_->end() : window_->begin();
    read_ahead_.go_on({file_.get(), at, low_, high_, has_high_}, forward_);
  }
  if (file_run_->is_outline()) HAWTHORN_TEST_POINT("tree.cursor.by_outline");
  windowed_run_.emplace(window_->over(*file_run_));
  run_ = &*windowed_run_;
  for (uint32_t e = 0; !key_only_ && e < file_->values.size(); ++e) {
    bases_[e] = passing_ ? run_->prefix().data() : window_->base(e);
  }
  bare_window_ = passing_ && !key_only_;
  bases_[kTagPlainInline] = run_->heap();
  return true;
}

// The first entry with a key >= `key` in the window, which has `heads`, those of the key.
uint32_t TreeCursor::lower_bound_in(Run::Range heads, std::string_view key) const {
  if (heads.empty()) return heads.begin;
  return file_run_->is_outline() ? run_->seek(key) : run_->lower_bound_in(heads, key);
}

// Whether a walk from here can begin with the present window.
bool TreeCursor::in_window(Run::Range heads) const {
  return window_->begin() <= heads.begin && heads.end <= window_->end() &&
         (forward_ ? heads.begin < window_->end() : heads.end > window_->begin());
}

Status TreeCursor::read_window(Run::Range must) {
  window_->reset();
  const size_t most = CursorWindow::bytes_max(*tree_->store()->residency);
  const bool values = !key_only_ && !passing_;
  const Run::Range range = CursorWindow::choose(*file_.get(), *file_run_, values, must, forward_,
                                                std::min(window_bytes_, most));
  window_bytes_ = std::min(window_bytes_ * 2, CursorWindow::kBytesMax);
  const size_t missing = CursorWindow::missing(*file_.get(), *file_run_, values);
  walk_bytes_ += uint64_t{missing} * (range.end - range.begin) / file_run_->entries();
  return window_->load(file_.get(), *file_run_, values, range);
}

// How far the run goes: to the bounds, or to the end of the window.
void TreeCursor::find_end() {
  const bool bounded = forward_ ? high_inside_ : low_inside_;
  run_end_ = forward_ ? run_->entries() : 0;
  if (bounded) {
    const std::string_view bound = forward_ ? *options_.upper : *options_.lower;
    const Run::Range heads = file_run_->heads_of(bound);
    const bool seen = !windowed_ || heads.empty() ||
                      (heads.begin >= window_->begin() && heads.end <= window_->end());
    run_end_ = seen ? lower_bound_in(heads, bound) : (forward_ ? heads.end : heads.begin);
  }
  run_stop_ = run_end_;
  if (!windowed_) return;
  run_stop_ = forward_ ? std::min(run_end_, window_->end()) : std::max(run_end_, window_->begin());
}

// As Run::seek, for places within the window; others come out anywhere on their side of it.
uint32_t TreeCursor::seek_run(std::string_view key) const {
  if (!windowed_) return run_->seek(key);
  const Run::Range heads = file_run_->heads_of(key);
  const bool seen = heads.begin >= window_->begin() && heads.end <= window_->end();
  return seen ? lower_bound_in(heads, key) : heads.begin;
}

}  // namespace hawthorn::tree
