#include "bench/foreign.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

[[noreturn]] void execute(const std::vector<std::string>& command, int output) {
  // It must not outlive who reads its figures.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (dup2(output, STDOUT_FILENO) >= 0) execvp(words[0], words.data());
  std::fprintf(stderr, "%s: %s\n", words[0], std::strerror(errno));
  _exit(127);
}

void take_lines(int output, Report& report) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(output, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    pending.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
      const std::string_view line = std::string_view(pending).substr(0, end);
      if (!report.apply(line)) report.note(line);
      pending.erase(0, end + 1);
    }
  }
}

class ForeignEngine : public Engine {
 public:
  explicit ForeignEngine(std::string version) : version_(std::move(version)) {}

  std::string version() const override { return version_; }
  std::string settings() const override { return {}; }
  void open(const EngineConfig&) override { refuse(); }
  void close() override { refuse(); }
  std::unique_ptr<Writer> writer() override { refuse(); }
  std::unique_ptr<Reader> reader() override { refuse(); }
  void sync() override { refuse(); }
  void drain() override { refuse(); }
  uint64_t reachable_bytes() override { return 0; }

 private:
  [[noreturn]] static void refuse() {
    throw EngineError("this engine runs whole workloads by a program of its own");
  }

  const std::string version_;
};

}  // namespace

void run_foreign(const std::vector<std::string>& command, Report& report) {
  int ends[2];
  if (pipe(ends) != 0) throw EngineError(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw EngineError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    execute(command, ends[1]);
  }
  close(ends[1]);
  take_lines(ends[0], report);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    report.fail(print_text("%s ended by signal %d (%s)", command[0].c_str(), WTERMSIG(status),
                           strsignal(WTERMSIG(status))));
  } else if (WEXITSTATUS(status) != 0) {
    report.fail(print_text("%s ended with code %d", command[0].c_str(), WEXITSTATUS(status)));
  }
}

std::unique_ptr<Engine> make_foreign(const std::string& version) {
  return std::make_unique<ForeignEngine>(version);
}

}  // namespace hawthorn::bench
