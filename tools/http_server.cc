#include "tools/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#if HAWTHORN_HAVE_HTTPLIB
#include <httplib.h>
#endif

namespace hawthorn::tools {

std::optional<std::string_view> HttpRequest::parameter(std::string_view name) const {
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  return std::nullopt;
}

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool is_address(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_loopback_address(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool is_loopback_host(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    if (!is_number(host.substr(colon + 1))) return false;
    host = host.substr(0, colon);
  }
  if (host == "localhost") return true;
  if (host.find('\0') != std::string_view::npos) return false;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    return host.find(':') != std::string_view::npos && is_loopback_address(std::string(host));
  }
  return host.find(':') == std::string_view::npos && is_loopback_address(std::string(host));
}

std::string name_in_table(const std::string& address, uint16_t port, bool mapped) {
  std::array<uint32_t, 4> words{};
  size_t count = 1;
  if (inet_pton(AF_INET, address.c_str(), words.data()) == 1) {
    if (mapped) {
      words = {0, 0, htonl(0xffff), words[0]};
      count = 4;
    }
  } else if (inet_pton(AF_INET6, address.c_str(), words.data()) == 1) {
    count = 4;
  } else {
    return {};
  }
  std::string name;
  char text[16];
  for (size_t i = 0; i < count; ++i) {
    std::snprintf(text, sizeof(text), "%08X", words[i]);
    name += text;
  }
  std::snprintf(text, sizeof(text), ":%04X", port);
  return name + text;
}

std::optional<uint32_t> user_of_socket(std::string_view table, std::string_view local,
                                       std::string_view remote) {
  std::istringstream lines{std::string(table)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string slot, from, to, state, queues, timer, retransmits;
    uint32_t user = 0;
    if (!(words >> slot >> from >> to >> state >> queues >> timer >> retransmits >> user)) continue;
    if (from == local && to == remote) return user;
  }
  return std::nullopt;
}

namespace {
int end_pipe[2] = {-1, -1};

void note_end(int) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(end_pipe[1], "e", 1);
  errno = error;
}
}  // namespace

struct EndSignals::Saved {
  struct sigaction interrupt{};
  struct sigaction terminate{};
};

