#include "os/arena_pieces.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "base/prng.h"
#include "os/arena.h"

namespace hawthorn::os {
namespace {

constexpr size_t kShared = 4096;

TEST(ArenaPiecesTest, SharePagesAndGiveThemBack) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{16} << 20)).value();
  Prng prng(1);
  struct Piece {
    size_t kind;
    char* data;
    char mark;
  };
  std::vector<Piece> pieces;
  std::set<char*> present;
  for (int round = 0; round < 20'000; ++round) {
    if (pieces.empty() || prng.below(3) != 0) {
      const size_t kind = prng.below(ArenaPieces::kSizes.size());
      char* const data = arena->pieces().allocate(kind, false);
      ASSERT_NE(data, nullptr);
      ASSERT_TRUE(present.insert(data).second);
      const char mark = static_cast<char>(round);
      std::memset(data, mark, ArenaPieces::kSizes[kind]);
      pieces.push_back({kind, data, mark});
    } else {
      std::swap(pieces[prng.below(pieces.size())], pieces.back());
      const Piece piece = pieces.back();
      pieces.pop_back();
      for (size_t i = 0; i < ArenaPieces::kSizes[piece.kind]; ++i) {
        ASSERT_EQ(piece.data[i], piece.mark);
      }
      present.erase(piece.data);
      arena->pieces().release(piece.kind, piece.data);
    }
  }
  for (const Piece& piece : pieces) arena->pieces().release(piece.kind, piece.data);
  EXPECT_EQ(arena->used(), 0u);
}

TEST(ArenaPiecesTest, FillAPageBeforeTheNext) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{16} << 20)).value();
  std::vector<char*> pieces;
  for (int i = 0; i < 18; ++i) pieces.push_back(arena->pieces().allocate(0, false));
  EXPECT_EQ(arena->used(Quota::kDelta), kShared);
  pieces.push_back(arena->pieces().allocate(0, false));
  EXPECT_EQ(arena->used(Quota::kDelta), 2 * kShared);
  for (char* piece : pieces) arena->pieces().release(0, piece);
  EXPECT_EQ(arena->used(Quota::kDelta), 0u);
}

TEST(ArenaPiecesTest, KeepToTheBudget) {
  const std::unique_ptr<Arena> arena = std::move(Arena::create(size_t{16} << 20)).value();
  std::vector<char*> pieces;
  while (char* piece = arena->pieces().allocate(2, false)) pieces.push_back(piece);
  EXPECT_LE(arena->used(), arena->tolerated_bytes());
  char* const beyond = arena->pieces().allocate(2, true);
  ASSERT_NE(beyond, nullptr);
  arena->pieces().release(2, beyond);
  for (char* piece : pieces) arena->pieces().release(2, piece);
}

}  // namespace
}  // namespace hawthorn::os
