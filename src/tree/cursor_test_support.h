#pragma once
// For tests of the cursor: a tree next to a model that knows every version of every key, a cursor
// beside what it must show, keys and values of all shapes.
//
// Not here: the tests (cursor_test.cc, cursor_concurrency_test.cc), the parts below a tree
// (store_test_fixture.h). Threads: one, but for what cursor_concurrency_test.cc does.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "os/epoch.h"
#include "tree/cursor.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree::cursor_test {

using Contents = std::map<std::string, std::string>;

inline constexpr char kLargeMark[] = "large:";  // a model value that stands for a large one

// The bytes of the large value with this number.
inline std::string large_bytes(uint64_t number, size_t size) {
  std::string bytes(size, '\0');
  Prng prng(number + 1);
  for (size_t i = 0; i + 8 <= size; i += 8) store(bytes.data() + i, prng.next());
  return bytes;
}

class TestTree {
 public:
  struct Setup {
    size_t budget = size_t{64} << 20;
    size_t reserve = size_t{16} << 20;
    uint64_t seed = 1;
    MergePolicy policy = {.extents_max = 3, .garbage_max = 0.3, .target_bytes = size_t{24} << 10};
  };

  explicit TestTree(const Setup& setup)
      : setup_(setup),
        store_({.seed = setup.seed, .budget = setup.budget}),
        tree_(store_.make_tree(7)),
        flusher_(store_) {
    store_.residency->set_reserve(setup.reserve);
  }
  ~TestTree() {
    tree_.reset();
    os::epoch::drain();
  }

  TreeState* tree() { return tree_.get(); }
  fixture::TestStore& store() { return store_; }
  testing::SimDisk& disk() { return store_.disk; }
  Residency& residency() { return *store_.residency; }
  Lsn visible() const { return store_.visible.load(); }

  // ---- Writing

  // One committed write of each pair; a value of nullopt deletes.
  using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;
  void commit(const Changes& changes) {
    fixture::TestTxn txn(store_);
    write(txn, changes);
    const Lsn cts = txn.commit();
    for (const auto& [key, value] : changes) model_[key][cts] = value;
  }
  // The value "large:NUMBER:SIZE" goes into extents of its own.
  void write(fixture::TestTxn& txn, const Changes& changes) {
    for (const auto& [key, value] : changes) {
      if (!value.has_value()) {
        fixture::must(txn.remove(*tree_, key));
      } else if (value->starts_with(kLargeMark)) {
        fixture::must(
            txn.write(*tree_, key, VersionKind::kLarge, store_.make_large(shown(*value))));
      } else {
        fixture::must(txn.put(*tree_, key, *value));
      }
    }
  }
  // What a cursor must show for a value of the model.
  static std::string shown(const std::string& value) {
    if (!value.starts_with(kLargeMark)) return value;
    const size_t colon = value.find(':', sizeof(kLargeMark));
    return large_bytes(std::stoull(value.substr(sizeof(kLargeMark) - 1)),
                       std::stoull(value.substr(colon + 1)));
  }

  // The state as of a timestamp.
  Contents contents(Lsn ts) const {
    Contents result;
    for (const auto& [key, versions] : model_) {
      auto at = versions.upper_bound(ts);
      if (at == versions.begin()) continue;
      --at;
      if (at->second.has_value()) result[key] = *at->second;
    }
    return result;
  }
  Contents contents() const { return contents(visible()); }
  static void apply(const Changes& changes, Contents* contents) {
    for (const auto& [key, value] : changes) {
      if (value.has_value()) {
        (*contents)[key] = *value;
      } else {
        contents->erase(key);
      }
    }
  }

  // ---- Background work, done by hand

  // Called between a cut and its merge: what writers do meanwhile.
  std::function<void()> after_cut;
  // Merges what the container of a key holds. Returns whether something was merged.
  bool flush(std::string_view key, bool recluster = false, bool force = true) {
    MergePolicy policy = setup_.policy;
    policy.recluster = recluster;
    std::optional<TreeState::Cut> cut = this->cut(key, force);
    if (!cut.has_value()) return false;
    if (after_cut) after_cut();
    const fixture::Flushed flushed = flusher_.finish(*tree_, *cut, policy);
    fixture::must(flushed.status);
    os::epoch::collect();
    return flushed.status.ok();
  }
  // A flush whose merge fails: the frozen delta stays.
  void freeze_only(std::string_view key) {
    std::optional<TreeState::Cut> cut = this->cut(key, true);
    if (cut.has_value()) tree_->give_up(*cut);
  }
  void flush_all(bool recluster = false) {
    for (const std::string& low : lows()) flush(low, recluster);
  }
  std::vector<std::string> lows() {
    const os::epoch::Guard guard;
    std::vector<std::string> result;
    for (const Container* container : tree_->directory().all()) result.push_back(container->low);
    return result;
  }
  // Throws all out of memory that nobody pins.
  void evict_all() { store_.evict_all(); }

