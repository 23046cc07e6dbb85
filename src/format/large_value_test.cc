#include "format/large_value.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.h"

namespace hawthorn::format {
namespace {

// A value in pieces as writers make them: each extent is used, parts of some more than once.
LargeValue random_value(Prng& prng) {
  LargeValue value;
  const uint64_t extents = prng.below(12);
  for (uint64_t e = 0; e < extents; ++e) {
    LargeContent content;
    content.bytes = static_cast<uint32_t>(
        1 + prng.below(prng.one_in(4) ? kLargeExtentBytesMax : 2 * kLargeSumBytes));
    content.fresh = prng.one_in(2);
    content.checksum = prng.next();
    value.extents.push_back({static_cast<uint32_t>(prng.below(5)),
                             static_cast<uint32_t>(prng.next()), content.blocks()});
    value.contents.push_back(content);
  }
  std::vector<uint32_t> of;
  for (uint32_t e = 0; e < extents; ++e) of.insert(of.end(), 1 + prng.below(3), e);
  for (size_t i = of.size(); i > 1; --i) std::swap(of[i - 1], of[prng.below(i)]);
  for (uint64_t holes = prng.below(3) + (of.empty() ? 1 : 0); holes > 0; --holes) {
    of.insert(of.begin() + static_cast<ptrdiff_t>(prng.below(of.size() + 1)), LargePiece::kHole);
  }
  for (const uint32_t extent : of) {
    LargePiece piece;
    piece.extent = extent;
    if (piece.hole()) {
      piece.size = 1 + prng.below(uint64_t{1} << 32);
    } else {
      piece.offset = static_cast<uint32_t>(prng.below(value.contents[extent].bytes));
      piece.size = 1 + prng.below(value.contents[extent].bytes - piece.offset);
    }
    value.size += piece.size;
    value.pieces.push_back(piece);
  }
  return value;
}

std::string encoded(const LargeValue& value) {
  std::string bytes;
  append_large_value(bytes, value);
  return bytes;
}

TEST(LargeValueTest, PiecesRoundTrip) {
  Prng prng(20260726);
  for (int i = 0; i < 2000; ++i) {
    const LargeValue value = random_value(prng);
    const std::string bytes = encoded(value);
    const Result<LargeValue> decoded = decode_large_value(bytes);
    ASSERT_TRUE(decoded.ok()) << i;
    EXPECT_EQ(*decoded, value);
    EXPECT_TRUE(decoded->in_pieces());
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_large_value(std::string_view(bytes).substr(0, size)).ok());
    }
    EXPECT_FALSE(decode_large_value(bytes + '\0').ok());
  }
}

// Whatever stands in its bytes, it is refused or is a value that encodes to them (but for numbers
// that are written longer than they need be).
TEST(LargeValueTest, ChangedBytesAreRefusedOrMeanSomething) {
  Prng prng(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = encoded(random_value(prng));
    for (uint64_t n = 1 + prng.below(3); n > 0; --n) {
      bytes[prng.below(bytes.size())] = static_cast<char>(prng.next());
    }
    const Result<LargeValue> decoded = decode_large_value(bytes);
    if (!decoded.ok()) {
      ++refused;
      continue;
    }
    const Result<LargeValue> again = decode_large_value(encoded(*decoded));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *decoded);
    uint64_t size = 0;
    for (const LargePiece& piece : decoded->pieces) {
      size += piece.size;
      if (piece.hole()) continue;
      ASSERT_LT(piece.extent, decoded->extents.size());
      ASSERT_LE(piece.offset + piece.size, decoded->contents[piece.extent].bytes);
    }
    EXPECT_EQ(size, decoded->in_pieces() ? decoded->size : 0);
  }
  EXPECT_GT(refused, 1000);
}

