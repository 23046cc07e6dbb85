// The B+tree of records beneath indexes by a program's own collations, beside a set; and what it
// makes of damage, and of functions that do not order.

#include "shims/sqlite/src/collated.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "testing/scaled.h"

namespace hawthorn::sqlite::collated_test {
namespace {

class MapStore : public NodeStore {
 public:
  int get(std::string_view key, std::string* value) override {
    if (failing_gets_ != 0 && --failing_gets_ == 0) return SQLITE_IOERR;
    const auto found = values.find(std::string(key));
    if (found == values.end()) return SQLITE_NOTFOUND;
    *value = found->second;
    return SQLITE_OK;
  }
  int put(std::string_view key, std::string_view value) override {
    values[std::string(key)] = value;
    return SQLITE_OK;
  }
  int remove(std::string_view key) override {
    EXPECT_EQ(values.erase(std::string(key)), 1U) << "what is removed is there";
    return SQLITE_OK;
  }
  int each_key(const std::function<void(std::string_view key)>& use) override {
    for (const auto& [key, value] : values) use(key);
    return SQLITE_OK;
  }
  // The get that will fail, from now on.
  void fail_get(int number) { failing_gets_ = number; }

  std::map<std::string, std::string> values;

 private:
  int failing_gets_ = 0;
};

// ---- Orders

using Order = int (*)(std::string_view, std::string_view);

int sign(int value) { return (value > 0) - (value < 0); }

int backward(std::string_view a, std::string_view b) { return -sign(a.compare(b)); }

int without_case(std::string_view a, std::string_view b) {
  const auto lower = [](std::string_view text) {
    std::string all(text);
    for (char& c : all) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return all;
  };
  return sign(lower(a).compare(lower(b)));
}

int by_size(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return sign(std::string(a.rbegin(), a.rend()).compare(std::string(b.rbegin(), b.rend())));
}

int by_last(std::string_view a, std::string_view b) {
  const int of_a = a.empty() ? -1 : a.back();
  const int of_b = b.empty() ? -1 : b.back();
  return of_a != of_b ? sign(of_a - of_b) : sign(a.compare(b));
}

// No order at all, but always the same one.
int at_random(std::string_view a, std::string_view b) {
  const auto sum = std::hash<std::string_view>()(std::string(a) + "/" + std::string(b));
  return static_cast<int>(sum % 3) - 1;
}

struct Less {
  Order order;
  bool operator()(const std::string& a, const std::string& b) const { return order(a, b) < 0; }
};
using Model = std::set<std::string, Less>;

class Whole : public Sought {
 public:
  Whole(Order order, std::string record) : order_(order), record_(std::move(record)) {}
  int compare(std::string_view record, int* order) override {
    // What SQLite may do: look behind its end.
    for (size_t i = 0; i < kSlackBytes; ++i) behind_ = record.data()[record.size() + i];
    *order = order_(record, record_);
    return SQLITE_OK;
  }

 private:
  const Order order_;
  const std::string record_;
  volatile char behind_ = 0;
};

// All records of one size, with the order by sizes.
class OfSize : public Sought {
 public:
  explicit OfSize(size_t size) : size_(size) {}
  int compare(std::string_view record, int* order) override {
    *order = record.size() == size_ ? 0 : (record.size() < size_ ? -1 : 1);
    return SQLITE_OK;
  }

 private:
  const size_t size_;
};

// ---- A tree and its model

class CollatedTest : public ::testing::Test {
 protected:
  uint64_t below(uint64_t bound) { return random_() % bound; }

  std::string any_record() {
    static constexpr size_t kSizes[] = {0, 3, 3, 4, 8, 17, 40, 90};
    size_t size = kSizes[below(std::size(kSizes))];
    if (below(60) == 0) size = below(2) == 0 ? 700 : 9000;
    std::string record(size, 'x');
    for (char& c : record) c = static_cast<char>((below(2) == 0 ? 'a' : 'A') + below(4));
    return record;
  }

  static std::vector<std::string> complaints(NodeStore& store, Order order, uint64_t* entries) {
    std::vector<std::string> all;
    const auto compare = [order](std::string_view a, std::string_view b, int* result) {
      *result = order(a, b);
      return SQLITE_OK;
    };
    const int code = check_collated(
        store,
        order != nullptr ? compare : std::function<int(std::string_view, std::string_view, int*)>(),
        [](std::string_view) {}, [&all](const std::string& what) { all.push_back(what); }, entries);
    EXPECT_EQ(code, SQLITE_OK);
    return all;
  }

