#include "shims/sqlite/src/record_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::sqlite::record_key_test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::min();

constexpr ColumnOrder kAscending{};
constexpr ColumnOrder kDescending{.descending = true};
constexpr ColumnOrder kNoCase{.collation = Collation::kNoCase};
constexpr ColumnOrder kRtrim{.collation = Collation::kRtrim};

Field null() { return {}; }
Field integer(int64_t value) { return {.type = FieldType::kInteger, .integer = value}; }
Field real(double value) { return {.type = FieldType::kReal, .real = value}; }
Field text(std::string_view bytes) { return {.type = FieldType::kText, .bytes = bytes}; }
Field blob(std::string_view bytes) { return {.type = FieldType::kBlob, .bytes = bytes}; }

std::string key_of(const Field& field, const ColumnOrder& order = kAscending) {
  std::string key;
  append_field(field, order, &key);
  return key;
}

std::string key_of(std::span<const Field> fields, std::span<const ColumnOrder> orders) {
  std::string key;
  append_key(fields, orders, &key);
  return key;
}

std::string complemented(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~byte);
  return bytes;
}

// SQLite's order of values, written down from its documents without regard to keys. A sign.

int sign(int value) { return (value > 0) - (value < 0); }

template <typename T>
int compare_values(const T& a, const T& b) {
  return (a > b) - (a < b);
}

unsigned char lowered(char byte) {
  return static_cast<unsigned char>(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
}

int compare_no_case(std::string_view a, std::string_view b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (lowered(a[i]) != lowered(b[i])) return compare_values(lowered(a[i]), lowered(b[i]));
    if (a[i] == 0) break;
  }
  return compare_values(a.size(), b.size());
}

