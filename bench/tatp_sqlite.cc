// TATP by SQLite's API; or, compiled against our header of it, on this engine by that. All SQL of
// the workload is here. Write-ahead log, foreign keys enforced, one connection for each client;
// tables whose key has several columns are without rowids, so that a row is found by one search.

#include <utility>

#include "bench/engine_registry.h"
#include "bench/sqlite_handle.h"
#include "bench/tatp_database.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr int kBusyTimeoutMs = 5000;
constexpr int64_t kNoNumber = INT64_MIN;

constexpr const char* kTables = R"(
CREATE TABLE subscriber (
  s_id INTEGER NOT NULL PRIMARY KEY,
  sub_nbr TEXT NOT NULL UNIQUE,
  bit_1 INTEGER, bit_2 INTEGER, bit_3 INTEGER, bit_4 INTEGER, bit_5 INTEGER,
  bit_6 INTEGER, bit_7 INTEGER, bit_8 INTEGER, bit_9 INTEGER, bit_10 INTEGER,
  hex_1 INTEGER, hex_2 INTEGER, hex_3 INTEGER, hex_4 INTEGER, hex_5 INTEGER,
  hex_6 INTEGER, hex_7 INTEGER, hex_8 INTEGER, hex_9 INTEGER, hex_10 INTEGER,
  byte2_1 INTEGER, byte2_2 INTEGER, byte2_3 INTEGER, byte2_4 INTEGER, byte2_5 INTEGER,
  byte2_6 INTEGER, byte2_7 INTEGER, byte2_8 INTEGER, byte2_9 INTEGER, byte2_10 INTEGER,
  msc_location INTEGER, vlr_location INTEGER);
CREATE TABLE access_info (
  s_id INTEGER NOT NULL REFERENCES subscriber (s_id),
  ai_type INTEGER NOT NULL,
  data1 INTEGER, data2 INTEGER, data3 TEXT, data4 TEXT,
  PRIMARY KEY (s_id, ai_type)) WITHOUT ROWID;
CREATE TABLE special_facility (
  s_id INTEGER NOT NULL REFERENCES subscriber (s_id),
  sf_type INTEGER NOT NULL,
  is_active INTEGER NOT NULL, error_cntrl INTEGER, data_a INTEGER, data_b TEXT,
  PRIMARY KEY (s_id, sf_type)) WITHOUT ROWID;
CREATE TABLE call_forwarding (
  s_id INTEGER NOT NULL,
  sf_type INTEGER NOT NULL,
  start_time INTEGER NOT NULL,
  end_time INTEGER, numberx TEXT,
  PRIMARY KEY (s_id, sf_type, start_time),
  FOREIGN KEY (s_id, sf_type) REFERENCES special_facility (s_id, sf_type)) WITHOUT ROWID;
)";

constexpr int kSubscriberColumns = 34;

// All columns in the order of SubscriberRow.
std::string select_subscribers(const char* which) {
  // In two steps: of a sum g++ 12 warns that it overruns a string that is not that one.
  std::string statement =
      "SELECT s_id, sub_nbr,"
      " bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10,"
      " hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10,"
      " byte2_1, byte2_2, byte2_3, byte2_4, byte2_5,"
      " byte2_6, byte2_7, byte2_8, byte2_9, byte2_10,"
      " msc_location, vlr_location FROM subscriber ";
  statement += which;
  return statement;
}

// A number that no row has where the column holds something else.
int64_t integer_of(const SqliteStatement& statement, int column) {
  return statement.is_integer(column) ? statement.number(column) : kNoNumber;
}

// Likewise empty letters.
template <size_t N>
void read_letters(const SqliteStatement& statement, int column, Letters<N>& letters) {
  letters.fill('\0');
  const std::string_view text = statement.column(column);
  if (statement.is_text(column) && text.size() == N) text.copy(letters.data(), N);
}

void read_row(const SqliteStatement& statement, SubscriberRow& row) {
  int column = 0;
  row.s_id = integer_of(statement, column++);
  read_letters(statement, column++, row.sub_nbr);
  for (auto* const numbers : {&row.bits, &row.hexes, &row.bytes}) {
    for (int64_t& number : *numbers) number = integer_of(statement, column++);
  }
  row.msc_location = integer_of(statement, column++);
  row.vlr_location = integer_of(statement, column);
}

void read_row(const SqliteStatement& statement, AccessRow& row) {
  row.s_id = integer_of(statement, 0);
  row.ai_type = integer_of(statement, 1);
  row.data1 = integer_of(statement, 2);
  row.data2 = integer_of(statement, 3);
  read_letters(statement, 4, row.data3);
  read_letters(statement, 5, row.data4);
}

