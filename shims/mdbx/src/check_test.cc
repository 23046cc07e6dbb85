// mdbx_env_chk, and what tells of damage and of broken promises.

#include <cstdarg>
#include <cstring>
#include <fstream>
#include <set>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

struct Told {
  std::set<int> stages;
  std::set<std::string> tables;
  size_t entries = 0;
  size_t payload = 0;
  std::string issues;
  bool stop = false;
};

Told check_told;

MDBX_chk_callbacks_t callbacks() {
  MDBX_chk_callbacks_t result;
  memset(&result, 0, sizeof(result));
  result.check_break = [](MDBX_chk_context_t*) { return check_told.stop; };
  result.stage_begin = [](MDBX_chk_context_t*, MDBX_chk_stage_t stage) {
    check_told.stages.insert(stage);
    return int{MDBX_SUCCESS};
  };
  result.stage_end = [](MDBX_chk_context_t*, MDBX_chk_stage_t, int err) { return err; };
  result.issue = [](MDBX_chk_context_t*, const char* object, uint64_t, const char* issue,
                    const char* format, va_list arguments) {
    char text[300];
    vsnprintf(text, sizeof(text), format, arguments);
    check_told.issues += std::string(object) + " " + issue + " " + text + "\n";
  };
  result.table_filter = [](MDBX_chk_context_t*, const MDBX_val* name, MDBX_db_flags_t) {
    check_told.tables.insert(name->iov_base == nullptr ? "(main)" : text(*name));
    return reinterpret_cast<MDBX_chk_user_table_cookie_t*>(&check_told);
  };
  result.table_handle_kv = [](MDBX_chk_context_t*, const MDBX_chk_table_t*, size_t, const MDBX_val*,
                              const MDBX_val*) {
    ++check_told.entries;
    return int{MDBX_SUCCESS};
  };
  result.table_conclude = [](MDBX_chk_context_t*, const MDBX_chk_table_t* table, MDBX_cursor*,
                             int err) {
    check_told.payload += table->payload_bytes;
    return err;
  };
  return result;
}

class CheckTest : public Environments {
 protected:
  int check(unsigned flags = MDBX_CHK_DEFAULTS) {
    check_told = {};
    const MDBX_chk_callbacks_t all = callbacks();
    return mdbx_env_chk(env_, &all, &context_, static_cast<MDBX_chk_flags_t>(flags),
                        MDBX_chk_result, 0);
  }
  void fill() {
    MDBX_txn* txn = begin();
    const MDBX_dbi one = table(txn, "one");
    const MDBX_dbi two = table(txn, "two", MDBX_CREATE | MDBX_DUPSORT);
    for (int i = 0; i < 500; ++i) {
      ASSERT_DONE(put(txn, one, std::to_string(i), std::string(2000, 'v')));
      ASSERT_DONE(put(txn, two, "k", std::to_string(1000 + i)));
    }
    ASSERT_DONE(mdbx_txn_commit(txn));
  }
  MDBX_chk_context_t context_{};
};

TEST_F(CheckTest, FindsNothingInAWholeOne) {
  open();
  fill();
  EXPECT_DONE(check());
  EXPECT_EQ(check_told.tables, (std::set<std::string>{"(main)", "one", "two"}));
  EXPECT_EQ(check_told.entries, 1002U) << "the names of the two are entries of the main table";
  EXPECT_GT(check_told.payload, 1'000'000U);
  EXPECT_EQ(check_told.issues, "");
  EXPECT_EQ(context_.result.total_problems, 0U);
  EXPECT_EQ(context_.result.table_total, 3U);
  EXPECT_EQ(check_told.stages, (std::set<int>{MDBX_chk_tree, MDBX_chk_maindb, MDBX_chk_tables}));
  EXPECT_DONE(check(MDBX_CHK_SKIP_KV_TRAVERSAL | MDBX_CHK_SKIP_BTREE_TRAVERSAL));
  EXPECT_EQ(check_told.entries, 0U);
}

TEST_F(CheckTest, TellsOfDamage) {
  open();
  fill();
  close();
  for (const auto& file : std::filesystem::directory_iterator(path_)) {
    if (!file.path().filename().string().starts_with("data.")) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(file.path());
    for (uint64_t at = 4096 * 8 + 100; at < std::min<uint64_t>(size, 1 << 20); at += 4096) {
      bytes.seekp(static_cast<std::streamoff>(at));
      bytes.put('!');
    }
  }
  open();
  EXPECT_EQ(check(), MDBX_CORRUPTED);
  EXPECT_NE(check_told.issues, "");
  EXPECT_GT(context_.result.total_problems, 0U);
}

TEST_F(CheckTest, EndsWhenItIsAskedTo) {
  open();
  fill();
  const MDBX_chk_callbacks_t all = callbacks();
  check_told = {};
  check_told.stop = true;
  EXPECT_EQ(mdbx_env_chk(env_, &all, &context_, MDBX_CHK_DEFAULTS, MDBX_chk_result, 0), MDBX_EINTR);
  EXPECT_EQ(mdbx_env_chk(nullptr, &all, &context_, MDBX_CHK_DEFAULTS, MDBX_chk_result, 0),
            MDBX_EINVAL);
  EXPECT_EQ(mdbx_env_chk_encount_problem(nullptr), MDBX_EINVAL);
}

#if HAWTHORN_MDBX_API >= 14
void tell_of_panic(const char* msg, const char*, unsigned, const void*,
                   const char*) MDBX_CXX17_NOEXCEPT {
  fprintf(stderr, "told: %s\n", msg);
}

TEST(BrokenPromises, EndTheProcessWithAWord) {
  EXPECT_DEATH(mdbx_assert_fail("a promise", "here", 7), "a promise");
  EXPECT_DEATH(
      {
        mdbx_set_panic(tell_of_panic);
        mdbx_assert_fail("another", "here", 7);
      },
      "told: another");
}
#else
void tell_of_assertion(const MDBX_env*, const char* msg, const char*,
                       unsigned) MDBX_CXX17_NOEXCEPT {
  fprintf(stderr, "told: %s\n", msg);
}

TEST(BrokenPromises, EndTheProcessWithAWord) {
  EXPECT_DEATH(mdbx_assert_fail(nullptr, "a promise", "here", 7), "a promise");
  EXPECT_DEATH(mdbx_panic("number %d", 9), "number 9");
  MDBX_env* env = nullptr;
  ASSERT_DONE(mdbx_env_create(&env));
  EXPECT_EQ(mdbx_env_set_assert(nullptr, tell_of_assertion), MDBX_EINVAL);
  EXPECT_DEATH(
      {
        mdbx_env_set_assert(env, tell_of_assertion);
        mdbx_assert_fail(env, "another", "here", 7);
      },
      "told: another");
  EXPECT_DONE(mdbx_env_close(env));
}
#endif

}  // namespace
}  // namespace hawthorn::mdbx
