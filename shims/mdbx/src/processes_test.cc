// Several processes at one environment, and processes that are killed.

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "shims/kill_test_support.h"
#include "shims/mdbx/src/mdbx_test_support.h"
#include "shims/permission_test_support.h"

namespace hawthorn::mdbx {
namespace {

// The parent opens nothing before its child does, so that each process begins as a program does.
class Processes : public Environments, public ::testing::WithParamInterface<unsigned> {
 protected:
  static int number(const std::string& text) { return text == "(missing)" ? 0 : std::stoi(text); }

  // In the child: commit after commit, each of one number in two tables, until it is killed.
  void write_for_ever(unsigned flags, useconds_t pause_us = 0) {
    env_ = create();
    if (mdbx_env_open(env_, path_.c_str(), static_cast<MDBX_env_flags_t>(flags), 0600)) _exit(1);
    for (int i = acknowledged_->load() + 1;; ++i) {
      MDBX_txn* txn = nullptr;
      MDBX_dbi dbi = 0;
      MDBX_dbi many = 0;
      const std::string value = std::to_string(i);
      const bool good =
          mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn) == MDBX_SUCCESS &&
          mdbx_dbi_open(txn, "one", MDBX_CREATE, &dbi) == MDBX_SUCCESS &&
          mdbx_dbi_open(txn, "many", MDBX_CREATE | MDBX_DUPSORT, &many) == MDBX_SUCCESS &&
          put(txn, dbi, "n", value) == MDBX_SUCCESS &&
          put(txn, many, "k", std::to_string(1'000'000 + i)) == MDBX_SUCCESS &&
          mdbx_txn_commit(txn) == MDBX_SUCCESS;
      if (!good) _exit(1);
      acknowledged_->store(i);
      if (pause_us != 0) usleep(pause_us);
    }
  }

  // What both tables say, which is the same.
  int found() {
    MDBX_txn* txn = nullptr;
    EXPECT_DONE(mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &txn));
    MDBX_dbi dbi = 0;
    MDBX_dbi many = 0;
    int result = 0;
    int code = mdbx_dbi_open(txn, "one", MDBX_DB_ACCEDE, &dbi);
    if (code == MDBX_SUCCESS) {
      EXPECT_DONE(mdbx_dbi_open(txn, "many", MDBX_DB_ACCEDE, &many));
      result = number(get(txn, dbi, "n"));
      MDBX_stat stat;
      EXPECT_DONE(mdbx_dbi_stat(txn, many, &stat, sizeof(stat)));
      EXPECT_EQ(stat.ms_entries, static_cast<uint64_t>(result));
      EXPECT_EQ(mdbx_txn_id(txn), static_cast<uint64_t>(result));
    } else {
      EXPECT_EQ(code, MDBX_NOTFOUND);
    }
    EXPECT_DONE(mdbx_txn_abort(txn));
    return result;
  }

  SharedWithChildren<std::atomic<int>> acknowledged_;
};

TEST_P(Processes, LoseNothingThatWasAcknowledged) {
  std::mt19937 random(GetParam());
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(
        kill_in_the_middle(random, round, *acknowledged_, [this] { write_for_ever(GetParam()); }));
    open(GetParam());
    const int last = found();
    EXPECT_GE(last, acknowledged_->load());
    EXPECT_LE(last, acknowledged_->load() + 1);
    acknowledged_->store(last);
    close();
  }
  EXPECT_GT(acknowledged_->load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, Processes,
                         ::testing::Values(MDBX_SYNC_DURABLE, MDBX_NOMETASYNC, MDBX_SAFE_NOSYNC,
                                           MDBX_UTTERLY_NOSYNC),
                         [](const auto& instance) {
                           const unsigned flags = instance.param;
                           return flags == MDBX_SYNC_DURABLE  ? "durable"
                                  : flags == MDBX_NOMETASYNC  ? "nometasync"
                                  : flags == MDBX_SAFE_NOSYNC ? "safe_nosync"
                                                              : "utterly_nosync";
                         });

using OtherProcess = Processes;

