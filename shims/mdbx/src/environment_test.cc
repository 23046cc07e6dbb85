// Environments: how they are opened, what they say of themselves, their bounds and their copies.

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

class EnvironmentTest : public Environments {
 protected:
  static constexpr size_t kStatBytes = sizeof(MDBX_stat);

  void fill(MDBX_dbi dbi, int first, int last, const std::string& value) {
    MDBX_txn* txn = begin();
    for (int i = first; i < last; ++i) ASSERT_DONE(put(txn, dbi, std::to_string(i), value));
    ASSERT_DONE(mdbx_txn_commit(txn));
  }
  // What is handed out of the keys that fill() writes, from 0 on.
  void get_all(MDBX_txn* reader, MDBX_dbi dbi, std::vector<MDBX_val>& given) {
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string key = std::to_string(i);
      const MDBX_val k = bytes(key);
      ASSERT_DONE(mdbx_get(reader, dbi, &k, &given[i]));
    }
  }
  MDBX_dbi open_table(const char* name, unsigned flags = MDBX_CREATE) {
    MDBX_txn* txn = begin();
    const MDBX_dbi dbi = table(txn, name, flags);
    EXPECT_DONE(mdbx_txn_commit(txn));
    return dbi;
  }
  MDBX_envinfo info() {
    MDBX_envinfo result;
    EXPECT_DONE(mdbx_env_info_ex(env_, nullptr, &result, sizeof(result)));
    return result;
  }
};

TEST_F(EnvironmentTest, WrongCallsAreRefused) {
  EXPECT_EQ(mdbx_env_create(nullptr), MDBX_EINVAL);
  env_ = create();
  MDBX_txn* txn = nullptr;
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn), MDBX_EPERM);
  EXPECT_EQ(mdbx_env_open(env_, nullptr, MDBX_ENV_DEFAULTS, 0600), MDBX_EINVAL);
  EXPECT_EQ(mdbx_env_open(env_, path_.c_str(), static_cast<MDBX_env_flags_t>(1), 0600),
            MDBX_EINVAL);
  EXPECT_EQ(mdbx_env_open(env_, path_.c_str(), MDBX_RDONLY, 0600), MDBX_ENOFILE);
  EXPECT_EQ(mdbx_env_open_for_recovery(env_, path_.c_str(), 0, false), MDBX_ENOSYS);
  MDBX_envinfo unused;
  EXPECT_EQ(mdbx_preopen_snapinfo(path_.c_str(), &unused, sizeof(unused)), MDBX_ENOSYS);
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  EXPECT_EQ(mdbx_env_turn_for_recovery(env_, 0), MDBX_ENOSYS);
  EXPECT_EQ(mdbx_env_open(env_, path_.c_str(), MDBX_ENV_DEFAULTS, 0600), MDBX_EPERM);
  EXPECT_EQ(mdbx_env_set_maxdbs(env_, 7), MDBX_EPERM);
  EXPECT_EQ(mdbx_env_set_maxreaders(env_, 7), MDBX_EPERM);
  mdbx_filehandle_t fd = 0;
  EXPECT_EQ(mdbx_env_get_fd(env_, &fd), MDBX_ENOSYS);
  EXPECT_EQ(mdbx_env_resurrect_after_fork(env_), MDBX_SUCCESS);
  EXPECT_EQ(mdbx_env_close_ex(nullptr, false), MDBX_EINVAL);
}

TEST_F(EnvironmentTest, ADirectoryOfSomethingElseIsNotOpened) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/superblock") << "of another program";
  MDBX_env* env = create();
  const int code = mdbx_env_open(env, path_.c_str(), MDBX_ENV_DEFAULTS, 0600);
  EXPECT_NE(code, MDBX_SUCCESS);
  EXPECT_DONE(mdbx_env_close(env));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/superblock"));
}

