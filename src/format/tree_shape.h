#pragma once
// How what a program calls keys and values becomes what a tree stores: by the order of its keys,
// and, where a key may have several values, by putting these behind it. Pure.
//
//   one value       key ──order──> stored key                 value ──> stored value
//   several values  key ──order──> head, value ──order──> tail; head and tail are the stored key
//   entries end     the same behind a byte 1; stored values begin with the moment, 0 for never.
//                   Beside an entry that ends stands its note: byte 0, the moment rounded up,
//                   and its stored key without the first byte. It leads the background to the entry
//   compared        the order is a comparison: a sort key is a label and the key. Entries stand
//                   behind a byte 1, and the labels that there are in rows of their own: byte 3
//                   for those of keys, 4 for those of values, and the sort key
//
// Below the public functions there are stored keys only, compared byte by byte. Not here: where
// that is done (db/stored_key.h). Threads: any; nothing changes.
//
// 1. Stored keys stand in the order that is meant: by key, then by value.
// 2. No head begins with another. Those of orders whose sort keys have no fixed size have each zero
//    byte followed by 255, and end with two zeros.
// 3. All stored keys with a head, and no others, are in [head, behind(head)).
// 4. A tree without a shape stores what it is given.
// 5. Whoever stores an entry that ends stores its note with it. Notes stay when their entry is
//    replaced or deleted: they say when to look, and nothing else. Of one key there is at most one
//    for each kNoteMs.
//
// As stored with the tree (the manifest's tree record, the catalog's entry): u8: 1, the version;
// u8: 1 where a key may have several values, else 0; u8 and bytes: the size and name of the order
// of keys; the same of values, of size 0 where that is bytewise. Where entries end, 2 is added to
// the second byte, and u64, little-endian: the default, in milliseconds. Where values may be trees,
// 4 is added to the second byte; what is stored does not differ then (catalog_entry.h). Where the
// order of keys is a comparison, 8 is added, where that of values is, 16.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/key_order.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kOrderNameBytesMax = 255;
inline constexpr size_t kTreeShapeBytesMax = 4 + 2 * kOrderNameBytesMax + 8;
// Of the catalog's key of a subtree, before the stored key at which it hangs.
inline constexpr size_t kSubtreeKeyPrefix = 1 + sizeof(uint32_t);

// What a shape is made of.
struct TreeShapeNames {
  std::string order;        // never empty
  std::string value_order;  // never empty
  bool multi_value = false;
  bool expires = false;
  uint64_t ttl_ms = 0;
  bool subtrees = false;  // not with multi_value, expires or compared
  bool compared = false;  // the order is a comparison
  bool values_compared = false;
  bool operator==(const TreeShapeNames&) const = default;
};
std::string encode_tree_shape(const TreeShapeNames& names);
// Nothing where the bytes are not those of a shape that this version knows.
std::optional<TreeShapeNames> decode_tree_shape(std::string_view bytes);

// The order of this name that comes with the library; null: none does. "bytewise" has no object.
const KeyOrder* library_order(std::string_view name);
inline constexpr std::string_view kBytewiseOrder = "bytewise";

// Sort keys of an order that is a comparison (db/compared_keys.h): they are given out, not worked
// out. Threads: any.
class ComparedSortKeys {
 public:
  // Of what has no sort key yet: to store it, or to look for it. The latter need not be kept, and
  // is good for readers of moments up to now: it stands where the key would.
  enum class Use : uint8_t { kStore, kSeek };
  virtual ~ComparedSortKeys() = default;
  // Appends it. Keys that compare equal have the same. Errors: those of a write.
  virtual Status find(std::string_view key, Use use, std::string* sort_key) = 0;
  // The key that it was first given for. False: it is none.
  virtual bool decode(std::string_view sort_key, std::string* key) const = 0;
};

class TreeShape {
 public:
  using Use = ComparedSortKeys::Use;
  // Of one side, keys or values. Both null: byte by byte.
  struct Order {
    const KeyOrder* encoded = nullptr;
    std::unique_ptr<ComparedSortKeys> compared = nullptr;
    size_t fixed_bytes() const { return encoded == nullptr ? 0 : encoded->fixed_bytes(); }
    bool bytewise() const { return encoded == nullptr && compared == nullptr; }
  };
  TreeShape(TreeShapeNames names, Order order, Order value_order)
      : names_(std::move(names)), order_(std::move(order)), value_order_(std::move(value_order)) {}

  const TreeShapeNames& names() const { return names_; }
  bool multi_value() const { return names_.multi_value; }
  bool expires() const { return names_.expires; }
  uint64_t ttl_ms() const { return names_.ttl_ms; }
  bool subtrees() const { return names_.subtrees; }
  // Whether an order of it is a comparison.
  bool compared() const { return names_.compared || names_.values_compared; }
  const Order& order() const { return order_; }
  const Order& value_order() const { return value_order_; }
  // Whether there is more in the tree than entries, which then lie in [kEntries, kEntriesEnd).
  bool framed() const { return expires() || compared(); }
  bool is_entry(std::string_view stored) const { return !framed() || stored.starts_with(kEntries); }

  // Appends the stored key, or the head where there are several values.
  // Errors: kInvalidArgument where it is no key in this order, or too long; those of
  // ComparedSortKeys.
  Status store_key(std::string_view key, std::string* stored, Use use = Use::kStore) const;
  // Appends head and tail.
  Status store_pair(std::string_view key, std::string_view value, std::string* stored,
                    Use use = Use::kStore) const;
  // The end of all stored keys that begin with `head`; nothing: the end of the tree.
  static std::optional<std::string> behind(std::string_view head);

  // Replaces *key, and where there are several values *value, which else may be null. Errors:
  // kCorruption.
  Status load(std::string_view stored, std::string* key, std::string* value) const;
  // Only *key, of a stored key or, where there are several values, of a head. Errors: kCorruption.
  Status load_head(std::string_view stored, std::string* key) const;
  // Where entries end, all notes lie before them; where orders are comparisons, labels behind.
  static constexpr std::string_view kEntries = "\1";
  static constexpr std::string_view kEntriesEnd = "\2";
  static constexpr char kKeyLabels = '\3';
  static constexpr char kValueLabels = '\4';
  static constexpr size_t kMomentBytes = 8;
  static constexpr uint64_t kNoteMs = 1024;
  // What a stored value begins with.
  static void append_moment(std::string& to, uint64_t moment_ms);
  // Errors: kCorruption.
  static Result<uint64_t> moment_of(std::string_view stored_value);
  static std::string note_of(std::string_view stored_key, uint64_t moment_ms);
  // Behind the notes of all moments up to this one.
  static std::string notes_until(uint64_t moment_ms);
  // The moment of a note, rounded up; *stored_key: of its entry. Errors: kCorruption.
  static Result<uint64_t> load_note(std::string_view note, std::string* stored_key);
  static uint64_t round_up(uint64_t moment_ms);

  // Of several values: the size of the head. Errors: kCorruption.
  Result<size_t> head_bytes(std::string_view stored) const;

 private:
  Status check_size(size_t stored_bytes) const;

  const TreeShapeNames names_;
  const Order order_;
  const Order value_order_;
};

}  // namespace hawthorn::format
