// What a manifest holds that older versions cannot read, and what newer ones may have left in it.

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/manifest_test_fixture.h"
#include "format/manifest_record.h"
#include "format/tree_shape.h"
#include "hawthorn/version.h"

namespace hawthorn::db {
namespace {

using namespace manifest_fixture;

// The first compressed tree makes older versions refuse the database, in the moment in which it is
// there; dictionaries go with their trees.
TEST(ManifestTest, ACompressedTreeIsAFeature) {
  Fixture f;
  f.create();
  auto manifest = f.reopen();
  ManifestBatch batch;
  batch.trees_created = {{1, "t", 0, 0}, {2, "u", 0, 0}};
  must(manifest->append(batch));
  constexpr uint64_t kAlways =
      format::kFeatureRunShapes | format::kFeatureCatalog | format::kFeatureSeparators;
  EXPECT_EQ(f.load()->features.incompatible, kAlways);
  const uint64_t number = manifest->number();
  batch = {};
  batch.trees_set = {{1, "t", 0, 2}};
  must(manifest->append(batch));
  constexpr uint64_t kBoth = kAlways | format::kFeatureCompression;
  EXPECT_EQ(f.load()->features.incompatible, kBoth);
  EXPECT_EQ(manifest->number(), number + 1);
  EXPECT_EQ(f.load()->state.trees.at(1).flags, 2u);
  // Once is enough.
  batch.trees_set = {{2, "u", 0, 1}};
  batch.dictionaries_added = {{1, 1, "one"}, {2, 2, "two"}};
  must(manifest->append(batch));
  EXPECT_EQ(manifest->number(), number + 1);
  const auto refused = [&](auto change) {
    ManifestBatch bad;
    change(bad);
    return manifest->append(bad).is(StatusCode::kCorruption);
  };
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_set = {{3, "v", 0, 1}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.trees_set = {{1, "t", 1, 1}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.dictionaries_added = {{1, 1, "again"}}; }));
  EXPECT_TRUE(refused([](ManifestBatch& b) { b.dictionaries_added = {{3, 9, "no tree"}}; }));
  batch = {};
  batch.trees_dropped = {1};
  must(manifest->append(batch));
  manifest = f.reopen();
  EXPECT_EQ(manifest->state().dictionaries.size(), 1u);
  EXPECT_EQ(manifest->state().dictionaries.at(2).bytes, "two");
  EXPECT_EQ(manifest->state().trees.at(2).flags, 1u);
  EXPECT_EQ(f.load()->features.incompatible, kBoth);
}

TEST(ManifestTest, AMergeOperatorIsAFeature) {
  Fixture f;
  f.create();
  auto manifest = f.reopen();
  ManifestBatch batch;
  batch.trees_created = {{1, "t", 0, 0}};
  must(manifest->append(batch));
  constexpr uint64_t kBefore =
      format::kFeatureRunShapes | format::kFeatureCatalog | format::kFeatureSeparators;
  EXPECT_EQ(f.load()->features.incompatible, kBefore);
  batch = {};
  batch.trees_set = {{1, "t", 0, 0, "adds"}};
  must(manifest->append(batch));
  constexpr uint64_t kBoth = kBefore | format::kFeatureMergeOperators;
  EXPECT_EQ(f.load()->features.incompatible, kBoth);
  EXPECT_EQ(f.load()->state.trees.at(1).merge_operator, "adds");
  manifest = f.reopen();
  EXPECT_EQ(manifest->state().trees.at(1).merge_operator, "adds");
  batch.trees_set = {{1, "t", 0, 1, "adds"}};
  must(manifest->append(batch));
  EXPECT_EQ(f.load()->features.incompatible, kBoth | format::kFeatureCompression);
}

TEST(ManifestTest, ALayerIsAFeature) {
  Fixture f;
  f.create();
  auto manifest = f.reopen();
  ManifestBatch batch;
  batch.trees_created = {{1, "t", 0, 0}};
  must(manifest->append(batch));
  batch = {};
  format::TreeRecord layer{2, "", 0, 1};
  layer.layer_of = 1;
  batch.trees_created = {layer};
  must(manifest->append(batch));
  EXPECT_EQ(f.load()->state.trees.at(2), layer);
  EXPECT_NE(f.load()->features.incompatible & format::kFeatureLayers, 0u);
  layer.layer_cts = 77;
  batch = {};
  batch.trees_set = {layer};
  must(manifest->append(batch));
  manifest = f.reopen();
  EXPECT_EQ(manifest->state().trees.at(2), layer);
  EXPECT_EQ(manifest->state().trees.at(1).layer_of, 0u);
}

TEST(ManifestTest, ACloneIsAFeature) {
  Fixture f;
  f.create();
  auto manifest = f.reopen();
  ManifestBatch batch;
  batch.trees_created = {{1, "t", 0, 0}};
  must(manifest->append(batch));
  EXPECT_EQ(f.load()->features.incompatible & format::kFeatureClones, 0u);
  batch = {};
  format::TreeRecord clone{2, "c", 0, 1};
  clone.clone_of = 1;
  batch.trees_created = {clone};
  must(manifest->append(batch));
  EXPECT_EQ(f.load()->state.trees.at(2), clone);
  EXPECT_NE(f.load()->features.incompatible & format::kFeatureClones, 0u);
  clone.clone_ts = 77;
  batch = {};
  batch.trees_set = {clone};
  must(manifest->append(batch));
  EXPECT_EQ(f.reopen()->state().trees.at(2), clone);
  for (const auto& [of, ts] : {std::pair<uint32_t, uint64_t>{2, 77}, {0, 77}, {1, ~0ULL}}) {
    clone.clone_of = of;
    clone.clone_ts = ts;
    EXPECT_FALSE(check(clone).ok()) << of;
  }
}

TEST(ManifestTest, AShapeIsAFeature) {
  Fixture f;
  f.create();
  auto manifest = f.reopen();
  ManifestBatch batch;
  format::TreeRecord tree{1, "t", 0, 0};
  tree.shape = format::encode_tree_shape({"uint64", "bytewise", true});
  batch.trees_created = {tree};
  EXPECT_EQ(f.load()->features.incompatible & format::kFeatureTreeShapes, 0u);
  must(manifest->append(batch));
  EXPECT_NE(f.load()->features.incompatible & format::kFeatureTreeShapes, 0u);
  EXPECT_EQ(f.reopen()->state().trees.at(1), tree);

  format::TreeRecord holder{2, "h", 0, 0};
  holder.shape = format::encode_tree_shape({"bytewise", "bytewise", false, false, 0, true});
  ManifestBatch second;
  second.trees_created = {holder};
  EXPECT_EQ(f.load()->features.incompatible & format::kFeatureSubtrees, 0u);
  manifest = f.reopen();
  must(manifest->append(second));
  EXPECT_NE(f.load()->features.incompatible & format::kFeatureSubtrees, 0u);
  EXPECT_EQ(f.reopen()->state().trees.at(2), holder);
}

TEST(ManifestTest, NewerVersionsAndFeatures) {
  Fixture f;
  f.create();
  format::Superblock superblock;
  const Result<LoadedManifest> loaded = f.load();
  superblock.format_version = kFormatVersion;
  superblock.uuid_low = loaded->uuid_low;
  superblock.uuid_high = loaded->uuid_high;
  superblock.generation = 4;
  superblock.manifest_number = 1;
  superblock.features = {6, 0, 0};
  f.write("superblock", 0, format::encode_superblock(superblock));
  // Unknown compatible features stay.
  auto manifest = f.reopen();
  EXPECT_EQ(f.load()->features.compatible, 6u);
  superblock.generation = 8;
  superblock.manifest_number = 2;
  superblock.features = {0, 1, 0};
  f.write("superblock", 0, format::encode_superblock(superblock));
  Result<LoadedManifest> reader = f.load();
  must(reader.status());
  EXPECT_TRUE(reader->must_not_write);
  EXPECT_TRUE(Manifest::start(f.machine(), kDirectory, *reader, false)
                  .status()
                  .is(StatusCode::kNotSupported));
  superblock.features = {0, 0, uint64_t{1} << 40};
  f.write("superblock", 0, format::encode_superblock(superblock));
  EXPECT_TRUE(f.load().status().is(StatusCode::kNotSupported));
  superblock.features = {};
  superblock.format_version = kFormatVersion + 1;
  f.write("superblock", 0, format::encode_superblock(superblock));
  EXPECT_TRUE(f.load().status().is(StatusCode::kNotSupported));
}

}  // namespace
}  // namespace hawthorn::db
