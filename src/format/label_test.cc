#include "format/label.h"

#include <gtest/gtest.h>

#include <set>

#include "base/prng.h"

namespace hawthorn::format {
namespace {

void expect_label(const std::string& label) {
  const std::optional<size_t> bytes = label_bytes(label + "rest");
  ASSERT_TRUE(bytes.has_value());
  ASSERT_EQ(*bytes, label.size());
}

// Each new one somewhere among those that there are.
void grow(uint64_t seed, int count, LabelNear near, size_t bytes_max) {
  Prng prng(seed);
  std::set<std::string> labels;
  for (int i = 0; i < count; ++i) {
    auto behind = labels.begin();
    std::advance(behind, static_cast<ptrdiff_t>(prng.below(labels.size() + 1)));
    const std::string high = behind == labels.end() ? "" : *behind;
    const std::string low = behind == labels.begin() ? "" : *std::prev(behind);
    const std::string label = label_between(low, high, near);
    ASSERT_NO_FATAL_FAILURE(expect_label(label));
    ASSERT_LT(low, label);
    if (!high.empty()) {
      ASSERT_LT(label, high);
    }
    ASSERT_LE(label.size(), bytes_max);
    labels.insert(label);
  }
  const std::string* last = nullptr;
  for (const std::string& label : labels) {
    if (last != nullptr) {
      ASSERT_FALSE(label.starts_with(*last));
    }
    last = &label;
  }
}

TEST(Label, between_any_two_there_is_another) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(grow(seed, 2000, LabelNear::kMiddle, 16));
    ASSERT_NO_FATAL_FAILURE(grow(seed, 300, LabelNear::kBefore, 32));
    ASSERT_NO_FATAL_FAILURE(grow(seed, 300, LabelNear::kBehind, 32));
  }
}

// Rows behind the last one, before the first one, and up or down in a gap.
TEST(Label, rows_keep_them_short) {
  std::string last = label_between("", "", LabelNear::kMiddle);
  std::string first = last;
  for (int i = 0; i < 100'000; ++i) {
    const std::string next = label_between(last, "", LabelNear::kBefore);
    ASSERT_LT(last, next);
    last = next;
    const std::string before = label_between("", first, LabelNear::kBehind);
    ASSERT_LT(before, first);
    first = before;
  }
  ASSERT_EQ(last.size(), 8u);
  ASSERT_EQ(first.size(), 8u);
  const std::string end = label_between(last, "", LabelNear::kMiddle);
  std::string up = last;
  std::string down = end;
  for (int i = 0; i < 20'000; ++i) {
    up = label_between(up, down, LabelNear::kBefore);
    const std::string next = label_between(up, down, LabelNear::kBehind);
    ASSERT_LT(up, next);
    ASSERT_LT(next, down);
    down = next;
    ASSERT_LE(std::max(up.size(), down.size()), 32u);
  }
}

// The worst that can be asked for: always right beside the last one.
TEST(Label, a_gap_that_is_halved_for_ever_never_ends) {
  std::string low = label_between("", "", LabelNear::kMiddle);
  std::string high = label_between(low, "", LabelNear::kMiddle);
  Prng prng(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string label = label_between(low, high, LabelNear::kMiddle);
    ASSERT_NO_FATAL_FAILURE(expect_label(label));
    ASSERT_LT(low, label);
    ASSERT_LT(label, high);
    (prng.one_in(2) ? low : high) = label;
  }
  EXPECT_LE(low.size(), 3000u / 30 * 8);
  for (int i = 0; i < 300; ++i) high = label_between("", high, LabelNear::kMiddle);
}

TEST(Label, what_begins_with_none_is_told) {
  EXPECT_FALSE(label_bytes("").has_value());
  EXPECT_FALSE(label_bytes("1234567").has_value());
  EXPECT_FALSE(label_bytes(std::string(8, '\1')).has_value());
  std::string two(16, '\1');
  two.back() = '\2';
  EXPECT_EQ(label_bytes(two), 16u);
}

TEST(Label, the_middle_is_between) {
  Prng prng(3);
  for (int i = 0; i < 1000; ++i) {
    std::string low;
    std::string high;
    for (uint64_t left = prng.below(40); left > 0; --left) {
      low.push_back(static_cast<char>(prng.below(256)));
    }
    for (uint64_t left = prng.below(40); left > 0; --left) {
      high.push_back(static_cast<char>(prng.below(256)));
    }
    if (low > high) std::swap(low, high);
    const std::string middle = label_middle(low, high);
    EXPECT_GE(middle, low);
    if (!high.empty()) {
      EXPECT_LE(middle, std::max(low, high + std::string(32, '\0')));
    }
  }
}

}  // namespace
}  // namespace hawthorn::format
