#include "tree/layered_walk.h"

#include <algorithm>
#include <utility>

#include "base/prng.h"
#include "os/epoch.h"
#include "tree/estimate.h"
#include "tree/tree.h"

namespace hawthorn::tree {

LayeredWalk::LayeredWalk(TreeState* tree, const ReadView& view, TreeCursor::Options options,
                         const std::vector<Layers::Seen>& layers)
    : tree_(tree),
      view_(view),
      options_(options),
      base_(tree->base() != nullptr && tree->base()->shown_to(view) ? tree->base() : nullptr),
      held_(*tree->store()->snapshots, *tree->store()->visible) {
  options.layers = false;
  options.deletes = base_ != nullptr;
  cursors_.push_back(std::make_unique<TreeCursor>(tree, view, options));
  options.deletes = false;
  options.key_only = true;
  for (const Layers::Seen& seen : layers) {
    if (seen.layer->deletes()) {
      ranges_.push_back(seen);
      continue;
    }
    layers_.push_back(seen.layer);
    cursors_.push_back(std::make_unique<TreeCursor>(seen.layer->data, kNewestOfLayer, options));
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

bool LayeredWalk::first() {
  return move_all(true, [](TreeCursor& cursor) { cursor.first(); });
}
bool LayeredWalk::last() {
  return move_all(false, [](TreeCursor& cursor) { cursor.last(); });
}
bool LayeredWalk::seek(std::string_view key) {
  return move_all(true, [key](TreeCursor& cursor) { cursor.seek(key); });
}
bool LayeredWalk::seek_for_prev(std::string_view key) {
  return move_all(false, [key](TreeCursor& cursor) { cursor.seek_for_prev(key); });
}

void LayeredWalk::place(std::string_view key) {
  key_ = key;
  valid_ = true;
  sought_ = false;
}

// From key_, which need not be there any more. What its own transaction has written since the last
// move may lie before the place where a cursor stands.
bool LayeredWalk::step(bool forward) {
  const bool seeks = !sought_ || forward != forward_ || view_.own != 0;
  return move_all(forward, [this, seeks, forward](TreeCursor& cursor) {
    if (seeks) forward ? cursor.seek(key_) : cursor.seek_for_prev(key_);
    if (cursor.valid() && cursor.key() == key_) forward ? cursor.next() : cursor.prev();
  });
}

bool LayeredWalk::next() { return valid_ && step(true); }
bool LayeredWalk::prev() { return valid_ && step(false); }

// The newest range that may hide the key; null: none.
const Layers::Seen* LayeredWalk::hiding(std::string_view key) const {
  const auto range = std::find_if(ranges_.begin(), ranges_.end(), [key](const Layers::Seen& seen) {
    return seen.layer->range.covers(key);
  });
  return range == ranges_.end() ? nullptr : &*range;
}

// From a key in the range that is not there, behind its container, or behind what of that lies in
// the range, where all of it is hidden. Else behind the key.
void LayeredWalk::pass_hidden(const Layers::Seen& range) {
  const KeyRange& hidden = range.layer->range;
  std::string to;
  bool whole = false;
  bool to_end = false;
  if (cursors_.size() == 1) {
    const os::epoch::Guard guard;
    const Container* container = tree_->directory().find(key_);
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
    whole = descriptor->run->record.cut < range.cts && descriptor->active->empty() &&
            descriptor->frozen == nullptr;
    if (forward_) {
      to_end = !container->has_high && !hidden.high;
      to = container->has_high ? container->high : hidden.high.value_or("");
      if (container->has_high && hidden.high && *hidden.high < to) to = *hidden.high;
    } else {
      to = std::max(container->low, hidden.low);
    }
  }
  for (const std::unique_ptr<TreeCursor>& cursor : cursors_) {
    if (!cursor->valid()) continue;
    if (whole && forward_ && !to_end) {
      cursor->seek(to);
    } else if (whole && forward_) {
      cursor->last();
      cursor->next();
    } else if (whole) {
      cursor->seek_for_prev(to);
      if (cursor->valid() && cursor->key() == to) cursor->prev();
    } else if (cursor->key() == key_) {
      forward_ ? cursor->next() : cursor->prev();
    }
  }
}

// Behind key_, which is not there.
void LayeredWalk::pass_key() {
  for (const std::unique_ptr<TreeCursor>& cursor : cursors_) {
    if (!cursor->valid() || cursor->key() != key_) continue;
    forward_ ? cursor->next() : cursor->prev();
  }
}

// The nearest key of all cursors, unless it is deleted: then the one behind it.
bool LayeredWalk::show() {
  for (;;) {
    valid_ = false;
    value_ = {};
    status_ = Status();
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
    const Layers::Seen* const range = ranges_.empty() ? nullptr : hiding(key_);
    if (!layered && range == nullptr) {
      if (nearest->deleted()) {
        pass_key();
        continue;
      }
      value_ = nearest->value();
      status_ = nearest->status();
      return valid_ = true;
    }
    status_ = tree_->get(key_, view_, true, read_);
    const bool too_large = status_.is(StatusCode::kNotSupported);
    if (status_.ok() || too_large) {
      if (!options_.key_only && !too_large) value_ = read_.view();
      if (options_.key_only) status_ = Status();
      return valid_ = true;
    }
    if (!status_.is_not_found()) return false;
    if (range != nullptr) {
      pass_hidden(*range);
    } else {
      pass_key();
    }
  }
}

bool LayeredWalk::skip(int64_t n) {
  for (; n > 0 && valid_; --n) next();
  for (; n < 0 && valid_; ++n) prev();
  return valid_;
}

// One of the cursors, by how much it may have; what that comes to may be hidden, or hide others.
bool LayeredWalk::seek_random(uint64_t random) {
  std::vector<uint64_t> weights;
  uint64_t all = 0;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const TreeState* of = in_layers(i) ? layers_[i - 1]->data : i == 0 ? tree_ : base_->source;
    const bool whole = i > 0 && !in_layers(i);  // with what that is a clone of itself
    for (const TreeState* next = of; next != nullptr;) {
      all += estimate(next->directory(), options_.lower.value_or(""), options_.upper).entries;
      next = whole && next->base() != nullptr ? next->base()->source : nullptr;
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
  if (base_ != nullptr && layers_.empty() && ranges_.empty()) return count_clone();
  uint64_t count = 0;
  for (bool there = first(); there; there = next()) ++count;
  if (!status_.ok()) return status_;
  return count;
}

size_t LayeredWalk::next_batch(std::span<Entry> out) {
  if (out.empty() || (!valid_ && !batching_)) return 0;
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
  valid_ = false;
  return count;
}

}  // namespace hawthorn::tree
