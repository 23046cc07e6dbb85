#pragma once
// A small HTTP server for pages and figures of this machine: on a loopback address, unless another
// one is asked for, GET and HEAD alone, every answer made by one function.
//
// Not here: what is answered (web_api.h, metrics.h), TLS. Without cpp-httplib it cannot be started.
// Threads: the handler is called from several at a time; the rest from one.
//
// 1. On a loopback address a request whose Host is no loopback name is refused, as is, on any, one
//    that a page of another origin makes: a name of somebody else's that was made to lead here (DNS
//    rebinding) opens nothing.
// 2. A request has an end: 16 KB and five seconds; each connection carries one. No more than
//    HttpOptions::threads are answered at once, and a few dozen wait.
// 3. No body of a request is read.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hawthorn/status.h"

namespace hawthorn::tools {

struct HttpRequest {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters = {};  // decoded

  // The first one of that name. Lifetime: the request's.
  std::optional<std::string_view> parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address; a loopback one, unless `other_machines`
  uint16_t port = 0;               // 0: any that is free
  uint32_t threads = 8;
  // Refuses who is neither the user of this process nor root, where the system tells (/proc/net).
  bool same_user = false;
  bool other_machines = false;  // they may be answered, on an address of this machine's network
  // A connection is closed after it was idle for so long before its first byte, and then before the
  // rest of the request: idle ones take a thread each.
  std::chrono::milliseconds first_byte_wait{2'000};
  std::chrono::milliseconds request_wait{5'000};
};

class HttpServer {
 public:
  // Answers until it is destroyed. Errors: kInvalidArgument for what is no address, or not a
  // loopback one; kIoError where it cannot be bound; kNotSupported in builds without cpp-httplib.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, HttpHandler handler);
  // Waits for handlers that are running; connections that are open are closed.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  // Such as http://127.0.0.1:8080/.
  std::string url() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// From its construction to its end SIGINT and SIGTERM do not end the process, but wait(). One at a
// time.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  // Returns when one of them has come since the construction.
  void wait() const;

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

bool is_address(const std::string& text);
bool is_loopback_address(const std::string& address);

// Whether what a Host header says is this machine itself: localhost, 127.0.0.0/8 or [::1], with a
// port or without.
bool is_loopback_host(std::string_view host);

// What the tables /proc/net/tcp and tcp6 call an address and port; empty for what is no address.
// `mapped`: an IPv4 address as a socket for both families has it.
std::string name_in_table(const std::string& address, uint16_t port, bool mapped = false);
// Of such a table: the user who has the socket between these two, by their names there. Nothing
// where there is none.
std::optional<uint32_t> user_of_socket(std::string_view table, std::string_view local,
                                       std::string_view remote);

}  // namespace hawthorn::tools
