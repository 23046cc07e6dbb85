#include "os/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temp_directory.h"

namespace hawthorn::os {
namespace {

class MemoryLimit : public ::testing::Test {
 protected:
  void limit(const std::string& file, const std::string& text) {
    const std::filesystem::path path = mounted_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  uint64_t in(const std::string& groups) { return memory_limit_in(groups, mounted_.path()); }

  testing::TempDirectory mounted_;
};

TEST_F(MemoryLimit, NoneWithoutGroups) {
  EXPECT_EQ(in(""), UINT64_MAX);
  EXPECT_EQ(in("0::/\n"), UINT64_MAX);
  EXPECT_EQ(in("no\nlines:of\n"), UINT64_MAX);
  limit("a/memory.max", "max");
  EXPECT_EQ(in("0::/a\n"), UINT64_MAX);
  limit("a/memory.max", "");
  EXPECT_EQ(in("0::/a\n"), UINT64_MAX);
}

TEST_F(MemoryLimit, TheLeastOfAllAbove) {
  limit("a/b/memory.max", "3000");
  limit("a/memory.max", "2000");
  limit("a/b/c/memory.max", "max");
  limit("other/memory.max", "1");
  EXPECT_EQ(in("0::/a/b/c\n"), 2000U);
  EXPECT_EQ(in("0::/a\n"), 2000U);
  limit("a/b/memory.max", "1500");
  EXPECT_EQ(in("0::/a/b/c\n"), 1500U);
}

TEST_F(MemoryLimit, OfVersionOne) {
  limit("memory/x/memory.limit_in_bytes", "4096");
  limit("memory/memory.limit_in_bytes", "9223372036854771712");
  limit("cpu/x/memory.limit_in_bytes", "1");
  EXPECT_EQ(in("5:cpu,cpuacct:/x\n4:memory:/x\n0::/x\n"), 4096U);
  EXPECT_EQ(in("4:hugetlb,memory:/x/y:z\n"), 4096U);
  EXPECT_EQ(in("4:memorys:/x\n"), UINT64_MAX);
}

// As in a container whose group is mounted as the upmost one.
TEST_F(MemoryLimit, WhereTheGroupIsNotSeenByItsName) {
  limit("memory/memory.limit_in_bytes", "100");
  EXPECT_EQ(in("4:memory:/docker/0123\n"), 100U);
  limit("memory.max", "50");
  EXPECT_EQ(in("0::/../elsewhere\n"), 50U);
}

}  // namespace
}  // namespace hawthorn::os
