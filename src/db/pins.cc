// What copies of a moment keep on the disk: the part of the Publisher that db/copy_source.cc uses.

#include <algorithm>
#include <utility>

#include "db/publisher.h"

namespace hawthorn::db {

// Under publish_mutex_ no batch becomes durable, so the manifest and the log's head are of one
// moment. Whoever releases an extent has first made durable, or logged, that nobody needs it: the
// hold comes before the head is read, so what was released before it neither the manifest nor the
// log of this moment needs, and what is released behind it stays (R24).
Result<Moment> Publisher::pin(uint64_t* pin) {
  os::MutexLock publishing(publish_mutex_);
  if (Status s = status(); !s.ok()) return s;
  Moment moment;
  moment.state = manifest_->state();
  moment.features = manifest_->features();
  moment.uuid_low = manifest_->uuid_low();
  moment.uuid_high = manifest_->uuid_high();
  {
    os::MutexLock lock(pins_mutex_);
    *pin = next_pin_++;
    pins_[*pin].hold = store_->space->hold_released();
  }
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
  return found != pins_.end() && found->second.hold != 0;
}

void Publisher::unpin(uint64_t pin) {
  os::MutexLock lock(pins_mutex_);
  const auto found = pins_.find(pin);
  if (found == pins_.end()) return;
  if (found->second.hold != 0) store_->space->release_hold(found->second.hold);
  pins_.erase(found);
}

// First marked, then freed: who reads something else than was pinned finds the mark.
bool Publisher::revoke_pins(bool of_log) {
  os::MutexLock lock(pins_mutex_);
  bool any = false;
  for (auto& [number, pin] : pins_) {
    if (pin.hold == 0 || (of_log && !pin.log)) continue;
    store_->space->release_hold(std::exchange(pin.hold, 0));
    pin.log = false;
    any = true;
  }
  return any;
}

bool Publisher::log_pinned() const {
  os::MutexLock lock(pins_mutex_);
  return std::any_of(pins_.begin(), pins_.end(), [](const auto& pin) { return pin.second.log; });
}

}  // namespace hawthorn::db