void read_row(const SqliteStatement& statement, FacilityRow& row) {
  row.s_id = integer_of(statement, 0);
  row.sf_type = integer_of(statement, 1);
  row.is_active = integer_of(statement, 2);
  row.error_cntrl = integer_of(statement, 3);
  row.data_a = integer_of(statement, 4);
  read_letters(statement, 5, row.data_b);
}

void read_row(const SqliteStatement& statement, ForwardingRow& row) {
  row.s_id = integer_of(statement, 0);
  row.sf_type = integer_of(statement, 1);
  row.start_time = integer_of(statement, 2);
  row.end_time = integer_of(statement, 3);
  read_letters(statement, 4, row.numberx);
}

// Gives the parameters of a statement their values from the first on.
template <class... Values>
void bind_all(SqliteStatement& statement, const Values&... values) {
  int index = 0;
  const auto bind = [&](const auto& value) {
    if constexpr (requires { value.data(); }) {
      statement.bind_text(++index, text_of(value));
    } else {
      statement.bind(++index, static_cast<int64_t>(value));
    }
  };
  (bind(values), ...);
}

class TatpConnection : public SqliteConnection {
 public:
  explicit TatpConnection(const TatpConfig& config)
      : SqliteConnection(config.path + "/tatp.sqlite", kBusyTimeoutMs) {
    run("PRAGMA journal_mode=WAL");
    run(print_text("PRAGMA synchronous=%s", sqlite_synchronous(config.sync)).c_str());
    run(print_text("PRAGMA cache_size=-%zu", config.cache_bytes / 1024).c_str());
    run("PRAGMA foreign_keys=ON");
  }
};

class SqliteTatpClient : public TatpClient {
 public:
  explicit SqliteTatpClient(const TatpConfig& config)
      : connection_(config),
        begin_read_(connection_, "BEGIN DEFERRED"),
        begin_write_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        rollback_(connection_, "ROLLBACK"),
        get_subscriber_(connection_, select_subscribers("WHERE s_id = ?1").c_str()),
        get_destinations_(connection_,
                          "SELECT cf.numberx FROM special_facility AS sf, call_forwarding AS cf"
                          " WHERE sf.s_id = ?1 AND sf.sf_type = ?2 AND sf.is_active = 1"
                          " AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type"
                          " AND cf.start_time <= ?3 AND ?4 < cf.end_time"),
        get_access_(connection_,
                    "SELECT data1, data2, data3, data4 FROM access_info"
                    " WHERE s_id = ?1 AND ai_type = ?2"),
        set_bit_1_(connection_, "UPDATE subscriber SET bit_1 = ?1 WHERE s_id = ?2"),
        set_data_a_(connection_,
                    "UPDATE special_facility SET data_a = ?1 WHERE s_id = ?2 AND sf_type = ?3"),
        set_location_(connection_, "UPDATE subscriber SET vlr_location = ?1 WHERE sub_nbr = ?2"),
        find_subscriber_(connection_, "SELECT s_id FROM subscriber WHERE sub_nbr = ?1"),
        get_types_(connection_, "SELECT sf_type FROM special_facility WHERE s_id = ?1"),
        insert_(connection_,
                "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx)"
                " VALUES (?1, ?2, ?3, ?4, ?5)"),
        delete_(connection_,
                "DELETE FROM call_forwarding"
                " WHERE s_id = ?1 AND sf_type = ?2 AND start_time = ?3") {}

  void begin(TatpAccess access) override {
    (access == TatpAccess::kRead ? begin_read_ : begin_write_).run();
  }
  void commit() override { commit_.run(); }
  void rollback() override {
    // Some errors end the transaction by themselves.
    if (connection_.in_transaction()) rollback_.run();
  }

  bool get_subscriber(uint64_t s_id, SubscriberRow& row) override {
    bind_all(get_subscriber_, s_id);
    const bool found = get_subscriber_.step();
    if (found) read_row(get_subscriber_, row);
    get_subscriber_.reset();
    return found;
  }

  bool get_access(uint64_t s_id, unsigned ai_type, AccessRow& row) override {
    bind_all(get_access_, s_id, ai_type);
    const bool found = get_access_.step();
    if (found) {
      row.s_id = static_cast<int64_t>(s_id);
      row.ai_type = ai_type;
      row.data1 = integer_of(get_access_, 0);
      row.data2 = integer_of(get_access_, 1);
      read_letters(get_access_, 2, row.data3);
      read_letters(get_access_, 3, row.data4);
    }
    get_access_.reset();
    return found;
  }

