#pragma once
// Operands of a merge operator that stand one behind the other: how a run's record keeps those that
// were not folded into a value. Pure.
//
// Not here: what operands mean (hawthorn/merge_operator.h), when they are folded (tree/merge.h).
//
// FIELD        ENCODING
// size         varint
// operand      bytes
//              and so on to the end, oldest first; at least one

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace hawthorn::format {

inline void append_operand(std::string& to, std::string_view operand) {
  append_varint(to, operand.size());
  to.append(operand);
}

// Takes the first operand off `*rest`, which is not empty. False: it is malformed.
inline bool take_operand(std::string_view* rest, std::string_view* operand) {
  uint64_t size = 0;
  const char* end = rest->data() + rest->size();
  const char* from = get_varint(rest->data(), end, &size);
  if (from == nullptr || size > static_cast<size_t>(end - from)) return false;
  *operand = {from, static_cast<size_t>(size)};
  *rest = {from + size, static_cast<size_t>(end - from - size)};
  return true;
}

// Whether these are operands, one at least, and nothing else.
inline bool operands_are_whole(std::string_view encoded) {
  if (encoded.empty()) return false;
  std::string_view operand;
  while (!encoded.empty()) {
    if (!take_operand(&encoded, &operand)) return false;
  }
  return true;
}

}  // namespace hawthorn::format
