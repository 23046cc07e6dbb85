#include "bench/tatp_model.h"

namespace hawthorn::bench {

TatpModel::TatpModel(const TatpPopulation& population) : items_(population.subscribers() * kItems) {
  for (uint64_t s_id = 1; s_id <= population.subscribers(); ++s_id) {
    for (unsigned sf_type = 1; sf_type <= kFacilityTypes; ++sf_type) {
      const unsigned there = population.start_times_at_first(s_id, sf_type);
      for (unsigned i = 0; i < kStartTimes; ++i) {
        Item& item = items_[forwarding(s_id, sf_type, i * kHoursOfStart)];
        item.begun = item.committed = there >> i & 1;
      }
    }
  }
}

uint16_t TatpModel::begin(size_t item) {
  const auto version = static_cast<uint16_t>(items_[item].begun + 1);
  items_[item].begun = version;
  return version;
}

void TatpModel::give_back(size_t item) {
  items_[item].begun = static_cast<uint16_t>(items_[item].begun - 1);
}

void TatpModel::commit(size_t item, uint16_t version) {
  // Behind its commit a transaction holds no lock: the next one's may be told of first.
  std::atomic<uint16_t>& committed = items_[item].committed;
  uint16_t known = committed;
  while (static_cast<int16_t>(static_cast<uint16_t>(version - known)) > 0 &&
         !committed.compare_exchange_weak(known, version)) {
  }
}

}  // namespace hawthorn::bench
