#pragma once
// How what a program calls keys and values becomes what a tree stores: by the order of its keys,
// and, where a key may have several values, by putting these behind it. Pure.
//
//   one value       key ──order──> stored key                 value ──> stored value
//   several values  key ──order──> head, value ──order──> tail; head and tail are the stored key
//   entries end     the same behind a byte 1; stored values begin with the moment, 0 for never.
//                   Beside an entry that ends stands its note: byte 0, the moment rounded up,
//                   and its stored key without the first byte. It leads the background to the entry
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
// the second byte, and u64, little-endian: the default, in milliseconds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/key_order.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kOrderNameBytesMax = 255;
inline constexpr size_t kTreeShapeBytesMax = 4 + 2 * kOrderNameBytesMax + 8;

// What a shape is made of.
struct TreeShapeNames {
  std::string order;        // never empty
  std::string value_order;  // never empty
  bool multi_value = false;
  bool expires = false;
  uint64_t ttl_ms = 0;
  bool operator==(const TreeShapeNames&) const = default;
};
std::string encode_tree_shape(const TreeShapeNames& names);
// Nothing where the bytes are not those of a shape that this version knows.
std::optional<TreeShapeNames> decode_tree_shape(std::string_view bytes);

// The order of this name that comes with the library; null: none does. "bytewise" has no object.
const KeyOrder* library_order(std::string_view name);
inline constexpr std::string_view kBytewiseOrder = "bytewise";

class TreeShape {
 public:
  // Null orders: byte by byte.
  TreeShape(TreeShapeNames names, const KeyOrder* order, const KeyOrder* value_order)
      : names_(std::move(names)), order_(order), value_order_(value_order) {}

  const TreeShapeNames& names() const { return names_; }
  bool multi_value() const { return names_.multi_value; }
  bool expires() const { return names_.expires; }
  uint64_t ttl_ms() const { return names_.ttl_ms; }

  // Appends the stored key, or the head where there are several values.
  // Errors: kInvalidArgument where it is no key in this order, or too long.
  Status store_key(std::string_view key, std::string* stored) const;
  // Appends head and tail.
  Status store_pair(std::string_view key, std::string_view value, std::string* stored) const;
  // The end of all stored keys that begin with `head`; nothing: the end of the tree.
  static std::optional<std::string> behind(std::string_view head);

  // Replaces *key, and where there are several values *value, which else may be null. Errors:
  // kCorruption.
  Status load(std::string_view stored, std::string* key, std::string* value) const;
  // Only *key, of a stored key or, where there are several values, of a head. Errors: kCorruption.
  Status load_head(std::string_view stored, std::string* key) const;
  // Where entries end: all of them lie in [kEntries, kEntriesEnd), all notes before.
  static constexpr std::string_view kEntries = "\1";
  static constexpr std::string_view kEntriesEnd = "\2";
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
  Status load_key(std::string_view sort_key, std::string* key) const;
  Status check_size(size_t stored_bytes) const;

  const TreeShapeNames names_;
  const KeyOrder* const order_;
  const KeyOrder* const value_order_;
};

}  // namespace hawthorn::format
