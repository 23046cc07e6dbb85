#include "bench/interrupt.h"

#include <csignal>
#include <ctime>

namespace hawthorn::bench {
namespace {

volatile std::sig_atomic_t seen = 0;
time_t seen_s = 0;  // written and read by the handler alone

void note_interrupt(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (seen == 0) {
    seen_s = now.tv_sec;
    seen = 1;
  } else if (now.tv_sec > seen_s + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void catch_interrupts() {
  seen = 0;
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  // Reads and waits go on: the flag is looked at between rounds.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return seen != 0; }

}  // namespace hawthorn::bench