TEST_F(OtherProcess, ReadsWhatIsCommittedAndWritesWhenTheFirstIsGone) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    write_for_ever(MDBX_SAFE_NOSYNC, 200);
  }
  bool lives = true;
  ASSERT_TRUE(testing::wait_until([&] {
    lives = waitpid(child, nullptr, WNOHANG) == 0;
    return !lives || acknowledged_->load() >= 10;
  }));
  ASSERT_TRUE(lives) << "the child has ended";
  // One that may write, and one that may not: both read beside it.
  open();
  MDBX_env* const may_write = env_;
  open(MDBX_RDONLY);
  MDBX_env* const reads_only = env_;
  for (int i = 0; i < 20; ++i) {
    for (MDBX_env* env : {may_write, reads_only}) {
      env_ = env;
      const int before = acknowledged_->load();
      EXPECT_GE(found(), before) << "everything that was committed is seen at once";
    }
  }
  MDBX_txn* txn = nullptr;
  EXPECT_EQ(mdbx_txn_begin(may_write, nullptr, MDBX_TXN_READWRITE, &txn), MDBX_BUSY);
  EXPECT_EQ(mdbx_txn_begin(reads_only, nullptr, MDBX_TXN_READWRITE, &txn), MDBX_EACCESS);
  MDBX_env* alone = create();
  EXPECT_EQ(mdbx_env_open(alone, path_.c_str(), MDBX_EXCLUSIVE, 0600), MDBX_BUSY);
  EXPECT_DONE(mdbx_env_close(alone));

  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const int acknowledged = acknowledged_->load();
  env_ = may_write;
  EXPECT_GE(found(), acknowledged);
  txn = begin();
  ASSERT_NE(txn, nullptr) << "it becomes the writer";
  const MDBX_dbi dbi = table(txn, "one", 0);
  EXPECT_GE(number(get(txn, dbi, "n")), acknowledged);
  ASSERT_DONE(put(txn, dbi, "after", "1"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  env_ = reads_only;
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, table(txn, "one", 0), "after"), "1");
  ASSERT_DONE(mdbx_txn_abort(txn));
  close();
  env_ = may_write;
}

// One makes it, and the others find it made.
TEST_F(OtherProcess, MayMakeOneAtOnce) {
  constexpr int kProcesses = 6;
  for (int round = 0; round < 10; ++round) {
    std::filesystem::remove_all(path_);
    int starts[2];
    ASSERT_EQ(pipe(starts), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      ::close(starts[1]);
      char byte = 0;
      static_cast<void>(read(starts[0], &byte, 1));  // until the other end is closed
      MDBX_env* const mine = create();
      _exit(mdbx_env_open(mine, path_.c_str(), MDBX_ENV_DEFAULTS, 0600) == MDBX_SUCCESS ? 0 : 1);
    }
    ::close(starts[0]);
    ::close(starts[1]);
    for (const pid_t child : children) {
      int result = 0;
      ASSERT_EQ(waitpid(child, &result, 0), child);
      EXPECT_EQ(result, 0);
    }
  }
}

TEST_F(OtherProcess, OfAnotherUserReadsWhereItMay) {
  open();
  MDBX_txn* txn = begin();
  ASSERT_DONE(put(txn, table(txn, "one", MDBX_CREATE), "n", "7"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  close();
  const auto opened = [this](MDBX_env_flags_t flags) {
    env_ = create();
    return mdbx_env_open(env_, path_.c_str(), flags, 0600);
  };
  set_modes(directory_, 0755, 0644);
  const int failed = run_as_nobody([&] {
    if (opened(MDBX_ENV_DEFAULTS) != MDBX_EACCESS) return 1;
    if (opened(MDBX_RDONLY) != MDBX_SUCCESS) return 2;
    MDBX_txn* look = begin(MDBX_TXN_RDONLY);
    return get(look, table(look, "one", 0), "n") == "7" ? 0 : 3;
  });
  if (failed == kNoOtherUser) GTEST_SKIP() << "needs root";
  EXPECT_EQ(failed, 0);
  set_modes(path_, 0700, 0600);
  EXPECT_EQ(run_as_nobody([&] { return opened(MDBX_RDONLY) == MDBX_EACCESS ? 0 : 1; }), 0);
  open();
}

}  // namespace
}  // namespace hawthorn::mdbx