  // ---- Snapshots

  Snapshots::Registration snapshot() { return store_.snapshots.add(store_.visible); }
  void drop(const Snapshots::Registration& snapshot) { store_.snapshots.remove(snapshot.slot); }

 private:
  std::optional<TreeState::Cut> cut(std::string_view key, bool force) {
    const os::epoch::Guard guard;
    return tree_->cut(tree_->directory().find(key), force);
  }

  const Setup setup_;
  fixture::TestStore store_;
  std::unique_ptr<TreeState> tree_;
  fixture::Flusher flusher_;
  std::map<std::string, std::map<Lsn, std::optional<std::string>>> model_;
};

// ---- A cursor beside what it must show

class CheckedCursor {
 public:
  CheckedCursor(TestTree* test, const ReadView& view, Contents contents,
                TreeCursor::Options options)
      : contents_(std::move(contents)),
        options_(options),
        cursor_(test->tree(), view, std::move(options)) {}

  TreeCursor& cursor() { return cursor_; }
  // What the cursor's transaction wrote goes here as well.
  void expect(const TestTree::Changes& changes) {
    TestTree::apply(changes, &contents_);
    touched_ = true;
  }

  void first() { check(cursor_.first(), from(contents_.begin())); }
  void last() { check(cursor_.last(), until(contents_.end())); }
  void seek(const std::string& key) { check(cursor_.seek(key), from(contents_.lower_bound(key))); }
  void seek_for_prev(const std::string& key) {
    check(cursor_.seek_for_prev(key), until(contents_.upper_bound(key)));
  }
  void next() {
    if (!valid_) {
      ASSERT_FALSE(cursor_.next());
      return;
    }
    check(cursor_.next(), from(contents_.upper_bound(key_)));
  }
  void prev() {
    if (!valid_) {
      ASSERT_FALSE(cursor_.prev());
      return;
    }
    check(cursor_.prev(), until(contents_.lower_bound(key_)));
  }
  void skip(int64_t n) {
    if (n == 0 || !valid_) {
      ASSERT_EQ(cursor_.skip(n), valid_);
      return;
    }
    auto at = n > 0 ? contents_.upper_bound(key_) : contents_.lower_bound(key_);
    bool more = n < 0 || in_range(at);
    for (int64_t i = 1; i < n && more; ++i) more = in_range(++at);
    for (int64_t i = n; i < 0 && more; ++i) {
      more = at != contents_.begin() && in_range(std::prev(at));
      if (more) --at;
    }
    check(cursor_.skip(n), more ? at : contents_.end());
  }
  // The cursor stands nowhere afterwards.
  void count() {
    uint64_t expected = 0;
    for (auto at = contents_.begin(); at != contents_.end(); ++at) expected += in_range(at) ? 1 : 0;
    const Result<uint64_t> counted = cursor_.count();
    ASSERT_TRUE(counted.ok()) << counted.status().to_string();
    ASSERT_EQ(*counted, expected);
    ASSERT_FALSE(cursor_.valid());
    valid_ = false;
    batching_ = false;
    touched_ = false;
  }
  void seek_random(uint64_t random) {
    const bool found = cursor_.seek_random(random);
    auto at =
        found ? contents_.find(std::string(cursor_.key()))
              : from(options_.lower ? contents_.lower_bound(*options_.lower) : contents_.begin());
    ASSERT_TRUE(!found || in_range(at)) << "a random place that is none: " << cursor_.key();
    check(found, at);
  }
  // Takes batches of `size` until `total` entries or the end came.
  void batches(size_t size, size_t total) {
    // The entry that it stands on is shown as it was when it came there.
    if (touched_ && !batching_) next();
    std::vector<Entry> out(size);
    auto expected = batching_ ? contents_.upper_bound(key_)
                    : valid_  ? contents_.find(key_)
                              : contents_.end();
    batching_ = batching_ || valid_;
    valid_ = false;
    touched_ = false;
    size_t seen = 0;
    for (;;) {
      const size_t count = cursor_.next_batch(out);
      ASSERT_TRUE(cursor_.status().ok()) << cursor_.status().to_string();
      ASSERT_LE(count, size);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(in_range(expected)) << "a batch showed too much: " << out[i].key;
        ASSERT_EQ(out[i].key, expected->first);
        ASSERT_EQ(out[i].value, value_of(expected));
        key_ = expected->first;
        ++expected;
      }
      seen += count;
      if (count == 0) {
        ASSERT_FALSE(batching_ && in_range(expected)) << "no batch from " << expected->first;
        batching_ = false;
        break;
      }
      ASSERT_FALSE(cursor_.valid());
      if (seen >= total) break;
    }
  }

  void random_move(Prng& prng, const std::string& key) {
    switch (prng.below(18)) {
      case 12:
      case 13:
      case 14:
        return skip(static_cast<int64_t>(prng.below(prng.one_in(2) ? 8 : 400)) *
                    (prng.one_in(2) ? 1 : -1));
      case 15:
      case 16:
        return seek_random(prng.next());
      case 17:
        return count();
      case 0:
        return first();
      case 1:
        return last();
      case 2:
        return seek(key);
      case 3:
        return seek_for_prev(key);
      case 4:
        return batches(1 + prng.below(prng.one_in(2) ? 5 : 700), prng.below(600));
      case 5:
        for (uint64_t i = prng.below(40); i > 0; --i) prev();
        return;
      case 6:
        return prev();
      case 7:
        return next();
      default:
        for (uint64_t i = prng.below(60); i > 0; --i) next();
        return;
    }
  }

 private:
  bool in_range(Contents::const_iterator at) const {
    return at != contents_.end() && (!options_.lower || at->first >= *options_.lower) &&
           (!options_.upper || at->first < *options_.upper);
  }
  Contents::iterator from(Contents::iterator at) {
    if (options_.lower && (at != contents_.end() && at->first < *options_.lower)) {
      at = contents_.lower_bound(*options_.lower);
    }
    return in_range(at) ? at : contents_.end();
  }
  // The one before.
  Contents::iterator until(Contents::iterator at) {
    if (options_.upper && (at == contents_.end() || at->first > *options_.upper)) {
      at = contents_.lower_bound(*options_.upper);
    }
    if (at == contents_.begin()) return contents_.end();
    --at;
    return in_range(at) ? at : contents_.end();
  }
  std::string value_of(Contents::const_iterator at) const {
    return options_.key_only ? std::string() : TestTree::shown(at->second);
  }
  void check(bool found, Contents::iterator expected) {
    ASSERT_TRUE(cursor_.status().ok()) << cursor_.status().to_string();
    touched_ = false;
    batching_ = false;
    valid_ = expected != contents_.end();
    ASSERT_EQ(found, valid_) << (found ? "shows " + std::string(cursor_.key())
                                       : "misses " + expected->first);
    ASSERT_EQ(cursor_.valid(), valid_);
    if (!valid_) return;
    key_ = expected->first;
    ASSERT_EQ(cursor_.key(), expected->first);
    ASSERT_EQ(cursor_.value(), value_of(expected));
  }

  Contents contents_;
  TreeCursor::Options options_;
  TreeCursor cursor_;
  std::string key_;  // that it stands on
  bool valid_ = false;
  bool batching_ = false;  // it stands behind a batch that ended with key_
  bool touched_ = false;   // own writes came since the last move
};

