#include "tree/layered_walk.h"

#include <algorithm>
#include <utility>

#include "base/prng.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/estimate.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {
constexpr uint32_t kLooksAgain = 64;
}  // namespace

LayeredWalk::LayeredWalk(TreeState* tree, const ReadView& view, TreeCursor::Options options,
                         const std::vector<Layers::Seen>& layers, uint64_t state)
    : tree_(tree),
      view_(view),
      options_(options),
      moment_{view.ts, state},
      base_(tree->base() != nullptr && tree->base()->shown_to(view) ? tree->base() : nullptr),
      held_(*tree->store()->snapshots, *tree->store()->visible) {
  options.layers = false;
  options.layered_dead = nullptr;
  options.deletes = base_ != nullptr;
  options.hidden_state = state;
  for (const Layers::Seen& seen : layers) {
    if (seen.layer->deletes()) options.hidden.push_back(seen);
  }
  cursors_.push_back(std::make_unique<TreeCursor>(tree, view, options));
  options.hidden.clear();
  options.deletes = false;
  options.key_only = true;
  for (const Layers::Seen& seen : layers) {
    if (seen.layer->deletes()) continue;
    layers_.push_back(seen.layer);
    cursors_.push_back(std::make_unique<TreeCursor>(seen.layer->data, kNewestOfLayer, options));
  }
  if (!layers_.empty()) {
    dead_ = view.own != 0 ? options_.layered_dead : std::make_shared<LayeredDead>();
  }
  if (base_ != nullptr) {
    cursors_.push_back(std::make_unique<TreeCursor>(base_->source, base_->view(view), options_));
  }
}

template <typename Move>
bool LayeredWalk::move_all(bool forward, Move move) {
  batching_ = false;
  forward_ = forward;
  sought_ = true;
  for (const std::unique_ptr<TreeCursor>& cursor : cursors_) move(*cursor);
  return show();
}

// Where ranges are all that there is, its own cursor does it all.
bool LayeredWalk::alone(bool found) {
  batching_ = false;
  sought_ = true;
  return valid_ = found;
}

bool LayeredWalk::first() {
  if (is_alone()) return alone(own().first());
  return move_all(true, [](TreeCursor& cursor) { cursor.first(); });
}
bool LayeredWalk::last() {
  if (is_alone()) return alone(own().last());
  return move_all(false, [](TreeCursor& cursor) { cursor.last(); });
}
bool LayeredWalk::seek(std::string_view key) {
  if (is_alone()) return alone(own().seek(key));
  return move_all(true, [key](TreeCursor& cursor) { cursor.seek(key); });
}
bool LayeredWalk::seek_for_prev(std::string_view key) {
  if (is_alone()) return alone(own().seek_for_prev(key));
  return move_all(false, [key](TreeCursor& cursor) { cursor.seek_for_prev(key); });
}

void LayeredWalk::place(std::string_view key, bool behind) {
  key_ = key;
  valid_ = !behind;
  batching_ = behind;
  sought_ = false;
}

// From key_, which need not be there any more. What its own transaction has written since the last
// move may lie before the place where a cursor stands; but not in a layer, which would be another
// one's.
bool LayeredWalk::step(bool forward) {
  if (is_alone()) {
    if (sought_) return alone(forward ? own().next() : own().prev());
    const bool found = forward ? own().seek(key_) : own().seek_for_prev(key_);
    if (!found || own().key() != key_) return alone(found);
    return alone(forward ? own().next() : own().prev());
  }
  const bool seeks = !sought_ || forward != forward_;
  size_t number = 0;
  return move_all(forward, [&](TreeCursor& cursor) {
    const bool may_be_new = view_.own != 0 && !in_layers(number);
    ++number;
    if ((seeks || may_be_new) && (!cursor.valid() || cursor.key() != key_)) {
      forward ? cursor.seek(key_) : cursor.seek_for_prev(key_);
    }
    if (cursor.valid() && cursor.key() == key_) forward ? cursor.next() : cursor.prev();
  });
}

