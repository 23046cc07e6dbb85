#include "bench/sql_rows.h"

#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "bench/stamp.h"

namespace hawthorn::bench {
namespace {

constexpr std::array<const char*, 20> kSmallNumbers = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 10> kTens = {"",      "",      "twenty",  "thirty", "forty",
                                               "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr int64_t kSpokenMax = 1'000'000'000'000;

void append_word(std::string& text, const char* word) {
  if (!text.empty()) text += ' ';
  text += word;
}

// 1 to 999.
void append_hundreds(std::string& text, int64_t number) {
  if (number >= 100) {
    append_word(text, kSmallNumbers.at(static_cast<size_t>(number / 100)));
    append_word(text, "hundred");
    number %= 100;
  }
  if (number >= 20) {
    append_word(text, kTens.at(static_cast<size_t>(number / 10)));
    number %= 10;
  }
  if (number != 0) append_word(text, kSmallNumbers.at(static_cast<size_t>(number)));
}

}  // namespace

SqlRandom::SqlRandom(uint64_t seed, uint64_t stream) : state_(mix64(mix64(seed) + stream)) {}

uint64_t SqlRandom::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix64(state_);
}

int64_t SqlRandom::between(int64_t first, int64_t last) {
  const auto width = static_cast<uint64_t>(last - first) + 1;
  return first + static_cast<int64_t>(static_cast<uint64_t>((Wide{next()} * width) >> 64));
}

std::string number_in_words(int64_t number) {
  if (number < 0 || number >= kSpokenMax) throw std::invalid_argument("number_in_words");
  if (number == 0) return kSmallNumbers[0];
  std::string text;
  constexpr std::array<std::pair<int64_t, const char*>, 3> kGroups = {
      {{1'000'000'000, "billion"}, {1'000'000, "million"}, {1'000, "thousand"}}};
  for (const auto& [unit, name] : kGroups) {
    if (number < unit) continue;
    append_hundreds(text, number / unit);
    append_word(text, name);
    number %= unit;
  }
  append_hundreds(text, number);
  return text;
}

std::vector<int64_t> shuffled_numbers(SqlRandom& random, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 1);
  for (size_t left = numbers.size(); left > 1; --left) {
    const auto chosen = static_cast<size_t>(random.between(0, static_cast<int64_t>(left) - 1));
    std::swap(numbers[left - 1], numbers[chosen]);
  }
  return numbers;
}

}  // namespace hawthorn::bench
