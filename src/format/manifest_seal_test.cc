// Manifests of encrypted databases: what is written comes back, and verifies in its place alone.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/manifest_reader.h"
#include "format/manifest_record.h"

namespace hawthorn::format::manifest_seal_test {
namespace {

constexpr size_t kBlock = kManifestBlockBytes;

Result<std::unique_ptr<Aead>> aead_of(char key, const Salt& salt) {
  auto aead = std::make_unique<Aead>();
  EXPECT_TRUE(DerivingKey(*SecretKey::from_bytes(std::string(32, key))).derive(salt, aead.get()));
  return aead;
}

ManifestIdentity identity_of(uint64_t number) {
  ManifestIdentity identity{1, 2, number, 99, 1};
  identity.key_salt.fill('s');
  return identity;
}

ManifestReader::Open keys(char key = 'k') {
  return [key](uint32_t, const Salt& salt) { return aead_of(key, salt); };
}

// A snapshot, and batches that each make a tree.
std::string file_of(const ManifestIdentity& identity, uint32_t batches) {
  auto sealer = std::make_shared<ManifestSealer>(identity, *aead_of('k', identity.key_salt));
  ManifestEncoder encoder(identity.salt, sealer);
  encoder.begin(0, ManifestBatchKind::kSnapshot);
  encoder.set_counters(1, 1);
  LogEpoch epoch{.number = 3, .start = 65536, .salt = 5, .key = 7};
  encoder.set_epoch(epoch);
  encoder.commit();
  for (uint32_t i = 1; i <= batches; ++i) {
    ManifestBatch batch;
    TreeRecord tree;
    tree.id = i;
    tree.name = "MARK" + std::to_string(i);
    batch.trees_created.push_back(tree);
    encoder.add_batch(i, batch);
  }
  EXPECT_TRUE(encoder.good());
  const std::string records = encoder.take();
  EXPECT_EQ(records.size() % kBlock, 0u);
  return encode_manifest_header(identity) + records;
}

// The names of the trees, or what is wrong.
Result<std::string> read(std::string_view file, const ManifestReader::Open& open) {
  ManifestReader reader("manifest", open);
  std::string names;
  for (;;) {
    auto step = reader.next(file, true);
    if (!step.ok()) return step.status();
    if (*step == ManifestReader::Step::kEnd) return names;
    for (const LogEpoch& epoch : reader.batch().changes.epochs_set) {
      names += "epoch with key " + std::to_string(epoch.key);
    }
    for (const TreeRecord& tree : reader.batch().changes.trees_created) names += " " + tree.name;
  }
}

TEST(ManifestSealTest, ComesBackWithItsKey) {
  const std::string file = file_of(identity_of(4), 3);
  EXPECT_EQ(file.find("MARK"), std::string::npos);
  const auto names = read(file, keys());
  ASSERT_TRUE(names.ok()) << names.status().to_string();
  EXPECT_EQ(*names, "epoch with key 7 MARK1 MARK2 MARK3");
  EXPECT_TRUE(read(file, nullptr).status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(read(file, keys('K')).status().is(StatusCode::kCorruption));
  // One that is not sealed is none of an encrypted database.
  ManifestIdentity plain{1, 2, 4, 99};
  ManifestEncoder encoder(plain.salt);
  encoder.begin(0, ManifestBatchKind::kSnapshot);
  encoder.set_counters(1, 1);
  encoder.commit();
  const std::string readable = encode_manifest_header(plain) + encoder.take();
  EXPECT_TRUE(read(readable, nullptr).ok());
  EXPECT_TRUE(read(readable, keys()).status().is(StatusCode::kCorruption));
}

// Records of another file in the same place, of a file of another database, of another place:
// whatever their checksums say.
TEST(ManifestSealTest, RecordsVerifyInTheirPlace) {
  const std::string file = file_of(identity_of(4), 3);
  const auto with = [&](const std::string& other) {
    return file.substr(0, kBlock) + other.substr(kBlock);
  };
  EXPECT_TRUE(read(with(file_of(identity_of(5), 3)), keys()).status().is(StatusCode::kCorruption));
  ManifestIdentity elsewhere = identity_of(4);
  elsewhere.uuid_low = 7;
  EXPECT_TRUE(read(with(file_of(elsewhere, 3)), keys()).status().is(StatusCode::kCorruption));
  std::string swapped = file;
  const std::string second = file.substr(2 * kBlock, kBlock);
  swapped.replace(2 * kBlock, kBlock, file.substr(3 * kBlock, kBlock));
  swapped.replace(3 * kBlock, kBlock, second);
  EXPECT_TRUE(read(swapped, keys()).status().is(StatusCode::kCorruption));
  // The end of a batch is where a crash may have ended it.
  const auto cut = read(file.substr(0, 4 * kBlock), keys());
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(*cut, "epoch with key 7 MARK1 MARK2");
}

// Each byte of a record, with a checksum that fits.
TEST(ManifestSealTest, EachByteOfARecordCounts) {
  const ManifestIdentity identity = identity_of(4);
  const std::string file = file_of(identity, 1);
  const auto header = load<ManifestRecordHeader>(file.data() + kBlock);
  const size_t size = sizeof(header) + align_up(header.payload_bytes, kManifestRecordAlign);
  for (size_t at = sizeof(header.checksum); at < size; ++at) {
    std::string changed = file;
    char* const record = changed.data() + kBlock;
    record[at] = static_cast<char>(record[at] ^ 4);
    store<uint32_t>(record, checksum32(record + 4, size - 4, identity.salt));
    EXPECT_TRUE(read(changed, keys()).status().is(StatusCode::kCorruption)) << at;
  }
}

}  // namespace
}  // namespace hawthorn::format::manifest_seal_test
