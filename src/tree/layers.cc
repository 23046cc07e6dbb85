#include "tree/layers.h"

#include <algorithm>

#include "tree/tree.h"

namespace hawthorn::tree {

// kLsnMax as the end where one of them is not in its tree yet.
void Layers::Known::look_at_committed() {
  Lsn from = format::kLsnMax;
  Lsn to = 0;
  for (const std::shared_ptr<Layer>& layer : list) {
    const Lsn cts = layer->cts.load(std::memory_order_relaxed);
    if (cts == format::kLsnMax) continue;
    from = std::min(from, cts);
    to = std::max(to, layer->merged.load(std::memory_order_relaxed));
  }
  committed_from.store(from, std::memory_order_release);
  committed_to.store(to, std::memory_order_release);
}

// Before its commit is visible.
void Layers::Known::note_deleted(const Layer& layer) {
  const Lsn cts = layer.cts.load(std::memory_order_relaxed);
  if (!layer.deletes() || cts == format::kLsnMax) return;
  newest_deleted.store(std::max(cts, newest_deleted.load(std::memory_order_relaxed)),
                       std::memory_order_release);
}

Layers::Known& Layers::make_known() {
  if (known_.load(std::memory_order_relaxed) == nullptr) {
    known_.store(new Known, std::memory_order_release);
  }
  return known();
}

bool Layers::add(std::shared_ptr<Layer> layer) {
  if (!insert(std::move(layer))) return false;
  tree_->store()->active.add(tree_);
  return true;
}

bool Layers::insert(std::shared_ptr<Layer> layer) {
  os::MutexLock lock(mutex_);
  if (forbidden_) return false;
  Known& known = make_known();
  if (layer->cts.load(std::memory_order_relaxed) == format::kLsnMax) {
    known.open.fetch_add(1, std::memory_order_relaxed);
  }
  (layer->deletes() ? known.ranges : known.entries).fetch_add(1, std::memory_order_relaxed);
  known.note_deleted(*layer);
  known.list.push_back(std::move(layer));
  known.look_at_committed();
  // Others touch it meanwhile: none of the changes may be lost.
  state_.fetch_or(1, std::memory_order_seq_cst);
  touch();
  return true;
}

bool Layers::forbid() {
  os::MutexLock lock(mutex_);
  forbidden_ = !any();
  return forbidden_;
}

void Layers::allow() {
  os::MutexLock lock(mutex_);
  forbidden_ = false;
}

void Layers::commit(Layer& layer, Lsn cts) {
  os::MutexLock lock(mutex_);
  layer.cts.store(cts, std::memory_order_release);
  known().note_deleted(layer);
  known().look_at_committed();
  known().open.fetch_sub(1, std::memory_order_release);
}

void Layers::merged(Layer& layer, Lsn below) {
  os::MutexLock lock(mutex_);
  layer.merged.store(below, std::memory_order_release);
  known().look_at_committed();
}

bool Layers::remove(const Layer* layer) {
  os::MutexLock lock(mutex_);
  const auto is_it = [layer](const std::shared_ptr<Layer>& at) { return at.get() == layer; };
  Known* const known = known_.load(std::memory_order_relaxed);
  if (known == nullptr || std::erase_if(known->list, is_it) == 0) return false;
  if (layer->cts.load(std::memory_order_relaxed) == format::kLsnMax) {
    known->open.fetch_sub(1, std::memory_order_release);
  }
  (layer->deletes() ? known->ranges : known->entries).fetch_sub(1, std::memory_order_release);
  known->look_at_committed();
  touch();
  if (known->list.empty()) state_.fetch_and(~uint64_t{1}, std::memory_order_seq_cst);
  return true;
}

Layers::List Layers::list() const {
  os::MutexLock lock(mutex_);
  const Known* const known = known_.load(std::memory_order_relaxed);
  return known == nullptr ? List() : known->list;
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
  const Known* const some = known_.load(std::memory_order_acquire);
  if (some == nullptr || some->open.load(std::memory_order_acquire) == 0) return {};
  List result;
  os::MutexLock lock(mutex_);
  for (const std::shared_ptr<Layer>& layer : known().list) {
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
  return any_committed_above(known().list, floor,
                             [&](const KeyRange& range) { return range.meets(low, high); });
}

bool Layers::committed_above(Lsn floor, std::string_view key) const {
  if (!any()) return false;
  os::MutexLock lock(mutex_);
  return any_committed_above(known().list, floor,
                             [key](const KeyRange& range) { return range.covers(key); });
}

std::vector<DeletedRange> Layers::deleted(Lsn above, Lsn upto, std::string_view low,
                                          const std::optional<std::string_view>& high) const {
  std::vector<DeletedRange> result;
  if (ranges() == 0) return result;
  os::MutexLock lock(mutex_);
  for (const std::shared_ptr<Layer>& layer : known().list) {
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
  return static_cast<size_t>(std::count_if(
      known().list.begin(), known().list.end(), [](const std::shared_ptr<Layer>& layer) {
        return layer->deletes() && layer->cts.load(std::memory_order_acquire) != format::kLsnMax &&
               layer->merged.load(std::memory_order_acquire) == format::kLsnMax;
      }));
}

bool Layers::is_deleted(std::string_view key, Lsn above) const {
  if (ranges() == 0) return false;
  os::MutexLock lock(mutex_);
  return std::any_of(known().list.begin(), known().list.end(),
                     [&](const std::shared_ptr<Layer>& layer) {
                       const Lsn cts = layer->cts.load(std::memory_order_acquire);
                       return layer->deletes() && cts != format::kLsnMax && cts > above &&
                              layer->range.covers(key);
                     });
}

void Layers::relayed(Lsn cts, const Layer& layer) {
  os::MutexLock lock(mutex_);
  Known& known = make_known();
  known.relays.push_back({cts, layer.cts.load(std::memory_order_acquire)});
  known.any_relay.store(true, std::memory_order_release);
}

bool Layers::relays(Lsn cts, Lsn floor) const {
  if (!any_relay()) return false;
  os::MutexLock lock(mutex_);
  const std::vector<Relay>& relays = known().relays;
  const auto at =
      std::lower_bound(relays.begin(), relays.end(), cts,
                       [](const Relay& relay, Lsn wanted) { return relay.cts < wanted; });
  return at != relays.end() && at->cts == cts && at->layer <= floor;
}

void Layers::forget_relays(Lsn below) {
  if (!any_relay()) return;
  os::MutexLock lock(mutex_);
  Known& known = this->known();
  std::erase_if(known.relays, [below](const Relay& relay) { return relay.cts <= below; });
  known.any_relay.store(!known.relays.empty(), std::memory_order_release);
}

Lsn Layers::oldest_committed() const {
  if (!any()) return format::kLsnMax;
  os::MutexLock lock(mutex_);
  Lsn oldest = format::kLsnMax;
  for (const std::shared_ptr<Layer>& layer : known().list) {
    if (!layer->deletes()) oldest = std::min(oldest, layer->cts.load(std::memory_order_acquire));
  }
  return oldest;
}

Lsn Layers::log_needed() const {
  if (!any()) return format::kLsnMax;
  os::MutexLock lock(mutex_);
  Lsn needed = format::kLsnMax;
  for (const std::shared_ptr<Layer>& layer : known().list) {
    if (layer->cts.load(std::memory_order_acquire) == format::kLsnMax) continue;
    needed = std::min(needed, layer->log_from.load(std::memory_order_acquire));
  }
  return needed;
}

}  // namespace hawthorn::tree
