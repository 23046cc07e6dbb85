#pragma once
// A merge operator for the model: what an operand makes of a value depends on that value, so that
// one that is lost, counted twice or out of order shows; and for each two values there is an
// operand that makes the one of the other, so that any write can be made by a merge.
//
// An operand is a word of 8 bytes and a size of 4, or several of these behind each other. A value's
// state are its first 8 bytes: the number that its bytes follow from, as far as they fit.

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tests/model/versions.h"

namespace hawthorn::tests {

class ModelOperator : public MergeOperator {
 public:
  static constexpr size_t kOperandBytes = 12;

  // What makes `to`, which is present, of `from`.
  static std::string operand(const ModelValue& from, const ModelValue& to) {
    const uint64_t state = from.present ? cut(from.number, from.size) : 0;
    const uint64_t word = mix64(state) ^ to.number;
    std::string bytes(kOperandBytes, '\0');
    std::memcpy(bytes.data(), &word, 8);
    std::memcpy(bytes.data() + 8, &to.size, 4);
    return bytes;
  }

  std::string_view name() const override { return "model"; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    uint64_t number = 0;
    uint32_t size = 8;
    if (existing.has_value()) {
      size = static_cast<uint32_t>(existing->size());
      std::memcpy(&number, existing->data(), std::min<size_t>(8, size));
    }
    for (const std::string_view list : operands) {
      if (list.empty() || list.size() % kOperandBytes != 0) return false;
      for (size_t at = 0; at < list.size(); at += kOperandBytes) {
        uint64_t word = 0;
        std::memcpy(&word, list.data() + at, 8);
        number = mix64(cut(number, size)) ^ word;
        std::memcpy(&size, list.data() + at + 8, 4);
      }
    }
    *result = value_of(number, size);
    return true;
  }
  bool combine(std::string_view key, std::string_view left, std::string_view right,
               std::string* result) const override {
    if (key.size() % 3 == 0) return false;
    result->append(left).append(right);
    return true;
  }

 private:
  static uint64_t cut(uint64_t number, uint32_t size) {
    return size >= 8 ? number : number & ((uint64_t{1} << 8 * size) - 1);
  }
};

}  // namespace hawthorn::tests
