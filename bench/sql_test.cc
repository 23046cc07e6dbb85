// The SQL workload on a real database, and on doubles of it that are wrong in one way each: every
// such thing must turn the run into a failure.

#include "bench/sql.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "bench/engine_registry.h"
#include "bench/program.h"
#include "bench/sql_plan.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

std::string lines_of_failures(const Report& report) {
  std::string text;
  for (const std::string& failure : report.failures()) text += failure + "; ";
  return text;
}

enum class SqlLie {
  kNone,
  kLosesRow,
  kDoublesRow,
  kChangesNumber,
  kChangesText,
  kLosesWrite,
  kLosesChanges,
  kLosesBehindClose,
};

// Right, but for one time, or for the writes that it loses.
class LyingStatement : public SqlStatement {
 public:
  LyingStatement(std::unique_ptr<SqlStatement> real, SqlLie& lie)
      : real_(std::move(real)), lie_(lie) {}

  void bind(int index, const SqlValue& value) override { real_->bind(index, value); }
  bool step() override {
    // One run in seven: what one writes another one may write over.
    if (runs_++ % kLosesEvery == 0 && (lost_ || lies(SqlLie::kLosesWrite))) {
      lost_ = losing_ = true;
      return false;
    }
    losing_ = false;
    if (doubled_) {
      doubled_ = false;
      return true;
    }
    bool there = real_->step();
    if (there && lies(SqlLie::kLosesRow)) there = real_->step();
    doubled_ = there && lies(SqlLie::kDoublesRow);
    return there;
  }
  int columns() const override { return real_->columns(); }
  SqlColumn column(int index) const override {
    SqlColumn column = real_->column(index);
    if (auto* number = std::get_if<int64_t>(&column)) {
      if (lies(SqlLie::kChangesNumber)) ++*number;
    } else if (auto* text = std::get_if<std::string_view>(&column)) {
      if (lies(SqlLie::kChangesText)) text->remove_suffix(1);
    }
    return column;
  }
  void reset() override { real_->reset(); }
  int64_t changes() const override {
    if (losing_) return 1;
    return lies(SqlLie::kLosesChanges) ? real_->changes() - 1 : real_->changes();
  }

 private:
  static constexpr uint64_t kLosesEvery = 7;

  bool lies(SqlLie lie) const {
    if (lie_ != lie) return false;
    lie_ = SqlLie::kNone;
    return true;
  }

  const std::unique_ptr<SqlStatement> real_;
  SqlLie& lie_;
  bool doubled_ = false;
  uint64_t runs_ = 0;
  bool lost_ = false;
  bool losing_ = false;
};

// The statements lie whose text begins with `where`.
class LyingDatabase : public SqlDatabase {
 public:
  LyingDatabase(std::unique_ptr<SqlDatabase> real, SqlLie lie, std::string where)
      : real_(std::move(real)), lie_(lie), where_(std::move(where)) {}

  std::string version() const override { return real_->version(); }
  std::string settings() const override { return real_->settings(); }
  void open(const SqlConfig& config) override {
    real_->open(config);
    if (opened_++ == 0 || lie_ != SqlLie::kLosesBehindClose) return;
    lie_ = SqlLie::kNone;
    const auto statement = real_->prepare("DELETE FROM keyed WHERE a = 'seven'");
    statement->step();
    EXPECT_EQ(statement->changes(), 1);
  }
  void close() override { real_->close(); }
  void drain() override { real_->drain(); }
  std::unique_ptr<SqlStatement> prepare(const std::string& sql) override {
    std::unique_ptr<SqlStatement> real = real_->prepare(sql);
    if (!sql.starts_with(where_)) return real;
    return std::make_unique<LyingStatement>(std::move(real), lie_);
  }
  bool lied() const { return lie_ == SqlLie::kNone; }

 private:
  const std::unique_ptr<SqlDatabase> real_;
  SqlLie lie_;
  const std::string where_;
  int opened_ = 0;
};

class SqlTest : public ::testing::Test {
 protected:
  SqlTest() {
    options_.size = 1;
    options_.cache_bytes = 1'000'000;
  }

  void SetUp() override {
    for (const EngineInfo& info : engines()) {
      if (info.make_sql) engine_ = &info;
    }
    if (engine_ == nullptr) GTEST_SKIP() << "no engine of this build understands SQL";
  }