  static std::vector<std::string> walk(NodeStore& store, size_t node_bytes, bool forward,
                                       int* code) {
    CollatedCursor cursor(&store, node_bytes);
    std::vector<std::string> all;
    *code = forward ? cursor.first() : cursor.last();
    while (*code == SQLITE_OK && cursor.valid()) {
      std::string_view record;
      *code = cursor.record(&record);
      if (*code != SQLITE_OK) break;
      all.emplace_back(record);
      *code = forward ? cursor.next() : cursor.previous();
    }
    return all;
  }

  void expect_same(MapStore& store, size_t node_bytes, const Model& model) {
    int code = SQLITE_OK;
    std::vector<std::string> expected(model.begin(), model.end());
    EXPECT_EQ(walk(store, node_bytes, true, &code), expected);
    EXPECT_EQ(code, SQLITE_OK);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(walk(store, node_bytes, false, &code), expected);
    uint64_t entries = 0;
    EXPECT_EQ(complaints(store, model.key_comp().order, &entries), std::vector<std::string>());
    EXPECT_EQ(entries, model.size());
    EXPECT_EQ(model.empty(), store.values.empty()) << "nothing is left of an empty tree";
  }

  static void expect_at(CollatedCursor& cursor, const Model& model, Model::const_iterator at) {
    ASSERT_EQ(cursor.valid(), at != model.end());
    if (at == model.end()) return;
    std::string_view record;
    ASSERT_EQ(cursor.record(&record), SQLITE_OK);
    ASSERT_EQ(record, *at);
  }

  // Some steps from where both are.
  void step_both(CollatedCursor& cursor, const Model& model, Model::const_iterator at) {
    const bool forward = below(2) == 0;
    for (int i = 0; i < 5 && cursor.valid(); ++i) {
      ASSERT_EQ(forward ? cursor.next() : cursor.previous(), SQLITE_OK);
      if (!forward && at == model.begin()) {
        ASSERT_FALSE(cursor.valid());
        return;
      }
      forward ? ++at : --at;
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, model, at));
    }
  }

  void run_history(Order order, size_t node_bytes, int steps) {
    MapStore store;
    Model model(Less{order});
    // One that changes, and one that only reads, and has to be told.
    CollatedCursor writer(&store, node_bytes);
    CollatedCursor reader(&store, node_bytes);
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      // It grows, and shrinks again to nothing.
      const bool grows = i % 1000 < 600;
      const std::string record = any_record();
      Whole sought(order, record);
      const uint64_t kind = below(10);
      int compared = -2;
      if (kind < (grows ? 6U : 2U)) {
        ASSERT_EQ(writer.insert(sought, record), SQLITE_OK);
        model.erase(record);
        model.insert(record);
        reader.forget();
        EXPECT_FALSE(writer.valid());
      } else if (kind < 8) {
        ASSERT_EQ(writer.seek(sought, false, &compared), SQLITE_OK);
        auto at = model.lower_bound(record);
        ASSERT_NO_FATAL_FAILURE(expect_at(writer, model, at));
        if (!writer.valid()) continue;
        model.erase(at);
        ASSERT_EQ(writer.remove(), SQLITE_OK);
        reader.forget();
      } else {
        const bool behind = below(2) == 0;
        ASSERT_EQ(reader.seek(sought, behind, &compared), SQLITE_OK);
        const auto at = behind ? model.upper_bound(record) : model.lower_bound(record);
        ASSERT_NO_FATAL_FAILURE(expect_at(reader, model, at));
        if (at == model.end()) continue;
        EXPECT_EQ(compared, order(*at, record));
        ASSERT_NO_FATAL_FAILURE(step_both(reader, model, at));
      }
      uint64_t entries = 0;
      ASSERT_EQ(writer.entries(&entries), SQLITE_OK);
      ASSERT_EQ(entries, model.size());
      if (i % 200 == 199) expect_same(store, node_bytes, model);
    }
    while (!model.empty() && !HasFailure()) {
      ASSERT_EQ(writer.last(), SQLITE_OK);
      ASSERT_EQ(writer.remove(), SQLITE_OK);
      model.erase(std::prev(model.end()));
      if (model.size() % 50 == 0) expect_same(store, node_bytes, model);
    }
  }

  static void fill(MapStore& store, Order order, size_t node_bytes, int count) {
    CollatedCursor cursor(&store, node_bytes);
    for (int i = 0; i < count; ++i) {
      // Some are larger than a node.
      std::string record = "record " + std::to_string(i * 7919 % count);
      if (i % 10 == 0) record.append(static_cast<size_t>(100 + i), 'z');
      Whole sought(order, record);
      ASSERT_EQ(cursor.insert(sought, record), SQLITE_OK);
    }
  }

  std::mt19937_64 random_{1};
};

