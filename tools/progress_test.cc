#include "tools/progress.h"

#include <gtest/gtest.h>

namespace hawthorn::tools {
namespace {

TEST(Progress, ShortNumbers) {
  EXPECT_EQ(short_bytes(0), "0 B");
  EXPECT_EQ(short_bytes(999), "999 B");
  EXPECT_EQ(short_bytes(1000), "1.00 kB");
  EXPECT_EQ(short_bytes(12345678), "12.3 MB");
  EXPECT_EQ(short_bytes(999.9e6), "1.00 GB");
  EXPECT_EQ(short_bytes(5e15), "5000 TB");
  EXPECT_EQ(short_count(1230000), "1.23 M");
}

TEST(Progress, ShortTimes) {
  EXPECT_EQ(short_time(0), "0:00");
  EXPECT_EQ(short_time(547.9), "9:07");
  EXPECT_EQ(short_time(7439), "2:03:59");
  EXPECT_EQ(short_time(-1), "0:00");
}

}  // namespace
}  // namespace hawthorn::tools
