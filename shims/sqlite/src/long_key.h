#pragma once
// Index entries whose keys (record_key.h) are longer than the engine's may be.
//
//   key     the first kWholeKeyBytesMax bytes of the entry's own key, and behind them its label
//   value   00 00, the size of the rest of its key in 8 bytes, that rest, and what the value of an
//           entry with a whole key is: its record, or the part that the key does not tell
//
// Entries that begin alike for so long are a group, in which the labels are the order: an entry
// that comes between two gets a label between theirs. So a walk is one of the engine's as ever;
// who seeks in a group reads some of its entries, about as many as a binary search does, and not
// more than the bits of two labels.
//
// Not here: where they are read and written (HwCursor). Used by that and by integrity checks.
// Threads: pure functions.
//
// 1. No key of an index begins with another one (record_key.h), so no other key is in a group.
// 2. A label is not empty and ends with no 00: there is one between any two. It has at most
//    kLabelBytesMax bytes: where the one that is needed had more the group gets new labels.
// 3. The numbers below are kept in databases: they never change.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hawthorn::sqlite {

constexpr size_t kLabelBytesMax = 24;
constexpr size_t kWholeKeyBytesMax = 65535 - kLabelBytesMax;

// Of an entry's own key, and of the engine's.
inline bool is_long(std::string_view key) { return key.size() > kWholeKeyBytesMax; }
// Of long ones.
inline std::string_view group_of(std::string_view key) { return key.substr(0, kWholeKeyBytesMax); }
inline std::string_view behind_group(std::string_view key) { return key.substr(kWholeKeyBytesMax); }

struct LongValue {
  std::string_view rest;    // of the key
  std::string_view record;  // or a short value in its place (record_key.h)
};

std::string encode_long_value(const LongValue& value);
// Nothing: it is none of these.
std::optional<LongValue> decode_long_value(std::string_view bytes);

// One between two labels, of which `low` is empty where there is none before, and `high` where
// there is none behind. In the middle; or, for entries that come in order, near to the one beside
// which there is no other one.
enum class Between { kMiddle, kNear };
std::string label_between(std::string_view low, std::string_view high, Between where);
// The label of the entry with this number, of so many, of which none is near to another one.
std::string label_of(size_t number, size_t count);

}  // namespace hawthorn::sqlite
