#include "hawthorn/status.h"

#include <gtest/gtest.h>

#include <string>

#include "hawthorn/version.h"

namespace hawthorn {
namespace {

TEST(StatusTest, SaysWhatAndWhere) {
  EXPECT_EQ(Status().to_string(), "OK");
  EXPECT_EQ(Status::not_found().to_string(), "NotFound");
  EXPECT_EQ(Status(StatusCode::kCorruption, "data.3 at 4096").to_string(),
            "Corruption: data.3 at 4096");
  EXPECT_EQ(Status(StatusCode::kTimedOut).to_string(), "TimedOut");
  EXPECT_EQ(Status(StatusCode::kDeadlock).to_string(), "Deadlock");
  EXPECT_EQ(Status(StatusCode::kPermissionDenied).to_string(), "PermissionDenied");
}

TEST(StatusTest, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kPermissionDenied); ++code) {
    EXPECT_NE(status_code_name(static_cast<StatusCode>(code)), "Unknown") << code;
  }
  EXPECT_EQ(status_code_name(static_cast<StatusCode>(200)), "Unknown");
}

TEST(StatusTest, CopiesAndMoves) {
  Status error(StatusCode::kIoError, "disk");
  Status copy = error;
  EXPECT_EQ(copy.message(), "disk");
  Status moved = std::move(error);
  EXPECT_TRUE(moved.is(StatusCode::kIoError));
  EXPECT_TRUE(error.ok());  // NOLINT(bugprone-use-after-move): a moved-from Status is OK
  copy = Status();
  EXPECT_TRUE(copy.ok());
  EXPECT_EQ(copy.message(), "");
}

TEST(StatusTest, ResultHoldsOneOfBoth) {
  Result<std::string> good = std::string("value");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(std::move(good).value(), "value");
  Result<std::string> bad = Status(StatusCode::kBusy, "locked");
  EXPECT_FALSE(bad.ok());
  EXPECT_TRUE(bad.status().is(StatusCode::kBusy));
}

TEST(VersionTest, MatchesTheMacros) {
  EXPECT_EQ(version(), std::to_string(HAWTHORN_VERSION_MAJOR) + "." +
                           std::to_string(HAWTHORN_VERSION_MINOR) + "." +
                           std::to_string(HAWTHORN_VERSION_PATCH));
}

TEST(ResultDeathTest, TheValueOfAnErrorEndsTheProcess) {
  const Result<std::string> error(Status(StatusCode::kCorruption, "data.3 at 40960"));
  const char* const said = "hawthorn: the value of a Result that is an error: Corruption: data.3";
  EXPECT_DEATH(static_cast<void>(error.value()), said);
  EXPECT_DEATH(static_cast<void>(error->size()), said);
  EXPECT_DEATH(static_cast<void>(*error), said);
  EXPECT_DEATH(static_cast<void>(Result<int>(Status::not_found()).value()), "NotFound");
}

}  // namespace
}  // namespace hawthorn
