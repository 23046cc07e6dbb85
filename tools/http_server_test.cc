#include "tools/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "testing/wait.h"

namespace hawthorn::tools {
namespace {

int connect_to(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void send_to(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string all_of(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = recv(fd, part, sizeof(part), 0)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  close(fd);
  return text;
}

// Serves the path and the parameters of each request.
class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }

  // Requests may take any time, but where a test is about that.
  void start(HttpOptions options, std::chrono::milliseconds wait = kNoEnd) {
    server_.reset();
    options.first_byte_wait = wait;
    options.request_wait = wait;
    Result<std::unique_ptr<HttpServer>> server =
        HttpServer::start(options, [this](const HttpRequest& request) {
          ++calls_;
          std::string body = request.path;
          for (const auto& [name, value] : request.parameters) body += "|" + name + "=" + value;
          return HttpResponse{.type = "text/plain", .body = body};
        });
    if (server.status().is(StatusCode::kNotSupported)) GTEST_SKIP() << server.status().to_string();
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = *std::move(server);
  }

  std::string ask(const std::string& line, const std::string& headers = "Host: localhost\r\n",
                  const std::string& body = "") {
    const int fd = connect_to(server_->port());
    send_to(fd, line + " HTTP/1.1\r\n" + headers + "\r\n" + body);
    return all_of(fd);
  }
  static std::string status_of(const std::string& answer) { return answer.substr(9, 3); }
  static std::string body_of(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }

  static constexpr std::chrono::hours kNoEnd{1};
  std::unique_ptr<HttpServer> server_;
  std::atomic<int> calls_ = 0;
};

TEST(LoopbackHost, IsThisMachineAlone) {
  for (const char* host : {"localhost", "localhost:80", "127.0.0.1", "127.0.0.1:8080", "127.9.9.9",
                           "[::1]", "[::1]:8080"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* host :
       {"", ":80", "example.org", "localhost.example.org", "127.0.0.1.example.org",
        "127.0.0.1:", "127.0.0.1:8x", "128.0.0.1", "0.0.0.0", "127.1", "::1", "[::1", "[::2]",
        "[127.0.0.1]", "[::1]x", "localhost:80:80", "user@localhost", "0x7f.0.0.1", "2130706433"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
  EXPECT_FALSE(is_loopback_host(std::string_view("127.0.0.1\0.example.org", 22)));
}

TEST(UserOfSocket, IsReadFromTheTableOfTheKernel) {
  const char* table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 0 1\n"
      "   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000 0 2\n"
      "   2: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     7 0 3\n";
  const std::string server = name_in_table("127.0.0.1", 8080);
  const std::string client = name_in_table("127.0.0.1", 40000);
  EXPECT_EQ(client, "0100007F:9C40");
  EXPECT_EQ(user_of_socket(table, client, server), 1000U);
  EXPECT_EQ(user_of_socket(table, server, client), 7U);
  // The same ports between other addresses are somebody else's.
  EXPECT_EQ(user_of_socket(table, name_in_table("10.0.0.1", 40000), server), std::nullopt);
  EXPECT_EQ(user_of_socket("nonsense\n\n::::", client, server), std::nullopt);
  EXPECT_EQ(name_in_table("127.0.0.1", 80, true), "0000000000000000FFFF00000100007F:0050");
  EXPECT_EQ(name_in_table("::1", 80), "00000000000000000000000001000000:0050");
  EXPECT_EQ(name_in_table("nowhere", 80), "");
}

TEST_F(HttpServerTest, AnswersGetAndHead) {
  const std::string answer = ask("GET /a%20b?key=%00%ff&flag&x=1+2");
  EXPECT_EQ(status_of(answer), "200");
  EXPECT_EQ(body_of(answer), std::string("/a b|flag=|key=") + '\0' + "\xff|x=1 2");
  EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none';"), std::string::npos);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff"), std::string::npos);
  const std::string head = ask("HEAD /abc");
  EXPECT_EQ(status_of(head), "200");
  EXPECT_EQ(body_of(head), "");
  EXPECT_EQ(body_of(ask("GET /abc", "Host: localhost\r\nRange: bytes=0-1\r\n")), "/abc");
  EXPECT_EQ(server_->url(), "http://127.0.0.1:" + std::to_string(server_->port()) + "/");
}

TEST_F(HttpServerTest, RefusesWhatIsNoRequestOfThisMachine) {
  EXPECT_EQ(status_of(ask("GET /", "Host: example.org\r\n")), "403");
  EXPECT_EQ(status_of(ask("GET /", "")), "403");
  EXPECT_EQ(status_of(ask("GET /", "Host: localhost\r\nHost: example.org\r\n")), "403");
  EXPECT_EQ(status_of(ask("GET /", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n")), "403");
  EXPECT_EQ(status_of(ask("GET /", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n")), "403");
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(status_of(ask("GET /",
                          "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
                          "Sec-Fetch-Mode: navigate\r\n")),
            "200");
  EXPECT_EQ(status_of(ask("GET /", "Host: localhost\r\nSec-Fetch-Site: same-origin\r\n")), "200");
}

TEST_F(HttpServerTest, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const std::string answer =
        ask(std::string(method) + " /", "Host: localhost\r\nContent-Length: 3\r\n", "abc");
    EXPECT_EQ(status_of(answer), "405") << method;
    EXPECT_NE(answer.find("Allow: GET, HEAD"), std::string::npos);
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(HttpServerTest, RefusesWhatIsTooLargeOrMalformed) {
  EXPECT_EQ(status_of(ask("GET /" + std::string(9000, 'a'))), "414");
  ask("GET /", "Host: localhost\r\nX: " + std::string(9000, 'a') + "\r\n");
  std::string many = "Host: localhost\r\n";
  for (int i = 0; i < 2000; ++i) many += "X" + std::to_string(i) + ": aaaaaaaa\r\n";
  ask("GET /", many);
  for (const char* line : {"nonsense", "GET", "\x01\xff", "GET / HTTP/9.9"}) ask(line);
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(body_of(ask("GET /after")), "/after");
}

// They are more than there are threads, and closed so that others are answered.
TEST_F(HttpServerTest, IdleConnectionsKeepNobodyWaiting) {
  start({}, std::chrono::milliseconds(200));
  std::vector<int> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(connect_to(server_->port()));
  send_to(idle.back(), "GET / HTTP/1.1\r\nHost: local");
  std::string answer;
  // One whose turn comes while this process gets no processor is closed as the idle ones are.
  ASSERT_TRUE(hawthorn::testing::wait_until([&] { return !(answer = ask("GET /x")).empty(); }));
  EXPECT_EQ(body_of(answer), "/x");
  for (const int fd : idle) EXPECT_EQ(all_of(fd).find("/x"), std::string::npos);
}

TEST_F(HttpServerTest, EndsWhileConnectionsAreOpen) {
  const int fd = connect_to(server_->port());
  send_to(fd, "GET / HTTP/1.1\r\n");
  // Answered behind it, so that a thread of the server has that one by now, and waits for an hour.
  EXPECT_EQ(body_of(ask("GET /x")), "/x");
  server_.reset();
  EXPECT_EQ(all_of(fd), "");
}

TEST_F(HttpServerTest, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) right += body_of(ask("GET /many")) == "/many" ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 160);
}

TEST_F(HttpServerTest, KnowsItsUser) {
  start({.same_user = true});
  EXPECT_EQ(body_of(ask("GET /me")), "/me");
  // By a socket that is for both families, as those of some clients are.
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(server_->port());
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr), 1);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  send_to(fd, "GET /me HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(body_of(all_of(fd)), "/me");
}

TEST_F(HttpServerTest, PortsAndAddresses) {
  const auto nothing = [](const HttpRequest&) { return HttpResponse{}; };
  const auto taken = HttpServer::start({.port = server_->port()}, nothing);
  EXPECT_TRUE(taken.status().is(StatusCode::kIoError)) << taken.status().to_string();
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "localhost", ""}) {
    EXPECT_TRUE(
        HttpServer::start({.host = host}, nothing).status().is(StatusCode::kInvalidArgument))
        << host;
  }
}

// Of an address that is reached from elsewhere the Host may be any name of this machine.
TEST_F(HttpServerTest, AnswersOtherMachinesWhereItIsToldTo) {
  start({.host = "0.0.0.0", .other_machines = true});
  EXPECT_EQ(server_->url(), "http://0.0.0.0:" + std::to_string(server_->port()) + "/");
  EXPECT_EQ(body_of(ask("GET /x", "Host: db1.example.org:9464\r\n")), "/x");
  EXPECT_EQ(status_of(ask("GET /x", "")), "403");
  EXPECT_EQ(status_of(ask("GET /x", "Host: db1\r\nSec-Fetch-Site: cross-site\r\n")), "403");
  start({.other_machines = true});
  EXPECT_EQ(status_of(ask("GET /x", "Host: db1.example.org\r\n")), "403");
  const auto nothing = [](const HttpRequest&) { return HttpResponse{}; };
  EXPECT_TRUE(HttpServer::start({.host = "db1", .other_machines = true}, nothing)
                  .status()
                  .is(StatusCode::kInvalidArgument));
  // An address that is not of this machine (RFC 5737).
  const auto elsewhere = HttpServer::start({.host = "192.0.2.1", .other_machines = true}, nothing);
  EXPECT_TRUE(elsewhere.status().is(StatusCode::kIoError)) << elsewhere.status().to_string();
}

TEST(EndSignals, WaitReturnsAtASignalOfBefore) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const EndSignals end;
    raise(signal);
    end.wait();
  }
}

}  // namespace
}  // namespace hawthorn::tools
