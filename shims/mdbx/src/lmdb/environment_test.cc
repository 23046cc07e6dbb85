// The functions of environments, errors and readers.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "shims/mdbx/src/lmdb/lmdb_test_support.h"

namespace hawthorn::lmdb {
namespace {

namespace fs = std::filesystem;

using Environment = Environments;

TEST_F(Environment, VersionAndTexts) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  EXPECT_STREQ(mdb_version(&major, &minor, &patch), MDB_VERSION_STRING);
  EXPECT_EQ(MDB_VERINT(major, minor, patch), MDB_VERSION_FULL);
  EXPECT_EQ(major, MDB_VERSION_MAJOR);
  EXPECT_EQ(minor, MDB_VERSION_MINOR);
  EXPECT_EQ(patch, MDB_VERSION_PATCH);
  EXPECT_NE(std::string(mdb_version(nullptr, nullptr, nullptr)).find(MDB_VERSION_DATE),
            std::string::npos);
  EXPECT_STREQ(MDB_VERSTR(1, 2, 3, "now"), MDB_VERFOO(1, 2, 3, "now"));
  std::set<std::string> texts;
  const std::vector<int> codes = {MDB_SUCCESS,
                                  MDB_KEYEXIST,
                                  MDB_NOTFOUND,
                                  MDB_PAGE_NOTFOUND,
                                  MDB_CORRUPTED,
                                  MDB_PANIC,
                                  MDB_INVALID,
                                  MDB_VERSION_MISMATCH,
                                  MDB_MAP_FULL,
                                  MDB_DBS_FULL,
                                  MDB_READERS_FULL,
                                  MDB_TLS_FULL,
                                  MDB_TXN_FULL,
                                  MDB_CURSOR_FULL,
                                  MDB_PAGE_FULL,
                                  MDB_MAP_RESIZED,
                                  MDB_INCOMPATIBLE,
                                  MDB_BAD_RSLOT,
                                  MDB_BAD_TXN,
                                  MDB_BAD_VALSIZE,
                                  MDB_BAD_DBI,
                                  EINVAL,
                                  ENOENT};
  for (int code : codes) texts.insert(mdb_strerror(code));
  EXPECT_EQ(texts.size(), codes.size());
  EXPECT_EQ(std::string(mdb_strerror(MDB_NOTFOUND)).substr(0, 12), "MDB_NOTFOUND");
  EXPECT_STREQ(mdb_strerror(EINVAL), strerror(EINVAL));
  EXPECT_EQ(MDB_LAST_ERRCODE, MDB_BAD_DBI);
}

TEST_F(Environment, PathsThatAreThereAndPathsThatAreNot) {
  const auto attempt = [](const std::string& path, unsigned flags) {
    MDB_env* env = nullptr;
    EXPECT_DONE(mdb_env_create(&env));
    const int code = mdb_env_open(env, path.c_str(), flags, 0600);
    mdb_env_close(env);
    return code;
  };
  EXPECT_EQ(attempt(directory_ + "/none", 0), ENOENT);
  EXPECT_EQ(attempt(directory_ + "/none/below", MDB_NOSUBDIR), ENOENT);
  EXPECT_EQ(attempt(directory_ + "/none", MDB_NOSUBDIR | MDB_RDONLY), ENOENT);
  EXPECT_EQ(attempt(path_, MDB_RDONLY), ENOENT);
  std::ofstream(directory_ + "/file") << "not a database";
  EXPECT_EQ(attempt(directory_ + "/file", 0), ENOTDIR);
  EXPECT_EQ(attempt(directory_ + "/file", MDB_NOSUBDIR), MDB_INVALID);
  EXPECT_EQ(attempt(path_, 0x2), EINVAL);
  EXPECT_EQ(attempt(directory_ + "/made", MDB_NOSUBDIR), MDB_SUCCESS);
  EXPECT_TRUE(fs::is_directory(directory_ + "/made"));
  EXPECT_EQ(attempt(directory_ + "/made", MDB_NOSUBDIR | MDB_RDONLY), MDB_SUCCESS);
  EXPECT_EQ(mdb_env_create(nullptr), EINVAL);
  EXPECT_EQ(mdb_env_open(nullptr, "x", 0, 0600), EINVAL);
  mdb_env_close(nullptr);
}

TEST_F(Environment, OpenOnce) {
  open();
  EXPECT_EQ(mdb_env_open(env_, path_.c_str(), 0, 0600), EINVAL);
  EXPECT_EQ(mdb_env_set_maxdbs(env_, 3), EINVAL);
  EXPECT_EQ(mdb_env_set_maxreaders(env_, 3), EINVAL);
  const char* path = nullptr;
  EXPECT_DONE(mdb_env_get_path(env_, &path));
  EXPECT_EQ(path, path_);
  EXPECT_EQ(mdb_env_get_path(env_, nullptr), EINVAL);
  int fd = -1;
  EXPECT_DONE(mdb_env_get_fd(env_, &fd));
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(mdb_env_get_fd(env_, nullptr), EINVAL);
  int number = 7;
  EXPECT_DONE(mdb_env_set_userctx(env_, &number));
  EXPECT_EQ(mdb_env_get_userctx(env_), &number);
  EXPECT_DONE(mdb_env_set_assert(env_, [](MDB_env*, const char*) {}));
  EXPECT_EQ(mdb_env_set_assert(nullptr, nullptr), EINVAL);
}

TEST_F(Environment, BeforeItIsOpened) {
  ASSERT_DONE(mdb_env_create(&env_));
  MDB_stat stat;
  MDB_envinfo info;
  const char* path = nullptr;
  MDB_txn* txn = nullptr;
  EXPECT_EQ(mdb_env_stat(env_, &stat), EINVAL);
  EXPECT_EQ(mdb_env_info(env_, &info), EINVAL);
  EXPECT_EQ(mdb_env_get_path(env_, &path), EINVAL);
  EXPECT_EQ(mdb_env_sync(env_, 1), EINVAL);
  EXPECT_EQ(mdb_txn_begin(env_, nullptr, 0, &txn), EINVAL);
  unsigned readers = 0;
  EXPECT_DONE(mdb_env_get_maxreaders(env_, &readers));
  EXPECT_EQ(readers, 126U);
  EXPECT_EQ(mdb_env_set_maxreaders(env_, 0), EINVAL);
  EXPECT_EQ(mdb_env_get_maxreaders(env_, nullptr), EINVAL);
}

TEST_F(Environment, Flags) {
  ASSERT_DONE(mdb_env_create(&env_));
  EXPECT_EQ(mdb_env_set_flags(env_, MDB_RDONLY, 1), EINVAL);
  ASSERT_DONE(mdb_env_set_flags(env_, MDB_NOSYNC, 1));
  const unsigned wanted = MDB_NOTLS | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOLOCK | MDB_FIXEDMAP;
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), wanted, 0600));
  unsigned flags = 0;
  EXPECT_DONE(mdb_env_get_flags(env_, &flags));
  EXPECT_EQ(flags, wanted | MDB_NOSYNC);
  EXPECT_DONE(mdb_env_set_flags(env_, MDB_MAPASYNC | MDB_NOMETASYNC | MDB_NOMEMINIT, 1));
  EXPECT_DONE(mdb_env_set_flags(env_, MDB_NOSYNC | MDB_NOMEMINIT, 0));
  EXPECT_DONE(mdb_env_get_flags(env_, &flags));
  EXPECT_EQ(flags, wanted | MDB_MAPASYNC | MDB_NOMETASYNC);
  EXPECT_EQ(mdb_env_set_flags(env_, MDB_NOTLS, 0), EINVAL);
  EXPECT_EQ(mdb_env_get_flags(env_, nullptr), EINVAL);
}

