#include "os/machine.h"

#include <gtest/gtest.h>

#include <set>

namespace hawthorn::os {
namespace {

TEST(MachineTest, RealMachineWorks) {
  const Machine& machine = real_machine();
  ASSERT_NE(machine.files, nullptr);
  ASSERT_NE(machine.io, nullptr);
  EXPECT_TRUE(machine.background_threads);
  EXPECT_EQ(&real_machine(), &machine);
  const uint64_t start = machine.clock->monotonic_us();
  machine.clock->sleep_us(2000);
  EXPECT_GE(machine.clock->monotonic_us(), start + 2000);
  EXPECT_GT(machine.clock->wall_us(), uint64_t{1577836800} * 1000000);  // 2020
  std::set<uint64_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(machine.random->next());
  EXPECT_EQ(numbers.size(), 100u);
}

}  // namespace
}  // namespace hawthorn::os
