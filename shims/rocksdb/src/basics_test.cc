// Values of the API: Slice, PinnableSlice, Cleanable, Status, comparators, prefixes, Env, Logger.

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Cleanable;
using rocksdb::OptSlice;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

TEST(SliceOf, Bytes) {
  const std::string text = "abc";
  Slice slice(text);
  EXPECT_EQ(slice.size(), 3U);
  EXPECT_EQ(slice[1], 'b');
  EXPECT_EQ(Slice(std::string_view("abc")), slice);
  EXPECT_EQ(Slice("abc", 2), Slice("ab"));
  EXPECT_TRUE(Slice(static_cast<const char*>(nullptr)).empty());
  EXPECT_NE(slice, Slice("abd"));
  EXPECT_LT(slice.compare("abd"), 0);
  EXPECT_GT(Slice("\xff").compare("a"), 0);
  EXPECT_LT(Slice("ab").compare(slice), 0);
  EXPECT_TRUE(slice.starts_with("ab"));
  EXPECT_FALSE(slice.starts_with("abcd"));
  EXPECT_TRUE(slice.ends_with("bc"));
  EXPECT_FALSE(slice.ends_with("ab"));
  EXPECT_EQ(slice.difference_offset("abd"), 2U);
  EXPECT_EQ(slice.difference_offset("ab"), 2U);
  EXPECT_EQ(slice.ToStringView(), "abc");
  EXPECT_EQ(std::string(slice.begin(), slice.end()), "abc");
  EXPECT_EQ(Slice("\x0f\xa0").ToString(true), "0FA0");
  std::string decoded;
  EXPECT_TRUE(Slice("0fA0").DecodeHex(&decoded));
  EXPECT_EQ(decoded, "\x0f\xa0");
  EXPECT_FALSE(Slice("0").DecodeHex(&decoded));
  EXPECT_FALSE(Slice("0g").DecodeHex(&decoded));
  slice.remove_prefix(1);
  slice.remove_suffix(1);
  EXPECT_EQ(slice, Slice("b"));
  EXPECT_EQ(slice.data_, slice.data());
  EXPECT_EQ(slice.size_, 1U);
  slice.clear();
  EXPECT_TRUE(slice.empty());
}

TEST(SliceOf, Options) {
  const OptSlice none;
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(none.AsPtr(), nullptr);
  const OptSlice some("a");
  EXPECT_TRUE(static_cast<bool>(some));
  EXPECT_EQ(some.value(), Slice("a"));
  EXPECT_EQ(some->size(), 1U);
  EXPECT_EQ(*some, *some.AsPtr());
  EXPECT_FALSE(OptSlice::CopyFromPtr(nullptr).has_value());
  EXPECT_FALSE(OptSlice(nullptr).has_value());
}

TEST(SliceOf, Parts) {
  const Slice slices[] = {"a", "bc"};
  rocksdb::SliceParts parts(slices, 2);
  EXPECT_EQ(parts.parts, slices);
  EXPECT_EQ(parts.num_parts, 2);
  std::string buffer = "old";
  EXPECT_EQ(Slice(parts, &buffer), Slice("abc"));
  EXPECT_EQ(buffer, "abc");
}

void count(void* counter, void* by) { *static_cast<int*>(counter) += *static_cast<int*>(by); }

TEST(Cleanups, RunOnce) {
  int counter = 0;
  int one = 1;
  int ten = 10;
  {
    Cleanable first;
    EXPECT_FALSE(first.HasCleanups());
    const Cleanable::CleanupFunction function = count;
    first.RegisterCleanup(function, &counter, &one);
    first.RegisterCleanup(count, &counter, &ten);
    first.RegisterCleanup(count, &counter, &ten);
    EXPECT_TRUE(first.HasCleanups());
    first.Reset();
    EXPECT_EQ(counter, 21);
    first.RegisterCleanup(count, &counter, &one);
    first.RegisterCleanup(count, &counter, &one);
    Cleanable second;
    first.DelegateCleanupsTo(&second);
    EXPECT_FALSE(first.HasCleanups());
    Cleanable third(std::move(second));
    Cleanable fourth;
    fourth.RegisterCleanup(count, &counter, &ten);
    fourth = std::move(third);
    EXPECT_EQ(counter, 31);
  }
  EXPECT_EQ(counter, 33);
}

