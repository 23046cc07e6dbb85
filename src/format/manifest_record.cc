#include "format/manifest_record.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "format/packing.h"
#include "format/tree_shape.h"
#include "hawthorn/version.h"

namespace hawthorn::format {
namespace {

Status corrupt(std::string why) { return Status(StatusCode::kCorruption, std::move(why)); }

// A payload of exactly one fixed struct.
template <typename T>
bool read_exactly(std::string_view payload, T* value) {
  if (payload.size() != sizeof(T)) return false;
  std::memcpy(value, payload.data(), sizeof(T));
  return true;
}

Status check_extent(const ExtentAddress& extent, std::string_view what) {
  if (extent.blocks == 0) return corrupt(std::string(what) + " has no blocks");
  if (uint64_t{extent.block} + extent.blocks > kFileBlocksMax) {
    return corrupt(std::string(what) + " ends behind the last block of a file");
  }
  return {};
}

// So that their bytes are counted by 32 bits.
constexpr uint32_t kRunImageBlocksMax = (uint32_t{1} << 20) - 1;
// Of one extent; a value has at most 4 GB.
constexpr uint32_t kLargeBlocksMax = uint32_t{1} << 21;

uint64_t payload_bytes_of(const ContainerRecord& record) {
  return sizeof(ContainerSetPayload) + uint64_t{record.values.size()} * sizeof(ValueExtentPayload) +
         uint64_t{record.large.size()} * sizeof(ExtentPayload) + record.low.size();
}

Status decode_tree(std::string_view payload, TreeRecord& tree) {
  TreeCreatePayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("tree record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (payload.size() - sizeof(fixed) < fixed.name_bytes) {
    return corrupt("tree record's name does not fit it");
  }
  tree.id = fixed.id;
  tree.comparator = fixed.comparator;
  tree.flags = fixed.flags & ~(kTreeIsLayer | kTreeIsClone | kTreeHasShape);
  tree.name.assign(payload.substr(sizeof(fixed), fixed.name_bytes));
  std::string_view rest = payload.substr(sizeof(fixed) + fixed.name_bytes);
  tree.layer_of = 0;
  tree.layer_cts = 0;
  if ((fixed.flags & kTreeIsLayer) != 0) {
    LayerPayload layer;
    if (rest.size() < sizeof(layer)) return corrupt("tree record of a layer is too short");
    std::memcpy(&layer, rest.data(), sizeof(layer));
    if (layer.of == 0 || layer.reserved != 0) return corrupt("layer of no tree");
    tree.layer_of = layer.of;
    tree.layer_cts = layer.cts;
    rest.remove_prefix(sizeof(layer));
  }
  tree.clone_of = 0;
  tree.clone_ts = 0;
  if ((fixed.flags & kTreeIsClone) != 0) {
    ClonePayload clone;
    if (rest.size() < sizeof(clone)) return corrupt("tree record of a clone is too short");
    std::memcpy(&clone, rest.data(), sizeof(clone));
    if (clone.of == 0 || clone.reserved != 0) return corrupt("clone of no tree");
    tree.clone_of = clone.of;
    tree.clone_ts = clone.cts;
    rest.remove_prefix(sizeof(clone));
  }
  tree.shape.clear();
  if ((fixed.flags & kTreeHasShape) != 0) {
    uint16_t size = 0;
    if (rest.size() >= sizeof(size)) std::memcpy(&size, rest.data(), sizeof(size));
    if (size == 0 || rest.size() - sizeof(size) < size) {
      return corrupt("tree record's shape does not fit it");
    }
    tree.shape.assign(rest.substr(sizeof(size), size));
    rest.remove_prefix(sizeof(size) + size);
  }
  tree.merge_operator.clear();
  if (!rest.empty()) {
    const size_t size = static_cast<unsigned char>(rest.front());
    if (size == 0 || rest.size() != 1 + size) {
      return corrupt("tree record's names do not fill it");
    }
    tree.merge_operator.assign(rest.substr(1));
  }
  return check(tree);
}

Status decode_dictionary(std::string_view payload, DictionaryRecord& dictionary) {
  DictionaryAddPayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("dictionary record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (payload.size() - sizeof(fixed) != fixed.bytes || fixed.reserved != 0) {
    return corrupt("dictionary record contradicts itself");
  }
  dictionary = {fixed.id, fixed.tree, std::string(payload.substr(sizeof(fixed)))};
  return check(dictionary);
}

Status decode_snapshot(std::string_view payload, SnapshotRecord& snapshot) {
  SnapshotPayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("snapshot record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (payload.size() - sizeof(fixed) != fixed.name_bytes || fixed.reserved != 0) {
    return corrupt("snapshot record contradicts itself");
  }
  snapshot = {std::string(payload.substr(sizeof(fixed))), fixed.timestamp, fixed.created_us};
  return check(snapshot);
}

Status decode_feed(std::string_view payload, FeedRecord& feed) {
  FeedPayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("feed record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (payload.size() - sizeof(fixed) != fixed.name_bytes || (fixed.flags & ~kFeedLost) != 0) {
    return corrupt("feed record contradicts itself");
  }
  feed.name = std::string(payload.substr(sizeof(fixed)));
  feed.position = fixed.position;
  feed.scan_from = fixed.scan_from;
  feed.created_us = fixed.created_us;
  feed.log_bytes_max = fixed.log_bytes_max;
  feed.lost = (fixed.flags & kFeedLost) != 0;
  return check(feed);
}

Status decode_device(std::string_view payload, DeviceRecord& device) {
  DeviceSetPayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("device record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (payload.size() - sizeof(fixed) != fixed.path_bytes) {
    return corrupt("device record's path does not fill it");
  }
  device = {fixed.index, fixed.generation, fixed.blocks,
            std::string(payload.substr(sizeof(fixed)))};
  return check(device);
}

}  // namespace

std::string encode_container(const ContainerRecord& container) {
  ContainerSetPayload payload = {};
  payload.id = container.id;
  payload.cut = container.cut;
  payload.max_ts = container.max_ts;
  payload.entries = container.entries;
  payload.run_checksum = container.run_checksum;
  payload.tree = container.tree;
  payload.run_file = container.run.file;
  payload.run_block = container.run.block;
  payload.run_blocks = container.run.blocks;
  payload.low_bytes = static_cast<uint32_t>(container.low.size());
  payload.value_count = static_cast<uint32_t>(container.values.size());
  payload.large_count = static_cast<uint32_t>(container.large.size());
  payload.version = kContainerPayloadVersion;
  payload.codec = container.unpacked_blocks != 0;
  payload.cipher = container.sealed();
  payload.nonce = container.seal;
  payload.unpacked_blocks = container.unpacked_blocks;
  if (container.wide) payload.flags |= kContainerFlagWide;
  if (container.first_heads) payload.flags |= kContainerFlagFirstHeads;
  if (container.separated) payload.flags |= kContainerFlagSeparated;
  payload.separator_blocks = container.separator_blocks;
  std::string bytes;
  bytes.reserve(payload_bytes_of(container));
  bytes.append(bytes_of(payload));
  for (const ValueExtentRecord& value : container.values) {
    append(bytes, ValueExtentPayload{value.address.file, value.address.block, value.address.blocks,
                                     value.bytes, value.garbage_bytes});
  }
  for (const ExtentAddress& large : container.large) {
    append(bytes, ExtentPayload{large.file, large.block, large.blocks});
  }
  bytes += container.low;
  return bytes;
}

Status decode_container(std::string_view payload, ContainerRecord& record) {
  ContainerSetPayload fixed;
  if (payload.size() < sizeof(fixed)) return corrupt("container record is too short");
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  if (fixed.version != kContainerPayloadVersion) {
    return corrupt("container record has version " + std::to_string(fixed.version));
  }
  if ((fixed.flags & ~kContainerFlagsKnown) != 0 || fixed.codec > 1 || fixed.cipher > 1 ||
      fixed.reserved_0 != 0 || fixed.comparator != 0 || fixed.expiry_min != 0) {
    return corrupt("container record has reserved fields that are not zero");
  }
  // Three 32-bit counts times small sizes: no overflow in 64 bits.
  const uint64_t expected = sizeof(fixed) +
                            uint64_t{fixed.value_count} * sizeof(ValueExtentPayload) +
                            uint64_t{fixed.large_count} * sizeof(ExtentPayload) + fixed.low_bytes;
  if (payload.size() != expected) {
    return corrupt("container record has " + std::to_string(payload.size()) +
                   " bytes, its counts say " + std::to_string(expected));
  }
  record.id = fixed.id;
  record.tree = fixed.tree;
  record.cut = fixed.cut;
  record.max_ts = fixed.max_ts;
  record.entries = fixed.entries;
  record.run = {fixed.run_file, fixed.run_block, fixed.run_blocks};
  record.unpacked_blocks = fixed.unpacked_blocks;
  record.wide = (fixed.flags & kContainerFlagWide) != 0;
  record.first_heads = (fixed.flags & kContainerFlagFirstHeads) != 0;
  record.separated = (fixed.flags & kContainerFlagSeparated) != 0;
  record.separator_blocks = fixed.separator_blocks;
  if ((fixed.codec != 0) != (fixed.unpacked_blocks != 0)) {
    return corrupt("container record contradicts itself about how its heap is packed");
  }
  if ((fixed.cipher != 0) != (fixed.nonce != 0)) {
    return corrupt("container record contradicts itself about how its run is sealed");
  }
  record.seal = fixed.nonce;
  record.run_checksum = fixed.run_checksum;
  const char* from = payload.data() + sizeof(fixed);
  record.values.resize(fixed.value_count);
  for (ValueExtentRecord& value : record.values) {
    const auto extent = load<ValueExtentPayload>(from);
    value = {{extent.file, extent.block, extent.blocks}, extent.bytes, extent.garbage_bytes};
    from += sizeof(ValueExtentPayload);
  }
  record.large.resize(fixed.large_count);
  for (ExtentAddress& large : record.large) {
    const auto extent = load<ExtentPayload>(from);
    large = {extent.file, extent.block, extent.blocks};
    from += sizeof(ExtentPayload);
  }
  record.low = std::string_view(from, fixed.low_bytes);
  return check(record);
}

Status check(const ContainerRecord& record) {
  if (record.id == ~uint64_t{0}) return corrupt("container id is out of range");
  if (record.cut > kLsnMax || record.max_ts > kLsnMax) {
    return corrupt("container " + std::to_string(record.id) + ": timestamp out of range");
  }
  const std::string name = "container " + std::to_string(record.id) + ": ";
  if (record.run.blocks == 0) {
    if (record.run.file != 0 || record.run.block != 0) {
      return corrupt(name + "an empty run has an address");
    }
  } else if (Status status = check_extent(record.run, name + "run"); !status.ok()) {
    return status;
  }
  if (record.unpacked_blocks != 0 && record.unpacked_blocks <= record.run.blocks) {
    return corrupt(name + "the run's image takes no more memory than disk, but counts as packed");
  }
  if (record.run.blocks > kRunImageBlocksMax || record.unpacked_blocks > kRunImageBlocksMax) {
    return corrupt(name + "its run is larger than any");
  }
  if (record.wide && (record.run.blocks == 0 || record.unpacked_blocks != 0)) {
    return corrupt(name + "its run cannot have wide groups");
  }
  if (record.first_heads && record.run.blocks == 0) {
    return corrupt(name + "an empty run cannot have first heads");
  }
  if ((record.separated && !record.first_heads) ||
      (record.separator_blocks != 0 && !record.separated) ||
      record.separator_blocks > record.run.blocks) {
    return corrupt(name + "its run cannot have these separators");
  }
  for (const ValueExtentRecord& value : record.values) {
    if (Status status = check_extent(value.address, name + "value extent"); !status.ok()) {
      return status;
    }
    if (value.bytes > kValueExtentBytesMax) {
      return corrupt(name + "value extent holds more bytes than offsets reach");
    }
    if (value.garbage_bytes > value.bytes) {
      return corrupt(name + "value extent has more garbage than bytes");
    }
  }
  for (const ExtentAddress& large : record.large) {
    if (Status status = check_extent(large, name + "large value"); !status.ok()) return status;
    if (large.blocks > kLargeBlocksMax) return corrupt(name + "a large value is larger than any");
  }
  if (payload_bytes_of(record) > kManifestPayloadBytesMax) {
    return corrupt(name + "record is larger than 16 MB");
  }
  return {};
}

Status check(const TreeRecord& tree) {
  if (tree.id == ~uint32_t{0}) return corrupt("tree id is out of range");
  if (tree.merge_operator.size() > kMergeOperatorBytesMax) {
    return corrupt("tree " + std::to_string(tree.id) +
                   ": the name of its merge operator is too long");
  }
  if (tree.name.size() > kManifestPayloadBytesMax - sizeof(TreeCreatePayload) -
                             sizeof(LayerPayload) - sizeof(ClonePayload) - 3 -
                             kMergeOperatorBytesMax - kTreeShapeBytesMax) {
    return corrupt("tree " + std::to_string(tree.id) + ": the name is larger than 16 MB");
  }
  if (!tree.shape.empty() && !decode_tree_shape(tree.shape).has_value()) {
    return corrupt("tree " + std::to_string(tree.id) + ": a shape that this version does not know");
  }
  if (tree.flags > kCodecLast) {
    return corrupt("tree " + std::to_string(tree.id) + ": flags that this version does not know");
  }
  if (tree.clone_of == 0
          ? tree.clone_ts != 0
          : tree.clone_of >= tree.id || tree.clone_ts > kLsnMax || tree.layer_of != 0) {
    return corrupt("tree " + std::to_string(tree.id) + ": a clone of what it cannot be made of");
  }
  if (tree.layer_of == 0 ? tree.layer_cts != 0
                         : tree.layer_of >= tree.id || tree.layer_cts > kLsnMax) {
    return corrupt("tree " + std::to_string(tree.id) + ": a layer of what cannot have it");
  }
  return {};
}

Status check(const DictionaryRecord& dictionary) {
  if (dictionary.id == 0 || dictionary.bytes.size() > kDictionaryBytesMax) {
    return corrupt("dictionary " + std::to_string(dictionary.id) + ": a field is out of range");
  }
  return {};
}

Status check(const DeviceRecord& device) {
  if (device.index >= kDevicesMax || device.path.size() > kDevicePathBytesMax ||
      device.blocks > kFileBlocksMax) {
    return corrupt("device " + std::to_string(device.index) + ": a field is out of range");
  }
  return {};
}

Status check(const SnapshotRecord& snapshot) {
  if (snapshot.name.empty() || snapshot.name.size() > kSnapshotNameBytesMax ||
      snapshot.timestamp > kLsnMax) {
    return corrupt("snapshot \"" + snapshot.name + "\": a field is out of range");
  }
  return {};
}

Status check(const FeedRecord& feed) {
  if (feed.name.empty() || feed.name.size() > kSnapshotNameBytesMax || feed.position > kLsnMax ||
      feed.scan_from > kLsnMax) {
    return corrupt("feed \"" + feed.name + "\": a field is out of range");
  }
  return {};
}

Status check(const LogEpoch& epoch) {
  if (epoch.number == ~uint64_t{0}) return corrupt("a log epoch's number is out of range");
  if (epoch.end > kLsnMax || epoch.start > epoch.end) {
    return corrupt("log epoch " + std::to_string(epoch.number) + ": bounds out of order");
  }
  return {};
}

std::string encode_manifest_header(const ManifestIdentity& identity) {
  ManifestHeader header = {};
  std::memcpy(header.magic, kManifestMagic, sizeof(header.magic));
  header.format_version = kFormatVersion;
  header.uuid_low = identity.uuid_low;
  header.uuid_high = identity.uuid_high;
  header.number = identity.number;
  header.salt = identity.salt;
  header.key = identity.key;
  std::copy(identity.key_salt.begin(), identity.key_salt.end(), std::begin(header.key_salt));
  header.checksum = checksum64(&header, offsetof(ManifestHeader, checksum), 0);
  return std::string(bytes_of(header));
}

Result<ManifestIdentity> decode_manifest_header(std::string_view block) {
  ManifestHeader header;
  if (block.size() < sizeof(header)) return corrupt("the header is cut off");
  std::memcpy(&header, block.data(), sizeof(header));
  if (std::memcmp(header.magic, kManifestMagic, sizeof(header.magic)) != 0) {
    return corrupt("no manifest: wrong magic");
  }
  if (checksum64(block.data(), offsetof(ManifestHeader, checksum), 0) != header.checksum) {
    return corrupt("checksum mismatch in the header");
  }
  if (header.format_version > kFormatVersion) {
    return Status(StatusCode::kNotSupported,
                  "format version " + std::to_string(header.format_version) + " is newer than " +
                      std::to_string(kFormatVersion));
  }
  if (header.format_version == 0) return corrupt("format version 0");
  const bool reserved_zero = header.reserved_0 == 0 &&
                             std::all_of(std::begin(header.reserved_1), std::end(header.reserved_1),
                                         [](uint8_t byte) { return byte == 0; });
  if (!reserved_zero) return corrupt("reserved bytes of the header are not zero");
  ManifestIdentity identity{header.uuid_low, header.uuid_high, header.number, header.salt,
                            header.key};
  std::copy(std::begin(header.key_salt), std::end(header.key_salt), identity.key_salt.begin());
  if (identity.key == 0 && identity.key_salt != Salt{}) {
    return corrupt("the header has a salt for no key");
  }
  return identity;
}

namespace {
// What a sealed payload is bound to.
struct SealedPlace {
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t number;
  uint64_t salt;
  uint64_t sequence;
  uint32_t payload_bytes;
  uint32_t type;
};
static_assert(sizeof(SealedPlace) == 48);
SealedPlace place_of(const ManifestIdentity& identity, const ManifestRecordHeader& header) {
  return {identity.uuid_low, identity.uuid_high,   identity.number, identity.salt,
          header.sequence,   header.payload_bytes, header.type};
}
}  // namespace

bool ManifestSealer::seal(const ManifestRecordHeader& header, char* payload) {
  const size_t bytes = header.payload_bytes - kTagBytes;
  return aead_->seal(make_nonce(header.sequence, 0), bytes_of(place_of(identity_, header)),
                     std::string_view(payload, bytes), payload, payload + bytes);
}

bool ManifestSealer::open(const ManifestRecordHeader& header, std::string_view payload,
                          std::string* to) {
  if (payload.size() < kTagBytes) return false;
  const std::string_view sealed = payload.substr(0, payload.size() - kTagBytes);
  to->resize(sealed.size());
  return aead_->open(make_nonce(header.sequence, 0), bytes_of(place_of(identity_, header)), sealed,
                     payload.data() + sealed.size(), to->data());
}

void ManifestEncoder::add(ManifestRecordType type, std::string_view fixed,
                          std::string_view variable, size_t zeros) {
  const size_t tag_bytes = sealer_ == nullptr ? 0 : kTagBytes;
  const size_t payload_bytes = fixed.size() + variable.size() + zeros + tag_bytes;
  HAWTHORN_ASSERT(payload_bytes <= kManifestPayloadBytesMax + tag_bytes);
  ManifestRecordHeader header = {};
  header.payload_bytes = static_cast<uint32_t>(payload_bytes);
  header.sequence = sequence_++;
  header.type = static_cast<uint8_t>(type);
  const size_t start = bytes_.size();
  const size_t size = sizeof(header) + align_up(payload_bytes, kManifestRecordAlign);
  bytes_.append(bytes_of(header)).append(fixed).append(variable).resize(start + size, '\0');
  char* record = bytes_.data() + start;
  if (sealer_ != nullptr && !sealer_->seal(header, record + sizeof(header))) good_ = false;
  constexpr size_t kSkip = sizeof(header.checksum);
  store<uint32_t>(record, checksum32(record + kSkip, size - kSkip, salt_));
  batch_checksum_ = checksum64(record, size, batch_checksum_);
  batch_bytes_ += size;
  ++batch_records_;
}

void ManifestEncoder::begin(uint64_t number, ManifestBatchKind kind) {
  batch_number_ = number;
  batch_records_ = 0;
  batch_bytes_ = 0;
  batch_checksum_ = salt_;
  BatchBeginPayload payload = {};
  payload.number = number;
  payload.kind = static_cast<uint32_t>(kind);
  add(ManifestRecordType::kBatchBegin, bytes_of(payload));
}

void ManifestEncoder::create_tree(const TreeRecord& tree) {
  add_tree(ManifestRecordType::kTreeCreate, tree);
}

void ManifestEncoder::set_tree(const TreeRecord& tree) {
  add_tree(ManifestRecordType::kTreeSet, tree);
}

void ManifestEncoder::add_tree(ManifestRecordType type, const TreeRecord& tree) {
  TreeCreatePayload payload = {};
  payload.id = tree.id;
  payload.comparator = tree.comparator;
  payload.flags = tree.flags | (tree.layer_of != 0 ? kTreeIsLayer : 0) |
                  (tree.clone_of != 0 ? kTreeIsClone : 0) |
                  (!tree.shape.empty() ? kTreeHasShape : 0);
  payload.name_bytes = static_cast<uint32_t>(tree.name.size());
  std::string names = tree.name;
  if (tree.layer_of != 0) names += bytes_of(LayerPayload{tree.layer_of, 0, tree.layer_cts});
  if (tree.clone_of != 0) names += bytes_of(ClonePayload{tree.clone_of, 0, tree.clone_ts});
  if (!tree.shape.empty()) {
    names += bytes_of(static_cast<uint16_t>(tree.shape.size()));
    names += tree.shape;
  }
  if (!tree.merge_operator.empty()) {
    names += static_cast<char>(tree.merge_operator.size());
    names += tree.merge_operator;
  }
  add(type, bytes_of(payload), names);
}

void ManifestEncoder::drop_tree(uint32_t id) {
  add(ManifestRecordType::kTreeDrop, bytes_of(TreeDropPayload{id, 0}));
}

void ManifestEncoder::add_dictionary(const DictionaryRecord& dictionary) {
  const DictionaryAddPayload payload = {dictionary.id, dictionary.tree,
                                        static_cast<uint32_t>(dictionary.bytes.size()), 0};
  add(ManifestRecordType::kDictionaryAdd, bytes_of(payload), dictionary.bytes);
}

void ManifestEncoder::set_container(const ContainerRecord& container) {
  add(ManifestRecordType::kContainerSet, encode_container(container));
}

void ManifestEncoder::delete_container(uint64_t id) {
  add(ManifestRecordType::kContainerDelete, bytes_of(ContainerDeletePayload{id}));
}

void ManifestEncoder::set_epoch(const LogEpoch& epoch) {
  const EpochKeyPayload key{epoch.key, 0};
  add(ManifestRecordType::kEpochSet,
      bytes_of(EpochSetPayload{epoch.number, epoch.start, epoch.end, epoch.salt}),
      epoch.key == 0 ? std::string_view() : bytes_of(key));
}

void ManifestEncoder::delete_epoch(uint64_t number) {
  add(ManifestRecordType::kEpochDelete, bytes_of(EpochDeletePayload{number}));
}

void ManifestEncoder::set_device(const DeviceRecord& device) {
  const DeviceSetPayload payload = {device.index, static_cast<uint32_t>(device.path.size()),
                                    device.generation, device.blocks};
  add(ManifestRecordType::kDeviceSet, bytes_of(payload), device.path);
}

void ManifestEncoder::set_snapshot(const SnapshotRecord& snapshot) {
  const SnapshotPayload payload = {snapshot.timestamp, snapshot.created_us,
                                   static_cast<uint32_t>(snapshot.name.size()), 0};
  add(ManifestRecordType::kSnapshotSet, bytes_of(payload), snapshot.name);
}

void ManifestEncoder::delete_snapshot(std::string_view name) {
  const SnapshotPayload payload = {0, 0, static_cast<uint32_t>(name.size()), 0};
  add(ManifestRecordType::kSnapshotDelete, bytes_of(payload), name);
}

void ManifestEncoder::set_feed(const FeedRecord& feed) {
  const FeedPayload payload = {feed.position,
                               feed.scan_from,
                               feed.created_us,
                               feed.log_bytes_max,
                               static_cast<uint32_t>(feed.name.size()),
                               feed.lost ? kFeedLost : 0};
  add(ManifestRecordType::kFeedSet, bytes_of(payload), feed.name);
}

void ManifestEncoder::delete_feed(std::string_view name) {
  const FeedPayload payload = {0, 0, 0, 0, static_cast<uint32_t>(name.size()), 0};
  add(ManifestRecordType::kFeedDelete, bytes_of(payload), name);
}

void ManifestEncoder::trim_log(Lsn lsn) {
  add(ManifestRecordType::kLogTrim, bytes_of(LsnPayload{lsn}));
}

void ManifestEncoder::reserve_lsn(Lsn lsn) {
  add(ManifestRecordType::kLsnReserve, bytes_of(LsnPayload{lsn}));
}

void ManifestEncoder::set_counters(uint64_t next_container, uint32_t next_tree) {
  add(ManifestRecordType::kCounters, bytes_of(CountersPayload{next_container, next_tree, 0}));
}

void ManifestEncoder::commit() {
  const BatchCommitPayload payload = {batch_number_, batch_checksum_, batch_records_};
  const uint64_t used = batch_bytes_ + sizeof(ManifestRecordHeader) + sizeof(payload) +
                        (sealer_ == nullptr ? 0 : kTagBytes);
  const uint64_t zeros = align_up(used, kManifestBlockBytes) - used;
  add(ManifestRecordType::kBatchCommit, bytes_of(payload), {}, zeros);
}

void ManifestEncoder::add_batch(uint64_t number, const ManifestBatch& batch) {
  begin(number, ManifestBatchKind::kChanges);
  for (const TreeRecord& tree : batch.trees_created) create_tree(tree);
  for (const TreeRecord& tree : batch.trees_set) set_tree(tree);
  for (const DictionaryRecord& dictionary : batch.dictionaries_added) add_dictionary(dictionary);
  for (const uint64_t id : batch.containers_deleted) delete_container(id);
  for (const ContainerRecord& container : batch.containers_set) set_container(container);
  for (const uint32_t id : batch.trees_dropped) drop_tree(id);
  for (const uint64_t epoch : batch.epochs_deleted) delete_epoch(epoch);
  for (const LogEpoch& epoch : batch.epochs_set) set_epoch(epoch);
  for (const DeviceRecord& device : batch.devices_set) set_device(device);
  for (const std::string& name : batch.snapshots_deleted) delete_snapshot(name);
  for (const SnapshotRecord& snapshot : batch.snapshots_set) set_snapshot(snapshot);
  for (const std::string& name : batch.feeds_deleted) delete_feed(name);
  for (const FeedRecord& feed : batch.feeds_set) set_feed(feed);
  if (batch.log_trim != 0) trim_log(batch.log_trim);
  if (batch.lsn_reserved != 0) reserve_lsn(batch.lsn_reserved);
  commit();
}

std::string ManifestEncoder::take() { return std::exchange(bytes_, std::string()); }

Status decode_change(ManifestRecordType type, std::string_view payload, DecodedBatch& batch) {
  ManifestBatch& changes = batch.changes;
  switch (type) {
    case ManifestRecordType::kTreeCreate:
      return decode_tree(payload, changes.trees_created.emplace_back());
    case ManifestRecordType::kTreeSet:
      return decode_tree(payload, changes.trees_set.emplace_back());
    case ManifestRecordType::kDictionaryAdd:
      return decode_dictionary(payload, changes.dictionaries_added.emplace_back());
    case ManifestRecordType::kContainerSet:
      return decode_container(payload, changes.containers_set.emplace_back());
    case ManifestRecordType::kTreeDrop: {
      TreeDropPayload fixed;
      if (!read_exactly(payload, &fixed) || fixed.reserved != 0) {
        return corrupt("tree drop record is malformed");
      }
      changes.trees_dropped.push_back(fixed.id);
      return {};
    }
    case ManifestRecordType::kContainerDelete: {
      ContainerDeletePayload fixed;
      if (!read_exactly(payload, &fixed)) return corrupt("container delete record is malformed");
      changes.containers_deleted.push_back(fixed.id);
      return {};
    }
    case ManifestRecordType::kEpochSet: {
      EpochSetPayload fixed;
      EpochKeyPayload key{};
      const std::string_view first = payload.substr(0, sizeof(fixed));
      const std::string_view rest = payload.substr(first.size());
      const bool sealed = !rest.empty();
      if (!read_exactly(first, &fixed) ||
          (sealed && (!read_exactly(rest, &key) || key.key == 0 || key.reserved != 0))) {
        return corrupt("log epoch record is malformed");
      }
      changes.epochs_set.push_back({fixed.number, fixed.start, fixed.end, fixed.salt, key.key});
      return check(changes.epochs_set.back());
    }
    case ManifestRecordType::kEpochDelete: {
      EpochDeletePayload fixed;
      if (!read_exactly(payload, &fixed)) return corrupt("log epoch delete record is malformed");
      changes.epochs_deleted.push_back(fixed.number);
      return {};
    }
    case ManifestRecordType::kLogTrim:
    case ManifestRecordType::kLsnReserve: {
      LsnPayload fixed;
      if (!read_exactly(payload, &fixed) || fixed.lsn > kLsnMax) {
        return corrupt("log position record is malformed");
      }
      (type == ManifestRecordType::kLogTrim ? changes.log_trim : changes.lsn_reserved) = fixed.lsn;
      return {};
    }
    case ManifestRecordType::kCounters: {
      CountersPayload fixed;
      if (!read_exactly(payload, &fixed) || fixed.reserved != 0 || !batch.snapshot) {
        return corrupt("counters record is malformed");
      }
      batch.next_container = fixed.next_container;
      batch.next_tree = fixed.next_tree;
      return {};
    }
    case ManifestRecordType::kDeviceSet:
      return decode_device(payload, changes.devices_set.emplace_back());
    case ManifestRecordType::kSnapshotSet:
      return decode_snapshot(payload, changes.snapshots_set.emplace_back());
    case ManifestRecordType::kSnapshotDelete: {
      SnapshotRecord snapshot;
      if (Status s = decode_snapshot(payload, snapshot); !s.ok()) return s;
      changes.snapshots_deleted.push_back(std::move(snapshot.name));
      return {};
    }
    case ManifestRecordType::kFeedSet:
      return decode_feed(payload, changes.feeds_set.emplace_back());
    case ManifestRecordType::kFeedDelete: {
      FeedRecord feed;
      if (Status s = decode_feed(payload, feed); !s.ok()) return s;
      changes.feeds_deleted.push_back(std::move(feed.name));
      return {};
    }
    case ManifestRecordType::kBatchBegin:
    case ManifestRecordType::kBatchCommit:
      break;
  }
  return corrupt("unexpected record type " + std::to_string(static_cast<unsigned>(type)));
}

}  // namespace hawthorn::format
