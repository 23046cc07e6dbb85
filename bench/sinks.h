#pragma once
// What a walk over a database hands its entries to: each sink counts and checks them as they come.
//
// StampSink and BankSink are inlined into the adapters' loops, because their cost is part of what
// is measured; EntrySink is for passes that nobody times. Threads: one sink in one thread.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "bench/stamp.h"

namespace hawthorn::bench {

// Entries with stamped values (stamp.h) in ascending order. Keys may be wide ones.
class StampSink {
 public:
  explicit StampSink(size_t value_bytes, size_t key_bytes = kKeyBytes)
      : key_bytes_(key_bytes), value_bytes_(value_bytes) {}

  void add(std::string_view key, std::string_view value) {
    if (key.size() != key_bytes_ || value.size() != value_bytes_) [[unlikely]] {
      ++errors_;
      return;
    }
    if (key_bytes_ != kKeyBytes && !key_is_whole(key)) ++errors_;
    const uint64_t word = load64(key.data());
    const uint64_t rank = big_endian(word);
    // One sum of conditions, no branch: a scan may take no more than some nanoseconds per entry.
    errors_ += static_cast<uint64_t>(!stamp_fits(word, load64(value.data()))) +
               static_cast<uint64_t>(rank <= last_ && entries_ != 0);
    if (entries_ == 0) first_ = rank;
    last_ = rank;
    ++entries_;
  }

  // Ready for another walk; errors stay.
  void restart() { entries_ = 0; }

  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }
  // The first and the last key, as big-endian numbers.
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }

 private:
  size_t key_bytes_;
  size_t value_bytes_;
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
  uint64_t first_ = 0;
  uint64_t last_ = 0;
};

// The keys of the bank's log entries begin with these bytes; no account name does.
inline constexpr std::string_view kLogPrefix{"\0TX", 3};
inline constexpr size_t kLogKeyBytes = kLogPrefix.size() + sizeof(uint64_t);

inline bool is_log_key(std::string_view key) {
  return key.size() == kLogKeyBytes &&
         std::memcmp(key.data(), kLogPrefix.data(), kLogPrefix.size()) == 0;
}

// The bank's validation scan: sums that any lost, doubled or torn write changes.
class BankSink {
 public:
  void add(std::string_view key, std::string_view value) {
    if (is_log_key(key)) {
      ++log_entries_;
      if (value.size() >= sizeof(uint64_t)) {
        amount_sum_ += load64(value.data() + value.size() - sizeof(uint64_t));
      }
    } else {
      ++accounts_;
      if (value.size() == sizeof(uint64_t)) balance_sum_ += load64(value.data());
    }
  }

  uint64_t entries() const { return accounts_ + log_entries_; }
  uint64_t accounts() const { return accounts_; }
  uint64_t log_entries() const { return log_entries_; }
  uint64_t balance_sum() const { return balance_sum_; }
  uint64_t amount_sum() const { return amount_sum_; }

 private:
  uint64_t accounts_ = 0;
  uint64_t log_entries_ = 0;
  uint64_t balance_sum_ = 0;
  uint64_t amount_sum_ = 0;
};

class EntrySink {
 public:
  virtual ~EntrySink() = default;
  virtual void add(std::string_view key, std::string_view value) = 0;
};

}  // namespace hawthorn::bench
