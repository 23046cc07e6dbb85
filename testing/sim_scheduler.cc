#include "testing/sim_scheduler.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace hawthorn::testing {
namespace {

constexpr uint64_t kForever = ~uint64_t{0};
// A thread that waits for a futex may be woken for no reason: once in so many switches.
constexpr uint64_t kSpuriousPeriod = 400;

long futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), operation, value, nullptr, nullptr,
                 0);
}

}  // namespace

struct SimScheduler::SimThread {
  std::string name;
  uint64_t number = 0;
  State state = State::kReady;
  uint64_t weight = 1;
  uint64_t until_us = kForever;
  const std::atomic<uint32_t>* word = nullptr;
  const SimThread* joins = nullptr;
  const char* last_point = "its begin";
  std::atomic<uint32_t> turn{0};
};

SimScheduler::SimScheduler(const SimSchedulerOptions& options, SimTrace* trace, Fail fail)
    : options_(options), trace_(trace), fail_(std::move(fail)), prng_(options.seed) {
  constexpr uint64_t kPeriods[] = {3, 10, 40, 150};
  points_between_ = options.points_between != 0 ? options.points_between
                                                : kPeriods[prng_.below(std::size(kPeriods))];
  threads_.push_back(std::make_unique<SimThread>());
  threads_[0]->name = "main";
  current_ = threads_[0].get();
  draw_next_switch();
  os::install_schedule(this);
}

SimScheduler::~SimScheduler() { os::install_schedule(nullptr); }

void SimScheduler::at_step(uint64_t step, std::function<void()> action) {
  action_step_ = step;
  action_ = std::move(action);
  next_event_ = std::min(next_switch_, action_step_);
}

void SimScheduler::draw_next_switch() {
  next_switch_ = steps_ + 1 + prng_.below(2 * points_between_);
  next_event_ = std::min(next_switch_, action_step_);
}

void SimScheduler::run_action() {
  action_step_ = kForever;
  trace_->number("action", steps_);
  std::exchange(action_, {})();
}

std::string SimScheduler::describe() const {
  std::string text = "at " + std::to_string(now_us_) + " us, step " + std::to_string(steps_) + ":";
  // Words are told apart by the order in which they are met: addresses differ between runs.
  std::vector<const void*> words;
  for (const auto& thread : threads_) {
    if (thread->state == State::kEnded) continue;
    text += "\n  " + thread->name + " ";
    switch (thread->state) {
      case State::kReady:
        text += "can go on";
        break;
      case State::kWaiting: {
        const auto at = std::find(words.begin(), words.end(), thread->word);
        const auto number = at - words.begin();
        if (at == words.end()) words.push_back(thread->word);
        text += "waits for lock, condition or signal " + std::to_string(number + 1);
        break;
      }
      case State::kSleeping:
        text += "sleeps";
        break;
      case State::kJoining:
        text += "waits for the end of " + thread->joins->name;
        break;
      case State::kEnded:
        break;
    }
    if (thread->until_us != kForever) text += " until " + std::to_string(thread->until_us) + " us";
    text += ", last seen at \"" + std::string(thread->last_point) + "\"";
  }
  return text;
}

void SimScheduler::give_up(const std::string& why) {
  fail_(why + " " + describe());
  abort();
}

void SimScheduler::wait_for_turn(SimThread& thread) {
  while (thread.turn.exchange(0, std::memory_order_acquire) == 0) {
    futex(&thread.turn, FUTEX_WAIT_PRIVATE, 0);
  }
}

void SimScheduler::expire() {
  for (const auto& thread : threads_) {
    if (thread->until_us > now_us_) continue;
    thread->until_us = kForever;
    if (thread->state == State::kWaiting || thread->state == State::kSleeping) {
      thread->state = State::kReady;
    }
  }
}

