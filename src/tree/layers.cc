#include "tree/layers.h"

#include <algorithm>

#include "tree/tree.h"

namespace hawthorn::tree {

// kLsnMax as the end where one of them is not in its tree yet.
void Layers::look_at_committed() {
  Lsn from = format::kLsnMax;
  Lsn to = 0;
  for (const std::shared_ptr<Layer>& layer : list_) {
    const Lsn cts = layer->cts.load(std::memory_order_relaxed);
    if (cts == format::kLsnMax) continue;
    from = std::min(from, cts);
    to = std::max(to, layer->merged.load(std::memory_order_relaxed));
  }
  committed_from_.store(from, std::memory_order_release);
  committed_to_.store(to, std::memory_order_release);
}

// Before its commit is visible.
void Layers::note_deleted(const Layer& layer) {
  const Lsn cts = layer.cts.load(std::memory_order_relaxed);
  if (!layer.deletes() || cts == format::kLsnMax) return;
  newest_deleted_.store(std::max(cts, newest_deleted_.load(std::memory_order_relaxed)),
                        std::memory_order_release);
}

bool Layers::add(std::shared_ptr<Layer> layer) {
  if (!insert(std::move(layer))) return false;
  tree_->store()->active.add(tree_);
  return true;
}

bool Layers::insert(std::shared_ptr<Layer> layer) {
  os::MutexLock lock(mutex_);
  if (forbidden_) return false;
  if (layer->cts.load(std::memory_order_relaxed) == format::kLsnMax) {
    open_.fetch_add(1, std::memory_order_relaxed);
  }
  (layer->deletes() ? ranges_ : entries_).fetch_add(1, std::memory_order_relaxed);
  note_deleted(*layer);
  list_.push_back(std::move(layer));
  look_at_committed();
  state_.store((state_.load(std::memory_order_relaxed) + 2) | 1, std::memory_order_seq_cst);
  return true;
}

bool Layers::forbid() {
  os::MutexLock lock(mutex_);
  forbidden_ = list_.empty();
  return forbidden_;
}

void Layers::allow() {
  os::MutexLock lock(mutex_);
  forbidden_ = false;
}

void Layers::commit(Layer& layer, Lsn cts) {
  os::MutexLock lock(mutex_);
  layer.cts.store(cts, std::memory_order_release);
  note_deleted(layer);
  look_at_committed();
  open_.fetch_sub(1, std::memory_order_release);
}

void Layers::merged(Layer& layer, Lsn below) {
  os::MutexLock lock(mutex_);
  layer.merged.store(below, std::memory_order_release);
  look_at_committed();
}

bool Layers::remove(const Layer* layer) {
  os::MutexLock lock(mutex_);
  const auto is_it = [layer](const std::shared_ptr<Layer>& at) { return at.get() == layer; };
  if (std::erase_if(list_, is_it) == 0) return false;
  if (layer->cts.load(std::memory_order_relaxed) == format::kLsnMax) {
    open_.fetch_sub(1, std::memory_order_release);
  }
  (layer->deletes() ? ranges_ : entries_).fetch_sub(1, std::memory_order_release);
  look_at_committed();
  const uint64_t next = state_.load(std::memory_order_relaxed) + 2;
  state_.store(list_.empty() ? next & ~uint64_t{1} : next, std::memory_order_seq_cst);
  return true;
}

Layers::List Layers::list() const {
  os::MutexLock lock(mutex_);
  return list_;
}

std::vector<Layers::Seen> Layers::seen(const ReadView& view) const {
  std::vector<Seen> result;
  for (std::shared_ptr<Layer>& layer : list()) {
    const Lsn cts = layer->cts.load(std::memory_order_acquire);
    const bool own = cts == format::kLsnMax && view.own != 0 && layer->owner == view.own;
    const bool needed = cts <= view.ts && layer->merged.load(std::memory_order_acquire) > view.ts;
    if (own || needed) result.push_back({std::move(layer), cts});
  }
  // Those of one transaction in the order in which they were made, ranges behind them.
  std::sort(result.begin(), result.end(), [](const Seen& a, const Seen& b) {
    if (a.cts != b.cts) return a.cts > b.cts;
    if (a.layer->deletes() || b.layer->deletes()) return !a.layer->deletes();
    return a.layer->data->id() > b.layer->data->id();
  });
  return result;
}

Layers::List Layers::open_of_others(TxnId own) const {
  if (open_.load(std::memory_order_acquire) == 0) return {};
  List result;
  os::MutexLock lock(mutex_);
  for (const std::shared_ptr<Layer>& layer : list_) {
    const bool open = layer->cts.load(std::memory_order_acquire) == format::kLsnMax;
    if (open && layer->owner != own) result.push_back(layer);
  }
  return result;
}

namespace {
// What has just come out of a layer with entries may be any key; of ranges `meets` tells.
template <typename Meets>
bool any_committed_above(const Layers::List& layers, Lsn floor, Meets meets) {
  return std::any_of(layers.begin(), layers.end(), [&](const std::shared_ptr<Layer>& layer) {
    const Lsn cts = layer->cts.load(std::memory_order_acquire);
    return cts != format::kLsnMax && cts > floor && (!layer->deletes() || meets(layer->range));
  });
}
}  // namespace

bool Layers::committed_above(Lsn floor, std::string_view low,
                             const std::optional<std::string_view>& high) const {
  if (!any()) return false;
  os::MutexLock lock(mutex_);
  return any_committed_above(list_, floor,
                             [&](const KeyRange& range) { return range.meets(low, high); });
}

bool Layers::committed_above(Lsn floor, std::string_view key) const {
  if (!any()) return false;
  os::MutexLock lock(mutex_);
  return any_committed_above(list_, floor,
                             [key](const KeyRange& range) { return range.covers(key); });
}

std::vector<DeletedRange> Layers::deleted(Lsn above, Lsn upto, std::string_view low,
                                          const std::optional<std::string_view>& high) const {
  std::vector<DeletedRange> result;
  if (ranges() == 0) return result;
  os::MutexLock lock(mutex_);
  for (const std::shared_ptr<Layer>& layer : list_) {
    const Lsn cts = layer->cts.load(std::memory_order_acquire);
    if (!layer->deletes() || cts == format::kLsnMax || cts <= above || cts > upto) continue;
    if (layer->range.meets(low, high)) result.push_back({layer->range, cts});
  }
  std::sort(result.begin(), result.end(),
            [](const DeletedRange& a, const DeletedRange& b) { return a.cts > b.cts; });
  return result;
}

size_t Layers::ranges_to_erase() const {
  if (ranges() == 0) return 0;
  os::MutexLock lock(mutex_);
  return static_cast<size_t>(
      std::count_if(list_.begin(), list_.end(), [](const std::shared_ptr<Layer>& layer) {
        return layer->deletes() && layer->cts.load(std::memory_order_acquire) != format::kLsnMax &&
               layer->merged.load(std::memory_order_acquire) == format::kLsnMax;
      }));
}

bool Layers::is_deleted(std::string_view key, Lsn above) const {
  if (ranges() == 0) return false;
  os::MutexLock lock(mutex_);
  return std::any_of(list_.begin(), list_.end(), [&](const std::shared_ptr<Layer>& layer) {
    const Lsn cts = layer->cts.load(std::memory_order_acquire);
    return layer->deletes() && cts != format::kLsnMax && cts > above && layer->range.covers(key);
  });
}

void Layers::relayed(Lsn cts, const Layer& layer) {
  os::MutexLock lock(mutex_);
  relays_.push_back({cts, layer.cts.load(std::memory_order_acquire)});
  any_relay_.store(true, std::memory_order_release);
}

bool Layers::relays(Lsn cts, Lsn floor) const {
  if (!any_relay_.load(std::memory_order_acquire)) return false;
  os::MutexLock lock(mutex_);
  const auto at =
      std::lower_bound(relays_.begin(), relays_.end(), cts,
                       [](const Relay& relay, Lsn wanted) { return relay.cts < wanted; });
  return at != relays_.end() && at->cts == cts && at->layer <= floor;
}

void Layers::forget_relays(Lsn below) {
  if (!any_relay_.load(std::memory_order_acquire)) return;
  os::MutexLock lock(mutex_);
  std::erase_if(relays_, [below](const Relay& relay) { return relay.cts <= below; });
  any_relay_.store(!relays_.empty(), std::memory_order_release);
}

Lsn Layers::oldest_committed() const {
  if (!any()) return format::kLsnMax;
  os::MutexLock lock(mutex_);
  Lsn oldest = format::kLsnMax;
  for (const std::shared_ptr<Layer>& layer : list_) {
    if (!layer->deletes()) oldest = std::min(oldest, layer->cts.load(std::memory_order_acquire));
  }
  return oldest;
}

Lsn Layers::log_needed() const {
  if (!any()) return format::kLsnMax;
  os::MutexLock lock(mutex_);
  Lsn needed = format::kLsnMax;
  for (const std::shared_ptr<Layer>& layer : list_) {
    if (layer->cts.load(std::memory_order_acquire) == format::kLsnMax) continue;
    needed = std::min(needed, layer->log_from.load(std::memory_order_acquire));
  }
  return needed;
}

}  // namespace hawthorn::tree