  void get_destinations(uint64_t s_id, unsigned sf_type, unsigned start_time, unsigned end_time,
                        std::vector<Digits>& numbers) override {
    numbers.clear();
    bind_all(get_destinations_, s_id, sf_type, start_time, end_time);
    while (get_destinations_.step()) read_letters(get_destinations_, 0, numbers.emplace_back());
    get_destinations_.reset();
  }

  std::optional<uint64_t> find_subscriber(const Digits& sub_nbr) override {
    bind_all(find_subscriber_, sub_nbr);
    std::optional<uint64_t> s_id;
    if (find_subscriber_.step()) s_id = static_cast<uint64_t>(integer_of(find_subscriber_, 0));
    find_subscriber_.reset();
    return s_id;
  }

  unsigned get_facility_types(uint64_t s_id) override {
    bind_all(get_types_, s_id);
    unsigned types = 0;
    while (get_types_.step()) {
      const int64_t type = integer_of(get_types_, 0);
      // A bit that no subscriber has stands for a type that none has, or for one twice.
      const bool right = type >= 1 && type <= kFacilityTypes && (types >> (type - 1) & 1) == 0;
      types |= 1U << (right ? type - 1 : kFacilityTypes);
    }
    get_types_.reset();
    return types;
  }

  int set_bit_1(uint64_t s_id, int64_t bit) override { return change(set_bit_1_, bit, s_id); }
  int set_data_a(uint64_t s_id, unsigned sf_type, int64_t data_a) override {
    return change(set_data_a_, data_a, s_id, sf_type);
  }
  int set_location(const Digits& sub_nbr, int64_t location) override {
    return change(set_location_, location, sub_nbr);
  }
  int delete_forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time) override {
    return change(delete_, s_id, sf_type, start_time);
  }

  TatpInsert insert_forwarding(const ForwardingRow& row) override {
    bind_all(insert_, row.s_id, row.sf_type, row.start_time, row.end_time, row.numberx);
    if (insert_.run_unless_forbidden()) return TatpInsert::kDone;
    const int code = connection_.extended_code();
    if (code == SQLITE_CONSTRAINT_FOREIGNKEY) return TatpInsert::kNoFacility;
    if (code == SQLITE_CONSTRAINT_PRIMARYKEY) return TatpInsert::kDuplicate;
    throw EngineError(print_text("sqlite: an insert gave the code %d", code));
  }

 private:
  template <class... Values>
  int change(SqliteStatement& statement, const Values&... values) {
    bind_all(statement, values...);
    statement.run();
    return connection_.changes();
  }

  TatpConnection connection_;
  SqliteStatement begin_read_;
  SqliteStatement begin_write_;
  SqliteStatement commit_;
  SqliteStatement rollback_;
  SqliteStatement get_subscriber_;
  SqliteStatement get_destinations_;
  SqliteStatement get_access_;
  SqliteStatement set_bit_1_;
  SqliteStatement set_data_a_;
  SqliteStatement set_location_;
  SqliteStatement find_subscriber_;
  SqliteStatement get_types_;
  SqliteStatement insert_;
  SqliteStatement delete_;
};

// With the tables, for statements that name them.
class TablesConnection : public TatpConnection {
 public:
  explicit TablesConnection(const TatpConfig& config) : TatpConnection(config) { run(kTables); }
};

