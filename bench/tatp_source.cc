#include "bench/tatp_source.h"

#include "bench/stamp.h"
#include "bench/tatp_rows.h"

namespace hawthorn::bench {
namespace {

TatpKind kind_of(uint64_t percent) {
  unsigned kind = 0;
  for (; percent >= kTatpKinds[kind].percent; ++kind) percent -= kTatpKinds[kind].percent;
  return static_cast<TatpKind>(kind);
}

}  // namespace

uint64_t tatp_spread(uint64_t subscribers) {
  if (subscribers <= 1'000'000) return 65'535;
  return subscribers <= 10'000'000 ? 1'048'575 : 2'097'151;
}

TatpSource::TatpSource(uint64_t seed, uint64_t subscribers, unsigned connection)
    : subscribers_(subscribers), state_(mix64(mix64(seed) + connection)) {}

uint64_t TatpSource::random() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix64(state_);
}

uint64_t TatpSource::up_to(uint64_t last) { return scale(random(), last + 1); }

uint64_t TatpSource::subscriber() {
  const uint64_t spread = up_to(tatp_spread(subscribers_));
  const uint64_t even = 1 + up_to(subscribers_ - 1);
  return (spread | even) % subscribers_ + 1;
}

TatpCall TatpSource::next() {
  return {.kind = kind_of(up_to(99)),
          .s_id = subscriber(),
          .ai_type = 1 + static_cast<unsigned>(up_to(kAccessTypes - 1)),
          .sf_type = 1 + static_cast<unsigned>(up_to(kFacilityTypes - 1)),
          .start_time = kHoursOfStart * static_cast<unsigned>(up_to(kStartTimes - 1)),
          .end_time = 1 + static_cast<unsigned>(up_to(kHours - 1))};
}

}  // namespace hawthorn::bench
