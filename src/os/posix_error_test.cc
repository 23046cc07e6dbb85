#include "os/posix_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <initializer_list>

namespace hawthorn::os {
namespace {

TEST(PosixError, MissingPermissionsAreNoReadOnlyMedium) {
  for (const int error : {EACCES, EPERM}) {
    const Status status = error_status(error, "/db/lock", "open");
    EXPECT_TRUE(status.is(StatusCode::kPermissionDenied)) << status.to_string();
  }
  EXPECT_TRUE(error_status(EROFS, "/db/lock", "open").is(StatusCode::kReadOnly));
}

TEST(PosixError, SaysWhatAndWhere) {
  EXPECT_EQ(error_status(EACCES, "/db/lock", "open").to_string(),
            "PermissionDenied: /db/lock: open: Permission denied");
  EXPECT_EQ(error_status(EPERM, "/db/data.1", "write", 4096).to_string(),
            "PermissionDenied: /db/data.1: write at 4096: Operation not permitted");
}

}  // namespace
}  // namespace hawthorn::os
