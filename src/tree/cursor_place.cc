// Where a cursor stands in the container that it holds: places of keys, and the windows that it
// reads of containers that are not in memory as a whole. And how it lets go of deltas.

#include <algorithm>
#include <cstring>

#include "os/sync.h"
#include "os/test_point.h"
#include "tree/cursor.h"
#include "tree/narrow.h"

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

// What is resident of the held file, now that it cannot go any more.
void TreeCursor::take_run(const Run* run) {
  file_run_ = run;
  run_ = run;
  if (run_ == nullptr) return;
  const size_t key_room = run_->key_buffer_bytes(1);
  if (key_capacity_ < key_room) {
    key_buffer_ = std::make_unique_for_overwrite<char[]>(key_room);
    key_capacity_ = key_room;
  }
  std::memcpy(key_buffer_.get(), run_->prefix().data(), run_->skip());
  key_head_ = key_buffer_.get() + run_->skip();
  fixed_key_size_ = run_->fixed_key_size();
  const size_t extents = file_->values.size();
  for (uint32_t e = 0; e < RunFile::kExtentsMax; ++e) {
    bases_[e] = key_only_     ? run_->prefix().data()
                : e < extents ? file_->bases[e].load(std::memory_order_acquire)
                              : nullptr;
    sizes_[e] = run_->fixed_value_size();
  }
  bases_[kTagPlainInline] = run_->heap();
  sizes_[kTagPlainInline] = run_->fixed_inline_size();
  prefetch_values_ = !key_only_ && (run_->fixed_value_size() != 0 || sizes_[kTagPlainInline] >= 64);
}

// Makes the container whole in memory where all of the database has room, or where walks come to it
// again and again, or goes window by window. Where not even its front is in memory, a walk that is
// short so far begins with a few index blocks.
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
  const bool settles = !all && residency.walked_lately(file_.get());
  const bool by_outline = run_ != nullptr ? run_->is_outline() : file_->outline_is_apart();
  if (by_outline && !all && !settles && (file_->record.wide || walk_bytes_ < kBytesBefore)) {
    if (Status s = residency.load_outline(file_.get()); !s.ok()) return s;
    take_run(file_->run_to_walk());
    if (run_ == nullptr) {
      if (index_ == nullptr) index_ = std::make_unique<CursorIndex>(&residency);
      if (index_->begin(file_.get())) take_run(&index_->run());
    }
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
  if (settles) residency.settle(file_.get(), !key_only_);
  take_run(file_->run_to_walk());
  windowed_ = !whole();
  return {};
}

// Goes over from single index blocks to the front, with windows as before.
Status TreeCursor::load_front() {
  window_->reset();
  bare_window_ = false;
  index_->reset();
  run_ = nullptr;
  file_run_ = nullptr;
  // From here on, nothing goes of what is there.
  tree_->store()->residency->await_evictions();
  HAWTHORN_TEST_POINT("tree.cursor.before_front");
  if (Status s = tree_->store()->residency->load_run(file_.get()); !s.ok()) return s;
  take_run(file_->run_to_walk());
  return {};
}

// Has what the index tells of these entries, or of their heads; where there are none, of the next
// one in the direction of travel. False: status_ says why.
bool TreeCursor::load_index(Run::Range range, bool heads) {
  if (!by_index()) return true;
  const Result<CursorIndex::Load> loaded =
      heads ? index_->load_heads(range, forward_) : index_->load(range, forward_);
  if (loaded.ok() && *loaded == CursorIndex::Load::kThere) return true;
  if (loaded.ok() && *loaded == CursorIndex::Load::kLoaded) {
    // What it has was found by other blocks.
    window_->reset();
    bare_window_ = false;
    take_run(&index_->run());
    return true;
  }
  status_ = loaded.ok() ? load_front() : loaded.status();
  return status_.ok();
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
  begin_place(mode == Seek::kGreaterEqual || mode == Seek::kGreater);
  if (__builtin_expect(dead_known(), false)) {
    std::optional<std::string_view> from = key;
    if (!pass_known(&mode, &from)) return place_at_end(), true;
    key = *from;
  }
  return place_there(mode, key);
}

// Behind what is known to be dead.
bool TreeCursor::place_there(Seek mode, std::string_view key) {
  run_next_ = 0;
  run_stop_ = 0;
  run_end_ = 0;
  if (run_ != nullptr && !place_run(mode, key)) return fail(std::move(status_));
  run_from_ = run_next_;
  active_.collect(mode, key, kFirstEntries);
  frozen_.collect(mode, key, kFirstEntries);
  clip_frozen();
  update_limit();
  return true;
}

