#include "format/catalog_entry.h"

#include <gtest/gtest.h>

#include "format/tree_shape.h"

namespace hawthorn::format {
namespace {

TEST(CatalogEntry, comes_back) {
  for (const CatalogEntry& entry :
       {CatalogEntry{1, 0, 0}, CatalogEntry{300, 2, 0}, CatalogEntry{~uint32_t{0} - 1, 1, 0},
        CatalogEntry{2, 0, 1}, CatalogEntry{~uint32_t{0} - 1, 2, ~uint32_t{0} - 2}}) {
    const std::string encoded = encode_catalog_entry(entry);
    EXPECT_EQ(decode_catalog_entry(encoded), entry);
    for (size_t size = 0; size < encoded.size(); ++size) {
      const auto part = decode_catalog_entry(std::string_view(encoded).substr(0, size));
      // What made a clone has one field more.
      EXPECT_TRUE(!part.has_value() || (entry.clone_of != 0 && part->clone_of == 0)) << size;
    }
    EXPECT_FALSE(decode_catalog_entry(encoded + std::string(1, 0)).has_value());
  }
  // The id behind it has to be one, too.
  EXPECT_FALSE(decode_catalog_entry(encode_catalog_entry({~uint32_t{0}, 1, 0})).has_value());
  EXPECT_EQ(encode_catalog_entry({5, 1, 0}), std::string("\1\5\1"));
  EXPECT_EQ(encode_catalog_entry({5, 1, 3}), std::string("\1\5\1\3"));
}

TEST(CatalogEntry, of_a_tree_with_a_shape) {
  const std::string shape = encode_tree_shape({"reverse", "bytewise", false});
  for (const uint32_t clone_of : {0u, 4u}) {
    const CatalogEntry entry{7, 1, clone_of, shape};
    const std::string encoded = encode_catalog_entry(entry);
    EXPECT_EQ(encoded, std::string("\2\7\1") + static_cast<char>(clone_of) + shape);
    EXPECT_EQ(decode_catalog_entry(encoded), entry);
    for (size_t size = 0; size < encoded.size(); ++size) {
      EXPECT_FALSE(decode_catalog_entry(std::string_view(encoded).substr(0, size)).has_value());
    }
    EXPECT_FALSE(decode_catalog_entry(encoded + "x").has_value());
  }
  EXPECT_FALSE(decode_catalog_entry("\2\7\1\7" + shape).has_value());
}

TEST(CatalogEntry, is_none_of_what_cannot_be) {
  EXPECT_FALSE(decode_catalog_entry(encode_catalog_entry({0, 0, 0})).has_value());
  EXPECT_FALSE(decode_catalog_entry(encode_catalog_entry({7, 0, 7})).has_value());
  EXPECT_FALSE(decode_catalog_entry(encode_catalog_entry({7, 0, 8})).has_value());
  EXPECT_FALSE(decode_catalog_entry("\3\7\1").has_value());
}

TEST(CatalogEntry, places_of_subtrees) {
  for (const uint32_t parent : {1u, 255u, 256u, 0x01020304u, UINT32_MAX}) {
    for (const std::string& key : {std::string(), std::string("k"), std::string(3, '\0')}) {
      const std::string encoded = subtree_key({parent, key});
      EXPECT_EQ(encoded.size(), kSubtreeKeyPrefix + key.size());
      const auto place = decode_subtree_key(encoded);
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->parent, parent);
      EXPECT_EQ(place->stored_key, key);
      EXPECT_GE(encoded, subtrees_begin(parent));
      EXPECT_LT(encoded, subtrees_end(parent));
      EXPECT_LT(encoded, subtrees_end(parent, key + "a"));
      EXPECT_GE(encoded, subtrees_begin(parent, key));
    }
    EXPECT_EQ(decode_place_key(place_key(parent)), parent);
    EXPECT_GE(place_key(parent), kCatalogPlacesBegin);
    EXPECT_LT(place_key(parent), kCatalogPlacesEnd);
  }
  // Those of one tree stand together.
  EXPECT_EQ(subtrees_end(7), subtrees_begin(8));
  EXPECT_LT(subtree_key({255, "z"}), subtree_key({256, "a"}));
  EXPECT_EQ(subtrees_end(UINT32_MAX), kCatalogSubtreesEnd);
  EXPECT_FALSE(is_catalog_name(subtree_key({1, "k"})));
  for (const std::string& none : {std::string(), std::string("s\0\0\1", 4), std::string("t1234"),
                                  std::string("s\0\0\0\0key", 8)}) {
    EXPECT_FALSE(decode_subtree_key(none).has_value());
  }
  EXPECT_FALSE(decode_place_key("o123").has_value());
  EXPECT_FALSE(decode_place_key("o12345").has_value());
  EXPECT_FALSE(decode_place_key("p1234").has_value());
}

}  // namespace
}  // namespace hawthorn::format
