#include "os/fork.h"

#include <pthread.h>

#include <atomic>

namespace hawthorn::os {

namespace {
std::atomic<uint64_t> generation{1};

void count_fork() { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, count_fork);
}  // namespace

void at_fork_in_child(void (*handler)()) { pthread_atfork(nullptr, nullptr, handler); }

uint64_t fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace hawthorn::os
