#include "tree/clones.h"

#include "base/assert.h"

namespace hawthorn::tree {

void PinList::restrict(PruneView* view) const {
  if (moments_.empty()) return;
  std::vector<Lsn>& registered = view->registered;
  if (moments_.front() == kEverything) {
    view->horizon = 0;
    registered.clear();
    return;
  }
  for (const Lsn moment : moments_) {
    if (moment < view->horizon) registered.push_back(moment);
  }
  std::sort(registered.begin(), registered.end());
  registered.erase(std::unique(registered.begin(), registered.end()), registered.end());
}

Pins::~Pins() { delete list_.load(std::memory_order_relaxed); }

template <typename Change>
void Pins::change(Change change) {
  os::MutexLock lock(mutex_);
  const PinList* old = list_.load(std::memory_order_relaxed);
  auto* fresh = old == nullptr ? new PinList : new PinList(*old);
  change(fresh->moments_);
  std::sort(fresh->moments_.begin(), fresh->moments_.end());
  if (fresh->moments_.empty()) {
    delete fresh;
    fresh = nullptr;
  }
  list_.store(fresh, std::memory_order_release);
  if (old != nullptr) os::epoch::retire(const_cast<PinList*>(old));
}

void Pins::add(Lsn moment) {
  change([moment](std::vector<Lsn>& moments) { moments.push_back(moment); });
}

void Pins::remove(Lsn moment) {
  change([moment](std::vector<Lsn>& moments) {
    const auto at = std::find(moments.begin(), moments.end(), moment);
    HAWTHORN_ASSERT(at != moments.end());
    moments.erase(at);
  });
}

void Pins::move(Lsn from, Lsn to) {
  change([from, to](std::vector<Lsn>& moments) {
    const auto at = std::find(moments.begin(), moments.end(), from);
    HAWTHORN_ASSERT(at != moments.end());
    *at = to;
  });
}

Lsn Pins::oldest() const {
  if (!any()) return format::kLsnMax;
  os::MutexLock lock(mutex_);
  const PinList* present = list_.load(std::memory_order_relaxed);
  return present == nullptr ? format::kLsnMax : present->moments_.front();
}

PinList Pins::copy() const {
  os::MutexLock lock(mutex_);
  const PinList* present = list_.load(std::memory_order_relaxed);
  return present == nullptr ? PinList() : *present;
}

}  // namespace hawthorn::tree
