#include "tools/metrics.h"

#include <gtest/gtest.h>

namespace hawthorn::tools {
namespace {

Counters of_a_process(bool alive) {
  Counters counters;
  counters.alive = alive;
  counters.opened_us = 1'700'000'000'000'001;
  counters.updated_us = 1'700'000'002'500'000;
  counters.entries = {{"commits", Counter::Kind::kCount, Counter::Unit::kNumber, 40},
                      {"write_wait_us", Counter::Kind::kCount, Counter::Unit::kMicroseconds, 7},
                      {"log_bytes", Counter::Kind::kAmount, Counter::Unit::kBytes, 1u << 20}};
  return counters;
}

TEST(Metrics, CountsAreCountersAndTimesAreSeconds) {
  const std::string text = metrics_text("/db", of_a_process(true));
  EXPECT_NE(text.find("# TYPE hawthorn_up gauge\nhawthorn_up{database=\"/db\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE hawthorn_commits_total counter\n"
                      "hawthorn_commits_total{database=\"/db\"} 40\n"),
            std::string::npos);
  EXPECT_NE(text.find("hawthorn_write_wait_seconds_total{database=\"/db\"} 0.000007\n"),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE hawthorn_log_bytes gauge\nhawthorn_log_bytes{database=\"/db\"} "
                      "1048576\n"),
            std::string::npos);
  EXPECT_NE(text.find("hawthorn_opened_time_seconds{database=\"/db\"} 1700000000.000001\n"),
            std::string::npos)
      << text;
}

TEST(Metrics, OfWhatNobodyHasOpenOnlyThat) {
  EXPECT_EQ(metrics_text("/db", of_a_process(false)),
            "# HELP hawthorn_up Whether a process has the database open.\n"
            "# TYPE hawthorn_up gauge\nhawthorn_up{database=\"/db\"} 0\n");
}

TEST(Metrics, PlacesToListenAt) {
  const auto is = [](std::string_view text, std::string_view address, uint16_t port) {
    const Result<ListenPlace> place = parse_listen(text);
    return place.ok() && place->address == address && place->port == port;
  };
  EXPECT_TRUE(is("9464", "127.0.0.1", 9464));
  EXPECT_TRUE(is("0", "127.0.0.1", 0));
  EXPECT_TRUE(is("10.1.2.3:9464", "10.1.2.3", 9464));
  EXPECT_TRUE(is("[::1]:9464", "::1", 9464));
  EXPECT_TRUE(is("0.0.0.0:65535", "0.0.0.0", 65535));
  for (const char* wrong : {"", "x", "65536", "-1", "+1", "1 ", "127.0.0.1:", ":9464", "[]:1",
                            "::1:9464", "[127.0.0.1]:9464", "localhost:9464", "127.1:9464"}) {
    EXPECT_TRUE(parse_listen(wrong).status().is(StatusCode::kInvalidArgument)) << wrong;
  }
}

TEST(Metrics, LabelsAreEscaped) {
  const std::string text = metrics_text("/a\"b\\c\nd", of_a_process(false));
  EXPECT_NE(text.find("hawthorn_up{database=\"/a\\\"b\\\\c\\nd\"} 0\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace hawthorn::tools
