// What supported.tsv claims of databases of Hawthorn's is so: each claim is executed here. A claim
// `@NAME` is the check of that name below.

// Without these the header leaves out what they are for.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_SESSION 1

#include <fstream>
#include <set>
#include <sstream>

#include "shims/sqlite/src/sqlite_test_support.h"

namespace hawthorn::sqlite::supported_test {
namespace {

namespace fs = std::filesystem;

// ---- The table

struct Row {
  std::string section;
  std::string names;
  std::string how;
  std::vector<std::string> claims;
};

std::vector<Row> read_table() {
  std::ifstream file(HAWTHORN_SUPPORTED_TABLE);
  std::vector<Row> rows;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line.substr(1, line.find(']') - 1);
      continue;
    }
    std::istringstream columns(line);
    std::string note;
    Row row;
    row.section = section;
    std::getline(columns, row.names, '\t');
    std::getline(columns, row.how, '\t');
    std::getline(columns, note, '\t');
    for (std::string claim; std::getline(columns, claim, '\t');) row.claims.push_back(claim);
    rows.push_back(row);
  }
  return rows;
}

// ---- Answers

std::string name_of(int code) {
  static const std::map<int, std::string> kNames = {
      {SQLITE_ERROR, "SQLITE_ERROR"},
      {SQLITE_BUSY, "SQLITE_BUSY"},
      {SQLITE_TOOBIG, "SQLITE_TOOBIG"},
      {SQLITE_READONLY, "SQLITE_READONLY"},
      {SQLITE_FULL, "SQLITE_FULL"},
      {SQLITE_CONSTRAINT_PINNED, "SQLITE_CONSTRAINT_PINNED"},
      {SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"},
      {SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"}};
  const auto at = kNames.find(code);
  return at != kNames.end() ? at->second : std::to_string(code);
}

// As the table has answers.
std::string answer_of(Connection& connection, const std::string& sql) {
  std::string all;
  const char* at = sql.c_str();
  while (*at != '\0') {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(connection.get(), at, -1, &statement, &at);
    if (statement == nullptr && code == SQLITE_OK) break;
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
      code = SQLITE_OK;
      if (!all.empty()) all += " / ";
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        all += (i != 0 ? "|" : "") + std::string(text != nullptr ? text : "NULL");
      }
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) return "!" + name_of(code);
  }
  return all;
}

class SupportedTest : public SqliteTest {
 protected:
  // A connection of a new database: of Hawthorn's, or of SQLite's own.
  Connection connect(bool stock = false) {
    return Connection(name(path(std::to_string(++databases_) + ".db"), stock));
  }
  static std::string name(const std::string& path, bool stock) {
    return "file:" + path + (stock ? "?hawthorn=0" : "");
  }
  std::string answer(const std::string& sql, bool stock) {
    Connection connection = connect(stock);
    EXPECT_SQL_OK(connection, "PRAGMA synchronous = OFF");
    std::string all = sql;
    const std::string other = name(path(std::to_string(++databases_) + ".db"), stock);
    for (size_t at = 0; (at = all.find("$OTHER", at)) != std::string::npos;) {
      all.replace(at, 6, other);
    }
    return answer_of(connection, all);
  }

  void execute(const Row& row, const std::string& claim) {
    SCOPED_TRACE(row.section + " " + row.names + ": " + claim);
    const size_t says = claim.rfind(" =>");
    if (claim.starts_with("test ")) return;  // supported.py looks for it
    if (claim.starts_with("@")) {
      const auto check = checks().find(claim.substr(1));
      ASSERT_NE(check, checks().end());
      used_.insert(check->first);
      (this->*check->second)();
    } else if (claim.ends_with(" ==")) {
      const std::string sql = claim.substr(0, claim.size() - 3);
      EXPECT_EQ(answer(sql, false), answer(sql, true));
    } else {
      ASSERT_NE(says, std::string::npos) << "it is no claim";
      const std::string sql = claim.substr(0, says);
      const std::string expected = says + 4 < claim.size() ? claim.substr(says + 4) : "";
      EXPECT_EQ(answer(sql, false), expected);
      if (row.how == "refused" && expected.starts_with("!")) {
        EXPECT_NE(answer(sql, true), expected) << "SQLite's own storage refuses it too";
      }
      if (row.how == "yes") {
        EXPECT_EQ(answer(sql, true), expected) << "SQLite's own storage answers something else";
      }
    }
    ++executed_;
  }

  // ---- Checks

  using Check = void (SupportedTest::*)();
  static const std::map<std::string, Check>& checks();

  void attach();
  void backup();
  void blob();
  void checkpoint();
  void close();
  void concurrent();
  void db_status();
  void deserialize();
  void exclusive();
  void file_control();
  void filenames();
  void hooks();
  void locking_mode();
  void open();
  void other_vfs();
  void own_collations();
  void preupdate();
  void readonly();
  void serialize();
  void session();
  void setlk_timeout();
  void taken_names();
  void unlock_notify();
  void wal_is_kept();

  std::set<std::string> used_;
  size_t executed_ = 0;

 private:
  int databases_ = 0;
};

const std::map<std::string, SupportedTest::Check>& SupportedTest::checks() {
  static const std::map<std::string, Check> kChecks = {
      {"attach", &SupportedTest::attach},
      {"backup", &SupportedTest::backup},
      {"blob", &SupportedTest::blob},
      {"checkpoint", &SupportedTest::checkpoint},
      {"close", &SupportedTest::close},
      {"concurrent", &SupportedTest::concurrent},
      {"db_status", &SupportedTest::db_status},
      {"deserialize", &SupportedTest::deserialize},
      {"exclusive", &SupportedTest::exclusive},
      {"file_control", &SupportedTest::file_control},
      {"filenames", &SupportedTest::filenames},
      {"hooks", &SupportedTest::hooks},
      {"locking_mode", &SupportedTest::locking_mode},
      {"open", &SupportedTest::open},
      {"other_vfs", &SupportedTest::other_vfs},
      {"own_collations", &SupportedTest::own_collations},
      {"preupdate", &SupportedTest::preupdate},
      {"readonly", &SupportedTest::readonly},
      {"serialize", &SupportedTest::serialize},
      {"session", &SupportedTest::session},
      {"setlk_timeout", &SupportedTest::setlk_timeout},
      {"taken_names", &SupportedTest::taken_names},
      {"unlock_notify", &SupportedTest::unlock_notify},
      {"wal_is_kept", &SupportedTest::wal_is_kept},
  };
  return kChecks;
}

bool is_sqlites(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[15] = {};
  file.read(begin, sizeof(begin));
  return std::string_view(begin, sizeof(begin)) == "SQLite format 3";
}

void SupportedTest::attach() {
  Connection connection = connect();
  EXPECT_SQL_OK(connection, "ATTACH '" + path("attached.db") +
                                "' AS a; ATTACH 'file:" + path("attached_stock.db") +
                                "?hawthorn=0' AS b;"
                                "CREATE TABLE a.t(x); CREATE TABLE b.t(x)");
  EXPECT_FALSE(is_sqlites(path("attached.db")));
  EXPECT_TRUE(is_sqlites(path("attached_stock.db")));
}

void SupportedTest::backup() {
  Connection ours = connect();
  Connection stock = connect(true);
  Connection memory(":memory:");
  const auto copy = [](Connection& to, Connection& from) {
    sqlite3_backup* const backup = sqlite3_backup_init(to.get(), "main", from.get(), "main");
    ASSERT_NE(backup, nullptr);
    EXPECT_EQ(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    EXPECT_EQ(sqlite3_backup_remaining(backup), 0);
    EXPECT_GT(sqlite3_backup_pagecount(backup), 0);
    EXPECT_EQ(sqlite3_backup_finish(backup), SQLITE_OK);
  };
  EXPECT_SQL_OK(stock, "CREATE TABLE t(a); INSERT INTO t VALUES(5)");
  copy(ours, stock);
  EXPECT_SQL_OK(ours, "UPDATE t SET a = a + 1");
  copy(memory, ours);
  EXPECT_EQ(memory.value("SELECT a FROM t"), "i6");
  Connection again = connect();
  copy(again, ours);
  EXPECT_EQ(again.value("SELECT a FROM t"), "i6");
  copy(stock, again);
  EXPECT_EQ(stock.value("SELECT a FROM t"), "i6");
}

void SupportedTest::blob() {
  Connection connection = connect();
  EXPECT_SQL_OK(connection, "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(10)), ('other')");
  sqlite3_blob* handle = nullptr;
  ASSERT_EQ(sqlite3_blob_open(connection.get(), "main", "t", "a", 1, 1, &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_blob_bytes(handle), 10);
  EXPECT_EQ(sqlite3_blob_write(handle, "abc", 3, 7), SQLITE_OK);
  EXPECT_EQ(sqlite3_blob_write(handle, "abc", 3, 8), SQLITE_ERROR);
  char read[4] = {};
  EXPECT_EQ(sqlite3_blob_read(handle, read, 3, 7), SQLITE_OK);
  EXPECT_STREQ(read, "abc");
  EXPECT_EQ(sqlite3_blob_reopen(handle, 2), SQLITE_OK);
  EXPECT_EQ(sqlite3_blob_bytes(handle), 5);
  EXPECT_EQ(sqlite3_blob_close(handle), SQLITE_OK);
  EXPECT_EQ(connection.value("SELECT hex(a) FROM t"), "t'00000000000000616263'");
}

void SupportedTest::checkpoint() {
  Connection connection = connect();
  EXPECT_SQL_OK(connection, "PRAGMA journal_mode = WAL; CREATE TABLE t(a)");
  int frames = -1;
  int checkpointed = -1;
  EXPECT_EQ(sqlite3_wal_checkpoint_v2(connection.get(), "main", SQLITE_CHECKPOINT_TRUNCATE, &frames,
                                      &checkpointed),
            SQLITE_OK);
  EXPECT_EQ(frames, 0);
  EXPECT_EQ(checkpointed, 0);
  EXPECT_EQ(sqlite3_wal_checkpoint(connection.get(), nullptr), SQLITE_OK);
}

void SupportedTest::close() {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path("close.db").c_str(), &db), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db, "SELECT 1", -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(db), SQLITE_BUSY);
  EXPECT_EQ(sqlite3_close_v2(db), SQLITE_OK);
  EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK);  // closes it
  Connection again(path("close.db"));
  EXPECT_SQL_OK(again, "CREATE TABLE t(a)");
}

