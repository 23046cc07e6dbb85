#include "os/posix_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>

namespace hawthorn::os {
namespace {

TEST(PosixError, MissingPermissionsAreNoReadOnlyMedium) {
  for (const int error : {EACCES, EPERM}) {
    const Status status = error_status(error, "/db/lock", "open");
    EXPECT_TRUE(status.is(StatusCode::kPermissionDenied)) << status.to_string();
  }
  EXPECT_TRUE(error_status(EROFS, "/db/lock", "open").is(StatusCode::kReadOnly));
}

// Nothing is lost by them, and they pass.
TEST(PosixError, ShortagesAreAsAFullDisk) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOLCK}) {
    const Status status = error_status(error, "/db/wal.7", "open");
    EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  }
}

TEST(PosixError, WhatCannotBeMadeNowIsToldAsAFullDisk) {
  for (const int error : {ENOMEM, EACCES, EPERM, EROFS}) {
    EXPECT_EQ(as_no_space(error_status(error, "/db/wal.new", "open")).to_string(),
              std::string("NoSpace: /db/wal.new: open: ") + strerror(error));
  }
  EXPECT_TRUE(as_no_space(Status()).ok());
  for (const int error : {EIO, ENOSPC, ENOENT}) {
    const Status status = error_status(error, "/db/wal.new", "open");
    EXPECT_EQ(as_no_space(status).to_string(), status.to_string());
  }
}

// Who is told kBusy comes again; nobody lets go of a path that leads to something else.
TEST(PosixError, WhatNobodyWillLetGoOf) {
  for (const int error : {EEXIST, ENOTEMPTY, ENOTDIR, ELOOP, ENAMETOOLONG}) {
    const Status status = error_status(error, "/db", "make directory");
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  }
  for (const int error : {EWOULDBLOCK, EBUSY, ETXTBSY}) {
    const Status status = error_status(error, "/db/lock", "lock");
    EXPECT_TRUE(status.is(StatusCode::kBusy)) << status.to_string();
  }
}

TEST(PosixError, SaysWhatAndWhere) {
  EXPECT_EQ(error_status(EACCES, "/db/lock", "open").to_string(),
            "PermissionDenied: /db/lock: open: Permission denied");
  EXPECT_EQ(error_status(EPERM, "/db/data.1", "write", 4096).to_string(),
            "PermissionDenied: /db/data.1: write at 4096: Operation not permitted");
}

}  // namespace
}  // namespace hawthorn::os
