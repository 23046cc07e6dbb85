#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "os/io_queue.h"
#include "os/io_queue_test_file.h"

namespace hawthorn::os {
namespace {

constexpr size_t kFileBytes = size_t{2} << 20;
constexpr size_t kReads = 100;
constexpr int kThreads = 6;

class IoQueueConcurrencyTest : public ::testing::TestWithParam<IoBackend> {
 protected:
  void SetUp() override {
    if (GetParam() == IoBackend::kUring && !queues_->uring_status().ok()) {
      GTEST_SKIP() << queues_->uring_status().to_string();
    }
  }
  std::unique_ptr<IoQueue> make(uint32_t depth) {
    return std::move(queues_->create(depth, GetParam())).value();
  }
  void on_threads(const std::function<void(uint64_t)>& body) {
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
    for (std::thread& thread : threads) thread.join();
  }

  std::unique_ptr<Io> io_ = make_pool_io(4);
  std::unique_ptr<IoQueues> queues_ = make_io_queues(io_.get());
  TestFile file_{kFileBytes};
};

TEST_P(IoQueueConcurrencyTest, ManyQueuesShareThePool) {
  on_threads([this](uint64_t seed) {
    for (uint64_t round = 0; round < 10; ++round) {
      TestBuffer buffer(kReads * kBlockBytes);
      auto queue = make(16);
      if (round % 3 == 0) {
        EXPECT_GE(queue->event_fd(), 0);
      }
      const auto reads = random_blocks(file_, buffer, kReads, seed * 100 + round);
      queue->submit(reads);
      if (round % 3 == 1) continue;  // destroyed with reads in flight, and then the buffers
      for (const Status& status : reap_all(*queue, kReads)) EXPECT_TRUE(status.ok());
      expect_content(file_, reads);
    }
  });
}

TEST_P(IoQueueConcurrencyTest, OneQueueGoesFromThreadToThread) {
  auto queue = make(8);
  Mutex mutex;
  on_threads([&](uint64_t seed) {
    TestBuffer buffer(kReads * kBlockBytes);
    const auto reads = random_blocks(file_, buffer, kReads, seed);
    for (int round = 0; round < 5; ++round) {
      MutexLock lock(mutex);
      queue->submit(reads);
      for (const Status& status : reap_all(*queue, kReads)) EXPECT_TRUE(status.ok());
      expect_content(file_, reads);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, IoQueueConcurrencyTest,
                         ::testing::Values(IoBackend::kUring, IoBackend::kThreads),
                         [](const auto& backend) {
                           return std::string(io_backend_name(backend.param));
                         });

TEST(IoQueuesConcurrency, LeasesOfManyThreads) {
  auto io = make_pool_io(4);
  auto queues = make_io_queues(io.get());
  TestFile file(kFileBytes);
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < kThreads; ++seed) {
    threads.emplace_back([&, seed] {
      TestBuffer buffer(kReads * kBlockBytes);
      for (uint64_t round = 0; round < 20; ++round) {
        IoQueueLease lease = queues->lease();
        const auto reads = random_blocks(file, buffer, kReads, seed * 100 + round);
        lease->submit(reads);
        if (round % 4 == 3) continue;  // given back with reads in flight
        for (const Status& status : reap_all(*lease, kReads)) EXPECT_TRUE(status.ok());
        expect_content(file, reads);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hawthorn::os
