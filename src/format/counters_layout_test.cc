#include "format/counters_layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/prng.h"

namespace hawthorn::format {
namespace {

CountersHeader header() {
  CountersHeader header{};
  header.sequence = 42;
  header.uuid_low = 1;
  header.uuid_high = 2;
  header.pid = 3;
  header.process_start = 4;
  header.opened_us = 5;
  header.updated_us = 6;
  header.state = kCountersOpen;
  return header;
}
const std::vector<Counter> kEntries = {
    {"commits", Counter::Kind::kCount, Counter::Unit::kNumber, 7},
    {"memory_used_bytes", Counter::Kind::kAmount, Counter::Unit::kBytes, ~uint64_t{0}},
    {"write_wait_us", Counter::Kind::kCount, Counter::Unit::kMicroseconds, 0}};

StatusCode code_of(const std::string& file) { return decode_counters(file).status().code(); }
template <typename T>
std::string with(size_t offset, T value) {
  std::string file = encode_counters(header(), kEntries);
  std::memcpy(file.data() + offset, &value, sizeof(value));
  return file;
}

TEST(CountersLayout, WhatIsWrittenIsRead) {
  const std::string file = encode_counters(header(), kEntries);
  EXPECT_EQ(file.size(), kCountersFileBytes);
  const Result<Counters> read = decode_counters(file);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->entries, kEntries);
  EXPECT_EQ(read->uuid_low, 1U);
  EXPECT_EQ(read->uuid_high, 2U);
  EXPECT_EQ(read->pid, 3U);
  EXPECT_EQ(read->process_start, 4U);
  EXPECT_EQ(read->opened_us, 5U);
  EXPECT_EQ(read->updated_us, 6U);
  EXPECT_FALSE(read->closed);
  EXPECT_EQ(read->value("commits"), 7U);
  EXPECT_EQ(read->value("commit"), std::nullopt);
  EXPECT_TRUE(decode_counters(with(72, kCountersClosed))->closed);
}

TEST(CountersLayout, WhatIsNoSuchFileIsRefused) {
  EXPECT_EQ(code_of(""), StatusCode::kCorruption);
  EXPECT_EQ(code_of(std::string(kCountersFileBytes, '\0')), StatusCode::kCorruption);
  EXPECT_EQ(code_of(encode_counters(header(), kEntries).substr(0, 127)), StatusCode::kCorruption);
  EXPECT_EQ(code_of(encode_counters(header(), kEntries).substr(0, 200)), StatusCode::kCorruption);
  EXPECT_EQ(code_of(with(8, uint32_t{2})), StatusCode::kNotSupported);
  EXPECT_EQ(code_of(with(12, uint32_t{0})), StatusCode::kCorruption);
  EXPECT_EQ(code_of(with(16, uint64_t{43})), StatusCode::kBusy);
  EXPECT_EQ(code_of(with(76, ~uint32_t{0})), StatusCode::kCorruption);
  EXPECT_EQ(code_of(with(80, ~uint32_t{0})), StatusCode::kCorruption);
  EXPECT_EQ(code_of(with(80, uint32_t{0})), StatusCode::kCorruption);
}

TEST(CountersLayout, LongerHeadersAndEntriesOfLaterVersionsAreSkipped) {
  const std::string file = encode_counters(header(), kEntries);
  std::string longer = with(12, uint32_t{128 + 8});
  const uint32_t entry_bytes = 64 + 16;
  std::memcpy(longer.data() + 80, &entry_bytes, sizeof(entry_bytes));
  for (size_t i = 0; i < kEntries.size(); ++i) {
    std::memcpy(longer.data() + 136 + i * entry_bytes, file.data() + 128 + i * 64, 64);
  }
  const Result<Counters> read = decode_counters(longer);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->entries, kEntries);
}

// Under the sanitizers: no byte outside of the file is looked at.
TEST(CountersLayout, AnyBytesAreReadOrRefused) {
  Prng prng(17);
  size_t read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string file = encode_counters(header(), kEntries);
    file.resize(prng.between(0, file.size()));
    for (uint64_t changes = prng.below(8); changes > 0 && !file.empty(); --changes) {
      file[prng.below(std::min<size_t>(file.size(), 320))] = static_cast<char>(prng.next());
    }
    read += decode_counters(file).ok() ? 1 : 0;
  }
  EXPECT_GT(read, 0U);
}

}  // namespace
}  // namespace hawthorn::format