  Report run_on(SqlDatabase& database) {
    Report report;
    RunContext context;
    context.engine_name = "double";
    context.config.path = directory_ / "db";
    context.report = &report;
    std::filesystem::remove_all(directory_ / "db");
    std::filesystem::create_directories(directory_ / "db");
    run_sql(context, options_, database);
    return report;
  }
  // A run in which one statement that begins with `where` lies once; what it failed of.
  std::string failures_with(SqlLie lie, const std::string& where) {
    LyingDatabase database(engine_->make_sql(), lie, where);
    const Report report = run_on(database);
    EXPECT_TRUE(database.lied()) << where;
    EXPECT_FALSE(report.ok()) << where;
    return lines_of_failures(report);
  }

  const hawthorn::testing::TempDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
  const EngineInfo* engine_ = nullptr;
  SqlOptions options_;
};

TEST_F(SqlTest, PassesAndTellsOfEveryItem) {
  for (const uint64_t seed : {12345, 2}) {
    options_.seed = seed;
    const std::unique_ptr<SqlDatabase> database = engine_->make_sql();
    const Report report = run_on(*database);
    EXPECT_TRUE(report.ok()) << lines_of_failures(report);
    double sum = 0;
    for (const std::string_view item : sql_items()) {
      EXPECT_GT(report.value(item, "ms"), 0) << item;
      EXPECT_GT(report.value(item, "rows_per_s"), 0) << item;
      sum += report.value(item, "ms");
    }
    EXPECT_NEAR(report.value("sql", "total_ms"), sum, 1e-6 * sum);
    EXPECT_GT(report.value("integrity", "ms"), 0);
    EXPECT_GT(report.value("verify", "bytes_on_disk"), 0);
  }
}

TEST_F(SqlTest, FailsWhereAQueryLies) {
  for (const SqlLie lie : {SqlLie::kLosesRow, SqlLie::kDoublesRow, SqlLie::kChangesNumber}) {
    for (const char* const where :
         {"SELECT count(*), avg(b)", "SELECT b, a, c FROM plain", "SELECT b, c FROM ordered",
          "SELECT b, c FROM uniq", "SELECT b FROM texts", "SELECT b FROM keyed",
          "SELECT p.rowid, o.b", "SELECT p.rowid, (SELECT", "WITH RECURSIVE"}) {
      failures_with(lie, where);
    }
  }
  EXPECT_NE(failures_with(SqlLie::kChangesText, "SELECT b, c FROM uniq").find("index_select: "),
            std::string::npos);
}

TEST_F(SqlTest, FailsWhereAWriteIsLost) {
  const std::vector<std::pair<const char*, const char*>> writes = {
      {"INSERT INTO plain", "rowid_insert"}, {"INSERT INTO ordered", "key_insert"},
      {"INSERT INTO uniq", "unique_insert"}, {"INSERT INTO indexed (a, b, c) V", "indexed_insert"},
      {"INSERT INTO copy", "insert_select"}, {"INSERT INTO indexed (a, b, c) S", "delete_refill"},
      {"INSERT INTO texts", "text_key_ins"}, {"INSERT INTO keyed", "without_rowid_insert"},
      {"UPDATE plain", "update_range"},      {"UPDATE ordered SET b = b + ?3", "update_key_range"},
      {"UPDATE ordered SET b = ?2", ""},     {"UPDATE copy", "update_all"},
      {"DELETE FROM plain", "delete_range"}, {"DELETE FROM ordered", "delete_row"},
      {"REPLACE INTO ordered", "replace"},   {"REPLACE INTO uniq", "replace_unique"},
  };
  for (const auto& [where, item] : writes) {
    EXPECT_NE(failures_with(SqlLie::kLosesWrite, where).find(item), std::string::npos) << where;
    EXPECT_NE(failures_with(SqlLie::kLosesChanges, where).find(item), std::string::npos) << where;
  }
}

TEST_F(SqlTest, FailsWhereARowIsGoneBehindClose) {
  EXPECT_NE(failures_with(SqlLie::kLosesBehindClose, "none").find("behind close and open: "),
            std::string::npos);
}

TEST_F(SqlTest, FailsWhereTheIntegrityCheckIsNotContent) {
  EXPECT_NE(failures_with(SqlLie::kChangesText, "PRAGMA integrity_check").find("integrity: "),
            std::string::npos);
}

TEST_F(SqlTest, RunsByTheCommandLine) {
  const auto run = [this](const char* size) {
    const std::string json = directory_ / "sql.json";
    const std::string path = directory_ / "program";
    const std::vector<const char*> argv = {
        "hawthorn-bench", "sql",        "--engines", engine_->name.c_str(), "--size", size,
        "--quiet",        "--pretouch", "0",         "--no-cgroup",         "--json", json.c_str(),
        "--db-path",      path.c_str()};
    return run_program(static_cast<int>(argv.size()), argv.data());
  };
  EXPECT_EQ(run("1"), 0);
  std::ostringstream text;
  text << std::ifstream(directory_ / "sql.json").rdbuf();
  EXPECT_NE(text.str().find(R"("phase": "rowid_insert", "metric": "rows_per_s")"),
            std::string::npos);
  EXPECT_NE(text.str().find(R"("phase": "sql", "metric": "total_ms")"), std::string::npos);
  EXPECT_EQ(run("0"), 2);
}