// ---- Tests

TEST_F(CollatedTest, HistoriesAreThoseOfASet) {
  for (const Order order : {backward, without_case, by_size, by_last}) {
    for (const size_t node_bytes : {kNodeBytesMin, size_t{300}, kNodeBytes}) {
      run_history(order, node_bytes, 2000 + static_cast<int>(testing::scaled(8000)));
      if (HasFailure()) return;
    }
  }
}

TEST_F(CollatedTest, ManyEqualOnesAreFoundFromBothSides) {
  MapStore store;
  CollatedCursor cursor(&store, kNodeBytesMin);
  Model model(Less{by_size});
  for (int i = 0; i < 2000; ++i) {
    std::string record(1 + below(12), 'a');
    for (char& c : record) c = static_cast<char>('a' + below(20));
    Whole sought(by_size, record);
    ASSERT_EQ(cursor.insert(sought, record), SQLITE_OK);
    model.insert(record);
  }
  for (size_t size = 0; size <= 14; ++size) {
    OfSize sought(size);
    int order = -2;
    ASSERT_EQ(cursor.seek(sought, false, &order), SQLITE_OK);
    const std::string least(size, '\0');
    ASSERT_NO_FATAL_FAILURE(expect_at(cursor, model, model.lower_bound(least)));
    if (cursor.valid()) {
      EXPECT_EQ(order, size >= 1 && size <= 12 ? 0 : 1);
    }
    ASSERT_EQ(cursor.seek(sought, true, &order), SQLITE_OK);
    const std::string beyond(size + 1, '\0');
    ASSERT_NO_FATAL_FAILURE(expect_at(cursor, model, model.lower_bound(beyond)));
    if (cursor.valid()) {
      EXPECT_EQ(order, 1);
    }
  }
}

TEST_F(CollatedTest, WhatIsFilledInOrderFillsItsNodes) {
  MapStore store;
  CollatedCursor cursor(&store);
  const int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const std::string record = std::to_string(1'000'000 - i);
    Whole sought(backward, record);
    ASSERT_EQ(cursor.insert(sought, record), SQLITE_OK);
  }
  size_t bytes = 0;
  for (const auto& [key, value] : store.values) bytes += value.size();
  EXPECT_LT(bytes, size_t{count} * (sizeof(uint32_t) + 7) * 105 / 100);
  uint64_t entries = 0;
  EXPECT_EQ(complaints(store, backward, &entries), std::vector<std::string>());
}

TEST_F(CollatedTest, ALargeRecordIsItsOwnValue) {
  MapStore store;
  CollatedCursor cursor(&store);
  const std::string large(size_t{3} << 20, 'l');
  for (const std::string& record : {std::string("a"), large, std::string("z")}) {
    Whole sought(backward, record);
    ASSERT_EQ(cursor.insert(sought, record), SQLITE_OK);
  }
  EXPECT_EQ(store.values.size(), 3U) << "header, leaf, record";
  Whole sought(backward, large);
  int order = 0;
  ASSERT_EQ(cursor.seek(sought, false, &order), SQLITE_OK);
  std::string_view record;
  ASSERT_EQ(cursor.record(&record), SQLITE_OK);
  EXPECT_EQ(record, large);
  // One that is equal takes its place, and its value goes.
  ASSERT_EQ(cursor.insert(sought, large), SQLITE_OK);
  EXPECT_EQ(store.values.size(), 3U);
  ASSERT_EQ(cursor.seek(sought, false, &order), SQLITE_OK);
  ASSERT_EQ(cursor.remove(), SQLITE_OK);
  EXPECT_EQ(store.values.size(), 2U);
}

// ---- Functions that do not order

