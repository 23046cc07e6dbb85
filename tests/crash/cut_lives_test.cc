// The power cuts of cut_lives.h, a few of them, and that they find what they should.
#include "tests/crash/cut_lives.h"

#include <unistd.h>

#include "tests/crash/cut_aside.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

using testing::RecordedMark;
using testing::Recording;

TEST(CutLives, nothing_is_lost_at_any_moment) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  CutOptions options;
  options.first_seed = environment_number("HAWTHORN_SEED", 1);
  options.cuts = environment_number("HAWTHORN_CUTS", scaled(50));
  // Each class of file is cut in some state at least; long runs ask for all of them.
  options.until_files = {"wal.N", "wal.ring", "data.N", "manifest.N"};
  options.directory = directory.path();
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(options.first_seed));
  const CutTotals totals = run_cuts(options);
  EXPECT_EQ(totals.failed, 0U) << table_of(totals);
  EXPECT_GE(totals.cuts, options.cuts);
  EXPECT_GT(totals.commits, totals.seeds * kWriters);
}

// In a child, since it opens a database.
bool fails_again(const std::string& recording, uint64_t number, const CutOptions& options) {
  const pid_t child = start_child([&] {
    if (!run_cut_again(recording, number, options).empty()) _exit(3);
  });
  int result = 0;
  EXPECT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result));
  return WEXITSTATUS(result) == 3;
}

// Recordings whose syncs of one class of files do not count.
TEST(CutLives, syncs_that_are_left_out_are_found) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  uint64_t seed = 1;
  const auto all = [](const CutFeatures& features) {
    return features.encrypted && features.copies;
  };
  while (!all(features_of(seed))) ++seed;
  uint64_t turn = 0;
  for (const char* const name :
       {"wal.", "data.", "manifest.", "directory", "keys", "copy.", "repository/"}) {
    SCOPED_TRACE(name);
    // Every other one, or all of them with HAWTHORN_SCALE=4 (8 under a sanitizer).
    if (turn++ % 2 != 0 && !is_whole()) continue;
    const TempDirectory directory;
    CutOptions options;
    options.first_seed = seed;
    options.cuts = 200;
    options.drop_syncs = name;
    options.directory = directory.path();
    const CutTotals totals = run_cuts(options);
    ASSERT_EQ(totals.failed, 1U);
    // By one command line again, and not with the syncs.
    const std::string& failure = totals.failures.front();
    const std::string by = "power_cuts --recording ";
    const size_t at = failure.find(by) + by.size();
    ASSERT_NE(failure.find(by), std::string::npos) << failure;
    const size_t cut = failure.find(" --cut ", at);
    const std::string recording = failure.substr(at, cut - at);
    const uint64_t number = strtoull(failure.c_str() + cut + 7, nullptr, 10);
    EXPECT_TRUE(fails_again(recording, number, options)) << failure;
    options.drop_syncs.clear();
    EXPECT_FALSE(fails_again(recording, number, options)) << failure;
  }
}

RecordedMark at(uint64_t moment, CutMark kind, uint32_t writer, uint64_t number) {
  return {moment, static_cast<uint32_t>(kind), writer, number};
}

TEST(CutHistory, a_copy_has_what_had_returned_when_it_was_begun) {
  const auto copy_mark = [](uint64_t moment, CutMark kind, CutCopyKind copy) {
    return at(moment, kind, static_cast<uint32_t>(copy), 1);
  };
  Recording recording;
  recording.marks = {
      at(1, CutMark::kBegins, kPrepares, 1),
      at(2, CutMark::kDurable, kPrepares, 1),
      copy_mark(3, CutMark::kCopyBegins, CutCopyKind::kBackup),
      at(4, CutMark::kBegins, kOutcomes, 1),
      at(5, CutMark::kDurable, kOutcomes, 1),
      copy_mark(6, CutMark::kCopied, CutCopyKind::kBackup),
      at(7, CutMark::kBegins, kForest, 1),
      copy_mark(8, CutMark::kCopyBegins, CutCopyKind::kRestore),
      copy_mark(9, CutMark::kCopyGoes, CutCopyKind::kBackup),
  };
  EXPECT_TRUE(promise_at(recording, 3).copies.empty());
  const CutCopy during = promise_at(recording, 5).copies.begin()->second;
  EXPECT_FALSE(during.ended);
  EXPECT_EQ(during.at_least, (CutNumbers{0, 0, 0, 1, 0}));
  EXPECT_EQ(during.at_most, (CutNumbers{0, 0, 0, 1, 1}));
  const CutPromise last = promise_at(recording, 10);
  const CutCopy backup = last.copies.at({CutCopyKind::kBackup, 1});
  EXPECT_TRUE(backup.ended && backup.goes);
  EXPECT_EQ(backup.at_most, (CutNumbers{0, 0, 0, 1, 1}));
  const CutCopy restored = last.copies.at({CutCopyKind::kRestore, 1});
  EXPECT_FALSE(restored.ended);
  EXPECT_EQ(restored.at_least, backup.at_least);
  EXPECT_EQ(restored.at_most, (CutNumbers{0, 0, 1, 1, 1}));
}

TEST(CutHistory, what_is_promised_at_a_moment) {
  Recording recording;
  recording.marks = {
      at(1, CutMark::kOpened, 0, 0),   at(2, CutMark::kSetUp, 0, 0),
      at(3, CutMark::kBegins, 0, 1),   at(4, CutMark::kBegins, 1, 1),
      at(5, CutMark::kReturned, 1, 1), at(6, CutMark::kBegins, 1, 2),
      at(7, CutMark::kReturned, 0, 1), at(8, CutMark::kDurable, 1, 2),
      at(9, CutMark::kBegins, 1, 0),   at(10, CutMark::kDurable, 1, 0),
      at(11, CutMark::kBegins, 0, 2),
  };
  EXPECT_FALSE(promise_at(recording, 1).opened);
  EXPECT_TRUE(promise_at(recording, 2).opened);
  EXPECT_FALSE(promise_at(recording, 2).set_up);
  const CutPromise before = promise_at(recording, 8);
  EXPECT_EQ(writers_of(before.at_least), (Numbers{0, 0}));
  EXPECT_EQ(writers_of(before.at_most), (Numbers{1, 2}));
  // The first of writer 0 had not returned when the durable one began: it may stand behind it.
  EXPECT_EQ(writers_of(promise_at(recording, 9).at_least), (Numbers{0, 2}));
  EXPECT_EQ(writers_of(promise_at(recording, 10).at_least), (Numbers{0, 2}));
  EXPECT_EQ(writers_of(promise_at(recording, 11).at_least), (Numbers{1, 2}));
  const CutPromise last = promise_at(recording, 12);
  EXPECT_EQ(writers_of(last.at_most), (Numbers{2, 2}));
  EXPECT_EQ(writers_of(last.before.at({0, 2})), (Numbers{1, 2}));
  EXPECT_EQ(writers_of(last.before.at({1, 2})), (Numbers{0, 1}));
}

}  // namespace
}  // namespace hawthorn::tests