// ---- Keys and values of all shapes

class Generator {
 public:
  explicit Generator(uint64_t seed) : prng_(seed) {}

  Prng& prng() { return prng_; }
  uint64_t below(uint64_t bound) { return prng_.below(bound); }
  bool chance(uint64_t one_in) { return prng_.one_in(one_in); }

  // Out of a few hundred to a few thousand, so that keys meet again.
  std::string key() {
    switch (shape_) {
      case 0:
        return number(below(3000) * 7);
      case 1:  // ties in heads, prefixes of one another, zero bytes
      {
        static constexpr char kLetters[] = {'\0', 'a', 'b', '\xff'};
        std::string key;
        for (uint64_t i = below(12); i > 0; --i) key += kLetters[below(4)];
        return key;
      }
      case 2:
        return "user/" + std::to_string(below(40)) + "/account/" + std::to_string(below(50));
      case 3: {
        std::string key(below(3) == 0 ? 600 + below(3) : 20, 'k');
        key += number(below(300));
        return key;
      }
      default: {
        const uint64_t shape = shape_;
        shape_ = below(4);
        std::string result = key();
        shape_ = shape;
        return result;
      }
    }
  }
  std::string value() {
    switch (value_shape_) {
      case 0:
        return text(8);
      case 1:
        return text(256);
      default:
        break;
    }
    switch (below(8)) {
      case 0:
        return {};
      case 1:
        return text(below(5000));
      case 2:
        return chance(10) ? kLargeMark + std::to_string(below(1000)) + ":" +
                                std::to_string((size_t{64} << 10) + 1 + below(70000))
                          : text(100);
      case 3:
      case 4:
        return text(200);
      default:
        return text(below(40));
    }
  }
  void set_shapes(uint64_t keys, uint64_t values) {
    shape_ = keys;
    value_shape_ = values;
  }
  static std::string number(uint64_t n) {
    std::string key(8, '\0');
    hawthorn::store(key.data(), __builtin_bswap64(n));
    return key;
  }

 private:
  std::string text(size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>('a' + below(26));
    return text;
  }
  Prng prng_;
  uint64_t shape_ = 4;
  uint64_t value_shape_ = 2;
};

}  // namespace hawthorn::tree::cursor_test
