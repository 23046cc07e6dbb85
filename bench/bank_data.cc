#include "bench/bank_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace hawthorn::bench {

uint64_t draw_below(std::mt19937_64& generator, uint64_t limit) {
  if (limit <= 1) return 0;
  const uint64_t mask = ~uint64_t{0} >> std::countl_zero(limit - 1);
  uint64_t number;
  do {
    number = generator() & mask;
  } while (number >= limit);
  return number;
}

AccountNames::AccountNames(uint64_t count, uint64_t seed, const std::string& dictionary) {
  names_.reserve(count);
  std::ifstream words(dictionary);
  for (std::string word; names_.size() < count && std::getline(words, word);) {
    if (!word.empty() && word.size() < sizeof(Name)) add(word);
  }
  words_ = names_.size();
  for (uint64_t i = 0; names_.size() < count; ++i) {
    const uint64_t number = i / 3 + 1;
    char bytes[32];
    if (i % 3 == 2) {
      add({bytes, static_cast<size_t>(std::snprintf(bytes, sizeof bytes, "%08lu", number))});
    } else {
      const uint64_t big = big_endian(number);
      store64(bytes, i % 3 == 0 ? big : __builtin_bswap64(big));
      add({bytes, sizeof(uint64_t)});
    }
  }

  std::mt19937_64 generator(seed);
  for (uint64_t i = 0; i + 1 < count; ++i) {
    std::swap(names_[i], names_[i + draw_below(generator, count - i)]);
  }
  in_order_.resize(count);
  std::iota(in_order_.begin(), in_order_.end(), 0U);
  std::sort(in_order_.begin(), in_order_.end(),
            [this](uint32_t a, uint32_t b) { return (*this)[a] < (*this)[b]; });
}

void AccountNames::add(std::string_view name) {
  Name& entry = names_.emplace_back();
  entry.size = static_cast<uint8_t>(name.size());
  std::memcpy(entry.bytes, name.data(), name.size());
  bytes_ += name.size();
}

uint64_t TransferSource::pick() {
  const uint64_t first = draw_below(generator_, count_ / 2);
  return first + draw_below(generator_, count_ / 2);
}

Transfer TransferSource::next() {
  const uint64_t source = pick();
  uint64_t target = pick();
  const uint64_t amount = 1 + draw_below(generator_, amount_max_);
  if (target == source) target = (source + 1) % count_;
  return {static_cast<uint32_t>(first_ + source), static_cast<uint32_t>(first_ + target), amount};
}

void TransferFeed::refill() {
  for (Transfer& transfer : block_) {
    transfer = source_.next();
    names_.prefetch(transfer.source);
    names_.prefetch(transfer.target);
  }
  at_ = 0;
}

std::vector<uint32_t> pareto_accounts(uint64_t accounts, uint64_t seed, size_t count) {
  // A Pareto distribution of the second kind, cut off at the number of accounts: its shape is that
  // of the 80/20 rule, and its scale makes the rule hold for the part that the cut leaves.
  constexpr double kShape = 1.160964;
  constexpr double kScales = 12.1;
  const double scale_of_rank = static_cast<double>(accounts) / kScales;
  const double covered = 1.0 - std::pow(1.0 + kScales, -kShape);
  std::mt19937_64 generator(seed);
  std::vector<uint32_t> picks(count);
  for (uint32_t& pick : picks) {
    const double even = static_cast<double>(generator() >> 11) * 0x1.0p-53;
    const double rank = scale_of_rank * (std::pow(1.0 - even * covered, -1.0 / kShape) - 1.0);
    pick = static_cast<uint32_t>(std::min(rank, static_cast<double>(accounts - 1)));
  }
  return picks;
}

uint64_t log_sequence_of(std::string_view key) {
  return big_endian(load64(key.data() + kLogPrefix.size()));
}

LogValue::LogValue(std::string_view source, std::string_view target, uint64_t amount) {
  char* at = bytes;
  for (const std::string_view name : {source, target}) {
    const uint16_t length = static_cast<uint16_t>(name.size());
    std::memcpy(at, &length, sizeof length);
    std::memcpy(at + sizeof length, name.data(), name.size());
    at += sizeof length + name.size();
  }
  store64(at, amount);
  size = static_cast<size_t>(at - bytes) + sizeof amount;
}

}  // namespace hawthorn::bench