TEST(Pinned, SlicesStandOnTheirOwnOrOnOthers) {
  PinnableSlice own;
  own.PinSelf("abcd");
  EXPECT_FALSE(own.IsPinned());
  own.remove_prefix(1);
  own.remove_suffix(1);
  EXPECT_EQ(own, Slice("bc"));
  *own.GetSelf() = "xyz";
  own.PinSelf();
  EXPECT_EQ(own, Slice("xyz"));

  int counter = 0;
  int one = 1;
  const std::string others = "others";
  PinnableSlice pinned;
  pinned.PinSlice(others, count, &counter, &one);
  EXPECT_TRUE(pinned.IsPinned());
  EXPECT_EQ(pinned.data(), others.data());
  pinned.remove_prefix(1);
  pinned.remove_suffix(1);
  EXPECT_EQ(pinned, Slice("ther"));
  PinnableSlice moved(std::move(pinned));
  EXPECT_EQ(moved, Slice("ther"));
  EXPECT_FALSE(pinned.IsPinned());
  EXPECT_EQ(counter, 0);
  moved = std::move(own);
  EXPECT_EQ(counter, 1);
  EXPECT_EQ(moved, Slice("xyz"));
  moved.Reset();
  EXPECT_TRUE(moved.empty());

  std::string buffer;
  PinnableSlice to_buffer(&buffer);
  to_buffer.PinSelf("text");
  EXPECT_EQ(buffer, "text");
  Cleanable cleanable;
  cleanable.RegisterCleanup(count, &counter, &one);
  moved.PinSlice(others, &cleanable);
  moved.Reset();
  EXPECT_EQ(counter, 2);
}

TEST(StatusOf, CodesAndWords) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status::OK().ToString(), "OK");
  const Status missing = Status::NotFound("a", "b");
  EXPECT_TRUE(missing.IsNotFound());
  EXPECT_EQ(missing.ToString(), "NotFound: a: b");
  EXPECT_STREQ(missing.getState(), "a: b");
  EXPECT_EQ(missing.code(), Status::kNotFound);
  EXPECT_EQ(Status::NotFound(Status::kPathNotFound, "a").ToString(),
            "NotFound: No such file or directory: a");
  EXPECT_TRUE(Status::NoSpace().IsNoSpace());
  EXPECT_TRUE(Status::NoSpace("x").IsIOError());
  EXPECT_TRUE(Status::MemoryLimit().IsMemoryLimit());
  EXPECT_TRUE(Status::SpaceLimit("x").IsIOError());
  EXPECT_TRUE(Status::PathNotFound("x").IsPathNotFound());
  EXPECT_TRUE(Status::TxnNotPrepared().IsTxnNotPrepared());
  EXPECT_TRUE(Status::LockLimit().IsLockLimit());
  EXPECT_TRUE(Status::Busy(Status::kDeadlock).IsDeadlock());
  EXPECT_TRUE(Status::Incomplete(Status::kManualCompactionPaused).IsManualCompactionPaused());
  EXPECT_TRUE(Status::Incomplete("x").IsIncomplete());
  EXPECT_TRUE(Status::IOError(Status::kIOFenced).IsIOFenced());
  EXPECT_TRUE(Status::OkOverwritten().IsOkOverwritten());
  EXPECT_TRUE(Status::OkMergeOperandThresholdExceeded().IsOkMergeOperandThresholdExceeded());
  EXPECT_TRUE(Status::OkOverwritten().ok());
  EXPECT_TRUE(Status::Corruption("x").IsCorruption());
  EXPECT_TRUE(Status::NotSupported("x").IsNotSupported());
  EXPECT_TRUE(Status::InvalidArgument("x").IsInvalidArgument());
  EXPECT_TRUE(Status::MergeInProgress().IsMergeInProgress());
  EXPECT_TRUE(Status::ShutdownInProgress().IsShutdownInProgress());
  EXPECT_TRUE(Status::TimedOut().IsTimedOut());
  EXPECT_TRUE(Status::Aborted().IsAborted());
  EXPECT_TRUE(Status::Expired().IsExpired());
  EXPECT_TRUE(Status::TryAgain().IsTryAgain());
  EXPECT_TRUE(Status::CompactionTooLarge().IsCompactionTooLarge());
  EXPECT_TRUE(Status::ColumnFamilyDropped().IsColumnFamilyDropped());
}

