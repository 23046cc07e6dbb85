#include "tests/environment/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "testing/wait.h"

namespace hawthorn::tests {
namespace {

constexpr int kLookMs = 1000;

// Through a socket, as descriptors go; -1 stands for none.
bool send_descriptor(int socket, int descriptor) {
  char byte = descriptor >= 0 ? 'd' : '-';
  iovec bytes = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec bytes = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || byte != 'd') return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

// What a call is about, as far as it can be told: the file of its first argument, and a name.
std::string subject_of(const seccomp_notif& call) {
  std::string subject;
  char text[200] = {};
  const std::string link =
      "/proc/" + std::to_string(call.pid) + "/fd/" + std::to_string(call.data.args[0]);
  if (readlink(link.c_str(), text, sizeof(text) - 1) > 0) subject = text;
  constexpr uint64_t kNoAddressBelow = 1 << 16;
  for (const uint64_t argument : {call.data.args[0], call.data.args[1]}) {
    std::memset(text, 0, sizeof(text));
    const iovec here = {text, sizeof(text) - 1};
    const iovec there = {reinterpret_cast<void*>(argument), sizeof(text) - 1};
    if (argument < kNoAddressBelow ||
        process_vm_readv(static_cast<pid_t>(call.pid), &here, 1, &there, 1, 0) <= 0) {
      continue;
    }
    const std::string_view name(text);
    const bool is_name = name.size() > 1 && std::all_of(name.begin(), name.end(),
                                                        [](char c) { return c > ' ' && c <= '~'; });
    if (is_name) return (subject.empty() ? "" : subject + " ") + std::string(name);
  }
  return subject;
}

class Answers {
 public:
  Answers(const Supervised& supervised, Shared& shared)
      : supervised_(supervised), shared_(shared) {}

  uint64_t calls() const { return calls_; }
  const std::string& subject() const { return subject_; }

  // One call that waits at the listener.
  void answer(int listener) {
    seccomp_notif call;
    std::memset(&call, 0, sizeof(call));
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // who called has died
    seccomp_notif_resp response;
    std::memset(&response, 0, sizeof(response));
    response.id = call.id;
    if (refuses(call.data)) {
      if (shared_.met.fetch_add(1) == 0) subject_ = subject_of(call);
      response.error = -supervised_.error;
    } else {
      response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    static_cast<void>(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response));
  }

 private:
  bool refuses(const seccomp_data& call) {
    if (!shared_.armed.load() || shared_.given_back.load()) return false;
    if (!is_of_kind(*supervised_.kind, call)) return false;
    const uint64_t number = ++calls_;
    if (number < supervised_.first) return false;
    return supervised_.count == 0 || number - supervised_.first < supervised_.count;
  }

  const Supervised& supervised_;
  Shared& shared_;
  uint64_t calls_ = 0;
  std::string subject_;
};

// Of all processes of the group.
void print_stacks(pid_t group) {
  const std::string command =
      "for process in $(pgrep -g " + std::to_string(group) +
      "); do echo process $process; gdb -p $process -batch -ex 'thread apply all bt 24';"
      " grep . /proc/$process/task/*/syscall; done >&2 2>/dev/null";
  if (std::system(command.c_str()) != 0) {  // NOLINT(cert-env33-c)
    fprintf(stderr, "there are no stacks, without gdb\n");
  }
}

// The child never returns.
[[noreturn]] void run_child(const Supervised& supervised, Shared& shared, int socket, pid_t parent,
                            const std::function<bool()>& workload) {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  int listener = -1;
  if (supervised.kind != nullptr) {
    listener = ask_before_calls(*supervised.kind);
    if (listener < 0) shared.fail("no filter of system calls: %s", strerror(errno));
  }
  const bool sent = send_descriptor(socket, listener);
  close(socket);
  if (listener >= 0) close(listener);
  if (!sent || shared.failures.load() != 0) _exit(1);
  const bool good = workload();
  // What other threads still do is of no interest.
  _exit(good ? 0 : 1);
}

std::string ending_of(int status, const Shared& shared) {
  if (shared.failures.load() != 0) return shared.failure;
  if (WIFSIGNALED(status)) {
    return std::string("ended by a signal: ") + strsignal(WTERMSIG(status));
  }
  if (WEXITSTATUS(status) != 0) return "ended with " + std::to_string(WEXITSTATUS(status));
  return {};
}

}  // namespace

Ended supervise(const Supervised& supervised, Shared& shared,
                const std::function<bool()>& workload) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return {"no sockets", 0, 0, {}};
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(sockets[0]);
    run_child(supervised, shared, sockets[1], self, workload);
  }
  close(sockets[1]);
  if (child < 0) {
    close(sockets[0]);
    return {"no child", 0, 0, {}};
  }
  const int listener = receive_descriptor(sockets[0]);
  close(sockets[0]);
  const auto child_fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));

  Answers answers(supervised, shared);
  std::string wrong;
  uint64_t beats = 0;
  auto last_beat = std::chrono::steady_clock::now();
  pollfd waits[2] = {{child_fd, POLLIN, 0}, {listener, POLLIN, 0}};
  while (true) {
    const int ready = poll(waits, listener >= 0 ? 2 : 1, kLookMs);
    if (ready > 0 && (waits[0].revents & POLLIN) != 0) break;
    if (ready > 0 && (waits[1].revents & POLLIN) != 0) answers.answer(listener);
    const auto now = std::chrono::steady_clock::now();
    if (shared.beats.load() != beats) {
      beats = shared.beats.load();
      last_beat = now;
    } else if (now - last_beat > testing::kHangLimit) {
      wrong = "it hangs";
      print_stacks(child);
      break;
    }
  }
  // With the children that it has left.
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(child_fd);
  if (listener >= 0) close(listener);
  if (wrong.empty()) wrong = ending_of(status, shared);
  return {wrong, answers.calls(), WIFEXITED(status) ? WEXITSTATUS(status) : 0, answers.subject()};
}

}  // namespace hawthorn::tests
