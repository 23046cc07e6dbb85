#pragma once
// What the whole-engine tests share: asserting a Status, temporary directories, waiting, seeds from
// the environment, keys of all shapes and values known from their number.
//
// Not here: the simulated disk and machine (testing/). Used by the folders of tests/ only.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/prng.h"
#include "hawthorn/hawthorn.h"
#include "testing/scaled.h"
#include "testing/temp_directory.h"
#include "testing/wait.h"

#define ASSERT_OK(expression)                             \
  do {                                                    \
    const ::hawthorn::Status ok_status = (expression);    \
    ASSERT_TRUE(ok_status.ok()) << ok_status.to_string(); \
  } while (false)
#define EXPECT_OK(expression)                             \
  do {                                                    \
    const ::hawthorn::Status ok_status = (expression);    \
    EXPECT_TRUE(ok_status.ok()) << ok_status.to_string(); \
  } while (false)

namespace hawthorn::tests {

using testing::environment_number;
using testing::is_whole;
using testing::scaled;
using testing::scaled_step;
using testing::TempDirectory;
using testing::wait_until;

// Declared after the variables of a test that callbacks of a fixture's database use, it closes the
// database before these go, however the test ends.
class ClosesFirst {
 public:
  explicit ClosesFirst(std::unique_ptr<Db>& db) : db_(db) {}
  ~ClosesFirst() {
    // Not by reset alone: a callback that calls the database would find a null pointer.
    if (db_ != nullptr) static_cast<void>(db_->close());
    db_.reset();
  }
  ClosesFirst(const ClosesFirst&) = delete;
  ClosesFirst& operator=(const ClosesFirst&) = delete;

 private:
  std::unique_ptr<Db>& db_;
};

inline std::string big_endian(uint64_t number) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8)
    bytes[static_cast<size_t>(i)] = static_cast<char>(number);
  return bytes;
}

// Key `number` of a key space: most are 8 bytes; the rest are empty, short, text with a long common
// prefix, full of 0x00 and 0xff, and longer than what an index block keeps of a key.
inline std::string key_of(uint64_t number) {
  const uint64_t mixed = mix64(number);
  switch (number % 32) {
    case 0:
      return number == 0 ? std::string() : big_endian(number).substr(8 - 1 - mixed % 3);
    case 1:
      return "a long common prefix of many keys/" + std::to_string(number);
    case 2:
      return std::string(mixed % 12, '\0') + std::to_string(number);
    case 3:
      return std::string(mixed % 12, '\xff') + big_endian(number);
    case 4:
      return number % 512 == 4
                 ? big_endian(number) + std::string(480 + mixed % 200, 'k') + big_endian(number)
                 : "user:" + std::to_string(number);
    case 5:
      return number % 4096 == 5 ? "x" + std::string(mixed % 65000, 'y') : std::to_string(number);
    default:
      return big_endian(number);
  }
}

// Key `number` of a space whose keys all have 8 bytes.
inline std::string counter_key_of(uint64_t number) { return big_endian(mix64(number)); }

// `size` bytes that follow from `number`.
inline std::string value_of(uint64_t number, size_t size) {
  std::string value(size, '\0');
  uint64_t state = number;
  const bool noise = number % 4 == 3;
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = i == 0 ? number : noise ? splitmix64(state) : number % 32 + i / 64;
    std::memcpy(value.data() + i, &word, std::min<size_t>(8, size - i));
  }
  return value;
}

// Sizes as programs have them: mostly small, some empty, few large. `large`: some over 64 KB.
inline size_t random_size(Prng& prng, bool large) {
  const uint64_t pick = prng.below(1000);
  if (pick < 50) return 0;
  if (pick < 600) return prng.below(40);
  if (pick < 900) return prng.between(100, 400);
  if (pick < 990) return prng.below(2000);
  if (pick < 998 || !large) return prng.below(20000);
  return prng.between(60000, 200000);
}

// As of counters: 8 bytes, but for one in so many.
inline size_t counter_size(Prng& prng) { return prng.one_in(20000) ? prng.below(40) : 8; }

// The checker finds nothing.
inline ::testing::AssertionResult clean(Db& db) {
  const Result<CheckReport> report = db.check();
  if (!report.ok()) return ::testing::AssertionFailure() << report.status().to_string();
  if (report->ok()) return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  for (const std::string& error : report->errors) result << error << "\n";
  return result;
}

}  // namespace hawthorn::tests
