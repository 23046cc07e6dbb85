#include "bench/tatp_rows.h"

#include "bench/stamp.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;
constexpr uint64_t kLocations = (uint64_t{1} << 32) - 1;
constexpr unsigned kActivePercent = 85;

// What is drawn for a subscriber; of a type, the type is added, of a start time, the start time
// and 32 times the type.
enum Drawn : uint64_t {
  kFields = 0,  // and the next three
  kBit1 = 8,
  kLocation = 16,
  kAccessTypesOf = 24,
  kFacilityTypesOf = 32,
  kAccess = 64,
  kFacility = 128,
  kActive = 192,
  kDataA = 256,
  kStartTimesOf = 320,
  kForwarding = 1024,
};

// So many of the first `of` bits, each choice as likely as any other.
unsigned choose(uint64_t random, unsigned of, unsigned count) {
  unsigned chosen = 0;
  for (unsigned bit = 0; bit < of; ++bit) {
    random = mix64(random + kStep);
    if (scale(random, of - bit) >= count) continue;
    chosen |= 1U << bit;
    --count;
  }
  return chosen;
}

template <size_t N>
Letters<N> draw_letters(uint64_t random) {
  Letters<N> letters;
  for (char& letter : letters) {
    letter = static_cast<char>('A' + random % 26);
    random /= 26;
  }
  return letters;
}

Digits digits_of(uint64_t number) {
  Digits digits;
  for (size_t at = digits.size(); at-- > 0; number /= 10) {
    digits[at] = static_cast<char>('0' + number % 10);
  }
  return digits;
}

}  // namespace

Digits number_of(uint64_t s_id) { return digits_of(s_id); }

uint64_t TatpPopulation::draw(uint64_t s_id, uint64_t what, uint64_t version) const {
  return mix64(mix64(s_id * kStep + seed_) + what + (version << 32));
}

unsigned TatpPopulation::access_types(uint64_t s_id) const {
  const uint64_t random = draw(s_id, kAccessTypesOf);
  return choose(random, kAccessTypes, 1 + static_cast<unsigned>(scale(random, kAccessTypes)));
}

unsigned TatpPopulation::facility_types(uint64_t s_id) const {
  const uint64_t random = draw(s_id, kFacilityTypesOf);
  return choose(random, kFacilityTypes, 1 + static_cast<unsigned>(scale(random, kFacilityTypes)));
}

unsigned TatpPopulation::start_times_at_first(uint64_t s_id, unsigned sf_type) const {
  if (!has_facility(s_id, sf_type)) return 0;
  const uint64_t random = draw(s_id, kStartTimesOf + sf_type);
  return choose(random, kStartTimes, static_cast<unsigned>(scale(random, kStartTimes + 1)));
}

SubscriberRow TatpPopulation::subscriber(uint64_t s_id, uint16_t bit_version,
                                         uint16_t location_version) const {
  SubscriberRow row;
  row.s_id = static_cast<int64_t>(s_id);
  row.sub_nbr = number_of(s_id);
  uint64_t small = draw(s_id, kFields);
  for (size_t i = 0; i < row.bits.size(); ++i) {
    row.bits[i] = static_cast<int64_t>(small & 1);
    row.hexes[i] = static_cast<int64_t>(small >> 1 & 0xf);
    small >>= 5;
  }
  row.bits[0] = bit_1(s_id, bit_version);
  const uint64_t bytes = draw(s_id, kFields + 1);
  for (size_t i = 0; i < sizeof bytes; ++i) {
    row.bytes[i] = static_cast<int64_t>(bytes >> 8 * i & 0xff);
  }
  const uint64_t rest = draw(s_id, kFields + 2);
  row.bytes[8] = static_cast<int64_t>(rest & 0xff);
  row.bytes[9] = static_cast<int64_t>(rest >> 8 & 0xff);
  row.msc_location = static_cast<int64_t>(1 + scale(draw(s_id, kFields + 3), kLocations));
  row.vlr_location = vlr_location(s_id, location_version);
  return row;
}

AccessRow TatpPopulation::access(uint64_t s_id, unsigned ai_type) const {
  const uint64_t random = draw(s_id, kAccess + ai_type);
  return {.s_id = static_cast<int64_t>(s_id),
          .ai_type = ai_type,
          .data1 = static_cast<int64_t>(random & 0xff),
          .data2 = static_cast<int64_t>(random >> 8 & 0xff),
          .data3 = draw_letters<3>(random >> 16 & 0xffff),
          .data4 = draw_letters<5>(random >> 32)};
}

FacilityRow TatpPopulation::facility(uint64_t s_id, unsigned sf_type, uint16_t data_version) const {
  const uint64_t random = draw(s_id, kFacility + sf_type);
  return {.s_id = static_cast<int64_t>(s_id),
          .sf_type = sf_type,
          .is_active = is_active(s_id, sf_type) ? 1 : 0,
          .error_cntrl = static_cast<int64_t>(random & 0xff),
          .data_a = data_a(s_id, sf_type, data_version),
          .data_b = draw_letters<5>(random >> 32)};
}

ForwardingRow TatpPopulation::forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time,
                                         uint16_t version) const {
  const uint64_t random = draw(s_id, kForwarding + 32 * sf_type + start_time, version);
  return {.s_id = static_cast<int64_t>(s_id),
          .sf_type = sf_type,
          .start_time = start_time,
          .end_time = static_cast<int64_t>(start_time + 1 + (random & (kHoursOfStart - 1))),
          .numberx = digits_of(random >> 3)};
}

int64_t TatpPopulation::bit_1(uint64_t s_id, uint16_t version) const {
  return static_cast<int64_t>(draw(s_id, kBit1, version) & 1);
}

int64_t TatpPopulation::vlr_location(uint64_t s_id, uint16_t version) const {
  return static_cast<int64_t>(1 + scale(draw(s_id, kLocation, version), kLocations));
}

int64_t TatpPopulation::data_a(uint64_t s_id, unsigned sf_type, uint16_t version) const {
  return static_cast<int64_t>(draw(s_id, kDataA + sf_type, version) & 0xff);
}

bool TatpPopulation::is_active(uint64_t s_id, unsigned sf_type) const {
  return scale(draw(s_id, kActive + sf_type), 100) < kActivePercent;
}

}  // namespace hawthorn::bench