TEST_F(Environment, StatAndInfo) {
  open();
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, "t");
  for (int i = 0; i < 10; ++i) ASSERT_DONE(put(txn, dbi, std::to_string(i), "v"));
  ASSERT_DONE(put(txn, table(txn, nullptr), "x", "y"));
  ASSERT_DONE(mdb_txn_commit(txn));
  MDB_stat stat;
  ASSERT_DONE(mdb_env_stat(env_, &stat));
  EXPECT_EQ(stat.ms_entries, 2U);  // an entry, and the name of a table
  EXPECT_EQ(stat.ms_psize, 4096U);
  MDB_envinfo info;
  ASSERT_DONE(mdb_env_info(env_, &info));
  EXPECT_EQ(info.me_mapaddr, nullptr);
  EXPECT_EQ(info.me_mapsize, kMapSize);
  EXPECT_EQ(info.me_last_txnid, 1U);
  EXPECT_EQ(info.me_maxreaders, 126U);
  EXPECT_EQ(info.me_numreaders, 0U);
  EXPECT_EQ(mdb_env_stat(env_, nullptr), EINVAL);
  EXPECT_EQ(mdb_env_info(env_, nullptr), EINVAL);
  EXPECT_EQ(mdb_env_get_maxkeysize(env_), 16000);
}

