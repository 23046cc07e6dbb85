#include "format/prepare_record.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace hawthorn::format::prepare_record_test {
namespace {

PrepareHeader header() {
  return {.transaction = 7,
          .first_lsn = 4096,
          .timestamp = 5000,
          .wall_us = 1,
          .operations = 3,
          .part = 1,
          .parts = 2,
          .id_bytes = 0};
}

TEST(PrepareRecordTest, ComesBackAsItWas) {
  const std::string payload = encode_prepare(header(), "an id", "a part");
  const Result<PreparePart> part = decode_prepare(payload);
  ASSERT_TRUE(part.ok()) << part.status().to_string();
  EXPECT_EQ(part->header.transaction, 7u);
  EXPECT_EQ(part->header.first_lsn, 4096u);
  EXPECT_EQ(part->header.operations, 3u);
  EXPECT_EQ(part->id, "an id");
  EXPECT_EQ(part->held, "a part");
}

TEST(PrepareRecordTest, DamageIsAnError) {
  const auto refused = [](const std::string& payload) {
    return decode_prepare(payload).status().is(StatusCode::kCorruption);
  };
  const std::string payload = encode_prepare(header(), "an id", "");
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_TRUE(refused(payload.substr(0, size)));
  EXPECT_TRUE(refused(encode_prepare(header(), "", "")));
  EXPECT_TRUE(refused(encode_prepare(header(), std::string(201, 'x'), "")));
  PrepareHeader behind = header();
  behind.part = 2;
  EXPECT_TRUE(refused(encode_prepare(behind, "an id", "")));
}

std::string held_of_all_kinds() {
  std::string held;
  append_prepared_lock(held, 2, 300, "locked");
  append_prepared_read(held, {1, "key", std::string("key") + '\0'});
  append_prepared_read(held, {1, "from", "to"});
  append_prepared_read(held, {2, std::string(65535, 'k'), std::string(65535, 'k') + '\0'});
  append_prepared_read(held, {2, "", ""});
  append_prepared_read(held, {2, "to the end", std::nullopt});
  append_prepared_lock(held, 0, 1, "");
  return held;
}

TEST(PrepareRecordTest, WhatItHoldsComesBack) {
  const Result<PreparedHeld> held = decode_prepared_held(held_of_all_kinds());
  ASSERT_TRUE(held.ok()) << held.status().to_string();
  ASSERT_EQ(held->locks.size(), 2u);
  EXPECT_EQ(held->locks[0].mode, 2u);
  EXPECT_EQ(held->locks[0].tree, 300u);
  EXPECT_EQ(held->locks[0].key, "locked");
  EXPECT_EQ(held->locks[1].key, "");
  ASSERT_EQ(held->reads.size(), 5u);
  EXPECT_EQ(held->reads[0].low, "key");
  EXPECT_EQ(held->reads[0].high, std::string("key") + '\0');
  EXPECT_EQ(held->reads[1].high, "to");
  EXPECT_EQ(held->reads[2].high->size(), 65536u);
  EXPECT_EQ(held->reads[3].high, "");
  EXPECT_EQ(held->reads[4].high, std::nullopt);
  EXPECT_TRUE(decode_prepared_held("").ok());
}

// What is cut off or turned is refused, or means something else; it is never read beyond.
TEST(PrepareRecordTest, DamagedListsAreNotReadBeyond) {
  const std::string held = held_of_all_kinds();
  uint64_t refused = 0;
  for (size_t size = 1; size < 100; ++size) {
    refused += decode_prepared_held(std::string(held, 0, size)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 80u);
  Prng prng(1);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged(held, 0, 60);
    damaged[prng.below(damaged.size())] = static_cast<char>(prng.next());
    const Result<PreparedHeld> read = decode_prepared_held(damaged);
    if (!read.ok()) {
      EXPECT_TRUE(read.status().is(StatusCode::kCorruption));
    }
  }
  EXPECT_FALSE(decode_prepared_held(std::string("\x01\x03\x01\x00", 4)).ok()) << "no such mode";
  EXPECT_FALSE(decode_prepared_held("\x04").ok()) << "no such item";
}

}  // namespace
}  // namespace hawthorn::format::prepare_record_test
