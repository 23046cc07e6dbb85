#include "os/io.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace hawthorn::os {
namespace {

// A file of memory; offsets from kBadOffset on fail.
class MemoryFile : public File {
 public:
  static constexpr uint64_t kBadOffset = 1 << 20;
  explicit MemoryFile(size_t size) : bytes_(size, '\0') {}
  Status read_at(uint64_t offset, std::span<char> data) override {
    if (offset >= kBadOffset) return Status(StatusCode::kIoError, "bad read");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), data.size(), data.begin());
    return Status();
  }
  Status write_at(uint64_t offset, std::span<const char> data) override {
    if (offset >= kBadOffset) return Status(StatusCode::kNoSpace, "bad write");
    std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset));
    return Status();
  }
  Status sync_data() override { return Status(); }
  Result<uint64_t> size() override { return static_cast<uint64_t>(bytes_.size()); }
  Result<uint64_t> allocated_bytes() override { return static_cast<uint64_t>(bytes_.size()); }
  Status truncate(uint64_t) override { return Status(); }
  Status allocate(uint64_t, uint64_t) override { return Status(); }
  Status punch_hole(uint64_t, uint64_t) override { return Status(); }
  Status lock_exclusive() override { return Status(); }
  bool direct() const override { return false; }
  const std::string& path() const override { return path_; }

 private:
  std::string bytes_;
  std::string path_ = "memory";
};

class IoTest : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Io> io_ = GetParam() ? make_pool_io(4) : make_inline_io();
};

TEST_P(IoTest, RunsEveryRequest) {
  constexpr size_t kRequests = 500;
  constexpr size_t kBytes = 64;
  MemoryFile file(kRequests * kBytes);
  std::vector<std::string> buffers;
  for (size_t i = 0; i < kRequests; ++i) {
    buffers.emplace_back(kBytes, static_cast<char>(i % 251));
  }
  IoGroup group;
  std::vector<IoRequest> requests;
  for (size_t i = 0; i < kRequests; ++i) {
    requests.push_back({.op = IoRequest::Op::kWrite,
                        .file = &file,
                        .offset = i * kBytes,
                        .data = buffers[i].data(),
                        .size = kBytes,
                        .group = &group});
  }
  io_->submit(requests);
  ASSERT_TRUE(group.wait().ok());
  EXPECT_TRUE(group.idle());
  std::vector<std::string> read(kRequests, std::string(kBytes, '\0'));
  std::atomic<size_t> completed{0};
  for (size_t i = 0; i < kRequests; ++i) {
    requests[i].op = IoRequest::Op::kRead;
    requests[i].data = read[i].data();
    requests[i].context = &completed;
    requests[i].completed = [](void* context, const Status& status) {
      EXPECT_TRUE(status.ok());
      static_cast<std::atomic<size_t>*>(context)->fetch_add(1);
    };
    io_->submit({&requests[i], 1});
  }
  ASSERT_TRUE(group.wait().ok());
  EXPECT_EQ(completed.load(), kRequests);
  EXPECT_EQ(read, buffers);
  io_->submit({});
}

TEST_P(IoTest, GroupKeepsTheFirstErrorOnce) {
  MemoryFile file(100);
  char data[10] = {};
  IoGroup group;
  const IoRequest bad = {.op = IoRequest::Op::kRead,
                         .file = &file,
                         .offset = MemoryFile::kBadOffset,
                         .data = data,
                         .size = 10,
                         .group = &group};
  io_->submit({&bad, 1});
  EXPECT_TRUE(group.wait().is(StatusCode::kIoError));
  EXPECT_TRUE(group.wait().ok());
}

TEST_P(IoTest, DestructionFinishesWhatWasSubmitted) {
  MemoryFile file(100);
  char data[100][1];
  IoGroup group;
  for (auto& place : data) {
    const IoRequest request = {.file = &file, .data = place, .size = 1, .group = &group};
    io_->submit({&request, 1});
  }
  io_.reset();
  EXPECT_TRUE(group.idle());
}

INSTANTIATE_TEST_SUITE_P(Kinds, IoTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Pool" : "Inline"; });

}  // namespace
}  // namespace hawthorn::os
