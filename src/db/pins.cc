// What copies of a moment keep on the disk: the part of the Publisher that db/copy_source.cc uses.

#include <algorithm>

#include "db/publisher.h"

namespace hawthorn::db {

// Under publish_mutex_ no batch becomes durable, so the manifest and the log's head are of one
// moment. What the log names from there on was not released before, and is held when it is (R24).
Result<Moment> Publisher::pin(uint64_t* pin) {
  os::MutexLock publishing(publish_mutex_);
  if (Status s = status(); !s.ok()) return s;
  Moment moment;
  moment.state = manifest_->state();
  moment.features = manifest_->features();
  manifest_batch_.store(moment.state.last_batch, std::memory_order_release);
  {
    os::MutexLock lock(pins_mutex_);
    *pin = next_pin_++;
    pins_[*pin].batch = moment.state.last_batch;
  }
  free_clear();
  {
    os::MutexLock lock(log_->mutex());
    moment.end = log_->head();
  }
  return moment;
}

void Publisher::release_log(uint64_t pin) {
  os::MutexLock lock(pins_mutex_);
  if (const auto found = pins_.find(pin); found != pins_.end()) found->second.log = false;
}

bool Publisher::still_pinned(uint64_t pin) const {
  os::MutexLock lock(pins_mutex_);
  const auto found = pins_.find(pin);
  return found != pins_.end() && !found->second.revoked;
}

void Publisher::unpin(uint64_t pin) {
  {
    os::MutexLock lock(pins_mutex_);
    pins_.erase(pin);
  }
  free_clear();
}

bool Publisher::revoke_pins() {
  os::MutexLock lock(pins_mutex_);
  bool any = false;
  for (auto& [number, pin] : pins_) {
    any |= !pin.revoked;
    pin.revoked = true;
  }
  return any;
}

uint64_t Publisher::oldest_pinned(uint64_t batch) const {
  os::MutexLock lock(pins_mutex_);
  for (const auto& [number, pin] : pins_) {
    if (!pin.revoked) batch = std::min(batch, pin.batch);
  }
  return batch;
}

bool Publisher::log_pinned() const {
  os::MutexLock lock(pins_mutex_);
  return std::any_of(pins_.begin(), pins_.end(), [](const auto& pin) { return pin.second.log; });
}

}  // namespace hawthorn::db
