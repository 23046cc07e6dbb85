// Trees with orders, encodings and comparisons, and with several values to a key against sorted
// sets whose order is a comparison: by transactions of every kind, beside snapshots, clones,
// deleted ranges, bulk ingests, flushes and restarts.

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "base/prng.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using Compare = std::function<int(std::string_view, std::string_view)>;

int compare_numbers(std::string_view a, std::string_view b) {
  int32_t x = 0;
  int32_t y = 0;
  std::memcpy(&x, a.data(), sizeof(x));
  std::memcpy(&y, b.data(), sizeof(y));
  return x < y ? -1 : x > y;
}
int compare_from_end(std::string_view a, std::string_view b) {
  return std::string(a.rbegin(), a.rend()).compare(std::string(b.rbegin(), b.rend()));
}

int compare_by_size(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}
// The second byte first, then downwards: nothing that bytes would show.
int compare_mixed(std::string_view a, std::string_view b) {
  const int x = a.size() > 1 ? a[1] : -200;
  const int y = b.size() > 1 ? b[1] : -200;
  return x != y ? x - y : b.compare(a);
}

struct Order {
  const char* name;
  Compare compare;
  bool numbers;
};
const Order kOrders[] = {
    {"bytewise", [](std::string_view a, std::string_view b) { return a.compare(b); }, false},
    {"reverse", [](std::string_view a, std::string_view b) { return b.compare(a); }, false},
    {"from_end", compare_from_end, false},
    {"int32", compare_numbers, true},
    {"by_size", compare_by_size, false},
    {"mixed", compare_mixed, false}};
constexpr uint64_t kOrderCount = sizeof(kOrders) / sizeof(kOrders[0]);

// The last two are comparisons for the database, too.
class Comparator : public KeyComparator {
 public:
  explicit Comparator(const Order& order) : order_(order) {}
  std::string_view name() const override { return order_.name; }
  int compare(std::string_view a, std::string_view b) const override {
    return order_.compare(a, b);
  }

 private:
  const Order& order_;
};

// Before all values, in every order; it is none.
const std::string kLeast = "least";

// An entry; where a key has one value, that does not count in the order.
struct Less {
  const Order* keys = &kOrders[0];
  const Order* values = nullptr;
  bool operator()(const std::pair<std::string, std::string>& a,
                  const std::pair<std::string, std::string>& b) const {
    const int order = keys->compare(a.first, b.first);
    if (order != 0 || values == nullptr) return order < 0;
    if (a.second == kLeast || b.second == kLeast) return a.second == kLeast && b.second != kLeast;
    return values->compare(a.second, b.second) < 0;
  }
};
using Entries = std::map<std::pair<std::string, std::string>, std::string, Less>;

class OrderModel {
 public:
  explicit OrderModel(uint64_t seed) : prng_(seed), disk_(seed), machine_(disk_, seed) {
    const Order& keys = kOrders[prng_.below(kOrderCount)];
    several_ = prng_.one_in(2);
    less_.keys = &keys;
    if (several_) less_.values = &kOrders[prng_.below(kOrderCount)];
    options_.order = keys.name;
    options_.multi_value = several_;
    if (several_) options_.value_order = less_.values->name;
    now_ = Entries(less_);
  }
  std::string describe() const {
    return options_.order + (several_ ? " " + options_.value_order : "");
  }

