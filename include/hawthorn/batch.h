#pragma once
// A list of writes that Db::write commits as one: all of them or none, visible at one moment.
//
// Operations apply in the order in which they were added; a later one on the same key wins.
// Threads: one object from one thread at a time. Lifetime: keys and values are copied into the
// batch. Limits: keys up to limits().key_bytes_max, values up to limits().batch_value_bytes_max.
// What cannot be added, Db::write tells, and writes nothing. A Tree of which a key order or several
// values are asked (key_order.h) must be one of an open database.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

class Expiry;
class Tree;
namespace db {
class StoredPair;
}
namespace format {
enum class OperationType : uint8_t;
}

class HAWTHORN_EXPORT WriteBatch {
 public:
  WriteBatch() = default;

  void put(const Tree& tree, std::string_view key, std::string_view value);
  // Of an entry that ends: `after_ms` counts from this call.
  void put(const Tree& tree, std::string_view key, std::string_view value, const Expiry& expiry);
  // Not of trees whose keys may have several values.
  void del(const Tree& tree, std::string_view key);
  // One value of a key that may have several.
  void del_value(const Tree& tree, std::string_view key, std::string_view value);
  // As Db::delete_range, of what is there before the batch, and of what it has put there so far:
  // that is looked through, so this takes longer the more there is in the batch.
  void delete_range(const Tree& tree, std::string_view low,
                    std::optional<std::string_view> high = std::nullopt);
  // As Db::merge; what is wrong with it, Db::write says.
  void merge(const Tree& tree, std::string_view key, std::string_view operand);

  // Forgets all operations; keeps the memory.
  void clear();
  // The number of operations.
  size_t count() const { return count_; }
  // The bytes that the operations take in the log.
  size_t bytes() const { return ops_.size(); }

 private:
  friend class Db;
  friend struct BatchAccess;
  bool fits(size_t key_bytes, size_t value_bytes, size_t value_bytes_max);
  HAWTHORN_HIDDEN void add(format::OperationType type, const Tree& tree,
                           std::string_view stored_key, std::string_view value);
  HAWTHORN_HIDDEN void put_shaped(const Tree& tree, const db::StoredPair& stored);
  HAWTHORN_HIDDEN void lose();
  void delete_stored_range(const Tree& tree, std::string_view low,
                           std::optional<std::string_view> high);
  std::string ops_;  // operations as the log stores them
  size_t count_ = 0;
  Status refused_;      // why an operation was not added: write fails
  bool large_ = false;  // some value goes to extents of its own
};

}  // namespace hawthorn