void SupportedTest::concurrent() {
  Connection one(path("concurrent.db"));
  Connection two(path("concurrent.db"));
  EXPECT_SQL_OK(one,
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1, 1), (5, 5)");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 2 WHERE a = 1");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = 6 WHERE a = 5");
  EXPECT_SQL_OK(one, "COMMIT");
  EXPECT_SQL_OK(two, "COMMIT");
  EXPECT_SQL_OK(one, "BEGIN CONCURRENT; UPDATE t SET b = 3 WHERE a = 1");
  EXPECT_SQL_OK(two, "BEGIN CONCURRENT; UPDATE t SET b = 4 WHERE a = 1; COMMIT");
  EXPECT_EQ(one.code("COMMIT"), SQLITE_BUSY_SNAPSHOT);
  EXPECT_SQL_OK(one, "ROLLBACK; BEGIN CONCURRENT");
  EXPECT_EQ(one.code("CREATE TABLE u(a)") & 0xff, SQLITE_ERROR);
  EXPECT_SQL_OK(one, "ROLLBACK");
  EXPECT_EQ(one.rows("SELECT b FROM t"), (std::vector<std::string>{"i4", "i6"}));
}

void SupportedTest::db_status() {
  Connection connection = connect();
  EXPECT_SQL_OK(connection, "CREATE TABLE t(a); INSERT INTO t VALUES(1); SELECT * FROM t");
  int current = -1;
  int highest = -1;
  for (const int what : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS,
                         SQLITE_DBSTATUS_CACHE_WRITE, SQLITE_DBSTATUS_CACHE_SPILL}) {
    EXPECT_EQ(sqlite3_db_status(connection.get(), what, &current, &highest, 0), SQLITE_OK);
    EXPECT_EQ(current, 0) << what;
  }
  EXPECT_EQ(sqlite3_db_status(connection.get(), SQLITE_DBSTATUS_SCHEMA_USED, &current, &highest, 0),
            SQLITE_OK);
  EXPECT_GT(current, 0);
  EXPECT_EQ(sqlite3_db_cacheflush(connection.get()), SQLITE_OK);
  EXPECT_EQ(sqlite3_system_errno(connection.get()), 0);
}

