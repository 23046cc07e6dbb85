// Flags, options and names that need no test of what they do at length: each is taken, and does
// what it says where that can be seen.

#include <cstring>
#include <thread>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

using Constants = Environments;

TEST_F(Constants, NamesOfCodes) {
  EXPECT_EQ(MDBX_VERSION_MAJOR, 0);
  EXPECT_EQ(HAVE_STRUCT_IOVEC, 1);
  EXPECT_EQ(int{MDBX_FIRST_LMDB_ERRCODE}, int{MDBX_KEYEXIST});
  EXPECT_EQ(int{MDBX_LAST_LMDB_ERRCODE}, int{MDBX_PROBLEM});
  EXPECT_EQ(int{MDBX_FIRST_ADDED_ERRCODE}, int{MDBX_BUSY});
  EXPECT_LT(int{MDBX_FIRST_ADDED_ERRCODE}, int{MDBX_LAST_ADDED_ERRCODE});
  for (const int code : {int{MDBX_PANIC}, int{MDBX_VERSION_MISMATCH}, int{MDBX_INVALID}}) {
    EXPECT_NE(mdbx_liberr2str(code), nullptr) << code;
  }
  for (const int code : {int{MDBX_ENOMEM}, int{MDBX_EROFS}, int{MDBX_EREMOTE}, int{MDBX_EDEADLK}}) {
    EXPECT_STREQ(mdbx_strerror(code), strerror(code)) << code;
  }
#if HAWTHORN_MDBX_API >= 14
  EXPECT_EQ(int{MDBX_EEXIST}, EEXIST);
#else
  EXPECT_EQ(MDBX_MAP_RESIZED_is_deprecated(), int{MDBX_UNABLE_EXTEND_MAPSIZE});
  EXPECT_EQ(int{MDBX_MAP_RESIZED}, int{MDBX_UNABLE_EXTEND_MAPSIZE});
#endif
}

TEST_F(Constants, FlagsOfEnvironments) {
  path_ += ".file";  // which is a directory here, too
  open(MDBX_NOSUBDIR | MDBX_ACCEDE | MDBX_VALIDATION | MDBX_SAFE_NOSYNC);
  EXPECT_TRUE(std::filesystem::is_directory(path_));
#if HAWTHORN_MDBX_API < 14
  EXPECT_EQ(int{MDBX_NOTLS}, int{MDBX_NOSTICKYTHREADS});
  EXPECT_EQ(int{MDBX_MAPASYNC}, int{MDBX_SAFE_NOSYNC});
#endif
  close();
  env_ = create();
  EXPECT_EQ(mdbx_env_set_option(env_, MDBX_opt_max_db, MDBX_MAX_DBI + 1), MDBX_EINVAL);
  struct Option {
    MDBX_option_t option;
    uint64_t value;
  };
  for (const auto& [option, value] :
       {Option{MDBX_opt_max_db, 3}, Option{MDBX_opt_max_readers, 4}, Option{MDBX_opt_sync_bytes, 5},
        Option{MDBX_opt_sync_period, 6}}) {
    ASSERT_DONE(mdbx_env_set_option(env_, option, value)) << option;
    uint64_t found = 0;
    ASSERT_DONE(mdbx_env_get_option(env_, option, &found)) << option;
    EXPECT_EQ(found, value) << option;
  }
  ASSERT_DONE(mdbx_env_set_mapsize(env_, 64 << 20));
  ASSERT_DONE(mdbx_env_openT(env_, path_.c_str(), MDBX_SAFE_NOSYNC, 0600));
  MDBX_envinfo info;
  ASSERT_DONE(mdbx_env_info(env_, &info, sizeof(info)));
  EXPECT_EQ(info.mi_geo.upper, 64U << 20);
  MDBX_stat stat;
  ASSERT_DONE(mdbx_env_stat(env_, &stat, sizeof(stat)));
  EXPECT_EQ(stat.ms_entries, 0U);
  const char* path = nullptr;
  ASSERT_DONE(mdbx_env_get_pathT(env_, &path));
  EXPECT_EQ(path, path_);
  EXPECT_DONE(mdbx_env_warmup(
      env_, nullptr,
      MDBX_warmup_default | MDBX_warmup_oomsafe | MDBX_warmup_lock | MDBX_warmup_touchlimit, 0));
  EXPECT_DONE(mdbx_thread_register(env_));
  EXPECT_DONE(mdbx_thread_unregister(env_));
  close();
  ASSERT_DONE(mdbx_env_deleteT(path_.c_str(), MDBX_ENV_JUST_DELETE));
}