std::string_view trimmed(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

int compare_texts(std::string_view a, std::string_view b, Collation collation) {
  switch (collation) {
    case Collation::kBinary:
      return sign(a.compare(b));
    case Collation::kNoCase:
      return compare_no_case(a, b);
    case Collation::kRtrim:
      return sign(trimmed(a).compare(trimmed(b)));
  }
  return 0;
}

// Every int64_t and every double is one of these.
using Exact = long double;
static_assert(std::numeric_limits<Exact>::digits >= 64);

Exact exact_value(const Field& field) {
  return field.type == FieldType::kInteger ? Exact(field.integer) : Exact(field.real);
}

int class_of(const Field& field) {
  switch (field.type) {
    case FieldType::kNull:
      return 0;
    case FieldType::kInteger:
      return 1;
    case FieldType::kReal:
      return std::isnan(field.real) ? 0 : 1;
    case FieldType::kText:
      return 2;
    case FieldType::kBlob:
      return 3;
  }
  return -1;
}

int compare_ascending(const Field& a, const Field& b, const ColumnOrder& order) {
  int class_a = class_of(a);
  int class_b = class_of(b);
  if (class_a != class_b) return compare_values(class_a, class_b);
  switch (class_a) {
    case 1:
      return compare_values(exact_value(a), exact_value(b));
    case 2:
      return compare_texts(a.bytes, b.bytes, order.collation);
    case 3:
      return sign(a.bytes.compare(b.bytes));
    default:
      return 0;
  }
}

int compare_fields(const Field& a, const Field& b, const ColumnOrder& order) {
  const int ascending = compare_ascending(a, b, order);
  return order.descending ? -ascending : ascending;
}

int compare_rows(std::span<const Field> a, std::span<const Field> b,
                 std::span<const ColumnOrder> orders) {
  for (size_t i = 0; i < orders.size(); ++i) {
    const int order = compare_fields(a[i], b[i], orders[i]);
    if (order != 0) return order;
  }
  return 0;
}

TEST(RecordKeyTest, TheBytesOfKeys) {
  EXPECT_EQ(key_of(null()), "\x05"sv);
  EXPECT_EQ(key_of(real(std::nan(""))), "\x05"sv);
  EXPECT_EQ(key_of(integer(0)), "\x20"sv);
  EXPECT_EQ(key_of(real(-0.0)), "\x20"sv);
  EXPECT_EQ(key_of(integer(5)), "\x22\x05\x00"sv);
  EXPECT_EQ(key_of(real(5)), "\x22\x05\x00"sv);
  EXPECT_EQ(key_of(integer(-5)), "\x1e\xfa\xff"sv);
  EXPECT_EQ(key_of(integer(0x1234)), "\x23\x12\x34\x00"sv);
  EXPECT_EQ(key_of(integer(INT64_MAX)), "\x29\x7f\xff\xff\xff\xff\xff\xff\xff\x00"sv);
  EXPECT_EQ(key_of(integer(INT64_MIN)), "\x17\x7f\xff\xff\xff\xff\xff\xff\xff\xff"sv);
  EXPECT_EQ(key_of(real(-0x1p63)), key_of(integer(INT64_MIN)));
  EXPECT_EQ(key_of(real(0.5)), "\x21\x01\x3f\xe0\x00\x00\x00\x00\x00\x00"sv);
  EXPECT_EQ(key_of(real(-2.5)), "\x1e\xfd\xfe\xc0\x1f\xff\xff\xff\xff\xff\xff"sv);
  EXPECT_EQ(key_of(real(0x1p64)), "\x2a\x43\xf0\x00\x00\x00\x00\x00\x00"sv);
  EXPECT_EQ(key_of(real(-kInfinity)), "\x16\x80\x0f\xff\xff\xff\xff\xff\xff"sv);
  EXPECT_EQ(key_of(text("")), "\x40\x00\x01"sv);
  EXPECT_EQ(key_of(text("a\0\0b"sv)), "\x40\x61\x00\xff\x00\xff\x62\x00\x01"sv);
  EXPECT_EQ(key_of(blob("a\0"sv)), "\x60\x61\x00\xff\x00\x01"sv);
  EXPECT_EQ(key_of(text("@AMZ[\x80"), kNoCase), key_of(text("@amz[\x80")));
  EXPECT_EQ(key_of(text("a\0Bc"sv), kNoCase), key_of(text("a\0\0\0"sv)));
  EXPECT_EQ(key_of(text("  a  "), kRtrim), key_of(text("  a")));
  EXPECT_EQ(key_of(text("   "), kRtrim), key_of(text("")));
  // Blobs have no collation.
  EXPECT_EQ(key_of(blob("A "), kNoCase), key_of(blob("A ")));
  EXPECT_EQ(key_of(blob("A "), kRtrim), key_of(blob("A ")));
  for (const Field& field : {null(), integer(0), integer(-7), real(0.1), real(-0x1p70),
                             text("a\0\xff"sv), blob("\0"sv)}) {
    EXPECT_EQ(key_of(field, kDescending), complemented(key_of(field)));
  }
}

TEST(RecordKeyTest, KeysAreAppended) {
  const std::vector<Field> fields = {text("a"), integer(1), null()};
  const std::vector<ColumnOrder> orders = {kAscending, kDescending};
  std::string key = "before";
  append_key(fields, orders, &key);
  EXPECT_EQ(key, "before" + key_of(fields[0]) + key_of(fields[1], kDescending));
  EXPECT_EQ(key_of(std::span(fields).first(1), orders), key_of(fields[0]));
  EXPECT_EQ(key_of({}, orders), "");
}

// All of these ascend.
std::vector<Field> ascending_fields() {
  std::vector<Field> fields = {null()};
  const double below_zero[] = {
      -kInfinity,           -kLargest, -0x1.0000000000001p64, -0x1p64, -0x1.fffffffffffffp63,
      -0x1.0000000000001p63};
  for (double value : below_zero) fields.push_back(real(value));
  fields.push_back(integer(INT64_MIN));
  fields.push_back(integer(INT64_MIN + 1));
  fields.push_back(real(-0x1.fffffffffffffp62));
  for (int64_t value : {-(int64_t{1} << 53) - 2, -(int64_t{1} << 53) - 1, -(int64_t{1} << 53),
                        -(int64_t{1} << 53) + 1}) {
    fields.push_back(integer(value));
  }
  for (double value : {-0x1.fffffffffffffp51, -65536.0, -256.5, -256.0, -255.75, -1.5}) {
    fields.push_back(real(value));
  }
  fields.push_back(integer(-1));
  for (double value : {-0.75, -kSmallest, -2 * kDenormal, -kDenormal, 0.0, kDenormal, 2 * kDenormal,
                       kSmallest, 0.5, std::nextafter(1.0, 0.0)}) {
    fields.push_back(real(value));
  }
  fields.push_back(integer(1));
  for (double value : {std::nextafter(1.0, 2.0), 1.5, 2.0, 255.75, 256.0, 256.5}) {
    fields.push_back(real(value));
  }
  fields.push_back(integer(65536));
  for (int64_t value :
       {(int64_t{1} << 53) - 1, int64_t{1} << 53, (int64_t{1} << 53) + 1, (int64_t{1} << 53) + 2}) {
    fields.push_back(integer(value));
  }
  fields.push_back(real(0x1.fffffffffffffp62));
  fields.push_back(integer(INT64_MAX - 1));
  fields.push_back(integer(INT64_MAX));
  for (double value : {0x1p63, 0x1.0000000000001p63, 0x1.fffffffffffffp63, 0x1p64,
                       0x1.0000000000001p64, kLargest, kInfinity}) {
    fields.push_back(real(value));
  }
  for (std::string_view bytes :
       {""sv, "\0"sv, "\0\0"sv, "\0\1"sv, "\0\xff"sv, "\1"sv, "a"sv, "a\0"sv, "a\0\xff"sv, "a\1"sv,
        "a\xff"sv, "b"sv, "\xff"sv, "\xff\0"sv, "\xff\xff"sv}) {
    fields.push_back(text(bytes));
  }
  for (std::string_view bytes : {""sv, "\0"sv, "\0\xff"sv, "a"sv, "\xff\xff"sv}) {
    fields.push_back(blob(bytes));
  }
  return fields;
}

TEST(RecordKeyTest, ValuesAtTheEdges) {
  const std::vector<Field> fields = ascending_fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t j = 0; j < fields.size(); ++j) {
      const int order = compare_values(i, j);
      SCOPED_TRACE(std::to_string(i) + " and " + std::to_string(j));
      ASSERT_EQ(compare_fields(fields[i], fields[j], kAscending), order);
      ASSERT_EQ(sign(key_of(fields[i]).compare(key_of(fields[j]))), order);
      ASSERT_EQ(sign(key_of(fields[i], kDescending).compare(key_of(fields[j], kDescending))),
                -order);
    }
  }
}

