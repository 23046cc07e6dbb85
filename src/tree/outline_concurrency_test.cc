// Point reads of containers of whose run only the outline is in memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "os/epoch.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::outline_concurrency_test {
namespace {

using cursor_test::Generator;
using cursor_test::TestTree;

constexpr uint64_t kKeys = 100000;
constexpr size_t kBudget = size_t{64} << 20;

// Values of many sizes, which stand in a heap; or of one, in wide groups.
enum class Values { kMany, kWide };

class OutlineTest : public ::testing::TestWithParam<Values> {
 protected:
  // One container, whose keys differ in their first 8 bytes behind the prefix, as good as always.
  OutlineTest() : test_({.budget = kBudget, .policy = {.target_bytes = size_t{16} << 20}}) {
    TestTree::Changes changes;
    for (uint64_t i = 0; i < kKeys; ++i) changes.emplace_back(Generator::number(i), value(i));
    test_.commit(changes);
    test_.flush("");
    // Little room: what is read does not become resident as a whole.
    test_.residency().set_reserve(kBudget - (size_t{2} << 20));
  }
  static bool wide() { return GetParam() == Values::kWide; }
  static std::string value(uint64_t i) {
    return std::to_string(i * 17 + (wide() ? 10'000'000 : 0));
  }
  RunFile* file() { return test_.tree()->directory().find("")->descriptor.load()->run; }
  void leave_outline() {
    while (file()->run.load() != nullptr) test_.residency().make_room(1);
  }
  Status get(uint64_t i, std::string* found) {
    Value got;
    Status status = test_.tree()->get(Generator::number(i), {test_.visible(), 0}, true, got);
    *found = status.ok() ? got.to_string() : "";
    return status;
  }

