#pragma once
// What the database of TATP holds at any moment of a run, as far as anybody can know: for each item
// that transactions change, its newest committed version and the newest that was begun.
//
// Items of a subscriber: vlr_location, bit_1, data_a of each special facility, and each of the
// twelve rows of call forwarding that may be. Four bytes each, 72 for a subscriber.
//
// Used by tatp_runner.h and tatp_check.h. Threads: any; see the invariants.
//
// 1. Versions are given under the database's write lock, begin() and commit() of a transaction that
//    writes (tatp_database.h), so that they follow each other as the transactions do.
// 2. A version is begun before its commit is called, and committed after that returned. A reader
//    that asks committed() before its transaction and begun() after it knows that it has seen one
//    of the versions from the one to the other; with one connection both are the same.
// 3. Versions wrap: all that is compared is how far one lies behind another.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/tatp_rows.h"

namespace hawthorn::bench {

class TatpModel {
 public:
  explicit TatpModel(const TatpPopulation& population);

  static size_t location(uint64_t s_id) { return first_item(s_id); }
  static size_t bit_1(uint64_t s_id) { return first_item(s_id) + 1; }
  static size_t data_a(uint64_t s_id, unsigned sf_type) { return first_item(s_id) + 1 + sf_type; }
  static size_t forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time) {
    return first_item(s_id) + 2 + kFacilityTypes + (sf_type - 1) * kStartTimes +
           start_time / kHoursOfStart;
  }
  // Of a row of call forwarding.
  static bool is_there(uint16_t version) { return (version & 1) != 0; }

  uint16_t committed(size_t item) const { return items_[item].committed; }
  uint16_t begun(size_t item) const { return items_[item].begun; }

  // Of the transaction that has the write lock. The version is given back where it is rolled back,
  // while the lock is still held.
  uint16_t begin(size_t item);
  void give_back(size_t item);
  void commit(size_t item, uint16_t version);

  // Around what a transaction does under the write lock. False: another one is inside.
  [[nodiscard]] bool enter() { return !inside_.exchange(true); }
  void leave() { inside_ = false; }

 private:
  struct Item {
    std::atomic<uint16_t> begun{0};
    std::atomic<uint16_t> committed{0};
  };
  static constexpr size_t kItems = 2 + kFacilityTypes + kFacilityTypes * kStartTimes;

  static size_t first_item(uint64_t s_id) { return (s_id - 1) * kItems; }

  std::vector<Item> items_;
  std::atomic<bool> inside_{false};
};

}  // namespace hawthorn::bench