TEST_F(Environment, MapSize) {
  ASSERT_DONE(mdb_env_create(&env_));
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), MDB_NOSYNC, 0600));
  MDB_envinfo info;
  ASSERT_DONE(mdb_env_info(env_, &info));
  EXPECT_EQ(info.me_mapsize, 10485760U);
  std::mt19937 random(7);
  std::string value(10'000, 0);
  for (char& c : value) c = static_cast<char>(random());
  MDB_txn* txn = begin();
  const MDB_dbi dbi = table(txn, nullptr);
  int code = MDB_SUCCESS;
  int count = 0;
  for (; code == MDB_SUCCESS; ++count) code = put(txn, dbi, std::to_string(count), value);
  EXPECT_EQ(code, MDB_MAP_FULL);
  EXPECT_GT(count, 500);
  EXPECT_LT(count, 1200);
  EXPECT_EQ(put(txn, dbi, "x", "y"), MDB_BAD_TXN);
  EXPECT_EQ(mdb_txn_commit(txn), MDB_BAD_TXN);
  txn = begin();
  EXPECT_EQ(mdb_env_set_mapsize(env_, kMapSize), EINVAL);
  mdb_txn_abort(txn);
  ASSERT_DONE(mdb_env_set_mapsize(env_, kMapSize));
  txn = begin();
  for (int i = 0; i < 1200; ++i) ASSERT_DONE(put(txn, dbi, std::to_string(i), value));
  ASSERT_DONE(mdb_txn_commit(txn));
  // Not below what it has.
  ASSERT_DONE(mdb_env_set_mapsize(env_, 4096));
  ASSERT_DONE(mdb_env_info(env_, &info));
  EXPECT_GT(info.me_mapsize, 10'000'000U);
  ASSERT_DONE(mdb_env_set_mapsize(env_, kMapSize));
  close();
  // Without a size: that which it has.
  ASSERT_DONE(mdb_env_create(&env_));
  ASSERT_DONE(mdb_env_set_mapsize(env_, 0));
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), 0, 0600));
  ASSERT_DONE(mdb_env_set_mapsize(env_, 0));
  ASSERT_DONE(mdb_env_info(env_, &info));
  EXPECT_EQ(info.me_mapsize, kMapSize);
}

