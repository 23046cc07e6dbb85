// bench: hands over to hawthorn-bench.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "tools/command.h"
#include "tools/stream.h"

namespace hawthorn::tools {

Status exec_bench(char** arguments) {
  static char program[] = "hawthorn-bench";
  arguments[0] = program;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    ::execv((self.parent_path() / program).c_str(), arguments);
    if (errno != ENOENT) return system_error(self.parent_path() / program, errno);
  }
  ::execvp(program, arguments);
  return Status(StatusCode::kNotFound, std::string(program) + ": neither next to hawthorn nor in " +
                                           "PATH: " + std::strerror(errno));
}

}  // namespace hawthorn::tools
