#include <algorithm>
#include <numeric>

#include "bench/sql_plan.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// A statement that makes something.
SqlStep make_step(std::string sql) { return {.sql = std::move(sql)}; }

std::vector<int64_t> numbers_to(int64_t last) {
  std::vector<int64_t> numbers(static_cast<size_t>(last));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

}  // namespace

// Makes a table and inserts a row for each number, which is its column a; by_key: and its row id.
void SqlPlan::insert_rows(SqlItem& item, const char* table, const char* columns,
                          const std::vector<int64_t>& numbers, bool by_key, Rows& rows) {
  item.steps.push_back(make_step(print_text("CREATE TABLE %s (%s)", table, columns)));
  if (std::string_view(table) == "indexed") {
    for (const char* const column : {"a", "b", "c"}) {
      item.steps.push_back(
          make_step(print_text("CREATE INDEX indexed_%s ON indexed (%s)", column, column)));
    }
  }
  SqlStep step{.sql = print_text("INSERT INTO %s (a, b, c) VALUES (?1, ?2, ?3)", table),
               .width = 3,
               .counts_changes = true};
  int64_t rowid = 0;
  for (const int64_t number : numbers) {
    Row row = random_row(number);
    step.parameters.insert(step.parameters.end(), {row.a, row.b, row.c});
    rows[by_key ? number : ++rowid] = std::move(row);
    item.expected.add_changes(1);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check(table, rows));
}

void SqlPlan::rowid_insert(SqlItem& item) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n_; ++i) numbers.push_back(random_.between(1, n_));
  insert_rows(item, "plain", "a INTEGER, b INTEGER, c TEXT", numbers, false, plain_);
}

void SqlPlan::key_insert(SqlItem& item) {
  insert_rows(item, "ordered", "a INTEGER PRIMARY KEY, b INTEGER, c TEXT", numbers_to(n_), true,
              ordered_);
}

void SqlPlan::unique_insert(SqlItem& item) {
  insert_rows(item, "uniq", "a INTEGER UNIQUE, b INTEGER, c TEXT", shuffled_numbers(random_, n_),
              false, uniq_);
}

void SqlPlan::indexed_insert(SqlItem& item) {
  insert_rows(item, "indexed", "a INTEGER, b INTEGER, c TEXT", shuffled_numbers(random_, n_), false,
              indexed_);
}

// What they hold is looked at by the items behind this one, and by the integrity check.
void SqlPlan::create_index(SqlItem& item) {
  for (const char* const index : {"plain_b ON plain (b)", "plain_c ON plain (c)",
                                  "ordered_b ON ordered (b)", "uniq_c ON uniq (c)"}) {
    item.steps.push_back(make_step(print_text("CREATE INDEX %s", index)));
  }
  item.rows = 2 * plain_.size() + ordered_.size() + uniq_.size();
}

// In an order that neither table nor index has.
void SqlPlan::insert_select(SqlItem& item) {
  constexpr int64_t kFactor = 48271;
  constexpr int64_t kModulus = 2147483647;
  item.steps.push_back(make_step("CREATE TABLE copy (a INTEGER, b INTEGER, c TEXT)"));
  item.steps.push_back({.sql = print_text("INSERT INTO copy (a, b, c) SELECT a, b, c FROM ordered"
                                          " ORDER BY b * %ld %% %ld, a",
                                          kFactor, kModulus),
                        .counts_changes = true});
  std::multimap<int64_t, const Row*> order;
  for (const auto& [rowid, row] : ordered_) order.emplace(row.b * kFactor % kModulus, &row);
  for (const auto& [key, row] : order) copy_[static_cast<int64_t>(copy_.size()) + 1] = *row;
  item.rows = copy_.size();
  item.expected.add_changes(static_cast<int64_t>(copy_.size()));
  item.checks.push_back(check("copy", copy_));
}

