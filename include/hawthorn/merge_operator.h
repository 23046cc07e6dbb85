#pragma once
// Merge operators: changes of a value that are written without reading it. Db::merge logs an
// operand alone; the value is made of what stood there and of all operands since, when it is read
// or written to its container.
//
//   options.merge_operators = {hawthorn::uint64_add()};
//   ...
//   db->set_merge_operator(counters, "uint64_add");     // once for a tree; kept with it
//   db->merge(counters, "visits", eight_bytes_little_endian);
//
// An operator must be a pure function of what it is given, for as long as the database exists: the
// same operands may be folded at any time, some of them early, and again after a restart. Folding
// some and then the rest must give what folding all at once gives.
//
// Threads: its functions are called from any thread, several at a time, also of the background;
// never under a lock. They must not call the database. One that throws counts as one that refuses.
// Lifetime: shared with the database that it was given to.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/export.h"

namespace hawthorn {

class HAWTHORN_EXPORT MergeOperator {
 public:
  virtual ~MergeOperator() = default;

  // What a tree remembers it by: 1 to 255 bytes, always the same.
  virtual std::string_view name() const = 0;

  // Folds operands, oldest first and at least one, into a value. `existing`: nothing where the key
  // is absent or deleted. `result` is empty at first. False: these do not fit together. Then reads
  // of the key give kCorruption until something else is put there; nothing is lost, the operands
  // are kept as they are.
  virtual bool merge(std::string_view key, std::optional<std::string_view> existing,
                     std::span<const std::string_view> operands, std::string* result) const = 0;

  // Makes one operand of two neighbours, `left` being the older one: it must have the same effect
  // on whatever stands before it. Saves memory where the value itself is not at hand. False: cannot
  // (the default).
  virtual bool combine(std::string_view key, std::string_view left, std::string_view right,
                       std::string* result) const;
};

inline bool MergeOperator::combine(std::string_view, std::string_view, std::string_view,
                                   std::string*) const {
  return false;
}

// "uint64_add": value and operands are numbers of 8 bytes, little-endian; an absent key counts as
// 0. The sum wraps around. Refuses other sizes.
HAWTHORN_EXPORT std::shared_ptr<const MergeOperator> uint64_add();

// "append", or "append:" and the separator: operands are appended to the value, behind a separator
// each, but where the key is absent. The separator has at most 200 bytes (the rest is cut off).
HAWTHORN_EXPORT std::shared_ptr<const MergeOperator> append_with(std::string_view separator);

// "max": the greatest of value and operands, compared byte by byte.
HAWTHORN_EXPORT std::shared_ptr<const MergeOperator> bytewise_max();

}  // namespace hawthorn
