#pragma once
// The rows of the four tables of TATP, and the database as it is populated: a function of the seed.
//
// Used by the other files tatp*. Threads: no state but the seed.
//
// 1. What a row holds follows from the seed, its key and, of what transactions change, the version
//    of the item that was changed: nothing of it need be kept to know what an answer must be.
// 2. An item of a subscriber begins with version 0, but a row of CALL_FORWARDING that is there at
//    first with version 1: of odd versions it is there, of even ones it is not.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hawthorn::bench {

inline constexpr unsigned kAccessTypes = 4;    // ai_type 1 to 4
inline constexpr unsigned kFacilityTypes = 4;  // sf_type 1 to 4
inline constexpr unsigned kStartTimes = 3;     // 0, 8 and 16
inline constexpr unsigned kHoursOfStart = 8;   // from one start time to the next
inline constexpr unsigned kHours = 24;

template <size_t N>
using Letters = std::array<char, N>;
using Digits = Letters<15>;  // of a phone number

template <size_t N>
std::string_view text_of(const Letters<N>& letters) {
  return {letters.data(), N};
}

// Numbers as SQL has them, so that none is cut when it is read.
struct SubscriberRow {
  int64_t s_id = 0;
  Digits sub_nbr{};
  std::array<int64_t, 10> bits{};
  std::array<int64_t, 10> hexes{};
  std::array<int64_t, 10> bytes{};
  int64_t msc_location = 0;
  int64_t vlr_location = 0;
  bool operator==(const SubscriberRow&) const = default;
};

struct AccessRow {
  int64_t s_id = 0;
  int64_t ai_type = 0;
  int64_t data1 = 0;
  int64_t data2 = 0;
  Letters<3> data3{};
  Letters<5> data4{};
  bool operator==(const AccessRow&) const = default;
};

struct FacilityRow {
  int64_t s_id = 0;
  int64_t sf_type = 0;
  int64_t is_active = 0;
  int64_t error_cntrl = 0;
  int64_t data_a = 0;
  Letters<5> data_b{};
  bool operator==(const FacilityRow&) const = default;
};

struct ForwardingRow {
  int64_t s_id = 0;
  int64_t sf_type = 0;
  int64_t start_time = 0;
  int64_t end_time = 0;
  Digits numberx{};
  bool operator==(const ForwardingRow&) const = default;
};

// The number of a subscriber's telephone: 15 digits of s_id.
Digits number_of(uint64_t s_id);

class TatpPopulation {
 public:
  TatpPopulation(uint64_t seed, uint64_t subscribers) : seed_(seed), subscribers_(subscribers) {}

  uint64_t subscribers() const { return subscribers_; }  // s_id from 1 on

  // Which rows a subscriber has: bit 0 stands for type 1, or for start time 0.
  unsigned access_types(uint64_t s_id) const;
  unsigned facility_types(uint64_t s_id) const;
  unsigned start_times_at_first(uint64_t s_id, unsigned sf_type) const;
  bool has_access(uint64_t s_id, unsigned ai_type) const {
    return (access_types(s_id) >> (ai_type - 1) & 1) != 0;
  }
  bool has_facility(uint64_t s_id, unsigned sf_type) const {
    return (facility_types(s_id) >> (sf_type - 1) & 1) != 0;
  }

  SubscriberRow subscriber(uint64_t s_id, uint16_t bit_version, uint16_t location_version) const;
  AccessRow access(uint64_t s_id, unsigned ai_type) const;
  FacilityRow facility(uint64_t s_id, unsigned sf_type, uint16_t data_version) const;
  ForwardingRow forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time,
                           uint16_t version) const;

  // What transactions change.
  int64_t bit_1(uint64_t s_id, uint16_t version) const;
  int64_t vlr_location(uint64_t s_id, uint16_t version) const;
  int64_t data_a(uint64_t s_id, unsigned sf_type, uint16_t version) const;
  bool is_active(uint64_t s_id, unsigned sf_type) const;

 private:
  uint64_t draw(uint64_t s_id, uint64_t what, uint64_t version = 0) const;

  const uint64_t seed_;
  const uint64_t subscribers_;
};

}  // namespace hawthorn::bench
