#pragma once
// What a history tells before cycles are looked for: which transactions count, the order of each
// key's versions, which version each read saw, and every anomaly that is none of a cycle.
//
// Not here: dependencies (graph.h). Used by checker.cc only. Threads: one.
//
// 1. An order holds elements of transactions that count as committed, each once: elements of
//    others are reported where they are read, and left out.
// 2. A VersionRead's version is the order's first `length` elements; reads of other orders are
//    reported and left out. A transaction's own appends are not part of what it read.

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/history/checker.h"

namespace hawthorn::history {

// A transaction's index in the history.
using Index = uint32_t;

// Collects anomalies, so many of each kind at most, and says how many more there were.
class Anomalies {
 public:
  explicit Anomalies(size_t per_kind_max) : per_kind_max_(per_kind_max > 0 ? per_kind_max : 1) {}
  void add(AnomalyKind kind, std::string explanation) {
    add(kind, std::string(name_of(kind)), std::move(explanation));
  }
  void add(AnomalyKind kind, std::string name, std::string explanation);
  bool empty() const { return list_.empty(); }
  std::vector<Anomaly> take();

 private:
  struct Count {
    size_t found = 0;
    size_t last = 0;  // in list_
  };
  const size_t per_kind_max_;
  std::vector<Anomaly> list_;
  std::unordered_map<uint8_t, Count> counts_;
};

struct VersionRead {
  Index reader = 0;
  uint32_t length = 0;
  bool range = false;
};

struct KeyOrder {
  Key key = 0;
  List elements;
  std::vector<Index> writers;  // of the elements
  std::vector<VersionRead> reads;
  std::vector<Index> unread;  // who appended what nobody read: these versions come last
};

struct Orders {
  enum class Role : uint8_t {
    kNone,       // does not count
    kReader,     // what it read counts
    kCommitted,  // its appends do, too
  };
  std::vector<Role> roles;  // by index
  std::vector<KeyOrder> keys;
};

// Adds what it finds to *anomalies. False: malformed, there are no orders.
bool find_orders(const History& history, Level level, const CheckOptions& options, Orders* orders,
                 Anomalies* anomalies);

}  // namespace hawthorn::history
