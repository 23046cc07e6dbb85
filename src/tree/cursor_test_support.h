#pragma once
// For tests of the cursor: one tree with all that it stands on, on a simulated machine, next to a
// model that knows every version of every key.
//
// Commits go through intents, slots and visible_ts as a transaction's do, without log records.
// Not here: the tests (cursor_test.cc, cursor_concurrency_test.cc).
// Threads: one for TestTree; a TestTree::Writer may run beside readers and a flusher.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "os/epoch.h"
#include "testing/sim_machine.h"
#include "tree/cursor.h"
#include "tree/merge.h"
#include "tree/tree.h"

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
      : setup_(setup), disk_(setup.seed), machine_(disk_, setup.seed) {
    EXPECT_TRUE(disk_.make_directory("/db").ok());
    arena_ = os::Arena::create(setup.budget).value();
    space::SpaceOptions options;
    options.file_bytes_first = size_t{8} << 20;
    space_ = space::Space::open(machine_.machine(), "/db", options).value();
    residency_ = std::make_unique<Residency>(machine_.machine(), arena_.get(), space_.get());
    residency_->set_reserve(setup.reserve);
    const wal::LogOptions log_options{.ring_bytes = size_t{64} << 10,
                                      .segment_bytes = size_t{128} << 10};
    log_ = wal::Log::start(machine_.machine(), "/db", log_options,
                           {.number = 1, .start = log_options.segment_bytes, .salt = 1},
                           format::kLsnMax, 0)
               .value();
    store_.machine = &machine_.machine();
    store_.arena = arena_.get();
    store_.space = space_.get();
    store_.residency = residency_.get();
    store_.slots = &slots_;
    store_.snapshots = &snapshots_;
    store_.large = &large_;
    store_.visible = &visible_;
    store_.log = log_.get();
    format::ContainerRecord record;
    record.id = store_.next_container.fetch_add(1);
    record.tree = 7;
    tree_ = std::make_unique<TreeState>(
        &store_, 7, "test", std::vector<Container*>{TreeState::empty_container(&store_, record)});
    merger_ = std::make_unique<Merger>(&store_);
  }
  ~TestTree() {
    merger_.reset();
    tree_.reset();
    os::epoch::drain();
  }

  TreeState* tree() { return tree_.get(); }
  Store& store() { return store_; }
  testing::SimDisk& disk() { return disk_; }
  Residency& residency() { return *residency_; }
  Snapshots& snapshots() { return snapshots_; }
  std::atomic<Lsn>& visible() { return visible_; }

  // ---- Writing

  // A transaction from the inside. Keys stay in the object.
  class Writer {
   public:
    explicit Writer(TestTree* test) : test_(test), id_(test->slots_.acquire()) {
      context_.id = id_;
      context_.undo = &undo_;
    }
    ~Writer() {
      if (id_ != 0) abort();
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    TxnId id() const { return id_; }
    void write(std::string_view key, VersionKind kind, std::string_view value) {
      keys_.push_back(std::make_unique<std::string>(key));
      Status status = test_->tree_->write(context_, *keys_.back(), kind, value);
      EXPECT_TRUE(status.ok()) << status.to_string();
      if (!status.ok()) keys_.pop_back();
    }
    void put(std::string_view key, std::string_view value) { write(key, VersionKind::kPut, value); }
    void del(std::string_view key) { write(key, VersionKind::kTombstone, ""); }
    Lsn commit() {
      const Lsn cts = test_->visible_.load() + 10;
      test_->slots_.commit(id_, cts);
      test_->visible_.store(cts, std::memory_order_release);
      for (const Undo& undo : undo_) TreeState::stamp(undo, id_, cts);
      end();
      return cts;
    }
    void abort() {
      test_->slots_.abort(id_);
      for (size_t i = undo_.size(); i > 0; --i) TreeState::roll_back(undo_[i - 1], id_);
      end();
    }

   private:
    void end() {
      test_->slots_.release(id_);
      id_ = 0;
      undo_.clear();
    }
    TestTree* const test_;
    TxnId id_;
    WriteContext context_;
    std::vector<Undo> undo_;
    std::vector<std::unique_ptr<std::string>> keys_;
  };

  // One committed write of each pair; a value of nullopt deletes.
  using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;
  void commit(const Changes& changes) {
    Writer writer(this);
    for (const auto& [key, value] : changes) write_as_model(writer, key, value);
    const Lsn cts = writer.commit();
    for (const auto& [key, value] : changes) model_[key][cts] = value;
  }
  // Writes the value that the model has as "large:NUMBER:SIZE" into extents of its own.
  void write_as_model(Writer& writer, const std::string& key,
                      const std::optional<std::string>& value) {
    if (!value.has_value()) {
      writer.del(key);
    } else if (value->starts_with(kLargeMark)) {
      writer.write(key, VersionKind::kLarge, encode_large(*value));
    } else {
      writer.put(key, *value);
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

  // ---- Background work, done by hand

  // Merges what the container of a key holds. Returns whether something was merged.
  bool flush(std::string_view key, bool recluster = false, bool force = true) {
    MergePolicy policy = setup_.policy;
    policy.recluster = recluster;
    std::optional<TreeState::Cut> cut;
    {
      os::epoch::Guard guard;
      cut = tree_->cut(tree_->directory().find(key), force);
    }
    if (!cut.has_value()) return false;
    Result<MergeOutput> merged =
        merger_->merge(*cut->container, cut->frozen, cut->file, cut->cut, policy);
    EXPECT_TRUE(merged.ok()) << merged.status().to_string();
    if (!merged.ok()) {
      tree_->give_up(*cut);
      return false;
    }
    for (const ExtentRef& extent : merged->fresh) {
      EXPECT_TRUE(space_->file(extent->address.file)
                      ->write_at(uint64_t{extent->address.block} * 4096,
                                 {extent->memory.load(), extent->disk_bytes()})
                      .ok());
      extent->writing.store(false);
    }
    tree_->install(*cut, *merged, ++batch_);
    for (ExtentRef& extent : merged->dropped) extent->dropped.store(true);
    os::epoch::collect();
    return true;
  }
  void freeze_only(std::string_view key) {
    std::optional<TreeState::Cut> cut;
    {
      os::epoch::Guard guard;
      cut = tree_->cut(tree_->directory().find(key), true);
    }
    if (cut.has_value()) tree_->give_up(*cut);
  }
  void flush_all(bool recluster = false) {
    for (const std::string& low : lows()) flush(low, recluster);
  }
  std::vector<std::string> lows() {
    os::epoch::Guard guard;
    std::vector<std::string> result;
    for (const Container* container : tree_->directory().all()) result.push_back(container->low);
    return result;
  }
  // Throws all out of memory that nobody pins.
  void evict_all() {
    while (residency_->make_room(size_t{1} << 40)) {
    }
  }

  // ---- Snapshots

  struct Snapshot {
    Snapshots::Registration registration;
    Lsn ts() const { return registration.ts; }
  };
  Snapshot snapshot() { return {snapshots_.add(visible_)}; }
  void drop(const Snapshot& snapshot) { snapshots_.remove(snapshot.registration.slot); }

 private:
  std::string encode_large(const std::string& mark) {
    const std::string bytes = shown(mark);
    format::LargeValue value;
    value.size = bytes.size();
    for (size_t at = 0; at < bytes.size(); at += format::kLargeChunkBytes) {
      value.checksum = format::extend_large_checksum(
          value.checksum, std::string_view(bytes).substr(at, format::kLargeChunkBytes));
    }
    const size_t padded = align_up(bytes.size(), 4096);
    const ExtentAddress address = space_->allocate(static_cast<uint32_t>(padded / 4096)).value();
    char* memory = residency_->allocate(os::Quota::kMerge, padded);
    EXPECT_NE(memory, nullptr);
    std::memset(memory, 0, padded);
    std::memcpy(memory, bytes.data(), bytes.size());
    EXPECT_TRUE(space_->file(address.file)
                    ->write_at(uint64_t{address.block} * 4096, {memory, padded})
                    .ok());
    residency_->release(os::Quota::kMerge, memory, padded);
    value.extents.push_back(address);
    large_.add(ExtentRef(
        new Extent(residency_.get(), address, static_cast<uint32_t>(bytes.size()), false)));
    std::string encoded;
    format::append_large_value(encoded, value);
    return encoded;
  }

  const Setup setup_;
  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::unique_ptr<os::Arena> arena_;
  std::unique_ptr<space::Space> space_;
  std::unique_ptr<Residency> residency_;
  std::unique_ptr<wal::Log> log_;
  TxnSlots slots_;
  Snapshots snapshots_;
  LargeExtents large_;
  std::atomic<Lsn> visible_{100};
  Store store_;
  std::unique_ptr<TreeState> tree_;
  std::unique_ptr<Merger> merger_;
  uint64_t batch_ = 0;
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
  // Own writes go here as well.
  void expect_put(const std::string& key, const std::string& value) {
    contents_[key] = value;
    touched_ = true;
  }
  void expect_del(const std::string& key) {
    contents_.erase(key);
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
    switch (prng.below(12)) {
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