TEST(RecordKeyTest, Successors) {
  const auto successor = [](std::string prefix) {
    return make_successor(&prefix) ? prefix : "none of " + prefix;
  };
  EXPECT_EQ(successor("a"), "b");
  EXPECT_EQ(successor("a\xff\xff"), "b");
  EXPECT_EQ(successor("\x7f"), "\x80");
  EXPECT_EQ(successor(std::string("a\0"sv)), "a\1");
  EXPECT_EQ(successor(""), "none of ");
  EXPECT_EQ(successor("\xff\xff"), "none of \xff\xff");
}

TEST(RecordKeyTest, FieldsOfKeys) {
  const auto back = [](const Field& field, const ColumnOrder& order) -> std::string {
    std::vector<Field> fields;
    std::string scratch;
    if (!take_key_apart(key_of(field, order), {&order, 1}, &fields, &scratch)) return "no key";
    if (fields.size() != 1) return "not one field";
    const Field& taken = fields[0];
    switch (taken.type) {
      case FieldType::kNull:
        return "null";
      case FieldType::kInteger:
        return std::to_string(taken.integer);
      case FieldType::kReal:
        return "real " + std::to_string(taken.real);
      case FieldType::kText:
        return "text " + std::string(taken.bytes);
      case FieldType::kBlob:
        return "blob " + std::string(taken.bytes);
    }
    return "nothing";
  };
  for (const bool descending : {false, true}) {
    const ColumnOrder order{.descending = descending};
    EXPECT_EQ(back(null(), order), "null");
    EXPECT_EQ(back(real(-0.0), order), "0");
    EXPECT_EQ(back(real(2), order), "2");
    EXPECT_EQ(back(real(2.5), order), "real 2.500000");
    EXPECT_EQ(back(real(-0x1p63), order), std::to_string(INT64_MIN));
    EXPECT_EQ(back(real(0x1p63), order), "real 9223372036854775808.000000");
    EXPECT_EQ(back(real(-kInfinity), order), "real -inf");
    EXPECT_EQ(back(text("a\0b"sv), order), "text a\0b"s);
    EXPECT_EQ(back(blob("\xff\0"sv), order), "blob \xff\0"s);
    // What is lost with a collation is lost with texts alone.
    for (const Collation collation : {Collation::kNoCase, Collation::kRtrim}) {
      const ColumnOrder collated{.collation = collation, .descending = descending};
      EXPECT_EQ(back(text("a"), collated), "no key");
      EXPECT_EQ(back(blob("a"), collated), "blob a");
      EXPECT_EQ(back(integer(7), collated), "7");
    }
  }
}