bool LayeredWalk::next() { return valid_ && step(true); }
bool LayeredWalk::prev() { return valid_ && step(false); }

// Behind key_, which is not there.
void LayeredWalk::pass_key() {
  for (const std::unique_ptr<TreeCursor>& cursor : cursors_) {
    if (!cursor->valid() || cursor->key() != key_) continue;
    forward_ ? cursor->next() : cursor->prev();
  }
}

bool LayeredWalk::show() {
  Passed passed;
  const bool shown = find_shown(&passed);
  if (dead_ != nullptr && passed.looked_at > 0 && (shown || status_.ok())) remember(passed);
  return shown;
}

void LayeredWalk::remember(Passed& passed) {
  if (passed.looked_at < layered_dead_min && !passed.known) return;
  LayeredDead::Stretch& stretch = passed.stretch;
  if (forward_) {
    stretch.high = valid_ ? std::optional<std::string>(key_) : options_.upper;
  } else {
    stretch.low = valid_ ? key_ + '\0' : options_.lower.value_or(std::string());
  }
  dead_->add(tree_->id(), moment_, std::move(stretch));
}

// Where key_ is in a stretch that is known, all cursors go behind that. *ended: so there is
// nothing.
bool LayeredWalk::pass_known(Passed* passed, bool* ended) {
  LayeredDead::Stretch known;
  if (!dead_->find(tree_->id(), moment_, key_, &known)) return false;
  *ended = forward_ && !known.high;
  for (const std::unique_ptr<TreeCursor>& cursor : cursors_) {
    if (!cursor->valid() || *ended) continue;
    if (forward_ && cursor->key() < *known.high) {
      cursor->seek(*known.high);
    } else if (!forward_ && cursor->key() >= known.low) {
      if (cursor->seek_for_prev(known.low) && cursor->key() == known.low) cursor->prev();
    }
  }
  // A walk begins in the first of them, and a later one goes on from what it has passed.
  if (!passed->any()) passed->stretch = std::move(known);
  passed->known = true;
  return true;
}

// The nearest key of all cursors, unless it is deleted: then the one behind it.
bool LayeredWalk::find_shown(Passed* passed) {
  const auto pass = [&] {
    HAWTHORN_TEST_POINT("layered_walk.passes_a_key");
    if (!passed->any()) passed->stretch = {key_, key_ + '\0'};
    ++passed->looked_at;
    pass_key();
  };
  for (;;) {
    valid_ = false;
    value_ = {};
    status_ = Status();
    untold_ = Status();
    const TreeCursor* nearest = nullptr;
    bool layered = false;
    for (size_t i = 0; i < cursors_.size(); ++i) {
      const TreeCursor* cursor = cursors_[i].get();
      const bool too_large = cursor->status().is(StatusCode::kNotSupported) && cursor->valid();
      if (!cursor->status().ok() && !too_large) {
        status_ = cursor->status();
        return false;
      }
      if (!cursor->valid()) continue;
      const int order = nearest == nullptr ? -1
                        : forward_         ? cursor->key().compare(nearest->key())
                                           : nearest->key().compare(cursor->key());
      if (order < 0) {
        nearest = cursor;
        layered = false;
      }
      layered = layered || (order <= 0 && in_layers(i));
    }
    if (nearest == nullptr) return false;
    key_ = nearest->key();
    bool ended = false;
    if (dead_ != nullptr && passed->looked_at % kLooksAgain == 0 && pass_known(passed, &ended)) {
      if (ended) return false;
      continue;
    }
    if (!layered) {
      if (nearest->deleted()) {
        pass();
        continue;
      }
      value_ = nearest->value();
      status_ = nearest->status();
      return valid_ = true;
    }
    ++looks_;
    status_ = tree_->get(key_, view_, true, read_);
    const bool too_large = status_.is(StatusCode::kNotSupported);
    if (status_.ok() || too_large) {
      if (!options_.key_only && !too_large) value_ = read_.view();
      if (options_.key_only) status_ = Status();
      return valid_ = true;
    }
    if (!status_.is_not_found()) return false;
    pass();
  }
}

