#pragma once
// Labels: names for places in an order, of which there is always another one between two. Pure.
//
// Compared byte by byte they stand in their order. A label is one or more groups of 8 bytes, each a
// big-endian number: twice a digit, and 1 more where another group follows.
//
// Not here: what is labelled (db/compared_keys.h). Threads: any; nothing changes.
//
// 1. No label begins with another one, so what is appended to them does not change their order.
// 2. Between any two there are more, and before the first and behind the last that was made, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hawthorn::format {

// Where the next one is likely to be asked for: anywhere, or on the far side of the new one, as in
// ascending or descending rows. Then a small part of the room is taken, and not half.
enum class LabelNear : uint8_t { kMiddle, kBefore, kBehind };

// A label between the two; empty: none before, or behind. They are labels, and stand in order.
std::string label_between(std::string_view before, std::string_view behind, LabelNear near);

// The size of the label that these bytes begin with; nothing where they begin with none.
std::optional<size_t> label_bytes(std::string_view bytes);

// Bytes about half-way between the two, to search by; they are no label. Not below `before`.
std::string label_middle(std::string_view before, std::string_view behind);

}  // namespace hawthorn::format