TEST(RecordKeyTest, NoKeysOfFields) {
  const auto is_key = [](std::string_view key, bool descending = false) {
    const ColumnOrder order{.descending = descending};
    const std::vector<char> exact(key.begin(), key.end());  // sanitizers see what is beyond
    std::vector<Field> fields;
    std::string scratch;
    return take_key_apart({exact.data(), exact.size()}, {&order, 1}, &fields, &scratch);
  };
  EXPECT_TRUE(is_key(""sv)) << "a prefix without fields";
  EXPECT_FALSE(is_key("\x05\x05"sv)) << "more fields than orders";
  EXPECT_FALSE(is_key("\x70"sv)) << "another order's NULL";
  EXPECT_FALSE(is_key("\x00"sv));
  EXPECT_FALSE(is_key("\xff"sv));
  EXPECT_FALSE(is_key("\x15"sv));
  EXPECT_FALSE(is_key("\x2b"sv));
  EXPECT_FALSE(is_key("\x21\x00"sv)) << "0 as another number";
  EXPECT_FALSE(is_key("\x21\x01\x00\x00\x00\x00\x00\x00\x00\x00"sv)) << "0 as a rest";
  EXPECT_FALSE(is_key("\x22\x00\x00"sv)) << "an integer with a zero byte in front";
  EXPECT_FALSE(is_key("\x22\x05"sv)) << "no marker";
  EXPECT_FALSE(is_key("\x22\x05\x02"sv)) << "another marker";
  EXPECT_FALSE(is_key("\x22\x05\x01\x3f\xe0"sv)) << "half a rest";
  EXPECT_FALSE(is_key("\x22\x05\x01\x3f\xf0\x00\x00\x00\x00\x00\x00"sv)) << "a rest of 1";
  EXPECT_FALSE(is_key("\x22\x05\x01\xbf\xe0\x00\x00\x00\x00\x00\x00"sv)) << "a rest below 0";
  EXPECT_FALSE(is_key("\x22\x05\x01\x7f\xf8\x00\x00\x00\x00\x00\x00"sv)) << "a rest of NaN";
  EXPECT_FALSE(is_key("\x22\x05\x01\x00\x00\x00\x00\x00\x00\x00\x01"sv)) << "too fine a rest";
  EXPECT_FALSE(is_key("\x29\x80\x00\x00\x00\x00\x00\x00\x01\x00"sv)) << "neither type has it";
  EXPECT_FALSE(is_key("\x29\xff\xff\xff\xff\xff\xff\xff\xff\x00"sv)) << "neither type has it";
  EXPECT_FALSE(is_key("\x2a\x43\xef\xff\xff\xff\xff\xff\xff"sv)) << "below 2^64";
  EXPECT_FALSE(is_key("\x2a\x7f\xf8\x00\x00\x00\x00\x00\x00"sv)) << "NaN";
  EXPECT_FALSE(is_key("\x2a\x43\xf0"sv));
  EXPECT_FALSE(is_key("\x40"sv));
  EXPECT_FALSE(is_key("\x40\x61"sv)) << "no end";
  EXPECT_FALSE(is_key("\x40\x61\x00"sv)) << "half an end";
  EXPECT_FALSE(is_key("\x40\x61\x00\x02"sv)) << "another escape";
  EXPECT_FALSE(is_key("\x40\x61\x00\xff"sv)) << "no end";
  EXPECT_FALSE(is_key("\x05"sv, true));
}

