// Children of fork while the parent's threads are at work in its databases. Below SQLite, whose own
// locks a child inherits as any program's: statements of the parent's may run in no other thread.

#include "shims/fork_test_support.h"
#include "shims/sqlite/src/database.h"
#include "shims/sqlite/src/sqlite_test_support.h"
#include "shims/sqlite/src/storage.h"
#include "testing/scaled.h"

namespace hawthorn::sqlite {
namespace {

class ForkTest : public SqliteTest {
 protected:
  std::string write(Database& database, const std::string& key) {
    Result<Transaction> begun = database.db().begin(TxnOptions{});
    Status s = begun.status();
    if (!s.ok()) return s.to_string();
    const Result<Tree> tree = begun->tree("t");
    s = tree.status();
    if (s.ok()) s = begun->put(*tree, key, std::string(300, 'v'));
    if (s.ok()) s = begun->commit(Durability::kNone);
    return s.ok() ? std::string() : s.to_string();
  }
  // A whole life of another one.
  std::string live(const std::string& file) {
    HwConnection* connection = nullptr;
    if (const int code = hw_open(file.c_str(), 1, 0, kMemory, &connection); code != SQLITE_OK) {
      return sqlite3_errstr(code);
    }
    Database* database = nullptr;
    const int code = Database::open(file, true, false, kMemory, &database);
    if (code != SQLITE_OK) return sqlite3_errstr(code);
    for (int i = 0; i < 50; ++i) {
      if (std::string wrong = write(*database, std::to_string(i)); !wrong.empty()) return wrong;
    }
    Database::release(database);
    hw_close(connection);
    return {};
  }

  static constexpr long long kMemory = 16 << 20;
};

TEST_F(ForkTest, ChildrenWorkWhateverTheParentIsDoing) {
  HwConnection* inherited = nullptr;
  ASSERT_EQ(hw_open(path_.c_str(), 1, 0, kMemory, &inherited), SQLITE_OK);
  Database* database = nullptr;
  ASSERT_EQ(Database::open(path_, true, false, kMemory, &database), SQLITE_OK);
  fork_in_the_middle(
      std::max<uint64_t>(10, testing::scaled(40)),
      [&](uint64_t thread, uint64_t round) -> std::string {
        if (round % 50 == 1) return live(path("other" + std::to_string(thread)));
        // What sizes caches, and a lock that writers of any connection take.
        if (!database->change_cache(0, 0).ok()) return "the cache";
        static_cast<void>(database->bytes_now());
        return write(*database, std::to_string(thread << 32 | round % 1000));
      },
      [&](uint64_t child) -> std::string {
        const std::string own = path("child" + std::to_string(child % 3));
        if (std::string wrong = live(own); !wrong.empty()) return wrong;
        if (write(*database, "key").empty()) return "an inherited database is written";
        hw_close(inherited);
        return live(own);
      });
  EXPECT_EQ(write(*database, "last"), "");
  Database::release(database);
  hw_close(inherited);
}

}  // namespace
}  // namespace hawthorn::sqlite
