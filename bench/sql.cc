#include "bench/sql.h"

#include <memory>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/machine.h"
#include "bench/sql_plan.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

class SqlRun {
 public:
  SqlRun(const RunContext& run, const SqlOptions& options, SqlDatabase& database)
      : run_(run),
        report_(*run.report),
        database_(database),
        config_{run.config.path, run.config.sync, options.cache_bytes},
        plan_(options.seed, options.size) {}

  void run();

 private:
  void execute(const std::string& sql);
  SqlDigest run_step(const SqlStep& step, SqlDigest digest);
  double run_item(const SqlItem& item);
  void check(const SqlCheck& check, std::string_view when);
  void run_items();
  void integrity();
  void reopen();

  const RunContext& run_;
  Report& report_;
  SqlDatabase& database_;
  const SqlConfig config_;
  SqlPlan plan_;
};

void SqlRun::execute(const std::string& sql) {
  const std::unique_ptr<SqlStatement> statement = database_.prepare(sql);
  while (statement->step()) {
  }
  statement->reset();
}

// Returns the digest with what the step gave behind it.
SqlDigest SqlRun::run_step(const SqlStep& step, SqlDigest digest) {
  const std::unique_ptr<SqlStatement> statement = database_.prepare(step.sql);
  const int columns = statement->columns();
  auto parameter = step.parameters.begin();
  for (size_t run = 0; run < step.runs(); ++run) {
    for (size_t i = 0; i < step.width; ++i) statement->bind(static_cast<int>(i) + 1, *parameter++);
    while (statement->step()) {
      for (int i = 0; i < columns; ++i) digest.add_column(statement->column(i));
      digest.end_row();
    }
    if (step.counts_changes) digest.add_changes(statement->changes());
    statement->reset();
  }
  return digest;
}

// Returns the seconds that it took.
double SqlRun::run_item(const SqlItem& item) {
  progress(run_, std::string(item.phase));
  SqlDigest digest;
  const Stopwatch watch;
  execute("BEGIN");
  for (const SqlStep& step : item.steps) digest = run_step(step, digest);
  execute("COMMIT");
  const double seconds = watch.seconds();
  report_.add(item.phase, "ms", seconds * 1e3);
  report_.add(item.phase, "rows_per_s", static_cast<double>(item.rows) / seconds);
  if (digest != item.expected) {
    report_.fail(print_text("%s: %s rows with the digest %016lx in place of %s with %016lx",
                            std::string(item.phase).c_str(), with_commas(digest.rows()).c_str(),
                            digest.hash(), with_commas(item.expected.rows()).c_str(),
                            item.expected.hash()));
  }
  for (const SqlCheck& check : item.checks) this->check(check, item.phase);
  return seconds;
}

void SqlRun::check(const SqlCheck& check, std::string_view when) {
  const SqlDigest digest = run_step({.sql = check.sql}, {});
  if (digest == check.expected) return;
  report_.fail(
      print_text("behind %s: %s: %s rows with the digest %016lx in place of %s with %016lx",
                 std::string(when).c_str(), check.sql.c_str(), with_commas(digest.rows()).c_str(),
                 digest.hash(), with_commas(check.expected.rows()).c_str(), check.expected.hash()));
}

void SqlRun::run_items() {
  double seconds = 0;
  uint64_t rows = 0;
  SqlDigest all;
  SqlItem item;
  while (plan_.next(item)) {
    seconds += run_item(item);
    rows += item.rows;
    all.add(static_cast<int64_t>(item.expected.hash()));
  }
  report_.add("sql", "total_ms", seconds * 1e3);
  report_.add("sql", "rows_per_s", static_cast<double>(rows) / seconds);
  report_.note(print_text("sql: %zu items, %s rows, expected digest %016lx", sql_items().size(),
                          with_commas(rows).c_str(), all.hash()));
  const Stopwatch watch;
  database_.drain();
  report_.add("drain", "seconds", watch.seconds());
}

void SqlRun::integrity() {
  progress(run_, "integrity");
  SqlDigest content;
  content.add(std::string_view("ok"));
  content.end_row();
  const Stopwatch watch;
  const SqlDigest found = run_step({.sql = "PRAGMA integrity_check"}, {});
  report_.add("integrity", "ms", watch.seconds() * 1e3);
  if (found == content) return;
  const std::unique_ptr<SqlStatement> statement = database_.prepare("PRAGMA integrity_check");
  std::string first = "nothing";
  if (statement->step()) {
    const SqlColumn column = statement->column(0);
    if (const auto* text = std::get_if<std::string_view>(&column)) first = *text;
  }
  report_.fail("integrity: " + first);
}

// A size counts only if all is still there.
void SqlRun::reopen() {
  database_.close();
  report_.add("verify", "bytes_on_disk", static_cast<double>(disk_bytes(config_.path)));
  const Stopwatch watch;
  database_.open(config_);
  report_.add("open", "avg_us", watch.seconds() * 1e6);
  for (const SqlCheck& check : plan_.checks()) this->check(check, "close and open");
  database_.close();
}

void SqlRun::run() {
  reset_peak_rss();
  database_.open(config_);
  report_.note(run_.engine_name + ": " + database_.version() + "; " + database_.settings());
  run_items();
  add_process_figures(report_);
  integrity();
  reopen();
}

}  // namespace

void run_sql(const RunContext& run, const SqlOptions& options, SqlDatabase& database) {
  SqlRun(run, options, database).run();
}

}  // namespace hawthorn::bench