class RandomKeys : public ::testing::Test {
 protected:
  static constexpr size_t kColumns = 3;

  ColumnOrder random_order() {
    const Collation collations[] = {Collation::kBinary, Collation::kNoCase, Collation::kRtrim};
    return {.collation = collations[below(3)], .descending = one_in(2)};
  }

  double random_real() {
    const double edges[] = {0x1p53, 0x1p63, 0x1p64, 0x1p52, 256, 1, kDenormal, kSmallest};
    double value = 0;
    switch (below(5)) {
      case 0:
        value = std::bit_cast<double>(random_());  // NaN too
        break;
      case 1:
        value = std::ldexp(static_cast<double>(random_()), -static_cast<int>(below(64)));
        break;
      case 2:
        value = static_cast<double>(below(2000)) / 8;
        break;
      case 3:
        value = one_in(20) ? kInfinity : 0;
        break;
      default:
        value = edges[below(std::size(edges))];
        for (size_t steps = below(4); steps != 0; --steps) value = std::nextafter(value, kInfinity);
        for (size_t steps = below(4); steps != 0; --steps)
          value = std::nextafter(value, -kInfinity);
    }
    return one_in(2) ? -value : value;
  }

  int64_t random_integer() {
    if (one_in(2)) return static_cast<int64_t>(random_()) >> below(64);
    const uint64_t edge = uint64_t{1} << (one_in(2) ? 53 : below(64));
    return static_cast<int64_t>(edge + below(5) - 2);
  }

  // Few different bytes, so that many texts are equal or nearly so.
  std::string random_bytes() {
    constexpr std::string_view kBytes = "\0\1\xfe\xff  aAbZz[@"sv;
    std::string bytes(below(one_in(10) ? 40 : 5), '\0');
    for (char& byte : bytes) {
      byte = one_in(10) ? static_cast<char>(random_()) : kBytes[below(kBytes.size())];
    }
    return bytes;
  }

  Field random_field(std::string* storage) {
    switch (below(8)) {
      case 0:
        return null();
      case 1:
      case 2:
        return integer(random_integer());
      case 3:
      case 4:
        return real(random_real());
      case 5:
        *storage = random_bytes();
        return blob(*storage);
      default:
        *storage = random_bytes();
        return text(*storage);
    }
  }

  // One that is often equal to the other, or almost.
  Field random_neighbour(const Field& other, std::string* storage) {
    Field field = other;
    switch (other.type) {
      case FieldType::kNull:
        break;
      case FieldType::kInteger:
        if (one_in(3)) return real(static_cast<double>(other.integer));
        field.integer = static_cast<int64_t>(static_cast<uint64_t>(other.integer) + below(3) - 1);
        break;
      case FieldType::kReal:
        if (std::fabs(other.real) < 0x1p63 && one_in(3)) {
          return integer(static_cast<int64_t>(other.real));
        }
        if (one_in(2)) field.real = std::nextafter(other.real, one_in(2) ? kInfinity : -kInfinity);
        break;
      case FieldType::kText:
      case FieldType::kBlob:
        *storage = other.bytes;
        if (one_in(2) && !storage->empty()) (*storage)[below(storage->size())] ^= 0x20;
        if (one_in(3)) storage->append(below(3), one_in(2) ? ' ' : '\0');
        if (one_in(3) && !storage->empty()) storage->pop_back();
        field.bytes = *storage;
        if (one_in(10)) field.type = FieldType::kText;
    }
    return field;
  }