SimScheduler::SimThread* SimScheduler::choose() {
  if (++switches_ > options_.switches_max) give_up("nothing has come of very many steps");
  now_us_ += prng_.below(2);
  draw_next_switch();
  while (true) {
    expire();
    ready_.clear();
    uint64_t weights = 0;
    uint64_t earliest = kForever;
    for (const auto& thread : threads_) {
      earliest = std::min(earliest, thread->until_us);
      const bool spurious =
          thread->state == State::kWaiting && prng_.one_in(kSpuriousPeriod * threads_.size());
      if (thread->state != State::kReady && !spurious) continue;
      ready_.push_back(thread.get());
      weights += thread->weight;
    }
    if (ready_.empty()) {
      if (earliest == kForever) give_up("all threads wait for ever");
      now_us_ = earliest;
      continue;
    }
    uint64_t pick = prng_.below(weights);
    size_t at = 0;
    while (pick >= ready_[at]->weight) pick -= ready_[at++]->weight;
    ready_[at]->state = State::kReady;
    ready_[at]->until_us = kForever;
    trace_->number("turn", ready_[at]->number, now_us_);
    return ready_[at];
  }
}

void SimScheduler::give_turn(SimThread* thread) {
  current_ = thread;
  // The moment it has its turn, nothing here may be touched any more.
  std::atomic<uint32_t>* const turn = &thread->turn;
  turn->store(1, std::memory_order_release);
  futex(turn, FUTEX_WAKE_PRIVATE, 1);
}

void SimScheduler::yield() {
  if (steps_ >= action_step_) run_action();
  SimThread* const self = current_;
  SimThread* const next = choose();
  if (next == self) return;
  give_turn(next);
  wait_for_turn(*self);
}

void SimScheduler::wait(std::atomic<uint32_t>* word, uint32_t expected, uint64_t timeout_us) {
  ++steps_;
  if (word->load(std::memory_order_acquire) != expected) return;
  current_->state = State::kWaiting;
  current_->word = word;
  current_->until_us = timeout_us == 0 ? kForever : now_us_ + timeout_us;
  yield();
}

void SimScheduler::wake(std::atomic<uint32_t>* word, int count) {
  ready_.clear();
  for (const auto& thread : threads_) {
    if (thread->state == State::kWaiting && thread->word == word) ready_.push_back(thread.get());
  }
  for (; count > 0 && !ready_.empty(); --count) {
    const auto pick = ready_.begin() + static_cast<ptrdiff_t>(prng_.below(ready_.size()));
    (*pick)->state = State::kReady;
    (*pick)->until_us = kForever;
    ready_.erase(pick);
  }
  point("wake");
}

void SimScheduler::pause(uint64_t us) {
  ++steps_;
  current_->state = State::kSleeping;
  // A spinning thread is back after the shortest time that there is: others come first.
  current_->until_us = now_us_ + std::max<uint64_t>(us, 1);
  yield();
}

void SimScheduler::point(const char* name) {
  if (++steps_ < next_event_) return;
  current_->last_point = name;
  yield();
}

uint64_t SimScheduler::now_us() {
  point("clock");
  return ++now_us_;
}

void* SimScheduler::create(const std::string& name) {
  constexpr uint64_t kWeights[] = {1, 4, 4, 4, 16};
  auto thread = std::make_unique<SimThread>();
  thread->number = threads_.size();
  thread->name = name + " (" + std::to_string(thread->number) + ")";
  thread->weight = kWeights[prng_.below(std::size(kWeights))];
  threads_.push_back(std::move(thread));
  trace_->number("create", threads_.size() - 1);
  return threads_.back().get();
}

// It is not its turn yet: all but the thread itself is another's at this moment.
void SimScheduler::begin(void* thread) { wait_for_turn(*static_cast<SimThread*>(thread)); }

void SimScheduler::end(void* thread) {
  SimThread* const self = static_cast<SimThread*>(thread);
  self->state = State::kEnded;
  self->until_us = kForever;
  for (const auto& other : threads_) {
    if (other->state == State::kJoining && other->joins == self) other->state = State::kReady;
  }
  ++steps_;
  give_turn(choose());
}

void SimScheduler::join(void* thread) {
  ++steps_;
  const SimThread* const ends = static_cast<SimThread*>(thread);
  while (ends->state != State::kEnded) {
    current_->state = State::kJoining;
    current_->joins = ends;
    yield();
  }
}

}  // namespace hawthorn::testing
