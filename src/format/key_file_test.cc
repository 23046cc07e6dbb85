#include "format/key_file.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::format {
namespace {

SecretKey key_of(char byte) { return *SecretKey::from_bytes(std::string(32, byte)); }

KeyFile example(size_t keys = 3) {
  KeyFile file;
  file.uuid_low = 1;
  file.uuid_high = 2;
  file.generation = 7;
  file.key_id = "a key's id";
  for (uint32_t number = 1; number <= keys; ++number) {
    file.keys.emplace_back(number, key_of(static_cast<char>('a' + number)));
  }
  file.current = static_cast<uint32_t>(keys);
  return file;
}

TEST(KeyFileTest, ComesBack) {
  for (const size_t count : {size_t{1}, size_t{3}, kDataKeysMax}) {
    const KeyFile file = example(count);
    const auto bytes = encode_key_file(file, key_of('w'));
    ASSERT_TRUE(bytes.ok());
    ASSERT_EQ(bytes->size(), kKeyFileBytes);
    const auto plain = read_key_file(*bytes);
    ASSERT_TRUE(plain.ok());
    EXPECT_EQ(plain->key_id, file.key_id);
    EXPECT_TRUE(plain->keys.empty());
    const auto opened = open_key_file(*bytes, key_of('w'));
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(opened->uuid_low, 1u);
    EXPECT_EQ(opened->uuid_high, 2u);
    EXPECT_EQ(opened->generation, 7u);
    EXPECT_EQ(opened->current, count);
    ASSERT_EQ(opened->keys.size(), count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(opened->keys[i].first, i + 1);
      EXPECT_EQ(opened->keys[i].second.bytes(), file.keys[i].second.bytes());
      EXPECT_EQ(bytes->find(file.keys[i].second.bytes()), std::string::npos);
    }
    // Random: the same again is another file.
    EXPECT_NE(*encode_key_file(file, key_of('w')), *bytes);
  }
  EXPECT_TRUE(encode_key_file(example(65), key_of('w')).status().is(StatusCode::kNotSupported));
  EXPECT_TRUE(encode_key_file(example(0), key_of('w')).status().is(StatusCode::kNotSupported));
}

TEST(KeyFileTest, AWrongKeyIsToldFromDamage) {
  const auto bytes = encode_key_file(example(), key_of('w'));
  ASSERT_TRUE(bytes.ok());
  const Status wrong = open_key_file(*bytes, key_of('W')).status();
  EXPECT_TRUE(wrong.is(StatusCode::kInvalidArgument)) << wrong.to_string();
  EXPECT_NE(wrong.message().find("a key's id"), std::string_view::npos);
  // Each bit of both slots.
  for (size_t bit = 0; bit < kKeySlotBytes * 8; bit += 7) {
    std::string changed = *bytes;
    for (const size_t slot : {size_t{0}, kKeySlotBytes}) {
      char& byte = changed[slot + bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      const auto opened = open_key_file(changed, key_of('w'));
      if (slot == 0) {
        EXPECT_TRUE(opened.ok()) << bit;
      } else {
        EXPECT_TRUE(opened.status().is(StatusCode::kCorruption)) << bit;
      }
    }
  }
  for (const size_t size : {size_t{0}, size_t{1}, kKeySlotBytes - 1}) {
    EXPECT_TRUE(read_key_file(bytes->substr(0, size)).status().is(StatusCode::kCorruption));
  }
  EXPECT_TRUE(open_key_file(bytes->substr(0, kKeySlotBytes), key_of('w')).ok());
}

// Somebody changes a field, and makes the checksum right: what is bound is noticed.
TEST(KeyFileTest, FieldsAreBound) {
  const auto bytes = encode_key_file(example(), key_of('w'));
  ASSERT_TRUE(bytes.ok());
  for (const size_t at :
       {offsetof(KeySlot, uuid_low), offsetof(KeySlot, generation), offsetof(KeySlot, current),
        offsetof(KeySlot, nonce), offsetof(KeySlot, nonce) + 20, offsetof(KeySlot, tag),
        offsetof(KeySlot, key_id), offsetof(KeySlot, sealed) + 9}) {
    std::string changed = bytes->substr(0, kKeySlotBytes);
    changed[at] = static_cast<char>(changed[at] ^ 1);
    store<uint64_t>(changed.data() + offsetof(KeySlot, checksum),
                    checksum64(changed.data(), offsetof(KeySlot, checksum), 0));
    EXPECT_TRUE(open_key_file(changed, key_of('w')).status().is(StatusCode::kInvalidArgument))
        << at;
  }
  std::string newer = bytes->substr(0, kKeySlotBytes);
  newer[offsetof(KeySlot, version)] = 2;
  store<uint64_t>(newer.data() + offsetof(KeySlot, checksum),
                  checksum64(newer.data(), offsetof(KeySlot, checksum), 0));
  EXPECT_TRUE(read_key_file(newer).status().is(StatusCode::kNotSupported));
}

}  // namespace
}  // namespace hawthorn::format
