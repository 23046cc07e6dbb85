#include "format/run_separators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/prng.h"

namespace hawthorn::format {
namespace {

// Tails under heads, as entries in order; a separator before some of them.
struct Sample {
  std::vector<std::pair<uint64_t, std::string>> entries;
  SeparatorWriter writer;
  std::vector<uint64_t> memory;
  RunSeparators separators;

  Status parse() {
    const uint64_t bytes = separators_bytes(writer.count(), writer.own_bytes());
    memory.assign(bytes / 8 + 2, 0);
    writer.write(reinterpret_cast<char*>(memory.data()));
    return parse_separators(reinterpret_cast<const char*>(memory.data()), memory.size() * 8,
                            writer.count(), writer.own_bytes(),
                            static_cast<uint32_t>(entries.size()), &separators);
  }
};

std::string random_tail(Prng& prng) {
  std::string tail(prng.below(4) * prng.below(20), 'a');
  for (uint64_t i = prng.below(12); i > 0; --i) {
    tail.push_back(prng.one_in(5) ? '\xff' : static_cast<char>('a' + prng.below(3)));
  }
  return tail;
}

Sample random_sample(Prng& prng) {
  Sample sample;
  for (uint64_t i = 1 + prng.below(500); i > 0; --i) {
    sample.entries.emplace_back(prng.below(3) * prng.below(3), random_tail(prng));
  }
  std::sort(sample.entries.begin(), sample.entries.end());
  const uint64_t each = 1 + prng.below(5);
  for (uint32_t i = 1; i < sample.entries.size(); ++i) {
    const auto& [head, tail] = sample.entries[i];
    const auto& [head_before, before] = sample.entries[i - 1];
    if (head != head_before || before == tail || !prng.one_in(each)) continue;
    sample.writer.add(head, i, before, tail);
  }
  return sample;
}

TEST(RunSeparators, LeaveWhatCanBeOfAKey) {
  Prng prng(42);
  for (int round = 0; round < 200; ++round) {
    Sample sample = random_sample(prng);
    if (sample.writer.count() == 0) continue;
    ASSERT_TRUE(sample.parse().ok());
    for (int probe = 0; probe < 60; ++probe) {
      const auto& [head, known] = sample.entries[prng.below(sample.entries.size())];
      const std::string tail = prng.one_in(2) ? known : random_tail(prng);
      const std::pair<uint64_t, std::string> key{head, tail};
      const auto place = [&](auto at) {
        return static_cast<uint32_t>(at - sample.entries.begin());
      };
      const auto& all = sample.entries;
      const uint32_t first = place(std::lower_bound(all.begin(), all.end(), key));
      const uint32_t last = place(std::upper_bound(all.begin(), all.end(), key));
      uint32_t begin =
          place(std::lower_bound(all.begin(), all.end(), std::pair{head, std::string()}));
      uint32_t end =
          place(std::lower_bound(all.begin(), all.end(), std::pair{head + 1, std::string()}));
      const uint32_t ties_begin = begin;
      const uint32_t ties_end = end;
      sample.separators.narrow(head, tail, &begin, &end);
      ASSERT_LE(begin, first);
      ASSERT_GE(end, last);
      // And no more than between two of them.
      ASSERT_TRUE(begin == ties_begin || sample.separators.before(begin));
      ASSERT_TRUE(end == ties_end || sample.separators.before(end));
      for (uint32_t i = begin + 1; i < end; ++i) ASSERT_FALSE(sample.separators.before(i));
    }
    // A copy elsewhere is the same.
    const std::vector<uint64_t> copy = sample.memory;
    const RunSeparators moved = sample.separators.moved(reinterpret_cast<const char*>(copy.data()));
    for (uint32_t i = 0; i < moved.count; ++i) {
      uint32_t shared = 0;
      uint32_t moved_shared = 0;
      ASSERT_EQ(sample.separators.own(i, &shared), moved.own(i, &moved_shared));
      ASSERT_EQ(shared, moved_shared);
    }
  }
}

TEST(RunSeparators, WhatCannotBeReadIsRefused) {
  Prng prng(5);
  for (int round = 0; round < 300; ++round) {
    Sample sample = random_sample(prng);
    if (sample.writer.count() < 3) continue;
    ASSERT_TRUE(sample.parse().ok());
    const uint32_t count = sample.writer.count();
    auto* bytes = reinterpret_cast<char*>(sample.memory.data());
    const size_t size = sample.memory.size() * 8;
    const auto parses = [&](uint32_t entries) {
      RunSeparators found;
      return parse_separators(bytes, size, count, sample.writer.own_bytes(), entries, &found).ok();
    };
    const auto entries = static_cast<uint32_t>(sample.entries.size());
    // Anything may stand there: what is taken can be searched.
    for (int i = 0; i < 20; ++i) {
      const size_t at = prng.below(size);
      const char before = bytes[at];
      bytes[at] = static_cast<char>(prng.next());
      RunSeparators found;
      if (parse_separators(bytes, size, count, sample.writer.own_bytes(), entries, &found).ok()) {
        uint32_t begin = 0;
        uint32_t end = entries;
        found.narrow(prng.below(4), random_tail(prng), &begin, &end);
        EXPECT_LE(end, entries);
      }
      bytes[at] = before;
    }
    EXPECT_TRUE(parses(entries));
    EXPECT_FALSE(parses(sample.separators.entries[count - 1]));  // one stands before no entry
    bytes[size - 1] = 1;                                         // behind the last one
    EXPECT_FALSE(parses(entries));
    bytes[size - 1] = 0;
    auto* ends = const_cast<uint32_t*>(sample.separators.ends);
    std::swap(ends[0], ends[1]);
    EXPECT_FALSE(parses(entries));
  }
}

}  // namespace
}  // namespace hawthorn::format
