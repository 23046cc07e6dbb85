#include "db/sealed_copy.h"

#include <utility>

#include "db/manifest_files.h"
#include "os/file.h"

namespace hawthorn::db {

Status copy_is_not_encrypted() {
  return {StatusCode::kInvalidArgument, "the backup is not encrypted, yet a key was given for it"};
}

Status SealedCopy::damaged(std::string_view why) const {
  return {StatusCode::kCorruption,
          "the backup's " + name_ + " at " + std::to_string(at_) + ": " + std::string(why)};
}

Status SealedCopy::begin(std::string_view name, uint64_t bytes, bool reserve) {
  name_ = name;
  at_ = 0;
  bytes_.clear();
  file_ = File::kOther;
  if (name == format::kKeyFileName) file_ = File::kKeys;
  if (name == kSuperblockName) file_ = File::kSuperblock;
  if (manifest_number(name) != 0) file_ = File::kManifest;
  if (keys_ == nullptr && file_ != File::kKeys) return copy_is_not_encrypted();
  if (keys_ != nullptr && file_ == File::kKeys) return damaged("there are two of it");
  if (file_ == File::kKeys) {
    if (bytes == format::kKeyFileBytes) return {};
    return damaged("the file of keys has " + std::to_string(bytes) + " bytes");
  }
  if (file_ == File::kManifest) {
    if (manifest_ != nullptr) return damaged("there are two manifests");
    manifest_ = std::make_unique<format::ManifestReader>(
        "the backup's " + name_,
        [this](uint32_t key, const Salt& salt) { return keys_->make(key, salt); });
  }
  if (file_ == File::kSuperblock && bytes > format::kSuperblockSlots * os::kBlockBytes) {
    return damaged("the superblock has " + std::to_string(bytes) + " bytes");
  }
  return next_ == nullptr ? Status() : next_->begin(name, bytes, reserve);
}

Status SealedCopy::write(const CopyPart& part, std::span<const char> data) {
  if (file_ != File::kOther) {
    if (part.offset != at_) return damaged("a part of it is missing");
    at_ += data.size();
    bytes_.append(data.data(), data.size());
    if (file_ == File::kKeys) return {};
  }
  if (file_ == File::kManifest) {
    if (Status s = read_manifest(false); !s.ok()) return s;
  }
  return next_ == nullptr ? Status() : next_->write(part, data);
}

Status SealedCopy::end() {
  if (file_ == File::kKeys) {
    if (Status s = open_keys(); !s.ok() || next_ == nullptr) return s;
    // Of a size that was looked at.
    const CopyPart all = {0, static_cast<uint32_t>(bytes_.size()), {}};
    if (Status s = next_->begin(name_, bytes_.size(), false); !s.ok()) return s;
    if (Status s = next_->write(all, bytes_); !s.ok()) return s;
  }
  if (file_ == File::kManifest) {
    if (Status s = read_manifest(true); !s.ok()) return s;
  }
  if (file_ == File::kSuperblock) {
    if (Status s = read_superblock(); !s.ok()) return s;
  }
  return next_ == nullptr ? Status() : next_->end();
}

Status SealedCopy::open_keys() {
  const auto tell = [](const Status& status) {
    return Status(status.code(), "the backup: " + std::string(status.message()));
  };
  const Result<format::KeyFile> plain = format::read_key_file(bytes_);
  if (!plain.ok()) return tell(plain.status());
  const Result<SecretKey> key = encryption_.key(plain->key_id);
  if (!key.ok()) {
    return {key.status().code(),
            "the backup: key \"" + plain->key_id + "\": " + std::string(key.status().message())};
  }
  const Result<format::KeyFile> file = format::open_key_file(bytes_, *key);
  if (!file.ok()) return tell(file.status());
  keys_ = std::make_shared<os::DataKeys>();
  for (const auto& [number, data_key] : file->keys) {
    keys_->add(number, data_key, number == file->current);
  }
  uuid_low_ = file->uuid_low;
  uuid_high_ = file->uuid_high;
  return {};
}

Status SealedCopy::read_manifest(bool last) {
  using Step = format::ManifestReader::Step;
  std::string_view rest = bytes_;
  while (last || rest.size() >= manifest_->wanted_bytes()) {
    const Result<Step> step = manifest_->next(rest, last);
    if (!step.ok()) return step.status();
    if (*step == Step::kEnd) break;
    if (*step == Step::kNeedMore) {
      if (last) return damaged("the manifest ends in a record");
      break;
    }
    const format::ManifestIdentity& identity = manifest_->identity();
    if (identity.uuid_low != uuid_low_ || identity.uuid_high != uuid_high_ ||
        identity.number != manifest_number(name_)) {
      return damaged("it is of another database than the keys");
    }
    has_manifest_ = true;
  }
  bytes_.erase(0, bytes_.size() - rest.size());
  if (last && manifest_->torn_offset() != 0) return damaged("its last batch is torn");
  return {};
}

Status SealedCopy::read_superblock() {
  const Result<format::Superblock> superblock = format::choose_superblock(bytes_, nullptr);
  if (!superblock.ok()) {
    return {superblock.status().code(),
            "the backup's superblock: " + std::string(superblock.status().message())};
  }
  at_ = 0;
  if (superblock->uuid_low != uuid_low_ || superblock->uuid_high != uuid_high_ ||
      (superblock->features.incompatible & format::kFeatureEncryption) == 0 || !has_manifest_ ||
      superblock->manifest_number != manifest_->identity().number) {
    return damaged("it is of another database than keys and manifest");
  }
  has_superblock_ = true;
  return {};
}

Status SealedCopy::finish() const {
  if (keys_ == nullptr) return copy_is_not_encrypted();
  if (has_manifest_ && has_superblock_) return {};
  return {StatusCode::kCorruption, "the backup has no manifest or no superblock"};
}

}  // namespace hawthorn::db
