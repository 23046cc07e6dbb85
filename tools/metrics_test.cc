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

TEST(Metrics, LabelsAreEscaped) {
  const std::string text = metrics_text("/a\"b\\c\nd", of_a_process(false));
  EXPECT_NE(text.find("hawthorn_up{database=\"/a\\\"b\\\\c\\nd\"} 0\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace hawthorn::tools
