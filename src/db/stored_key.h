#pragma once
// What a tree stores for the keys and values of its caller, by the tree's shape
// (format/tree_shape.h). Made where a public function begins; what lies below knows stored keys
// only.
//
// Used by the public functions of db. Threads: one at a time.
//
// 1. Of a tree without a shape nothing is copied: a view is the caller's.
// 2. Each has a status; its views are good only where that is OK.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "hawthorn/key_order.h"
#include "hawthorn/status.h"
#include "tree/tree.h"

namespace hawthorn::db {

// What a key is for: kSeek where it is only looked for, by a reader whose moment is not to come
// yet. Matters where the order is a comparison.
using Use = format::ComparedSortKeys::Use;

// The one entry of a key. Errors: kInvalidArgument for what is no key; kNotSupported where a key
// may have several values.
class StoredKey {
 public:
  StoredKey(const tree::TreeState& tree, std::string_view key, Use use = Use::kStore) : view_(key) {
    if (tree.shape() != nullptr) [[unlikely]] {
      store(*tree.shape(), key, use);
    }
  }
  StoredKey(const StoredKey&) = delete;
  StoredKey& operator=(const StoredKey&) = delete;
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  std::string_view view() const { return view_; }

 private:
  void store(const format::TreeShape& shape, std::string_view key, Use use);
  std::string_view view_;
  std::string own_;
  Status status_;
};

// Many of them. Errors: as StoredKey.
class StoredKeys {
 public:
  // `keys` is replaced by stored ones, which live as long as this.
  StoredKeys(const tree::TreeState& tree, std::span<const std::string_view>* keys,
             Use use = Use::kStore) {
    if (tree.shape() != nullptr) [[unlikely]] {
      store(*tree.shape(), keys, use);
    }
  }
  StoredKeys(const StoredKeys&) = delete;
  StoredKeys& operator=(const StoredKeys&) = delete;
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

 private:
  void store(const format::TreeShape& shape, std::span<const std::string_view>* keys, Use use);
  std::string own_;
  std::vector<std::string_view> views_;
  Status status_;
};

// An entry: where a key may have several values, its value is a part of the stored key; where
// entries end, the value begins with the moment, by default the tree's. Errors: kInvalidArgument,
// also for an expiry where entries do not end.
class StoredPair {
 public:
  StoredPair(const tree::TreeState& tree, std::string_view key, std::string_view value,
             const Expiry* expiry = nullptr)
      : key_(key), value_(value) {
    if (tree.shape() != nullptr || expiry != nullptr) [[unlikely]] {
      store(tree, expiry);
    }
  }
  StoredPair(const StoredPair&) = delete;
  StoredPair& operator=(const StoredPair&) = delete;
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  // Of an entry that ends: what is to be put, without a value, before the entry. Else empty.
  std::string_view note() const { return note_; }

 private:
  void store(const tree::TreeState& tree, const Expiry* expiry);
  std::string_view key_;
  std::string_view value_;
  std::string own_;
  std::string own_value_;
  std::string note_;
  Status status_;
};

// A range of keys, its end not included. An empty low end is none. Where there is more in the tree
// than entries, the stored range has both ends in any case. Errors: kInvalidArgument.
class StoredRange {
 public:
  StoredRange(const tree::TreeState& tree, std::string_view low,
              std::optional<std::string_view> high, Use use = Use::kStore)
      : low_(low), high_(high) {
    if (tree.shape() != nullptr) [[unlikely]] {
      store(*tree.shape(), use);
    }
  }
  StoredRange(const StoredRange&) = delete;
  StoredRange& operator=(const StoredRange&) = delete;
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  std::string_view low() const { return low_; }
  std::optional<std::string_view> high() const { return high_; }

 private:
  void store(const format::TreeShape& shape, Use use);
  std::string_view low_;
  std::optional<std::string_view> high_;
  std::string own_low_;
  std::string own_high_;
  Status status_;
};

// Whether where a key stands depends on when it is asked, so that it must not be before the moment
// that is read.
inline bool compared(const tree::TreeState& tree) {
  return tree.shape() != nullptr && tree.shape()->compared();
}

// Whether a key of this tree may have several values.
inline bool several_values(const tree::TreeState& tree) {
  return tree.shape() != nullptr && tree.shape()->multi_value();
}
// Whether trees may hang in this one.
inline bool holds_subtrees(const tree::TreeState& tree) {
  return tree.shape() != nullptr && tree.shape()->subtrees();
}
Status not_with_several_values();
Status not_without_several_values();

// Makes of stored entries those of the caller, without what has ended at `now_ms`; their bytes are
// in *loaded then, but for values that are no part of a key. Errors: kCorruption.
Status load_entries(const tree::TreeState& tree, uint64_t now_ms, std::span<Entry>* entries,
                    std::string* loaded);

// ---- Entries that end

inline bool expires(const tree::TreeState& tree) {
  return tree.shape() != nullptr && tree.shape()->expires();
}
// The present, which never goes back. Of a database without such trees it is not looked at.
uint64_t expiry_now(tree::Store& store);
inline uint64_t expiry_now_if_used(tree::Store& store) {
  return store.expires.load(std::memory_order_acquire) ? expiry_now(store) : 0;
}
// Whether a stored value's moment has come. Errors: kCorruption.
Result<bool> has_ended(std::string_view stored_value, uint64_t now_ms);
// Takes the moment off a value that was read; kNotFound where it has come.
Status take_moment(const tree::TreeState& tree, uint64_t now_ms, Value* value);
Status take_moments(const tree::TreeState& tree, uint64_t now_ms, ReadBatch* batch);

// All values of a key, as stored keys. Errors: kInvalidArgument.
struct StoredValues {
  std::string head;
  std::optional<std::string> end;  // nothing: the tree's
};
Result<StoredValues> stored_values(const tree::TreeState& tree, std::string_view key,
                                   Use use = Use::kStore);

}  // namespace hawthorn::db