// By the order of the table, then by that of an index.
void SqlPlan::delete_refill(SqlItem& item) {
  for (const char* const order : {"rowid", "b DESC, rowid"}) {
    item.steps.push_back({.sql = "DELETE FROM indexed", .counts_changes = true});
    item.steps.push_back({.sql = print_text("INSERT INTO indexed (a, b, c)"
                                            " SELECT a, b, c FROM plain ORDER BY %s",
                                            order),
                          .counts_changes = true});
    item.expected.add_changes(static_cast<int64_t>(indexed_.size()));
    item.expected.add_changes(static_cast<int64_t>(plain_.size()));
    item.rows += indexed_.size() + plain_.size();
  }
  std::multimap<int64_t, const Row*, std::greater<>> sorted;
  for (const auto& [rowid, row] : plain_) sorted.emplace(row.b, &row);
  indexed_.clear();
  for (const auto& [b, row] : sorted) {
    indexed_[static_cast<int64_t>(indexed_.size()) + 1] = *row;
  }
  item.checks.push_back(check("indexed", indexed_));
}

void SqlPlan::insert_texts(SqlItem& item, const char* table, const char* options, Texts& rows) {
  item.steps.push_back(
      make_step(print_text("CREATE TABLE %s (a TEXT PRIMARY KEY, b INTEGER)%s", table, options)));
  SqlStep step{.sql = print_text("INSERT INTO %s (a, b) VALUES (?1, ?2)", table),
               .width = 2,
               .counts_changes = true};
  for (const int64_t number : shuffled_numbers(random_, n_)) {
    std::string text = number_in_words(number);
    const int64_t b = random_b();
    step.parameters.insert(step.parameters.end(), {text, b});
    rows[std::move(text)] = b;
    item.expected.add_changes(1);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check(table, rows));
}

void SqlPlan::text_key_insert(SqlItem& item) { insert_texts(item, "texts", "", texts_); }
void SqlPlan::without_rowid_insert(SqlItem& item) {
  insert_texts(item, "keyed", " WITHOUT ROWID", keyed_);
}

// Ranges of an index, whose own column stays.
void SqlPlan::update_range(SqlItem& item) {
  SqlStep step{.sql = "UPDATE plain SET a = a + ?3 WHERE b BETWEEN ?1 AND ?2",
               .width = 3,
               .counts_changes = true};
  std::multimap<int64_t, Row*> index;
  for (auto& [rowid, row] : plain_) index.emplace(row.b, &row);
  for (int64_t i = 0; i < n_ / 5; ++i) {
    const auto [first, last] = random_range(10 * n_ - 1, 50, 150);
    const int64_t more = random_.between(1, 100);
    step.parameters.insert(step.parameters.end(), {first, last, more});
    int64_t changes = 0;
    const auto end = index.upper_bound(last);
    for (auto at = index.lower_bound(first); at != end; ++at, ++changes) at->second->a += more;
    item.expected.add_changes(changes);
    item.rows += static_cast<uint64_t>(changes);
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("plain", plain_));
}

// Ranges of the key, with a column that an index has.
void SqlPlan::update_key_range(SqlItem& item) {
  SqlStep step{.sql = "UPDATE ordered SET b = b + ?3 WHERE a BETWEEN ?1 AND ?2",
               .width = 3,
               .counts_changes = true};
  for (int64_t i = 0; i < n_ / 5; ++i) {
    const auto [first, last] = random_range(n_, 5, 15);
    const int64_t more = random_.between(1, 100);
    step.parameters.insert(step.parameters.end(), {first, last, more});
    int64_t changes = 0;
    const auto end = ordered_.upper_bound(last);
    for (auto at = ordered_.lower_bound(first); at != end; ++at, ++changes) at->second.b += more;
    item.expected.add_changes(changes);
    item.rows += static_cast<uint64_t>(changes);
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("ordered", ordered_));
}

void SqlPlan::update_row(SqlItem& item) {
  SqlStep step{.sql = "UPDATE ordered SET b = ?2 WHERE a = ?1", .width = 2, .counts_changes = true};
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t key = random_.between(1, n_ + n_ / 10);
    const int64_t b = random_b();
    step.parameters.insert(step.parameters.end(), {key, b});
    const auto found = ordered_.find(key);
    if (found != ordered_.end()) found->second.b = b;
    item.expected.add_changes(found == ordered_.end() ? 0 : 1);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("ordered", ordered_));
}

