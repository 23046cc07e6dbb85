#include "format/catalog_entry.h"

#include <array>

#include "base/bytes.h"
#include "format/tree_shape.h"

namespace hawthorn::format {

std::string encode_catalog_entry(const CatalogEntry& entry) {
  std::string value(1, entry.shape.empty() ? '\1' : '\2');
  const std::array<uint64_t, 3> fields = {entry.id, entry.codec, entry.clone_of};
  const bool two = entry.clone_of == 0 && entry.shape.empty();
  for (size_t i = 0; i < (two ? 2 : 3); ++i) append_varint(value, fields[i]);
  return value + entry.shape;
}

std::string encode_catalog_note(const CatalogNote& note) {
  std::string value;
  value.reserve(1 + kVarintBytesMax + note.entry.size() + note.name.size());
  value.push_back(note.renamed ? '\2' : '\1');
  append_varint(value, note.entry.size());
  value += note.entry;
  value += note.name;
  return value;
}

std::optional<CatalogNote> decode_catalog_note(std::string_view value) {
  if (!value.starts_with('\1') && !value.starts_with('\2')) return std::nullopt;
  uint64_t size = 0;
  const char* const end = value.data() + value.size();
  const char* const at = get_varint(value.data() + 1, end, &size);
  if (at == nullptr || size > static_cast<uint64_t>(end - at)) return std::nullopt;
  const std::string_view rest(at, static_cast<size_t>(end - at));
  return CatalogNote{value.front() == '\2', rest.substr(0, size), rest.substr(size)};
}

std::optional<CatalogEntry> decode_catalog_entry(std::string_view value) {
  const char* at = value.data();
  const char* const end = at + value.size();
  uint64_t id = 0;
  uint64_t codec = 0;
  uint64_t clone_of = 0;
  const bool shaped = value.starts_with('\2');
  if ((!shaped && !value.starts_with('\1')) || (at = get_varint(at + 1, end, &id)) == nullptr ||
      (at = get_varint(at, end, &codec)) == nullptr || id == kCatalogTree || id >= UINT32_MAX ||
      codec > UINT32_MAX) {
    return std::nullopt;
  }
  if (at != end || shaped) {
    at = get_varint(at, end, &clone_of);
    if (at == nullptr || clone_of >= id || (clone_of == 0 && !shaped)) return std::nullopt;
  }
  const std::string_view shape(at, static_cast<size_t>(end - at));
  if (shaped ? !decode_tree_shape(shape).has_value() : !shape.empty()) return std::nullopt;
  return CatalogEntry{static_cast<uint32_t>(id), static_cast<uint32_t>(codec),
                      static_cast<uint32_t>(clone_of), std::string(shape)};
}

// ---- Subtrees

namespace {
std::string numbered(std::string_view begin, uint32_t id) {
  std::string key(begin);
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(id >> shift));
  return key;
}
// Of a key that is long enough.
uint32_t number_of(std::string_view key) {
  uint32_t id = 0;
  for (size_t i = 1; i < kSubtreeKeyPrefix; ++i) {
    id = id << 8 | static_cast<unsigned char>(key[i]);
  }
  return id;
}
}  // namespace

std::string subtrees_begin(uint32_t parent, std::string_view low) {
  std::string key = numbered(kCatalogSubtreesBegin, parent);
  key += low;
  return key;
}

std::string subtree_key(const SubtreePlace& place) {
  return subtrees_begin(place.parent, place.stored_key);
}

std::string subtrees_end(uint32_t parent, std::optional<std::string_view> high) {
  if (high.has_value()) return subtrees_begin(parent, *high);
  return parent == UINT32_MAX ? std::string(kCatalogSubtreesEnd)
                              : numbered(kCatalogSubtreesBegin, parent + 1);
}

std::optional<SubtreePlace> decode_subtree_key(std::string_view key) {
  if (key.size() < kSubtreeKeyPrefix || !key.starts_with(kCatalogSubtreesBegin)) {
    return std::nullopt;
  }
  const uint32_t parent = number_of(key);
  if (parent == kCatalogTree) return std::nullopt;
  return SubtreePlace{parent, key.substr(kSubtreeKeyPrefix)};
}

std::string place_key(uint32_t tree) { return numbered(kCatalogPlacesBegin, tree); }

std::optional<uint32_t> decode_place_key(std::string_view key) {
  if (key.size() != kSubtreeKeyPrefix || !key.starts_with(kCatalogPlacesBegin)) {
    return std::nullopt;
  }
  return number_of(key);
}

}  // namespace hawthorn::format
