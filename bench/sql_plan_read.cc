#include <algorithm>
#include <set>

#include "bench/sql_plan.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr int64_t kSqlScans = 10;  // of an item that reads whole tables
constexpr size_t kSqlLimit = 10;

std::string aggregate_of(const char* table, const char* where) {
  return print_text("SELECT count(*), avg(b), sum(length(c)) FROM %s WHERE %s", table, where);
}

// What an index has between two values, both included.
template <class Index, class Value>
auto index_between(const Index& index, const Value& first, const Value& last) {
  const auto begin =
      std::lower_bound(index.begin(), index.end(), first,
                       [](const auto& entry, const Value& value) { return entry.first < value; });
  const auto end =
      std::upper_bound(begin, index.end(), last,
                       [](const Value& value, const auto& entry) { return value < entry.first; });
  return std::pair(begin, end);
}

}  // namespace

void SqlPlan::scan_range(SqlItem& item) {
  SqlStep step{aggregate_of("plain", "b BETWEEN ?1 AND ?2"), 2};
  for (int64_t i = 0; i < kSqlScans; ++i) {
    const auto [first, last] = random_range(9 * n_, n_ / 2, n_);
    step.parameters.insert(step.parameters.end(), {first, last});
    Aggregate sums;
    for (const auto& [rowid, row] : plain_) {
      if (first <= row.b && row.b <= last) sums.add(row);
    }
    sums.end(item.expected);
    item.rows += plain_.size();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::scan_like(SqlItem& item) {
  SqlStep step{aggregate_of("ordered", "c LIKE ?1"), 1};
  for (int64_t i = 0; i < kSqlScans; ++i) {
    const std::string part = number_in_words(random_.between(1, 99));
    step.parameters.emplace_back("%" + part + "%");
    Aggregate sums;
    for (const auto& [rowid, row] : ordered_) {
      if (row.c.find(part) != std::string::npos) sums.add(row);
    }
    sums.end(item.expected);
    item.rows += ordered_.size();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::scan_sorted(SqlItem& item, bool limited) {
  SqlStep step{"SELECT b, a, c FROM plain WHERE c LIKE ?1 ORDER BY b, rowid", 1};
  if (limited) step.sql += print_text(" LIMIT %zu", kSqlLimit);
  const ByNumber index = by_b(plain_);
  for (int64_t i = 0; i < kSqlScans; ++i) {
    const std::string part = number_in_words(random_.between(1, 9));
    step.parameters.emplace_back("%" + part + "%");
    size_t found = 0;
    for (const auto& [b, row] : index) {
      if (row->c.find(part) == std::string::npos) continue;
      item.expected.add(b);
      item.expected.add(row->a);
      item.expected.add(std::string_view(row->c));
      item.expected.end_row();
      if (++found == kSqlLimit && limited) break;
    }
    item.rows += plain_.size();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::index_range(SqlItem& item) {
  SqlStep step{aggregate_of("plain", "b BETWEEN ?1 AND ?2"), 2};
  const ByNumber index = by_b(plain_);
  for (int64_t i = 0; i < n_ / 5; ++i) {
    const auto [first, last] = random_range(10 * n_ - 1, 100, 500);
    step.parameters.insert(step.parameters.end(), {first, last});
    Aggregate sums;
    const auto [begin, end] = index_between(index, first, last);
    for (auto at = begin; at != end; ++at) sums.add(*at->second);
    sums.end(item.expected);
    item.rows += static_cast<uint64_t>(sums.count);
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::key_range(SqlItem& item) {
  SqlStep step{aggregate_of("ordered", "a BETWEEN ?1 AND ?2"), 2};
  for (int64_t i = 0; i < n_ / 5; ++i) {
    const auto [first, last] = random_range(n_, 10, 50);
    step.parameters.insert(step.parameters.end(), {first, last});
    Aggregate sums;
    for (auto at = ordered_.lower_bound(first); at != ordered_.end() && at->first <= last; ++at) {
      sums.add(at->second);
    }
    sums.end(item.expected);
    item.rows += static_cast<uint64_t>(sums.count);
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::text_range(SqlItem& item) {
  SqlStep step{aggregate_of("plain", "c BETWEEN ?1 AND ?2"), 2};
  const ByText index = by_c(plain_);
  const auto entries = static_cast<int64_t>(index.size());
  for (int64_t i = 0; i < n_ / 5; ++i) {
    const auto [from, to] = random_range(entries - 1, 10, 50);
    const std::string_view first = index[static_cast<size_t>(from)].first;
    const std::string_view last = index[static_cast<size_t>(std::min(to, entries - 1))].first;
    step.parameters.emplace_back(std::string(first));
    step.parameters.emplace_back(std::string(last));
    Aggregate sums;
    const auto [begin, end] = index_between(index, first, last);
    for (auto at = begin; at != end; ++at) sums.add(*at->second);
    sums.end(item.expected);
    item.rows += static_cast<uint64_t>(sums.count);
  }
  item.steps.push_back(std::move(step));
}

// Every eleventh key or so is not there.
void SqlPlan::key_select(SqlItem& item) {
  SqlStep step{"SELECT b, c FROM ordered WHERE a = ?1", 1};
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t key = random_.between(1, n_ + n_ / 10);
    step.parameters.emplace_back(key);
    ++item.rows;
    const auto found = ordered_.find(key);
    if (found == ordered_.end()) continue;
    item.expected.add(found->second.b);
    item.expected.add(std::string_view(found->second.c));
    item.expected.end_row();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::index_select(SqlItem& item) {
  SqlStep step{"SELECT b, c FROM uniq WHERE a = ?1", 1};
  std::map<int64_t, const Row*> by_a;
  for (const auto& [rowid, row] : uniq_) by_a[row.a] = &row;
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t key = random_.between(1, n_ + n_ / 10);
    step.parameters.emplace_back(key);
    ++item.rows;
    const auto found = by_a.find(key);
    if (found == by_a.end()) continue;
    item.expected.add(found->second->b);
    item.expected.add(std::string_view(found->second->c));
    item.expected.end_row();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::text_select(SqlItem& item) {
  SqlStep step{aggregate_of("uniq", "c = ?1"), 1};
  const ByText index = by_c(uniq_);
  for (int64_t i = 0; i < n_; ++i) {
    const std::string text = number_in_words(random_.between(1, n_));
    step.parameters.emplace_back(text);
    Aggregate sums;
    const auto [begin, end] = index_between(index, std::string_view(text), std::string_view(text));
    for (auto at = begin; at != end; ++at) sums.add(*at->second);
    sums.end(item.expected);
    ++item.rows;
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::select_texts(SqlItem& item, const char* table, const Texts& rows) {
  SqlStep step{print_text("SELECT b FROM %s WHERE a = ?1", table), 1};
  for (int64_t i = 0; i < n_; ++i) {
    const std::string text = number_in_words(random_.between(1, n_ + n_ / 10));
    step.parameters.emplace_back(text);
    ++item.rows;
    const auto found = rows.find(text);
    if (found == rows.end()) continue;
    item.expected.add(found->second);
    item.expected.end_row();
  }
  item.steps.push_back(std::move(step));
}

void SqlPlan::text_key_select(SqlItem& item) { select_texts(item, "texts", texts_); }
void SqlPlan::without_rowid_select(SqlItem& item) { select_texts(item, "keyed", keyed_); }

// A range of one index leads to a row by key, that to one by a unique index, that to one by text.
// CROSS JOIN keeps the order of the tables.
void SqlPlan::join(SqlItem& item) {
  SqlStep step{print_text("SELECT p.rowid, o.b, u.b, t.b FROM plain AS p"
                          " CROSS JOIN ordered AS o ON o.a = p.a"
                          " CROSS JOIN uniq AS u ON u.a = o.b %% %ld + 1"
                          " CROSS JOIN texts AS t ON t.a = u.c"
                          " WHERE p.b BETWEEN ?1 AND ?2 ORDER BY p.rowid",
                          n_),
               2};
  const ByNumber index = by_b(plain_);
  std::map<int64_t, const Row*> by_a;
  for (const auto& [rowid, row] : uniq_) by_a[row.a] = &row;
  std::map<const Row*, int64_t> rowids;
  for (const auto& [rowid, row] : plain_) rowids[&row] = rowid;
  for (int64_t i = 0; i < n_ / 50; ++i) {
    const auto [first, last] = random_range(10 * n_ - 1, 100, 500);
    step.parameters.insert(step.parameters.end(), {first, last});
    std::map<int64_t, const Row*> chosen;
    const auto [begin, end] = index_between(index, first, last);
    for (auto at = begin; at != end; ++at) chosen[rowids.at(at->second)] = at->second;
    for (const auto& [rowid, row] : chosen) {
      const auto by_key = ordered_.find(row->a);
      if (by_key == ordered_.end()) continue;
      const auto unique = by_a.find(by_key->second.b % n_ + 1);
      if (unique == by_a.end()) continue;
      const auto text = texts_.find(unique->second->c);
      if (text == texts_.end()) continue;
      for (const int64_t number : {rowid, by_key->second.b, unique->second->b, text->second}) {
        item.expected.add(number);
      }
      item.expected.end_row();
    }
    item.rows += 4 * chosen.size();
  }
  item.steps.push_back(std::move(step));
}

// One in the list of columns, one in the condition.
void SqlPlan::subquery(SqlItem& item) {
  SqlStep column{
      "SELECT p.rowid, (SELECT count(*) + sum(u.b) FROM uniq AS u WHERE u.c = p.c)"
      " FROM plain AS p ORDER BY p.rowid"};
  const ByText index = by_c(uniq_);
  for (const auto& [rowid, row] : plain_) {
    const std::string_view text = row.c;
    const auto [begin, end] = index_between(index, text, text);
    int64_t sum = end - begin;
    for (auto at = begin; at != end; ++at) sum += at->second->b;
    item.expected.add(rowid);
    if (begin == end) {
      item.expected.add_null();
    } else {
      item.expected.add(sum);
    }
    item.expected.end_row();
    item.rows += 1 + static_cast<uint64_t>(end - begin);
  }
  item.steps.push_back(std::move(column));

  SqlStep condition{
      "SELECT count(*), sum(o.a) FROM ordered AS o"
      " WHERE NOT EXISTS (SELECT 1 FROM plain AS p WHERE p.b = o.b)"};
  std::set<int64_t> there;
  for (const auto& [rowid, row] : plain_) there.insert(row.b);
  int64_t count = 0;
  int64_t sum = 0;
  for (const auto& [rowid, row] : ordered_) {
    if (there.contains(row.b)) continue;
    ++count;
    sum += row.a;
  }
  item.expected.add(count);
  count == 0 ? item.expected.add_null() : item.expected.add(sum);
  item.expected.end_row();
  item.rows += 2 * ordered_.size();
  item.steps.push_back(std::move(condition));
}

// A walk that a table leads from row to row, and a sequence that ends where it comes back to what
// it has.
void SqlPlan::recursive(SqlItem& item) {
  SqlStep walk{print_text("WITH RECURSIVE walk(a, step) AS (SELECT ?1, 1 UNION ALL"
                          " SELECT o.b %% %ld + 1, step + 1 FROM walk JOIN ordered AS o"
                          " ON o.a = walk.a WHERE step < ?2)"
                          " SELECT count(*), sum(a), max(step) FROM walk",
                          n_),
               2};
  int64_t at = random_.between(1, n_);
  walk.parameters.insert(walk.parameters.end(), {at, n_});
  int64_t sum = at;
  for (int64_t step = 1; step < n_; ++step) {
    at = ordered_.at(at).b % n_ + 1;
    sum += at;
  }
  for (const int64_t number : {n_, sum, n_}) item.expected.add(number);
  item.expected.end_row();
  item.steps.push_back(std::move(walk));

  SqlStep sequence{
      "WITH RECURSIVE sequence(x) AS (SELECT ?1 UNION"
      " SELECT (x * 31 + 17) % ?2 FROM sequence)"
      " SELECT count(*), sum(x) FROM sequence",
      2};
  const int64_t modulus = n_ * 2 + 1;
  int64_t x = random_.between(0, modulus - 1);
  sequence.parameters.insert(sequence.parameters.end(), {x, modulus});
  std::set<int64_t> seen;
  int64_t total = 0;
  for (; seen.insert(x).second; x = (x * 31 + 17) % modulus) total += x;
  item.expected.add(static_cast<int64_t>(seen.size()));
  item.expected.add(total);
  item.expected.end_row();
  item.steps.push_back(std::move(sequence));
  item.rows = static_cast<uint64_t>(n_) + seen.size();
}

}  // namespace hawthorn::bench
