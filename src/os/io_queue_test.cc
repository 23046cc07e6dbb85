#include "os/io_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <set>
#include <thread>

#include "os/io_queue_test_file.h"
#include "os/machine.h"
#include "testing/sim_machine.h"
#include "testing/wait.h"

namespace hawthorn::os::io_queue_test {
namespace {

constexpr size_t kFileBytes = size_t{4} << 20;

bool readable(int fd, int timeout_ms) {
  pollfd polled = {.fd = fd, .events = POLLIN, .revents = 0};
  int count = 0;
  while ((count = poll(&polled, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return count == 1 && (polled.revents & POLLIN) != 0;
}

class IoQueueTest : public ::testing::TestWithParam<IoBackend> {
 protected:
  void SetUp() override {
    if (GetParam() == IoBackend::kUring && !queues_->uring_status().ok()) {
      GTEST_SKIP() << queues_->uring_status().to_string();
    }
  }
  std::unique_ptr<IoQueue> make(uint32_t depth) {
    auto queue = queues_->create(depth, GetParam());
    EXPECT_TRUE(queue.ok()) << queue.status().to_string();
    EXPECT_EQ((*queue)->backend(), GetParam());
    return std::move(queue).value();
  }

  std::unique_ptr<Io> io_ = make_pool_io(4);
  std::unique_ptr<IoQueues> queues_ = make_io_queues(io_.get());
};

TEST_P(IoQueueTest, RandomReadsAtAnyDepth) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 700;
  constexpr size_t kUnitsMax = 5;
  TestBuffer buffer(kReads * kUnitsMax * kBlockBytes);
  for (File* opened : {&file.buffered(), file.direct()}) {
    if (opened == nullptr) continue;
    for (const uint32_t depth : {1, 2, 3, 7, 16, 64, 128}) {
      SCOPED_TRACE("depth " + std::to_string(depth));
      Prng prng(depth);
      std::memset(buffer.data(), 0, buffer.size());
      auto queue = make(depth);
      EXPECT_EQ(queue->depth(), depth);
      std::vector<IoRead> reads;
      for (size_t i = 0; i < kReads; ++i) {
        const size_t unit = opened->direct() ? kBlockBytes : 1;
        const size_t size = (1 + prng.next() % (kUnitsMax * kBlockBytes / unit)) * unit;
        reads.push_back({.file = opened,
                         .offset = prng.next() % ((kFileBytes - size) / unit + 1) * unit,
                         .data = buffer.data() + i * kUnitsMax * kBlockBytes,
                         .size = size,
                         .context = context_of(i)});
      }
      // Groups of any size, reaped between.
      std::vector<bool> reported(kReads);
      size_t next = 0;
      size_t reaped = 0;
      while (reaped < kReads) {
        const size_t group = std::min<size_t>(prng.next() % 200, kReads - next);
        queue->submit({&reads[next], group});
        next += group;
        EXPECT_EQ(queue->in_flight(), next - reaped);
        IoCompletion done[50];
        const size_t wanted = prng.next() % 60;
        const size_t count = queue->reap({done, 1 + prng.next() % 50}, wanted);
        for (size_t i = 0; i < count; ++i) {
          const auto index = reinterpret_cast<uintptr_t>(done[i].context);
          ASSERT_TRUE(done[i].status.ok()) << done[i].status.to_string();
          EXPECT_FALSE(reported[index]);
          reported[index] = true;
        }
        reaped += count;
      }
      EXPECT_EQ(queue->in_flight(), 0u);
      expect_content(file, reads);
    }
  }
}

TEST_P(IoQueueTest, NeighboursAreReadIntoScatteredBuffers) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 200;
  TestBuffer buffer(kReads * kBlockBytes);
  auto queue = make(4);
  std::vector<IoRead> reads;
  for (size_t i = 0; i < kReads; ++i) {
    reads.push_back({.file = &file.file(),
                     .offset = (7 + i) * kBlockBytes,
                     .data = buffer.data() + (i * 77 % kReads) * kBlockBytes,
                     .size = kBlockBytes,
                     .context = context_of(i)});
  }
  queue->submit(reads);
  for (const Status& status : reap_all(*queue, kReads)) EXPECT_TRUE(status.ok());
  expect_content(file, reads);
}

TEST_P(IoQueueTest, ReadsBeyondTheEndSayWhatReadAtSays) {
  TestFile file(10 * kBlockBytes + 512);
  TestBuffer buffer(20 * kBlockBytes);
  char expected[4 * kBlockBytes + kBlockBytes];
  char* const aligned =
      expected + (kBlockBytes - reinterpret_cast<uintptr_t>(expected) % kBlockBytes);
  for (File* opened : {&file.buffered(), file.direct()}) {
    if (opened == nullptr) continue;
    auto queue = make(8);
    std::vector<IoRead> reads;
    // The last are neighbours of which the first one is whole.
    for (const auto& [block, blocks] : std::vector<std::pair<size_t, size_t>>{
             {10, 1}, {9, 2}, {11, 1}, {20, 3}, {9, 1}, {10, 1}, {11, 2}}) {
      const size_t index = reads.size();
      reads.push_back({.file = opened,
                       .offset = block * kBlockBytes,
                       .data = buffer.data() + index * 2 * kBlockBytes,
                       .size = std::min<size_t>(blocks, 2) * kBlockBytes,
                       .context = context_of(index)});
    }
    queue->submit(reads);
    const std::vector<Status> statuses = reap_all(*queue, reads.size());
    for (size_t i = 0; i < reads.size(); ++i) {
      const Status status = opened->read_at(reads[i].offset, {aligned, reads[i].size});
      EXPECT_EQ(statuses[i].to_string(), status.to_string());
      EXPECT_EQ(status.ok(), i == 4);
    }
    EXPECT_TRUE(statuses[0].is(StatusCode::kCorruption));
    EXPECT_EQ(std::string_view(reads[4].data, kBlockBytes), file.at(9 * kBlockBytes, kBlockBytes));
  }
}

TEST_P(IoQueueTest, ErrorsBelongToTheirRequests) {
  TestFile file(kFileBytes);
  const auto directory = file_of_descriptor(
      ::open(::testing::TempDir().c_str(), O_RDONLY | O_CLOEXEC), ::testing::TempDir());
  constexpr size_t kReads = 60;
  TestBuffer buffer(kReads * kBlockBytes);
  auto queue = make(16);
  std::vector<IoRead> reads = random_blocks(file, buffer, kReads, 5);
  for (size_t i = 0; i < kReads; i += 3) reads[i].file = directory.get();
  // Neighbours fail one by one.
  for (size_t i = 0; i < kReads; i += 6) reads[i + 3].offset = reads[i].offset + kBlockBytes;
  queue->submit(reads);
  const std::vector<Status> statuses = reap_all(*queue, kReads);
  for (size_t i = 0; i < kReads; ++i) {
    if (i % 3 != 0) {
      EXPECT_TRUE(statuses[i].ok()) << statuses[i].to_string();
      EXPECT_EQ(std::string_view(reads[i].data, kBlockBytes),
                file.at(reads[i].offset, kBlockBytes));
    } else {
      EXPECT_TRUE(statuses[i].is(StatusCode::kIoError));
      EXPECT_EQ(statuses[i].message(), ::testing::TempDir() + ": read at " +
                                           std::to_string(reads[i].offset) + ": Is a directory");
    }
  }
}

TEST_P(IoQueueTest, WaitsForAsManyAsAreWanted) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 100;
  TestBuffer buffer(kReads * kBlockBytes);
  auto queue = make(8);
  IoCompletion done[2 * kReads];
  EXPECT_EQ(queue->reap(done, 0), 0u);
  EXPECT_EQ(queue->reap(done, 5), 0u);
  queue->submit({});
  queue->submit(random_blocks(file, buffer, kReads, 6));
  EXPECT_EQ(queue->in_flight(), kReads);
  EXPECT_EQ(queue->reap({}, 1), 0u);
  EXPECT_EQ(queue->reap({done, 3}, 10), 3u);
  const size_t count = queue->reap(done, 50);
  EXPECT_GE(count, 50u);
  EXPECT_EQ(count + queue->reap(done, 2 * kReads), kReads - 3);
  EXPECT_EQ(queue->reap(done, 1), 0u);
}

TEST_P(IoQueueTest, PollsWithoutWaiting) {
  TestFile file(kFileBytes);
  TestBuffer buffer(40 * kBlockBytes);
  auto queue = make(8);
  const std::vector<IoRead> reads = random_blocks(file, buffer, 40, 7);
  queue->submit(reads);
  size_t reaped = 0;
  while (reaped < reads.size()) {
    IoCompletion done[3];
    reaped += queue->reap(done, 0);
  }
  expect_content(file, reads);
}

TEST_P(IoQueueTest, EventDescriptorIsReadableWhileThereIsSomethingToReap) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 30;
  TestBuffer buffer(kReads * kBlockBytes);
  auto queue = make(4);
  if (GetParam() == IoBackend::kInline) {
    EXPECT_EQ(queue->event_fd(), -1);
    return;
  }
  for (const bool late : {true, false}) {
    // Late: the first call comes when reads are done already.
    const std::vector<IoRead> reads = random_blocks(file, buffer, kReads, 8);
    queue->submit(reads);
    if (late) usleep(20'000);
    const int fd = queue->event_fd();
    ASSERT_GE(fd, 0);
    EXPECT_EQ(queue->event_fd(), fd);
    for (size_t reaped = 0; reaped < kReads;) {
      ASSERT_TRUE(readable(fd, static_cast<int>(testing::kHangLimitMs))) << reaped;
      IoCompletion done[2];
      reaped += queue->reap({done, reaped % 2 + 1}, 0);
    }
    IoCompletion none[1];
    EXPECT_EQ(queue->reap(none, 1), 0u);
    EXPECT_FALSE(readable(fd, 0));
    expect_content(file, reads);
  }
  // What is done inside submit counts, too.
  const IoRead nothing = {.file = &file.file(), .data = buffer.data()};
  queue->submit({&nothing, 1});
  EXPECT_TRUE(readable(queue->event_fd(), 0));
  IoCompletion done[1];
  EXPECT_EQ(queue->reap(done, 1), 1u);
  EXPECT_TRUE(done[0].status.ok());
  EXPECT_FALSE(readable(queue->event_fd(), 0));
  queue->wake();
  EXPECT_TRUE(readable(queue->event_fd(), 0));
  EXPECT_EQ(queue->reap({}, 0), 0u);
  EXPECT_FALSE(readable(queue->event_fd(), 0));
}

TEST_P(IoQueueTest, NobodyWritesIntoTheBuffersOfADestroyedQueue) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 300;
  for (int round = 0; round < 10; ++round) {
    TestBuffer buffer(kReads * kBlockBytes);
    auto queue = make(64);
    queue->submit(random_blocks(file, buffer, kReads, 9));
    if (round % 2 == 0) {
      IoCompletion done[5];
      queue->reap(done, 5);
    }
    queue.reset();
    std::memset(buffer.data(), 'x', buffer.size());
    usleep(2000);
    EXPECT_EQ(buffer.at(0, buffer.size()).find_first_not_of('x'), std::string_view::npos);
  }
}

TEST_P(IoQueueTest, AnotherThreadGoesOn) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 100;
  TestBuffer buffer(kReads * kBlockBytes);
  const std::vector<IoRead> reads = random_blocks(file, buffer, kReads, 10);
  auto queue = make(16);
  // The first one ends with its reads in flight.
  std::thread([&] { queue->submit({reads.data(), 60}); }).join();
  std::thread([&] { queue->submit({reads.data() + 60, 40}); }).join();
  for (const Status& status : reap_all(*queue, kReads)) {
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  expect_content(file, reads);
}

std::atomic<int> signals{0};

TEST_P(IoQueueTest, SignalsDoNotDisturb) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 64;
  TestBuffer buffer(kReads * kBlockBytes);
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) { signals.fetch_add(1); };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {.it_interval = {0, 200}, .it_value = {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  auto queue = make(4);
  for (int round = 0; round < 50 || (round < 5000 && signals.load() < 20); ++round) {
    const std::vector<IoRead> reads =
        random_blocks(file, buffer, kReads, static_cast<uint64_t>(round));
    queue->submit(reads);
    for (const Status& status : reap_all(*queue, kReads)) {
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
    expect_content(file, reads);
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(signals.load(), 0);
}

TEST_P(IoQueueTest, SimulatedFilesAreReadInside) {
  testing::SimDisk disk;
  auto simulated = std::move(disk.open_file("/f", {.create = true})).value();
  ASSERT_TRUE(simulated->write_at(0, std::string(100, 's')).ok());
  EXPECT_EQ(simulated->descriptor(), -1);
  auto queue = make(4);
  char data[2][60];
  const IoRead reads[] = {
      {.file = simulated.get(), .offset = 0, .data = data[0], .size = 60, .context = context_of(0)},
      {.file = simulated.get(),
       .offset = 60,
       .data = data[1],
       .size = 60,
       .context = context_of(1)}};
  queue->submit(reads);
  EXPECT_EQ(disk.counters().reads, 2u);
  const std::vector<Status> statuses = reap_all(*queue, 2);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(std::string_view(data[0], 60), std::string(60, 's'));
  EXPECT_TRUE(statuses[1].is(StatusCode::kCorruption));
}

TEST_P(IoQueueTest, AChildOfForkIsRefused) {
  TestFile file(kFileBytes);
  constexpr size_t kReads = 50;
  TestBuffer buffer(kReads * kBlockBytes);
  const std::vector<IoRead> reads = random_blocks(file, buffer, kReads, 11);
  auto queue = make(8);
  queue->submit(reads);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    IoCompletion done[kReads];
    const bool inherits = GetParam() != IoBackend::kInline;
    while (queue->reap(done, kReads) > 0) {
    }
    if (queue->in_flight() != 0) _exit(1);
    queue->submit({reads.data(), 1});
    if (queue->in_flight() != 1 || queue->reap(done, 1) != 1) _exit(2);
    if (done[0].status.is(StatusCode::kForked) != inherits) _exit(3);
    queue.reset();
    if (!queues_->create(4, IoBackend::kThreads).status().is(StatusCode::kForked)) _exit(4);
    if (queues_->backend() != IoBackend::kInline) _exit(5);
    // A new queue of the child works without the parent's threads.
    IoQueueLease lease = queues_->lease();
    lease->submit({reads.data(), 1});
    if (lease->reap(done, 1) != 1 || !done[0].status.ok()) _exit(6);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const Status& one : reap_all(*queue, kReads)) EXPECT_TRUE(one.ok()) << one.to_string();
  expect_content(file, reads);
}

INSTANTIATE_TEST_SUITE_P(Backends, IoQueueTest,
                         ::testing::Values(IoBackend::kUring, IoBackend::kThreads,
                                           IoBackend::kInline),
                         [](const auto& backend) {
                           return std::string(io_backend_name(backend.param));
                         });

TEST(IoQueues, LeasesReuseQueuesThatCameBack) {
  TestFile file(kFileBytes);
  TestBuffer buffer(200 * kBlockBytes);
  auto io = make_pool_io(2);
  auto queues = make_io_queues(io.get());
  std::set<IoQueue*> seen;
  for (int i = 0; i < 10; ++i) {
    IoQueueLease first = queues->lease();
    IoQueueLease second = queues->lease();
    seen.insert(&*first);
    seen.insert(&*second);
    EXPECT_NE(&*first, &*second);
    EXPECT_EQ(first->in_flight(), 0u);
    EXPECT_EQ(first->depth(), kLeasedDepth);
    EXPECT_EQ(first->backend(), queues->backend());
    // More than the depth, and some not reaped.
    first->submit(random_blocks(file, buffer, 200, 1));
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(IoQueues, TheSimulatedMachineReadsInline) {
  testing::SimDisk disk;
  testing::SimMachine machine(disk, 1);
  IoQueues& queues = *machine.machine().queues;
  EXPECT_EQ(queues.backend(), IoBackend::kInline);
  EXPECT_FALSE(queues.uring_status().ok());
  for (const IoBackend backend : {IoBackend::kAuto, IoBackend::kUring, IoBackend::kThreads}) {
    EXPECT_EQ((*queues.create(3, backend))->backend(), IoBackend::kInline);
  }
  EXPECT_EQ(queues.lease()->backend(), IoBackend::kInline);
}

TEST(IoQueues, TheRealMachineSaysWhatItHas) {
  IoQueues& queues = *real_machine().queues;
  EXPECT_EQ(queues.backend() == IoBackend::kUring, queues.uring_status().ok());
  EXPECT_EQ((*queues.create(0))->depth(), 1u);
  EXPECT_EQ((*queues.create(1u << 30))->depth(), kIoDepthMax);
  EXPECT_EQ((*queues.create(8))->backend(), queues.backend());
  EXPECT_EQ(io_backend_name(IoBackend::kAuto), "auto");
#if !defined(HAWTHORN_HAVE_URING)
  EXPECT_EQ(queues.backend(), IoBackend::kThreads);
#endif
}

}  // namespace
}  // namespace hawthorn::os::io_queue_test
