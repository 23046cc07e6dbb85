// Moves of a cursor that pass many entries: skips, counts, random places.
//
//   edge of a container ──whole ones by their counts──> one that has to be looked at
//        ^                                                 │ entered: entries of its run before
//        └──────────────── its other edge <────────────────┘ the next delta key at once

#include <algorithm>
#include <utility>

#include "base/prng.h"
#include "tree/count.h"
#include "tree/cursor.h"
#include "tree/estimate.h"
#include "tree/layered_walk.h"

namespace hawthorn::tree {

using format::kGroupEntries;

namespace {
constexpr int kRandomAttempts = 8;
constexpr uint64_t kAll = ~uint64_t{0};
}  // namespace

// ---- Within a container

// Where what the run may show ends in the direction of travel, if its heads tell, or the window.
std::optional<uint32_t> TreeCursor::certain_end() const {
  const bool bounded = forward_ ? high_inside_ : low_inside_;
  if (!bounded) return forward_ ? file_run_->entries() : 0;
  const std::string_view bound = forward_ ? *options_.upper : *options_.lower;
  const Located place = locate(bound);
  return place.exact ? std::optional<uint32_t>(place.at) : std::nullopt;
}

// How far the run has nothing but entries before the next delta key, as far as heads and window
// tell. (run_limit_ does not look beyond the window.)
uint32_t TreeCursor::jump_end() const {
  if (!windowed_) return run_limit_;
  uint32_t end = forward_ ? file_run_->entries() : 0;
  const auto end_at = [&](std::string_view key, bool seen_after) {
    const Located place = locate(key);
    const uint32_t at = place.exact && seen_after ? run_limit_ : place.at;
    end = forward_ ? std::min(end, at) : std::max(end, at);
  };
  if (forward_ ? high_inside_ : low_inside_) {
    end_at(forward_ ? *options_.upper : *options_.lower, false);
  }
  if (delta_next_ != nullptr) end_at(delta_next_->key(), true);
  return forward_ ? std::max(end, run_next_) : std::min(end, run_next_);
}

// Entries around the place `at` that a window must have for a walk to go on from there.
Run::Range TreeCursor::entries_at(uint32_t at) const {
  const uint32_t entries = file_run_->entries();
  Run::Range range{forward_ ? at : at - 1, forward_ ? at + 1 : at};
  if (file_run_->is_outline()) {
    range.begin = range.begin / kGroupEntries * kGroupEntries;
    range.end = std::min((range.end + kGroupEntries - 1) / kGroupEntries * kGroupEntries, entries);
    return range;
  }
  range.begin = file_run_->boundary_before(range.begin);
  range.end = file_run_->boundary_from(range.end);
  return range;
}

// Passes so many entries of the run, all of which are shown and lie before jump_end().
bool TreeCursor::jump(uint32_t count) {
  const uint32_t to = forward_ ? run_next_ + count : run_next_ - count;
  run_from_ += to - run_next_;  // these are no reads
  run_next_ = to;
  if (windowed_) {
    if (certain_end() == to) {
      run_end_ = to;
      run_stop_ = to;
      update_limit();
      return true;
    }
    const bool inside = forward_ ? to >= window_->begin() && to < window_->end()
                                 : to > window_->begin() && to <= window_->end();
    if (!inside) {
      // Where a key's versions end so far from here only the front tells.
      if (by_index() && run_->has_versions()) {
        status_ = load_front();
        if (!status_.ok()) return false;
      }
      if (!load_window(entries_at(to))) return false;
    }
    find_end();
  }
  update_limit();
  return true;
}

// Whether each entry of the run is shown where no delta has its key: as many keys are there as
// entries, so each is the newest version of its key, and no tombstone.
bool TreeCursor::shows_all_of_run() const {
  if (!hiding_.empty()) return false;
  return !run_->has_versions() || file_->live_at(view_.ts) == file_->record.entries;
}

// Passes up to *most entries of the held container, which falls by as many. kShown: all of them;
// kEnd, kStale, kFailed.
TreeCursor::Step TreeCursor::pass_here(uint64_t* most) {
  while (*most > 0) {
    if (run_ != nullptr && shows_all_of_run()) {
      const uint32_t end = jump_end();
      const uint32_t room = forward_ ? end - run_next_ : run_next_ - end;
      if (room > 0) {
        const auto count = static_cast<uint32_t>(std::min<uint64_t>(room, *most));
        if (!jump(count)) return Step::kFailed;
        *most -= count;
        continue;
      }
    }
    const Step step = look();
    switch (step) {
      case Step::kShown:
      case Step::kTooLarge:
        --*most;
        consume();
        break;
      case Step::kHidden:
        consume();
        break;
      default:
        return step;
    }
  }
  return Step::kShown;
}

// ---- Over containers

// A walk has counted all of the held container, whose run nobody knew the count of: now it is
// known.
void TreeCursor::note_count(uint64_t keys) {
  RunFile* file = file_.get();
  if (file->live.load(std::memory_order_acquire) != RunFile::kHasVersions) return;
  const bool clean = active_.delta->empty() && frozen_.delta == nullptr;
  if (!clean || options_.deletes || !options_.hidden.empty() || high_inside_ || low_inside_ ||
      view_.ts < file->record.max_ts)
    return;
  file->set_live(keys, file->record.max_ts);
  recount(tree_->directory(), low_, file);
}

// Goes on from an edge between containers, over those whose counts are known. False: at the end, or
// after an error.
bool TreeCursor::pass_nodes(std::string_view edge, uint64_t* most) {
  NodePass pass;
  pass.ts = view_.ts;
  pass.forward = forward_;
  pass.bound = forward_ ? options_.upper : options_.lower;
  pass.edge = edge;
  leave();
  // What is hidden no count tells.
  for (; options_.hidden.empty();) {
    pass.most = *most;
    NodeWalk::pass(tree_->directory(), &pass);
    *most = pass.most;
    if (pass.ended) return false;
    if (pass.unseen.empty()) break;
    size_t failed = 0;
    Status status = look_at(*tree_->store(), pass.unseen, &failed);
    if (status.ok()) continue;
    const UnseenRun& run = pass.unseen[failed];
    file_ = PinnedRunFile(run.file.get());
    low_ = run.low;
    high_ = run.high;
    has_high_ = run.has_high;
    // Damage is declared only of what a fresh descriptor still refers to (R24).
    if (!status.is(StatusCode::kCorruption) || !has_newer_run(low_)) {
      return fail(std::move(status));
    }
    file_.reset();
  }
  anchor_.swap(pass.edge);
  if (!enter(forward_ ? Where::kCovering : Where::kBefore, anchor_)) return false;
  whole_ = anchor_ == (forward_ ? low_ : high_);
  return place(forward_ ? Seek::kGreaterEqual : Seek::kLess, anchor_);
}

// As cross.
bool TreeCursor::cross_by_counts(uint64_t* most) {
  if (forward_ ? !has_high_ || (options_.upper && high_ >= *options_.upper)
               : low_.empty() || (options_.lower && low_ <= *options_.lower)) {
    leave();
    return false;
  }
  const std::string edge = forward_ ? high_ : low_;
  return pass_nodes(edge, most);
}

// After a pass: entries are shown again.
bool TreeCursor::rest() {
  passing_ = false;
  skipped_any_ = false;
  if (!bare_window_) return true;
  bare_window_ = false;
  window_->reset();
  if (run_next_ == run_stop_) return true;  // who goes on, or back, reads another window
  if (!load_window(entries_at(run_next_))) return fail(std::move(status_));
  find_end();
  update_limit();
  return true;
}

// Passes *most entries, which falls by as many. False: the end came before, or an error.
bool TreeCursor::pass_over(uint64_t* most) {
  passing_ = true;
  bool goes_on = true;
  uint64_t at_edge = *most;
  while (goes_on && *most > 0) {
    switch (pass_here(most)) {
      case Step::kStale:
        goes_on = restart();
        whole_ = false;
        break;
      case Step::kEnd:
        if (whole_) note_count(at_edge - *most);
        goes_on = cross_by_counts(most);
        at_edge = *most;
        break;
      case Step::kFailed:
        goes_on = fail(std::move(status_));
        break;
      default:
        break;
    }
  }
  return rest() && goes_on;
}

// The same from the beginning of the range.
bool TreeCursor::pass_from_first(uint64_t* most) {
  forward_ = true;
  passing_ = true;
  const std::string edge = options_.lower.value_or(std::string());
  const bool entered = pass_nodes(edge, most);
  passing_ = false;
  return entered && pass_over(most);
}

// ---- Moves

bool TreeCursor::skip(int64_t n) {
  if (n == 0) return valid_;
  if (n == 1) return next();
  if (n == -1) return prev();
  const Use use(this);
  if (layered()) return follow(walk_->skip(n));
  if (!valid_ || !start() || !resume(n > 0)) return false;
  begin_walk();
  whole_ = false;
  uint64_t most = (n > 0 ? static_cast<uint64_t>(n) : -static_cast<uint64_t>(n)) - 1;
  return pass_over(&most) && find();
}

Result<uint64_t> TreeCursor::count() {
  const Use use(this);
  if (layered()) {
    Result<uint64_t> counted = walk_->count();
    follow(false);
    return counted;
  }
  if (!start()) return uint64_t{0};
  begin_walk();
  uint64_t left = kAll;
  pass_from_first(&left);
  leave();
  if (!status_.ok()) return status_;
  return kAll - left;
}

// An entry of the container that was chosen. False: it has none in the range, or an error.
bool TreeCursor::seek_random_in(std::string_view low, uint64_t random) {
  uint64_t left = kAll;
  anchor_.assign(low);
  forward_ = true;
  passing_ = true;
  Step step = Step::kFailed;
  if (enter(Where::kCovering, anchor_) && place(Seek::kGreaterEqual, anchor_)) {
    step = pass_here(&left);
    if (step == Step::kFailed) fail(std::move(status_));
  }
  passing_ = false;
  if (step != Step::kEnd || left == kAll) {
    leave();  // its window has no values, and a seek would go by it
    return false;
  }
  uint64_t most = random % (kAll - left);
  whole_ = false;
  passing_ = true;
  const bool placed = place(Seek::kGreaterEqual, anchor_);
  passing_ = false;
  return placed && pass_over(&most) && find();
}

bool TreeCursor::seek_random(uint64_t random) {
  const Use use(this);
  if (layered()) return follow(walk_->seek_random(random));
  if (!start()) return false;
  begin_walk();
  for (int attempt = 0; attempt < kRandomAttempts; ++attempt) {
    random = mix64(random);
    std::optional<std::string> low = choose_container(tree_->directory(), options_.lower,
                                                      options_.upper, random, tree_->shape());
    if (!low) return false;
    if (options_.lower && *options_.lower > *low) low = options_.lower;
    if (seek_random_in(*low, mix64(random))) return true;
    if (!status_.ok()) return false;
  }
  // Little of what is stored there is for this reader: its entries are counted, then.
  uint64_t left = kAll;
  pass_from_first(&left);
  if (!status_.ok() || left == kAll) return false;
  uint64_t most = mix64(random) % (kAll - left);
  return pass_from_first(&most) && find();
}

}  // namespace hawthorn::tree
