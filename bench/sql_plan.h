#pragma once
// The items of the SQL workload, one after the other: the statements of each with all parameters,
// and what they must return and leave, by a model of the tables that executes no SQL.
//
// Used by sql.cc. Threads: one.
//
// 1. Everything follows from seed and size, nothing from what a database answers.
// 2. Items are made in their order: the model has the effects of each that was made.
// 3. Every query has one right answer: what has an order is ordered to the last row.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sql_database.h"
#include "bench/sql_rows.h"

namespace hawthorn::bench {

// A statement, prepared once and run for each group of `width` parameters.
struct SqlStep {
  std::string sql;
  size_t width = 0;
  std::vector<SqlValue> parameters = {};
  bool counts_changes = false;  // the digest has the changes of each run

  size_t runs() const { return width == 0 ? 1 : parameters.size() / width; }
};

// A query over all rows of a table, and what it must give.
struct SqlCheck {
  std::string sql;
  SqlDigest expected;
};

struct SqlItem {
  std::string_view phase;
  std::vector<SqlStep> steps;
  // That are inserted, changed, deleted, looked at by a scan, or found by key or index.
  uint64_t rows = 0;
  SqlDigest expected;            // of all steps
  std::vector<SqlCheck> checks;  // of the tables that it wrote to
};

// The phases of all items in their order, without `integrity`, which comes last.
std::span<const std::string_view> sql_items();

class SqlPlan {
 public:
  // size: of SqlOptions, 1 at least.
  SqlPlan(uint64_t seed, uint64_t size);

  // The next item; false behind the last one.
  bool next(SqlItem& item);
  // Of all tables as they are behind the items that were made.
  std::vector<SqlCheck> checks() const;

 private:
  struct Row {
    int64_t a = 0;
    int64_t b = 0;
    std::string c;
  };
  using Rows = std::map<int64_t, Row>;  // by row id
  using Texts = std::map<std::string, int64_t>;
  struct Aggregate;
  // Rows in the order of a column.
  using ByNumber = std::vector<std::pair<int64_t, const Row*>>;
  using ByText = std::vector<std::pair<std::string_view, const Row*>>;

  friend struct SqlPlanItems;

  // sql_plan.cc
  Row random_row(int64_t a);
  int64_t random_b() { return random_.between(0, 10 * n_ - 1); }
  std::pair<int64_t, int64_t> random_range(int64_t last, int64_t width_min, int64_t width_max);
  static ByNumber by_b(const Rows& rows);
  static ByText by_c(const Rows& rows);
  static SqlCheck check(const char* table, const Rows& rows);
  static SqlCheck check(const char* table, const Texts& rows);

  // sql_plan_read.cc
  void scan_range(SqlItem& item);
  void scan_like(SqlItem& item);
  void scan_sorted(SqlItem& item, bool limited);
  void scan_order(SqlItem& item) { scan_sorted(item, false); }
  void scan_limit(SqlItem& item) { scan_sorted(item, true); }
  void index_range(SqlItem& item);
  void key_range(SqlItem& item);
  void text_range(SqlItem& item);
  void key_select(SqlItem& item);
  void index_select(SqlItem& item);
  void text_select(SqlItem& item);
  void text_key_select(SqlItem& item);
  void without_rowid_select(SqlItem& item);
  void select_texts(SqlItem& item, const char* table, const Texts& rows);
  void join(SqlItem& item);
  void subquery(SqlItem& item);
  void recursive(SqlItem& item);

  // sql_plan_write.cc
  void rowid_insert(SqlItem& item);
  void key_insert(SqlItem& item);
  void unique_insert(SqlItem& item);
  void create_index(SqlItem& item);
  void indexed_insert(SqlItem& item);
  void insert_select(SqlItem& item);
  void delete_refill(SqlItem& item);
  void text_key_insert(SqlItem& item);
  void without_rowid_insert(SqlItem& item);
  void insert_texts(SqlItem& item, const char* table, const char* options, Texts& rows);
  void insert_rows(SqlItem& item, const char* table, const char* columns,
                   const std::vector<int64_t>& numbers, bool by_key, Rows& rows);
  void update_range(SqlItem& item);
  void update_key_range(SqlItem& item);
  void update_row(SqlItem& item);
  void update_all(SqlItem& item);
  void delete_range(SqlItem& item);
  void delete_row(SqlItem& item);
  void replace(SqlItem& item);
  void replace_unique(SqlItem& item);

  const uint64_t seed_;
  const int64_t n_;  // rows of a table
  size_t made_ = 0;
  SqlRandom random_;  // of the item that is being made

  Rows plain_;    // no key; later indexes of b and of c
  Rows ordered_;  // a is the primary key; later an index of b
  Rows uniq_;     // a is unique; later an index of c
  Rows indexed_;  // indexes of a, b and c
  Rows copy_;     // no key
  Texts texts_;   // keyed by text, with a row id
  Texts keyed_;   // keyed by text, without
};

// What most ranges and scans ask for: count(*), avg(b), sum(length(c)).
struct SqlPlan::Aggregate {
  int64_t count = 0;
  int64_t sum = 0;
  int64_t length = 0;

  void add(const Row& row) {
    ++count;
    sum += row.b;
    length += static_cast<int64_t>(row.c.size());
  }
  void end(SqlDigest& digest) const {
    digest.add(count);
    if (count == 0) {
      digest.add_null();
      digest.add_null();
    } else {
      digest.add(static_cast<double>(sum) / static_cast<double>(count));
      digest.add(length);
    }
    digest.end_row();
  }
};

}  // namespace hawthorn::bench