bool LayeredWalk::skip(int64_t n) {
  if (is_alone() && sought_ && n != 0) return alone(own().skip(n));
  for (; n > 0 && valid_; --n) next();
  for (; n < 0 && valid_; ++n) prev();
  return valid_;
}

// One of the cursors, by how much it may have; what that comes to may be hidden, or hide others.
bool LayeredWalk::seek_random(uint64_t random) {
  if (is_alone()) return alone(own().seek_random(random));
  std::vector<uint64_t> weights;
  uint64_t all = 0;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const TreeState* of = in_layers(i) ? layers_[i - 1]->data : i == 0 ? tree_ : base_->source;
    const bool whole = i > 0 && !in_layers(i);  // with what that is a clone of itself
    for (const TreeState* next = of; next != nullptr;) {
      all +=
          estimate(next->directory(), options_.lower.value_or(""), options_.upper, tree_->shape())
              .entries;
      next = whole && next->base() != nullptr ? next->base()->source.get() : nullptr;
    }
    weights.push_back(all);
  }
  if (all == 0) return first();
  const auto at = std::upper_bound(weights.begin(), weights.end(), mix64(random) % all);
  TreeCursor& chosen = *cursors_[static_cast<size_t>(at - weights.begin())];
  if (!chosen.seek_random(random)) return first();
  const std::string key(chosen.key());
  return seek(key) || seek_for_prev(key);
}

// What the base has, but for what was deleted since, and what the clone has beyond it.
Result<uint64_t> LayeredWalk::count_clone() {
  Result<uint64_t> counted = cursors_.back()->count();
  if (!counted.ok()) return counted;
  uint64_t count = *counted;
  TreeCursor::Options options = options_;
  options.key_only = true;
  TreeCursor in_base(base_->source, base_->view(view_), std::move(options));
  for (bool there = own().first(); there; there = own().next()) {
    const bool was = in_base.seek(own().key()) && in_base.key() == own().key();
    if (!in_base.status().ok()) return in_base.status();
    if (was && own().deleted()) --count;
    if (!was && !own().deleted()) ++count;
  }
  if (!own().status().ok()) return own().status();
  return count;
}

Result<uint64_t> LayeredWalk::count() {
  alone(false);
  if (is_alone()) return own().count();
  if (base_ != nullptr && layers_.empty()) return count_clone();
  uint64_t count = 0;
  for (bool there = first(); there; there = next()) ++count;
  if (!status_.ok()) return status_;
  return count;
}

size_t LayeredWalk::next_batch(std::span<Entry> out) {
  if (out.empty() || (!valid_ && !batching_)) return 0;
  if (is_alone()) {
    if (!sought_ && !(valid_ ? seek(key_) : step(true))) return 0;
    const size_t count = own().next_batch(out);
    valid_ = false;
    batching_ = count > 0 || !own().status().ok();
    return count;
  }
  if (valid_ && !sought_ && !seek(key_)) return 0;
  if (!untold_.ok()) {
    status_ = std::exchange(untold_, Status());
    return 0;
  }
  bool there = valid_;
  if (batching_) {
    valid_ = true;
    there = step(true);
  }
  batch_.clear();
  size_t count = 0;
  while (there && status_.ok()) {
    batch_.emplace_back(key_);
    batch_.emplace_back(value_);
    out[count++] = {batch_[batch_.size() - 2], batch_.back()};
    if (count == out.size()) break;
    there = next();
  }
  // What cannot be shown is told by the next batch, which goes on behind it.
  batching_ = there && (count > 0 || !status_.ok());
  if (batching_ && count > 0) untold_ = std::exchange(status_, Status());
  valid_ = false;
  return count;
}

}  // namespace hawthorn::tree
