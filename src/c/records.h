#pragma once
// Lists of named fields, as they are made for the program: figures, names, reports, events.
//
// Not here: which fields there are (c/stats.cc and who else makes them). Used by all of src/c.
// Threads: made by one; read by any.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c/call.h"
#include "hawthorn/c.h"

namespace hawthorn::c {

struct Field {
  std::string name;
  hawthorn_field_type type = HAWTHORN_FIELD_NONE;
  hawthorn_unit unit = HAWTHORN_UNIT_NUMBER;
  uint64_t number = 0;
  std::string bytes = {};
  std::unique_ptr<hawthorn_records> records = {};
};

class Row {
 public:
  Row& number(std::string_view name, uint64_t value, hawthorn_unit unit = HAWTHORN_UNIT_NUMBER);
  Row& size(std::string_view name, uint64_t value) {
    return number(name, value, HAWTHORN_UNIT_BYTES);
  }
  Row& us(std::string_view name, uint64_t value) {
    return number(name, value, HAWTHORN_UNIT_MICROSECONDS);
  }
  Row& flag(std::string_view name, bool value);
  Row& bytes(std::string_view name, std::string_view value);
  Row& bytes(std::string_view name, const std::optional<std::string>& value);
  Row& list(std::string_view name, hawthorn_records records);
  // The fields `code` and `message`.
  Row& status(const Status& status);
  const std::vector<Field>& fields() const { return fields_; }

 private:
  Field& add(std::string_view name, hawthorn_field_type type);
  std::vector<Field> fields_;
};

}  // namespace hawthorn::c

struct hawthorn_records {
  std::vector<hawthorn::c::Row> rows;

  hawthorn::c::Row& add() { return rows.emplace_back(); }
};

namespace hawthorn::c {

// Puts them where the caller wants them; `out` may be null.
inline void hand_out_records(hawthorn_records** out, hawthorn_records records) {
  if (out != nullptr) *out = new hawthorn_records(std::move(records));
}
// One row for each text, with one field.
hawthorn_records list_of(std::string_view field, const std::vector<std::string>& texts);

}  // namespace hawthorn::c
