#include "shims/sqlite/src/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace hawthorn::sqlite::record_test {
namespace {

using namespace std::string_view_literals;

Field null() { return {}; }
Field integer(int64_t value) { return {.type = FieldType::kInteger, .integer = value}; }
Field real(double value) { return {.type = FieldType::kReal, .real = value}; }
Field text(std::string_view bytes) { return {.type = FieldType::kText, .bytes = bytes}; }
Field blob(std::string_view bytes) { return {.type = FieldType::kBlob, .bytes = bytes}; }

bool same(const Field& a, const Field& b) {
  return a.type == b.type && a.integer == b.integer && a.bytes == b.bytes &&
         std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real);
}

std::string record_of(const std::vector<Field>& fields) {
  std::string record;
  append_record(fields, &record);
  return record;
}

// In memory of exactly its size, so that a sanitizer sees what is read outside.
class Exact {
 public:
  explicit Exact(std::string_view bytes) : bytes_(new char[bytes.size()]), size_(bytes.size()) {
    bytes.copy(bytes_.get(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

bool is_record(std::string_view bytes) {
  const Exact exact(bytes);
  std::vector<Field> fields;
  return take_apart(exact.view(), SIZE_MAX, &fields);
}

// Takes it apart whatever it is; what is taken lies inside.
void try_apart(std::string_view bytes) {
  const Exact exact(bytes);
  const std::string_view record = exact.view();
  std::vector<Field> fields;
  for (const size_t max_fields : {size_t{0}, size_t{1}, size_t{3}, SIZE_MAX}) {
    if (!take_apart(record, max_fields, &fields)) continue;
    ASSERT_LE(fields.size(), max_fields);
    for (const Field& field : fields) {
      ASSERT_TRUE(field.type != FieldType::kReal || !std::isnan(field.real));
      if (field.bytes.data() == nullptr) continue;
      ASSERT_GE(field.bytes.data(), record.data());
      ASSERT_LE(field.bytes.data() + field.bytes.size(), record.data() + record.size());
    }
    if (max_fields != SIZE_MAX) continue;
    const std::string again = record_of(fields);
    std::vector<Field> back;
    ASSERT_TRUE(take_apart(again, SIZE_MAX, &back));
    ASSERT_EQ(back.size(), fields.size());
    for (size_t i = 0; i < fields.size(); ++i) ASSERT_TRUE(same(back[i], fields[i])) << i;
  }
}

void expect_round_trip(const std::vector<Field>& fields) {
  const Exact record(record_of(fields));
  std::vector<Field> taken;
  ASSERT_TRUE(take_apart(record.view(), SIZE_MAX, &taken));
  ASSERT_EQ(taken.size(), fields.size());
  for (size_t i = 0; i < fields.size(); ++i) ASSERT_TRUE(same(taken[i], fields[i])) << i;
}

TEST(RecordTest, TheBytesOfTheFormat) {
  EXPECT_EQ(record_of({}), "\x01"sv);
  EXPECT_EQ(record_of({null()}), "\x02\x00"sv);
  EXPECT_EQ(record_of({integer(0), integer(1), integer(-1)}), "\x04\x08\x09\x01\xff"sv);
  EXPECT_EQ(record_of({integer(258), text("ab"), blob("\0"sv)}),
            "\x04\x02\x11\x0e\x01\x02"
            "ab\x00"sv);
  EXPECT_EQ(record_of({real(1)}), "\x02\x07\x3f\xf0\x00\x00\x00\x00\x00\x00"sv);
  EXPECT_EQ(record_of({real(std::nan(""))}), "\x02\x00"sv);
  EXPECT_EQ(record_of({text(""), blob("")}), "\x03\x0d\x0c"sv);
  const std::string sixty(60, 'x');
  EXPECT_EQ(record_of({text(sixty)}), "\x03\x81\x05" + sixty);
}

TEST(RecordTest, IntegersTakeTheFewestBytes) {
  const struct {
    int64_t value;
    size_t bytes;
  } cases[] = {
      {2, 1},
      {127, 1},
      {-128, 1},
      {128, 2},
      {-129, 2},
      {32767, 2},
      {-32768, 2},
      {32768, 3},
      {-32769, 3},
      {8388607, 3},
      {-8388608, 3},
      {8388608, 4},
      {-8388609, 4},
      {INT32_MAX, 4},
      {INT32_MIN, 4},
      {int64_t{INT32_MAX} + 1, 6},
      {int64_t{INT32_MIN} - 1, 6},
      {(int64_t{1} << 47) - 1, 6},
      {-(int64_t{1} << 47), 6},
      {int64_t{1} << 47, 8},
      {-(int64_t{1} << 47) - 1, 8},
      {INT64_MAX, 8},
      {INT64_MIN, 8},
  };
  for (const auto& [value, bytes] : cases) {
    EXPECT_EQ(record_of({integer(value)}).size(), 2 + bytes) << value;
    expect_round_trip({integer(value)});
  }
}

TEST(RecordTest, TheHeaderCountsItsOwnSize) {
  for (size_t count : {125, 126, 127, 128, 129, 16380, 16381, 16382, 16383, 16384}) {
    const std::vector<Field> fields(count, null());
    const size_t size = record_of(fields).size();
    EXPECT_EQ(size, count + (count <= 126 ? 1 : count <= 16381 ? 2 : 3)) << count;
    expect_round_trip(fields);
  }
}

TEST(RecordTest, AppendsToWhatIsThere) {
  std::string record = "before";
  append_record(std::vector<Field>{integer(5)}, &record);
  EXPECT_EQ(record, "before\x02\x01\x05"sv);
}

TEST(RecordTest, TakesNoMoreFieldsThanAreAskedFor) {
  const std::string record = record_of({integer(7), text("seven"), null()});
  std::vector<Field> fields(5);
  ASSERT_TRUE(take_apart(record, 2, &fields));
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_TRUE(same(fields[0], integer(7)));
  EXPECT_TRUE(same(fields[1], text("seven")));
  ASSERT_TRUE(take_apart(record, 0, &fields));
  EXPECT_TRUE(fields.empty());
  ASSERT_TRUE(take_apart(record, 3, &fields));
  EXPECT_EQ(fields.size(), 3u);
}

TEST(RecordTest, TakesWhatCouldBeSmaller) {
  std::vector<Field> fields;
  ASSERT_TRUE(take_apart("\x02\x01\x00"sv, SIZE_MAX, &fields));
  EXPECT_TRUE(same(fields[0], integer(0)));
  ASSERT_TRUE(take_apart("\x02\x06\xff\xff\xff\xff\xff\xff\xff\xfe"sv, SIZE_MAX, &fields));
  EXPECT_TRUE(same(fields[0], integer(-2)));
  // Varints of two and of nine bytes.
  const Exact wide("\x80\x0b\x80\x80\x80\x80\x80\x80\x80\x80\x0fz"sv);
  ASSERT_TRUE(take_apart(wide.view(), SIZE_MAX, &fields));
  EXPECT_TRUE(same(fields[0], text("z")));
}

TEST(RecordTest, NanIsNull) {
  std::vector<Field> fields;
  ASSERT_TRUE(take_apart("\x02\x07\x7f\xf8\x00\x00\x00\x00\x00\x00"sv, SIZE_MAX, &fields));
  EXPECT_EQ(fields[0].type, FieldType::kNull);
  ASSERT_TRUE(take_apart("\x02\x07\x7f\xf0\x00\x00\x00\x00\x00\x00"sv, SIZE_MAX, &fields));
  EXPECT_TRUE(same(fields[0], real(std::numeric_limits<double>::infinity())));
}

TEST(RecordTest, MalformedRecordsAreRefused) {
  EXPECT_FALSE(is_record(""sv));
  EXPECT_FALSE(is_record({}));
  EXPECT_FALSE(is_record("\x00"sv)) << "a header without its size";
  EXPECT_FALSE(is_record("\x80\x01"sv)) << "a header shorter than its size's varint";
  EXPECT_FALSE(is_record("\x80"sv)) << "a size that is cut off";
  EXPECT_FALSE(is_record("\x03\x00"sv)) << "a header longer than the record";
  EXPECT_FALSE(is_record("\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv)) << "a size of 2^64 - 1";
  EXPECT_FALSE(is_record("\x02\x0a"sv)) << "a reserved type";
  EXPECT_FALSE(is_record("\x02\x0b"sv)) << "a reserved type";
  EXPECT_FALSE(is_record("\x02\x81\x00"sv)) << "a type that goes beyond the header";
  EXPECT_FALSE(is_record("\x02\x02\x01"sv)) << "half an integer";
  EXPECT_FALSE(is_record("\x02\x0fx\x01"sv)) << "a byte too many";
  EXPECT_FALSE(is_record("\x02\x11x"sv)) << "half a text";
  EXPECT_FALSE(is_record("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv)) << "a text of 2^63";
  EXPECT_FALSE(is_record("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xfe"sv)) << "a blob of 2^63";
  EXPECT_TRUE(is_record("\x01"sv));

  // Fields that are not asked for are not looked at.
  std::vector<Field> fields;
  EXPECT_TRUE(take_apart("\x03\x09\x0a"sv, 1, &fields));
  EXPECT_TRUE(same(fields[0], integer(1)));
  EXPECT_FALSE(take_apart("\x03\x09\x0a"sv, 2, &fields));
}

class RandomRecords : public ::testing::Test {
 protected:
  std::vector<Field> random_fields() {
    storage_.clear();
    storage_.reserve(12);  // so that the views stay
    std::vector<Field> fields(below(12));
    for (Field& field : fields) field = random_field();
    return fields;
  }

  Field random_field() {
    switch (below(5)) {
      case 0:
        return null();
      case 1:
        return integer(static_cast<int64_t>(random_()) >> below(64));
      case 2: {
        const auto value = std::bit_cast<double>(random_());
        return real(std::isnan(value) ? 0.5 : value);
      }
      default: {
        std::string& bytes = storage_.emplace_back(below(one_in(8) ? 300 : 20), '\0');
        for (char& byte : bytes) byte = static_cast<char>(random_());
        return one_in(2) ? text(bytes) : blob(bytes);
      }
    }
  }

  size_t below(size_t bound) { return random_() % bound; }
  bool one_in(size_t n) { return below(n) == 0; }

  std::mt19937_64 random_{1};
  std::vector<std::string> storage_;
};

TEST_F(RandomRecords, ComeBack) {
  for (int i = 0; i < 20000 && !HasFatalFailure(); ++i) expect_round_trip(random_fields());
}

TEST_F(RandomRecords, NoPrefixIsARecord) {
  for (int i = 0; i < 500; ++i) {
    const std::string record = record_of(random_fields());
    for (size_t size = 0; size < record.size(); ++size) {
      ASSERT_FALSE(is_record(std::string_view(record).substr(0, size)));
      try_apart(std::string_view(record).substr(0, size));
    }
    ASSERT_FALSE(is_record(record + "x"));
  }
}

TEST_F(RandomRecords, ChangedBytesDoNoHarm) {
  for (int i = 0; i < 50000 && !HasFatalFailure(); ++i) {
    std::string record = record_of(random_fields());
    for (size_t changes = 1 + below(3); changes != 0; --changes) {
      // Most of them in the header.
      const size_t range = one_in(2) ? record.size() : std::min<size_t>(record.size(), 12);
      record[below(range)] = static_cast<char>(random_() >> below(8));
    }
    try_apart(record);
    std::string noise(below(40), '\0');
    for (char& byte : noise) byte = static_cast<char>(random_() >> below(8));
    try_apart(noise);
  }
}

// ---- Records put together

TEST(RecordTest, FieldsBeforeThoseOfAnotherRecord) {
  const std::string text(200, 't');  // a header of more than 127 bytes with the others
  std::vector<Field> all;
  for (int i = 0; i < 130; ++i) all.push_back(integer(i));
  all.push_back({.type = FieldType::kText, .bytes = text});
  std::string whole;
  append_record(all, &whole);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{126}, size_t{130}, all.size()}) {
    std::string rest;
    append_record(std::span(all).subspan(count), &rest);
    std::string together = "x";
    ASSERT_TRUE(append_record(std::span(all).first(count), rest, &together));
    EXPECT_EQ(together, "x" + whole) << count;
  }
  std::string untouched = "x";
  EXPECT_FALSE(append_record(all, "", &untouched)) << "no header";
  EXPECT_FALSE(append_record(all, std::string_view("\x09\x01", 2), &untouched)) << "cut off";
  EXPECT_FALSE(append_record(all, std::string_view("\0", 1), &untouched)) << "of no byte";
  EXPECT_EQ(untouched, "x");
}

}  // namespace
}  // namespace hawthorn::sqlite::record_test
