#include "format/tree_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "base/prng.h"
#include "format/operation.h"

namespace hawthorn::format {
namespace {

using Less = std::function<bool(const std::string&, const std::string&)>;

bool less_bytewise(const std::string& a, const std::string& b) { return a < b; }
bool less_reverse(const std::string& a, const std::string& b) { return b < a; }
bool less_from_end(const std::string& a, const std::string& b) {
  return std::lexicographical_compare(
      a.rbegin(), a.rend(), b.rbegin(), b.rend(),
      [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
}
template <typename Number>
bool less_number(const std::string& a, const std::string& b) {
  Number x;
  Number y;
  std::memcpy(&x, a.data(), sizeof(x));
  std::memcpy(&y, b.data(), sizeof(y));
  return x < y;
}

struct Case {
  const char* name;
  Less less;
  size_t bytes;  // of each key; 0: any
};
const Case kCases[] = {{"bytewise", less_bytewise, 0},       {"reverse", less_reverse, 0},
                       {"from_end", less_from_end, 0},       {"uint32", less_number<uint32_t>, 4},
                       {"uint64", less_number<uint64_t>, 8}, {"int32", less_number<int32_t>, 4},
                       {"int64", less_number<int64_t>, 8}};

// Many that begin with each other, of few different bytes.
std::vector<std::string> some_keys(size_t bytes, uint64_t seed) {
  Prng prng(seed);
  const char pool[] = {'\0', '\1', 'a', '\x7f', '\x80', '\xfe', '\xff'};
  std::set<std::string> keys;
  if (bytes == 0) keys.insert("");
  while (keys.size() < 150) {
    std::string key(bytes == 0 ? prng.below(5) : bytes, '\0');
    for (char& c : key) c = pool[prng.below(sizeof(pool))];
    keys.insert(std::move(key));
  }
  return {keys.begin(), keys.end()};
}

TreeShape shape(const Case& keys, const Case* values) {
  return TreeShape({keys.name, values == nullptr ? "bytewise" : values->name, values != nullptr},
                   {library_order(keys.name)},
                   {values == nullptr ? nullptr : library_order(values->name)});
}

TEST(TreeShape, stored_keys_stand_in_the_order_that_is_meant) {
  for (const Case& order : kCases) {
    SCOPED_TRACE(order.name);
    const TreeShape of = shape(order, nullptr);
    std::vector<std::string> keys = some_keys(order.bytes, 1);
    std::sort(keys.begin(), keys.end(), order.less);
    std::string before;
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string stored;
      ASSERT_TRUE(of.store_key(keys[i], &stored).ok());
      if (i > 0) {
        EXPECT_LT(before, stored);
      }
      std::string loaded = "rest of before";
      ASSERT_TRUE(of.load(stored, &loaded, nullptr).ok());
      EXPECT_EQ(loaded, keys[i]);
      before = stored;
    }
  }
}

TEST(TreeShape, several_values_stand_by_key_and_then_by_value) {
  for (const Case& order : kCases) {
    for (const Case& values : kCases) {
      SCOPED_TRACE(std::string(order.name) + " " + values.name);
      const TreeShape of = shape(order, &values);
      std::vector<std::string> keys = some_keys(order.bytes, 2);
      keys.resize(40);
      std::sort(keys.begin(), keys.end(), order.less);
      std::vector<std::string> sorted = some_keys(values.bytes, 3);
      sorted.resize(20);
      std::sort(sorted.begin(), sorted.end(), values.less);
      std::string before;
      for (const std::string& key : keys) {
        std::string head;
        ASSERT_TRUE(of.store_key(key, &head).ok());
        const std::optional<std::string> end = TreeShape::behind(head);
        EXPECT_LT(before, head);  // an empty value is the head alone
        for (const std::string& value : sorted) {
          std::string stored;
          ASSERT_TRUE(of.store_pair(key, value, &stored).ok());
          EXPECT_LT(before, stored);
          EXPECT_LE(head, stored);
          EXPECT_TRUE(!end.has_value() || stored < *end);
          std::string loaded_key;
          std::string loaded_value;
          ASSERT_TRUE(of.load(stored, &loaded_key, &loaded_value).ok());
          EXPECT_EQ(loaded_key, key);
          EXPECT_EQ(loaded_value, value);
          EXPECT_EQ(of.head_bytes(stored).value(), head.size());
          before = stored;
        }
        // The next key's head is not before this one's end.
        if (end.has_value() && &key != &keys.back()) {
          std::string next;
          ASSERT_TRUE(of.store_key(*(&key + 1), &next).ok());
          EXPECT_LE(*end, next);
        }
      }
    }
  }
}

TEST(TreeShape, the_end_of_a_head) {
  EXPECT_EQ(TreeShape::behind("ab"), "ac");
  EXPECT_EQ(TreeShape::behind("a\xff\xff"), "b");
  EXPECT_EQ(TreeShape::behind(std::string("a\0\0", 3)), std::string("a\0\1", 3));
  EXPECT_EQ(TreeShape::behind("\xff\xff"), std::nullopt);
}

TEST(TreeShape, moments_are_rounded_up) {
  constexpr uint64_t kStep = TreeShape::kNoteMs;
  constexpr uint64_t kLast = UINT64_MAX / kStep * kStep;  // the last multiple
  EXPECT_EQ(TreeShape::round_up(0), 0);
  EXPECT_EQ(TreeShape::round_up(1), kStep);
  EXPECT_EQ(TreeShape::round_up(kStep), kStep);
  EXPECT_EQ(TreeShape::round_up(kLast - 1), kLast);
  EXPECT_EQ(TreeShape::round_up(kLast), kLast);
  EXPECT_EQ(TreeShape::round_up(kLast + 1), UINT64_MAX);
  EXPECT_EQ(TreeShape::round_up(UINT64_MAX), UINT64_MAX);
}

TEST(TreeShape, refuses_what_is_no_key) {
  const TreeShape numbers = shape(kCases[4], nullptr);
  std::string stored;
  for (const size_t size : {0, 4, 7, 9}) {
    const Status status = numbers.store_key(std::string(size, 'x'), &stored);
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument));
    EXPECT_NE(status.message().find("uint64"), std::string_view::npos);
  }
  const TreeShape pairs = shape(kCases[0], &kCases[3]);
  EXPECT_TRUE(pairs.store_pair("k", "12345", &stored).is(StatusCode::kInvalidArgument));
  // What is stored is longer than the key.
  const TreeShape reverse = shape(kCases[1], nullptr);
  stored.clear();
  EXPECT_TRUE(reverse.store_key(std::string(kKeyBytesMax - 2, 'x'), &stored).ok());
  stored.clear();
  EXPECT_FALSE(reverse.store_key(std::string(kKeyBytesMax - 1, 'x'), &stored).ok());
  stored.clear();
  EXPECT_FALSE(reverse.store_key(std::string(kKeyBytesMax / 2, '\0'), &stored).ok());
  const TreeShape set = shape(kCases[0], &kCases[0]);
  stored.clear();
  EXPECT_TRUE(set.store_pair("k", std::string(kKeyBytesMax - 3, 'v'), &stored).ok());
  stored.clear();
  EXPECT_FALSE(set.store_pair("k", std::string(kKeyBytesMax - 2, 'v'), &stored).ok());
}

TEST(TreeShape, tells_what_was_never_stored) {
  std::string key;
  std::string value;
  const auto loads = [&](const TreeShape& of, std::string_view stored) {
    const Status status = of.load(stored, &key, &value);
    EXPECT_TRUE(status.ok() || status.is(StatusCode::kCorruption));
    return status.ok();
  };
  const TreeShape reverse = shape(kCases[1], nullptr);
  EXPECT_TRUE(loads(reverse, "\xff\xff"));
  EXPECT_FALSE(loads(reverse, ""));
  EXPECT_FALSE(loads(reverse, "\xff"));
  EXPECT_FALSE(loads(reverse, "ab"));
  EXPECT_FALSE(loads(reverse, "\xff\xffz"));
  EXPECT_FALSE(loads(reverse, "\xff\x7f\xff\xff"));
  EXPECT_FALSE(loads(shape(kCases[3], nullptr), "abc"));
  const TreeShape set = shape(kCases[0], &kCases[0]);
  EXPECT_TRUE(loads(set, std::string_view("a\0\0", 3)));
  EXPECT_FALSE(loads(set, "a"));
  EXPECT_FALSE(loads(set, std::string_view("a\0", 2)));
  EXPECT_FALSE(loads(set, std::string_view("a\0b\0\0", 5)));
  EXPECT_FALSE(loads(shape(kCases[4], &kCases[0]), "1234567"));
  EXPECT_FALSE(loads(shape(kCases[4], &kCases[4]), "12345678 1234"));
}

TEST(TreeShape, as_stored_with_the_tree) {
  const TreeShapeNames all[] = {{"reverse", "bytewise", false},
                                {"bytewise", "bytewise", true},
                                {"uint64", "int32", true},
                                {std::string(255, 'o'), std::string(255, 'v'), true}};
  for (const TreeShapeNames& names : all) {
    const std::string encoded = encode_tree_shape(names);
    EXPECT_LE(encoded.size(), kTreeShapeBytesMax);
    EXPECT_EQ(decode_tree_shape(encoded), names);
    for (size_t size = 0; size < encoded.size(); ++size) {
      EXPECT_FALSE(decode_tree_shape(std::string_view(encoded).substr(0, size)).has_value());
    }
    EXPECT_FALSE(decode_tree_shape(encoded + "x").has_value());
  }
  EXPECT_EQ(encode_tree_shape(all[0]), std::string("\1\0\7reverse\0", 11));
  EXPECT_EQ(encode_tree_shape(all[1]), std::string("\1\1\10bytewise\0", 12));
  EXPECT_FALSE(decode_tree_shape(std::string("\2\0\7reverse\0", 11)).has_value());
  EXPECT_FALSE(decode_tree_shape(std::string("\1\2\7reverse\0", 11)).has_value());
  EXPECT_FALSE(decode_tree_shape(std::string("\1\0\0\0", 4)).has_value());
  // An order of values without several of them.
  EXPECT_FALSE(decode_tree_shape(std::string("\1\0\7reverse\5int32", 16)).has_value());
}

TEST(TreeShape, whose_values_may_be_trees) {
  TreeShapeNames names{"bytewise", "bytewise", false, false, 0, true};
  const std::string encoded = encode_tree_shape(names);
  EXPECT_EQ(encoded[1], 4);
  EXPECT_EQ(decode_tree_shape(encoded), names);
  // Stores what it is given, as long as the catalog can have it.
  const TreeShape shape(names, {}, {});
  std::string stored;
  ASSERT_TRUE(shape.store_key("key", &stored).ok());
  EXPECT_EQ(stored, "key");
  std::string key;
  ASSERT_TRUE(shape.load(stored, &key, nullptr).ok());
  EXPECT_EQ(key, "key");
  const size_t most = kKeyBytesMax - kSubtreeKeyPrefix;
  EXPECT_TRUE(shape.store_key(std::string(most, 'k'), &stored).ok());
  EXPECT_FALSE(shape.store_key(std::string(most + 1, 'k'), &stored).ok());
  for (const char other : {1, 2}) {
    std::string both = encoded;
    both[1] = static_cast<char>(both[1] | other);
    if (other == 2) both += std::string(8, '\0');
    EXPECT_FALSE(decode_tree_shape(both).has_value());
  }
  std::string unknown = encoded;
  unknown[1] = 8;
  EXPECT_FALSE(decode_tree_shape(unknown).has_value());
}

TEST(TreeShape, the_orders_of_the_library) {
  for (const Case& order : kCases) {
    const KeyOrder* const found = library_order(order.name);
    EXPECT_EQ(found == nullptr, std::string_view(order.name) == kBytewiseOrder);
    if (found == nullptr) continue;
    EXPECT_EQ(found->name(), order.name);
    EXPECT_EQ(found->fixed_bytes(), order.bytes);
  }
  EXPECT_EQ(library_order("nothing"), nullptr);
}

}  // namespace
}  // namespace hawthorn::format