// With an index of the column, and without.
void SqlPlan::update_all(SqlItem& item) {
  item.steps.push_back({.sql = "UPDATE ordered SET b = b + 1", .counts_changes = true});
  item.steps.push_back({.sql = "UPDATE copy SET b = a + b, c = c || '.'", .counts_changes = true});
  for (auto& [rowid, row] : ordered_) ++row.b;
  for (auto& [rowid, row] : copy_) {
    row.b += row.a;
    row.c += '.';
  }
  for (const Rows* const rows : {&ordered_, &copy_}) {
    item.expected.add_changes(static_cast<int64_t>(rows->size()));
    item.rows += rows->size();
  }
  item.checks = {check("ordered", ordered_), check("copy", copy_)};
}

void SqlPlan::delete_range(SqlItem& item) {
  SqlStep step{
      .sql = "DELETE FROM plain WHERE b BETWEEN ?1 AND ?2", .width = 2, .counts_changes = true};
  std::multimap<int64_t, int64_t> index;
  for (const auto& [rowid, row] : plain_) index.emplace(row.b, rowid);
  for (int64_t i = 0; i < n_ / 50; ++i) {
    const auto [first, last] = random_range(10 * n_ - 1, 50, 150);
    step.parameters.insert(step.parameters.end(), {first, last});
    int64_t changes = 0;
    const auto begin = index.lower_bound(first);
    const auto end = index.upper_bound(last);
    for (auto at = begin; at != end; ++at, ++changes) plain_.erase(at->second);
    index.erase(begin, end);
    item.expected.add_changes(changes);
    item.rows += static_cast<uint64_t>(changes);
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("plain", plain_));
}

void SqlPlan::delete_row(SqlItem& item) {
  SqlStep step{.sql = "DELETE FROM ordered WHERE a = ?1", .width = 1, .counts_changes = true};
  for (int64_t i = 0; i < n_ / 2; ++i) {
    const int64_t key = random_.between(1, n_);
    step.parameters.emplace_back(key);
    item.expected.add_changes(static_cast<int64_t>(ordered_.erase(key)));
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("ordered", ordered_));
}

void SqlPlan::replace(SqlItem& item) {
  SqlStep step{.sql = "REPLACE INTO ordered (a, b, c) VALUES (?1, ?2, ?3)",
               .width = 3,
               .counts_changes = true};
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t key = random_.between(1, n_ + n_ / 2);
    Row row = random_row(key);
    step.parameters.insert(step.parameters.end(), {row.a, row.b, row.c});
    ordered_[key] = std::move(row);
    item.expected.add_changes(1);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("ordered", ordered_));
}

// A row that another one replaces by a unique column gives its row id up: the new one comes behind
// the last.
void SqlPlan::replace_unique(SqlItem& item) {
  SqlStep step{
      .sql = "REPLACE INTO uniq (a, b, c) VALUES (?1, ?2, ?3)", .width = 3, .counts_changes = true};
  std::map<int64_t, int64_t> rowids;
  for (const auto& [rowid, row] : uniq_) rowids[row.a] = rowid;
  for (int64_t i = 0; i < n_ / 2; ++i) {
    const int64_t key = random_.between(1, n_ + n_ / 2);
    Row row = random_row(key);
    step.parameters.insert(step.parameters.end(), {row.a, row.b, row.c});
    const int64_t rowid = uniq_.rbegin()->first + 1;
    const auto [at, is_new] = rowids.try_emplace(key, rowid);
    if (!is_new) uniq_.erase(std::exchange(at->second, rowid));
    uniq_[rowid] = std::move(row);
    item.expected.add_changes(1);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
  item.checks.push_back(check("uniq", uniq_));
}

}  // namespace hawthorn::bench