TEST_F(CollatedTest, WhatDoesNotOrderNeitherCrashesNorLoops) {
  for (const size_t node_bytes : {kNodeBytesMin, kNodeBytes}) {
    MapStore store;
    CollatedCursor cursor(&store, node_bytes);
    uint64_t expected = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::string record = any_record();
      Whole sought(at_random, record);
      uint64_t entries = 0;
      int order = 0;
      if (below(3) != 0) {
        ASSERT_EQ(cursor.insert(sought, record), SQLITE_OK);
        ASSERT_EQ(cursor.entries(&entries), SQLITE_OK);
        ASSERT_TRUE(entries == expected || entries == expected + 1);
      } else {
        ASSERT_EQ(cursor.seek(sought, below(2) == 0, &order), SQLITE_OK);
        if (!cursor.valid()) continue;
        ASSERT_EQ(cursor.remove(), SQLITE_OK);
        ASSERT_EQ(cursor.entries(&entries), SQLITE_OK);
        ASSERT_EQ(entries, expected - 1);
      }
      expected = entries;
    }
    int code = SQLITE_OK;
    EXPECT_EQ(walk(store, node_bytes, true, &code).size(), expected);
    uint64_t entries = 0;
    EXPECT_EQ(complaints(store, nullptr, &entries), std::vector<std::string>())
        << "the structure is sound";
    EXPECT_EQ(entries, expected);
    EXPECT_FALSE(complaints(store, backward, &entries).empty()) << "the order is not";
  }
}

TEST_F(CollatedTest, AnotherOrderIsComplainedOf) {
  MapStore store;
  fill(store, backward, kNodeBytesMin, 500);
  uint64_t entries = 0;
  EXPECT_TRUE(complaints(store, backward, &entries).empty());
  EXPECT_FALSE(complaints(store, by_last, &entries).empty());
  EXPECT_EQ(entries, 500U);
}

TEST_F(CollatedTest, WhatFailsInTheMiddleHasChangedNothing) {
  class Failing : public Whole {
   public:
    Failing(std::string record, int when, CollatedCursor* forgets)
        : Whole(backward, std::move(record)), when_(when), forgets_(forgets) {}
    int compare(std::string_view record, int* order) override {
      if (when_-- == 0) {
        if (forgets_ == nullptr) return SQLITE_NOMEM;
        forgets_->forget();
      }
      return Whole::compare(record, order);
    }

   private:
    int when_;
    CollatedCursor* const forgets_;
  };
  MapStore store;
  fill(store, backward, kNodeBytesMin, 300);
  CollatedCursor cursor(&store, kNodeBytesMin);
  const auto before = store.values;
  for (int when = 0; when < 6; ++when) {
    int order = 0;
    Failing fails("record 77 and more", when, nullptr);
    EXPECT_EQ(cursor.insert(fails, "record 77 and more"), SQLITE_NOMEM);
    Failing fails_to_find("record 77", when, nullptr);
    EXPECT_EQ(cursor.seek(fails_to_find, false, &order), SQLITE_NOMEM);
    EXPECT_FALSE(cursor.valid());
    // The function changes the tree, by another cursor.
    Failing changes("record 77 and more", when, &cursor);
    EXPECT_EQ(cursor.insert(changes, "record 77 and more"), SQLITE_ABORT);
    Failing changes_what_it_finds("record 77", when, &cursor);
    EXPECT_EQ(cursor.seek(changes_what_it_finds, false, &order), SQLITE_ABORT);
    EXPECT_FALSE(cursor.valid());
  }
  EXPECT_EQ(store.values, before);
  // A neighbour with which a node would merge cannot be read.
  int failed = 0;
  for (int i = 0; i < 250; ++i) {
    int order = 0;
    Whole sought(backward, "record " + std::to_string(below(300)));
    ASSERT_EQ(cursor.seek(sought, false, &order), SQLITE_OK);
    if (!cursor.valid()) continue;
    const auto unchanged = store.values;
    store.fail_get(1);
    const int code = cursor.remove();
    store.fail_get(0);
    if (code == SQLITE_OK) continue;
    EXPECT_EQ(code, SQLITE_IOERR);
    EXPECT_EQ(store.values, unchanged);
    ++failed;
  }
  uint64_t entries = 0;
  EXPECT_EQ(complaints(store, backward, &entries), std::vector<std::string>());
  EXPECT_NE(failed, 0);
}