EndSignals::EndSignals() : saved_(std::make_unique<Saved>()) {
  if (pipe2(end_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action{};
  action.sa_handler = note_end;
  sigaction(SIGINT, &action, &saved_->interrupt);
  sigaction(SIGTERM, &action, &saved_->terminate);
}

EndSignals::~EndSignals() {
  if (end_pipe[0] < 0) return;
  sigaction(SIGINT, &saved_->interrupt, nullptr);
  sigaction(SIGTERM, &saved_->terminate, nullptr);
  for (int& fd : end_pipe) ::close(std::exchange(fd, -1));
}

void EndSignals::wait() const {
  pollfd waiting{end_pipe[0], POLLIN, 0};
  while (poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
}

#if HAWTHORN_HAVE_HTTPLIB
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kRequestBytesMax = size_t{16} << 10;
constexpr auto kAnswerWait = std::chrono::seconds(30);
constexpr auto kLook = std::chrono::milliseconds(50);  // how often waits see that all ends
constexpr size_t kWaitingMax = 64;

// One connection: what a request may take is counted here, in bytes and in time.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, const HttpOptions& options, const std::atomic<bool>& ending)
      : fd_(fd),
        request_wait_(options.request_wait),
        ending_(ending),
        deadline_(Clock::now() + options.first_byte_wait) {}

  bool is_readable() const override { return begin_ < end_ || ready(POLLIN); }
  bool is_writable() const override { return ready(POLLOUT); }
  int socket() const override { return fd_; }

  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_ && !fill()) return -1;
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, size_t size) override {
    if (!answering_) deadline_ = Clock::now() + kAnswerWait;
    answering_ = true;
    if (!ready(POLLOUT)) return -1;
    return ::send(fd_, from, size, MSG_NOSIGNAL);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    describe(getpeername, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    describe(getsockname, ip, port);
  }

 private:
  bool ready(short event) const {
    pollfd waiting{fd_, event, 0};
    while (!ending_ && Clock::now() < deadline_) {
      const int count = poll(&waiting, 1, static_cast<int>(kLook.count()));
      if (count > 0) return true;
      if (count < 0 && errno != EINTR) return false;
    }
    return false;
  }

  bool fill() {
    if (read_ >= kRequestBytesMax || !ready(POLLIN)) return false;
    const ssize_t got = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) return false;
    if (read_ == 0) deadline_ = Clock::now() + request_wait_;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
    read_ += end_;
    return true;
  }

  template <typename Function>
  void describe(Function function, std::string& ip, int& port) const {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    char text[INET6_ADDRSTRLEN] = "";
    if (function(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
    if (address.ss_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
      inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
      port = ntohs(v4->sin_port);
    } else if (address.ss_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
      inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
      port = ntohs(v6->sin6_port);
    }
    ip = text;
  }

  const int fd_;
  const std::chrono::milliseconds request_wait_;
  const std::atomic<bool>& ending_;
  Clock::time_point deadline_;
  bool answering_ = false;
  std::array<char, 4096> buffer_{};
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t read_ = 0;
};

// Some threads, and connections that wait for them: of too many the next ones stay with the kernel.
class Workers final : public httplib::TaskQueue {
 public:
  Workers(uint32_t threads, const std::atomic<bool>& ending) : ending_(ending) {
    for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    while (tasks_.size() >= kWaitingMax && !ending_) room_.wait_for(lock, kLook);
    tasks_.push_back(std::move(task));
    some_.notify_one();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    some_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        some_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      room_.notify_one();
      task();
    }
  }

  const std::atomic<bool>& ending_;
  std::mutex mutex_;
  std::condition_variable some_;
  std::condition_variable room_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

HttpResponse refusal(int status, const char* code, const char* message) {
  return {.status = status,
          .body = std::string("{\"error\":{\"code\":\"") + code + "\",\"message\":\"" + message +
                  "\"}}"};
}

// What every answer says to browsers: nothing of other origins is loaded, run, or told.
httplib::Headers headers_of_all() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
           "require-trusted-types-for 'script'; trusted-types 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

std::string read_file(const char* name) {
  const std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_of_other_origin(const httplib::Request& request) {
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  if (site.empty() || site == "same-origin" || site == "none") return false;
  // A link to the page may be followed from anywhere.
  return request.get_header_value("Sec-Fetch-Mode") != "navigate";
}

}  // namespace

class HttpServer::Impl final : public httplib::Server {
 public:
  Impl(const HttpOptions& options, HttpHandler handler)
      : options_(options),
        loopback_(is_loopback_address(options.host)),
        handler_(std::move(handler)) {
    // Without SO_REUSEPORT, by which two of these could share a port.
    set_socket_options([](int fd) {
      const int yes = 1;
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    set_default_headers(headers_of_all());
    new_task_queue = [this] { return new Workers(options_.threads, ending_); };
    // Before anything of the library's own routing, so that no body is read.
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const HttpResponse answer = answer_to(request);
      response.status = answer.status;
      if (answer.status == 405) response.set_header("Allow", "GET, HEAD");
      response.set_content(answer.body, answer.type);
      return HandlerResponse::Handled;
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      response.set_content(refusal(0, "InvalidArgument", "no request that is understood").body,
                           "application/json");
    });
  }

  ~Impl() override {
    ending_ = true;
    if (!listener_.joinable()) return;
    stop();
    listener_.join();
  }

  Status start() {
    if (!is_address(options_.host)) {
      return Status(StatusCode::kInvalidArgument, options_.host + " is no IP address");
    }
    if (!options_.other_machines && !loopback_) {
      return Status(StatusCode::kInvalidArgument, options_.host + " is no loopback address");
    }
    const int wanted = options_.port;
    errno = 0;
    const int bound = wanted == 0                           ? bind_to_any_port(options_.host)
                      : bind_to_port(options_.host, wanted) ? wanted
                                                            : -1;
    if (bound < 0) {
      return Status(StatusCode::kIoError, name_of_host() + ":" + std::to_string(wanted) +
                                              " cannot be listened at" + (errno == 0 ? "" : ": ") +
                                              (errno == 0 ? "" : std::strerror(errno)));
    }
    port_ = static_cast<uint16_t>(bound);
    listener_ = std::thread([this] {
      listen_after_bind();
      ended_ = true;
    });
    // stop() has no effect before it runs.
    while (!is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ended_ ? Status(StatusCode::kIoError, url() + " cannot be listened at") : Status();
  }

  std::string url() const { return "http://" + name_of_host() + ":" + std::to_string(port_) + "/"; }
  uint16_t port() const { return port_; }

 private:
  std::string name_of_host() const {
    const bool v6 = options_.host.find(':') != std::string::npos;
    return v6 ? "[" + options_.host + "]" : options_.host;
  }

  bool process_and_close_socket(int fd) override {
    Connection connection(fd, options_, ending_);
    bool closed = false;
    // What is asked for of an answer's bytes alone would be cut from it with a wrong status.
    const bool done = process_request(connection, true, closed,
                                      [](httplib::Request& request) { request.ranges.clear(); });
    ::shutdown(fd, SHUT_RDWR);
    ::close(fd);
    return done;
  }

  HttpResponse answer_to(const httplib::Request& request) const {
    if (request.get_header_value_count("Host") != 1 ||
        (loopback_ && !is_loopback_host(request.get_header_value("Host")))) {
      return refusal(403, "InvalidArgument", "the Host of a request has to be this machine");
    }
    if (is_of_other_origin(request)) {
      return refusal(403, "InvalidArgument", "pages of other origins get no answer");
    }
    if (options_.same_user && !is_of_this_user(request)) {
      return refusal(403, "InvalidArgument", "other users of this machine get no answer");
    }
    if (request.method != "GET" && request.method != "HEAD") {
      return refusal(405, "NotSupported", "GET and HEAD are what there is");
    }
    HttpRequest asked{.path = request.path};
    asked.parameters.assign(request.params.begin(), request.params.end());
    return handler_(asked);
  }

  // The client's end of the connection is in the table of the system, with its user.
  bool is_of_this_user(const httplib::Request& request) const {
    const auto user_in = [&](const std::string& table, bool mapped) {
      const auto remote_port = static_cast<uint16_t>(request.remote_port);
      return user_of_socket(table, name_in_table(request.remote_addr, remote_port, mapped),
                            name_in_table(request.local_addr, port_, mapped));
    };
    // A table that changes while it is read may lack a line.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::string v4 = read_file("/proc/net/tcp");
      const std::string v6 = read_file("/proc/net/tcp6");
      if (v4.empty() && v6.empty()) return true;  // this system does not tell
      std::optional<uint32_t> user = user_in(v4, false);
      if (!user) user = user_in(v6, false);
      if (!user) user = user_in(v6, true);
      if (user) return *user == geteuid() || *user == 0;
    }
    return false;
  }

  const HttpOptions options_;
  const bool loopback_;
  const HttpHandler handler_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> ended_ = false;
  uint16_t port_ = 0;
  std::thread listener_;
};

#else

class HttpServer::Impl {
 public:
  Impl(const HttpOptions&, HttpHandler) {}
  static Status start() {
    return Status(StatusCode::kNotSupported,
                  "this build cannot serve HTTP: it was made without cpp-httplib "
                  "(Debian: libcpp-httplib-dev)");
  }
  static std::string url() { return {}; }
  static uint16_t port() { return 0; }
};

#endif

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      HttpHandler handler) {
  auto impl = std::make_unique<Impl>(options, std::move(handler));
  if (Status status = impl->start(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->port(); }
std::string HttpServer::url() const { return impl_->url(); }

}  // namespace hawthorn::tools