TEST(LargeValueTest, MalformedOnesAreRefused) {
  LargeValue good;
  good.size = 300;
  good.extents = {{1, 10, 1}, {1, 11, 1}};
  good.contents = {{200, true, 5}, {100, false, 6}};
  good.pieces = {{0, 0, 200}, {1, 0, 100}};
  ASSERT_TRUE(decode_large_value(encoded(good)).ok());
  const auto refused = [&](const auto& change) {
    LargeValue bad = good;
    change(bad);
    return decode_large_value(encoded(bad)).status().is(StatusCode::kCorruption);
  };
  EXPECT_TRUE(refused([](LargeValue& v) { v.size = 299; }));
  EXPECT_TRUE(refused([](LargeValue& v) { v.size = 301; }));
  EXPECT_TRUE(refused([](LargeValue& v) { v.pieces[1].offset = 1; })) << "beyond its extent";
  EXPECT_TRUE(refused([](LargeValue& v) { v.pieces[1].extent = 2; })) << "no such extent";
  EXPECT_TRUE(refused([](LargeValue& v) { v.pieces.push_back({0, 0, 0}); })) << "no bytes";
  EXPECT_TRUE(refused([](LargeValue& v) { v.pieces[1].extent = 0; })) << "an unused extent";
  EXPECT_TRUE(refused([](LargeValue& v) { v.contents[1].bytes = 0; }));
  EXPECT_TRUE(refused([](LargeValue& v) {
    v.contents[1].bytes = static_cast<uint32_t>(kLargeExtentBytesMax) + 1;
  }));
  EXPECT_TRUE(refused([](LargeValue& v) {
    v.pieces.assign(kLargePiecesMax + 1, {0, 0, 1});
    v.pieces.push_back({1, 0, 1});
    v.size = v.pieces.size();
  }));
  std::string other = encoded(good);
  other[1] = 2;
  EXPECT_TRUE(decode_large_value(other).status().is(StatusCode::kNotSupported));
}

TEST(LargeValueTest, OnlyFreshExtentsAreAVersionsOwn) {
  LargeValue value;
  value.size = 300;
  value.extents = {{1, 10, 1}, {1, 11, 1}};
  value.contents = {{200, true, 5}, {100, false, 6}};
  value.pieces = {{0, 0, 200}, {1, 0, 100}};
  EXPECT_EQ(fresh_extents(value), std::vector<ExtentAddress>({{1, 10, 1}}));
  value.contents.clear();
  value.pieces.clear();
  EXPECT_EQ(fresh_extents(value), value.extents);
}

TEST(LargeValueTest, TablesBehindTheBytes) {
  EXPECT_FALSE((LargeContent{16384, false, 0}).has_table());
  EXPECT_EQ((LargeContent{16384, false, 0}).blocks(), 4u);
  const LargeContent more{16385, false, 0};
  EXPECT_EQ(more.sums(), 2u);
  EXPECT_EQ(more.table_at(), 16392u);
  EXPECT_EQ(more.table_bytes(), 16u);
  EXPECT_EQ(more.blocks(), 5u);
  const LargeContent most{static_cast<uint32_t>(kLargeExtentBytesMax), false, 0};
  EXPECT_LT(most.blocks(), 4096u);
}

// Encodings are unique (3): a number may not have bytes that add nothing to it.
TEST(LargeValueTest, NumbersHaveOneEncoding) {
  const std::string plain = encoded({4096, 7, {{1, 2, 3}}});
  ASSERT_TRUE(decode_large_value(plain).ok());
  const size_t count_at = 2 + 8;  // behind the size and the checksum
  for (const size_t at : {size_t{1}, count_at, count_at + 1, count_at + 2, count_at + 3}) {
    std::string longer = plain;
    longer[at] = static_cast<char>(longer[at] | '\x80');
    longer.insert(at + 1, 1, '\0');
    EXPECT_TRUE(decode_large_value(longer).status().is(StatusCode::kCorruption)) << at;
  }
  LargeValue value;
  value.size = 5;
  value.pieces.push_back({LargePiece::kHole, 0, 5});
  std::string longer = encoded(value);
  ASSERT_TRUE(decode_large_value(longer).ok());
  longer.back() = static_cast<char>(longer.back() | '\x80');
  longer.push_back('\0');
  EXPECT_TRUE(decode_large_value(longer).status().is(StatusCode::kCorruption));
}

}  // namespace
}  // namespace hawthorn::format
