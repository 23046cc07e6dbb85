#include "os/test_point.h"

#include <gtest/gtest.h>

namespace hawthorn::os {
namespace {

#if defined(HAWTHORN_TEST_POINTS)
TEST(TestPointTest, HooksRunUntilRemoved) {
  int hits = 0;
  HAWTHORN_TEST_POINT("test:a");
  set_test_point("test:a", [&] { ++hits; });
  set_test_point("test:b", [] { set_test_point("test:b", nullptr); });
  HAWTHORN_TEST_POINT("test:a");
  HAWTHORN_TEST_POINT("test:c");
  HAWTHORN_TEST_POINT("test:b");
  EXPECT_EQ(hits, 1);
  clear_test_points();
  HAWTHORN_TEST_POINT("test:a");
  EXPECT_EQ(hits, 1);
}
#else
TEST(TestPointTest, CostNothing) { HAWTHORN_TEST_POINT("test:a"); }
#endif

}  // namespace
}  // namespace hawthorn::os
