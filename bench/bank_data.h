#pragma once
// The bank's accounts and transfers: a function of the seed alone, the same for every engine, every
// compiler and every run.
//
// Numbers are drawn as the reference program draws them when it is built with libc++, so that the
// counts of its document come out: of 10,000,000 transfers between 1,000,000 accounts with seed
// 12345, 6,856,951 find the money. Used by bank.h and bank_kill.h. Threads: constant once built;
// one TransferSource in one thread.
//
// 1. Two accounts have different names. 2. A transfer has two different accounts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sinks.h"

namespace hawthorn::bench {

// A number in [0, limit) from the low bits of the generator, by rejection.
uint64_t draw_below(std::mt19937_64& generator, uint64_t limit);

// Names of accounts: words of a dictionary, then 8-byte big-endian, 8-byte little-endian and
// 8-digit decimal numbers in turn, all shuffled.
class AccountNames {
 public:
  AccountNames(uint64_t count, uint64_t seed, const std::string& dictionary);

  uint64_t count() const { return names_.size(); }
  uint64_t words() const { return words_; }
  uint64_t bytes() const { return bytes_; }
  std::string_view operator[](uint64_t account) const {
    const Name& name = names_[account];
    return {name.bytes, name.size};
  }
  void prefetch(uint64_t account) const { __builtin_prefetch(&names_[account]); }

  // The accounts in the order of their names.
  const std::vector<uint32_t>& in_order() const { return in_order_; }

 private:
  // Half a cache line, so that a name costs one miss. Longer words are left out.
  struct alignas(32) Name {
    uint8_t size;
    char bytes[31];
  };
  void add(std::string_view name);

  std::vector<Name> names_;
  std::vector<uint32_t> in_order_;
  uint64_t words_ = 0;
  uint64_t bytes_ = 0;
};

struct Transfer {
  uint32_t source = 0;
  uint32_t target = 0;
  uint64_t amount = 0;
};

// The transfers of one phase and thread: accounts by a triangular distribution (the sum of two even
// ones), amounts evenly from 1 to the initial balance.
class TransferSource {
 public:
  // Accounts [first, first + count) only; at least two.
  TransferSource(uint64_t seed, uint64_t first, uint64_t count, uint64_t amount_max)
      : generator_(seed), first_(first), count_(count), amount_max_(amount_max) {}

  Transfer next();

 private:
  uint64_t pick();

  std::mt19937_64 generator_;
  uint64_t first_;
  uint64_t count_;
  uint64_t amount_max_;
};

// Hands out a source's transfers from small blocks whose names are already in the cache: drawing
// them is work of the driver, and no engine should wait for its cache misses.
class TransferFeed {
 public:
  TransferFeed(TransferSource source, const AccountNames& names) : source_(source), names_(names) {}

  const Transfer& next() {
    if (at_ == kBlock) refill();
    return block_[at_++];
  }

 private:
  static constexpr size_t kBlock = 64;
  void refill();

  TransferSource source_;
  const AccountNames& names_;
  std::array<Transfer, kBlock> block_;
  size_t at_ = kBlock;
};

// Accounts that a reader asks for: Pareto-distributed, 80% of the reads go to 20% of the accounts.
// Which accounts these are follows from the seed. Drawn beforehand, because drawing takes a power.
std::vector<uint32_t> pareto_accounts(uint64_t accounts, uint64_t seed, size_t count);

// The n-th log entry of a thread: threads have key ranges of their own.
inline uint64_t log_sequence(unsigned thread, uint64_t n) {
  return (static_cast<uint64_t>(thread) << 48) | n;
}

struct LogKey {
  char bytes[kLogKeyBytes];
  explicit LogKey(uint64_t sequence) {
    std::memcpy(bytes, kLogPrefix.data(), kLogPrefix.size());
    store64(bytes + kLogPrefix.size(), big_endian(sequence));
  }
  operator std::string_view() const { return {bytes, sizeof bytes}; }  // NOLINT
};
uint64_t log_sequence_of(std::string_view key);

// A log entry's value: each name behind its length, then the amount.
struct LogValue {
  char bytes[2 * (2 + 31) + 8];
  size_t size;
  LogValue(std::string_view source, std::string_view target, uint64_t amount);
  operator std::string_view() const { return {bytes, size}; }  // NOLINT
};

}  // namespace hawthorn::bench