void SupportedTest::deserialize() {
  Connection stock = connect(true);
  EXPECT_SQL_OK(stock, "CREATE TABLE t(a); INSERT INTO t VALUES(6)");
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(stock.get(), "main", &size, 0);
  ASSERT_NE(bytes, nullptr);
  Connection ours = connect();
  EXPECT_SQL_OK(ours, "CREATE TABLE before(a)");
  const std::string file = sqlite3_db_filename(ours.get(), "main");
  EXPECT_EQ(sqlite3_deserialize(ours.get(), "main", bytes, size, size,
                                SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
            SQLITE_OK);
  EXPECT_EQ(ours.value("SELECT a FROM t"), "i6");
  EXPECT_SQL_OK(ours, "INSERT INTO t VALUES(7)");
  Connection other(file);
  EXPECT_EQ(other.value("SELECT name FROM sqlite_schema"), "t'before'");
}

void SupportedTest::exclusive() {
  Connection one(path("exclusive.db"));
  Connection two(path("exclusive.db"));
  EXPECT_SQL_OK(one, "CREATE TABLE t(a); BEGIN EXCLUSIVE; INSERT INTO t VALUES(1)");
  EXPECT_EQ(two.value("SELECT count(*) FROM t"), "i0");
  EXPECT_EQ(two.code("BEGIN IMMEDIATE"), SQLITE_BUSY);
  EXPECT_SQL_OK(one, "COMMIT");
}

void SupportedTest::file_control() {
  Connection connection = connect();
  const auto control = [&connection](int what, void* value) {
    return sqlite3_file_control(connection.get(), "main", what, value);
  };
  sqlite3_file* file = nullptr;
  for (const int what : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    ASSERT_EQ(control(what, &file), SQLITE_OK);
    char byte = 0;
    EXPECT_EQ(file->pMethods->xRead(file, &byte, 1, 0), SQLITE_IOERR);
  }
  sqlite3_vfs* vfs = nullptr;
  EXPECT_EQ(control(SQLITE_FCNTL_VFS_POINTER, &vfs), SQLITE_OK);
  EXPECT_EQ(vfs, sqlite3_vfs_find(nullptr));
  unsigned version = 0;
  EXPECT_EQ(control(SQLITE_FCNTL_DATA_VERSION, &version), SQLITE_OK);
  int state = -1;
  EXPECT_EQ(control(SQLITE_FCNTL_LOCKSTATE, &state), SQLITE_OK);
  EXPECT_EQ(state, SQLITE_LOCK_NONE);
  EXPECT_SQL_OK(connection, "BEGIN IMMEDIATE");
  EXPECT_EQ(control(SQLITE_FCNTL_LOCKSTATE, &state), SQLITE_OK);
  EXPECT_EQ(state, SQLITE_LOCK_RESERVED);
  EXPECT_SQL_OK(connection, "COMMIT");
  int number = -1;
  char* text = nullptr;
  for (const int what : {SQLITE_FCNTL_PERSIST_WAL, SQLITE_FCNTL_RESERVE_BYTES,
                         SQLITE_FCNTL_HAS_MOVED, SQLITE_FCNTL_POWERSAFE_OVERWRITE}) {
    EXPECT_EQ(control(what, &number), SQLITE_NOTFOUND) << what;
  }
  EXPECT_EQ(control(SQLITE_FCNTL_TEMPFILENAME, &text), SQLITE_NOTFOUND);
  EXPECT_EQ(control(SQLITE_FCNTL_VFSNAME, &text), SQLITE_OK);
  EXPECT_STREQ(text, sqlite3_vfs_find(nullptr)->zName);
  sqlite3_free(text);
  EXPECT_EQ(control(SQLITE_FCNTL_RESET_CACHE, nullptr), SQLITE_OK);
}

void SupportedTest::filenames() {
  Connection connection(path("names.db"));
  const char* const file = sqlite3_db_filename(connection.get(), "main");
  EXPECT_EQ(fs::canonical(file), fs::canonical(path("names.db")));
  EXPECT_STREQ(sqlite3_filename_database(file), file);
  EXPECT_STREQ(sqlite3_filename_journal(file), "");
  EXPECT_STREQ(sqlite3_filename_wal(file), "");
}

void SupportedTest::hooks() {
  struct Called {
    int wal = 0;
    int autovacuum = 0;
  };
  const auto run = [this](bool stock, bool own) {
    Called called;
    Connection connection = connect(stock);
    sqlite3_wal_autocheckpoint(connection.get(), 1);
    if (own) {
      sqlite3_wal_hook(
          connection.get(),
          [](void* context, sqlite3*, const char*, int) {
            ++static_cast<Called*>(context)->wal;
            return SQLITE_OK;
          },
          &called);
    }
    sqlite3_autovacuum_pages(
        connection.get(),
        [](void* context, const char*, unsigned, unsigned free, unsigned) {
          ++static_cast<Called*>(context)->autovacuum;
          return free;
        },
        &called, nullptr);
    EXPECT_SQL_OK(connection,
                  "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; CREATE TABLE t(a);"
                  "INSERT INTO t VALUES(zeroblob(50000)); DELETE FROM t");
    return called;
  };
  EXPECT_EQ(run(false, true).wal, 3);
  EXPECT_EQ(run(true, true).wal, 3);
  EXPECT_EQ(run(false, false).autovacuum, 0);
  EXPECT_GT(run(true, false).autovacuum, 0);
}

void SupportedTest::locking_mode() {
  Connection one(path("locking.db"));
  Connection two(path("locking.db"));
  EXPECT_SQL_OK(one, "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE t(a); SELECT * FROM t");
  EXPECT_SQL_OK(two, "INSERT INTO t VALUES(1)");
}

void SupportedTest::open() {
  Connection flags;
  EXPECT_EQ(flags.open("file:" + path("ours.db") + "?hawthorn_memory=33554432"), SQLITE_OK);
  EXPECT_SQL_OK(flags, "CREATE TABLE t(a)");
  EXPECT_EQ(data_directories(path("ours.db")).size(), 1U);
  Connection stock("file:" + path("theirs.db") + "?hawthorn=0");
  EXPECT_SQL_OK(stock, "CREATE TABLE t(a)");
  EXPECT_TRUE(is_sqlites(path("theirs.db")));
  sqlite3* db = nullptr;
  const std::string plain = path("sixteen.db");
  EXPECT_EQ(sqlite3_open16(std::u16string(plain.begin(), plain.end()).c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "CREATE TABLE t(a)", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
  EXPECT_FALSE(is_sqlites(plain));
  EXPECT_EQ(data_directories(plain).size(), 1U);
}

void SupportedTest::other_vfs() {
  ASSERT_NE(sqlite3_vfs_find("unix-dotfile"), nullptr);
  Connection connection("file:" + path("vfs.db") + "?vfs=unix-dotfile");
  EXPECT_SQL_OK(connection, "CREATE TABLE t(a)");
  EXPECT_TRUE(is_sqlites(path("vfs.db")));
}

int backwards(void*, int one_size, const void* one, int other_size, const void* other) {
  return std::string_view(static_cast<const char*>(other), static_cast<size_t>(other_size))
      .compare({static_cast<const char*>(one), static_cast<size_t>(one_size)});
}

void SupportedTest::own_collations() {
  Connection connection = connect();
  EXPECT_EQ(sqlite3_create_collation(connection.get(), "mine", SQLITE_UTF8, nullptr, backwards),
            SQLITE_OK);
  EXPECT_SQL_OK(connection,
                "CREATE TABLE t(a COLLATE mine, b); INSERT INTO t VALUES('a', 1), ('b', 2);"
                "CREATE INDEX i ON t(a); INSERT INTO t VALUES('aa', 3);"
                "CREATE TABLE w(a COLLATE mine PRIMARY KEY, b) WITHOUT ROWID;"
                "INSERT INTO w SELECT * FROM t");
  const std::vector<std::string> expected = {"i2", "i3", "i1"};
  EXPECT_EQ(connection.rows("SELECT b FROM t INDEXED BY i WHERE a > 'x' ORDER BY a"), expected);
  EXPECT_EQ(connection.rows("SELECT b FROM w"), expected);
  EXPECT_EQ(connection.code("INSERT INTO w VALUES('a', 4)"), SQLITE_CONSTRAINT_PRIMARYKEY);
  expect_sound(connection);
}

void SupportedTest::taken_names() {
  Connection with(path("names.db"));
  Connection without(path("names.db"));
  EXPECT_EQ(sqlite3_create_collation(with.get(), "NOCASE", SQLITE_UTF8, nullptr, backwards),
            SQLITE_OK);
  const std::string read = "SELECT a FROM t INDEXED BY i WHERE a > 'a'";
  EXPECT_SQL_OK(with, "CREATE TABLE t(a COLLATE NOCASE); CREATE INDEX i ON t(a)");
  EXPECT_SQL_OK(with, "INSERT INTO t VALUES('b'), ('B')");
  EXPECT_EQ(with.rows(read).size(), 1U);
  EXPECT_EQ(without.code(read), SQLITE_ERROR);
  EXPECT_SQL_OK(without, "REINDEX i");
  EXPECT_EQ(without.rows(read).size(), 2U);
  EXPECT_EQ(with.code(read), SQLITE_ERROR);
}

// What the hook is told of each change.
std::string seen_by_hook(sqlite3* db, int change) {
  const auto shown = [db](int (*get)(sqlite3*, int, sqlite3_value**), int column) {
    sqlite3_value* value = nullptr;
    if (get(db, column, &value) != SQLITE_OK) return std::string("none");
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return std::string(text != nullptr ? text : "NULL");
  };
  std::string all = std::to_string(change) + " depth " +
                    std::to_string(sqlite3_preupdate_depth(db)) + " blob " +
                    std::to_string(sqlite3_preupdate_blobwrite(db));
  for (int i = 0; i < sqlite3_preupdate_count(db); ++i) {
    if (change != SQLITE_INSERT) all += " " + shown(sqlite3_preupdate_old, i);
    if (change != SQLITE_DELETE) all += " " + shown(sqlite3_preupdate_new, i);
  }
  return all + "; ";
}

void SupportedTest::preupdate() {
  const auto run = [this](bool stock) {
    std::string told;
    Connection connection = connect(stock);
    EXPECT_SQL_OK(connection,
                  "CREATE TABLE t(a, b); CREATE INDEX i ON t(b); CREATE TABLE w(a PRIMARY KEY, b) "
                  "WITHOUT ROWID; CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO w VALUES("
                  "new.a, 'by trigger'); END");
    sqlite3_preupdate_hook(
        connection.get(),
        [](void* context, sqlite3* db, int change, const char*, const char* table, sqlite3_int64,
           sqlite3_int64) {
          *static_cast<std::string*>(context) += table + (" " + seen_by_hook(db, change));
        },
        &told);
    EXPECT_SQL_OK(connection,
                  "INSERT INTO t VALUES(1, 'one'), (2, NULL); UPDATE t SET b = a || b; UPDATE w "
                  "SET a = a + 5; DELETE FROM w WHERE a = 6; REPLACE INTO w VALUES(7, 0); DELETE "
                  "FROM t WHERE a = 2");
    sqlite3_blob* handle = nullptr;
    EXPECT_EQ(sqlite3_blob_open(connection.get(), "main", "t", "a", 1, 0, &handle), SQLITE_ERROR);
    sqlite3_blob_close(handle);
    EXPECT_SQL_OK(connection, "DROP INDEX i");
    EXPECT_EQ(sqlite3_blob_open(connection.get(), "main", "t", "b", 1, 1, &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_blob_write(handle, "X", 1, 1), SQLITE_OK);
    EXPECT_EQ(sqlite3_blob_close(handle), SQLITE_OK);
    sqlite3_preupdate_hook(connection.get(), nullptr, nullptr);
    return told;
  };
  const std::string told = run(false);
  EXPECT_NE(told.find("by trigger"), std::string::npos);
  EXPECT_EQ(told, run(true));
}

void SupportedTest::readonly() {
  Connection connection = connect();
  EXPECT_EQ(sqlite3_db_readonly(connection.get(), "main"), 0);
  EXPECT_EQ(sqlite3_db_readonly(connection.get(), "none"), -1);
}

void SupportedTest::serialize() {
  Connection connection = connect();
  EXPECT_SQL_OK(connection,
                "CREATE TABLE t(a); INSERT INTO t VALUES(7); BEGIN; UPDATE t SET a = 8");
  sqlite3_int64 size = 5;
  EXPECT_EQ(sqlite3_serialize(connection.get(), "main", &size, SQLITE_SERIALIZE_NOCOPY), nullptr);
  EXPECT_EQ(size, -1);
  unsigned char* const bytes = sqlite3_serialize(connection.get(), "main", &size, 0);
  ASSERT_NE(bytes, nullptr);
  EXPECT_SQL_OK(connection, "ROLLBACK");
  std::ofstream(path("bytes.db"), std::ios::binary)
      .write(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(size));
  sqlite3_free(bytes);
  EXPECT_TRUE(is_sqlites(path("bytes.db")));
  Connection stock(path("bytes.db"));
  EXPECT_EQ(stock.value("SELECT a FROM t"), "i8");
  expect_sound(stock);
}

void SupportedTest::session() {
  Connection from = connect();
  Connection to = connect();
  for (Connection* each : {&from, &to}) {
    EXPECT_SQL_OK(*each, "CREATE TABLE t(a PRIMARY KEY, b); INSERT INTO t VALUES(1, 'x')");
  }
  sqlite3_session* session = nullptr;
  ASSERT_EQ(sqlite3session_create(from.get(), "main", &session), SQLITE_OK);
  EXPECT_EQ(sqlite3session_attach(session, nullptr), SQLITE_OK);
  EXPECT_SQL_OK(from, "UPDATE t SET b = 'y'; INSERT INTO t VALUES(2, 'z')");
  int size = 0;
  void* changes = nullptr;
  EXPECT_EQ(sqlite3session_changeset(session, &size, &changes), SQLITE_OK);
  sqlite3session_delete(session);
  EXPECT_EQ(
      sqlite3changeset_apply(
          to.get(), size, changes, nullptr,
          [](void*, int, sqlite3_changeset_iter*) { return SQLITE_CHANGESET_ABORT; }, nullptr),
      SQLITE_OK);
  EXPECT_EQ(to.rows("SELECT * FROM t ORDER BY a"), from.rows("SELECT * FROM t ORDER BY a"));
  void* back = nullptr;
  int back_size = 0;
  EXPECT_EQ(sqlite3changeset_invert(size, changes, &back_size, &back), SQLITE_OK);
  EXPECT_EQ(
      sqlite3changeset_apply(
          to.get(), back_size, back, nullptr,
          [](void*, int, sqlite3_changeset_iter*) { return SQLITE_CHANGESET_ABORT; }, nullptr),
      SQLITE_OK);
  EXPECT_EQ(to.value("SELECT a, b FROM t"), "i1|t'x'");
  sqlite3_free(changes);
  sqlite3_free(back);
}

void SupportedTest::setlk_timeout() {
#if SQLITE_VERSION_NUMBER >= 3050000
  Connection connection = connect();
  EXPECT_EQ(sqlite3_setlk_timeout(connection.get(), 100, 0), SQLITE_OK);
#endif
}

void SupportedTest::unlock_notify() {
  Connection connection = connect();
  int called = 0;
  EXPECT_EQ(sqlite3_unlock_notify(
                connection.get(), [](void** all, int) { ++*static_cast<int*>(all[0]); }, &called),
            SQLITE_OK);
  EXPECT_EQ(called, 1);
}

void SupportedTest::wal_is_kept() {
  for (const std::string mode : {"wal", "delete"}) {
    EXPECT_EQ(Connection(path("wal.db")).value("PRAGMA journal_mode = " + mode), "t'" + mode + "'");
    EXPECT_EQ(Connection(path("wal.db")).value("PRAGMA journal_mode"), "t'" + mode + "'");
  }
}

TEST_F(SupportedTest, ClaimsHold) {
  const std::vector<Row> rows = read_table();
  std::set<std::string> done;  // checks and statements, which several rows may name
  for (const Row& row : rows) {
    for (const std::string& claim : row.claims) {
      if (done.insert(row.how + claim).second) execute(row, claim);
    }
  }
  EXPECT_GT(executed_, 50U);
  for (const auto& [name, check] : checks()) {
    EXPECT_EQ(used_.count(name), 1U) << "the check " << name << " is of no claim";
  }
}

// What is `own` or `yes` answers what SQLite's own storage answers; what is `absent` is no pragma.
TEST_F(SupportedTest, PragmasAnswerAsTheTableSays) {
  Connection ours = connect();
  Connection stock = connect(true);
  std::set<std::string> listed;
  for (const std::string& each : ours.rows("PRAGMA pragma_list")) {
    listed.insert(each.substr(2, each.size() - 3));
  }
  for (Connection* each : {&ours, &stock}) {
    EXPECT_SQL_OK(*each, "CREATE TABLE t(a PRIMARY KEY, b); CREATE INDEX i ON t(b)");
  }
  std::set<std::string> told;
  for (const Row& row : read_table()) {
    if (row.section != "pragma") continue;
    std::istringstream names(row.names);
    for (std::string pragma; names >> pragma;) {
      told.insert(pragma);
      EXPECT_EQ(listed.count(pragma) == 0, row.how == "absent") << pragma;
      const bool compare = row.how == "own" || row.how == "yes";
      // Of the file's name, and of others' commits.
      if (!compare || pragma == "database_list" || pragma == "data_version") continue;
      EXPECT_EQ(answer_of(ours, "PRAGMA " + pragma), answer_of(stock, "PRAGMA " + pragma))
          << pragma;
    }
  }
  for (const std::string& pragma : listed) {
    EXPECT_EQ(told.count(pragma), 1U) << pragma << " is not in supported.tsv";
  }
}

}  // namespace
}  // namespace hawthorn::sqlite::supported_test
