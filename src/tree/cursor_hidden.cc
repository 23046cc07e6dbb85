// What a cursor does not show: what deleted ranges hide, and stretches of keys on which nothing is
// left.
//
//   enter ──> ranges that the container's run was not made without ──all of it──> no run
//                                                  └──────────────a part of it──> each key is asked
//   find ──> a tombstone ──in a known stretch──> behind that
//                 └──> more of them ──many──> a stretch that is known from now on

#include <utility>

#include "os/epoch.h"
#include "tree/cursor.h"

namespace hawthorn::tree {

namespace {
constexpr uint32_t kGrowsBy = 4;  // a stretch that is known
}  // namespace

// ---- Deleted ranges

// Behind a run that was made without what a range hides, the deltas have nothing that is older. Nor
// does anybody need the run of a container on which nothing is left.
void TreeCursor::find_hiding() {
  run_hidden_ =
      dead_known() && active_.delta->dead()->have_all_from(low_, view_, options_.hidden_state);
  for (const Layers::Seen& seen : options_.hidden) {
    const KeyRange& range = seen.layer->range;
    if (seen.cts <= file_->record.cut) continue;
    const std::optional<std::string_view> end =
        has_high_ ? std::optional<std::string_view>(high_) : std::nullopt;
    if (!range.meets(low_, end)) continue;
    hiding_.push_back(&seen);
    const bool all = range.low <= low_ && (!range.high || (has_high_ && high_ <= *range.high));
    run_hidden_ = run_hidden_ || all;
  }
}

// Of the held container: a version of this timestamp; kLsnMax: an own intent. 0: of its run.
bool TreeCursor::hides(std::string_view key, Lsn cts) const {
  for (const Layers::Seen* seen : hiding_) {
    if (cts < seen->cts && seen->layer->range.covers(key)) return true;
  }
  return false;
}

// ---- Stretches

// Whether what a delta has of a key stays hidden from whoever reads at this timestamp or later. Not
// where others' versions, or those that are not visible yet, may come to rank above it. `newest` of
// the chain that decides; null: it is empty.
void TreeCursor::note_hidden_delta(const ChainRead& read, const Version* newest) {
  const bool own = read.version != nullptr && read.cts == format::kLsnMax;
  dead_ =
      newest == read.version && (own || newest == nullptr ||
                                 (newest->flags.load(std::memory_order_relaxed) & kUnordered) == 0);
  if (own) dead_own_ = true;
}

// Passes the entry that was looked at. False: the end, or an error.
bool TreeCursor::pass_hidden() {
  // Whoever reads later finds what stands above this version.
  const bool of_run = dead_ && !from_delta_ && unseen_ != nullptr;
  if (of_run && run_->has_key(forward_ ? run_next_ : run_after_, unseen_->key())) dead_ = false;
  if (!dead_ || (dead_count_ == 0 && !dead_named_)) {
    skipped_any_ = skipped_any_ && dead_;
    dead_count_ = 0;
    dead_own_ = false;
    consume();
    return true;
  }
  if (dead_count_ == 0) {
    dead_to_end_ = false;
    dead_links_ = links_;
    if (skipped_any_) {
      take_up_skipped();
    } else {
      dead_edge_.assign(key_);
      if (!forward_) dead_edge_.push_back('\0');
    }
  }
  const bool looks = dead_named_ && dead_count_++ % dead_looks_again == 0 &&
                     active_.delta != nullptr && active_.delta->dead() != nullptr;
  if (looks && active_.delta->dead()->any()) return pass_stretch();
  consume();
  return true;
}

// Where a walk is to begin in stretches that are known, puts it behind them; nothing of what is in
// them is looked at, or read. `key`: nothing for the container's end, from which it goes back.
// False: they have all of the container that the walk may come to.
bool TreeCursor::pass_known(Seek* mode, std::optional<std::string_view>* key) {
  const DeadStretches& dead = *active_.delta->dead();
  DeadStretch known;
  for (size_t passed = 0; passed < DeadStretches::kMost; ++passed) {
    const bool before = !*key || *mode == Seek::kLess;
    const bool found = before ? dead.find_before(*key, view_, options_.hidden_state, &known)
                              : dead.find(**key, view_, options_.hidden_state, &known);
    if (!found) return true;
    if (known.own != 0) dead_own_ = true;  // in the middle of a stretch that is passed
    if (!skipped_any_) {
      skipped_ = std::move(known);
      skipped_any_ = true;
      skipped_edge_ = false;
    } else {
      skipped_.own = std::max(skipped_.own, known.own);
      if (forward_) {
        skipped_.high = std::move(known.high);
        skipped_.to_end = known.to_end;
      } else {
        skipped_.low = std::move(known.low);
      }
    }
    if (forward_ ? skipped_.to_end : skipped_.low <= low_) return false;
    *mode = forward_ ? Seek::kGreaterEqual : Seek::kLess;
    *key = forward_ ? skipped_.high : skipped_.low;
  }
  return true;
}

// Behind everything that the held container has.
void TreeCursor::place_at_end() {
  run_next_ = run_stop_ = run_end_ = run_limit_ = run_from_ = 0;
  skipped_any_ = false;  // there is nothing to add
  active_.at = active_.count = 0;
  frozen_.at = frozen_.count = 0;
  delta_next_ = nullptr;
  unseen_ = nullptr;
  in_active_ = false;
  in_frozen_ = false;
}

// The walk came into the container at its edge: what is dead there begins with it.
void TreeCursor::note_edge() {
  if (skipped_any_ || active_.delta == nullptr || active_.delta->empty()) return;
  skipped_any_ = true;
  skipped_edge_ = true;
  skipped_.own = 0;
  skipped_.to_end = !forward_;
  if (forward_) skipped_.low = low_;
}

// The stretch that is passed begins where the one does that was passed at once.
void TreeCursor::take_up_skipped() {
  dead_links_ = links_;
  dead_edge_ = forward_ ? skipped_.low : skipped_.high;
  dead_to_end_ = !forward_ && skipped_.to_end;
  if (skipped_.own != 0) dead_own_ = true;
}

// Behind the known stretch in which key_ lies, if there is one.
bool TreeCursor::pass_stretch() {
  DeadStretch known;
  if (!active_.delta->dead()->find(key_, view_, options_.hidden_state, &known)) {
    consume();
    return true;
  }
  // What was passed before may lie in it.
  if (known.own != 0) dead_own_ = true;
  if (forward_) {
    if (known.low < dead_edge_) dead_edge_ = known.low;
    if (known.to_end) {
      end_stretch(false);
      return cross();
    }
    return place(Seek::kGreaterEqual, known.high);
  }
  if (known.to_end || known.high > dead_edge_) {
    dead_to_end_ = known.to_end;
    dead_edge_ = known.high;
  }
  return place(Seek::kLess, known.low);
}

// Behind an entry that is shown, or all of the container's.
void TreeCursor::end_stretch(bool shown) {
  const bool grows = skipped_any_ && !skipped_edge_;
  if (grows && dead_count_ == 0) take_up_skipped();
  // What is over for good is worth less of a price: nobody comes back to the rest of a container.
  if (!grows && dead_count_ == 0) return;
  const bool many =
      dead_count_ >= dead_stretch_min || (grows && (!shown || dead_count_ >= kGrowsBy));
  dead_count_ = 0;
  const bool own = std::exchange(dead_own_, false);
  if (!many || options_.deletes || active_.delta == nullptr ||
      active_.delta->links() != dead_links_) {
    return;
  }
  DeadStretch stretch;
  if (forward_) {
    stretch.low = dead_edge_;
    if (shown) {
      stretch.high = key_;
    } else if (high_inside_) {
      stretch.high = *options_.upper;
    } else {
      stretch.to_end = true;
    }
  } else {
    stretch.high = dead_edge_;
    stretch.to_end = dead_to_end_;
    if (shown) {
      stretch.low.assign(key_).push_back('\0');
    } else {
      stretch.low = low_inside_ ? *options_.lower : low_;
    }
  }
  stretch.ts = view_.ts;
  stretch.own = own || !options_.hidden.empty() ? view_.own : 0;
  stretch.layers = options_.hidden.empty() ? 0 : options_.hidden_state;
  keep_stretch(std::move(stretch));
}

// Unless anything was written to the container since it was looked at, or it has another run.
void TreeCursor::keep_stretch(DeadStretch stretch) {
  if (stretch.low.size() > DeadStretches::kKeyBytesMax ||
      stretch.high.size() > DeadStretches::kKeyBytesMax) {
    return;
  }
  const os::epoch::Guard guard;
  Container* container = tree_->directory().find(low_);
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  if (container->dead || descriptor->active != active_.delta || descriptor->run != file_.get() ||
      active_.delta->links() != dead_links_) {
    return;
  }
  active_.delta->add_dead(std::move(stretch));
}

}  // namespace hawthorn::tree
