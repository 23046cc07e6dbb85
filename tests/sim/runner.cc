#include "tests/sim/runner.h"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hawthorn::tests {
namespace {

constexpr unsigned kSecondsMax = 120;  // of a run, which takes a fraction of one

// What a run has come to, without its text.
struct Figures {
  uint64_t numbers[10];
  testing::SimCoverage coverage;
  uint64_t failure_bytes;
};

struct Child {
  pid_t pid = -1;
  int fd = -1;
  size_t run = 0;
  std::string told;
};

void tell(int fd, const SimResult& result) {
  Figures figures = {
      .numbers = {result.lives, result.crashes, result.commits, result.lost, result.poisoned,
                  result.corruption, result.steps, result.switches, result.trace, result.image},
      .coverage = result.coverage,
      .failure_bytes = result.failure.size()};
  std::string bytes(reinterpret_cast<const char*>(&figures), sizeof(figures));
  bytes += result.failure;
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t written = write(fd, bytes.data() + at, bytes.size() - at);
    if (written <= 0) _exit(3);
    at += static_cast<size_t>(written);
  }
}

SimResult understand(const std::string& told, int status) {
  SimResult result;
  Figures figures;
  if (told.size() < sizeof(figures) || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    result.failure = WIFSIGNALED(status)
                         ? "the process died by signal " + std::to_string(WTERMSIG(status))
                         : "the process ended with " + std::to_string(WEXITSTATUS(status));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) result.failure = "the process hangs";
    return result;
  }
  std::memcpy(&figures, told.data(), sizeof(figures));
  uint64_t* const numbers[] = {
      &result.lives,      &result.crashes, &result.commits,  &result.lost,  &result.poisoned,
      &result.corruption, &result.steps,   &result.switches, &result.trace, &result.image};
  for (size_t i = 0; i < std::size(numbers); ++i) *numbers[i] = figures.numbers[i];
  result.coverage = figures.coverage;
  result.failure = told.substr(sizeof(figures));
  return result;
}

// Its threads take turns: on one processor they do so faster.
void stay_here() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &here);
  static_cast<void>(sched_setaffinity(0, sizeof(here), &here));
}

Child start(const SimParameters& parameters, size_t run) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    alarm(kSecondsMax);
    stay_here();
    SimResult result;
    simulate(parameters, &result, [&] {
      tell(ends[1], result);
      _exit(0);
    });
    tell(ends[1], result);
    _exit(0);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return {};
  }
  return {.pid = pid, .fd = ends[0], .run = run, .told = ""};
}

// False: it has ended.
bool listen(Child& child) {
  char buffer[8192];
  const ssize_t bytes = read(child.fd, buffer, sizeof(buffer));
  if (bytes > 0) child.told.append(buffer, static_cast<size_t>(bytes));
  return bytes > 0;
}

SimResult finish(Child& child) {
  close(child.fd);
  int status = 0;
  waitpid(child.pid, &status, 0);
  return understand(child.told, status);
}

}  // namespace

SimResult run_alone(const SimParameters& parameters) {
  Child child = start(parameters, 0);
  if (child.pid < 0) {
    SimResult result;
    result.failure = "no process";
    return result;
  }
  while (listen(child)) {
  }
  return finish(child);
}

void run_all(const std::vector<SimParameters>& runs, size_t jobs,
             const std::function<void(const SimParameters&, const SimResult&)>& done) {
  std::vector<Child> children;
  size_t next = 0;
  while (next < runs.size() || !children.empty()) {
    while (next < runs.size() && children.size() < std::max<size_t>(jobs, 1)) {
      Child child = start(runs[next], next);
      if (child.pid < 0) {
        done(runs[next], run_alone(runs[next]));
      } else {
        children.push_back(std::move(child));
      }
      ++next;
    }
    std::vector<pollfd> waits;
    for (const Child& child : children) waits.push_back({child.fd, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) <= 0) continue;
    for (size_t i = waits.size(); i-- > 0;) {
      if (waits[i].revents == 0 || listen(children[i])) continue;
      const SimResult result = finish(children[i]);
      const size_t run = children[i].run;
      children.erase(children.begin() + static_cast<ptrdiff_t>(i));
      done(runs[run], result);
    }
  }
}

std::string command_line(const SimParameters& parameters) {
  std::string line = "simulate --first-seed " + std::to_string(parameters.seed) + " --seeds 1";
  const auto option = [&](const char* name, uint64_t value, uint64_t usual) {
    if (value != usual) line += std::string(" --") + name + " " + std::to_string(value);
  };
  option("lives", parameters.lives, 0);
  option("clients", parameters.clients, 0);
  option("operations", parameters.operations, 0);
  option("faults", parameters.faults, ~uint64_t{0});
  option("kinds", parameters.kinds, ~uint64_t{0});
  option("features", parameters.features, ~uint64_t{0});
  if (parameters.planted == SimPlanted::kLies) line += " --planted";
  if (parameters.planted == SimPlanted::kRaces) line += " --planted-races";
  return line;
}

SimParameters shrink(SimParameters parameters, const SimResult& failed) {
  const auto still_fails = [](const SimParameters& smaller) {
    return !run_alone(smaller).failure.empty();
  };
  const auto lower = [&](uint64_t SimParameters::* what, uint64_t least, uint64_t most) {
    uint64_t value = std::min(parameters.*what == 0 ? most : parameters.*what, most);
    for (uint64_t step = std::max<uint64_t>(1, (value - least + 1) / 2); value > least;) {
      SimParameters smaller = parameters;
      smaller.*what = value - std::min(step, value - least);
      if (still_fails(smaller)) {
        value = smaller.*what;
        parameters = smaller;
      } else if (step == 1) {
        break;
      }
      step = std::max<uint64_t>(1, step / 2);
    }
  };
  lower(&SimParameters::lives, 1, std::max<uint64_t>(failed.lives, 1));
  lower(&SimParameters::clients, 1, 4);
  lower(&SimParameters::operations, 1, 60);
  lower(&SimParameters::faults, 0, 100);
  for (size_t feature = 0; feature < static_cast<size_t>(SimFeature::kCount); ++feature) {
    SimParameters smaller = parameters;
    smaller.features = parameters.features & ~(uint64_t{1} << feature);
    if (still_fails(smaller)) parameters = smaller;
  }
  for (size_t kind = 0; kind < testing::kSimFaultKinds; ++kind) {
    SimParameters smaller = parameters;
    smaller.kinds = parameters.kinds & ~(uint64_t{1} << kind);
    if (still_fails(smaller)) parameters = smaller;
  }
  return parameters;
}

void add(SimResult* sum, const SimResult& one) {
  sum->lives += one.lives;
  sum->crashes += one.crashes;
  sum->commits += one.commits;
  sum->lost += one.lost;
  sum->poisoned += one.poisoned;
  sum->corruption += one.corruption;
  sum->steps += one.steps;
  sum->switches += one.switches;
  for (size_t kind = 0; kind < testing::kSimFaultKinds; ++kind) {
    for (size_t file = 0; file < testing::kSimFileClasses; ++file) {
      sum->coverage[kind][file] += one.coverage[kind][file];
    }
  }
}

}  // namespace hawthorn::tests
