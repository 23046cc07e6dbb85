#include "tree/undo_list.h"

#include <gtest/gtest.h>

#include <memory>

namespace hawthorn::tree {
namespace {

std::unique_ptr<os::Arena> arena_of(size_t bytes) {
  return std::move(os::Arena::create(bytes)).value();
}

Undo numbered(uint32_t number) {
  Undo undo;
  undo.structure = uint64_t{number} * 7;
  undo.seq = number;
  return undo;
}

TEST(UndoList, KeepsWhatWasAddedInItsOrder) {
  const std::unique_ptr<os::Arena> arena = arena_of(size_t{16} << 20);
  for (os::Arena* from : {static_cast<os::Arena*>(nullptr), arena.get()}) {
    UndoList list(from);
    for (uint32_t i = 0; i < 5000; ++i) list.push_back(numbered(i));
    ASSERT_EQ(list.size(), 5000u);
    for (uint32_t i = 0; i < 5000; ++i) {
      ASSERT_EQ(list[i].seq, i);
      ASSERT_EQ(list[i].structure, uint64_t{i} * 7);
    }
    list.resize(700);
    list.push_back(numbered(9));
    ASSERT_EQ(list.size(), 701u);
    EXPECT_EQ(list[699].seq, 699u);
    EXPECT_EQ(list[700].seq, 9u);
  }
  EXPECT_EQ(arena->used(), 0u);
}

TEST(UndoList, CountsAgainstTheBudgetAndGivesAllOfItBack) {
  const std::unique_ptr<os::Arena> arena = arena_of(size_t{16} << 20);
  UndoList list(arena.get());
  for (int i = 0; i < 100; ++i) list.push_back(Undo());
  EXPECT_EQ(arena->used(), 0u);  // a small transaction
  for (int i = 0; i < 50'000; ++i) list.push_back(Undo());
  EXPECT_GE(arena->used(os::Quota::kOther), 50'000 * sizeof(Undo));
  EXPECT_LE(arena->used(os::Quota::kOther), 52'000 * sizeof(Undo));
  list.resize(10'000);
  EXPECT_LE(arena->used(os::Quota::kOther), 11'000 * sizeof(Undo));
  list.clear();
  EXPECT_EQ(arena->used(), 0u);
}

TEST(UndoList, TellsThatThereIsNoMemory) {
  const std::unique_ptr<os::Arena> arena = arena_of(size_t{4} << 20);
  UndoList list(arena.get());
  while (!list.full() || list.grow()) list.push_back(Undo());
  EXPECT_GT(list.size(), 40'000u);
  EXPECT_TRUE(list.full());
  const size_t size = list.size();
  list.push_back(numbered(3));  // whoever does not ask is served all the same
  EXPECT_EQ(list[size].seq, 3u);
}

}  // namespace
}  // namespace hawthorn::tree
