#include "format/catalog_entry.h"

#include <array>

#include "base/bytes.h"

namespace hawthorn::format {

std::string encode_catalog_entry(const CatalogEntry& entry) {
  std::string value(1, '\1');
  const std::array<uint64_t, 3> fields = {entry.id, entry.codec, entry.clone_of};
  for (size_t i = 0; i < (entry.clone_of == 0 ? 2 : 3); ++i) append_varint(value, fields[i]);
  return value;
}

std::optional<CatalogEntry> decode_catalog_entry(std::string_view value) {
  const char* at = value.data();
  const char* const end = at + value.size();
  uint64_t id = 0;
  uint64_t codec = 0;
  uint64_t clone_of = 0;
  if (value.empty() || *at != '\1' || (at = get_varint(at + 1, end, &id)) == nullptr ||
      (at = get_varint(at, end, &codec)) == nullptr || id == kCatalogTree || id > UINT32_MAX ||
      codec > UINT32_MAX) {
    return std::nullopt;
  }
  if (at != end) {
    at = get_varint(at, end, &clone_of);
    if (at != end || clone_of == 0 || clone_of >= id) return std::nullopt;
  }
  return CatalogEntry{static_cast<uint32_t>(id), static_cast<uint32_t>(codec),
                      static_cast<uint32_t>(clone_of)};
}

}  // namespace hawthorn::format