  // Two rows and their orders.
  void next_rows() {
    for (size_t i = 0; i < kColumns; ++i) {
      orders_[i] = random_order();
      a_[i] = random_field(&storage_[i]);
      b_[i] = one_in(2) ? random_neighbour(a_[i], &storage_[kColumns + i])
                        : random_field(&storage_[kColumns + i]);
    }
  }

  size_t below(size_t bound) { return random_() % bound; }
  bool one_in(size_t n) { return below(n) == 0; }

  std::mt19937_64 random_{1};
  std::array<std::string, 2 * kColumns> storage_;
  std::array<ColumnOrder, kColumns> orders_;
  std::array<Field, kColumns> a_;
  std::array<Field, kColumns> b_;
};

TEST_F(RandomKeys, CompareAsTheRecords) {
  for (int round = 0; round < 100000; ++round) {
    next_rows();
    const std::string a = key_of(a_, orders_);
    const std::string b = key_of(b_, orders_);
    ASSERT_EQ(sign(a.compare(b)), compare_rows(a_, b_, orders_)) << round;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string first = key_of(a_[i], orders_[i]);
      const std::string second = key_of(b_[i], orders_[i]);
      const int order = compare_fields(a_[i], b_[i], orders_[i]);
      ASSERT_EQ(sign(first.compare(second)), order) << round;
      ASSERT_EQ(first.starts_with(second), order == 0) << round;
    }
  }
}

TEST_F(RandomKeys, BeginWithTheKeysOfPrefixes) {
  for (int round = 0; round < 100000; ++round) {
    next_rows();
    // Rows whose first fields are often equal.
    const size_t shared = below(kColumns);
    std::copy_n(a_.begin(), shared, b_.begin());
    const std::string key = key_of(a_, orders_);
    for (size_t count = 0; count <= kColumns; ++count) {
      const auto fields = std::span(b_).first(count);
      const auto orders = std::span(orders_).first(count);
      std::string prefix = key_of(fields, orders_);
      const int order = compare_rows(a_, fields, orders);
      ASSERT_EQ(key.starts_with(prefix), order == 0) << round;
      // Between the prefix and its successor are the rows that begin with these fields.
      ASSERT_EQ(key >= prefix, order >= 0) << round;
      ASSERT_EQ(make_successor(&prefix), count != 0);
      ASSERT_EQ(count == 0 || key < prefix, order <= 0) << round;
    }
  }
}

TEST_F(RandomKeys, ComeApart) {
  std::vector<Field> fields;
  std::string scratch;
  for (int round = 0; round < 100000; ++round) {
    next_rows();
    for (ColumnOrder& order : orders_) order.collation = Collation::kBinary;
    const auto row = std::span(a_).first(below(kColumns + 1));
    const std::string key = key_of(row, orders_);
    ASSERT_TRUE(take_key_apart(key, orders_, &fields, &scratch)) << round;
    ASSERT_EQ(fields.size(), row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      ASSERT_EQ(compare_fields(row[i], fields[i], orders_[i]), 0) << round;
      // An integer wherever it can be one.
      if (fields[i].type == FieldType::kReal) {
        ASSERT_TRUE(fields[i].real != std::floor(fields[i].real) || fields[i].real < -0x1p63 ||
                    fields[i].real >= 0x1p63);
      }
    }
    ASSERT_EQ(key_of(fields, orders_), key) << round;
  }
}

TEST_F(RandomKeys, WhatComesApartIsAKey) {
  std::vector<Field> fields;
  std::string scratch;
  size_t taken = 0;
  for (int round = 0; round < 100000; ++round) {
    next_rows();
    std::string key = key_of(a_, orders_);
    for (size_t changes = 1 + below(2); changes != 0; --changes) {
      if (one_in(4)) key.resize(below(key.size() + 1));
      if (!key.empty()) key[below(key.size())] ^= static_cast<char>(random_() >> below(8));
    }
    const std::vector<char> exact(key.begin(), key.end());
    if (!take_key_apart({exact.data(), exact.size()}, orders_, &fields, &scratch)) continue;
    ++taken;
    ASSERT_EQ(key_of(fields, orders_), key) << round;
  }
  EXPECT_GT(taken, 1000u);
}