void TreeCursor::begin_place(bool forward) {
  count_walk();
  forward_ = forward;
  // Before anything is looked at, known stretches included.
  if (active_.delta != nullptr) links_ = active_.delta->links();
  skipped_any_ = false;
}

bool TreeCursor::place_run(Seek mode, std::string_view key) {
  const uint32_t entries = run_->entries();
  const bool skips = mode == Seek::kGreater || mode == Seek::kLessEqual;
  if (windowed_) {
    if (by_index()) index_->begin_place();
    Run::Range range = range_of(mode, key);
    run_end_ = forward_ ? entries : 0;
    run_next_ = forward_ ? range.begin : range.end;
    run_stop_ = run_end_;
    if (run_next_ == run_end_) return true;
    if (by_index()) {
      if (!load_index(range, true)) return false;
      range = range_of(mode, key);
      run_next_ = forward_ ? range.begin : range.end;
      if (run_next_ == run_end_) return true;
      if (!load_index(range, false)) return false;
    }
    bool by_records = false;
    if (!in_window(range)) {
      by_records = worth_a_search(range);
      if (by_records ? !search_records(&range, key) : !load_window(range)) return false;
    }
    run_next_ = lower_bound_in(range, key);
    while (skips && run_next_ < range.end && run_->has_key(run_next_, key)) ++run_next_;
    if (run_next_ == run_end_) return true;
    if (by_records && !passing_ && !load_window({run_next_, run_next_})) return false;
  } else {
    run_next_ = run_->seek(key);
    while (skips && run_next_ < entries && run_->has_key(run_next_, key)) ++run_next_;
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
  begin_place(false);
  if (__builtin_expect(dead_known(), false)) {
    Seek mode = Seek::kLess;
    std::optional<std::string_view> from;
    if (!pass_known(&mode, &from)) return place_at_end(), true;
    if (from) return place_there(mode, *from);
  }
  run_next_ = 0;
  run_stop_ = 0;
  run_end_ = 0;
  if (run_ != nullptr) {
    const uint32_t entries = run_->entries();
    run_next_ = entries;
    if (by_index()) index_->begin_place();
    if (windowed_ && !load_window({entries, entries})) return fail(std::move(status_));
    find_end();
    run_next_ = std::max(run_next_, run_stop_);
  }
  run_from_ = run_next_;
  active_.collect_last();
  frozen_.collect_last();
  clip_frozen();
  update_limit();
  note_edge();
  return true;
}

// The entries of the held container's run that can be of a key; at its edges none have to be looked
// at.
Run::Range TreeCursor::range_of(Seek mode, std::string_view key) const {
  const uint32_t entries = file_run_->entries();
  if (mode == Seek::kGreaterEqual && key <= low_) return {0, 0};
  if (mode == Seek::kLess && has_high_ && key >= high_) return {entries, entries};
  return heads_of(key);
}

// Whether a key's place among these entries is found first, by their records alone, and a window
// begins there: where it would else have values that nobody asked for.
bool TreeCursor::worth_a_search(Run::Range range) const {
  if (file_run_->is_outline() || range.end - range.begin < 2) return false;
  if (!key_only_ && !passing_ &&
      CursorWindow::missing(*file_.get(), *file_run_, true) >
          CursorWindow::missing(*file_.get(), *file_run_, false)) {
    return true;
  }
  const format::HeapRange heap = file_run_->heap_range(range.begin, range.end);
  return file_run_->heap() == nullptr && heap.end - heap.begin > kHeapBytesAtOnce;
}

// Has a window without values, with as few of the entries in *range as can be of the key.
bool TreeCursor::search_records(Run::Range* range, std::string_view key) {
  const uint64_t head = key_head(key, file_run_->skip());
  const auto look_at = [&](Run::Range records) {
    Status status = window_->load(file_.get(), *file_run_, false, records, {});
    if (!status.ok()) {
      status_ = std::move(status);
      return false;
    }
    use_window(false);
    return true;
  };
  const auto compare = [&](uint32_t index, int* order) {
    if (!look_at({index, index + 1})) return false;
    *order = run_->compare(index, key, head);
    return true;
  };
  if (file_run_->heap() == nullptr && !narrow_range(*file_run_, range, compare)) return false;
  return look_at(*range);
}

// Shows what the window has.
void TreeCursor::use_window(bool values) {
  windowed_run_.emplace(window_->over(*file_run_));
  run_ = &*windowed_run_;
  for (uint32_t e = 0; !key_only_ && e < file_->values.size(); ++e) {
    bases_[e] = values ? window_->base(e) : run_->prefix().data();
  }
  bare_window_ = !values && !key_only_;
  bases_[kTagPlainInline] = run_->heap();
}

// Has the window that begins (or, backwards, ends) with the entries `must`, and reads on where the
// walk is long enough.
bool TreeCursor::load_window(Run::Range must) {
  HAWTHORN_TEST_POINT("tree.cursor.before_load");
  const bool proven = walk_bytes_ >= kBytesBefore && !passing_;
  if (proven && by_index()) {
    status_ = load_front();
    if (!status_.ok()) return false;
  }
  if (!load_index(must, false)) return false;
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
  use_window(!passing_ && !key_only_);
  return true;
}

// The first entry with a key >= `key` in the window, which has `heads`, those of the key.
uint32_t TreeCursor::lower_bound_in(Run::Range heads, std::string_view key) const {
  if (heads.empty()) return heads.begin;
  return file_run_->is_outline() ? run_->seek(key) : run_->lower_bound_in(heads, key);
}

// Whether a walk from here can begin with the present window.
bool TreeCursor::in_window(Run::Range heads) const {
  if (bare_window_ && !passing_) return false;
  return window_->begin() <= heads.begin && heads.end <= window_->end() &&
         (forward_ ? heads.begin < window_->end() : heads.end > window_->begin());
}

Status TreeCursor::read_window(Run::Range must) {
  window_->reset();
  const size_t most = CursorWindow::bytes_max(*tree_->store()->residency);
  const bool values = !key_only_ && !passing_;
  size_t bytes = std::min(window_bytes_, most);
  // What was read of the index counts.
  if (by_index()) bytes -= std::min(index_->take_bytes(), bytes / 2);
  const Run::Range within = by_index() ? index_->entries() : Run::Range{0, file_run_->entries()};
  const Run::Range range =
      CursorWindow::choose(*file_.get(), *file_run_, values, must, forward_, bytes, within);
  const size_t missing = CursorWindow::missing(*file_.get(), *file_run_, values);
  // A first one is kept to what it should take; others may go beyond it where values differ in
  // size.
  const bool first = window_bytes_ == CursorWindow::kFirstBytes;
  window_bytes_ = std::min(window_bytes_ * 2, CursorWindow::kBytesMax);
  Status status =
      window_->load(file_.get(), *file_run_, values, range, {first ? bytes : 2 * bytes, forward_});
  walk_bytes_ += uint64_t{missing} * (window_->end() - window_->begin()) / file_run_->entries();
  return status;
}

// How far the run goes: to the bounds, or to the end of the window.
void TreeCursor::find_end() {
  const bool bounded = forward_ ? high_inside_ : low_inside_;
  run_end_ = forward_ ? run_->entries() : 0;
  if (bounded) {
    const std::string_view bound = forward_ ? *options_.upper : *options_.lower;
    run_end_ = windowed_ ? locate(bound).end : run_->seek(bound);
  }
  run_stop_ = run_end_;
  if (!windowed_) return;
  run_stop_ = forward_ ? std::min(run_end_, window_->end()) : std::max(run_end_, window_->begin());
}

// As Run::seek, for places within the window; others come out anywhere on their side of it.
uint32_t TreeCursor::seek_run(std::string_view key) const {
  return windowed_ ? locate(key).at : run_->seek(key);
}

// Where the first entry with a key >= `key` is, as far as the window tells.
TreeCursor::Located TreeCursor::locate(std::string_view key) const {
  const Run::Range range = heads_of(key);
  if (range.empty()) return {range.begin, range.begin, true};
  const bool inside = range.begin >= window_->begin() && range.end <= window_->end();
  const uint32_t begin = std::max(range.begin, window_->begin());
  const uint32_t end = std::min(range.end, window_->end());
  if (begin >= end || (!inside && file_run_->is_outline())) {
    return {forward_ ? range.begin : range.end, forward_ ? range.end : range.begin, false};
  }
  const uint32_t at = lower_bound_in({begin, end}, key);
  // At an edge of the window that is none of the range, it may lie beyond.
  const bool before = at == begin && begin > range.begin;
  const bool behind = at == end && end < range.end;
  return {at,
          forward_ && behind    ? range.end
          : !forward_ && before ? range.begin
                                : at,
          !before && !behind};
}

}  // namespace hawthorn::tree