TEST(StatusOf, CopiesAndMoves) {
  const Status first(Status::Corruption("x"), Status::kFatalError);
  EXPECT_EQ(first.severity(), Status::kFatalError);
  Status copy(first);
  EXPECT_EQ(copy, first);
  EXPECT_EQ(copy.severity(), Status::kFatalError);
  const Status moved(std::move(copy));
  EXPECT_STREQ(moved.getState(), "x");
  EXPECT_TRUE(copy.ok());
  copy = moved;
  EXPECT_EQ(copy.ToString(), "Corruption: x");
  EXPECT_NE(copy, Status::OK());
  EXPECT_EQ(Status::CopyAppendMessage(copy, "; ", "y").ToString(), "Corruption: x; y");
  Status collected;
  collected.UpdateIfOk(Status::Busy());
  collected.UpdateIfOk(copy);
  EXPECT_TRUE(collected.IsBusy());
  EXPECT_EQ(Status::Busy().subcode(), Status::kNone);
  collected.PermitUncheckedError();
  collected.MustCheck();
  const Status whole(Status::kAborted, Status::kNone, Status::kSoftError, "z");
  EXPECT_EQ(whole.ToString(), "Operation aborted: z");
}

TEST(StatusOf, ErrorsOfTheEngine) {
  using hawthorn::StatusCode;
  const auto told = [](StatusCode code) { return to_status(hawthorn::Status(code, "why")); };
  EXPECT_TRUE(to_status(hawthorn::Status()).ok());
  EXPECT_TRUE(told(StatusCode::kNotFound).IsNotFound());
  EXPECT_TRUE(told(StatusCode::kInvalidArgument).IsInvalidArgument());
  EXPECT_TRUE(told(StatusCode::kNotSupported).IsNotSupported());
  EXPECT_TRUE(told(StatusCode::kCorruption).IsCorruption());
  EXPECT_TRUE(told(StatusCode::kIoError).IsIOError());
  EXPECT_TRUE(told(StatusCode::kNoSpace).IsNoSpace());
  EXPECT_TRUE(told(StatusCode::kBusy).IsBusy());
  EXPECT_TRUE(told(StatusCode::kConflict).IsBusy());
  EXPECT_TRUE(told(StatusCode::kReadOnly).IsIOError());
  EXPECT_TRUE(told(StatusCode::kPermissionDenied).IsIOError());
  EXPECT_EQ(told(StatusCode::kPermissionDenied).subcode(), Status::kNone);
  EXPECT_TRUE(told(StatusCode::kOutOfMemory).IsMemoryLimit());
  EXPECT_TRUE(told(StatusCode::kForked).IsAborted());
  EXPECT_TRUE(told(StatusCode::kUnknownOutcome).IsIOError());
  EXPECT_TRUE(told(StatusCode::kClosed).IsShutdownInProgress());
  EXPECT_TRUE(told(StatusCode::kTimedOut).IsTimedOut());
  EXPECT_EQ(told(StatusCode::kTimedOut).subcode(), Status::kLockTimeout);
  EXPECT_TRUE(told(StatusCode::kDeadlock).IsDeadlock());
  EXPECT_TRUE(told(StatusCode::kTooOld).IsTryAgain());
  EXPECT_NE(told(StatusCode::kIoError).ToString().find("why"), std::string::npos);
}

TEST(Orders, OfTheLibrary) {
  const rocksdb::Comparator& bytewise = *rocksdb::BytewiseComparator();
  const rocksdb::Comparator& reverse = *rocksdb::ReverseBytewiseComparator();
  EXPECT_STREQ(bytewise.Name(), "leveldb.BytewiseComparator");
  EXPECT_STREQ(reverse.Name(), "rocksdb.ReverseBytewiseComparator");
  EXPECT_LT(bytewise.Compare("a", "b"), 0);
  EXPECT_GT(reverse.Compare("a", "b"), 0);
  EXPECT_TRUE(bytewise.Equal("a", "a"));
  EXPECT_FALSE(bytewise.CanKeysWithDifferentByteContentsBeEqual());
  EXPECT_FALSE(bytewise.IsSameLengthImmediateSuccessor("a", "b"));
  EXPECT_EQ(bytewise.GetRootComparator(), &bytewise);
  EXPECT_EQ(bytewise.timestamp_size(), 0U);
  EXPECT_EQ(bytewise.GetId(), bytewise.Name());
  EXPECT_TRUE(bytewise.IsInstanceOf("leveldb.BytewiseComparator"));
  EXPECT_STREQ(rocksdb::Comparator::Type(), "Comparator");
  std::string start = "a";
  bytewise.FindShortestSeparator(&start, "c");
  bytewise.FindShortSuccessor(&start);
  EXPECT_EQ(start, "a");
}