class SqliteTatpLoader : public TatpLoader {
 public:
  explicit SqliteTatpLoader(const TatpConfig& config)
      : connection_(config),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        subscriber_(connection_, subscriber_sql().c_str()),
        access_(connection_, "INSERT INTO access_info VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
        facility_(connection_, "INSERT INTO special_facility VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
        forwarding_(connection_, "INSERT INTO call_forwarding VALUES (?1, ?2, ?3, ?4, ?5)") {}

  void begin() override { begin_.run(); }
  void commit() override { commit_.run(); }

  void insert(const SubscriberRow& row) override {
    int index = 0;
    subscriber_.bind(++index, row.s_id);
    subscriber_.bind_text(++index, text_of(row.sub_nbr));
    for (const auto* const numbers : {&row.bits, &row.hexes, &row.bytes}) {
      for (const int64_t number : *numbers) subscriber_.bind(++index, number);
    }
    subscriber_.bind(++index, row.msc_location);
    subscriber_.bind(++index, row.vlr_location);
    subscriber_.run();
  }
  void insert(const AccessRow& row) override {
    bind_all(access_, row.s_id, row.ai_type, row.data1, row.data2, row.data3, row.data4);
    access_.run();
  }
  void insert(const FacilityRow& row) override {
    bind_all(facility_, row.s_id, row.sf_type, row.is_active, row.error_cntrl, row.data_a,
             row.data_b);
    facility_.run();
  }
  void insert(const ForwardingRow& row) override {
    bind_all(forwarding_, row.s_id, row.sf_type, row.start_time, row.end_time, row.numberx);
    forwarding_.run();
  }

 private:
  static std::string subscriber_sql() {
    std::string sql = "INSERT INTO subscriber VALUES (?1";
    for (int i = 2; i <= kSubscriberColumns; ++i) sql += print_text(", ?%d", i);
    return sql + ")";
  }

  TablesConnection connection_;
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement subscriber_;
  SqliteStatement access_;
  SqliteStatement facility_;
  SqliteStatement forwarding_;
};

class SqliteTatpInspector : public TatpInspector {
 public:
  explicit SqliteTatpInspector(const TatpConfig& config) : connection_(config) {}

  void walk(const std::function<void(const SubscriberRow&)>& row) override {
    walk_rows(select_subscribers("ORDER BY s_id").c_str(), row);
  }
  void walk(const std::function<void(const AccessRow&)>& row) override {
    walk_rows(
        "SELECT s_id, ai_type, data1, data2, data3, data4 FROM access_info"
        " ORDER BY s_id, ai_type",
        row);
  }
  void walk(const std::function<void(const FacilityRow&)>& row) override {
    walk_rows(
        "SELECT s_id, sf_type, is_active, error_cntrl, data_a, data_b FROM special_facility"
        " ORDER BY s_id, sf_type",
        row);
  }
  void walk(const std::function<void(const ForwardingRow&)>& row) override {
    walk_rows(
        "SELECT s_id, sf_type, start_time, end_time, numberx FROM call_forwarding"
        " ORDER BY s_id, sf_type, start_time",
        row);
  }

  void walk_numbers(const std::function<void(const Digits& sub_nbr, int64_t s_id)>& row) override {
    SqliteStatement statement(connection_, "SELECT sub_nbr, s_id FROM subscriber ORDER BY sub_nbr");
    Digits sub_nbr;
    while (statement.step()) {
      read_letters(statement, 0, sub_nbr);
      row(sub_nbr, integer_of(statement, 1));
    }
  }

  TatpSums sums() override {
    return {sum("bit_1 + msc_location + vlr_location", "subscriber"),
            sum("data1 + data2", "access_info"),
            sum("is_active + error_cntrl + data_a", "special_facility"),
            sum("start_time + end_time", "call_forwarding")};
  }

  std::string integrity() override {
    std::string found;
    SqliteStatement check(connection_, "PRAGMA integrity_check(1)");
    while (check.step()) found += check.column(0);
    SqliteStatement references(connection_, "PRAGMA foreign_key_check");
    if (references.step()) {
      found += ", but a row of " + std::string(references.column(0)) + " refers to none";
    }
    return found;
  }

 private:
  template <class Row>
  void walk_rows(const char* sql, const std::function<void(const Row&)>& take) {
    SqliteStatement statement(connection_, sql);
    Row row;
    while (statement.step()) {
      read_row(statement, row);
      take(row);
    }
  }

  TatpSum sum(const char* what, const char* table) {
    const std::string sql =
        print_text("SELECT COUNT(*), COALESCE(SUM(%s), 0) FROM %s", what, table);
    SqliteStatement statement(connection_, sql.c_str());
    if (!statement.step()) return {};
    return {integer_of(statement, 0), integer_of(statement, 1)};
  }

  TatpConnection connection_;
};

class SqliteTatp : public TatpDatabase {
 public:
  std::string version() const override { return sqlite_version(); }
  std::string settings() const override {
    return print_text("WAL, synchronous %s, cache %s for each connection, foreign keys",
                      sqlite_synchronous(config_.sync),
                      size_text(static_cast<double>(config_.cache_bytes)).c_str());
  }

  void open(const TatpConfig& config) override {
    config_ = config;
    // Keeps the log from being merged and removed when the other connections go.
    main_ = std::make_unique<TatpConnection>(config);
    // The file is read when it is first used, not when it is opened.
    main_->run("SELECT COUNT(*) FROM sqlite_master");
  }
  void close() override { main_.reset(); }
  void drain() override { main_->run("PRAGMA wal_checkpoint(TRUNCATE)"); }

  std::unique_ptr<TatpLoader> loader() override {
    return std::make_unique<SqliteTatpLoader>(config_);
  }
  std::unique_ptr<TatpClient> connect() override {
    return std::make_unique<SqliteTatpClient>(config_);
  }
  std::unique_ptr<TatpInspector> inspect() override {
    return std::make_unique<SqliteTatpInspector>(config_);
  }

 private:
  TatpConfig config_;
  std::unique_ptr<TatpConnection> main_;
};

}  // namespace

std::unique_ptr<TatpDatabase> make_tatp_sqlite() { return std::make_unique<SqliteTatp>(); }

}  // namespace hawthorn::bench
