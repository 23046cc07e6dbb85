// Systems that refuse io_uring, in part or later on: every read is answered all the same.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "os/io_queue.h"
#include "os/io_queue_test_file.h"
#include "testing/deny_system_call.h"

namespace hawthorn::os {
namespace {

using testing::deny_system_call;

constexpr size_t kFileBytes = size_t{1} << 20;
constexpr size_t kReads = 300;

// In a process of its own, since nobody gets rid of a filter. The body says what is wrong.
void expect_in_child(const std::function<std::string()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string wrong = body();
    if (!wrong.empty()) std::fprintf(stderr, "in the child: %s\n", wrong.c_str());
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

std::string check_reads(IoQueue& queue, TestFile& file) {
  TestBuffer buffer(kReads * kBlockBytes);
  const std::vector<IoRead> reads = random_blocks(file, buffer, kReads, 3);
  queue.submit(reads);
  for (const Status& status : reap_all(queue, kReads)) {
    if (!status.ok()) return status.to_string();
  }
  for (const IoRead& read : reads) {
    if (file.at(read.offset, read.size) != std::string_view(read.data, read.size)) {
      return "wrong bytes at " + std::to_string(read.offset);
    }
  }
  return "";
}

std::string check_fallback(TestFile& file, const std::string& message) {
  auto io = make_pool_io(3);
  auto queues = make_io_queues(io.get());
  const Status forced = queues->create(16, IoBackend::kUring).status();
#if defined(HAWTHORN_HAVE_URING)
  if (!forced.is(StatusCode::kNotSupported) || forced.message() != message) {
    return forced.to_string();
  }
#else
  static_cast<void>(message);
#endif
  if (queues->backend() != IoBackend::kThreads) return "not the backend of threads";
  if (queues->uring_status().to_string() != forced.to_string()) return "another reason";
  auto queue = queues->create(16);
  if (!queue.ok()) return queue.status().to_string();
  if ((*queue)->backend() != IoBackend::kThreads) return "not a queue of threads";
  if (std::string wrong = check_reads(**queue, file); !wrong.empty()) return wrong;
  return check_reads(*queues->lease(), file);
}

TEST(IoQueueFallback, SetupDenied) {
  TestFile file(kFileBytes);
  expect_in_child([&]() -> std::string {
    if (!deny_system_call(SYS_io_uring_setup, EPERM)) return "no filter";
    return check_fallback(file, "io_uring cannot be used: setup: Operation not permitted");
  });
  expect_in_child([&]() -> std::string {
    if (!deny_system_call(SYS_io_uring_setup, ENOSYS)) return "no filter";
    return check_fallback(file, "io_uring cannot be used: setup: Function not implemented");
  });
}

TEST(IoQueueFallback, EntryDenied) {
  auto io = make_pool_io(1);
  if (!make_io_queues(io.get())->uring_status().ok()) GTEST_SKIP() << "no io_uring";
  TestFile file(kFileBytes);
  expect_in_child([&]() -> std::string {
    if (!deny_system_call(SYS_io_uring_enter, EPERM)) return "no filter";
    return check_fallback(file, "io_uring cannot be used: read: Operation not permitted");
  });
}

// A host that confines itself after it has opened its database.
TEST(IoQueueFallback, EntryDeniedToRingsInUse) {
  auto io = make_pool_io(1);
  if (!make_io_queues(io.get())->uring_status().ok()) GTEST_SKIP() << "no io_uring";
  TestFile file(kFileBytes);
  for (const bool reaped : {true, false}) {
    expect_in_child([&]() -> std::string {
      auto own_io = make_pool_io(1);
      auto queues = make_io_queues(own_io.get());
      TestBuffer buffer(kReads * kBlockBytes);  // outlives the queue: it is written to until then
      auto queue = std::move(queues->create(32, IoBackend::kUring)).value();
      if (std::string wrong = check_reads(*queue, file); !wrong.empty()) return wrong;
      queue->submit(random_blocks(file, buffer, kReads, 4));
      if (!deny_system_call(SYS_io_uring_enter, EPERM)) return "no filter";
      if (!reaped) return "";  // the destructor has to wait for what is in flight
      for (const Status& status : reap_all(*queue, kReads)) {
        if (!status.ok()) return status.to_string();
      }
      return check_reads(*queue, file);
    });
  }
}

TEST(IoQueueFallback, LittleLockableMemory) {
  TestFile file(kFileBytes);
  expect_in_child([&]() -> std::string {
    const rlimit none = {0, 0};
    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return "no limit";
    auto io = make_pool_io(3);
    auto queues = make_io_queues(io.get());
    // Kernels before 5.12 count rings against the limit: either backend is right.
    auto queue = queues->create(128);
    if (!queue.ok()) return queue.status().to_string();
    return check_reads(**queue, file);
  });
}

TEST(IoQueueFallback, NoMoreDescriptors) {
  TestFile file(kFileBytes);
  expect_in_child([&]() -> std::string {
    auto io = make_pool_io(3);
    auto queues = make_io_queues(io.get());
    static_cast<void>(queues->backend());
    // As if RLIMIT_NOFILE was reached, once it is known that rings work.
    if (!deny_system_call(SYS_io_uring_setup, EMFILE) || !deny_system_call(SYS_eventfd2, EMFILE)) {
      return "no filter";
    }
    if (queues->create(8, IoBackend::kUring).status().ok()) return "a ring without a descriptor";
    auto queue = queues->create(8);
    if (!queue.ok()) return queue.status().to_string();
    if ((*queue)->backend() != IoBackend::kThreads) return "not a queue of threads";
    if ((*queue)->event_fd() != -1) return "an event without a descriptor";
    return check_reads(**queue, file);
  });
}

}  // namespace
}  // namespace hawthorn::os