TEST_F(Constants, FlagsOfCopies) {
  open();
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(put(txn, dbi, "k", "v"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  const std::string target = directory_ + "/copy";
  ASSERT_DONE(mdbx_env_copyT(env_, target.c_str(), MDBX_CP_DONT_FLUSH));
  txn = begin(MDBX_TXN_RDONLY);
#if HAWTHORN_MDBX_API >= 14
  ASSERT_DONE(mdbx_txn_copy2pathnameT(
      txn, target.c_str(), MDBX_CP_OVERWRITE | MDBX_CP_THROTTLE_MVCC | MDBX_CP_RENEW_TXN));
#else
  const std::string other = directory_ + "/other";
  ASSERT_DONE(
      mdbx_txn_copy2pathnameT(txn, other.c_str(), MDBX_CP_THROTTLE_MVCC | MDBX_CP_RENEW_TXN));
#endif
  EXPECT_EQ(mdbx_txn_copy2pathname(txn, target.c_str(), static_cast<MDBX_copy_flags_t>(1 << 20)),
            MDBX_EINVAL);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

std::string levels_told;

TEST_F(Constants, LevelsOfTheLog) {
  const auto logger = [](MDBX_log_level_t level, const char*, int, const char*, va_list)
                          MDBX_CXX17_NOEXCEPT { levels_told += std::to_string(level); };
  int before = MDBX_LOG_FATAL;
  for (const MDBX_log_level_t level :
       {MDBX_LOG_FATAL, MDBX_LOG_ERROR, MDBX_LOG_WARN, MDBX_LOG_NOTICE, MDBX_LOG_VERBOSE,
        MDBX_LOG_DEBUG, MDBX_LOG_TRACE, MDBX_LOG_EXTRA}) {
    const int was = mdbx_setup_debug(level, MDBX_DBG_DONTCHANGE, logger);
    if (level > MDBX_LOG_FATAL) {
      EXPECT_EQ(was >> 16, before) << level;
    }
    before = level;
    levels_told.clear();
    open();  // a new environment is told at NOTICE
    close();
    std::filesystem::remove_all(path_);
    EXPECT_EQ(levels_told.find('3') != std::string::npos, level >= MDBX_LOG_NOTICE) << level;
  }
#if HAWTHORN_MDBX_API >= 14
  EXPECT_EQ(int{MDBX_LOG_MAX}, int{MDBX_LOG_EXTRA});
#endif
  levels_told.clear();
  mdbx_setup_debug(MDBX_LOG_DONTCHANGE, MDBX_DBG_DONTCHANGE, MDBX_LOGGER_DONTCHANGE);
  open();
  EXPECT_NE(levels_told, "") << "nothing was changed";
  mdbx_setup_debug(MDBX_LOG_FATAL, MDBX_DBG_NONE, nullptr);
}

TEST_F(Constants, AThreadMayBeLetReadWhileItWrites) {
  open();
  MDBX_txn* writer = begin();
  MDBX_txn* reader = nullptr;
  EXPECT_EQ(mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &reader), MDBX_TXN_OVERLAPPING);
  mdbx_setup_debug(MDBX_LOG_DONTCHANGE, MDBX_DBG_LEGACY_OVERLAP, MDBX_LOGGER_DONTCHANGE);
  EXPECT_DONE(mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &reader));
  ASSERT_DONE(mdbx_txn_abort(reader));
  mdbx_setup_debug(MDBX_LOG_DONTCHANGE, MDBX_DBG_NONE, MDBX_LOGGER_DONTCHANGE);
  ASSERT_DONE(mdbx_txn_abort(writer));
}

TEST_F(Constants, FlagsOfChecks) {
  open();
  MDBX_chk_callbacks_t none;
  memset(&none, 0, sizeof(none));
  MDBX_chk_context_t context;
  EXPECT_DONE(mdbx_env_chk(env_, &none, &context, MDBX_CHK_READWRITE | MDBX_CHK_IGNORE_ORDER,
                           MDBX_chk_result, 1 << 16));
  EXPECT_EQ(context.result.table_total, 1U);
  MDBX_txn* txn = begin(MDBX_TXN_RDONLY);
  MDBX_val name;
  name.iov_len = 0;
  MDBX_dbi dbi = 7;
  name.iov_base = MDBX_CHK_MAIN;
  EXPECT_DONE(mdbx_dbi_open2(txn, &name, MDBX_DB_ACCEDE, &dbi));
  EXPECT_EQ(dbi, 1U);
  name.iov_base = MDBX_CHK_GC;
  EXPECT_DONE(mdbx_dbi_open2(txn, &name, MDBX_DB_ACCEDE, &dbi));
  EXPECT_EQ(dbi, 0U);
  EXPECT_EQ(all(txn, dbi), "") << "there is no list of free pages";
  name.iov_base = MDBX_CHK_META;
  EXPECT_EQ(mdbx_dbi_open2(txn, &name, MDBX_DB_ACCEDE, &dbi), MDBX_EINVAL);
  ASSERT_DONE(mdbx_txn_abort(txn));
}

}  // namespace
}  // namespace hawthorn::mdbx