TEST_F(Environment, ReadOnly) {
  open();
  MDB_txn* txn = begin();
  ASSERT_DONE(put(txn, table(txn, nullptr), "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
  reopen(MDB_RDONLY);
  EXPECT_EQ(mdb_txn_begin(env_, nullptr, 0, &txn), EACCES);
  EXPECT_EQ(mdb_env_sync(env_, 1), EACCES);
  txn = begin(MDB_RDONLY);
  const MDB_dbi dbi = table(txn, nullptr, 0);
  EXPECT_EQ(get(txn, dbi, "a"), "1");
  EXPECT_EQ(put(txn, dbi, "a", "2"), EACCES);
  EXPECT_EQ(del(txn, dbi, "a"), EACCES);
  MDB_dbi made = 0;
  EXPECT_EQ(mdb_dbi_open(txn, "new", MDB_CREATE, &made), EACCES);
  EXPECT_EQ(mdb_drop(txn, dbi, 0), EACCES);
  mdb_txn_abort(txn);
}

TEST_F(Environment, Sync) {
  open(0);
  EXPECT_DONE(mdb_env_sync(env_, 0));
  MDB_txn* txn = begin(MDB_NOSYNC);
  ASSERT_DONE(put(txn, table(txn, nullptr), "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
  EXPECT_DONE(mdb_env_sync(env_, 1));
  EXPECT_DONE(mdb_env_sync(env_, 1));
}

TEST_F(Environment, Copies) {
  open();
  MDB_txn* txn = begin();
  ASSERT_DONE(put(txn, table(txn, "t"), "a", "1"));
  ASSERT_DONE(mdb_txn_commit(txn));
  const std::string target = directory_ + "/copy";
  EXPECT_EQ(mdb_env_copy(env_, target.c_str()), ENOENT);
  EXPECT_EQ(mdb_env_copy(env_, nullptr), EINVAL);
  EXPECT_EQ(mdb_env_copy2(env_, target.c_str(), 8), EINVAL);
  EXPECT_EQ(mdb_env_copyfd2(env_, 1, 8), EINVAL);
  fs::create_directory(target);
  ASSERT_DONE(mdb_env_copy2(env_, target.c_str(), MDB_CP_COMPACT));
  EXPECT_EQ(mdb_env_copy(env_, target.c_str()), EEXIST);
  fs::create_directory(target + "2");
  ASSERT_DONE(mdb_env_copy(env_, (target + "2").c_str()));
  const std::string file = directory_ + "/stream";
  for (bool whole : {true, false}) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ASSERT_DONE(whole ? mdb_env_copyfd(env_, fd) : mdb_env_copyfd2(env_, fd, MDB_CP_COMPACT));
    ::close(fd);
    EXPECT_GT(fs::file_size(file), 100U);
  }
  path_ = target;
  reopen();
  txn = begin(MDB_RDONLY);
  EXPECT_EQ(all(txn, table(txn, "t", 0)), "a=1 ");
  mdb_txn_abort(txn);
}

TEST_F(Environment, ReaderList) {
  open();
  std::string lines;
  const auto add = [](const char* line, void* all) {
    *static_cast<std::string*>(all) += line;
    return 0;
  };
  EXPECT_DONE(mdb_reader_list(env_, add, &lines));
  EXPECT_EQ(lines, "(no active readers)\n");
  MDB_txn* reader = begin(MDB_RDONLY);
  lines.clear();
  EXPECT_DONE(mdb_reader_list(env_, add, &lines));
  EXPECT_EQ(lines.substr(0, lines.find('\n')), "    pid     thread     txnid");
  EXPECT_NE(lines.find(std::to_string(getpid()) + " "), std::string::npos);
  const auto end = [](const char*, void*) { return -5; };
  EXPECT_EQ(mdb_reader_list(env_, end, nullptr), -5);
  EXPECT_EQ(mdb_reader_list(env_, nullptr, nullptr), EINVAL);
  mdb_txn_reset(reader);
  lines.clear();
  EXPECT_DONE(mdb_reader_list(env_, add, &lines));
  EXPECT_EQ(lines.substr(lines.size() - 2), "-\n");
  mdb_txn_abort(reader);
  int dead = 7;
  EXPECT_DONE(mdb_reader_check(env_, &dead));
  EXPECT_EQ(dead, 0);
  EXPECT_DONE(mdb_reader_check(env_, nullptr));
}

TEST_F(Environment, LimitsOfReaders) {
  ASSERT_DONE(mdb_env_create(&env_));
  ASSERT_DONE(mdb_env_set_maxreaders(env_, 2));
  ASSERT_DONE(mdb_env_open(env_, path_.c_str(), 0, 0600));
  MDB_txn* first = begin(MDB_RDONLY);
  MDB_txn* txn = nullptr;
  // One of a thread, without MDB_NOTLS; beside it the thread may write.
  EXPECT_EQ(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn), MDB_BAD_RSLOT);
  mdb_txn_abort(begin());
  std::thread([&] {
    MDB_txn* second = begin(MDB_RDONLY);
    std::thread([&] {
      EXPECT_EQ(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn), MDB_READERS_FULL);
    }).join();
    mdb_txn_abort(second);
  }).join();
  mdb_txn_abort(first);
}

TEST_F(Environment, ChildrenHaveNone) {
  open();
  MDB_txn* reader = begin(MDB_RDONLY);
  const pid_t child = fork();
  if (child == 0) {
    MDB_txn* txn = nullptr;
    const bool refused = mdb_txn_begin(env_, nullptr, 0, &txn) == MDB_PANIC;
    mdb_txn_abort(reader);
    mdb_env_close(env_);
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  mdb_txn_abort(reader);
}

}  // namespace
}  // namespace hawthorn::lmdb
