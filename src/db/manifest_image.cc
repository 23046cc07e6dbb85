#include "db/manifest_image.h"

#include <utility>

#include "db/manifest_files.h"
#include "hawthorn/version.h"

namespace hawthorn::db {

Status encode_state(const format::ManifestState& state, format::ManifestEncoder& encoder,
                    const std::function<Status()>& some) {
  encoder.begin(state.last_batch, format::ManifestBatchKind::kSnapshot);
  encoder.set_counters(state.next_container, state.next_tree);
  for (const auto& [id, tree] : state.trees) {
    encoder.create_tree(tree);
    if (Status s = some(); !s.ok()) return s;
  }
  for (const auto& [id, dictionary] : state.dictionaries) {
    encoder.add_dictionary(dictionary);
    if (Status s = some(); !s.ok()) return s;
  }
  for (const format::LogEpoch& epoch : state.epochs) encoder.set_epoch(epoch);
  for (const format::DeviceRecord& device : state.devices) encoder.set_device(device);
  for (const auto& [name, snapshot] : state.snapshots) {
    encoder.set_snapshot(snapshot);
    if (Status s = some(); !s.ok()) return s;
  }
  for (const auto& [name, feed] : state.feeds) encoder.set_feed(feed);
  if (state.log_trim != 0) encoder.trim_log(state.log_trim);
  if (state.lsn_reserved != 0) encoder.reserve_lsn(state.lsn_reserved);
  for (const auto& [id, container] : state.containers) {
    encoder.set_container(container);
    if (Status s = some(); !s.ok()) return s;
  }
  encoder.commit();
  return {};
}

Result<ManifestSeal> seal_manifest(os::Random& random, uint64_t uuid_low, uint64_t uuid_high,
                                   uint64_t number, os::DataKeys* keys) {
  ManifestSeal seal;
  seal.identity = {uuid_low, uuid_high, number, random.next()};
  if (keys == nullptr) return seal;
  const Result<Salt> salt = os::DataKeys::new_salt();
  if (!salt.ok()) return salt.status();
  seal.identity.key = keys->current();
  seal.identity.key_salt = *salt;
  Result<std::unique_ptr<Aead>> aead = keys->make(seal.identity.key, seal.identity.key_salt);
  if (!aead.ok()) return aead.status();
  seal.sealer = std::make_shared<format::ManifestSealer>(seal.identity, std::move(*aead));
  return seal;
}

Result<ManifestImage> make_manifest_image(os::Random& random, const format::ManifestState& state,
                                          const format::Features& features, uint64_t uuid_low,
                                          uint64_t uuid_high, os::DataKeys* keys) {
  constexpr uint64_t kNumber = 1;
  format::Superblock superblock;
  superblock.format_version = kFormatVersion;
  superblock.uuid_low = uuid_low;
  superblock.uuid_high = uuid_high;
  superblock.manifest_number = kNumber;
  superblock.features = features;
  Result<ManifestSeal> seal = seal_manifest(random, uuid_low, uuid_high, kNumber, keys);
  if (!seal.ok()) return seal.status();
  ManifestImage image;
  image.name = manifest_name(kNumber);
  image.manifest = format::encode_manifest_header(seal->identity);
  format::ManifestEncoder encoder(seal->identity.salt, std::move(seal->sealer));
  static_cast<void>(encode_state(state, encoder, [] { return Status(); }).ok());
  if (!encoder.good()) {
    return Status(StatusCode::kIoError, "the manifest cannot be written: libcrypto failed");
  }
  image.manifest += encoder.take();
  std::string slots[format::kSuperblockSlots];
  for (size_t i = 0; i < format::kSuperblockSlots; ++i) {
    ++superblock.generation;
    slots[format::superblock_slot_of(superblock.generation)] =
        format::encode_superblock(superblock);
  }
  for (const std::string& slot : slots) image.superblock += slot;
  return image;
}

}  // namespace hawthorn::db
