#include "os/temporary.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace hawthorn::os {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

TEST(TemporaryMapping, HoldsWhatIsStoredAndHasNoName) {
  const std::string directory = ::testing::TempDir() + "temporary-mapping";
  std::filesystem::create_directory(directory);
  const int descriptor = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  auto mapping = TemporaryMapping::create(descriptor, kBytes);
  ::close(descriptor);
  ASSERT_TRUE(mapping.ok()) << mapping.status().to_string();
  ASSERT_EQ((*mapping)->size(), kBytes);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::memset((*mapping)->data(), 'x', kBytes);
  (*mapping)->let_go();
  EXPECT_EQ(std::string_view((*mapping)->data(), kBytes), std::string(kBytes, 'x'));
  std::memset((*mapping)->data(), 'y', kBytes);
  EXPECT_EQ((*mapping)->data()[kBytes - 1], 'y');
  mapping->reset();
  EXPECT_TRUE(std::filesystem::remove(directory));
}

TEST(TemporaryMapping, GoesElsewhereWhereTheDirectoryIsNone) {
  auto mapping = TemporaryMapping::create(-1, kBytes);
  ASSERT_TRUE(mapping.ok()) << mapping.status().to_string();
  (*mapping)->data()[0] = 'x';
}

TEST(TemporaryMapping, OfMoreThanTheDiskHasIsRefused) {
  const auto mapping = TemporaryMapping::create(-1, size_t{1} << 55);
  EXPECT_FALSE(mapping.ok());
}

}  // namespace
}  // namespace hawthorn::os