  void run(uint64_t steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      if (prng_.one_in(3) && !::testing::Test::HasFatalFailure()) check_any();
    }
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(check(now_, nullptr));
    kept_.reset();
    ASSERT_TRUE(clean(*db_));
    ASSERT_OK(db_->close());
  }

 private:
  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.key_comparators = {std::make_shared<Comparator>(kOrders[4]),
                               std::make_shared<Comparator>(kOrders[5])};
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree("t" + std::to_string(clones_), options_);
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }

  std::string any_of(const Order& order) {
    if (order.numbers) {
      const auto number = static_cast<int32_t>(prng_.below(600)) - 300;
      std::string bytes(sizeof(number), '\0');
      std::memcpy(bytes.data(), &number, sizeof(number));
      return bytes;
    }
    // Of few bytes, so that many begin or end with others.
    const char pool[] = {'\0', '\1', 'a', 'b', '\xfe', '\xff'};
    std::string text(prng_.below(6), '\0');
    for (char& c : text) c = pool[prng_.below(sizeof(pool))];
    return text;
  }
  std::string any_key() { return any_of(*less_.keys); }
  std::string any_value() {
    if (several_) return any_of(*less_.values);
    return value_of(prng_.next(), prng_.one_in(100) ? 70'000 : prng_.below(200));
  }
  static void add(Entries& to, const std::string& key, const std::string& value, bool several) {
    if (several) {
      to[{key, value}] = value;
    } else {
      to[{key, ""}] = value;
    }
  }
  // [first, behind the last) of a key's entries.
  auto values_of(Entries& of, const std::string& key) {
    const auto first = of.lower_bound({key, kLeast});
    auto end = first;
    while (end != of.end() && less_.keys->compare(end->first.first, key) == 0) ++end;
    return std::pair(first, end);
  }

  void step() {
    switch (prng_.below(12)) {
      case 0:
        kept_.reset();
        kept_entries_ = now_;
        kept_ = db_->snapshot();
        return;
      case 1:
        ASSERT_OK(prng_.one_in(2) ? db_->flush() : db_->compact());
        return;
      case 2:
        kept_.reset();
        if (prng_.one_in(2)) ASSERT_OK(db_->close());
        db_.reset();
        return open();
      case 3:
        return ingest();
      case 4:
        return delete_range();
      case 5:
        return batch();
      case 6:
        return clone();
      default:
        return transaction();
    }
  }

  void clone() {
    const std::string from = "t" + std::to_string(clones_);
    const std::string to = "t" + std::to_string(clones_ + 1);
    const Result<Tree> made = db_->clone_tree(from, to);
    ASSERT_OK(made.status());
    // What happens to the one does not to the other.
    ASSERT_OK(db_->put(tree_, any_key(), any_value()));
    kept_.reset();
    if (prng_.one_in(2)) ASSERT_OK(db_->drop_tree(from));
    ++clones_;
    tree_ = *made;
  }
  void ingest() {
    Ingest ingest = db_->ingest(tree_, {.sorted = false}).value();
    for (uint64_t left = prng_.below(300); left > 0; --left) {
      const std::string key = any_key();
      const std::string value = any_value();
      ASSERT_OK(ingest.add(key, value));
      add(now_, key, value, several_);
    }
    ASSERT_OK(ingest.finish());
  }
  void delete_range() {
    std::string low = any_key();
    std::string high = any_key();
    if (less_.keys->compare(low, high) > 0) std::swap(low, high);
    Transaction txn = begin();
    ASSERT_OK(txn.delete_range(tree_, low, high));
    ASSERT_OK(txn.commit());
    now_.erase(from(now_, low), now_.lower_bound({high, kLeast}));
  }
  // An empty lower end is none.
  Entries::iterator from(Entries& of, const std::string& low) {
    return low.empty() ? of.begin() : of.lower_bound({low, kLeast});
  }
  void batch() {
    WriteBatch batch;
    for (uint64_t left = prng_.below(60); left > 0; --left) {
      const std::string key = any_key();
      const std::string value = any_value();
      if (prng_.one_in(3)) {
        if (several_) {
          batch.del_value(tree_, key, value);
          now_.erase({key, value});
        } else {
          batch.del(tree_, key);
          now_.erase({key, ""});
        }
      } else {
        batch.put(tree_, key, value);
        add(now_, key, value, several_);
      }
    }
    ASSERT_OK(db_->write(batch));
  }
  Transaction begin() {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    return db_->begin(options).value();
  }
  void transaction() {
    Transaction txn = begin();
    Entries entries = now_;
    for (uint64_t left = prng_.below(60); left > 0; --left) {
      const std::string key = any_key();
      const std::string value = any_value();
      switch (prng_.below(6)) {
        case 0:
          ASSERT_OK(txn.del(tree_, key));
          entries.erase(values_of(entries, key).first, values_of(entries, key).second);
          break;
        case 1: {
          const bool absent = !entries.contains({key, several_ ? value : ""});
          ASSERT_EQ(txn.insert(tree_, key, value).value(), absent);
          if (absent) add(entries, key, value, several_);
          break;
        }
        case 2: {
          const auto at = entries.find({key, several_ ? value : ""});
          const bool there = at != entries.end() && at->second == value;
          ASSERT_EQ(txn.remove_if(tree_, key, value).value(), there);
          if (there) entries.erase(at);
          break;
        }
        case 3: {
          Value found;
          const Status status = txn.get(tree_, key, found);
          const auto [first, end] = values_of(entries, key);
          ASSERT_EQ(status.ok(), first != end) << status.to_string();
          if (first != end) {
            ASSERT_EQ(found.view(), first->second);
          }
          break;
        }
        default:
          ASSERT_OK(txn.put(tree_, key, value));
          add(entries, key, value, several_);
      }
    }
    ASSERT_EQ(txn.count(tree_, "", std::nullopt).value(), entries.size());
    if (prng_.one_in(5)) return txn.abort();
    ASSERT_OK(txn.commit());
    now_ = std::move(entries);
  }

  void check_any() {
    if (kept_.has_value() && prng_.one_in(2)) return check(kept_entries_, &*kept_);
    check(now_, nullptr);
  }
  static void expect_at(const Cursor& cursor, const Entries& entries, Entries::iterator at) {
    ASSERT_EQ(cursor.valid(), at != entries.end());
    if (at == entries.end()) return;
    ASSERT_EQ(cursor.key(), at->first.first);
    ASSERT_EQ(cursor.value(), at->second);
  }
  void check(Entries& entries, const Snapshot* at) {
    Cursor cursor = db_->cursor(tree_, {.snapshot = at});
    auto expected = entries.begin();
    for (bool more = cursor.first(); more; more = cursor.next(), ++expected) {
      ASSERT_NE(expected, entries.end());
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, entries, expected));
    }
    ASSERT_OK(cursor.status());
    ASSERT_EQ(expected, entries.end());
    for (bool more = cursor.last(); more; more = cursor.prev()) {
      ASSERT_NE(expected, entries.begin());
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, entries, --expected));
    }
    ASSERT_EQ(expected, entries.begin());
    std::vector<std::pair<std::string, std::string>> scanned;
    ASSERT_OK(db_->scan(tree_, "", std::nullopt,
                        [&](std::span<const Entry> some) {
                          for (const Entry& e : some) scanned.emplace_back(e.key, e.value);
                          return true;
                        },
                        {.snapshot = at}));
    ASSERT_EQ(scanned.size(), entries.size());
    for (const auto& [key, value] : scanned) {
      ASSERT_EQ(key, expected->first.first);
      ASSERT_EQ(value, expected->second);
      ++expected;
    }
    for (uint64_t i = 0; i < 20; ++i) check_key(cursor, entries, at);
    ASSERT_OK(cursor.status());
  }
  void check_key(Cursor& cursor, Entries& entries, const Snapshot* at) {
    const std::string key = any_key();
    const auto [first, end] = values_of(entries, key);
    Value value;
    const Status status = db_->get(tree_, key, value, {.snapshot = at});
    ASSERT_EQ(status.ok(), first != end) << status.to_string();
    if (status.ok()) {
      ASSERT_EQ(value.view(), first->second);
    }
    cursor.seek(key);
    ASSERT_NO_FATAL_FAILURE(expect_at(cursor, entries, first));
    if (first != end) {
      ASSERT_EQ(cursor.count_values().value(), static_cast<uint64_t>(std::distance(first, end)));
      ASSERT_TRUE(cursor.last_value());
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, entries, std::prev(end)));
      ASSERT_FALSE(cursor.next_value());
      ASSERT_TRUE(cursor.first_value());
      ASSERT_EQ(cursor.next_value(), std::next(first) != end);
      cursor.next_key();
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, entries, end));
    }
    cursor.seek_for_prev(key);
    ASSERT_NO_FATAL_FAILURE(
        expect_at(cursor, entries, end == entries.begin() ? entries.end() : std::prev(end)));
    if (cursor.valid()) {
      const auto last_key = values_of(entries, std::string(cursor.key())).first;
      cursor.prev_key();
      ASSERT_NO_FATAL_FAILURE(expect_at(
          cursor, entries, last_key == entries.begin() ? entries.end() : std::prev(last_key)));
    }
    const std::string high = any_key();
    const auto low_at = from(entries, key);
    const auto high_at = entries.lower_bound({high, kLeast});
    const bool ordered = key.empty() || less_.keys->compare(key, high) < 0;
    const auto in_range = ordered ? std::distance(low_at, high_at) : 0;
    ASSERT_EQ(db_->count(tree_, key, high, {.snapshot = at}).value(),
              static_cast<uint64_t>(in_range));
  }

  Prng prng_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::unique_ptr<Db> db_;
  TreeOptions options_;
  bool several_ = false;
  Less less_;
  Tree tree_;
  Entries now_;
  std::optional<Snapshot> kept_;
  Entries kept_entries_;
  uint64_t clones_ = 0;
};

TEST(OrderModel, random_histories) {
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(12);
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    OrderModel model(seed);
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed) + " " + model.describe());
    model.run(environment_number("HAWTHORN_OPERATIONS", 80));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hawthorn::tests