// ---- Damage

// All that a cursor can do. Whatever is stored, it ends, with one of these codes.
void expect_ends(MapStore store, size_t node_bytes, Order order, bool* corrupt) {
  const auto note = [corrupt](int code) {
    EXPECT_TRUE(code == SQLITE_OK || code == SQLITE_CORRUPT) << code;
    if (code == SQLITE_CORRUPT) *corrupt = true;
    return code == SQLITE_OK;
  };
  CollatedCursor cursor(&store, node_bytes);
  for (const bool forward : {true, false}) {
    bool good = note(forward ? cursor.first() : cursor.last());
    while (good && cursor.valid()) {
      std::string_view record;
      note(cursor.record(&record));
      good = note(forward ? cursor.next() : cursor.previous());
    }
  }
  for (int i = 0; i < 40; ++i) {
    const std::string record = "record " + std::to_string(i * 11);
    Whole sought(order, record);
    int compared = 0;
    if (note(cursor.seek(sought, i % 2 == 0, &compared)) && cursor.valid() && i % 3 == 0) {
      note(cursor.remove());
    }
    note(cursor.insert(sought, record + "!"));
  }
}

class DamagedStore : public MapStore {
 public:
  explicit DamagedStore(const MapStore& from) : MapStore(from) {}
  int remove(std::string_view key) override {
    values.erase(std::string(key));
    return SQLITE_OK;
  }
};

TEST_F(CollatedTest, DamageIsAnError) {
  const size_t node_bytes = 256;
  MapStore sound;
  fill(sound, backward, node_bytes, 400);
  ASSERT_GT(sound.values.size(), 60U);
  for (const auto& [key, value] : sound.values) {
    for (int kind = 0; kind < 5; ++kind) {
      DamagedStore damaged(sound);
      std::string& bytes = damaged.values[key];
      switch (kind) {
        case 0:
          bytes.resize(below(bytes.size()));
          break;
        case 1:
          bytes.append(1 + below(40), static_cast<char>(below(256)));
          break;
        case 2:
          damaged.values.erase(key);
          break;
        case 3:
          bytes.assign(below(100), static_cast<char>(below(256)));
          break;
        default:
          // Numbers of cells.
          bytes[4 + below(4)] ^= static_cast<char>(1 << below(8));
      }
      if (kind == 3 && bytes == value) continue;
      uint64_t entries = 0;
      const std::vector<std::string> found = complaints(damaged, backward, &entries);
      EXPECT_FALSE(found.empty()) << "kind " << kind;
      int code = SQLITE_OK;
      const std::vector<std::string> all = walk(damaged, node_bytes, true, &code);
      // A record that separates nodes is no entry; and without a header there is no tree.
      EXPECT_TRUE(code == SQLITE_CORRUPT || all.size() == 400 || key == kCollatedHeaderKey)
          << "kind " << kind;
    }
  }
}

TEST_F(CollatedTest, NoDamageCrashes) {
  const size_t node_bytes = 256;
  MapStore sound;
  fill(sound, backward, node_bytes, 200);
  std::vector<std::string> keys;
  for (const auto& [key, value] : sound.values) keys.push_back(key);
  int corrupt = 0;
  const int rounds = static_cast<int>(testing::scaled(3000));
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    MapStore damaged = sound;
    for (uint64_t i = 1 + below(3); i != 0; --i) {
      std::string& bytes = damaged.values[keys[below(keys.size())]];
      if (below(8) == 0) {
        bytes = damaged.values[keys[below(keys.size())]];  // another one's
      } else if (!bytes.empty()) {
        const size_t at =
            below(2) == 0 ? below(std::min<size_t>(bytes.size(), 40)) : below(bytes.size());
        bytes[at] = below(2) == 0 ? static_cast<char>(bytes[at] ^ (1 << below(8)))
                                  : static_cast<char>(below(256));
      }
    }
    uint64_t entries = 0;
    complaints(damaged, backward, &entries);
    complaints(damaged, nullptr, &entries);
    bool is_corrupt = false;
    expect_ends(DamagedStore(damaged), node_bytes, backward, &is_corrupt);
    if (is_corrupt) ++corrupt;
  }
  EXPECT_GT(corrupt, rounds / 10);
}

}  // namespace
}  // namespace hawthorn::sqlite::collated_test
