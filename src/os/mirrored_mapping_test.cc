#include "os/mirrored_mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/sim_disk.h"

namespace hawthorn::os {
namespace {

constexpr size_t kRingBytes = size_t{64} << 10;

class MirroredMappingTest : public ::testing::Test {
 protected:
  MirroredMappingTest() {
    file_ = disk_.open_file("/ring", {.create = true}).value();
    EXPECT_TRUE(file_->write_at(0, std::string(kRingBytes, 'a')).ok());
    copy_ = make_mapped_copy(disk_.open_file("/ring", {}).value(), kRingBytes).value();
  }
  char of_file(size_t at) {
    char byte = 0;
    EXPECT_TRUE(file_->read_at(at, {&byte, 1}).ok());
    return byte;
  }

  testing::SimDisk disk_;
  std::unique_ptr<File> file_;
  std::unique_ptr<MappedFile> copy_;
};

TEST_F(MirroredMappingTest, ACopyHasTheBytesTwice) {
  EXPECT_TRUE(copy_->is_copy());
  EXPECT_TRUE(copy_->mirrored());
  EXPECT_EQ(copy_->size(), kRingBytes);
  EXPECT_EQ(copy_->data()[kRingBytes - 1], 'a');
  copy_->data()[kRingBytes + 5] = 'b';
  EXPECT_EQ(copy_->data()[5], 'b');
}

TEST_F(MirroredMappingTest, StoresReachTheFileWhenTheyAreWrittenBack) {
  std::fill_n(copy_->data() + kRingBytes - 10, 20, 'b');
  EXPECT_EQ(of_file(kRingBytes - 1), 'a');
  ASSERT_TRUE(copy_->write_back(kRingBytes - 5, 10).ok());
  EXPECT_EQ(of_file(kRingBytes - 6), 'a');
  EXPECT_EQ(of_file(kRingBytes - 5), 'b');
  EXPECT_EQ(of_file(4), 'b');
  EXPECT_EQ(of_file(5), 'a');
}

TEST_F(MirroredMappingTest, AFullDiskIsAnErrorOfWritingBack) {
  disk_.fail_path("ring", testing::SimOp::kWrite, 1, StatusCode::kNoSpace);
  copy_->data()[0] = 'b';
  EXPECT_TRUE(copy_->write_back(0, 1).is(StatusCode::kNoSpace));
  EXPECT_TRUE(copy_->write_back(0, 1).ok());
  EXPECT_EQ(of_file(0), 'b');
}

TEST(StoresAreSafe, WhereBlocksStayWhereTheyAre) {
  const auto safe = [](const char* path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT_GE(descriptor, 0);
    const bool result = stores_are_safe(descriptor);
    close(descriptor);
    return result;
  };
  EXPECT_TRUE(safe("/dev/shm"));
  EXPECT_FALSE(safe("/proc/self/status"));  // of a kind that nobody thought of
}

}  // namespace
}  // namespace hawthorn::os
