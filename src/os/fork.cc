#include "os/fork.h"

#include <pthread.h>

namespace hawthorn::os {

std::atomic<uint64_t> process_word{2};

namespace {
void count_fork() { process_word.fetch_add(2, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, count_fork);
}  // namespace

void at_fork_in_child(void (*handler)()) { pthread_atfork(nullptr, nullptr, handler); }

}  // namespace hawthorn::os
