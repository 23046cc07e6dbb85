#include "os/memory_reserve.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>

namespace hawthorn::os {
namespace {

int asked = 0;
void programs_own() { ++asked; }

// What operator new does where it fails.
void fail() {
  if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) {
    handler();
  } else {
    throw std::bad_alloc();
  }
}

TEST(MemoryReserveTest, IsGivenUpOnceAndSetAsideAgain) {
  EXPECT_THROW(fail(), std::bad_alloc);
  {
    const MemoryReserve reserve;
    EXPECT_FALSE(memory_short());
    for (int round = 0; round < 3; ++round) {
      fail();
      EXPECT_TRUE(memory_reserve_gone());
      EXPECT_THROW(fail(), std::bad_alloc);
      EXPECT_FALSE(memory_short());  // there is memory
      EXPECT_FALSE(memory_reserve_gone());
    }
    fail();
  }
  EXPECT_FALSE(memory_short());
  EXPECT_EQ(std::get_new_handler(), nullptr);
}

TEST(MemoryReserveTest, LastsAsLongAsOneOfThem) {
  std::optional<MemoryReserve> one(std::in_place);
  std::optional<MemoryReserve> other(std::in_place);
  one.reset();
  fail();
  EXPECT_FALSE(memory_short());
  other.reset();
  EXPECT_EQ(std::get_new_handler(), nullptr);
}

// The program's own is asked where there is nothing to give up, and stands again afterwards.
TEST(MemoryReserveTest, LeavesTheHandlerOfTheProgramInItsPlace) {
  asked = 0;
  std::set_new_handler(programs_own);
  {
    const MemoryReserve reserve;
    fail();
    EXPECT_EQ(asked, 0);
    fail();
    EXPECT_EQ(asked, 1);
  }
  EXPECT_EQ(std::get_new_handler(), programs_own);
  // One that is set later is not taken away.
  std::set_new_handler(nullptr);
  {
    const MemoryReserve reserve;
    std::set_new_handler(programs_own);
  }
  EXPECT_EQ(std::get_new_handler(), programs_own);
  std::set_new_handler(nullptr);
}

}  // namespace
}  // namespace hawthorn::os