TEST(Prefixes, OfTheLibrary) {
  const std::unique_ptr<const rocksdb::SliceTransform> fixed(rocksdb::NewFixedPrefixTransform(2));
  EXPECT_FALSE(fixed->InDomain("a"));
  EXPECT_TRUE(fixed->InDomain("ab"));
  EXPECT_EQ(fixed->Transform("abc"), Slice("ab"));
  EXPECT_TRUE(fixed->InRange("ab"));
  EXPECT_EQ(fixed->AsString(), "rocksdb.FixedPrefix.2");
  EXPECT_FALSE(fixed->FullLengthEnabled(nullptr));
  EXPECT_FALSE(fixed->SameResultWhenAppended("ab"));
  const std::unique_ptr<const rocksdb::SliceTransform> capped(rocksdb::NewCappedPrefixTransform(2));
  EXPECT_TRUE(capped->InDomain("a"));
  EXPECT_EQ(capped->Transform("a"), Slice("a"));
  EXPECT_EQ(capped->Transform("abc"), Slice("ab"));
  const std::unique_ptr<const rocksdb::SliceTransform> noop(rocksdb::NewNoopTransform());
  EXPECT_EQ(noop->Transform("abc"), Slice("abc"));
}

TEST(EnvOf, FilesAndClocks) {
  rocksdb::Env& env = *rocksdb::Env::Default();
  const std::string directory = hawthorn::make_test_directory();
  const std::string made = directory + "/made";
  EXPECT_OK(env.CreateDir(made));
  EXPECT_TRUE(env.CreateDir(made).IsIOError());
  EXPECT_OK(env.CreateDirIfMissing(made));
  EXPECT_OK(env.FileExists(made));
  EXPECT_TRUE(env.FileExists(directory + "/none").IsNotFound());
  std::vector<std::string> children;
  EXPECT_OK(env.GetChildren(directory, &children));
  EXPECT_EQ(children, std::vector<std::string>{"made"});
  EXPECT_OK(env.RenameFile(made, directory + "/renamed"));
  EXPECT_TRUE(env.DeleteDir(made).IsPathNotFound());
  EXPECT_OK(env.DeleteDir(directory + "/renamed"));
  uint64_t size = 0;
  EXPECT_TRUE(env.GetFileSize(directory + "/none", &size).IsPathNotFound());
  EXPECT_OK(env.DeleteFile(directory));
  EXPECT_GT(env.NowMicros(), uint64_t{1'000'000});
  const uint64_t before = env.NowNanos();
  env.SleepForMicroseconds(1000);
  EXPECT_GE(env.NowNanos(), before + 1'000'000);
  int64_t seconds = 0;
  EXPECT_OK(env.GetCurrentTime(&seconds));
  EXPECT_GT(seconds, 0);
  env.SetBackgroundThreads(2);
  env.IncBackgroundThreadsIfNeeded(3, rocksdb::Env::LOW);
  EXPECT_EQ(env.GetBackgroundThreads(), 3);
  env.LowerThreadPoolIOPriority();
  env.LowerThreadPoolCPUPriority();
  EXPECT_STREQ(rocksdb::Env::Type(), "Environment");
}

TEST(LoggerOf, Levels) {
  Lines lines(rocksdb::WARN_LEVEL);
  lines.log(rocksdb::INFO_LEVEL, "too low");
  lines.log(rocksdb::WARN_LEVEL, "of %d", 1);
  lines.log(rocksdb::ERROR_LEVEL, "of %d", 2);
  lines.header("head");
  EXPECT_EQ(lines.lines, "[WARN] of 1\n[ERROR] of 2\nhead\n");
  lines.SetInfoLogLevel(rocksdb::DEBUG_LEVEL);
  EXPECT_EQ(lines.GetInfoLogLevel(), rocksdb::DEBUG_LEVEL);
  EXPECT_EQ(rocksdb::Logger::kDefaultLogLevel, rocksdb::INFO_LEVEL);
  EXPECT_EQ(lines.GetLogFileSize(), rocksdb::Logger::kDoNotSupportGetLogFileSize);
  lines.Flush();
  EXPECT_OK(lines.Close());
}

TEST(Version, IsThatOfTheApi) {
  EXPECT_EQ(rocksdb::GetRocksVersionAsString(), "10.4.2");
  EXPECT_EQ(rocksdb::GetRocksVersionAsString(false), "10.4");
  static_assert(std::is_same_v<rocksdb::ColumnFamilyId, uint32_t>);
  EXPECT_EQ(rocksdb::kMajorVersion, 10);
  EXPECT_EQ(rocksdb::kMinorVersion, 4);
}

}  // namespace
}  // namespace hawthorn::rocks
