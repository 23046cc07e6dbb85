#include "tree/cursor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "format/run_layout.h"
#include "os/arena_block.h"
#include "os/epoch.h"
#include "os/sync.h"
#include "os/test_point.h"
#include "tree/large_read.h"
#include "tree/layered_walk.h"

namespace hawthorn::tree {

using format::kGroupEntries;
using format::kTagPlainInline;
using format::kTagRecord;
using format::location_offset;
using format::location_tag;

namespace {
constexpr size_t kBatchKeyBytes = size_t{64} << 10;
// Of a cursor: the object, its keys and bounds.
constexpr ptrdiff_t kOwnBytes = sizeof(TreeCursor) + 512;
}  // namespace

// ---- The deltas

void TreeCursor::Source::hold(Delta* held) {
  delta = held;
  at = 0;
  count = 0;
  seen = 0;
  if (held == nullptr) return;
  held->ref();
  held->pin();
}

void TreeCursor::Source::release() {
  if (delta == nullptr) return;
  delta->unpin();
  if (delta->unref()) delete delta;
  delta = nullptr;
  at = 0;
  count = 0;
}

void TreeCursor::Source::collect(Seek mode, std::string_view key, uint32_t most) {
  at = 0;
  count = 0;
  if (delta == nullptr) return;
  seen = delta->entries();
  if (delta->empty()) return;
  count = static_cast<uint32_t>(
      delta->collect(mode, key, key_head(key, delta->skip()), std::span(entries).first(most)));
  for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(entries[i]);
  for (uint32_t i = 0; i < kVersionsAhead; ++i) prefetch_version(i);
}

void TreeCursor::Source::collect_last() {
  at = 0;
  count = 0;
  if (delta == nullptr) return;
  seen = delta->entries();
  count = static_cast<uint32_t>(delta->collect_last(entries));
}

// ---- Containers

TreeCursor::TreeCursor(TreeState* tree, const ReadView& view, Options options)
    : key_only_(options.key_only),
      tree_(tree),
      view_(view),
      options_(std::move(options)),
      window_(std::make_unique<CursorWindow>(tree->store()->residency)),
      read_ahead_(tree, view.ts, !key_only_, options_.lower, options_.upper) {
  empty_range_ = options_.lower && options_.upper && *options_.lower >= *options_.upper;
  tree_->store()->arena->charge(os::Quota::kOther, kOwnBytes);
  tree_->store()->cursors.add(this);
  if (!options_.layers || tree_->base() == nullptr) return;
  layers_ = tree_->layers().state();
  walk_ =
      std::make_unique<LayeredWalk>(tree_, view_, options_, tree_->layers().seen(view_), layers_);
}

TreeCursor::~TreeCursor() {
  tree_->store()->cursors.remove(this);
  leave();
  release_value_room();
  release_batch_keys();
  tree_->store()->arena->charge(os::Quota::kOther, -kOwnBytes);
}

void TreeCursor::leave() {
  fast_end_ = 0;
  dead_count_ = 0;
  run_hidden_ = false;
  hiding_.clear();
  let_go_ = false;
  count_walk();
  run_ = nullptr;
  file_run_ = nullptr;
  windowed_ = false;
  bare_window_ = false;
  delta_next_ = nullptr;
  unseen_ = nullptr;
  window_->reset();
  if (by_index()) index_->reset();
  file_.reset();
  active_.release();
  frozen_.release();
}

// Whether the held container can serve a seek: its descriptor shows the same at this timestamp as
// any later one.
bool TreeCursor::holds_range_of(Seek mode, std::string_view key) const {
  if (!holds() || let_go_ || view_.own != 0) return false;
  if (mode == Seek::kLess) return low_ < key && (!has_high_ || key <= high_);
  return low_ <= key && (!has_high_ || key < high_);
}

// Takes hold of a container; false when there is none, or after an error.
bool TreeCursor::enter(Where where, std::string_view key) {
  for (;;) {
    leave();
    {
      os::epoch::Guard guard;
      const Directory& directory = tree_->directory();
      const Container* container = where == Where::kCovering ? directory.find(key)
                                   : where == Where::kBefore ? directory.before(key)
                                                             : directory.last();
      if (container == nullptr) return false;
      const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
      active_.hold(descriptor->active);
      frozen_.hold(descriptor->frozen);
      file_ = PinnedRunFile(descriptor->run->seen_at(view_.ts));
      low_ = container->low;
      high_ = container->high;
      has_high_ = container->has_high;
      if (!options_.hidden.empty() || dead_known()) find_hiding();
      take_run(run_hidden_ ? nullptr : file_->run_to_walk());
    }
    low_inside_ = options_.lower && *options_.lower > low_;
    high_inside_ = options_.upper && (!has_high_ || *options_.upper < high_);
    if (Status status = settle_in(); !status.ok()) {
      // Damage is declared only of what a fresh descriptor still refers to (R24).
      if (status.is(StatusCode::kCorruption) && has_newer_run(low_)) continue;
      return fail(std::move(status));
    }
    file_->touch();
    HAWTHORN_TEST_POINT("tree.cursor.entered");
    return true;
  }
}

bool TreeCursor::has_newer_run(std::string_view key) const {
  os::epoch::Guard guard;
  const Container* container = tree_->directory().find(key);
  return container->descriptor.load(std::memory_order_acquire)->run != file_.get();
}

bool TreeCursor::fail(Status status) {
  status_ =
      status.is(StatusCode::kCorruption)
          ? Status(StatusCode::kCorruption, key_range_text(tree_->id(), low_, high_, has_high_) +
                                                ": " + std::string(status.message()))
          : std::move(status);
  leave();
  read_ahead_.drop();
  valid_ = false;
  batching_ = false;
  return false;
}

// ---- Positions in the held container

// The parts of a split share a frozen delta: what lies outside of this container's range is another
// one's.
void TreeCursor::clip_frozen() {
  uint32_t& count = frozen_.count;
  if (forward_) {
    while (has_high_ && count > 0 && frozen_.entries[count - 1]->key() >= high_) --count;
  } else {
    while (count > 0 && frozen_.entries[count - 1]->key() < low_) --count;
  }
}

// Finds the next delta key, and how far the run goes before it.
void TreeCursor::update_limit() {
  DeltaEntry* const active = active_.next();
  DeltaEntry* const frozen = frozen_.next();
  int order = 0;
  if (active == nullptr || frozen == nullptr) {
    order = active != nullptr ? -1 : 1;
  } else {
    // A frozen delta that a split shared out has a shorter prefix: then its heads do not compare.
    order = active_.delta->skip() == frozen_.delta->skip() && active->head != frozen->head
                ? (active->head < frozen->head ? -1 : 1)
                : active->key().compare(frozen->key());
    if (!forward_) order = -order;
  }
  in_active_ = active != nullptr && order <= 0;
  in_frozen_ = frozen != nullptr && order >= 0;
  delta_next_ = in_active_ ? active : frozen;
  run_limit_ = run_stop_;
  run_same_ = false;
  if (delta_next_ == nullptr) return;
  const std::string_view key = delta_next_->key();
  if (forward_ ? high_inside_ && key >= *options_.upper : low_inside_ && key < *options_.lower) {
    active_.count = 0;
    frozen_.count = 0;
    delta_next_ = nullptr;
    return;
  }
  if (run_next_ == run_stop_) return;
  // Where most keys were written again, the run's next one is the delta's.
  if (forward_ && key.starts_with(run_->prefix())) {
    const int run_order = run_->compare(run_next_, key, key_head(key, run_->skip()));
    run_limit_ = run_next_;
    run_same_ = run_order == 0;
    if (run_order >= 0) return;
  }
  uint32_t limit = seek_run(key);
  if (forward_) {
    run_limit_ = std::clamp(limit, run_next_, run_stop_);
  } else {
    while (limit >= run_stop_ && limit < run_next_ && run_->has_key(limit, key)) ++limit;
    run_limit_ = std::clamp(limit, run_stop_, run_next_);
  }
}

// Begins again at key_, which was not passed, with a fresh descriptor.
bool TreeCursor::restart() {
  if (anchor_ != key_) restart_wait_ = {};
  anchor_.assign(key_);
  restart_wait_.once();
  const Seek mode = forward_ ? Seek::kGreaterEqual : Seek::kLessEqual;
  return enter(Where::kCovering, anchor_) && place(mode, anchor_);
}

// Takes hold of what lies behind key_, in the direction that `mode` says, with a fresh descriptor.
bool TreeCursor::find_again(Seek mode) {
  anchor_.assign(key_);
  return enter(mode == Seek::kLess ? Where::kBefore : Where::kCovering, anchor_) &&
         place(mode, anchor_);
}

// Before a move from key_: turns where the direction changes, and takes up what the cursor's own
// transaction wrote since the last move.
bool TreeCursor::resume(bool forward) {
  const bool turned = forward != forward_;
  if (turned) begin_walk();
  skipped_any_ = false;  // what was shown lies between
  const Seek mode = forward ? Seek::kGreater : Seek::kLess;
  if (let_go_) return find_again(mode);
  if (view_.own != 0) {
    bool replaced;
    {
      os::epoch::Guard guard;
      const Container* container = tree_->directory().find(key_);
      replaced = container->descriptor.load(std::memory_order_acquire)->active != active_.delta;
    }
    if (replaced) return find_again(mode);
    links_ = active_.delta->links();
    // Its intents stand in the active delta.
    if (!turned && active_.grown()) {
      active_.collect(mode, key_);
      update_limit();
    }
  }
  return !turned || place(mode, key_);
}

// Goes on to the neighbouring container.
bool TreeCursor::cross() {
  if (forward_) {
    if (!has_high_ || (options_.upper && high_ >= *options_.upper)) {
      leave();
      return false;
    }
    anchor_.swap(high_);
    if (!enter(Where::kCovering, anchor_) || !place(Seek::kGreaterEqual, anchor_)) return false;
    if (anchor_ == low_) note_edge();
    return true;
  }
  if (low_.empty() || (options_.lower && low_ <= *options_.lower)) {
    leave();
    return false;
  }
  anchor_.swap(low_);
  if (!enter(Where::kBefore, anchor_) || !place(Seek::kLess, anchor_)) return false;
  if (anchor_ == high_) note_edge();
  return true;
}

// ---- Moves

// Whether the walk over layers takes its place. Those that its view sees were there when it was
// made; but its own transaction may go on writing.
bool TreeCursor::layered() {
  const uint64_t now = tree_->layers().state();
  if (now == layers_ || !options_.layers || (layers_ != 0 && view_.own == 0)) {
    return walk_ != nullptr;
  }
  layers_ = now;
  const std::vector<Layers::Seen> seen = tree_->layers().seen(view_);
  if (seen.empty() && walk_ == nullptr) return false;
  auto walk = std::make_unique<LayeredWalk>(tree_, view_, options_, seen, now);
  const bool between = batching_ || (walk_ != nullptr && walk_->is_between());
  if (valid_ || between) walk->place(key_, between);
  batching_ = false;
  walk_ = std::move(walk);
  if (valid_) key_ = walk_->key();
  leave();
  return true;
}

uint64_t TreeCursor::looks() const { return looks_ + (walk_ != nullptr ? walk_->looks() : 0); }

bool TreeCursor::follow(bool found) {
  valid_ = found;
  key_ = walk_->key();
  value_ = walk_->value();
  status_ = walk_->status();
  return found;
}

bool TreeCursor::start() {
  valid_ = false;
  batching_ = false;
  own_value_ = false;
  fast_end_ = 0;
  if (!status_.ok()) status_ = Status();
  return !empty_range_;
}

// What was read ahead is of no use to another walk, which begins with small windows.
void TreeCursor::begin_walk() {
  read_ahead_.drop();
  window_bytes_ = CursorWindow::kFirstBytes;
  walk_bytes_ = 0;
}

bool TreeCursor::go(Seek mode, std::string_view key) {
  begin_walk();
  if (holds_range_of(mode, key)) {
    if (!place(mode, key)) return false;
  } else {
    anchor_.assign(key);
    if (!enter(mode == Seek::kLess ? Where::kBefore : Where::kCovering, anchor_)) return false;
    if (!place(mode, anchor_)) return false;
  }
  if (key.empty() && forward_) note_edge();
  return find();
}

bool TreeCursor::first() {
  const Use use(this);
  if (layered()) return follow(walk_->first());
  if (!start()) return false;
  return go(Seek::kGreaterEqual, options_.lower ? std::string_view(*options_.lower) : "");
}

bool TreeCursor::last() {
  const Use use(this);
  if (layered()) return follow(walk_->last());
  if (!start()) return false;
  if (options_.upper) return go(Seek::kLess, *options_.upper);
  begin_walk();
  if (!enter(Where::kLast, {})) return false;
  return place_last() && find();
}

bool TreeCursor::seek(std::string_view key) {
  const Use use(this);
  if (layered()) return follow(walk_->seek(key));
  if (!start()) return false;
  if (options_.lower && key < *options_.lower) key = *options_.lower;
  if (options_.upper && key >= *options_.upper) return false;
  return go(Seek::kGreaterEqual, key);
}

bool TreeCursor::seek_for_prev(std::string_view key) {
  const Use use(this);
  if (layered()) return follow(walk_->seek_for_prev(key));
  if (!start()) return false;
  if (options_.upper && key >= *options_.upper) return go(Seek::kLess, *options_.upper);
  if (options_.lower && key < *options_.lower) return false;
  return go(Seek::kLessEqual, key);
}

bool TreeCursor::next_slow() {
  const Use use(this);
  if (layered()) return follow(walk_->next());
  return valid_ && start() && resume(true) && find();
}

bool TreeCursor::prev() {
  const Use use(this);
  if (layered()) return follow(walk_->prev());
  return valid_ && start() && resume(false) && find();
}

// Walks on to the next entry that is visible.
bool TreeCursor::find() {
  dead_count_ = 0;
  dead_own_ = false;
  for (;;) {
    switch (look()) {
      case Step::kShown:
      case Step::kTooLarge:
        if (dead_count_ != 0) end_stretch(true);
        if (from_delta_ && !keep_shown()) return fail(Status(StatusCode::kOutOfMemory));
        consume();
        valid_ = true;
        if (status_.ok()) arm();  // the fast path would leave the status of this entry to the next
        return true;
      case Step::kHidden:
        if (!pass_hidden()) return false;
        break;
      case Step::kStale:
        dead_count_ = 0;
        if (!restart()) return false;
        break;
      case Step::kFailed:
        return fail(std::move(status_));
      case Step::kEnd:
        if (dead_count_ != 0 || skipped_any_) end_stretch(false);
        if (!cross()) return false;
        break;
    }
  }
}

// Lets next() show the entries before the next delta key by itself.
void TreeCursor::arm() {
  if (!forward_ || view_.own != 0 || options_.deletes || run_next_ >= run_limit_) return;
  if (!hiding_.empty()) return;
  fast_end_ = run_limit_;
  turn_group();
}

void TreeCursor::turn_group() {
  const uint32_t number = run_next_ / kGroupEntries;
  group_ = &run_->group(number);
  wide_values_ = run_->wide() ? run_->wide_values(number) : nullptr;
  ahead_ = (number + 1) * kGroupEntries < fast_end_ ? &run_->group(number + 1) : group_;
  run_->prefetch_entry((number + 2) * kGroupEntries);
}

size_t TreeCursor::next_batch(std::span<Entry> out) {
  const Use use(this);
  if (layered()) {
    const size_t count = walk_->next_batch(out);
    follow(false);
    return count;
  }
  if (out.empty() || (!valid_ && !batching_)) return 0;
  size_t count = 0;
  batch_used_ = 0;
  if (valid_) {
    const bool shown = status_.ok();
    // The fast path of next does not touch own_value_.
    own_value_ = value_buffer_ != nullptr && value_.data() == value_buffer_;
    if (shown && !own_value_ && (let_go_ || (windowed_ && !forward_))) {
      // The window goes when the cursor turns, all of the container when it is looked for again.
      char* room = value_room(value_.size());
      if (room == nullptr) return fail(Status(StatusCode::kOutOfMemory)), 0;
      if (!value_.empty()) std::memcpy(room, value_.data(), value_.size());
      value_ = {room, value_.size()};
    }
    const bool own_value = own_value_;
    valid_ = false;
    batching_ = true;
    fast_end_ = 0;
    if (shown) {
      reserve_batch_keys(out.size());
      out[count] = {key_, value_};
      keep_batch_key(out[count]);
      key_ = out[count++].key;
    }
    if (!forward_) begin_walk();
    const bool placed =
        let_go_ ? find_again(Seek::kGreater) : forward_ || place(Seek::kGreater, key_);
    if (!placed) {
      // What it stood on is still handed out; the next call says what is wrong.
      batching_ = shown;
      return count;
    }
    if (!shown || own_value || view_.own != 0) return count;
  } else {
    if (!status_.ok()) status_ = Status();
    own_value_ = false;
    if (view_.own != 0 && !resume(true)) {
      batching_ = false;
      return 0;
    }
  }
  while (count < out.size()) {
    if (run_next_ < run_limit_) {
      if (batch_used_ == 0) reserve_batch_keys(out.size());
      const size_t wanted = std::min<size_t>(out.size() - count, run_limit_ - run_next_);
      const uint32_t filled =
          hiding_.empty() ? run_->fill(run_next_, out.subspan(count, wanted), bases_, key_only_,
                                       batch_keys_ + batch_used_, batch_capacity_ - batch_used_)
                          : 0;
      if (filled != 0) {
        run_next_ += filled;
        count += filled;
        const std::string_view last = out[count - 1].key;
        batch_used_ = static_cast<size_t>(last.data() + last.size() - batch_keys_);
        continue;
      }
      if (count != 0 && batch_capacity_ - batch_used_ < run_->key_buffer_bytes(1)) break;
    }
    // What ends the views handed out so far waits for the next call.
    if (count != 0 && at_window_end()) break;
    const Step step = look();
    if (step == Step::kHidden) {
      consume();
      continue;
    }
    if (step == Step::kShown) {
      out[count] = {key_, value_};
      keep_batch_key(out[count++]);
      consume();
      if (own_value_) break;
      continue;
    }
    // What ends the views handed out so far waits for the next call.
    if (count != 0) {
      status_ = Status();
      break;
    }
    switch (step) {
      case Step::kStale:
        batching_ = restart();
        break;
      case Step::kEnd:
        batching_ = cross();
        break;
      case Step::kTooLarge:
        consume();
        return 0;
      default:
        fail(std::move(status_));
        break;
    }
    if (!batching_) return 0;
  }
  key_ = out[count - 1].key;
  return count;
}

void TreeCursor::reserve_batch_keys(size_t entries) {
  if (run_ == nullptr) return;
  const auto most = static_cast<uint32_t>(std::min<size_t>(entries, 1 << 16));
  const size_t wanted =
      std::min(run_->key_buffer_bytes(most), std::max(kBatchKeyBytes, run_->key_buffer_bytes(1)));
  if (batch_capacity_ >= wanted) return;
  release_batch_keys();
  batch_keys_ = os::allocate_block(tree_->store()->arena, os::Quota::kOther, wanted);
  batch_capacity_ = wanted;
}

// Keys of deltas stay where they are; the others move out of the way of the next.
void TreeCursor::keep_batch_key(Entry& entry) {
  if (entry.key.data() != key_buffer_.get()) return;
  char* to = batch_keys_ + batch_used_;
  std::memcpy(to, entry.key.data(), entry.key.size());
  batch_used_ += entry.key.size();
  entry.key = {to, entry.key.size()};
}

// ---- One entry

// Looks at the next entry of the held container without passing it. Sets key_, and value_ where it
// is shown.
TreeCursor::Step TreeCursor::look() {
  deleted_ = false;
  dead_ = false;
  dead_named_ = true;
  ++looks_;
  if (at_window_end()) {
    if (!load_window({run_next_, run_next_})) return Step::kFailed;
    find_end();
    update_limit();
  }
  if (run_ahead()) return look_run();
  return delta_next_ != nullptr ? look_delta() : Step::kEnd;
}

// Passes the entry that was looked at.
void TreeCursor::consume() {
  run_next_ = run_after_;
  if (!from_delta_) return;
  const Seek mode = forward_ ? Seek::kGreater : Seek::kLess;
  for (Source* source : {in_active_ ? &active_ : nullptr, in_frozen_ ? &frozen_ : nullptr}) {
    if (source == nullptr) continue;
    source->prefetch_version(++source->at + kVersionsAhead - 1);
    if (source->at < source->count) continue;
    source->collect(mode, source->entries[source->count - 1]->key());
    if (source == &frozen_) clip_frozen();
  }
  update_limit();
}

TreeCursor::Step TreeCursor::look_delta() {
  from_delta_ = true;
  run_after_ = run_next_;
  key_ = delta_next_->key();
  HAWTHORN_TEST_POINT("tree.cursor.before_chain");
  ChainRead read;
  const Version* newest = nullptr;
  if (in_active_) {
    newest = active_.next()->newest.load(std::memory_order_acquire);
    read = read_chain(newest, view_, *tree_->store()->slots, false);
  }
  if (in_frozen_ && !read.stale && read.version == nullptr) {
    const Version* frozen = frozen_.next()->newest.load(std::memory_order_acquire);
    if (newest == nullptr) newest = frozen;
    read = read_chain(frozen, view_, *tree_->store()->slots, true);
  }
  if (read.stale) return Step::kStale;
  if (read.version == nullptr) {  // the run's versions of the key come next
    note_hidden_delta(read, newest);
    unseen_ = dead_ ? nullptr : delta_next_;
    return Step::kHidden;
  }
  if (forward_) {
    if (run_same_) ++run_after_;
    if (!run_same_ || run_->has_versions()) {
      while (run_after_ < run_stop_ && run_->has_key(run_after_, key_)) ++run_after_;
    }
  } else {
    while (run_after_ > run_stop_ && run_->has_key(run_after_ - 1, key_)) --run_after_;
  }
  if (!hiding_.empty() && hides(key_, read.cts)) {
    note_hidden_delta(read, newest);
    return Step::kHidden;
  }
  switch (read.version->kind) {
    case VersionKind::kTombstone:
      deleted_ = options_.deletes;
      value_ = {};
      if (deleted_) return Step::kShown;
      note_hidden_delta(read, newest);
      return Step::kHidden;
    case VersionKind::kLarge:
      return show_large(read.version->value());
    case VersionKind::kMerge:
      return show_folded();
    case VersionKind::kPut:
      break;
  }
  value_ = key_only_ ? std::string_view() : read.version->value();
  return Step::kShown;
}

TreeCursor::Step TreeCursor::look_run() {
  from_delta_ = false;
  uint32_t begin = forward_ ? run_next_ : run_next_ - 1;
  uint32_t end = begin + 1;
  const uint32_t index = run_->has_versions() ? pick_version(&begin, &end) : begin;
  run_after_ = forward_ ? end : begin;
  return index == Run::kNone ? Step::kHidden : show_run(index);
}

void TreeCursor::release_batch_keys() {
  if (batch_keys_ == nullptr) return;
  os::release_block(tree_->store()->arena, os::Quota::kOther, batch_keys_, batch_capacity_);
  batch_keys_ = nullptr;
  batch_capacity_ = 0;
}

}  // namespace hawthorn::tree