// ---- What is kept of records beside their keys

std::string record_of(std::span<const Field> fields) {
  std::string record;
  append_record(fields, &record);
  return record;
}

TEST(ShortRecords, KeepWhatTheKeyHasNot) {
  const std::array orders = {kAscending, kDescending};
  const std::array fields = {text("abc"), integer(7), integer(300), text("rest")};
  const std::string key = key_of(std::span(fields), orders);
  std::string value;
  std::string back;

  ASSERT_TRUE(shorten_record(key, orders, record_of(std::span(fields).first(2)),
                             kShortRecordBytesMax, &value));
  EXPECT_EQ(value, "");
  ASSERT_TRUE(restore_record(key, orders, value, &back));
  EXPECT_EQ(back, record_of(std::span(fields).first(2)));

  ASSERT_TRUE(shorten_record(key, orders, record_of(fields), kShortRecordBytesMax, &value));
  EXPECT_EQ(value, '\0' + record_of(std::span(fields).last(2)));
  EXPECT_TRUE(is_short(value));
  ASSERT_TRUE(restore_record(key, orders, value, &back));
  EXPECT_EQ(back, record_of(fields));
}

TEST(ShortRecords, AreNotOfWhatTheKeyLoses) {
  const auto shortens = [](const Field& field, const ColumnOrder& order) {
    std::string value = "as it was";
    const bool shorter =
        shorten_record(key_of(field, order), {&order, 1}, record_of(std::span(&field, 1)),
                       kShortRecordBytesMax, &value);
    EXPECT_TRUE(shorter || value == "as it was");
    return shorter;
  };
  EXPECT_TRUE(shortens(text("a"), kDescending));
  EXPECT_FALSE(shortens(text("a"), kNoCase));
  EXPECT_FALSE(shortens(text("a"), kRtrim));
  EXPECT_TRUE(shortens(blob("a\0b"sv), kNoCase));
  EXPECT_TRUE(shortens(real(2.5), kAscending));
  EXPECT_FALSE(shortens(real(2.0), kAscending));  // it is 2
  EXPECT_FALSE(shortens(real(-0.0), kAscending));
  EXPECT_TRUE(shortens(null(), kAscending));
  const std::string large(1000, 'x');
  EXPECT_FALSE(shortens(text(large), kAscending));
}

TEST(ShortRecords, AreNoRecords) {
  const std::array order = {kAscending};
  const std::string key = key_of(integer(5));
  std::string back;
  EXPECT_FALSE(is_short(record_of({})));
  EXPECT_FALSE(restore_record(key, order, "\0\x09"sv, &back)) << "what is behind it is cut off";
  EXPECT_FALSE(restore_record(key + "\x05", order, "", &back)) << "a key of more columns";
  EXPECT_FALSE(restore_record("", order, "", &back)) << "a key of fewer";
  EXPECT_TRUE(is_key(key + key_of(text("a"), kDescending)));
  EXPECT_FALSE(is_key("\x80\0\0\0\0\0\0\x01"sv)) << "the key of a row";
  EXPECT_FALSE(is_key(key.substr(0, 2)));
}

TEST_F(RandomKeys, GiveRecordsBack) {
  std::string value;
  std::string back;
  size_t shortened = 0;
  for (int round = 0; round < 50000; ++round) {
    next_rows();
    const size_t columns = below(kColumns + 1);
    const auto orders = std::span(orders_).first(columns);
    const std::string key = key_of(a_, orders);
    const std::string record = record_of(a_);
    value.clear();
    if (!shorten_record(key, orders, record, kShortRecordBytesMax, &value)) continue;
    ++shortened;
    ASSERT_TRUE(is_short(value) && value.size() <= record.size() + 1) << round;
    ASSERT_TRUE(restore_record(key, orders, value, &back)) << round;
    ASSERT_EQ(back, record) << round;
    ASSERT_TRUE(is_key(key)) << round;
  }
  EXPECT_GT(shortened, 1000u);
}

}  // namespace
}  // namespace hawthorn::sqlite::record_key_test
