// Extents that overlap, and such that are in use and count as free. A database that is read from
// disk has none, since open refuses it: so these are given.

#include "db/check_extents.h"

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using Kind = CheckItem::Kind;

std::vector<CheckItem> found(std::vector<db::ExtentClaim> claims,
                             std::vector<format::ExtentAddress> free) {
  return db::find_overlaps(claims, free);
}

TEST(CheckExtents, that_touch_do_not_overlap) {
  EXPECT_TRUE(found({{{0, 10, 5}, 1, 1}, {{0, 15, 5}, 1, 2}, {{1, 12, 5}, 2, 3}},
                    {{0, 0, 10}, {0, 20, 100}, {1, 0, 12}, {1, 17, 1}})
                  .empty());
  EXPECT_TRUE(found({}, {{0, 0, 10}}).empty());
}

TEST(CheckExtents, that_overlap_are_named_with_those_who_claim_them) {
  const auto items = found({{{3, 15, 5}, 2, 7}, {{3, 10, 6}, 1, 4}}, {});
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].kind, Kind::kOverlap);
  EXPECT_EQ(items[0].to_string(),
            "data.3 at 61440, 4096 bytes: is claimed by container 4 of tree 1 and by container 7 "
            "of tree 2");
}

// The long one overlaps both, though its neighbour lies between.
TEST(CheckExtents, that_lie_in_a_long_one_are_all_found) {
  EXPECT_EQ(found({{{0, 0, 100}, 1, 1}, {{0, 10, 5}, 1, 2}, {{0, 50, 5}, 1, 3}}, {}).size(), 2u);
  // The same extent twice.
  EXPECT_EQ(found({{{0, 10, 5}, 1, 1}, {{0, 10, 5}, 1, 2}}, {}).size(), 1u);
}

TEST(CheckExtents, that_are_in_use_are_not_free) {
  const auto items = found({{{0, 10, 5}, 1, 1}, {{0, 30, 5}, 1, 2}}, {{0, 14, 2}, {0, 20, 10}});
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].offset, 14 * 4096u);
  EXPECT_EQ(items[0].bytes, 4096u);
  EXPECT_NE(items[0].what.find("free"), std::string::npos);
}

}  // namespace
}  // namespace hawthorn::tests
