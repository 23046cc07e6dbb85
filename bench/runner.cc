#include "bench/runner.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "bench/clock.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// Lies in the directory that holds the databases, and says that what is in it may be deleted.
constexpr const char* kMark = ".hawthorn-bench";

void write_all(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(3);  // the parent is gone
    at += static_cast<size_t>(written);
  }
}

[[noreturn]] void run_child(int pipe, const MemoryGroup* group, bool must_enter,
                            const std::function<void(Report&)>& work) {
  // Nobody would read its figures, and its database would grow on.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Report report([pipe](const std::string& line) { write_all(pipe, line + "\n"); });
  if (group != nullptr && !group->enter()) {
    if (must_enter) {
      report.fail("the memory cap could not be imposed");
      _exit(0);
    }
    report.note("the memory limit could not be imposed");
  }
  try {
    work(report);
  } catch (const std::exception& error) {
    report.fail(error.what());
  }
  // No destructors of the parent's objects, no flush of what it had buffered.
  _exit(0);
}

void read_report(int pipe, Report& report) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    pending.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
      report.apply(std::string_view(pending).substr(0, end));
      pending.erase(0, end + 1);
    }
  }
}

}  // namespace

std::unique_ptr<MemoryGroup> make_limit_group(const std::string& name, const ChildLimits& limits,
                                              Report& report) {
  const bool capped = limits.cap_bytes != 0;
  if (!capped && limits.limit != MemoryLimit::kCgroup) return nullptr;
  if (!capped && !limits.use_cgroup) {
    report.note("no memory limit: switched off");
    return nullptr;
  }
  auto group =
      std::make_unique<MemoryGroup>(print_text("hawthorn-bench.%d.%s", getpid(), name.c_str()),
                                    capped ? limits.cap_bytes : limits.memory_bytes);
  if (group->valid()) return group;
  if (capped) throw std::runtime_error("the memory cap cannot be imposed: " + group->error());
  report.note("no memory limit: " + group->error());
  return nullptr;
}

void report_memory_use(const MemoryUse& use, Report& report) {
  report.add("verify", "group_peak_bytes", static_cast<double>(use.peak_bytes));
  report.add("verify", "group_limit_hits", static_cast<double>(use.limit_hits));
  report.add("verify", "group_oom_kills", static_cast<double>(use.oom_kills));
}

Report run_in_child(const std::string& name, const ChildLimits& limits,
                    const std::function<void(Report&)>& work) {
  Report report;
  const std::unique_ptr<MemoryGroup> group = make_limit_group(name, limits, report);
  Ticks::calibrate();

  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], group.get(), limits.cap_bytes != 0, work);
  }
  close(ends[1]);
  read_report(ends[0], report);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const bool by_limit = group != nullptr && group->use().oom_kills != 0;
    report.fail(print_text("ended by signal %d (%s)%s", WTERMSIG(status),
                           strsignal(WTERMSIG(status)), by_limit ? ", at its memory limit" : ""));
  } else if (WEXITSTATUS(status) != 0) {
    report.fail(print_text("ended with code %d", WEXITSTATUS(status)));
  }
  if (limits.cap_bytes != 0) report_memory_use(group->use(), report);
  return report;
}

void make_database_directory(const std::string& base, const std::string& path) {
  const std::filesystem::path mark = std::filesystem::path(base) / kMark;
  if (!std::filesystem::exists(mark)) {
    if (std::filesystem::exists(base) && !std::filesystem::is_empty(base)) {
      throw std::runtime_error(base +
                               " is not empty and not of this program: name another --db-path");
    }
    std::filesystem::create_directories(base);
    std::ofstream(mark) << "hawthorn-bench deletes the databases in this directory.\n";
  }
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
}

void remove_database_directory(const std::string& base, const std::string& path) {
  std::filesystem::remove_all(path);
  // Only when nothing but the mark is left.
  std::error_code ignored;
  const auto entries = std::filesystem::directory_iterator(base, ignored);
  if (std::distance(begin(entries), end(entries)) == 1) {
    std::filesystem::remove(std::filesystem::path(base) / kMark, ignored);
    std::filesystem::remove(base, ignored);
  }
}

}  // namespace hawthorn::bench
