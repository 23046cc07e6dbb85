#pragma once
// The transactions of TATP: which there are, how often each comes, and a connection's sequence of
// them with their parameters.
//
// Used by the other files tatp*. Threads: a source in one.
//
// 1. A sequence follows from the seed, the number of subscribers and that of the connection.

#include <array>
#include <cstdint>
#include <string_view>

namespace hawthorn::bench {

// In the order of kTatpKinds.
enum class TatpKind : unsigned {
  kGetSubscriberData,
  kGetNewDestination,
  kGetAccessData,
  kUpdateSubscriberData,
  kUpdateLocation,
  kInsertCallForwarding,
  kDeleteCallForwarding,
};

struct TatpKindInfo {
  std::string_view phase;  // of the report
  unsigned percent;
};

inline constexpr std::array<TatpKindInfo, 7> kTatpKinds = {{
    {"get_subscriber_data", 35},
    {"get_new_destination", 10},
    {"get_access_data", 35},
    {"update_subscriber_data", 2},
    {"update_location", 14},
    {"insert_call_forwarding", 2},
    {"delete_call_forwarding", 2},
}};

// Each kind takes of the parameters what it has; s_id stands for sub_nbr, too.
struct TatpCall {
  TatpKind kind = TatpKind::kGetSubscriberData;
  uint64_t s_id = 0;
  unsigned ai_type = 0;
  unsigned sf_type = 0;
  unsigned start_time = 0;
  unsigned end_time = 0;  // 1 to 24
};

class TatpSource {
 public:
  TatpSource(uint64_t seed, uint64_t subscribers, unsigned connection);

  TatpCall next();

 private:
  uint64_t random();
  // A number from 0 to `last`.
  uint64_t up_to(uint64_t last);
  uint64_t subscriber();

  const uint64_t subscribers_;
  uint64_t state_;
};

// The A of the specification, by which some subscribers are asked for more often than others.
uint64_t tatp_spread(uint64_t subscribers);

}  // namespace hawthorn::bench
