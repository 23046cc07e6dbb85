#pragma once
// The entries of the catalog, which is tree 0: where trees hang, by name or in other trees. Encode
// and decode. Pure.
//
// KEY                  VALUE
// 't', then the name   u8: 1; varint: the tree's id; varint: its codec (packing.h) when it was
// made;
//                      where this entry made a clone, varint: the id of what it was made of
//                      Of a tree with a shape: u8: 2; the three varints, the last one 0 where it
//                      made no clone; then the shape (tree_shape.h)
// 's', u32: a tree's   of a subtree: as behind 't'. It hangs at this key of that tree, which has an
// id, a stored key     entry there with an empty value
// 'o', u32: its id     of each subtree: the key above, so that it is found from below
// 'm'                  empty. The names in the manifest, of a version before the catalog, have been
//                      copied and do not count any more
// 'n'                  u64, little-endian: the newest moment, in milliseconds since 1970, at which
//                      entries that had ended were removed
// 'x', then the name   what becomes of a tree's name: put and deleted by the transaction that takes
//                      the name away, just before it does, so that who reads the log knows which
//                      tree that was. u8: 1 dropped, 2 renamed; varint: the size of its entry, the
//                      entry; then its other name, or
//                      where it is dropped that of its merge operator
//
// The numbers in keys are big-endian, so that all subtrees of a tree stand together, in the order
// of its keys. Entries 's' and 'o', and the one in the tree itself, come and go in one commit.
//
// The manifest says which trees there are and what they hold. One that no entry names was made or
// dropped by a transaction whose other half is missing: it goes at the next open. The manifest has
// a name of each, too, which may be behind: it serves where the catalog is damaged.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hawthorn::format {

inline constexpr uint32_t kCatalogTree = 0;
inline constexpr std::string_view kCatalogMigratedKey = "m";
// What has ended up to there was removed (tree_shape.h).
inline constexpr std::string_view kCatalogNowKey = "n";
// Tree 0 in the manifest, of a database that had a catalog from the start.
inline constexpr std::string_view kCatalogTreeName = "catalog";
inline constexpr std::string_view kCatalogTreesBegin = "t";
inline constexpr std::string_view kCatalogTreesEnd = "u";
inline constexpr std::string_view kCatalogSubtreesBegin = "s";
inline constexpr std::string_view kCatalogSubtreesEnd = "t";
inline constexpr std::string_view kCatalogPlacesBegin = "o";
inline constexpr std::string_view kCatalogPlacesEnd = "p";

inline constexpr std::string_view kCatalogNotes = "x";

struct CatalogEntry {
  uint32_t id = 0;
  uint32_t codec = 0;
  uint32_t clone_of = 0;   // 0: it made no clone
  std::string shape = {};  // empty: none
  bool operator==(const CatalogEntry&) const = default;
};

inline std::string catalog_key(std::string_view name) {
  std::string key(kCatalogTreesBegin);
  key += name;
  return key;
}
inline std::string_view catalog_name(std::string_view key) {
  return key.substr(kCatalogTreesBegin.size());
}
inline bool is_catalog_name(std::string_view key) { return key.starts_with(kCatalogTreesBegin); }

// Where a subtree hangs.
struct SubtreePlace {
  uint32_t parent = 0;
  std::string_view stored_key;
};
std::string subtree_key(const SubtreePlace& place);
// The ends of those of all subtrees of a tree, at stored keys from `low` on, below `high`.
std::string subtrees_begin(uint32_t parent, std::string_view low = {});
std::string subtrees_end(uint32_t parent, std::optional<std::string_view> high = std::nullopt);
// Nothing where it is the key of none.
std::optional<SubtreePlace> decode_subtree_key(std::string_view key);
// Of the entry that says where the tree hangs.
std::string place_key(uint32_t tree);
// Nothing where it is none.
std::optional<uint32_t> decode_place_key(std::string_view key);
struct CatalogNote {
  bool renamed = false;    // else dropped
  std::string_view entry;  // of the name, until now
  // The other one, where it is renamed; else that of its merge operator, or empty.
  std::string_view name;
};
inline std::string catalog_note_key(std::string_view name) {
  std::string key(kCatalogNotes);
  key += name;
  return key;
}
std::string encode_catalog_note(const CatalogNote& note);
std::optional<CatalogNote> decode_catalog_note(std::string_view value);

std::string encode_catalog_entry(const CatalogEntry& entry);
// Nothing where the bytes are not those of an entry that this version knows.
std::optional<CatalogEntry> decode_catalog_entry(std::string_view value);

}  // namespace hawthorn::format
