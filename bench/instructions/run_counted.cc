#include "bench/instructions/run_counted.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace hawthorn::bench {
namespace {

constexpr std::string_view kTotals = "\ntotals: ";
constexpr const char* kRows = "rows";
constexpr const char* kDumps = "dump";

uint64_t parse_number(std::string_view digits, std::string_view line) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw std::runtime_error("no number in: " + std::string(line));
  }
  return number;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string find_valgrind() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/valgrind";
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  throw std::runtime_error("valgrind is not installed");
}

// Removes itself with all that is in it.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& parent) {
    std::string name = parent + "/hawthorn-instructions-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(parent + ": no directory can be made: " + std::strerror(errno));
    }
    path_ = name;
  }
  ~WorkingDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void execute(const std::vector<std::string>& arguments, const std::string& directory) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  // Nothing of the caller's environment: what stands there moves the stack, and some of it changes
  // what the C library does. Symbols are looked up before anything is counted.
  char bind_now[] = "LD_BIND_NOW=1";
  char locale[] = "LC_ALL=C";
  char* environment[] = {bind_now, locale, nullptr};
  const int rows = chdir(directory.c_str()) == 0
                       ? open(kRows, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                       : -1;
  if (rows >= 0 && dup2(rows, STDOUT_FILENO) >= 0) {
    execve(pointers[0], pointers.data(), environment);
  }
  std::_Exit(127);
}

}  // namespace

uint64_t parse_callgrind_totals(std::string_view dump) {
  const size_t at = dump.find(kTotals);
  if (at == std::string_view::npos) {
    throw std::runtime_error("a dump of callgrind's has no line of totals");
  }
  std::string_view rest = dump.substr(at + kTotals.size());
  rest = rest.substr(0, rest.find('\n'));
  return parse_number(rest, rest);
}

void add_counts(CountedTable& table, size_t shape, std::string_view lines,
                const std::function<std::string(uint64_t)>& dump) {
  uint64_t dumps = 0;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    std::vector<std::string> parts;
    std::istringstream stream{std::string(line)};
    for (std::string part; std::getline(stream, part, '\t');) parts.push_back(part);
    if (parts.size() != 5 || (parts[0] != "count" && parts[0] != "value")) {
      throw std::runtime_error("a counted program wrote: " + std::string(line));
    }
    const uint64_t number = parse_number(parts[4], line);
    auto count = static_cast<double>(number);
    if (parts[0] == "count") {
      if (number == 0) throw std::runtime_error("no operations in: " + std::string(line));
      count = static_cast<double>(parse_callgrind_totals(dump(++dumps))) / count;
    }
    add_cell(table, {parts[1], parts[2], parts[3], {}, ""}, shape, count);
  }
}

void run_counted(const std::string& program, size_t shape, const std::string& directory,
                 CountedTable& table) {
  if (access(program.c_str(), X_OK) != 0) throw std::runtime_error(program + " is not there");
  const WorkingDirectory work(directory);
  const std::string_view name = kShapes.at(shape);
  const size_t plus = name.find('+');
  const std::vector<std::string> arguments = {find_valgrind(),
                                              "--tool=callgrind",
                                              "--quiet",
                                              "--instr-atstart=no",
                                              "--collect-atstart=no",
                                              std::string("--callgrind-out-file=") + kDumps,
                                              program,
                                              std::string(name.substr(0, plus)),
                                              std::string(name.substr(plus + 1))};
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) execute(arguments, work.path());
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(program + " failed under callgrind");
  }
  add_counts(table, shape, read_file(work.path() / kRows), [&](uint64_t number) {
    return read_file(work.path() / (kDumps + ("." + std::to_string(number))));
  });
}

}  // namespace hawthorn::bench
