// What is released and not yet free, since another process, or a copy, may still read it (9 of
// space.h).

#include <algorithm>
#include <utility>

#include "space/space_state.h"

namespace hawthorn::space {

void Space::set_batches(uint64_t durable, uint64_t clear) {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  // Of two who looked one may come late. What was clear once stays so: who comes later begins with
  // a newer batch.
  s.durable_batch = std::max(s.durable_batch, durable);
  s.clear_batch = std::max(s.clear_batch, clear);
  s.free_clear();
}

void Space::hold_free(uint64_t batch) {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  s.durable_batch = std::max(s.durable_batch, batch);
  if (batch <= s.clear_batch) return;
  s.held_free_batch = batch;
  s.held_ready = std::exchange(s.ready, FreeMap());
  s.held_cold = std::exchange(s.cold, FreeMap());
}

uint64_t Space::hold_released() {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  s.copies_hold[s.next_hold] = s.released;
  return s.next_hold++;
}

void Space::release_hold(uint64_t number) {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  s.copies_hold.erase(number);
  s.free_clear();
}

uint64_t Space::held_blocks() const {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  return s.held_ranges.blocks() + s.held_ready.blocks() + s.held_cold.blocks();
}

std::vector<ExtentAddress> Space::used_ranges() const {
  State& s = *state_;
  os::MutexLock lock(s.mutex);
  FreeMap all = s.cold;
  for (const FreeMap* kept :
       {&s.ready, &s.leaving_cold, &s.leaving_ready, &s.held_ready, &s.held_cold}) {
    all.absorb(*kept);
  }
  std::vector<ExtentAddress> free;
  all.for_each([&](const ExtentAddress& range) { free.push_back(range); });
  std::vector<ExtentAddress> used;
  size_t next = 0;
  for (const auto& [number, info] : s.infos) {
    uint64_t at = s.options.devices != nullptr ? format::kDeviceHeadBlocks : 0;
    const auto use_until = [&used, file = number, &at](uint64_t end) {
      if (end <= at) return;
      used.push_back({file, static_cast<uint32_t>(at), static_cast<uint32_t>(end - at)});
    };
    for (; next < free.size() && free[next].file == number; ++next) {
      use_until(free[next].block);
      at = uint64_t{free[next].block} + free[next].blocks;
    }
    use_until(info.blocks);
  }
  return used;
}

void Space::on_full(std::function<bool()> reclaim) { state_->reclaim = std::move(reclaim); }

bool Space::State::is_free(const ExtentAddress& extent) const {
  const FreeMap* const sets[] = {&cold,        &ready,      &leaving_cold, &leaving_ready,
                                 &held_ranges, &held_ready, &held_cold};
  return std::any_of(std::begin(sets), std::end(sets),
                     [&](const FreeMap* set) { return set->overlaps(extent); });
}

void Space::State::make_free(const ExtentAddress& extent) {
  (leaving == extent.file ? leaving_ready : ready).add(extent);
  infos[extent.file].used -= extent.blocks;
}

void Space::State::free_clear() {
  // The oldest one holds most: numbers and what they stand for ascend together.
  const uint64_t bound = copies_hold.empty() ? released : copies_hold.begin()->second;
  while (!held.empty() && held.front().batch <= clear_batch && held.front().number <= bound) {
    held_ranges.carve(held.front().extent);
    make_free(held.front().extent);
    held.pop_front();
  }
  if (held_free_batch == 0 || held_free_batch > clear_batch) return;
  ready.absorb(std::exchange(held_ready, FreeMap()));
  cold.absorb(std::exchange(held_cold, FreeMap()));
  held_free_batch = 0;
}

bool Space::State::take_held_back() {
  {
    os::MutexLock lock(mutex);
    if (held.empty() && held_free_batch == 0) return false;
  }
  return reclaim && reclaim();
}

}  // namespace hawthorn::space
