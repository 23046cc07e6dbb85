#pragma once
// Processes of another user, whom the permissions of files bind: root they do not.
//
// Used by tests. Threads: one.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace hawthorn {

inline constexpr int kNoOtherUser = 100;

// What `work` returns in a child that is nobody: 0 to 99. kNoOtherUser: there is none for this
// process. -1: the child has died.
template <typename Work>
int run_as_nobody(const Work& work) {
  const pid_t child = fork();
  if (child < 0) return kNoOtherUser;
  if (child == 0) {
    constexpr unsigned kNobody = 65534;
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(kNoOtherUser);
    _exit(work());
  }
  int result = 0;
  if (waitpid(child, &result, 0) != child || !WIFEXITED(result)) return -1;
  return WEXITSTATUS(result);
}

// Of a directory and of all in it.
inline void set_modes(const std::string& root, mode_t directory, mode_t file) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    static_cast<void>(chmod(entry.path().c_str(), entry.is_directory() ? directory : file));
  }
  static_cast<void>(chmod(root.c_str(), directory));
}

}  // namespace hawthorn
