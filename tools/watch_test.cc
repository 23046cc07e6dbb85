#include "tools/watch.h"

#include <gtest/gtest.h>

namespace hawthorn::tools {
namespace {

Counters counters(uint64_t updated_us, uint64_t commits, uint64_t bytes, uint64_t snapshots) {
  Counters made;
  made.pid = 7;
  made.updated_us = updated_us;
  made.entries = {{"commits", Counter::Kind::kCount, Counter::Unit::kNumber, commits},
                  {"bytes_read", Counter::Kind::kCount, Counter::Unit::kBytes, bytes},
                  {"snapshots", Counter::Kind::kAmount, Counter::Unit::kNumber, snapshots}};
  return made;
}

TEST(Watch, RatesAreOfTheTimeBetween) {
  const std::string json =
      watch_json(counters(1'000'000, 10, 1000, 5), counters(3'000'000, 40, 5000, 4));
  EXPECT_EQ(json,
            "{\"pid\":7,\"updated_us\":3000000,\"seconds\":2,\"counters\":{\"commits\":40,"
            "\"bytes_read\":5000,\"snapshots\":4},\"rates\":{\"commits\":15,\"bytes_read\":2000}}");
}

TEST(Watch, TextHasTotalsAndRates) {
  const std::string text =
      watch_text(counters(1'000'000, 10, 1000, 5), counters(3'000'000, 40, 5'001'000, 4));
  EXPECT_NE(text.find("commits                                  40               15\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("5.00 MB          2.50 MB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("snapshots                                 4                 \n"),
            std::string::npos)
      << text;
}

TEST(Watch, NoRateWhereNoTimeHasPassedOrTheCountBeganAnew) {
  const Counters now = counters(3'000'000, 40, 5000, 4);
  EXPECT_NE(watch_json(now, now).find("\"rates\":{}"), std::string::npos);
  const std::string anew = watch_json(counters(1'000'000, 90, 1000, 5), now);
  EXPECT_NE(anew.find("\"rates\":{\"bytes_read\":2000}"), std::string::npos) << anew;
}

}  // namespace
}  // namespace hawthorn::tools
