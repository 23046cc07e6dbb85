#include "c/records.h"

namespace hawthorn::c {

Field& Row::add(std::string_view name, hawthorn_field_type type) {
  Field& field = fields_.emplace_back();
  field.name = name;
  field.type = type;
  return field;
}

Row& Row::number(std::string_view name, uint64_t value, hawthorn_unit unit) {
  Field& field = add(name, HAWTHORN_FIELD_NUMBER);
  field.unit = unit;
  field.number = value;
  return *this;
}

Row& Row::flag(std::string_view name, bool value) {
  add(name, HAWTHORN_FIELD_FLAG).number = value ? 1 : 0;
  return *this;
}

Row& Row::bytes(std::string_view name, std::string_view value) {
  add(name, HAWTHORN_FIELD_BYTES).bytes = value;
  return *this;
}

Row& Row::bytes(std::string_view name, const std::optional<std::string>& value) {
  if (value.has_value()) return bytes(name, std::string_view(*value));
  add(name, HAWTHORN_FIELD_NONE);
  return *this;
}

Row& Row::list(std::string_view name, hawthorn_records records) {
  add(name, HAWTHORN_FIELD_RECORDS).records =
      std::make_unique<hawthorn_records>(std::move(records));
  return *this;
}

Row& Row::status(const Status& status) {
  number("code", static_cast<uint64_t>(status.code()));
  return bytes("message", status.message());
}

hawthorn_records list_of(std::string_view field, const std::vector<std::string>& texts) {
  hawthorn_records records;
  for (const std::string& text : texts) records.add().bytes(field, std::string_view(text));
  return records;
}

namespace {
const Field* find_field(const hawthorn_records* records, size_t row, const char* name) {
  if (records == nullptr || name == nullptr || row >= records->rows.size()) return nullptr;
  for (const Field& field : records->rows[row].fields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

void show(const Field& field, hawthorn_field* out) {
  const bool bytes = field.type == HAWTHORN_FIELD_BYTES;
  *out = {.name = field.name.c_str(),
          .type = field.type,
          .unit = field.unit,
          .number = field.number,
          .data = bytes ? field.bytes.c_str() : nullptr,
          .size = field.bytes.size(),
          .records = field.records.get()};
}
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::Field;
using hawthorn::c::Given;
using hawthorn::c::need;

size_t hawthorn_records_count(const hawthorn_records* records) {
  return records != nullptr ? records->rows.size() : 0;
}

size_t hawthorn_records_field_count(const hawthorn_records* records, size_t row) {
  return row < hawthorn_records_count(records) ? records->rows[row].fields().size() : 0;
}

hawthorn_code hawthorn_records_field(const hawthorn_records* records, size_t row, size_t index,
                                     hawthorn_field* out, hawthorn_error** error) {
  return hawthorn::c::call(error, [&]() -> Status {
    if (Status s = need(Given(records, "records"), Given(out, "out")); !s.ok()) return s;
    if (index >= hawthorn_records_field_count(records, row)) return Status::not_found();
    hawthorn::c::show(records->rows[row].fields()[index], out);
    return {};
  });
}

hawthorn_code hawthorn_records_find(const hawthorn_records* records, size_t row, const char* name,
                                    hawthorn_field* out, hawthorn_error** error) {
  return hawthorn::c::call(error, [&]() -> Status {
    if (Status s = need(Given(records, "records"), Given(name, "name"), Given(out, "out"));
        !s.ok()) {
      return s;
    }
    const Field* const field = hawthorn::c::find_field(records, row, name);
    if (field == nullptr) return Status::not_found();
    hawthorn::c::show(*field, out);
    return {};
  });
}

uint64_t hawthorn_records_number(const hawthorn_records* records, size_t row, const char* name,
                                 uint64_t otherwise) {
  const Field* const field = hawthorn::c::find_field(records, row, name);
  const bool has = field != nullptr &&
                   (field->type == HAWTHORN_FIELD_NUMBER || field->type == HAWTHORN_FIELD_FLAG);
  return has ? field->number : otherwise;
}

const char* hawthorn_records_bytes(const hawthorn_records* records, size_t row, const char* name,
                                   size_t* size) {
  const Field* const field = hawthorn::c::find_field(records, row, name);
  const bool has = field != nullptr && field->type == HAWTHORN_FIELD_BYTES;
  if (size != nullptr) *size = has ? field->bytes.size() : 0;
  return has ? field->bytes.c_str() : nullptr;
}

void hawthorn_records_free(hawthorn_records* records) { delete records; }