TEST_F(EnvironmentTest, FilesHaveTheModeThatWasAskedFor) {
  env_ = create();
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0644));
  struct stat status;
  ASSERT_EQ(stat((path_ + "/superblock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST_F(EnvironmentTest, OptionsAndFlags) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_maxdbs(env_, 5));
  ASSERT_DONE(mdbx_env_set_maxreaders(env_, 11));
  ASSERT_DONE(mdbx_env_set_syncbytes(env_, 1 << 20));
  ASSERT_DONE(mdbx_env_set_syncperiod(env_, 3 << 16));
  ASSERT_DONE(mdbx_env_set_option(env_, MDBX_opt_dp_reserve_limit, 77));
  EXPECT_EQ(mdbx_env_set_option(env_, MDBX_opt_hawthorn_memory, 1), MDBX_EINVAL);
  EXPECT_EQ(mdbx_env_set_option(env_, static_cast<MDBX_option_t>(500), 1), MDBX_EINVAL);
  int context = 0;
  ASSERT_DONE(mdbx_env_set_userctx(env_, &context));
  ASSERT_DONE(mdbx_env_set_flags(env_, MDBX_NOMEMINIT, true));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  MDBX_dbi dbs = 0;
  unsigned number = 0;
  size_t bytes = 0;
  uint64_t value = 0;
  ASSERT_DONE(mdbx_env_get_maxdbs(env_, &dbs));
  EXPECT_EQ(dbs, 5U);
  ASSERT_DONE(mdbx_env_get_maxreaders(env_, &number));
  EXPECT_EQ(number, 11U);
  ASSERT_DONE(mdbx_env_get_syncbytes(env_, &bytes));
  EXPECT_EQ(bytes, size_t{1} << 20);
  ASSERT_DONE(mdbx_env_get_syncperiod(env_, &number));
  EXPECT_EQ(number, 3U << 16);
  ASSERT_DONE(mdbx_env_get_option(env_, MDBX_opt_dp_reserve_limit, &value));
  EXPECT_EQ(value, 77U);
  ASSERT_DONE(mdbx_env_set_option(env_, MDBX_opt_hawthorn_memory, 48 << 20));
  ASSERT_DONE(mdbx_env_get_option(env_, MDBX_opt_hawthorn_memory, &value));
  EXPECT_EQ(value, 48U << 20);
  EXPECT_EQ(mdbx_env_get_userctx(env_), &context);
  ASSERT_DONE(mdbx_env_get_flags(env_, &number));
  EXPECT_EQ(number, MDBX_SAFE_NOSYNC | MDBX_NOMEMINIT);
  EXPECT_EQ(mdbx_env_set_flags(env_, MDBX_EXCLUSIVE, true), MDBX_EPERM);
  ASSERT_DONE(mdbx_env_set_flags(env_, MDBX_SAFE_NOSYNC, false));
  const char* path = nullptr;
  ASSERT_DONE(mdbx_env_get_path(env_, &path));
  EXPECT_EQ(path, path_);
}

TEST_F(EnvironmentTest, MemoryIsResidentFromOpenWhereAsked) {
  const auto resident_bytes = [] {
    uint64_t size = 0;
    uint64_t resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  };
  env_ = create();
  ASSERT_DONE(mdbx_env_set_option(env_, MDBX_opt_hawthorn_memory, 128 << 20));
  ASSERT_DONE(mdbx_env_set_option(env_, MDBX_opt_prefault_write_enable, 1));
  const uint64_t before = resident_bytes();
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  EXPECT_GT(resident_bytes(), before + (uint64_t{100} << 20));
  uint64_t value = 0;
  ASSERT_DONE(mdbx_env_get_option(env_, MDBX_opt_prefault_write_enable, &value));
  EXPECT_EQ(value, 1U);
}

TEST_F(EnvironmentTest, SyncsByThresholds) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_syncbytes(env_, 100'000));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  const MDBX_dbi dbi = open_table("t");
  fill(dbi, 0, 10, "v");
  EXPECT_GT(info().mi_unsync_volume, 0U);
  EXPECT_EQ(mdbx_env_sync_poll(env_), MDBX_RESULT_TRUE) << "neither many bytes nor late";
  fill(dbi, 0, 200, std::string(1000, 'v'));
  EXPECT_EQ(info().mi_unsync_volume, 0U);
  fill(dbi, 0, 10, "w");
  EXPECT_DONE(mdbx_env_sync(env_));
  EXPECT_EQ(info().mi_unsync_volume, 0U);
  EXPECT_EQ(mdbx_env_sync_ex(env_, true, false), MDBX_RESULT_TRUE) << "nothing to sync";
}

TEST_F(EnvironmentTest, InfoAndStat) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_geometry(env_, -1, -1, 1 << 30, -1, -1, -1));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  const MDBX_dbi dbi = open_table(nullptr);
  const uint64_t before = info().mi_recent_txnid;
  fill(dbi, 0, 1000, "value");
  EXPECT_EQ(info().mi_recent_txnid, before + 1);
  EXPECT_EQ(info().mi_geo.upper, uint64_t{1} << 30);
  EXPECT_EQ(info().mi_numreaders, 0U);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(info().mi_numreaders, 1U);
  EXPECT_EQ(info().mi_self_latter_reader_txnid, before + 1);
  MDBX_stat stat;
  ASSERT_DONE(mdbx_env_stat_ex(env_, reader, &stat, sizeof(stat)));
  EXPECT_EQ(stat.ms_entries, 1000U);
  ASSERT_DONE(mdbx_env_stat_ex(env_, nullptr, &stat, sizeof(stat)));
  EXPECT_EQ(stat.ms_entries, 1000U);
  EXPECT_EQ(stat.ms_mod_txnid, before + 1);
  EXPECT_EQ(mdbx_env_stat_ex(env_, nullptr, &stat, 3), MDBX_EINVAL);
  MDBX_envinfo unused;
  EXPECT_EQ(mdbx_env_info_ex(env_, nullptr, &unused, 3), MDBX_EINVAL);
  ASSERT_DONE(mdbx_txn_abort(reader));
}