  TestTree test_;
};

TEST_P(OutlineTest, AGetReadsSingleBlocks) {
  leave_outline();
  ASSERT_NE(file()->outline.load(), nullptr);
  ASSERT_EQ(file()->record.wide, wide());
  std::string found;
  for (uint64_t i = 0; i < kKeys; i += 9999) {
    const uint64_t before = test_.residency().bytes_read();
    ASSERT_TRUE(get(i, &found).ok());
    EXPECT_EQ(found, value(i));
    EXPECT_LE(test_.residency().bytes_read() - before, (wide() ? uint64_t{1} : uint64_t{4}) * 4096);
    ASSERT_TRUE(get(kKeys + i, &found).is_not_found());
  }
  EXPECT_EQ(file()->run.load(), nullptr);
}

// Of a wide run where its blocks are read again and again, of others where they are read often.
TEST_P(OutlineTest, TheFrontComesBack) {
  leave_outline();
  Prng prng(1);
  std::string found;
  int reads = 0;
  for (; reads < 100'000 && file()->run.load() == nullptr; ++reads) {
    const uint64_t i = prng.below(kKeys);
    ASSERT_TRUE(get(i, &found).ok());
    ASSERT_EQ(found, value(i));
    if (wide()) continue;
    // The frames forget what they have.
    test_.residency().frames().shrink(size_t{1} << 30);
    os::epoch::collect();
    test_.residency().frames().collect();
  }
  EXPECT_NE(file()->run.load(), nullptr);
  // Not before as much was read as it takes to read all of it.
  EXPECT_GE(reads, static_cast<int>(file()->image->front_blocks));
}

// As just after an open, where the first reads go by outlines.
TEST_P(OutlineTest, AFrontThatNeverWasInMemoryComesSoon) {
  if (wide()) return;  // its blocks settle
  leave_outline();
  test_.evict_all();
  file()->front_went = false;
  const uint32_t blocks = file()->image->front_blocks;
  std::string found;
  uint32_t gets = 0;
  for (; gets < blocks && file()->run.load() == nullptr; ++gets) {
    const uint64_t i = uint64_t{gets} * kKeys / blocks;
    ASSERT_TRUE(get(i, &found).ok());
    ASSERT_EQ(found, value(i));
  }
  EXPECT_GT(gets, 2u);
  EXPECT_LE(gets, 4 + blocks / 8);
}

TEST_P(OutlineTest, MemoryTakesTheOutlineAtLast) {
  leave_outline();
  test_.evict_all();
  EXPECT_EQ(file()->outline.load(), nullptr);
  const uint64_t before = test_.residency().bytes_read();
  std::string found;
  ASSERT_TRUE(get(7, &found).ok());
  EXPECT_EQ(found, value(7));
  // The header alone makes an outline again.
  const Extent& image = *file()->image.get();
  EXPECT_NE(file()->outline.load(), nullptr);
  EXPECT_EQ(file()->run.load(), nullptr);
  const uint64_t bytes = test_.residency().bytes_read() - before;
  if (wide()) {
    EXPECT_EQ(bytes, image.header_bytes() + 4096);
  } else {
    EXPECT_LE(bytes, image.header_bytes() + 4 * 4096);
  }
  EXPECT_LT(image.header_blocks, image.front_blocks / (wide() ? 20 : 8));
}

TEST_P(OutlineTest, DamageOfTheHeaderIsNamed) {
  const format::ContainerRecord& record = file()->record;
  leave_outline();
  test_.evict_all();
  const std::string path = "/db/data." + std::to_string(record.run.file);
  const uint64_t header = uint64_t{record.run.block} * 4096;
  ASSERT_TRUE(test_.disk().flip_bit(path, header + 3000, 3));
  std::string found;
  const Status status = get(1, &found);
  EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
  EXPECT_NE(status.message().find(path + " at " + std::to_string(header)), std::string_view::npos)
      << status.to_string();
  EXPECT_TRUE(get(kKeys - 1, &found).is(StatusCode::kCorruption)) << "quarantined";
}

TEST_P(OutlineTest, DamageOfAnIndexBlockIsNamed) {
  const format::ContainerRecord& record = file()->record;
  const uint32_t front = format::run_front(record).blocks;
  leave_outline();
  const std::string path = "/db/data." + std::to_string(record.run.file);
  const uint64_t last_block = uint64_t{record.run.block + front - 1} * 4096;
  ASSERT_TRUE(test_.disk().flip_bit(path, last_block + 100, 3));
  std::string found;
  const Status status = get(kKeys - 1, &found);
  EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
  EXPECT_NE(status.message().find(path + " at " + std::to_string(last_block)),
            std::string_view::npos)
      << status.to_string();
  ASSERT_TRUE(get(0, &found).ok());
  EXPECT_EQ(found, value(0));
  ASSERT_TRUE(test_.disk().flip_bit(path, last_block + 100, 3));
  ASSERT_TRUE(get(kKeys - 1, &found).ok());
  EXPECT_EQ(found, value(kKeys - 1));
}

TEST_P(OutlineTest, ReadersWhileFrontsComeAndGo) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (uint64_t reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      Prng prng(reader);
      std::string found;
      for (int n = 0; n < 1000; ++n) {
        const uint64_t i = prng.below(kKeys);
        if (!get(i, &found).ok() || found != value(i)) ++wrong;
      }
    });
  }
  std::thread evictor([&] {
    for (int n = 0; !done; ++n) {
      test_.residency().make_room(n % 50 == 0 ? size_t{1} << 30 : 1);
      if (n % 3 != 0) continue;
      RunFile* present = file();  // it stays: nothing is flushed
      EXPECT_TRUE(test_.residency().load_run(present).ok());
    }
  });
  for (std::thread& reader : readers) reader.join();
  done = true;
  evictor.join();
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, OutlineTest, ::testing::Values(Values::kMany, Values::kWide),
                         [](const auto& param) {
                           return std::string(param.param == Values::kWide ? "Wide" : "ManySizes");
                         });

}  // namespace
}  // namespace hawthorn::tree::outline_concurrency_test
