// Point reads of a container whose entries all have the same head, and of which the heap is not in
// memory: keys that are alike for longer than 8 bytes, in a container without bounds.

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tree/cursor_test_support.h"

namespace hawthorn::tree::tied_heads_test {
namespace {

using cursor_test::TestTree;

constexpr uint64_t kKeys = 200000;
constexpr size_t kBudget = size_t{64} << 20;

class TiedHeadsTest : public ::testing::Test {
 protected:
  TiedHeadsTest() : test_({.budget = kBudget, .policy = {.target_bytes = size_t{64} << 20}}) {}

  static std::string key(uint64_t i) {
    char text[32];
    snprintf(text, sizeof(text), "subscriber/%010llu", static_cast<unsigned long long>(i));
    return text;
  }
  static std::string value(uint64_t i) { return std::string(i % 50, 'v') + std::to_string(i); }
  // Every second key.
  void fill() {
    TestTree::Changes changes;
    for (uint64_t i = 0; i < kKeys; i += 2) changes.emplace_back(key(i), value(i));
    test_.commit(changes);
  }
  void leave_front() {
    test_.flush("");
    test_.residency().set_reserve(kBudget - (size_t{2} << 20));
    test_.evict_all();
    ASSERT_TRUE(test_.residency().load_run(file(), RunPart::kFront).ok());
    ASSERT_EQ(file()->run.load()->heap(), nullptr);
  }
  RunFile* file() { return test_.tree()->directory().find("")->descriptor.load()->run; }
  std::string get(const std::string& sought, Lsn ts) {
    Value got;
    const Status status = test_.tree()->get(sought, {ts, 0}, true, got);
    EXPECT_TRUE(status.ok() || status.is_not_found()) << status.to_string();
    return status.ok() ? got.to_string() : "<absent>";
  }

  TestTree test_;
};

constexpr uint64_t kBlock = 4096;

TEST_F(TiedHeadsTest, AGetReadsTheBlocksOfItsRecord) {
  fill();
  leave_front();
  ASSERT_GT(file()->image->heap_bytes(), size_t{1} << 20);
  ASSERT_GT(file()->record.separator_blocks, 0u);
  for (uint64_t i = 0; i < kKeys; i += 6237) {
    const uint64_t before = test_.residency().bytes_read();
    EXPECT_EQ(get(key(i), test_.visible()), i % 2 == 0 ? value(i) : "<absent>") << i;
    EXPECT_LE(test_.residency().bytes_read() - before, 2 * kBlock) << i;
  }
  EXPECT_EQ(get("subscriber/", test_.visible()), "<absent>");
  EXPECT_EQ(get("subscriber/9", test_.visible()), "<absent>");
  EXPECT_EQ(get(key(0) + "0", test_.visible()), "<absent>");
  ASSERT_NE(file()->run.load(), nullptr);
  EXPECT_EQ(file()->run.load()->heap(), nullptr) << "it was read as a whole";
}

// Of a run that was written before there were separators.
TEST_F(TiedHeadsTest, WithoutSeparatorsAGetReadsASearch) {
  runs_have_separators = false;
  fill();
  leave_front();
  runs_have_separators = true;
  const tree::Run::Range ties = file()->run.load()->range_of(key(0));
  ASSERT_EQ(ties.end - ties.begin, kKeys / 2) << "this test is about ties";
  EXPECT_FALSE(file()->record.separated);
  for (uint64_t i = 0; i < kKeys; i += 6237) {
    const uint64_t before = test_.residency().bytes_read();
    EXPECT_EQ(get(key(i), test_.visible()), i % 2 == 0 ? value(i) : "<absent>") << i;
    EXPECT_LE(test_.residency().bytes_read() - before, size_t{100} << 10) << i;
    TreeCursor cursor(test_.tree(), {test_.visible(), 0}, {});
    const uint64_t before_seek = test_.residency().bytes_read();
    ASSERT_TRUE(cursor.seek(key(i))) << i;
    EXPECT_EQ(cursor.key(), key(i + i % 2));
    EXPECT_EQ(cursor.value(), value(i + i % 2));
    EXPECT_LE(test_.residency().bytes_read() - before_seek, size_t{130} << 10) << i;
  }
}

// Versions of one key that take more than is read at once, and its neighbours.
TEST_F(TiedHeadsTest, FindsTheVersionOfAMoment) {
  fill();
  std::vector<std::pair<Lsn, std::string>> versions;
  std::deque<HeldSnapshot> held;
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = std::to_string(i) + std::string(200, 'x');
    test_.commit({{key(20000), bytes}});
    held.emplace_back(test_.store().snapshots, test_.store().visible);
    versions.emplace_back(test_.visible(), bytes);
  }
  leave_front();
  for (size_t i = 0; i < versions.size(); i += 7) {
    EXPECT_EQ(get(key(20000), versions[i].first), versions[i].second);
  }
  EXPECT_EQ(get(key(19998), test_.visible()), value(19998));
  EXPECT_EQ(get(key(20002), test_.visible()), value(20002));
}

TEST_F(TiedHeadsTest, DamageOnTheWayIsNamed) {
  runs_have_separators = false;
  fill();
  leave_front();
  runs_have_separators = true;
  const format::ContainerRecord& record = file()->record;
  const uint32_t front = format::run_front(record).blocks;
  const std::string path = "/db/data." + std::to_string(record.run.file);
  // The block in the middle of the heap, through which each search goes.
  const tree::Run& run = *file()->run.load();
  const format::HeapRange middle = run.heap_range(kKeys / 4, kKeys / 4 + 1);
  const uint64_t at = uint64_t{record.run.block + front} * 4096 + middle.begin;
  ASSERT_TRUE(test_.disk().flip_bit(path, at, 3));
  Value got;
  const Status status = test_.tree()->get(key(2), {test_.visible(), 0}, true, got);
  EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
  ASSERT_TRUE(test_.disk().flip_bit(path, at, 3));
  EXPECT_EQ(get(key(2), test_.visible()), value(2));
}

}  // namespace
}  // namespace hawthorn::tree::tied_heads_test