TEST_F(EnvironmentTest, TheUpperBoundIsKept) {
  env_ = create();
  constexpr intptr_t kUpper = 4 << 20;
  ASSERT_DONE(mdbx_env_set_geometry(env_, -1, -1, kUpper, -1, -1, -1));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  const MDBX_dbi dbi = open_table("t");
  const std::string value(10'000, 'v');
  int written = 0;
  int code = MDBX_SUCCESS;
  while (code == MDBX_SUCCESS && written < 10'000) {
    MDBX_txn* txn = begin();
    code = put(txn, dbi, std::to_string(written), value);
    if (code == MDBX_SUCCESS) {
      ASSERT_DONE(mdbx_txn_commit(txn));
      ++written;
    } else {
      EXPECT_EQ(mdbx_txn_commit(txn), MDBX_RESULT_TRUE) << "it failed, so it cannot commit";
    }
  }
  EXPECT_EQ(code, MDBX_MAP_FULL);
  EXPECT_GT(written, 200);
  EXPECT_LT(written, 420) << "more than fit";
  // Room is made, or the bound moved, and it goes on.
  ASSERT_DONE(mdbx_env_set_geometry(env_, -1, -1, kUpper * 2, -1, -1, -1));
  fill(dbi, written, written + 10, value);
  EXPECT_EQ(mdbx_env_set_geometry(env_, -1, -1, 1 << 20, -1, -1, -1), MDBX_MAP_FULL);
  // The bound is a part of the database.
  reopen();
  EXPECT_EQ(info().mi_geo.upper, uint64_t{kUpper} * 2);
}

// What a parked reader keeps is given up for a writer that has no room.
TEST_F(EnvironmentTest, ParkedReadersAreOusted) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_geometry(env_, -1, -1, 7 << 19, -1, -1, -1));
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS, 0600));
  const MDBX_dbi dbi = open_table("t");
  const std::string value(10'000, 'v');
  fill(dbi, 0, 100, value);
  MDBX_txn* parked = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_txn_park(parked, false));
  EXPECT_EQ(get(parked, dbi, "1"), mdbx_strerror(MDBX_BAD_TXN));
  EXPECT_DONE(mdbx_txn_unpark(parked, false));
  EXPECT_EQ(get(parked, dbi, "1"), value);
  ASSERT_DONE(mdbx_txn_park(parked, true));
  EXPECT_EQ(get(parked, dbi, "1"), value) << "it unparks by itself";
  ASSERT_DONE(mdbx_txn_park(parked, false));
  for (int round = 0; round < 20; ++round) {
    fill(dbi, 0, 100, std::string(10'000, static_cast<char>('a' + round)));
  }
  EXPECT_EQ(mdbx_txn_unpark(parked, false), MDBX_OUSTED);
  ASSERT_DONE(mdbx_txn_renew(parked));
  EXPECT_EQ(get(parked, dbi, "1"), std::string(10'000, 't'));
  ASSERT_DONE(mdbx_txn_abort(parked));
}

std::atomic<int> hsr_calls{0};
std::atomic<int> hsr_ends{0};
MDBX_txn* hsr_reader = nullptr;

int end_the_reader(const MDBX_env*, const MDBX_txn*, mdbx_pid_t pid, mdbx_tid_t, uint64_t laggard,
                   unsigned gap, size_t, int retry) MDBX_CXX17_NOEXCEPT {
  if (retry < 0) {
    ++hsr_ends;
    return 0;
  }
  EXPECT_EQ(pid, getpid());
  EXPECT_GT(laggard, 0U);
  EXPECT_GT(gap, 0U);
  ++hsr_calls;
  mdbx_txn_reset(hsr_reader);
  return 0;
}

TEST_F(EnvironmentTest, TheHsrCallbackIsAsked) {
  env_ = create();
  ASSERT_DONE(mdbx_env_set_geometry(env_, -1, -1, 7 << 19, -1, -1, -1));
  ASSERT_DONE(mdbx_env_set_hsr(env_, end_the_reader));
  EXPECT_EQ(mdbx_env_get_hsr(env_), end_the_reader);
  ASSERT_DONE(mdbx_env_open(env_, path_.c_str(), MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS, 0600));
  const MDBX_dbi dbi = open_table("t");
  fill(dbi, 0, 100, std::string(10'000, 'v'));
  hsr_reader = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(hsr_reader, dbi, "1"), std::string(10'000, 'v'));
  for (int round = 0; round < 20; ++round) {
    fill(dbi, 0, 100, std::string(10'000, static_cast<char>('a' + round)));
  }
  EXPECT_GT(hsr_calls, 0);
  EXPECT_GT(hsr_ends, 0);
  ASSERT_DONE(mdbx_txn_abort(hsr_reader));
}

TEST_F(EnvironmentTest, CopiesCanBeOpened) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = open_table("t", MDBX_CREATE | MDBX_DUPSORT);
  MDBX_txn* txn = begin();
  for (const char* value : {"1", "2", "3"}) ASSERT_DONE(put(txn, dbi, "k", value));
  ASSERT_DONE(mdbx_txn_commit(txn));
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  txn = begin();
  ASSERT_DONE(put(txn, dbi, "l", "4"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  const std::string of_now = directory_ + "/now";
  const std::string of_then = directory_ + "/then";
  ASSERT_DONE(mdbx_env_copy(env_, of_now.c_str(), MDBX_CP_COMPACT));
  EXPECT_EQ(mdbx_env_copy(env_, of_now.c_str(), MDBX_CP_DEFAULTS), EEXIST);
  ASSERT_DONE(mdbx_txn_copy2pathname(reader, of_then.c_str(), MDBX_CP_DISPOSE_TXN));
  close();
  const auto contents = [&](const std::string& path) {
    path_ = path;
    open();
    MDBX_txn* look = begin(MDBX_TXN_RDONLY);
    const std::string found = all(look, table(look, "t", MDBX_DUPSORT));
    EXPECT_DONE(mdbx_txn_abort(look));
    close();
    return found;
  };
  EXPECT_EQ(contents(of_now), "k=1 k=2 k=3 l=4 ");
  EXPECT_EQ(contents(of_then), "k=1 k=2 k=3 ");
}

// A copy was never opened for writing, so there is nothing to follow.
TEST_F(EnvironmentTest, CopiesCanBeOpenedToRead) {
  open();
  fill(open_table("t"), 0, 10, "v");
  const std::string copy = directory_ + "/copy";
  ASSERT_DONE(mdbx_env_copy(env_, copy.c_str(), MDBX_CP_DEFAULTS));
  close();
  path_ = copy;
  open(MDBX_RDONLY);
  MDBX_txn* txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, table(txn, "t", 0), "7"), "v");
  EXPECT_GT(mdbx_txn_id(txn), 0U);
  ASSERT_DONE(mdbx_txn_abort(txn));
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn), MDBX_EACCESS);
  EXPECT_EQ(mdbx_env_sync(env_), MDBX_EACCESS);
}

TEST_F(EnvironmentTest, CopiesToADescriptor) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = open_table("t");
  fill(dbi, 0, 100, "v");
  const std::string name = directory_ + "/stream";
  FILE* const file = fopen(name.c_str(), "w");
  ASSERT_NE(file, nullptr);
  ASSERT_DONE(mdbx_env_copy2fd(env_, fileno(file), MDBX_CP_DEFAULTS));
  const auto bytes = std::filesystem::file_size(name);
  EXPECT_GT(bytes, 0U);
  MDBX_txn* old = begin(MDBX_TXN_RDONLY);
  ASSERT_DONE(mdbx_txn_copy2fd(old, fileno(file), MDBX_CP_DEFAULTS));
  EXPECT_GT(std::filesystem::file_size(name), bytes);
  fill(dbi, 0, 100, "w");
  EXPECT_EQ(mdbx_txn_copy2fd(old, fileno(file), MDBX_CP_DEFAULTS), MDBX_MVCC_RETARDED);
  ASSERT_DONE(mdbx_txn_abort(old));
  EXPECT_EQ(mdbx_env_copy2fd(env_, -1, MDBX_CP_DEFAULTS), MDBX_EIO);
  fclose(file);
}

TEST_F(EnvironmentTest, DeletesWhatNobodyUses) {
  open();
  EXPECT_EQ(mdbx_env_delete(path_.c_str(), MDBX_ENV_ENSURE_UNUSED), MDBX_BUSY);
  close();
  ASSERT_DONE(mdbx_env_delete(path_.c_str(), MDBX_ENV_JUST_DELETE));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(mdbx_env_delete(path_.c_str(), MDBX_ENV_WAIT_FOR_UNUSED), MDBX_RESULT_TRUE);
}

TEST_F(EnvironmentTest, WarmsUp) {
  open();
  fill(open_table("t"), 0, 1000, "v");
  EXPECT_DONE(mdbx_env_warmup(env_, nullptr, MDBX_warmup_force, 0));
  EXPECT_DONE(mdbx_env_warmup(env_, nullptr, MDBX_warmup_release, 0));
  EXPECT_EQ(mdbx_env_warmup(env_, nullptr, static_cast<MDBX_warmup_flags_t>(1 << 20), 0),
            MDBX_EINVAL);
}

struct Row {
  mdbx_pid_t pid;
  uint64_t txnid;
  uint64_t lag;
};
int list_row(void* context, int, int, mdbx_pid_t pid, mdbx_tid_t, uint64_t txnid, uint64_t lag,
             size_t, size_t) MDBX_CXX17_NOEXCEPT {
  static_cast<std::vector<Row>*>(context)->push_back({pid, txnid, lag});
  return MDBX_SUCCESS;
}

TEST_F(EnvironmentTest, ListsItsReaders) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = open_table("t");
  std::vector<Row> rows;
  EXPECT_EQ(mdbx_reader_list(env_, list_row, &rows), MDBX_RESULT_TRUE);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  fill(dbi, 0, 1, "v");
  fill(dbi, 0, 1, "w");
  ASSERT_DONE(mdbx_reader_list(env_, list_row, &rows));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, getpid());
  EXPECT_EQ(rows[0].txnid, mdbx_txn_id(reader));
  EXPECT_EQ(rows[0].lag, 2U);
  int percent = -1;
  EXPECT_EQ(mdbx_txn_straggler(reader, &percent), 2);
  EXPECT_GE(percent, 0);
  int dead = 7;
  ASSERT_DONE(mdbx_reader_check(env_, &dead));
  EXPECT_EQ(dead, 0);
  ASSERT_DONE(mdbx_txn_abort(reader));
}

// Everything that a reader was given stays as it is, wherever it lies.
TEST_F(EnvironmentTest, WhatIsHandedOutStays) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const MDBX_dbi dbi = open_table("t");
  const auto value = [](int i) { return std::string(10'000, static_cast<char>('a' + i % 26)); };
  MDBX_txn* txn = begin();
  constexpr int kEntries = 2000;  // of more bytes than copies may have of memory
  for (int i = 0; i < kEntries; ++i) ASSERT_DONE(put(txn, dbi, std::to_string(i), value(i)));
  ASSERT_DONE(mdbx_txn_commit(txn));
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  std::vector<MDBX_val> given(kEntries);
  ASSERT_NO_FATAL_FAILURE(get_all(reader, dbi, given));
  fill(dbi, 0, kEntries, "overwritten");
  for (int i = 0; i < kEntries; ++i) {
    ASSERT_EQ(text(given[static_cast<size_t>(i)]), value(i)) << i;
  }
  ASSERT_DONE(mdbx_txn_abort(reader));
}

// The copies of a transaction that need a file, and taking over from another writer, after the
// environment was opened by a relative path and lies elsewhere now.
TEST_F(EnvironmentTest, GoesOnWhereverItsDirectoryIs) {
  const WorkingDirectory here(directory_);
  path_ = "env";
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const std::string elsewhere = directory_ + "/elsewhere";
  std::filesystem::create_directory(elsewhere);
  const WorkingDirectory there(elsewhere);
  std::filesystem::rename(directory_ + "/env", directory_ + "/renamed");
  const MDBX_dbi dbi = open_table("t");
  constexpr int kEntries = 2000;  // of more bytes than copies may have of memory
  const std::string value(10'000, 'v');
  fill(dbi, 0, kEntries, value);
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  std::vector<MDBX_val> given(kEntries);
  ASSERT_NO_FATAL_FAILURE(get_all(reader, dbi, given));
  fill(dbi, 0, kEntries, "overwritten");
  for (const MDBX_val& one : given) ASSERT_EQ(text(one), value);
  ASSERT_DONE(mdbx_txn_abort(reader));

  // The other environment reads while this one writes, and writes when this one is closed.
  MDBX_env* const first = env_;
  path_ = directory_ + "/renamed";
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  std::filesystem::rename(directory_ + "/renamed", directory_ + "/again");
  ASSERT_DONE(mdbx_env_close(first));
  const MDBX_dbi same = open_table("t");
  fill(same, 0, 1, "by the second");
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
  path_ = directory_ + "/again";
  reopen();
  MDBX_txn* txn = begin(MDBX_TXN_RDONLY);
  EXPECT_EQ(get(txn, table(txn, "t", 0), "0"), "by the second");
  ASSERT_DONE(mdbx_txn_abort(txn));
}

// Beyond what the engine reads in one piece.
TEST_F(EnvironmentTest, ValuesOfAHundredMegabytes) {
  open();
  const MDBX_dbi dbi = open_table("t");
  std::string large(100 << 20, 'l');
  for (size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i / 4096 * 7);
  MDBX_txn* txn = begin();
  ASSERT_DONE(put(txn, dbi, "b", large));
  ASSERT_DONE(put(txn, dbi, "a", "small"));
  EXPECT_TRUE(get(txn, dbi, "b") == large);
  ASSERT_DONE(mdbx_txn_commit(txn));
  txn = begin(MDBX_TXN_RDONLY);
  EXPECT_TRUE(get(txn, dbi, "b") == large);
  EXPECT_TRUE(all(txn, dbi) == "a=small b=" + large + " ");
  ASSERT_DONE(mdbx_txn_abort(txn));
  txn = begin();
  EXPECT_DONE(del(txn, dbi, "b"));
  EXPECT_EQ(all(txn, dbi), "a=small ");
  ASSERT_DONE(mdbx_txn_commit(txn));
}

// However much is written meanwhile, a reader keeps no more than what it sees.
TEST_F(EnvironmentTest, ALongReaderKeepsWhatItSees) {
  open(MDBX_SAFE_NOSYNC | MDBX_NOSTICKYTHREADS);
  const char* const asked = std::getenv("HAWTHORN_UPDATES");
  const int updates = asked != nullptr ? std::atoi(asked) : 400'000;
  const int keys = updates / 20;
  const MDBX_dbi dbi = open_table("t");
  fill(dbi, 0, keys, std::string(100, 'v'));
  const auto used = [this] { return info().mi_last_pgno * info().mi_dxb_pagesize; };
  MDBX_txn* reader = begin(MDBX_TXN_RDONLY);
  const uint64_t before = used();
  uint64_t random = 1;
  for (int done = 0; done < updates;) {
    MDBX_txn* txn = begin();
    for (int i = 0; i < 100; ++i, ++done) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto key = static_cast<int>((random >> 33) % static_cast<uint64_t>(keys));
      ASSERT_DONE(
          put(txn, dbi, std::to_string(key), std::string(100, static_cast<char>('a' + done % 26))));
    }
    ASSERT_DONE(mdbx_txn_commit(txn));
  }
  // What it sees, what is newest, and what is not flushed: at most a half of the budget.
  const uint64_t after = used();
  EXPECT_LE(after, 2 * before + (16 << 20)) << before;
  RecordProperty("before", std::to_string(before));
  RecordProperty("after", std::to_string(after));
  EXPECT_EQ(get(reader, dbi, "7"), std::string(100, 'v'));
  ASSERT_DONE(mdbx_txn_abort(reader));
}

TEST_F(EnvironmentTest, WarnsAndTellsWhatItIsAskedTo) {
  static std::string told;
  static char buffer[200];
  const auto logger = [](MDBX_log_level_t, const char*, int, const char* message, unsigned length)
                          MDBX_CXX17_NOEXCEPT { told.append(message, length); };
  told.clear();
  mdbx_setup_debug_nofmt(MDBX_LOG_NOTICE, MDBX_DBG_NONE, logger, buffer, sizeof(buffer));
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/superblock") << "of another program";
  MDBX_env* env = create();
  EXPECT_NE(mdbx_env_open(env, path_.c_str(), MDBX_ENV_DEFAULTS, 0600), MDBX_SUCCESS);
  EXPECT_DONE(mdbx_env_close(env));
  EXPECT_NE(told.find(path_), std::string::npos) << told;
  mdbx_setup_debug(MDBX_LOG_FATAL, MDBX_DBG_NONE, nullptr);
}

TEST_F(EnvironmentTest, NumbersAsKeysKeepTheirOrder) {
  const double doubles[] = {-1e300, -2, -0.5, 0, 1e-9, 3, 1e300};
  for (size_t i = 1; i < std::size(doubles); ++i) {
    EXPECT_LT(mdbx_key_from_double(doubles[i - 1]), mdbx_key_from_double(doubles[i]));
    EXPECT_LT(mdbx_key_from_float(static_cast<float>(doubles[i - 1] / 1e290)),
              mdbx_key_from_float(static_cast<float>(doubles[i] / 1e290 + 1e-30)));
  }
  for (const double number : doubles) {
    uint64_t key = mdbx_key_from_ptrdouble(&number);
    MDBX_val value;
    value.iov_base = &key;
    value.iov_len = sizeof(key);
    EXPECT_EQ(mdbx_double_from_key(value), number);
  }
  const float half = 0.5F;
  uint32_t key = mdbx_key_from_ptrfloat(&half);
  MDBX_val value;
  value.iov_base = &key;
  value.iov_len = sizeof(key);
  EXPECT_EQ(mdbx_float_from_key(value), half);
  EXPECT_LT(mdbx_key_from_int32(-1), mdbx_key_from_int32(1));
  key = mdbx_key_from_int32(-7);
  EXPECT_EQ(mdbx_int32_from_key(value), -7);
  EXPECT_LT(mdbx_key_from_int64(-1), mdbx_key_from_int64(1));
  uint64_t wide = mdbx_key_from_int64(-8);
  value.iov_base = &wide;
  value.iov_len = sizeof(wide);
  EXPECT_EQ(mdbx_int64_from_key(value), -8);
  wide = mdbx_key_from_jsonInteger(-9);
  EXPECT_EQ(mdbx_jsonInteger_from_key(value), -9);
}

TEST_F(EnvironmentTest, LimitsAndTheMachine) {
  open();
  EXPECT_EQ(mdbx_env_get_maxkeysize_ex(env_, MDBX_DB_DEFAULTS), 65535);
  EXPECT_EQ(mdbx_env_get_maxkeysize_ex(env_, MDBX_DUPSORT), 16000);
  EXPECT_EQ(mdbx_env_get_maxkeysize_ex(env_, MDBX_INTEGERKEY), 8);
  EXPECT_EQ(mdbx_env_get_maxkeysize(env_), 16000);
  EXPECT_EQ(mdbx_env_get_maxvalsize_ex(env_, MDBX_DUPSORT), 32000);
  EXPECT_EQ(mdbx_env_get_maxvalsize_ex(env_, MDBX_DB_DEFAULTS), int{MDBX_MAXDATASIZE});
  EXPECT_EQ(mdbx_env_get_maxkeysize_ex(nullptr, MDBX_DB_DEFAULTS), -1);
  EXPECT_GT(mdbx_env_get_pairsize4page_max(env_, MDBX_DB_DEFAULTS), 0);
  EXPECT_GT(mdbx_env_get_valsize4page_max(env_, MDBX_DB_DEFAULTS), 0);
  EXPECT_EQ(mdbx_limits_keysize_max(-1, MDBX_DB_DEFAULTS), 65535);
  EXPECT_EQ(mdbx_limits_keysize_max(17, MDBX_DB_DEFAULTS), -1) << "no size of a page";
  EXPECT_EQ(mdbx_limits_keysize_min(MDBX_INTEGERKEY), 4);
  EXPECT_EQ(mdbx_limits_valsize_max(-1, MDBX_INTEGERDUP | MDBX_DUPFIXED | MDBX_DUPSORT), 8);
  EXPECT_EQ(mdbx_limits_valsize_min(MDBX_DB_DEFAULTS), 0);
  EXPECT_LT(mdbx_limits_dbsize_min(-1), mdbx_limits_dbsize_max(-1));
  EXPECT_GT(mdbx_limits_txnsize_max(-1), 0);
  EXPECT_GT(mdbx_limits_pairsize4page_max(-1, MDBX_DB_DEFAULTS), 0);
  EXPECT_GT(mdbx_limits_valsize4page_max(-1, MDBX_DB_DEFAULTS), 0);
  EXPECT_LT(mdbx_limits_pgsize_min(), mdbx_limits_pgsize_max());
  EXPECT_EQ(mdbx_default_pagesize(), 4096U);
  intptr_t page = 0;
  intptr_t all_pages = 0;
  intptr_t free_pages = 0;
  EXPECT_DONE(mdbx_get_sysraminfo(&page, &all_pages, &free_pages));
  EXPECT_GT(page, 0);
  EXPECT_GE(all_pages, free_pages);
  EXPECT_EQ(mdbx_is_readahead_reasonable(1 << 20, 0), MDBX_RESULT_TRUE);
  EXPECT_EQ(mdbx_is_readahead_reasonable(SIZE_MAX / 2, 0), MDBX_RESULT_FALSE);
  char buffer[40];
  const std::string plain = "abc";
  const MDBX_val value = bytes(plain);
  EXPECT_STREQ(mdbx_dump_val(&value, buffer, sizeof(buffer)), "abc");
  const std::string binary("\x01\xff", 2);
  const MDBX_val other = bytes(binary);
  EXPECT_STREQ(mdbx_dump_val(&other, buffer, sizeof(buffer)), "<01ff>");
  EXPECT_EQ(mdbx_version.minor, MDBX_VERSION_MINOR);
  EXPECT_NE(mdbx_build.compiler, nullptr);
  EXPECT_STRNE(mdbx_strerror(MDBX_MAP_FULL), mdbx_strerror(MDBX_NOTFOUND));
  EXPECT_STREQ(mdbx_strerror_r(ENOENT, buffer, sizeof(buffer)), strerror(ENOENT));
  EXPECT_EQ(mdbx_liberr2str(12345), nullptr);
}

}  // namespace
}  // namespace hawthorn::mdbx