// What the items of a plan expect, and all their parameters.
std::vector<uint64_t> fingerprints(uint64_t seed, uint64_t size) {
  SqlPlan plan(seed, size);
  std::vector<uint64_t> list;
  for (SqlItem item; plan.next(item);) {
    list.push_back(item.expected.hash());
    SqlDigest parameters;
    for (const SqlStep& step : item.steps) {
      for (const SqlValue& value : step.parameters) {
        if (const auto* text = std::get_if<std::string>(&value)) {
          parameters.add(std::string_view(*text));
        } else {
          parameters.add(std::get<int64_t>(value));
        }
      }
    }
    list.push_back(parameters.hash());
    for (const SqlCheck& check : item.checks) list.push_back(check.expected.hash());
  }
  return list;
}

TEST(SqlPlan, FollowsFromSeedAndSize) {
  EXPECT_EQ(fingerprints(1, 1), fingerprints(1, 1));
  EXPECT_NE(fingerprints(1, 1), fingerprints(2, 1));
  EXPECT_NE(fingerprints(1, 1), fingerprints(1, 2));
}

// A model whose queries find nothing would agree with a database that finds nothing.
TEST(SqlPlan, HasWorkInEveryItem) {
  SqlPlan plan(12345, 1);
  size_t items = 0;
  for (SqlItem item; plan.next(item); ++items) {
    EXPECT_EQ(item.phase, sql_items()[items]);
    EXPECT_GE(item.rows, 90U) << item.phase;
    EXPECT_FALSE(item.steps.empty()) << item.phase;
    if (item.checks.empty() && item.phase != "create_index") {
      EXPECT_GT(item.expected.rows(), 0U) << item.phase;
    }
    // Nearly all rows of the ranges find their partners.
    if (item.phase == "join") {
      EXPECT_GT(item.expected.rows(), item.rows / 8);
    }
  }
  EXPECT_EQ(items, sql_items().size());
}

TEST(SqlDigest, TellsRowsApart) {
  const auto digest = [](const std::vector<std::vector<SqlColumn>>& rows) {
    SqlDigest sum;
    for (const auto& row : rows) {
      for (const SqlColumn& column : row) sum.add_column(column);
      sum.end_row();
    }
    return sum.hash();
  };
  const SqlColumn one = int64_t{1};
  const SqlColumn two = int64_t{2};
  const SqlColumn text = std::string_view("twelve letters");
  const std::vector<uint64_t> hashes = {
      digest({{one, two}, {text, one}}),
      digest({{one, two}}),
      digest({{text, one}, {one, two}}),
      digest({{one}, {two, text, one}}),
      digest({{one, two}, {text, one}, {text, one}}),
      digest({{one, two}, {text, 1.0}}),
      digest({{one, two}, {text, std::monostate()}}),
      digest({{one, two}, {std::string_view("twelve letter"), one}}),
      digest({{one, two}, {std::string_view("twelve lettert"), one}}),
      digest({})};
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()).size(), hashes.size());
  EXPECT_EQ(hashes[0], digest({{one, two}, {text, one}}));
}

TEST(SqlRows, SpeaksNumbers) {
  EXPECT_EQ(number_in_words(0), "zero");
  EXPECT_EQ(number_in_words(19), "nineteen");
  EXPECT_EQ(number_in_words(40), "forty");
  EXPECT_EQ(number_in_words(12'304), "twelve thousand three hundred four");
  EXPECT_EQ(number_in_words(1'000'000), "one million");
  EXPECT_EQ(number_in_words(2'000'000'021), "two billion twenty one");
  EXPECT_THROW(number_in_words(-1), std::invalid_argument);
  std::set<std::string> texts;
  for (int64_t number = 0; number < 20'000; ++number) texts.insert(number_in_words(number));
  EXPECT_EQ(texts.size(), 20'000U);
}

TEST(SqlRows, ShufflesAllNumbers) {
  SqlRandom random(1, 2);
  std::vector<int64_t> numbers = shuffled_numbers(random, 1000);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(numbers.begin(), numbers.end());
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i + 1);
}

}  // namespace
}  // namespace hawthorn::bench
