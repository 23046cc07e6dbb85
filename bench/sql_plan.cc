#include "bench/sql_plan.h"

#include <algorithm>
#include <array>

#include "bench/sql.h"
#include "bench/text.h"

namespace hawthorn::bench {

struct SqlPlanItems {
  std::string_view phase;
  void (SqlPlan::*make)(SqlItem&);

  static const std::array<SqlPlanItems, 32> kAll;
};

const std::array<SqlPlanItems, 32> SqlPlanItems::kAll = {{
    {"rowid_insert", &SqlPlan::rowid_insert},
    {"key_insert", &SqlPlan::key_insert},
    {"unique_insert", &SqlPlan::unique_insert},
    {"scan_range", &SqlPlan::scan_range},
    {"scan_like", &SqlPlan::scan_like},
    {"scan_order", &SqlPlan::scan_order},
    {"scan_limit", &SqlPlan::scan_limit},
    {"create_index", &SqlPlan::create_index},
    {"index_range", &SqlPlan::index_range},
    {"key_range", &SqlPlan::key_range},
    {"text_range", &SqlPlan::text_range},
    {"key_select", &SqlPlan::key_select},
    {"index_select", &SqlPlan::index_select},
    {"text_select", &SqlPlan::text_select},
    {"indexed_insert", &SqlPlan::indexed_insert},
    {"insert_select", &SqlPlan::insert_select},
    {"delete_refill", &SqlPlan::delete_refill},
    {"text_key_insert", &SqlPlan::text_key_insert},
    {"text_key_select", &SqlPlan::text_key_select},
    {"without_rowid_insert", &SqlPlan::without_rowid_insert},
    {"without_rowid_select", &SqlPlan::without_rowid_select},
    {"join", &SqlPlan::join},
    {"subquery", &SqlPlan::subquery},
    {"recursive", &SqlPlan::recursive},
    {"update_range", &SqlPlan::update_range},
    {"update_key_range", &SqlPlan::update_key_range},
    {"update_row", &SqlPlan::update_row},
    {"update_all", &SqlPlan::update_all},
    {"delete_range", &SqlPlan::delete_range},
    {"delete_row", &SqlPlan::delete_row},
    {"replace", &SqlPlan::replace},
    {"replace_unique", &SqlPlan::replace_unique},
}};

std::span<const std::string_view> sql_items() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const SqlPlanItems& item : SqlPlanItems::kAll) list.push_back(item.phase);
    return list;
  }();
  return names;
}

SqlPlan::SqlPlan(uint64_t seed, uint64_t size)
    : seed_(seed), n_(static_cast<int64_t>(size * kSqlRowsOfSize)), random_(seed, 0) {}

bool SqlPlan::next(SqlItem& item) {
  if (made_ == SqlPlanItems::kAll.size()) return false;
  const SqlPlanItems& made = SqlPlanItems::kAll.at(made_++);
  random_ = SqlRandom(seed_, made_);
  item = {};
  item.phase = made.phase;
  (this->*made.make)(item);
  return true;
}

std::vector<SqlCheck> SqlPlan::checks() const {
  return {check("plain", plain_),     check("ordered", ordered_), check("uniq", uniq_),
          check("indexed", indexed_), check("copy", copy_),       check("texts", texts_),
          check("keyed", keyed_)};
}

SqlPlan::Row SqlPlan::random_row(int64_t a) {
  // As many texts as there are numbers in column a: a join finds a row nearly always.
  return {a, random_b(), number_in_words(random_.between(1, n_))};
}

std::pair<int64_t, int64_t> SqlPlan::random_range(int64_t last, int64_t width_min,
                                                  int64_t width_max) {
  const int64_t first = random_.between(0, last);
  return {first, first + random_.between(width_min, width_max) - 1};
}

SqlPlan::ByNumber SqlPlan::by_b(const Rows& rows) {
  std::multimap<ByNumber::value_type::first_type, const Row*> sorted;
  for (const auto& [rowid, row] : rows) sorted.emplace(row.b, &row);
  return {sorted.begin(), sorted.end()};
}

SqlPlan::ByText SqlPlan::by_c(const Rows& rows) {
  std::multimap<ByText::value_type::first_type, const Row*> sorted;
  for (const auto& [rowid, row] : rows) sorted.emplace(row.c, &row);
  return {sorted.begin(), sorted.end()};
}

// The table itself is read, no index.
SqlCheck SqlPlan::check(const char* table, const Rows& rows) {
  SqlCheck check{print_text("SELECT rowid, a, b, c FROM %s NOT INDEXED ORDER BY rowid", table), {}};
  for (const auto& [rowid, row] : rows) {
    for (const int64_t number : {rowid, row.a, row.b}) check.expected.add(number);
    check.expected.add(std::string_view(row.c));
    check.expected.end_row();
  }
  return check;
}

SqlCheck SqlPlan::check(const char* table, const Texts& rows) {
  SqlCheck check{print_text("SELECT a, b FROM %s ORDER BY a", table), {}};
  for (const auto& [text, number] : rows) {
    check.expected.add(std::string_view(text));
    check.expected.add(number);
    check.expected.end_row();
  }
  return check;
}

}  // namespace hawthorn::bench
